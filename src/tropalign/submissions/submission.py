"""Submission: a user's request to a server, as JSON and as a command."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from tropalign.errors import UsageError, did_you_mean
from tropalign.formats.format import COMPRESSED, media_type_of
from tropalign.formats.pairs import MATRIX_LAYOUTS
from tropalign.submissions.option_values import (
    FieldError,
    canonical,
    check_text,
    check_together,
    option_of,
    option_words,
    parsed,
    texts_of,
)
from tropalign.submissions.verbs import (
    MAIN,
    InputField,
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

#: Maximum characters and bytes of a name; file systems take 255 bytes, and outputs append to it.
MOST_LETTERS, MOST_BYTES = 100, 180
DEFAULT = "sequences.fa"
_SUFFIX = re.compile(r"(\.[A-Za-z0-9_]{1,12})?(\.(gz|bz2|xz|zst))?$", re.IGNORECASE)


def sanitised(name: str, default: str = DEFAULT) -> str:
    r"""Return the last part of a path as a safe, visible file name.

    Invisible characters and leading dots, dashes and blanks are removed; suffixes stay, because readers use them.

    >>> sanitised("../../etc/passwd"), sanitised("C:\\data\\my reads.fq.gz"), sanitised("--output=x"), sanitised("..")
    ('passwd', 'my reads.fq.gz', 'output=x', 'sequences.fa')
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    seen = "".join(letter for letter in last if letter.isprintable())
    bare = seen.lstrip(".-@~ ").rstrip(". ")
    return _shortened(bare) or default


def _shortened(name: str) -> str:
    if len(name) <= MOST_LETTERS and len(name.encode()) <= MOST_BYTES:
        return name
    found = _SUFFIX.search(name)
    suffix = found.group() if found else ""
    stem = name[: len(name) - len(suffix)][: MOST_LETTERS - len(suffix)]
    while len((stem + suffix).encode()) > MOST_BYTES:
        stem = stem[:-1]
    return f"{stem.rstrip('. ')}{suffix}".lstrip(".")


def stem_of(name: str) -> str:
    """Return the name without the suffixes of format and compression.

    >>> stem_of("proteins.fa.gz"), stem_of("v1.2.tsv"), stem_of("reads")
    ('proteins', 'v1.2', 'reads')
    """
    for suffix in COMPRESSED:
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            name = name[: -len(suffix)]
            break
    return name.rpartition(".")[0] or name


def numbered(name: str, taken: Iterable[str]) -> str:
    """Return the name, numbered if it is taken (regardless of case, as on some file systems).

    >>> numbered("x.fa.gz", ["X.fa.gz"]), numbered("x.fa", [])
    ('x-2.fa.gz', 'x.fa')
    """
    seen = {one.casefold() for one in taken}
    stem = stem_of(name)
    number, found = 1, name
    while found.casefold() in seen:
        number += 1
        found = f"{stem}-{number}{name[len(stem) :]}"
    return found


#: Fields of a submission.
FIELDS = ("verb", "inputs", "options", "format", "outputs", "shared")
#: Verb whose result is a database of targets.
BUILD = "db build"
#: Maximum files per input, and characters pasted into one.
MOST_ITEMS, MOST_PASTED = 100, 32_000_000
#: Options that apply to certain formats of the main output.
FORMAT_OPTIONS = frozenset(("columns", "matrix_values", "matrix_layout", "db_size", "textw", "notextw", "noali", "acc"))
_DIGEST, _ID = re.compile(r"[0-9a-f]{64}"), re.compile(r"[A-Za-z0-9_-]{1,64}")
#: Maximum characters of a database's id or name.
MOST_LETTERS = 200
#: Stem of output names if a job has no input files.
RESULT = "result"
_SOURCES = ("file", "database", "text", "job")
#: Names of unnamed files, by content.
_NAMES = {
    "alignment": "alignment.fa", "models": "models.hmm", "tree": "tree.nwk", "table": "table.tsv", "graph": "graph.tsv",
    "matrix": "matrix.txt", "model": "model.toml", "embeddings": "embeddings.npz",
}  # fmt: skip


@dataclass(frozen=True)
class InputItem:
    """File that a job reads, from one source.

    - `name`: file name without path.
    - `file`: SHA-256 of a stored file.
    - `database`: id of a store, or its name until a server has resolved it.
    - `text`: pasted text.
    - `job`, `role`: id of the job whose output the file is, and the output's role ("main" or a side output).
      `file` is None until a server has resolved it.
    """

    name: str
    file: str | None = None
    database: str | None = None
    text: str | None = None
    job: str | None = None
    role: str | None = None


