"""``tropalign serve``: the verbs in a browser and over HTTP."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tropalign.cli.options import add_cluster_option, checked, positive, whole
from tropalign.errors import shown
from tropalign.machine.memory import parse_bytes
from tropalign.machine.numbers import MOST_THREADS

if TYPE_CHECKING:
    from tropalign.serve.settings import Limits, Settings
    from tropalign.serve.storage import Storage

EXAMPLE = """example:
  tropalign serve
  tropalign serve --add-token alice
  tropalign serve --host 0.0.0.0 --port 8000 --folder /srv/tropalign --workers 4

Open the address that it prints: who has it is let in, as long as nobody was given a token. Beyond this machine every
user needs one, or a reverse proxy says who asks.
Exit codes: 0 done, 2 usage, 4 memory, disk or port, 130 interrupted."""


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "serve",
        help="the verbs in a browser and over HTTP",
        description="Serves pages where sequences are pasted or dropped, jobs are watched and results are read; and "
        "the same over HTTP, for programs.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    group = parser.add_argument_group("where")
    group.add_argument("--host", default="127.0.0.1", metavar="NAME", help="address to listen on (default: 127.0.0.1)")
    group.add_argument("--port", type=whole(0, 65535), default=8080, metavar="N", help="port (default: 8080; 0: any)")
    group.add_argument("--folder", metavar="PATH", help="files, results and the database (default: your data folder)")
    group.add_argument("--database", metavar="URL", help="postgresql://USER@HOST/NAME in place of SQLite in the folder")
    group.add_argument("--root-path", metavar="PATH", help="where a reverse proxy has it, like /tropalign")
    _add_work_options(parser.add_argument_group("work"))
    _add_access_options(parser.add_argument_group("who may ask"))
    _add_limit_options(parser.add_argument_group("limits"))
    parser.add_argument("-q", "--quiet", action="store_true", help="no lines about requests and jobs")
    parser.set_defaults(run=run, parser=parser)


def _add_work_options(group: Any) -> None:
    group.add_argument("--workers", type=whole(0, 1000), default=1, metavar="N", help="jobs at a time (default: 1)")
    group.add_argument("--only-workers", action="store_true", help="no pages: work for a server on the same database")
    group.add_argument(
        "-t", "--threads", type=whole(0, MOST_THREADS), default=0, metavar="N",
        help="threads of each job; 0 (default) for all there are, shared by the workers",
    )  # fmt: skip
    add_cluster_option(group)


def _add_access_options(group: Any) -> None:
    group.add_argument("--add-token", metavar="USER", help="make a token, print it, and end")
    group.add_argument(
        "--token-file", metavar="FILE",
        help="with --add-token: write the token to this new file, which nobody else can read, and print nothing",
    )  # fmt: skip
    group.add_argument("--list-tokens", action="store_true", help="list the tokens, and end")
    group.add_argument("--revoke-token", metavar="ID", help="revoke the token, or all of a user, and end")
    group.add_argument("--audit", action="store_true", help="print who did what, the newest line last, and end")
    group.add_argument("--require-token", action="store_true", help="let nobody in without a token of --add-token")
    group.add_argument("--proxy-user-header", metavar="NAME", help="the header in which a reverse proxy names the user")
    group.add_argument(
        "--trusted-proxy", action="append", metavar="ADDRESS",
        help="address or network of such a proxy, like 10.0.0.0/8; several times for several",
    )  # fmt: skip
    group.add_argument(
        "--allowed-host", action="append", metavar="NAME",
        help="a name under which browsers ask for it; several times for several",
    )  # fmt: skip
    group.add_argument("--https", action="store_true", help="browsers come by HTTPS: cookies are sent by that alone")


#: Options of limits: field of `Limits`, type, metavar, and what it bounds.
_LIMITS: tuple[tuple[str, Any, str, str], ...] = (
    ("upload_bytes", checked(parse_bytes), "SIZE", "one file as it is sent (default: 500M)"),
    ("unpacked_bytes", checked(parse_bytes), "SIZE", "all inputs of a job, decompressed (default: 4G)"),
    ("n_sequences", whole(1), "N", "sequences of a job (default: 5,000,000)"),
    ("n_residues", checked(float), "N", "residues of a job (default: 2e9)"),
    ("n_cells", checked(float), "N", "cells of a job, by its forecast (default: 1e15)"),
    ("memory_bytes", checked(parse_bytes), "SIZE", "memory of a job (default: 4G, at most its share of this machine)"),
    ("seconds", positive, "SECONDS", "run time of a job (default: 86,400)"),
    ("output_bytes", checked(parse_bytes), "SIZE", "what a job may write (default: 20G)"),
    ("running_per_user", whole(1), "N", "jobs of one user at a time (default: 2)"),
    ("queued_per_user", whole(1), "N", "waiting jobs of one user (default: 100)"),
    ("requests_per_minute", whole(1), "N", "requests of one user (default: 1,200)"),
    ("stored_bytes_per_user", checked(parse_bytes), "SIZE", "all files of one user's jobs (default: 100G)"),
)


def _flag(field: str) -> str:
    """``upload_bytes`` is ``--max-upload``, ``n_cells`` ``--max-cells``."""
    return "--max-" + field.removeprefix("n_").replace("_bytes", "").replace("_", "-")


def _add_limit_options(group: Any) -> None:
    for field, kind, metavar, text in _LIMITS:
        group.add_argument(_flag(field), dest=field, type=kind, metavar=metavar, help=text)


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings that the options ask for."""
    from tropalign.serve.settings import Settings
    from tropalign.submissions.this_machine import data_folder

    threads = options.threads or _threads_each(options.workers)
    return Settings(
        folder=Path(options.folder).absolute() if options.folder else data_folder(),
        database=options.database,
        host=options.host,
        port=options.port,
        n_workers=options.workers,
        threads_per_job=threads,
        cluster=options.cluster,
        proxy_user_header=options.proxy_user_header,
        trusted_proxies=tuple(options.trusted_proxy or ()),
        allowed_hosts=tuple(options.allowed_host or ()),
        requires_token=options.require_token,
        is_https=options.https,
        root_path=(options.root_path or "").rstrip("/"),
        limits=limits_of(options),
    )


