"""``tropalign msa --method clustalw``: its options, its files, what is refused."""

from pathlib import Path

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
