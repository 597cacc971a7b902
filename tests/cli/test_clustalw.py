"""``tropalign msa --method clustalw``: its options, its files, what is refused."""

from pathlib import Path

import pytest
from Bio import AlignIO, Phylo

import tropalign
from tropalign.cli.main import main

PROTEINS = Path(__file__).parent.parent / "data" / "clustalw" / "proteins.fasta"


def test_files_are_what_biopython_reads(tmp_path):
    aligned, tree = tmp_path / "x.aln", tmp_path / "x.dnd"
    assert main(["msa", str(PROTEINS), "--method", "clustalw", "-o", str(aligned), "--tree-out", str(tree), "-q"]) == 0
    family = tropalign.read_sequences(PROTEINS)
    rows = {row.id: str(row.seq) for row in AlignIO.read(aligned, "clustal")}
    assert {name: row.replace("-", "") for name, row in rows.items()} == {s.name: str(s) for s in family}
    assert {leaf.name for leaf in Phylo.read(tree, "newick").get_terminals()} == set(family.names)
    again = tmp_path / "again.aln"
    arguments = ["--method", "clustalw", "--tree-in", str(tree), "-o", str(again), "-q", "-t", "1"]
    assert main(["msa", str(PROTEINS), *arguments]) == 0
    assert {row.id: str(row.seq) for row in AlignIO.read(again, "clustal")} == rows


def test_options_reach_the_method(tmp_path):
    def aligned(*options):
        path = tmp_path / "x.fa"
        assert main(["msa", str(PROTEINS), "--method", "clustalw", "-o", str(path), "-q", *options]) == 0
        return path.read_text()

    plain = aligned()
    assert aligned("--gap-open", "0", "--gap-extend", "0") != plain
    assert aligned("--order", "tree") != plain
    assert aligned("--threads", "1") == plain


def test_one_sequence_has_files_too(tmp_path):
    family, aligned, tree = (tmp_path / name for name in ("x.fa", "x.aln", "x.dnd"))
    family.write_text(">only\nMKVLAW\n")
    assert main(["msa", str(family), "--method", "clustalw", "-o", str(aligned), "--tree-out", str(tree), "-q"]) == 0
    assert tree.read_text() == "only;\n"
    assert [str(row.seq) for row in AlignIO.read(aligned, "clustal")] == ["MKVLAW"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--compat"], "--compat belongs to --method clustalw"),
        (["--gap-open", "3"], "--gap-open belongs to --method clustalw"),
        (["--no-weights"], "--no-weights belongs to --method clustalw"),
        (["--method", "clustalw", "--word-length", "2"], "--word-length belongs to --quicktree"),
        (["--method", "clustalw", "--quicktree", "--word-length", "3"], "words of proteins have up to 2 residues"),
        (["--method", "clustalw", "--effort", "fast"], "--effort has no meaning with --method clustalw"),
        (["--method", "clustalw", "--confidence", "x.tsv"], "--confidence has no meaning with --method clustalw"),
        (["--method", "clustalw", "--add", "x.fa"], "--add has no meaning with --method clustalw"),
        (
            ["--method", "clustalw", "--gap-open", "-1"],
            "argument --gap-open: '-1' is below 0: give a number from 0 to 100",
        ),
        (["--method", "clustalw", "--delay", "101"], "delay 101 is not a whole number from 0 to 100"),
        (["--method", "clustalw", "--shard", "1/2"], "--shard shares out the posteriors of a family"),
    ],
)
def test_what_is_refused(arguments, text, capsys):
    try:
        code = main(["msa", str(PROTEINS), *arguments])
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert text in " ".join(capsys.readouterr().err.split())
