"""Data of the API: its OpenAPI document, small request bodies with their checks, and records as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from tropalign.serve.notices import MOST_LETTERS as MOST_HOOK
from tropalign.serve.records import State
from tropalign.serve.web.context import Refused
from tropalign.serve.web.downloads import MEDIA_TYPES, MOST_RANGES
from tropalign.serve.web.limits import MOST_TAGS
from tropalign.submissions.submission import BUILD
from tropalign.submissions.submission import FIELDS as SUBMISSION_FIELDS

if TYPE_CHECKING:
    from tropalign.serve.records import Database, Job, JobFile, Upload, Wait
    from tropalign.serve.web.context import Web

#: Fields of a submission over HTTP, and those that do not affect the result.
BESIDE = ("title", "tags", "hook")
SUBMITTED_FIELDS = (*SUBMISSION_FIELDS, *BESIDE)
MOST_TITLE_SENT = 2_000


class ErrorModel(BaseModel):
    """Error: one sentence, and the field that it concerns."""

    error: str
    field: str | None = None


class FileModel(BaseModel):
    """Uploaded file; `file` is its id in submissions."""

    file: str
    name: str
    size: int


class UploadModel(BaseModel):
    """Uploaded file with its time."""

    file: str
    name: str
    size: int
    sent: str


class UploadsModel(BaseModel):
    """Uploaded files that no job uses, newest first."""

    files: list[UploadModel]


class InputModel(BaseModel):
    """Input of a job; `job` is the job whose output the file is."""

    dest: str
    name: str
    size: int
    file: str | None = None
    database: str | None = None
    job: str | None = None


class OutputModel(BaseModel):
    """Output of a job, at `/api/v1/jobs/{id}/files/{role}`."""

    role: str
    name: str
    size: int
    media_type: str


class JobModel(BaseModel):
    """Job. Times are ISO 8601, UTC; `progress` is between 0 and 1 if known.

    The server may delete the job from `kept_until` on; null means never, or not known yet. For a queued job,
    `waiting` is a text about what it waits for, and `waits_for` has the ids of the jobs whose results it will
    read. For jobs of others, administrators see empty `command`, `options`, `inputs` and `shared`.
    """

    id: str
    verb: str
    title: str
    tags: list[str]
    state: str
    stage: str
    progress: float | None
    created: str
    started: str | None
    finished: str | None
    kept_until: str | None
    command: str
    format: str | None
    options: dict[str, Any]
    inputs: list[InputModel]
    outputs: list[OutputModel]
    message: str
    exit_code: int | None
    forecast: dict[str, Any] | None
    owner: str
    shared: str | None
    version: str
    queue_position: int | None
    waiting: str | None
    waits_for: list[str]


class JobsModel(BaseModel):
    """Page of jobs, newest first; `next` is the value of `after` for the next page."""

    jobs: list[JobModel]
    next: str | None


class DatabaseModel(BaseModel):
    """Database of targets, usable in submissions in place of a file; `owner` is null for an installed one."""

    id: str
    name: str
    alphabet: str
    sequences: int
    residues: int
    size: int
    created: str
    owner: str | None
    shared: bool
    installed: bool
    job: str | None


class DatabasesModel(BaseModel):
    """Databases that you may use: yours, then the server's, then those that others share."""

    databases: list[DatabaseModel]


class MeModel(BaseModel):
    """Current user with limits and stored bytes."""

    user: str
    administrator: bool
    version: str
    stored_bytes: int
    limits: dict[str, float]


