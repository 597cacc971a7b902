"""Entries with a valid call each: what is wrong by the kinds of its arguments, and what a table says of the entry."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

#: The type that a number of one type is most easily mistaken for.
_MISTAKEN = {
    "uint8": "int8", "int8": "uint8", "uint16": "int16", "int16": "uint16", "uint32": "int32", "uint64": "int64",
    "int32": "int64", "int64": "int32", "float32": "float64", "float64": "float32", "bool": "uint8",
}  # fmt: skip


def of(dtype: type, *values: Any) -> np.ndarray:
    return np.array(values, dtype)


u8, u16, u32, u64 = (partial(of, dtype) for dtype in (np.uint8, np.uint16, np.uint32, np.uint64))
i16, i32, i64, f32, f64 = (partial(of, dtype) for dtype in (np.int16, np.int32, np.int64, np.float32, np.float64))


def at(place: Any, value: Any) -> Callable[[np.ndarray], np.ndarray]:
    def changed(array):
        made = array.copy()
        made[place] = value
        return made

    return changed


def part(*slices: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda array: array[slices].copy()


@dataclass
class Entry:
    """A native entry: a valid call, others, and what is wrong with single arguments.

    A row of `wrong` has the argument, a part of the text of the ValueError (or another exception's type), and the wrong
    values: as they are, or as a function that makes them of the valid one. Where the argument is a dict, it has all
    that is changed. `open` are arrays of several types, and what may be None, too.
    """

    call: Callable[..., object]
    valid: Mapping[str, Any]
    wrong: Sequence[tuple[Any, ...]] = ()
    right: Sequence[Mapping[str, Any]] = ()
    open: Sequence[str] = field(default=())
    name: str = ""

    def __post_init__(self) -> None:
        self.name = self.name or self.call.__name__

    def cases(self) -> Iterator[tuple[str, dict[str, Any], type[Exception] | None, str]]:
        """What is wrong, the arguments, the exception (None for a valid call), and a part of its text."""
        yield f"{self.name}: valid", dict(self.valid), None, ""
        for changes in self.right:
            yield f"{self.name}: valid {list(changes)}", {**self.valid, **changes}, None, ""
        for argument, value, error, text in self._by_kind():
            yield f"{self.name}: {argument} {_shown(value)}", {**self.valid, argument: value}, error, text
        for row in self.wrong:
            argument, said, *values = row
            error, text = (ValueError, said) if isinstance(said, str) else (said, "")
            if isinstance(argument, dict):
                yield f"{self.name}: {argument}"[:90], {**self.valid, **argument}, error, text
            for value in values:
                wrong = value(self.valid[argument]) if callable(value) else value
                yield f"{self.name}: {argument} {_shown(wrong)}", {**self.valid, argument: wrong}, error, text

    def _by_kind(self) -> Iterator[tuple[str, Any, type[Exception], str]]:
        for name, value in self.valid.items():
            if isinstance(value, np.ndarray):
                yield from _wrong_arrays(name, value, name in self.open)
            elif isinstance(value, bool):
                yield name, "x", TypeError, ""
            elif isinstance(value, int):
                yield from ((name, wrong, TypeError, "") for wrong in (2**70, 1.5, None))
            elif isinstance(value, float | str | bytes):
                yield from ((name, wrong, TypeError, "") for wrong in ([], None))
            elif isinstance(value, tuple):
                yield from ((name, wrong, TypeError, "") for wrong in (value[:-1], 5))
            elif value is not None and name not in self.open:  # an object of the core's, a list
                yield name, None, TypeError, ""
            if name.endswith("offsets"):
                yield from ((name, wrong, ValueError, f"{name}: {text}") for wrong, text in _wrong_offsets(value))
            if name == "n_threads":
                yield from ((name, wrong, ValueError, "n_threads: below 1") for wrong in (0, -1))
                yield name, 2**40, TypeError, ""
        if re.search(
            r"\bprogress:", self.call.__nb_signature__[0][0] if hasattr(self.call, "__nb_signature__") else ""
        ):
            yield from (("progress", wrong, TypeError, "not callable") for wrong in (5, "x"))


def _shown(value: Any) -> str:
    array = isinstance(value, np.ndarray)
    return f"{value.dtype}{value.shape} {value.ravel()[:4]}" if array else repr(value)[:60]


def _wrong_arrays(name: str, array: np.ndarray, is_open: bool) -> Iterator[tuple[str, Any, type[Exception], str]]:
    """Of another type, not contiguous, with another number of dimensions, and no array."""
    dtypes = ["complex128"] if is_open else ["complex128", _MISTAKEN[array.dtype.name]]
    yield from ((name, array.astype(dtype), TypeError, "") for dtype in dtypes)
    yield from ((name, wrong, TypeError, "") for wrong in (array[None], array.tolist()))
    apart = np.repeat(array, 2, axis=-1)[..., ::2]
    if not apart.flags.c_contiguous:
        yield name, apart, TypeError, ""


def _wrong_offsets(offsets: np.ndarray) -> Iterator[tuple[np.ndarray, str]]:
    """Descending, from before the data, to beyond it, and none; what is said of each."""
    yield at(-2, offsets[-1] + 1)(offsets), "offsets descend"
    for place, value in ((0, -1), (-1, offsets[-1] + 1), (-1, 2**62)):
        yield at(place, value)(offsets), "offsets reach beyond the data"
    yield offsets[:0], ""
