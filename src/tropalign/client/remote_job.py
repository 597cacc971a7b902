"""A job on a server: watch, fetch, cancel."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

from tropalign.client.records import DONE, JobRecord, OutputRecord
from tropalign.client.transport import LostConnection, events_of
from tropalign.errors import InputError, ResourceError, UsageError
from tropalign.execution.files import check_outputs, write_to

if TYPE_CHECKING:
    from tropalign.client.transport import Transport

#: Callback with the name of a stage and the completed share of all work.
StageProgress = Callable[[str, float], object]
#: Seconds between polls of a job if no events arrive.
LOOK_SECONDS = 1.0


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
                    raise ResourceError(f"{error}; the job goes on there: {self.url}") from None
            if not self._record.is_final:
                self._tell(progress)
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
                    self._tell(progress)
        except (InputError, ValueError):  # a proxy that blocks events
            return False
        return True

    def _pause(self, ends: float | None) -> None:
        if ends is None:
            time.sleep(LOOK_SECONDS)
        elif time.monotonic() >= ends:
            raise ResourceError(f"the job has not ended in the time that was allowed, and goes on: {self.url}")
        else:
            time.sleep(max(0.0, min(LOOK_SECONDS, ends - time.monotonic())))

    def _take(self, data: str) -> bool:
        found = JobRecord.of(json.loads(data))
        if found.id == self.id:
            self._record = found
        return found.id == self.id

    def _tell(self, progress: StageProgress | None) -> None:
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
        job._done()
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
        self._done()
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

    def _done(self) -> None:
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
                f"{output.name} has {n_bytes:,} bytes and not the {output.size:,} that the server announced: fetch it "
                "again"
            )
