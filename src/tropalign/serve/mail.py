"""E-mail at the end of jobs: which addresses may get one, and one message through the operator's mail server.

A server that writes to whomever users name can be made to write to strangers. So mail goes to the domains alone that
the operator names, the sender's own by default, and its text is the server's own but for a job's title and message.
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
#: How addresses are marked among those of web hooks; an address without it is taken, too.
SCHEME = "mailto:"
#: What handing over a message may take in all.
SECONDS = 30.0
#: Ports of mail servers: among machines that trust each other, with a user and a password, or with TLS at once.
PLAIN_PORT, LOGIN_PORT, TLS_PORT = 25, 587, 465
#: Where the password is, if no file has it.
PASSWORD_VARIABLE = "TROPALIGN_SMTP_PASSWORD"
_MOST_TITLE = 100
_NAME = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
#: Programs that show mail decode what lies between ``=?`` and ``?=`` (RFC 2047); no address is made of that.
_ADDRESS = re.compile(rf"(?!.*=\?)[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]{{1,64}}@(?P<domain>{_NAME})")


@dataclass(frozen=True)
class MailServer:
    """The operator's mail server, and what it is used for.

    Parameters
    ----------
    host, port
        Where it listens; at port 465 it speaks TLS from the first byte, elsewhere once it offers that.
    sender
        The address that messages come from.
    domains
        Whose addresses may get messages, in small letters; "*" for all.
    user, password
        How the server makes itself known there; neither where it need not.
    site
        The begin of the addresses of pages, such as "https://align.example.org"; empty where none is known.
    """

    host: str
    port: int
    sender: str
    domains: tuple[str, ...]
    user: str = ""
    password: str = field(default="", repr=False)
    site: str = ""


def mail_server(word: str) -> tuple[str, int]:
    """Name and port, 0 where none is named, of what an operator writes as ``HOST`` or ``HOST:PORT``. Raises ValueError.

    Examples
    --------
    >>> mail_server("localhost"), mail_server("smtp.example.org:587")
    (('localhost', 0), ('smtp.example.org', 587))
    """
    host, colon, port = word.partition(":")
    has_port = re.fullmatch("[0-9]{1,5}", port) is not None and 1 <= int(port) <= 65_535
    if not re.fullmatch(_NAME, host) or not (has_port or not colon):
        raise ValueError(f"{word!r} is no mail server: write localhost or smtp.example.org:587")
    return host, int(port) if colon else 0


def mail_address(word: str) -> str:
    """An e-mail address as it is written. Raises ValueError on anything else.

    Examples
    --------
    >>> mail_address("ann@example.org")
    'ann@example.org'
    """
    if len(word) > 254 or not _ADDRESS.fullmatch(word):
        raise ValueError(f"{word!r} is no e-mail address: write it like ann@example.org")
    return word


def mail_domain(word: str) -> str:
    """A domain that an operator names, in small letters, or ``*``. Raises ValueError."""
    if word != ALL_DOMAINS and not re.fullmatch(_NAME, word):
        raise ValueError(f"{word!r} is no domain: write example.org, or * for all")
    return word.lower()


def domain_of(address: str) -> str:
    """The part of an e-mail address behind the @, in small letters."""
    return address.rpartition("@")[2].lower()


def is_mail(address: str) -> bool:
    """Whether an address that is told of a job's end is one of e-mail, and none of a web hook.

    Examples
    --------
    >>> [is_mail(one) for one in ("ann@example.org", "mailto:ann@example.org", "https://ann@example.org/")]
    [True, True, False]
    """
    return address.startswith(SCHEME) or ("@" in address and "/" not in address)


def check_mail(address: str, server: MailServer | None) -> None:
    """Refuses an e-mail address that jobs may not name.

    Raises
    ------
    UsageError
        The server sends no mail, this is no address, or one of a domain that the operator does not allow.
    """
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
    """The password in the first line of a file, or else in the environment, from which it is then taken away.

    Jobs are processes of the server, and inherit its environment. Raises UsageError on a file that cannot be read.
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
    """Hands the news of a job's end to the mail server; an empty text, or why that failed.

    Parameters
    ----------
    address, server
        See `check_mail`, whose rules are those of today.
    """
    try:
        check_mail(address, server)
        assert server is not None  # else it is refused
        _hand_over(message_of(address.removeprefix(SCHEME), server, job), server)
    except Exception as error:  # each try counts, whatever ends it
        return f"{type(error).__name__}: {error}"
    return ""


def message_of(address: str, server: MailServer, job: Job) -> Message:
    """Write the news of a job that has ended.

    The subject is one encoded word (RFC 2047), made here: `email.message.EmailMessage` would decode such words in a
    title, line ends included, before it writes the header.
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
    mail["Auto-Submitted"] = "auto-generated"  # so that no vacation answers
    return mail


def _one_line(text: str) -> str:
    """A text without control characters and line ends."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _header(text: str) -> Any:  # a Header, too, which the types of Message do not have
    """A text as the value of a header: as it is if nobody can take it for anything else, or encoded."""
    return text if text.isascii() and "=?" not in text else Header(text, "utf-8")


def _hand_over(mail: Message, server: MailServer) -> None:
    """Raises OSError, or what the mail server answers."""
    connection = _Connection(server)
    ends = threading.Timer(SECONDS, _break, (connection,))  # however slowly answers drip
    ends.daemon = True
    ends.start()
    try:
        with connection:
            connection.greet()
            connection.send_message(mail)
    finally:
        ends.cancel()


class _Connection(smtplib.SMTP):
    """A connection to the mail server: with TLS where that is there, and never a password without."""

    def __init__(self, server: MailServer) -> None:
        super().__init__(timeout=SECONDS / 3)
        self._server, self._context = server, ssl.create_default_context()
        self._host = server.host  # whose certificate `starttls` asks for

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # as smtplib.SMTP_SSL has it
        made = socket.create_connection((host, port), timeout)
        return self._context.wrap_socket(made, server_hostname=host) if port == TLS_PORT else made

    def greet(self) -> None:
        """Connects, and makes itself known as far as the mail server wants that."""
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
    """Ends whatever waits for this connection."""
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)
