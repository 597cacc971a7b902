"""Jobs by their address, for those who may see them; to all others they do not exist."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tropalign.serve.records import State
from tropalign.serve.web.refusals import Refused

if TYPE_CHECKING:
    from tropalign.serve.records import Job, User
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


def position_of(web: Web, job: Job) -> int | None:
    """Where a waiting job stands."""
    return web.storage.jobs.position(job.id) if job.state == State.QUEUED else None
