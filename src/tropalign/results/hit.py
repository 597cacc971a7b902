"""The classes `Hit` and `Domain`: views of a row of `Hits` and of one of its domains."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import shown
from tropalign.results import display
from tropalign.results.columns import Cell, Result, Row, Table
from tropalign.results.found_hits import JudgedHits, Query


@dataclass(frozen=True, eq=False, repr=False)
class Domain(Row, Result):
    """A domain of a hit: one alignment of the model to the sequence; `number` counts from 0 among the hit's domains."""

    hit: Hit
    number: int

    bits = Cell[float]("Score in bits, corrected for biased composition.")
    bias = Cell[float]("Correction of the score for biased composition, in bits.")
    log_p = Cell[float]("Logarithm of the P-value.")
    c_evalue = Cell[float]("Conditional E-value, given that the target is a hit: among `domZ` targets.")
    i_evalue = Cell[float]("Independent E-value, as if this were the target's only domain: among `Z` targets.")
    accuracy = Cell[float]("Expected share of the envelope's residues that are aligned correctly.")
    is_reported = Cell[bool]("True if its E-value or score passes the reporting threshold.")
    is_included = Cell[bool]("True if it passes the inclusion threshold.")

    @property
    def index(self) -> int:
        """Row in the columns of domains."""
        return int(self.hit.hits.domain_offsets[self.hit.index]) + self.number

    def _cell(self, column: str) -> Any:
        return getattr(self.hit.hits, f"domain_{column}")[self.index].item()

    @property
    def model_span(self) -> tuple[int, int]:
        """Aligned nodes of the model, 0-based, half-open."""
        return self._cell("model_begin"), self._cell("model_end")

    @property
    def span(self) -> tuple[int, int]:
        """Aligned residues of the sequence, 0-based, half-open."""
        return self._cell("begin"), self._cell("end")

    @property
    def envelope(self) -> tuple[int, int]:
        """Range of the sequence in which the domain may lie, 0-based, half-open."""
        return self._cell("envelope_begin"), self._cell("envelope_end")

    @property
    def lines(self) -> dict[str, str]:
        """The alignment: `model_line`, `match_line`, `target_line`, `posterior_line`, a character per column."""
        return self.hit.hits.domain_lines(self.index)

    def __repr__(self) -> str:
        """Return one line with names, positions, E-value and score."""
        hit, (begin, end), (first, last) = self.hit, self.span, self.model_span
        sequence = hit.name if hit.hits.orientation == "search" else hit.query.name
        return (
            f"{shown(hit.model.name)} {first}-{last} x {shown(sequence)} {begin}-{end}: "
            f"E-value {self.i_evalue:.2g}, {self.bits:.1f} bits"
        )

    def __str__(self) -> str:
        """Return the title, then the alignment, if any."""
        model, match, target, posterior = self.lines.values()
        cut = display.blocks((model, match, target), (self.model_span[0], self.span[0]), gap=".")
        return display.pair_text(repr(self), cut, "model", max(self.model_span[1], self.span[1]), posterior)


