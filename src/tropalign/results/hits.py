"""The class `Hits`, the result of a search: a row per hit, with its domains; and their multiple alignment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import shown
from tropalign.properties import cached_property
from tropalign.results import display
from tropalign.results.columns import Table
from tropalign.results.display import digits
from tropalign.results.found_hits import FoundHits, JudgedHits, verdicts
from tropalign.results.hit import HITS, Columns, DomainTable, Hit, shown_columns
from tropalign.results.names import HitsFormat
from tropalign.results.threshold_options import Thresholds

if TYPE_CHECKING:
    import os


class Hits(JudgedHits, Table[Hit]):
    """The reported hits of a search or a scan: a row per hit, queries in order, the best hits of each first.

    ``hits[k]`` is a `Hit` with its domains; a slice, a mask or indices select hits.

    Positions are 0-based and half-open; nats are natural logarithms of odds.

    Attributes
    ----------
    queries : tuple of Query
    first_query
        Index of the first of them among all queries; 0 if these are all.
    orientation : {"search", "scan"}
        "search": queries are models and targets are sequences. "scan": the reverse.
    n_targets, n_target_residues
        Number of searched targets, and of their residues (or nodes, for models).
    n_passed : int64, shape (n_queries, 4)
        Targets past each of FILTERS, per query.
    widths : int64, shape (n_queries, 3)
        Bytes of the longest name, of the longest accession, and of the longest accession or else name, among hits
        that were dropped but that HMMER would have kept while reading; its tables have these widths. 0 (default) if
        there were no such hits.
    domZ : float64, shape (n_queries,)
        Targets for the E-values of domains; NaN (default) to derive it from the number of reported hits.
    models : mapping of int to Query
        In a scan: the models of the hits, by `target`.
    names, accessions, descriptions : tuple of str
        Texts of the target of each hit; empty if missing.
    query : int32
        Index in `queries`.
    target : int64
        Index of the target among all; -1 if unknown.
    length : int32
        Length of the target.
    bits, pre_bits, sum_bits : float32
        The score; the score without the correction for biased composition; the score from the sum over domains.
    log_p, pre_log_p, sum_log_p : float64
        Logarithms of their P-values.
    n_expected : float32
        Expected number of domains by posterior probability.
    n_regions, n_clustered, n_overlaps, n_envelopes : int32
        How the domains were found.
    best_domain : int32
        Domain with the highest score, counted from 0 within the hit.
    domain_offsets : int64, shape (n + 1,)
        Domains of hit k: items ``domain_offsets[k]:domain_offsets[k + 1]`` of the columns of domains.
    line_offsets : int64, shape (n_domains + 1,)
        Alignment lines of domain d: characters ``line_offsets[d]:line_offsets[d + 1]`` of each line. All 0, with
        empty lines, if alignments were not requested.
    domain_envelope_begin, domain_envelope_end : int32, shape (n_domains,)
        Range of the sequence in which the domain may lie.
    domain_begin, domain_end, domain_model_begin, domain_model_end : int32
        Aligned range of the sequence, and of the nodes.
    domain_envelope_nats, domain_correction_nats, domain_bias_nats : float32
        Score of the envelope alone; corrections for biased composition of the envelope, and of `domain_bits`.
    domain_expected_accuracy : float32
        Sum of the posterior probabilities of aligned residues.
    domain_bits : float32
        Score of the domain.
    domain_log_p : float64
        Logarithm of its P-value.
    model_line, match_line, target_line, posterior_line : uint8
        The alignments: characters of the model ('.' at inserts), matches, residues of the sequence ('-' at deletes),
        and posterior probabilities ('0' to '9' and '*', '.' at deletes).
    thresholds : Thresholds
        Thresholds of reporting and inclusion.
    Z
        Targets for the E-values of hits.
    is_included : bool, shape (n,)
        Hits that pass the inclusion threshold.
    domain_is_reported, domain_is_included : bool, shape (n_domains,)
        Domains that pass these thresholds. A reported hit may have unreported domains.

    Examples
    --------
    >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
    >>> hits[:2]
    <Hits: 2 of 1 query in 37 targets>
    query  target                  E-value   bits  bias  domains  included
    EFP    tr|H8KCP7|H8KCP7_RICMS  8.2e-85  274.3   2.3        1       yes
    EFP    sp|Q4UKM7|EFP_RICFE     2.3e-84  272.9   2.8        1       yes
    >>> hits[0].best_domain
    EFP 0-187 x tr|H8KCP7|H8KCP7_RICMS 0-188: E-value 9.1e-85, 274.2 bits
    >>> hits[0].best_domain.lines["model_line"][:25]
    'MkievndirkGsvielegelyivle'
    """

    def row(self, k: int) -> Hit:
        """Return a single hit.

        Parameters
        ----------
        k
            The row, from 0; negative numbers count from the end.

        Returns
        -------
        Hit

        Raises
        ------
        IndexError
            There is no such row.

        Examples
        --------
        >>> tropalign.search("examples/efp.hmm", "examples/efp.fasta").row(1).name
        'sp|Q4UKM7|EFP_RICFE'
        """
        return Hit(self, ragged.row_number(k, len(self)))

    @property
    def domains(self) -> DomainTable:
        """The reported domains of all hits: `Domain` objects by iteration, and a table for other libraries."""
        return DomainTable(self)

    def columns(self) -> Columns:
        """Return the table of hits by column name: texts as lists, numbers as arrays.

        Returns
        -------
        dict of str to list or array
            An item per hit.

        Examples
        --------
        >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
        >>> hits.columns()["target"][0], list(hits.columns())[6:9]
        ('tr|H8KCP7|H8KCP7_RICMS', ['evalue', 'bits', 'bias'])
        """
        return shown_columns(HITS, self, np.arange(len(self)))

    def write(self, path: str | os.PathLike[str], format: HitsFormat | None = None) -> None:
        """Write the hits: see `tropalign.write_hits`.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.
        format
            Name of the format; by default, the suffix of the path decides.

        Raises
        ------
        TropalignError
            The format does not exist or its package is missing, or the file cannot be written.

        Examples
        --------
        >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
        >>> hits[:2].write("-", "pfamtblout")
        # Sequence scores
        # ---------------
        #
        # name                     bits   E-value   n   exp  bias    description
        #    ------------------- ------ --------- --- ----- -----    ---------------------
        tr|H8KCP7|H8KCP7_RICMS   274.3   8.2e-85   1   1.0   2.3    Elongation factor P OS=Rickettsia montanensis ...
        sp|Q4UKM7|EFP_RICFE      272.9   2.3e-84   1   1.0   2.8    Elongation factor P OS=Rickettsia felis ...
        ...
        """
        import tropalign  # through the public name: results do not depend on files

        tropalign.write_hits(self, path, format)

    @classmethod
    def from_pyhmmer(cls, top_hits: Any) -> Hits:
        """Convert the reported hits of a ``pyhmmer.plan7.TopHits``.

        Parameters
        ----------
        top_hits
            TopHits of one query, or several of them. Their targets have no indices: `target` is -1.

        Returns
        -------
        Hits

        Raises
        ------
        ValueError
            There are no TopHits, or a scan used its models' own cutoffs, which pyhmmer does not store.

        Examples
        --------
        >>> import pyhmmer
        >>> with pyhmmer.plan7.HMMFile("examples/efp.hmm") as file:
        ...     model = file.read()
        >>> with pyhmmer.easel.SequenceFile("examples/efp.fasta", digital=True, alphabet=model.alphabet) as file:
        ...     found = pyhmmer.plan7.Pipeline(model.alphabet).search_hmm(model, file.read_block())
        >>> len(tropalign.Hits.from_pyhmmer(found))
        37
        """
        from tropalign.results import hit_pyhmmer

        return judged(*hit_pyhmmer.found_in(top_hits))

    def to_pyhmmer(self, queries: Iterable[Any]) -> list[Any]:
        """Return the hits as ``pyhmmer.plan7.TopHits``, one per query.

        Parameters
        ----------
        queries
            pyhmmer's query objects, one per query, since its results refer to them: HMMs, or digital sequences in a
            scan.

        Returns
        -------
        list of pyhmmer.plan7.TopHits

        Raises
        ------
        ValueError
            There is not one object per query.

        Examples
        --------
        >>> import pyhmmer
        >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
        >>> with pyhmmer.plan7.HMMFile("examples/efp.hmm") as file:
        ...     (found,) = hits.to_pyhmmer(file)
        >>> len(found.included), found[0].best_domain.alignment.hmm_name
        (37, 'EFP')
        """
        from tropalign.results import hit_pyhmmer

        return hit_pyhmmer.top_hits_of(self, queries)

    def _title(self) -> str:
        n = len(self.queries)
        return f"Hits: {len(self):,} of {n:,} {'query' if n == 1 else 'queries'} in {self.n_targets:,} targets"

    def _first_rows(self) -> dict[str, list[str]]:
        """Return the first hits as text, by column name."""
        return {
            "query": [shown(self.queries[k].name) for k in self.query[: display.SHOWN_ROWS].tolist()],
            "target": [shown(name) for name in self.names[: display.SHOWN_ROWS]],
            "E-value": [f"{value:.2g}" for value in self.evalue[: display.SHOWN_ROWS].tolist()],
            "bits": [f"{value:.1f}" for value in self.bits[: display.SHOWN_ROWS].tolist()],
            "bias": [f"{value:.1f}" for value in self.bias[: display.SHOWN_ROWS].tolist()],
            "domains": [str(value) for value in self.n_reported[: display.SHOWN_ROWS].tolist()],
            "included": ["yes" if value else "no" for value in self.is_included[: display.SHOWN_ROWS].tolist()],
        }

    def __repr__(self) -> str:
        return display.grid_text(self._title(), self._first_rows(), len(self))

    def _repr_html_(self) -> str:
        rows = self[: display.SHOWN_ROWS] if self.has_lines else ()
        details = ((repr(hit), display.escaped(str(hit))) for hit in rows)
        return display.grid_html(self._title(), self._first_rows(), len(self), details)


def judged(found: FoundHits, thresholds: Thresholds) -> Hits:
    """Return the reported hits, sorted. Raises InputError for a model without the requested cutoffs."""
    return Hits(**verdicts(found, thresholds))


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
