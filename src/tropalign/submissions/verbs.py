"""Verbs that a server runs, and the fields of their forms, made from the verbs' declarations.

Every option has a role: an input (a file), a value, an output, or the server's decision. A value is a flag, a
choice, a number, or free text that is not a file name, so a new option that takes a path never becomes a text
field.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from tropalign.cli.main import make_parser
from tropalign.cli.parser import verbs_of
from tropalign.errors import UsageError, did_you_mean
from tropalign.formats.format import Format, format_names, format_of
from tropalign.options.option import REQUIRED, Option, grouped
from tropalign.properties import cached
from tropalign.verbs import VERBS, declared
from tropalign.verbs.command import Command, Served, in_order_of_help

#: Role of the main output in every submission.
MAIN = "main"
#: Verbs that a server runs; actions have names like "db build".
_COMMANDS = {
    action.verb: action
    for name in VERBS
    if name not in ("serve", "admin", "submit")
    for action in declared(name).actions or (declared(name),)
    if action.served is not None
}
SERVED = tuple(_COMMANDS)
#: Headings of option groups.
GROUPS: Mapping[str, str] = {
    "Method clustalw": "Details of method clustalw",
    "Output and resources": "Details of the output",
    "Format": "Format of the result",
    "Options": "More options",
    "Results": "Details of the result",
    "Into an alignment": "Into an existing alignment",
}
#: Labels of outputs by role.
OUTPUTS: Mapping[str, str] = {
    "main": "Result",
    "report": "Report for the browser",
    "plot": "Picture",
    "tree": "Guide tree",
    "tblout": "Table of hits, in HMMER's format",
    "domtblout": "Table of domains, in HMMER's format",
    "pfamtblout": "Both tables, in Pfam's format",
    "jplace": "Placements (jplace)",
    "table": "Table of reads",
    "taxa": "Table of taxa",
    "sunburst": "Taxa as a page (sunburst)",
    "otu_table": "Table of counts with lineages",
    "uc": "Clusters in USEARCH's format",
    "unmapped": "Reads of no given representative",
    "orientations": "Strands of reads",
    "unoriented": "Reads of uncertain strand",
    "differences": "Differences to a row",
    "model": "Trained model",
    "reference": "Reference without the reads",
}
#: A flag to replace, or another program's flags ("hmmbuild's --fast and --hand").
_FLAG = re.compile(r"\w's --[\w-]+(?:(?:,| and) --[\w-]+)*|(?<![\w-])--?[A-Za-z][\w-]*")
_SEE_HELP = re.compile(r" \(see tropalign [a-z ]+ --help\)$")
#: Phrases that apply only to command lines.
_COMMAND_LINE = re.compile(
    r"[;,] - (\(default\) )?is (standard input|stdin|stdout)|; --columns help lists them|; several times for several"
    r"|; may be repeated|; @FILE for those of a file, one per line"
)
#: Formats of main outputs that other verbs read.
READ = {
    "msa": ("fasta", "a2m", "a3m", "clustal", "msf", "phylip", "stockholm"),
    "tree": ("newick", "dnd"),
    "search": ("stockholm",),
    "derep": ("fasta",),
    "chimeras": ("fasta",),
    "build": ("hmm",),
}
_OF_HITS = (("msa", "family"), ("build", "alignment"))
_OF_MODELS = (("search", "models"), ("scan", "models"), ("msa", "model"))
#: By verb and output role: verbs and their inputs, the most likely first.
USES = {
    ("msa", MAIN): (("tree", "taxa"), ("build", "alignment"), ("score", "alignments"), ("place", "reference")),
    ("tree", MAIN): (("place", "tree"),),
    ("build", MAIN): _OF_MODELS,
    ("search", MAIN): _OF_HITS,
    ("search", "alignment"): _OF_HITS,
    ("search", "models"): _OF_MODELS,
    ("cluster", "representatives"): (("place", "reads"), ("msa", "family"), ("find", "queries"), ("cluster", "to")),
    ("derep", MAIN): (("chimeras", "queries"), ("cluster", "queries"), ("place", "reads")),
    ("chimeras", MAIN): (("cluster", "queries"), ("place", "reads")),
}


@dataclass(frozen=True)
class InputField:
    """Input field: one or more files that a verb reads.

    - `dest`: name in submissions.
    - `flag`: option; None for a positional argument.
    - `kind`: content: "sequences", "alignment", "models", "tree", "table", "graph", "matrix" or "model".
    - `takes_database`: True if a store may take the file's place.
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
    """Value that a user may set.

    - `kind`: "flag" (true or false), "choice", "whole" (an integer), "number" or "text".
    - `many`: True for a list of such values.
    - `group`: label of the group.
    - `is_common`: True if forms show it first.
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
    """File that a verb writes.

    - `suffix`: for the main output, that of the default format.
    - `always`: True if every job writes it.
    """

    role: str
    flag: str
    help: str
    suffix: str
    always: bool


@dataclass(frozen=True)
class ServedVerb:
    """Verb as a form and as an entry of the API.

    - `title`: text of the button.
    - `report`: role of the report for browsers; None if there is no such output (format "html" may exist).
    - `has_forecast`: True if ``--dry-run`` estimates a job.
    - `is_resumable`: True if an interrupted job continues from where it stopped.
    - `example`, `example_options`: files of ``examples/`` by input, and matching options.
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
        """Return the input of this name."""
        return next((one for one in self.inputs if one.dest == dest), None)

    def option(self, dest: str) -> OptionField | None:
        """Return the option of this name."""
        return next((one for one in self.options if one.dest == dest), None)

    def output(self, role: str) -> OutputField | None:
        """Return the output of this role."""
        return next((one for one in self.outputs if one.role == role), None)


