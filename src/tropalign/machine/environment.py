"""Numbers from environment variables."""

from __future__ import annotations

from tropalign.errors import UsageError


def whole_number(name: str, text: str) -> int:
    """The variable's value, at least 1. Raises UsageError on anything else."""
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) >= 1):
        raise UsageError(f"{name}={text!r} is not a whole number above 0: unset the variable or mend it")
    return int(text)
