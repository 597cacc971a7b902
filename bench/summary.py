"""README.md's table of speed, a row or more per verb, made of the figures that the pages in docs/benchmarks have.

python bench/summary.py        fills it; `make bench-*` does so after each benchmark

A peer without figures is left out where its page says that it was not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from absent import named_absent
from tables import fill, table, wrap

ROOT = Path(__file__).parent.parent
PAGES, README = ROOT / "docs" / "benchmarks", ROOT / "README.md"


#: Columns of the summary, and the instruction sets that they show; an empty one is what the machine had at best.
ISAS = {"AVX2": ("v3",), "AVX-512": ("v4vbmi", "v4", "")}


@dataclass(frozen=True)
class Row:
    """A task, and where its figures stand.

    Attributes
    ----------
    verb, task
        What the first two columns say.
    page, heading
        The page, and the heading below which the table stands (the page's first table by default).
    own
        The row of tropalign; pages by instruction set have rows "own, v3" and so on, or columns of such names.
    column
        The column of the figures.
    unit
        What stands behind the figures.
    peers
        The rows of others, with the names to show.
    columns
        The columns of others, in tropalign's row, with the names to show; without either they stand in its cell
        "peers".
    is_same
        Whether the figure is the same with every instruction set.
    without
        Peers of that cell that are left out: variants of one that is there, and other problems.
    """

    verb: str
    task: str
    page: str
    own: str
    column: str
    unit: str = ""
    heading: str = ""
    peers: dict[str, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    is_same: bool = False
    without: tuple[str, ...] = ("numba, plain", "tropalign, one", "edlib")

    def cells(self) -> list[str]:
        """The row of the summary."""
        unit = f" {self.unit}" if self.unit else ""
        own = [f"**{figure}{unit}**" if figure else "-" for figure in (self.own_figure(isas) for isas in ISAS.values())]
        gone = named_absent((PAGES / self.page).read_text())
        others = [f"{name} {self.figure(row, self.column)}{unit}" for row, name in self.peers.items()
                  if name not in gone]  # fmt: skip
        others += [f"{name} {self.figure(self.own, column)}{unit}" for column, name in self.columns.items()]
        if (
            not self.peers and not others
        ):  # "scipy 7.24, numba, plain loops 2.75": a comma behind a figure or its unit parts two
            told = re.split(r"(?<=\d), |(?<=\d us), |(?<=\d s), |(?<=\)), ", self.figure(self.own, "peers"))
            others = [f"{text}{unit}" for text in told if not text.startswith((*self.without, "-"))]
        return [f"`{self.verb}`", self.task, *own, ", ".join(others) or "-"]

    def own_figure(self, isas: tuple[str, ...]) -> str:
        """tropalign's figure with one of these instruction sets; empty where the page has none.

        A figure that says no instruction set is of the best one.
        """
        names = [(f"{self.own}, {isa}", self.column) for isa in isas]
        names += [(self.own, f"{self.column}, {isa}") for isa in isas]
        if isas[-1] == "" or self.is_same:
            names.append((self.own, self.column))
        for name, column in names:
            try:
                return self.figure(name, column)
            except LookupError:
                continue
        return ""

    def figure(self, name: str, column: str) -> str:
        """A cell by its row's and its column's name."""
        for heads, rows in tables((PAGES / self.page).read_text(), self.heading):
            if column in heads and name in rows:
                return rows[name][heads.index(column)]
        raise LookupError(f"docs/benchmarks/{self.page} has no figure of {name!r} under {column!r}")


def tables(text: str, heading: str) -> Iterator[tuple[list[str], dict[str, list[str]]]]:
    """The tables below a heading: the names of columns, and the cells of each row by its first one, bold or not."""
    text = text[text.index(f"\n## {heading}") :] if heading else text
    for found in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [[plain(cell.strip()) for cell in line.split("|")[1:-1]] for line in found.splitlines()]
        yield rows[0], {row[0]: row for row in reversed(rows[2:])}  # of rows of one name the first


def plain(cell: str) -> str:
    """A cell without the stars of bold words, and without the memory behind a figure."""
    return re.sub(r", \d+ MB\b", "", cell.replace("**", ""))


def same(*names: str) -> dict[str, str]:
    """Rows that are shown by their names."""
    return {name: name for name in names}


ALIGNERS = same("QuickProbs 2", "MUSCLE 5", "MAFFT L-INS-i", "Clustal Omega")
ROWS = (
    Row("pairs", "proteins of 257 residues, local, scores", "pairs.md", "tropalign", "257", "GCUPS",
        "Scores alone, GCUPS", same("parasail", "pyopal", "ssearch36")),
    Row("pairs", "the same with alignments", "pairs.md", "tropalign", "257", "GCUPS",
        "Alignments (CIGARs), GCUPS", same("parasail", "pyopal")),
    Row("pairs", "DNA of 1,000 bp, 5 % of it different, global, per pair", "pairs.md",
        "DNA, 1,000 bp, 5 % divergence, global, CIGAR, 300 pairs in one call", "tropalign"),
    Row("pairs", "identities of 300 16S genes, per pair", "pairs.md",
        "16S genes, identity matrix of 300, global, 2 threads, whole command, per pair", "tropalign"),
    Row("cluster", "5,000 reads of 16S genes at 97 %", "cluster.md",
        "tropalign cluster, every representative considered", "processor time",
        peers={"vsearch --cluster_fast, as it is called": "vsearch"}),
    Row("msa", "61 reference families: aligned pairs that are right", "msa.md", "tropalign", "SP", "%",
        peers=ALIGNERS, is_same=True),
    Row("msa", "the same: million cells per second (of commands)", "msa.md", "tropalign", "Mcells/s",
        peers=ALIGNERS),
    Row("tree", "neighbour joining of 10,000 taxa", "tropical.md", "neighbour joining, 10,000 taxa", "tropalign", "s"),
    Row("search", "404 models against a proteome", "search.md", "404 models, a proteome", "with .tdb, s", "s",
        columns={"hmmsearch, s": "hmmsearch", "pyhmmer, s": "pyhmmer"}),
    Row("place", "400 reads into a reference of 802", "place.md", "tropalign", "seconds", "s",
        peers=same("PaPaRa 2.5")),
    Row("decode", "Viterbi, 64 states: ns per symbol and pair of states", "tropical.md", "Viterbi, 64 states",
        "tropalign", "ns"),
    Row("paths", "all shortest paths between 2,048 vertices", "tropical.md", "all pairs, int16, n = 2,048", "tropalign",
        "s"),
)  # fmt: skip


def summary() -> list[str]:
    """The lines of the table, and what they were measured on."""
    heads = ["verb", "task", *(f"**{name}**" for name in ISAS), "others"]
    return [*wrap(f"Measured on {' and '.join(processors())}."), "", *table(heads, [row.cells() for row in ROWS])]


def processors() -> list[str]:
    """The processors of the pages, without how many cores they had."""
    texts = [(PAGES / page).read_text() for page in dict.fromkeys(row.page for row in ROWS)]
    found = [re.search(r"^Processor: (.*), \d+ cores\.$", text, re.MULTILINE) for text in texts]
    return list(dict.fromkeys(one[1] for one in found if one))


if __name__ == "__main__":
    README.write_text(fill(README.read_text(), summary(), "summary"))
    print(f"written to {README}")
