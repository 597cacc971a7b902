"""Option values as in JSON: checked, converted to command-line arguments, and read back from the parser."""

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

#: Maximum characters of a text, values of an option, and magnitude of numbers.
MOST_LETTERS, MOST_VALUES, MOST_NUMBER = 1_000, 1_000, 10**18


class FieldError(UsageError):
    """Unusable field of a submission, such as "options.min_score" or "inputs.queries[0].name".

    `sentence` is the problem with its remedy; `label` replaces the field's name in forms.
    """

    def __init__(self, field: str, sentence: str, label: str = "") -> None:
        self.field = field
        super().__init__(f"{label or shown(field[:100])}: {sentence}")


def option_of(verb: ServedVerb, dest: str) -> OptionField:
    """Return the option of this name, or raise FieldError."""
    found = verb.option(dest)
    if found is None:
        near = did_you_mean(dest[:100], [one.dest for one in verb.options])
        raise FieldError(f"options.{dest}", f"{verb.name} has no such option on a server{near}")
    return found


def texts_of(verb: str, option: OptionField, value: Any) -> list[str]:
    """Convert a value to command-line arguments: none if it is left out, an empty string for a flag.

    Raises FieldError if it has another type, is too long, or contains text that command lines must not contain.
    """
    where = f"options.{option.dest}"
    if value is None:
        return []
    if option.kind == "flag":
        if not isinstance(value, bool):
            raise FieldError(where, "must be true or false")
        return [""] if value else []
    values = value if isinstance(value, (list, tuple)) and option.many else [value]
    if len(values) > MOST_VALUES:
        raise FieldError(where, f"has {len(values):,} values: give {MOST_VALUES:,} at most")
    return [_text_of(verb, option, one, where) for one in values]


def _text_of(verb: str, option: OptionField, value: Any, where: str) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and option.kind != "choice":
        if not math.isfinite(value) if isinstance(value, float) else abs(value) > MOST_NUMBER:
            raise FieldError(where, "must be a finite number up to 1e18")
        if isinstance(value, int):
            return str(value)
        number = format(Decimal(repr(value)), "f")  # some options do not accept exponents
        return number.rstrip("0").rstrip(".") if "." in number else number
    if not isinstance(value, str):
        expected = "a number" if option.kind in ("whole", "number") else "a string"
        raise FieldError(where, f"must be {expected}{', or a list of such' if option.many else ''}")
    text = value.strip() if option.kind in ("whole", "number") else value
    check_text(text, where)
    if option.kind == "text" and text.startswith("@"):
        raise FieldError(where, "cannot name a file: give the values in it as a list")
    if text == "--":
        raise FieldError(where, "cannot be only --")  # argparse removes -- in any position
    if option.dest == "columns" and text == "help":
        raise FieldError(where, "must be a list of columns: see docs/formats.md")
    if option.kind == "choice" and text not in option.choices and not is_allowed(verb, option, text):
        near = did_you_mean(text, option.choices) or f": choose {', '.join(option.choices[:20])}"
        raise FieldError(where, f"{text!r} is not a choice{near}")
    return text


def is_allowed(verb: str, option: OptionField, text: str) -> bool:
    """True if the text is another name for one of the choices; matrices have such names."""
    return any(one.name == option.dest and is_name(one, text) for one in named_options(verb))


def check_text(text: str, where: str, most: int = MOST_LETTERS) -> None:
    """Raise FieldError if a text is empty, longer than `most` or contains invisible characters."""
    if not text:
        raise FieldError(where, "is empty: leave it out")
    if len(text) > most:
        raise FieldError(where, f"has {len(text):,} characters: give {most:,} at most")
    if not text.isprintable():
        raise FieldError(where, "contains invisible characters, such as line breaks: leave them out")


def option_words(verb: str, options: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """Return flags in the order of the help, each with its value (None for flags without a value).

    Raises FieldError for an unknown option or a value of another type.
    """
    known = served_verb(verb)
    given = [(option_of(known, dest), value) for dest, value in options.items()]
    texts = {option.dest: texts_of(verb, option, value) for option, value in given}
    words: list[tuple[str, str | None]] = []
    for option in known.options:
        for text in texts.get(option.dest, ()):
            kind = command_named(verb).declared()[option.dest].kind
            if option.kind == "number" and text.startswith(("0.000", "-0.000")):
                short = repr(float(text))  # ``1e-10`` instead of ``0.0000000001`` if the option accepts it
                text = short if kind is not None and kind.takes(short) else text
            words.append((option.flag, None if option.kind == "flag" else text))
    return words


def parsed(verb: str, words: Sequence[str]) -> Command:
    """Parse the arguments after the verb's name with the verb's own parser.

    Raises UsageError with argparse's sentence, without printing or exiting.
    """
    parser = parser_of(verb)

    def refuse(message: str) -> NoReturn:
        found = re.match(r"argument (-[^:/ ]+)", message)
        action = parser._option_string_actions.get(found.group(1)) if found else None
        if action is not None:
            raise FieldError(f"options.{action.dest}", message.partition(": ")[2] or message)
        raise UsageError(message)

    def leave(status: int = 0, message: str | None = None) -> NoReturn:
        raise UsageError((message or f"tropalign {verb} --help lists the arguments").strip())

    parser.error, parser.exit = refuse, leave  # type: ignore[method-assign]
    return command_of(parser.parse_args(list(words)))


def check_together(command: Command) -> None:
    """Raise UsageError if options conflict, as the verb itself does before it reads anything."""
    try:
        command.check()
    except TropalignError as error:  # for example, a format's package is not installed: also an unusable request
        if isinstance(error, UsageError):
            raise
        raise UsageError(str(error)) from None


def canonical(verb: str, command: Command) -> dict[str, Any]:
    """Return the options that differ from their defaults, as in JSON."""
    found: dict[str, Any] = {}
    for option in served_verb(verb).options:
        value = getattr(command, option.dest)
        if value is None or value == option.default or value == command.declared()[option.dest].default:
            continue
        if isinstance(value, float) and not math.isfinite(value):
            raise FieldError(f"options.{option.dest}", "must be a finite number up to 1e18")
        found[option.dest] = list(value) if isinstance(value, (list, tuple)) else value
    return found
