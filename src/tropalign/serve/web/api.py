"""The API under /api/v1: jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tropalign.serve.records import Search, State
from tropalign.serve.web import models
from tropalign.serve.web.bodies import read_json
from tropalign.serve.web.context import address_of, user_of, web_of
from tropalign.serve.web.downloads import download, with_role
from tropalign.serve.web.own_jobs import own_job, position_of, shared_job
from tropalign.serve.web.shown_jobs import job_json
from tropalign.serve.web.submit import clean_tags, clean_title, submit, submit_in_format

if TYPE_CHECKING:
    from tropalign.serve.records import Job, User
    from tropalign.serve.web.context import Web

router = APIRouter(prefix="/api/v1", tags=["jobs"])
MOST_CURSOR = 100


@router.post("/jobs", responses=models.SUBMITTED, openapi_extra=models.SUBMISSION, status_code=201)
async def submit_job(request: Request) -> Response:
    """Submits a job: a verb with its inputs and options. An equal one that is finished comes back at once (200)."""
    data = await read_json(request, models.SUBMITTED_FIELDS)
    title, tags = models.title_of(data), models.tags_of(data)
    data = {name: value for name, value in data.items() if name not in ("title", "tags")}
    web, user, address = web_of(request), user_of(request), address_of(request)

    def enter() -> Response:
        job, is_new = submit(web, user, data, title or "", tags or (), address)
        return JSONResponse(job_json(web, job, position=position_of(web, job)), 201 if is_new else 200)

    return await run_in_threadpool(enter)


@router.get("/jobs", responses=models.JOBS)
def list_jobs(
    request: Request,
    q: Annotated[str, Query(max_length=500, description="words in titles, tags, commands and names")] = "",
    state: State | None = None,
    verb: Annotated[str | None, Query(max_length=50)] = None,
    tag: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(max_length=MOST_CURSOR, description="`next` of the page before")] = None,
) -> Response:
    """Lists your jobs, newest first."""
    web = web_of(request)
    page = web.storage.jobs.list(Search(user_of(request).name, q, state, verb, tag, limit, after))
    return JSONResponse({"jobs": [job_json(web, job) for job in page.jobs], "next": page.after})


@router.get("/jobs/{id}", responses=models.JOB)
def get_job(request: Request, id: str) -> Response:
    """Shows a job."""
    web = web_of(request)
    return _shown(web, own_job(web, user_of(request), id))


@router.patch("/jobs/{id}", responses=models.CHANGED, openapi_extra=models.CHANGE)
async def change_job(request: Request, id: str) -> Response:
    """Changes a job's title or tags, or shares it by a link."""
    data = await read_json(request, ("title", "tags", "shared"))
    title, tags, shared = models.title_of(data), models.tags_of(data), models.shared_of(data)
    web, user, address = web_of(request), user_of(request), address_of(request)
    return await run_in_threadpool(lambda: _shown(web, _changed(web, user, address, id, title, tags, shared)))


def _changed(
    web: Web, user: User, address: str, id: str, title: str | None, tags: tuple[str, ...] | None, shared: bool | None
) -> Job:
    job = own_job(web, user, id)
    if title is not None or tags is not None:
        kept = None if tags is None else clean_tags(tags)
        job = web.storage.jobs.change(job.id, None if title is None else clean_title(title), kept)
    if shared is not None:
        job = web.storage.jobs.set_shared(job.id, shared)
        web.audit(user, address, "share" if shared else "unshare", job.id)
    return job


@router.delete("/jobs/{id}", status_code=204, responses=models.GONE)
def delete_job(request: Request, id: str) -> Response:
    """Deletes a job with its results; one that runs is cancelled first."""
    web, user = web_of(request), user_of(request)
    job = own_job(web, user, id)
    web.storage.jobs.delete(job.id)
    web.audit(user, address_of(request), "delete", job.id, job.verb)
    return Response(status_code=204)


@router.post("/jobs/{id}/cancel", responses=models.CANCELLED)
def cancel_job(request: Request, id: str) -> Response:
    """Cancels a job that waits or runs; one that has ended stays as it is."""
    web, user = web_of(request), user_of(request)
    job = own_job(web, user, id)
    if not job.state.is_final:
        job = web.storage.jobs.cancel(job.id)
        web.audit(user, address_of(request), "cancel", job.id)
    return _shown(web, job)


@router.post("/jobs/{id}/formats/{format}", responses=models.SUBMITTED, status_code=201)
def job_in_format(request: Request, id: str, format: str) -> Response:
    """Submits the same job in another format."""
    web, user = web_of(request), user_of(request)
    job = own_job(web, user, id)
    found, is_new = submit_in_format(web, user, job, format, address_of(request))
    return JSONResponse(job_json(web, found, position=position_of(web, found)), 201 if is_new else 200)


@router.get("/jobs/{id}/files/{role}", responses=models.BYTES)
def get_output(request: Request, id: str, role: str) -> Response:
    """Downloads an output."""
    web = web_of(request)
    return download(web, request, with_role(own_job(web, user_of(request), id).outputs, role))


@router.get("/jobs/{id}/inputs/{dest}/{n}", responses=models.BYTES)
def get_input(request: Request, id: str, dest: str, n: str) -> Response:
    """Downloads an input: the n-th of its name, from 0."""
    web = web_of(request)
    number = int(n) if n.isascii() and n.isdigit() and len(n) < 9 else -1
    return download(web, request, with_role(own_job(web, user_of(request), id).inputs, dest, number))


@router.get("/shared/{secret}", responses=models.JOB, tags=["shared"])
def get_shared(request: Request, secret: str) -> Response:
    """Shows a shared job; needs no token."""
    web = web_of(request)
    return JSONResponse(job_json(web, shared_job(web, secret), is_shared_view=True))


@router.get("/shared/{secret}/files/{role}", responses=models.BYTES, tags=["shared"])
def get_shared_output(request: Request, secret: str, role: str) -> Response:
    """Downloads an output of a shared job; needs no token."""
    web = web_of(request)
    return download(web, request, with_role(shared_job(web, secret).outputs, role))


def _shown(web: Web, job: Job) -> Response:
    return JSONResponse(job_json(web, job, position=position_of(web, job)))
