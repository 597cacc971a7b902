"""Hidden Markov models: best paths, likelihoods, posteriors, training, sampling, and files.

A file is TOML, a table per state:

    format = "tropalign hmm 1"
    name = "die"
    symbols = "123456"

    [[states]]
    name = "fair"
    start = 0.5
    emission = { 1 = 0.17, 2 = 0.17, 3 = 0.17, 4 = 0.17, 5 = 0.16, 6 = 0.16 }
    transition = { fair = 0.95, loaded = 0.05 }

Entries that are not listed have the probability 0. docs/decode.md describes all fields.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tropalign.decoding.model_base import (
    MOST_STATES,
    Counts,
    FitOptions,
    ModelCalls,
    checked_probabilities,
    checked_report,
    checked_symbols,
    checked_words,
    fitted,
    logs_of,
    sampled,
)
from tropalign.decoding.observations import MOST_BYTE_SYMBOLS, Reader, letter_codes
from tropalign.decoding.options import PARTS, PartName
from tropalign.errors import InputError, shown
from tropalign.execution.files import output_path, write_stream, written
from tropalign.properties import cached_property
from tropalign.resources.limits import resolve_threads, whole_number
from tropalign.sequences.files import Source, file_name, read_text

Model = TypeVar("Model")
Frames = Callable[[Any], NDArray[np.float64]]


def parts_of(model: Any) -> tuple[dict[str, Any], Frames | None]:
    """Return arguments for `HMM` from a model of hmmlearn, and its function for frames if it observes no symbols.

    Raises InputError for an object that is not a model of hmmlearn, or a model without numbers.
    """
    kind = type(model).__name__
    if not hasattr(model, "startprob") and not hasattr(model, "n_components"):
        raise InputError(f"an object of type {shown(kind)} is not a model of hmmlearn")
    for name in ("startprob_", "transmat_"):
        if not hasattr(model, name):
            raise InputError(f"the {shown(kind)} has no {name} yet: fit the model, or set it by hand")
    parts = {"start": model.startprob_, "transition": model.transmat_, "name": kind}
    if kind == "CategoricalHMM":
        if not hasattr(model, "emissionprob_"):
            raise InputError("the CategoricalHMM has no emissionprob_ yet: fit the model, or set it by hand")
        return {**parts, "emission": model.emissionprob_}, None
    if not hasattr(model, "_compute_log_likelihood"):
        raise InputError(f"the {shown(kind)} has no function that scores observations: give your own frames")
    return parts, partial(_frames, model)


def _frames(model: Any, observations: Any) -> NDArray[np.float64]:
    """Return hmmlearn's scores of observations (n,) or (n, n_features), per state."""
    rows = np.asarray(observations)
    rows = rows[:, None] if rows.ndim == 1 else rows
    return np.ascontiguousarray(model._compute_log_likelihood(rows), np.float64)


FORMAT = "tropalign hmm 1"
FOLDER = Path(__file__).parent / "models"
#: Maximum bytes: a file of 500 states is readable, one of 16,384 states is not.
MOST_BYTES = 1 << 28
#: Fields of a file, and of a state. "symbols" may be missing.
FIELDS = {"format", "name", "description", "symbols", "missing", "report", "states"}
STATE_FIELDS = {"name", "label", "start", "emission", "transition"}
BARE = re.compile(r"[A-Za-z0-9_-]+")


