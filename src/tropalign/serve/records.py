"""Plain records that the server's modules exchange.

A job's life:  queued --claim--> running --finish--> done | failed | refused
                  ^                 |
                  +---- requeue ----+   (a worker stopped or died; the parts of the job remain)
               queued or running --cancel--> cancelled
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

Listed = TypeVar("Listed")


class State(StrEnum):
    """State of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """True if the job has ended."""
        return self not in (State.QUEUED, State.RUNNING)


@dataclass(frozen=True)
class StoredFile:
    """Content-addressed file; `digest` is the SHA-256 in hexadecimal, also its name in the folder."""

    digest: str
    size: int


@dataclass(frozen=True)
class Upload:
    """File that a user has sent; `at` is the time in seconds since 1970."""

    digest: str
    name: str
    size: int
    at: float


@dataclass(frozen=True)
class JobFile:
    """Input or output of a job.

    - `role`: for inputs the name of the option or argument (`dest`), for outputs "main", "report" and so on.
    - `name`: the user's file name, or the name for downloads; never a path.
    - `digest`: of the stored file; None for an input that is a database.
    - `database`: id of that database.
    """

    role: str
    name: str
    digest: str | None
    size: int
    media_type: str = "application/octet-stream"
    database: str | None = None


@dataclass(frozen=True)
class Job:
    """Job as stored.

    - `id`: 26 unguessable letters and digits.
    - `owner`: user name.
    - `key`: equal for equal jobs.
    - `request`: submission as JSON.
    - `command`: equivalent command line.
    - `version`: version of tropalign that computed it.
    - `attempt`: number of times that a worker has started it. Reports from earlier attempts are ignored.
    - `worker`, `lease_until`: current worker, and the time until which no other worker may take the job.
    - `stage`, `progress`: name of the stage, and 0 to 1 if known.
    - `created`, `started`, `finished`, `lease_until`: seconds since 1970, UTC.
    - `message`: one sentence about a failure or refusal.
    - `exit_code`: the command's exit code for such a failure: 2 usage, 3 bad input, 4 resources.
    - `share`: secret of the public link, if shared.
    """

    id: str
    owner: str
    verb: str
    title: str
    tags: tuple[str, ...]
    state: State
    key: str
    request: dict[str, Any]
    command: str
    version: str
    created: float
    started: float | None = None
    finished: float | None = None
    attempt: int = 0
    worker: str | None = None
    lease_until: float | None = None
    cancel_asked: bool = False
    stage: str = ""
    progress: float | None = None
    message: str = ""
    exit_code: int | None = None
    forecast: dict[str, Any] | None = None
    share: str | None = None
    inputs: tuple[JobFile, ...] = ()
    outputs: tuple[JobFile, ...] = ()

    @property
    def sources(self) -> tuple[str | None, ...]:
        """For each of `inputs`, the id of the job whose output it is, else None."""
        items = [item for given in self.request.get("inputs", {}).values() for item in given]
        found = [item.get("job") for item in items[: len(self.inputs)]]
        return (*found, *[None] * (len(self.inputs) - len(found)))

    @property
    def open_message(self) -> str:
        """Message shown to anyone with the job's link, without names of the owner's other jobs."""
        ended_with_another = self.state is State.FAILED and self.started is None and any(self.sources)
        return "the job whose result it reads has produced none" if ended_with_another else self.message


@dataclass(frozen=True)
class Awaited:
    """Input that another job has yet to write.

    - `position`: index of the input among all inputs of its job, from 0.
    - `source`, `title`: id and title of the other job.
    - `role`: role of its output.
    """

    position: int
    source: str
    role: str
    title: str


@dataclass(frozen=True)
class NewJob:
    """Data of a job at submission."""

    owner: str
    verb: str
    title: str
    tags: tuple[str, ...]
    key: str
    request: dict[str, Any]
    command: str
    version: str
    inputs: tuple[JobFile, ...]
    awaited: tuple[Awaited, ...] = ()
    hook: str = ""  # web hook or e-mail address to notify at its end
    words: str = ""  # searchable in addition to title, tags, verb, command and file names: sequence names


