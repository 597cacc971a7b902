"""Models in HMMER's text format: one after another, a library of any size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tropalign.formats.format import Codec, concatenated


class ModelsContext:
    """What the format needs beside the models: nothing."""

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """These fields as JSON: none."""
        return {}


def encode_hmm(texts: Sequence[bytes], context: ModelsContext) -> bytes:
    """The models' texts, which end in a line ``//`` each."""
    return b"".join(texts)


HMM = Codec(encode_hmm, concatenated())
