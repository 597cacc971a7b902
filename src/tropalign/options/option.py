"""Option as a class field: name, type, default, help, label and role, declared in one place.

    class Selection(Options, group="which pairs"):
        top: int | None = option(default=None, kind=whole(1), metavar="K", help="the K best targets of each query")

mypy and editors see a frozen class with these fields. At run time `Selection.declared()` returns the rest, from
which parsers, help, forms, the server's API and the docs are made. A class inherits the options of its bases, in
their order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import FrozenInstanceError, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

from tropalign.errors import UsageError, did_you_mean, named

if TYPE_CHECKING:
    from dataclasses import Field
    from inspect import Signature

#: Largest magnitude of numeric options: kernels compute with 32 bits.
MOST = 2**31 - 1


@dataclass(frozen=True)
class Kind:
    """Kind of value: the parser of its text, and name and range for forms and the API.

    `name` is "whole" (an integer), "number" or "text". `parse` converts text, or raises ValueError with the
    reason. `least` and `most` are the inclusive range of a number, None for text.
    """

    name: Literal["whole", "number", "text"]
    parse: Callable[[str], Any]
    least: float | None = None
    most: float | None = None

    def takes(self, word: str) -> bool:
        """True if the text is of this kind."""
        try:
            self.parse(word)
        except ValueError:
            return False
        return True


def whole(least: int = -MOST, most: int = MOST) -> Kind:
    """Return the kind of integers from `least` to `most`."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", text):
            raise ValueError(f"{text!r} is not a whole number")
        value = int(text)
        if value < least:
            raise ValueError(f"{value} is below {least}")
        if value > most:
            raise ValueError(f"{value} is above {most}")
        return value

    return Kind("whole", parse, least, most)


def _decimal(text: str) -> int | float:
    if not re.fullmatch(r"\s*[+-]?([0-9]{1,18}(\.[0-9]*)?|\.[0-9]+)\s*", text):
        raise ValueError(f"{text!r} is not a number")
    value = float(text)
    if abs(value) > MOST:
        raise ValueError(f"{text.strip()} is {'below' if value < 0 else 'above'} {-MOST if value < 0 else MOST}")
    return int(value) if value.is_integer() else value


