"""HTTP requests to a server, with bounded replies, retries, and one-sentence errors.

A server is as untrusted as a downloaded file: replies are bounded, redirects stay on the server, and its texts are
shown as plain text.
"""

from __future__ import annotations

import http.client
import io
import json
import os
import re
import shutil
import ssl
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, cast
from urllib.parse import urlencode, urlsplit

from tropalign import __version__
from tropalign.errors import InputError, ResourceError, TropalignError, UsageError, shown
from tropalign.sequences import SequenceBatch
from tropalign.sequences.inputs import named_file
from tropalign.submissions.local_server import LOCAL_TOKEN, data_folder, is_loopback, living_address
from tropalign.submissions.submission import sanitised

#: Maximum bytes of a JSON reply.
MOST_JSON_BYTES = 64 << 20
#: Maximum bytes of a line of events.
MOST_LINE_BYTES = 1 << 20
#: Maximum characters of one event.
MOST_EVENT_LETTERS = 1 << 22
#: Bytes of a file that are received at a time.
PIECE_BYTES = 1 << 18
MOST_REDIRECTS = 5
#: Maximum characters of a server's message in an error.
MOST_SHOWN = 600
#: Seconds to wait if the server names no time, and the maximum of a single wait.
USUAL_WAIT, LONGEST_WAIT = 1.0, 30.0
#: Characters that a token may contain: those that fit in a header.
_TOKEN = re.compile(r"[\x21-\x7e]{1,512}")

#: Opens the request body again for each attempt.
Body = Callable[[], IO[bytes]]


class LostConnection(ResourceError):
    """No reply or an incomplete one: the same request may succeed later."""


