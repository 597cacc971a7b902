"""Multiple alignment of hits: the included domains of a query, each as aligned to the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.properties import cached_property
from tropalign.results.display import digits
from tropalign.results.hits import Hits

Letters = NDArray[np.uint8]
Int64 = NDArray[np.int64]
GAP, DOT = ord("-"), ord(".")
#: Posteriors by digit, with HMMER's values: 0.01 for 0, and 1 for a star.
POSTERIORS = np.zeros(256)
POSTERIORS[[ord(digit) for digit in "0123456789*"]] = np.array([0.01, *np.arange(1, 10) / 10, 1], np.float32)
#: Each byte's letter in upper and in lower case.
UPPER, LOWER = (np.frombuffer(table, np.uint8) for table in (bytes(range(256)).upper(), bytes(range(256)).lower()))
#: Characters that are not residues.
NO_RESIDUES = np.frombuffer(b"*~", np.uint8)
#: Characters of alignments that are processed at once.
LETTERS_AT_A_TIME = 1 << 18


@dataclass(frozen=True, eq=False)
class HitAlignment:
    """Domains aligned to a model: a column per node, followed by the columns of the longest insertion after it.

    names: of the target and the residues of the domain, counted from 1. letters, posteriors: uint8, shape (n_rows,
    n_columns); residues of nodes are upper case, deletions ``-``, inserted residues lower case, with dots between
    them; posteriors are digits, or dots. has_posteriors: per row. is_node: per column.
    """

    names: tuple[str, ...]
    accessions: tuple[str, ...]
    descriptions: tuple[str, ...]
    letters: Letters
    posteriors: Letters
    has_posteriors: NDArray[np.bool_]
    is_node: NDArray[np.bool_]

    @property
    def reference(self) -> bytes:
        """An ``x`` per node column, dots elsewhere."""
        return np.where(self.is_node, ord("x"), DOT).astype(np.uint8).tobytes()

    @cached_property
    def mean_posteriors(self) -> bytes:
        """Digit of the mean posterior per node column, dots elsewhere."""
        own = self.posteriors[:, self.is_node]
        counts = (own != DOT).sum(axis=0)
        total = np.zeros(own.shape[1])
        for row in own:  # row by row: HMMER's summation order
            total += POSTERIORS[row]
        with np.errstate(invalid="ignore"):
            means = digits((total / counts).astype(np.float32))
        line = np.full(len(self.is_node), DOT, np.uint8)
        line[self.is_node] = np.where(counts > 0, means, DOT)
        return line.tobytes()


def align_hits(hits: Hits, query: int = 0) -> HitAlignment | None:
    """Align the included domains of one query, like ``hmmsearch -A`` and jackhmmer; None if there is nothing to align.

    Rows are in the order of the hits, after the query's own sequence if it has one. Raises ValueError for hits of a
    scan or without alignment lines, and if the query's sequence does not have one residue per node.
    """
    if hits.orientation != "search":
        raise ValueError("hits of a scan have no common model")
    asked = hits.queries[query]
    rows = np.flatnonzero((hits.query == query) & hits.is_included)
    offsets, domains = ragged.chosen(hits.domain_offsets, rows)
    owner = np.repeat(rows, np.diff(offsets))
    is_included = hits.domain_is_included[domains]
    domains, owner = domains[is_included], owner[is_included]
    if len(domains) and not hits.has_lines:
        raise ValueError("the hits have no alignments")
    if not len(domains) and not asked.sequence:
        return None
    n_first = 1 if asked.sequence else 0
    columns = _columns(hits, domains, asked.length)
    shape = (n_first + len(domains), len(columns.is_node))
    letters, posteriors = np.full(shape, DOT, np.uint8), np.full(shape, DOT, np.uint8)
    letters[:, columns.is_node] = GAP
    for first, some in _some_at_a_time(hits, domains):
        lines = _Lines(hits, some)
        column, is_residue = lines.columns(columns), lines.letter != GAP
        at = (n_first + first + lines.row[is_residue], column[is_residue])
        letters[at] = np.where(lines.is_insert, LOWER[lines.letter], UPPER[lines.letter])[is_residue]
        posteriors[at] = lines.posterior[is_residue]
    names, accessions, descriptions = _words(hits, domains, owner)
    if n_first:
        if len(asked.sequence) != asked.length:
            n, n_nodes = len(asked.sequence), asked.length
            raise ValueError(f"the query's sequence has {n} residues, but the model has {n_nodes} nodes")
        letters[0, columns.is_node] = np.frombuffer(asked.sequence.upper().encode("latin-1"), np.uint8)
        names, accessions, descriptions = (
            [asked.name, *names],
            [asked.accession, *accessions],
            [asked.description, *descriptions],
        )
    has_posteriors = np.arange(shape[0]) >= n_first
    return HitAlignment(
        tuple(names), tuple(accessions), tuple(descriptions), letters, posteriors, has_posteriors, columns.is_node
    )


@dataclass(frozen=True, eq=False)
class _Columns:
    """Columns of the nodes.

    Node k is in column ``column_of[k]``, counted from 0. Residues inserted after it are in the next ``widths[k]``
    columns, the first half of a row's residues at the left and the others at the right:

        node      4 . . . . 5
        row 1     M k v a w L
        row 2     M i . l v L
    """

    widths: Int64
    column_of: Int64
    is_node: NDArray[np.bool_]


def _columns(hits: Hits, domains: Int64, length: int) -> _Columns:
    """Return the columns of a model with `length` nodes for some domains."""
    widths = np.zeros(length + 1, np.int64)
    for _, some in _some_at_a_time(hits, domains):
        lines = _Lines(hits, some)
        np.maximum.at(widths, lines.node[lines.begins], lines.ends - lines.begins)
    column_of = np.arange(length + 1) - 1 + np.concatenate([[0], np.cumsum(widths[:-1])])
    is_node = np.zeros(length + int(widths.sum()), np.bool_)
    is_node[column_of[1:]] = True
    return _Columns(widths, column_of, is_node)


def _some_at_a_time(hits: Hits, domains: Int64) -> Iterator[tuple[int, Int64]]:
    """Yield runs of domains of at most `LETTERS_AT_A_TIME`, with their start; each character takes dozens of bytes."""
    before = np.concatenate([[0], np.cumsum(hits.line_offsets[domains + 1] - hits.line_offsets[domains])])
    first = 0
    while first < len(domains):
        last = max(first + 1, int(np.searchsorted(before, before[first] + LETTERS_AT_A_TIME, "right")) - 1)
        yield first, domains[first:last]
        first = last


class _Lines:
    """Characters of some domains' alignments, concatenated, with the row and node of each.

    begins, ends: of insertions, i.e. residues of one row after one node.
    """

    def __init__(self, hits: Hits, domains: Int64) -> None:
        offsets, at = ragged.chosen(hits.line_offsets, domains)
        self.row = np.repeat(np.arange(len(domains)), np.diff(offsets))
        self.letter, self.posterior = hits.target_line[at], hits.posterior_line[at]
        self.is_insert = is_insert = hits.model_line[at] == DOT
        before = np.cumsum(~is_insert)
        # Nodes of a row count from that of its first character, which is a match.
        self.node = hits.domain_model_begin[domains][self.row] + before - (before[offsets[:-1]] - 1)[self.row]
        self.begins = np.flatnonzero(is_insert & ~np.concatenate([[False], is_insert[:-1]]))
        self.ends = np.flatnonzero(is_insert & ~np.concatenate([is_insert[1:], [False]])) + 1

    def columns(self, columns: _Columns) -> Int64:
        """Return the column of each character."""
        column: Int64 = columns.column_of[self.node]
        residues_before = np.concatenate([[0], np.cumsum(~np.isin(self.letter, NO_RESIDUES))])
        n_residues = residues_before[self.ends] - residues_before[self.begins]
        sizes = self.ends - self.begins
        rank = np.flatnonzero(self.is_insert) - np.repeat(self.begins, sizes)  # within its insertion
        spare = np.repeat(columns.widths[self.node[self.begins]] - sizes, sizes)
        inserted = column[self.is_insert] + 1 + rank
        column[self.is_insert] = np.where(rank < np.repeat(n_residues // 2, sizes), inserted, inserted + spare)
        return column


def _words(hits: Hits, domains: Int64, owner: Int64) -> tuple[list[str], list[str], list[str]]:
    """Return names, accessions and descriptions of the rows."""
    spans = zip((hits.domain_begin[domains] + 1).tolist(), hits.domain_end[domains].tolist(), strict=True)
    owners = owner.tolist()
    names = [f"{hits.names[k]}/{begin}-{end}" for k, (begin, end) in zip(owners, spans, strict=True)]
    descriptions = [f"[subseq from] {hits.descriptions[k] or hits.names[k]}" for k in owners]
    return names, [hits.accessions[k] for k in owners], descriptions
