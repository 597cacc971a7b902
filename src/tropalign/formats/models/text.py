"""Models in HMMER's text format, concatenated to a library of any size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tropalign.formats.format import Codec, concatenated


class ModelsContext:
    """Empty context."""

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return an empty dictionary."""
        return {}


def encode_hmm(texts: Sequence[bytes], context: ModelsContext) -> bytes:
    """Concatenate the models' texts, each of which ends with a line ``//``."""
    return b"".join(texts)


HMM = Codec(encode_hmm, concatenated())
