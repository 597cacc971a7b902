"""Models from HMMER's binary files: the ``.h3m`` of a pressed library, and what ``hmmconvert -b`` writes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.profile.models import consensus_of
from tropalign.profile.residues import N_CANONICAL

#: What a model of each format begins with, and the format's letter: 3/a to 3/f.
MAGIC = {
    (0xE8EDEDB6).to_bytes(4, "little"): "a",
    (0xE8EDEDB7).to_bytes(4, "little"): "b",
    (0xE8EDEDB8).to_bytes(4, "little"): "c",
    (0xE8EDEDB9).to_bytes(4, "little"): "d",
    (0xE8EDEDB0).to_bytes(4, "little"): "e",
    (0xE8EDEDBA).to_bytes(4, "little"): "f",
}
#: Bits of a model's flags: which optional parts there are.
DESCRIPTION, REFERENCE, STRUCTURE, STATISTICS, MAP, ACCESSION = 1 << 1, 1 << 2, 1 << 3, 1 << 7, 1 << 8, 1 << 9
CUTOFFS = {"gathering": 1 << 10, "trusted": 1 << 11, "noise": 1 << 12}
ACCESSIBILITY, COMPOSITION, CONSENSUS, MASK = 1 << 13, 1 << 14, 1 << 16, 1 << 17
ALPHABETS = {1: b"rna", 2: b"dna", 3: b"amino"}
HEAD = Struct("<3i")
#: Nodes and letters that no model has more of: what a damaged file asks for is not allocated.
MOST_NODES, MOST_LETTERS = 1_000_000, 1 << 20


def is_binary(begin: bytes) -> bool:
    """Whether a file that begins so holds binary models."""
    return begin[:4] in MAGIC


def read_binary(stream: io.BufferedReader, file: str) -> Iterator[dict[str, Any]]:
    """The models of a binary file, in the words of `_native.read_model`.

    Raises
    ------
    InputError
        A truncated or damaged file.
    """
    n_read = 0
    while magic := stream.read(4):
        if magic not in MAGIC:
            raise InputError(
                f"no model begins after the {n_read} that were read: fetch or press the file again", file=file
            )
        n_read += 1
        yield _Reader(stream, file, n_read, MAGIC[magic]).read()


class _Reader:
    """One model; `number` counts from 1."""

    def __init__(self, stream: io.BufferedReader, file: str, number: int, version: str) -> None:
        self.stream, self.file, self.number, self.version = stream, file, number, version

    def read(self) -> dict[str, Any]:
        flags, length, alphabet = HEAD.unpack(self.take(HEAD.size))
        if not 1 <= length <= MOST_NODES:
            raise self.damaged(f"a length of {length}")
        if alphabet not in ALPHABETS:
            raise self.damaged(f"an alphabet of number {alphabet}")
        found: dict[str, Any] = {"alphabet": ALPHABETS[alphabet]}
        n_letters = N_CANONICAL if alphabet == 3 else 4
        match = np.zeros((length + 1, n_letters), np.float32)
        match[0, 0] = 1
        match[1:] = self.floats(length * n_letters).reshape(length, n_letters)
        self.take((length + 1) * n_letters * 4)  # insert emissions, which a search takes for background
        found["match"], found["transitions"] = match, self.floats((length + 1) * 7).reshape(length + 1, 7)
        found["name"] = self.text()
        found["accession"] = self.text() if flags & ACCESSION else b""
        found["description"] = self.text() if flags & DESCRIPTION else b""
        annotation = {"reference": REFERENCE, "mask": MASK, "consensus": CONSENSUS, "structure": STRUCTURE}
        for name, flag in annotation.items():
            found[name] = self.take(length + 2)[1:-1] if flags & flag else b""
        if flags & ACCESSIBILITY:
            self.take(length + 2)
        self.text()  # how it was made
        self.take(12 if self.version >= "c" else 8)  # numbers of sequences, the longest instance
        self.text()  # when it was made
        self.take(4 * (length + 1) * bool(flags & MAP) + 4)  # columns of the alignment, a checksum
        self.numbers(found, flags)
        if not found["consensus"] and alphabet == 3:
            found["consensus"] = consensus_of(match).encode()
        return found

    def numbers(self, found: dict[str, Any], flags: int) -> None:
        """Calibration, cutoffs, composition."""
        found["is_calibrated"] = bool(flags & STATISTICS)
        evalue = self.floats(3 if self.version == "a" else 6)
        if self.version == "a":  # slope, location, and that of Forward scores
            evalue = evalue[[1, 0, 1, 0, 2, 0]]
        found["evalue"] = evalue
        cutoffs = self.floats(6).tolist()
        for k, (name, flag) in enumerate(CUTOFFS.items()):
            found[name] = (cutoffs[2 * k], cutoffs[2 * k + 1]) if flags & flag else None
        n_letters = found["match"].shape[1]
        found["composition"] = self.floats(n_letters) if flags & COMPOSITION else np.zeros(n_letters, np.float32)
        if not all(np.isfinite(found[name]).all() for name in ("match", "transitions", "evalue", "composition")):
            raise self.damaged("a number that is not finite")
        if min(found[name].min() for name in ("match", "transitions", "composition")) < 0:
            raise self.damaged("a probability below 0")

    def take(self, size: int) -> bytes:
        data = self.stream.read(size)
        if len(data) < size:
            raise InputError(f"the file ends within model {self.number}: fetch or press it again", file=self.file)
        return data

    def floats(self, count: int) -> NDArray[np.float32]:
        return np.frombuffer(self.take(4 * count), "<f4").astype(np.float32)

    def text(self) -> bytes:
        size = int.from_bytes(self.take(4), "little", signed=True)
        if not 0 <= size <= MOST_LETTERS:
            raise self.damaged(f"a text of {size} letters")
        return self.take(size)[:-1]

    def damaged(self, what: str) -> InputError:
        return InputError(f"model {self.number} has {what}: fetch or press the file again", file=self.file)
