"""Distances as tab-separated text (a row per source and target, or a matrix), as NumPy's ``.npz`` and as Parquet."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.formats.array_files import needs_pyarrow
from tropalign.formats.format import Codec, Concatenated, Header
from tropalign.properties import cached_property
from tropalign.results import rows
from tropalign.results.paths import ShortestPaths

#: Separator of the vertices of a path in text.
SEPARATOR = ","


@dataclass(frozen=True, eq=False)
class PathsContext:
    """The distances (a part is a range of rows) and the selection to write.

    paths: the rows start at the sources. targets: columns to write, int64. with_paths: also write the vertices of
    each path. edges: source, target (int64) and weight of the graph's edges, for a picture.
    """

    paths: ShortestPaths
    targets: NDArray[np.int64]
    with_paths: bool = False
    edges: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]] | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all vertices, or their numbers."""
        named = self.paths.names
        return tuple(map(str, range(self.paths.distances.shape[1]) if named is None else named))

    @cached_property
    def encoded_names(self) -> rows.Texts:
        """Names of all vertices in UTF-8. Raises InputError for a name that would break a line or a column."""
        check_names(self.names, self.with_paths)
        return rows.encoded(self.names)

    def distances(self, part: range) -> NDArray[Any]:
        """Return distances of some rows to the targets."""
        whole = self.paths.distances[part.start : part.stop]
        n = whole.shape[1]
        return whole if len(self.targets) == n and (self.targets == np.arange(n)).all() else whole[:, self.targets]

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return an empty dictionary, since distances have no shards."""
        return {}


def check_names(names: Iterable[Hashable], with_paths: bool) -> None:
    """Raise InputError for a name that would break a line, a column, or a path in text."""
    for name in map(str, names):
        if "\t" in name or "\n" in name or "\r" in name:
            raise InputError("the name contains a tab or a line break: rename the vertex", record=name)
        if with_paths and SEPARATOR in name:
            raise InputError(
                "the name contains a comma, which separates the vertices of a path: rename the vertex, or write paths "
                "as Parquet",
                record=name,
            )


def numbers_as_text(values: NDArray[Any]) -> list[str]:
    """Return the shortest text that restores each number; ``inf`` for infinity."""
    if values.dtype.kind == "f":
        return [text.removesuffix(".0") for text in values.astype(str).tolist()]
    infinity = np.iinfo(values.dtype).max
    return ["inf" if value == infinity else str(value) for value in values.tolist()]


def tsv_header(header: Header, context: PathsContext) -> bytes:
    """Return comment lines, then the column names."""
    names = ["from", "to", "distance", *(["path"] if context.with_paths else [])]
    return header.above(names)


def encode_tsv(part: range, context: PathsContext) -> bytes:
    """Return the rows of some sources, targets in order."""
    n_targets = len(context.targets)
    distances = context.distances(part).ravel()
    distinct, place = np.unique(distances, return_inverse=True)
    data, offsets = context.encoded_names
    sources = np.repeat(context.paths.sources[part.start : part.stop], n_targets)
    columns: list[rows.Column] = [
        ("text", data, offsets, np.ascontiguousarray(sources, np.int64), ""),
        ("text", data, offsets, np.tile(context.targets, len(part)), ""),
        rows.choices(place, numbers_as_text(distinct)),
    ]
    if context.with_paths:
        columns.append(rows.words([text for row in part for text in _texts(context, row)]))
    return rows.join(columns, len(distances))


def _texts(context: PathsContext, row: int) -> list[str]:
    """Return the paths to the targets as text; empty if there is no path."""
    vertices, lengths = context.paths.row_paths(row, context.targets)
    named = [context.names[vertex] for vertex in vertices.tolist()]
    ends = np.cumsum(lengths).tolist()
    return [SEPARATOR.join(named[end - n : end]) for end, n in zip(ends, lengths.tolist(), strict=True)]


def matrix_header(header: Header, context: PathsContext) -> bytes:
    """Return comment lines, then the names of the targets."""
    assert context.encoded_names
    names = ["from", *(context.names[target] for target in context.targets.tolist())]
    return header.above(names)


def encode_matrix(part: range, context: PathsContext) -> bytes:
    """Return the rows of some sources."""
    lines = [
        "\t".join([context.names[int(source)], *numbers_as_text(row)]) + "\n"
        for source, row in zip(context.paths.sources[part.start : part.stop], context.distances(part), strict=True)
    ]
    return "".join(lines).encode()


def check(context: PathsContext) -> None:
    """Raise InputError if paths are requested."""
    if context.with_paths:
        raise InputError("a matrix cannot contain paths: write tsv, npz or parquet, or omit --paths")


class _Stream(io.RawIOBase):
    """Write-only output that cannot seek, like a compressed file."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Append data to the output."""
        return self._out.write(data)


def encode_npz(part: range, context: PathsContext) -> bytes:
    """Return an empty part; the arrays in memory are written directly."""
    return b""


def assemble_npz(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PathsContext) -> None:
    """Write ``distances`` with the names of rows and columns; with paths also ``predecessors`` and all ``names``."""
    for _ in parts:
        pass
    paths = context.paths
    names = np.array(context.names, str)
    arrays = {
        "distances": context.distances(range(len(paths.sources))),
        "sources": names[paths.sources],
        "targets": names[context.targets],
        "header": np.array(header.comment_lines("")),
    }
    if context.with_paths:
        arrays |= {"predecessors": paths.predecessors, "names": names}
    with zipfile.ZipFile(_Stream(out), "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def encode_parquet(part: range, context: PathsContext) -> bytes:
    """Return the rows of some sources as Arrow's IPC stream: infinity is null, a path is the list of its vertices."""
    import pyarrow as pa

    names = pa.array(context.names, pa.string())
    distances = context.distances(part).ravel()
    sources = np.repeat(context.paths.sources[part.start : part.stop], len(context.targets))
    columns: dict[str, Any] = {
        "from": names.take(pa.array(sources)),
        "to": names.take(pa.array(np.tile(context.targets, len(part)))),
        "distance": pa.array(distances, mask=distances == context.paths.infinity),
    }
    if context.with_paths:
        found = [context.paths.row_paths(row, context.targets) for row in part]
        none = np.zeros(0, np.int64)
        vertices, lengths = (np.concatenate([none, *(pair[k] for pair in found)]) for k in (0, 1))
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64())
        columns["path"] = pa.LargeListArray.from_arrays(offsets, names.take(pa.array(vertices)))
    table = pa.table(columns)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def assemble_parquet(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PathsContext) -> None:
    """Write a row group per part; the schema's metadata holds the provenance."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.ipc.open_stream(encode_parquet(range(0), context)).schema.with_metadata(header.notes())
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for part in parts:
            writer.write_table(pa.ipc.open_stream(part).read_all().replace_schema_metadata(schema.metadata))


TSV = Codec(encode_tsv, Concatenated(tsv_header))
MATRIX = Codec(encode_matrix, Concatenated(matrix_header), check=check)
NPZ = Codec(encode_npz, assemble_npz, is_binary=True)
PARQUET = Codec(
    encode_parquet, assemble_parquet, is_binary=True, require=needs_pyarrow("Parquet needs", "choose another --format")
)
