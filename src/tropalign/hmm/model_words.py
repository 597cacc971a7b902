"""The words of hidden Markov models, checked: names and labels of states, and letters of symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tropalign.errors import InputError


def checked_words(name: str, given: Sequence[str] | None, count: int) -> tuple[str, ...] | None:
    """A text per state, or None. Raises InputError on anything else."""
    if given is None:
        return None
    words = _tuple_of(name, given)
    if len(words) != count or not all(isinstance(word, str) and word for word in words):
        raise InputError(f"{name} are {len(words)} for {count} states: give a text per state")
    return words


def _tuple_of(name: str, given: Any) -> tuple[Any, ...]:
    """What was given as a list."""
    try:
        return tuple(given)
    except TypeError:
        raise InputError(f"{name} is of type {type(given).__name__}: give a list of texts") from None


def checked_report(given: str | Sequence[str], labels: tuple[str, ...]) -> tuple[str, ...]:
    """Those labels that are named, or all. Raises InputError on a name that is no label."""
    report = _tuple_of("report", [given] if isinstance(given, str) else given)
    for label in report:
        if label not in labels:
            raise InputError(
                f"report names {label!r}, which is the label of no state: name some of {', '.join(labels)}"
            )
    return tuple(label for label in labels if label in report) if report else labels


def checked_symbols(
    symbols: str | Sequence[str] | None, missing: str, n_symbols: int
) -> tuple[tuple[str, ...] | None, str]:
    """A letter per symbol, or None, and the letters that are missing. Raises InputError on what is no such letter."""
    if symbols is None:
        if missing:
            raise InputError("letters are missing observations only where symbols are letters: give symbols, too")
        return None, ""
    letters = _tuple_of("symbols", symbols)
    if not isinstance(missing, str):
        raise InputError(f"missing is of type {type(missing).__name__}: give a text of letters")
    if len(letters) != n_symbols:
        raise InputError(
            f"there are {len(letters)} symbols and {n_symbols} columns of emission: give a symbol per column"
        )
    if not all(isinstance(a, str) and len(a) == 1 and a.isascii() and a.isprintable() for a in (*letters, *missing)):
        raise InputError("a symbol is no printable ASCII letter: give one letter per column, or observe codes")
    if len({*letters, *missing}) < len(letters) + len(missing):
        raise InputError("a symbol occurs twice among symbols and missing ones: name each once")
    return letters, missing