Responses = dict[int | str, dict[str, Any]]
_DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
JOB_EXAMPLE: dict[str, Any] = {
    "id": "mzxw6ytboi2dknrwgy3tqojzga", "verb": "pairs", "title": "kinases", "tags": ["june"], "state": "running",
    "stage": "pairs", "progress": 0.42, "created": "2026-06-01T09:00:00.000Z", "started": "2026-06-01T09:00:01.250Z",
    "finished": None, "kept_until": None, "command": "tropalign pairs kinases.fa --mode local -o kinases.tsv",
    "format": "tsv", "options": {"mode": "local"},
    "inputs": [{"dest": "queries", "name": "kinases.fa", "size": 5120, "file": _DIGEST}],
    "outputs": [], "message": "", "exit_code": None, "forecast": None, "owner": "alice", "shared": None,
    "version": "1.0.0", "queue_position": None, "waiting": None, "waits_for": [],
}  # fmt: skip
_SUBMISSION_EXAMPLE: dict[str, Any] = {
    "verb": "pairs", "inputs": {"queries": [{"text": ">a\nMKVLA\n>b\nMKILA\n", "name": "pasted.fa"}]},
    "options": {"mode": "local"}, "format": "tsv", "outputs": ["report"], "title": "two peptides", "tags": ["test"],
}  # fmt: skip


def _answer(model: type[BaseModel], words: str, example: Any = None) -> dict[str, Any]:
    content = {} if example is None else {"content": {"application/json": {"example": example}}}
    return {"model": model, "description": words, **content}


def _error(words: str, example: str) -> dict[str, Any]:
    return _answer(ErrorModel, words, {"error": example})


_LOGIN: Responses = {401: _error("no valid token", "the server needs a token: send it as Authorization: Bearer TOKEN")}
_BUSY: Responses = {
    429: _error("too many requests or jobs; Retry-After is the time to wait in seconds", "too many requests: wait")
}
_NONE: Responses = {
    404: _error("missing, or not yours", "there is no such job: it was deleted, or belongs to another user")
}
_WRONG: Responses = {
    422: _answer(ErrorModel, "an invalid field", {"error": "--gap-open must be a whole number", "field": "options"})
}
#: Errors of every request: an invalid head, or a server problem.
_HEAD: Responses = {
    400: _error("the headers are invalid, or the body is incomplete", "the request has no valid Host header"),
    405: _error("wrong method; Allow lists the valid ones", "this address does not accept this method"),
    414: _error("the address is too long", "the address is longer than 8,000 bytes"),
    421: _error("unknown name of the server", "this server is not known as a.example: start it with --allowed-host"),
    431: _error("the headers are too long or too many", "there are more than 100 headers"),
    503: _error(
        "the database is unavailable, or the disk is full", "the database does not answer: try again in a few seconds"
    ),
}
COMMON: Responses = {**_LOGIN, **_BUSY, **_HEAD}
#: Errors of requests that change something.
_CHANGING: Responses = {
    403: _error("request from a page of another site", "the request comes from a page of another site"),
    413: _error("too large", "more than 500,000,000 bytes are not accepted: send less"),
}
#: Errors of requests with a body.
_SENDING: Responses = {
    **_CHANGING, 408: _error("the body arrives too slowly", "the body arrives too slowly: send it again"),
    415: _error("wrong content type of the body", "the body must be JSON: send Content-Type: application/json"),
}  # fmt: skip
JOB: Responses = {200: _answer(JobModel, "the job", JOB_EXAMPLE), **COMMON, **_NONE}
CHANGED: Responses = {**JOB, **_SENDING, **_WRONG}
CANCELLED: Responses = {**JOB, **_CHANGING}
_OTHERS: Responses = {
    403: _error("of other users", "only administrators can list what other users have: ask for your own")
}
JOBS: Responses = {
    200: _answer(JobsModel, "jobs", {"jobs": [JOB_EXAMPLE], "next": None}), **COMMON, **_WRONG, **_OTHERS,
}  # fmt: skip
SUBMITTED: Responses = {
    201: _answer(JobModel, "the new job", JOB_EXAMPLE),
    200: _answer(JobModel, "an equal finished job", JOB_EXAMPLE),
    **COMMON, **_SENDING, **_WRONG, **_NONE,
}  # fmt: skip
GONE: Responses = {204: {"description": "it is deleted"}, **COMMON, **_CHANGING, **_NONE, **_WRONG}
_FILE: dict[str, Any] = {kind: {} for kind in sorted({*MEDIA_TYPES, "application/octet-stream"})}
_RANGES = {"error": f"at most {MOST_RANGES} ranges of a file are sent at once"}
BYTES: Responses = {
    200: {"description": "the bytes", "content": _FILE},
    206: {"description": "the requested ranges", "content": {**_FILE, "multipart/byteranges": {}}},
    416: {"description": "a range outside the file", "content": {
        "text/plain": {}, "application/json": {"example": _RANGES},
    }},
    **COMMON, **_NONE, 400: {"description": "the header Range, or another one, is invalid", "content": {
        "text/plain": {}, "application/json": {"example": {"error": "the request has no valid Host header"}},
    }},
}  # fmt: skip
SENT: Responses = {
    201: _answer(FileModel, "the file, with the SHA-256 of its bytes as its id",
                 {"file": _DIGEST, "name": "kinases.fa", "size": 5120}),
    **COMMON, **_SENDING, **_WRONG,
}  # fmt: skip
EVENTS: Responses = {
    200: {"description": "`event: job` with the job at each change, until the job has ended",
          "content": {"text/event-stream": {"example": "event: job\ndata: {...}\n\n"}}},
    **COMMON, **_NONE,
}  # fmt: skip
FILES: Responses = {200: _answer(UploadsModel, "the files"), **COMMON}
DATABASE: Responses = {200: _answer(DatabaseModel, "the database"), **COMMON, **_SENDING, **_NONE, **_WRONG}
DATABASES: Responses = {200: _answer(DatabasesModel, "the databases"), **COMMON, **_WRONG, **_OTHERS}
ME: Responses = {200: _answer(MeModel, "the user and the limits"), **COMMON}
FIELDS: Responses = {
    200: {"description": "inputs, options, outputs and formats of the verbs"},
    **COMMON,
    **_NONE,
}


