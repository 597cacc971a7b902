"""The numbers on which the kernels (sweep.k, finish.k), the plan (native/pairwise/gpu_plan.*) and gpu.py agree.

This table is their one source: the kernels are compiled after ``#define PAIRS_NAME number`` of each (`numbers`), and a
test holds the native side (``_native.gpu_constants()``) against it.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from tropalign.results.gapped import DELETION, DIFFERENT, EQUAL, INSERTION
from tropalign.results.kept_columns import COUNT_COLUMNS, END_COLUMNS

#: Columns of a block.
COLUMNS = 8
#: The letter of padding.
PAD = 31


class Source(IntEnum):
    """Where a launch's scores come from."""

    #: Two row sequences for a group, one per half of the words.
    SHARED_ROWS = 0
    #: One row sequence for a group, a column sequence per half.
    SHARED_ROW = 1
    #: A row and a column sequence per half.
    OWN_ROWS = 2


class Unit(IntEnum):
    """Numbers of a unit (the work of a group), in `units`."""

    #: Sequences of the shared rows, one per half of the words.
    ROW_LO = 0
    ROW_HI = 1
    #: Tiles of rows.
    TILES = 2
    #: Blocks of COLUMNS columns of its longest lane.
    BLOCKS = 3
    #: What holds for all its pairs (`Flag`).
    FLAGS = 4


class Flag(IntFlag):
    """What holds for all pairs of a unit."""

    FREE_ROWS_BEGIN = 1
    FREE_COLUMNS_BEGIN = 2
    FREE_ROWS_END = 4
    FREE_COLUMNS_END = 8
    #: The row sequence is the one that the tie rule calls the shorter.
    MIRRORED = 16


class Lane(IntEnum):
    """Numbers of a lane, in `lanes`: sequences of both halves, -1 where a half has no pair."""

    ROW = 0
    COLUMN = 2


UNIT_INTS, LANE_INTS = len(Unit), 4

#: Quantities of `found`, in the order in which the kernel `finish` writes them: the columns of an AlignmentTable that
#: an engine finds, and the length of the path.
FOUND = ("score", *END_COLUMNS, *COUNT_COLUMNS, "n_runs")
#: Operations of a path.
OPERATIONS = {"INSERTION": INSERTION, "DELETION": DELETION, "EQUAL": EQUAL, "DIFFERENT": DIFFERENT}


def numbers() -> dict[str, int]:
    """Numbers of this module by the names that the kernels know (less their prefix PAIRS)."""
    return {
        "COLUMNS": COLUMNS,
        "PAD": PAD,
        "UNIT_INTS": UNIT_INTS,
        "LANE_INTS": LANE_INTS,
        **{f"SOURCE_{source.name}": source.value for source in Source},
        **{f"UNIT_{number.name}": number.value for number in Unit},
        **{f"LANE_{number.name}": number.value for number in Lane},
        **{str(flag.name): flag.value for flag in Flag},
        **{f"FOUND_{name.removeprefix('n_').upper()}": k for k, name in enumerate(FOUND)},
        **OPERATIONS,
    }
