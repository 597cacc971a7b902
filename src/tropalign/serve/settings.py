"""What the operator of a server decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tropalign.errors import UsageError
from tropalign.submissions.local_server import is_loopback

if TYPE_CHECKING:
    from tropalign.serve.mail import MailServer

MEGABYTE = 10**6
SECONDS_OF_DAY = 24 * 3600.0


@dataclass(frozen=True)
class Limits:
    """What users may take, each per job or per user as its name says.

    Parameters
    ----------
    upload_bytes
        Of one file as it is sent.
    unpacked_bytes
        Of all inputs of a job, decompressed.
    n_sequences, n_residues
        Of all inputs of a job.
    n_cells
        Of the dynamic programs of a job, by the verb's own forecast where it has one.
    memory_bytes
        What a job is given as ``--memory``.
    seconds
        Run time of a job, after which it is killed; a forecast of more than that refuses it before.
    output_bytes
        All that a job may write.
    running_per_user, queued_per_user
        Jobs of one user at a time.
    requests_per_minute
        Of one user, or of one address that has not said who it is.
    stored_bytes_per_user
        Of all files of a user's jobs.
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
class Settings:
    """A server's settings.

    Parameters
    ----------
    folder
        Files, work in progress and the embedded database.
    database
        URL of SQLAlchemy; None for SQLite in `folder`.
    installed
        Folder of stores that are databases of all users; None for none.
    host, port
        Where to listen.
    n_workers
        Processes that compute, each a job at a time; 0: others do, elsewhere, on the same database and folder.
    threads_per_job
        ``--threads`` of jobs.
    cluster
        Address of a scheduler of Dask, on which verbs that can do so compute.
    proxy_user_header, trusted_proxies
        The header in which a reverse proxy names the user, and the addresses of such proxies.
    allowed_hosts
        Names under which the server is asked for, beside those of the loopback interface.
    requires_token
        Whether nobody is let in by the token of this machine's user (`has_local_user`).
    is_https
        Whether browsers reach it by HTTPS: cookies are then marked so.
    root_path
        Where a proxy has it, such as "/tropalign".
    hook_hosts
        Where jobs may have their end told: hosts, with a port or without, and "*" for every public one.
    mail
        The mail server through which jobs may have their end told; None: no e-mail.
    keep_days
        So long after its end a job is deleted with its files; None: never.
    lease_seconds
        After as long without a sign of its worker, a job is taken up by another one.
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
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    def kept_until(self, finished: float | None) -> float | None:
        """When a job that ended then may be deleted, in seconds since 1970; None where it stays, or has not ended."""
        if finished is None or self.keep_days is None:
            return None
        return finished + self.keep_days * SECONDS_OF_DAY

    @property
    def has_local_user(self) -> bool:
        """Whether this machine's user is let in, as long as nobody was given a token."""
        return self.is_loopback and not self.requires_token and self.proxy_user_header is None

    def check(self, has_tokens: bool) -> None:
        """Refuses what would let everybody in.

        Raises
        ------
        UsageError
            The server can be reached from elsewhere, and nothing tells users apart.
        """
        if not self.is_loopback and not has_tokens and self.proxy_user_header is None:
            raise UsageError(
                f"{self.host} can be reached from elsewhere: make a token first (tropalign serve --add-token USER), "
                "or let a reverse proxy say who asks (--proxy-user-header)"
            )
        if self.proxy_user_header is not None and not self.trusted_proxies:
            raise UsageError("--proxy-user-header needs --trusted-proxy: the addresses whose word is taken")
