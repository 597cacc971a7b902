"""Names of clusters: a Dask scheduler's address or file, or a number of local processes."""

from __future__ import annotations

import re
from typing import Any

from tropalign.errors import shown

LOCAL = re.compile(r"local(?::([1-9][0-9]{0,3}))?")
_ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx|ucxx)://.+|.+\.json", re.DOTALL)


def check_address(text: str) -> str:
    """Return the address unchanged, or raise ValueError if it is not a cluster address."""
    if not isinstance(text, str) or not (LOCAL.fullmatch(text) or _ADDRESS.fullmatch(text)):
        raise ValueError(
            f"{shown(repr(text))} is no cluster: write tcp://HOST:8786, the scheduler's file.json, or local:4 for four "
            "processes here"
        )
    return text


def is_cluster(value: Any) -> bool:
    """True for a cluster address or a distributed.Client."""
    if isinstance(value, str):
        return bool(LOCAL.fullmatch(value) or _ADDRESS.fullmatch(value))
    return type(value).__module__.partition(".")[0] == "distributed" and hasattr(value, "scatter")