@dataclass(frozen=True, eq=False, repr=False)
class Hit(Row, Result):
    """A target with a match to a query (in a scan, a model with a match in the query); `index` is the row of `hits`."""

    hits: JudgedHits
    index: int

    name = Cell[str]("Name of the target.", "names")
    accession = Cell[str]("Accession of the target; empty if missing.", "accessions")
    description = Cell[str]("Description of the target; empty if missing.", "descriptions")
    length = Cell[int]("Length of the target in residues, or in nodes in a scan.")
    target = Cell[int]("Index of the target, from 0; -1 if unknown.")
    bits = Cell[float]("Score of the full target in bits, corrected for biased composition.")
    bias = Cell[float]("Correction of the score for biased composition, in bits.")
    log_p = Cell[float]("Logarithm of the P-value.")
    evalue = Cell[float]("Expected number of such hits among `Z` random targets.")
    is_included = Cell[bool]("True if it passes the inclusion threshold.")

    def _cell(self, column: str) -> Any:
        value = getattr(self.hits, column)[self.index]
        return value if isinstance(value, str) else value.item()

    @property
    def query(self) -> Query:
        """The query of this hit."""
        return self.hits.queries[int(self.hits.query[self.index])]

    @property
    def model(self) -> Query:
        """The model: the query, or the target in a scan."""
        return self.hits.model(self.index)

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Domains in the order of the target, including unreported ones."""
        return tuple(Domain(self, number) for number in range(self._cell("n_domains")))

    @property
    def best_domain(self) -> Domain:
        """The domain with the highest score."""
        return Domain(self, self._cell("best_domain"))

    def _content(self) -> dict[str, Any]:
        """Return the visible values, independent of the table that contains the hit."""
        numbers = (self.name, self.accession, self.description, self.length, self.bits, self.bias, self.evalue)
        lines = [(each.span, each.envelope, each.bits, each.i_evalue, each.lines) for each in self.domains]
        return {"query": self.query, "numbers": numbers, "is_included": self.is_included, "domains": lines}

    def __repr__(self) -> str:
        """Return one line with names, E-value, score and the number of domains."""
        n = self._cell("n_reported")
        found = f"{shown(self.query.name)} x {shown(self.name)}: E-value {self.evalue:.2g}, {self.bits:.1f} bits"
        return f"{found}, {n} domain{'s' * (n != 1)}"

    def __str__(self) -> str:
        """Return the title and the reported domains."""
        return "\n\n".join([repr(self), *(str(domain) for domain in self.domains if domain.is_reported)])


Columns = dict[str, list[str] | NDArray[Any]]
Int64 = NDArray[np.int64]
#: A column: its type, and a function of hits and row indices (of hits or domains) that returns its values.
Shown = tuple[type, Callable[["JudgedHits", Int64], Any]]


def _kept(name: str) -> Callable[[JudgedHits, Int64], Any]:
    """Return a getter of the hits' own column."""

    def of(hits: JudgedHits, rows: Int64) -> Any:
        values = getattr(hits, name)
        return [values[k] for k in rows.tolist()] if isinstance(values, tuple) else values[rows]

    return of


#: Names in UniProt's FASTA files: Swiss-Prot or TrEMBL, accession (``-2`` for isoforms), entry name.
_UNIPROT = re.compile(r"(?:sp|tr)\|([A-Z0-9]{6,10}(?:-[0-9]+)?)\|\S*")


def accession_of(name: str, accession: str) -> str:
    """Return an accession, by default that of a name in UniProt's FASTA files; HMMER's formats leave the latter out."""
    found = None if accession else _UNIPROT.fullmatch(name)
    return accession if found is None else found[1]


def _of_query(name: str) -> Callable[[JudgedHits, Int64], list[Any]]:
    """Return a getter of a field of each hit's query."""
    return lambda hits, rows: [getattr(hits.queries[q], name) for q in hits.query[rows].tolist()]


def _of_best(name: str) -> Callable[[JudgedHits, Int64], Any]:
    """Return a getter of a domain column for the best domain of each hit."""
    return lambda hits, rows: getattr(hits, name)[hits.domain_offsets[:-1][rows] + hits.best_domain[rows]]


def _of_hit(shown: Shown) -> Shown:
    """Return a column of hits as a column of domains."""
    dtype, of = shown
    return dtype, lambda hits, domains: of(hits, hits.domain_hit[domains])


def _number(hits: JudgedHits, domains: Int64) -> Int64:
    """Number the reported domains within their hit from 1."""
    before = ragged.offsets_of(hits.n_reported)
    return np.cumsum(hits.domain_is_reported)[domains] - before[hits.domain_hit[domains]]


