"""Where a server is, and the token that it is shown: never without encryption, unless it stays on this machine."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from tropalign.errors import InputError, UsageError, shown
from tropalign.submissions.local_server import LOCAL_TOKEN, data_folder, is_loopback, living_address

#: What a token may be made of: what a header can hold.
_TOKEN = re.compile(r"[\x21-\x7e]{1,512}")


@dataclass(frozen=True)
class Address:
    """A server's address.

    Parameters
    ----------
    scheme
        "http" or "https".
    root
        Where a reverse proxy has it, such as "/tropalign"; mostly empty.
    """

    scheme: str
    host: str
    port: int
    root: str = ""

    @classmethod
    def of(cls, url: str) -> Address:
        """From text.

        Raises
        ------
        UsageError
            It is no address of HTTP, or holds a password.
        """
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
        """Whether what is sent there stays on this machine."""
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        """The address as text."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = {"http": 80, "https": 443}[self.scheme] == self.port
        return f"{self.scheme}://{host}{'' if usual else f':{self.port}'}{self.root}"


def _no_address(url: str) -> UsageError:
    return UsageError(f"{shown(url[:200])!r} is no address of a server: give one like https://HOST or http://HOST:8080")


def token_of(token: str | None, address: Address) -> str | None:
    """The token given, else that in TROPALIGN_TOKEN, or in the file that TROPALIGN_TOKEN_FILE names; None without.

    For the address of a server in the usual folder that lives it is at last what this lets its user in by.

    Raises
    ------
    InputError
        The file cannot be read.
    UsageError
        What is there is no token.
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
    """What is in the file of this user's server that is at the address; None without one.

    Any user of this machine can listen on a port where no server is, and would be shown the token.
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
    """Raises UsageError where the token would travel so that others can read it."""
    if token is not None and address.scheme == "http" and not address.is_loopback and not is_insecure:
        raise UsageError(
            f"{address.url} is not encrypted, and the token would be read on the way: use https, or allow it with "
            "insecure=True (--insecure) within a network that you trust"
        )
