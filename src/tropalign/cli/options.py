"""What the verbs share: the parser, common options, and the types of their values."""

from __future__ import annotations

import argparse
import math
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from tropalign.cli.parsers import verbs_of
from tropalign.devices.names import check_device_name
from tropalign.errors import did_you_mean, shown
from tropalign.execution.cluster_address import check_address
from tropalign.execution.manifest import parse_shard
from tropalign.machine.memory import parse_bytes
from tropalign.machine.numbers import MOST_THREADS

if TYPE_CHECKING:
    from tropalign.execution.progress import Show

#: Options that change how and where a run works, and no result that it writes.
RUN_OPTIONS = ("output", "no_comments", "threads", "memory", "device", "cluster", "shard", "quiet", "dry_run")

#: What numbers of options may be at most: kernels compute with 32 bits.
MOST = 2**31 - 1


class Parser(argparse.ArgumentParser):
    """An argparse parser whose errors are one sentence, with the word that was meant where one is near."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's; the verb's own parser speaks of options that it does not have."""
        self._refuse_other_programs(args)
        options, extra = self.parse_known_args(args, namespace)
        if extra:
            verb = getattr(options, "parser", self)
            if getattr(options, "takes_stdin", False) and not any(word.startswith("-") for word in extra):
                verb.error(_too_many([options.queries, *filter(None, [options.targets]), *extra], verb.prog))
            if any(word.partition("=")[0] == "--shard" for word in extra) and hasattr(options, "no_shards"):
                verb.error(options.no_shards)
            names = [name for action in verb._actions for name in action.option_strings]
            hints = (did_you_mean(word.partition("=")[0], names) for word in extra if word.startswith("--"))
            verb.error(f"unrecognized arguments: {' '.join(extra)}{next(filter(None, hints), '')}")
        return options

    def _refuse_other_programs(self, words: Sequence[str] | None) -> None:
        """Options of other programs are answered before argparse reads them: as ``-o utfmt``, ``-q uery``."""
        from tropalign.cli.other_programs import refusal

        verb = verbs_of(self).get(words[0]) if words else None
        if words and verb is not None and not {"-h", "--help"} & set(words):
            own = [name for action in verb._actions for name in action.option_strings]
            sentence = refusal(words[0], words[1:], own)
            if sentence is not None:
                verb.error(sentence)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += did_you_mean(str(value), map(str, action.choices or ()))
            raise

    def error(self, message: str) -> NoReturn:
        """Prints the sentence and exits with 2."""
        self.exit(2, f"tropalign: {shown(message)} (see {self.prog} --help)\n")


def _too_many(files: Sequence[str], command: str) -> str:
    """What to do with more files than a verb takes."""
    return f"{len(files)} files are too many: join those of one set, as in cat {shlex.join(files)} | {command} -"


def checked(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser's ValueError becomes argparse's usage error, with its text."""

    def convert(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def whole(least: int = -MOST, most: int = MOST) -> Callable[[str], int]:
    """A whole number from `least` to `most`."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", text):
            raise ValueError(f"{text!r} is not a whole number")
        value = int(text)
        if value < least:
            raise ValueError(f"{value} is below {least}")
        if value > most:
            raise ValueError(f"{value} is above {most}")
        return value

    return checked(parse)


@checked
def decimal(text: str) -> int | float:
    """A number with decimals or without, an int where it is whole."""
    if not re.fullmatch(r"\s*[+-]?([0-9]{1,18}(\.[0-9]*)?|\.[0-9]+)\s*", text):
        raise ValueError(f"{text!r} is not a number")
    value = float(text)
    if abs(value) > MOST:
        raise ValueError(f"{text.strip()} is {'below' if value < 0 else 'above'} {-MOST if value < 0 else MOST}")
    return int(value) if value.is_integer() else value


