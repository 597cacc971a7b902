"""What a large family takes in memory: the tree of all, then posteriors and alignments of some groups at a time.

::

    family   | tree: two triangles of distances |                                         beside it: what is allowed
             | posteriors of sequences, of a batch's pairs |                              (fewer rows where it is short)
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

#: Bytes of a distance, which stands in two triangles; of a sequence and a seed, whose kinship is judged.
DISTANCE_BYTES, KINSHIP_BYTES = 8, 64
#: Beside the family: per sequence, and per residue (sums of confidence, columns).
SEQUENCE_BYTES, RESIDUE_BYTES = 1024, 40
#: Elements per row, a cautious mean, with 4 bytes each and 2 for the row; both are there twice for a moment.
ROW_ELEMENTS = 8
ROW_BYTES = 2 * (2 + 4 * ROW_ELEMENTS)
#: An element of what is held while groups are aligned, with its share of the rows.
HELD_BYTES = 6
#: Rows at the least: fewer would leave threads without work.
LEAST_ROWS = 100_000
#: A group has two stores: consistent posteriors, and those that were found.
STORES = 2


class LargeMemoryEstimate:
    """Estimates for a large family, and what fits the memory.

    Parameters
    ----------
    lengths : int64, shape (n,)
        Residues of each sequence.
    most_items
        Items of a group.
    memory_bytes
        What may be taken beside the family.
    sampled_elements
        Gives the elements that a row of posteriors keeps, by a sample: asked for to say what is needed in all.

    Raises
    ------
    ResourceError
        The tree, or groups one by one, take more.
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
        """How many of these groups may be aligned at a time.

        Parameters
        ----------
        lengths
            Columns of the items of each group.
        n_elements
            Of the posteriors of each.
        elements_held
            Of all posteriors that are there.

        Raises
        ------
        ResourceError
            Not one of them.
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
    """What the alignment of a group takes, from the columns of its items: its stores, and a pass."""
    room = MemoryEstimate(lengths, False)
    return STORES * room.held(row_elements) + room.of_pass(row_elements)


def _remedy() -> str:
    return f"allow more with {named('memory_bytes')}, or align parts of the family and merge them"
