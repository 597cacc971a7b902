"""Threads that the system refuses to start mean fewer threads: the same results, and progress that stops the work."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("fail_threads.cpp")

#: Sets the limit once imports (which start threads of their own) are done.
PROGRAM = """
import os, sys
import numpy as np
from tropalign import _native
rng = np.random.default_rng(1)
lengths = rng.integers(50, 90, 300)
codes, offsets = rng.integers(0, 20, lengths.sum()).astype(np.uint8), np.concatenate([[0], np.cumsum(lengths)])
query, target = np.triu_indices(300, 1)
matrix = np.where(np.eye(32, dtype=bool), 5, -4).astype(np.int32)
def align(n_threads, progress=None):
    batch = (codes, offsets)
    scoring = (matrix, 10, 1, "global", (False,) * 4)
    return _native.align_pairs(*batch, *batch, query, target, *scoring, 2, n_threads, 1 << 26, progress)
letters = np.frombuffer(b"ACGT" * 50, np.uint8).reshape(4, 50)
sets = np.full(256, 15, np.uint32)
sets[[65, 67, 71, 84]] = 1, 2, 4, 8
def vectors(n_threads):
    joints = np.array([[4, 0, 0, 1, 0], [5, 2, 0, 3, 0]], np.int32)
    rest = (np.array([[4, 5, 0]], np.int32), np.array([[0.9, 0.1, 0.1, 0.9]]), False, n_threads)
    return _native.BranchMaker(letters, np.arange(4), np.arange(50), sets, 4, joints, *rest).planes()[0]
wanted, planes = align(2), vectors(1)
os.environ["FAIL_THREADS_AFTER"] = sys.argv[1]
"""


@pytest.fixture(scope="module")
def few_threads(tmp_path_factory):
    """Runs PROGRAM and more in a process in which only so many threads start."""
    if sys.platform != "linux" or shutil.which("g++") is None:
        pytest.skip("needs Linux and g++")
    library = tmp_path_factory.mktemp("preload") / "fail_threads.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", SOURCE, "-o", library, "-ldl"], check=True)

    def run(most, program):
        command = ["env", f"LD_PRELOAD={library}", sys.executable, "-c", PROGRAM + program, str(most)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return run


@pytest.mark.parametrize("most", [0, 1, 3])
@pytest.mark.parametrize("n_threads", [1, 8, 100_000])
def test_the_same_results(few_threads, most, n_threads):
    program = f"""
found = align({n_threads})
assert all(np.array_equal(found[name], wanted[name]) for name in wanted if isinstance(wanted[name], np.ndarray))
assert np.array_equal(vectors({n_threads}), planes)
print("equal")
"""
    assert few_threads(most, program) == ["equal"]


def test_without_threads_progress_is_told_and_stops_the_work(few_threads):
    program = """
told = []
def stop(done):
    told.append(done)
    raise KeyError("enough")
query, target = np.tile(query, 20), np.tile(target, 20)
try:
    align(4, stop)
except KeyError as error:
    print(error.args[0], len(told), 0 < told[0] < len(query))
"""
    assert few_threads(0, program) == ["enough", "1", "True"]
