"""Models from the text of HMMER 2, converted like HMMER 3 does.

HMMER 2 writes integer scores in thousandths of a bit, relative to a null model in the file. Parts of its model
that HMMER 3 lacks (entry and exit probabilities, insert emissions, calibration) are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, shown
from tropalign.profiles.models import consensus_of
from tropalign.profiles.proteins import N_CANONICAL
from tropalign.sequences.texts import decoded

#: Nats per thousandth of a bit: HMMER's value.
NATS = 0.00069314718
CUTOFFS = {"GA": "gathering", "TC": "trusted", "NC": "noise"}
TEXTS = {"NAME": "name", "ACC": "accession"}
FLAGS = {"RF": "reference", "CS": "structure"}
#: Minimum bytes of a node: three lines, two of them with 20 numbers.
NODE_BYTES = 80
REMEDY = "mend this line, or fetch the file again"


def read_hmmer2(text: bytes, file: str, line: int) -> dict[str, Any]:
    """Parse a model from its lines HMMER2.0 to //, into the fields of `_native.read_model`.

    `line`: number of lines before it in the file. Raises InputError for a damaged or truncated model.
    """
    return _Reader(text, file, line).read()


class _Reader:
    def __init__(self, text: bytes, file: str, line: int) -> None:
        self.file, self.line, self.size = file, line, len(text)
        self.lines = self.with_words(text)
        self.words: list[bytes] = []
        self.raw = b""
        texts = ("name", "accession", "description", "alphabet", "mask")
        self.found: dict[str, Any] = dict.fromkeys(texts, b"")
        self.length = 0
        self.null: list[float] = []

    def with_words(self, text: bytes) -> Iterator[bytes]:
        for line in text.split(b"\n"):
            self.line += 1
            if line.strip() and not line.lstrip().startswith(b"#"):
                yield line

    def read(self) -> dict[str, Any]:
        self.next()
        self.read_header()
        if self.found["alphabet"] != b"amino":
            return self.found
        self.read_nodes()
        self.next()
        if self.words[0] != b"//":
            raise self.damaged(f"{self.quoted(self.words[0])} stands where a line with // alone ends the model")
        match, transitions = self.found["match"], self.found["transitions"]
        _normalise(match)
        for part in (slice(0, 3), slice(3, 5), slice(5, 7)):
            _normalise(transitions[:, part])
        transitions[-1, 5:] = 1, 0
        if transitions[-1, 2] > 0:
            transitions[-1, :3] = 0.5, 0.5, 0
        self.found["consensus"] = consensus_of(match).encode()
        self.found["is_calibrated"] = False
        # HMMER gives these models no composition: its filter for biased composition has no effect on them.
        self.found["composition"] = np.zeros(N_CANONICAL, np.float32)
        return self.found

    def read_header(self) -> None:
        self.found |= dict.fromkeys(CUTOFFS.values()) | dict.fromkeys(FLAGS.values(), b"")
        while True:
            self.next()
            tag = self.words[0].decode("latin-1")
            if tag == "HMM":
                break
            self.read_header_line(tag)
        for what, name in ((self.found["name"], "NAME"), (self.found["alphabet"], "ALPH"), (self.length, "LENG")):
            if not what:
                raise self.damaged(f"the model has no line {name}")
        if self.found["alphabet"] == b"amino" and not self.null:
            raise self.damaged("the model has no line NULE")
        if not 0 < self.length <= self.size // NODE_BYTES:
            raise self.damaged(f"the model does not hold the {self.length} nodes that it announces")

    def read_header_line(self, tag: str) -> None:
        if tag in TEXTS:
            self.found[TEXTS[tag]] = self.word(1)
        elif tag == "DESC":
            self.found["description"] = self.raw.strip()[len(tag) :].strip()
        elif tag == "LENG":
            self.length = self.integer(1)
        elif tag == "ALPH":
            alphabet = self.word(1).lower()
            self.found["alphabet"] = b"dna" if alphabet == b"nucleic" else alphabet
        elif tag in FLAGS:
            self.found[FLAGS[tag]] = b"+" if self.word(1).lower() == b"yes" else b""
        elif tag in CUTOFFS:
            self.found[CUTOFFS[tag]] = (self.number(1), self.number(2))
        elif tag == "NULE" and self.found["alphabet"] == b"amino":
            self.null = [self.probability(k + 1, float(np.float32(1 / 20))) for k in range(N_CANONICAL)]

    def read_nodes(self) -> None:
        self.found["match"] = match = np.zeros((self.length + 1, N_CANONICAL), np.float32)
        self.found["transitions"] = transitions = np.zeros((self.length + 1, 7), np.float32)
        match[0, 0] = 1
        self.next()  # names of transitions
        self.next()
        transitions[0] = self.probability(0, 1), 0, self.probability(2, 1), 1, 0, 1, 0
        transitions[-1] = 1, 0, 0, 1, 0, 1, 0
        letters: dict[str, list[bytes]] = {"reference": [], "structure": []}
        for k in range(1, self.length + 1):
            self.next()
            if self.integer(0) != k:
                raise self.damaged(f"{self.quoted(self.words[0])} stands where node {k} of {self.length} is expected")
            match[k] = [self.probability(x + 1, self.null[x]) for x in range(N_CANONICAL)]
            self.next()
            letters["reference"].append(self.word(0)[:1])
            self.next()
            letters["structure"].append(self.word(0)[:1])
            if k < self.length:
                transitions[k] = [self.probability(t + 1, 1) for t in range(7)]
        for name, line in letters.items():
            self.found[name] = b"".join(line) if self.found[name] else b""

    def next(self) -> None:
        line = next(self.lines, None)
        if line is None:
            raise self.damaged("the model ends before its line //")
        self.raw, self.words = line, line.split()

    def word(self, k: int) -> bytes:
        if k >= len(self.words):
            raise self.damaged(f"the line holds {len(self.words)} words, but more are expected")
        return self.words[k]

    def number(self, k: int) -> float:
        try:
            return float(np.float32(self.word(k).rstrip(b";")))
        except ValueError:
            raise self.damaged(f"{self.quoted(self.word(k))} is not a number") from None

    def integer(self, k: int) -> int:
        try:
            return int(self.word(k))
        except ValueError:
            raise self.damaged(f"{self.quoted(self.word(k))} is not a whole number") from None

    def probability(self, k: int, null: float) -> float:
        if self.word(k).startswith(b"*"):
            return 0.0
        score = self.integer(k)
        if abs(score) > 100_000:
            raise self.damaged(f"{score} is no score of HMMER 2")
        return float(np.float32(null * math.exp(score * NATS)))

    def quoted(self, word: bytes) -> str:
        return f"'{shown(word.decode('utf-8', 'replace'))}'"

    def damaged(self, what: str) -> InputError:
        name = decoded(self.found["name"]) or None
        return InputError(f"{what}: {REMEDY}", file=self.file, record=name, line=self.line)


def _normalise(rows: NDArray[np.float32]) -> None:
    """Scale rows to sums of 1, in single precision with compensated summation (Kahan), like HMMER."""
    total = np.zeros(len(rows), np.float32)
    lost = np.zeros(len(rows), np.float32)
    for column in rows.T:
        part = column - lost
        raised = total + part
        lost = (raised - total) - part
        total = raised
    is_empty = total == 0
    rows[is_empty] = np.float32(1 / rows.shape[1])
    rows[~is_empty] /= total[~is_empty, None]
