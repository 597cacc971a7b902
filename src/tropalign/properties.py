"""Values that are computed on first use and kept: once per process, object or property, in any thread.

If several threads ask for a value at the same time, the first one computes it and the others wait for that value
alone. All of them get the same object. `functools.cache` computes it in each thread and keeps the last one, so
that two threads may hold different objects; `functools.cached_property` of Python 3.11 has one lock per class.

In the child of a fork, no value is in progress: a value that another thread was computing is computed again.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Hashable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload
from weakref import WeakKeyDictionary

T = TypeVar("T")
P = ParamSpec("P")

#: Locks of the values in progress, by (id of the dictionary that will hold the value, key).
_in_progress: dict[tuple[int, Hashable], threading.RLock] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_progress.clear)


def _kept(values: dict[Any, T], key: Hashable, compute: Callable[[], T]) -> T:
    """Return the value of the key; if it is missing, compute it in one thread only.

    Modules that `compute` imports must not ask for the same value while they load: two threads could deadlock.
    """
    progress = id(values), key
    with _in_progress.setdefault(progress, threading.RLock()):
        try:
            return values[key] if key in values else values.setdefault(key, compute())
        finally:
            _in_progress.pop(progress, None)


def cached(function: Callable[P, T]) -> Callable[P, T]:
    """Keep the result of a function for each set of arguments; exceptions are not kept."""
    values: dict[Any, T] = {}

    @functools.wraps(function)
    def get(*args: P.args, **named: P.kwargs) -> T:
        key = (args, *named.items())
        if key in values:
            return values[key]
        return _kept(values, key, lambda: function(*args, **named))

    return get


class cached_per_object(Generic[P, T]):
    """Keep the results of a function as long as its first argument lives; that argument is compared by identity."""

    def __init__(self, function: Callable[Concatenate[Any, P], T]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._values: WeakKeyDictionary[Any, dict[Any, T]] = WeakKeyDictionary()

    def __call__(self, owner: Any, /, *args: P.args, **named: P.kwargs) -> T:
        values = self._values.get(owner)
        if values is None:
            values = self._values.setdefault(owner, {})
        key = (args, *named.items())
        if key in values:
            return values[key]
        return _kept(values, key, lambda: self._function(owner, *args, **named))

    def is_kept(self, owner: Any, /, *args: P.args, **named: P.kwargs) -> bool:
        """True if the result is already kept."""
        return (args, *named.items()) in self._values.get(owner, {})


class cached_property(functools.cached_property[T]):
    """A property that is computed once per object and kept with it."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> cached_property[T] | T:
        if instance is None:
            return self
        assert self.attrname is not None  # Python sets it when the class is created
        values: dict[Any, T] = vars(instance)
        return _kept(values, self.attrname, lambda: self.func(instance))
