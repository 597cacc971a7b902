"""``tropalign msa --model``: files, formats, options that exclude each other, bad input."""

import csv
import io
from pathlib import Path

import pytest
from Bio import AlignIO

import tropalign
from tropalign.cli.main import main

ROOT = Path(__file__).parents[2]
MODEL, FAMILY = ROOT / "examples" / "efp.hmm", ROOT / "examples" / "efp.fasta"


@pytest.fixture
def members(tmp_path):
    """Some members, one of them compressed in a file of its own."""
    path = tmp_path / "members.fa"
    path.write_text("".join(FAMILY.read_text().partition(">")[1:]).replace(">", "\n>").lstrip()[:3000] + "\n")
    return path


def test_all_formats_have_the_same_rows(members, tmp_path):
    wanted = tropalign.align_to_model(MODEL, members)
    for suffix in (".sto", ".aln", ".phy", ".msf", ".afa"):
        out = tmp_path / f"out{suffix}"
        assert main(["msa", "--model", str(MODEL), str(members), "-o", str(out)]) == 0
        read = tropalign.read_alignment(out)
        assert read.names == wanted.names
        assert [row.replace(".", "-") for row in read] == list(wanted)
    out = tmp_path / "out.nex"
    assert main(["msa", "--model", str(MODEL), str(members), "-o", str(out), "--html", str(tmp_path / "x.html")]) == 0
    rows = {row.id: str(row.seq) for row in AlignIO.read(io.StringIO(out.read_text()), "nexus")}
    assert list(rows.values()) == list(wanted) and (tmp_path / "x.html").stat().st_size > 10_000


def test_confidence_is_the_posterior(members, tmp_path):
    table, out = tmp_path / "c.tsv", tmp_path / "x.sto"
    assert main(["msa", "--model", str(MODEL), str(members), "-o", str(out), "--confidence", str(table)]) == 0
    wanted = tropalign.align_to_model(MODEL, members)
    rows = csv.DictReader((line for line in table.read_text().splitlines() if line[0] != "#"), delimiter="\t")
    found = [float(row["confidence"]) for row in rows]
    assert found == pytest.approx(wanted.residue_confidence.tolist(), abs=1e-4)