def _float(text: str) -> float:
    """Convert text to float, nan if it is not a number; unlike `float`, reject 1_000 and digits of other scripts."""
    is_number = re.fullmatch(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?\s*", text)
    return float(text) if is_number else math.nan


def _fraction(text: str) -> float:
    value = _float(text)
    if not 0 <= value <= 1:
        raise ValueError(f"{text!r} is not a fraction between 0 and 1")
    return value


def number(least: float, most: float) -> Kind:
    """Return the kind of numbers from `least` to `most`.

    Every number has a range: values far outside practical use cause infinities and loss of precision.
    """

    def parse(text: str) -> float:
        value = _float(text)
        if not math.isfinite(value):
            raise ValueError(f"{text!r} is not a number")
        if value <= 0 < least:
            raise ValueError(f"{text!r} is not above 0: give a number from {least:g} to {most:g}")
        if not least <= value <= most:
            side = "below" if value < least else "above"
            bound = least if value < least else most
            raise ValueError(f"{text!r} is {side} {bound:g}: give a number from {least:g} to {most:g}")
        return value

    return Kind("number", parse, least, most)


#: A number with or without decimals, converted to int if it is integral.
DECIMAL = Kind("number", _decimal, -MOST, MOST)
#: A number from 0 to 1.
FRACTION = Kind("number", _fraction, 0, 1)
#: An E-value: smaller ones are written as 0, larger ones exceed any search.
E_VALUE = number(1e-300, 1e300)
#: A score in bits.
BITS = number(-1e9, 1e9)
#: A P-value; as in HMMER, values above 1 act as 1.
P_VALUE = number(0, 1e9)
#: A size, weight, factor or duration above 0.
POSITIVE = number(1e-9, 1e9)
#: An amount of 0 or more.
AMOUNT = number(0, 1e9)
#: Text that is neither a file name nor an address, so that forms have a field for it.
TEXT = Kind("text", str)


T = TypeVar("T")
#: An error of two options that exclude each other.
EXCLUSIVE = "{this} and {other} exclude each other: give one of them"
#: Names of options, or a mapping from these to the sentence of an error; an empty sentence means the general one.
Conditions = str | Collection[str] | Mapping[str, str]


class _Signature:
    """Signature of a class of options, made on access."""

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
    """Fields of a class of options for `dataclasses`, made on access."""

    def __get__(self, owner: Options | None, options: type[Options]) -> dict[str, Field[Any]]:
        from dataclasses import field, fields, make_dataclass

        declared = [
            (one.name, Any, field() if one.default is REQUIRED else field(default=one.default))
            for one in options.in_order_of_call()
        ]
        return {one.name: one for one in fields(make_dataclass(options.__name__, declared, kw_only=True))}


class _Required:
    """Type of the marker `REQUIRED`."""

    def __repr__(self) -> str:
        return "REQUIRED"


#: Default of an option that must be given.
REQUIRED = _Required()


@dataclass(frozen=True, kw_only=True)
class Option:
    """Declaration of an option.

    - `default`: REQUIRED if there is no default.
    - `help`: text for command lines.
    - `doc`: text for the docs of Python functions; by default `help`.
    - `form_help`: text for forms, if `help` applies only to command lines.
    - `label`: name in forms, if `name` is not clear enough.
    - `flags`: flags on the command line, by default ``--the-name``; empty for positional arguments.
    - `kind`: parser of the value; None for flags without a value, for choices and for files.
    - `choices`: allowed values.
    - `metavar`: name of the value in the help.
    - `many`: list of values: "+" (one or more), "*" (any number), "?" (at most one), "..." (all the rest), or
      "append" (the option may be repeated).
    - `group`: heading in the help.
    - `either`: name of a set of mutually exclusive options.
    - `needs`: the option without which this one has no effect: "fit", "html|table" (at least one of these) or
      "method=clustalw" (with this value, or one of several). For several needs a collection, or a mapping to the
      sentences of the errors.
    - `excludes`: options that have no effect together with this one, in the same form; {this} and {other} in a sentence
      are the two options.
    - `on_help`: module and function that print the possible values if the value is ``help``.
    - `role`: "value" (users of a server may set it), "input" (a file to read), "output" (a file to write),
      "machine" (how and where to run: set by the server) or "private" (not available on servers).
    - `holds`: content of an input file: "sequences", "alignment", "models", "tree", "table", "graph", "matrix",
      "model", "embeddings" or "archive".
    - `names`: module and function that list names that are allowed in place of an input file.
    - `file_label`: label of the file itself in forms, if `label` means a name or a file.
    - `default_name`: default among `names`.
    - `output`: role of an output in submissions: "report".
    - `suffix`: ending of an output's file name if the server chooses the name.
    - `follows_main`: True if the option takes no file name: the name is the main output's name plus `suffix`.
    - `of_shards`: True if shards contain this output, so that `merge` writes it.
    - `is_common`: True if forms show the option first.
    - `is_needed_on_servers`: True if forms and submissions require a file that commands may omit.
    - `by_place`: True if Python functions also take it as a positional argument.
    """

    name: str = ""
    default: Any = REQUIRED
    help: str = ""
    doc: str = ""
    form_help: str = ""
    label: str = ""
    flags: tuple[str, ...] | None = None
    kind: Kind | None = None
    choices: Collection[str] | None = None
    metavar: str | None = None
    many: Literal["+", "*", "?", "...", "append"] | None = None
    group: str = ""
    either: str = ""
    needs: Conditions = field(default=(), hash=False)  # may be a dict
    excludes: Conditions = field(default=(), hash=False)
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
    is_needed_on_servers: bool = False
    by_place: bool = False

    def but(self, **changes: Any) -> Option:
        """Return a copy with other values.

        Loading the verbs makes hundreds of copies, and `dataclasses.replace` takes 20 us for each.
        """
        copy = object.__new__(Option)
        copy.__dict__.update(self.__dict__, **changes)
        return copy

    @property
    def typed(self) -> tuple[str, ...]:
        """Flags of the option on the command line; empty for a positional argument."""
        return (f"--{self.name.replace('_', '-')}",) if self.flags is None else self.flags

    @property
    def flag(self) -> str:
        """Flag for errors and headers."""
        return self.typed[-1] if self.typed else self.metavar or self.name

    @property
    def is_flag(self) -> bool:
        """True if the option takes no value."""
        return isinstance(self.default, bool)


def option(
    *,
    default: T,
    help: str = "",
    kind: Kind | None = None,
    choices: Collection[str] | None = None,
    role: Literal["value", "machine", "private"] = "value",
    kw_only: bool = True,
    **more: Any,
) -> T:
    """Declare a value: a flag (if its default is a bool), one of `choices`, or text of a `kind`."""
    if role == "value" and help and kind is None and choices is None and not isinstance(default, bool):
        raise TypeError(f"declare the allowed values, by a kind or by choices: {help}")
    more["by_place"] = not kw_only
    return Option(default=default, help=help, kind=kind, choices=choices, role=role, **more)  # type: ignore[return-value]


def input_file(*, holds: str, help: str, default: Any = REQUIRED, **more: Any) -> Any:
    """Declare one or more files that a verb reads; required unless it has a default."""
    return Option(default=default, role="input", holds=holds, help=help, **more)


def output_file(*, output: str, suffix: str, help: str, default: Any = None, **more: Any) -> Any:
    """Declare a file that a verb writes in addition to the main output."""
    return Option(default=default, role="output", output=output, suffix=suffix, help=help, **more)


def argument(*, doc: str = "", default: Any = REQUIRED, kw_only: bool, **more: Any) -> Any:
    """Declare an argument that only Python functions take, positional unless it is `kw_only`."""
    return Option(default=default, doc=doc, role="private", by_place=not kw_only, **more)


def but(base: type[Options], name: str, *, default: Any = REQUIRED, kw_only: bool = True, **changes: Any) -> Any:
    """Redeclare an option of a base with `changes`, positional unless it is `kw_only`."""
    said = base.declared()[name]
    return said.but(default=said.default if default is REQUIRED else default, by_place=not kw_only, **changes)


def again(base: type[Options], name: str, **changes: Any) -> Any:
    """Redeclare an option of a base as `but` does, with the base's default.

    Unlike `but`, this is not a field specifier, so type checkers treat the field as one with a default.
    """
    return but(base, name, **changes)


@dataclass_transform(
    kw_only_default=True, frozen_default=True, field_specifiers=(option, input_file, output_file, argument, but)
)
class Options:
    """Base of classes with options as fields, made from keywords and checked by `settle`."""

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
        needs: str = "",
    ) -> None:
        """Collect the options of `arranged` and the bases, in this order, then the class's own.

        `needs`: what all of them need that say nothing else, except that option itself.
        """
        found: dict[str, Option] = {}
        for base in (*arranged, *cls.__bases__):
            found = {**found, **getattr(base, "_declared", {})}
        found |= more or {}
        for name in vars(cls).get("__annotations__", ()):
            said = cls.__dict__.get(name)
            if isinstance(said, Option):
                found[name] = said.but(name=name, group=said.group if group is None or said.group else group)
        if needs:
            found = {name: one if one.needs or name == needs else one.but(needs=needs) for name, one in found.items()}
        for name, one in found.items():  # also for inherited options, whose default another base may hide
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
            if kind.least is not None and kind.most is not None and kind is not FRACTION  # `settle` checks fractions
        }

    def __init__(self, *values: Any, **given: Any) -> None:
        if values:
            if len(values) > len(self._places):
                taken = f"{len(self._places)} positional argument{'' if len(self._places) == 1 else 's'}"
                raise TypeError(f"{type(self).__name__} takes {taken} but {len(values)} were given")
            placed = dict(zip(self._places, values, strict=False))
            if placed.keys() & given.keys():
                twice = next(name for name in placed if name in given)
                raise TypeError(f"{type(self).__name__} got multiple values for argument {twice!r}")
            given = placed | given
        if not self._required <= given.keys() <= self._declared.keys():
            raise TypeError(self._misfit(given))
        self.__dict__.update(given)
        self.settle()
        for name in self._ranges.keys() & given.keys():  # `settle` need not check these
            value, (least, most) = getattr(self, name), self._ranges[name]
            if isinstance(value, int | float) and not isinstance(value, bool) and not least <= value <= most:
                raise UsageError(f"{named(name)} {str(value)[:40]} is not a number from {least:g} to {most:g}")

    def _misfit(self, named: Mapping[str, Any]) -> str:
        """Return the message for missing or unknown arguments."""
        missing = [repr(name) for name in self._declared if name in self._required and name not in named]
        if missing:
            arguments = "argument" if len(missing) == 1 else "arguments"
            return f"{type(self).__name__} missing {len(missing)} required {arguments}: {' and '.join(missing)}"
        unknown = next(name for name in named if name not in self._declared)
        return f"{type(self).__name__} got an unexpected keyword argument {unknown!r}"

    def settle(self) -> None:
        """Check the values, and convert them with `set`. Raises UsageError."""

    def check_choices(self) -> None:
        """Raise UsageError if a field with choices has another value."""
        for name, one in self._declared.items():
            value = getattr(self, name)
            if one.choices is None or value is one.default:
                continue
            if not isinstance(value, str) or value not in one.choices:
                near = did_you_mean(value, one.choices) if isinstance(value, str) else ""
                raise UsageError(f"{named(name)} {value!r} is not one of {', '.join(one.choices)}{near}")

    def set(self, name: str, value: Any) -> None:
        """Set the final value of a field during construction."""
        self.__dict__[name] = value

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    @classmethod
    def declared(cls) -> Mapping[str, Option]:
        """Return the options by name, in the order of declaration."""
        return cls._declared

    @classmethod
    def in_order_of_call(cls) -> list[Option]:
        """Return the options in signature order: positional before keyword-only, then required before optional."""
        return sorted(cls._declared.values(), key=lambda one: (not one.by_place, one.default is not REQUIRED))

    def values(self) -> dict[str, Any]:
        """Return the values of all fields."""
        return {name: getattr(self, name) for name in self._declared}

    def shared_with(self, other: type[Options]) -> dict[str, Any]:
        """Return the values of the fields that `other` also has, for use as its arguments."""
        return {name: getattr(self, name) for name in self._declared if name in other._declared}

    def replaced(self, **changes: Any) -> Self:
        """Return a copy with other values."""
        return type(self)(**{**self.values(), **changes})

    def __eq__(self, other: object) -> bool:
        return self.values() == other.values() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *self.values().values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.values().items())})"


def grouped(options: Iterable[Option]) -> dict[str, list[Option]]:
    """Group options by heading, in the order of help: options without a heading come first."""
    found: dict[str, list[Option]] = {"": []}
    for one in options:
        found.setdefault(one.group, []).append(one)
    return found
