"""API under /api/v1: jobs, files, verbs, databases, and the current user."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tropalign import __version__
from tropalign.errors import UsageError
from tropalign.properties import cached
from tropalign.serve.records import Search, State
from tropalign.serve.web import api_models as models
from tropalign.serve.web.api_models import database_json, job_json, upload_json
from tropalign.serve.web.context import Refused, address_of, user_of, web_of
from tropalign.serve.web.downloads import download, with_role
from tropalign.serve.web.limits import read_json
from tropalign.serve.web.user_jobs import (
    clean_tags,
    clean_title,
    delete_upload,
    forget_database,
    is_administrator,
    listed_owner,
    manageable_job,
    own_job,
    share_database,
    shared_job,
    still_there,
    submit,
    submit_in_format,
    wait_of,
)
from tropalign.submissions.submission import sanitised
from tropalign.submissions.verbs import SERVED, served_verb

if TYPE_CHECKING:
    from tropalign.serve.records import Job, User
    from tropalign.serve.web.context import Web

job_router = APIRouter(prefix="/api/v1", tags=["jobs"])
router = APIRouter(prefix="/api/v1")
MOST_CURSOR = 100
_OF_USER = "administrators only: list those of this user, or of all users for *"
#: Bytes that are buffered before a thread writes them.
_BLOCK = 1 << 20


@job_router.post("/jobs", responses=models.SUBMITTED, openapi_extra=models.SUBMISSION, status_code=201)
async def submit_job(request: Request) -> Response:
    """Submit a job: a verb with its inputs and options. An equal finished job is returned immediately (200)."""
    data = await read_json(request, models.SUBMITTED_FIELDS)
    title, tags, hook = models.title_of(data), models.tags_of(data), models.hook_of(data)
    data = {name: value for name, value in data.items() if name not in models.BESIDE}
    web, user, address = web_of(request), user_of(request), address_of(request)

    def enter() -> Response:
        job, is_new = submit(web, user, data, title or "", tags or (), address, hook)
        return JSONResponse(job_json(web, job, wait=wait_of(web, job)), 201 if is_new else 200)

    return await run_in_threadpool(enter)


@job_router.get("/jobs", responses=models.JOBS)
def list_jobs(
    request: Request,
    q: Annotated[str, Query(max_length=500, description="words to find in titles, tags, commands and names")] = "",
    state: State | None = None,
    verb: Annotated[str | None, Query(max_length=50)] = None,
    tag: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(max_length=MOST_CURSOR, description="`next` of the previous page")] = None,
    user: Annotated[str | None, Query(max_length=200, description=_OF_USER)] = None,
) -> Response:
    """List your jobs, newest first; administrators can list those of others."""
    web = web_of(request)
    asker = user_of(request)
    owner = listed_owner(web, asker, user)
    page = web.storage.jobs.list(Search(owner, q, state, verb, tag, limit, after))
    waits = web.storage.waits.of(page.jobs, web.settings.limits.running_per_user)
    found = [job_json(web, job, wait=waits.get(job.id), is_own=job.owner == asker.name) for job in page.jobs]
    return JSONResponse({"jobs": found, "next": page.after})


@job_router.get("/jobs/{id}", responses=models.JOB)
def get_job(request: Request, id: str) -> Response:
    """Show a job."""
    web = web_of(request)
    user = user_of(request)
    return _shown(web, user, own_job(web, user, id))


@job_router.patch("/jobs/{id}", responses=models.CHANGED, openapi_extra=models.CHANGE)
async def change_job(request: Request, id: str) -> Response:
    """Change a job's title or tags, or share it by a link."""
    data = await read_json(request, ("title", "tags", "shared"))
    title, tags, shared = models.title_of(data), models.tags_of(data), models.shared_of(data)
    web, user, address = web_of(request), user_of(request), address_of(request)
    return await run_in_threadpool(lambda: _shown(web, user, _changed(web, user, address, id, title, tags, shared)))


def _changed(
    web: Web, user: User, address: str, id: str, title: str | None, tags: tuple[str, ...] | None, shared: bool | None
) -> Job:
    job = own_job(web, user, id)
    if title is not None or tags is not None:
        kept = None if tags is None else clean_tags(tags)
        with still_there():
            job = web.storage.jobs.change(job.id, None if title is None else clean_title(title), kept)
    if shared is not None:
        with still_there():
            job = web.storage.jobs.set_shared(job.id, shared)
        web.audit(user, address, "share" if shared else "unshare", job.id)
    return job


@job_router.delete("/jobs/{id}", status_code=204, responses=models.GONE)
def delete_job(request: Request, id: str) -> Response:
    """Delete a job with its results; a running job is cancelled first."""
    web, user = web_of(request), user_of(request)
    job = manageable_job(web, user, id)
    with still_there():
        web.storage.jobs.delete(job.id)
    web.audit(user, address_of(request), "delete", job.id, f"{job.verb} of {job.owner}")
    return Response(status_code=204)


@job_router.post("/jobs/{id}/cancel", responses=models.CANCELLED)
def cancel_job(request: Request, id: str) -> Response:
    """Cancel a queued or running job; an ended job stays unchanged."""
    web, user = web_of(request), user_of(request)
    job = manageable_job(web, user, id)
    if not job.state.is_final:
        with still_there():
            job = web.storage.jobs.cancel(job.id)
        web.audit(user, address_of(request), "cancel", job.id, f"{job.verb} of {job.owner}")
    return _shown(web, user, job)


@job_router.post("/jobs/{id}/formats/{format}", responses=models.SUBMITTED, status_code=201)
def job_in_format(request: Request, id: str, format: str) -> Response:
    """Submit the same job in another format."""
    web, user = web_of(request), user_of(request)
    job = own_job(web, user, id)
    found, is_new = submit_in_format(web, user, job, format, address_of(request))
    return JSONResponse(job_json(web, found, wait=wait_of(web, found)), 201 if is_new else 200)