def command_named(name: str) -> type[Command]:
    """Return the declaration of a verb, or raise UsageError if no server runs it."""
    if name not in _COMMANDS:
        near = did_you_mean(str(name), SERVED) or f": choose one of {', '.join(SERVED)}"
        raise UsageError(f"servers cannot run the verb {str(name)[:100]!r}{near}")
    return _COMMANDS[name]


def about(name: str) -> Served:
    """Return a verb's settings for servers, excluding its options; raise UsageError if no server runs it."""
    found = command_named(name).served
    assert found is not None, name
    return found


def options_of(name: str, role: str) -> list[Option]:
    """Return the options of a role, in the order of the help."""
    options = in_order_of_help(command_named(name).declared().values())
    return [one for one in options if one.role == role and one.output != MAIN]


def side_output(name: str, role: str) -> Option:
    """Return the option of an output other than the main one."""
    return next(one for one in options_of(name, "output") if one.output == role)


def format_of_verb(name: str, format: str) -> Format:
    """Return a format of the verb's main output by name, or raise UsageError."""
    known = about(name)
    return known.format or format_of(known.kind, format)


@cached
def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a verb; for "db build", that of ``build``."""
    command_named(name)
    first, *rest = name.split()
    parser = verbs_of(make_parser(False, [first]))[first]
    for word in rest:
        parser = verbs_of(parser)[word]
    return parser


@cached
def served_verb(name: str) -> ServedVerb:
    """Return the verb of this name; raise UsageError if it does not exist or no server runs it."""
    known, command = about(name), command_named(name)
    options = command.declared()
    offered = format_names(known.kind) if known.format is None else (known.format.name,)
    formats = tuple(format for format in offered if format not in known.never_formats)
    outputs = (
        _main(options["output"], format_of_verb(name, formats[0]).suffix),
        *map(_output, options_of(name, "output")),
    )
    return ServedVerb(
        name=name,
        title=known.title,
        summary=command.summary,
        inputs=tuple(map(_input, options_of(name, "input"))),
        options=tuple(_options(command)),
        outputs=outputs,
        formats=formats,
        default_format=formats[0],
        report=next((one.role for one in outputs if one.role == "report"), None),
        has_forecast="dry_run" in options,
        takes_cluster="cluster" in options,
        takes_memory="memory" in options,
        takes_threads="threads" in options,
        is_resumable=known.is_resumable,
        example=known.example,
        example_options=known.example_options,
    )


def flag_of(one: Option) -> str | None:
    """Return the flag of an option, a long one if it exists; None for a positional argument."""
    long = [name for name in one.typed if name.startswith("--")]
    return next(iter([*long, *one.typed]), None)


def label_of(one: Option) -> str:
    """Return the form label of an option."""
    return one.label or in_words((flag_of(one) or one.name).lstrip("-"))


def _input(one: Option) -> InputField:
    return InputField(
        dest=one.name,
        flag=flag_of(one),
        label=one.file_label or label_of(one),
        help=_text(one),
        required=(one.default is REQUIRED and one.names is None) or one.is_needed_on_servers,
        many=one.many in ("+", "*"),
        kind=one.holds,
        takes_database=one.holds == "sequences",
    )


def _options(command: type[Command]) -> list[OptionField]:
    """Return the options that users may set, in the order of the help."""
    found = []
    for title, options in grouped(command.declared().values()).items():
        for one in options:
            flag = flag_of(one)
            if flag is None or not (one.role == "value" or one.names is not None):
                continue
            found.append(
                OptionField(
                    dest=one.name,
                    flag=flag,
                    label=label_of(one),
                    help=_text(one),
                    kind=_kind(one),
                    choices=tuple(one.choices or ()) if one.names is None else names_of(one),
                    many=one.many in ("append", "+", "*"),
                    default=one.default if one.names is None else one.default_name,
                    group=group_label(title or "options"),
                    is_common=one.is_common,
                )
            )
    return found


def _kind(one: Option) -> str:
    if one.is_flag:
        return "flag"
    return "choice" if one.choices is not None or one.names is not None or one.kind is None else one.kind.name


def _text(one: Option) -> str:
    """Return the help text for forms."""
    return one.form_help or one.help


@cached
def names_of(one: Option) -> tuple[str, ...]:
    """Return the names that the option accepts in place of a file."""
    if one.names is None:
        return ()
    module, function = one.names
    return tuple(getattr(import_module(module), function)())


def is_name(one: Option, text: str) -> bool:
    """True if the option takes the text as a name rather than a file."""
    if one.name == "matrix":
        from tropalign.scoring.matrix import canonical  # includes other programs' names

        return canonical(text) is not None
    return text in names_of(one)


def named_options(name: str) -> list[Option]:
    """Return the options that take either a file or a known name."""
    return [one for one in options_of(name, "input") if one.names is not None]


def _main(one: Option, suffix: str) -> OutputField:
    return OutputField(MAIN, flag_of(one) or "", one.help, suffix, True)


def _output(one: Option) -> OutputField:
    return OutputField(one.output, flag_of(one) or "", _text(one), one.suffix, False)


def group_label(title: str) -> str:
    """Return the form label of an option group."""
    label = in_words(title)
    return GROUPS.get(label, label)


def output_label(role: str) -> str:
    """Return the form label of an output."""
    return OUTPUTS.get(role) or in_words(role)


def in_words(name: str) -> str:
    """Convert the name of an option, a group or an output to plain words."""
    words = name.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


@cached
def labels() -> dict[str, str]:
    """Return the labels of all options in forms, by flag."""
    options = [one for name in SERVED for one in command_named(name).declared().values() if one.label]
    chosen = [one for one in options if one.role == "value" or one.names is not None]
    return {flag: label_of(one) for one in chosen for flag in one.typed}


def for_forms(text: str) -> str:
    """Adapt a command-line text to a form.

    >>> from tropalign.submissions.verbs import for_forms
    >>> for_forms("with --gap-extend2 a second cost; - is stdin")
    'With “Second gap extension cost” a second cost'
    >>> for_forms("as hmmbuild's --fast and --hand")
    "As hmmbuild's --fast and --hand"
    """
    text = _FLAG.sub(lambda found: _named(found.group()), _COMMAND_LINE.sub("", text))
    return text[:1].upper() + text[1:]


def message_for_forms(text: str) -> str:
    """Replace options in a message by their labels, and remove the reference to the command line's help.

    >>> from tropalign.submissions.verbs import message_for_forms
    >>> message_for_forms("x.fa: add --unaligned (see tropalign tree --help)")
    'x.fa: add “Sequences are not aligned”'
    """
    text = _SEE_HELP.sub("", text)
    return _FLAG.sub(lambda found: _named(found.group()) if found.group() in labels() else found.group(), text)


def _named(flag: str) -> str:
    if flag not in labels() and not flag.startswith("--"):  # also flags of another program
        return flag
    return f"“{labels().get(flag) or in_words(flag.lstrip('-'))}”"


def uses_of(verb: str, format: str, role: str) -> tuple[tuple[str, str], ...]:
    """Return the verbs, each with its input, that take an output of `verb`; `format` is that of the main output.

    >>> from tropalign.submissions.verbs import uses_of
    >>> uses_of("tree", "newick", "main"), uses_of("tree", "svg", "main")
    ((('place', 'tree'),), ())
    """
    is_read = role != MAIN or format in READ.get(verb, ())
    return USES.get((verb, role), ()) if is_read else ()


def is_used(verb: str, role: str) -> bool:
    """True if other verbs take this side output: forms then request it."""
    return role != MAIN and (verb, role) in USES and not READ.get(verb, ())
