"""``tropalign admin``: an operator's commands for users, jobs, databases, audit log and backup, from a shell.

Each action opens the server's folder and database, does one thing and exits, whether or not the server is running.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tropalign.errors import UsageError, counted, shown
from tropalign.options.option import POSITIVE, REQUIRED, Kind, Options, again, option
from tropalign.serve.command import LimitOptions, WhereOptions, audit_line, check_installed, place_of, time_text
from tropalign.verbs.command import Command

if TYPE_CHECKING:
    from tropalign.serve.records import JobLine
    from tropalign.serve.storage import Storage

#: REQUIRED with any static type.
NEEDED: Any = REQUIRED
#: Address in the audit log for actions from a shell.
HERE = "command line"


def _moment(text: str) -> float:
    """Parse a day or a time (UTC by default) into seconds since 1970."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is neither a day like 2026-11-28 nor a time like 2026-11-28T14:00") from None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


class ServerOptions(Options, group="which server"):
    """Server folder and database."""

    folder: str | None = again(WhereOptions, "folder", group="which server")
    database: str | None = again(WhereOptions, "database", group="which server")


class UserOptions(Options, group=""):
    """Choice of one user."""

    user: str | None = option(default=None, role="machine", metavar="USER", help="only those of this user")


class ListOptions(Options, group=""):
    """Output format of lists."""

    json: bool = option(
        default=False, role="machine", help="print one JSON object per line instead of a tab-separated table"
    )


class ChosenOptions(Options, group=""):
    """Choice of jobs and databases."""

    ids: Sequence[str] = option(
        default=(),
        role="machine",
        flags=(),
        many="*",
        metavar="ID",
        help="ids of jobs, from `tropalign admin jobs`",
    )


class AdminCommand(Command, ServerOptions):
    """Base of the actions, which opens a server's storage."""

    @contextmanager
    def storage(self) -> Iterator[Storage]:
        """Yield the storage of an existing server, and close it afterwards."""
        from tropalign.serve.private import for_nobody_else
        from tropalign.serve.storage import Storage
        from tropalign.serve.storage.database import file_of_sqlite

        check_installed()
        place = place_of(self.folder, self.database)
        if self.database is None and not (place.folder / "tropalign.db").is_file():
            self.refuse(
                f"{shown(str(place.folder))}: there is no server in this folder: give its --folder, or its --database"
            )
        file = None if self.database is None else file_of_sqlite(self.database)
        if file is not None and not file.is_file():
            self.refuse(f"{shown(str(file))}: there is no such database: give that of a server (--database)")
        with for_nobody_else(), Storage.open(place) as storage:
            yield storage

    def print_rows(self, rows: Iterable[dict[str, Any]]) -> None:
        """Print rows tab-separated below their column names, or as JSON."""
        heads: list[str] = []
        for row in rows:
            if getattr(self, "json", False):
                print(json.dumps(row))
                continue
            if not heads:
                heads = list(row)
                print(*heads, sep="\t")
            print(*(shown("" if value is None else str(value)) for value in row.values()), sep="\t")


class ListUsers(AdminCommand, ListOptions):
    """List the users of the server."""

    verb = "admin users"
    summary = "list users: jobs, bytes, valid tokens, role and limits"

    def run(self) -> None:
        """Print a line per user."""
        from tropalign.serve.records import State

        with self.storage() as storage:
            tokens = [token.user for token in storage.tokens.list() if not token.revoked]
            rows = []
            for name in storage.users.names():
                counts, account = storage.jobs.counts(name), vars(storage.users.get(name))
                rows.append(
                    {
                        "user": account.pop("name"),
                        "jobs": sum(counts.values()),
                        "queued": counts[State.QUEUED],
                        "running": counts[State.RUNNING],
                        "stored_bytes": storage.jobs.stored_bytes(name),
                        "tokens": tokens.count(name),
                        **account,
                    }
                )
            self.print_rows(rows)


