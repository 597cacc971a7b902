"""Align every pair of a protein family and of DNA amplicons, align the family as a whole, and place reads."""

from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

import tropalign as ta
from tropalign.cli.main import main
from tropalign.results.alignments import AlignmentTable, concatenate

HERE = Path(__file__).parent
OUT = HERE.parent / "demo-results"


def shortened(text: str, width: int) -> str:
    """Return the text, cut to a width."""
    return text if len(text) <= width else text[: width - 1] + "…"


def show(console: Console, title: str, path: Path, **options: object) -> AlignmentTable:
    """Align every pair of a file and print the best ones."""
    batch = ta.read_sequences(path)
    begin = perf_counter()
    table = concatenate(list(ta.align_all(batch, **options)))
    seconds = perf_counter() - begin
    console.print(
        f"\n[bold]{title}[/]: {len(table):,} alignments of {len(batch)} sequences in {1000 * seconds:.0f} ms; the best:"
    )
    rows = Table()
    for name in ("query", "target", "score", "identity", "gaps", "CIGAR"):
        rows.add_column(name, justify="right" if name in ("score", "identity", "gaps") else "left", no_wrap=True)
    for k in (-table.score).argsort(kind="stable")[:6]:
        row = table.row(int(k))
        names = (shortened(name.split("|")[-1], 14) for name in (row.query, row.target))
        rows.add_row(*names, str(row.score), f"{row.identity:.1%}", str(row.n_gaps), shortened(row.cigar, 16))
    console.print(rows)
    return table


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    console = Console(highlight=False)
    gap = ta.Gap(11, 1)  # a gap of k residues costs 11 + k
    family = show(console, "Elongation factors P, local", HERE / "efp.fasta", mode="local", matrix="BLOSUM62", gap=gap)
    print("One of the alignments, of more distant relatives:\n")
    print(family.row(int(family.identity.argsort()[len(family) // 4])))
    show(console, "18S amplicons, global", HERE / "amplicons.fasta", mode="global")
    print("\nAll alignments, from the command line:")
    for name, mode in (("efp", "local"), ("amplicons", "global")):
        words = ["pairs", str(HERE / f"{name}.fasta"), "--mode", mode, "-o", str(OUT / f"{name}.tsv")]
        assert main([*words, "-q"]) == 0
        print(f"  tropalign pairs examples/{name}.fasta --mode {mode} -o demo-results/{name}.tsv")
    print("\nA multiple alignment of the elongation factors, from Python and as a page for the browser:")
    begin = perf_counter()
    together = ta.align_multiple(HERE / "efp.fasta")
    together.write(OUT / "efp.html")
    print(f"{together}\n  in {perf_counter() - begin:.1f} s: demo-results/efp.html")
    print("\nSearch with the family's profile HMM, the best hits:")
    hits = ta.search(HERE / "efp.hmm", HERE / "efp.fasta")
    hits.write(OUT / "efp.tbl")
    print(f"{hits[:3]}\n  demo-results/efp.tbl")
    print("\nReads of 16S genes, placed in a reference alignment with its tree:")
    place = [
        "place",
        "--reference",
        f"{HERE}/16s/ref.phy.gz",
        "--tree",
        f"{HERE}/16s/ref.nwk",
        f"{HERE}/16s/reads.fasta",
    ]
    begin = perf_counter()
    assert main([*place, "-q", "-o", f"{OUT}/placed.fasta", "--table", f"{OUT}/placed.tsv"]) == 0
    print(f"  400 reads on 1,601 branches in {perf_counter() - begin:.1f} s: demo-results/placed.fasta, placed.tsv")
    print(f"The results are in {OUT}")
