"""Form of a verb: its fields with their contents, and conversion of a filled-in form to a submission's JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tropalign.submissions.option_values import FieldError
from tropalign.submissions.verbs import for_forms, format_of_verb, is_used, output_label

if TYPE_CHECKING:
    from tropalign.serve.records import Database
    from tropalign.submissions.verbs import InputField, OptionField, ServedVerb

#: Names of pasted texts, by the kind of input.
PASTED = {"models": "pasted.hmm", "tree": "pasted.nwk", "table": "pasted.tsv", "graph": "pasted.tsv"}
#: Help for inputs whose own help also mentions names, which are chosen among the options.
HELPS = {"matrix": "A file in NCBI's format, in place of a matrix that is chosen by its name"}
HINTS = {
    "sequences": ">name\nMKVLA...",
    "alignment": ">name\nMKV-LA...",
    "models": "HMMER3/f ...",
    "tree": "((a:1,b:1):1,c:2);",
}


@dataclass
class Given:
    """Contents of a form as texts: from an earlier job, an example, or a rejected submission."""

    texts: dict[str, str] = field(default_factory=dict)
    kept: dict[str, list[KeptItem]] = field(default_factory=dict)
    databases: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    format: str = ""
    outputs: tuple[str, ...] | None = None
    title: str = ""
    tags: str = ""
    shared: bool = False
    hook: str = ""
    error: str = ""
    error_field: str = ""


@dataclass(frozen=True)
class KeptItem:
    """Input that need not be sent again.

    `value` is ``file:DIGEST:NAME`` from an earlier job, ``job:ID:ROLE:NAME`` of an output, or ``example:DEST``;
    `words` describe its origin.
    """

    value: str
    name: str
    words: str


@dataclass(frozen=True)
class SourceView:
    """Input in a form; `is_shown` is False if it is among the further inputs."""

    dest: str
    label: str
    help: str
    required: bool
    many: bool
    is_shown: bool
    hint: str
    text: str
    kept: list[KeptItem]
    databases: Sequence[Database]
    database: str
    error: str


@dataclass(frozen=True)
class OptionView:
    """Option in a form."""

    dest: str
    flag: str
    label: str
    help: str
    kind: str
    many: bool
    choices: tuple[str, ...]
    unset: str
    value: str
    error: str


@dataclass(frozen=True)
class GroupView:
    """Options under one heading."""

    name: str
    fields: list[OptionView]
    is_open: bool


@dataclass(frozen=True)
class OutputView:
    """Optional additional output file."""

    role: str
    label: str
    help: str
    is_on: bool


def source_views(verb: ServedVerb, given: Given, databases: Sequence[Database]) -> list[SourceView]:
    """Return the inputs of a verb with their contents."""
    return [
        SourceView(
            each.dest,
            each.label,
            HELPS.get(each.kind) or for_forms(each.help),
            each.required,
            each.many,
            _is_shown(verb, each, given),
            HINTS.get(each.kind, ""),
            given.texts.get(each.dest, ""),
            given.kept.get(each.dest, []),
            databases if each.takes_database else (),
            given.databases.get(each.dest, ""),
            _error_of(given, each.dest),
        )
        for each in verb.inputs
    ]


def option_groups(verb: ServedVerb, given: Given) -> tuple[list[OptionView], list[GroupView]]:
    """Return the common options, and the others by group."""
    groups: dict[str, list[OptionView]] = {}
    common = []
    for each in verb.options:
        view = _option_view(each, given)
        if each.is_common:
            common.append(view)
        else:
            groups.setdefault(each.group, []).append(view)
    return common, [
        GroupView(name, views, any(view.value or view.error for view in views)) for name, views in groups.items()
    ]


def output_views(verb: ServedVerb, given: Given) -> list[OutputView]:
    """Return the optional outputs besides the main one."""
    asked = given.outputs
    return [
        OutputView(
            each.role,
            output_label(each.role),
            for_forms(each.help),
            (each.role == verb.report or is_used(verb.name, each.role)) if asked is None else each.role in asked,
        )
        for each in verb.outputs
        if not each.always
    ]


def format_choices(verb: ServedVerb) -> list[tuple[str, str]]:
    """Return the formats of the result, each with a description."""
    known = [(name, format_of_verb(verb.name, name).words) for name in verb.formats]
    return [(name, f"{name}: {words}" if words else name) for name, words in known]


def options_of(verb: ServedVerb, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return options for a submission from field texts by `dest`, without empty fields.

    A flag is set by any text. Raises FieldError if a text is not a number where one is required.
    """
    found: dict[str, Any] = {}
    for each in verb.options:
        text = texts.get(each.dest, "").strip()
        if not text:
            continue
        if each.kind == "flag":
            found[each.dest] = True
        elif each.many:
            found[each.dest] = [_value(each, one.strip()) for one in text.split(",") if one.strip()]
        else:
            found[each.dest] = _value(each, text)
    return found