#: First columns of both tables.
_FIRST: dict[str, Shown] = {
    "query": (str, _of_query("name")),
    "query_accession": (
        str,
        lambda hits, rows: [
            accession_of(query.name, query.accession)
            for query in map(hits.queries.__getitem__, hits.query[rows].tolist())
        ],
    ),
    "query_length": (np.int32, _of_query("length")),
    "target": (str, _kept("names")),
    "target_accession": (
        str,
        lambda hits, rows: [accession_of(hits.names[k], hits.accessions[k]) for k in rows.tolist()],
    ),
    "target_length": (np.int32, _kept("length")),
    "evalue": (np.float64, _kept("evalue")),
    "bits": (np.float32, _kept("bits")),
    "bias": (np.float32, _kept("bias")),
    "is_included": (np.bool_, _kept("is_included")),
}
#: Last columns of both tables.
_LAST: dict[str, Shown] = {"description": (str, _kept("descriptions"))}
#: Columns of hits.
HITS: dict[str, Shown] = {
    **_FIRST,
    "best_evalue": (np.float64, _of_best("domain_i_evalue")),
    "best_bits": (np.float32, _of_best("domain_bits")),
    "best_bias": (np.float64, _of_best("domain_bias")),
    "n_expected": (np.float32, _kept("n_expected")),
    "n_regions": (np.int32, _kept("n_regions")),
    "n_clustered": (np.int32, _kept("n_clustered")),
    "n_overlaps": (np.int32, _kept("n_overlaps")),
    "n_envelopes": (np.int32, _kept("n_envelopes")),
    "n_domains": (np.int64, _kept("n_domains")),
    "n_reported": (np.int64, _kept("n_reported")),
    "n_included": (np.int64, _kept("n_included")),
    **_LAST,
}
#: Columns of domains.
DOMAINS: dict[str, Shown] = {
    **{name: _of_hit(shown) for name, shown in _FIRST.items()},
    "domain": (np.int64, _number),
    "of": _of_hit((np.int64, _kept("n_reported"))),
    "c_evalue": (np.float64, _kept("domain_c_evalue")),
    "i_evalue": (np.float64, _kept("domain_i_evalue")),
    "domain_bits": (np.float32, _kept("domain_bits")),
    "domain_bias": (np.float64, _kept("domain_bias")),
    "domain_is_included": (np.bool_, _kept("domain_is_included")),
    "model_begin": (np.int32, _kept("domain_model_begin")),
    "model_end": (np.int32, _kept("domain_model_end")),
    "sequence_begin": (np.int32, _kept("domain_begin")),
    "sequence_end": (np.int32, _kept("domain_end")),
    "envelope_begin": (np.int32, _kept("domain_envelope_begin")),
    "envelope_end": (np.int32, _kept("domain_envelope_end")),
    "accuracy": (np.float64, _kept("domain_accuracy")),
    **{name: _of_hit(shown) for name, shown in _LAST.items()},
}


def shown_columns(columns: Mapping[str, Shown], hits: JudgedHits, rows: Int64) -> Columns:
    """Return the columns of these hits or domains: texts as lists, numbers as arrays."""
    return {
        name: of(hits, rows) if dtype is str else np.asarray(of(hits, rows), dtype)
        for name, (dtype, of) in columns.items()
    }


class DomainTable(Table[Domain]):
    """The reported domains of hits as a table, a row per domain; iteration gives `Domain` objects.

    chosen: rows of the domains to include; by default all reported domains.
    """

    _chosen: Int64 | None = None

    def __init__(self, hits: JudgedHits, chosen: Int64 | None = None) -> None:
        self._hits, self._chosen = hits, chosen

    @property
    def _rows(self) -> Int64:
        return np.flatnonzero(self._hits.domain_is_reported) if self._chosen is None else self._chosen

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, k: int) -> Domain:
        """Return a single domain. Raises IndexError if it does not exist."""
        return self._domain(int(self._rows[ragged.row_number(k, len(self))]))

    def _domain(self, d: int) -> Domain:
        k = int(self._hits.domain_hit[d])
        return Domain(Hit(self._hits, k), d - int(self._hits.domain_offsets[k]))

    def __iter__(self) -> Iterator[Domain]:
        return map(self._domain, self._rows.tolist())

    def take(self, rows: NDArray[Any]) -> DomainTable:
        """Return the domains at these indices (integers) or in this mask (bool), in that order."""
        return DomainTable(self._hits, self._rows[ragged.wanted_rows(rows, len(self))])

    def slice(self, begin: int, end: int) -> DomainTable:
        """Return domains [begin, end); bounds as in Python's slices."""
        return DomainTable(self._hits, self._rows[begin:end])

    def columns(self) -> Columns:
        """Return the columns by name."""
        return shown_columns(DOMAINS, self._hits, self._rows)

    def _content(self) -> dict[str, Any]:
        return {"hits": self._hits, "rows": self._rows}

    def _title(self) -> str:
        return f"domains of {len(self._hits):,} hits: {len(self):,} reported"
