"""Visible columns of hits and domains, ``HITS`` and ``DOMAINS``, with their types and sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.results.columns import Table
from tropalign.results.hit import Domain, Hit

if TYPE_CHECKING:
    from tropalign.results.hits import Hits

Columns = dict[str, list[str] | NDArray[Any]]
Int64 = NDArray[np.int64]
#: A column: its type, and a function of hits and row indices (of hits or domains) that returns its values.
Shown = tuple[type, Callable[["Hits", Int64], Any]]


def _kept(name: str) -> Callable[[Hits, Int64], Any]:
    """Return a getter of the hits' own column."""
    return lambda hits, rows: getattr(hits, name)[rows]


def _text(name: str) -> Callable[[Hits, Int64], list[str]]:
    """Return a getter of the hits' own texts."""

    def of(hits: Hits, rows: Int64) -> list[str]:
        values = getattr(hits, name)
        return [values[k] for k in rows.tolist()]

    return of


def _of_query(name: str) -> Callable[[Hits, Int64], list[Any]]:
    """Return a getter of a field of each hit's query."""
    return lambda hits, rows: [getattr(hits.queries[q], name) for q in hits.query[rows].tolist()]


def _of_best(name: str) -> Callable[[Hits, Int64], Any]:
    """Return a getter of a domain column for the best domain of each hit."""
    return lambda hits, rows: getattr(hits, name)[hits.domain_offsets[:-1][rows] + hits.best_domain[rows]]


def _of_hit(shown: Shown) -> Shown:
    """Return a column of hits as a column of domains."""
    dtype, of = shown
    return dtype, lambda hits, domains: of(hits, hits.domain_hit[domains])


def _number(hits: Hits, domains: Int64) -> Int64:
    """Number the reported domains within their hit from 1."""
    before = ragged.offsets_of(hits.n_reported)
    return np.cumsum(hits.domain_is_reported)[domains] - before[hits.domain_hit[domains]]


#: First columns of both tables.
_FIRST: dict[str, Shown] = {
    "query": (str, _of_query("name")),
    "query_accession": (str, _of_query("accession")),
    "query_length": (np.int32, _of_query("length")),
    "target": (str, _text("names")),
    "target_accession": (str, _text("accessions")),
    "target_length": (np.int32, _kept("length")),
    "evalue": (np.float64, _kept("evalue")),
    "bits": (np.float32, _kept("bits")),
    "bias": (np.float32, _kept("bias")),
    "is_included": (np.bool_, _kept("is_included")),
}
#: Last columns of both tables.
_LAST: dict[str, Shown] = {"description": (str, _text("descriptions"))}
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


def shown_columns(columns: Mapping[str, Shown], hits: Hits, rows: Int64) -> Columns:
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

    def __init__(self, hits: Hits, chosen: Int64 | None = None) -> None:
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