@dataclass(frozen=True)
class Submission:
    """Request of a user to a server.

    - `inputs`, `options`: by the names of their fields (`ServedVerb`).
    - `outputs`: roles besides "main".
    - `shared`: for a database build: True if all users of the server may use it.

    >>> from tropalign.submissions.submission import InputItem, Submission
    >>> asked = Submission("pairs", {"queries": (InputItem("efp.fa"),)}, {"mode": "global"}, outputs=("report",))
    >>> asked.shown_command()
    'tropalign pairs efp.fa --mode global -o efp.tsv --html efp.html'
    """

    verb: str
    inputs: dict[str, tuple[InputItem, ...]]
    options: dict[str, Any] = field(default_factory=dict)
    format: str = ""
    outputs: tuple[str, ...] = ()
    shared: bool = False

    def __post_init__(self) -> None:
        if not self.format:
            object.__setattr__(self, "format", served_verb(self.verb).default_format)

    @property
    def items(self) -> list[InputItem]:
        """All files, in the order of the fields."""
        return [item for one in served_verb(self.verb).inputs for item in self.inputs.get(one.dest, ())]

    @classmethod
    def from_json(cls, data: Any) -> Submission:
        """Read a submission from JSON.

        Raises UsageError, mostly FieldError with the field, if something is unknown, of another type or too long.
        """
        _check_keys(data, "the submission", FIELDS)
        name = data.get("verb")
        if not isinstance(name, str):
            raise FieldError("verb", "must be the name of a verb")
        verb = served_verb(name)
        format = data.get("format", "")
        format = verb.default_format if format == "" else _format(verb, format)
        shared = data.get("shared", False)
        inputs, options, outputs = _inputs(verb, data), _options(verb, data), _outputs(verb, data)
        if not isinstance(shared, bool):
            raise FieldError("shared", "must be true or false")
        if shared and name != BUILD:
            raise FieldError("shared", f"applies to databases ({BUILD}) only: jobs are shared by links")
        return cls(name, inputs, options, format, outputs, shared)

    def as_json(self) -> dict[str, Any]:
        """Return the submission as JSON, as `from_json` reads it."""
        parts = (*_SOURCES, "role", "name")
        return {
            "verb": self.verb,
            "inputs": {
                dest: [{part: value for part in parts if (value := getattr(item, part)) is not None} for item in items]
                for dest, items in self.inputs.items()
            },
            "options": dict(self.options),
            "format": self.format,
            "outputs": list(self.outputs),
            **({"shared": True} if self.shared else {}),
        }

    def checked(self) -> Submission:
        """Return the submission with options as the verb's parser reads them, without defaults.

        Raises UsageError if the parser rejects it, or the verb's checks before it reads files.
        """
        words, _ = planned(self, link_names(self).__getitem__, Resources(1 << 30, 1))
        found = parsed(self.verb, words[len(self.verb.split()) :])
        check_together(found)
        settled = canonical(self.verb, found)
        options = {
            dest: value for dest, value in settled.items() if dest not in self.inputs
        }  # files of matrices and models
        order = [one.role for one in served_verb(self.verb).outputs]
        outputs = tuple(sorted(set(self.outputs), key=order.index))
        return replace(self, options=options, outputs=outputs)

    def in_format(self, format: str) -> Submission:
        """Return the submission with another main format, without the options and outputs that conflict with it.

        Raises UsageError if there is no such format, or it cannot hold the requested results.
        """
        other = replace(self, format=_format(served_verb(self.verb), format))
        kept = {dest: value for dest, value in self.options.items() if dest not in FORMAT_OPTIONS}
        for outputs, options in ((self.outputs, self.options), (self.outputs, kept), ((), self.options)):
            with suppress(UsageError):
                return replace(other, outputs=outputs, options=options).checked()
        return replace(other, outputs=(), options=kept).checked()

    def shown_command(self) -> str:
        """Return the command that a user would type, with the file names that headers and errors also show."""
        return shlex.join(shown_words(self))

    def key(self, digests: Callable[[InputItem], str], version: str) -> str:
        """Return a hash of everything that decides the results, including `digests` of inputs and tropalign's version.

        It includes file names, because results show them and must not reveal another user's names.
        """
        asked = self.checked()
        names = link_names(asked)
        inputs = {dest: [[names[item], digests(item)] for item in items] for dest, items in asked.inputs.items()}
        parts = [version, asked.verb, inputs, asked.options, asked.format, list(asked.outputs)]
        text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _check_keys(data: Any, where: str, known: tuple[str, ...]) -> None:
    if not isinstance(data, dict):
        raise FieldError(where, "must be a JSON object")
    for key in data:
        if key not in known:
            near = did_you_mean(str(key)[:100], known) or f": the fields are {', '.join(known)}"
            raise FieldError(where, f"has an unknown field {str(key)[:100]!r}{near}")


