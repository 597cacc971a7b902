"""Hits as engines return them, before the size of the search space is known; and their E-values once it is known."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import combinations, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.errors import Hinted, InputError
from tropalign.properties import cached_property
from tropalign.results import display
from tropalign.results.columns import Axis, check_column
from tropalign.results.threshold_options import IF_ANY, Thresholds, keys_of

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Letters = NDArray[np.uint8]

#: Queries are models (``tropalign search``) or sequences (``tropalign scan``).
ORIENTATIONS = ("search", "scan")
#: Columns with an item per hit.
HIT_COLUMNS: dict[str, type] = {
    "query": np.int32, "target": np.int64, "length": np.int32,
    "bits": np.float32, "pre_bits": np.float32, "sum_bits": np.float32,
    "log_p": np.float64, "pre_log_p": np.float64, "sum_log_p": np.float64,
    "n_expected": np.float32, "n_regions": np.int32, "n_clustered": np.int32, "n_overlaps": np.int32,
    "n_envelopes": np.int32, "best_domain": np.int32,
}  # fmt: skip
#: Columns with an item per domain.
DOMAIN_COLUMNS: dict[str, type] = {
    "domain_envelope_begin": np.int32, "domain_envelope_end": np.int32, "domain_begin": np.int32,
    "domain_end": np.int32, "domain_model_begin": np.int32, "domain_model_end": np.int32,
    "domain_envelope_nats": np.float32, "domain_correction_nats": np.float32, "domain_bias_nats": np.float32,
    "domain_expected_accuracy": np.float32, "domain_bits": np.float32, "domain_log_p": np.float64,
}  # fmt: skip
#: Lines of the alignments, a character per column, all with the same offsets.
LINES = ("model_line", "match_line", "target_line", "posterior_line")
#: Texts with an item per hit.
TEXTS = ("names", "accessions", "descriptions")
#: Filters in order; the targets that pass each are counted per query.
FILTERS = ("msv", "bias", "viterbi", "forward")
_LINES = Axis("letters of a line", dict.fromkeys(LINES, np.uint8))
#: Arrays of hits: columns of hits, of their domains, and characters of the domains' lines.
AXIS = Axis(
    "hits",
    {**dict.fromkeys(TEXTS, str), **HIT_COLUMNS},
    {"domain_offsets": Axis("domains", DOMAIN_COLUMNS, {"line_offsets": _LINES})},
)
#: Bits per nat, HMMER's constant.
BITS = 1.44269504088896341
#: Runs of inserts in the model line of an alignment.
INSERTS = re.compile(r"(\.+)")
#: Placeholder default of columns that __post_init__ creates.
_NONE: Any = None


@dataclass(frozen=True)
class Query(Hinted):
    """A query of a search, or a model with hits in a query of a scan.

    Attributes
    ----------
    name
    length
        Nodes of a model, residues of a sequence.
    accession, description
        Empty if missing.
    gathering, trusted, noise : pair of float, or None
        Score thresholds of a model (GA, TC, NC), for full sequences and for domains, in bits.
    reference, structure
        Annotation of a model (RF, CS), a character per node; None if missing.
    sequence
        In an iterative search that starts with a sequence: its residues, the first row of an alignment of its hits.
    is_sequence
        Whether the query of a search is a single sequence, as in phmmer and jackhmmer.

    Examples
    --------
    >>> (query,) = tropalign.search("examples/efp.hmm", "examples/efp.fasta").queries
    >>> query.name, query.length, query.gathering
    ('EFP', 188, None)
    """

    name: str
    length: int
    accession: str = ""
    description: str = ""
    gathering: tuple[float, float] | None = None
    trusted: tuple[float, float] | None = None
    noise: tuple[float, float] | None = None
    reference: str | None = None
    structure: str | None = None
    sequence: str = ""
    is_sequence: bool = False

    def _repr_html_(self) -> str:
        return display.record_html(self)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FoundHits:
    """Hits of queries in targets: columns with an item per hit, and columns of their domains.

    Positions are 0-based and half-open; nats are natural logarithms of odds. Fields of domains are those of
    ``native/profiles/hit.hpp``, other fields are described in `tropalign.results.hits`. In a tile, `first_query` is
    the number of queries before its own.
    """

    _axis: ClassVar[Axis] = AXIS

    queries: tuple[Query, ...]
    orientation: str
    n_targets: int
    n_target_residues: int
    n_passed: Int64
    names: tuple[str, ...]
    accessions: tuple[str, ...]
    descriptions: tuple[str, ...]
    query: Int32
    target: Int64
    length: Int32
    bits: Float32
    pre_bits: Float32
    sum_bits: Float32
    log_p: Float64
    pre_log_p: Float64
    sum_log_p: Float64
    n_expected: Float32
    n_regions: Int32
    n_clustered: Int32
    n_overlaps: Int32
    n_envelopes: Int32
    best_domain: Int32
    domain_offsets: Int64
    domain_envelope_begin: Int32
    domain_envelope_end: Int32
    domain_begin: Int32
    domain_end: Int32
    domain_model_begin: Int32
    domain_model_end: Int32
    domain_envelope_nats: Float32
    domain_correction_nats: Float32
    domain_bias_nats: Float32
    domain_expected_accuracy: Float32
    domain_bits: Float32
    domain_log_p: Float64
    line_offsets: Int64
    model_line: Letters
    match_line: Letters
    target_line: Letters
    posterior_line: Letters
    widths: Int64 = _NONE
    domZ: Float64 = _NONE
    first_query: int = 0
    models: Mapping[int, Query] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.orientation not in ORIENTATIONS:
            raise ValueError(f"orientation {self.orientation!r} is not one of {', '.join(ORIENTATIONS)}")
        if self.widths is None:
            object.__setattr__(self, "widths", np.zeros((len(self.queries), 3), np.int64))
        if self.domZ is None:
            object.__setattr__(self, "domZ", np.full(len(self.queries), np.nan))
        self._axis.check(self)
        check_column("domZ", self.domZ, np.float64, len(self.queries))
        for name, n_values in (("n_passed", len(FILTERS)), ("widths", 3)):
            values, shape = getattr(self, name), (len(self.queries), n_values)
            if not isinstance(values, np.ndarray) or values.dtype != np.int64 or values.shape != shape:
                raise ValueError(f"{name} must be int64 of shape {shape}")
        if len(self) and not 0 <= int(self.query.min()) <= int(self.query.max()) < len(self.queries):
            raise ValueError(f"the query index of a hit is out of range for {len(self.queries)} queries")
        n_own = self.n_domains
        if (n_own < 1).any() or (self.best_domain < 0).any() or (self.best_domain >= n_own).any():
            raise ValueError("a hit must have at least one domain, and the best must be one of them")
        if self.orientation == "scan" and not set(self.target.tolist()) <= set(self.models):
            raise ValueError("models of a scan must include every target of a hit")

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_domains(self) -> Int64:
        """Number of domains of each hit, int64."""
        return np.diff(self.domain_offsets)

    @property
    def has_lines(self) -> bool:
        """True if the alignments are present."""
        return len(self.model_line) > 0 or not len(self.domain_bits)

    def model(self, k: int) -> Query:
        """Return the model of hit k: its query, or its target in a scan.

        Parameters
        ----------
        k
            The row, from 0.

        Returns
        -------
        Query

        Examples
        --------
        >>> tropalign.search("examples/efp.hmm", "examples/efp.fasta").model(0).name
        'EFP'
        """
        return self.queries[self.query[k]] if self.orientation == "search" else self.models[int(self.target[k])]

    def domain_lines(self, d: int) -> dict[str, str]:
        """Return the alignment lines of domain d, by name.

        Parameters
        ----------
        d
            The row in the columns of domains.

        Returns
        -------
        dict of str to str
            `model_line`, `match_line`, `target_line` and `posterior_line`, a character per column.

        Examples
        --------
        >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
        >>> hits.domain_lines(0)["model_line"][:25]
        'MkievndirkGsvielegelyivle'
        """
        begin, end = int(self.line_offsets[d]), int(self.line_offsets[d + 1])
        return {name: getattr(self, name)[begin:end].tobytes().decode("latin-1") for name in LINES}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JudgedHits(FoundHits):
    """Reported hits, with marks of significant hits and domains; `Hits` describes the fields."""

    _axis: ClassVar[Axis] = AXIS.with_columns(
        {"is_included": np.bool_},
        domain_offsets=AXIS.runs["domain_offsets"].with_columns(
            {"domain_is_reported": np.bool_, "domain_is_included": np.bool_}
        ),
    )

    thresholds: Thresholds
    Z: float
    is_included: Bools
    domain_is_reported: Bools
    domain_is_included: Bools

    @cached_property
    def evalue(self) -> Float64:
        """E-value of each hit: the expected number of such hits among `Z` random targets."""
        return e_values(self.log_p, self.Z)

    @cached_property
    def bias(self) -> NDArray[np.float32]:
        """Correction of each score for biased composition, in bits, float32."""
        return self.pre_bits - self.bits

    @cached_property
    def domain_hit(self) -> NDArray[np.int64]:
        """Hit of each domain."""
        return np.repeat(np.arange(len(self)), self.n_domains)

    @cached_property
    def domain_c_evalue(self) -> Float64:
        """Conditional E-value of each domain, given that its target is a hit: among `domZ` targets."""
        return e_values(self.domain_log_p, self.domZ[self.query[self.domain_hit]])

    @cached_property
    def domain_i_evalue(self) -> Float64:
        """Independent E-value of each domain, as if it were its target's only one: among `Z` targets."""
        return e_values(self.domain_log_p, self.Z)

    @cached_property
    def domain_bias(self) -> Float64:
        """Correction of each domain's score for biased composition, in bits."""
        return self.domain_bias_nats.astype(np.float64) * BITS

    @cached_property
    def domain_accuracy(self) -> Float64:
        """Expected share of each envelope's residues that are aligned correctly."""
        return self.domain_expected_accuracy.astype(np.float64) / (
            self.domain_envelope_end - self.domain_envelope_begin
        )

    @cached_property
    def n_reported(self) -> NDArray[np.int64]:
        """Number of reported domains of each hit."""
        return self._counts(self.domain_is_reported)

    @cached_property
    def n_included(self) -> NDArray[np.int64]:
        """Number of included domains of each hit."""
        return self._counts(self.domain_is_included)

    def _counts(self, marks: Bools) -> NDArray[np.int64]:
        before = np.concatenate([[0], np.cumsum(marks)])
        return np.diff(before[self.domain_offsets])


