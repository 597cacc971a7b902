"""Files of complete results: an uncompressed zip archive of NumPy's ``.npy`` arrays and of notes as JSON.

The parts of a run have the same layout; a file is its joined parts, one array at a time. Input may be untrusted:
no pickle is read, and no array is allocated before its bytes have been read. `formats/saved_results.py` restores
results.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import InputError, TropalignError, damage
from tropalign.formats.format import Codec, Header

DAMAGED_PART = "a finished part is damaged: remove the parts, or write the shard again"


@contextmanager
def part_arrays(part: bytes) -> Iterator[Any]:
    """Yield the arrays of a part by name; the ``with`` block should only read and check them.

    Raises InputError for a damaged part on any error in the block that `damage()` covers.
    """
    try:
        with np.load(io.BytesIO(part), allow_pickle=False) as arrays:
            yield arrays
    except TropalignError:
        raise
    except damage():
        raise InputError(DAMAGED_PART) from None


def packed_part(**arrays: Any) -> bytes:
    """Return arrays as .npz."""
    sink = io.BytesIO()
    np.savez(sink, allow_pickle=False, **arrays)
    return sink.getvalue()


#: Incremented if older files can no longer be read.
LAYOUT = 1
NOTES = "notes.json"
#: Notes that are concatenated over the parts; other notes are equal in all parts.
JOINED = ("names", "cigars")

Arrays = dict[str, NDArray[Any]]
#: Notes and arrays of a result, or of one tile.
Packed = tuple[dict[str, Any], Arrays]
#: The length and type of an array, and its values in pieces.
_Pieces = tuple[int, np.dtype[Any], Iterable[NDArray[Any]]]


def result_format(
    kind: str,
    pack: Callable[[Any, Any], Packed],
    whole: Callable[[Any], Packed] = lambda context: ({}, {}),
    empty: Callable[[Any], Packed] | None = None,
    **more: Any,
) -> Codec[Any]:
    """Make the codec "result" of a kind of results.

    pack: (result, context) -> notes and arrays of one tile. whole: (context) -> those that exist once per run.
    empty: (context) -> those of a run without tiles.
    """

    def encode(result: Any, context: Any) -> bytes:
        return _packed(pack(result, context))

    def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: Any) -> None:
        if empty is not None and next(iter(parts), None) is None:
            parts = [_packed(empty(context))]
        notes, sizes = _surveyed(parts)
        own_notes, own_arrays = whole(context)
        streams = {name: (n, dtype, _stream(parts, name)) for name, (n, dtype) in sizes.items()}
        _write(out, {**_about(kind, header), **notes, **own_notes}, streams | _known(own_arrays))

    return Codec(encode, assemble, is_binary=True, needs_all=True, **more)


def batch_packed(batch: Any, prefix: str) -> Packed:
    """Pack sequences as notes and arrays: names and letters, which shards also have."""
    notes: dict[str, Any] = {"alphabet": batch.alphabet.saved, "names": list(batch.names)}
    arrays = {f"{prefix}.letters": batch.letters, f"{prefix}.offsets": ragged.offsets_of(batch.lengths)}
    return {prefix: notes}, arrays


def write_whole(kind: str, out: IO[bytes], header: Header, packed: Packed) -> None:
    """Write a file from a result in memory."""
    _write(out, {**_about(kind, header), **packed[0]}, _known(packed[1]))


def _about(kind: str, header: Header) -> dict[str, Any]:
    return {"kind": kind, "layout": LAYOUT, "tropalign": header.version, "command": header.command}


def _known(arrays: Arrays) -> dict[str, _Pieces]:
    return {name: (len(values), values.dtype, [values]) for name, values in arrays.items()}


def _packed(packed: Packed) -> bytes:
    out = io.BytesIO()
    _write(out, packed[0], _known(packed[1]))
    return out.getvalue()


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


def _write(out: IO[bytes], notes: dict[str, Any], arrays: dict[str, _Pieces]) -> None:
    """Write notes, then arrays, each from its length, type and pieces."""
    import zipfile  # slow to load

    with zipfile.ZipFile(_Stream(out), "w") as archive:
        with archive.open(NOTES, "w") as file:
            file.write(json.dumps(notes, separators=(",", ":")).encode())
        for name, (n, dtype, pieces) in arrays.items():
            little = dtype.newbyteorder("<")
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                header = {"descr": np.lib.format.dtype_to_descr(little), "fortran_order": False, "shape": (n,)}
                np.lib.format.write_array_header_1_0(file, header)
                for piece in pieces:
                    file.write(np.ascontiguousarray(piece, little).data)


def _surveyed(parts: Iterable[bytes]) -> tuple[dict[str, Any], dict[str, tuple[int, np.dtype[Any]]]]:
    """Merge the notes of all parts, and return length and type of each joined array."""
    notes: dict[str, Any] = {}
    sizes: dict[str, tuple[int, np.dtype[Any]]] = {}
    for part in parts:
        own, arrays = _part(part)
        for name, values in own.items():
            if name in JOINED:
                notes.setdefault(name, []).extend(values)
            else:
                notes.setdefault(name, values)
        for name, array in arrays.items():
            n, dtype = sizes.get(name, (0, array.dtype))
            is_later = name in sizes and _are_offsets(name)
            sizes[name] = (n + len(array) - is_later, np.promote_types(dtype, array.dtype))
    return notes, sizes


def _are_offsets(name: str) -> bool:
    return name.endswith("offsets")


def _stream(parts: Iterable[bytes], name: str) -> Iterator[NDArray[Any]]:
    """Yield an array of all parts, a piece per part; offsets continue from the preceding part."""
    end = 0
    for number, part in enumerate(parts):
        array = _part(part, (name,))[1][name]
        if _are_offsets(name):
            array = array + end
            end = int(array[-1])
            array = array[1:] if number else array
        yield array


def _part(data: bytes, names: tuple[str, ...] | None = None) -> Packed:
    try:
        return _read(io.BytesIO(data), names)
    except damage():
        raise InputError(DAMAGED_PART) from None


def read_packed(file: IO[bytes]) -> Packed:
    """Return notes and arrays of a file. Raises any of the exceptions of `tropalign.errors.damage` if it is damaged."""
    return _read(file, None)


def _read(file: IO[bytes], names: tuple[str, ...] | None) -> Packed:
    import zipfile

    with zipfile.ZipFile(file) as archive:
        arrays: Arrays = {}
        notes: Any = {}
        for member in archive.infolist():
            if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
                raise ValueError("its members must not be compressed")
            name = member.filename.removesuffix(".npy")
            if member.filename == NOTES:
                notes = json.loads(archive.read(member))
            elif names is None or name in names:
                arrays[name] = _array(archive.read(member))
    if not isinstance(notes, dict):
        raise TypeError("notes must be an object")
    return notes, arrays


def _array(data: bytes) -> NDArray[Any]:
    """Return a vector of numbers after checking that all its bytes are present."""
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("another version of npy")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    at = file.tell()
    if len(shape) != 1 or dtype.kind not in "biuf" or len(data) - at != shape[0] * dtype.itemsize:
        raise ValueError("not a vector of numbers, or a wrong number of bytes")
    return np.frombuffer(data, dtype, offset=at).astype(dtype.newbyteorder("="))


def needs_pyarrow(what: str, instead: str) -> Callable[[], None]:
    """Return a function that raises InputError if pyarrow is missing, with the remedy and an alternative."""

    def require() -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise InputError(f"{what} pyarrow: pip install 'tropalign[parquet]', or {instead}") from None

    return require


class _Sink(io.RawIOBase):
    """File that stores its write error, since nanoarrow raises its own exception instead."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        try:
            return self._out.write(data)
        except OSError as error:
            self.error = error
            raise


@contextmanager
def stream_to(out: IO[bytes]) -> Iterator[Any]:
    """Yield a nanoarrow StreamWriter that raises OSError for failed writes: a full disk, or a broken pipe."""
    from nanoarrow.ipc import StreamWriter

    sink = _Sink(out)
    try:
        with StreamWriter.from_writable(sink) as stream:
            yield stream
    except Exception:
        if sink.error is not None:
            raise sink.error from None
        raise