def _format(verb: ServedVerb, format: Any) -> str:
    if not isinstance(format, str) or format not in verb.formats:
        near = did_you_mean(str(format)[:100], verb.formats) or f": choose one of {', '.join(verb.formats)}"
        raise FieldError("format", f"{verb.name} has no such format{near}")
    return format


def _inputs(verb: ServedVerb, data: Mapping[str, Any]) -> dict[str, tuple[InputItem, ...]]:
    given = data.get("inputs", {})
    _check_keys(given, "inputs", tuple(one.dest for one in verb.inputs))
    found = {one.dest: tuple(_items(one, given[one.dest])) for one in verb.inputs if given.get(one.dest)}
    for one in verb.inputs:
        if one.required and one.dest not in found:
            raise FieldError(f"inputs.{one.dest}", f"{verb.name} needs this input: give a file, text, database or job")
        if one.dest in found and verb.option(one.dest) is not None and _options_given(data).get(one.dest):
            raise FieldError(f"inputs.{one.dest}", "is given both as a file and by name: give one of them")
    return found


def _items(one: InputField, given: Any) -> Iterator[InputItem]:
    where = f"inputs.{one.dest}"
    if not isinstance(given, list):
        raise FieldError(where, "must be a list of files")
    if len(given) > (MOST_ITEMS if one.many else 1):
        raise FieldError(where, f"accepts at most {f'{MOST_ITEMS} files' if one.many else 'one file'}")
    for number, item in enumerate(given):
        yield _item(one, item, f"{where}[{number}]")


def _item(one: InputField, item: Any, where: str) -> InputItem:
    _check_keys(item, where, (*_SOURCES, "role", "name"))
    sources = {source: item[source] for source in _SOURCES if source in item}
    is_known = {*sources} == {"file", "job"}  # the output of a job, after a server has resolved it
    if (len(sources) != 1 and not is_known) or not all(isinstance(value, str) for value in sources.values()):
        raise FieldError(where, "must have one of file (its SHA-256), database (its id or name), text or job (its id)")
    source, value = next(iter(sources.items()))
    if source == "file" and not _DIGEST.fullmatch(value):
        raise FieldError(f"{where}.file", "must be the hexadecimal SHA-256 of a file that was sent before")
    if source == "database" and not (value and len(value) <= MOST_LETTERS and value.isprintable()):
        raise FieldError(f"{where}.database", "must be the id or the name of a database")
    if source == "database" and not one.takes_database:
        raise FieldError(f"{where}.database", f"holds sequences, but this input needs {one.kind}: give a file")
    if source == "text":
        place = f"{where}.text"
        if not value.strip():
            raise FieldError(place, "is empty: paste text, or name a file")
        if len(value) > MOST_PASTED:
            raise FieldError(
                place, f"has {len(value):,} characters, but at most {MOST_PASTED:,} can be pasted: send a file"
            )
        try:
            value.encode()
        except UnicodeEncodeError:
            raise FieldError(place, "contains incomplete characters (surrogates): send it as a file") from None
    name = item.get("name", "")
    if not isinstance(name, str) or len(name) > 1_000:
        raise FieldError(f"{where}.name", "must be the name of a file")
    return InputItem(sanitised(name, _NAMES.get(one.kind, "sequences.fa")), **sources, role=_role(item, where))


def _role(item: Mapping[str, Any], where: str) -> str | None:
    """Return the role of the job output that an item refers to, None for other items."""
    if "job" not in item:
        if "role" in item:
            raise FieldError(f"{where}.role", "refers to an output of a job: name the job as well")
        return None
    role = item.get("role", MAIN)
    if not _ID.fullmatch(item["job"]):
        raise FieldError(f"{where}.job", "must be the id of a job")
    if not isinstance(role, str) or not _ID.fullmatch(role):
        raise FieldError(f"{where}.role", "must be the role of an output, such as main")
    return role


def _options_given(data: Mapping[str, Any]) -> dict[str, Any]:
    given = data.get("options", {})
    if not isinstance(given, dict) or not all(isinstance(dest, str) for dest in given):
        raise FieldError("options", "must be a JSON object")
    return given


def _options(verb: ServedVerb, data: Mapping[str, Any]) -> dict[str, Any]:
    given = [(option_of(verb, dest), value) for dest, value in _options_given(data).items()]
    return {option.dest: value for option, value in given if texts_of(verb.name, option, value)}