def texts_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Return a submission's options as texts of form fields."""
    return {dest: _text(value) for dest, value in options.items() if value is not None and value is not False}


def chosen_inputs(
    field_of: InputField,
    files: list[dict[str, Any]],
    text: str,
    name: str,
    database: str,
    kept: Iterable[dict[str, Any]],
    add_text: Callable[[bytes], str],
) -> list[dict[str, Any]]:
    """Return the items of an input: uploads replace kept files unless the field accepts several.

    `files` are items of uploaded files, `name` is that of the pasted text, and `add_text` stores it and returns
    its digest.
    Raises FieldError for too many items, none in a required input, or sequences without names.
    """
    items = list(files)
    if text.strip():
        if field_of.kind == "sequences" and text.lstrip("\ufeff \t\r\n")[:1].isalnum():
            raise FieldError(
                field_of.dest,
                "this begins with no name: put a line with > and a name before each sequence",
                field_of.label,
            )
        items.append({"file": add_text(pasted_bytes(text)), "name": name})
    if database:
        items.append({"database": database})
    if field_of.many:
        items = [*kept, *items]
    elif not items:
        items = list(kept)
    if len(items) > 1 and not field_of.many:
        raise FieldError(
            field_of.dest,
            f"these are {len(items)}: give one of a pasted text, a file and a database",
            field_of.label,
        )
    if not items and field_of.required:
        raise FieldError(field_of.dest, "nothing is given: paste it, or choose a file", field_of.label)
    return items


def pasted_bytes(text: str) -> bytes:
    """Return pasted text as a file, with Unix line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace")


def _is_shown(verb: ServedVerb, each: InputField, given: Given) -> bool:
    """True if an input is shown at once: most jobs need it, or it has contents."""
    is_given = any(held.get(each.dest) for held in (given.texts, given.kept, given.databases))
    return each.required or each.dest in verb.example or (each.takes_database and each.flag is None) or is_given


def _option_view(each: OptionField, given: Given) -> OptionView:
    default = "" if each.default is None else str(each.default)
    value = given.options.get(each.dest, "")
    return OptionView(
        each.dest,
        each.flag,
        each.label,
        _less_default(for_forms(each.help), default),
        each.kind,
        each.many,
        tuple(name for name in each.choices if name != default),
        f"{default} (default)" if default else "default",
        "" if value == default and each.kind == "choice" else value,
        _error_of(given, each.dest),
    )


def _error_of(given: Given, dest: str) -> str:
    return given.error if given.error_field == dest else ""


def _value(each: OptionField, text: str) -> Any:
    try:
        if each.kind == "whole":
            return int(text)
        if each.kind == "number":
            value = float(text)
            if not math.isfinite(value):
                raise ValueError
            return int(value) if value.is_integer() and "e" not in text.lower() else value
    except ValueError:
        what = "whole number" if each.kind == "whole" else "number"
        raise FieldError(each.dest, f"{text[:50]!r} is not a {what}", each.label) from None
    return text


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return "1" if value is True else str(value)


def _less_default(text: str, default: str) -> str:
    """Remove the default from a choice's help, because the field shows it."""
    for words in (f" (default: {default})", f"; default: {default}"):
        text = text.removesuffix(words)
    return text
