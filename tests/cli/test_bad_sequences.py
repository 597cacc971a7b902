"""Sets of sequences and matrices that cannot be used: one sentence and 3, whatever they are."""

import os
import subprocess
import sys

import pytest

PROTEINS = ">a\nMKVLAAGWHHE\n>b\nMKVLAGWHHE\n"
GENES = ">x\nACGTACGTACGT\n>y\nACGTTACGT\n"


@pytest.fixture
def files(tmp_path):
    proteins, genes = tmp_path / "proteins.fa", tmp_path / "genes.fa"
    proteins.write_text(PROTEINS)
    genes.write_text(GENES)
    return str(proteins), str(genes)


def test_closed_standard_input(files):
    command = [sys.executable, "-m", "tropalign.cli.main", "pairs", "-"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *command], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 3
    assert done.stderr == (
        "tropalign: standard input: it is closed: give the program something to read, or name a file\n"
    )