def model_names() -> tuple[str, ...]:
    """Return the names of the models that come with tropalign."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load_model(source: Source, make: Callable[..., Model]) -> Model:
    """Load a model by its name, or from a file; `make` is the class."""
    if isinstance(source, str) and source in model_names() and not os.path.exists(source):
        source = FOLDER / f"{source}.toml"
    elif isinstance(source, str) and not os.path.exists(source) and BARE.fullmatch(source) and source != "-":
        raise InputError(
            f"there is neither a model nor a file of this name: choose one of {', '.join(model_names())}", file=source
        )
    file = file_name(source)
    text = read_text(source, MOST_BYTES)
    try:
        entries = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # invalid TOML, numbers of 5,000 digits, nested brackets
        raise InputError(
            f"this is not TOML ({shown(str(error))}): write a model as shown in docs/decode.md", file=file
        ) from None
    try:
        return _model_of(entries, make)
    except InputError as error:
        raise InputError(str(error), file=file) from None


def _model_of(entries: dict[str, Any], make: Callable[..., Model]) -> Model:
    if entries.get("format") != FORMAT:
        raise InputError(f'the file does not start with format = "{FORMAT}": give a model file')
    _check_fields("the model", entries, FIELDS)
    states = entries.get("states")
    if not isinstance(states, list) or not states or not all(isinstance(state, dict) for state in states):
        raise InputError("there are no states: give a [[states]] table for each")
    for number, state in enumerate(states, 1):
        _check_fields(f"state {number}", state, STATE_FIELDS)
        if not isinstance(state.get("name"), str) or not state["name"]:
            raise InputError(f"state {number} has no name: give name = and a string in quotes")
    names = [state["name"] for state in states]
    if len(set(names)) < len(names):
        raise InputError("two states have the same name: give each its own")
    words = {field: _text(entries, field) for field in ("name", "description", "missing")}
    symbols = _text(entries, "symbols") if "symbols" in entries else None
    if symbols is None and any("emission" in state for state in states):
        raise InputError('states have emissions but there are no symbols: give symbols, such as symbols = "ACGT"')
    return make(
        [_number(state.get("start", 0), f"start of state {state['name']}") for state in states],
        _table(states, "transition", names),
        None if symbols is None else _table(states, "emission", list(symbols)),
        symbols=symbols,
        state_names=names,
        labels=[_text(state, "label") or state["name"] for state in states],
        report=entries.get("report", ()),
        **words,
    )


def _check_fields(what: str, table: dict[str, Any], known: set[str]) -> None:
    for field in table:
        if field not in known:
            raise InputError(f"{what} has an unknown field {shown(field)!r}: choose from {', '.join(sorted(known))}")


def _text(table: dict[str, Any], field: str) -> str:
    value = table.get(field, "")
    if not isinstance(value, str):
        raise InputError(f"{field} is not a string: write it in quotes")
    return value


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{shown(what)} is not a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _table(states: list[dict[str, Any]], field: str, columns: list[str]) -> NDArray[np.float64]:
    """Return a row per state with the number in its table `field` for each column."""
    places = {name: k for k, name in enumerate(columns)}
    made = np.zeros((len(states), len(columns)))
    for row, state in enumerate(states):
        given, what = state.get(field), f"{field} of state {shown(state['name'])}"
        if not isinstance(given, dict):
            raise InputError(f"{what} is missing: give it, such as {field} = {{ {columns[0]} = 1.0 }}")
        for name, value in given.items():
            if name not in places:
                kind = "state" if field == "transition" else "symbol"
                raise InputError(f"{what} names {shown(name)!r}, which is not a {kind} of the model")
            made[row, places[name]] = _number(value, f"{what} for {name}")
    return made


def save_model(model: Any, path: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write an `HMM` to a file that `HMM.load` reads; numbers are preserved exactly.

    Raises InputError for a model whose symbols are not letters.
    """
    if model.n_symbols and model.symbols is None:
        raise InputError("the symbols of the model are not letters, as files require: give symbols when you create it")
    data = "\n".join(_lines(model)).encode()

    def write(out: IO[bytes]) -> None:
        out.write(data)

    if not isinstance(path, str | os.PathLike):
        write(path)
        return
    name = os.fsdecode(path)
    file = output_path(name)
    if not name or (file is not None and file.is_dir()):
        raise InputError(f"{shown(name)!r} is not a file name: give one")
    if file is None:
        write_stream(name, write)
        return
    with written(file) as out:
        write(out)


