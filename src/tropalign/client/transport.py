"""Requests to a server and its replies: bounded, patient, and every fault a sentence.

A server is not trusted more than a file from elsewhere: replies are bounded, redirects stay on the server, and
what it says is shown as text.
"""

from __future__ import annotations

import http.client
import io
import json
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any
from urllib.parse import urlencode, urlsplit

from tropalign import __version__
from tropalign.client.address import Address
from tropalign.errors import InputError, ResourceError, TropalignError, UsageError, shown
from tropalign.submissions.local_server import LOCAL_TOKEN

#: Bytes of a JSON reply at most.
MOST_JSON_BYTES = 64 << 20
#: Bytes of a line of events at most.
MOST_LINE_BYTES = 1 << 20
#: Letters of one event at most.
MOST_EVENT_LETTERS = 1 << 22
#: Bytes of files that are sent and received at a time.
PIECE_BYTES = 1 << 18
MOST_REDIRECTS = 5
#: Letters of a server's own words that an error shows.
MOST_SHOWN = 600
#: Seconds to wait where a server does not say how many, and at most at a time.
USUAL_WAIT, LONGEST_WAIT = 1.0, 30.0

#: Makes what is sent, anew for each attempt.
Body = Callable[[], IO[bytes]]


class LostConnection(ResourceError):
    """No reply, or half of one: the same request may succeed later."""