def columns_of(found: FoundHits) -> dict[str, Any]:
    """Return all fields by name, from which FoundHits can be rebuilt."""
    return {entry.name: getattr(found, entry.name) for entry in fields(FoundHits)}


def chosen(found: FoundHits, rows: NDArray[Any]) -> dict[str, Any]:
    """Return the fields of these hits, in this order; fields that are not columns of hits stay unchanged."""
    return columns_of(found) | AXIS.chosen(found, rows)


def without_lines(found: FoundHits) -> FoundHits:
    """Return the hits without their alignments, for tables."""
    offsets = np.zeros(len(found.domain_bits) + 1, np.int64)
    return FoundHits(**columns_of(found) | {"line_offsets": offsets, **_LINES.empty()})


def in_all_targets(pieces: Sequence[FoundHits]) -> FoundHits:
    """Join hits of the same queries in different targets. Raises ValueError if the queries differ."""
    first = pieces[0]
    if any((piece.queries, piece.first_query) != (first.queries, first.first_query) for piece in pieces):
        raise ValueError("hits of different queries cannot be joined")
    if len(pieces) == 1:
        return first
    joined = _concatenated(pieces)
    joined["n_targets"] = sum(piece.n_targets for piece in pieces)
    joined["n_target_residues"] = sum(piece.n_target_residues for piece in pieces)
    joined["n_passed"] = np.sum([piece.n_passed for piece in pieces], axis=0)
    joined["widths"] = np.max([piece.widths for piece in pieces], axis=0)
    joined["domZ"] = first.domZ
    return FoundHits(queries=first.queries, first_query=first.first_query, orientation=first.orientation, **joined)