def _lines(model: Any) -> list[str]:
    lines = [f"format = {_quoted(FORMAT)}"]
    lines += [
        f"{field} = {_quoted(getattr(model, field))}" for field in ("name", "description") if getattr(model, field)
    ]
    if model.symbols is not None:
        lines.append(f"symbols = {_quoted(''.join(model.symbols))}")
    if model.missing:
        lines.append(f"missing = {_quoted(model.missing)}")
    if model.report != model.all_labels:
        lines.append(f"report = [{', '.join(map(_quoted, model.report))}]")
    for k, name in enumerate(model.state_names):
        lines += ["", "[[states]]", f"name = {_quoted(name)}"]
        if model.labels[k] != name:
            lines.append(f"label = {_quoted(model.labels[k])}")
        lines.append(f"start = {float(model.start[k])!r}")
        if model.symbols is not None and model.emission is not None:
            lines.append(f"emission = {_row(model.symbols, model.emission[k])}")
        lines.append(f"transition = {_row(model.state_names, model.transition[k])}")
    return [*lines, ""]


def _row(names: tuple[str, ...], numbers: NDArray[np.float64]) -> str:
    """Return an inline table of the numbers that are not 0."""
    pairs = [
        f"{name if BARE.fullmatch(name) else _quoted(name)} = {float(number)!r}"
        for name, number in zip(names, numbers, strict=True)
        if number
    ]
    return f"{{ {', '.join(pairs)} }}"


