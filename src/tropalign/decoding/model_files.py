"""Hidden Markov models as small human-readable files (TOML, a table per state), and models of hmmlearn.

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
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, shown
from tropalign.execution.files import output_path, write_stream, written
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
