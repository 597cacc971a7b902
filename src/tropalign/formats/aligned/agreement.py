"""Alignment page that shows an alignment and its reference, coloured by agreement."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned.report import assemble, data_of
from tropalign.formats.format import Codec
from tropalign.formats.pages import json_text
from tropalign.results.multiple import Agreement

#: Steps of a share in a byte; byte 0 is for residues that do not count.
STEPS = 200


def _bytes(shares: NDArray[np.float32]) -> str:
    """Return shares as bytes in base64: 0 for residues that do not count, else 1 + 200 times the share."""
    steps = np.rint(STEPS * np.nan_to_num(shares)).astype(np.uint8) + 1
    return base64.b64encode(np.where(np.isnan(shares), 0, steps).astype(np.uint8).tobytes()).decode()


def encode(found: Agreement, context: AlignedContext) -> bytes:
    """Return both alignments as the page's JSON."""

    def side(*, of_reference: bool) -> dict[str, Any]:
        rows, shares = (found.reference, found.reference_shares) if of_reference else (found.alignment, found.shares)
        columns = found.column_shares(of_reference=of_reference)
        return {**data_of(rows, context), "agreement": _bytes(shares), "column_agreement": _bytes(columns)}

    facts = [f"SP {found.sp:.4f}", f"TC {found.tc:.4f}"]
    return json_text({**side(of_reference=False), "facts": facts, "reference": side(of_reference=True)})


HTML = Codec(encode, assemble, is_binary=True)