def limits_of(options: argparse.Namespace) -> Limits:
    """The limits that the options ask for; memory by default no more than the machine has for each worker."""
    from tropalign.machine.memory import default_budget
    from tropalign.serve.settings import Limits

    given = {field: getattr(options, field) for field, *_ in _LIMITS if getattr(options, field) is not None}
    if "memory_bytes" not in given:
        given["memory_bytes"] = min(Limits().memory_bytes, default_budget() // max(options.workers, 1))
    whole_ones = {field: int(value) if field != "seconds" else value for field, value in given.items()}
    return Limits(**whole_ones)


def _threads_each(n_workers: int) -> int:
    from tropalign.machine.threads import available_threads

    return max(1, available_threads() // max(n_workers, 1))


def run(options: argparse.Namespace) -> None:
    """Serves until it is told to stop; or looks after tokens, or prints the audit log."""
    from tropalign.serve.private import for_nobody_else

    _check_installed()
    if options.token_file is not None and options.add_token is None:
        options.parser.error("--token-file goes with --add-token: name the user")
    with for_nobody_else():
        _run(settings_of(options), options)


def _run(settings: Settings, options: argparse.Namespace) -> None:
    if options.add_token is not None or options.list_tokens or options.revoke_token is not None:
        _look_after_tokens(settings, options)
        return
    if options.audit:
        _print_audit(settings)
        return
    from tropalign.serve.work.supervisor import serve, work

    if options.only_workers:
        work(settings, options.quiet)
    else:
        serve(settings, options.quiet)


def _check_installed() -> None:
    from importlib.util import find_spec

    from tropalign.errors import ResourceError

    for module in ("fastapi", "uvicorn", "sqlalchemy", "alembic", "argon2", "jinja2"):
        if find_spec(module) is None:
            raise ResourceError(f"the server lacks a module ({module}): pip install 'tropalign[serve]'")


def _look_after_tokens(settings: Settings, options: argparse.Namespace) -> None:
    from tropalign.serve.storage import Storage

    with Storage.open(settings) as storage:
        if options.add_token is not None:
            _add_token(storage, options.add_token, options.token_file)
        elif options.revoke_token is not None:
            storage.tokens.revoke(options.revoke_token)
        else:
            for token in storage.tokens.list():
                print(f"{token.id}\t{token.user}\t{'revoked' if token.revoked else 'valid'}")


def _add_token(storage: Storage, user: str, path: str | None) -> None:
    """Makes a token, and prints it or writes it to a file; one that cannot be told to anybody is revoked."""
    from tropalign.serve.private import write_secret

    token, secret = storage.tokens.add(user)
    if path is None:
        print(secret)
        return
    try:
        write_secret(Path(path), secret)
    except BaseException:
        storage.tokens.revoke(token.id)
        raise


def _print_audit(settings: Settings) -> None:
    """A line per entry, its columns parted by tabs; what users wrote cannot begin a line or a column of its own."""
    from datetime import UTC, datetime

    from tropalign.serve.storage import Storage

    with Storage.open(settings) as storage:
        for entry in storage.audit.entries():
            time = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            columns = (entry.user, entry.address, entry.action, entry.object, entry.detail)
            print(time, *map(shown, columns), sep="\t")
