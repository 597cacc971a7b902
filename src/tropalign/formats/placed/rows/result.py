"""Placed reads whole, without the reference: what `read_result` reads."""

from __future__ import annotations

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.placed import PlacedContext
from tropalign.formats.result_file import Arrays, Packed, result_format
from tropalign.results.placements import READ_COLUMNS, Placements

_COLUMNS = ("letters", "offsets", "column", "tied_branches", "tied_offsets", *READ_COLUMNS)


def pack(placements: Placements, context: PlacedContext) -> Packed:
    """All of them."""
    return {"names": list(placements.names)}, {name: getattr(placements, name) for name in _COLUMNS}


def _empty(context: PlacedContext) -> Packed:
    types = {**READ_COLUMNS, "letters": np.uint8, "column": np.int32, "tied_branches": np.int64}
    columns: Arrays = {name: np.zeros(0, dtype) for name, dtype in types.items()}
    return {"names": []}, columns | {name: np.zeros(1, np.int64) for name in ("offsets", "tied_offsets")}


def _check(context: PlacedContext) -> None:
    if context.which != "all":
        raise InputError("format result holds the reads alone, and no reference: leave --split out")


FORMAT = result_format("placed", pack, empty=_empty, check=_check)
