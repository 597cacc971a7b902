"""The API under /api/v1: files, verbs, databases, and who asks."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tropalign import __version__
from tropalign.errors import UsageError
from tropalign.serve.web import models
from tropalign.serve.web.context import address_of, user_of, web_of
from tropalign.serve.web.refusals import Refused
from tropalign.serve.web.shown_jobs import database_json
from tropalign.submissions.submission import sanitised
from tropalign.submissions.verbs import SERVED, served_verb

if TYPE_CHECKING:
    from tropalign.serve.records import StoredFile
    from tropalign.serve.web.context import Web

router = APIRouter(prefix="/api/v1")
#: Bytes that are gathered before a thread writes them.
_BLOCK = 1 << 20


@router.post("/files", responses=models.SENT, openapi_extra=models.FILE_BODY, status_code=201, tags=["files"])
async def send_file(
    request: Request, name: Annotated[str, Query(max_length=1_000, description="as it is shown")] = "sequences.fa"
) -> Response:
    """Sends a file, compressed or not, to be named in submissions by its id. Equal bytes have equal ids."""
    web, user = web_of(request), user_of(request)
    most = web.settings.limits.stored_bytes_per_user
    await run_in_threadpool(web.storage.uploads.check_room, user.name, most)
    stored = await _received(web, request)
    await run_in_threadpool(web.storage.uploads.add, user.name, stored)
    await run_in_threadpool(web.audit, user, address_of(request), "upload", stored.digest)
    return JSONResponse({"file": stored.digest, "name": sanitised(name), "size": stored.size}, 201)


async def _received(web: Web, request: Request) -> StoredFile:
    """The body in the store; nothing of it stays where it breaks off."""
    with web.storage.files.receive(web.settings.limits.upload_bytes) as receiving:
        block = bytearray()
        async for piece in request.stream():
            block += piece
            if len(block) >= _BLOCK:
                await run_in_threadpool(receiving.write, bytes(block))
                block.clear()
        await run_in_threadpool(receiving.write, bytes(block))
        return await run_in_threadpool(receiving.finish)


@router.get("/verbs", responses=models.FIELDS, tags=["verbs"])
def list_verbs() -> Response:
    """Lists the verbs that are served, with all that they take."""
    return Response(_verbs_json(), media_type="application/json")


@router.get("/verbs/{name}", responses=models.FIELDS, tags=["verbs"])
def get_verb(name: str) -> Response:
    """Shows what a verb takes."""
    try:
        return JSONResponse(asdict(served_verb(name)))
    except UsageError as error:
        raise Refused(404, str(error)) from None


@cache
def _verbs_json() -> bytes:
    return bytes(JSONResponse({"verbs": [asdict(served_verb(name)) for name in SERVED]}).body)


@router.get("/databases", responses=models.DATABASES, tags=["databases"])
def list_databases(request: Request) -> Response:
    """Lists the databases of targets; a job of the verb "db build" makes one, which its title names."""
    web = web_of(request)
    return JSONResponse({"databases": [database_json(database) for database in web.storage.databases.list()]})


@router.delete("/databases/{id}", status_code=204, responses=models.GONE, tags=["databases"])
def delete_database(request: Request, id: str) -> Response:
    """Deletes a database of yours."""
    web, user = web_of(request), user_of(request)
    try:
        database = web.storage.databases.get(id[:100].replace("\0", ""))
    except KeyError:
        database = None
    if database is None or database.owner != user.name:
        raise Refused(404, "there is no such database, or it is somebody else's")
    web.storage.databases.delete(database.id)
    web.audit(user, address_of(request), "delete database", database.id)
    return Response(status_code=204)


@router.get("/me", responses=models.ME, tags=["user"])
def who_asks(request: Request) -> Response:
    """Says who asks, and what that user may take."""
    web, user = web_of(request), user_of(request)
    stored = web.storage.jobs.stored_bytes(user.name)
    limits = asdict(web.settings.limits)
    return JSONResponse({"user": user.name, "version": __version__, "stored_bytes": stored, "limits": limits})
