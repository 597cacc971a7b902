"""Memory estimates of large families: the tree of all, then posteriors and alignments of some groups at a time.

::

    family   | tree: two triangles of distances |                                         all within `memory_bytes`
             | posteriors of sequences, of a batch's pairs |                              (fewer rows if it is short)
             | of items | stores of the groups that are aligned at a time |               (fewer groups at a time)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import ResourceError, named
from tropalign.machine.memory import human
from tropalign.msa.groups import MOST_ROWS
from tropalign.msa.large_tree import AT_ONCE, MOST_ALL_PAIRS, SEEDS
from tropalign.msa.memory import FOUND_MARGIN, LEAST_ROW_ELEMENTS, SAMPLE_MARGIN, MemoryEstimate

#: Bytes of a distance, which is in two triangles; and of a sequence and a seed whose similarity is computed.
DISTANCE_BYTES, KINSHIP_BYTES = 8, 64
#: Bytes in addition to the family: per sequence, and per residue (sums of confidence, columns).
SEQUENCE_BYTES, RESIDUE_BYTES = 1024, 40
#: Elements per row, a cautious mean, with 4 bytes each and 2 for the row; both exist twice for a moment.
ROW_ELEMENTS = 8
ROW_BYTES = 2 * (2 + 4 * ROW_ELEMENTS)
#: Bytes of an element held while groups are aligned, with its share of the rows.
HELD_BYTES = 6
#: Minimum number of rows: fewer would leave threads idle.
LEAST_ROWS = 100_000
#: Stores per group: consistent posteriors, and the original ones.
STORES = 2


class LargeMemoryEstimate:
    """Memory estimates for a large family, and how much fits; raises ResourceError if the minimum does not fit.

    `memory_bytes` excludes the family. `sampled_elements` returns the elements per row of posteriors from a
    sample, for the total that the error states.
    """

    def __init__(
        self,
        lengths: NDArray[np.int64],
        most_items: int,
        memory_bytes: int,
        sampled_elements: Callable[[], float] = lambda: LEAST_ROW_ELEMENTS,
    ) -> None:
        n = len(lengths)
        self._what = f"the alignment of {n:,} different sequences"
        self._memory_bytes = memory_bytes
        self._held = SEQUENCE_BYTES * n + RESIDUE_BYTES * int(lengths.sum())
        compared = min(n, MOST_ALL_PAIRS)
        tree = DISTANCE_BYTES * compared * (compared - 1) // 2
        if n > MOST_ALL_PAIRS:
            tree += KINSHIP_BYTES * AT_ONCE * SEEDS
        longest = np.sort(lengths)[-most_items:]

        def needed(group_bytes: int) -> int:
            return self._held + max(tree, ROW_BYTES * LEAST_ROWS + group_bytes)

        of_pair = MemoryEstimate(longest, False).of_pair()
        group = int(max(_group_bytes(longest, LEAST_ROW_ELEMENTS), of_pair))
        if needed(group) > memory_bytes:
            found = max(LEAST_ROW_ELEMENTS, SAMPLE_MARGIN * sampled_elements())
            self._refuse(needed(int(max(_group_bytes(longest, found), of_pair))))
        rows = (memory_bytes - self._held - group) // 2 // ROW_BYTES
        self.most_rows = min(MOST_ROWS, max(LEAST_ROWS, rows))

    def groups_at_once(
        self, lengths: Sequence[NDArray[np.int64]], n_elements: Sequence[int], elements_held: int
    ) -> int:
        """Return how many of these groups may be aligned at once; raises ResourceError if not one may.

        `lengths`: columns of each group's items. `n_elements`: of each group's posteriors; `elements_held`: of all
        in memory.
        """
        largest = 0.0
        for columns, count in zip(lengths, n_elements, strict=True):
            n_rows = float(columns.sum()) * (len(columns) - 1) / 2
            largest = max(largest, _group_bytes(columns, count / max(n_rows, 1.0)))
        left = self._memory_bytes - self._held - HELD_BYTES * elements_held
        if largest > left:
            self._refuse(int(FOUND_MARGIN * (self._memory_bytes - left + largest)))
        return int(left / max(largest, 1.0))

    def _refuse(self, needed: int) -> NoReturn:
        raise ResourceError(
            f"{self._what} needs about {human(needed)} of memory and {human(self._memory_bytes)} are allowed: "
            f"{_remedy()}",
            needed_bytes=needed,
            allowed_bytes=self._memory_bytes,
        )


def _group_bytes(lengths: NDArray[np.int64], row_elements: float) -> float:
    """Return the bytes for aligning a group, from the columns of its items: its stores, and a pass."""
    room = MemoryEstimate(lengths, False)
    return STORES * room.held(row_elements) + room.of_pass(row_elements)


def _remedy() -> str:
    return f"allow more with {named('memory_bytes')}, or align parts of the family and merge them"
