"""Server address and token: a token travels unencrypted only within this machine."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from tropalign.errors import InputError, UsageError, shown
from tropalign.submissions.local_server import LOCAL_TOKEN, data_folder, is_loopback, living_address

#: Characters that a token may contain: those that fit in a header.
_TOKEN = re.compile(r"[\x21-\x7e]{1,512}")


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
            raise UsageError(f"an object of type {type(url).__name__} is no address: give a text")
        try:
            parts = urlsplit(url.strip())
            port, host = parts.port, parts.hostname
        except ValueError:
            raise _no_address(url) from None
        if "@" in parts.netloc:
            raise UsageError("the address holds a name or password: leave it out, and give the token (TROPALIGN_TOKEN)")
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
    return UsageError(f"{shown(url[:200])!r} is no address of a server: give one like https://HOST or http://HOST:8080")


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
        raise UsageError(f"{where} holds no token: give what tropalign serve --add-token printed")
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
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(f"TROPALIGN_TOKEN_FILE cannot be read ({reason}): name another file", file=path) from None


def check_private(address: Address, token: str | None, is_insecure: bool) -> None:
    """Raise UsageError if the token would travel unencrypted beyond this machine."""
    if token is not None and address.scheme == "http" and not address.is_loopback and not is_insecure:
        raise UsageError(
            f"{address.url} is not encrypted, and the token would be read on the way: use https, or allow it with "
            "insecure=True (--insecure) within a network that you trust"
        )
