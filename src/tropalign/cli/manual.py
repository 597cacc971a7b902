"""Pages for ``man``, made from the parsers: ``tropalign --print-man pairs | man -l -``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tropalign import __version__
from tropalign.cli.parser import verbs_of


def write_pages(parser: argparse.ArgumentParser, folder: Path) -> None:
    """Write ``tropalign.1`` and ``tropalign-VERB.1`` for every verb into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in (parser, *verbs_of(parser).values()):
        (folder / f"{_name(one)}.1").write_text(page(one, parser), encoding="utf-8")


def page(parser: argparse.ArgumentParser, main: argparse.ArgumentParser) -> str:
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
    lines += _epilog(parser.epilog or "")
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


def _epilog(text: str) -> list[str]:
    """Return the epilog's lines: examples verbatim, other text as paragraphs."""
    lines: list[str] = []
    for block in text.split("\n\n"):
        if block.startswith(("example:", "examples:")):
            commands = block.split("\n")[1:]
            lines += [".SH EXAMPLES", ".EX", *(_text(command) for command in commands), ".EE"]
        elif block:
            lines += [".SH NOTES" if ".SH NOTES" not in lines else ".PP", *map(_text, block.split("\n"))]
    return lines


def _text(words: str) -> str:
    """Escape text so that roff prints it verbatim."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
