"""A complete batch as bytes, which a shard carries to the place of the last stages of its run.

size of the words | the words, as JSON | offsets | codes | letters
"""

from __future__ import annotations

import json

import numpy as np

from tropalign.sequences.alphabet import ALPHABETS
from tropalign.sequences.batch import SequenceBatch

SIZE_BYTES = 8
PLACE = np.dtype("<i8")


def batch_to_bytes(batch: SequenceBatch) -> bytes:
    """Serialise a batch without its qualities."""
    words = {"alphabet": batch.alphabet.name, "names": batch.names, "descriptions": batch.descriptions}
    text = json.dumps(words).encode()
    arrays = (batch.offsets.astype(PLACE), batch.codes, batch.letters)
    return b"".join([len(text).to_bytes(SIZE_BYTES, "little"), text, *(array.tobytes() for array in arrays)])


def batch_of_bytes(data: bytes) -> SequenceBatch:
    """Restore a batch. Raises ValueError, LookupError or TypeError if the bytes are not those of one."""
    begin = SIZE_BYTES + int.from_bytes(data[:SIZE_BYTES], "little")
    words = json.loads(data[SIZE_BYTES:begin])
    names, descriptions = (tuple(words[name]) for name in ("names", "descriptions"))
    if not all(isinstance(text, str) for text in (*names, *descriptions)):
        raise ValueError("names are text")
    offsets = np.frombuffer(data, PLACE, len(names) + 1, begin)
    n = int(offsets[-1])
    codes, letters = np.frombuffer(data, np.uint8, offset=begin + offsets.nbytes).reshape(2, n)
    return SequenceBatch(codes, offsets.astype(np.int64), names, ALPHABETS[words["alphabet"]], letters, descriptions)
