"""What a search finds before it is known how much was searched: hits without E-values, as engines return them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.results import ragged

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Letters = NDArray[np.uint8]

#: Whether models are the queries (``tropalign search``) or sequences are (``tropalign scan``).
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
#: Lines of the alignments, a letter per column, all with the same offsets.
LINES = ("model_line", "match_line", "target_line", "posterior_line")
#: Texts with an item per hit.
TEXTS = ("names", "accessions", "descriptions")
#: Filters, in their order; what passed them is counted per query.
FILTERS = ("msv", "bias", "viterbi", "forward")


#: Runs of inserts in the model's line of an alignment.
INSERTS = re.compile(r"(\.+)")
#: The default of a column that is made then.
_NONE: Any = None


@dataclass(frozen=True)
class Query:
    """A query of a search, or a model that a query of a scan has hits in.

    Attributes
    ----------
    name
    length
        Nodes of a model, residues of a sequence.
    accession, description
        Empty where there is none.
    gathering, trusted, noise : pair of float, or None
        Score thresholds of a model (GA, TC, NC), of whole sequences and of domains, in bits.
    reference, structure
        Annotation of a model (RF, CS), a letter per node; None where there is none.
    sequence
        Of a search in rounds that begins with a sequence: its residues, the first row of an alignment of its hits.

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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FoundHits:
    """Hits of some queries in some targets: columns, a row per hit, and columns of their domains.

    Positions are 0-based and half-open; nats are natural logarithms of odds. The fields of a domain are those of
    ``native/profile/hit.hpp``.

    The fields are described in `tropalign.results.hits`; of a tile `first_query` counts the queries before its own.

    Raises
    ------
    ValueError
        Columns of another length or kind, or offsets that do not cut them.
    """

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
            raise ValueError(f"orientation {self.orientation!r} is none of {', '.join(ORIENTATIONS)}")
        if self.widths is None:
            object.__setattr__(self, "widths", np.zeros((len(self.queries), 3), np.int64))
        if self.domZ is None:
            object.__setattr__(self, "domZ", np.full(len(self.queries), np.nan))
        n, n_domains = len(self.names), len(self.domain_bits)
        for name in TEXTS:
            if len(getattr(self, name)) != n:
                raise ValueError(f"{len(getattr(self, name))} {name} for {n} hits: give as many")
        for name, dtype in HIT_COLUMNS.items():
            self._check(name, dtype, n)
        for name, dtype in DOMAIN_COLUMNS.items():
            self._check(name, dtype, n_domains)
        for name in LINES:
            self._check(name, np.uint8, len(self.model_line))
        self._check("domain_offsets", np.int64, n + 1)
        ragged.check_offsets(self.domain_offsets, "domain_offsets", self.domain_bits, "domains")
        self._check("line_offsets", np.int64, n_domains + 1)
        ragged.check_offsets(self.line_offsets, "line_offsets", self.model_line, "letters of a line")
        self._check("domZ", np.float64, len(self.queries))
        for name, n_values in (("n_passed", len(FILTERS)), ("widths", 3)):
            values, shape = getattr(self, name), (len(self.queries), n_values)
            if not isinstance(values, np.ndarray) or values.dtype != np.int64 or values.shape != shape:
                raise ValueError(f"{name} has to be int64 of shape {shape}")
        self._check_links()

    def _check_links(self) -> None:
        """Raises ValueError where a hit's query, domains or model are not there."""
        if len(self) and not 0 <= int(self.query.min()) <= int(self.query.max()) < len(self.queries):
            raise ValueError(f"a hit's query is none of the {len(self.queries)}")
        n_own = self.n_domains
        if (n_own < 1).any() or (self.best_domain < 0).any() or (self.best_domain >= n_own).any():
            raise ValueError("a hit has one domain or more, and the best is one of them")
        if self.orientation == "scan" and not set(self.target.tolist()) <= set(self.models):
            raise ValueError("models of a scan has to name every target of a hit")

    def _check(self, name: str, dtype: type, length: int) -> None:
        values = getattr(self, name)
        if not isinstance(values, np.ndarray) or values.dtype != dtype or values.shape != (length,):
            raise ValueError(f"column {name} has to be an array of {length} {np.dtype(dtype)}")

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_domains(self) -> Int64:
        """Domains of each hit, int64."""
        return np.diff(self.domain_offsets)

    @property
    def has_lines(self) -> bool:
        """Whether the alignments are there."""
        return len(self.model_line) > 0 or not len(self.domain_bits)

    def model(self, k: int) -> Query:
        """The model of hit k: its query, or in a scan its target."""
        return self.queries[self.query[k]] if self.orientation == "search" else self.models[int(self.target[k])]

    def domain_lines(self, d: int) -> dict[str, str]:
        """The alignment lines of domain d, by name."""
        begin, end = int(self.line_offsets[d]), int(self.line_offsets[d + 1])
        return {name: getattr(self, name)[begin:end].tobytes().decode("latin-1") for name in LINES}


