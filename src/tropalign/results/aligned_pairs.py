"""Columns of aligned pairs that a table keeps, and the base class that functions of these columns require.

Outputs are computed from them: ``tropalign.results.output_columns``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tropalign.properties import cached
from tropalign.results.columns import Axis, Rows, check_column
from tropalign.sequences import SequenceBatch
from tropalign.sequences.translation import Frames

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Scores = NDArray[np.int32] | NDArray[np.float64]
_ABSENT: Any = None

#: Depths of computed alignments, in increasing order.
DEPTHS = ("score", "ends", "alignment")


@dataclass(frozen=True)
class KeptColumn:
    """A numeric column of an AlignmentTable.

    dtype: float64 for scores with decimals. depth: the lowest depth that includes the column.
    """

    name: str
    dtype: type
    depth: str


#: Columns that engines return, excluding indices and paths. Columns in `OPTIONAL` exist only on request.
KEPT_COLUMNS = (
    KeptColumn("hsp", np.int32, "score"),
    KeptColumn("strand", np.int8, "score"),
    KeptColumn("score", np.int32, "score"),
    KeptColumn("corrected_score", np.int32, "score"),
    KeptColumn("sum_evalue", np.float64, "alignment"),
    KeptColumn("sum_count", np.int32, "alignment"),
    KeptColumn("query_start", np.int32, "ends"),
    KeptColumn("query_end", np.int32, "ends"),
    KeptColumn("target_start", np.int32, "ends"),
    KeptColumn("target_end", np.int32, "ends"),
    KeptColumn("n_identical", np.int32, "alignment"),
    KeptColumn("n_similar", np.int32, "alignment"),
    KeptColumn("n_gaps", np.int32, "alignment"),
    KeptColumn("n_columns", np.int32, "alignment"),
    KeptColumn("n_ignored", np.int32, "alignment"),
)
#: Columns of sum statistics.
SUMS = ("sum_evalue", "sum_count")
#: Columns of several alignments per pair, of both strands, of corrected scores, of sum statistics, of numbers of
#: co-optimal alignments, and of identities that ignore residues.
OPTIONAL = ("hsp", "strand", "corrected_score", *SUMS, "count_offsets", "n_ignored")
#: Columns in units of the matrix, which may have decimals.
SCORES = ("score", "corrected_score")
INDEX_COLUMNS = ("query_index", "target_index")
END_COLUMNS = tuple(column.name for column in KEPT_COLUMNS if column.depth == "ends")
COUNT_COLUMNS = tuple(
    column.name for column in KEPT_COLUMNS if column.depth == "alignment" and column.name not in OPTIONAL
)
#: Columns of each depth besides indices, score and strand.
DEPTH_COLUMNS = {"score": (), "ends": END_COLUMNS, "alignment": (*END_COLUMNS, *COUNT_COLUMNS)}


@cached
def axis_of(depth: str, absent: tuple[str, ...] = (), has_decimals: bool = False) -> Axis:
    """Return the arrays of a table with scores, ends or alignments (`depth`), without the optional ones in `absent`."""
    columns: dict[str, type] = dict.fromkeys(INDEX_COLUMNS, np.int64)
    for column in KEPT_COLUMNS:
        if DEPTHS.index(column.depth) <= DEPTHS.index(depth) and column.name not in absent:
            columns[column.name] = np.float64 if column.name in SCORES and has_decimals else column.dtype
    paths = {"cigar_offsets": Axis("cigar_ops", {"cigar_ops": np.uint32})}
    if "count_offsets" not in absent:
        paths["count_offsets"] = Axis("count_digits", {"count_digits": np.uint8})
    return Axis("rows", columns, paths if depth == "alignment" else {})


class Significance(Protocol):
    """Converts scores of local alignments to bits and E-values, for a run with known targets."""

    def bits(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Return scores in bits."""

    def evalues(
        self, scores: NDArray[Any], query_lengths: NDArray[Any], target_lengths: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return the E-values of scores for queries and targets of these lengths."""


@dataclass(eq=False, repr=False)
class AlignedPairs(Rows[Any]):
    """The columns of aligned pairs, a row per pair; `AlignmentTable` describes them and adds public methods."""

    _axis: ClassVar[Axis] = axis_of("alignment")
    _aside: ClassVar[frozenset[str]] = frozenset({"significance", "query_frames", "target_frames"})

    queries: SequenceBatch
    targets: SequenceBatch
    depth: str
    query_index: Int64
    target_index: Int64
    score: Scores
    strand: NDArray[np.int8] | None = None
    query_start: Int32 = _ABSENT
    query_end: Int32 = _ABSENT
    target_start: Int32 = _ABSENT
    target_end: Int32 = _ABSENT
    n_identical: Int32 = _ABSENT
    n_similar: Int32 = _ABSENT
    n_gaps: Int32 = _ABSENT
    n_columns: Int32 = _ABSENT
    cigar_ops: NDArray[np.uint32] = _ABSENT
    cigar_offsets: Int64 = _ABSENT
    significance: Significance | None = None
    query_frames: Frames | None = None
    target_frames: Frames | None = None
    corrected_score: Scores | None = None
    hsp: Int32 | None = None
    sum_evalue: NDArray[np.float64] | None = None
    sum_count: Int32 | None = None
    count_digits: NDArray[np.uint8] | None = None
    count_offsets: Int64 | None = None
    n_ignored: Int32 | None = None
    identity_definition: str = "columns"

    def __post_init__(self) -> None:
        if self.depth not in DEPTHS:
            raise ValueError(f"depth {self.depth!r} is not one of {', '.join(DEPTHS)}")
        has_decimals = getattr(self.score, "dtype", None) == np.float64
        absent = tuple(name for name in OPTIONAL if getattr(self, name) is None)
        axis = axis_of(self.depth, absent, has_decimals)
        for name in ("score", *axis.columns, *axis.runs, "cigar_ops") if axis.runs else ("score", *axis.columns):
            if getattr(self, name) is None:
                raise ValueError(f"depth {self.depth!r} requires the column {name}")
        check_column("score", self.score, axis.columns["score"])
        axis.check(self, len(self.score))
        for index, batch in ((self.query_index, self.queries), (self.target_index, self.targets)):
            # When shards are merged, a batch may be reduced to its names, so only these are required.
            if not isinstance(batch, SequenceBatch) and not hasattr(batch, "names"):
                raise ValueError(f"queries and targets must be SequenceBatches, not a {type(batch).__name__}")
            if len(index) and not 0 <= int(index.min()) <= int(index.max()) < len(batch):
                raise ValueError(f"an index is out of range for a batch of {len(batch)} sequences")

    def __len__(self) -> int:
        return len(self.score)


def arrays_of(table: AlignedPairs) -> dict[str, NDArray[Any]]:
    """Return all arrays of a table by attribute name, from which it can be rebuilt."""
    names = (*AlignedPairs._axis.columns, "cigar_ops", "cigar_offsets", "count_digits", "count_offsets")
    return {name: values for name in names if (values := getattr(table, name)) is not None}
