"""Placed reads whole, without the reference: what `read_result` reads."""

from __future__ import annotations

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.placed import PlacedContext
from tropalign.formats.result_file import Packed, result_format
from tropalign.results.placements import READ_COLUMNS, Placements

_COLUMNS = ("letters", "offsets", "column", "tied_branches", "tied_offsets", *READ_COLUMNS)


def pack(placements: Placements, context: PlacedContext) -> Packed:
    """All of them."""
    return {"names": list(placements.names)}, {name: getattr(placements, name) for name in _COLUMNS}


def _empty(context: PlacedContext) -> Packed:
    columns = {name: np.zeros(0, dtype) for name, dtype in READ_COLUMNS.items()}
    offsets = {name: np.zeros(1, np.int64) for name in ("offsets", "tied_offsets")}
    rest = {"letters": np.zeros(0, np.uint8), "column": np.zeros(0, np.int32), "tied_branches": np.zeros(0, np.int64)}
    return {"names": []}, {**columns, **offsets, **rest}


def _check(context: PlacedContext) -> None:
    if context.which != "all" or context.insertions != "drop":
        raise InputError("format result holds all of the reads and no alignment: leave --split and --insertions out")


FORMAT = result_format("placed", pack, empty=_empty, check=_check)
