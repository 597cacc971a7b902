"""A batch as bytes, which hold all of it: what a shard carries to where the last stages of its run are computed.

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
    """The batch, its qualities aside.

    Examples
    --------
    >>> batch = tropalign.SequenceBatch.from_strings({"a": "MKVLAW", "b": "MKila"})
    >>> batch_of_bytes(batch_to_bytes(batch)).fingerprint() == batch.fingerprint()
    True
    """
    words = {"alphabet": batch.alphabet.name, "names": batch.names, "descriptions": batch.descriptions}
    text = json.dumps(words).encode()
    arrays = (batch.offsets.astype(PLACE), batch.codes, batch.letters)
    return b"".join([len(text).to_bytes(SIZE_BYTES, "little"), text, *(array.tobytes() for array in arrays)])


def batch_of_bytes(data: bytes) -> SequenceBatch:
    """The batch again. Raises ValueError, LookupError or TypeError where the bytes are not those of one."""
    begin = SIZE_BYTES + int.from_bytes(data[:SIZE_BYTES], "little")
    words = json.loads(data[SIZE_BYTES:begin])
    names, descriptions = (tuple(words[name]) for name in ("names", "descriptions"))
    if not all(isinstance(text, str) for text in (*names, *descriptions)):
        raise ValueError("names are text")
    offsets = np.frombuffer(data, PLACE, len(names) + 1, begin)
    n = int(offsets[-1])
    codes, letters = np.frombuffer(data, np.uint8, offset=begin + offsets.nbytes).reshape(2, n)
    return SequenceBatch(codes, offsets.astype(np.int64), names, ALPHABETS[words["alphabet"]], letters, descriptions)
