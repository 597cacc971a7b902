"""Distances as arrays, in NumPy's ``.npz``."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

from tropalign.formats.format import Codec
from tropalign.formats.header import Header
from tropalign.formats.paths.context import PathsContext


class _Stream(io.RawIOBase):
    """An output that is written from its beginning to its end: one that is compressed has no way back."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out

    def writable(self) -> bool:
        """Says that it is."""
        return True

    def write(self, data: Any) -> int:
        """Writes on."""
        return self._out.write(data)


def encode(part: range, context: PathsContext) -> bytes:
    """An empty part: the arrays are in memory, and are written as they are."""
    return b""


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PathsContext) -> None:
    """``distances``, and the names of their rows and columns; with paths ``predecessors`` and all ``names``."""
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


NPZ = Codec(encode, assemble, is_binary=True)
