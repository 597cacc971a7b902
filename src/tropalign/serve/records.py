"""What the rooms of the server hand each other: plain records, and what the storage does with them.

A job's life:  queued --claim--> running --finish--> done | failed | refused
                  ^                 |
                  +---- requeue ----+   (a worker stopped or died; the parts of the job remain)
               queued or running --cancel--> cancelled
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing follows."""
        return self not in (State.QUEUED, State.RUNNING)


@dataclass(frozen=True)
class StoredFile:
    """Bytes by their content.

    Parameters
    ----------
    digest
        SHA-256 in hexadecimal, which is the file's name in the folder, too.
    """

    digest: str
    size: int


@dataclass(frozen=True)
class Upload:
    """A file that a user has sent.

    Parameters
    ----------
    at
        When, in seconds since 1970.
    """

    digest: str
    name: str
    size: int
    at: float


@dataclass(frozen=True)
class JobFile:
    """An input or an output of a job.

    Parameters
    ----------
    role
        Of inputs the name of the option or argument (`dest`), of outputs "main", "report" and the like.
    name
        As the user called it, or as a download is called. Never a path.
    digest
        Of the stored file; None for an input that is a database.
    database
        The id of that.
    """

    role: str
    name: str
    digest: str | None
    size: int
    media_type: str = "application/octet-stream"
    database: str | None = None


@dataclass(frozen=True)
class Job:
    """A job as the record has it.

    Parameters
    ----------
    id
        26 letters and digits that nobody guesses.
    owner
        The user's name.
    key
        Equal jobs have equal keys.
    request
        JSON of the submission.
    command
        What a user would type at home.
    version
        Of tropalign, which computed it.
    attempt
        How often a worker has begun it. What a worker says of an earlier attempt is ignored.
    worker, lease_until
        Who computes it, and until when nobody else may.
    stage, progress
        In words, and from 0 to 1 where it is known.
    created, started, finished, lease_until
        Seconds since 1970, UTC.
    message
        Why it failed or was refused: one sentence.
    exit_code
        What the command ends with at home where it fails so: 2 usage, 3 bad input, 4 resources.
    share
        The secret of its link, where it is shared.
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
        """The id of the job whose output an input is, for each of `inputs`; None for all others."""
        items = [item for given in self.request.get("inputs", {}).values() for item in given]
        found = [item.get("job") for item in items[: len(self.inputs)]]
        return (*found, *[None] * (len(self.inputs) - len(found)))

    @property
    def open_message(self) -> str:
        """What whoever has the job's link is told in place of the message, which names other jobs of the owner."""
        ended_with_another = self.state is State.FAILED and self.started is None and any(self.sources)
        return "the job whose result it was to read has left none" if ended_with_another else self.message


@dataclass(frozen=True)
class Awaited:
    """An input that another job is still to write.

    Parameters
    ----------
    position
        Of the input among all inputs of its job, from 0.
    source, title
        The id of the other job, and how it is called.
    role
        Which of its outputs.
    """

    position: int
    source: str
    role: str
    title: str


@dataclass(frozen=True)
class NewJob:
    """What is known of a job when it is submitted."""

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
    hook: str = ""  # the address, of a web hook or of e-mail, that is told of its end
    words: str = ""  # what a search finds beside title, tags, verb, command and the names of files: names of sequences


@dataclass(frozen=True)
class Hook:
    """An address that is to be told of the end of a job.

    Parameters
    ----------
    job
        What has ended.
    tries
        How often a call has failed.
    """

    job: Job
    url: str
    tries: int


@dataclass(frozen=True)
class Database:
    """A store of targets that jobs may name in place of a file.

    Parameters
    ----------
    owner
        Who has built it; nobody, an empty text, of one that the operator has installed.
    digest
        Of its content: of the file, or of an installed one its arrays.
    shared
        Whether all users of the server may name it, rather than its owner alone.
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
        """Whether it is the operator's."""
        return not self.owner


@dataclass(frozen=True)
class User:
    """Who asks.

    Parameters
    ----------
    name
        "local" is this machine's, where nobody was given a token.
    token
        The id of the token that was shown; None where a proxy says who asks.
    """

    name: str
    token: str | None = None


@dataclass(frozen=True)
class Account:
    """What an administrator has said of a user; None stands for the usual limit.

    Parameters
    ----------
    is_administrator
        Whether the user may see, stop and delete what others have.
    """

    name: str
    is_administrator: bool = False
    running_per_user: int | None = None
    queued_per_user: int | None = None
    stored_bytes_per_user: int | None = None


@dataclass(frozen=True)
class Wait:
    """What a queued job waits for.

    Parameters
    ----------
    position
        Its place in the queue from 1, about: who has fewer running jobs goes first. None where it waits for jobs.
    jobs
        Ids and titles of the jobs whose results it is to read.
    n_workers, n_running
        Living workers of all machines, and running jobs.
    has_turn
        Whether its user may have one more running job.
    """

    position: int | None
    jobs: tuple[tuple[str, str], ...] = ()
    n_workers: int = 0
    n_running: int = 0
    has_turn: bool = True

    @property
    def sentence(self) -> str:
        """What it waits for, in words."""
        if self.jobs:
            return "waits for " + " and ".join(f"the job “{title}”" for _, title in self.jobs)
        place = f"number {self.position} in the queue"
        if not self.n_workers:
            return f"waiting for workers: none is running now ({place})"
        if not self.has_turn:
            return f"waiting for another job of yours: as many run as may ({place})"
        if self.n_running >= self.n_workers:
            who = "the only worker is busy" if self.n_workers == 1 else f"all {self.n_workers} workers are busy"
            return f"waiting: {place}; {who}"
        return f"waiting: {place}"


@dataclass(frozen=True)
class Token:
    """A token as the record has it: its secret is known to its user alone."""

    id: str
    user: str
    created: float
    last_used: float | None = None
    revoked: bool = False


@dataclass(frozen=True)
class Page:
    """Some of many jobs, newest first.

    Parameters
    ----------
    after
        What to ask the next page with; None at the end.
    """

    jobs: tuple[Job, ...]
    after: str | None = None


@dataclass(frozen=True)
class JobLine:
    """What a list shows of a job.

    Parameters
    ----------
    started, finished
        Seconds since 1970, UTC; None where it has not come to that.
    size
        Bytes of its outputs.
    owner
        The user's name, where jobs of all users are listed; else empty.
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
class Lines:
    """A page of lines, which are all that a list of many jobs needs."""

    jobs: tuple[JobLine, ...]
    after: str | None = None


@dataclass(frozen=True)
class Search:
    """Which jobs to list; all conditions hold. Without an owner they are of all users."""

    owner: str | None
    text: str = ""
    state: State | None = None
    verb: str | None = None
    tag: str | None = None
    limit: int = 50
    after: str | None = None


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended."""

    state: State
    message: str = ""
    outputs: tuple[JobFile, ...] = ()
    forecast: dict[str, Any] | None = None
    exit_code: int | None = None
