"""``tropalign serve``: the verbs in a browser and over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tropalign.errors import ResourceError, shown
from tropalign.options.option import POSITIVE, Kind, Options, again, number, option, whole
from tropalign.resources.limits import default_budget, parse_bytes
from tropalign.verbs.command import ClusterOptions, Command, DeviceOptions, OutputOptions

if TYPE_CHECKING:
    from tropalign.serve.settings import Limits, MailServer, Settings
    from tropalign.serve.storage.users import Entry
#: About a hundred years: some systems cannot represent later dates.
MOST_KEEP_DAYS = 36_500


class WhereOptions(Options, group="where"):
    """Listening address, and location of the server's files."""

    host: str = option(
        default="127.0.0.1", role="machine", metavar="NAME", help="address to listen on (default: 127.0.0.1)"
    )
    port: int = option(
        default=8080, role="machine", kind=whole(0, 65535), metavar="N", help="port (default: 8080; 0: any free port)"
    )
    folder: str | None = option(
        default=None,
        role="machine",
        metavar="PATH",
        help="folder for files, results and the database (default: in your data folder)",
    )
    database: str | None = option(
        default=None,
        role="machine",
        metavar="URL",
        help="use postgresql://USER@HOST/NAME instead of SQLite in the folder",
    )
    stores: str | None = option(
        default=None,
        role="machine",
        metavar="DIR",
        help="folder of sequence stores (.tdb) that all users may search by file name; the server never writes to it",
    )
    root_path: str | None = option(
        default=None,
        role="machine",
        metavar="PATH",
        help="path under which a reverse proxy serves the pages, like /tropalign",
    )


def _read_by(name: str) -> Kind:
    """Return a kind whose parser, a function of `notices`, is imported with its network modules on first use."""

    def read(word: str) -> Any:
        return getattr(import_module("tropalign.serve.notices"), name)(word)

    return Kind("text", read)


class WorkOptions(Options, group="work"):
    """Number and resources of concurrent jobs."""

    workers: int = option(
        default=1, role="machine", kind=whole(0, 1000), metavar="N", help="jobs that run at a time (default: 1)"
    )
    keep_days: float | None = option(
        default=None,
        role="machine",
        kind=POSITIVE,
        metavar="DAYS",
        help="delete jobs and their files this long after their end (default: never); databases are kept",
    )
    hook_host: list[str] | None = option(
        default=None,
        role="machine",
        many="append",
        kind=_read_by("hook_host"),
        metavar="NAME[:PORT]",
        help="host whose web hooks may be called when a job ends; without a port, 443 (https) or 80 (http) is allowed; "
        "may be repeated; * allows any public host (default: none)",
    )
    only_workers: bool = option(
        default=False,
        role="machine",
        help="serve no pages, only run jobs for a server on the same database",
    )
    threads: int = again(
        DeviceOptions,
        "threads",
        group="work",
        help="threads of each job; 0 (default): all available threads, divided among the workers",
    )
    cluster: str | None = again(ClusterOptions, "cluster", group="work")


class MailOptions(Options, group="e-mail"):
    """Mail server for notifications at the end of jobs."""

    smtp: tuple[str, int] | None = option(
        default=None,
        role="machine",
        kind=_read_by("mail_server"),
        metavar="HOST[:PORT]",
        help="mail server for e-mails at the end of jobs (default: none; port 25, or 587 with --smtp-user)",
    )
    mail_from: str | None = option(
        default=None,
        role="machine",
        kind=_read_by("mail_address"),
        metavar="ADDRESS",
        help="sender of these e-mails",
    )
    mail_domain: list[str] | None = option(
        default=None,
        role="machine",
        many="append",
        kind=_read_by("mail_domain"),
        metavar="NAME",
        help="domain to whose addresses e-mails may be sent; may be repeated; * for all (default: the sender's)",
    )
    smtp_user: str | None = option(
        default=None,
        role="machine",
        metavar="NAME",
        help="user of the mail server; the password comes from TROPALIGN_SMTP_PASSWORD or --smtp-password-file",
    )
    smtp_password_file: str | None = option(
        default=None, role="machine", metavar="FILE", help="file whose first line is the password of --smtp-user"
    )


class AccessOptions(Options, group="who may connect"):
    """Tokens, proxies and hosts."""

    add_token: str | None = option(
        default=None,
        role="machine",
        metavar="USER",
        help="make a token for this user, print it and exit",
    )
    token_file: str | None = option(
        default=None,
        role="machine",
        metavar="FILE",
        help="with --add-token: write the token to this new file, readable only by you, instead of printing it",
    )
    list_tokens: bool = option(default=False, role="machine", help="list the tokens and exit")
    revoke_token: str | None = option(
        default=None, role="machine", metavar="ID", help="revoke the token, or all tokens of a user, and exit"
    )
    audit: bool = option(default=False, role="machine", help="print the log of user actions, newest last, and exit")
    require_token: bool = option(default=False, role="machine", help="require a token of --add-token from everyone")
    proxy_user_header: str | None = option(
        default=None, role="machine", metavar="NAME", help="header in which a reverse proxy names the user"
    )
    trusted_proxy: list[str] | None = option(
        default=None,
        role="machine",
        many="append",
        metavar="ADDRESS",
        help="address or network of such a proxy, like 10.0.0.0/8; may be repeated",
    )
    allowed_host: list[str] | None = option(
        default=None,
        role="machine",
        many="append",
        metavar="NAME",
        help="host name under which browsers reach the server; may be repeated",
    )
    https: bool = option(default=False, role="machine", help="browsers use HTTPS: send cookies only over HTTPS")


