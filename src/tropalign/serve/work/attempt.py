"""One attempt at a job: count its inputs, forecast it, run its command, and store its outputs.

    inputs -> survey -> forecast -> command -> outputs
              refused   refused     failed     done

Results of an earlier attempt are in the job's folder, and are not computed again.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING, Any

from tropalign import __version__
from tropalign.errors import ResourceError, TropalignError, shown
from tropalign.execution.progress import DISK_FULL, OTHER_PARTS
from tropalign.resources.limits import human
from tropalign.serve.records import Database, Job, JobFile, Outcome, State, StoredFile
from tropalign.serve.settings import Limits, Settings
from tropalign.serve.work.heartbeat import Heartbeat, StatusTail, described
from tropalign.serve.work.job_folder import JobFolder
from tropalign.serve.work.survey import Counts, OverLimit, is_small, plan_of, survey
from tropalign.serve.work.watched_command import TROPALIGN, Bounds, Ended, Why, run_watched
from tropalign.submissions.submission import (
    BUILD,
    InputItem,
    Output,
    Resources,
    Submission,
    foretells,
    link_names,
    planned,
)

if TYPE_CHECKING:
    from tropalign.serve.storage import Storage

#: Product of query and target residues above which a forecast is made: a second of work.
FORECAST_CELLS = 10**10
#: Time limit of a forecast; without a result, the job runs within its limits.
FORECAST_SECONDS = 120.0
#: Exit code of a defect of tropalign.
EXIT_DEFECT = 1
#: Exit codes of requested ends: a machine that shuts down signals every process.
TOLD_TO_END = {-1, -2, -15, 129, 130, 143}
KILLED = {-9, 137}
HELD_PAUSE = 0.5
#: Number of kills from outside that suggests that a job needs too much memory.
MOST_KILLS = 5
#: Maximum length of a message, and number of last bytes of stderr that are searched for one.
MOST_MESSAGE = 1000
TAIL_BYTES = 1 << 16
#: Prefixes of the command's messages.
BEGIN, WARNING = "tropalign: ", "tropalign: warning: "
RUN_ELSEWHERE = "submit a smaller job, or run the command on your own machine"


class Interrupted(Exception):
    """The attempt was ended from outside, without a fault of the job."""


class NoResult(Exception):
    """The attempt ends with this outcome."""

    def __init__(self, state: State, message: str, exit_code: int = ResourceError.exit_code) -> None:
        super().__init__(message)
        self.outcome = Outcome(state, message, exit_code=exit_code)


@dataclass
class Attempt:
    """An attempt at a job.

    `heart` receives the progress and reports whether the job is still wanted; `is_stopping` is True once the
    worker has been told to stop.
    """

    storage: Storage
    settings: Settings
    job: Job
    folder: JobFolder
    heart: Heartbeat
    is_stopping: Callable[[], bool]
    database: Database | None = None  # built by `db build`
    failed: str | None = None  # reason of the last command's failure, if it has a name

    def outcome(self) -> Outcome:
        """Run the whole attempt and return its outcome.

        Raises Interrupted if the worker stops, the job was cancelled, or it now belongs to another worker.
        """
        try:
            plan = self._plan()
            if plan.facts.get("ended") is None:
                self._survey(plan)
                self._forecast(plan)
                self._run(plan)
            return Outcome(State.DONE, "", self._keep(plan), plan.facts.get("forecast"))
        except NoResult as end:
            return end.outcome
        except TropalignError as error:
            return Outcome(State.FAILED, self._without_local_paths(str(error)), exit_code=error.exit_code)

    def _plan(self) -> _Plan:
        """Return the command and its files, the same for all attempts."""
        limits = self.settings.limits
        self.folder.make()
        facts = self.folder.remembered("facts.json") or {}
        if facts.get("version") != __version__:  # parts of another version are unusable
            self.folder.remove()
            self.folder.make()
            facts = {"version": __version__, "memory_bytes": limits.memory_bytes}
            self.folder.remember("facts.json", facts)
        submission = Submission.from_json(self.job.request)
        links, found = self._links(submission)
        resources = Resources(facts["memory_bytes"], self.settings.threads_per_job, self.settings.cluster)
        words, outputs = planned(submission, links.__getitem__, resources)
        foretold = planned(submission, links.__getitem__, resources, forecast=True)[0] if foretells(submission) else []
        files = [name for item, name in links.items() if item.database is None]
        return _Plan(submission.verb, words, foretold, outputs, files, found, facts)

    def _links(self, submission: Submission) -> tuple[dict[InputItem, str], Counts]:
        """Link the inputs into the folder; return their names, and the counts of databases among them."""
        links: dict[InputItem, str] = {}
        found = Counts()
        for item, name in link_names(submission).items():
            if item.database is not None:
                database, path = self._database(item.database, item.name)
                found += Counts(0, database.n_sequences, database.n_residues)
            else:
                digest = item.file or self.storage.files.add_bytes((item.text or "").encode()).digest
                path = self._path(digest, name)
            links[item] = self.folder.link(name, path)
        return links, found

    def _database(self, id: str, name: str) -> tuple[Database, Path]:
        try:
            database = self.storage.databases.get(id)
            return database, self.storage.databases.path(database)
        except KeyError:
            raise NoResult(
                State.FAILED,
                f"the database {shown(name)} was deleted or replaced: choose it again, or another one",
            ) from None

    def _path(self, digest: str, name: str) -> Path:
        try:
            return self.storage.files.path(digest)
        except KeyError:
            raise NoResult(State.FAILED, f"the input {shown(name)} is no longer on the server: send it again") from None

    def _survey(self, plan: _Plan) -> None:
        """Count the inputs, once."""
        if "counts" in plan.facts:
            return
        self.heart.tell("reading inputs", None)
        limits = self.settings.limits
        most = Counts(limits.unpacked_bytes, limits.n_sequences, limits.n_residues)
        paths = [str(self.folder.files / name) for name in plan.files]
        try:
            if is_small(paths):
                counts = survey(paths, most, plan.found)
            else:  # in a process of its own, with the file names of the job's command
                words = plan_of(plan.files, most, plan.found)
                module = (sys.executable, "-P", "-m", "tropalign.serve.work.survey", words)
                self._completed(self._watched(module, limits.seconds))
                said: dict[str, Any] = json.loads(self.folder.stdout.read_text())
                if "refused" in said:
                    raise OverLimit(said["refused"])
                counts = Counts(**said)
        except OverLimit as sentence:
            raise NoResult(State.REFUSED, str(sentence)) from None
        plan.facts["counts"] = [counts.n_bytes, counts.n_sequences, counts.n_residues]
        self.folder.remember("facts.json", plan.facts)
        if counts.names:
            self._note(words=counts.names)

    def _forecast(self, plan: _Plan) -> None:
        """Let the verb forecast the job, if it may be large."""
        least = min(FORECAST_CELLS, self.settings.limits.n_cells)
        n_residues = max(plan.facts["counts"][2], plan.facts["counts"][0] // 8)  # models have no residues
        if not plan.foretold or n_residues**2 / 2 < least or "forecast" in plan.facts:
            return
        self.heart.tell("estimating", None)
        tail = StatusTail(self.folder.status)
        ended = self._watched((*TROPALIGN, *plan.foretold), FORECAST_SECONDS)
        if ended.why is Why.SECONDS:
            return
        self._completed(ended)
        tail.newest()
        if tail.forecast is None:
            return
        sentence = excess_of(tail.forecast, self.settings.limits)
        if sentence is not None:
            raise NoResult(State.REFUSED, f"{sentence}: {RUN_ELSEWHERE}")
        plan.facts["forecast"] = tail.forecast
        self.folder.remember("facts.json", plan.facts)
        self._note(forecast=tail.forecast)

    def _note(self, **found: Any) -> None:
        """Store findings in the database; if it is unavailable, the job continues without."""
        try:
            self.storage.queue.note(self.job.id, self.job.attempt, **found)
        except Exception as error:  # from SQLite or PostgreSQL
            log_defect(self.job, f"the result could not be recorded ({type(error).__name__})")

    def _run(self, plan: _Plan) -> None:
        """Run the command."""
        while self.folder.is_held():  # by a command on another machine, whose worker was presumed dead
            self.heart.tell("waiting for the end of an earlier attempt", None)
            self._check_wanted()
            time.sleep(HELD_PAUSE)
        tail = StatusTail(self.folder.status)
        tail.newest()
        # An earlier attempt may have written all files before its worker died.
        if not (tail.has_ended and (self.folder.files / plan.outputs[0].filename).is_file()):
            for item in Submission.from_json(self.job.request).items:
                if item.database is not None:  # a database may change after it was linked: a forecast takes minutes
                    self._database(item.database, item.name)
            self._compute(plan)
        self._check_wanted()  # otherwise the folder may be another attempt's
        plan.facts["ended"] = 0
        self.folder.remember("facts.json", plan.facts)

    def _compute(self, plan: _Plan) -> None:
        self.heart.tell("computing", None)
        command = (*TROPALIGN, *plan.words)
        ended = self._watched(command, self.settings.limits.seconds)
        if ended.code != 0 and self.failed == OTHER_PARTS:  # another machine has cut parts differently
            self.folder.remove_parts()
            ended = self._watched(command, self.settings.limits.seconds)
        self._completed(ended)
        if not self.heart.is_wanted:  # the worker slept: the folder may be another attempt's
            raise Interrupted
        plan.facts["ended"] = 0
        self.folder.remember("facts.json", plan.facts)

    def _check_wanted(self) -> None:
        if not self.heart.is_wanted or self.is_stopping():
            raise Interrupted

    def _watched(self, command: tuple[str, ...], seconds: float) -> Ended:
        """Run a command within the limits, and report its progress."""
        limits, tail = self.settings.limits, StatusTail(self.folder.status)

        def look() -> bool:
            fact = tail.newest()
            if fact is not None:
                self.heart.tell(*described(fact))
            return self.heart.is_wanted and not self.is_stopping()

        memory_bytes = (self.folder.remembered("facts.json") or {}).get("memory_bytes", limits.memory_bytes)
        bounds = Bounds.of_job(seconds, memory_bytes, limits.output_bytes)
        cache = self.settings.folder / "cache"
        cache.mkdir(mode=0o700, exist_ok=True)
        ended = run_watched(command, self.folder, bounds, look, cache)
        tail.newest()
        self.failed = tail.failed
        return ended

    def _completed(self, ended: Ended) -> None:
        """Return if the command succeeded, else raise the reason."""
        limits = self.settings.limits
        if ended.code == 0 and ended.why in (Why.BY_ITSELF, Why.ASKED):
            return
        if ended.why is Why.ASKED or (ended.why is Why.BY_ITSELF and ended.code in TOLD_TO_END):
            raise Interrupted
        exceeded = passed(ended.why, limits)
        if exceeded is None and ended.code != 0:
            # A file that reached the limit has been removed, so the disk that the command found full has room again.
            most = limits.output_bytes
            has_room = disk_usage(self.folder.path).free > most
            if self.folder.size() >= most * 0.99 or (self.failed == DISK_FULL and has_room):
                exceeded = passed(Why.OUTPUT, limits)
        if exceeded is not None:
            raise NoResult(State.FAILED, f"{exceeded}: {RUN_ELSEWHERE}")
        if ended.code in KILLED:
            facts = self.folder.remembered("kills.json") or {"n": 0}
            if facts["n"] + 1 >= MOST_KILLS:
                raise NoResult(
                    State.FAILED,
                    f"the system killed it {MOST_KILLS} times, most likely because memory ran out: {RUN_ELSEWHERE}",
                )
            self.folder.remember("kills.json", {"n": facts["n"] + 1})
            raise Interrupted
        if ended.code in (2, 3, 4):
            sentence = self._without_local_paths(
                sentence_of(self.folder.stderr) or f"it ended with exit code {ended.code}"
            )
            raise NoResult(State.FAILED, sentence, ended.code)
        log_defect(self.job, f"exit {ended.code}: {sentence_of(self.folder.stderr, '')}")
        raise NoResult(State.FAILED, defect(self.job), EXIT_DEFECT)

    def _keep(self, plan: _Plan) -> tuple[JobFile, ...]:
        """Store the command's outputs; a store of targets becomes a database."""
        self.heart.tell("storing results", 1.0)
        kept = []
        for output in plan.outputs:
            path = self.folder.files / output.filename
            if not path.is_file():
                if output.role == "main":
                    log_defect(self.job, "no output")
                    raise NoResult(State.FAILED, defect(self.job), EXIT_DEFECT)
                continue
            stored = self.storage.files.add(path)
            if plan.verb == BUILD and output.role == "main":
                self.database = self._described(stored)
            kept.append(JobFile(output.role, output.filename, stored.digest, stored.size, output.media_type))
        return tuple(kept)

    def _described(self, stored: StoredFile) -> Database:
        """Describe a built store; its id is the job's, so that a second attempt does not add another database."""
        from tropalign.sequences.store import SequenceStore

        store, job = SequenceStore.open(self.storage.files.path(stored.digest)), self.job
        return Database(
            id=job.id,
            owner=job.owner,
            name=job.title or "database",
            alphabet=store.alphabet.name,
            n_sequences=len(store),
            n_residues=len(store.letters),
            digest=stored.digest,
            size=stored.size,
            created=time.time(),
            job=job.id,
            shared=job.request.get("shared") is True,
        )

    def _without_local_paths(self, sentence: str) -> str:
        """Remove paths of this machine from a message."""
        places = (self.folder.files, self.folder.path, self.settings.folder)
        return without(sentence, [str(place) for place in places])


