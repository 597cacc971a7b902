"""The process of a command: NumPy's threads, the environment, and the end; nothing of it in other programs."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("threadpoolctl", reason="says how many threads matrix products have")

#: Tells at the very end how many threads matrix products would have, and what children would see.
TELL = """
import atexit, json, os, sys
def tell():
    from threadpoolctl import threadpool_info
    pools = [pool["num_threads"] for pool in threadpool_info() if pool["internal_api"] == "openblas"]
    print(json.dumps([pools, os.environ.get("OPENBLAS_NUM_THREADS"), len(sys.meta_path)]), flush=True)
atexit.register(tell)
"""
COMMAND = """
from tropalign.cli.main import command
sys.argv = ["tropalign", "pairs", "few.fa", "-q", "-o", "few.tsv"]
command()
"""
#: The same in a program that is not tropalign's own.
CALLS = [
    "from tropalign.cli.main import main; assert main(['pairs', 'few.fa', '-q', '-o', 'few.tsv']) == 0",
    "import tropalign; tropalign.align('ACDEFG', 'ACDFG')",
]


@pytest.fixture(autouse=True)
def few(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    (tmp_path / "few.fa").write_text(">a\nACDEFG\n>b\nACDFG\n")


def done(code, **environment):
    words = [sys.executable, "-c", code]
    return subprocess.run(words, capture_output=True, text=True, env={**os.environ, **environment})


def told(code, **environment):
    end = done(TELL + code, **environment)
    assert not end.returncode, end.stderr
    return json.loads(end.stdout.splitlines()[-1])


def test_a_command_has_no_threads_for_matrix_products():
    pools, seen_by_children, _ = told(COMMAND)
    assert pools == [1] * len(told("import numpy")[0])
    assert seen_by_children is None


def test_a_command_leaves_the_finders_as_they_were():
    assert told(COMMAND)[2] == told("import numpy")[2]


def test_what_the_user_says_of_threads_stands():
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        assert told(COMMAND, **{name: "2"}) == told("import numpy", **{name: "2"})


@pytest.mark.parametrize("call", CALLS)
def test_other_programs_keep_their_threads(call):
    assert told(call) == told("import numpy")


#: A verb that does something else: how processes end.
ENDING = "from tropalign.cli.main import run_alone\nimport atexit, sys, threading, time\n"


def test_the_end_of_a_process():
    """What was printed and what is to be done at the end; objects are not taken apart."""
    code = ENDING + (
        "atexit.register(print, 'at the end')\n"
        "class Kept:\n    def __del__(self): print('taken apart')\n"
        "kept = Kept()\n"
        "def main():\n    print('printed'); return 3\n"
        "run_alone(main)"
    )
    end = done(code)
    assert (end.stdout, end.stderr, end.returncode) == ("printed\nat the end\n", "", 3)


@pytest.mark.parametrize(
    "other",
    [
        "threading.Thread(target=lambda: (time.sleep(0.2), print('waited for'))).start()",
        "sys.setprofile(print_nothing); atexit.register(sys.setprofile, None); atexit.register(print, 'waited for')",
        "sys.modules['sqlalchemy'] = sys; atexit.register(print, 'waited for')",
    ],
)
def test_an_end_that_others_have_a_part_in(other):
    code = ENDING + (
        "class Kept:\n    def __del__(self): print('taken apart')\n"
        "kept = Kept()\n"
        "def print_nothing(*event): pass\n"
        f"def main():\n    {other}; return 3\n"
        "run_alone(main)"
    )
    end = done(code)
    assert (end.stdout, end.returncode) == ("waited for\ntaken apart\n", 3)


def test_a_full_disk_at_the_end_is_not_silent():
    if not os.path.exists("/dev/full"):
        pytest.skip("no full device to write to")
    code = ENDING + "def main():\n    print('lost'); return 0\nrun_alone(main)"
    with open("/dev/full", "w") as full:
        assert subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE).returncode == 120