def columns_of(found: FoundHits) -> dict[str, Any]:
    """All fields by name, as FoundHits is made of them again."""
    return {entry.name: getattr(found, entry.name) for entry in fields(FoundHits)}


def chosen(found: FoundHits, rows: NDArray[Any]) -> dict[str, Any]:
    """The fields of these hits in this order; those that are no columns of hits as they were."""
    columns = columns_of(found)
    order = rows.tolist()
    for name in TEXTS:
        values = columns[name]
        columns[name] = tuple([values[k] for k in order])
    for name in HIT_COLUMNS:
        columns[name] = columns[name][rows]
    columns["domain_offsets"], domains = ragged.chosen(found.domain_offsets, rows)
    for name in DOMAIN_COLUMNS:
        columns[name] = columns[name][domains]
    columns["line_offsets"], letters = ragged.chosen(found.line_offsets, domains)
    for name in LINES:
        columns[name] = columns[name][letters]
    return columns


def without_lines(found: FoundHits) -> FoundHits:
    """The same hits without their alignments, for tables."""
    columns = columns_of(found)
    columns["line_offsets"] = np.zeros(len(found.domain_bits) + 1, np.int64)
    return FoundHits(**columns | dict.fromkeys(LINES, np.zeros(0, np.uint8)))


def in_all_targets(pieces: Sequence[FoundHits]) -> FoundHits:
    """The hits of the same queries in different targets as one. Raises ValueError where the queries differ."""
    first = pieces[0]
    if any((piece.queries, piece.first_query) != (first.queries, first.first_query) for piece in pieces):
        raise ValueError("hits of other queries cannot be joined")
    if len(pieces) == 1:
        return first
    joined = _concatenated(pieces)
    joined["query"] = np.concatenate([piece.query for piece in pieces])
    joined["n_targets"] = sum(piece.n_targets for piece in pieces)
    joined["n_target_residues"] = sum(piece.n_target_residues for piece in pieces)
    joined["n_passed"] = np.sum([piece.n_passed for piece in pieces], axis=0)
    joined["widths"] = np.max([piece.widths for piece in pieces], axis=0)
    joined["domZ"] = first.domZ
    return FoundHits(queries=first.queries, first_query=first.first_query, orientation=first.orientation, **joined)


def of_all_queries(pieces: Sequence[FoundHits]) -> FoundHits:
    """The hits of different queries in the same targets as one."""
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
    """What has an item per hit or domain, `query` aside, and the models."""
    joined: dict[str, Any] = {name: tuple(text for piece in pieces for text in getattr(piece, name)) for name in TEXTS}
    for name in (*HIT_COLUMNS, *DOMAIN_COLUMNS, *LINES):
        joined[name] = np.concatenate([getattr(piece, name) for piece in pieces])
    joined["domain_offsets"] = ragged.joined([piece.domain_offsets for piece in pieces])
    joined["line_offsets"] = ragged.joined([piece.line_offsets for piece in pieces])
    joined["models"] = {target: model for piece in pieces for target, model in piece.models.items()}
    return joined


def no_hits(queries: tuple[Query, ...], orientation: str, n_targets: int = 0, n_target_residues: int = 0) -> FoundHits:
    """Of queries that have none."""
    empty: dict[str, Any] = {name: np.zeros(0, dtype) for name, dtype in (HIT_COLUMNS | DOMAIN_COLUMNS).items()}
    empty |= dict.fromkeys(LINES, np.zeros(0, np.uint8)) | dict.fromkeys(TEXTS, ())
    return FoundHits(
        queries=queries,
        orientation=orientation,
        n_targets=n_targets,
        n_target_residues=n_target_residues,
        n_passed=np.zeros((len(queries), len(FILTERS)), np.int64),
        domain_offsets=np.zeros(1, np.int64),
        line_offsets=np.zeros(1, np.int64),
        **empty,
    )


def runs_of(values: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Begin and end of each run of equal neighbours."""
    if len(values):
        cuts = [0, *(np.flatnonzero(values[1:] != values[:-1]) + 1).tolist(), len(values)]
        yield from pairwise(cuts)


def annotation_line(annotation: str, model_line: str, begin: int) -> str:
    """A model's annotation along an alignment that begins at that node, with '.' at inserts."""
    pieces = []
    for run in INSERTS.split(model_line):  # in turn nodes and inserts
        if run.startswith("."):
            pieces.append(run)
        else:
            pieces.append(annotation[begin : begin + len(run)])
            begin += len(run)
    return "".join(pieces)