@dataclass
class _Plan:
    """Plan of an attempt.

    - `words`: arguments after ``tropalign``; the next field has those of the forecast, or is empty.
    - `files`: names of inputs in the folder, excluding databases.
    - `found`: counts of the databases.
    - `facts`: findings of this and earlier attempts, stored in the folder.
    """

    verb: str
    words: list[str]
    foretold: list[str]
    outputs: tuple[Output, ...]
    files: list[str]
    found: Counts
    facts: dict[str, Any]


def defect(job: Job) -> str:
    """Return the user's message about a defect."""
    return f"this is a defect of tropalign: tell the server's operator, whose log has details under {job.id}"


def log_defect(job: Job, what: str) -> None:
    """Print a failure to the server's log, for its operator."""
    print(f"tropalign: job {job.id} ({shlex.quote(job.verb)}): {shown(what)[:2000]}", file=sys.stderr, flush=True)


def excess_of(forecast: dict[str, Any], limits: Limits) -> str | None:
    """Return a clause about a forecast that exceeds the limits, else None.

    >>> from tropalign.serve.settings import Limits
    >>> from tropalign.serve.work.attempt import excess_of
    >>> excess_of({"cells": 2e15}, Limits())
    'it needs about 2,000,000,000,000,000 cells, but only 1,000,000,000,000,000 are allowed on this server'
    """
    cells, seconds, memory = (_number(forecast.get(name)) for name in ("cells", "seconds", "memory_bytes"))
    sizes = forecast.get("output_bytes")
    written = sum(map(_number, sizes)) if isinstance(sizes, list) else _number(sizes)
    if cells > limits.n_cells:
        return f"it needs about {cells:,.0f} cells, but only {limits.n_cells:,} are allowed on this server"
    if seconds > limits.seconds:
        return f"it takes about {duration(seconds)}, but only {duration(limits.seconds)} are allowed on this server"
    if memory > limits.memory_bytes:
        most = human(limits.memory_bytes)
        return f"it needs about {human(int(memory))} of memory, but only {most} are allowed on this server"
    if written > limits.output_bytes:
        return f"it writes about {human(int(written))}, but this server allows only {human(limits.output_bytes)}"
    return None


