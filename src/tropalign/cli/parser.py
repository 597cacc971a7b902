"""Parsers made from the verbs' declarations, their man pages, and conversion of parsed arguments into commands."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tropalign import __version__
from tropalign.errors import did_you_mean, shown
from tropalign.options.option import REQUIRED, Kind, Option, grouped
from tropalign.verbs.command import Command

if TYPE_CHECKING:
    from tropalign.verbs.each import Each

#: Attribute in which argparse keeps the verb's class: no option has this name.
DECLARED = "the verb's class"


class Parser(argparse.ArgumentParser):
    """Argparse parser whose errors are one sentence, with a suggestion if a similar name exists."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse like argparse, but let the verb's own parser report unknown options."""
        verb = verbs_of(self).get(args[0]) if args else None
        if verb is not None and not {"-h", "--help"} & set(args):
            own = [name for action in verb._actions for name in action.option_strings]
            if any(word.startswith("-") and word.partition("=")[0] not in own for word in args[1:]):
                from tropalign.cli.other_programs import refusal

                # before argparse misreads options of other programs as ``-o utfmt`` or ``-q uery``
                if sentence := refusal(args[0], args[1:], own):
                    verb.error(sentence)
        options, extra = self.parse_known_args(args, namespace)
        if extra:
            verb = getattr(options, "parser", self)
            command: type[Command] | None = getattr(options, DECLARED, None)
            if command is not None and command.takes_stdin and not any(word.startswith("-") for word in extra):
                files = [options.queries, *filter(None, [getattr(options, "targets", None)]), *extra]
                remedy = f"join the files of one set, as in cat {shlex.join(files)} | {verb.prog} -"
                verb.error(f"{len(files)} files are too many: {remedy}")
            if command is not None and command.no_shards and any(w.partition("=")[0] == "--shard" for w in extra):
                verb.error(command.no_shards)
            shown = [action for action in verb._actions if action.help != argparse.SUPPRESS]
            names = [name for action in shown for name in action.option_strings]
            hints = (did_you_mean(word.partition("=")[0], names) for word in extra if word.startswith("--"))
            verb.error(f"unrecognized arguments: {' '.join(extra)}{next(filter(None, hints), '')}")
        return options

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print; unlike argparse, raise an error if the disk is full."""
        (sys.stderr if file is None else file).write(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            from tropalign.cli.other_programs import verb_for

            if isinstance(action, argparse._SubParsersAction) and (verb := verb_for(str(value))):
                self.error(f"there is no verb {value}: use tropalign {verb}")
            error.message += did_you_mean(str(value), map(str, action.choices or ()))
            raise

    def error(self, message: str) -> NoReturn:
        """Print the sentence and exit with code 2."""
        self.exit(2, f"tropalign: {shown(message)} (see {self.prog} --help)\n")


def verbs_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the verbs' parsers by name; ``db`` has verbs of its own."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def all_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield all options and arguments, including those of verbs."""
    yield from parser._actions
    for verb in verbs_of(parser).values():
        yield from all_actions(verb)


def add_command(verbs: Any, command: type[Command], formatter: Any) -> argparse.ArgumentParser:
    """Register a verb with the help and options of its declaration."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        command.verb.split()[-1],
        help=command.summary,
        description=command.description,
        epilog=command.example,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    for title, options in grouped(command.declared().values()).items():
        group: Any = parser.add_argument_group(title, command.group_texts.get(title)) if title else parser
        either: dict[str, Any] = {}
        for one in options:
            place = group
            if one.either:
                place = either.setdefault(one.either, None) or group.add_mutually_exclusive_group()
                either[one.either] = place
            _add_option(place, one, one.name == command.each_input and one.many is None)
    if command.actions:
        actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
        for action in command.actions:
            add_command(actions, action, formatter)
    parser.set_defaults(**{DECLARED: command, "parser": parser})
    return parser


def _add_option(group: Any, one: Option, is_each: bool = False) -> None:
    """Add an option or a positional argument to an argparse group; with `is_each`, one or more files are allowed."""
    said: dict[str, Any] = {"help": one.help.replace("%", "%%"), "metavar": one.metavar}
    if one.is_flag:
        group.add_argument(*one.typed, dest=one.name, action="store_true", help=said["help"])
        return
    if one.on_help is not None:
        said |= {"action": _ListingAction, "listing": one.on_help}
    elif one.many == "append":
        said["action"] = "append"
    elif one.many is not None:
        said["nargs"] = one.many
        if one.typed and one.many == "+":  # the option may also be repeated, as headers show it
            said["action"] = "extend"
    if one.choices is not None:
        said["choices"] = one.choices
    if one.kind is not None:
        said["type"] = _reader(one.kind)
    if one.typed:
        default = None if one.default is REQUIRED else one.default
        group.add_argument(*one.typed, dest=one.name, required=one.default is REQUIRED, default=default, **said)
    else:
        group.add_argument(one.name, **said, **({"nargs": "+"} if is_each else {}))


def _reader(kind: Kind) -> Callable[[str], Any]:
    """Wrap a kind's parser to raise argparse's own error type, so that argparse keeps the message."""

    def read(word: str) -> Any:
        try:
            return kind.parse(word)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


class _ListingAction(argparse.Action):
    """Action that stores a value, or prints the possible values and exits if the value is ``help``."""

    def __init__(self, listing: tuple[str, str], **said: Any) -> None:
        super().__init__(**said)
        self._listing = listing

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if values == "help":
            module, function = self._listing
            print(getattr(import_module(module), function)(), end="")
            parser.exit()
        setattr(namespace, self.dest, values)


def command_of(options: argparse.Namespace) -> Command:
    """Return the verb with the parsed values; with ``--each``, its input is the first file."""
    command: type[Command] = getattr(options, DECLARED)
    values = {name: getattr(options, name) for name in command.declared()}
    if name := command.each_input:
        files, is_each = values[name], values["each"]
        is_single = command.declared()[name].many is None
        if is_single and len(files) > 1 and not is_each:
            output = " and the output with -o" if values.get("output") == "-" else ""
            what = f"{len(files)} files are too many: name one{output}, or add --each to process each of them"
            options.parser.error(what)
        if is_single:
            values[name] = files[0]
        elif is_each:
            values[name] = files[:1]
    return command(**values)


def runnable_of(options: argparse.Namespace) -> Command | Each:
    """Return the requested verb, or with ``--each`` a verb over many files."""
    command = command_of(options)
    if not getattr(options, "each", False):
        return command
    from tropalign.verbs.each import Each

    return Each(command, getattr(options, command.each_input))


SHELLS = ("bash", "zsh", "tcsh")


def add_printing(parser: argparse.ArgumentParser) -> None:
    """Add the options that print a shell's completion script and man pages."""
    parser.add_argument(
        "--print-completion",
        action=_Print,
        choices=SHELLS,
        metavar="SHELL",
        help="print a script that makes a shell (bash, zsh, tcsh) complete verbs, options and files: eval it in the "
        "shell's start-up file",
    )
    parser.add_argument(
        "--print-man",
        action=_Print,
        metavar="PAGE",
        help="print the man page of a verb, or of tropalign itself: tropalign --print-man pairs | man -l -",
    )


