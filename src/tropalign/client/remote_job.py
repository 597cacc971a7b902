"""A job on a server: watched, fetched, cancelled."""

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

#: Receives the name of a stage, and the share of all work that is done.
StageProgress = Callable[[str, float], object]
#: Seconds between looks at a job where events do not come.
LOOK_SECONDS = 1.0


class RemoteJob:
    """A job on a server, as it was when it was last looked at.

    Parameters
    ----------
    transport
        To the server.
    record
        What the server said of it.

    Examples
    --------
    ``job = server.submit("pairs", {"queries": "proteins.fa"})``, then ``job.result()``.
    """

    def __init__(self, transport: Transport, record: JobRecord) -> None:
        self._transport, self._record = transport, record

    @property
    def id(self) -> str:
        """Its name on the server."""
        return self._record.id

    @property
    def state(self) -> str:
        """One of queued, running, done, failed, refused, cancelled."""
        return self._record.state

    @property
    def message(self) -> str:
        """Why it failed or was refused; else empty."""
        return self._record.message

    @property
    def record(self) -> JobRecord:
        """All that the server said of it."""
        return self._record

    @property
    def url(self) -> str:
        """The address of its page."""
        return f"{self._transport.address.url}/jobs/{self.id}"

    def __repr__(self) -> str:
        return f"<RemoteJob {self.id}: {self._record.verb}, {self.state}>"

    def refresh(self) -> RemoteJob:
        """Looks at it again."""
        self._ask("GET")
        return self

    def wait(self, timeout: float | None = None, progress: StageProgress | None = None) -> RemoteJob:
        """Waits until it has ended, well or not; a server that starts anew meanwhile is waited for.

        Parameters
        ----------
        timeout
            Seconds; None for as long as it takes.
        progress
            Receives the stage and the share of all work that is done, from 0 to 1; what it raises ends the waiting.

        Raises
        ------
        ResourceError
            It has not ended in that time, or the server cannot be reached for some minutes: the job goes on there.
        """
        ends = None if timeout is None else time.monotonic() + timeout
        has_events = ends is None  # which come when they come: within a time, it is looked at now and then
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
        """Takes its events, until it or they end; whether it has any that can be read."""
        try:
            for kind, data in events_of(self._transport.lines(f"{self._path}/events")):
                is_ours = kind == "job" and self._take(data)
                if self._record.is_final:
                    break
                if is_ours:
                    self._tell(progress)
        except (InputError, ValueError):  # a proxy that lets none through
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
        """Raises what the same command raises here, where the job failed, was refused or cancelled."""
        failure = self._record.failure()
        if failure is not None:
            raise failure

    def result(self, format: str | None = None, role: str = "main") -> bytes:
        """The bytes of a result, when it is there; waits for it.

        Parameters
        ----------
        format
            Another one than it was submitted with, which the server makes.
        role
            Which of the results: "main", or one that was asked for beside it.

        Raises
        ------
        TropalignError
            What the same command raises here; a result that the job does not have.
        """
        out = io.BytesIO()
        self.fetch(out, format, role)
        return out.getvalue()

    def fetch(self, out: IO[bytes], format: str | None = None, role: str = "main") -> None:
        """Writes the bytes of a result into an open file."""
        job = self if format in (None, self._record.format) else self.in_format(format)
        job._done()
        job._fetch(job._output(role), out)

    def in_format(self, format: str | None) -> RemoteJob:
        """The job that makes the same result in another format: at once where it is there already."""
        _, found = self._transport.json("POST", f"{self._path}/formats/{quote(str(format), safe='')}")
        return RemoteJob(self._transport, JobRecord.of(found))

    def download(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes all results into a folder that is there, each whole or not at all.

        Returns
        -------
        list of Path

        Raises
        ------
        TropalignError
            What the same command raises here; a folder that cannot be written.
        """
        self._done()
        paths = [Path(folder) / output.name for output in self._record.outputs]
        check_outputs([str(path) for path in paths], [])
        for output, path in zip(self._record.outputs, paths, strict=True):
            self.write(str(path), output.role)
        return paths

    def write(self, path: str, role: str = "main") -> None:
        """Writes one result of a job that is done to a file, whole or not at all; "-" is standard output."""
        output = self._output(role)
        write_to(path, lambda out: self._fetch(output, out))

    def as_input(self, role: str = "main") -> dict[str, str]:
        """Names a result as an input of another job, so that it is not sent again; it may be still to come.

        A job that is submitted before this one has ended waits for it, and fails with it.

        Parameters
        ----------
        role
            Which of the results: "main", or one that was asked for beside it, such as "representatives".

        Returns
        -------
        dict of str to str
            A value for the inputs of `Server.submit`; the server refuses it where the job has no such result.
        """
        return {"job": self.id, "role": role}

    def cancel(self) -> RemoteJob:
        """Asks the server to end it. A job that has ended stays as it is."""
        self._ask("POST", "/cancel")
        return self

    def delete(self) -> None:
        """Removes it and its results from the server."""
        self._transport.json("DELETE", self._path)

    def share(self, is_shared: bool = True) -> str | None:
        """Lets whoever has the link read it.

        Parameters
        ----------
        is_shared
            False takes that back.

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
        """All bytes of a result, begun again where the connection breaks and `out` can go back."""
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
