"""Sphinx: a page per verb and tables of all, made from the parsers when the site is built, so that none can be stale.

``docs/cli/`` is written by the build and ignored by git. Options are objects of Sphinx's domain ``std``: other pages
link to one by ``{option}`tropalign pairs --top```.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from tropalign.cli.main import make_parser
from tropalign.cli.parser import verbs_of
from tropalign.results.output_columns import OUTPUT_COLUMNS

#: An option's name in a sentence; not the hyphen within a word or before a number.
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
#: The pages that say what the results of a verb mean, where they have another name.
PAGES = {
    "search": "profile-search",
    "scan": "profile-search",
    "db": "find",
    "serve": "server",
    "admin": "server",
    "submit": "server",
    "merge": "shards",
    "devices": "gpu",
    "workflow": "workflows",
}
#: The text of `merge` about an option that it takes for the verb which wrote the shards.
OF_OTHERS = "The file of this option"
#: Characters that Markdown would take for markup.
MARKUP = re.compile(r"([\\`*_<>\[\]|$#])")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", _write_all)
    return {"parallel_read_safe": True}


def _write_all(app: Sphinx) -> None:
    write_pages(Path(app.srcdir) / "cli")


def write_pages(folder: Path) -> None:
    """Write ``VERB.md`` per verb, and tables of verbs, options and columns; unchanged files keep their date."""
    parser = make_parser(False)
    verbs = verbs_of(parser)
    pages = {f"{name}.md": page(verb) for name, verb in verbs.items()}
    pages["verbs.txt"] = table_of_verbs(parser)
    pages["options.txt"] = table_of_options(parser)
    pages["columns.txt"] = table_of_columns()
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def table_of_verbs(parser: argparse.ArgumentParser) -> str:
    """Each verb with its line of ``tropalign --help``."""
    lines = ["| verb | what it does |", "|---|---|"]
    lines += [f"| [`{name}`](cli/{name}.md) | {prose(words)} |" for name, words in summaries(parser).items()]
    return "\n".join(lines) + "\n"


def table_of_options(parser: argparse.ArgumentParser) -> str:
    """Options that two verbs or more have, by verb: a cross leads to the verb's own words."""
    shared = {name: helps for name, helps in helps_by_option(parser).items() if len(helps) > 1}
    verbs = [verb for verb in verbs_of(parser) if any(verb in helps for helps in shared.values())]
    lines = ["| option | " + " | ".join(verbs) + " |", "|---" * (len(verbs) + 1) + "|"]
    for name, helps in shared.items():
        crosses = [f"{{option}}`x <tropalign {verb} {name}>`" if verb in helps else "" for verb in verbs]
        lines.append(f"| `{name}` | " + " | ".join(crosses) + " |")
    return "\n".join(lines) + "\n"


def table_of_columns() -> str:
    """Return a table of the columns of ``--columns``."""
    lines = ["| name | meaning | also | report |", "|---|---|---|---|"]
    for column in OUTPUT_COLUMNS.values():
        aliases = " ".join(f"`{alias}`" for alias in column.aliases)
        lines.append(f"| `{column.name}` | {prose(column.meaning)} | {aliases} | {column.depth} |")
    return "\n".join(lines) + "\n"


def helps_by_option(parser: argparse.ArgumentParser) -> dict[str, dict[str, str]]:
    """The words on each option by its longest name and the verb, but for those of ``merge`` on options of others."""
    found: dict[str, dict[str, str]] = {}
    for verb, its in verbs_of(parser).items():
        for action in filter(is_shown, its._actions):
            words = help_of(action)
            if action.option_strings and not words.startswith(OF_OTHERS):
                found.setdefault(max(action.option_strings, key=len), {})[verb] = words
    return dict(sorted(found.items(), key=lambda item: item[0].lstrip("-").lower()))


def page(parser: argparse.ArgumentParser) -> str:
    """The page of a verb, in Markdown for MyST; the verbs of a verb (``db build``) are sections of it."""
    verb = parser.prog.split()[-1]
    lines = [f"# {parser.prog}", "", *opening(parser, parser.description or "")]
    lines += [f"What goes in, what comes out and how it is computed: [{verb}](../{PAGES.get(verb, verb)}.md).", ""]
    lines += options(parser, "## ")
    for name, child in verbs_of(parser).items():
        lines += [f"## {child.prog}", "", *opening(child, summaries(parser)[name]), *options(child, "")]
    return "\n".join(lines + notes(parser.epilog or "")) + "\n"


