"""Databases of a server: what stands for the file of targets in its jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tropalign.errors import InputError


@dataclass(frozen=True)
class RemoteDatabase:
    """Targets that lie on a server, and stand for a file in its jobs.

    Parameters
    ----------
    owner
        Who has built it.
    shared
        Whether all users of the server may use it, rather than its owner alone.
    job
        The id of the job that has built it; empty once that is deleted.
    """

    id: str
    name: str
    alphabet: str
    n_sequences: int
    n_residues: int
    owner: str = ""
    shared: bool = False
    job: str = ""


def databases_of(found: Any, what: str) -> list[RemoteDatabase]:
    """Reads the databases that a reply lists. Raises InputError, which `what` begins, where it is no such list."""
    try:
        return [_database(entry) for entry in found["databases"]]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(f"the server {what}: see whether it is of another version") from None


def _database(entry: Any) -> RemoteDatabase:
    id, name, alphabet = (entry[key] for key in ("id", "name", "alphabet"))
    n_sequences, n_residues = (entry.get(key) or 0 for key in ("sequences", "residues"))
    owner, shared, job = entry.get("owner", ""), entry.get("shared") is True, entry.get("job") or ""
    if not all(isinstance(text, str) for text in (id, name, alphabet, owner, job)) or not all(
        isinstance(number, int) for number in (n_sequences, n_residues)
    ):
        raise TypeError("a database has text and numbers")
    return RemoteDatabase(id, name, alphabet, n_sequences, n_residues, owner, shared, job)