@dataclass(frozen=True)
class Hook:
    """Pending notification about the end of a job; `tries` counts failed calls."""

    job: Job
    url: str
    tries: int


@dataclass(frozen=True)
class Database:
    """Store of targets that jobs may use in place of a file.

    - `owner`: its builder; empty for one that the operator has installed.
    - `digest`: of its content: of the file, or for an installed one of its arrays.
    - `shared`: True if all users of the server may use it, rather than its owner alone.
    """

    id: str
    owner: str
    name: str
    alphabet: str
    n_sequences: int
    n_residues: int
    digest: str
    size: int
    created: float
    job: str | None = None
    shared: bool = False

    @property
    def is_installed(self) -> bool:
        """True if the operator has installed it."""
        return not self.owner


@dataclass(frozen=True)
class User:
    """Authenticated user.

    - `name`: "local" for this machine's user while no tokens are issued.
    - `token`: id of the presented token; None if a proxy identifies the user.
    """

    name: str
    token: str | None = None


@dataclass(frozen=True)
class Account:
    """Role and limits that an administrator has set for a user; None means the default limit.

    `is_administrator` users may see, stop and delete data of other users.
    """

    name: str
    is_administrator: bool = False
    running_per_user: int | None = None
    queued_per_user: int | None = None
    stored_bytes_per_user: int | None = None


@dataclass(frozen=True)
class Wait:
    """Reason that a queued job waits.

    - `position`: approximate position in the queue from 1, since users with fewer running jobs go first. None if
      the job waits for other jobs.
    - `jobs`: ids and titles of the jobs whose results it will read.
    - `n_workers`, `n_running`: living workers of all machines, and running jobs.
    - `has_turn`: True if its user may have one more running job.
    """

    position: int | None
    jobs: tuple[tuple[str, str], ...] = ()
    n_workers: int = 0
    n_running: int = 0
    has_turn: bool = True

    @property
    def sentence(self) -> str:
        """The reason as a sentence."""
        if self.jobs:
            return "waits for " + " and ".join(f"the job “{title}”" for _, title in self.jobs)
        place = f"number {self.position} in the queue"
        if not self.n_workers:
            return f"waiting for a worker: none is running ({place})"
        if not self.has_turn:
            return f"waiting for one of your running jobs to end: the limit is reached ({place})"
        if self.n_running >= self.n_workers:
            who = "the only worker is busy" if self.n_workers == 1 else f"all {self.n_workers} workers are busy"
            return f"waiting: {place}; {who}"
        return f"waiting: {place}"


@dataclass(frozen=True)
class Token:
    """Token as stored: only its user knows the secret."""

    id: str
    user: str
    created: float
    last_used: float | None = None
    revoked: bool = False


@dataclass(frozen=True)
class Page(Generic[Listed]):
    """A page of jobs, newest first: complete records, or lines, which suffice for a list.

    Parameters
    ----------
    after
        Cursor of the next page; None at the end.
    """

    jobs: tuple[Listed, ...]
    after: str | None = None


@dataclass(frozen=True)
class JobLine:
    """Line of a list of jobs.

    - `started`, `finished`: seconds since 1970, UTC; None if not yet reached.
    - `size`: bytes of its outputs.
    - `owner`: user name in lists of all users' jobs; else empty.
    """

    id: str
    title: str
    verb: str
    tags: tuple[str, ...]
    state: State
    progress: float | None
    created: float
    started: float | None = None
    finished: float | None = None
    size: int = 0
    owner: str = ""


@dataclass(frozen=True)
class Search:
    """Conditions for listing jobs, all of which must hold; without an owner, jobs of all users are listed."""

    owner: str | None
    text: str = ""
    state: State | None = None
    verb: str | None = None
    tag: str | None = None
    limit: int = 50
    after: str | None = None


@dataclass(frozen=True)
class Outcome:
    """Outcome of an attempt."""

    state: State
    message: str = ""
    outputs: tuple[JobFile, ...] = ()
    forecast: dict[str, Any] | None = None
    exit_code: int | None = None
