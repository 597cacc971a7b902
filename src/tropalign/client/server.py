"""`connect`: access to a server of ``tropalign serve`` from Python, with the package's functions as methods."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tropalign.client.remote_job import JobRecord, RemoteDatabase, RemoteJob, databases_of
from tropalign.client.transport import Address, Transport, Uploads, check_private, files_of, token_of
from tropalign.errors import InputError, UsageError, did_you_mean, listed, shown

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable
    from tropalign.results.clusters import Clusters
    from tropalign.results.hits import Hits
    from tropalign.results.multiple import MultipleAlignment
    from tropalign.results.placements import Placements
    from tropalign.results.segments import Segments

#: Seconds without a byte after which a request is abandoned.
TIMEOUT = 60.0


def connect(
    url: str | None = None, token: str | None = None, *, timeout: float = TIMEOUT, insecure: bool = False
) -> Server:
    """Return a server of ``tropalign serve``.

    Parameters
    ----------
    url
        Such as "https://align.example.org" or "http://127.0.0.1:8080"; by default the value of TROPALIGN_SERVER.
    token
        Token of the user; by default that of TROPALIGN_TOKEN, or of the file that TROPALIGN_TOKEN_FILE names, or
        for your own server on this machine that in its usual folder.
    timeout
        Seconds without a byte after which a request is abandoned.
    insecure
        Send the token without encryption even beyond this machine.

    Returns
    -------
    Server
        Nothing is sent before the first request.

    Raises
    ------
    UsageError
        The address is missing or invalid, or the token would travel without encryption.
    InputError
        The token file cannot be read.

    Examples
    --------
    >>> connect("http://127.0.0.1:8080")
    <Server http://127.0.0.1:8080>
    """
    url = url or os.environ.get("TROPALIGN_SERVER")
    if not url:
        raise UsageError("no server is named: give its address, or set TROPALIGN_SERVER")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
        raise UsageError(f"timeout {timeout!r} is not a number of seconds above 0")
    address = Address.of(url)
    secret = token_of(token, address)
    check_private(address, secret, insecure)
    return Server(Transport(address, secret, float(timeout)))


class Server:
    """Server with its jobs and databases, and the package's functions, computed there.

    The functions take the arguments of the package's functions of the same name, and return the same objects, with
    columns that are equal to the last bit. The server chooses threads, memory and devices. `progress` is called
    with the stage and the completed share of all work, from 0 to 1.

    Parameters
    ----------
    transport
        Connection to the server.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport, self._uploads = transport, Uploads(transport)

    @property
    def url(self) -> str:
        """Address of the server."""
        return self._transport.address.url

    @property
    def uploads(self) -> Uploads:
        """Uploads of files to the server."""
        return self._uploads

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing: no connection is held between requests."""

    def __repr__(self) -> str:
        return f"<Server {self.url}>"

    def submit(
        self,
        verb: str,
        inputs: Mapping[str, Any],
        options: Mapping[str, Any] | None = None,
        *,
        format: str | None = None,
        outputs: Sequence[str] = (),
        title: str = "",
        tags: Sequence[str] = (),
        shared: bool = False,
        hook: str = "",
    ) -> RemoteJob:
        """Send files and submit a job; a finished equal job of the same user is returned immediately.

        Parameters
        ----------
        verb
            Verb of the command line, such as "pairs" or "db build".
        inputs
            By the names of the verb's arguments, such as "queries" and "targets": a path, a `RemoteDatabase`,
            (name, bytes), an earlier job's `RemoteJob.as_input`, or a list of these.
        options
            By name, such as {"mode": "global", "min_score": 30}.
        format
            Format of the main result; by default the verb's usual one.
        outputs
            Results besides the main one, such as "report".
        title, tags
            Texts for finding the job again.
        shared
            For "db build": whether all users of the server may use the database.
        hook
            Recipient of the server's notification when the job has ended, if the operator allows it: an e-mail
            address, or the URL of a web hook.

        Returns
        -------
        RemoteJob

        Raises
        ------
        TropalignError
            A file cannot be read, the server rejects the job, or it cannot be reached.
        """
        items = {name: [self._item(value) for value in files_of(values)] for name, values in inputs.items()}
        body: dict[str, Any] = {"verb": verb, "inputs": items, "options": dict(options or {})}
        if format is not None:
            body["format"] = format
        body |= {"outputs": list(outputs), "title": title, "tags": list(tags)}
        if shared:
            body["shared"] = True
        if hook:
            body["hook"] = hook
        return self._job("POST", "/api/v1/jobs", body)

    def _item(self, value: Any) -> dict[str, Any]:
        if isinstance(value, RemoteDatabase):
            return {"database": value.id, "name": value.name}
        if isinstance(value, dict):  # uploaded before
            return value
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], bytes):
            return self._uploads.data(value[1], str(value[0]))
        if isinstance(value, str | os.PathLike):
            return self._uploads.file(value)
        raise UsageError(f"an object of type {type(value).__name__} is not an input: give a path, or (name, bytes)")

    def job(self, id: str) -> RemoteJob:
        """Return a job by its id."""
        return self._job("GET", f"/api/v1/jobs/{quote(id, safe='')}")

    def _job(self, method: str, path: str, body: Any = None) -> RemoteJob:
        return RemoteJob(self._transport, JobRecord.of(self._transport.json(method, path, body)[1]))

    def jobs(
        self,
        q: str = "",
        *,
        state: str | None = None,
        verb: str | None = None,
        tag: str | None = None,
        user: str | None = None,
    ) -> Iterator[RemoteJob]:
        """Yield the user's own jobs, newest first; administrators can also list jobs of others.

        Parameters
        ----------
        q
            Words to find in titles, tags, commands, file names or sequence names.
        state, verb, tag
            Only jobs of this state, verb or tag.
        user
            For administrators: the user whose jobs are listed; "*" for all users. Jobs of others can be cancelled
            and deleted, but not read.

        Yields
        ------
        RemoteJob
        """
        after: Any = None
        while True:
            query = {"q": q, "state": state, "verb": verb, "tag": tag, "after": after, "user": user}
            _, found = self._transport.json("GET", "/api/v1/jobs", query=query)
            listed = found.get("jobs")
            if not isinstance(listed, list):
                raise InputError("the server returned no list of jobs: check that it has this version of tropalign")
            yield from (RemoteJob(self._transport, JobRecord.of(entry)) for entry in listed)
            after, before = found.get("next"), after
            if not isinstance(after, str) or not after or after == before or not listed:
                return

    def databases(self, *, user: str | None = None) -> list[RemoteDatabase]:
        """Return the databases that the user may use: own ones, then the server's, then those that others share.

        Parameters
        ----------
        user
            For administrators: the user whose databases are listed; "*" for all users.

        Returns
        -------
        list of RemoteDatabase
        """
        _, found = self._transport.json("GET", "/api/v1/databases", query={"user": user})
        return databases_of(found, "returned no list of databases")

    def database(self, name: str) -> RemoteDatabase:
        """Return a database by its name or id.

        Parameters
        ----------
        name
            Name given to `build_database`, the operator's name of the store, or ``OWNER/NAME`` of a database that
            another user shares.

        Raises
        ------
        UsageError
            There is no such database, or other users share several of this name.
        """
        known = self.databases()
        named = [each for each in known if name in (each.id, each.name, f"{each.owner}/{each.name}")]
        if not named:
            raise UsageError(
                f"the server has no database {shown(name)!r}{did_you_mean(name, [database.name for database in known])}"
            )
        # The list has the user's own databases first, then the installed ones, then those that others share.
        if len({each.owner for each in named}) > 1 and named[0].owner:
            _, found = self._transport.json("GET", "/api/v1/me")
            if named[0].owner != (str(found.get("user", "")) if isinstance(found, dict) else ""):
                words = listed([f"{each.owner}/{each.name}" for each in named])
                raise UsageError(f"{len(named)} databases are named {shown(name)}: give one of {words}")
        return next((each for each in named if each.id == name), named[0])

    def build_database(
        self, name: str, *sources: Any, shared: bool = False, wait: bool = True
    ) -> RemoteDatabase | RemoteJob:
        """Build a database from files.

        Parameters
        ----------
        name
            Name of the database.
        sources
            FASTA or FASTQ files.
        shared
            Whether all users of the server may use the database and read its sequences; otherwise only the builder
            may.
        wait
            Wait until it is built; otherwise return the job that builds it.

        Raises
        ------
        TropalignError
            The error that ``tropalign db build`` raises, or the server rejects the job.
        """
        job = self.submit("db build", {"sources": list(sources)}, title=name, shared=shared)
        if not wait:
            return job
        job.wait().check()
        built = next((database for database in self.databases() if database.job == job.id), None)
        return built if built is not None else self.database(name)

    def share_database(self, database: RemoteDatabase, shared: bool = True) -> RemoteDatabase:
        """Share a database of your own with all users of the server, or make it private again."""
        path = f"/api/v1/databases/{quote(database.id, safe='')}"
        _, found = self._transport.json("PATCH", path, {"shared": shared})
        return databases_of({"databases": [found]}, "returned no database")[0]

    def delete_database(self, database: RemoteDatabase) -> None:
        """Delete a database."""
        self._transport.json("DELETE", f"/api/v1/databases/{quote(database.id, safe='')}")

    def pairs(self, queries: Any, targets: Any = None, **options: Any) -> Iterator[AlignmentTable]:
        """Run `tropalign.align_all` on the server, and return an iterator over its tables."""
        from tropalign.client import calls

        return calls.pairs(self, queries, targets, options)

    def search(self, models: Any, targets: Any, **options: Any) -> Hits:
        """Run `tropalign.search` on the server."""
        from tropalign.client import calls

        return calls.search(self, models, targets, options)

    def scan(self, sequences: Any, models: Any, **options: Any) -> Hits:
        """Run `tropalign.scan` on the server."""
        from tropalign.client import calls

        return calls.scan(self, sequences, models, options)

    def msa(self, sequences: Any, **options: Any) -> MultipleAlignment:
        """Run `tropalign.align_multiple` on the server."""
        from tropalign.client import calls

        return calls.msa(self, sequences, options)

    def cluster(self, sequences: Any, min_identity: float | None = None, **options: Any) -> Clusters:
        """Run `tropalign.cluster` on the server."""
        from tropalign.client import calls

        return calls.cluster(self, sequences, min_identity, options)

    def place(self, package: Any, reads: Any, **options: Any) -> Iterator[Placements]:
        """Run `tropalign.place` on the server, and return an iterator over its placements."""
        from tropalign.client import calls

        return calls.place(self, package, reads, options)

    def decode(self, model: Any, sequences: Any, **options: Any) -> Segments:
        """Run `tropalign.decode` on the server."""
        from tropalign.client import calls

        return calls.decode(self, model, sequences, options)
