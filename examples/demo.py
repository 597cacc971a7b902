"""Aligns a protein family and a set of DNA amplicons, every pair of each, and shows what came out."""

from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

import tropalign as ta
from tropalign.cli.main import main
from tropalign.formats.table import concatenate

HERE = Path(__file__).parent
OUT = HERE.parent / "demo-results"


def show(console: Console, title: str, path: Path, **options: object) -> None:
    """Aligns every pair of a file and prints the closest ones."""
    batch = ta.read_sequences(path)
    begin = perf_counter()
    table = concatenate(list(ta.align_all(batch, **options)))
    seconds = perf_counter() - begin
    cells = int((batch.lengths[table.query_index] * batch.lengths[table.target_index]).sum())
    rows = Table(title=f"{title}: {len(batch)} sequences, {len(table):,} alignments, {cells / seconds / 1e9:.1f} GCUPS")
    for name in ("query", "target"):
        rows.add_column(name, overflow="ellipsis", no_wrap=True, max_width=26)
    for name in ("score", "identity", "gaps", "columns"):
        rows.add_column(name, justify="right")
    rows.add_column("CIGAR", overflow="ellipsis", no_wrap=True, max_width=30)
    for k in (-table.score).argsort(kind="stable")[:5]:
        row = table.row(int(k))
        rows.add_row(
            row.query, row.target, str(row.score), f"{row.identity:.1%}", str(row.n_gaps), str(row.n_columns), row.cigar
        )
    console.print(rows)


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    console = Console()
    show(console, "protein family, local", HERE / "family.fasta", mode="local", matrix="BLOSUM62", gap=ta.Gap(11, 1))
    show(console, "18S amplicons, global", HERE / "amplicons.fasta", mode="global")
    for name, mode in (("family", "local"), ("amplicons", "global")):
        code = main(["pairs", str(HERE / f"{name}.fasta"), "--mode", mode, "-o", str(OUT / f"{name}.tsv"), "-q"])
        assert code == 0
    print(f"all alignments: {OUT / 'family.tsv'} and {OUT / 'amplicons.tsv'}")
