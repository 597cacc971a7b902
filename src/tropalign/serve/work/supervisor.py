"""Processes of ``tropalign serve``: the web server here, its workers, and the graceful end of both."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO
from urllib.parse import urlsplit

from tropalign.errors import ResourceError, UsageError, counted, shown
from tropalign.serve.notices import call, domain_of, is_mail, send
from tropalign.serve.private import LOCAL, local_token, make_private_file, make_private_folder
from tropalign.serve.settings import Settings
from tropalign.serve.work.job_folder import JobFolder, is_alive, worker_name
from tropalign.serve.work.worker import settings_from, settings_text
from tropalign.submissions.local_server import LOCAL_TOKEN, SERVER_LOCK

if TYPE_CHECKING:
    from tropalign.serve.records import Hook
    from tropalign.serve.storage import Storage

#: Seconds for open connections to end after the workers.
CONNECTION_SECONDS = 1
BACKLOG = 2048
LOOK_SECONDS = 0.2
#: Restart delays of a worker that dies soon after its start: doubling, up to a maximum.
SOON_SECONDS, FIRST_PAUSE, MOST_PAUSE = 10.0, 0.2, 30.0
#: Time limit for workers to end: a command's grace period and a margin.
END_SECONDS = 6.5
#: Interval of reporting the number of living workers, and of settling jobs whose awaited jobs have ended (workers
#: also do this, unless all are busy).
TELL_SECONDS, SETTLE_SECONDS = 10.0, 2.0
#: Interval of sweeping folders of deleted or ended jobs, and of removing unused files, which a server leaves if it
#: is killed during a deletion.
SWEEP_SECONDS, TIDY_SECONDS = 60.0, 6 * 3600.0
#: Age at which unused files are removed; jobs that need newer ones may not be submitted yet.
GRACE_SECONDS = 24 * 3600.0
#: Pause between looks for due hooks.
HOOK_SECONDS = 1.0
#: Concurrent calls, each for another user.
N_CALLS = 8


def serve(settings: Settings, is_quiet: bool) -> None:
    """Serve pages and compute jobs until stopped.

    Raises UsageError if access would be unrestricted, ResourceError if the folder or port is taken or unusable.
    """
    from tropalign.serve.storage import Storage

    with locked(settings.folder) as lock, Storage.open(settings) as storage:
        check_database(settings.folder, storage.secret())
        _check_installed(storage, is_quiet)
        settings.check(storage.tokens.any())
        token = local_token(settings.folder) if settings.has_local_user and not storage.tokens.list() else None
        with _listening(settings) as listener:
            port = listener.getsockname()[1]
            print(address_of(settings, port), file=lock, flush=True)  # the lock file has no token
            print(address_of(settings, port, token), flush=True)
            if not is_quiet:
                print(f"tropalign: {who_may_enter(settings, token is not None)}", file=sys.stderr, flush=True)
            _serve(settings, storage, listener, is_quiet)


def work(settings: Settings, is_quiet: bool) -> None:
    """Compute jobs for a server elsewhere, on the same database and folder, until stopped."""
    from tropalign.serve.storage import Storage

    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: told.set())
    _made(settings.folder)
    with Storage.open(settings) as storage:
        check_database(settings.folder, storage.secret())
        _check_installed(storage, is_quiet)
        crew = Crew(storage, settings, is_quiet)
        crew.start()
        while not told.wait(0.5):
            pass
        crew.stop()


@contextmanager
def locked(folder: Path) -> Iterator[TextIO]:
    """Lock the folder for this server and yield the lock file; raise ResourceError if it is taken or unusable."""
    _made(folder)
    lock = folder / SERVER_LOCK
    make_private_file(lock)
    with lock.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ResourceError(
                f"{folder}: another server uses this folder: use that server, stop it, or choose another --folder"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield file


def check_database(folder: Path, secret: bytes) -> None:
    """Raise UsageError if the folder is another database's: its files and jobs would be removed as unused.

    A folder belongs to the first database that uses it; `secret` is unique to a database and its copies.
    """
    path, own = folder / "database.id", hashlib.sha256(b"tropalign folder " + secret).hexdigest()
    fresh = folder / f"database.id.{os.getpid()}"
    try:
        fresh.write_text(f"{own}\n")
        with suppress(FileExistsError):
            os.link(fresh, path)
        fresh.unlink()
        found = path.read_text().strip()
    except OSError as error:
        raise ResourceError(f"{folder}: the system refuses ({error.strerror}): choose another --folder") from None
    if found != own:
        raise UsageError(
            f"{shown(str(folder))}: the files belong to another database: name that database (--database), choose "
            f"another --folder, or remove {path.name} in it if that database no longer exists"
        )


def _check_installed(storage: Storage, is_quiet: bool) -> None:
    """Raise UsageError for an unreadable folder of databases, and report files in it that are not databases."""
    for sentence in storage.databases.installed.faults():
        if not is_quiet:
            print(f"tropalign: not available as a database: {shown(sentence)}", file=sys.stderr, flush=True)


def address_of(settings: Settings, port: int, token: str | None = None) -> str:
    """Return the server's address for browsers, with the token of this machine's user if given."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{port}{settings.root_path}/" + (f"login?token={token}" if token else "")


