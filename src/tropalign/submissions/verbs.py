"""Which verbs a server runs, and the fields of their forms, made of the verbs' own parsers.

Every option and argument of a parser is one of: an input (a file), an option (a value), an output, or the server's
business. What takes free text is an option only where `tables.py` names it, so that a new option that takes a path
never becomes a text field: it is left out, and a test complains (`unclassified`).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tropalign.errors import UsageError, did_you_mean
from tropalign.formats.format import Format
from tropalign.formats.registry import format_names, format_of
from tropalign.submissions.labels import group_label, option_label
from tropalign.submissions.tables import ABOUT, DEFAULT_NAMES, SERVERS, About, Beside

SERVED = tuple(ABOUT)
#: Where the main output goes, in every submission.
MAIN = "main"


@dataclass(frozen=True)
class InputField:
    """A file, or several, that a verb reads.

    Parameters
    ----------
    dest
        The name in submissions.
    flag
        The option; None for an argument by its place.
    kind
        What it holds: "sequences", "alignment", "models", "tree", "table", "graph", "matrix" or "model".
    takes_database
        Whether a store may stand in its place.
    """

    dest: str
    flag: str | None
    label: str
    help: str
    required: bool
    many: bool
    kind: str
    takes_database: bool


@dataclass(frozen=True)
class OptionField:
    """A value that a user may choose.

    Parameters
    ----------
    kind
        "flag" (true or false), "choice", "whole" (a whole number), "number" or "text".
    many
        Whether it is a list of such values.
    group
        Heading of the parser's group.
    is_common
        Whether forms show it first.
    """

    dest: str
    flag: str
    label: str
    help: str
    kind: str
    choices: tuple[str, ...]
    many: bool
    default: Any
    group: str
    is_common: bool


@dataclass(frozen=True)
class OutputField:
    """A file that a verb writes.

    Parameters
    ----------
    suffix
        Of the main output that of the default format.
    always
        Whether every job writes it.
    """

    role: str
    flag: str
    help: str
    suffix: str
    always: bool


@dataclass(frozen=True)
class ServedVerb:
    """A verb as a form, and as an entry of the API.

    Parameters
    ----------
    title
        A button's words.
    report
        The role of the report for a browser; None where only format "html" is one, or none is.
    has_forecast
        Whether ``--dry-run`` says what a job will take.
    is_resumable
        Whether a job that was ended goes on where it was.
    example, example_options
        Files of ``examples/`` by the inputs they are for, and options that go with them.
    """

    name: str
    title: str
    summary: str
    inputs: tuple[InputField, ...]
    options: tuple[OptionField, ...]
    outputs: tuple[OutputField, ...]
    formats: tuple[str, ...]
    default_format: str
    report: str | None
    has_forecast: bool
    takes_cluster: bool
    takes_memory: bool
    takes_threads: bool
    is_resumable: bool
    example: Mapping[str, str] = field(default_factory=dict)
    example_options: Mapping[str, Any] = field(default_factory=dict)

    def input(self, dest: str) -> InputField | None:
        """The input of this name."""
        return next((one for one in self.inputs if one.dest == dest), None)

    def option(self, dest: str) -> OptionField | None:
        """The option of this name."""
        return next((one for one in self.options if one.dest == dest), None)

    def output(self, role: str) -> OutputField | None:
        """The output of this role."""
        return next((one for one in self.outputs if one.role == role), None)


def about(name: str) -> About:
    """What the tables say of a verb. Raises UsageError where no server runs it."""
    if name not in ABOUT:
        near = did_you_mean(str(name), SERVED) or f": choose one of {', '.join(SERVED)}"
        raise UsageError(f"no server runs a verb {str(name)[:100]!r}{near}")
    return ABOUT[name]


def format_of_verb(name: str, format: str) -> Format:
    """Finds a format of the verb's main output by its name. Raises UsageError where there is none."""
    known = about(name)
    return known.format or format_of(known.kind, format)


