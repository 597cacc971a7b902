"""Storage of the finished stages of an alignment, independent of the medium (run.py stores on disk)."""

from __future__ import annotations

from typing import Protocol

#: Sections per part.
N_SECTIONS = 4


class Checkpoint(Protocol):
    """Stages stored by earlier runs and by this one; parts of a stage are numbered from 0."""

    def get(self, stage: int, part: int) -> list[bytes] | None:
        """Return the sections of a part, or None if it is not stored."""

    def put(self, stage: int, part: int, sections: list[bytes]) -> None:
        """Store a part."""

    def is_whole(self, stage: int, n_parts: int) -> bool:
        """True if all parts of a stage are stored."""

    def forget(self, stage: int) -> None:
        """Delete the parts of a stage that no later stage needs."""

    def of_model(self, number: int) -> Checkpoint:
        """Return the storage for the same family under another pair model, numbered from 1."""


class NoCheckpoint:
    """No storage, for runs that cannot be resumed or finish in a moment."""

    def get(self, stage: int, part: int) -> list[bytes] | None:
        """Return None."""
        return None

    def put(self, stage: int, part: int, sections: list[bytes]) -> None:
        """Store nothing."""

    def is_whole(self, stage: int, n_parts: int) -> bool:
        """Return False."""
        return False

    def forget(self, stage: int) -> None:
        """Delete nothing."""

    def of_model(self, number: int) -> Checkpoint:
        """Return no storage."""
        return NoCheckpoint()
