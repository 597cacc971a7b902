"""Headers of every response: resources that pages may load, and restrictions for other sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.serve.web.paths import route_path

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
#: Reports contain inline scripts and styles, with their own policy that lists the hashes of these; here they get a
#: separate origin without access to this server's cookies.
#: Their links to UniProt and NCBI records open in new windows outside the sandbox.
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
