"""Plan of a job: its command's arguments, its file names, and the command that is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tropalign.formats.pairs import MATRIX_LAYOUTS
from tropalign.formats.registry import media_type_of
from tropalign.submissions.file_names import numbered, stem_of
from tropalign.submissions.option_values import option_words
from tropalign.submissions.verbs import (
    MAIN,
    ServedVerb,
    command_named,
    flag_of,
    format_of_verb,
    is_name,
    named_options,
    options_of,
    served_verb,
    side_output,
)

if TYPE_CHECKING:
    from tropalign.submissions.submission import InputItem, Submission

#: Stem of output names if a job has no input files.
RESULT = "result"


@dataclass(frozen=True)
class Resources:
    """Resources that a server gives a job; `cluster` is the address of a Dask scheduler, for verbs that can use one."""

    memory_bytes: int
    threads: int
    cluster: str | None = None


@dataclass(frozen=True)
class Output:
    """File that a job writes.

    `filename` is the same in the job's folder, in downloads and in the command that is shown: headers contain the
    command, so a run elsewhere writes the same bytes.
    """

    role: str
    filename: str
    media_type: str


def planned(
    submission: Submission, paths: Callable[[InputItem], str], resources: Resources, *, forecast: bool = False
) -> tuple[list[str], tuple[Output, ...]]:
    """Return the arguments after ``tropalign`` of a job's command, and its outputs, the main one first.

    The command runs in the job's own folder, where its outputs appear; after success, all of them exist. Results
    start with the command and errors name files, so `paths` should return bare names in that folder. Workers link
    the stored files there under the names of `link_names`, which are distinct from each other, from outputs and
    from parts of outputs; no name starts with a dot, so that the worker can use dotted names for its own files.
    `forecast` only estimates the job (``--dry-run``), if `foretells` allows it.
    """
    verb, outputs = served_verb(submission.verb), outputs_of(submission)
    words = [f"--output={outputs[0].filename}", *(["--dry-run"] if forecast else [])]
    if verb.takes_memory:
        words.append(f"--memory={resources.memory_bytes}")
    if verb.takes_threads:
        words.append(f"--threads={resources.threads}")
    if resources.cluster is not None and _computes_on_cluster(submission, verb):
        words.append(f"--cluster={resources.cluster}")
    for output in outputs[1:]:
        side = side_output(submission.verb, output.role)
        words.append((flag_of(side) or "") + ("" if side.follows_main else f"={output.filename}"))
    return [*submission.verb.split(), *words, *words_of(submission, paths)], outputs


def foretells(submission: Submission) -> bool:
    """True if ``--dry-run`` can forecast this job."""
    by_consistency = submission.options.get("method") != "clustalw" and not {"add", "merge"} & {*submission.inputs}
    return served_verb(submission.verb).has_forecast and (submission.verb != "msa" or by_consistency)


def _computes_on_cluster(submission: Submission, verb: ServedVerb) -> bool:
    """True if the verb accepts a cluster for this job."""
    options = submission.options
    if submission.verb == "tree":
        return bool(options.get("unaligned") or options.get("bootstrap", "auto") != "auto")
    if submission.verb == "msa" and options.get("method") == "clustalw":
        return False
    return verb.takes_cluster


def words_of(submission: Submission, paths: Callable[[InputItem], str]) -> list[str]:
    """Return format, options (``--flag=value``, so that values are not read as options) and files as arguments."""
    verb = served_verb(submission.verb)
    words = [f"--format={submission.format}"] if _has_format(submission.verb) else []
    for flag, text in option_words(submission.verb, submission.options):
        words.append(flag if text is None else f"{flag}={text}")
    files: list[str] = []
    several: list[str] = []  # a multi-file option takes all arguments up to the next option
    for one in verb.inputs:
        named = [_no_option(paths(item)) for item in submission.inputs.get(one.dest, ())]
        if one.flag is None:
            files += named
        elif one.many and named:
            several += [one.flag, *named]
        else:
            words += [f"{one.flag}={path}" for path in named]
    return [*words, *_default_names(submission, verb), *several, "--", *files]


def _has_format(verb: str) -> bool:
    return "format" in command_named(verb).declared()


def _default_names(submission: Submission, verb: ServedVerb) -> list[str]:
    """Return arguments for default names that the submission gives neither as a file nor as an option."""
    given = {*submission.inputs, *submission.options}
    left_out = [one for one in named_options(verb.name) if one.default_name is not None and one.name not in given]
    return [f"--{one.name}={one.default_name}" for one in left_out]


def _no_option(path: str) -> str:
    return f"./{path}" if path.startswith("-") else path


def main_suffix(submission: Submission) -> str:
    """Return the suffix of the main output."""
    layout = submission.options.get("matrix_layout")
    if submission.format == "matrix" and isinstance(layout, str):
        return MATRIX_LAYOUTS[layout][0]
    return format_of_verb(submission.verb, submission.format).suffix


def outputs_of(submission: Submission) -> tuple[Output, ...]:
    """Return the job's outputs, the main one first, named after the first input."""
    main = main_suffix(submission)
    taken = list(link_names(submission).values())
    stem = stem_of(taken[0]) if taken else RESULT
    found = [Output(MAIN, _free(stem, submission.verb.replace(" ", "-"), main, taken), _media_type(submission, main))]
    for one in options_of(submission.verb, "output"):
        if one.output in submission.outputs:
            others = [*taken, *(output.filename for output in found)]
            name = found[0].filename + one.suffix if one.follows_main else _free(stem, one.output, one.suffix, others)
            found.append(Output(one.output, name, media_type_of(one.suffix)))
    return tuple(found)


