"""Stockholm rows, posteriors and column annotation, in blocks like Easel's.

A line is a head, characters and a line break, so that a block of many rows is a table of bytes:

    g1           MKV-law
    #=GR g1 PP   999.875
    #=GC PP_cons 999....
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Letters = NDArray[np.uint8]
#: Characters of rows [first, last) in columns [begin, end), uint8, shape (last - first, end - begin).
Cells = Callable[[int, int, int, int], Letters]

#: Columns per block, as in Easel.
COLUMNS = 200
#: Rows of one table.
ROWS = 4096
#: Up to this many bytes of names, line heads are kept from block to block.
MOST_KEPT = 1 << 27


def blocks(
    names: Sequence[bytes],
    letters: Cells,
    posteriors: Cells,
    has_posteriors: NDArray[np.bool_],
    tags: Sequence[tuple[bytes, bytes]],
    n_columns: int,
    total: int,
) -> Iterator[bytes]:
    """Yield the lines in pieces.

    has_posteriors: rows that are followed by a line of posteriors. tags: column annotation by name. n_columns:
    columns per block. total: all columns.
    """
    width = max(map(len, names))
    is_judged = bool(has_posteriors.any())
    margin = max(width + 9, 13) if is_judged else max(width + 1, 8)  # "#=GR name PP ", "#=GC PP_cons ", "#=GC RF "
    kept: dict[int, Letters] = {}  # equal in all blocks
    for begin in range(0, total, n_columns):
        end = min(begin + n_columns, total)
        if begin:
            yield b"\n"
        for first in range(0, len(names), ROWS):
            last = min(first + ROWS, len(names))
            own = has_posteriors[first:last]
            if (heads := kept.get(first)) is None:
                heads = _heads(names[first:last], own, width, margin)
                if len(names) * margin <= MOST_KEPT:
                    kept[first] = heads
            table = np.full((len(heads), margin + end - begin + 1), ord("\n"), np.uint8)
            table[:, :margin] = heads
            line = np.arange(last - first) + np.cumsum(own) - own
            table[line, margin:-1] = letters(first, last, begin, end)
            if own.any():
                table[line[own] + 1, margin:-1] = posteriors(first, last, begin, end)[own]
            yield table.tobytes()
        for tag, text in tags:
            yield b"#=GC " + tag.ljust(margin - 6) + b" " + text[begin:end] + b"\n"


def _heads(names: Sequence[bytes], has_posteriors: NDArray[np.bool_], width: int, margin: int) -> Letters:
    """Return the heads of these rows' lines, uint8, shape (n_lines, margin)."""
    heads = []
    for name, is_judged in zip(names, has_posteriors.tolist(), strict=True):
        heads.append(name.ljust(margin))
        if is_judged:
            heads.append((b"#=GR " + name.ljust(width) + b" PP").ljust(margin))
    return np.frombuffer(b"".join(heads), np.uint8).reshape(len(heads), margin)
