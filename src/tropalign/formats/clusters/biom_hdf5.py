"""Count tables in BIOM 2.1, which is HDF5 (biom-format.org/documentation/format_versions/biom-2.1.html).

Equal tables have equal bytes: the required `creation-date` is 1 January 1970.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tropalign.errors import InputError, ResourceError, TropalignError, named, shown
from tropalign.formats.array_files import DAMAGED_PART
from tropalign.formats.clusters.otu_tables import NO_DATE, UNASSIGNED, encode_biom
from tropalign.formats.format import Codec, Header
from tropalign.resources.limits import require as require_memory
from tropalign.results.clusters import OtuTable
from tropalign.results.placements import Lineage

_URL = "http://biom-format.org"
#: Plausible values per stored byte after compression; a larger declared shape is rejected.
MOST_PACKED = 1000
#: Limit of the reading process's CPU time: a fixed part plus the file's size / throughput.
READING_S, BYTES_PER_S = 60, 2_000_000
#: Limit of real time per CPU time: on a busy machine, the process may get little CPU time.
WAIT = 20
#: Peak memory of an entry in bytes, in both processes: arrays, their copy in the pipe, and their sorted copy.
ENTRY_BYTES = 120
#: Overhead of a name or a rank in bytes, excluding its characters, in both processes.
TEXT_BYTES = 300
#: Written by the reading process for a table that does not fit; the number of bytes follows if known.
TOO_LARGE = "memory"
#: Row, column and value of each entry.
Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]
#: Exceptions that h5py raises for a damaged file.
_FAULTS = (
    OSError,
    KeyError,
    ValueError,
    TypeError,
    IndexError,
    AttributeError,
    RuntimeError,
    OverflowError,
)


def require() -> None:
    """Raise InputError if h5py is missing."""
    _h5py("write .biom, which is BIOM 1.0")


def _h5py(instead: str) -> Any:
    try:
        import h5py
    except ImportError:
        raise InputError(f"BIOM 2.1 needs h5py: pip install 'tropalign[biom]', or {instead}") from None
    return h5py


def hdf5_bytes(table: OtuTable, version: str) -> bytes:
    """Return a table as an HDF5 file."""
    h5py = _h5py("write .biom, which is BIOM 1.0")
    check_texts(table, table.lineages or ())
    shape = len(table.names), len(table.samples)
    counts = csr_array((table.reads.astype(np.float64), (table.cluster, table.sample)), shape=shape)
    sink = io.BytesIO()
    with h5py.File(sink, "w", libver="earliest") as file:
        file.attrs.update({"id": "", "type": "OTU table", "format-url": _URL, "generated-by": f"tropalign {version}"})
        file.attrs["creation-date"] = NO_DATE
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


def check_texts(table: OtuTable, lineages: Iterable[Lineage]) -> None:
    """Raise InputError for a name or a rank that HDF5 cannot store."""
    for name in (*table.names, *table.samples, *(rank for lineage in lineages for rank in lineage)):
        if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in name):
            raise InputError(
                "BIOM 2.1 does not allow this name: rename it, or write .biom, which is BIOM 1.0", record=name
            )


def _add(file: Any, name: str, values: Any, dtype: Any) -> None:
    file.create_dataset(name, data=values, dtype=dtype, track_times=False)


def _ranks(lineages: tuple[Lineage, ...]) -> Any:
    """Return ranks in columns, padded with empty texts; shape (n, most ranks)."""
    rows = [lineage or (UNASSIGNED,) for lineage in lineages]
    most = max(map(len, rows), default=1)
    return np.array([[*row, *[""] * (most - len(row))] for row in rows], object).reshape(len(rows), most)


def content_of_hdf5(data: bytes, file: str, memory_bytes: int) -> tuple[dict[str, Any], Entries]:
    """Read a BIOM 2 file: names, samples and taxonomy as in BIOM 1.0, and the non-zero entries (row, column, value).

    A separate process reads the file, because one wrong byte can send HDF5 into an endless loop that ignores
    signals. Raises InputError if the file is damaged or h5py is missing, ResourceError if the table needs more than
    `memory_bytes`, or more processor time than the limit of this process (``ulimit -t``).
    """
    _h5py("convert it to BIOM 1.0 with biom convert --to-json -i FILE -o OTHER.biom")
    seconds = READING_S + len(data) // BYTES_PER_S
    words = [sys.executable, "-P", "-m", __name__, str(seconds), str(memory_bytes)]
    try:
        ran = subprocess.run(words, input=data, capture_output=True, timeout=WAIT * seconds, check=False)
    except subprocess.TimeoutExpired:
        raise ResourceError(
            f"reading {shown(file)} took more than {WAIT * seconds} seconds: check whether the machine is busy, or "
            "write the table again"
        ) from None
    if ran.returncode < 0:
        raise _ended_by(-ran.returncode, seconds, file)
    if ran.returncode:
        what, _, needed = ran.stdout.decode(errors="replace").partition(" ")
        if what == TOO_LARGE:
            remedy = f"allow more with {named('memory_bytes')}, or split the table"
            require_memory(int(needed or memory_bytes + 1), memory_bytes, f"the table {shown(file)}", remedy)
        raise _damaged(what or f"its reader exited with status {ran.returncode}", file)
    head, _, rest = ran.stdout.partition(b"\n")
    content = json.loads(head)
    n = content.pop("n_entries")
    row, column = np.frombuffer(rest, np.int64, 2 * n).reshape(2, n)
    return content, (row, column, np.frombuffer(rest, content.pop("dtype"), n, 16 * n))


def _damaged(why: str, file: str) -> InputError:
    return InputError(f"this is not a valid BIOM 2.1 file ({why}): write the table again", file=file)


def _ended_by(number: int, seconds: int, file: str) -> TropalignError:
    """Explain the signal that ended the reading process; a limit of this machine is not the file's fault."""
    import signal  # SIGXCPU and SIGKILL exist on every system where signals end processes

    allowed = None
    with suppress(ImportError):  # Windows
        import resource

        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        allowed = None if hard == resource.RLIM_INFINITY else hard
    if number in (signal.SIGXCPU, signal.SIGKILL) and allowed is not None and allowed < seconds:
        return ResourceError(
            f"reading {shown(file)} took more than the {allowed} seconds of processor time that this process may take "
            "(ulimit -t): raise the limit"
        )
    if number == signal.SIGKILL:
        return ResourceError(f"the process that read {shown(file)} was killed: check whether memory is short")
    return _damaged("reading it does not end" if number == signal.SIGXCPU else f"signal {number}", file)


