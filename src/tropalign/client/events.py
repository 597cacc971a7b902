"""Server-sent events: lines into records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

#: Letters of one event at most.
MOST_LETTERS = 1 << 22


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
        if n_letters > MOST_LETTERS:
            raise ValueError("an event does not end")
        if name == "event":
            kind = value
        elif name == "data":
            data.append(value)
