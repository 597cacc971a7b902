"""Downloads of job files, and reports as pages of a separate origin."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from tropalign.serve.web.context import Refused, route_path, user_of, web_of
from tropalign.serve.web.user_jobs import own_job, shared_job

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tropalign.serve.records import Job, JobFile
    from tropalign.serve.web.context import Web

router = APIRouter(include_in_schema=False)
#: Allowed media types; all other files are sent as application/octet-stream.
MEDIA_TYPES = {
    "text/plain", "text/html", "text/csv", "text/tab-separated-values", "application/json", "application/x-ndjson",
    "image/svg+xml", "image/png", "application/pdf", "application/gzip", "application/zip",
    "application/vnd.apache.arrow.file", "application/vnd.apache.parquet",
}  # fmt: skip
_TEXTS = ("text/plain", "text/html", "text/csv", "text/tab-separated-values")
#: Maximum ranges per request; genuine clients do not need more.
MOST_RANGES = 4
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
#: Reports contain inline scripts and styles, and a policy with their hashes. This policy adds a separate origin
#: without access to this server's cookies.
#: Links to UniProt and NCBI records open in new windows outside the sandbox.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox; "
    "default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'none'; form-action 'none'; "
    "frame-ancestors 'self'; base-uri 'none'"
)
#: Other outputs, such as SVG: scripts are blocked.
FILE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
#: With no-referrer, browsers would send "Origin: null" for this server's own forms.
_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_DEFAULTS = ((b"content-security-policy", PAGE_POLICY.encode()), (b"cache-control", b"no-store"))
_FOREVER = (b"cache-control", b"public, max-age=31536000, immutable")


@router.get("/jobs/{id}/report")
def report(request: Request, id: str) -> Response:
    """Send the report of a job, for the frame on its page."""
    web = web_of(request)
    return report_of(web, request, own_job(web, user_of(request), id))


@router.get("/shared/{secret}/report")
def shared_report(request: Request, secret: str) -> Response:
    """Send the report of a shared job."""
    web = web_of(request)
    return report_of(web, request, shared_job(web, secret))


def report_of(web: Web, request: Request, job: Job) -> Response:
    """Send the HTML output of a job: its report, else its result; raise Refused if it has neither."""
    pages = [file for file in job.outputs if file.media_type.startswith("text/html")]
    page = next((file for file in pages if file.role == "report"), pages[0] if pages else None)
    if page is None:
        raise Refused(404, "the job has no report")
    return _sent(web, request, page, "text/html; charset=utf-8", REPORT_POLICY, is_inline=True)


def download(web: Web, request: Request, file: JobFile | None) -> Response:
    """Send a file of a job as a download, or raise Refused if there is no such file."""
    if file is None or file.digest is None:
        raise Refused(404, "the job has no such file")
    kind = file.media_type.partition(";")[0].strip()
    kind = kind if kind in MEDIA_TYPES else "application/octet-stream"
    return _sent(web, request, file, f"{kind}; charset=utf-8" if kind in _TEXTS else kind, FILE_POLICY)


def with_role(files: Iterable[JobFile], role: str, n: int = 0) -> JobFile | None:
    """Return the n-th file of a role, or None."""
    found = [file for file in files if file.role == role]
    return found[n] if 0 <= n < len(found) else None


def _sent(web: Web, request: Request, file: JobFile, kind: str, policy: str, is_inline: bool = False) -> Response:
    try:
        path = web.storage.files.path(file.digest or "")
    except KeyError:
        raise Refused(404, "the file is no longer on the server") from None
    ranges = request.headers.get("range", "")
    if ranges.count(",") >= MOST_RANGES or len(ranges) > 200:
        raise Refused(416, f"at most {MOST_RANGES} ranges of a file are sent at once")
    headers = {
        "Content-Type": kind,
        "Content-Disposition": disposition(file.name, "inline" if is_inline else "attachment"),
        "Content-Security-Policy": policy,
        "Cache-Control": "private, no-cache",
        "ETag": f'"{file.digest}"',
    }
    return FileResponse(path, headers=headers)


def disposition(name: str, kind: str = "attachment") -> str:
    """Return a Content-Disposition header (RFC 6266); file names cannot end the header or leave the download folder.

    >>> print(disposition('a"b.fa'))
    attachment; filename="a_b.fa"; filename*=UTF-8''a_b.fa
    """
    safe = "".join(letter if letter.isprintable() and letter not in '"\\/:*?<>|%;' else "_" for letter in name)
    safe = safe.encode("utf-8", "replace").decode().lstrip(".").strip()[:150] or "result"
    plain = "".join(letter if letter.isascii() else "_" for letter in safe)
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(safe, safe='')}"


class SafeHeaders:
    """Middleware that adds these headers; a route's own policy and caching have precedence."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_static = route_path(scope).startswith("/static/") and b"v=" in scope["query_string"]

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                known = {name.lower() for name, _ in headers}
                if is_static and message["status"] == 200 and b"cache-control" not in known:
                    headers.append(_FOREVER)
                    known.add(b"cache-control")
                headers.extend(_ALWAYS)
                headers.extend(pair for pair in _DEFAULTS if pair[0] not in known)
                message["headers"] = headers
            await send(message)

        await self.app(scope, receive, with_headers)
