"""A job on a server: watch, fetch, cancel."""

from __future__ import annotations

import io
import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

from tropalign.client.transport import LostConnection, events_of
from tropalign.errors import InputError, ResourceError, TropalignError, UsageError, shown
from tropalign.execution.files import check_outputs, write_to

if TYPE_CHECKING:
    from tropalign.client.transport import Transport

QUEUED, RUNNING, DONE, FAILED, REFUSED, CANCELLED = "queued", "running", "done", "failed", "refused", "cancelled"
STATES = (QUEUED, RUNNING, DONE, FAILED, REFUSED, CANCELLED)
#: Names that need no quoting in a URL.
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
#: File names that are safe here, regardless of the server: no folder, no leading dot, no special characters.
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
#: Callback with the name of a stage and the completed share of all work.
StageProgress = Callable[[str, float], object]
#: Seconds between polls of a job if no events arrive.
LOOK_SECONDS = 1.0


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
                id=_checked_id(data["id"]),
                verb=_text(data, "verb"),
                title=_text(data, "title"),
                tags=tuple(shown(tag) for tag in data.get("tags") or () if isinstance(tag, str)),
                state=STATES[STATES.index(data["state"])],
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
                waits_for=tuple(_checked_id(job) for job in data.get("waits_for") or ()),
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InputError(
                "the server sent an unreadable description of the job: check that it has this version of tropalign"
            ) from None

    def failure(self) -> TropalignError | None:
        """Return the exception that the same command raises locally; None if the job succeeded or has not ended."""
        if self.state == CANCELLED:
            return ResourceError("the job was cancelled: submit it again")
        if self.state not in (FAILED, REFUSED):
            return None
        words = self.message or f"the job is {self.state}, and the server gives no reason"
        kinds: dict[int | None, type[TropalignError]] = {
            1: TropalignError,
            2: UsageError,
            3: InputError,
            4: ResourceError,
        }
        usual = ResourceError if self.state == REFUSED else InputError
        return kinds.get(self.exit_code, usual)(words)


def _checked_id(value: Any) -> str:
    if not isinstance(value, str) or not _PLAIN.fullmatch(value):
        raise ValueError("an id must consist of letters and digits")
    return value


def _text(data: Any, name: str) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text")
    return shown(value[:10_000])


