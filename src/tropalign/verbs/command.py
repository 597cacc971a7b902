"""Base of every verb: a class whose fields are its inputs, options and outputs, and which runs with their values."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeVar, cast

from tropalign.errors import InputError, UsageError
from tropalign.options.option import Conditions, Option, Options, grouped

if TYPE_CHECKING:
    from tropalign.execution.archive import Shards
    from tropalign.formats.format import Format

T = TypeVar("T")
#: Sentences on options that exclude others.
WITHOUT_EFFECT = "{other} has no effect with {this}: leave {other} out"
#: Options that change how and where a run works, but not its results.
RUN_OPTIONS = (
    "output", "no_comments", "no_header", "threads", "memory", "device", "cluster", "shard", "quiet", "dry_run"
)  # fmt: skip


class Refused(UsageError):
    """Options of a command do not go together.

    `sentence` is the reason and the remedy; `verb` is the one whose help says more, such as "db build".
    """

    def __init__(self, sentence: str, verb: str) -> None:
        super().__init__(sentence)
        self.verb = verb


@dataclass(frozen=True, kw_only=True)
class Served:
    """Additional declarations for a server's forms and API.

    title: text of a button.
    kind: kind of the main output in `formats.registry`; empty if there is only one format.
    format: the only format of a verb whose output has no kind.
    never_formats: formats that the verb always rejects.
    is_resumable: true if a stopped job continues with the parts that it left.
    example, example_options: files of ``examples/`` by input, and options for them.
    """

    title: str
    kind: str
    format: Format | None = None
    never_formats: tuple[str, ...] = ()
    is_resumable: bool = False
    example: Mapping[str, str] = field(default_factory=dict)
    example_options: Mapping[str, object] = field(default_factory=dict)


class Command(Options):
    """A verb with the values of its options.

    verb: as typed: "pairs", "db build".
    summary, description, example: line in the list of verbs; start and end of the help.
    served: None if no server runs it.
    no_shards: reason for the absence of ``--shard``, if users might look for it.
    takes_stdin: true if several files are joined for it by ``cat``.
    finishes: options of the additional files that `finish` makes of shards, if the verb has such a method.
    actions: subcommands of a verb that does nothing by itself: ``db build``.
    group_texts: texts below headings of its help.
    each_input, each_power, each_refuses: for ``--each``, the input of which there are many; the exponent of the
        cost's growth with its size; options that are not available per file.
    """

    verb: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    description: ClassVar[str] = ""
    example: ClassVar[str] = ""
    served: ClassVar[Served | None] = None
    no_shards: ClassVar[str] = ""
    takes_stdin: ClassVar[bool] = False
    finishes: ClassVar[tuple[str, ...]] = ()
    actions: ClassVar[tuple[type[Command], ...]] = ()
    group_texts: ClassVar[Mapping[str, str]] = {}
    each_input: ClassVar[str] = ""
    each_power: ClassVar[int] = 1
    each_refuses: ClassVar[tuple[str, ...]] = ()

    def run(self) -> None:
        """Read, compute and write."""
        raise NotImplementedError

    def is_given(self, condition: str) -> bool:
        """True if an option of "a|b" differs from its default; for "a=x|y", if it has one of these values."""
        names, _, values = condition.partition("=")
        for name in names.split("|"):
            one, value = self.declared().get(name), getattr(self, name, None)
            is_set = one is not None and value not in (None, "", one.default) and value is not False
            if is_set and (not values or value in values.split("|")):
                return True
        return False

    def check(self) -> Any:
        """Reject options that do not go together before anything is read, by their declarations. Raises Refused."""
        from tropalign.formats.format import suffix_of

        declared = self.declared()
        given = [one for name, one in declared.items() if self.is_given(name)]
        for one in given:
            value = getattr(self, one.name)
            for condition, sentence in conditions(one.needs):
                if not self.is_given(condition):
                    names, _, values = condition.partition("=")
                    *others, last = [f"{declared[name].flag} {values}".rstrip() for name in names.split("|")]
                    needed = f"{', '.join(others)} or {last}: add one of them" if others else f"{last}: add it"
                    self.refuse(sentence or f"{one.flag} needs {needed}, or leave {one.flag} out")
            this = one.flag if one.choices is None else f"{one.flag} {value}"
            for condition, sentence in conditions(one.excludes):
                if condition != one.name and self.is_given(condition):
                    other = declared[condition.partition("=")[0]].flag
                    self.refuse((sentence or WITHOUT_EFFECT).format(this=this, other=other))
            if one.role == "output" and one.suffix.endswith((".html", ".hmm")):
                ending = f".{one.suffix.rpartition('.')[2]}"
                if suffix_of(value) not in ("", ending, ending.removesuffix("l")):
                    self.refuse(
                        f"{one.flag} {value}: end the name in {ending} (or in {ending}.gz or similar to compress it)"
                    )
        self.check_stdin([path for one in given if one.role == "input" for path in listed(getattr(self, one.name))])

    def leave_out(self, reason: str, names: Iterable[str]) -> None:
        """Reject the options that are given; `reason` depends on the values of other options."""
        for name in filter(self.is_given, names):
            self.refuse(f"{reason}: leave {self.declared()[name].flag} out")

    def check_stdin(self, paths: Sequence[str]) -> None:
        """Reject standard input that is named more than once."""
        if paths.count("-") > 1:
            self.refuse("standard input can be read only once: name - once")

    def refuse(self, sentence: str) -> NoReturn:
        """Raise `Refused`, with the verb whose help says more."""
        raise Refused(sentence, self.verb)

    def command_line(self, **settled: str | None) -> str:
        """Return the command in canonical form, for headers, without RUN_OPTIONS, which change no result.

        `settled`: values of options that follow from others, like the format from a suffix.
        """
        files, words = self._asked_for(RUN_OPTIONS, settled)
        return shlex.join(["tropalign", *self.verb.split(), *files, *(word for option in words for word in option)])

    def replayed(self, **settled: str | None) -> list[str]:
        """Return words that recreate an equal command; `settled` as in `command_line`."""
        ignored = tuple(name for name in RUN_OPTIONS if name not in ("no_comments", "no_header"))
        files, words = self._asked_for(ignored, settled)
        return [self.verb.split()[-1], *("=".join(option) for option in words), "--", *files]

    @classmethod
    def from_replayed(cls, words: Sequence[str]) -> Self:
        """Recreate a command from the words of `replayed`, without the verb. Raises ValueError for other words."""
        end = words.index("--")
        flags = {flag: one for one in cls.declared().values() for flag in one.typed}
        found: dict[str, Any] = {}
        for word in words[:end]:
            flag, equals, text = word.partition("=")
            one = flags.get(flag)
            if one is None or one.is_flag == bool(equals):
                raise ValueError(f"{flag} is not an option of {cls.verb}")
            value = True if one.is_flag else text if one.kind is None else one.kind.parse(text)
            found[one.name] = [*found.get(one.name, ()), value] if one.many is not None else value
        files = list(words[end + 1 :])
        for one in (one for one in cls.declared().values() if not one.typed):
            if one.many in (None, "?") and files:
                found[one.name] = files.pop(0)
            elif one.many not in (None, "?"):
                found[one.name], files = files or None, []
        return cls(**{name: value for name, value in found.items() if value is not None})

    def _asked_for(
        self, ignored: Sequence[str], settled: Mapping[str, str | None]
    ) -> tuple[list[str], list[list[str]]]:
        """Return the files, and each option with its value."""
        files: list[str] = []
        words: list[list[str]] = []
        for one in in_order_of_help(self.declared().values()):
            value = settled.get(one.name, getattr(self, one.name))
            if value is None or value == one.default or one.name in ignored:
                continue
            if not one.typed:
                files += map(str, listed(value))
            elif one.is_flag:
                words.append([one.typed[-1]])
            else:
                words += [[one.typed[-1], str(word)] for word in listed(value)]
        return files, words

    def places(self) -> dict[str, str]:
        """Return the paths of the output files, by the names of their options."""
        names = [
            name
            for name, one in self.declared().items()
            if name == "output" or (one.role == "output" and not one.follows_main)
        ]
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def finish(self, shards: Shards, places: Mapping[str, str]) -> None:
        """Do the last stages of a run whose shards `merge` joins.

        `shards` are those of an equal command, except that output and resources are those of `merge`; `places` as
        in `places`.
        """
        raise NotImplementedError


def conditions(said: Conditions) -> Iterable[tuple[str, str]]:
    """Return each condition of an option with the sentence of its error, or ""."""
    if isinstance(said, Mapping):
        return said.items()
    return [(name, "") for name in ([said] if isinstance(said, str) else said)]


def listed(value: Any) -> list[Any]:
    """Return the values of an option that may be given several times."""
    return list(value) if isinstance(value, list | tuple) else [value]


#: Shared by the commands of one ``--each`` run while it lasts.
_read: dict[Hashable, Any] | None = None
_reading = threading.Lock()


@contextmanager
def reading_once() -> Iterator[None]:
    """Make `read_once` read nothing twice within the block, in all threads."""
    global _read
    mine: dict[Hashable, Any] = {}
    _read = mine
    try:
        yield
    finally:
        if _read is mine:
            _read = None


def read_once(key: Hashable, read: Callable[[], T]) -> T:
    """Return the result of `read`, shared for equal keys within `reading_once`; do not change it."""
    known = _read  # another run in this process may end meanwhile
    if known is None:
        return read()
    with _reading:
        if key not in known:
            known[key] = read()
        return cast("T", known[key])


def in_order_of_help(options: Iterable[Option]) -> list[Option]:
    """Sort options as in the help: positional ones first, then group by group."""
    listed = list(options)
    places = [one for one in listed if not one.typed]
    return [*places, *(one for group in grouped(listed).values() for one in group if one.typed)]


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Add the file name to errors of its content."""
    try:
        yield
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(str(error), file=file) from None