def _body(
    words: str, example: Any, properties: dict[str, Any], required: Sequence[str] = (), **more: Any
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    schema |= more
    content = {"application/json": {"schema": schema, "example": example}}
    return {"requestBody": {"required": True, "description": words, "content": content}}


_STRINGS = {"type": "array", "items": {"type": "string"}}
_TITLE = {"type": "string", "maxLength": MOST_TITLE_SENT}
_TAGS = {**_STRINGS, "maxItems": MOST_TAGS}
_ITEM = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("name", "file", "database", "text", "job", "role")},
    "description": "one of file (its id), database (its id or name), text or job (the id of one of your jobs, with "
    "the role of its output, by default main; the new job waits until that job has ended); and a name",
}
SUBMISSION = _body(
    "the submission",
    _SUBMISSION_EXAMPLE,
    {
        "verb": {"type": "string"},
        "inputs": {"type": "object", "additionalProperties": {"type": "array", "items": _ITEM}},
        "options": {"type": "object"},
        "format": {"type": "string"},
        "outputs": _STRINGS,
        "shared": {"type": "boolean", "description": "for db build: whether all users may use the database"},
        "title": _TITLE,
        "tags": _TAGS,
        "hook": {
            "type": "string",
            "maxLength": MOST_HOOK,
            "description": "e-mail address or web hook that is notified when the job ends",
        },
    },
    ("verb", "inputs"),
    **{
        "if": {"properties": {"verb": {"const": BUILD}}, "required": ["verb"]},
        "else": {"properties": {"shared": {"const": False}}},
    },
)
SHARING = _body("whether to share the database", {"shared": True}, {"shared": {"type": "boolean"}}, ("shared",))
CHANGE = _body(
    "the values to change",
    {"title": "kinases, again", "shared": True},
    {"title": _TITLE, "tags": _TAGS, "shared": {"type": "boolean"}},
)
FILE_BODY = {
    "requestBody": {
        "required": False,  # a missing body is an empty file, which is accepted: jobs that use it report the problem
        "description": "the file's bytes, compressed or not; a file may be empty",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def title_of(data: dict[str, Any]) -> str | None:
    """Return the title if given; raise Refused if it is invalid."""
    title = data.get("title")
    if "title" in data and (not isinstance(title, str) or len(title) > MOST_TITLE_SENT):
        raise Refused(422, "title must be a string", field="title")
    return cast("str | None", title)


def tags_of(data: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the tags if given; raise Refused if they are invalid."""
    tags = data.get("tags")
    if "tags" not in data:
        return None
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise Refused(422, "tags must be a list of strings", field="tags")
    if len(tags) > MOST_TAGS:
        raise Refused(422, f"a job can have at most {MOST_TAGS} tags", field="tags")
    return tuple(tags)


def hook_of(data: dict[str, Any]) -> str:
    """Return the address to notify at the job's end, empty if not given; raise Refused if it is not a string."""
    hook = data.get("hook", "")
    if not isinstance(hook, str):
        raise Refused(422, "hook must be a string: an e-mail address or the address of a web hook", field="hook")
    return hook


def shared_of(data: dict[str, Any]) -> bool | None:
    """Return whether to share if given; raise Refused if it is not a bool."""
    shared = data.get("shared")
    if "shared" in data and not isinstance(shared, bool):
        raise Refused(422, "shared must be true or false", field="shared")
    return cast("bool | None", shared)


def job_json(
    web: Web, job: Job, *, wait: Wait | None = None, is_shared_view: bool = False, is_own: bool = True
) -> dict[str, Any]:
    """Return a job as JSON; viewers of a shared link do not see its owner and activity.

    Administrators do not see another user's inputs or shared link, because the link gives access to the results.
    """
    found = {name: vars(job).get(name) for name in JobModel.model_fields}
    found |= {name: moment(getattr(job, name)) for name in ("created", "started", "finished")}
    found |= {
        "kept_until": moment(web.settings.kept_until(job.finished)),
        "format": job.request.get("format"),
        "options": job.request.get("options", {}),
        "inputs": [_input(file, source) for file, source in zip(job.inputs, job.sources, strict=True)],
        "outputs": [{name: getattr(file, name) for name in OutputModel.model_fields} for file in job.outputs],
        "exit_code": 0 if job.state == State.DONE else job.exit_code,
        "shared": None if job.share is None else web.url(f"/shared/{job.share}"),
        "queue_position": None if wait is None else wait.position,
        "waiting": None if wait is None else wait.sentence,
        "waits_for": [] if wait is None else [id for id, _ in wait.jobs],
    }
    if is_shared_view:
        for name in ("owner", "tags", "queue_position", "waiting", "waits_for"):
            del found[name]
        found["message"] = job.open_message
        found["inputs"] = [{"dest": file.role, "name": file.name, "size": file.size} for file in job.inputs]
    if not is_own:
        found |= {"command": "", "options": {}, "inputs": [], "shared": None}
    return found


def database_json(database: Database) -> dict[str, Any]:
    """Return a database of targets as JSON."""
    return {name: vars(database).get(name) for name in DatabaseModel.model_fields} | {
        "sequences": database.n_sequences,
        "residues": database.n_residues,
        "created": moment(database.created),
        "owner": database.owner or None,
        "installed": database.is_installed,
    }


def upload_json(upload: Upload) -> dict[str, Any]:
    """Return an uploaded file as JSON."""
    return {"file": upload.digest, "name": upload.name, "size": upload.size, "sent": moment(upload.at)}


def moment(seconds: float | None) -> str | None:
    """Format a time in ISO 8601, UTC, with milliseconds.

    >>> moment(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _input(file: JobFile, job: str | None) -> dict[str, Any]:
    source = {"database": file.database} if file.database is not None else {"file": file.digest}
    of_job = {} if job is None else {"job": job}
    return {"dest": file.role, "name": file.name, "size": file.size, **source, **of_job}