def passed(why: Why, limits: Limits) -> str | None:
    """Return a clause about a command that had to be ended, None for other reasons."""
    if why is Why.SECONDS:
        return f"it was stopped after {duration(limits.seconds)}, the limit of this server"
    if why is Why.MEMORY:
        most = human(limits.memory_bytes)
        return f"it was stopped because it used more memory than the limit of this server, {most}"
    if why is Why.OUTPUT:
        return f"it was stopped because it wrote more than the limit of this server, {human(limits.output_bytes)}"
    return None


def duration(seconds: float) -> str:
    """Format a duration: 90 seconds, 10 minutes, 24 hours."""
    if seconds < 120:
        return f"{seconds:,.0f} seconds" if seconds >= 10 else f"{seconds:,.1f} seconds"
    if seconds < 7200:
        return f"{seconds / 60:,.0f} minutes"
    return f"{seconds / 3600:,.0f} hours"


def without(sentence: str, places: Iterable[str]) -> str:
    """Remove the server's folders from a message, adapt remedies that only the operator can apply, and shorten it."""
    sentence = sentence.replace("allow more with --memory", "ask the operator to allow more (--max-memory)")
    for place in places:
        sentence = sentence.replace(f"{place}/", "").replace(place, "the job's folder")
    return sentence[:MOST_MESSAGE]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def sentence_of(path: Path, begin: str = BEGIN) -> str:
    """Return the last line that starts with `begin`, without `begin`, excluding warnings; else ""."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    for line in reversed(lines):
        if line.startswith(begin) and not line.startswith(WARNING) and line.strip():
            return shown(line.removeprefix(begin).strip())
    return ""
