"""Notifications at the end of jobs: allowed addresses, and calls of web hooks.

A server that calls user-supplied URLs can be made to call hosts that only it can reach: routers, services of its
machine, cloud metadata. Therefore a hook's host must be named by the operator, or, if the operator allows all
hosts, have only public addresses. The connection goes to the checked address without another lookup, and redirects
are not followed.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import socket
import ssl
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from tropalign import __version__
from tropalign.errors import UsageError
from tropalign.serve.mail import ALL_DOMAINS, check_mail, is_mail
from tropalign.serve.records import Job
from tropalign.serve.settings import Settings

ALL_HOSTS = "*"
MOST_LETTERS = 500
#: Total time limit of a call.
SECONDS = 10.0
#: Networks that some Python versions treat as public: those that lead to private addresses (NAT64, 6to4, Teredo,
#: 6to4 relays), protocol assignments, the former private IPv6 addresses, and one for documentation.
_NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        (
            "192.0.0.0/24",
            "64:ff9b::/96",
            "64:ff9b:1::/48",
            "2002::/16",
            "2001::/32",
            "192.88.99.0/24",
            "fec0::/10",
            "3fff::/20",
        ),
    )
)
_USUAL_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


def hook_host(word: str) -> str:
    """Convert an operator's host to lower case: ``NAME``, ``NAME:PORT`` or ``*``; raise ValueError on anything else.

    >>> [hook_host(word) for word in ("Chat.example.org", "localhost:8025", "*")]
    ['chat.example.org', 'localhost:8025', '*']
    """
    name, colon, port = word.lower().partition(":")
    has_port = re.fullmatch("[0-9]{1,5}", port) is not None and 1 <= int(port) <= 65_535
    if word != ALL_HOSTS and not (_HOST.fullmatch(name) and (has_port or not colon)):
        raise ValueError(f"{word!r} is no host: write chat.example.org, localhost:8025, or * for any public one")
    return f"{name}:{int(port)}" if colon else name


def check_told(address: str, settings: Settings) -> None:
    """Raise UsageError for a web hook or e-mail address that jobs may not use (`check_hook`, `check_mail`)."""
    if is_mail(address):
        check_mail(address, settings.mail)
    else:
        check_hook(address, settings.hook_hosts)


def told_where(settings: Settings) -> str:
    """Describe the addresses that jobs may use; return an empty string if there are no such addresses."""
    hosts, mail = settings.hook_hosts, settings.mail
    domains = () if mail is None else mail.domains
    ways = [f"an e-mail address{'' if ALL_DOMAINS in domains else ' at ' + ' or '.join(domains)}"] if domains else []
    if hosts:
        ways.append(f"a web hook ({'https://...' if ALL_HOSTS in hosts else 'at ' + ' or '.join(hosts)})")
    return ", or ".join(ways)


def check_hook(url: str, hosts: tuple[str, ...]) -> None:
    """Raise UsageError, which lists the allowed hosts, for a web hook that jobs may not use.

    `hosts` are those of `hook_host`: a name without a port means the default ports, 443 for https and 80 for http;
    ``*`` means every public host.
    """
    if not hosts:
        raise UsageError("this server calls no web hooks: ask its operator (--hook-host)")
    if len(url) > MOST_LETTERS or not url.isascii() or not url.isprintable() or " " in url:
        raise UsageError(f"a web hook is an address of {MOST_LETTERS} letters of ASCII at most, without blanks")
    host, port, scheme = _parts(url)
    if _is_named(host, port, scheme, hosts):
        return
    if ALL_HOSTS not in hosts:
        places = f"{' and '.join(hosts)} alone (no port means the usual one)"
        raise UsageError(f"web hooks are called at {places}: name one there, or ask the operator")
    if scheme != "https" or port != 443:
        raise UsageError("a web hook is called by HTTPS at its usual port: begin with https:// and name no other port")


def _parts(url: str) -> tuple[str, int, str]:
    """Return host, port and scheme."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise UsageError("the web hook is no address: write it like https://host.example/path") from None
    if parts.scheme not in _USUAL_PORTS or not _HOST.fullmatch(host):
        raise UsageError("a web hook is an address like https://host.example/path")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise UsageError("a web hook has neither a user nor a part behind #: leave that out")
    return host, _USUAL_PORTS[parts.scheme] if port is None else port, parts.scheme