class Transport:
    """Requests to one server.

    `timeout` is the number of seconds without a byte after which a request is abandoned, `patience` the total
    number of seconds that a request waits while the server is overloaded (429) or starting.
    """

    def __init__(self, address: Address, token: str | None, timeout: float = 60.0, patience: float = 300.0) -> None:
        self.address, self._token = address, token
        self.timeout, self.patience = timeout, patience
        self._tls = ssl.create_default_context() if address.scheme == "https" else None

    def json(
        self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Return status and object of a request with a JSON reply.

        Raises TropalignError if the server rejects the request or cannot be reached.
        """
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json"}
        if data is not None:
            headers |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
        sent: Body | None = None if data is None else lambda: io.BytesIO(data)
        with self._reply(method, _with_query(path, query), headers, sent) as reply:
            return reply.status, self._object(reply)

    def send(self, path: str, body: Body, n_bytes: int, query: Mapping[str, Any]) -> dict[str, Any]:
        """Post raw bytes, and return the object of the JSON reply. Raises the errors of `json`."""
        headers = {"Accept": "application/json", "Content-Type": "application/octet-stream"}
        headers["Content-Length"] = str(n_bytes)
        with self._reply("POST", _with_query(path, query), headers, body) as reply:
            return self._object(reply)

    def receive(self, path: str, out: IO[bytes]) -> int:
        """Write the bytes of a file to `out`, and return their number. Raises the errors of `json`."""
        n_bytes = 0
        with self._reply("GET", path, {"Accept": "*/*"}, None) as reply:
            while piece := self._piece(reply):
                n_bytes += len(piece)
                out.write(piece)
        return n_bytes

    def _piece(self, reply: http.client.HTTPResponse) -> bytes:
        with self._reading():
            piece = reply.read(PIECE_BYTES)
        if not piece and reply.length:  # http.client reports no error if the other side closes early
            raise self._lost_connection_error("the reply is incomplete")
        return piece

    def lines(self, path: str) -> Iterator[str]:
        """Yield the lines of a streamed reply without line ends. Raises the errors of `json`."""
        with self._reply("GET", path, {"Accept": "text/event-stream"}, None) as reply:
            if _kind(reply) != "text/event-stream":
                raise self._not_a_server_error(reply)
            while True:
                with self._reading():
                    line = reply.readline(MOST_LINE_BYTES + 1)
                if len(line) > MOST_LINE_BYTES:
                    raise self._not_a_server_error(reply)
                if not line:
                    return
                yield line.decode("utf-8", "replace").rstrip("\r\n")

    @contextmanager
    def _reply(
        self, method: str, path: str, headers: dict[str, str], body: Body | None
    ) -> Iterator[http.client.HTTPResponse]:
        """Yield a successful reply; wait while the server is busy, and follow redirects within it."""
        waited, n_redirects = 0.0, 0
        place = self.address.root + path
        while True:
            to = self.address
            if self._tls is None:
                connection = http.client.HTTPConnection(to.host, to.port, timeout=self.timeout)
            else:
                connection = http.client.HTTPSConnection(to.host, to.port, timeout=self.timeout, context=self._tls)
            try:
                reply = self._send_request(connection, method, place, headers, body)
                if reply.status == 429 or (reply.status == 503 and reply.getheader("Retry-After")):
                    text = reply.getheader("Retry-After") or ""  # limited below
                    is_number = text.isascii() and text.isdigit()
                    seconds = min(max(float(text), 0.1), LONGEST_WAIT) if is_number else USUAL_WAIT
                    waited += seconds
                    if waited > self.patience:
                        raise ResourceError(f"{self._server_message(reply)}: try again later")
                    connection.close()
                    time.sleep(seconds)
                elif reply.status in (301, 302, 303, 307, 308):
                    n_redirects += 1
                    place = self._redirected(reply, method, place, n_redirects)
                elif not 200 <= reply.status < 300:
                    raise self._error(reply)
                else:
                    yield reply
                    return
            finally:
                connection.close()

    def _send_request(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        place: str,
        headers: dict[str, str],
        body: Body | None,
    ) -> http.client.HTTPResponse:
        headers = {**headers, "User-Agent": f"tropalign/{__version__}", "Connection": "close"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            raise ResourceError(
                f"{self.address.url} has no certificate that this machine trusts ({error.verify_message}): install the "
                "authority's certificate (SSL_CERT_FILE)"
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise LostConnection(
                f"{self.address.url} cannot be reached ({_reason(error)}): check that tropalign serve runs there"
            ) from None
        with self._reading():
            try:
                stream = None if body is None else body()
                try:
                    connection.request(method, place, stream, headers)
                finally:
                    if stream is not None:
                        stream.close()
            except (BrokenPipeError, ConnectionResetError):  # the server may have replied early
                pass
            return connection.getresponse()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Convert everything that ends a reply early to LostConnection."""
        try:
            yield
        except TimeoutError:
            raise self._lost_connection_error(f"no answer for {self.timeout:g} s") from None
        except http.client.IncompleteRead:
            raise self._lost_connection_error("the reply is incomplete") from None
        except http.client.HTTPException:
            raise self._lost_connection_error("the reply is not HTTP") from None
        except ValueError:  # from http.client, for invalid numbers in a reply
            raise self._lost_connection_error("the reply is not HTTP") from None
        except OSError as error:
            raise self._lost_connection_error(_reason(error)) from None

    def _lost_connection_error(self, reason: str) -> LostConnection:
        return LostConnection(f"the connection to {self.address.url} is lost ({reason}): try again")

    def _object(self, reply: http.client.HTTPResponse) -> dict[str, Any]:
        if reply.status == 204:
            return {}
        if _kind(reply) != "application/json":
            raise self._not_a_server_error(reply)
        found = _parsed(self._bounded(reply))
        if not isinstance(found, dict):
            raise self._not_a_server_error(reply)
        return found

    def _bounded(self, reply: http.client.HTTPResponse) -> bytes:
        with self._reading():
            data = reply.read(MOST_JSON_BYTES + 1)
            if reply.length:
                raise self._lost_connection_error("the reply is incomplete")
        if len(data) > MOST_JSON_BYTES:
            raise self._not_a_server_error(reply)
        return data

    def _not_a_server_error(self, reply: http.client.HTTPResponse) -> InputError:
        """Return the error for a reply that no tropalign server sends."""
        kind = _kind(reply) or "no content type"
        return InputError(
            f"{self.address.url} does not reply like a tropalign server ({reply.status}, {shown(kind[:60])}): check "
            "the address, and whether a proxy replies in place of the server"
        )

    def _server_message(self, reply: http.client.HTTPResponse) -> str:
        """Return the server's error message, or the status and its reason."""
        words: Any = None
        if _kind(reply) == "application/json":
            found = _parsed(self._bounded(reply))
            words = found.get("error") if isinstance(found, dict) else None
        if not isinstance(words, str) or not words.strip():
            words = f"{self.address.url} replies {reply.status} {reply.reason}"
        return shown(words.strip()[:MOST_SHOWN])

    def _error(self, reply: http.client.HTTPResponse) -> TropalignError:
        """Return the exception for a status."""
        words = self._server_message(reply)
        if reply.status == 401:
            remedy = "set TROPALIGN_TOKEN or TROPALIGN_TOKEN_FILE"
            whose = (
                f"your own server has it in {LOCAL_TOKEN} in its --folder"
                if self.address.is_loopback
                else "the server's operator issues it"
            )
            return UsageError(f"{words} ({self.address.url} requires a token: {remedy}; {whose})")
        if reply.status == 413 or reply.status == 507:
            return ResourceError(words)
        if 400 <= reply.status < 500:
            return UsageError(words)
        return LostConnection(words)

    def _redirected(self, reply: http.client.HTTPResponse, method: str, place: str, n_redirects: int) -> str:
        """Return the path of a redirect within this server."""
        to = urlsplit(reply.getheader("Location") or "")
        same = Address(to.scheme or self.address.scheme, to.hostname or self.address.host, self._port(to))
        here = Address(self.address.scheme, self.address.host, self.address.port)
        if same != here:
            where = shown(f"{to.scheme}://{to.hostname}"[:200])
            raise UsageError(
                f"{self.address.url} redirects to another server ({where}), which is not followed: give that address "
                "if you trust it"
            )
        if n_redirects > MOST_REDIRECTS or method != "GET" or not to.path.startswith("/"):
            raise self._not_a_server_error(reply)
        return to.path + (f"?{to.query}" if to.query else "")

    def _port(self, to: Any) -> int:
        try:
            port: int | None = to.port
        except ValueError:
            return -1
        if port is None:
            return {"http": 80, "https": 443}.get(to.scheme, self.address.port) if to.netloc else self.address.port
        return port


def _kind(reply: http.client.HTTPResponse) -> str:
    return (reply.getheader("Content-Type") or "").partition(";")[0].strip().lower()


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _with_query(path: str, query: Mapping[str, Any] | None) -> str:
    given = {name: value for name, value in (query or {}).items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def _reason(error: Exception) -> str:
    return shown(str(getattr(error, "strerror", None) or error or type(error).__name__)[:200])


def events_of(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield kind and data of each event, without incomplete events and keep-alive comments.

    Raises ValueError for an endless event.

    >>> list(events_of(["event: job", "data: {}", "", ": ping", ""]))
    [('job', '{}')]
    """
    kind, data, n_letters = "message", list[str](), 0
    for line in lines:
        if not line:
            if data:
                yield kind, "\n".join(data)
            kind, data, n_letters = "message", [], 0
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        n_letters += len(value)
        if n_letters > MOST_EVENT_LETTERS:
            raise ValueError("an event is too long")
        if name == "event":
            kind = value
        elif name == "data":
            data.append(value)


@dataclass(frozen=True)
class Address:
    """Address of a server.

    `scheme` is "http" or "https"; `root` is a reverse proxy's path such as "/tropalign", mostly empty.
    """

    scheme: str
    host: str
    port: int
    root: str = ""

    @classmethod
    def of(cls, url: str) -> Address:
        """Parse a URL; raise UsageError if it is not an HTTP address or contains a password."""
        if not isinstance(url, str):
            raise UsageError(f"an object of type {type(url).__name__} is not an address: give a string")
        try:
            parts = urlsplit(url.strip())
            port, host = parts.port, parts.hostname
        except ValueError:
            raise _no_address(url) from None
        if "@" in parts.netloc:
            raise UsageError("the address contains a name or password: remove it, and set TROPALIGN_TOKEN instead")
        if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or not url.isascii():
            raise _no_address(url)
        if not url.strip().isprintable() or " " in url.strip():
            raise _no_address(url)
        return cls(parts.scheme, host, port or (443 if parts.scheme == "https" else 80), parts.path.rstrip("/"))

    @property
    def is_loopback(self) -> bool:
        """True if requests to this address stay on this machine."""
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        """Address as text."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = {"http": 80, "https": 443}[self.scheme] == self.port
        return f"{self.scheme}://{host}{'' if usual else f':{self.port}'}{self.root}"


def _no_address(url: str) -> UsageError:
    return UsageError(f"{shown(url[:200])!r} is not a server address: give one like https://HOST or http://HOST:8080")


def token_of(token: str | None, address: Address) -> str | None:
    """Return the given token, else that of TROPALIGN_TOKEN or of the file TROPALIGN_TOKEN_FILE, else None.

    For a running server at its usual folder and this loopback address, the last resort is its local token.
    Raises InputError if the file cannot be read, UsageError for text that cannot be a token.
    """
    where = "the token"
    if token is None and (token := os.environ.get("TROPALIGN_TOKEN") or None) is not None:
        where = "TROPALIGN_TOKEN"
    if token is None and (path := os.environ.get("TROPALIGN_TOKEN_FILE")):
        token, where = _read(path), "TROPALIGN_TOKEN_FILE"
    if token is None and address.is_loopback:
        token = _own_token(address)
    if token is None:
        return None
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise UsageError(f"{where} is malformed: give the token that tropalign serve --add-token printed")
    return token


def _own_token(address: Address) -> str | None:
    """Return the local token of this user's server at the address, None without such a server.

    Requires a running server: any user of this machine can listen on an unused port, and would receive the token.
    """
    folder = data_folder()
    try:
        text = living_address(folder)
        own = None if text is None else Address.of(text)
        if own is None or (own.scheme, own.host, own.port) != (address.scheme, address.host, address.port):
            return None
        return (folder / LOCAL_TOKEN).read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError, UsageError):
        return None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(4096).strip()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InputError(f"TROPALIGN_TOKEN_FILE cannot be read ({reason}): name another file", file=path) from None


def check_private(address: Address, token: str | None, is_insecure: bool) -> None:
    """Raise UsageError if the token would travel unencrypted beyond this machine."""
    if token is not None and address.scheme == "http" and not address.is_loopback and not is_insecure:
        raise UsageError(
            f"the connection to {address.url} is not encrypted, so that others could read the token: use https, or "
            "allow it with insecure=True (--insecure) in a network that you trust"
        )


#: Bytes of a sent stream that are kept in memory.
SPOOL_BYTES = 1 << 24
#: File name of standard input on the server.
STANDARD_INPUT = "stdin.fa"


class Uploads:
    """Uploads of files to a server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def file(self, path: str | os.PathLike[str]) -> dict[str, str]:
        """Send a file unchanged, and return its reference for submissions; "-" is standard input.

        Raises InputError if it cannot be read, TropalignError if the server rejects it.
        """
        text = os.fspath(path)
        if not isinstance(text, str):
            raise UsageError("the path is bytes: give a string")
        if text == "-":
            return self._stream(sys.stdin.buffer, STANDARD_INPUT)
        name = sanitised(text)
        try:
            if os.path.isdir(text):
                raise InputError("this is a directory: name a file in it", file=text)
            if not os.path.isfile(text) and os.path.exists(text):  # a pipe
                with open(text, "rb") as stream:
                    return self._stream(stream, name)
            n_bytes = os.stat(text).st_size
            open(text, "rb").close()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"the file cannot be read ({reason}): name another one", file=text) from None
        return self._sent(lambda: open(text, "rb"), n_bytes, name)

    def data(self, data: bytes, name: str) -> dict[str, str]:
        """Send bytes under a name."""
        return self._sent(lambda: io.BytesIO(data), len(data), sanitised(name))

    def sequences(self, given: Any, name: str) -> dict[str, str]:
        """Send sequences (as for `SequenceBatch.from_strings`), a batch, or a file."""
        given = named_file(given)
        if isinstance(given, os.PathLike):
            return self.file(given)
        batch = given if isinstance(given, SequenceBatch) else SequenceBatch.from_strings(given)
        return self.data(fasta_of(batch), f"{name}.fa")

    def _stream(self, stream: IO[bytes], name: str) -> dict[str, str]:
        """Send a stream from a temporary copy: its length must be known first, and a stream can be read only once."""
        with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as kept:
            shutil.copyfileobj(stream, kept)
            n_bytes = kept.tell()

            def again() -> IO[bytes]:
                kept.seek(0)
                return cast(IO[bytes], _Open(kept))

            return self._sent(again, n_bytes, name)

    def _sent(self, body: Any, n_bytes: int, name: str) -> dict[str, str]:
        found = self._transport.send("/api/v1/files", body, n_bytes, {"name": name})
        digest = found.get("file")
        if not isinstance(digest, str) or not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise InputError("the server did not return the file's id: check that it has this version of tropalign")
        return {"file": digest, "name": name}


class _Open(io.RawIOBase):
    """View of a file that stays open when this view is closed."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        """True, as the stream is readable."""
        return True

    def readinto(self, place: Any) -> int:
        """Read the next bytes into a buffer."""
        data = self._file.read(len(place))
        place[: len(data)] = data
        return len(data)


def fasta_of(batch: SequenceBatch) -> bytes:
    """Return a batch as FASTA that reads back as the same batch.

    Raises InputError for an empty batch or one without residues, UsageError for a name that FASTA cannot hold.
    """
    if not len(batch):
        raise InputError("there is no sequence: give one or more")
    if not batch.has_residues:
        raise InputError("the batch has only names and lengths: read the sequences again")
    out = bytearray()
    letters, offsets = batch.letters, batch.offsets.tolist()
    for k, name in enumerate(batch.names):
        if not name or any(letter.isspace() or not letter.isprintable() for letter in name):
            raise UsageError(f"the name {shown(name[:60])!r} cannot be sent as FASTA: rename the sequence")
        out += b">" + name.encode() + b"\n" + letters[offsets[k] : offsets[k + 1]].tobytes() + b"\n"
    return bytes(out)


def files_of(values: Any) -> list[Any]:
    """Return one or several inputs as a list."""
    if isinstance(values, tuple) and len(values) == 2 and isinstance(values[1], bytes):  # name and content
        return [values]
    if isinstance(values, str | bytes | os.PathLike | Mapping) or not isinstance(values, Iterable):
        return [values]
    if isinstance(values, SequenceBatch):
        return [values]
    return list(values)
