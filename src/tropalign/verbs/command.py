"""What every verb is: a class whose fields are its inputs, options and outputs, and which runs with their values."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeVar, cast

from tropalign.errors import InputError, UsageError
from tropalign.options.option import Option, Options, grouped

if TYPE_CHECKING:
    from tropalign.execution.archive import Shards
    from tropalign.formats.format import Format

T = TypeVar("T")
#: Options that change how and where a run works, and no result that it writes.
RUN_OPTIONS = ("output", "no_comments", "threads", "memory", "device", "cluster", "shard", "quiet", "dry_run")


class Refused(UsageError):
    """Options of a command do not go together.

    Parameters
    ----------
    sentence
        Why, and the remedy.
    verb
        Whose help says more: "db build".
    """

    def __init__(self, sentence: str, verb: str) -> None:
        super().__init__(sentence)
        self.verb = verb


@dataclass(frozen=True, kw_only=True)
class Served:
    """What a server's forms and API know of a verb beside its options.

    Parameters
    ----------
    title
        Words of a button.
    kind
        Whose formats the main output has, as `formats.registry` calls them; empty where there is one format alone.
    format
        The only format of a verb whose output is of no kind.
    never_formats
        The formats that the verb always refuses.
    is_resumable
        Whether a job that was ended goes on with the parts that it left.
    example, example_options
        Files of ``examples/`` by the inputs they are for, and options that go with them.
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

    Attributes
    ----------
    verb
        As it is typed: "pairs", "db build".
    summary, description, example
        A line for the list of verbs; what heads its help; what ends it.
    served
        None where no server runs it.
    no_shards
        Why there is no ``--shard``, where users might look for it.
    takes_stdin
        Whether several files are joined for it by ``cat``.
    finishes
        Options of the files beside the main one that `finish` makes of shards, where the verb has such a method.
    actions
        What it can do, where its name alone does nothing: ``db build``.
    group_texts
        What stands below headings of its help.
    each_input, each_power, each_refuses
        With ``--each``: the input of which there are many; how the cost grows with its size; options that make nothing
        per file.
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
        """Reads, computes and writes."""
        raise NotImplementedError

    def check(self) -> Any:
        """Refuses what can be refused before anything is read. Raises Refused."""

    def refuse(self, sentence: str) -> NoReturn:
        """Raises `Refused`, with the verb whose help says more."""
        raise Refused(sentence, self.verb)

    def refuse_beside(self, what: str, names: Iterable[str]) -> None:
        """Refuses those of the options that were given, as they say nothing beside `what`."""
        for name in names:
            if getattr(self, name) is not None and getattr(self, name) is not False:
                self.refuse(f"--{name.replace('_', '-')} has no meaning with {what}: leave it out")

    def command_line(self, **settled: str | None) -> str:
        """The command in one fixed form, for headers: what was asked for, less RUN_OPTIONS, which change no result.

        Parameters
        ----------
        settled
            Values of options that follow from others, like the format from a suffix.
        """
        files, words = self._asked_for(RUN_OPTIONS, settled)
        return shlex.join(["tropalign", *self.verb.split(), *files, *(word for option in words for word in option)])

    def replayed(self, **settled: str | None) -> list[str]:
        """The verb and what was asked for, as words that make an equal command; `settled` as of `command_line`."""
        ignored = tuple(name for name in RUN_OPTIONS if name != "no_comments")
        files, words = self._asked_for(ignored, settled)
        return [self.verb.split()[-1], *("=".join(option) for option in words), "--", *files]

    @classmethod
    def from_replayed(cls, words: Sequence[str]) -> Self:
        """The command that `replayed` made these words of, without the verb. Raises ValueError where it is another."""
        end = words.index("--")
        flags = {flag: one for one in cls.declared().values() for flag in (*one.formerly_typed, *one.typed)}
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
            if one.many is None and files:
                found[one.name] = files.pop(0)
            elif one.many is not None:
                found[one.name], files = (files[0] if one.many == "?" and files else files or None), []
        return cls(**{name: value for name, value in found.items() if value is not None})

    def _asked_for(
        self, ignored: Sequence[str], settled: Mapping[str, str | None]
    ) -> tuple[list[str], list[list[str]]]:
        """The files, and each option with its value."""
        files: list[str] = []
        words: list[list[str]] = []
        for one in in_order_of_help(self.declared().values()):
            value = settled.get(one.name, getattr(self, one.name))
            if value is None or value == one.default or one.name in ignored:
                continue
            if not one.typed:
                files += map(str, value) if isinstance(value, list) else [str(value)]
            elif one.is_flag:
                words.append([one.typed[-1]])
            else:
                values = value if isinstance(value, list) else [value]
                words += [[one.typed[-1], str(word)] for word in values]
        return files, words

    def places(self) -> dict[str, str]:
        """Where the files go that the command makes, by the names of the options that say so."""
        names = [
            name
            for name, one in self.declared().items()
            if name == "output" or (one.role == "output" and not one.follows_main)
        ]
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def finish(self, shards: Shards, places: Mapping[str, str]) -> None:
        """Does the last stages of a run whose shards `merge` joins.

        Parameters
        ----------
        shards
            Of an equal command; of this one, output and resources are those of `merge`.
        places
            Where files go, as of `places`.
        """
        raise NotImplementedError


#: What the commands of one run (``--each``) have in common, while it lasts.
_read: dict[Hashable, Any] | None = None
_reading = threading.Lock()


@contextmanager
def reading_once() -> Iterator[None]:
    """While the block runs, `read_once` reads nothing twice, in all threads."""
    global _read
    mine: dict[Hashable, Any] = {}
    _read = mine
    try:
        yield
    finally:
        if _read is mine:
            _read = None


def read_once(key: Hashable, read: Callable[[], T]) -> T:
    """What `read` gives, or gave for an equal key within `reading_once`; it is never changed."""
    known = _read  # another run in this process may end meanwhile
    if known is None:
        return read()
    with _reading:
        if key not in known:
            known[key] = read()
        return cast("T", known[key])


def in_order_of_help(options: Iterable[Option]) -> list[Option]:
    """Options as the help lists them: by their place first, then group after group."""
    listed = list(options)
    places = [one for one in listed if not one.typed]
    return [*places, *(one for group in grouped(listed).values() for one in group if one.typed)]


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Errors of what was read name the file."""
    try:
        yield
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(str(error), file=file) from None