class _TooLargeError(Exception):
    """Table exceeds the allowed memory; the argument is the number of bytes needed."""


def _content(data: bytes, memory_bytes: int) -> tuple[dict[str, Any], Entries]:
    """Return the result of `content_of_hdf5`. Raises any of `_FAULTS`, or _TooLargeError."""
    h5py = _h5py("write .biom, which is BIOM 1.0")
    with h5py.File(io.BytesIO(data), "r") as found:
        ids = [_values(found, f"{axis}/ids") for axis in ("observation", "sample")]
        n_rows, n_columns = (each.size for each in ids)
        entries = [_values(found, f"observation/matrix/{name}") for name in ("data", "indices", "indptr")]
        taxonomy = None
        if "observation/metadata/taxonomy" in found:
            taxonomy = _values(found, "observation/metadata/taxonomy")
        n = entries[0].size
        if n > n_rows * n_columns:
            raise ValueError("more counts than rows times samples")
        n_texts = n_rows + n_columns + (0 if taxonomy is None else taxonomy.size)
        needed = 2 * len(data) + ENTRY_BYTES * n + TEXT_BYTES * n_texts + 8 * entries[2].size
        if needed > memory_bytes:
            raise _TooLargeError(needed)
        names, samples = (each.asstr()[:].tolist() for each in ids)
        values, column, starts = (each[:] for each in entries)
        if starts.dtype.kind not in "iu" or column.dtype.kind not in "iu" or values.dtype.kind not in "iuf":
            raise ValueError("counts that are not numbers")
        sizes = np.diff(starts.astype(np.int64))
        if len(sizes) != len(names) or int(starts[0]) or (sizes < 0).any():
            raise ValueError("the number of rows differs from the number of names")
        if not int(starts[-1]) == len(column) == len(values):
            raise ValueError("the number of counts differs from that of its rows")
        row = np.repeat(np.arange(len(names)), sizes)
        taxa: list[Any] = [None] * len(names)
        if taxonomy is not None:
            ranks = taxonomy.asstr()[:]
            if len(ranks) != len(names) or ranks.ndim > 2:
                raise ValueError("the number of lineages differs from the number of rows")
            taxa = [list(each) if ranks.ndim == 2 else str(each) for each in ranks]
    about = [None if each is None else {"taxonomy": each} for each in taxa]
    content = {
        "shape": [len(names), len(samples)],
        "rows": [{"id": name, "metadata": each} for name, each in zip(names, about, strict=True)],
        "columns": [{"id": name} for name in samples],
    }
    keeps = values != 0
    return content, (row[keeps], column[keeps].astype(np.int64), values[keeps])


def _values(file: Any, name: str) -> Any:
    """Return a dataset that is stored in the file itself; HDF5 links and datasets can expose other files.

    Raises ValueError if it is stored elsewhere, or declares more values than `MOST_PACKED` per stored byte.
    """
    h5py = _h5py("write .biom, which is BIOM 1.0")
    place = ""
    for step in name.split("/"):
        place = f"{place}/{step}"
        if not isinstance(file.get(place, getlink=True), h5py.HardLink):
            raise ValueError("a soft or external link")
    found = file[name]
    if not isinstance(found, h5py.Dataset) or found.external is not None or found.is_virtual:
        raise ValueError("values stored outside the file")
    if found.size > MOST_PACKED * max(found.id.get_storage_size(), 1):
        raise ValueError("more values than it stores")
    return found


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: object) -> None:
    """Write the table."""
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
    """Run the reading process: BIOM 2 from standard input to a line of JSON and arrays, or to the name of a fault."""
    seconds, memory_bytes = int(sys.argv[1]), int(sys.argv[2])
    with suppress(ImportError):
        import resource  # not on Windows, where the parent's timeout ends the process

        _lower(resource.RLIMIT_CPU, seconds)
        with suppress(OSError, ValueError):  # /proc exists on Linux only; macOS ignores the limit
            with open("/proc/self/statm") as file:
                held_bytes = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            _lower(resource.RLIMIT_AS, held_bytes + memory_bytes)
    try:
        content, (row, column, values) = _content(sys.stdin.buffer.read(), memory_bytes)
        head = json.dumps(content | {"n_entries": len(row), "dtype": values.dtype.str}).encode()
        for piece in (head, b"\n", row.data, column.data, values.data):
            sys.stdout.buffer.write(piece)
        return 0
    except _TooLargeError as error:
        text = f"{TOO_LARGE} {error}"
    except MemoryError:
        text = TOO_LARGE
    except _FAULTS as error:
        text = type(error).__name__
    sys.stdout.write(text)
    return 1


def _lower(kind: int, value: int) -> None:
    """Set a limit of this process to a value, or to its hard limit if that is lower."""
    import resource

    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


if __name__ == "__main__":
    sys.exit(main())
