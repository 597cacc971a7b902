"""An option as a field of a class: name, type, default, help, label, and whose business it is, in one place.

    class Selection(Options, group="which pairs"):
        top: int | None = option(default=None, kind=whole(1), metavar="K", help="the K best targets of each query")

mypy and editors see a frozen class with these fields. At run time `Selection.declared()` tells the rest: parsers, help,
forms, the server's API and the docs are made of it. A class takes over the options of its bases, in their order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import FrozenInstanceError, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

from tropalign.errors import UsageError, did_you_mean, named
from tropalign.options.kinds import FRACTION, Choices, Kind

if TYPE_CHECKING:
    from dataclasses import Field
    from inspect import Signature

T = TypeVar("T")


class _Signature:
    """The signature of a class of options, made when it is asked for."""

    def __get__(self, owner: Options | None, options: type[Options]) -> Signature:
        from inspect import Parameter, Signature

        hints: dict[str, Any] = {}
        for base in reversed(options.__mro__):
            hints |= vars(base).get("__annotations__", {})
        kinds = {True: Parameter.POSITIONAL_OR_KEYWORD, False: Parameter.KEYWORD_ONLY}
        return Signature(
            [
                Parameter(
                    one.name,
                    kinds[one.by_place],
                    default=Parameter.empty if one.default is REQUIRED else one.default,
                    annotation=hints.get(one.name, Parameter.empty),
                )
                for one in options.in_order_of_call()
            ]
        )


class _Fields:
    """The fields of a class of options as `dataclasses` knows them, made when they are asked for."""

    def __get__(self, owner: Options | None, options: type[Options]) -> dict[str, Field[Any]]:
        from dataclasses import field, fields, make_dataclass

        declared = [
            (one.name, Any, field() if one.default is REQUIRED else field(default=one.default))
            for one in options.in_order_of_call()
        ]
        return {one.name: one for one in fields(make_dataclass(options.__name__, declared, kw_only=True))}


class _Required:
    """The default of what has none."""

    def __repr__(self) -> str:
        return "REQUIRED"


#: The default of what has to be given.
REQUIRED = _Required()


@dataclass(frozen=True, kw_only=True)
class Option:
    """What is known of an option.

    Parameters
    ----------
    name, default
        The field's; REQUIRED where there is no default.
    help
        For command lines.
    doc
        For the docs of Python functions; `help` by default.
    form_help
        For forms, where `help` speaks of command lines alone.
    label
        What forms call it, where its name does not say it.
    flags
        As it is typed, ``--the-name`` by default; empty for what is known by its place.
    kind
        How a word is read; None for flags without a value, for choices, and for files.
    choices
        The words that there are.
    metavar
        What help calls the value.
    many
        A list: "+" (one or more), "*" (none or more), "?" (one or none), "..." (all the rest), or
        "append" (the option several times).
    group
        Heading in the help.
    either
        A name that options have in common of which only one may be given.
    on_help
        What prints the values that there are where the value is ``help``: module and function.
    role
        "value" (a user of a server may choose it), "input" (a file that is read), "output" (a file that is written),
        "machine" (how and where it runs: a server decides that) or "private" (for nobody on a server).
    holds
        What an input file holds: "sequences", "alignment", "models", "tree", "table", "graph", "matrix", "model" or
        "archive".
    names
        Names that may stand in place of an input file: what lists them, module and function.
    file_label
        What forms call the file itself, where `label` is of a name or a file.
    default_name
        The one of `names` that is taken where nothing is said.
    output
        The role of an output in submissions: "report".
    suffix
        How the name of an output ends that a server chooses.
    follows_main
        Whether the option takes no name: the file is called after the main one, with `suffix` added.
    of_shards
        Whether shards hold it, for `merge` to write.
    is_common
        Whether forms show it first.
    by_place
        Whether Python functions take it by its place, too.
    former
        Names that the option had before, which are still taken, with a warning.
    """

    name: str = ""
    default: Any = REQUIRED
    help: str = ""
    doc: str = ""
    form_help: str = ""
    label: str = ""
    flags: tuple[str, ...] | None = None
    kind: Kind | None = None
    choices: Collection[str] | Choices | None = None
    metavar: str | None = None
    many: Literal["+", "*", "?", "...", "append"] | None = None
    group: str = ""
    either: str = ""
    on_help: tuple[str, str] | None = None
    role: Literal["value", "input", "output", "machine", "private"] = "value"
    holds: str = ""
    names: tuple[str, str] | None = None
    file_label: str = ""
    default_name: str | None = None
    output: str = ""
    suffix: str = ""
    follows_main: bool = False
    of_shards: bool = True
    is_common: bool = False
    by_place: bool = False
    former: tuple[str, ...] = ()

    def but(self, **changes: Any) -> Option:
        """Makes a copy with other values: hundreds while verbs are loaded, each for 20 us by `dataclasses.replace`."""
        copy = object.__new__(Option)
        copy.__dict__.update(self.__dict__, **changes)
        return copy

    @property
    def typed(self) -> tuple[str, ...]:
        """The option as it is typed: none where its place tells it."""
        return (f"--{self.name.replace('_', '-')}",) if self.flags is None else self.flags

    @property
    def formerly_typed(self) -> tuple[str, ...]:
        """The option as it was typed before."""
        return tuple(f"--{name.replace('_', '-')}" for name in self.former)

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return isinstance(self.default, bool)


def option(
    *,
    default: T,
    help: str = "",
    kind: Kind | None = None,
    choices: Collection[str] | Choices | None = None,
    role: Literal["value", "machine", "private"] = "value",
    kw_only: bool = True,
    **more: Any,
) -> T:
    """Declares a value: a flag by a default that is a bool, one of `choices`, or a word of a `kind`."""
    if role == "value" and help and kind is None and choices is None and not isinstance(default, bool):
        raise TypeError(f"say what its words are, by a kind or by choices: {help}")
    more["by_place"] = not kw_only
    return Option(default=default, help=help, kind=kind, choices=choices, role=role, **more)  # type: ignore[return-value]


def input_file(*, holds: str, help: str, default: Any = REQUIRED, **more: Any) -> Any:
    """Declares a file, or several, that a verb reads; required unless it has a default."""
    return Option(default=default, role="input", holds=holds, help=help, **more)


def output_file(*, output: str, suffix: str, help: str, default: Any = None, **more: Any) -> Any:
    """Declares a file that a verb writes beside the main one."""
    return Option(default=default, role="output", output=output, suffix=suffix, help=help, **more)


def argument(*, doc: str = "", default: Any = REQUIRED, kw_only: bool, **more: Any) -> Any:
    """Declares an argument that Python functions alone take; by its place, too, unless it is `kw_only`."""
    return Option(default=default, doc=doc, role="private", by_place=not kw_only, **more)


def but(base: type[Options], name: str, *, default: Any = REQUIRED, kw_only: bool = True, **changes: Any) -> Any:
    """Declares the option of a base anew, with what is different here; by its place, too, unless it is `kw_only`."""
    said = base.declared()[name]
    return said.but(default=said.default if default is REQUIRED else default, by_place=not kw_only, **changes)


def again(base: type[Options], name: str, **changes: Any) -> Any:
    """Declares the option of a base anew as `but` does, with the default that it has there.

    Type checkers, which see no default in a `but` that says none, take this for a field that may be left out.
    """
    return but(base, name, **changes)


@dataclass_transform(
    kw_only_default=True, frozen_default=True, field_specifiers=(option, input_file, output_file, argument, but)
)
class Options:
    """The base of what has options as fields; made by keywords, and checked by `settle`."""

    __signature__ = _Signature()
    __dataclass_fields__ = _Fields()  # for dataclasses.replace, asdict and fields
    _declared: ClassVar[dict[str, Option]] = {}
    _required: ClassVar[frozenset[str]] = frozenset()
    _places: ClassVar[tuple[str, ...]] = ()
    _ranges: ClassVar[dict[str, tuple[float, float]]] = {}

    def __init_subclass__(
        cls,
        group: str | None = None,
        arranged: tuple[type[Options], ...] = (),
        more: Mapping[str, Option] | None = None,
    ) -> None:
        """Collects the options of the bases, as they are `arranged`, else in the order of the bases, then its own."""
        found: dict[str, Option] = {}
        for base in (*arranged, *cls.__bases__):
            found = {**found, **getattr(base, "_declared", {})}
        found |= more or {}
        for name in vars(cls).get("__annotations__", ()):
            said = cls.__dict__.get(name)
            if isinstance(said, Option):
                found[name] = said.but(name=name, group=said.group if group is None or said.group else group)
        for name, one in found.items():  # also of bases, whose order may hide them
            if one.default is not REQUIRED:
                setattr(cls, name, one.default)
            elif name in cls.__dict__:
                delattr(cls, name)
        cls._declared = found
        cls._required = frozenset(name for name, one in found.items() if one.default is REQUIRED)
        cls._places = tuple(one.name for one in cls.in_order_of_call() if one.by_place)
        kinds = {name: one.kind for name, one in found.items() if one.kind is not None and one.kind.name == "number"}
        cls._ranges = {
            name: (kind.least, kind.most)
            for name, kind in kinds.items()
            if kind.least is not None and kind.most is not None and kind is not FRACTION  # which `settle` checks
        }

    def __init__(self, *values: Any, **named: Any) -> None:
        if values:
            named = self._by_place(values, named)
        if not named.keys() <= self._declared.keys():
            named = self.renamed(named)
        if not self._required <= named.keys() <= self._declared.keys():
            raise TypeError(self._misfit(named))
        self.__dict__.update(named)
        self.settle()
        for name in self._ranges.keys() & named.keys():
            self._check_range(name, *self._ranges[name])

    def _check_range(self, name: str, least: float, most: float) -> None:
        """Raises UsageError for a number beyond the range of its kind, which `settle` need not know."""
        value = getattr(self, name)
        if isinstance(value, int | float) and not isinstance(value, bool) and not least <= value <= most:
            raise UsageError(f"{named(name)} {str(value)[:40]} is not a number from {least:g} to {most:g}")

    def _by_place(self, values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """The values by their names."""
        if len(values) > len(self._places):
            taken = f"{len(self._places)} positional argument{'' if len(self._places) == 1 else 's'}"
            raise TypeError(f"{type(self).__name__} takes {taken} but {len(values)} were given")
        placed = dict(zip(self._places, values, strict=False))
        if placed.keys() & named.keys():
            twice = next(name for name in placed if name in named)
            raise TypeError(f"{type(self).__name__} got multiple values for argument {twice!r}")
        return placed | named

    @classmethod
    def renamed(cls, named: Mapping[str, Any]) -> dict[str, Any]:
        """The values by the names of today; a warning tells of each former name."""
        import warnings

        today = {name: one.name for one in cls._declared.values() for name in one.former}
        found: dict[str, Any] = {}
        for name, value in named.items():
            new = name if name in cls._declared else today.get(name, name)
            if new in found or (new != name and new in named):
                raise TypeError(f"{cls.__name__} got multiple values for argument {new!r}")
            if new != name:
                warnings.warn(f"{name} is called {new} now", FutureWarning, stacklevel=4)
            found[new] = value
        return found

    def _misfit(self, named: Mapping[str, Any]) -> str:
        """What is missing, or unknown."""
        missing = [repr(name) for name in self._declared if name in self._required and name not in named]
        if missing:
            arguments = "argument" if len(missing) == 1 else "arguments"
            return f"{type(self).__name__} missing {len(missing)} required {arguments}: {' and '.join(missing)}"
        unknown = next(name for name in named if name not in self._declared)
        return f"{type(self).__name__} got an unexpected keyword argument {unknown!r}"

    def settle(self) -> None:
        """Checks the values, and brings them to one type with `set`. Raises UsageError."""

    def check_choices(self) -> None:
        """Raises UsageError where a field has choices, and holds another word."""
        for name, one in self._declared.items():
            value = getattr(self, name)
            if one.choices is None or value is one.default:
                continue
            if not isinstance(value, str) or value not in one.choices:
                near = did_you_mean(value, one.choices) if isinstance(value, str) else ""
                raise UsageError(f"{named(name)} {value!r} is none of {', '.join(one.choices)}{near}")

    def set(self, name: str, value: Any) -> None:
        """Gives a field its final value, while the object is made."""
        self.__dict__[name] = value

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    @classmethod
    def declared(cls) -> Mapping[str, Option]:
        """The options by their names, in the order of their declaration."""
        return cls._declared

    @classmethod
    def in_order_of_call(cls) -> list[Option]:
        """The options as Python functions take them: what is known by its place first, of that what is required."""
        return sorted(cls._declared.values(), key=lambda one: (not one.by_place, one.default is not REQUIRED))

    def values(self) -> dict[str, Any]:
        """What every field holds."""
        return {name: getattr(self, name) for name in self._declared}

    def shared_with(self, other: type[Options]) -> dict[str, Any]:
        """The fields that the other class has, too: what makes one of it."""
        return {name: getattr(self, name) for name in self._declared if name in other._declared}

    def replaced(self, **changes: Any) -> Self:
        """A copy with other values."""
        return type(self)(**{**self.values(), **changes})

    def __eq__(self, other: object) -> bool:
        return self.values() == other.values() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *self.values().values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.values().items())})"


def grouped(options: Iterable[Option]) -> dict[str, list[Option]]:
    """Options by the headings of their groups, in the order of help: what has no heading comes first."""
    found: dict[str, list[Option]] = {"": []}
    for one in options:
        found.setdefault(one.group, []).append(one)
    return found
