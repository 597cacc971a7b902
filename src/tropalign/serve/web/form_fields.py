"""A verb's form: its fields with what they hold, and what was filled in as the JSON of a submission."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tropalign.submissions.form_texts import for_forms
from tropalign.submissions.labels import output_label
from tropalign.submissions.next_verbs import is_used
from tropalign.submissions.option_values import FieldError
from tropalign.submissions.verbs import format_of_verb

if TYPE_CHECKING:
    from tropalign.serve.records import Database
    from tropalign.submissions.verbs import InputField, OptionField, ServedVerb

#: What is pasted is called so, by the kind of the input.
PASTED = {"models": "pasted.hmm", "tree": "pasted.nwk", "table": "pasted.tsv", "graph": "pasted.tsv"}
#: Inputs whose help speaks of names, too, which are chosen among the options.
HELPS = {"matrix": "A file in NCBI's format, in place of a matrix that is chosen by its name"}
HINTS = {
    "sequences": ">name\nMKVLA...",
    "alignment": ">name\nMKV-LA...",
    "models": "HMMER3/f ...",
    "tree": "((a:1,b:1):1,c:2);",
}


@dataclass
class Given:
    """What a form holds, as texts: of an earlier job, an example, or what was sent and refused."""

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
    """An input that need not be sent again.

    Parameters
    ----------
    value
        ``file:DIGEST:NAME`` of an earlier job, ``job:ID:ROLE:NAME`` of an output, or ``example:DEST``.
    words
        Whose it is.
    """

    value: str
    name: str
    words: str


@dataclass(frozen=True)
class SourceView:
    """An input in a form.

    Parameters
    ----------
    is_shown
        At once, rather than among further inputs.
    """

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
    """An option in a form."""

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
    """A file that a job may write, too."""

    role: str
    label: str
    help: str
    is_on: bool


def source_views(verb: ServedVerb, given: Given, databases: Sequence[Database]) -> list[SourceView]:
    """The inputs of a verb with what they hold."""
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
    """Options that everybody sees, and the others by the groups of the parser."""
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
    """Files beside the main one that can be asked for."""
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
    """The formats of the result, each with words to choose it by."""
    known = [(name, format_of_verb(verb.name, name).words) for name in verb.formats]
    return [(name, f"{name}: {words}" if words else name) for name, words in known]


def options_of(verb: ServedVerb, texts: Mapping[str, str]) -> dict[str, Any]:
    """Options as a submission has them; what was left empty is left out.

    Parameters
    ----------
    texts
        What fields hold, by `dest`; flags that are set hold any text.

    Raises
    ------
    FieldError
        A text is not a number where one is asked for.
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
    """Options of a submission as a form's fields hold them."""
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
    """The items of an input: what is new replaces what was kept, unless there may be many.

    Parameters
    ----------
    files
        Items of the files that came with the form.
    name
        What the text is called.
    add_text
        Stores what was pasted, and gives its digest.

    Raises
    ------
    FieldError
        Too many, or none where one is needed; or sequences without names.
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
    """What was pasted as a file, its lines ending as files' do."""
    return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace")


def _is_shown(verb: ServedVerb, each: InputField, given: Given) -> bool:
    """Whether an input is seen at once: what most jobs need, and what is there already."""
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
    """The help of a choice without its default, which the field shows."""
    for words in (f" (default: {default})", f"; default: {default}"):
        text = text.removesuffix(words)
    return text
