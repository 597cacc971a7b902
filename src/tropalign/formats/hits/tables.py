"""Table of domains as tab-separated text, Arrow's IPC stream and Parquet; hits as JSON and as complete results.

Rows of Arrow and Parquet are in groups of a fixed size, independent of how the run was divided.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import chain
from typing import IO, Any

import numpy as np

from tropalign.formats.array_files import Packed, needs_pyarrow, stream_to, write_whole
from tropalign.formats.format import Codec, Header
from tropalign.formats.hits.context import (
    ASSEMBLED_WITH,
    HitsContext,
    QueryHits,
    assembled_by,
    encode,
    encode_without_lines,
    queries_of,
)
from tropalign.results import rows
from tropalign.results.columns import arrow_batch
from tropalign.results.found_hits import DOMAIN_COLUMNS, FILTERS, HIT_COLUMNS, LINES, TEXTS, of_all_queries
from tropalign.results.hit import DOMAINS, Columns, Domain, accession_of
from tropalign.results.hits import Hits

#: Rows per batch, or per row group of Parquet.
GROUP_ROWS = 1 << 16


def groups(pieces: Iterator[Hits]) -> Iterator[Columns]:
    """Yield the table of domains in groups of GROUP_ROWS; the last one is shorter."""
    waiting: list[Columns] = []
    n_rows = 0
    for hits in pieces:
        waiting.append(hits.domains.columns())
        n_rows += len(waiting[-1]["bits"])
        if n_rows < GROUP_ROWS:
            continue
        whole, n_left = _concatenated(waiting), n_rows % GROUP_ROWS
        for end in range(GROUP_ROWS, n_rows + 1, GROUP_ROWS):
            yield {name: values[end - GROUP_ROWS : end] for name, values in whole.items()}
        waiting, n_rows = [{name: values[n_rows - n_left :] for name, values in whole.items()}], n_left
    if n_rows:
        yield _concatenated(waiting)


def _concatenated(tables: list[Columns]) -> Columns:
    columns = {name: [table[name] for table in tables] for name in DOMAINS}
    return {
        name: list(chain.from_iterable(pieces)) if isinstance(pieces[0], list) else np.concatenate(pieces)
        for name, pieces in columns.items()
    }


def no_rows() -> Columns:
    """Return the table without rows, for the schema."""
    return {name: [] if dtype is str else np.zeros(0, dtype) for name, (dtype, _) in DOMAINS.items()}


#: Number formats of some columns; other floats use _SCORE.
_FORMS = {"evalue": "%.3g", "c_evalue": "%.3g", "i_evalue": "%.3g", "accuracy": "%.3f"}
_SCORE = "%.2f"


def _column(name: str, values: Any) -> rows.Column:
    if name == "description":
        return rows.words([" ".join(text.split("\t")) for text in values])
    if isinstance(values, list):
        rows.check_names(values)
        return rows.words(values)
    if values.dtype == np.bool_:
        return rows.choices(values.astype(np.int64), ("no", "yes"))
    if values.dtype.kind == "f":
        return rows.words([_FORMS.get(name, _SCORE) % value for value in values.tolist()])
    return rows.numbers(values)


def write_tsv(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write comment lines, column names, and a row per domain."""
    out.write(header.above(DOMAINS))
    for hits in pieces:
        columns = hits.domains.columns()
        out.write(rows.join([_column(name, values) for name, values in columns.items()], len(columns["bits"])))


