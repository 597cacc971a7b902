"""SP and TC: how much of a reference alignment another alignment of the same sequences reproduces.

Only the core columns of the reference count; benchmarks write them in upper case.

    reference   aCDE-f     core columns  CD, DD, EE      SP: the share of the pairs of residues in a core column that
                -CD-EF                   (upper case)        are also in one column of the test
                                                         TC: the share of the core columns whose residues all are
Sources: Thompson, Plewniak and Poch 1999 (bali_score); Edgar's qscore. Rows without a reference row do not count.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.results import display
from tropalign.results.multiple import GAP, Agreement, MultipleAlignment
from tropalign.sequences.aligned_files import GAPS, read_alignment
from tropalign.sequences.alphabet import Alphabet

#: Cells of the reference that are sorted at once.
BLOCK_CELLS = 1 << 22


class Rows(Protocol):
    """Rows of an alignment: their names and letters (uint8, one row each)."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def letters(self) -> NDArray[np.uint8]: ...


@dataclass(frozen=True, slots=True)
class AlignmentScore:
    """Agreement of an alignment with a reference.

    Attributes
    ----------
    sp : float
        Share of the reference's pairs of residues in core columns that are aligned, from 0 to 1.
    tc : float
        Share of the core columns whose residues are all in one column, from 0 to 1.
    n_sequences : int
        Rows of the reference.
    n_columns : int
        Core columns with at least two residues.
    n_pairs : int
        Pairs of residues in these columns.
    n_columns_aligned, n_pairs_aligned : int
        Columns and pairs that the alignment reproduces.

    Examples
    --------
    >>> score = tropalign.score_alignment({"a": "ACDE", "b": "AC-E"}, {"a": "ACDE", "b": "A-CE"})
    >>> score.n_columns, score.tc
    (3, 0.6666666666666666)
    """

    sp: float
    tc: float
    n_sequences: int
    n_columns: int
    n_pairs: int
    n_columns_aligned: int
    n_pairs_aligned: int

    def _repr_html_(self) -> str:
        return display.record_html(self)


def score_alignment(
    test: str | os.PathLike[str] | Mapping[str, str] | Rows,
    reference: str | os.PathLike[str] | Mapping[str, str] | Rows,
    *,
    reference_columns: NDArray[np.bool_] | None = None,
    **former: NDArray[np.bool_] | None,
) -> AlignmentScore:
    """Compute the sum-of-pairs and total-column scores of an alignment (bali_score's and qscore's SP and TC).

    Parameters
    ----------
    test, reference
        A file (PHYLIP, FASTA or Stockholm), a mapping of names to rows, or an object with ``names`` and
        ``letters`` (uint8, a row per name). Letters may differ in case. Rows of the test without a reference row
        do not count.
    reference_columns : bool, shape (n_columns of the reference,), optional
        The core columns. By default the columns with an upper-case letter.
    **former
        ``mask``, the former name of `reference_columns`; it causes a FutureWarning.

    Returns
    -------
    AlignmentScore

    Raises
    ------
    InputError
        A reference row that the test lacks or has with other letters; no core column.

    Examples
    --------
    >>> reference = {"a": "mkVLAw", "b": "--VIAw"}
    >>> score = tropalign.score_alignment({"a": "MKVLAW", "b": "VI-A-W"}, reference)
    >>> score.sp, score.n_pairs
    (0.0, 3)
    """
    compared = _compared(test, reference, _by_todays_name(reference_columns, former))
    return _counted(compared.columns[:, compared.core], len(compared.names), compared.reference_file)


def _by_todays_name(
    reference_columns: NDArray[np.bool_] | None, former: dict[str, NDArray[np.bool_] | None]
) -> NDArray[np.bool_] | None:
    """Return the argument given by its current or former name; warn about the former one."""
    if not former:
        return reference_columns
    if unknown := former.keys() - {"mask"}:
        raise TypeError(f"score_alignment() got an unexpected keyword argument {min(unknown)!r}")
    if reference_columns is not None:
        raise TypeError("score_alignment() got multiple values for argument 'reference_columns'")
    warnings.warn("mask was renamed to reference_columns: use the new name", FutureWarning, stacklevel=3)
    return former["mask"]


