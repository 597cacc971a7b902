"""Notifications at the end of jobs, by web hook or e-mail: allowed addresses, calls and messages.

A server that calls user-supplied URLs can be made to call hosts that only it can reach: routers, services of its
machine, cloud metadata. Therefore a hook's host must be named by the operator, or, if the operator allows all
hosts, have only public addresses. The connection goes to the checked address without another lookup, and redirects
are not followed.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import re
import smtplib
import socket
import ssl
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from email.header import Header
from email.message import Message
from email.mime.text import MIMEText
from email.utils import formatdate, make_msgid
from typing import Any
from urllib.parse import urlsplit

from tropalign import __version__
from tropalign.errors import UsageError
from tropalign.serve.records import Job
from tropalign.serve.settings import MailServer, Settings
from tropalign.submissions.local_server import is_loopback

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
ALL_DOMAINS = "*"
#: Prefix of e-mail addresses among web hooks; it may be omitted.
SCHEME = "mailto:"
#: Total time limit for delivering a message.
MAIL_SECONDS = 30.0
#: Ports of mail servers: among trusted machines, with user and password, and with TLS from the start.
PLAIN_PORT, LOGIN_PORT, TLS_PORT = 25, 587, 465
#: Variable with the password, if no file has it.
PASSWORD_VARIABLE = "TROPALIGN_SMTP_PASSWORD"
_MOST_TITLE = 100
_NAME = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
#: Mail programs decode text between ``=?`` and ``?=`` (RFC 2047), so addresses may not contain it.
_ADDRESS = re.compile(rf"(?!.*=\?)[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]{{1,64}}@(?P<domain>{_NAME})")


def hook_host(word: str) -> str:
    """Convert an operator's host to lower case: ``NAME``, ``NAME:PORT`` or ``*``; raise ValueError on anything else.

    >>> [hook_host(word) for word in ("Chat.example.org", "localhost:8025", "*")]
    ['chat.example.org', 'localhost:8025', '*']
    """
    name, colon, port = word.lower().partition(":")
    has_port = re.fullmatch("[0-9]{1,5}", port) is not None and 1 <= int(port) <= 65_535
    if word != ALL_HOSTS and not (_HOST.fullmatch(name) and (has_port or not colon)):
        raise ValueError(f"{word!r} is not a host: write chat.example.org, localhost:8025, or * for any public host")
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
        raise UsageError("this server does not call web hooks: ask its operator (--hook-host)")
    if len(url) > MOST_LETTERS or not url.isascii() or not url.isprintable() or " " in url:
        raise UsageError(f"a web hook must be an address of at most {MOST_LETTERS} ASCII characters without blanks")
    host, port, scheme = _parts(url)
    if _is_named(host, port, scheme, hosts):
        return
    if ALL_HOSTS not in hosts:
        places = f"{' and '.join(hosts)} only (no port means the usual one)"
        raise UsageError(f"web hooks are called at {places}: name one of them, or ask the operator")
    if scheme != "https" or port != 443:
        raise UsageError("a web hook is called by HTTPS at the usual port: begin with https:// and leave the port out")


def _parts(url: str) -> tuple[str, int, str]:
    """Return host, port and scheme."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise UsageError("the web hook is not an address: write it like https://host.example/path") from None
    if parts.scheme not in _USUAL_PORTS or not _HOST.fullmatch(host):
        raise UsageError("a web hook must be an address like https://host.example/path")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise UsageError("a web hook cannot have a user or a part after #: leave that out")
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
    # Connect to the first address that accepts; each gets an equal share of the remaining time.
    until = time.monotonic() + SECONDS
    for i, address in enumerate(addresses):
        share = (until - time.monotonic()) / (len(addresses) - i)
        try:
            plain = socket.create_connection((address, port), timeout=max(share, 0.1))
            break
        except OSError:
            if i + 1 == len(addresses):
                raise
    plain.settimeout(SECONDS)
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


# A server that writes to user-supplied addresses can be made to write to strangers. Therefore mail goes only to
# domains that the operator names, by default the sender's, and its text is fixed except for a job's title and
# message.
def _break(connection: http.client.HTTPConnection | smtplib.SMTP) -> None:
    """Shut down the socket, which ends any blocked call."""
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def mail_server(word: str) -> tuple[str, int]:
    """Parse ``HOST`` or ``HOST:PORT`` to name and port (0 if missing); raise ValueError on anything else.

    >>> mail_server("localhost"), mail_server("smtp.example.org:587")
    (('localhost', 0), ('smtp.example.org', 587))
    """
    host, colon, port = word.partition(":")
    has_port = re.fullmatch("[0-9]{1,5}", port) is not None and 1 <= int(port) <= 65_535
    if not re.fullmatch(_NAME, host) or not (has_port or not colon):
        raise ValueError(f"{word!r} is not a mail server: write localhost or smtp.example.org:587")
    return host, int(port) if colon else 0


def mail_address(word: str) -> str:
    """Return an e-mail address unchanged, or raise ValueError."""
    if len(word) > 254 or not _ADDRESS.fullmatch(word):
        raise ValueError(f"{word!r} is not an e-mail address: write it like ann@example.org")
    return word


