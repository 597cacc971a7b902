"""Hits and domains as tables: columns by name, for files and other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.results.rows import encoded

if TYPE_CHECKING:
    from tropalign.results.hit import Domain
    from tropalign.results.hits import Hits

Columns = dict[str, list[str] | NDArray[Any]]

#: The columns of both tables that say which hit it is, and the description at the end.
_NAMES: dict[str, type] = {
    "query": str, "query_accession": str, "query_length": np.int32,
    "target": str, "target_accession": str, "target_length": np.int32,
}  # fmt: skip
#: Columns of the table of hits, and what they hold.
HITS: dict[str, type] = {
    **_NAMES,
    "evalue": np.float64, "bits": np.float32, "bias": np.float32, "is_included": np.bool_,
    "best_evalue": np.float64, "best_bits": np.float32, "best_bias": np.float64,
    "n_expected": np.float32, "n_regions": np.int32, "n_clustered": np.int32, "n_overlaps": np.int32,
    "n_envelopes": np.int32, "n_domains": np.int64, "n_reported": np.int64, "n_included": np.int64,
    "description": str,
}  # fmt: skip
#: Columns of the table of domains.
DOMAINS: dict[str, type] = {
    **_NAMES,
    "evalue": np.float64, "bits": np.float32, "bias": np.float32, "is_included": np.bool_,
    "domain": np.int64, "of": np.int64, "c_evalue": np.float64, "i_evalue": np.float64,
    "domain_bits": np.float32, "domain_bias": np.float64, "domain_is_included": np.bool_,
    "model_begin": np.int32, "model_end": np.int32, "sequence_begin": np.int32, "sequence_end": np.int32,
    "envelope_begin": np.int32, "envelope_end": np.int32, "accuracy": np.float64,
    "description": str,
}  # fmt: skip


def _of_hits(hits: Hits, rows: NDArray[np.int64]) -> Columns:
    """What both tables tell of these hits."""
    queries = hits.query[rows].tolist()
    order = rows.tolist()
    return {
        "query": [hits.queries[q].name for q in queries],
        "query_accession": [hits.queries[q].accession for q in queries],
        "query_length": np.array([hits.queries[q].length for q in queries], np.int32),
        "target": [hits.names[k] for k in order],
        "target_accession": [hits.accessions[k] for k in order],
        "target_length": hits.length[rows],
        "evalue": hits.evalue[rows],
        "bits": hits.bits[rows],
        "bias": hits.bias[rows],
        "is_included": hits.is_included[rows],
        "description": [hits.descriptions[k] for k in order],
    }


def hit_columns(hits: Hits) -> Columns:
    """The table of hits, a row per hit."""
    best = hits.domain_offsets[:-1] + hits.best_domain
    found = _of_hits(hits, np.arange(len(hits))) | {
        "best_evalue": hits.domain_i_evalue[best],
        "best_bits": hits.domain_bits[best],
        "best_bias": hits.domain_bias[best],
        "n_expected": hits.n_expected,
        "n_regions": hits.n_regions,
        "n_clustered": hits.n_clustered,
        "n_overlaps": hits.n_overlaps,
        "n_envelopes": hits.n_envelopes,
        "n_domains": hits.n_domains,
        "n_reported": hits.n_reported,
        "n_included": hits.n_included,
    }
    return {name: found[name] for name in HITS}


def domain_columns(hits: Hits) -> Columns:
    """The table of domains, a row per domain that is reported; ``domain`` counts these from 1 within their hit."""
    d = np.flatnonzero(hits.domain_is_reported)
    rows = hits.domain_hit[d]
    before = np.concatenate([[0], np.cumsum(hits.n_reported)])
    found = _of_hits(hits, rows) | {
        "domain": np.arange(len(d)) - before[rows] + 1,
        "of": hits.n_reported[rows],
        "c_evalue": hits.domain_c_evalue[d],
        "i_evalue": hits.domain_i_evalue[d],
        "domain_bits": hits.domain_bits[d],
        "domain_bias": hits.domain_bias[d],
        "domain_is_included": hits.domain_is_included[d],
        "model_begin": hits.domain_model_begin[d],
        "model_end": hits.domain_model_end[d],
        "sequence_begin": hits.domain_begin[d],
        "sequence_end": hits.domain_end[d],
        "envelope_begin": hits.domain_envelope_begin[d],
        "envelope_end": hits.domain_envelope_end[d],
        "accuracy": hits.domain_accuracy[d],
    }
    return {name: found[name] for name in DOMAINS}


def arrow_batch(columns: Columns, types: dict[str, type]) -> Any:
    """The columns as one nanoarrow array of structs."""
    import nanoarrow as na

    kinds = {
        str: na.large_string(), np.int32: na.int32(), np.int64: na.int64(),
        np.float32: na.float32(), np.float64: na.float64(), np.bool_: na.bool_(),
    }  # fmt: skip
    fields, arrays, n = {}, [], 0
    for name, dtype in types.items():
        values = columns[name]
        n, fields[name] = len(values), kinds[dtype]
        buffers: list[Any] = [None]
        if isinstance(values, list):
            text, offsets = encoded(values)
            buffers += [offsets, text]
        elif dtype is np.bool_:
            buffers += [np.packbits(values, bitorder="little")]
        else:
            buffers += [np.ascontiguousarray(values, dtype)]
        arrays.append(na.c_array_from_buffers(fields[name], n, buffers))
    return na.c_array_from_buffers(na.struct(fields), n, [None], children=arrays)


class Table:
    """Columns that other libraries read: pandas, and by the Arrow C stream polars, duckdb, pyarrow."""

    _types: dict[str, type]

    def columns(self) -> Columns:
        """The columns by name: texts in lists, numbers in arrays.

        Returns
        -------
        dict of str to list or array
        """
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow C stream of the columns, as one batch."""
        from nanoarrow.c_array_stream import CArrayStream

        batch = arrow_batch(self.columns(), self._types)
        stream = CArrayStream.from_c_arrays([batch], batch.schema, validate=False)
        found: object = stream.__arrow_c_stream__(requested_schema)
        return found

    def to_pandas(self) -> Any:
        """A pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas

        return pandas.DataFrame(self.columns())

    def to_polars(self) -> Any:
        """A polars DataFrame.

        Returns
        -------
        polars.DataFrame
        """
        import polars

        return polars.DataFrame(self)


class DomainTable(Table):
    """The reported domains of some hits: a table, a row per domain, and `Domain` objects by iteration.

    Parameters
    ----------
    hits : Hits
    """

    _types = DOMAINS

    def __init__(self, hits: Hits) -> None:
        self._hits = hits

    def __len__(self) -> int:
        return int(self._hits.domain_is_reported.sum())

    def __iter__(self) -> Iterator[Domain]:
        for hit in self._hits:
            yield from (domain for domain in hit.domains if domain.is_reported)

    def columns(self) -> Columns:
        """The columns by name.

        Returns
        -------
        dict of str to list or array
        """
        return domain_columns(self._hits)

    def __repr__(self) -> str:
        return f"<domains of {len(self._hits):,} hits: {len(self):,} reported>"
