"""What a run is, in words and hashes: two runs with equal manifests have the same parts."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: (i, n): the i-th of n, counted from 1: the share of a run that one of several machines has.
Shard = tuple[int, int]
#: More shards than that are a slip of the pen.
MOST_SHARDS = 1_000_000
#: Number of the layout of parts and shards; what another layout wrote is not read.
LAYOUT = 6


def parse_shard(text: str) -> Shard:
    """``2/8`` is the second of eight. Raises ValueError on anything else."""
    match = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]) <= MOST_SHARDS:
        raise ValueError(f"{text!r} is not a shard: write 2/8 for the second of eight")
    return int(match[1]), int(match[2])


def hash_of(parameters: Mapping[str, str]) -> str:
    """SHA-256 of all that decides a run, in hexadecimal, whatever the order of the names."""
    return hashlib.sha256(repr(sorted(parameters.items())).encode()).hexdigest()


@dataclass(frozen=True)
class RemainingWork:
    """What `tropalign merge` has to do where the last stages of a run need all shards, and what it has to know.

    shards --first stage: tiles, as of any run--> parts --merge: the last stages--> the files

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
class Manifest:
    """What a run is.

    Attributes
    ----------
    fingerprint
        Hash of inputs and parameters.
    cut
        Hash of the cut into tiles.
    n_tiles
        Tiles of this run, or of this shard.
    parameters
        By name, for the sentence that says how two runs differ.
    memory_bytes
        What tiles were cut to. Runs that differ only in this are equal; `cut` says whether it mattered.
    shard
        (i, n): the i-th of n shards, counted from 1; None for a whole run.
    layout
        Number of the parts' layout.
    """

    fingerprint: str
    cut: str
    n_tiles: int
    parameters: dict[str, str]
    memory_bytes: int
    shard: Shard | None = None
    layout: int = LAYOUT

    def difference(self, other: Manifest) -> str | None:
        """How `other` differs, beginning with its first parameter that does; None when the runs are equal."""
        mine, theirs = ({**m.parameters, "shard": _shard_text(m.shard)} for m in (self, other))
        for name in [*mine, *(name for name in theirs if name not in mine)]:
            if mine.get(name) != theirs.get(name):
                return f"{name} was {mine.get(name)!r} and is {theirs.get(name)!r}"
        if self.fingerprint != other.fingerprint:
            return "the inputs differ"
        if (self.cut, self.n_tiles, self.layout) == (other.cut, other.n_tiles, other.layout):
            return None
        if self.memory_bytes != other.memory_bytes:
            return f"tiles were cut to --memory {self.memory_bytes} and are cut to {other.memory_bytes}"
        return "the work is cut into other tiles"

    def of_whole(self) -> Manifest:
        """What all shards of the run share."""
        count = self.shard[1] if self.shard else 1
        return dataclasses.replace(self, cut="", n_tiles=0, memory_bytes=0, shard=(1, count))

    def to_json(self) -> str:
        """The manifest as text."""
        return json.dumps(dataclasses.asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> Manifest:
        """From text, of which unknown entries are ignored. Raises ValueError when it is no manifest of this layout."""
        try:
            entries = json.loads(text)
        except RecursionError:
            raise ValueError("no manifest: it is nested too deeply") from None
        if not isinstance(entries, dict):
            raise ValueError("no manifest: it is no object")
        return cls.from_entries(entries)

    @classmethod
    def from_entries(cls, entries: dict[str, Any]) -> Manifest:
        """From what JSON made of the text; anybody may have written it. Raises ValueError as `from_json`."""
        shard, parameters = entries.get("shard"), entries.get("parameters")
        numbers = [entries.get(name) for name in ("n_tiles", "memory_bytes", "layout")]
        is_sound = (
            all(isinstance(entries.get(name), str) for name in ("fingerprint", "cut"))
            and all(_is_count(number) for number in numbers)
            and isinstance(parameters, dict)
            and all(isinstance(word, str) for item in parameters.items() for word in item)
            and "shard" in entries
            and (shard is None or _is_shard(shard))
        )
        if not is_sound or entries["layout"] != LAYOUT:
            raise ValueError("no manifest, or one of another version")
        known = {field.name: entries[field.name] for field in dataclasses.fields(cls)}
        return cls(**{**known, "shard": tuple(shard) if shard else None})


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62


def _is_shard(value: object) -> bool:
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(_is_count(k) for k in value):
        return False
    return bool(1 <= value[0] <= value[1] <= MOST_SHARDS)


def _shard_text(shard: Shard | None) -> str:
    return f"{shard[0]}/{shard[1]}" if shard else "none"
