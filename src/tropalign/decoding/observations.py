"""Observations of hidden Markov models in native form: texts, codes of symbols, or emission scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import is_masked
from tropalign.errors import InputError, shown
from tropalign.ragged import offsets_of
from tropalign.sequences.inputs import files_in, letters_of, named_texts
from tropalign.sequences.reader import BlockReader, Policy

#: The type of codes.
BYTE = np.dtype(np.uint8)
#: Code of a letter that is neither a symbol nor missing.
STRANGE = 255
#: Maximum symbols with codes of a byte, in addition to the code of a missing observation.
MOST_BYTE_SYMBOLS = 254
#: Sizes below which operations on bytes are faster than those on arrays.
FEW = 256
#: Larger scores are not logarithms of probabilities or densities.
MOST_SCORE = 1e8


@dataclass(frozen=True)
class Observations:
    """One sequence of observations, or several.

    `codes`: uint8, shape (n,), or None; the number of symbols is the code of a missing observation. `frames`:
    float64, shape (n, n_states), or None: logarithms of the probability of each observation per state, if there
    are no codes. `offsets`: int64, shape (n_sequences + 1,). `is_single`: one sequence was given, and not a list.
    """

    codes: NDArray[np.uint8] | None
    frames: NDArray[np.float64] | None
    offsets: NDArray[np.int64]
    is_single: bool

    @classmethod
    def of(cls, steps: NDArray[Any], offsets: NDArray[np.int64]) -> Observations:
        """Return sequences of codes, shape (n,), or of numbers of each state, shape (n, n_states)."""
        return cls(steps, None, offsets, False) if steps.ndim == 1 else cls(None, steps, offsets, False)

    @property
    def steps(self) -> NDArray[Any]:
        """The codes, or the frames if there are no codes."""
        found = self.codes if self.frames is None else self.frames
        assert found is not None
        return found

    @property
    def are_frames(self) -> bool:
        """True if there is a number per state for each observation."""
        return self.frames is not None

    def part(self, begin: int, end: int) -> Observations:
        """Return some neighbouring sequences."""
        offsets = self.offsets[begin : end + 1]
        return Observations.of(self.steps[offsets[0] : offsets[-1]], offsets - offsets[0])


def letter_bytes(text: str) -> NDArray[np.uint8]:
    """Return a byte per letter of a text: 255, which is not a symbol, for letters that do not fit a byte."""
    try:
        return np.frombuffer(text.encode("latin-1"), np.uint8)
    except UnicodeEncodeError:
        numbers = np.frombuffer(bytearray(text.encode("utf-32-le", "surrogatepass")), "<u4")
        numbers[numbers > STRANGE] = STRANGE
        return numbers.astype(np.uint8)


def letter_codes(symbols: tuple[str, ...], missing: str) -> NDArray[np.uint8]:
    """Return the code per byte of a text.

    Lower-case letters are read as upper case if no symbol is in lower case, and U as T by models of DNA.
    """
    table = np.full(256, STRANGE, np.uint8)
    folds = not any(symbol.islower() for symbol in (*symbols, *missing))
    for code, letters in [(k, symbol) for k, symbol in enumerate(symbols)] + [(len(symbols), missing)]:
        for letter in letters if code == len(symbols) else [letters]:
            table[ord(letter)] = code
            if folds:
                table[ord(letter.lower())] = code
    if set(symbols) == set("ACGT") and table[ord("U")] == STRANGE:
        table[[ord("U"), ord("u")]] = table[[ord("T"), ord("t")]]
    return table


class Reader:
    """Conversion of observations for a model.

    `table`: of `letter_codes`; None if symbols are not letters. `logs`: logarithms of emissions per state and
    symbol, for models with more symbols than a byte can hold.
    """

    def __init__(
        self, n_states: int, n_symbols: int, table: NDArray[np.uint8] | None, logs: NDArray[np.float64] | None
    ) -> None:
        self._n_states, self._n_symbols, self._table, self._logs = n_states, n_symbols, table, logs
        has_byte_codes = 0 < n_symbols <= MOST_BYTE_SYMBOLS
        self._codes_of_letters = table.tobytes() if table is not None and has_byte_codes else None
        self._codes = bytes(range(n_symbols)) if has_byte_codes else None

    def read(self, given: Any) -> Observations:
        """Read one sequence or several; earlier results are returned unchanged. Raises InputError for anything else."""
        if (codes := self._plain(given)) is not None:
            return Observations(codes, None, np.array((0, len(codes)), np.int64), True)
        if isinstance(given, Observations):
            return given
        if type(given) is np.ndarray and given.ndim == 2:
            frames = self._one(given, None)
            return Observations(None, frames, np.array((0, len(frames)), np.int64), True)
        is_single = _is_text(given) or isinstance(given, np.ndarray)
        if isinstance(given, list | tuple | range) and len(given) > 0 and isinstance(given[0], int | np.integer):
            is_single = True
        if isinstance(given, Mapping):
            given = given.values()
        elif not is_single and not isinstance(given, Iterable):
            raise InputError(f"{_said(given)} holds no observations: give a string, codes, frames, or a list of these")
        if not is_single:
            given = list(given)
            if (seen := self._byte_codes(given)) is not None:
                return seen
        parts = [self._one(given, None)] if is_single else [self._one(x, k) for k, x in enumerate(given)]
        kinds = {part.ndim for part in parts}
        if len(kinds) > 1:
            raise InputError("some sequences are codes and others frames: give all in the same form")
        offsets = offsets_of([len(part) for part in parts])
        if kinds == {2}:
            return Observations(None, np.concatenate(parts), offsets, is_single)
        codes = parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.uint8), *parts])
        if self._n_symbols <= MOST_BYTE_SYMBOLS:
            return Observations(np.ascontiguousarray(codes, np.uint8), None, offsets, is_single)
        assert self._logs is not None
        return Observations(None, np.ascontiguousarray(self._logs.T[codes]), offsets, is_single)

    def _plain(self, given: Any) -> NDArray[np.uint8] | None:
        """Return the codes of a text or a short array of codes by operations on bytes: NumPy's take 2 us each.

        None for other or invalid input.
        """
        try:
            if type(given) is str and self._codes_of_letters is not None:
                found = given.encode("latin-1").translate(self._codes_of_letters)
                return None if STRANGE in found else np.frombuffer(found, np.uint8)
            if type(given) is np.ndarray and given.ndim == 1 and given.size < FEW and given.dtype.kind in "iu":
                found = bytes(given.tolist())
                is_right = self._codes is not None and not found.translate(None, self._codes)
                return np.frombuffer(found, np.uint8) if is_right else None
        except ValueError:  # a letter or number that does not fit a byte
            pass
        return None

    def _byte_codes(self, given: list[Any]) -> Observations | None:
        """Check many sequences of byte codes at once: single checks of short ones take longer than decoding.

        None if some may be of another kind, or invalid.
        """
        if not given or self._n_symbols > MOST_BYTE_SYMBOLS:
            return None
        if not all(type(part) is np.ndarray and part.dtype == BYTE and part.ndim == 1 for part in given):
            return None
        codes = np.concatenate(given)
        is_right = codes.max(initial=0) < self._n_symbols
        return Observations(codes, None, offsets_of([len(part) for part in given]), False) if is_right else None

    def _one(self, given: Any, number: int | None) -> NDArray[Any]:
        """Return codes or frames of one sequence."""
        record = None if number is None else f"number {number + 1}"
        if type(given) is not np.ndarray and _is_text(given):
            return self._from_text(letters_of(given, record or "1")[1], record)
        if is_masked(given):
            raise InputError("observations are a masked array: give code -1 for missing ones", record=record)
        array = np.asarray(given)
        if array.ndim == 1 and (array.dtype.kind in "iu" or array.size == 0):
            return self._from_codes(array, record)
        if array.ndim == 2 and array.dtype.kind == "f":
            return self._from_frames(array, record)
        raise InputError(
            f"{_said(given)} holds no observations: give a string, integers (n,), or emission scores (n, n_states)",
            record=record,
        )

    def _from_text(self, text: str, record: str | None) -> NDArray[np.uint8]:
        if self._table is None:
            raise InputError("the symbols of the model are not letters: give codes, or frames of emission scores")
        codes = self._table[letter_bytes(text)]
        if (codes == STRANGE).any():
            at = int(np.argmax(codes == STRANGE))
            raise InputError(
                f"{shown(text[at])!r} at position {at + 1} is not a symbol of the model: correct it, or add it to "
                f"missing",
                record=record,
            )
        return codes

    def _from_codes(self, array: NDArray[Any], record: str | None) -> NDArray[Any]:
        if not self._n_symbols:
            raise InputError("the model has no symbol emissions: give frames of emission scores", record=record)
        if array.dtype == np.uint8 and (not array.size or array.max() < self._n_symbols <= MOST_BYTE_SYMBOLS):
            return array  # do not copy a chromosome of codes
        wrong = (array < -1) | (array >= self._n_symbols)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InputError(
                f"code {array[at]} at position {at} is outside 0 to {self._n_symbols - 1}: give such a code, or "
                f"-1 for a missing observation",
                record=record,
            )
        return np.where(array == -1, self._n_symbols, array).astype(np.int64)

    def _from_frames(self, array: NDArray[Any], record: str | None) -> NDArray[np.float64]:
        if array.shape[1] != self._n_states:
            raise InputError(
                f"frames have {array.shape[1]} columns, but the model has {self._n_states} states: give a column "
                f"per state",
                record=record,
            )
        frames = np.ascontiguousarray(array, np.float64)
        if frames.size and frames.min() >= -MOST_SCORE and frames.max() <= MOST_SCORE:
            return frames
        wrong = ~((np.abs(frames) <= MOST_SCORE) | (frames == -np.inf))
        if wrong.any():
            row, state = np.argwhere(wrong)[0].tolist()
            raise InputError(
                f"the score {frames[row, state]} of position {row} in state {state} is not the logarithm of a "
                f"probability: "
                f"give numbers up to {MOST_SCORE:.0e}, or -inf",
                record=record,
            )
        return frames


def _is_text(given: Any) -> bool:
    is_plain = isinstance(given, str | bytes | bytearray)
    return is_plain or hasattr(given, "seq") or (hasattr(given, "letters") and hasattr(given, "name"))


def _said(given: object) -> str:
    if isinstance(given, np.ndarray):
        return f"an array of {given.dtype} of shape {given.shape}"
    return f"an object of type {type(given).__name__}"


def letters_of_sequences(sequences: Any) -> tuple[tuple[str, ...], NDArray[np.uint8], NDArray[np.int64]]:
    """Return the names, letters and offsets of the sequences of a file or of objects in memory."""
    files = files_in(sequences)
    names, texts = list[str](), [np.zeros(0, np.uint8)]
    if files:
        for block in BlockReader(files, Policy(gaps="keep")):
            names += block.names
            texts += np.split(block.letters, block.offsets[1:-1])
    else:
        for number, (name, text) in enumerate(named_texts(sequences), 1):
            names.append(f"sequence_{number}" if name is None else name)
            texts.append(letter_bytes(text))
    return tuple(names), np.concatenate(texts), offsets_of([len(text) for text in texts[1:]])