class SetUser(AdminCommand):
    """Set the role and limits of one user."""

    verb = "admin user"
    summary = "make a user an administrator, or give a user separate limits"

    name: str = option(
        default=NEEDED, role="machine", flags=(), metavar="USER", help="the user whose role and limits are set"
    )
    administrator: str | None = option(
        default=None,
        role="machine",
        choices=("yes", "no"),
        help="allow the user to see, stop and delete the jobs and databases of all users, on the pages and over HTTP",
    )
    running_per_user: int | None = again(
        LimitOptions, "running_per_user", group="", help="most running jobs of the user"
    )
    queued_per_user: int | None = again(LimitOptions, "queued_per_user", group="", help="most waiting jobs of the user")
    stored_bytes_per_user: int | None = again(
        LimitOptions, "stored_bytes_per_user", group="", help="most bytes in all files of the user's jobs"
    )
    usual_limits: bool = option(default=False, role="machine", help="first remove the user's separate limits")

    def run(self) -> None:
        """Set the values, and print those that are now in effect."""
        from tropalign.serve.storage.users import OWN_LIMITS

        given = {limit: value for limit in OWN_LIMITS if (value := getattr(self, limit)) is not None}
        values: dict[str, Any] = {**dict.fromkeys(OWN_LIMITS if self.usual_limits else ()), **given}
        if self.administrator is not None:
            values["is_administrator"] = self.administrator == "yes"
        if not values:
            self.refuse("nothing to set is given: add --administrator, --usual-limits, or a limit")
        with self.storage() as storage:
            account = storage.users.set(self.name, **values)
            storage.audit.note("", HERE, "set user", self.name, " ".join(f"{k}={v}" for k, v in values.items()))
        self.print_rows([vars(account)])


class ListJobs(AdminCommand, UserOptions, ListOptions):
    """List jobs of all users."""

    verb = "admin jobs"
    summary = "list jobs of all users, newest first"

    state: str | None = option(
        default=None,
        role="machine",
        choices=("queued", "running", "done", "failed", "refused", "cancelled"),
        help="only those in this state",
    )

    def run(self) -> None:
        """Print a line per job."""
        with self.storage() as storage:
            self.print_rows(
                {
                    "id": job.id, "user": job.owner, "state": str(job.state), "verb": job.verb,
                    "created": time_text(job.created), "finished": time_text(job.finished), "bytes": job.size,
                    "title": job.title,
                }
                for job in _jobs(storage, self.user, self.state)
            )  # fmt: skip


def _jobs(storage: Storage, user: str | None, state: str | None = None) -> Iterator[JobLine]:
    """Yield jobs of one user or of all, newest first, page by page."""
    from tropalign.serve.records import Search, State

    after: str | None = None
    while True:
        page = storage.jobs.lines(Search(user, state=State(state) if state else None, limit=500, after=after))
        yield from page.jobs
        after = page.after
        if after is None:
            return


class ListDatabases(AdminCommand, UserOptions, ListOptions):
    """List databases of all users."""

    verb = "admin databases"
    summary = "list databases that users' jobs have built"

    def run(self) -> None:
        """Print a line per database."""
        with self.storage() as storage:
            self.print_rows(
                {
                    "id": each.id, "user": each.owner, "sequences": each.n_sequences, "bytes": each.size,
                    "shared": each.shared, "created": time_text(each.created), "name": each.name,
                }
                for each in storage.databases.built(self.user)
            )  # fmt: skip


class Stop(AdminCommand, UserOptions, ChosenOptions):
    """Stop jobs."""

    verb = "admin stop"
    summary = "stop jobs by id, or all waiting and running jobs of a user"

    def run(self) -> None:
        """Stop the chosen jobs."""
        _check_chosen(self, self.ids, self.user)
        with self.storage() as storage:
            jobs = [_known(storage, id) for id in dict.fromkeys(self.ids)] or list(_jobs(storage, self.user))
            n = 0
            for job in jobs:
                if not job.state.is_final and _is_done(storage.jobs.cancel, job.id):
                    storage.audit.note("", HERE, "cancel", job.id, job.owner or self.user or "")
                    n += 1
        print(f"stopping {counted(n, 'jobs')}")