class Transport:
    """Requests to one server.

    Parameters
    ----------
    timeout
        Seconds without a byte after which a reply is given up.
    patience
        Seconds in all that a request waits where the server has too many of them (429), or is about to start.
    """

    def __init__(self, address: Address, token: str | None, timeout: float = 60.0, patience: float = 300.0) -> None:
        self.address, self._token = address, token
        self.timeout, self.patience = timeout, patience
        self._tls = ssl.create_default_context() if address.scheme == "https" else None

    def json(
        self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Status and object of a request whose reply is JSON.

        Raises
        ------
        TropalignError
            What the server refuses, or that it cannot be reached.
        """
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json"}
        if data is not None:
            headers |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
        sent: Body | None = None if data is None else lambda: io.BytesIO(data)
        with self._reply(method, _with_query(path, query), headers, sent) as reply:
            return reply.status, self._object(reply)

    def send(self, path: str, body: Body, n_bytes: int, query: Mapping[str, Any]) -> dict[str, Any]:
        """Posts bytes as they are, and gives the JSON of the reply. Raises what `json` does."""
        headers = {"Accept": "application/json", "Content-Type": "application/octet-stream"}
        headers["Content-Length"] = str(n_bytes)
        with self._reply("POST", _with_query(path, query), headers, body) as reply:
            return self._object(reply)

    def receive(self, path: str, out: IO[bytes]) -> int:
        """Writes the bytes of a file to `out`, and tells how many. Raises what `json` does."""
        n_bytes = 0
        with self._reply("GET", path, {"Accept": "*/*"}, None) as reply:
            while piece := self._piece(reply):
                n_bytes += len(piece)
                out.write(piece)
        return n_bytes

    def _piece(self, reply: http.client.HTTPResponse) -> bytes:
        with self._reading():
            piece = reply.read(PIECE_BYTES)
        if not piece and reply.length:  # http.client ends quietly where the other side does
            raise self._lost("the reply ends before it is whole")
        return piece

    def lines(self, path: str) -> Iterator[str]:
        """The lines of a reply that goes on for a while, each without its end. Raises what `json` does."""
        with self._reply("GET", path, {"Accept": "text/event-stream"}, None) as reply:
            if _kind(reply) != "text/event-stream":
                raise self._strange(reply)
            while True:
                with self._reading():
                    line = reply.readline(MOST_LINE_BYTES + 1)
                if len(line) > MOST_LINE_BYTES:
                    raise self._strange(reply)
                if not line:
                    return
                yield line.decode("utf-8", "replace").rstrip("\r\n")

    @contextmanager
    def _reply(
        self, method: str, path: str, headers: dict[str, str], body: Body | None
    ) -> Iterator[http.client.HTTPResponse]:
        """A good reply; waits while the server has too much to do, follows redirects that stay on it."""
        waited, n_redirects = 0.0, 0
        place = self.address.root + path
        while True:
            connection = self._connection()
            try:
                reply = self._asked(connection, method, place, headers, body)
                if reply.status == 429 or (reply.status == 503 and reply.getheader("Retry-After")):
                    seconds = _retry_after(reply)
                    waited += seconds
                    if waited > self.patience:
                        raise ResourceError(f"{self._said(reply)}: try again later")
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

    def _connection(self) -> http.client.HTTPConnection:
        to = self.address
        if self._tls is not None:
            return http.client.HTTPSConnection(to.host, to.port, timeout=self.timeout, context=self._tls)
        return http.client.HTTPConnection(to.host, to.port, timeout=self.timeout)

    def _asked(
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
                f"{self.address.url} cannot be reached ({_reason(error)}): see that tropalign serve runs there"
            ) from None
        with self._reading():
            try:
                stream = None if body is None else body()
                try:
                    connection.request(method, place, stream, headers)
                finally:
                    if stream is not None:
                        stream.close()
            except (BrokenPipeError, ConnectionResetError):  # it may have refused before all was sent, and said why
                pass
            return connection.getresponse()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Whatever ends a reply early is a LostConnection."""
        try:
            yield
        except TimeoutError:
            raise self._lost(f"no answer for {self.timeout:g} s") from None
        except http.client.IncompleteRead:
            raise self._lost("the reply ends before it is whole") from None
        except http.client.HTTPException:
            raise self._lost("what answers does not speak HTTP") from None
        except ValueError:  # of http.client, where numbers of a reply are none
            raise self._lost("what answers does not speak HTTP") from None
        except OSError as error:
            raise self._lost(_reason(error)) from None

    def _lost(self, reason: str) -> LostConnection:
        return LostConnection(f"the connection to {self.address.url} is lost ({reason}): try again")

    def _object(self, reply: http.client.HTTPResponse) -> dict[str, Any]:
        if reply.status == 204:
            return {}
        if _kind(reply) != "application/json":
            raise self._strange(reply)
        found = _parsed(self._bounded(reply))
        if not isinstance(found, dict):
            raise self._strange(reply)
        return found

    def _bounded(self, reply: http.client.HTTPResponse) -> bytes:
        with self._reading():
            data = reply.read(MOST_JSON_BYTES + 1)
            if reply.length:
                raise self._lost("the reply ends before it is whole")
        if len(data) > MOST_JSON_BYTES:
            raise self._strange(reply)
        return data

    def _strange(self, reply: http.client.HTTPResponse) -> InputError:
        """The error of a reply that no tropalign makes."""
        kind = _kind(reply) or "no kind of content"
        return InputError(
            f"{self.address.url} answers what no server of tropalign does ({reply.status}, {shown(kind[:60])}): see "
            "whether the address is right, and whether a proxy answers in its place"
        )

    def _said(self, reply: http.client.HTTPResponse) -> str:
        """The server's own sentence, or the name of the status."""
        words: Any = None
        if _kind(reply) == "application/json":
            found = _parsed(self._bounded(reply))
            words = found.get("error") if isinstance(found, dict) else None
        if not isinstance(words, str) or not words.strip():
            words = f"{self.address.url} answers {reply.status} {reply.reason}"
        return shown(words.strip()[:MOST_SHOWN])

    def _error(self, reply: http.client.HTTPResponse) -> TropalignError:
        """The exception that a status means."""
        words = self._said(reply)
        if reply.status == 401:
            remedy = "give yours as TROPALIGN_TOKEN or TROPALIGN_TOKEN_FILE"
            whose = (
                f"that of a server of your own is {LOCAL_TOKEN} in its --folder"
                if self.address.is_loopback
                else "who runs the server makes it"
            )
            return UsageError(f"{words} ({self.address.url} wants a token: {remedy}; {whose})")
        if reply.status == 413 or reply.status == 507:
            return ResourceError(words)
        if 400 <= reply.status < 500:
            return UsageError(words)
        return LostConnection(words)

    def _redirected(self, reply: http.client.HTTPResponse, method: str, place: str, n_redirects: int) -> str:
        """Where on this server to ask instead."""
        to = urlsplit(reply.getheader("Location") or "")
        same = Address(to.scheme or self.address.scheme, to.hostname or self.address.host, self._port(to))
        here = Address(self.address.scheme, self.address.host, self.address.port)
        if same != here:
            where = shown(f"{to.scheme}://{to.hostname}"[:200])
            raise UsageError(
                f"{self.address.url} sends on to another server ({where}), which is not followed: give that address, "
                "if you trust it"
            )
        if n_redirects > MOST_REDIRECTS or method != "GET" or not to.path.startswith("/"):
            raise self._strange(reply)
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


def _retry_after(reply: http.client.HTTPResponse) -> float:
    """Seconds to wait, as the server asks within bounds."""
    text = reply.getheader("Retry-After") or ""
    return min(max(float(text), 0.1), LONGEST_WAIT) if text.isascii() and text.isdigit() else USUAL_WAIT


def _with_query(path: str, query: Mapping[str, Any] | None) -> str:
    given = {name: value for name, value in (query or {}).items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def _reason(error: Exception) -> str:
    return shown(str(getattr(error, "strerror", None) or error or type(error).__name__)[:200])


def events_of(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Kind and data of each event; those that are cut off, and comments that only keep the line open, are left out.

    Raises
    ------
    ValueError
        An event that does not end.

    Examples
    --------
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
            raise ValueError("an event does not end")
        if name == "event":
            kind = value
        elif name == "data":
            data.append(value)
