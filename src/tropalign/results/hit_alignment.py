"""Hits as a multiple alignment: the included domains of a query, each as its alignment to the model has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.properties import cached_property
from tropalign.results.found_hits import Query
from tropalign.results.hits import Hits
from tropalign.results.posterior_digits import digits

Letters = NDArray[np.uint8]
Int64 = NDArray[np.int64]
GAP, DOT = ord("-"), ord(".")
#: Posteriors by their digits, as HMMER reads them: 0.01 for 0, and 1 for a star.
POSTERIORS = np.zeros(256)
POSTERIORS[[ord(digit) for digit in "0123456789*"]] = np.array([0.01, *np.arange(1, 10) / 10, 1], np.float32)
#: Letters that stand for no residue.
NO_RESIDUES = np.frombuffer(b"*~", np.uint8)
#: Letters of alignments that are placed at a time.
LETTERS_AT_A_TIME = 1 << 18


@dataclass(frozen=True, eq=False)
class HitAlignment:
    """Domains aligned to a model: a column per node, and after it as many as the longest insertion there has residues.

    Attributes
    ----------
    names, accessions, descriptions : tuple of str
        A name is that of the target with the residues of the domain, counted from 1.
    letters : uint8, shape (n_rows, n_columns)
        Residues of nodes in upper case, deletions ``-``; residues of insertions in lower case, and dots between them.
    posteriors : uint8, shape (n_rows, n_columns)
        The digit of the posterior of each residue, and dots.
    has_posteriors : bool, shape (n_rows,)
        Which rows have some.
    is_node : bool, shape (n_columns,)
        Which columns are those of nodes.
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
        """An ``x`` per column of a node, and dots."""
        return np.where(self.is_node, ord("x"), DOT).astype(np.uint8).tobytes()

    @cached_property
    def mean_posteriors(self) -> bytes:
        """The digit of the mean posterior per column of a node, and dots."""
        own = self.posteriors[:, self.is_node]
        counts = (own != DOT).sum(axis=0)
        total = np.zeros(own.shape[1])
        for row in own:  # one after another: the order of HMMER's sum
            total += POSTERIORS[row]
        with np.errstate(invalid="ignore"):
            means = digits((total / counts).astype(np.float32))
        line = np.full(len(self.is_node), DOT, np.uint8)
        line[self.is_node] = np.where(counts > 0, means, DOT)
        return line.tobytes()


def align_hits(hits: Hits, query: int = 0) -> HitAlignment | None:
    """The included domains of one query as a multiple alignment, as ``hmmsearch -A`` and jackhmmer make it.

    Parameters
    ----------
    hits
        With alignment lines, models being the queries.
    query
        Index in ``hits.queries``.

    Returns
    -------
    HitAlignment or None
        In the order of the hits, after the query where that has a sequence; None where there is nothing.

    Raises
    ------
    ValueError
        Hits of a scan, or without alignment lines; a query whose sequence has not a residue per node.
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
        letters[at] = np.where(lines.is_insert, _lower(lines.letter), _upper(lines.letter))[is_residue]
        posteriors[at] = lines.posterior[is_residue]
    names, accessions, descriptions = _words(hits, domains, owner)
    if n_first:
        letters[0, columns.is_node] = _first_row(asked)
        names, accessions, descriptions = (
            [asked.name, *names],
            [asked.accession, *accessions],
            [asked.description, *descriptions],
        )
    has_posteriors = np.arange(shape[0]) >= n_first
    return HitAlignment(
        tuple(names), tuple(accessions), tuple(descriptions), letters, posteriors, has_posteriors, columns.is_node
    )


def _first_row(query: Query) -> Letters:
    if len(query.sequence) != query.length:
        raise ValueError(f"the query's sequence has {len(query.sequence)} residues, but the model {query.length} nodes")
    return np.frombuffer(query.sequence.upper().encode("latin-1"), np.uint8)


@dataclass(frozen=True, eq=False)
class _Columns:
    """Where nodes stand.

    Node k stands in column ``column_of[k]``, counted from 0; what is inserted after it in the next ``widths[k]``
    columns, the first half of a row's residues at the left and the others at the right:

        node      4 . . . . 5
        row 1     M k v a w L
        row 2     M i . l v L
    """

    widths: Int64
    column_of: Int64
    is_node: NDArray[np.bool_]


def _columns(hits: Hits, domains: Int64, length: int) -> _Columns:
    """The columns of a model of so many nodes with some domains."""
    widths = np.zeros(length + 1, np.int64)
    for _, some in _some_at_a_time(hits, domains):
        lines = _Lines(hits, some)
        np.maximum.at(widths, lines.node[lines.begins], lines.ends - lines.begins)
    column_of = np.arange(length + 1) - 1 + np.concatenate([[0], np.cumsum(widths[:-1])])
    is_node = np.zeros(length + int(widths.sum()), np.bool_)
    is_node[column_of[1:]] = True
    return _Columns(widths, column_of, is_node)


def _some_at_a_time(hits: Hits, domains: Int64) -> Iterator[tuple[int, Int64]]:
    """Neighbouring domains of at most `LETTERS_AT_A_TIME`, each of which takes dozens of bytes, and the first one."""
    before = np.concatenate([[0], np.cumsum(hits.line_offsets[domains + 1] - hits.line_offsets[domains])])
    first = 0
    while first < len(domains):
        last = max(first + 1, int(np.searchsorted(before, before[first] + LETTERS_AT_A_TIME, "right")) - 1)
        yield first, domains[first:last]
        first = last


class _Lines:
    """The letters of some domains' alignments, one after another, with row and node of each.

    Attributes
    ----------
    begins, ends
        Of insertions: residues of one row after one node.
    """

    def __init__(self, hits: Hits, domains: Int64) -> None:
        offsets, at = ragged.chosen(hits.line_offsets, domains)
        self.row = np.repeat(np.arange(len(domains)), np.diff(offsets))
        self.letter, self.posterior = hits.target_line[at], hits.posterior_line[at]
        self.is_insert = is_insert = hits.model_line[at] == DOT
        before = np.cumsum(~is_insert)
        # Nodes of a row count from that of its first letter, which is a match.
        self.node = hits.domain_model_begin[domains][self.row] + before - (before[offsets[:-1]] - 1)[self.row]
        self.begins = np.flatnonzero(is_insert & ~np.concatenate([[False], is_insert[:-1]]))
        self.ends = np.flatnonzero(is_insert & ~np.concatenate([is_insert[1:], [False]])) + 1

    def columns(self, columns: _Columns) -> Int64:
        """The column of each letter."""
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
    """Names, accessions and descriptions of the rows."""
    spans = zip((hits.domain_begin[domains] + 1).tolist(), hits.domain_end[domains].tolist(), strict=True)
    owners = owner.tolist()
    names = [f"{hits.names[k]}/{begin}-{end}" for k, (begin, end) in zip(owners, spans, strict=True)]
    descriptions = [f"[subseq from] {hits.descriptions[k] or hits.names[k]}" for k in owners]
    return names, [hits.accessions[k] for k in owners], descriptions


def _upper(letters: Letters) -> Letters:
    return np.where((letters >= ord("a")) & (letters <= ord("z")), letters - 32, letters).astype(np.uint8)


def _lower(letters: Letters) -> Letters:
    return np.where((letters >= ord("A")) & (letters <= ord("Z")), letters + 32, letters).astype(np.uint8)
