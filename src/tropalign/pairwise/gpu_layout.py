"""The constants on which the kernels (sweep.k, finish.k), the plan (native/pairwise/gpu_plan.*) and gpu.py agree.

This table is their only source: the kernels are compiled after a ``#define PAIRS_NAME number`` for each
(`numbers`), and a test compares the native side (``_native.gpu_constants()``) with it.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from tropalign.results.gapped import DELETION, DIFFERENT, EQUAL, INSERTION
from tropalign.results.kept_columns import COUNT_COLUMNS, END_COLUMNS

#: Columns of a block.
COLUMNS = 8
#: Code of padding.
PAD = 31


class Source(IntEnum):
    """Sequences from which a launch takes its scores."""

    #: Two row sequences for a group, one per half of the words.
    SHARED_ROWS = 0
    #: One row sequence for a group, a column sequence per half.
    SHARED_ROW = 1
    #: A row and a column sequence per half.
    OWN_ROWS = 2


class Unit(IntEnum):
    """Indices of the integers of a unit (the work of a group) in `units`."""

    #: Sequences of the shared rows, one per half of the words.
    ROW_LO = 0
    ROW_HI = 1
    #: Number of tiles of rows.
    TILES = 2
    #: Blocks of COLUMNS columns of its longest lane.
    BLOCKS = 3
    #: Properties of all its pairs (`Flag`).
    FLAGS = 4


class Flag(IntFlag):
    """Properties of all pairs of a unit."""

    FREE_ROWS_BEGIN = 1
    FREE_COLUMNS_BEGIN = 2
    FREE_ROWS_END = 4
    FREE_COLUMNS_END = 8
    #: The row sequence is the one that the tie rule treats as the shorter.
    MIRRORED = 16


class Lane(IntEnum):
    """Indices of the integers of a lane in `lanes`: sequences of both halves, -1 for a half without a pair."""

    ROW = 0
    COLUMN = 2


UNIT_INTS, LANE_INTS = len(Unit), 4

#: Arrays of `found`, in the order in which the kernel `finish` writes them: the columns of an AlignmentTable that
#: an engine computes, and the length of the path.
FOUND = ("score", *END_COLUMNS, *COUNT_COLUMNS, "n_runs")
#: Operations of a path.
OPERATIONS = {"INSERTION": INSERTION, "DELETION": DELETION, "EQUAL": EQUAL, "DIFFERENT": DIFFERENT}


def numbers() -> dict[str, int]:
    """Return the constants of this module by their names in the kernels, without the prefix PAIRS."""
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
