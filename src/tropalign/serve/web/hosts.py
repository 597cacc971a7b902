"""Under which names a server is asked for, and from which addresses."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from tropalign.errors import UsageError, shown

if TYPE_CHECKING:
    from tropalign.serve.settings import Settings

_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?")


def host_name(header: str) -> str | None:
    """The name in a Host header, without port and brackets, in small letters; None where it is no name.

    Examples
    --------
    >>> host_name("LocalHost:8080"), host_name("[::1]:80"), host_name("a@b")
    ('localhost', '::1', None)
    """
    found = _HOST.fullmatch(header)
    return found[1].strip("[]").rstrip(".").lower() if found else None


def is_address(name: str) -> bool:
    """Whether it is a number rather than a name."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback_name(name: str) -> bool:
    """Whether a name is that of the loopback interface, and no name server is asked for it."""
    return name == "localhost" or name.endswith(".localhost") or (is_address(name) and ip_address(name).is_loopback)


class Hosts:
    """The names that requests may come with: a page of elsewhere cannot let its own name lead here (DNS rebinding).

    A server that other machines reach may be asked for by any of its addresses, too: numbers need no name server.
    """

    def __init__(self, settings: Settings) -> None:
        self._is_loopback = settings.is_loopback
        own = () if self._is_loopback else (socket.gethostname(),)
        self._names = {name.lower().rstrip(".") for name in (settings.host, *own, *settings.allowed_hosts)}

    def allows(self, name: str) -> bool:
        """Whether a request with this name is answered."""
        return name in self._names or is_loopback_name(name) or (not self._is_loopback and is_address(name))


def networks(addresses: Iterable[str]) -> Callable[[str], bool]:
    """Whether an address is one of these, which may be networks.

    Raises
    ------
    UsageError
        One is no address.
    """
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
