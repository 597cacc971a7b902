"""Tables of counts as BIOM 2.1, which is HDF5 (biom-format.org/documentation/format_versions/biom-2.1.html).

Equal tables have equal bytes: `creation-date`, which the format asks for, is the first day of 1970.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, Any

import numpy as np
from scipy.sparse import csr_array

from tropalign.errors import InputError
from tropalign.formats.clusters.otu_tables import UNASSIGNED, encode_biom
from tropalign.formats.format import Codec
from tropalign.formats.header import Header
from tropalign.formats.part_arrays import DAMAGED_PART
from tropalign.results.lineages import Lineage
from tropalign.results.otu_table import OtuTable

_URL = "http://biom-format.org"
#: Values per byte that compression makes room for; a shape of more is made up.
MOST_PACKED = 1000
#: Seconds that reading takes at the most: some, and those of as many bytes.
READING_S, BYTES_PER_S = 60, 2_000_000
#: What h5py raises for a damaged file.
_FAULTS = (
    OSError,
    KeyError,
    ValueError,
    TypeError,
    IndexError,
    AttributeError,
    RuntimeError,
    OverflowError,
    MemoryError,
)


def require() -> None:
    """Raises InputError where h5py is missing."""
    _h5py("write .biom, which is BIOM 1.0")


def _h5py(instead: str) -> Any:
    try:
        import h5py
    except ImportError:
        raise InputError(f"BIOM 2.1 needs h5py: pip install 'tropalign[biom]', or {instead}") from None
    return h5py


def hdf5_bytes(table: OtuTable, version: str) -> bytes:
    """A table as a file of HDF5."""
    h5py = _h5py("write .biom, which is BIOM 1.0")
    _check_names(table)
    shape = len(table.names), len(table.samples)
    counts = csr_array((table.reads.astype(np.float64), (table.cluster, table.sample)), shape=shape)
    sink = io.BytesIO()
    with h5py.File(sink, "w", libver="earliest") as file:
        file.attrs.update({"id": "", "type": "OTU table", "format-url": _URL, "generated-by": f"tropalign {version}"})
        file.attrs["creation-date"] = "1970-01-01T00:00:00"
        file.attrs["format-version"] = np.array([2, 1])
        file.attrs["shape"], file.attrs["nnz"] = np.array(shape), counts.nnz
        text = h5py.string_dtype()
        for axis, names, matrix in (
            ("observation", table.names, counts),
            ("sample", table.samples, counts.tocsc()),
        ):
            for group in ("matrix", "metadata", "group-metadata"):
                file.create_group(f"{axis}/{group}")
            _add(file, f"{axis}/ids", np.array(names, object), text)
            _add(file, f"{axis}/matrix/data", matrix.data, np.float64)
            _add(file, f"{axis}/matrix/indices", matrix.indices, np.int32)
            _add(file, f"{axis}/matrix/indptr", matrix.indptr, np.int32)
        if table.lineages is not None:
            _add(file, "observation/metadata/taxonomy", _ranks(table.lineages), text)
    return sink.getvalue()


def _check_names(table: OtuTable) -> None:
    """Raises InputError for a name that HDF5 has no text for."""
    for name in (*table.names, *table.samples, *(rank for one in table.lineages or () for rank in one or ())):
        if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in name):
            raise InputError("BIOM 2.1 holds no such name: rename it, or write .biom, which is BIOM 1.0", record=name)


def _add(file: Any, name: str, values: Any, dtype: Any) -> None:
    file.create_dataset(name, data=values, dtype=dtype, track_times=False)


def _ranks(lineages: tuple[Lineage, ...]) -> Any:
    """Ranks side by side, empty behind the last one of a row; shape (n, most ranks)."""
    rows = [lineage or (UNASSIGNED,) for lineage in lineages]
    most = max(map(len, rows), default=1)
    return np.array([[*row, *[""] * (most - len(row))] for row in rows], object).reshape(len(rows), most)


def content_of_hdf5(data: bytes, file: str) -> Any:
    """What a file of BIOM 2 holds, as BIOM 1.0 has it: a dictionary.

    A process of its own reads the file, since one wrong byte can make HDF5 go in circles, where it hears no signal.

    Raises
    ------
    InputError
        It is damaged, or h5py is missing.
    """
    _h5py("make BIOM 1.0 of it with biom convert --to-json -i FILE -o OTHER.biom")
    seconds = READING_S + len(data) // BYTES_PER_S
    words = [sys.executable, "-P", "-m", __name__, str(seconds)]
    try:
        ran = subprocess.run(words, input=data, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise _damaged("it does not come to an end", file) from None
    if ran.returncode:
        raise _damaged(ran.stdout.decode() or f"its reader ended with {ran.returncode}", file)
    return json.loads(ran.stdout)


def _damaged(why: str, file: str) -> InputError:
    return InputError(f"this is no BIOM 2.1 ({why}): write the table again", file=file)


def _content(data: bytes) -> Any:
    """What a file of BIOM 2 holds. Raises any of `_FAULTS`."""
    h5py = _h5py("write .biom, which is BIOM 1.0")
    with h5py.File(io.BytesIO(data), "r") as found:
        names, samples = (_values(found, f"{axis}/ids").asstr()[:].tolist() for axis in ("observation", "sample"))
        values, index, starts = (
            _values(found, f"observation/matrix/{name}")[:] for name in ("data", "indices", "indptr")
        )
        if starts.dtype.kind not in "iu" or index.dtype.kind not in "iu" or values.dtype.kind not in "iuf":
            raise ValueError("counts that are no numbers")
        sizes = np.diff(starts.astype(np.int64))
        if len(sizes) != len(names) or int(starts[0]) or (sizes < 0).any():
            raise ValueError("another number of rows than it has names")
        if not int(starts[-1]) == len(index) == len(values):
            raise ValueError("another number of counts than its rows have")
        row = np.repeat(np.arange(len(names)), sizes)
        taxa: list[Any] = [None] * len(names)
        if "observation/metadata/taxonomy" in found:
            ranks = _values(found, "observation/metadata/taxonomy").asstr()[:]
            if len(ranks) != len(names) or ranks.ndim > 2:
                raise ValueError("lineages of other rows")
            taxa = [list(each) if ranks.ndim == 2 else str(each) for each in ranks]
    about = [None if each is None else {"taxonomy": each} for each in taxa]
    return {
        "shape": [len(names), len(samples)],
        "rows": [{"id": name, "metadata": each} for name, each in zip(names, about, strict=True)],
        "columns": [{"id": name} for name in samples],
        "data": list(zip(row.tolist(), index.tolist(), values.tolist(), strict=True)),
    }


def _values(file: Any, name: str) -> Any:
    """A dataset whose values lie in the file itself: links and datasets of HDF5 can show any other file of the machine.

    Raises
    ------
    ValueError
        It lies elsewhere, or declares more values than the file can hold in `MOST_PACKED` each.
    """
    h5py = _h5py("write .biom, which is BIOM 1.0")
    place = ""
    for step in name.split("/"):
        place = f"{place}/{step}"
        if not isinstance(file.get(place, getlink=True), h5py.HardLink):
            raise ValueError("a link to elsewhere")
    found = file[name]
    if not isinstance(found, h5py.Dataset) or found.external is not None or found.is_virtual:
        raise ValueError("values that lie elsewhere")
    if found.size > MOST_PACKED * max(found.id.get_storage_size(), 1):
        raise ValueError("more values than it holds")
    return found


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: object) -> None:
    """The table."""
    (part,) = parts
    try:
        content = json.loads(part)
        places = np.array(content["data"], np.int64).reshape(-1, 3)
        names, samples = (tuple(each["id"] for each in content[axis]) for axis in ("rows", "columns"))
        about = [each["metadata"] for each in content["rows"]]
        lineages = None if None in about else tuple(tuple(each["taxonomy"]) for each in about)
        cluster, sample, reads = (np.ascontiguousarray(places[:, k]) for k in range(3))
        table = OtuTable(names, samples, cluster, sample, reads, lineages)
    except (ValueError, KeyError, TypeError, OverflowError):
        raise InputError(DAMAGED_PART) from None
    out.write(hdf5_bytes(table, header.version))


BIOM2 = Codec(encode_biom, assemble, is_binary=True, require=require)


def main() -> int:
    """The reading process: BIOM 2 from standard input becomes JSON, or the name of the fault."""
    with suppress(ImportError):
        import resource  # which Windows has not: there the one that waits ends it

        resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]),) * 2)
    try:
        text, status = json.dumps(_content(sys.stdin.buffer.read())), 0
    except _FAULTS as error:
        text, status = type(error).__name__, 1
    sys.stdout.write(text)
    return status


if __name__ == "__main__":
    sys.exit(main())
