"""Public functions in threads of the user: the results of one thread, forks that do not hang, exits without abort."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "threads.py"


def run(*words, **environment):
    """Standard output and error of the script, and its exit code."""
    words = [sys.executable, SCRIPT, *map(str, words)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=540, env={**os.environ, **environment})
    return done.stdout, done.stderr, done.returncode


def test_eight_cold_threads_find_what_one_does():
    one, many = (run("compare", n_threads) for n_threads in (1, 8))
    assert one[1:] == many[1:] == ("", 0)
    expected, found = json.loads(one[0]), json.loads(many[0])
    assert all(len(hashes) == 1 and len(str(hashes[0])) in (1, 16) for hashes in expected.values()), expected
    assert found == expected


def test_models_that_are_built_at_once_are_calibrated_alike():
    """The calibration took the length of its random sequences from an object that each thread could have made."""
    expected = json.loads(run("compare", 1, "build_model")[0])
    for _ in range(5):
        assert json.loads(run("compare", 8, "build_model")[0]) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("name", ["align", "search", "cluster"])
def test_children_of_a_fork_compute_though_a_thread_was_importing(name):
    out, _, code = run("fork", 8, name)  # modules that register hooks during a fork (logging) may complain
    assert (out, code) == (f"{[0] * 8}\n", 0)


@pytest.mark.parametrize("name", ["align_long", "align_all_followed", "align_multiple_followed", "search"])
def test_daemon_threads_do_not_abort_the_exit(tmp_path, name):
    for seed in range(3):
        assert run("exit", seed, name, TMPDIR=str(tmp_path)) == ("exit\n", "", 0)
