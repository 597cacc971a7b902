"""The exceptions that tropalign raises, the warnings it gives, and hints for names that other packages use.

    TropalignError
    ├── InputError      a file, record or line that cannot be used      exit code 3
    ├── ScoringError    a matrix or gap cost that cannot be used        exit code 3
    ├── ResourceError   insufficient memory or disk space               exit code 4
    └── DeviceError     a device that cannot compute                    exit code 4

Each text is one sentence with the file, the record or line, and the remedy.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


def shown(name: str) -> str:
    """Escape those characters of a name that would move the cursor, end the line or colour a terminal."""
    if name.isprintable():
        return name
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in name
    )


#: Most names that a warning lists.
MOST_LISTED = 10


def listed(names: Collection[str]) -> str:
    """Join names for a warning: the first ones, and the number of others."""
    first = ", ".join(shown(name) for name in itertools.islice(names, MOST_LISTED))
    return first if len(names) <= MOST_LISTED else f"{first} and {len(names) - MOST_LISTED:,} more"


#: Singulars of plurals that are not the singular plus s.
_SINGULARS = {"taxa": "taxon", "branches": "branch", "vertices": "vertex"}


def counted(n: int, things: str) -> str:
    """Return a number with its noun, which is singular for 1.

    >>> counted(1, "reads"), counted(1234567, "pairs"), counted(1, "blocks of pairs"), counted(1, "taxa")
    ('1 read', '1,234,567 pairs', '1 block of pairs', '1 taxon')
    """
    noun, blank, rest = things.partition(" ")
    if n == 1:
        noun = _SINGULARS.get(noun, noun.removesuffix("s"))
    return f"{n:,} {noun}{blank}{rest}"


#: One entry per command line that runs in this process or sent work to it; if any, messages name options, not
#: arguments.
_named_by: list[None] = []
#: Options whose names differ from the function arguments of the same meaning.
_OPTIONS = {
    "n_threads": "--threads",
    "memory_bytes": "--memory",
    **{f"f{k}": f"--F{k}" for k in (1, 2, 3)},
    **{letter: f"-{letter}" for letter in "ETZ"},
}


def named(argument: str) -> str:
    """Return an argument's name for the caller: ``--min-score`` on the command line, else ``min_score``."""
    return _OPTIONS.get(argument, f"--{argument.replace('_', '-')}") if has_options() else argument


def said(argument: str, value: str) -> str:
    """Return an argument with a value in the caller's notation: ``--gaps remove`` or ``gaps="remove"``."""
    return f"{named(argument)} {value}" if has_options() else f'{argument}="{value}"'


def has_options() -> bool:
    """True if `named` returns options. The work that is sent to worker processes includes this value."""
    return bool(_named_by)


@contextmanager
def options_named() -> Iterator[None]:
    """Make `named` return options, in all threads, while the command line runs."""
    _named_by.append(None)
    try:
        yield
    finally:
        _named_by.pop()


class TropalignError(Exception):
    """Base of every error that tropalign raises on purpose.

    Attributes
    ----------
    exit_code : int
        Exit code of the command line.
    failure : str
        Short code by which a program that watches a command (TROPALIGN_STATUS) recognises failures that it can
        handle; empty for all others.

    Examples
    --------
    >>> try:
    ...     tropalign.read_sequences("no/such/file.fasta")
    ... except tropalign.TropalignError as error:
    ...     print(type(error).__name__, error.exit_code)
    InputError 3
    """

    exit_code = 1
    failure = ""


class InputError(TropalignError):
    """A file, record or line cannot be used.

    Parameters
    ----------
    message
        The problem and its remedy.
    file, record, line
        Location of the problem, as far as it is known; it starts the sentence.

    Examples
    --------
    >>> print(tropalign.InputError("the sequence is empty", file="a.fa", record="x", line=3))
    a.fa, line 3, record 'x': the sequence is empty
    """

    exit_code = 3

    def __init__(
        self, message: str, *, file: str | None = None, record: str | None = None, line: int | None = None
    ) -> None:
        self.file, self.record, self.line = file, record, line
        place = [shown(str(file)) or "''"] if file is not None else []
        if line is not None:
            place.append(f"line {line}")
        if record is not None:
            place.append(f"record {record!r}")
        super().__init__(f"{', '.join(place)}: {message}" if place else message)


class UsageError(TropalignError):
    """An option that does not exist or does not fit the others."""

    exit_code = 2


class ScoringError(TropalignError):
    """A substitution matrix or gap cost cannot be used.

    Examples
    --------
    >>> try:
    ...     tropalign.Gap(-1, 1)
    ... except tropalign.ScoringError as error:
    ...     print("refused:", error.exit_code)
    refused: 3
    """

    exit_code = 3


class ResourceError(TropalignError):
    """Memory or disk space does not suffice.

    Parameters
    ----------
    message
        The missing resource and the remedy.
    needed_bytes, allowed_bytes
        Bytes that the work needs and bytes that are available, if known.

    Examples
    --------
    >>> error = tropalign.ResourceError("the disk is full: free some of it", needed_bytes=4096)
    >>> error.needed_bytes, error.exit_code
    (4096, 4)
    """

    exit_code = 4

    def __init__(self, message: str, *, needed_bytes: int | None = None, allowed_bytes: int | None = None) -> None:
        self.needed_bytes, self.allowed_bytes = needed_bytes, allowed_bytes
        super().__init__(message)