def of_all_queries(pieces: Sequence[FoundHits]) -> FoundHits:
    """Join hits of different queries in the same targets."""
    if len(pieces) == 1:
        return pieces[0]
    first, joined = pieces[0], _concatenated(pieces)
    before = np.cumsum([0, *(len(piece.queries) for piece in pieces)]).astype(np.int32)
    joined["query"] = np.concatenate([piece.query + n for piece, n in zip(pieces, before[:-1], strict=True)])
    for name in ("n_passed", "widths", "domZ"):
        joined[name] = np.concatenate([getattr(piece, name) for piece in pieces])
    return FoundHits(
        queries=tuple(query for piece in pieces for query in piece.queries),
        first_query=first.first_query,
        orientation=first.orientation,
        n_targets=first.n_targets,
        n_target_residues=first.n_target_residues,
        **joined,
    )


def _concatenated(pieces: Sequence[FoundHits]) -> dict[str, Any]:
    """Concatenate the columns of hits, domains and lines, and merge the models."""
    models = {target: model for piece in pieces for target, model in piece.models.items()}
    return {**AXIS.joined(pieces), "models": models}


def runs_of(values: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of equal neighbours."""
    if len(values):
        cuts = [0, *(np.flatnonzero(values[1:] != values[:-1]) + 1).tolist(), len(values)]
        yield from pairwise(cuts)


def annotation_line(annotation: str, model_line: str, begin: int) -> str:
    """Return a model's annotation along an alignment that starts at node `begin`, with '.' at inserts."""
    pieces = []
    for run in INSERTS.split(model_line):  # alternating nodes and inserts
        if run.startswith("."):
            pieces.append(run)
        else:
            pieces.append(annotation[begin : begin + len(run)])
            begin += len(run)
    return "".join(pieces)


Bools = NDArray[np.bool_]


# An E-value is the expected number of hits with at least that score by chance: the P-value times the size of the
# search space, ``Z`` targets for a hit, ``domZ`` for a domain given that its target is a hit.
def verdicts(found: FoundHits, thresholds: Thresholds) -> dict[str, Any]:
    """Return the fields of `JudgedHits` after all targets were searched, sorted by query, the best first.

    Raises InputError for a model without the requested cutoffs.
    """
    Z = float(found.n_targets) if thresholds.Z is None else float(thresholds.Z)
    every_E = e_values(found.log_p, Z)
    cutoffs = _cutoffs(found, thresholds)
    is_reported = _passes(found.bits, every_E, thresholds.E, thresholds.T, cutoffs[:, 0])
    order = _sorted(found, np.flatnonzero(is_reported), thresholds)
    columns = chosen(found, order)
    n_reported = np.bincount(columns["query"], minlength=len(found.queries)).astype(np.float64)
    columns["domZ"] = domZ = (
        np.where(np.isnan(found.domZ), n_reported, found.domZ)
        if thresholds.domZ is None
        else np.full(len(found.queries), float(thresholds.domZ))
    )
    of_hit = np.repeat(np.arange(len(order)), np.diff(columns["domain_offsets"]))
    cutoffs = cutoffs[order]
    bits, E = columns["bits"], every_E[order]
    is_included = _passes(bits, E, thresholds.incE, thresholds.incT, cutoffs[:, 0])
    domain_bits = columns["domain_bits"]
    domain_E = e_values(columns["domain_log_p"], domZ[columns["query"][of_hit]])
    own = cutoffs[of_hit, 1]
    domain_is_reported = _passes(domain_bits, domain_E, thresholds.domE, thresholds.domT, own)
    domain_is_included = _passes(domain_bits, domain_E, thresholds.incdomE, thresholds.incdomT, own)
    domain_is_included &= is_included[of_hit]
    domain_is_included &= domain_is_reported | np.isnan(own)
    # Overlapping envelopes can give the same alignment twice (HMMER's issue h74): only the better domain is kept.
    begin, end, offsets = (columns[f"domain_{name}"].tolist() for name in ("begin", "end", "offsets"))
    for k in np.flatnonzero(columns["n_overlaps"]).tolist():
        for d, other in combinations(range(offsets[k], offsets[k + 1]), 2):
            if (begin[d], end[d]) == (begin[other], end[other]):
                worse = other if domain_bits[d] >= domain_bits[other] else d
                domain_is_reported[worse] = domain_is_included[worse] = False
    widths, kept = found.widths.copy(), is_kept(found, thresholds) | is_reported
    names, accessions = (
        np.array([n_bytes(text) for text in texts], np.int64) for texts in (found.names, found.accessions)
    )
    for place, values in enumerate((names, accessions, np.where(accessions > 0, accessions, names))):
        np.maximum.at(widths[:, place], found.query[kept], values[kept])
    columns["widths"] = widths
    return {
        **columns,
        "thresholds": thresholds,
        "Z": Z,
        "is_included": is_included,
        "domain_is_reported": domain_is_reported,
        "domain_is_included": domain_is_included,
    }


def is_kept(found: FoundHits, thresholds: Thresholds) -> Bools:
    """Return a mask of the hits that may still be reported: those that pass if their target is the last.

    A later target only raises Z and thereby E-values, so other hits can be dropped. Hits whose target has no index
    are kept.
    """
    so_far = found.target + np.float64(1) if thresholds.Z is None else float(thresholds.Z)
    cutoffs = _cutoffs(found, thresholds)[:, 0]
    return _passes(found.bits, e_values(found.log_p, so_far), thresholds.E, thresholds.T, cutoffs)


def _passes(
    bits: NDArray[np.float32], evalue: Float64, E: float, T: float | None, cutoffs: NDArray[np.float32]
) -> Bools:
    """Compare scores with the cutoffs, or if these are NaN, with the E-value or score for all models."""
    passes = evalue <= E if T is None else bits.astype(np.float64) >= T
    return np.where(np.isnan(cutoffs), passes, bits >= cutoffs)


def e_values(log_p: Float64, n_searched: float | Float64) -> Float64:
    """Return P-values times the number searched, equal to HMMER to the last bit.

    Uses the C library's exp; NumPy's can differ in the last bit. hmmsearch flushes denormals to zero: P-values
    before the multiplication, and E-values.
    """
    p = np.array([math.exp(value) for value in log_p.tolist()], np.float64)
    return _without_denormals(_without_denormals(p) * n_searched)


def _without_denormals(values: Float64) -> Float64:
    return np.where(values < np.finfo(np.float64).smallest_normal, 0.0, values)


def _cutoffs(found: FoundHits, thresholds: Thresholds) -> NDArray[np.float32]:
    """Return the own thresholds of each hit's model, float32, shape (n, 2): for targets, for domains; NaN if none."""
    if not thresholds.is_by_model:
        return np.full((len(found), 2), np.nan, np.float32)
    if found.orientation == "search":
        which, models = found.query.astype(np.int64), found.queries
    else:
        numbers, which = np.unique(found.target, return_inverse=True)
        models = tuple(found.models[number] for number in numbers.tolist())
    own = np.full((len(models), 2), np.nan, np.float32)
    for k in distinct(which).tolist():
        if (value := model_cutoffs(models[k], thresholds)) is not None:
            own[k] = value
    return own[which]


def model_cutoffs(model: Query | Any, thresholds: Thresholds) -> tuple[float, float] | None:
    """Return a model's own thresholds for targets and domains; None if it has none.

    Raises InputError if it must have some.
    """
    given = thresholds.per_model or {}
    for key in keys_of(model.name, model.accession):
        if key in given:
            return given[key]
    if thresholds.bit_cutoffs is None:
        return None
    kind = thresholds.bit_cutoffs.removesuffix(IF_ANY)
    value: tuple[float, float] | None = getattr(model, kind)
    if value is None and thresholds.requires_cutoffs:
        raise InputError(f"the model has no {kind} cutoffs: choose other thresholds", record=model.name)
    return value


def _sorted(found: FoundHits, rows: NDArray[np.int64], thresholds: Thresholds) -> NDArray[np.int64]:
    """Sort hits by query, then like HMMER: the best first; ties by name, then by position.

    Among equal names, hits whose first domain is longer than one residue come first, then by its start.
    """
    key = found.bits[rows].astype(np.float64) if thresholds.sorts_by_score else -found.log_p[rows]
    query, target = found.query[rows], found.target[rows]
    order = np.lexsort((target, -key, query))
    rows, key, query = rows[order], key[order], query[order]
    same = np.ones(len(rows), np.int64)
    same[1:] = (key[1:] != key[:-1]) | (query[1:] != query[:-1])
    first = found.domain_offsets[:-1]

    def place(k: int) -> tuple[str, bool, int]:
        begin, end = int(found.domain_begin[first[k]]), int(found.domain_end[first[k]])
        return found.names[k], begin + 1 >= end, begin

    for begin, end in runs_of(np.cumsum(same)):
        if end - begin > 1:
            rows[begin:end] = sorted(rows[begin:end].tolist(), key=place)
    return rows


def n_bytes(text: str) -> int:
    """Return the length of a text in UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode())
