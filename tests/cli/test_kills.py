"""Runs that are killed at twenty moments, each finished by the same command: the bytes of a run that nobody killed."""

import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from cli_commands import COMMAND

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
N_MOMENTS = 20
PLACE = ["place", "--reference", EXAMPLES / "16s" / "ref.phy.gz", "--tree", EXAMPLES / "16s" / "ref.nwk"]
#: Commands, each of which writes some files called x.
COMMANDS = {
    "pairs": ["pairs", "proteins.fa", "-o", "x.tsv"],
    "find": ["find", "proteins.fa", "proteins.fa", "-o", "x.m8"],
    "cluster": ["cluster", "reads.fa", "--uc", "x.uc", "--representatives", "x.fa", "-o", "x.tsv"],
    "single linkage": ["cluster", "reads.fa", "--method", "single", "-o", "x.tsv"],
    "derep": ["derep", "reads.fa", "-o", "x.fa"],
    "msa": ["msa", "some.fa", "-o", "x.aln"],
    "msa with little effort": ["msa", "--effort", "fast", "family.fa", "-o", "x.fa"],
    "tree": ["tree", "reads.fa", "--bootstrap", "60", "-o", "x.nwk"],
    "search": ["search", EXAMPLES / "efp.hmm", "mixed.fa", "-A", "x.sto", "-o", "x.tbl"],
    "place": [*PLACE, EXAMPLES / "16s" / "reads.fasta", "--table", "x.tsv", "--jplace", "x.jplace", "-o", "x.fa"],
    "decode": ["decode", "--model", "cpg", "genome.fa", "-o", "x.bed"],
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with what the commands read."""
    folder, rng = tmp_path_factory.mktemp("inputs"), np.random.default_rng(1)

    def write(name, letters, n, length, share):
        """Relatives, of which each differs from the one before it in a share of the letters."""
        rows, row = [], rng.choice(list(letters), length)
        for k in range(n):
            row = np.where(rng.random(length) < share, rng.choice(list(letters), length), row)
            rows.append(f">s{k}\n{''.join(row)}\n")
        (folder / name).write_text("".join(rows))

    amino_acids = "ACDEFGHIKLMNPQRSTVWY"
    write("proteins.fa", amino_acids, 400, 300, 0.3)
    write("some.fa", amino_acids, 40, 300, 0.2)
    write("family.fa", amino_acids, 600, 120, 0.02)
    write("reads.fa", "ACGT", 800, 250, 0.01)
    write("genome.fa", "ACGT", 3, 2_000_000, 1)
    mixed = [(folder / "proteins.fa").read_text(), (EXAMPLES / "efp.fasta").read_text()]
    (folder / "mixed.fa").write_text("".join(mixed))
    return folder


def start(words, inputs, folder):
    folder.mkdir()
    for path in inputs.iterdir():
        (folder / path.name).symlink_to(path)
    return again(words, folder)


def again(words, folder):
    return subprocess.Popen([*COMMAND, *map(str, words), "-q"], cwd=folder, stderr=subprocess.PIPE)


def ended(run):
    """The exit code, and what it said."""
    _, errors = run.communicate(timeout=300)
    return run.returncode, errors.decode()


def outputs(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.is_symlink()}


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_a_run_that_is_killed_goes_on_to_the_same_bytes(name, inputs, tmp_path):
    words, begin = COMMANDS[name], time.monotonic()
    assert ended(start(words, inputs, tmp_path / "whole")) == (0, "")
    seconds, whole = time.monotonic() - begin, outputs(tmp_path / "whole")
    assert whole and all(whole.values())
    n_killed = 0
    for moment in range(1, N_MOMENTS + 1):
        folder = tmp_path / f"killed{moment}"
        run = start(words, inputs, folder)
        time.sleep(seconds * moment / (N_MOMENTS + 1))
        run.kill()
        n_killed += ended(run)[0] != 0
        assert ended(again(words, folder)) == (0, "")
        assert outputs(folder) == whole, moment
    assert n_killed > N_MOMENTS // 2
