"""The log of requests without what lets somebody in: who reads it must not come to see shared jobs."""

from __future__ import annotations

import logging
import re

_SECRETS = re.compile(r"(/shared/|[?&]token=)[^/?&#]+")


def without_secrets(path: str) -> str:
    """An address as logs may show it.

    Examples
    --------
    >>> without_secrets("/shared/hee7xk/report"), without_secrets("/login?token=trop_local_abc&next=/")
    ('/shared/.../report', '/login?token=...&next=/')
    """
    return _SECRETS.sub(r"\1...", path)


class WithoutSecrets(logging.Filter):
    """Changes what Uvicorn says of each request: client, method, address, version, status."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Lets all records pass."""
        if isinstance(record.args, tuple) and len(record.args) == 5:
            client, method, path, *rest = record.args
            record.args = (client, method, without_secrets(str(path)), *rest)
        return True