class LimitOptions(Options, group="limits"):
    """Limits, as fields of `Limits`; None means the default."""

    upload_bytes: int | None = option(
        default=None,
        role="machine",
        flags=("--max-upload",),
        kind=Kind("text", parse_bytes),
        metavar="SIZE",
        help="most bytes of one uploaded file (default: 500M)",
    )
    unpacked_bytes: int | None = option(
        default=None,
        role="machine",
        flags=("--max-unpacked",),
        kind=Kind("text", parse_bytes),
        metavar="SIZE",
        help="most bytes of all inputs of a job, decompressed (default: 4G)",
    )
    n_sequences: int | None = option(
        default=None,
        role="machine",
        flags=("--max-sequences",),
        kind=whole(1),
        metavar="N",
        help="most sequences of a job (default: 5,000,000)",
    )
    n_residues: float | None = option(
        default=None,
        role="machine",
        flags=("--max-residues",),
        kind=number(1, 1e30),
        metavar="N",
        help="most residues of a job (default: 2e9)",
    )
    n_cells: float | None = option(
        default=None,
        role="machine",
        flags=("--max-cells",),
        kind=number(1, 1e30),
        metavar="N",
        help="most cells of a job, by its forecast (default: 1e15)",
    )
    memory_bytes: int | None = option(
        default=None,
        role="machine",
        flags=("--max-memory",),
        kind=Kind("text", parse_bytes),
        metavar="SIZE",
        help="most memory of a job (default: 4G, at most its share of this machine)",
    )
    seconds: float | None = option(
        default=None,
        role="machine",
        flags=("--max-seconds",),
        kind=POSITIVE,
        metavar="SECONDS",
        help="longest run time of a job (default: 86,400)",
    )
    output_bytes: int | None = option(
        default=None,
        role="machine",
        flags=("--max-output",),
        kind=Kind("text", parse_bytes),
        metavar="SIZE",
        help="most bytes that a job may write (default: 20G)",
    )
    running_per_user: int | None = option(
        default=None,
        role="machine",
        flags=("--max-running-per-user",),
        kind=whole(1),
        metavar="N",
        help="most running jobs of one user (default: 2)",
    )
    queued_per_user: int | None = option(
        default=None,
        role="machine",
        flags=("--max-queued-per-user",),
        kind=whole(1),
        metavar="N",
        help="most waiting jobs of one user (default: 100)",
    )
    requests_per_minute: int | None = option(
        default=None,
        role="machine",
        flags=("--max-requests-per-minute",),
        kind=whole(1),
        metavar="N",
        help="most requests of one user per minute (default: 1,200)",
    )
    stored_bytes_per_user: int | None = option(
        default=None,
        role="machine",
        flags=("--max-stored-per-user",),
        kind=Kind("text", parse_bytes),
        metavar="SIZE",
        help="most bytes in all files of one user's jobs (default: 100G)",
    )


class Serve(Command, WhereOptions, WorkOptions, MailOptions, AccessOptions, LimitOptions):
    """Serve the verbs in a browser and over HTTP."""

    verb = "serve"
    summary = "serve the verbs in a browser and over HTTP"
    description = (
        "Serve pages on which users paste or drop sequences, watch jobs and read results, and the same over HTTP for "
        "programs."
    )
    example = """example:
  tropalign serve
  tropalign serve --add-token alice
  tropalign serve --host 0.0.0.0 --port 8000 --folder /srv/tropalign --workers 4
  tropalign serve --stores /srv/databases

Open the address that the server prints. Until a token is made, anyone who has this address may log in. To serve other
machines, give every user a token, or let a reverse proxy name the user.
Exit codes: 0 done, 2 usage, 4 memory, disk or port, 130 interrupted."""

    quiet: bool = again(OutputOptions, "quiet", group="", help="do not log requests and jobs")

    def run(self) -> None:
        """Serve until stopped, manage tokens, or print the audit log."""
        from tropalign.serve.private import for_nobody_else

        check_installed()
        if self.token_file is not None and self.add_token is None:
            self.refuse("--token-file requires --add-token: name the user")
        if self.keep_days is not None and self.keep_days > MOST_KEEP_DAYS:
            self.refuse(f"--keep-days must be at most {MOST_KEEP_DAYS:,}: leave it out to keep jobs forever")
        with for_nobody_else():
            _run(settings_of(self), self)