def who_may_enter(settings: Settings, has_local_user: bool) -> str:
    """Return a sentence for the operator about who has access and how."""
    if settings.proxy_user_header is not None:
        proxies = ", ".join(settings.trusted_proxies)
        return f"users are identified by {settings.proxy_user_header} from the proxies {proxies}, or by a token"
    if has_local_user:
        path = settings.folder / LOCAL_TOKEN
        return f"only those who have this address may log in, as the user {LOCAL}: keep it, and {path}, secret"
    where = "this machine, and proxies on it, reach" if settings.is_loopback else "other machines reach"
    return f"{where} this address; every user needs a token (--add-token)"


def _made(folder: Path) -> None:
    make_private_folder(folder)
    try:
        (folder / "work").mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ResourceError(f"{folder}: the system refuses ({error.strerror}): choose another --folder") from None


@contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        # Pass the protocol: only then does asyncio set TCP_NODELAY, which saves 40 ms per page.
        family, kind, protocol, _, place = found[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ResourceError(f"{settings.host}: {error.strerror or error}: choose another --host") from None
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(place)
        except OSError as error:
            where = f"{settings.host}:{settings.port}"
            raise ResourceError(f"{where}: the system refuses ({error.strerror}): choose another --port") from None
        listener.listen(BACKLOG)
        yield listener


def _serve(settings: Settings, storage: Storage, listener: socket.socket, is_quiet: bool) -> None:
    import uvicorn

    from tropalign.serve.web.app import Server, create_app, server_options
    from tropalign.serve.web.context import WithoutSecrets

    app = create_app(settings)
    config = uvicorn.Config(
        app,
        log_level="warning" if is_quiet else "info",
        access_log=not is_quiet,
        timeout_graceful_shutdown=CONNECTION_SECONDS,
        **server_options(),
    )
    logging.getLogger("uvicorn.access").addFilter(WithoutSecrets())
    crew = Crew(storage, settings, is_quiet, keeps_files=True)
    app.state.living_workers = crew.n_living
    server = Server(config, crew.stop)
    messenger = Messenger(storage, settings, is_quiet)
    try:
        crew.start()
        messenger.start()
        server.run(sockets=[listener])
    finally:
        messenger.stop()
        crew.stop()
    if not server.started:
        raise ResourceError("the web server did not start: see its messages above")


class Crew:
    """Worker processes and the thread that manages them.

    The kernel signals a worker when the thread that started it ends, so a single thread does everything.
    With `keeps_files`, unused files are removed here; only one server does so.
    """

    def __init__(self, storage: Storage, settings: Settings, is_quiet: bool, keeps_files: bool = False) -> None:
        self._storage, self._settings, self._is_quiet = storage, settings, is_quiet
        self._keeps_files = keeps_files
        self._name = worker_name(os.getpid())
        self._places: list[_Place] = []
        self._ends = threading.Event()
        self._end_until = 0.0
        self._thread = threading.Thread(target=self._supervise_workers, daemon=True)

    def start(self) -> None:
        """Requeue jobs of dead workers, then start the workers."""
        self._reclaim()
        self._sweep()
        self._thread.start()

    def n_living(self) -> int:
        """Return the number of living workers."""
        return sum(place.process is not None for place in self._places)

    def stop(self) -> None:
        """Stop the workers, whose jobs are requeued, and wait; further calls do not extend the time limit."""
        if not self._ends.is_set():
            self._end_until = time.monotonic() + END_SECONDS + 1
            self._ends.set()
        self._thread.join(max(0.0, self._end_until - time.monotonic()))

    def _supervise_workers(self) -> None:
        places = self._places = [_Place(self) for _ in range(self._settings.n_workers)]
        pause = max(1.0, self._settings.lease_seconds / 3)
        reclaimed = swept = time.monotonic()
        told: tuple[float, int] = (-math.inf, -1)
        settled = tidied = -math.inf  # once at the start: some servers run only for a short time
        while not self._ends.wait(LOOK_SECONDS if places else 1.0):
            deaths = [place.look() for place in places]
            now = time.monotonic()
            if any(deaths) or now - reclaimed > pause:
                reclaimed = now
                self._reclaim()
            if now - told[0] > TELL_SECONDS or self.n_living() != told[1]:
                told = now, self._tell()
            if now - settled > SETTLE_SECONDS:
                settled = now
                self._quietly(self._storage.queue.settle)
            if now - swept > SWEEP_SECONDS:
                swept = now
                self._sweep()
            if self._keeps_files and now - tidied > TIDY_SECONDS:
                tidied = now
                self._tidy()
        self._quietly(lambda: self._storage.waits.leave(self._name))
        _end([place.process for place in places if place.process is not None])

    def started_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker in its own session, so that Ctrl-C reaches only the server."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tropalign.serve.work.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdin is not None
        try:
            process.stdin.write(settings_text(self._settings, os.getpid(), self._is_quiet).encode())
            process.stdin.close()
        except OSError:  # already dead, which the next check finds
            pass
        return process

    def say(self, sentence: str) -> None:
        """Print a line for the operator."""
        if not self._is_quiet:
            print(f"tropalign: {shown(sentence)}", file=sys.stderr, flush=True)

    def _tell(self) -> int:
        """Report the number of living workers, for waiting users."""
        n = self.n_living()
        self._quietly(lambda: self._storage.waits.tell(self._name, n))
        return n

    def _quietly(self, do: Callable[[], None]) -> None:
        """Do something that will be repeated soon, ignoring errors; `_reclaim` reports an unavailable database."""
        with suppress(Exception):
            do()

    def _reclaim(self) -> None:
        try:
            n = self._storage.queue.reclaim(is_alive)
        except Exception as error:  # the database is unavailable
            self.say(f"the queue does not answer ({type(error).__name__}: {str(error)[:200]})")
            return
        if n:
            self.say(f"{n} interrupted {'job waits' if n == 1 else 'jobs wait'} again")

    def _tidy(self) -> None:
        keep_days, n_jobs = self._settings.keep_days, 0
        try:
            if keep_days is not None:
                n_jobs = self._storage.delete_old_jobs(keep_days)
            n = self._storage.tidy(GRACE_SECONDS)
        except Exception as error:  # the database or the disk is unavailable
            self.say(f"unused files could not be removed ({type(error).__name__})")
            return
        if n_jobs:
            self.say(f"deleted {counted(n_jobs, 'jobs')} (--keep-days {keep_days:g})")
        if n:
            self.say(f"removed {counted(n, 'files that nothing uses')}")

    def _sweep(self) -> None:
        """Remove folders of ended or deleted jobs, and end processes that still compute them."""
        work = self._settings.folder / "work"
        for path in sorted(work.iterdir()) if work.is_dir() else ():
            try:
                is_over = self._storage.jobs.get(path.name).state.is_final
            except KeyError:
                is_over = True
            except Exception:  # the database is unavailable: next time
                return
            if is_over:
                folder = JobFolder(path)
                try:
                    folder.end_others()
                except RuntimeError:
                    continue
                folder.remove()


class _Place:
    """Place of a worker, refilled when the worker dies."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._pause = FIRST_PAUSE
        self._begin(time.monotonic())

    def _begin(self, now: float) -> None:
        self._since = now
        self._next: float | None = None
        self.process: subprocess.Popen[bytes] | None = self._crew.started_worker()

    def look(self) -> bool:
        """Start a worker if it is time; True if the last one has just died."""
        now = time.monotonic()
        if self.process is None:
            if self._next is not None and now >= self._next:
                self._begin(now)
            return False
        code = self.process.poll()
        if code is None:
            return False
        self._pause = min(self._pause * 2, MOST_PAUSE) if now - self._since < SOON_SECONDS else FIRST_PAUSE
        self._crew.say(f"a worker ended (exit {code}); the next one starts in {self._pause:.1f} s")
        self.process, self._next = None, now + self._pause
        return True


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    until = time.monotonic() + END_SECONDS
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Messenger:
    """Caller of web hooks and sender of e-mail, until stopped."""

    def __init__(self, storage: Storage, settings: Settings, is_quiet: bool) -> None:
        self._storage, self._hosts, self._mail, self._is_quiet = storage, settings.hook_hosts, settings.mail, is_quiet
        self._ends, self._wakes = threading.Event(), threading.Event()
        self._busy: set[str] = set()  # users whose hooks are being called
        self._thread = threading.Thread(target=self._look, daemon=True)

    def start(self) -> None:
        """Start, if notifications are configured."""
        if self._hosts or self._mail is not None:
            self._thread.start()

    def stop(self) -> None:
        """Stop without waiting for calls: an interrupted call is repeated by the next messenger."""
        self._ends.set()
        self._wakes.set()

    def _look(self) -> None:
        while True:
            self._wakes.wait(HOOK_SECONDS)
            self._wakes.clear()
            if self._ends.is_set():
                return
            busy = self._busy.copy()
            if len(busy) == N_CALLS:
                continue
            try:
                claimed = self._storage.hooks.claim(N_CALLS - len(busy), busy)
            except Exception:  # the database is unavailable, which others report
                continue
            for hook in claimed:
                self._busy.add(hook.job.owner)
                try:  # no thread pool: the process would wait for its threads at exit
                    threading.Thread(target=self._call, args=(hook,), daemon=True).start()
                except RuntimeError:  # no thread available: the claim expires, and the hook is due again
                    self._busy.discard(hook.job.owner)

    def _call(self, hook: Hook) -> None:
        """Call a hook, then release its user for the next one."""
        by_mail = is_mail(hook.url)
        try:
            fault = send(hook.url, self._mail, hook.job) if by_mail else call(hook.url, self._hosts, hook.job)
            try:
                comes_again = self._storage.hooks.called(hook, not fault)
                if fault and not comes_again:
                    # Record only the host: the rest may be secret.
                    host = domain_of(hook.url) if by_mail else urlsplit(hook.url).hostname or ""
                    self._storage.audit.note(hook.job.owner, "", "hook given up", hook.job.id, host)
            except Exception as error:
                fault = f"{fault} ({type(error).__name__})"
            if fault and not self._is_quiet and not self._ends.is_set():
                what = "e-mail" if by_mail else "web hook"
                print(f"tropalign: {what} of job {hook.job.id}: {shown(fault[:300])}", file=sys.stderr, flush=True)
        finally:
            self._busy.discard(hook.job.owner)
            self._wakes.set()


def _main() -> None:  # pragma: no cover
    """Run only a server's workers under the folder's lock, for tests."""
    given = json.loads(sys.stdin.read())
    settings = settings_from(given["settings"])
    with locked(settings.folder):
        work(settings, given["is_quiet"])


if __name__ == "__main__":
    _main()
