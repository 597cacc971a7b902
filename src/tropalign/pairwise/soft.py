"""Soft alignment: probabilities of residue pairs over all alignments, and gradients of the soft score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tropalign import _native
from tropalign.errors import InputError, ResourceError, ScoringError, UsageError
from tropalign.execution.task import checked_progress
from tropalign.options.called import called_with
from tropalign.options.option import argument
from tropalign.pairwise.score_tables import TableScoring, align_scores, tables_of, with_two_dimensions
from tropalign.pairwise.table_rows import not_finite
from tropalign.resources.limits import budget_of, decimal_number, resolve_threads
from tropalign.results import display
from tropalign.results.alignments import Alignment
from tropalign.scoring import Gap

#: Bytes per cell while a table is computed, at most, and the rows and columns that native code adds.
CELL_BYTES, PADDING = 48, 64
#: Bytes of posteriors allocated as one array: NumPy requests huge pages from 4 MB; small pages took 40 % of the time.
BLOCK_BYTES = 8 << 20


class SoftArguments(TableScoring):
    """Arguments of `soft_align`."""

    scores: NDArray[Any] | Sequence[ArrayLike] = argument(
        kw_only=False,
        doc="A table of shape (query length, target length), or a list of tables, which may differ in shape. Tables "
        "of float64, int32 and int64 are computed in float64, others in float32.",
    )
    temperature: float = argument(
        default=1.0,
        kw_only=True,
        doc="Scores and costs are divided by it. The lower it is, the more the best alignment counts.",
    )


@dataclass(frozen=True, eq=False, repr=False)
class SoftAlignment:
    """Sums over all alignments of a pair, in which an alignment has the weight exp(score / temperature).

    Attributes
    ----------
    score : float
        The temperature times the logarithm of the sum of all weights.
    posteriors : ndarray, shape (query length, target length)
        Probabilities that two residues are a pair: the derivatives of `score` by the scores.
    n_gaps : float
        Expected number of gaps: minus the derivative of `score` by ``gap.open``.
    gap_residues : float
        Expected number of residues in gaps: minus the derivative of `score` by ``gap.extend``.
    mode : str
        The alignment mode.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[2.0, -1.0], [-1.0, 3.0]])
    >>> soft = tropalign.soft_align(scores, gap=tropalign.Gap(5, 1), mode="global")
    >>> round(soft.score, 3), soft.posteriors.round(3).tolist()
    (5.0, [[1.0, 0.0], [0.0, 1.0]])
    """

    score: float
    posteriors: NDArray[Any]
    n_gaps: float
    gap_residues: float
    mode: str

    def __eq__(self, other: object) -> bool:
        """True if mode and all numbers are equal."""
        if not isinstance(other, SoftAlignment):
            return NotImplemented
        own, others = ((one.score, one.n_gaps, one.gap_residues, one.mode) for one in (self, other))
        return own == others and np.array_equal(self.posteriors, other.posteriors)

    __hash__ = None  # type: ignore[assignment]  # the array may change

    def __repr__(self) -> str:
        """Return one line with shape, mode and score."""
        rows, columns = self.posteriors.shape
        return f"<SoftAlignment: {rows} x {columns} residues, {self.mode}, score {self.score:.6g}>"

    def _repr_html_(self) -> str:
        return f"{display.PRE}{display.escaped(repr(self))}</pre>"

    def alignment(self) -> Alignment:
        """Return the alignment with the highest sum of posteriors (maximum expected accuracy).

        Returns
        -------
        Alignment
            Without gap costs; local in local mode, otherwise global. Its score is the expected number of its pairs that
            are right.

        Examples
        --------
        >>> import numpy as np
        >>> scores = np.array([[2.0, -1.0], [-1.0, 3.0]])
        >>> soft = tropalign.soft_align(scores, gap=tropalign.Gap(5, 1), mode="global")
        >>> soft.alignment().cigar
        '2X'
        """
        mode = "local" if self.mode == "local" else "global"
        found = align_scores(self.posteriors.astype(np.float32), gap=Gap(0, 0), mode=mode)  # type: ignore[arg-type]
        assert isinstance(found, Alignment)
        return found


def _rooms(tables: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return arrays like the tables, several in each block of memory."""
    rooms: list[NDArray[Any]] = []
    k = 0
    while k < len(tables):
        end, size = k + 1, tables[k].size
        while end < len(tables) and tables[end].dtype == tables[k].dtype and size * tables[k].itemsize < BLOCK_BYTES:
            size += tables[end].size
            end += 1
        block = np.empty(size, tables[k].dtype)
        ends = np.cumsum([table.size for table in tables[k:end]])
        rooms += [
            part.reshape(table.shape) for part, table in zip(np.split(block, ends[:-1]), tables[k:end], strict=True)
        ]
        k = end
    return rooms


