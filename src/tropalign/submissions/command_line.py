"""Conversion of a typed command line into a submission."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any

from tropalign.errors import UsageError, shown
from tropalign.formats.format import SVG, TSV, format_for_path, format_of, suffix_of
from tropalign.formats.pairs import layout_of
from tropalign.submissions.option_values import canonical, check_together, parsed
from tropalign.submissions.submission import InputItem, Submission, numbered, sanitised
from tropalign.submissions.verbs import (
    MAIN,
    ServedVerb,
    about,
    command_named,
    is_name,
    named_options,
    options_of,
    served_verb,
)
from tropalign.verbs.command import Command

#: Options that apply on the client.
_OF_HERE = ("output", "quiet", "format")
#: Name of standard input as a file.
STANDARD_INPUT = "stdin.fa"

#: Suffixes of files that a server writes in one format only, by that format's suffix.
SAME = {suffixes[0]: suffixes for suffixes in (SVG[1], TSV[1], format_of("counts", "biom").suffixes)}


def submission_of(words: Sequence[str]) -> tuple[Submission, dict[str, str], dict[str, str]]:
    """Convert a user's command line, starting with the verb, into a submission.

    Returns the submission, whose items have only names (the sender adds files), the path of each item by name ("-"
    is standard input), and the path of the output of each role ("-" is standard output). Raises UsageError if the
    verb's parser rejects it, if no server runs the verb, or if the server decides about an option.

    >>> asked, inputs, outputs = submission_of(["pairs", "data/a.fa", "--mode", "global", "-o", "out.paf"])
    >>> asked.format, inputs, outputs
    ('paf', {'a.fa': 'data/a.fa'}, {'main': 'out.paf'})
    """
    name = " ".join(words[: 2 if words[:1] == ["db"] else 1])
    rest = list(words[len(name.split()) :])
    command_named(name)
    if "-h" in rest or "--help" in rest:
        raise UsageError(f"tropalign {name} --help lists the arguments")
    options = parsed(name, rest)
    output: str = options.values()["output"]
    if getattr(options, "each", False):
        raise UsageError("servers do not support --each: submit the files one by one")
    for one in (*options_of(name, "machine"), *options_of(name, "private")):
        if one.name not in _OF_HERE and getattr(options, one.name) != one.default:
            raise UsageError(f"the server chooses {one.typed[-1]} itself: leave it out")
    for one in options_of(name, "value"):
        if one.kind is not None and one.kind.name == "text":
            value = getattr(options, one.name)
            if any(text.startswith("@") for text in (value if isinstance(value, list) else [value]) if text):
                raise UsageError("lists in a file (@FILE) are not sent to servers: give the values themselves")
    check_together(options)
    verb = served_verb(name)
    inputs, paths = _inputs(verb, options)
    chosen = {dest: value for dest, value in canonical(name, options).items() if dest not in inputs}
    format = getattr(options, "format", None) or (
        format_for_path(kind, output) if (kind := about(name).kind) else served_verb(name).default_format
    )
    if format == "matrix" and "matrix_layout" not in chosen:
        layout = layout_of(suffix_of(output))
        chosen |= {} if layout == "tsv" else {"matrix_layout": layout}
    places = {MAIN: output}
    for one in options_of(name, "output"):
        if value := getattr(options, one.name):
            places[one.output] = f"{output}{one.suffix}" if one.follows_main else value
            _check_suffix(verb, one.output, places[one.output], one.suffix)
    if len([place for place in places.values() if place == "-"]) > 1:
        raise UsageError("two outputs cannot both go to standard output: name a file for one of them")
    return Submission(name, inputs, chosen, format, tuple(role for role in places if role != MAIN)), paths, places


def _inputs(verb: ServedVerb, options: Command) -> tuple[dict[str, tuple[InputItem, ...]], dict[str, str]]:
    """Return the items by field, and the path of each item by name."""
    items: dict[str, tuple[InputItem, ...]] = {}
    known = {one.name: one for one in named_options(verb.name)}
    names: dict[str, str] = {}  # by path: a file that is read twice is sent once
    for one in verb.inputs:
        value: Any = getattr(options, one.dest)
        given = [value] if isinstance(value, str) else list(value or ())
        # Like the verbs: a matrix name takes precedence over a file, a file over a model name.
        goes_first = one.dest == "matrix" or not (given and os.path.exists(given[0]))
        if given and one.dest in known and goes_first and is_name(known[one.dest], given[0]):
            continue
        for path in given:
            if not path:
                raise UsageError("a file name is empty: name a file, or check which variable of a script is unset")
            if os.path.isdir(path):
                raise UsageError(f"{shown(path)} is a folder, but only files are sent to servers: name the files in it")
            if path not in names:
                names[path] = numbered(sanitised(STANDARD_INPUT if path == "-" else path), names.values())
        if given:
            items[one.dest] = tuple(InputItem(names[path]) for path in given)
    return items, {name: path for path, name in names.items()}


def _check_suffix(verb: ServedVerb, role: str, path: str, suffix: str) -> None:
    """Reject a suffix of another format: servers write outputs besides the main one in a single format."""
    chosen = suffix_of(path)
    if suffix in SAME and chosen and chosen not in SAME[suffix]:
        output = verb.output(role)
        flag = role if output is None else output.flag
        raise UsageError(f"{flag} {shlex.quote(shown(path))}: a server writes {suffix} here: end the name with it")
