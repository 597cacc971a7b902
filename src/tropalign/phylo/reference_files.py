"""References in files, which may be damaged or malicious: every size is known before anything is unpacked."""

from __future__ import annotations

import ast
import json
import os
import zipfile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignError, named
from tropalign.execution.files import disk_error
from tropalign.machine.memory import default_budget, require

#: Version of the file's layout.
FORMAT = 1
#: Number of axes and type of each array.
ARRAYS = {"letters": (2, "|u1"), "columns": (1, "<i8"), "planes": (3, "<u8"), "distinct": (1, "<i8")}
META = "meta"
#: Maximum size of an unpacked byte of a zip archive (deflate).
MOST_PACKED = 1040
HEADER_BYTES = 1 << 10


class Damaged(Exception):
    """A fault of a file; the message is the second half of a sentence."""


def write_saved(
    path: str | os.PathLike[str] | IO[bytes], meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write a file for `read_saved`; a name without .npz gets this suffix."""
    is_name = isinstance(path, str | os.PathLike)
    if is_name and (not os.path.basename(path) or os.path.isdir(path)):  # type: ignore[arg-type]
        raise InputError("this is no name of a file: name one", file=str(path))
    packed = np.frombuffer(json.dumps({"format": FORMAT, **meta}).encode(), np.uint8)
    try:
        np.savez_compressed(path, **{META: packed, **arrays})  # type: ignore[arg-type]
    except (OSError, ValueError) as error:
        if not is_name:  # the caller opened the file
            raise
        raise disk_error(error, str(path), 0) from error


def is_saved(path: str | os.PathLike[str]) -> bool:
    """True if `write_saved` wrote this file, by its first bytes."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except (OSError, ValueError):
        return False


def read_saved(
    path: str | os.PathLike[str], memory_bytes: int | None = None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the metadata and arrays of a saved reference, and check their types and sizes.

    `memory_bytes`: limit, by default a share of the free memory; ResourceError above it, InputError for any other
    file.
    """
    file = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = _sizes(archive)
            allowed = default_budget() if memory_bytes is None else memory_bytes
            require(
                sum(sizes.values()), allowed, f"the saved reference {file}", f"allow more with {named('memory_bytes')}"
            )
            meta = json.loads(_array(archive, META, 1, "|u1", sizes[META]).tobytes())
            if not isinstance(meta, dict) or meta.get("format") != FORMAT:
                raise InputError("this reference is of another version of tropalign: make it again", file=file)
            arrays = {name: _array(archive, name, *kind, sizes[name]) for name, kind in ARRAYS.items()}
        return meta, arrays
    except FileNotFoundError:
        raise InputError("there is no such file", file=file) from None
    except (TropalignError, MemoryError):
        raise
    except Exception as error:  # damaged archives raise errors of many kinds
        raise damaged(file, str(error) if isinstance(error, Damaged) else "") from None


def damaged(file: str, what: str = "") -> InputError:
    """Return the error for a file that is not a saved reference, or is damaged."""
    detail = f" ({what})" if what else ""
    return InputError(f"this is no saved reference, or a damaged one{detail}: save the reference again", file=file)


def _sizes(archive: zipfile.ZipFile) -> dict[str, int]:
    """Return the unpacked bytes of each member, according to the archive's directory."""
    sizes = {}
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        if (
            name in sizes
            or name not in {META, *ARRAYS}
            or entry.file_size > MOST_PACKED * entry.compress_size + HEADER_BYTES
        ):
            raise Damaged("its members are not those of a reference")
        sizes[name] = entry.file_size
    if sizes.keys() != {META, *ARRAYS}:
        raise Damaged("members are missing")
    return sizes


def _array(archive: zipfile.ZipFile, name: str, n_axes: int, dtype: str, size: int) -> NDArray[Any]:
    """Read a member, whose header must match the size in the directory."""
    with archive.open(f"{name}.npy") as stream:
        if stream.read(8) != b"\x93NUMPY\x01\x00":
            raise Damaged(f"{name} is no array")
        n_header = int.from_bytes(stream.read(2), "little")
        header = ast.literal_eval(stream.read(min(n_header, HEADER_BYTES)).decode("latin-1"))
        shape = tuple(int(n) for n in header["shape"])
        if header["descr"] != dtype or header["fortran_order"] or len(shape) != n_axes or min(shape) < 0:
            raise Damaged(f"{name} is of another type or shape")
        kind = np.dtype(dtype)
        n_items = 1
        for n in shape:
            n_items *= n
        if n_items * kind.itemsize != size - 10 - n_header:
            raise Damaged(f"{name} is of another size")
        data = stream.read(n_items * kind.itemsize)
        if len(data) != n_items * kind.itemsize or stream.read(1):
            raise Damaged(f"{name} is of another size")
    return np.frombuffer(data, kind).reshape(shape)
