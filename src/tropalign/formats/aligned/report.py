"""Self-contained web page of an alignment, alone or next to its reference: no network, no other file."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.format import Codec, Header
from tropalign.formats.pages import json_text, page_texts, write_page
from tropalign.results.multiple import GAP, Agreement, MultipleAlignment, rules

#: Scripts of the page, in loading order.
SCRIPTS = (
    "frame/drawing.js", "alignment.js", "colours.js", "sheet.js", "tracks.js", "strip.js", "text.js",
    "block_picture.js", "controls.js",
)  # fmt: skip


def _bytes(values: NDArray[np.float32] | None) -> str | None:
    """Return numbers from 0 to 1 as bytes (255 is 1) in base64."""
    if values is None:
        return None
    return base64.b64encode(np.rint(255 * np.clip(np.nan_to_num(values), 0, 1)).astype(np.uint8).tobytes()).decode()


#: Characters of a difference in JSON, in addition to its letters.
CHANGE_CHARACTERS = 8


def _letters(letters: NDArray[np.uint8]) -> dict[str, Any]:
    """Return the rows as one text; if they are alike, as their most frequent letters and differences to these."""
    n_columns = letters.shape[1]
    common, most = np.full(n_columns, GAP, np.uint8), np.zeros(n_columns, np.int64)
    occurrences = sum(np.bincount(row, minlength=256) for row in letters)  # by row, since it copies to int64
    for letter in np.flatnonzero(occurrences):
        counts = (letters == letter).sum(0)
        common[counts > most] = letter
        np.maximum(most, counts, out=most)
    is_other = letters != common
    starts = is_other & ~np.pad(is_other, ((0, 0), (1, 0)))[:, :-1]
    if 2 * (int(is_other.sum()) + CHANGE_CHARACTERS * int(starts.sum()) + n_columns) > letters.size:
        return {"letters": letters.tobytes().decode("latin-1")}
    changes = []
    for row, is_changed in zip(letters, is_other, strict=True):
        borders = np.flatnonzero(np.diff(is_changed, prepend=False, append=False)).tolist()
        last, parts, text = 0, [], row.tobytes().decode("latin-1")
        for begin, end in zip(borders[::2], borders[1::2], strict=True):
            parts += [begin - last, text[begin:end]]
            last = end
        changes.append(parts)
    return {"common": common.tobytes().decode("latin-1"), "changes": changes}


def data_of(alignment: MultipleAlignment, context: AlignedContext) -> dict[str, Any]:
    """Return the data that the page's scripts read; features are row, residue range from 0, type and name."""
    row_of = {name: row for row, name in enumerate(alignment.names)}
    known = (one for one in context.features if one.sequence in row_of)
    return {
        "title": context.title,
        "kind": "nucleotide" if alignment.sequences.alphabet.has_strands else "protein",
        "n_columns": alignment.n_columns,
        "names": list(alignment.names),
        "descriptions": list(alignment.sequences.descriptions or ()),
        **_letters(alignment.letters),
        "confidence": _bytes(alignment.residue_confidence),
        "column_confidence": _bytes(alignment.column_confidence),
        "tree": alignment.tree,
        "features": [(row_of[one.sequence], one.begin, one.end, one.kind, one.name) for one in known],
    }


#: Steps of agreement in a byte; byte 0 marks residues that do not count.
STEPS = 200


def _agreement(shares: NDArray[np.float32]) -> str:
    """Return shares as bytes in base64: 0 for residues that do not count, else 1 + 200 times the share."""
    steps = np.rint(STEPS * np.nan_to_num(shares)).astype(np.uint8) + 1
    return base64.b64encode(np.where(np.isnan(shares), 0, steps).astype(np.uint8).tobytes()).decode()


def encode(found: MultipleAlignment | Agreement, context: AlignedContext) -> bytes:
    """Return the page's JSON: an alignment; or one and its reference, coloured by agreement."""
    if isinstance(found, MultipleAlignment):
        return json_text(data_of(found, context))

    def side(*, of_reference: bool) -> dict[str, Any]:
        rows, shares = (found.reference, found.reference_shares) if of_reference else (found.alignment, found.shares)
        columns = found.column_shares(of_reference=of_reference)
        return {**data_of(rows, context), "agreement": _agreement(shares), "column_agreement": _agreement(columns)}

    facts = [f"SP {found.sp:.4f}", f"TC {found.tc:.4f}"]
    return json_text({**side(of_reference=False), "facts": facts, "reference": side(of_reference=True)})


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: AlignedContext) -> None:
    """Write the page."""
    data = {"rules": json_text(rules()), "data": b"".join(parts)}
    write_page(out, page_texts("aligned", SCRIPTS, is_report=False), header, data)


HTML = Codec(encode, assemble, is_binary=True)
