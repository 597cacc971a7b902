"""The alignment of a model as ``hmmbuild -O`` writes it: weights of the rows, nodes, and insertions in lower case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.aligned.profile import COLUMNS, blocks
from tropalign.profiles.family_models import MISSING, Letters
from tropalign.results.display import DOT
from tropalign.results.multiple import GAP

Int32 = NDArray[np.int32]
Codes = NDArray[np.uint8]


def annotated(
    marked: Any, names: Sequence[str], is_node: NDArray[np.bool_], letters: Letters, has_weights: bool
) -> bytes:
    """Return the text of an alignment in Stockholm format.

    `marked`: `pyhmmer.easel.DigitalMSA` with weights and fragments, as HMMER's builder leaves it. `is_node`: bool,
    shape (n_columns,).
    """
    rows = [_Row(np.asarray(row), is_node, letters.symbols) for row in marked.alignment]
    n_nodes = int(is_node.sum())
    is_used, n_inserted = np.zeros(n_nodes + 1, bool), np.zeros(n_nodes + 1, np.int64)
    for row in rows:
        is_used[row.places[row.places > 0]] = True
        np.maximum(n_inserted, row.n_inserted, out=n_inserted)
    # Nodes without a residue have no column, as in HMMER.
    first = np.cumsum(is_used + n_inserted) - is_used - n_inserted
    has_node = np.zeros(int((is_used + n_inserted).sum()), bool)
    has_node[first[is_used]] = True
    cells = np.array([row.spread(first, first + is_used, n_inserted, has_node, letters) for row in rows])
    fields = (("ID", marked.name), ("AC", marked.accession), ("DE", marked.description))
    lines = ["# STOCKHOLM 1.0", *(f"#=GF {tag} {text}" for tag, text in fields if text), ""]
    own = [name.encode() for name in names]
    made = [line.encode() for line in lines]
    if has_weights:
        width, weights = max(map(len, own)), marked.sequence_weights
        made += (b"#=GS %s WT %.2f" % (name.ljust(width), weight) for name, weight in zip(own, weights, strict=True))
        made.append(b"")
    reference = np.where(has_node, ord("x"), DOT).astype(np.uint8).tobytes()

    def part(first: int, last: int, begin: int, end: int) -> Codes:
        return cells[first:last, begin:end]

    is_judged = np.zeros(len(own), bool)
    text = blocks(own, part, part, is_judged, [(b"RF", reference)], COLUMNS, len(has_node))
    return b"\n".join([*made, b""]) + b"".join(text) + b"//\n"


class _Row:
    """Residues of a row and their places: node k, or -k for an insertion after node k.

    HMMER aligns an insertion next to a deletion to the deleted node (its `p7_trace_Doctor`). A row may start or end
    with missing data, which are not deletions.
    """

    def __init__(self, codes: Codes, is_node: NDArray[np.bool_], symbols: str) -> None:
        is_missing = codes == symbols.index("~")
        has_residue = (codes != symbols.index("-")) & ~is_missing
        at = np.flatnonzero((is_node | has_residue) & ~is_missing)
        node, residue = is_node[at], has_residue[at]
        places = np.cumsum(is_node, dtype=np.int32)[at]
        places[~node] *= -1
        deleted, inserted = node & ~residue, ~node
        pairs = np.flatnonzero((deleted[:-1] & inserted[1:]) | (inserted[:-1] & deleted[1:]))
        # The first of overlapping pairs counts, the third, and so on.
        number = np.arange(len(pairs))
        begins = np.diff(pairs, prepend=-2) > 1
        pairs = pairs[(number - np.maximum.accumulate(np.where(begins, number, 0))) % 2 == 0]
        joined = pairs + inserted[pairs + 1]
        places[joined] = places[pairs + 1 - inserted[pairs + 1]]
        self.limits = (int(places[0]), int(places[-1])) if len(at) else None
        self.starts_missing, self.ends_missing = bool(is_missing[0]), bool(is_missing[-1])
        self.residues, self.places = codes[at][residue], places[residue]
        self.n_inserted = np.bincount(-self.places[self.places <= 0], minlength=int(is_node.sum()) + 1)

    def spread(self, first: Any, inserts: Any, n_inserted: Any, has_node: NDArray[np.bool_], letters: Letters) -> Codes:
        """Return the row's text.

        `first`, `inserts`, `n_inserted`: int64, shape (n_nodes + 1,), first column of a node, and first column and
        number of columns of the insertions after it. `has_node`: bool, shape (n_columns,).
        """
        text = np.where(has_node, GAP, DOT).astype(np.uint8)
        if self.limits is None:
            return text
        begin, end = self.limits
        if self.starts_missing:
            text[: first[begin] if begin > 0 else inserts[-begin]] = MISSING
        if self.ends_missing:
            text[inserts[end] if end > 0 else inserts[-end] + self.n_inserted[-end] :] = MISSING
        is_inserted = self.places <= 0
        nodes = np.abs(self.places)
        text[first[nodes[~is_inserted]]] = letters.cased[self.residues[~is_inserted]]
        own = nodes[is_inserted]
        rank = np.arange(len(own)) - np.searchsorted(own, own)
        # Right-align the second half of an insertion at the next node; before the first node, the whole insertion.
        stays = self.n_inserted // 2
        stays[0], stays[-1] = 0, self.n_inserted[-1]
        if self.ends_missing and end <= 0:
            stays[-end] = self.n_inserted[-end]
        shift = np.where(rank < stays[own], 0, (n_inserted - self.n_inserted)[own])
        text[inserts[own] + rank + shift] = letters.cased[self.residues[is_inserted] + 32]
        return text