def _media_type(submission: Submission, suffix: str) -> str:
    form = format_of_verb(submission.verb, submission.format)
    return form.media_type if suffix == form.suffix else media_type_of(suffix)


def _free(stem: str, word: str, suffix: str, taken: Iterable[str]) -> str:
    """Return ``proteins.fa``, or ``proteins.msa.fa`` if that is taken or is a prefix (plus dot) of a taken name."""
    names = {one.casefold() for one in taken}
    number, name = 1, f"{stem}{suffix}"
    while any(one == name.casefold() or one.startswith(f"{name.casefold()}.") for one in names):
        name = f"{stem}.{word}{suffix}" if number == 1 else f"{stem}.{word}-{number}{suffix}"
        number += 1
    return name


def link_names(submission: Submission) -> dict[InputItem, str]:
    """Return the inputs' names in the job's folder: those that users gave, made unique.

    >>> from tropalign.submissions.plan import link_names
    >>> from tropalign.submissions.submission import InputItem, Submission
    >>> first, second = InputItem("x.fa", file="a" * 64), InputItem("x.fa", file="b" * 64)
    >>> list(link_names(Submission("msa", {"family": (first, second)})).values())
    ['x.fa', 'x-2.fa']
    """
    verb, known = served_verb(submission.verb), {one.name: one for one in named_options(submission.verb)}
    found: dict[InputItem, str] = {}
    for one in verb.inputs:
        for item in submission.inputs.get(one.dest, ()):
            if item not in found:
                name = _fit(item.name, one.dest in known, item.database is not None)
                if any(is_name(named, name) for named in known.values()):  # readers might take it for a name
                    name = f"input-{name}"
                found[item] = numbered(name, found.values())
    return found


def _fit(name: str, could_be_named: bool, is_database: bool) -> str:
    """Return the name with a suffix that keeps it apart from known names, and ``.tdb`` for databases."""
    if could_be_named and not name.lower().endswith((".txt", ".mat", ".toml")):
        name = f"{name}.txt"
    return f"{name}.tdb" if is_database and not name.lower().endswith(".tdb") else name


def shown_words(submission: Submission) -> list[str]:
    """Return the command as arguments: files, then options, then outputs."""
    verb, names = served_verb(submission.verb), link_names(submission)
    words = ["tropalign", *submission.verb.split()]
    words += [names[item] for one in verb.inputs if one.flag is None for item in submission.inputs.get(one.dest, ())]
    for one in verb.inputs:
        if one.flag is not None and (items := submission.inputs.get(one.dest)):
            words += [one.flag, *(names[item] for item in items)]
    for word in _default_names(submission, verb):
        words += word.split("=")
    for flag, text in option_words(submission.verb, submission.options):
        words += [flag] if text is None else [f"{flag}={text}"] if text.startswith("-") else [flag, text]
    if _has_format(submission.verb) and submission.format != verb.default_format:
        words += ["-f", submission.format]
    main, *others = outputs_of(submission)
    words += ["-o", main.filename]
    for output in others:
        side = side_output(submission.verb, output.role)
        words += [flag_of(side) or "", *([] if side.follows_main else [output.filename])]
    return words
