"""Table of score thresholds of models: ``name<tab>sequence threshold<tab>domain threshold``, a line per model."""

from __future__ import annotations

import re
from typing import NamedTuple

from tropalign.errors import InputError, counted
from tropalign.options.option import BITS
from tropalign.sequences.files import file_name, read_text

#: A larger file is not a table of thresholds.
MOST_BYTES = 1 << 28
#: Line ends; other Unicode line separators may occur in names.
_LINE_END = re.compile(r"\r\n|\r|\n")


class GivenThresholds(NamedTuple):
    """Thresholds by name or accession of a model, as in `Thresholds.per_model`, and the file and line of each."""

    per_model: dict[str, tuple[float, float]]
    places: dict[str, str]


def read_thresholds(path: str) -> GivenThresholds:
    """Read a table; empty lines and lines that start with # are ignored. Raises InputError for any other line."""
    file = file_name(path)
    found = GivenThresholds({}, {})
    for number, line in enumerate(_LINE_END.split(read_text(path, MOST_BYTES).removeprefix("\ufeff")), 1):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{file}, line {number}"
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 3:
            raise InputError(
                f"the line has {counted(len(cells), 'columns')}, not 3: write the name or accession of a model, the "
                "threshold of sequences and that of domains, with tabs between them",
                file=place,
            )
        name, *scores = cells
        if not name:
            raise InputError("the name is empty: write the name or accession of a model", file=place)
        if name in found.per_model:
            raise InputError(f"{name!r} occurs twice ({found.places[name]}): keep one of these lines", file=place)
        for score in scores:
            if not BITS.takes(score):
                raise InputError(
                    f"{score!r} is not a score in bits: correct it, or start a line of headings with #", file=place
                )
        found.per_model[name] = (BITS.parse(scores[0]), BITS.parse(scores[1]))
        found.places[name] = place
    if not found.places:
        raise InputError("the file holds no thresholds: write a line per model", file=file)
    return found
