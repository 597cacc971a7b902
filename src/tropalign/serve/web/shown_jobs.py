"""Jobs as programs see them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tropalign.serve.records import State

if TYPE_CHECKING:
    from tropalign.serve.records import Database, Job, JobFile, Upload
    from tropalign.serve.web.context import Web


def job_json(web: Web, job: Job, *, position: int | None = None, is_shared_view: bool = False) -> dict[str, Any]:
    """A job; who has its shared link alone is not told whose it is, nor what is done with it."""
    found: dict[str, Any] = {
        "id": job.id,
        "verb": job.verb,
        "title": job.title,
        "tags": list(job.tags),
        "state": str(job.state),
        "stage": job.stage,
        "progress": job.progress,
        "created": moment(job.created),
        "started": moment(job.started),
        "finished": moment(job.finished),
        "command": job.command,
        "format": job.request.get("format"),
        "options": job.request.get("options", {}),
        "inputs": [_input(file) for file in job.inputs],
        "outputs": [_output(file) for file in job.outputs],
        "message": job.message,
        "exit_code": 0 if job.state == State.DONE else job.exit_code,
        "forecast": job.forecast,
        "owner": job.owner,
        "shared": None if job.share is None else web.url(f"/shared/{job.share}"),
        "version": job.version,
        "queue_position": position,
    }
    if is_shared_view:
        for name in ("owner", "tags"):
            del found[name]
        found["inputs"] = [{"dest": file.role, "name": file.name, "size": file.size} for file in job.inputs]
    return found


def database_json(database: Database) -> dict[str, Any]:
    """A database of targets."""
    return {
        "id": database.id,
        "name": database.name,
        "alphabet": database.alphabet,
        "sequences": database.n_sequences,
        "residues": database.n_residues,
        "size": database.size,
        "created": moment(database.created),
        "owner": database.owner,
        "shared": database.shared,
        "job": database.job,
    }


def upload_json(upload: Upload) -> dict[str, Any]:
    """A file that was sent."""
    return {"file": upload.digest, "name": upload.name, "size": upload.size, "sent": moment(upload.at)}


def moment(seconds: float | None) -> str | None:
    """A time in ISO 8601, UTC, to the millisecond.

    Examples
    --------
    >>> moment(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _input(file: JobFile) -> dict[str, Any]:
    source = {"database": file.database} if file.database is not None else {"file": file.digest}
    return {"dest": file.role, "name": file.name, "size": file.size, **source}


def _output(file: JobFile) -> dict[str, Any]:
    return {"role": file.role, "name": file.name, "size": file.size, "media_type": file.media_type}
