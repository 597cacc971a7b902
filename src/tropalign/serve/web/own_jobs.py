"""Jobs, databases and files by their address, for those who may see them; to all others they do not exist."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tropalign.serve.records import State
from tropalign.serve.web.refusals import Refused

if TYPE_CHECKING:
    from tropalign.serve.records import Database, Job, User
    from tropalign.serve.web.context import Web

_ID = re.compile(r"[a-z2-7]{26}")
_SECRET = re.compile(r"[A-Za-z0-9_-]{16,64}")
#: How a job is called that is not there or not yours.
_NONE = "there is no such job: it was deleted, or is somebody else's"


def own_job(web: Web, user: User, id: str) -> Job:
    """A job of this user.

    Raises
    ------
    Refused
        There is none.
    """
    if _ID.fullmatch(id):
        try:
            job = web.storage.jobs.get(id)
        except KeyError:
            raise Refused(404, _NONE) from None
        if job.owner == user.name:
            return job
    raise Refused(404, _NONE)


def shared_job(web: Web, secret: str) -> Job:
    """The job of a link.

    Raises
    ------
    Refused
        There is none, or it is shared no longer.
    """
    if _SECRET.fullmatch(secret):
        try:
            return web.storage.jobs.by_share(secret)
        except KeyError:
            pass
    raise Refused(404, "there is no such job: it is not shared any longer")


def own_database(web: Web, user: User, id: str) -> Database:
    """A database of this user.

    Raises
    ------
    Refused
        There is none.
    """
    try:
        database = web.storage.databases.get(id[:100].replace("\0", ""))
    except KeyError:
        database = None
    if database is None or database.owner != user.name:
        raise Refused(404, "there is no such database of yours: it was deleted, or is somebody else's")
    return database


def share_database(web: Web, user: User, address: str, id: str, shared: bool) -> Database:
    """A database of this user, shared from now on or no longer."""
    changed = web.storage.databases.set_shared(own_database(web, user, id).id, shared)
    web.audit(user, address, "share database" if shared else "unshare database", changed.id)
    return changed


def delete_upload(web: Web, user: User, address: str, digest: str) -> None:
    """Deletes a file that this user has sent, and that no job has.

    Raises
    ------
    Refused
        There is none.
    """
    try:
        web.storage.uploads.delete(user.name, digest[:100].replace("\0", ""))
    except KeyError:
        raise Refused(404, "you have sent no such file of late: it was deleted, or is a job's") from None
    web.audit(user, address, "delete upload", digest[:100])


def position_of(web: Web, job: Job) -> int | None:
    """Where a waiting job stands."""
    return web.storage.jobs.position(job.id) if job.state == State.QUEUED else None
