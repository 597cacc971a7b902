"""Values of options as JSON has them: checked, made into words of a command line, and read back from the parser."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn

from tropalign.cli.parser import command_of
from tropalign.errors import TropalignError, UsageError, did_you_mean, shown
from tropalign.submissions.verbs import (
    OptionField,
    ServedVerb,
    command_named,
    is_name,
    named_options,
    parser_of,
    served_verb,
)
from tropalign.verbs.command import Command

#: Letters of a text, values of an option that takes several, and the size of numbers at most.
MOST_LETTERS, MOST_VALUES, MOST_NUMBER = 1_000, 1_000, 10**18


class FieldError(UsageError):
    """A field of a submission cannot be used.

    Parameters
    ----------
    field
        Which one: "options.min_score", "inputs.queries[0].name".
    sentence
        What is wrong with it, and the remedy.
    label
        What a form calls it, in place of its name.
    """

    def __init__(self, field: str, sentence: str, label: str = "") -> None:
        self.field = field
        super().__init__(f"{label or shown(field[:100])}: {sentence}")


def option_of(verb: ServedVerb, dest: str) -> OptionField:
    """The option of this name. Raises FieldError where the verb has none."""
    found = verb.option(dest)
    if found is None:
        near = did_you_mean(dest[:100], [one.dest for one in verb.options])
        raise FieldError(f"options.{dest}", f"{verb.name} has no such option on a server{near}")
    return found


def texts_of(verb: str, option: OptionField, value: Any) -> list[str]:
    """The value as words of a command line: none where it is left out, or a flag's empty word.

    Raises
    ------
    FieldError
        It is of another type, too long, or holds what no command line should.
    """
    where = f"options.{option.dest}"
    if value is None:
        return []
    if option.kind == "flag":
        if not isinstance(value, bool):
            raise FieldError(where, "is true or false")
        return [""] if value else []
    values = value if isinstance(value, (list, tuple)) and option.many else [value]
    if len(values) > MOST_VALUES:
        raise FieldError(where, f"has {len(values):,} values: give {MOST_VALUES:,} at most")
    return [_text_of(verb, option, one, where) for one in values]


def _text_of(verb: str, option: OptionField, value: Any, where: str) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and option.kind != "choice":
        return _number_text(value, where)
    if not isinstance(value, str):
        expected = "a number" if option.kind in ("whole", "number") else "a text"
        raise FieldError(where, f"is {expected}{', or a list of such' if option.many else ''}")
    text = value.strip() if option.kind in ("whole", "number") else value
    check_text(text, where)
    if option.kind == "text" and text.startswith("@"):
        raise FieldError(where, "names no file: write what is in it, one value each")
    if text == "--":
        raise FieldError(where, "cannot be -- alone")  # which argparse takes away, wherever it stands
    if option.dest == "columns" and text == "help":
        raise FieldError(where, "is a list of columns: docs/formats.md has them")
    if option.kind == "choice" and text not in option.choices and not is_allowed(verb, option, text):
        near = did_you_mean(text, option.choices) or f": choose {', '.join(option.choices[:20])}"
        raise FieldError(where, f"{text!r} is no choice{near}")
    return text


def is_allowed(verb: str, option: OptionField, text: str) -> bool:
    """Whether it is another name for one of the choices, as matrices have them."""
    return any(one.name == option.dest and is_name(one, text) for one in named_options(verb))


def check_text(text: str, where: str, most: int = MOST_LETTERS) -> None:
    """Refuses what is too long or holds letters that nobody sees. Raises FieldError."""
    if not text:
        raise FieldError(where, "is empty: leave it out")
    if len(text) > most:
        raise FieldError(where, f"has {len(text):,} letters: give {most:,} at most")
    if not text.isprintable():
        raise FieldError(where, "holds letters that cannot be seen, such as ends of lines: leave them out")


def _number_text(value: int | float, where: str) -> str:
    """A number in full: some options read no exponents."""
    if not math.isfinite(value) if isinstance(value, float) else abs(value) > MOST_NUMBER:
        raise FieldError(where, "is not a number that can be computed with")
    if isinstance(value, int):
        return str(value)
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def option_words(verb: str, options: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """Flags, each with its value (None: it takes none), in the order of the help.

    Raises
    ------
    FieldError
        There is no such option, or a value is of another type.
    """
    known = served_verb(verb)
    given = [(option_of(known, dest), value) for dest, value in options.items()]
    texts = {option.dest: texts_of(verb, option, value) for option, value in given}
    return [
        (option.flag, None if option.kind == "flag" else _brief(verb, option, text))
        for option in known.options
        for text in texts.get(option.dest, ())
    ]


def _brief(verb: str, option: OptionField, text: str) -> str:
    """``1e-10`` where the option reads that, in place of ``0.0000000001``."""
    if option.kind != "number" or not text.startswith(("0.000", "-0.000")):
        return text
    kind, short = command_named(verb).declared()[option.dest].kind, repr(float(text))
    return short if kind is not None and kind.takes(short) else text


def parsed(verb: str, words: Sequence[str]) -> Command:
    """What the verb's own parser makes of the words behind the verb's name.

    Raises
    ------
    UsageError
        With argparse's sentence; nothing is printed, and nothing ends.
    """
    parser = parser_of(verb)

    def refuse(message: str) -> NoReturn:
        found = re.match(r"argument (-[^:/ ]+)", message)
        action = parser._option_string_actions.get(found.group(1)) if found else None
        if action is not None:
            raise FieldError(f"options.{action.dest}", message.partition(": ")[2] or message)
        raise UsageError(message)

    def leave(status: int = 0, message: str | None = None) -> NoReturn:
        raise UsageError((message or f"tropalign {verb} --help says what can be given").strip())

    parser.error, parser.exit = refuse, leave  # type: ignore[method-assign]
    return command_of(parser.parse_args(list(words)))


def check_together(command: Command) -> None:
    """Refuses options that do not go together, as the verb itself does before it reads anything. Raises UsageError."""
    try:
        command.check()
    except TropalignError as error:  # a format's package that is not installed, say: all the same to who asks
        if isinstance(error, UsageError):
            raise
        raise UsageError(str(error)) from None


def canonical(verb: str, command: Command) -> dict[str, Any]:
    """The options that are not what they are when left out, as JSON has them."""
    found: dict[str, Any] = {}
    for option in served_verb(verb).options:
        value = getattr(command, option.dest)
        if value is None or value == option.default or value == command.declared()[option.dest].default:
            continue
        if isinstance(value, float) and not math.isfinite(value):
            raise FieldError(f"options.{option.dest}", "is not a number that can be computed with")
        found[option.dest] = list(value) if isinstance(value, (list, tuple)) else value
    return found
