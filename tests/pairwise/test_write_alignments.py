"""``write_alignments`` and progress: what Python code has of the command line."""

import gzip
import os
import re

import numpy as np
import pytest

import tropalign
from tropalign.cli.main import main
from tropalign.errors import InputError, TropalignWarning, UsageError
from tropalign.formats.format import format_names

SET = {"a": "ACGTTGCATGCCGATTACA", "b": "ACGTTGCAGCCGTTTACA", "c": "GCATGCAGATTACA", "d": "ACGTTGACGATTACA"}
#: The scores of blastn, which have E-values.
WORDS = "--match 2 --mismatch -3 --gap-open 5 --gap-extend 2".split()
SCORING = {"matrix": tropalign.SubstitutionMatrix.match_mismatch(2, -3), "gap": tropalign.Gap(5, 2)}


@pytest.fixture
def table():
    (made,) = tropalign.align_all(SET, **SCORING)
    return made


@pytest.fixture
def cut(monkeypatch):
    """The same in several tables."""
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "2")
    return lambda **options: tropalign.align_all(SET, **SCORING, **options)


@pytest.mark.parametrize("form", format_names("pairs"))
def test_is_what_the_command_line_writes(tmp_path, table, cut, form):
    """But for what says how it was made."""
    for package in {"parquet": ["pyarrow"], "feather": ["pyarrow"], "bam": ["pysam"]}.get(form, []):
        pytest.importorskip(package)
    fasta, expected = tmp_path / "in.fa", tmp_path / f"out.{form}"
    fasta.write_text("".join(f">{name}\n{text}\n" for name, text in SET.items()))
    assert main(["pairs", str(fasta), "-f", form, "-o", str(expected), "-q", *WORDS]) == 0
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    table.write(whole, form)
    tropalign.write_alignments(cut(), pieces, form)
    assert whole.read_bytes() == pieces.read_bytes()
    if form in ("tsv", "csv", "jsonl", "m8", "paf", "sam", "fasta", "srspair", "matrix"):
        made = [path.read_text().splitlines() for path in (whole, expected)]
        rows = [[line for line in lines if not re.match(r"[#@]|{.*command", line)] for lines in made]
        assert rows[0] == rows[1] and rows[0]
    assert os.listdir(tmp_path) and not list(tmp_path.glob(".*")) and not list(tmp_path.glob("*.parts"))


def test_suffixes_choose(tmp_path, table):
    table.write(tmp_path / "a.paf.gz")
    table.write(tmp_path / "b.paf")
    assert gzip.decompress((tmp_path / "a.paf.gz").read_bytes()) == (tmp_path / "b.paf").read_bytes()
    (table,) = tropalign.align_all(SET, mode="global", **SCORING)
    table.write(tmp_path / "c.npz", matrix_values="identity")
    with np.load(tmp_path / "c.npz") as arrays:
        assert np.allclose(arrays["identity"], table.matrix("identity"))
    table.write(tmp_path / "d.phy")
    lines = (tmp_path / "d.phy").read_text().splitlines()
    assert np.allclose(
        [[float(x) for x in line.split()[1:]] for line in lines[1:]], table.matrix("distance"), atol=1e-6
    )


@pytest.mark.parametrize("path", ["c.npz", "d.phy"])
def test_identities_of_local_alignments_are_told_of(tmp_path, table, path):
    """Nobody may have chosen them: local is the default."""
    with pytest.warns(TropalignWarning, match="of local alignments ignore all unaligned residues: use"):
        table.write(tmp_path / path, matrix_values=None if path == "d.phy" else "identity")
    with pytest.warns(TropalignWarning, match="mode='global'"):
        table.matrix("distance")


def test_scoring_is_shown_and_progress_is_a_function(tmp_path, table):
    table.write(tmp_path / "a.srspair", gap=tropalign.Gap(10, 1))
    assert "# Gap_penalty: 11.0" in (tmp_path / "a.srspair").read_text()
    for call in (lambda: tropalign.align_all(SET, progress=5), lambda: tropalign.align_many([("A", "C")], progress=5)):
        with pytest.raises(UsageError, match="progress 5 is not a function: give one that takes a number"):
            call()


@pytest.mark.parametrize(
    ("tables", "path", "options", "error", "text"),
    [
        ([], "x.tsv", {}, UsageError, "there is no table to write"),
        (5, "x.tsv", {}, UsageError, "an object of type int is not an AlignmentTable"),
        (["x"], "x.tsv", {}, UsageError, "an object of type str is not an AlignmentTable"),
        ("x", "x.tsv", {}, UsageError, "an object of type str is not an AlignmentTable"),
        (None, "x.docx", {}, UsageError, "no format has the suffix '.docx'"),
        (None, "x", {"format": "docx"}, UsageError, "format 'docx' is not one of tsv"),
        (None, "no/x.tsv", {}, InputError, "there is no such directory to write to"),
        (None, b"x.tsv", {}, UsageError, "the path is bytes"),
        (None, "x.npz", {"matrix_values": "scores"}, UsageError, "matrix_values 'scores' is not one of score"),
        (None, "x.phy", {"matrix_values": "score"}, UsageError, "PHYLIP contains the distances of a single set"),
    ],
)
def test_what_cannot_be_written(tmp_path, monkeypatch, table, tables, path, options, error, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=text):
        tropalign.write_alignments(table if tables is None else tables, path, **options)
    assert os.listdir(tmp_path) == []


def test_what_fails_leaves_no_file(tmp_path, table):
    (other,) = tropalign.align_all(SET)
    for path in ("x.tsv", "x.sam"):
        with pytest.raises(UsageError, match="tables with different sequences"):
            tropalign.write_alignments([table, other], tmp_path / path)
    assert os.listdir(tmp_path) == []

    def tables():
        yield table
        raise RuntimeError("enough")

    for path in ("x.tsv", "x.sam"):
        with pytest.raises(RuntimeError, match="enough"):
            tropalign.write_alignments(tables(), tmp_path / path)
    assert os.listdir(tmp_path) == []


def test_progress_counts_the_pairs(cut):
    seen = []
    assert sum(map(len, cut(progress=seen.append, n_threads=1))) == 6
    assert seen == sorted(set(seen)) and seen[-1] == 6
    seen.clear()
    tropalign.align_many([("ACGT", "ACGA"), ("ACC", "ACG")], progress=seen.append)
    assert seen == [2]
    seen.clear()
    tropalign.align_many([("ACGT" * 400, "ACGA" * 400)] * 3, progress=seen.append, alphabet="nucleotide")
    assert seen[-1] == 3


class Enough(Exception):
    pass


@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_progress_raises_ends_the_run(cut, n_threads):
    def progress(done):
        raise Enough

    with pytest.raises(Enough):
        list(cut(progress=progress, n_threads=n_threads))
    with pytest.raises(Enough):
        tropalign.align_many([("ACGT", "ACGA")], progress=progress)
    assert sum(map(len, cut())) == 6  # nothing of it is left
