"""Settings of a server, decided by its operator."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tropalign.errors import UsageError
from tropalign.submissions.local_server import is_loopback

MEGABYTE = 10**6
SECONDS_OF_DAY = 24 * 3600.0


@dataclass(frozen=True)
class Limits:
    """Limits for users, per job or per user as the name shows.

    - `upload_bytes`: one file as sent.
    - `unpacked_bytes`: all inputs of a job, decompressed.
    - `n_sequences`, `n_residues`: all inputs of a job.
    - `n_cells`: dynamic programming cells of a job, by the verb's own forecast if it has one.
    - `memory_bytes`: a job's ``--memory``.
    - `seconds`: run time after which a job is killed; a job with a longer forecast is refused.
    - `output_bytes`: total output of a job.
    - `running_per_user`, `queued_per_user`: concurrent jobs of one user.
    - `requests_per_minute`: of one user, or of one address without authentication.
    - `stored_bytes_per_user`: all files of a user's jobs.
    """

    upload_bytes: int = 500 * MEGABYTE
    unpacked_bytes: int = 4_000 * MEGABYTE
    n_sequences: int = 5_000_000
    n_residues: int = 2_000_000_000
    n_cells: int = 10**15
    memory_bytes: int = 4_000 * MEGABYTE
    seconds: float = 24 * 3600.0
    output_bytes: int = 20_000 * MEGABYTE
    running_per_user: int = 2
    queued_per_user: int = 100
    requests_per_minute: int = 1_200
    stored_bytes_per_user: int = 100_000 * MEGABYTE


@dataclass(frozen=True)
class MailServer:
    """The operator's mail server and its use.

    - `host`, `port`: port 465 uses TLS from the first byte, other ports once the server offers it.
    - `sender`: sender's address.
    - `domains`: domains of allowed recipients, in lower case; "*" for all.
    - `user`, `password`: login; empty if the mail server needs none.
    - `site`: address of the pages, such as "https://align.example.org"; empty if unknown.
    """

    host: str
    port: int
    sender: str
    domains: tuple[str, ...]
    user: str = ""
    password: str = field(default="", repr=False)
    site: str = ""


@dataclass(frozen=True)
class Settings:
    """Settings of a server.

    - `folder`: files, work in progress and the SQLite database.
    - `database`: SQLAlchemy URL; None for SQLite in `folder`.
    - `installed`: folder of stores that all users may use; None for no such folder.
    - `host`, `port`: listening address.
    - `n_workers`: processes with one job at a time; 0: workers run elsewhere, on the same database and folder.
    - `threads_per_job`: ``--threads`` of jobs.
    - `cluster`: address of a Dask scheduler, for verbs that can use one.
    - `proxy_user_header`, `trusted_proxies`: header in which a reverse proxy names the user, and addresses of such
      proxies.
    - `allowed_hosts`: host names of the server besides those of the loopback interface.
    - `requires_token`: True if the token of this machine's user is not accepted (`has_local_user`).
    - `is_https`: True if browsers use HTTPS: cookies are then marked as secure.
    - `root_path`: path under a proxy, such as "/tropalign".
    - `hook_hosts`: allowed hosts of web hooks, with or without port; "*" for every public host.
    - `mail`: mail server for notifications; None: no e-mail.
    - `keep_days`: days after its end when a job is deleted with its files; None: never.
    - `lease_seconds`: seconds without a sign of life from its worker after which another worker takes a job.
    """

    folder: Path
    database: str | None = None
    installed: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8080
    n_workers: int = 1
    threads_per_job: int = 1
    cluster: str | None = None
    proxy_user_header: str | None = None
    trusted_proxies: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    requires_token: bool = False
    is_https: bool = False
    root_path: str = ""
    hook_hosts: tuple[str, ...] = ()
    mail: MailServer | None = None
    keep_days: float | None = None
    lease_seconds: float = 30.0
    limits: Limits = field(default_factory=Limits)

    @property
    def is_loopback(self) -> bool:
        """True if only this machine can reach the server."""
        return is_loopback(self.host)

    def kept_until(self, finished: float | None) -> float | None:
        """Return when a job that ended at `finished` may be deleted, in seconds since 1970; None if kept or running."""
        if finished is None or self.keep_days is None:
            return None
        return finished + self.keep_days * SECONDS_OF_DAY

    @property
    def has_local_user(self) -> bool:
        """True if this machine's user has access while no tokens are issued."""
        return self.is_loopback and not self.requires_token and self.proxy_user_header is None

    def check(self, has_tokens: bool) -> None:
        """Raise UsageError for a server that would be reachable from elsewhere without authentication."""
        if not self.is_loopback and not has_tokens and self.proxy_user_header is None:
            raise UsageError(
                f"{self.host} is reachable from other machines: make a token first (tropalign serve --add-token USER), "
                "or let a reverse proxy name the user (--proxy-user-header)"
            )
        if self.proxy_user_header is not None and not self.trusted_proxies:
            raise UsageError("--proxy-user-header requires --trusted-proxy: give the addresses of the proxies")
