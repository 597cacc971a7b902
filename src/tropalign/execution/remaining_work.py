"""Shards of runs whose last stages need all of them: what `tropalign merge` still has to do, and to know.

shards --1. stage: tiles, as of any run--> parts --merge: the last stages--> the files
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO


@dataclass(frozen=True)
class Rest:
    """What is left to do.

    Attributes
    ----------
    words
        The verb and its options, those aside that change no result; files that are read are named, but not read again.
    inputs
        What was read, as the verb writes it; the first shard holds it.
    """

    words: list[str]
    inputs: Sequence[bytes]


@dataclass(frozen=True)
class StageWriter:
    """Stands for a format where a part is no piece of a file, but what a later stage begins with.

    Attributes
    ----------
    encode
        What one tile leaves behind.
    """

    encode: Callable[[Any], bytes]
    name: str = "work"
    is_binary: bool = True
    needs_all: bool = True

    def assemble(self, parts: Iterable[bytes], out: BinaryIO) -> None:
        """Never: the verb does it."""
        raise NotImplementedError("the parts of a stage are no file")

    def describe(self) -> dict[str, Any]:
        """Nothing: `Rest` says what is to be done."""
        return {}