class _Print(argparse.Action):
    """Action that prints a completion script or a man page, and exits."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        if self.dest == "print_man":
            known = {"tropalign": parser, **verbs_of(parser)}
            if values not in known:
                parser.error(f"there is no page {values!r} among {', '.join(known)}{did_you_mean(str(values), known)}")
            print(man_page(known[str(values)], parser), end="")
        else:
            import shtab

            for action in all_actions(parser):
                if action.nargs != 0 and action.choices is None and action.type is None:
                    action.complete = shtab.FILE  # type: ignore[attr-defined]
            print(shtab.complete(parser, str(values)))
        parser.exit(0)


def write_man_pages(parser: argparse.ArgumentParser, folder: Path) -> None:
    """Write ``tropalign.1`` and ``tropalign-VERB.1`` for every verb into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in (parser, *verbs_of(parser).values()):
        (folder / f"{_name(one)}.1").write_text(man_page(one, parser), encoding="utf-8")


def man_page(parser: argparse.ArgumentParser, main: argparse.ArgumentParser) -> str:
    """Return a page in roff with the man(7) macros, without a date so that it is reproducible."""
    verbs = verbs_of(main)
    actions = [action for action in main._actions if isinstance(action, argparse._SubParsersAction)]
    choices = [choice for action in actions for choice in action._choices_actions]
    summary = next((choice.help for choice in choices if choice.dest == parser.prog.split()[-1]), None)
    usage = " ".join(parser.format_usage().split())
    usage = usage.removeprefix("usage: ").removeprefix("Usage: ").removeprefix(parser.prog).strip()
    lines = [f'.TH {_name(parser).upper()} 1 "" "tropalign {__version__}" "tropalign"', ".SH NAME"]
    lines.append(_text(f"{_name(parser)} - {summary or 'exact alignment of biological sequences'}"))
    lines += [".SH SYNOPSIS", f".B {_text(parser.prog)}", _text(usage), ".SH DESCRIPTION"]
    lines.append(_text(parser.description or ""))
    for group in parser._action_groups:
        lines += _group(group)
    n_before = len(lines)
    for block in (parser.epilog or "").split("\n\n"):  # examples verbatim, other text as paragraphs
        if block.startswith(("example:", "examples:")):
            lines += [".SH EXAMPLES", ".EX", *(_text(command) for command in block.split("\n")[1:]), ".EE"]
        elif block:
            lines += [".SH NOTES" if ".SH NOTES" not in lines[n_before:] else ".PP", *map(_text, block.split("\n"))]
    others = [_name(one) for one in (main, *verbs.values()) if one is not parser]
    lines += [".SH SEE ALSO", *(f".BR {_text(name)} (1){',' if name != others[-1] else ''}" for name in others)]
    return "\n".join(lines) + "\n"


def _name(parser: argparse.ArgumentParser) -> str:
    return parser.prog.replace(" ", "-")


def _group(group: Any) -> list[str]:
    """Return a section of options, each with its values and help."""
    lines = []
    for action in group._group_actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                lines += [".TP", f".B {_text(choice.dest)}", _text(choice.help or "")]
        elif action.help is not argparse.SUPPRESS:
            lines += [".TP", _heading(action), _text((action.help or "").replace("%%", "%"))]
    title = (group.title or "options").upper()
    return [f".SH {_text('ARGUMENTS' if title.startswith('POSITIONAL') else title)}", *lines] if lines else []


def _heading(action: argparse.Action) -> str:
    values = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest)
    if not action.option_strings:
        return f"\\fI{_text(str(values))}\\fR"
    names = ", ".join(f"\\fB{_text(name)}\\fR" for name in action.option_strings)
    return names if action.nargs == 0 else f"{names} \\fI{_text(str(values))}\\fR"


def _text(words: str) -> str:
    """Escape text so that roff prints it verbatim."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
