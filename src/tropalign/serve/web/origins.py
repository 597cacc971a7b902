"""Checks of request origins and host names.

Pages of other sites must not submit jobs. Browsers report a request's origin (`Sec-Fetch-Site`, `Origin`). A
request without these comes from a program or an old browser; the latter can send only form content types, which
must then contain the csrf value of this server's forms.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request

from tropalign.errors import UsageError, shown
from tropalign.serve.web.limits import Body
from tropalign.serve.web.refusals import Refused

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import Message, Receive, Scope

    from tropalign.serve.settings import Settings
    from tropalign.serve.web.context import Web

#: Content types that a form of any page can send.
_OF_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
#: Maximum bytes of a form that are read to find the csrf value.
MOST_BYTES = 10**6
_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?")


async def check_origin(web: Web, scope: Scope, headers: Headers, receive: Receive) -> Receive:
    """Raise Refused if a request may come from another site; else return the `receive` for reading its body."""
    if is_bearer(headers):  # browsers never add it by themselves
        return receive
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in ("same-origin", "none"):
        raise _elsewhere()
    if origin is not None:
        if not _is_own(origin, headers.get("host", ""), web.settings.is_https):
            raise _elsewhere()
        return receive
    if site == "same-origin":
        return receive
    session = scope["state"]["session"]
    word = headers.get("x-csrf-token")
    if word is not None:
        if not web.sessions.is_csrf(session, word):
            raise _elsewhere()
        return receive
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if session is None and kind not in _OF_FORMS:
        return receive
    return await _form_with_word(web, scope, headers, receive, kind)


def is_bearer(headers: Headers) -> bool:
    """True if the request has a bearer token, as from programs; browsers themselves add only Basic credentials."""
    return headers.get("authorization", "").partition(" ")[0].lower() == "bearer"


def _is_own(origin: str, host: str, is_https: bool) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    ports = {"http": ":80", "https": ":443"}
    if parts.scheme not in ports or (is_https and parts.scheme != "https"):
        return False
    port = ports[parts.scheme]
    return parts.netloc.lower().removesuffix(port) == host.lower().removesuffix(port)


async def _form_with_word(web: Web, scope: Scope, headers: Headers, receive: Receive, kind: str) -> Receive:
    """Check the csrf value of a small form, and return a `receive` that replays it."""
    if kind not in _OF_FORMS[:2]:
        raise _no_word()
    messages: list[Message] = []
    body = Body(receive, MOST_BYTES)
    while not messages or messages[-1].get("more_body", False):
        message = await body()
        if message["type"] != "http.request":
            break
        messages.append(message)
    word = await _word_of(scope, _again(messages, receive))
    if not isinstance(word, str) or not web.sessions.is_csrf(scope["state"]["session"], word):
        raise _no_word()
    return _again(messages, receive)


async def _word_of(scope: Scope, receive: Receive) -> object:
    try:
        async with Request(dict(scope), receive).form(max_files=100, max_fields=500) as form:
            return form.get("csrf")
    except HTTPException:
        raise _no_word() from None


def _again(messages: list[Message], receive: Receive) -> Receive:
    rest = iter(messages)

    async def replay() -> Message:
        return next(rest, None) or await receive()

    return replay


def _elsewhere() -> Refused:
    return Refused(403, "the request comes from a page of another site: open this server's page and try again there")


def _no_word() -> Refused:
    return Refused(
        403,
        "the request might come from a page of another site: programs send JSON as Content-Type: application/json, "
        "files as application/octet-stream, and forms the field csrf",
    )


def host_name(header: str) -> str | None:
    """Return the name in a Host header, without port and brackets, in lower case; None if it is invalid.

    >>> host_name("LocalHost:8080"), host_name("[::1]:80"), host_name("a@b")
    ('localhost', '::1', None)
    """
    found = _HOST.fullmatch(header)
    return found[1].strip("[]").rstrip(".").lower() if found else None


def is_address(name: str) -> bool:
    """True if it is an IP address rather than a name."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback_name(name: str) -> bool:
    """True if a name means the loopback interface without a DNS lookup."""
    return name == "localhost" or name.endswith(".localhost") or (is_address(name) and ip_address(name).is_loopback)


class Hosts:
    """Allowed host names of requests, which prevents DNS rebinding by other sites.

    If other machines can reach the server, any IP address is also allowed, because addresses need no DNS.
    """

    def __init__(self, settings: Settings) -> None:
        self._is_loopback = settings.is_loopback
        own = () if self._is_loopback else (socket.gethostname(),)
        self._names = {name.lower().rstrip(".") for name in (settings.host, *own, *settings.allowed_hosts)}

    def allows(self, name: str) -> bool:
        """True if requests with this name are answered."""
        return name in self._names or is_loopback_name(name) or (not self._is_loopback and is_address(name))


def networks(addresses: Iterable[str]) -> Callable[[str], bool]:
    """Return a predicate for membership in these addresses or networks; raise UsageError if one is invalid."""
    known: list[IPv4Network | IPv6Network] = []
    for address in addresses:
        try:
            known.append(ip_network(address, strict=False))
        except ValueError:
            raise UsageError(
                f"--trusted-proxy {shown(address)} is no address: give one like 10.0.0.7 or 10.0.0.0/8"
            ) from None

    def is_one(address: str) -> bool:
        if not is_address(address):
            return False
        place = ip_address(address)
        return any(place.version == network.version and place in network for network in known)

    return is_one
