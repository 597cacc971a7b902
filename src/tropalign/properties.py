"""Properties that are computed when they are first asked for, and kept."""

from __future__ import annotations

import functools
from typing import Any, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):
    """A property whose value is computed once per object and kept with it; Python's own, without a lock.

    Python 3.11 has a lock for all objects of a class, which makes threads wait for each other's values, and which a
    child process finds locked for ever where another thread held it when the process forked. Here threads that ask at
    a time compute the value each, and all get the one that was kept first: the function must change nothing.

    Examples
    --------
    >>> class Square:
    ...     def __init__(self, side):
    ...         self.side = side
    ...
    ...     @cached_property
    ...     def area(self):
    ...         return self.side**2
    >>> Square(3).area
    9
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> cached_property[T] | T:
        if instance is None:
            return self
        assert self.attrname is not None  # Python tells it as the class is made
        kept: T = vars(instance).setdefault(self.attrname, self.func(instance))
        return kept
