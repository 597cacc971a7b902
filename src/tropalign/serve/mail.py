"""E-mail at the end of jobs: allowed addresses, and delivery through the operator's mail server.

A server that writes to user-supplied addresses can be made to write to strangers. Therefore mail goes only to
domains that the operator names, by default the sender's, and its text is fixed except for a job's title and
message.
"""

from __future__ import annotations

import os
import re
import smtplib
import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from email.header import Header
from email.message import Message
from email.mime.text import MIMEText
from email.utils import formatdate, make_msgid
from typing import Any

from tropalign import __version__
from tropalign.errors import UsageError
from tropalign.serve.records import Job
from tropalign.submissions.local_server import is_loopback

ALL_DOMAINS = "*"
#: Prefix of e-mail addresses among web hooks; it may be omitted.
SCHEME = "mailto:"
#: Total time limit for delivering a message.
SECONDS = 30.0
#: Ports of mail servers: among trusted machines, with user and password, and with TLS from the start.
PLAIN_PORT, LOGIN_PORT, TLS_PORT = 25, 587, 465
#: Variable with the password, unless it is in a file.
PASSWORD_VARIABLE = "TROPALIGN_SMTP_PASSWORD"
_MOST_TITLE = 100
_NAME = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
#: Mail programs decode text between ``=?`` and ``?=`` (RFC 2047), so addresses may not contain it.
_ADDRESS = re.compile(rf"(?!.*=\?)[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]{{1,64}}@(?P<domain>{_NAME})")


@dataclass(frozen=True)
class MailServer:
    """The operator's mail server and its use.

    - `host`, `port`: port 465 uses TLS from the first byte, other ports once the server offers it.
    - `sender`: sender's address.
    - `domains`: domains of allowed recipients, in lower case; "*" for all.
    - `user`, `password`: login; empty if the mail server needs none.
    - `site`: address of the pages, such as "https://align.example.org"; empty if unknown.
    """

    host: str
    port: int
    sender: str
    domains: tuple[str, ...]
    user: str = ""
    password: str = field(default="", repr=False)
    site: str = ""


def mail_server(word: str) -> tuple[str, int]:
    """Parse ``HOST`` or ``HOST:PORT`` to name and port (0 if missing); raise ValueError on anything else.

    >>> mail_server("localhost"), mail_server("smtp.example.org:587")
    (('localhost', 0), ('smtp.example.org', 587))
    """
    host, colon, port = word.partition(":")
    has_port = re.fullmatch("[0-9]{1,5}", port) is not None and 1 <= int(port) <= 65_535
    if not re.fullmatch(_NAME, host) or not (has_port or not colon):
        raise ValueError(f"{word!r} is no mail server: write localhost or smtp.example.org:587")
    return host, int(port) if colon else 0


def mail_address(word: str) -> str:
    """Return an e-mail address unchanged, or raise ValueError."""
    if len(word) > 254 or not _ADDRESS.fullmatch(word):
        raise ValueError(f"{word!r} is no e-mail address: write it like ann@example.org")
    return word


def mail_domain(word: str) -> str:
    """Convert a domain to lower case, or return ``*``; raise ValueError on anything else."""
    if word != ALL_DOMAINS and not re.fullmatch(_NAME, word):
        raise ValueError(f"{word!r} is no domain: write example.org, or * for all")
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
        raise UsageError("this server sends no e-mail: ask its operator (--smtp)")
    found = _ADDRESS.fullmatch(address.removeprefix(SCHEME))
    if found is None or len(address) > 254:
        raise UsageError("this is no e-mail address: write it like ann@example.org")
    if ALL_DOMAINS not in server.domains and found["domain"].lower() not in server.domains:
        raise UsageError(
            f"e-mail goes to addresses at {' and '.join(server.domains)} alone: name one there, or ask the operator"
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
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"--smtp-password-file {path}: {why}: name a file whose first line is the password") from None


def send(address: str, server: MailServer | None, job: Job) -> str:
    """Send a message about a job's end if `check_mail` still allows it; return "" or the reason of the failure."""
    try:
        check_mail(address, server)
        assert server is not None  # checked above
        _hand_over(message_of(address.removeprefix(SCHEME), server, job), server)
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
    lines.append(f"{server.site}/jobs/{job.id}" if server.site else f"Its number is {job.id}.")
    lines.append("This address was named when the job was submitted; nobody reads answers to this message.")
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


def _hand_over(mail: Message, server: MailServer) -> None:
    """Deliver a message; raise OSError or the mail server's error."""
    connection = _Connection(server)
    ends = threading.Timer(SECONDS, _break, (connection,))  # even if answers arrive slowly
    ends.daemon = True
    ends.start()
    try:
        with connection:
            connection.greet()
            connection.send_message(mail)
    finally:
        ends.cancel()


class _Connection(smtplib.SMTP):
    """Connection to the mail server, with TLS if available; a password is never sent over the network without TLS."""

    def __init__(self, server: MailServer) -> None:
        super().__init__(timeout=SECONDS / 3)
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
                raise ValueError(f"{server.host} offers no TLS, and a password is not sent without")
            self.login(server.user, server.password)


def _break(connection: smtplib.SMTP) -> None:
    """Shut down the socket, which ends any blocked call."""
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)
