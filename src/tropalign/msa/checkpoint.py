"""What an alignment keeps of its finished stages, whoever keeps it (run.py: on the disk)."""

from __future__ import annotations

from typing import Protocol

#: Sections of a part.
N_SECTIONS = 4


class Checkpoint(Protocol):
    """What earlier runs left of stages, and where this one leaves its own. A stage's parts are counted from 0."""

    def get(self, stage: int, part: int) -> list[bytes] | None:
        """The sections of a part; None where it is not there."""

    def put(self, stage: int, part: int, sections: list[bytes]) -> None:
        """Keeps a part."""

    def is_whole(self, stage: int, n_parts: int) -> bool:
        """Whether all parts of a stage are there."""

    def forget(self, stage: int) -> None:
        """Deletes the parts of a stage that no later one needs."""

    def of_model(self, number: int) -> Checkpoint:
        """What is kept of the same family by another model of pairs, counted from 1."""


class NoCheckpoint:
    """For runs that cannot be taken up again, or are done in a moment."""

    def get(self, stage: int, part: int) -> list[bytes] | None:
        """None."""
        return None

    def put(self, stage: int, part: int, sections: list[bytes]) -> None:
        """Nothing."""

    def is_whole(self, stage: int, n_parts: int) -> bool:
        """No."""
        return False

    def forget(self, stage: int) -> None:
        """Nothing."""

    def of_model(self, number: int) -> Checkpoint:
        """Nothing."""
        return NoCheckpoint()