@cache
def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of a verb, of "db build" that of ``build``."""
    from tropalign.cli.main import make_parser
    from tropalign.cli.parsers import verbs_of

    about(name)
    first, *rest = name.split()
    parser = verbs_of(make_parser(False, [first]))[first]
    for word in rest:
        parser = verbs_of(parser)[word]
    return parser


@cache
def served_verb(name: str) -> ServedVerb:
    """The verb of this name.

    Raises
    ------
    UsageError
        There is none, or no server runs it.

    Examples
    --------
    >>> from tropalign.submissions.verbs import served_verb
    >>> [one.dest for one in served_verb("pairs").inputs]
    ['queries', 'targets', 'matrix', 'pairs']
    """
    known = about(name)
    parser = parser_of(name)
    dests = {action.dest: action for action in parser._actions}
    offered = format_names(known.kind) if known.format is None else (known.format.name,)
    formats = tuple(format for format in offered if format not in known.never_formats)
    outputs = _outputs(known, dests, format_of_verb(name, formats[0]).suffix)
    return ServedVerb(
        name=name,
        title=known.title,
        summary=_summary(name),
        inputs=tuple(_input(action, known) for action in parser._actions if action.dest in known.inputs),
        options=tuple(_options(parser, known)),
        outputs=outputs,
        formats=formats,
        default_format=formats[0],
        report=next((one.role for one in outputs if one.role == "report"), None),
        has_forecast="dry_run" in dests,
        takes_cluster="cluster" in dests,
        takes_memory="memory" in dests,
        takes_threads="threads" in dests,
        is_resumable=known.is_resumable,
        example=known.example,
        example_options=known.example_options,
    )


def unclassified(name: str) -> list[str]:
    """Options and arguments that take anything, and of which nobody has said what that is."""
    known = about(name)
    said = {*known.inputs, *known.texts, *known.named, *known.never, *SERVERS, *(one.dest for one in known.beside)}
    return [a.dest for a in parser_of(name)._actions if a.dest not in said and _kind(a) is None]


def _summary(name: str) -> str:
    from tropalign.cli.main import make_parser

    first, *rest = name.split()
    parser = make_parser(False, [first])
    for word in (first, *rest):
        action = next(one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
        text = next((choice.help for choice in action._choices_actions if choice.dest == word), None)
        parser = action.choices[word]
    return text or ""


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(str(choice) for choice in action.choices or ())


def _kind(action: argparse.Action) -> str | None:
    """The kind of an option whose values are few or numbers; None where it takes any text."""
    if isinstance(action, (argparse._StoreTrueAction, argparse._StoreFalseAction)):
        return "flag"
    if action.choices is not None:
        return "choice"
    if action.type is None or not action.option_strings or takes(action, "a/b") or takes(action, "a"):
        return None
    numbers = ("0.5", "1.5", "1", "1000")
    if not any(takes(action, text) for text in numbers):
        return None
    return "number" if takes(action, "0.5") or takes(action, "1.5") else "whole"


def takes(action: argparse.Action, text: str) -> bool:
    """Whether the option reads this text."""
    try:
        action.type(text)  # type: ignore[operator, misc]
    except (argparse.ArgumentTypeError, TypeError, ValueError):
        return False
    return True


def _text(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")


def _flag(action: argparse.Action) -> str | None:
    """The option as it is typed: the long one, if there is one."""
    long = [name for name in action.option_strings if name.startswith("--")]
    return next(iter([*long, *action.option_strings]), None)


def _input(action: argparse.Action, known: About) -> InputField:
    kind, flag = known.inputs[action.dest], _flag(action)
    return InputField(
        dest=action.dest,
        flag=flag,
        label=known.labels.get(action.dest) or option_label(flag or action.dest),
        help=_text(action),
        required=action.required and action.dest not in known.named,
        many=action.nargs in ("+", "*"),
        kind=kind,
        takes_database=kind == "sequences",
    )


def _options(parser: argparse.ArgumentParser, known: About) -> list[OptionField]:
    """Options that users may set, in the order of the help."""
    others = {*known.never, *SERVERS, *(one.dest for one in known.beside), *known.inputs} - {*known.named}
    found = []
    for group in parser._action_groups:
        for action in group._group_actions:
            if action.dest in others or (kind := _option_kind(action, known)) is None:
                continue
            flag = _flag(action)
            assert flag is not None, action.dest
            is_many = isinstance(action, argparse._AppendAction) or action.nargs in ("+", "*")
            found.append(
                OptionField(
                    dest=action.dest,
                    flag=flag,
                    label=option_label(flag),
                    help=_text(action),
                    kind=kind,
                    choices=names_of(action.dest) if action.dest in known.named else _choices(action),
                    many=is_many,
                    default=DEFAULT_NAMES.get(action.dest) if action.dest in known.named else action.default,
                    group=group_label(group.title or "options"),
                    is_common=action.dest in known.common,
                )
            )
    return found


def _option_kind(action: argparse.Action, known: About) -> str | None:
    if action.dest in known.named:
        return "choice"
    return "text" if action.dest in known.texts else _kind(action)


@cache
def names_of(dest: str) -> tuple[str, ...]:
    """What the option may name in place of a file."""
    if dest == "matrix":
        from tropalign.scoring.names import known_names

        return known_names()
    from tropalign.hmm.model_files import model_names

    return model_names()


def is_name(dest: str, text: str) -> bool:
    """Whether the option takes this for a name, and looks for no file."""
    if dest == "matrix":
        from tropalign.scoring.names import canonical

        return canonical(text) is not None
    return text in names_of(dest)


def _outputs(known: About, dests: Mapping[str, argparse.Action], suffix: str) -> tuple[OutputField, ...]:
    main = dests["output"]
    found = [OutputField(MAIN, _flag(main) or "", _text(main), suffix, True)]
    for one in known.beside:
        action = dests[one.dest]
        found.append(OutputField(one.role, _flag(action) or "", _text(action), one.suffix, False))
    return tuple(found)


def beside_of(name: str, role: str) -> Beside | None:
    """The output of this role, as the tables have it."""
    return next((one for one in about(name).beside if one.role == role), None)