class DeviceError(TropalignError):
    """A device cannot compute what was asked of it.

    Examples
    --------
    >>> try:
    ...     next(tropalign.align_all(["MKV", "MKL"], device="cuda:99"))
    ... except tropalign.DeviceError as error:
    ...     print("cannot compute:", error.exit_code)
    cannot compute: 4
    """

    exit_code = 4


def damage() -> tuple[type[Exception], ...]:
    """Return the exceptions that Python, zipfile and NumPy raise on damaged or malicious array files."""
    import struct
    import tokenize
    import zipfile
    import zlib

    return (
        ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RuntimeError, StopIteration,
        SyntaxError, SystemError, TypeError, ValueError, struct.error, tokenize.TokenError, zipfile.BadZipFile,
        zlib.error,
    )  # fmt: skip


class TropalignWarning(UserWarning):
    """Warning about input that was read in an unusual way, or about a result to check.

    Examples
    --------
    A script that stops instead of continuing with a warning:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", tropalign.TropalignWarning)
    ...     proteins = tropalign.read_sequences("examples/efp.fasta")
    >>> len(proteins)
    37
    """


#: Other programs' names for our choices.
_SAID_ELSEWHERE = {
    **dict.fromkeys(("glocal", "overlap", "fitting", "infix", "semi-global", "semi", "hw"), "semiglobal"),
    **dict.fromkeys(("nw", "needle", "needleman-wunsch", "end-to-end"), "global"),
    **dict.fromkeys(("sw", "water", "smith-waterman"), "local"),
}


#: Texts that `quiet` has dropped in this context; None outside `quiet`.
_dropped: ContextVar[list[str] | None] = ContextVar("dropped", default=None)


def warn(text: str, stacklevel: int = 2) -> None:
    """Give a TropalignWarning, except inside `quiet`."""
    dropped = _dropped.get()
    if dropped is None:
        warnings.warn(text, TropalignWarning, stacklevel=stacklevel + 1)
    else:
        dropped.append(text)


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Drop the warnings of `warn` in this thread and in the threads that it starts; yield the list of their texts.

    `warnings.catch_warnings` changes the filters of all threads. If two blocks overlap, the filters stay changed.
    """
    dropped: list[str] = []
    before = _dropped.set(dropped)
    try:
        yield dropped
    finally:
        _dropped.reset(before)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence, ``; did you mean 'pairs'?``, if a word is close to a known one; else "".

    Leading dashes are ignored: they would make any two options similar.
    """
    from difflib import get_close_matches

    names = {name.lstrip("-").lower(): name for name in known}
    typed = word.lstrip("-").lower()
    begun = [name for name in names if name.startswith(typed)] if len(typed) > 2 else []
    swapped = [name for name in names if sorted(name) == sorted(typed)]  # too different for difflib if short
    elsewhere = [name for name in names if name == _SAID_ELSEWHERE.get(typed)]
    near = elsewhere or (begun if len(begun) == 1 else swapped or get_close_matches(typed, names, 1, 0.75))
    return f"; did you mean {names[near[0]]!r}?" if near else ""


@lru_cache(maxsize=1)
def hints() -> dict[str, dict[str, str]]:
    """Return what to write, by class or package and by guessed name.

    "[]", "len" and "[name]" are indexing, ``len()`` and indexing by a name. A row of guesses.tsv is an owner, names
    separated by blanks, and the hint, with ``{}`` for the name.
    """
    found: dict[str, dict[str, str]] = {}
    with open(os.path.join(os.path.dirname(__file__), "guesses.tsv"), encoding="utf-8") as file:
        for line in file.read().splitlines()[1:]:
            owner, names, hint = line.split("\t")
            found.setdefault(owner, {}).update({name: hint.replace("{}", name) for name in names.split()})
    return found


class Hinted:
    """Base of classes whose missing attributes are answered with the right name."""

    if not TYPE_CHECKING:  # type checkers would accept every name

        def __getattr__(self, name: str) -> Any:
            """Raise the AttributeError of Python, or of a property of this name, unless there is a hint."""
            if (hint := hint_for(self, name)) is None:
                return object.__getattribute__(self, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}: write {hint}")

        def __format__(self, form: str) -> str:
            """Return the text; formats of files are answered with the method that writes them."""
            if form and (hint := hint_for(self, "format")) is not None:
                raise TypeError(
                    f"format() of {type(self).__name__!r} object does not support the format {form!r}: write {hint}"
                )
            return super().__format__(form)


class Single(Hinted):
    """Base of classes that users of other packages take for a list."""

    if not TYPE_CHECKING:

        def __getitem__(self, key: object) -> Any:
            hint = hint_for(self, "[]")
            raise TypeError(f"{type(self).__name__!r} object has no items: write {hint}")

        def __len__(self) -> int:
            raise TypeError(f"{type(self).__name__!r} object has no len(): write {hint_for(self, 'len')}")

        def __bool__(self) -> bool:
            return True


def hint_for(owner: object, name: str) -> str | None:
    """Return what to write instead of a guessed name, if a class of this object has a hint."""
    return next((hint for kind in type(owner).__mro__ if (hint := hints().get(kind.__name__, {}).get(name))), None)
