"""Identity of a run in words and hashes: runs with equal manifests have the same parts; and the value of --shard."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: (i, n): the i-th of n shards, counted from 1; a machine's share of a run.
Shard = tuple[int, int]
#: A larger number of shards is a typing error.
MOST_SHARDS = 1_000_000
#: Version of the layout of parts and shards; other versions are not read.
LAYOUT = 6


def parse_shard(text: str) -> Shard:
    """Parse ``2/8``, the second of eight, or raise ValueError."""
    match = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]) <= MOST_SHARDS:
        raise ValueError(f"{text!r} is not a shard: write 2/8 for the second of eight")
    return int(match[1]), int(match[2])


def hash_of(parameters: Mapping[str, str]) -> str:
    """Return the SHA-256 (hexadecimal) of a run's parameters, independent of their order."""
    return hashlib.sha256(repr(sorted(parameters.items())).encode()).hexdigest()


@dataclass(frozen=True)
class RemainingWork:
    """Work that `tropalign merge` still has to do, for runs whose last stages need all shards.

    shards --first stage: tiles, as of any run--> parts --merge: the last stages--> the files

    - `words`: the verb with the options that change results; input files are named, but not read again.
    - `inputs`: the inputs as the verb writes them, stored in the first shard.
    """

    words: list[str]
    inputs: Sequence[bytes]


@dataclass(frozen=True)
class Manifest:
    """Identity of a run.

    - `fingerprint`: hash of inputs and parameters.
    - `cut`: hash of the division into tiles.
    - `n_tiles`: tiles of this run or shard.
    - `parameters`: by name, for the message about how two runs differ.
    - `memory_bytes`: memory limit for which tiles were cut. Runs that differ only in this are equal; `cut` shows
      whether it mattered.
    - `shard`: (i, n): the i-th of n shards, counted from 1; None for a whole run.
    - `layout`: version of the parts' layout.
    """

    fingerprint: str
    cut: str
    n_tiles: int
    parameters: dict[str, str]
    memory_bytes: int
    shard: Shard | None = None
    layout: int = LAYOUT

    def difference(self, other: Manifest) -> str | None:
        """Return how `other` differs, by the first differing parameter if possible; None if the runs are equal."""
        mine, theirs = ({**m.parameters, "shard": "/".join(map(str, m.shard or ["none"]))} for m in (self, other))
        for name in [*mine, *(name for name in theirs if name not in mine)]:
            if mine.get(name) != theirs.get(name):
                return f"{name} was {mine.get(name)!r} and is {theirs.get(name)!r}"
        if self.fingerprint != other.fingerprint:
            return "the inputs differ"
        if (self.cut, self.n_tiles, self.layout) == (other.cut, other.n_tiles, other.layout):
            return None
        if self.memory_bytes != other.memory_bytes:
            return f"tiles were cut for --memory {self.memory_bytes} and are cut for {other.memory_bytes}"
        return "the work is cut into different tiles"

    def of_whole(self) -> Manifest:
        """Return the entries that all shards of the run share."""
        count = self.shard[1] if self.shard else 1
        return dataclasses.replace(self, cut="", n_tiles=0, memory_bytes=0, shard=(1, count))

    def to_json(self) -> str:
        """Return the manifest as JSON."""
        return json.dumps(dataclasses.asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> Manifest:
        """Parse JSON, ignoring unknown entries; raise ValueError if it is not a manifest of this layout."""
        try:
            entries = json.loads(text)
        except RecursionError:
            raise ValueError("not a manifest: it is nested too deeply") from None
        if not isinstance(entries, dict):
            raise ValueError("not a manifest: it is not an object")
        return cls.from_entries(entries)

    @classmethod
    def from_entries(cls, entries: dict[str, Any]) -> Manifest:
        """Read untrusted entries of parsed JSON; raise ValueError as in `from_json`."""
        shard, parameters = entries.get("shard"), entries.get("parameters")
        numbers = [entries.get(name) for name in ("n_tiles", "memory_bytes", "layout")]
        is_sound = (
            all(isinstance(entries.get(name), str) for name in ("fingerprint", "cut"))
            and all(_is_count(number) for number in numbers)
            and isinstance(parameters, dict)
            and all(isinstance(word, str) for item in parameters.items() for word in item)
            and "shard" in entries
            and (shard is None or (isinstance(shard, list | tuple) and len(shard) == 2 and all(map(_is_count, shard))))
        )
        if is_sound and shard is not None:
            is_sound = 1 <= shard[0] <= shard[1] <= MOST_SHARDS
        if not is_sound or entries["layout"] != LAYOUT:
            raise ValueError("not a manifest, or one of another version")
        known = {field.name: entries[field.name] for field in dataclasses.fields(cls)}
        return cls(**{**known, "shard": tuple(shard) if shard else None})


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62