def mail_domain(word: str) -> str:
    """Convert a domain to lower case, or return ``*``; raise ValueError on anything else."""
    if word != ALL_DOMAINS and not re.fullmatch(_NAME, word):
        raise ValueError(f"{word!r} is not a domain: write example.org, or * for all")
    return word.lower()


def domain_of(address: str) -> str:
    """Return the domain of an e-mail address in lower case."""
    return address.rpartition("@")[2].lower()


def is_mail(address: str) -> bool:
    """True if a notification address is an e-mail address rather than a web hook.

    >>> [is_mail(one) for one in ("ann@example.org", "mailto:ann@example.org", "https://ann@example.org/")]
    [True, True, False]
    """
    return address.startswith(SCHEME) or ("@" in address and "/" not in address)


def check_mail(address: str, server: MailServer | None) -> None:
    """Raise UsageError if the server sends no mail, the address is invalid, or its domain is not allowed."""
    if server is None:
        raise UsageError("this server does not send e-mail: ask its operator (--smtp)")
    found = _ADDRESS.fullmatch(address.removeprefix(SCHEME))
    if found is None or len(address) > 254:
        raise UsageError("this is not an e-mail address: write it like ann@example.org")
    if ALL_DOMAINS not in server.domains and found["domain"].lower() not in server.domains:
        raise UsageError(
            f"e-mail is sent only to addresses at {' and '.join(server.domains)}: name one of them, or ask the operator"
        )


def password_from(path: str | None) -> str:
    """Return the password from a file's first line, else from the environment.

    The variable is removed from the environment, because jobs are child processes and inherit it. Raises
    UsageError if the file is unreadable.
    """
    kept = os.environ.pop(PASSWORD_VARIABLE, "")
    if path is None:
        return kept
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(f"--smtp-password-file {path}: {why}: name a file whose first line is the password") from None


def send(address: str, server: MailServer | None, job: Job) -> str:
    """Send a message about a job's end if `check_mail` still allows it; return "" or the reason of the failure."""
    try:
        check_mail(address, server)
        assert server is not None  # checked above
        mail, connection = message_of(address.removeprefix(SCHEME), server, job), _Connection(server)
        ends = threading.Timer(MAIL_SECONDS, _break, (connection,))  # even if answers arrive slowly
        ends.daemon = True
        ends.start()
        try:
            with connection:
                connection.greet()
                connection.send_message(mail)
        finally:
            ends.cancel()
    except Exception as error:  # every attempt counts, regardless of the error
        return f"{type(error).__name__}: {error}"
    return ""


def message_of(address: str, server: MailServer, job: Job) -> Message:
    """Write the message about a finished job.

    The subject is one encoded word (RFC 2047), made here: `email.message.EmailMessage` would decode such words in
    a title, including line ends, before it writes the header.
    """
    title = _one_line(job.title)[:_MOST_TITLE]
    what = f"{job.verb} {title!r}" if title else job.verb
    ended = "" if job.finished is None else time.strftime(" at %Y-%m-%d %H:%M UTC", time.gmtime(job.finished))
    lines = [f"The job {what} has ended{ended}: {job.state}.", job.message]
    lines.append(f"{server.site}/jobs/{job.id}" if server.site else f"Its id is {job.id}.")
    lines.append("This address was given when the job was submitted; replies to this message are not read.")
    text = "\n\n".join(line for line in lines if line) + f"\n\n-- \ntropalign {__version__}\n"
    mail = MIMEText(text.encode("utf-8", "replace").decode(), "plain", "utf-8")
    mail["From"], mail["To"] = server.sender, address
    mail["Subject"] = _header(f"tropalign: {what} is {job.state}")
    mail["Date"], mail["Message-ID"] = formatdate(), make_msgid(domain=domain_of(server.sender))
    mail["Auto-Submitted"] = "auto-generated"  # prevents vacation replies
    return mail


def _one_line(text: str) -> str:
    """Replace control characters and line ends by blanks."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _header(text: str) -> Any:  # returns str or Header, which the types of Message lack
    """Return text as a header value, encoded if it could be misread."""
    return text if text.isascii() and "=?" not in text else Header(text, "utf-8")


class _Connection(smtplib.SMTP):
    """Connection to the mail server, with TLS if available; a password is never sent over the network without TLS."""

    def __init__(self, server: MailServer) -> None:
        super().__init__(timeout=MAIL_SECONDS / 3)
        self._server, self._context = server, ssl.create_default_context()
        self._host = server.host  # `starttls` checks the certificate for this name

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # as in smtplib.SMTP_SSL
        made = socket.create_connection((host, port), timeout)
        return self._context.wrap_socket(made, server_hostname=host) if port == TLS_PORT else made

    def greet(self) -> None:
        """Connect, and log in if a user is configured."""
        server = self._server
        code, words = self.connect(server.host, server.port)
        if code != 220:
            raise smtplib.SMTPConnectError(code, words)
        self.ehlo_or_helo_if_needed()
        is_here = is_loopback(server.host)
        if server.port != TLS_PORT and not is_here and self.has_extn("starttls"):
            self.starttls(context=self._context)
            self.ehlo()
        if server.user:
            if not (is_here or isinstance(self.sock, ssl.SSLSocket)):
                raise ValueError(f"{server.host} does not offer TLS, and the password is sent only with TLS")
            self.login(server.user, server.password)
