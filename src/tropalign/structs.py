"""`dataclass`: Python's own, whose methods are made when they are first needed.

Python writes six methods per class as text and compiles them as the module is imported: half a millisecond, and a
command loads fifty such classes. Of that it has a use for thirty of the ``__init__``. Here each of these is compiled
with the first object of its class (a tenth of that time), the other methods are functions that all classes share, and
what `dataclasses.replace`, `fields` and `asdict` ask for is made by Python's own when they ask.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from dataclasses import Field
    from dataclasses import dataclass as dataclass


class _Entry(NamedTuple):
    """A field: its annotation, its default or `dataclasses.field` or _REQUIRED, and whether it goes by its name."""

    hint: str
    said: Any
    is_named: bool


class _MadePerObject:
    """Stands in signatures for a default that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_REQUIRED, _MADE = object(), _MadePerObject()


def _struct(
    cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, repr: bool = True, kw_only: bool = False
) -> Any:
    """Makes a class of data of a class whose annotations are its fields, as `dataclasses.dataclass` does.

    Classes with slots, which Python makes anew, are left to it.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(3), Point(3) == Point(3, 0)
    (Point(x=3, y=0), True)
    """
    if cls is None:
        return partial(_struct, frozen=frozen, eq=eq, repr=repr, kw_only=kw_only)
    entries = _entries(cls, kw_only)
    methods: dict[str, Any] = {"__init__": _Later(cls, "__init__", partial(_init, cls, entries))}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods |= {"__eq__": _equal, "__hash__": _hash if frozen else None}
    if frozen:
        methods |= {"__setattr__": refuse_to_set, "__delattr__": refuse_to_delete}
    for name, method in methods.items():
        if vars(cls).get(name) is None:  # a class that says what is equal has None as its __hash__
            setattr(cls, name, method)
    for name in ("__dataclass_fields__", "__dataclass_params__"):
        twin = partial(_of_twin, cls, entries, name, {"frozen": frozen, "eq": eq, "repr": repr, "kw_only": kw_only})
        setattr(cls, name, _Later(cls, name, twin))
    more = {
        "__match_args__": tuple(name for name, entry in entries.items() if not entry.is_named),
        "__replace__": _replace,
        "_struct_entries": entries,
        "_struct_values": attrgetter(*entries) if entries else staticmethod(_nothing),
    }
    for name, value in more.items():
        setattr(cls, name, value)
    return cls


if not TYPE_CHECKING:
    dataclass = _struct


class _Later:
    """An attribute of a class that is made when it is first looked up, and takes its own place.

    Threads that ask at a time make it each; there is no lock, which a child could find locked for ever.
    """

    def __init__(self, cls: type, name: str, make: Callable[[], Any]) -> None:
        self._cls, self._name, self._make = cls, name, make

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        made = self._make()
        setattr(self._cls, self._name, made)
        return made.__get__(instance, owner) if hasattr(made, "__get__") else made


def _entries(cls: type, kw_only: bool) -> dict[str, _Entry]:
    """The fields of the bases, and those of the class."""
    found: dict[str, _Entry] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= vars(base).get("_struct_entries", {})
    own = vars(cls)
    for name, hint in own.get("__annotations__", {}).items():
        if str(hint).startswith(("ClassVar", "typing.ClassVar")):
            continue
        said = own.get(name, _REQUIRED)
        found[name] = _Entry(hint, said, kw_only)
        if _is_field(said):  # the class itself has the default alone
            default = _default_of(said)
            if default is _REQUIRED:
                delattr(cls, name)
            else:
                setattr(cls, name, default)
    return found


def _is_field(said: Any) -> bool:
    """Whether a default is a `dataclasses.field`; where nobody has loaded `dataclasses`, it is none."""
    library = sys.modules.get("dataclasses")
    return library is not None and isinstance(said, library.Field)


def _default_of(said: Field[Any]) -> Any:
    from dataclasses import MISSING

    return _REQUIRED if said.default is MISSING else said.default


def _init(cls: type, entries: Mapping[str, _Entry]) -> Any:
    """Writes and compiles ``__init__``."""
    constants: dict[str, Any] = {"_made": _MADE}
    by_place: list[str] = []
    by_name: list[str] = []
    body: list[str] = []
    for name, entry in entries.items():
        said, word, value = entry.said, name, name
        factory = None
        if _is_field(said):
            from dataclasses import MISSING

            factory = None if said.default_factory is MISSING else said.default_factory
            said = _default_of(said)
        if factory is not None:
            constants[f"_factory_{name}"] = factory
            word, value = f"{name}=_made", f"_factory_{name}() if {name} is _made else {name}"
        elif said is not _REQUIRED:
            constants[f"_default_{name}"] = said
            word = f"{name}=_default_{name}"
        (by_name if entry.is_named else by_place).append(word)
        body.append(f"  _kept[{name!r}] = {value}\n")
    words = ["self", *by_place, *(["*", *by_name] if by_name else [])]
    end = "  self.__post_init__()\n" if hasattr(cls, "__post_init__") else ""
    text = (
        f"def _maker({', '.join(constants)}):\n"
        f" def __init__({', '.join(words)}):\n  _kept = self.__dict__\n{''.join(body)}{end} return __init__"
    )
    names: dict[str, Any] = {}
    exec(text, vars(sys.modules[cls.__module__]), names)
    made = names["_maker"](**constants)
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    hints: dict[str, Any] = {name: entry.hint for name, entry in entries.items()} | {"return": None}
    made.__annotations__ = hints
    return made


def _of_twin(cls: type, entries: Mapping[str, _Entry], name: str, how: Mapping[str, bool]) -> Any:
    """An attribute that `dataclasses` gives to a class of the same fields."""
    from dataclasses import dataclass as made_at_once

    body = {name: entry.said for name, entry in entries.items() if entry.said is not _REQUIRED}
    hints = {name: entry.hint for name, entry in entries.items()}
    twin = type(cls.__name__, (), {**body, "__annotations__": hints, "__module__": cls.__module__, "__doc__": ""})
    return getattr(made_at_once(**how)(twin), name)


def _nothing(struct: object) -> None:
    """What a class without fields compares."""


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (
        f"{name}={getattr(self, name)!r}"
        for name, entry in self._struct_entries.items()
        if not _is_field(entry.said) or entry.said.repr
    )
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _equal(self: Any, other: Any) -> Any:
    return self._struct_values(self) == self._struct_values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(self._struct_values(self))


def _replace(self: Any, **changes: Any) -> Any:
    """Makes a copy with other values, for `copy.replace`."""
    from dataclasses import replace

    return replace(self, **changes)


def refuse_to_set(self: Any, name: str, value: Any) -> NoReturn:
    """The ``__setattr__`` of what never changes."""
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def refuse_to_delete(self: Any, name: str) -> NoReturn:
    """The ``__delattr__`` of what never changes."""
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")
