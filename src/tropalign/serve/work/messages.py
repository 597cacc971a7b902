"""Messages to users about their jobs: exceeded limits, and the last message of a command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tropalign.errors import shown
from tropalign.machine.memory import human
from tropalign.serve.settings import Limits
from tropalign.serve.work.watched_command import Why

MOST_MESSAGE = 1000
TAIL_BYTES = 1 << 16
BEGIN, WARNING = "tropalign: ", "tropalign: warning: "


def excess_of(forecast: dict[str, Any], limits: Limits) -> str | None:
    """Return a clause about a forecast that exceeds the limits, else None.

    >>> from tropalign.serve.settings import Limits
    >>> from tropalign.serve.work.messages import excess_of
    >>> excess_of({"cells": 2e15}, Limits())
    'it needs about 2,000,000,000,000,000 cells, and 1,000,000,000,000,000 are allowed on this server'
    """
    cells, seconds, memory = (_number(forecast.get(name)) for name in ("cells", "seconds", "memory_bytes"))
    sizes = forecast.get("output_bytes")
    written = sum(map(_number, sizes)) if isinstance(sizes, list) else _number(sizes)
    if cells > limits.n_cells:
        return f"it needs about {cells:,.0f} cells, and {limits.n_cells:,} are allowed on this server"
    if seconds > limits.seconds:
        return f"it takes about {duration(seconds)}, and {duration(limits.seconds)} are allowed on this server"
    if memory > limits.memory_bytes:
        most = human(limits.memory_bytes)
        return f"it needs about {human(int(memory))} of memory, and {most} are allowed on this server"
    if written > limits.output_bytes:
        return f"it writes about {human(int(written))}, and {human(limits.output_bytes)} are allowed on this server"
    return None


def passed(why: Why, limits: Limits) -> str | None:
    """Return a clause about a command that had to be ended, None for other reasons."""
    if why is Why.SECONDS:
        return f"it was ended after {duration(limits.seconds)}, which is what a job may take on this server"
    if why is Why.MEMORY:
        most = human(limits.memory_bytes)
        return f"it took more memory than the {most} that a job may have on this server, and was ended"
    if why is Why.OUTPUT:
        return f"it wrote more than the {human(limits.output_bytes)} that a job may write on this server, and was ended"
    return None


def duration(seconds: float) -> str:
    """Format a duration: 90 seconds, 10 minutes, 24 hours."""
    if seconds < 120:
        return f"{seconds:,.0f} seconds" if seconds >= 10 else f"{seconds:,.1f} seconds"
    if seconds < 7200:
        return f"{seconds / 60:,.0f} minutes"
    return f"{seconds / 3600:,.0f} hours"


def without(sentence: str, places: Iterable[str]) -> str:
    """Remove the server's folders from a message, adapt remedies that only the operator can apply, and shorten it."""
    sentence = sentence.replace("allow more with --memory", "have the operator allow more (--max-memory)")
    for place in places:
        sentence = sentence.replace(f"{place}/", "").replace(place, "the job's folder")
    return sentence[:MOST_MESSAGE]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def sentence_of(path: Path, begin: str = BEGIN) -> str:
    """Return the last line that starts with `begin`, without that and excluding warnings; else ""."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    for line in reversed(lines):
        if line.startswith(begin) and not line.startswith(WARNING) and line.strip():
            return shown(line.removeprefix(begin).strip())
    return ""
