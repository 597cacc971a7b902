"""Hits as engines return them, without E-values, because the size of the search space is not known yet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tropalign.results import display
from tropalign.results.columns import Axis, check_column

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
#: Runs of inserts in the model line of an alignment.
INSERTS = re.compile(r"(\.+)")
#: Placeholder default of columns that __post_init__ creates.
_NONE: Any = None


@dataclass(frozen=True)
class Query:
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
    ``native/profile/hit.hpp``, other fields are described in `tropalign.results.hits`. In a tile, `first_query` is
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
            raise ValueError(f"orientation {self.orientation!r} is none of {', '.join(ORIENTATIONS)}")
        if self.widths is None:
            object.__setattr__(self, "widths", np.zeros((len(self.queries), 3), np.int64))
        if self.domZ is None:
            object.__setattr__(self, "domZ", np.full(len(self.queries), np.nan))
        self._axis.check(self)
        check_column("domZ", self.domZ, np.float64, len(self.queries))
        for name, n_values in (("n_passed", len(FILTERS)), ("widths", 3)):
            values, shape = getattr(self, name), (len(self.queries), n_values)
            if not isinstance(values, np.ndarray) or values.dtype != np.int64 or values.shape != shape:
                raise ValueError(f"{name} has to be int64 of shape {shape}")
        self._check_links()

    def _check_links(self) -> None:
        """Raise ValueError if a hit refers to a query, domain or model that does not exist."""
        if len(self) and not 0 <= int(self.query.min()) <= int(self.query.max()) < len(self.queries):
            raise ValueError(f"a hit's query is none of the {len(self.queries)}")
        n_own = self.n_domains
        if (n_own < 1).any() or (self.best_domain < 0).any() or (self.best_domain >= n_own).any():
            raise ValueError("a hit has one domain or more, and the best is one of them")
        if self.orientation == "scan" and not set(self.target.tolist()) <= set(self.models):
            raise ValueError("models of a scan has to name every target of a hit")

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
        raise ValueError("hits of other queries cannot be joined")
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
