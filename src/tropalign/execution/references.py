"""Pickles that name large objects instead of containing them, so that each is sent to every worker once.

    task --pickled--> bytes with "batch 4f1c" in place of the task's SequenceBatch      4f1c: that batch, sent once
    result --pickled--> the same on the way back: a table of pairs refers to its sequences by name

A class whose objects are large, immutable and needed by many tiles sets ``is_sent_once = True``. It also sets
``is_made_anew = True`` if equal objects are created repeatedly, such as blocks of a file that is read several
times.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from typing import Any


def is_sent_once(value: Any) -> bool:
    """True if the object is sent by name."""
    return bool(getattr(type(value), "is_sent_once", False))


def is_made_anew(value: Any) -> bool:
    """True if an equal object may have been sent before."""
    return bool(getattr(type(value), "is_made_anew", False))


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, name_of: Callable[[Any], str | None]) -> None:
        super().__init__(file, protocol=5)
        self._name_of = name_of

    def persistent_id(self, value: Any) -> str | None:
        return self._name_of(value) if is_sent_once(value) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, objects: Mapping[str, Any]) -> None:
        super().__init__(file)
        self._objects = objects

    def persistent_load(self, name: str) -> Any:
        return self._objects[name]


def packed(value: Any, name_of: Callable[[Any], str | None]) -> bytes:
    """Pickle a value; `name_of` returns the name of an object that is sent once, or None to include it."""
    out = io.BytesIO()
    _Pickler(out, name_of).dump(value)
    return out.getvalue()


def unpacked(data: bytes, objects: Mapping[str, Any]) -> Any:
    """Unpickle a value; `objects` holds the named objects."""
    return _Unpickler(io.BytesIO(data), objects).load()
