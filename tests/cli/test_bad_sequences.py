"""Sets of sequences and matrices that cannot be used: one sentence and 3, whatever they are."""

import os
import subprocess
import sys

import pytest

from tropalign.cli.main import main

PROTEINS = ">a\nMKVLAAGWHHE\n>b\nMKVLAGWHHE\n"
GENES = ">x\nACGTACGTACGT\n>y\nACGTTACGT\n"


@pytest.fixture
def files(tmp_path):
    proteins, genes = tmp_path / "proteins.fa", tmp_path / "genes.fa"
    proteins.write_text(PROTEINS)
    genes.write_text(GENES)
    return str(proteins), str(genes)


@pytest.fixture
def says(capsys):
    def run(*arguments, code=3):
        assert main(["pairs", *arguments]) == code
        out, error = capsys.readouterr()
        assert out == "" and error.count("\n") == 1 and error.rstrip("\n").isprintable()
        return error

    return run


def test_nucleotides_against_proteins(files, says, capsys):
    proteins, genes = files
    sentence = says(genes, proteins)
    assert "the queries were judged nucleotide and the targets protein, which cannot be aligned" in sentence
    assert main(["pairs", genes, proteins, "--alphabet", "protein", "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_a_protein_matrix_for_nucleotides(files, says):
    assert "BLOSUM62 is a protein matrix but the sequences were judged nucleotide" in says(
        files[1], "--matrix", "BLOSUM62"
    )


@pytest.mark.parametrize("option", ["--match", "--mismatch"])
@pytest.mark.parametrize("score", ["-1000001", "1000001"])
def test_scores_beyond_any_use(files, says, option, score):
    assert f"score {score} is beyond 1000000, which no alignment needs" in says(files[0], f"{option}={score}")


def test_a_matrix_without_an_end(files, says):
    assert "/dev/full: the file holds more than 1048576 bytes" in says(files[0], "--matrix", "/dev/full")


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


def test_names_that_would_colour_a_terminal(tmp_path, says):
    path = tmp_path / "\x1b[31m.fq"
    path.write_bytes(b"@a\x1b[31m\nACGT\n+b\x1b[0m\nIIII\n")
    assert "Sequence descriptions don't match" in says(str(path))
