"""Headers of every answer: what pages may load, and what other sites may do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.serve.web.paths import route_path

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
#: Reports bring script and style inside, and a policy of their own that names these by their hashes; here they are an
#: origin of their own, which knows nothing of this server's cookies.
#: Links of theirs to records of UniProt and NCBI open in windows of their own, which are no part of the sandbox.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox; "
    "default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'none'; form-action 'none'; "
    "frame-ancestors 'self'; base-uri 'none'"
)
#: Other outputs, such as SVG: nothing in them runs.
FILE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
#: With no-referrer, browsers would say "Origin: null" of this server's own forms.
_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_DEFAULTS = ((b"content-security-policy", PAGE_POLICY.encode()), (b"cache-control", b"no-store"))
_FOREVER = (b"cache-control", b"public, max-age=31536000, immutable")


class SafeHeaders:
    """Adds them; a route's own policy and caching stand."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
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
