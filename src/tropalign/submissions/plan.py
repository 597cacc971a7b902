"""What a job runs and writes: the words of its command, the names of its files, and the command that is shown."""

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

#: What outputs of a job without files are called.
RESULT = "result"


@dataclass(frozen=True)
class Resources:
    """What a server gives a job.

    Parameters
    ----------
    cluster
        Address of a scheduler of Dask, on which the verbs that can do so compute.
    """

    memory_bytes: int
    threads: int
    cluster: str | None = None


@dataclass(frozen=True)
class Output:
    """A file that a job writes.

    Parameters
    ----------
    filename
        In the job's folder, as it is downloaded, and in the command that is shown: headers tell the command, so that
        it writes the same bytes elsewhere.
    """

    role: str
    filename: str
    media_type: str


def planned(
    submission: Submission, paths: Callable[[InputItem], str], resources: Resources, *, forecast: bool = False
) -> tuple[list[str], tuple[Output, ...]]:
    """The command of a job, to be run in the job's own folder, where its outputs appear.

    Results begin with the command, and errors name files: paths should therefore be bare names in that folder. A worker
    makes links to the stored files there, under the names of `link_names`, which collide neither with each other nor
    with outputs or parts of these; none begins with a dot, so what the worker keeps there should.

    Parameters
    ----------
    paths
        Where an input lies: ``link_names(submission)[item]`` for the folder described above.

    forecast
        Whether to say only what the job will take (``--dry-run``), where `foretells` says that it can.

    Returns
    -------
    words : list of str
        What comes after ``tropalign``.
    outputs : tuple of Output
        The main output first. Every one is there when the command has ended well.
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
    """Whether ``--dry-run`` says what this job will take."""
    by_consistency = submission.options.get("method") != "clustalw" and not {"add", "merge"} & {*submission.inputs}
    return served_verb(submission.verb).has_forecast and (submission.verb != "msa" or by_consistency)


def _computes_on_cluster(submission: Submission, verb: ServedVerb) -> bool:
    """Whether the verb takes a cluster for this job."""
    options = submission.options
    if submission.verb == "tree":
        return bool(options.get("unaligned") or options.get("bootstrap", "auto") != "auto")
    if submission.verb == "msa" and options.get("method") == "clustalw":
        return False
    return verb.takes_cluster


def words_of(submission: Submission, paths: Callable[[InputItem], str]) -> list[str]:
    """Format, options and files as words: ``--flag=value``, so that no value is taken for an option, files at last."""
    verb = served_verb(submission.verb)
    words = [f"--format={submission.format}"] if _has_format(submission.verb) else []
    for flag, text in option_words(submission.verb, submission.options):
        words.append(flag if text is None else f"{flag}={text}")
    files: list[str] = []
    several: list[str] = []  # an option that takes several files takes all words up to the next option
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
    """What has to be named and is neither a file nor an option of the submission."""
    given = {*submission.inputs, *submission.options}
    left_out = [one for one in named_options(verb.name) if one.default_name is not None and one.name not in given]
    return [f"--{one.name}={one.default_name}" for one in left_out]


def _no_option(path: str) -> str:
    return f"./{path}" if path.startswith("-") else path


def main_suffix(submission: Submission) -> str:
    """The suffix of the main output."""
    layout = submission.options.get("matrix_layout")
    if submission.format == "matrix" and isinstance(layout, str):
        return MATRIX_LAYOUTS[layout][0]
    return format_of_verb(submission.verb, submission.format).suffix


def outputs_of(submission: Submission) -> tuple[Output, ...]:
    """What the job writes, the main output first; called after the first input, as `shown_command` has it."""
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
    """``proteins.fa``, where that is taken ``proteins.msa.fa``; the name of its parts begins so, too."""
    names = {one.casefold() for one in taken}
    number, name = 1, f"{stem}{suffix}"
    while any(one == name.casefold() or one.startswith(f"{name.casefold()}.") for one in names):
        name = f"{stem}.{word}{suffix}" if number == 1 else f"{stem}.{word}-{number}{suffix}"
        number += 1
    return name


def link_names(submission: Submission) -> dict[InputItem, str]:
    """What the inputs are called in the job's folder: as their users call them, and each by a name of its own.

    Examples
    --------
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
                if any(is_name(named, name) for named in known.values()):  # which some readers take for the file
                    name = f"input-{name}"
                found[item] = numbered(name, found.values())
    return found


def _fit(name: str, could_be_named: bool, is_database: bool) -> str:
    """The name as a link's; where an option knows names, none of these."""
    if could_be_named and not name.lower().endswith((".txt", ".mat", ".toml")):
        name = f"{name}.txt"
    return f"{name}.tdb" if is_database and not name.lower().endswith(".tdb") else name


def shown_words(submission: Submission) -> list[str]:
    """The command as words: files first, then what is asked for, at last where it goes."""
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