def settings_of(options: Serve) -> Settings:
    """Return the settings for the options."""
    from tropalign.resources.limits import available_threads
    from tropalign.serve.settings import Settings
    from tropalign.submissions.local_server import data_folder

    return Settings(
        folder=Path(options.folder).absolute() if options.folder else data_folder(),
        database=options.database,
        installed=Path(options.stores).absolute() if options.stores else None,
        host=options.host,
        port=options.port,
        n_workers=options.workers,
        threads_per_job=options.threads or max(1, available_threads() // max(options.workers, 1)),
        cluster=options.cluster,
        proxy_user_header=options.proxy_user_header,
        trusted_proxies=tuple(options.trusted_proxy or ()),
        allowed_hosts=tuple(options.allowed_host or ()),
        requires_token=options.require_token,
        is_https=options.https,
        hook_hosts=tuple(options.hook_host or ()),
        mail=_mail_of(options),
        keep_days=options.keep_days,
        root_path=(options.root_path or "").rstrip("/"),
        limits=limits_of(options),
    )


def _mail_of(options: Serve) -> MailServer | None:
    """Return the mail server of the options; raise UsageError if some are given without the others that they need."""
    from tropalign.serve.notices import LOGIN_PORT, PLAIN_PORT, domain_of, password_from
    from tropalign.serve.settings import MailServer

    if options.smtp is None or options.mail_from is None:
        given = (
            options.smtp or options.mail_from or options.mail_domain or options.smtp_user or options.smtp_password_file
        )
        if given is not None:
            options.refuse("e-mail needs --smtp HOST[:PORT] and --mail-from ADDRESS: give both")
        return None
    if options.smtp_password_file is not None and options.smtp_user is None:
        options.refuse("--smtp-password-file requires --smtp-user: name the user")
    host, port = options.smtp
    password = password_from(options.smtp_password_file)
    if options.smtp_user is not None and not password:
        options.refuse("--smtp-user has no password: set TROPALIGN_SMTP_PASSWORD, or give --smtp-password-file FILE")
    # Address of the pages for users, as far as the options give it.
    web_host = (options.allowed_host or [""])[0] or ("127.0.0.1" if options.host in ("127.0.0.1", "localhost") else "")
    is_direct = not (options.https or options.trusted_proxy)  # a proxy listens on the default port
    root = (options.root_path or "").rstrip("/")
    return MailServer(
        host=host,
        port=port or (PLAIN_PORT if options.smtp_user is None else LOGIN_PORT),
        sender=options.mail_from,
        domains=tuple(options.mail_domain or [domain_of(options.mail_from)]),
        user=options.smtp_user or "",
        password=password if options.smtp_user is not None else "",
        site=f"http{'s' * options.https}://{web_host}{f':{options.port}' * is_direct}{root}" if web_host else "",
    )


def limits_of(options: Serve) -> Limits:
    """Return the limits for the options; memory defaults to at most this machine's share per worker."""
    from tropalign.serve.settings import Limits

    given = {name: value for name in LimitOptions.declared() if (value := getattr(options, name)) is not None}
    if "memory_bytes" not in given:
        given["memory_bytes"] = min(Limits().memory_bytes, default_budget() // max(options.workers, 1))
    whole_ones = {field: int(value) if field != "seconds" else value for field, value in given.items()}
    return Limits(**whole_ones)


def _run(settings: Settings, options: Serve) -> None:
    if options.add_token is not None or options.list_tokens or options.revoke_token is not None or options.audit:
        from tropalign.serve.storage import Storage

        with Storage.open(settings) as storage:
            if options.add_token is not None:
                token, secret = storage.tokens.add(options.add_token)
                if options.token_file is None:
                    print(secret)
                    return
                from tropalign.serve.private import write_secret

                try:
                    write_secret(Path(options.token_file), secret)
                except BaseException:  # no one has received it
                    storage.tokens.revoke(token.id)
                    raise
            elif options.revoke_token is not None:
                storage.tokens.revoke(options.revoke_token)
            elif options.list_tokens:
                for token in storage.tokens.list():
                    print(f"{token.id}\t{token.user}\t{'revoked' if token.revoked else 'valid'}")
            else:
                for entry in storage.audit.entries():
                    print(audit_line(entry))
        return
    from tropalign.serve.work.supervisor import serve, work

    (work if options.only_workers else serve)(settings, options.quiet)


def place_of(folder: str | None, database: str | None) -> Settings:
    """Return settings that contain only the location of the storage."""
    from tropalign.serve.settings import Settings
    from tropalign.submissions.local_server import data_folder

    return Settings(folder=Path(folder).absolute() if folder else data_folder(), database=database)


def check_installed() -> None:
    """Raise ResourceError if the server's modules are not installed."""
    from importlib.util import find_spec

    for module in ("fastapi", "uvicorn", "sqlalchemy", "alembic", "argon2", "jinja2"):
        if find_spec(module) is None:
            raise ResourceError(f"the server lacks a module ({module}): pip install 'tropalign[serve]'")


def audit_line(entry: Entry) -> str:
    """Format an audit log entry as tab-separated columns; user text cannot start a new line or column."""
    columns = (entry.user, entry.address, entry.action, entry.object, entry.detail)
    return "\t".join((time_text(entry.at), *map(shown, columns)))


def time_text(at: float | None) -> str:
    """Format a time in UTC; None becomes an empty string."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