class Delete(AdminCommand, UserOptions, ChosenOptions):
    """Delete jobs and databases."""

    verb = "admin delete"
    summary = "delete jobs and databases by id, or everything of a user, including tokens and role"

    ids: Sequence[str] = again(
        ChosenOptions, "ids", help="ids of jobs and databases, from `tropalign admin jobs` and `databases`"
    )

    def run(self) -> None:
        """Delete the chosen jobs and databases."""
        _check_chosen(self, self.ids, self.user)
        kept: list[str] = []
        with self.storage() as storage:
            n_jobs, n_databases = _delete_user(storage, self.user, kept) if self.user else _delete(storage, self.ids)
        print(f"deleted {counted(n_jobs, 'jobs')} and {counted(n_databases, 'databases')}")
        if kept:
            raise UsageError(f"{counted(len(kept), 'databases')} not deleted: {kept[0]}")


def _check_chosen(command: Command, ids: Sequence[str], user: str | None) -> None:
    if bool(ids) == (user is not None):
        command.refuse("give either ids or --user USER")


def _known(storage: Storage, id: str) -> Any:
    try:
        return storage.jobs.get(id)
    except KeyError:
        raise UsageError(f"there is no job {shown(id[:100])}: tropalign admin jobs lists them") from None


def _delete(storage: Storage, ids: Iterable[str]) -> tuple[int, int]:
    """Delete by id and return the numbers of jobs and databases; a database has its job's id and is deleted first."""
    n_jobs = n_databases = 0
    databases = {each.id: each for each in storage.databases.built()}
    for id in dict.fromkeys(ids):
        if id in databases:
            if _is_done(storage.databases.delete, id):
                storage.audit.note("", HERE, "delete database", id, databases[id].owner)
                n_databases += 1
            continue
        job = _known(storage, id)
        if _is_done(storage.jobs.delete, id):
            storage.audit.note("", HERE, "delete", id, job.owner)
            n_jobs += 1
    return n_jobs, n_databases


def _is_done(act: Callable[..., object], *what: str) -> bool:
    """Call `act`; False if the object was deleted meanwhile."""
    try:
        act(*what)
    except KeyError:
        return False
    return True


def _delete_user(storage: Storage, user: str, kept: list[str]) -> tuple[int, int]:
    """Delete all data of a user. More may arrive for a minute, while a running server remembers the user's tokens.

    Appends to `kept` the reason for each database that stays because other jobs may need it.
    """
    from contextlib import suppress

    if user not in storage.users.names():
        raise UsageError(f"there is no user {shown(user[:200])!r}: tropalign admin users lists them")
    with suppress(UsageError):  # there is no token
        storage.tokens.revoke(user)
    storage.users.forget(user)
    n_jobs = sum(_is_done(storage.jobs.delete, job.id) for job in list(_jobs(storage, user)))
    n_databases = 0
    for database in storage.databases.built(user):
        try:
            n_databases += _is_done(storage.databases.delete, database.id)
        except UsageError as error:
            kept.append(str(error))
    for upload in storage.uploads.list(user):
        _is_done(storage.uploads.delete, user, upload.digest)
    storage.audit.note("", HERE, "delete user", user, f"{counted(n_jobs, 'jobs')}, {counted(n_databases, 'databases')}")
    return n_jobs, n_databases


class Sweep(AdminCommand):
    """Delete old jobs and unused files."""

    verb = "admin sweep"
    summary = "delete old jobs and unused files now"

    keep_days: float | None = option(
        default=None,
        role="machine",
        kind=POSITIVE,
        metavar="DAYS",
        help="delete jobs and their files this long after their end (default: delete no jobs)",
    )

    def run(self) -> None:
        """Delete, and print how much."""
        from tropalign.serve.work.supervisor import GRACE_SECONDS

        with self.storage() as storage:
            n_jobs = storage.delete_old_jobs(self.keep_days) if self.keep_days is not None else 0
            n_files = storage.tidy(GRACE_SECONDS)
        print(f"deleted {counted(n_jobs, 'jobs')} and {counted(n_files, 'files')} no longer in use")