def fraction(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no fraction between 0 and 1")
    return value


def number(text: str) -> float:
    """A number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


def positive(text: str) -> float:
    """A number above 0."""
    value = number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not above 0")
    return value


def add_output_options(group: Any) -> None:
    """Where to write, and quiet."""
    group.add_argument("-o", "--output", default="-", metavar="FILE", help="where to write; - (default) is stdout")
    group.add_argument("-q", "--quiet", action="store_true", help="no progress, no warnings")


def add_comments_option(group: Any) -> None:
    """Whether tables begin with lines of comments."""
    group.add_argument(
        "--no-comments",
        action="store_true",
        help="no lines of comments (#) before tables: for readers that know none, or names with a #",
    )


def add_device_options(group: Any) -> None:
    """What computes: threads and device."""
    group.add_argument(
        "-t",
        "--threads",
        type=whole(0, MOST_THREADS),
        default=0,
        metavar="N",
        help="threads; 0 (default) for all there are",
    )
    group.add_argument(
        "--device",
        type=checked(check_device_name),
        action="append",
        metavar="NAME",
        help="what computes: cpu, cuda:0, opencl:0.0 (tropalign devices lists them), several times for several; "
        "auto (default): the processor, and with it the GPUs if the job is large",
    )


def add_cluster_option(group: Any) -> None:
    """Workers on other machines."""
    group.add_argument(
        "--cluster",
        type=checked(check_address),
        metavar="ADDRESS",
        help="compute on the workers of this scheduler of Dask: tcp://HOST:8786 or its file.json; local:4 starts four "
        "processes here",
    )


def devices_of(options: argparse.Namespace) -> list[str]:
    """Names of what computes, as `open_devices` takes them; a forecast is made here, without the cluster."""
    cluster = getattr(options, "cluster", None)
    names = list(options.device or ["auto"])
    return names if cluster is None or getattr(options, "dry_run", False) else [*names, cluster]


def add_memory_option(group: Any) -> None:
    """What the process may take."""
    group.add_argument(
        "--memory",
        type=checked(parse_bytes),
        metavar="SIZE",
        help="memory to take at most, like 8G (default: 60%% of the free)",
    )


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """RUN_OPTIONS: output, comments, threads, memory, device, shard, quiet and dry run."""
    group = parser.add_argument_group("output and resources")
    add_output_options(group)
    add_comments_option(group)
    add_device_options(group)
    add_cluster_option(group)
    add_memory_option(group)
    add_shard_option(group)
    add_dry_run_option(group)


def add_shard_option(group: Any, of_what: str = "") -> None:
    """A share of a run.

    Parameters
    ----------
    of_what
        What is shared out, where that is a part of the run: "with --bootstrap or --unaligned: ".
    """
    group.add_argument(
        "--shard",
        type=checked(parse_shard),
        metavar="I/N",
        help=f"{of_what}compute the I-th of N shares only, into a file for tropalign merge",
    )


def add_dry_run_option(group: Any) -> None:
    """What a run will take, instead of the run."""
    group.add_argument(
        "--dry-run",
        action="store_true",
        help="check everything and try a second of it, then say what the run will take; nothing is written",
    )


def started(
    options: argparse.Namespace, outputs: Sequence[str], inputs: Sequence[str | None], holds: bool = False
) -> Show:
    """Checks the places to write to and the processor before anything is read.

    Parameters
    ----------
    holds
        Outputs are written at the very end, and no folder of parts says that a run is at work: they are held for its
        length.

    Returns
    -------
    Show
        How to show progress.

    Raises
    ------
    TropalignError
        What is wrong.
    """
    from tropalign.devices.registry import selected_isa
    from tropalign.execution.files import check_outputs, hold_outputs
    from tropalign.execution.progress import progress_bar, status_only

    if "" in (*outputs, *inputs):
        options.parser.error("the name of a file is empty: name one, or see which variable of a script is not set")
    if options.shard is not None and options.output == "-":
        options.parser.error("a shard goes to a file that tropalign merge reads: name it with -o")
    check_outputs(outputs, [path for path in inputs if path is not None])
    selected_isa()
    if holds and options.shard is None and not getattr(options, "dry_run", False):
        hold_outputs(outputs)
    return status_only if options.quiet else progress_bar


class Choices:
    """Words that an option may have, learnt from what knows them only when they are needed.

    Parameters
    ----------
    module, name
        Where the words stand: keys of a dict, or a sequence.
    more
        Words beside those.
    """

    def __init__(self, module: str, name: str, *more: str) -> None:
        self._module, self._name, self._more = module, name, more

    def __iter__(self) -> Iterator[str]:
        return iter((*self._more, *getattr(import_module(self._module), self._name)))

    def __contains__(self, word: object) -> bool:
        return word in tuple(self)


def command_line(parser: argparse.ArgumentParser, options: argparse.Namespace, **settled: str | None) -> str:
    """The command in one fixed form, for headers: what was asked for, less RUN_OPTIONS, which change no result.

    Parameters
    ----------
    settled
        Values of options that follow from others, like the format from a suffix.
    """
    files, words = _asked_for(parser, options, RUN_OPTIONS, settled)
    return shlex.join([*parser.prog.split(), *files, *(word for option in words for word in option)])


def replayed(parser: argparse.ArgumentParser, options: argparse.Namespace, **settled: str | None) -> list[str]:
    """The verb and what was asked for, as words that the parser of tropalign reads again; the same otherwise."""
    ignored = tuple(name for name in RUN_OPTIONS if name != "no_comments")
    files, words = _asked_for(parser, options, ignored, settled)
    return [parser.prog.split()[-1], *("=".join(option) for option in words), "--", *files]


def _asked_for(
    parser: argparse.ArgumentParser, options: argparse.Namespace, ignored: Sequence[str], settled: dict[str, str | None]
) -> tuple[list[str], list[list[str]]]:
    """The files, and each option with its value."""
    files: list[str] = []
    words: list[list[str]] = []
    for action in parser._actions:
        value = settled.get(action.dest, getattr(options, action.dest, None))
        if value is None or value == action.default or action.dest in ignored:
            continue
        if not action.option_strings:
            files += map(str, value) if isinstance(value, list) else [str(value)]
        elif action.nargs == 0:
            words.append([action.option_strings[-1]])
        else:
            values = value if isinstance(value, list) else [value]
            words += [[action.option_strings[-1], str(one)] for one in values]
    return files, words


def place_of(options: argparse.Namespace, name: str) -> str | None:
    """Where the file of this option goes: of shards that are merged, where `merge` was told to write it."""
    places: dict[str, str | None] | None = getattr(options, "places", None)
    found: str | None = getattr(options, name) if places is None else places.get(name)
    return found


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Errors of what was read name the file."""
    from tropalign.errors import InputError

    try:
        yield
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(str(error), file=file) from None