class _Compared(NamedTuple):
    """An alignment and its reference: rows of both, and the alignment's column for each reference cell."""

    names: tuple[str, ...]
    letters: NDArray[np.uint8]
    test_names: tuple[str, ...]
    test_letters: NDArray[np.uint8]
    core: NDArray[np.bool_]
    columns: NDArray[np.int32]
    reference_file: str | None


def _compared(test: object, reference: object, mask: NDArray[np.bool_] | None) -> _Compared:
    names, letters = _rows(reference, "the reference")
    test_names, test_letters = _rows(test, "the test")
    file = str(test) if isinstance(test, str | os.PathLike) else None
    reference_file = str(reference) if isinstance(reference, str | os.PathLike) else None
    core: NDArray[np.bool_]
    if mask is None:
        core = np.asarray(((letters >= ord("A")) & (letters <= ord("Z"))).any(axis=0))
        fault = "the reference has no upper-case letters to mark the core columns: mark these with reference_columns"
    else:
        core = np.asarray(mask, bool)
        fault = "reference_columns marks no column: mark at least one"
        if core.shape != letters.shape[1:]:
            raise InputError(
                f"reference_columns has {core.size} values, but the reference has {letters.shape[1]} columns: give "
                "one value per column",
                file=reference_file,
            )
    if not core.any():
        raise InputError(fault, file=reference_file)
    number = {name: k for k, name in enumerate(test_names)}
    columns = np.full(letters.shape, -1, np.int32)
    for row, name in enumerate(names):
        if name not in number:
            raise InputError(
                "the row is in the reference but not in the alignment: align all sequences of the reference "
                "under the same names",
                file=file,
                record=name,
            )
        columns[row] = _columns_of(letters[row], test_letters[number[name]], file, name)
    return _Compared(names, letters, test_names, test_letters, core, columns, reference_file)


def agreement(
    test: str | os.PathLike[str] | Mapping[str, str] | Rows,
    reference: str | os.PathLike[str] | Mapping[str, str] | Rows,
    *,
    reference_columns: NDArray[np.bool_] | None = None,
) -> Agreement:
    """For each residue of both alignments, return the share of its column neighbours that both agree on.

    Arguments and errors as in `score_alignment`.
    """
    found = _compared(test, reference, reference_columns)
    score = _counted(found.columns[:, found.core], len(found.names), found.reference_file)
    shares = np.full(found.letters.shape, np.nan, np.float32)
    shares[:, found.core] = _residue_shares(found.columns[:, found.core])
    number = {name: k for k, name in enumerate(found.test_names)}
    own = [number.pop(name) for name in found.names]
    order = [*own, *number.values()]
    rows = np.full((len(order), found.test_letters.shape[1]), np.nan, np.float32)
    row, column = np.nonzero(found.columns >= 0)
    rows[row, found.columns[row, column]] = shares[row, column]
    aligned = _alignment(tuple(found.test_names[k] for k in order), found.test_letters[order])
    beside = _alignment(found.names, found.letters, aligned.sequences.alphabet)
    of_residues = (
        rows[is_residue(found.test_letters[order])],
        shares[is_residue(found.letters)],
    )
    return Agreement(aligned, beside, *of_residues, score.sp, score.tc)


def _alignment(
    names: tuple[str, ...], letters: NDArray[np.uint8], alphabet: Alphabet | None = None
) -> MultipleAlignment:
    plain = np.where(is_residue(letters), letters, np.uint8(GAP))
    return MultipleAlignment.from_rows(names, plain, alphabet)