@called_with(SoftArguments)
def soft_align(call: SoftArguments) -> SoftAlignment | list[SoftAlignment]:
    """Sum over all alignments of each table, and return probabilities of residue pairs and gradients.

    The recurrence is that of `align_scores` with logarithms of sums of exponentials in place of maxima. Of two
    adjacent gaps, only the order query, then target counts; a local sum includes the empty alignment; in semiglobal
    mode, free ends have no paid gaps along them. As the temperature approaches 0, the score approaches that of
    `align_scores`.

    Returns
    -------
    SoftAlignment or list of SoftAlignment
        One for one table, otherwise a list.

    Raises
    ------
    InputError
        A table is empty, does not have two dimensions, or contains a number that is not finite.
    ScoringError
        `gap` has two pieces, or the temperature is too low for the scores and costs.
    UsageError
        `temperature` is not above 0, or an option has another type or is out of range.
    ResourceError
        A table exceeds the memory.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.full((4, 5), -1.0)
    >>> scores[[0, 1, 2, 3], [0, 1, 3, 4]] = 3
    >>> soft = tropalign.soft_align(scores, gap=tropalign.Gap(1, 1))
    >>> round(soft.score, 2), round(soft.n_gaps, 2), soft.alignment().cigar
    (10.19, 0.96, '2X1D2X')
    """
    options = call.pair_options()
    temperature = decimal_number("temperature", call.temperature)
    if temperature <= 0:
        raise UsageError(f"temperature {temperature} is not above 0: for the best alignment alone, use align_scores")

    def checked(table: Any, name: str) -> NDArray[Any]:
        given = with_two_dimensions(table, name)
        if given.dtype.kind not in "iuf" or given.dtype.itemsize > 8:
            raise InputError(f"scores of type {given.dtype} are not supported: give float64", record=name)
        return np.ascontiguousarray(given, np.result_type(given.dtype, np.float32))

    tables, is_one = tables_of(call.scores, checked)
    fault = not_finite(tables)
    if fault is not None:
        raise fault
    threads, memory = resolve_threads(call.n_threads), budget_of(call.memory_bytes)
    most = max((len(table) + PADDING) * (table.shape[1] + PADDING) for table in tables) * CELL_BYTES
    if most > memory:
        raise ResourceError(f"a table takes {most:,} bytes, but {memory:,} are allowed: allow more with memory_bytes")
    posteriors = _rooms(tables)
    sums = _native.align_softly(
        tables,
        posteriors,
        float(options.gap.open),
        float(options.gap.extend),
        float(temperature),
        options.recurrence,
        options.freed(),
        min(threads, memory // most),
        checked_progress(call.progress),
    )
    log_z, n_gaps, gap_residues = (sums[name].tolist() for name in ("log_z", "n_gaps", "gap_residues"))
    if math.isnan(sum(log_z)):
        k = next(k for k, one in enumerate(log_z, 1) if math.isnan(one))
        raise ScoringError(
            f"table {k}: the temperature {temperature} is too low for these scores and costs: raise it, or use "
            "align_scores"
        )
    found = [
        SoftAlignment(temperature * log_z[k], posteriors[k], n_gaps[k], gap_residues[k], options.mode)
        for k in range(len(tables))
    ]
    return found[0] if is_one else found
