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
from tropalign.serve.web.bodies import read_json
from tropalign.serve.web.context import address_of, user_of, web_of
from tropalign.serve.web.own_jobs import delete_upload, own_database, share_database
from tropalign.serve.web.refusals import Refused
from tropalign.serve.web.shown_jobs import database_json, upload_json
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
    called = sanitised(name)
    stored = await _received(web, request, user.name, called)
    await run_in_threadpool(web.audit, user, address_of(request), "upload", stored.digest)
    return JSONResponse({"file": stored.digest, "name": called, "size": stored.size}, 201)


@router.get("/files", responses=models.FILES, tags=["files"])
def list_files(request: Request) -> Response:
    """Lists the files that you have sent and that no job of yours has; they are deleted after a day."""
    web = web_of(request)
    return JSONResponse({"files": [upload_json(each) for each in web.storage.uploads.list(user_of(request).name)]})


@router.delete("/files/{file}", status_code=204, responses=models.GONE, tags=["files"])
def delete_file(request: Request, file: str) -> Response:
    """Deletes a file that you have sent and that no job has."""
    delete_upload(web_of(request), user_of(request), address_of(request), file)
    return Response(status_code=204)


async def _received(web: Web, request: Request, owner: str, name: str) -> StoredFile:
    """The body in the store; nothing of it stays where it breaks off."""
    with web.storage.files.receive(web.settings.limits.upload_bytes) as receiving:
        block = bytearray()
        async for piece in request.stream():
            block += piece
            if len(block) >= _BLOCK:
                await run_in_threadpool(receiving.write, bytes(block))
                block.clear()
        await run_in_threadpool(receiving.write, bytes(block))
        return await run_in_threadpool(web.storage.uploads.keep, owner, receiving, name)


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
    """Lists the databases of targets that you may name: yours, then what others share.

    A job of the verb "db build" makes one, which its title names.
    """
    web, user = web_of(request), user_of(request)
    found = web.storage.databases.list(user.name)
    return JSONResponse({"databases": [database_json(database) for database in found]})


@router.patch("/databases/{id}", responses=models.DATABASE, openapi_extra=models.SHARING, tags=["databases"])
async def change_database(request: Request, id: str) -> Response:
    """Shares a database of yours with all users of this server, or makes it yours alone again."""
    data = await read_json(request, ("shared",))
    shared = models.shared_of(data)
    if shared is None:
        raise Refused(422, "shared is missing: give true or false", field="shared")
    web, user, address = web_of(request), user_of(request), address_of(request)

    def change() -> Response:
        changed = share_database(web, user, address, id, shared)
        return JSONResponse(database_json(changed))

    return await run_in_threadpool(change)


@router.delete("/databases/{id}", status_code=204, responses=models.GONE, tags=["databases"])
def delete_database(request: Request, id: str) -> Response:
    """Deletes a database of yours."""
    web, user = web_of(request), user_of(request)
    database = own_database(web, user, id)
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