@job_router.get("/jobs/{id}/files/{role}", responses=models.BYTES)
def get_output(request: Request, id: str, role: str) -> Response:
    """Download an output."""
    web = web_of(request)
    return download(web, request, with_role(own_job(web, user_of(request), id).outputs, role))


@job_router.get("/jobs/{id}/inputs/{dest}/{n}", responses=models.BYTES)
def get_input(request: Request, id: str, dest: str, n: str) -> Response:
    """Download an input: the n-th of this name, from 0."""
    web = web_of(request)
    number = int(n) if n.isascii() and n.isdigit() and len(n) < 9 else -1
    return download(web, request, with_role(own_job(web, user_of(request), id).inputs, dest, number))


@job_router.get("/shared/{secret}", responses=models.JOB, tags=["shared"])
def get_shared(request: Request, secret: str) -> Response:
    """Show a shared job; needs no token."""
    web = web_of(request)
    return JSONResponse(job_json(web, shared_job(web, secret), is_shared_view=True))


@job_router.get("/shared/{secret}/files/{role}", responses=models.BYTES, tags=["shared"])
def get_shared_output(request: Request, secret: str, role: str) -> Response:
    """Download an output of a shared job; needs no token."""
    web = web_of(request)
    return download(web, request, with_role(shared_job(web, secret).outputs, role))


def _shown(web: Web, user: User, job: Job) -> Response:
    return JSONResponse(job_json(web, job, wait=wait_of(web, job), is_own=job.owner == user.name))


@router.post("/files", responses=models.SENT, openapi_extra=models.FILE_BODY, status_code=201, tags=["files"])
async def send_file(
    request: Request, name: Annotated[str, Query(max_length=1_000, description="displayed name")] = "sequences.fa"
) -> Response:
    """Upload a file, compressed or not, for use in submissions by its id. Equal bytes have equal ids."""
    web, user = web_of(request), user_of(request)
    most = web.settings.limits.stored_bytes_per_user
    await run_in_threadpool(web.storage.uploads.check_room, user.name, most)
    called = sanitised(name)
    with web.storage.files.receive(web.settings.limits.upload_bytes) as receiving:  # an interrupted upload is discarded
        block = bytearray()
        async for piece in request.stream():
            block += piece
            if len(block) >= _BLOCK:
                await run_in_threadpool(receiving.write, bytes(block))
                block.clear()
        await run_in_threadpool(receiving.write, bytes(block))
        stored = await run_in_threadpool(web.storage.uploads.keep, user.name, receiving, called)
    await run_in_threadpool(web.audit, user, address_of(request), "upload", stored.digest)
    return JSONResponse({"file": stored.digest, "name": called, "size": stored.size}, 201)


@router.get("/files", responses=models.FILES, tags=["files"])
def list_files(request: Request) -> Response:
    """List the files that you have uploaded and that no job of yours uses; they are deleted after a day."""
    web = web_of(request)
    return JSONResponse({"files": [upload_json(each) for each in web.storage.uploads.list(user_of(request).name)]})


@router.delete("/files/{file}", status_code=204, responses=models.GONE, tags=["files"])
def delete_file(request: Request, file: str) -> Response:
    """Delete a file that you have uploaded and that no job uses."""
    delete_upload(web_of(request), user_of(request), address_of(request), file)
    return Response(status_code=204)


@router.get("/verbs", responses=models.FIELDS, tags=["verbs"])
def list_verbs() -> Response:
    """List the served verbs with their inputs, options, outputs and formats."""
    return Response(_verbs_json(), media_type="application/json")


@router.get("/verbs/{name}", responses=models.FIELDS, tags=["verbs"])
def get_verb(name: str) -> Response:
    """Show the inputs, options, outputs and formats of a verb."""
    try:
        return JSONResponse(asdict(served_verb(name)))
    except UsageError as error:
        raise Refused(404, str(error)) from None


@cached
def _verbs_json() -> bytes:
    return bytes(JSONResponse({"verbs": [asdict(served_verb(name)) for name in SERVED]}).body)


@router.get("/databases", responses=models.DATABASES, tags=["databases"])
def list_databases(
    request: Request, user: Annotated[str | None, Query(max_length=200, description=_OF_USER)] = None
) -> Response:
    """List the databases of targets that you may use: yours, then the server's, then those that others share.

    A job of the verb "db build" makes a database, named by the job's title. Administrators can list databases that
    others have built.
    """
    web, asker = web_of(request), user_of(request)
    owner = listed_owner(web, asker, user)
    found = web.storage.databases.list(asker.name) if not user else web.storage.databases.built(owner)
    return JSONResponse({"databases": [database_json(database) for database in found]})


@router.patch("/databases/{id}", responses=models.DATABASE, openapi_extra=models.SHARING, tags=["databases"])
async def change_database(request: Request, id: str) -> Response:
    """Share a database of yours with all users of this server, or make it private again."""
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
    """Delete a database of yours."""
    forget_database(web_of(request), user_of(request), address_of(request), id)
    return Response(status_code=204)


@router.get("/me", responses=models.ME, tags=["user"])
def who_asks(request: Request) -> Response:
    """Show the current user with limits and stored bytes."""
    web, user = web_of(request), user_of(request)
    stored = web.storage.jobs.stored_bytes(user.name)
    limits = asdict(web.storage.users.limits(user.name, web.settings.limits))
    about = {"user": user.name, "administrator": is_administrator(web, user), "version": __version__}
    return JSONResponse({**about, "stored_bytes": stored, "limits": limits})