def _share(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("progress must be a number")
    return min(max(float(value), 0.0), 1.0)


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _output(entry: Any) -> OutputRecord:
    role, size = _checked_id(entry["role"]), entry["size"]
    if not isinstance(size, int) or size < 0:
        raise ValueError("a size must be a whole number")
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
    """Read the databases in a reply; raise InputError, which names `what`, if the reply is not a list of databases."""
    try:
        return [_database(entry) for entry in found["databases"]]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(f"the server {what}: check that it has this version of tropalign") from None


def _database(entry: Any) -> RemoteDatabase:
    id, name, alphabet = (entry[key] for key in ("id", "name", "alphabet"))
    n_sequences, n_residues = (entry.get(key) or 0 for key in ("sequences", "residues"))
    owner, job = entry.get("owner") or "", entry.get("job") or ""
    shared, installed = entry.get("shared") is True, entry.get("installed") is True
    if not all(isinstance(text, str) for text in (id, name, alphabet, owner, job)) or not all(
        isinstance(number, int) for number in (n_sequences, n_residues)
    ):
        raise TypeError("a database must have text and numbers")
    return RemoteDatabase(id, name, alphabet, n_sequences, n_residues, owner, shared, job, installed)


class RemoteJob:
    """Job on a server, in its state at the last update.

    Parameters
    ----------
    transport
        Connection to the server.
    record
        Description of the job from the server.

    Examples
    --------
    ``job = server.submit("pairs", {"queries": "proteins.fa"})``, then ``job.result()``.
    """

    def __init__(self, transport: Transport, record: JobRecord) -> None:
        self._transport, self._record = transport, record

    @property
    def id(self) -> str:
        """Id of the job on the server."""
        return self._record.id

    @property
    def state(self) -> str:
        """One of queued, running, done, failed, refused, cancelled."""
        return self._record.state

    @property
    def message(self) -> str:
        """Reason of a failure or refusal; otherwise empty."""
        return self._record.message

    @property
    def record(self) -> JobRecord:
        """Last record of the job from the server."""
        return self._record

    @property
    def url(self) -> str:
        """Address of the job's page."""
        return f"{self._transport.address.url}/jobs/{self.id}"

    def __repr__(self) -> str:
        return f"<RemoteJob {self.id}: {self._record.verb}, {self.state}>"

    def refresh(self) -> RemoteJob:
        """Update the record from the server."""
        self._ask("GET")
        return self

    def wait(self, timeout: float | None = None, progress: StageProgress | None = None) -> RemoteJob:
        """Wait until the job has ended, successfully or not, even if the server restarts meanwhile.

        Parameters
        ----------
        timeout
            Maximum time in seconds; None for no limit.
        progress
            Called with the stage and the completed share of all work, from 0 to 1; an exception from it ends the
            wait.

        Raises
        ------
        ResourceError
            The job has not ended in that time, or the server cannot be reached for some minutes. The job continues
            there.
        """
        ends = None if timeout is None else time.monotonic() + timeout
        has_events = ends is None  # events arrive at any time, so with a timeout the job is polled
        heard = time.monotonic()
        while not self._record.is_final:
            try:
                if has_events:
                    has_events = self._follow(progress)
                else:
                    self.refresh()
                heard = time.monotonic()
            except LostConnection as error:
                if time.monotonic() - heard > self._transport.patience:
                    raise ResourceError(f"{error}; the job continues on the server: {self.url}") from None
            if not self._record.is_final:
                self._report_progress(progress)
                self._pause(ends)
        if progress is not None and self.state == DONE:
            progress(self._record.stage or DONE, 1.0)
        return self

    def _follow(self, progress: StageProgress | None) -> bool:
        """Read the job's events until the job or the stream ends; False if no events can be read."""
        try:
            for kind, data in events_of(self._transport.lines(f"{self._path}/events")):
                is_ours = kind == "job" and self._take(data)
                if self._record.is_final:
                    break
                if is_ours:
                    self._report_progress(progress)
        except (InputError, ValueError):  # a proxy that blocks events
            return False
        return True

    def _pause(self, ends: float | None) -> None:
        if ends is None:
            time.sleep(LOOK_SECONDS)
        elif time.monotonic() >= ends:
            raise ResourceError(f"the job has not ended within the timeout, and continues on the server: {self.url}")
        else:
            time.sleep(max(0.0, min(LOOK_SECONDS, ends - time.monotonic())))

    def _take(self, data: str) -> bool:
        found = JobRecord.of(json.loads(data))
        if found.id == self.id:
            self._record = found
        return found.id == self.id

    def _report_progress(self, progress: StageProgress | None) -> None:
        if progress is None:
            return
        if self._record.progress is not None:
            progress(self._record.stage or self.state, self._record.progress)
        elif self._record.waiting:
            progress(self._record.waiting, 0.0)

    def check(self) -> None:
        """Raise the exception that the same command raises locally, if the job failed, was refused or cancelled."""
        failure = self._record.failure()
        if failure is not None:
            raise failure

    def result(self, format: str | None = None, role: str = "main") -> bytes:
        """Return the bytes of a result; wait until it is there.

        Parameters
        ----------
        format
            Format of the result, if other than submitted; the server converts it.
        role
            Role of the result: "main", or that of another requested output.

        Raises
        ------
        TropalignError
            The error that the same command raises locally; the job has no such result.
        """
        out = io.BytesIO()
        self.fetch(out, format, role)
        return out.getvalue()

    def fetch(self, out: IO[bytes], format: str | None = None, role: str = "main") -> None:
        """Write the bytes of a result to an open file."""
        job = self if format in (None, self._record.format) else self.in_format(format)
        job._wait_for_success()
        job._fetch(job._output(role), out)

    def in_format(self, format: str | None) -> RemoteJob:
        """Return the job that makes the same result in another format, immediately if it already exists."""
        _, found = self._transport.json("POST", f"{self._path}/formats/{quote(str(format), safe='')}")
        return RemoteJob(self._transport, JobRecord.of(found))

    def download(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write all results to an existing folder, each completely or not at all.

        Returns
        -------
        list of Path

        Raises
        ------
        TropalignError
            The error that the same command raises locally; the folder cannot be written.
        """
        self._wait_for_success()
        paths = [Path(folder) / output.name for output in self._record.outputs]
        check_outputs([str(path) for path in paths], [])
        for output, path in zip(self._record.outputs, paths, strict=True):
            self.write(str(path), output.role)
        return paths

    def write(self, path: str, role: str = "main") -> None:
        """Write one result of a finished job to a file, completely or not at all; "-" is standard output."""
        output = self._output(role)
        write_to(path, lambda out: self._fetch(output, out))

    def as_input(self, role: str = "main") -> dict[str, str]:
        """Return a reference to a result as an input of another job, so that it is not sent again.

        The result need not exist yet: a job that is submitted before this one has ended waits for it, and fails if
        it fails.

        Parameters
        ----------
        role
            Role of the result: "main", or that of another requested output, such as "representatives".

        Returns
        -------
        dict of str to str
            A value for the inputs of `Server.submit`; the server rejects it if the job has no such result.
        """
        return {"job": self.id, "role": role}

    def cancel(self) -> RemoteJob:
        """Request the server to cancel the job. A job that has ended stays unchanged."""
        self._ask("POST", "/cancel")
        return self

    def delete(self) -> None:
        """Delete the job and its results from the server."""
        self._transport.json("DELETE", self._path)

    def share(self, is_shared: bool = True) -> str | None:
        """Let anyone with the link read the job.

        Parameters
        ----------
        is_shared
            False revokes the link.

        Returns
        -------
        str or None
            The link.
        """
        self._ask("PATCH", "", {"shared": bool(is_shared)})
        link = self._record.shared
        return f"{self._transport.address.url}{link}" if link is not None and link.startswith("/") else link

    @property
    def _path(self) -> str:
        return f"/api/v1/jobs/{self.id}"

    def _ask(self, method: str, more: str = "", body: Any = None) -> None:
        _, found = self._transport.json(method, self._path + more, body)
        self._record = JobRecord.of(found)

    def _wait_for_success(self) -> None:
        self.wait()
        self.check()

    def _output(self, role: str) -> OutputRecord:
        for output in self._record.outputs:
            if output.role == role:
                return output
        there = ", ".join(output.role for output in self._record.outputs) or "none"
        raise UsageError(f"the job has no result {role!r}: it has {there}")

    def _fetch(self, output: OutputRecord, out: IO[bytes]) -> None:
        """Download a result, starting over if the connection breaks and `out` is seekable."""
        begin = out.tell() if out.seekable() else None
        n_tries = 3 if begin is not None else 1
        for number in range(n_tries):
            try:
                n_bytes = self._transport.receive(f"{self._path}/files/{output.role}", out)
                break
            except LostConnection:
                if begin is None or number + 1 == n_tries:
                    raise
                out.seek(begin)
                out.truncate()
        if n_bytes != output.size:
            raise InputError(
                f"{output.name} has {n_bytes:,} bytes instead of the {output.size:,} that the server announced: fetch "
                "it again"
            )
