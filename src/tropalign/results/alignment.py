"""One alignment, as people read it."""

from __future__ import annotations

import html
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable

INSERTION, DELETION, EQUAL, DIFFERENT = 1, 2, 7, 8

TEXT_WIDTH, HTML_WIDTH = 60, 80
#: Longer alignments are cut in notebooks.
HTML_COLUMNS = 8_000
#: Behind columns of equal letters, of different ones and of gaps; see-through, for light and dark pages.
COLOURS = {"|": "rgba(40,160,90,.30)", ".": "rgba(230,160,30,.22)", " ": "rgba(210,70,60,.25)"}


@dataclass(frozen=True, eq=False)
class Alignment:
    """One row of an AlignmentTable: ``print`` shows it as an alignment.

    The table's columns are its attributes: ``score``, ``query_start``, ``n_identical`` and so on.
    """

    table: AlignmentTable
    index: int

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        values = getattr(self.table, name)
        if values is None:
            raise AttributeError(f"{name} was not computed: ask for a deeper report than {self.table.depth!r}")
        return values[self.index].item()

    @property
    def query(self) -> str:
        """Name of the query."""
        return self.table.queries.names[int(self.table.query_index[self.index])]

    @property
    def target(self) -> str:
        """Name of the target."""
        return self.table.targets.names[int(self.table.target_index[self.index])]

    @property
    def strand(self) -> int:
        """1, or -1 where the query was reverse-complemented."""
        return 1 if self.table.strand is None else int(self.table.strand[self.index])

    @property
    def identity(self) -> float:
        """Identical columns over all columns; 0 for an empty alignment."""
        return float(self.n_identical / max(self.n_columns, 1))

    @property
    def similarity(self) -> float:
        """Columns whose letters score above 0, over all columns; 0 for an empty alignment."""
        return float(self.n_similar / max(self.n_columns, 1))

    @property
    def cigar(self) -> str:
        """CIGAR with ``=XID``; ``*`` when the alignment is empty."""
        return self.table.cigar(self.index)

    def operations(self) -> list[tuple[int, int]]:
        """(BAM operation, length) from the first column to the last."""
        table = self.table
        ops = table.cigar_ops[table.cigar_offsets[self.index] : table.cigar_offsets[self.index + 1]]
        return [(op & 15, op >> 4) for op in ops.tolist()]

    def query_text(self) -> str:
        """The query's letters on the strand that was aligned."""
        queries = self.table.queries
        text = queries.text(int(self.table.query_index[self.index]))
        if self.strand < 0:
            table = queries.alphabet.complement_table.tobytes()
            text = text.encode("latin-1").translate(table)[::-1].decode("latin-1")
        return text

    def query_span(self) -> tuple[int, int]:
        """Begin and end of the aligned part within ``query_text()``."""
        begin, end = self.query_start, self.query_end
        if self.strand < 0:
            length = int(self.table.queries.lengths[self.table.query_index[self.index]])
            begin, end = length - end, length - begin
        return begin, end

    def aligned(self) -> tuple[str, str, str]:
        """Gapped query, midline (``|`` equal, ``.`` different, a space beside a gap) and gapped target."""
        query, target = self.query_text(), self.table.targets.text(int(self.table.target_index[self.index]))
        i, j = self.query_span()[0], self.target_start
        rows: tuple[list[str], list[str], list[str]] = ([], [], [])
        for operation, length in self.operations():
            takes_query, takes_target = operation != DELETION, operation != INSERTION
            rows[0].append(query[i : i + length] if takes_query else "-" * length)
            rows[1].append({EQUAL: "|", DIFFERENT: "."}.get(operation, " ") * length)
            rows[2].append(target[j : j + length] if takes_target else "-" * length)
            i += length * takes_query
            j += length * takes_target
        return "".join(rows[0]), "".join(rows[1]), "".join(rows[2])

    def __repr__(self) -> str:
        text = f"{self.query} x {self.target}: score {self.score}"
        if self.strand < 0:
            text += ", reverse strand"
        if self.table.depth != "score":
            text += f", query {self.query_start}-{self.query_end}, target {self.target_start}-{self.target_end}"
        if self.table.depth == "alignment":
            text += f", identity {self.identity:.3f}"
        return text

    def _blocks(self, width: int, most: int | None = None) -> list[tuple[int, str, int, str, int, str, int]]:
        """(query begin, letters, end, midline, target begin, letters, end) of each block; 1-based positions."""
        top, middle, bottom = self.aligned()
        i, j = self.query_span()[0], self.target_start
        blocks = []
        for k in range(0, min(len(top), most or len(top)), width):
            a, m, b = top[k : k + width], middle[k : k + width], bottom[k : k + width]
            n, o = len(a) - a.count("-"), len(b) - b.count("-")
            blocks.append((i + (n > 0), a, i + n, m, j + (o > 0), b, j + o))
            i, j = i + n, j + o
        return blocks

    def __str__(self) -> str:
        if self.table.depth != "alignment":
            return repr(self)
        digits = len(str(max(self.query_end, self.target_end)))
        if self.strand < 0:
            digits = max(digits, len(str(self.query_span()[1])))
        blocks = [
            f"query  {i:>{digits}} {a} {i_end}\n{'':{digits + 7}} {m}\ntarget {j:>{digits}} {b} {j_end}"
            for i, a, i_end, m, j, b, j_end in self._blocks(TEXT_WIDTH)
        ]
        return "\n\n".join([repr(self), *blocks])

    def _repr_html_(self) -> str:
        return f"<pre style='line-height:1.25'>{html.escape(repr(self))}\n\n{self.html()}</pre>"

    def html(self) -> str:
        """The alignment alone, coloured, as lines for a ``<pre>``; empty for lesser depths than "alignment"."""
        if self.table.depth != "alignment":
            return ""
        lines = []
        for i, a, i_end, m, j, b, j_end in self._blocks(HTML_WIDTH, HTML_COLUMNS):
            lines += [f"{i:>9} {_coloured(a, m)} {i_end}", f"{j:>9} {_coloured(b, m)} {j_end}", ""]
        if self.n_columns > HTML_COLUMNS:
            lines.append(f"... and {self.n_columns - HTML_COLUMNS:,} more columns")
        return "\n".join(lines)


def _coloured(letters: str, middle: str) -> str:
    pieces, k = [], 0
    for mark, run in groupby(middle):
        n = len(list(run))
        pieces.append(f'<span style="background:{COLOURS[mark]}">{html.escape(letters[k : k + n])}</span>')
        k += n
    return "".join(pieces)
