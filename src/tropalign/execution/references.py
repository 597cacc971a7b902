"""Pickles that name large objects in place of holding them, so that each travels once to every worker.

    task --pickled--> bytes that say "batch 4f1c" where the task has its SequenceBatch      4f1c: that batch, sent once
    result --pickled--> the same on the way back: a table of pairs names the sequences that it speaks of

A class whose objects are large, never change and are needed by many tiles says so by ``is_sent_once = True``; and by
``is_made_anew = True`` where equal objects come again and again, as blocks of a file do that is read several times.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from typing import Any


def is_sent_once(value: Any) -> bool:
    """Whether this is an object that is named in place of being held."""
    return bool(getattr(type(value), "is_sent_once", False))


def is_made_anew(value: Any) -> bool:
    """Whether an equal object may have been sent before."""
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
    """The value as bytes.

    Parameters
    ----------
    name_of
        The name of an object that is sent once; None where the bytes are to hold it.
    """
    out = io.BytesIO()
    _Pickler(out, name_of).dump(value)
    return out.getvalue()


def unpacked(data: bytes, objects: Mapping[str, Any]) -> Any:
    """The value again; `objects` holds by name what the bytes name."""
    return _Unpickler(io.BytesIO(data), objects).load()
