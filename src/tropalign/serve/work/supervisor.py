"""Processes of ``tropalign serve``: the web server here, its workers, and the graceful end of both."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tropalign.errors import ResourceError, UsageError, shown
from tropalign.serve.private import LOCAL, local_token, make_private_file, make_private_folder
from tropalign.serve.settings import Settings
from tropalign.serve.work.crew import Crew
from tropalign.serve.work.messenger import Messenger
from tropalign.serve.work.worker import settings_from
from tropalign.submissions.local_server import LOCAL_TOKEN, SERVER_LOCK

if TYPE_CHECKING:
    from tropalign.serve.storage import Storage

#: Seconds for open connections to end after the workers.
CONNECTION_SECONDS = 1
BACKLOG = 2048


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
            print(address_of(settings, port), file=lock, flush=True)  # without the token
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
                f"{folder}: another server has this folder: use that one, end it, or choose another --folder"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield file


def check_database(folder: Path, secret: bytes) -> None:
    """Raise UsageError if the folder belongs to another database, whose files and jobs would be removed as unused.

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
            f"{shown(str(folder))}: these are the files of another database: name that one (--database), choose "
            f"another --folder, or remove {path.name} there where that database is gone"
        )


def _check_installed(storage: Storage, is_quiet: bool) -> None:
    """Raise UsageError for an unreadable folder of databases, and report files in it that are not databases."""
    for sentence in storage.databases.installed.faults():
        if not is_quiet:
            print(f"tropalign: not offered as a database: {shown(sentence)}", file=sys.stderr, flush=True)


def address_of(settings: Settings, port: int, token: str | None = None) -> str:
    """Return the server's address for browsers, with the token of this machine's user if given."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{port}{settings.root_path}/" + (f"login?token={token}" if token else "")


def who_may_enter(settings: Settings, has_local_user: bool) -> str:
    """Return a sentence for the operator about who has access and how."""
    if settings.proxy_user_header is not None:
        proxies = ", ".join(settings.trusted_proxies)
        return f"who asks is what the proxies {proxies} say in {settings.proxy_user_header}, or a token"
    if has_local_user:
        path = settings.folder / LOCAL_TOKEN
        return f"who has this address is let in as the user {LOCAL}, and nobody else: keep it, and {path}, to yourself"
    where = "this machine, and proxies on it, reach" if settings.is_loopback else "other machines reach"
    return f"{where} this address; nobody is let in without a token (--add-token)"


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
        # With an explicit protocol, asyncio sends each piece of a response at once (TCP_NODELAY): 40 ms per page.
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

    from tropalign.serve.web.app import create_app
    from tropalign.serve.web.paths import WithoutSecrets
    from tropalign.serve.web.uvicorn_setup import Server, server_options

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
        raise ResourceError("the web server did not start: its messages above say why")


def _main() -> None:  # pragma: no cover
    """Run only a server's workers under the folder's lock, for tests."""
    given = json.loads(sys.stdin.read())
    settings = settings_from(given["settings"])
    with locked(settings.folder):
        work(settings, given["is_quiet"])


if __name__ == "__main__":
    _main()