def _outputs(verb: ServedVerb, data: Mapping[str, Any]) -> tuple[str, ...]:
    given = data.get("outputs", [])
    if not isinstance(given, list) or len(given) > 100 or not all(isinstance(role, str) for role in given):
        raise FieldError("outputs", "must be a list of the roles of outputs")
    for role in given:
        check_text(role, "outputs", 100)
        if role != MAIN and verb.output(role) is None:
            known = [one.role for one in verb.outputs if one.role != MAIN]
            near = did_you_mean(role, known) or (f": it has {', '.join(known)}" if known else "")
            raise FieldError("outputs", f"{verb.name} has no output {role!r}{near}")
    return tuple(dict.fromkeys(role for role in given if role != MAIN))


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
    options, takes_cluster = submission.options, verb.takes_cluster
    if submission.verb == "tree":
        takes_cluster = bool(options.get("unaligned") or options.get("bootstrap", "auto") != "auto")
    elif submission.verb == "msa" and options.get("method") == "clustalw":
        takes_cluster = False
    if resources.cluster is not None and takes_cluster:
        words.append(f"--cluster={resources.cluster}")
    for output in outputs[1:]:
        side = side_output(submission.verb, output.role)
        words.append((flag_of(side) or "") + ("" if side.follows_main else f"={output.filename}"))
    return [*submission.verb.split(), *words, *words_of(submission, paths)], outputs


def foretells(submission: Submission) -> bool:
    """True if ``--dry-run`` can forecast this job."""
    by_consistency = submission.options.get("method") != "clustalw" and not {"add", "merge"} & {*submission.inputs}
    return served_verb(submission.verb).has_forecast and (submission.verb != "msa" or by_consistency)


def words_of(submission: Submission, paths: Callable[[InputItem], str]) -> list[str]:
    """Return format, options (``--flag=value``, so that values are not read as options) and files as arguments."""
    verb = served_verb(submission.verb)
    words = [f"--format={submission.format}"] if _has_format(submission.verb) else []
    for flag, text in option_words(submission.verb, submission.options):
        words.append(flag if text is None else f"{flag}={text}")
    files: list[str] = []
    several: list[str] = []  # a multi-file option takes all arguments up to the next option
    for one in verb.inputs:
        named = [paths(item) for item in submission.inputs.get(one.dest, ())]
        named = [f"./{path}" if path.startswith("-") else path for path in named]  # must not look like an option
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
    """Return arguments for default names, unless the submission gives a file or a name instead."""
    given = {*submission.inputs, *submission.options}
    left_out = [one for one in named_options(verb.name) if one.default_name is not None and one.name not in given]
    return [f"--{one.name}={one.default_name}" for one in left_out]


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
    form = format_of_verb(submission.verb, submission.format)
    media_type = form.media_type if main == form.suffix else media_type_of(main)
    found = [Output(MAIN, _free(stem, submission.verb.replace(" ", "-"), main, taken), media_type)]
    for one in options_of(submission.verb, "output"):
        if one.output in submission.outputs:
            others = [*taken, *(output.filename for output in found)]
            name = found[0].filename + one.suffix if one.follows_main else _free(stem, one.output, one.suffix, others)
            found.append(Output(one.output, name, media_type_of(one.suffix)))
    return tuple(found)


def _free(stem: str, word: str, suffix: str, taken: Iterable[str]) -> str:
    """Return ``proteins.fa``, or ``proteins.msa.fa`` if that is taken, or if a taken name adds a suffix to it."""
    names = {one.casefold() for one in taken}
    number, name = 1, f"{stem}{suffix}"
    while any(one == name.casefold() or one.startswith(f"{name.casefold()}.") for one in names):
        name = f"{stem}.{word}{suffix}" if number == 1 else f"{stem}.{word}-{number}{suffix}"
        number += 1
    return name


def link_names(submission: Submission) -> dict[InputItem, str]:
    """Return the inputs' names in the job's folder: those that users gave, made unique.

    >>> from tropalign.submissions.submission import link_names
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
                name = item.name
                if one.dest in known and not name.lower().endswith((".txt", ".mat", ".toml")):
                    name = f"{name}.txt"  # must differ from the names that the option accepts
                if item.database is not None and not name.lower().endswith(".tdb"):
                    name = f"{name}.tdb"
                if any(is_name(named, name) for named in known.values()):  # readers might take it for a name
                    name = f"input-{name}"
                found[item] = numbered(name, found.values())
    return found


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