def summaries(parser: argparse.ArgumentParser) -> dict[str, str]:
    """The line that each verb has in the help of its parent."""
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return {choice.dest: choice.help or "" for action in found for choice in action._choices_actions}


def opening(parser: argparse.ArgumentParser, words: str) -> list[str]:
    """Purpose and usage of a verb; options that follow belong to it."""
    words = words[:1].upper() + words[1:] + ("" if words.endswith(".") else ".")
    return [prose(words), "", "```text", synopsis(parser), "```", "", f"```{{program}} {parser.prog}", "```", ""]


def options(parser: argparse.ArgumentParser, heading: str) -> list[str]:
    """Every argument and option, in the groups of ``--help``."""
    lines, own = [], {name for action in parser._actions for name in action.option_strings if is_shown(action)}
    for group in parser._action_groups:
        found = [action for action in group._group_actions if is_shown(action)]
        if found and heading:
            lines += [heading + title(group), ""]
        for action in found:
            lines += [f"````{{option}} {signature(action)}", prose(help_of(action), own), "````", ""]
    return lines


def title(group: Any) -> str:
    """A group's heading: its title, with the words of argparse's own groups made ours."""
    words = str(group.title or "options")
    return {"positional arguments": "Arguments", "options": "General"}.get(words.lower(), words[:1].upper() + words[1:])


def is_shown(action: argparse.Action) -> bool:
    """Not ``--help`` itself, what is kept from it, or the list of a verb's own verbs, which are sections."""
    return action.help is not argparse.SUPPRESS and not isinstance(
        action, argparse._SubParsersAction | argparse._HelpAction
    )


def synopsis(parser: argparse.ArgumentParser) -> str:
    """The synopsis in short: options are told below one by one."""
    words = [parser.prog]
    actions = [action for action in parser._actions if is_shown(action)]
    needed = [action for action in actions if action.option_strings and action.required]
    words += [f"{action.option_strings[-1]} {values(action)}" for action in needed]
    words.append("[options]")
    words += [arguments(action) for action in actions if not action.option_strings]
    if verbs_of(parser):
        words = [parser.prog, "{" + ",".join(verbs_of(parser)) + "}", "..."]
    return " ".join(words)


def arguments(action: argparse.Action) -> str:
    """A positional argument as a synopsis shows it."""
    name = values(action)
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} [{name} ...]"}.get(str(action.nargs), name)


def values(action: argparse.Action) -> str:
    """The word or the choices that stand for an option's value."""
    if action.metavar is None and action.choices:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.metavar if isinstance(action.metavar, str) else action.dest.upper()


def signature(action: argparse.Action) -> str:
    """All names of an option with its value, as Sphinx's directive ``option`` reads them."""
    if not action.option_strings:
        return values(action) + (" ..." if action.nargs in ("*", "+") else "")
    value = "" if action.nargs == 0 else " " + values(action)
    value += f" [{value.strip()} ...]" if action.nargs in ("+", "*") else ""
    return ", ".join(name + value for name in action.option_strings)


def help_of(action: argparse.Action) -> str:
    """The words of ``--help``, with the default where they leave it out, and that an option is needed."""
    words = (action.help or "").replace("%%", "%")
    if action.required and action.option_strings:
        words += " (required)"
    elif action.default not in (None, False, argparse.SUPPRESS) and action.default != [] and "default" not in words:
        words += f" (default: {action.default})"
    return words[:1].upper() + words[1:] + ("" if words.endswith(".") else ".")


def notes(epilog: str) -> list[str]:
    """Examples as commands, other words as paragraphs."""
    lines: list[str] = []
    for block in filter(None, epilog.split("\n\n")):
        if block.startswith(("example:", "examples:")):
            commands = [line.strip() for line in block.split("\n")[1:]]
            lines += ["## Examples", "", "```sh", *commands, "```", ""]
        else:
            lines += [prose(" ".join(block.split())), ""]
    return lines


def prose(words: str, own: Collection[str] = ()) -> str:
    """Words as Markdown, with the names of options as code, or as links where they are the parser's own."""
    return "".join(pieces(words, own))


def pieces(words: str, own: Collection[str]) -> Iterator[str]:
    """Escape the text between names of options, and write these as code."""
    at = 0
    for found in OPTION.finditer(words):
        yield MARKUP.sub(r"\\\1", words[at : found.start()])
        yield f"{{option}}`{found[0]}`" if found[0] in own else f"`{found[0]}`"
        at = found.end()
    yield MARKUP.sub(r"\\\1", words[at:])