class ShowAudit(AdminCommand, UserOptions, ListOptions):
    """Print the audit log."""

    verb = "admin audit"
    summary = "print the log of user actions, newest last"

    action: str | None = option(
        default=None,
        role="machine",
        metavar="WORD",
        help="only this action: login, submit, share, delete, expire and others",
    )
    since: float | None = option(
        default=None,
        role="machine",
        kind=Kind("text", _moment),
        metavar="TIME",
        help="only from this day or time (UTC) on",
    )
    until: float | None = option(
        default=None,
        role="machine",
        kind=Kind("text", _moment),
        metavar="TIME",
        help="only before this day or time (UTC)",
    )

    def run(self) -> None:
        """Print the entries."""
        from math import inf

        since, until = -inf if self.since is None else self.since, inf if self.until is None else self.until
        with self.storage() as storage:
            for entry in storage.audit.entries(self.user, self.action, since, until):
                names = ("user", "address", "action", "object", "detail")
                row = {"time": time_text(entry.at), **{name: getattr(entry, name) for name in names}}
                print(json.dumps(row) if self.json else audit_line(entry))


class Backup(AdminCommand):
    """Back up a server into one archive."""

    verb = "admin backup"
    summary = "write all data of a server to one archive, even while it runs"

    archive: str = option(
        default=NEEDED, role="machine", flags=(), metavar="FILE", help="new file (.tar), readable only by you"
    )

    def run(self) -> None:
        """Write the archive."""
        from tropalign.serve.storage.backup import back_up

        if self.archive == "-":
            self.refuse("a backup must be written to a file, not to the terminal or a pipe: name one (monday.tar)")
        n = back_up(_folder_of_sqlite(self), Path(self.archive))
        print(f"{shown(self.archive)}: the database and {counted(n, 'files')}")


class Restore(AdminCommand):
    """Restore a server's folder from a backup."""

    verb = "admin restore"
    summary = "restore a server's folder from such an archive"

    archive: str = option(
        default=NEEDED, role="machine", flags=(), metavar="FILE", help="archive that tropalign admin backup has written"
    )

    def run(self) -> None:
        """Restore the folder, and upgrade its tables."""
        from tropalign.serve.private import for_nobody_else
        from tropalign.serve.storage.backup import restore

        folder = _folder_of_sqlite(self)
        with for_nobody_else():
            n = restore(Path(self.archive), folder)
        with self.storage() as storage:
            n_jobs = sum(storage.jobs.counts().values())
        print(f"{shown(str(folder))}: {counted(n_jobs, 'jobs')} and {counted(n, 'files')}")


def _folder_of_sqlite(command: AdminCommand) -> Path:
    """Return the server folder, or reject a database outside it."""
    if command.database is not None:
        command.refuse("this works only for SQLite in the folder: copy PostgreSQL with pg_dump, then the folder")
    check_installed()
    return place_of(command.folder, None).folder


class Admin(Command):
    """Commands of a server's operator."""

    verb = "admin"
    summary = "administer a server: users, jobs, databases, log, backup"
    description = "Perform one action on the folder and the database of tropalign serve, which may be running."
    example = """example:
  tropalign admin users --folder data
  tropalign admin user alice --max-running-per-user 4 --folder data
  tropalign admin jobs --user alice --state running --folder data
  tropalign admin delete --user bob --folder data
  tropalign admin backup monday.tar --folder data
  tropalign admin restore monday.tar --folder restored

Tokens are made and revoked by tropalign serve. Exit codes: 0 done, 2 usage, 3 bad input, 4 disk or database."""
    actions = (
        ListUsers, SetUser, ListJobs, ListDatabases, Stop, Delete, Sweep, ShowAudit, Backup, Restore,
    )  # fmt: skip

    def run(self) -> None:
        """Refuse to run without an action."""
        self.refuse(f"no action is given: name one of {', '.join(action.verb.split()[1] for action in self.actions)}")