def _is_named(host: str, port: int, scheme: str, hosts: tuple[str, ...]) -> bool:
    """True if the operator names this host with this port."""
    names = {name.lower() for name in hosts}
    return f"{host}:{port}" in names or (host in names and port == _USUAL_PORTS[scheme])


def is_public(address: str) -> bool:
    """True if an IP address belongs to the public internet.

    >>> [is_public(one) for one in ("93.184.215.14", "10.0.0.1", "127.0.0.1", "::ffff:10.0.0.1", "169.254.169.254")]
    [True, False, False, False, False]
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        return is_public(str(found.ipv4_mapped))
    if any(found in network for network in _NOT_PUBLIC):
        return False
    return found.is_global and not found.is_multicast and not found.is_reserved


def told(job: Job) -> dict[str, Any]:
    """Return the notification about a finished job."""
    ended = None if job.finished is None else datetime.fromtimestamp(job.finished, UTC).isoformat(timespec="seconds")
    return {
        "job": job.id, "verb": job.verb, "title": job.title, "state": str(job.state), "message": job.message,
        "finished": ended,
    }  # fmt: skip


def call(url: str, hosts: tuple[str, ...], job: Job) -> str:
    """Notify a web hook of a job's end if `check_hook` still allows it; return "" or the reason of the failure."""
    try:
        check_hook(url, hosts)
        host, port, scheme = _parts(url)
        connection = _connected(host, port, scheme == "https", _is_named(host, port, scheme, hosts))
    except Exception as error:  # every attempt counts, regardless of the error
        return f"{type(error).__name__}: {error}"
    ends = threading.Timer(SECONDS, _break, (connection,))  # even if the answer arrives slowly
    ends.daemon = True
    ends.start()
    try:
        parts = urlsplit(url)
        if isinstance(connection.sock, ssl.SSLSocket):
            connection.sock.do_handshake()
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = {"Content-Type": "application/json", "User-Agent": f"tropalign/{__version__}"}
        connection.request("POST", path, json.dumps(told(job)), headers)
        status = connection.getresponse().status
        return "" if 200 <= status < 300 else f"it answered {status}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        ends.cancel()
        connection.close()


def _connected(host: str, port: int, is_secure: bool, is_named: bool) -> http.client.HTTPConnection:
    """Connect to an address that was looked up once and checked, without the TLS handshake; raise OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(place[4][0]) for place in found))
    if not addresses or not (is_named or all(map(is_public, addresses))):
        raise OSError(f"{host} has an address that is not public")
    kind = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
    connection = kind(host, port, timeout=SECONDS)
    plain = _first_that_answers(addresses, port)
    if not is_secure:
        connection.sock = plain
        return connection
    try:
        context = ssl.create_default_context()
        connection.sock = context.wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
    except BaseException:
        plain.close()
        raise
    return connection


def _first_that_answers(addresses: list[str], port: int) -> socket.socket:
    """Connect to the first address that accepts, dividing the time among the addresses; raise OSError."""
    until = time.monotonic() + SECONDS
    for i in range(len(addresses) - 1):
        share = (until - time.monotonic()) / (len(addresses) - i)
        with suppress(OSError):
            return _to(addresses[i], port, share)
    return _to(addresses[-1], port, until - time.monotonic())


def _to(address: str, port: int, seconds: float) -> socket.socket:
    """Connect within `seconds`, or raise OSError."""
    made = socket.create_connection((address, port), timeout=max(seconds, 0.1))
    made.settimeout(SECONDS)
    return made


def _break(connection: http.client.HTTPConnection) -> None:
    """Shut down the socket, which ends any blocked call."""
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)