def _quoted(text: str) -> str:
    """Return a basic string of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\u{ord(match[0]):04x}", escaped) + '"'


Progress = Callable[[int], object]
TEXTS = ("name", "description", "report")


class HMM:
    """A hidden Markov model: states, their emissions, and steps between states. It is immutable.

    Observations are, in all methods: a text of symbols (str, bytes, Seq, SeqRecord), integers (codes of symbols,
    shape (n,), -1 for a missing observation), or float64 frames (n, n_states): the logarithm of the probability
    (or density) of each observation in each state. A list of sequences is a batch.

    Parameters
    ----------
    start : shape (n_states,)
        The probability to start in each state.
    transition : shape (n_states, n_states)
        Row i: the probabilities of the states that follow state i.
    emission : shape (n_states, n_symbols), optional
        Row i: the probabilities of the symbols that state i emits. Without it, observations are frames.
    symbols : str or sequence of str, optional
        A letter per column of `emission`, so that texts can be observed. Lower-case letters are read as upper case
        if no symbol is in lower case.
    missing : str
        Letters that carry no information on the state, such as N among nucleotides.
    state_names : sequence of str, optional
        "0", "1" ... by default.
    labels : sequence of str, optional
        The meaning of each state; several states may share a label. By default the names of the states.
    name, description : str
        Name and description of the model, for files and outputs.
    report : sequence of str
        The labels of interest, which `tropalign decode` writes; all labels by default.

    Attributes
    ----------
    start, transition, emission : float64
        As given; read-only.
    symbols, state_names, labels, report : tuple of str
        As given. `symbols` is None if observations are not letters.
    missing, name, description : str
        As given.
    history : tuple of float
        The log-likelihood of the training data before each round of `fit`, and after the last one; empty
        otherwise.

    Raises
    ------
    InputError
        Shapes that do not fit; a number that is negative or not a number; a row that does not sum to 1 within
        1e-6; names or symbols that occur twice.

    Examples
    --------
    A fair die and a loaded one, which are changed now and then:

    >>> model = tropalign.HMM(
    ...     start=[0.5, 0.5], transition=[[0.95, 0.05], [0.1, 0.9]],
    ...     emission=[[1 / 6] * 6, [0.1] * 5 + [0.5]], symbols="123456", state_names=("fair", "loaded"))
    >>> path, score = model.viterbi("152343125143266616666266646661")
    >>> "".join(model.state_names[state][0] for state in path)
    'ffffffffffffflllllllllllllllll'
    >>> round(model.forward("152343125143266616666266646661"), 4)
    -45.8516
    """

    def __init__(
        self,
        start: Any,
        transition: Any,
        emission: Any = None,
        *,
        symbols: str | Sequence[str] | None = None,
        missing: str = "",
        state_names: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        name: str = "",
        description: str = "",
        report: Sequence[str] = (),
    ) -> None:
        self.start = checked_probabilities("start", start, (None,), None)
        n_states = len(self.start)
        if n_states > MOST_STATES:
            raise InputError(f"the model has {n_states} states, more than {MOST_STATES}: make it smaller")
        self.state_names = checked_words("state_names", state_names, n_states) or tuple(map(str, range(n_states)))
        if len(set(self.state_names)) < n_states:
            raise InputError("two states have the same name: give each its own")
        self.transition = checked_probabilities("transition", transition, (n_states, n_states), self.state_names)
        self.emission = (
            None
            if emission is None
            else checked_probabilities("emission", emission, (n_states, None), self.state_names)
        )
        self.symbols, self.missing = checked_symbols(symbols, missing, self.n_symbols)
        self.labels = checked_words("labels", labels, n_states) or self.state_names
        self.name, self.description = str(name), str(description)
        self.report = checked_report(report, self.all_labels)
        self.history: tuple[float, ...] = ()
        self._frames: Callable[[Any], NDArray[np.float64]] | None = None
        self._is_made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_is_made", False):
            raise AttributeError(f"models are immutable, so {name} cannot be set: create a new model")
        super().__setattr__(name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickle or copy, and make the arrays read-only, which NumPy does not preserve."""
        vars(self).update(state)
        for numbers in (self.start, self.transition, self.emission):
            if numbers is not None:
                numbers.flags.writeable = False

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.start)

    @property
    def n_symbols(self) -> int:
        """Number of symbols; 0 if observations are frames."""
        return 0 if self.emission is None else self.emission.shape[1]

    @property
    def all_labels(self) -> tuple[str, ...]:
        """Each label once, in the order of the states."""
        return tuple(dict.fromkeys(self.labels))

    def __repr__(self) -> str:
        symbols = f", {self.n_symbols} symbols" if self.n_symbols else ""
        return f"<HMM{' ' + self.name if self.name else ''}: {self.n_states} states{symbols}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HMM):
            return NotImplemented
        words = ("symbols", "missing", "state_names", "labels", *TEXTS)
        return all(getattr(self, name) == getattr(other, name) for name in words) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("start", "transition", "emission")
        )

    __hash__ = None  # type: ignore[assignment]

    def viterbi(self, observations: Any, *, n_threads: int = 0, device: str | Iterable[str] = "auto") -> Any:
        """Return the most probable path of states.

        Parameters
        ----------
        observations
            See the class; a list of them for a batch.
        n_threads
            0 for all available.
        device
            "cpu", "cuda:0", "opencl:0.0" or several of them, which share the sequences; "auto" uses the CPU, and
            also the GPUs for 1,000 or more sequences with 10^11 sums. The result is the same.

        Returns
        -------
        path : uint8 or uint16, shape (n,)
            The state at each position; of several best paths, the one whose last states are lowest.
        score : float
            The logarithm of the probability of path and observations together; -inf if no path is possible.

        For a batch a list of paths, and float64 scores.

        Raises
        ------
        InputError
            Observations that the model cannot have.
        DeviceError
            A named GPU does not exist, or cannot take this model.

        Examples
        --------
        >>> model = tropalign.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]], symbols="HT")
        >>> path, score = model.viterbi("HHHHTTTT")
        >>> path.tolist(), round(score, 3)
        ([0, 0, 0, 0, 1, 1, 1, 1], -5.413)
        """
        seen = self._reader.read(observations)
        paths, scores = self._calls.best_paths(seen, n_threads, device)
        if seen.is_single:
            return paths, float(scores[0])
        return [paths[a:b] for a, b in pairwise(seen.offsets.tolist())], scores

    def forward(self, observations: Any, *, n_threads: int = 0, device: str | Iterable[str] = "auto") -> Any:
        """Return the log-likelihood: the logarithm of the probability of the observations, summed over all paths.

        Parameters
        ----------
        observations
            See the class; a list of them for a batch.
        n_threads
            0 for all available.
        device
            "cpu", "cuda:0", "opencl:0.0" or several of them, which share the sequences; "auto" uses the CPU. Sums
            of a GPU differ by at most 1e-12 of their size.

        Returns
        -------
        float
            -inf if the model cannot generate the observations. For a batch float64, shape (n_sequences,).

        Raises
        ------
        InputError
            Observations that the model cannot have.
        DeviceError
            A named GPU does not exist, or cannot take this model.

        Examples
        --------
        >>> model = tropalign.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]], symbols="HT")
        >>> model.forward(["HHHH", "HTHT"]).round(4).tolist()
        [-1.8201, -3.4749]
        """
        seen = self._reader.read(observations)
        found = self._calls.likelihoods(seen, n_threads, device)
        return float(found[0]) if seen.is_single else found

    def posterior(self, observations: Any, *, n_threads: int = 0) -> Any:
        """Return the probability of each state at each position, given all observations.

        Parameters
        ----------
        observations
            See the class; a list of them for a batch.
        n_threads
            0 for all available.

        Returns
        -------
        float64, shape (n, n_states)
            Rows sum to 1, but to 0 if the model cannot generate the observations. For a batch, a list of arrays.

        Raises
        ------
        InputError
            Observations that the model cannot have.

        Examples
        --------
        >>> model = tropalign.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]], symbols="HT")
        >>> model.posterior("HHHT")[:, 0].round(3).tolist()
        [0.931, 0.937, 0.877, 0.611]
        """
        seen = self._reader.read(observations)
        rows = self._calls.posteriors(seen, n_threads)
        return rows if seen.is_single else [rows[a:b] for a, b in pairwise(seen.offsets.tolist())]

    def fit(
        self,
        observations: Any,
        *,
        n_rounds: int = 100,
        tolerance: float = 0.01,
        pseudocount: float = 0.0,
        fixed: Collection[PartName] = (),
        n_threads: int = 0,
        progress: Progress | None = None,
    ) -> HMM:
        """Return a copy of this model, trained on observations (Baum and Welch).

        A probability of 0 stays 0. With frames only start and transition are trained, since emissions are given.

        Parameters
        ----------
        observations
            See the class; a list of sequences.
        n_rounds
            Maximum number of rounds.
        tolerance
            Training ends when a round improves the log-likelihood by less than this.
        pseudocount
            Added to the expected count of everything with a probability above 0.
        fixed
            Parts that do not change: "start", "transition", "emission".
        n_threads
            0 for all available.
        progress
            Called with the number of rounds done.

        Returns
        -------
        HMM
            Its `history` has the log-likelihood before each round and after the last one.

        Raises
        ------
        InputError
            Observations that the model cannot have or generate.
        UsageError
            An option out of its range.

        Examples
        --------
        >>> model = tropalign.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]], symbols="HT")
        >>> trained = model.fit(["HHHHHHTTTTTTTT", "TTTTTTHHHHH"])
        >>> trained.emission.round(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        >>> trained.history[-1] > trained.history[0]
        True
        """
        options = FitOptions(n_rounds, tolerance, pseudocount, fixed)
        seen, threads = self._reader.read(observations), resolve_threads(n_threads)
        if not len(seen.offsets) > 1:
            raise InputError("there are no training sequences: give at least one")

        def count(parts: dict[str, NDArray[np.float64]]) -> Counts:
            return ModelCalls(parts["start"], parts["transition"], parts.get("emission")).counts(seen, threads)

        names = ("start", "transition") if self.emission is None or seen.codes is None else PARTS
        parts, history = fitted({name: getattr(self, name) for name in names}, count, options, progress)
        return self._with(parts, history)

    def _with(self, parts: dict[str, NDArray[np.float64]], history: tuple[float, ...]) -> HMM:
        """Return a copy of the model with other probabilities."""
        words: dict[str, Any] = {
            name: getattr(self, name) for name in ("symbols", "missing", "state_names", "labels", *TEXTS)
        }
        made = HMM(parts["start"], parts["transition"], parts.get("emission", self.emission), **words)
        vars(made).update(history=history, _frames=self._frames)
        return made

    def save(self, path: str | os.PathLike[str] | IO[bytes]) -> None:
        """Write a human-readable file, which `load` reads.

        Parameters
        ----------
        path
            A name, by convention ending in .toml, or a file that is open for writing bytes.

        Raises
        ------
        InputError
            A model whose symbols are not letters; a file that cannot be written.

        Examples
        --------
        >>> model = tropalign.HMM([1, 0], [[0.9, 0.1], [0, 1]], [[0.5, 0.5], [0.1, 0.9]], symbols="HT")
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/coin.toml")
        ...     tropalign.HMM.load(f"{folder}/coin.toml") == model
        True
        """
        save_model(self, path)

    @staticmethod
    def load(source: Source) -> HMM:
        """Load a model from a file, or by its name ("cpg") if it comes with tropalign.

        Parameters
        ----------
        source
            A name, or an open file.

        Returns
        -------
        HMM

        Raises
        ------
        InputError
            No such model or file; a file that is not a model, or contains errors.

        Examples
        --------
        >>> tropalign.HMM.load("cpg")
        <HMM cpg: 8 states, 4 symbols>
        """
        return load_model(source, HMM)

    @staticmethod
    def from_hmmlearn(model: Any) -> HMM:
        """Convert a model of hmmlearn: a CategoricalHMM, or any other with `frames` for its observations.

        Parameters
        ----------
        model
            Fitted, or with its numbers set by hand.

        Returns
        -------
        HMM

        Raises
        ------
        InputError
            An object that is not a model of hmmlearn, or a model without numbers.

        Examples
        --------
        >>> from hmmlearn.hmm import GaussianHMM
        >>> theirs = GaussianHMM(2, "spherical", init_params="")
        >>> theirs.startprob_, theirs.transmat_ = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]
        >>> theirs.n_features, theirs.means_, theirs.covars_ = 1, np.array([[0.0], [3.0]]), [1.0, 1.0]
        >>> model = tropalign.HMM.from_hmmlearn(theirs)
        >>> model.viterbi(model.frames([0.1, -0.5, 3.2, 2.7]))[0].tolist()
        [0, 0, 1, 1]
        """
        parts, frames = parts_of(model)
        made = HMM(**parts)
        vars(made)["_frames"] = frames
        return made

    def frames(self, observations: Any) -> NDArray[np.float64]:
        """Return emission scores of observations of an hmmlearn model, for the other methods.

        Parameters
        ----------
        observations : shape (n,) or (n, n_features)
            As the model of hmmlearn takes them.

        Returns
        -------
        float64, shape (n, n_states)

        Raises
        ------
        InputError
            The model observes symbols, or was created without a function for frames.

        Examples
        --------
        See `from_hmmlearn`. Scores can also be computed elsewhere, here those of normal distributions:

        >>> model = tropalign.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> seen, means = np.array([0.1, -0.5, 3.2, 2.7]), np.array([0.0, 3.0])
        >>> model.viterbi(-((seen[:, None] - means) ** 2) / 2)[0].tolist()
        [0, 0, 1, 1]
        """
        if self._frames is None:
            raise InputError("the model has no function that computes frames: give symbols, or your own scores")
        return self._frames(observations)

    def sample(self, n: int, seed: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return a random sequence that the model generates.

        Parameters
        ----------
        n
            Its length.
        seed
            Equal seeds give equal sequences; None gives a new sequence every time.

        Returns
        -------
        codes : int64, shape (n,)
            The observations, as codes of symbols.
        states : int64, shape (n,)
            The path.

        Raises
        ------
        InputError
            A model without emissions.

        Examples
        --------
        >>> model = tropalign.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[1, 0], [0, 1]], symbols="HT")
        >>> codes, states = model.sample(20, seed=1)
        >>> bool((codes == states).all())
        True
        """
        if self.emission is None:
            raise InputError("the model has no symbol emissions, so it cannot be sampled")
        whole_number("n", n, 0)
        if seed is not None:
            seed = whole_number("seed", seed, 0)
        return sampled(self.start, self.transition, self.emission, n, seed)

    @cached_property
    def _calls(self) -> ModelCalls:
        return ModelCalls(self.start, self.transition, self.emission)

    @cached_property
    def _reader(self) -> Reader:
        table = None if self.symbols is None else letter_codes(self.symbols, self.missing)
        is_wide = self.n_symbols > MOST_BYTE_SYMBOLS
        logs = logs_of(self._calls.emission_of_codes) if is_wide else None
        return Reader(self.n_states, self.n_symbols, table, logs)
