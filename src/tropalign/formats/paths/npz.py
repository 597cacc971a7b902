"""Distances as arrays, in NumPy's ``.npz``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

import numpy as np

from tropalign.formats.header import Header
from tropalign.formats.paths import PathsContext
from tropalign.formats.writer import Format


def encode(part: range, context: PathsContext) -> bytes:
    """Nothing: the arrays are in memory, and are written as they are."""
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
    np.savez(out, allow_pickle=False, **arrays)


FORMAT = Format((".npz",), encode, assemble, is_binary=lambda context: True)