def write_arrow(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write one stream of all rows; the schema's metadata holds the provenance."""
    from nanoarrow.c_array_stream import CArrayStream

    metadata = {key.encode(): value.encode() for key, value in header.notes().items()}
    schema = arrow_batch(no_rows()).schema.modify(metadata=metadata)
    with stream_to(out) as stream:
        stream.write_stream(CArrayStream.from_c_arrays([], schema, validate=False))
        for columns in groups(pieces):
            batch = arrow_batch(columns)
            one = CArrayStream.from_c_arrays([batch], batch.schema, validate=False)
            stream.write_stream(one, write_schema=False)


def write_parquet(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write a row group per batch; the schema's metadata holds the provenance."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(arrow_batch(no_rows()).schema).with_metadata(header.notes())
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for columns in groups(pieces):
            batch = pa.record_batch(arrow_batch(columns))
            writer.write_table(pa.Table.from_batches([batch]).replace_schema_metadata(schema.metadata))


TSV = Codec(encode_without_lines, assembled_by(write_tsv), assembled_with=ASSEMBLED_WITH)
ARROW = Codec(encode_without_lines, assembled_by(write_arrow), assembled_with=ASSEMBLED_WITH, is_binary=True)
PARQUET = Codec(
    encode_without_lines,
    assembled_by(write_parquet),
    assembled_with=ASSEMBLED_WITH,
    is_binary=True,
    require=needs_pyarrow("Parquet needs", "choose another --format"),
)


#: Fields of a query that are not annotation of a model.
_QUERY_FIELDS = ("name", "accession", "description", "length")


def _number(value: float) -> float | None:
    """Return a number, or None if JSON cannot hold it."""
    return value if math.isfinite(value) else None


def _domain(domain: Domain) -> dict[str, Any]:
    numbers = ("bits", "bias", "c_evalue", "i_evalue", "log_p", "accuracy")
    return {
        **{name: _number(getattr(domain, name)) for name in numbers},
        "is_reported": domain.is_reported,
        "is_included": domain.is_included,
        "model": domain.model_span,
        "sequence": domain.span,
        "envelope": domain.envelope,
        **domain.lines,
    }


def _query(found: QueryHits) -> dict[str, Any]:
    hits = found.hits
    return {
        **{name: getattr(found.query, name) for name in _QUERY_FIELDS},
        "accession": accession_of(found.query.name, found.query.accession),
        "n_targets": hits.n_targets,
        "n_passed": dict(zip(FILTERS, hits.n_passed[found.index].tolist(), strict=True)),
        "Z": hits.Z,
        "domZ": float(hits.domZ[found.index]),
        "hits": [
            {
                **{name: getattr(hit, name) for name in _QUERY_FIELDS},
                "accession": accession_of(hit.name, hit.accession),
                "target": hit.target,
                **{name: _number(getattr(hit, name)) for name in ("evalue", "bits", "bias", "log_p")},
                "is_included": hit.is_included,
                "n_expected": _number(float(hits.n_expected[hit.index])),
                "best_domain": hit.best_domain.number,
                "domains": [_domain(domain) for domain in hit.domains],
            }
            for hit in (hits[row] for row in found.rows)
        ],
    }


def write_json(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write the search settings, then the queries."""
    notes = {
        "tropalign": header.version,
        "command": header.command,
        "orientation": context.orientation,
        "thresholds": context.thresholds.values(),
    }
    out.write(json.dumps(notes)[:-1].encode() + b', "queries": [')
    separator = b"\n"
    for query in queries_of(pieces):
        out.write(separator + json.dumps(_query(query)).encode())
        separator = b",\n"
    out.write(b"\n]}\n")


JSON = Codec(encode, assembled_by(write_json), assembled_with=ASSEMBLED_WITH)


#: Arrays of hits in addition to those of found hits.
_VERDICTS = ("is_included", "domain_is_reported", "domain_is_included")
_NOTES = ("orientation", "first_query", "n_targets", "n_target_residues")
_ARRAYS = (*HIT_COLUMNS, *DOMAIN_COLUMNS, *LINES, "domain_offsets", "line_offsets", "n_passed", "widths", "domZ")


def pack(pieces: list[Hits]) -> Packed:
    """Join and pack the hits of all queries."""
    found: Any = of_all_queries(pieces)
    notes: dict[str, Any] = {name: getattr(found, name) for name in _NOTES}
    notes |= {name: list(getattr(found, name)) for name in TEXTS}
    notes["queries"] = [list(vars(query).values()) for query in found.queries]
    notes["models"] = [[target, *vars(model).values()] for target, model in found.models.items()]
    notes |= {"thresholds": pieces[0].thresholds.values(), "Z": float(pieces[0].Z)}
    arrays = {name: getattr(found, name).ravel() for name in _ARRAYS}
    return notes, arrays | {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in _VERDICTS}


def write_result(pieces: Iterator[Hits], out: IO[bytes], header: Header, context: HitsContext) -> None:
    """Write all hits, which are held in memory together."""
    write_whole("hits", out, header, pack(list(pieces)))


RESULT = Codec(encode, assembled_by(write_result), assembled_with=ASSEMBLED_WITH, is_binary=True)
