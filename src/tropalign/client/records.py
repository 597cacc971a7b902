"""Records of jobs and databases from server replies, which are untrusted and therefore checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tropalign.errors import InputError, ResourceError, TropalignError, UsageError, shown

QUEUED, RUNNING, DONE, FAILED, REFUSED, CANCELLED = "queued", "running", "done", "failed", "refused", "cancelled"
STATES = (QUEUED, RUNNING, DONE, FAILED, REFUSED, CANCELLED)
#: Names that need no quoting in a URL.
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
#: File names that are safe here, regardless of the server: no folder, no leading dot, no special characters.
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True)
class OutputRecord:
    """Result of a job: role ("main", "report"), file name for downloads, and size in bytes."""

    role: str
    name: str
    size: int
    media_type: str


@dataclass(frozen=True)
class JobRecord:
    """Job as described by a server.

    - `state`: "queued", "running", "done", "failed", "refused" or "cancelled".
    - `progress`: from 0 to 1; None if unknown.
    - `message`: reason of a failure or refusal.
    - `exit_code`: the command's exit code; None if unknown.
    - `shared`: public link; None if the job is not shared.
    - `waiting`: for a queued job, text about what it waits for: workers, its turn, or other jobs.
    - `waits_for`: ids of unfinished jobs whose results it will read.
    """

    id: str
    verb: str
    title: str
    tags: tuple[str, ...]
    state: str
    stage: str
    progress: float | None
    message: str
    command: str
    format: str
    outputs: tuple[OutputRecord, ...]
    exit_code: int | None
    shared: str | None
    queue_position: int | None
    created: str
    waiting: str = ""
    waits_for: tuple[str, ...] = ()

    @property
    def is_final(self) -> bool:
        """True if the job has ended."""
        return self.state not in (QUEUED, RUNNING)

    @classmethod
    def of(cls, data: Any) -> JobRecord:
        """Read a job from JSON, or raise InputError."""
        try:
            return cls(
                id=_plain(data["id"]),
                verb=_text(data, "verb"),
                title=_text(data, "title"),
                tags=tuple(shown(tag) for tag in data.get("tags") or () if isinstance(tag, str)),
                state=_state(data["state"]),
                stage=_text(data, "stage"),
                progress=_share(data.get("progress")),
                message=_text(data, "message"),
                command=_text(data, "command"),
                format=_text(data, "format"),
                outputs=tuple(_output(entry) for entry in data.get("outputs") or ()),
                exit_code=_whole(data.get("exit_code")),
                shared=_text(data, "shared") or None,
                queue_position=_whole(data.get("queue_position")),
                created=_text(data, "created"),
                waiting=_text(data, "waiting"),
                waits_for=tuple(_plain(job) for job in data.get("waits_for") or ()),
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InputError(
                "the server describes a job as no server of tropalign does: see whether it is of another version"
            ) from None

    def failure(self) -> TropalignError | None:
        """Return the exception that the same command raises locally; None if the job succeeded or has not ended."""
        if self.state == CANCELLED:
            return ResourceError("the job was cancelled: submit it again")
        if self.state not in (FAILED, REFUSED):
            return None
        words = self.message or f"the job has {self.state}, and the server does not say why"
        kinds: dict[int | None, type[TropalignError]] = {
            1: TropalignError,
            2: UsageError,
            3: InputError,
            4: ResourceError,
        }
        usual = ResourceError if self.state == REFUSED else InputError
        return kinds.get(self.exit_code, usual)(words)


def _plain(value: Any) -> str:
    if not isinstance(value, str) or not _PLAIN.fullmatch(value):
        raise ValueError("an id is made of letters and digits")
    return value


def _text(data: Any, name: str) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{name} is text")
    return shown(value[:10_000])


def _state(value: Any) -> str:
    if value not in STATES:
        raise ValueError("there is no such state")
    return str(value)


def _share(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("progress is a number")
    return min(max(float(value), 0.0), 1.0)


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _output(entry: Any) -> OutputRecord:
    role, size = _plain(entry["role"]), entry["size"]
    if not isinstance(size, int) or size < 0:
        raise ValueError("a size is a whole number")
    name = entry.get("name")
    safe = name if isinstance(name, str) and _FILE.fullmatch(name) else role
    return OutputRecord(role, safe, size, _text(entry, "media_type"))


@dataclass(frozen=True)
class RemoteDatabase:
    """Database of targets on a server, usable in place of a file in its jobs.

    Parameters
    ----------
    owner
        User who built it; empty for the server's own.
    shared
        Whether all users of the server may use it, rather than its owner alone.
    job
        Id of the job that built it; empty after that job is deleted.
    installed
        Whether the server's operator has installed it for all users.
    """

    id: str
    name: str
    alphabet: str
    n_sequences: int
    n_residues: int
    owner: str = ""
    shared: bool = False
    job: str = ""
    installed: bool = False


def databases_of(found: Any, what: str) -> list[RemoteDatabase]:
    """Read the databases in a reply; raise InputError, with `what` in its text, if the reply is not such a list."""
    try:
        return [_database(entry) for entry in found["databases"]]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(f"the server {what}: see whether it is of another version") from None


def _database(entry: Any) -> RemoteDatabase:
    id, name, alphabet = (entry[key] for key in ("id", "name", "alphabet"))
    n_sequences, n_residues = (entry.get(key) or 0 for key in ("sequences", "residues"))
    owner, job = entry.get("owner") or "", entry.get("job") or ""
    shared, installed = entry.get("shared") is True, entry.get("installed") is True
    if not all(isinstance(text, str) for text in (id, name, alphabet, owner, job)) or not all(
        isinstance(number, int) for number in (n_sequences, n_residues)
    ):
        raise TypeError("a database has text and numbers")
    return RemoteDatabase(id, name, alphabet, n_sequences, n_residues, owner, shared, job, installed)