def _residue_shares(columns: NDArray[np.int32]) -> NDArray[np.float32]:
    """For each residue, return the share of its core-column neighbours that the test aligns to it; NaN for gaps."""
    n_rows, n_columns = columns.shape
    shares = np.full(columns.shape, np.nan, np.float32)
    step = max(1, BLOCK_CELLS // n_rows)
    for begin in range(0, n_columns, step):
        block = columns[:, begin : begin + step].T
        order = np.argsort(block, axis=1, kind="stable")
        ranked = np.take_along_axis(block, order, axis=1)  # equal columns are adjacent, gaps come first
        begins = np.ones(block.shape, bool)
        begins[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
        places = np.flatnonzero(begins)
        sizes = np.diff(places, append=block.size)
        together = np.repeat(sizes, sizes).reshape(block.shape)
        n_others = (block >= 0).sum(axis=1, keepdims=True) - 1
        counts = (ranked >= 0) & (n_others > 0)
        found = np.full(block.shape, np.nan)
        np.divide(together - 1, n_others, out=found, where=counts)
        own = np.empty_like(found)
        np.put_along_axis(own, order, found, axis=1)
        shares[:, begin : begin + step] = own.T
    return shares


def _rows(given: object, what: str) -> tuple[tuple[str, ...], NDArray[np.uint8]]:
    if isinstance(given, str | os.PathLike):
        return read_alignment(given)
    if isinstance(given, Mapping):
        texts = {str(name): str(row).encode("latin-1", "replace") for name, row in given.items()}
        if not texts or len(set(map(len, texts.values()))) != 1:
            raise InputError(f"{what} is not an alignment: give one or more rows of the same length")
        letters = np.frombuffer(b"".join(texts.values()), np.uint8).reshape(len(texts), -1)
        return tuple(texts), letters
    names, array = getattr(given, "names", None), getattr(given, "letters", None)
    if names is None or not isinstance(array, np.ndarray) or array.ndim != 2 or len(names) != len(array):
        raise InputError(
            f"{what} is not an alignment: give a file, names with rows, or an object with names and letters"
        )
    return tuple(map(str, names)), array.astype(np.uint8, copy=False)


def is_residue(letters: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return a mask of the letters that are not gaps."""
    return ~np.isin(letters, GAPS)


def _columns_of(
    reference: NDArray[np.uint8], test: NDArray[np.uint8], file: str | None, name: str
) -> NDArray[np.int32]:
    """Return, for each column of the reference, the test's column of the same residue of this row; -1 for a gap."""
    at = np.flatnonzero(is_residue(reference))
    found = np.flatnonzero(is_residue(test))
    ours, theirs = reference[at] & 0xDF, test[found] & 0xDF  # bit 5 is the case of a letter
    if len(ours) != len(theirs):
        raise InputError(
            f"the row has {len(theirs)} residues, but {len(ours)} in the reference: align the same sequences",
            file=file,
            record=name,
        )
    different = np.flatnonzero(ours != theirs)
    if len(different):
        where = int(different[0])
        raise InputError(
            f"residue {where + 1} of the row is {chr(test[found[where]])!r}, but {chr(reference[at[where]])!r} in the "
            "reference: align the same sequences",
            file=file,
            record=name,
        )
    columns = np.full(len(reference), -1, np.int32)
    columns[at] = found
    return columns


def _counted(columns: NDArray[np.int32], n_sequences: int, file: str | None) -> AlignmentScore:
    """Count pairs and columns; `columns` has the test's column of each residue in the reference's core columns."""
    n_columns = n_pairs = n_columns_aligned = n_pairs_aligned = 0
    step = max(1, BLOCK_CELLS // n_sequences)
    for begin in range(0, columns.shape[1], step):
        block = np.sort(columns[:, begin : begin + step].T, axis=1)  # equal columns are adjacent, gaps come first
        n_residues = (block >= 0).sum(axis=1, dtype=np.int64)
        begins = np.ones(block.shape, bool)
        begins[:, 1:] = block[:, 1:] != block[:, :-1]
        places = np.flatnonzero(begins)
        sizes = np.diff(places, append=block.size)
        together = np.where(block.ravel()[places] >= 0, sizes * (sizes - 1) // 2, 0)
        aligned = np.add.reduceat(together, np.searchsorted(places, np.arange(0, block.size, n_sequences)))
        pairs = n_residues * (n_residues - 1) // 2
        n_columns += int((pairs > 0).sum())
        n_pairs += int(pairs.sum())
        n_pairs_aligned += int(aligned.sum())
        n_columns_aligned += int(((aligned == pairs) & (pairs > 0)).sum())
    if n_pairs == 0:
        raise InputError("no core column of the reference holds two residues: there is nothing to compare", file=file)
    return AlignmentScore(
        n_pairs_aligned / n_pairs,
        n_columns_aligned / n_columns,
        n_sequences,
        n_columns,
        n_pairs,
        n_columns_aligned,
        n_pairs_aligned,
    )
