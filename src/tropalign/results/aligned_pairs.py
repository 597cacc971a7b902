"""Columns of aligned pairs that a table keeps, and functions of them: nucleotide coordinates, CIGARs, identities.

Outputs are computed from them: ``tropalign.results.output_columns``.

CIGARs are in BAM encoding, ``length << 4 | operation``. Residues a to b (0-based, half-open) of a translated frame of
L nucleotides are, in coordinates of the forward strand:

    frame +f:       f - 1 + 3 a   to       f - 1 + 3 b
    frame -f:   L - (f - 1) - 3 b   to   L - (f - 1) - 3 a
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.properties import cached, cached_per_object
from tropalign.results.columns import Axis, Rows, check_column
from tropalign.results.rows import Column
from tropalign.sequences import Alphabet, SequenceBatch
from tropalign.sequences.batch import in_memory
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


def _frames(table: AlignedPairs, side: str) -> Frames | None:
    return table.query_frames if side == "query" else table.target_frames


def _aligned(table: AlignedPairs, side: str) -> tuple[SequenceBatch, NDArray[np.int64]]:
    """Return the aligned sequences of a side, "query" or "target", and the index of each row in them."""
    return (table.queries, table.query_index) if side == "query" else (table.targets, table.target_index)


def given(table: AlignedPairs, side: str) -> tuple[SequenceBatch, NDArray[np.int64]]:
    """Return the input sequences of a side, "query" or "target", and the index of each row in them."""
    batch, index = _aligned(table, side)
    frames = _frames(table, side)
    return (batch, index) if frames is None else (frames.source, frames.index[index])


def lengths(table: AlignedPairs, side: str) -> NDArray[np.int64]:
    """Return the length of each row's input sequence, in nucleotides if it was translated; int64, shape (n,)."""
    batch, index = given(table, side)
    return batch.lengths[index]


def frame(table: AlignedPairs, side: str) -> NDArray[np.int8]:
    """Return the frame of each row, 0 if the side was not translated; int8, shape (n,)."""
    frames = _frames(table, side)
    return np.zeros(len(table), np.int8) if frames is None else frames.frame[_aligned(table, side)[1]]


def strand(table: AlignedPairs) -> NDArray[np.int8]:
    """Return -1 if query and target are on opposite strands, else 1; int8, shape (n,)."""
    if table.query_frames is None and table.target_frames is None:
        return np.ones(len(table), np.int8) if table.strand is None else table.strand
    is_minus = (frame(table, "query") < 0) != (frame(table, "target") < 0)
    return np.where(is_minus, -1, 1).astype(np.int8)


def span(table: AlignedPairs, side: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return start and end of the aligned part in the input sequence, 0-based, half-open; int32, shape (n,) each."""
    begin, end = getattr(table, f"{side}_start"), getattr(table, f"{side}_end")
    if _frames(table, side) is None:
        return begin, end
    number = frame(table, side)
    shift = np.abs(number).astype(np.int64) - 1
    forward, length = number > 0, lengths(table, side)
    first = np.where(forward, shift + 3 * begin.astype(np.int64), length - shift - 3 * end.astype(np.int64))
    return first.astype(np.int32), (first + 3 * (end - begin)).astype(np.int32)


Bytes = NDArray[np.uint8]
Strands = tuple[Bytes, Bytes, NDArray[np.int64]]
#: A residue of the query only, of the target only, an equal pair, a different pair.
INSERTION, DELETION, EQUAL, DIFFERENT = 1, 2, 7, 8
#: Characters of the operations, by code.
LETTERS = "MIDNSHP=X"


def cigar_text(ops: NDArray[np.uint32]) -> str:
    """Return BAM-coded operations as text; ``*`` if there are no operations."""
    return "".join(f"{op >> 4}{LETTERS[op & 15]}" for op in ops.tolist()) or "*"


def operations_of(text: str) -> list[tuple[int, int]]:
    """Parse a CIGAR into pairs of BAM operation and length; ``*`` gives an empty list."""
    return [(LETTERS.index(letter), int(length)) for length, letter in re.findall(r"(\d+)([MIDNSHP=X])", text)]


def gapped(query: str, i: int, target: str, j: int, operations: list[tuple[int, int]]) -> tuple[str, str, str]:
    """Return both sequences from positions i and j on, with gaps, and the midline between them."""
    lines: tuple[list[str], list[str], list[str]] = ([], [], [])
    for operation, length in operations:
        takes_query, takes_target = operation != DELETION, operation != INSERTION
        lines[0].append(query[i : i + length] if takes_query else "-" * length)
        lines[1].append({EQUAL: "|", DIFFERENT: "."}.get(operation, " ") * length)
        lines[2].append(target[j : j + length] if takes_target else "-" * length)
        i += length * takes_query
        j += length * takes_target
    return "".join(lines[0]), "".join(lines[1]), "".join(lines[2])


@cached_per_object
def both_strands(batch: SequenceBatch) -> Strands:
    """Return characters, codes and offsets of both strands; the reverse strand of sequence k has index k + n."""
    other = batch.reverse_complement()
    offsets = np.concatenate([batch.offsets, other.offsets[1:] + batch.offsets[-1]])
    return np.concatenate([batch.letters, other.letters]), np.concatenate([batch.codes, other.codes]), offsets


def aligned_queries(table: AlignedPairs) -> tuple[Bytes, Bytes, NDArray[np.int64], NDArray[np.int64]]:
    """Return characters, codes and offsets that include the strands of all rows, and the sequence index of each row."""
    batch = table.queries
    if table.strand is None or not (table.strand < 0).any():
        return batch.letters, batch.codes, batch.offsets, table.query_index
    return *both_strands(batch), table.query_index + len(batch) * (table.strand < 0)


def query_starts(table: AlignedPairs) -> NDArray[np.int32]:
    """Return the start of the aligned part on the aligned strand, int32, shape (n,)."""
    if table.strand is None:
        return table.query_start
    lengths = table.queries.lengths[table.query_index]
    return np.where(table.strand < 0, lengths - table.query_end, table.query_start).astype(np.int32)


def arrays(table: AlignedPairs, substitution: Any = None) -> dict[str, Any]:
    """Return the arguments of native code that writes alignments; `substitution` (a matrix) defines similarity."""
    letters, codes, offsets, index = aligned_queries(table)
    targets, target = in_memory(table.targets, table.target_index)
    positive = None if substitution is None else (substitution.scores > 0).astype(np.uint8).ravel()
    return {
        "query_letters": np.ascontiguousarray(letters),
        "query_codes": np.ascontiguousarray(codes),
        "query_begin": offsets[index] + query_starts(table),
        "target_letters": np.ascontiguousarray(targets.letters),
        "target_codes": np.ascontiguousarray(targets.codes),
        "target_begin": targets.offsets[target] + table.target_start,
        "operations": np.ascontiguousarray(table.cigar_ops, np.uint32),
        "offsets": np.ascontiguousarray(table.cigar_offsets, np.int64),
        "positive": positive,
    }


def lines(
    table: AlignedPairs, substitution: Any = None, wants_middle: bool = True
) -> tuple[Bytes, Bytes, Bytes, NDArray[np.int64]]:
    """Return gapped queries, midlines and gapped targets of all rows, and the offset of each row in them.

    In a midline, ``|`` is identical, ``:`` similar (scores above 0) and ``.`` neither; a space stands at a gap, and
    between identical residues that do not score above 0. Without `substitution`, only identity is known; without
    `wants_middle`, the midlines are empty.
    """
    text: tuple[Bytes, Bytes, Bytes, NDArray[np.int64]] = _native.gapped_text(arrays(table, substitution), wants_middle)
    return text


def cigars(table: AlignedPairs, prefix: str = "") -> Column:
    """Return a column of CIGARs; ``*`` for an empty one."""
    return (
        "cigar",
        np.ascontiguousarray(table.cigar_ops, np.uint32),
        np.ascontiguousarray(table.cigar_offsets, np.int64),
        prefix,
    )


def differences(table: AlignedPairs, prefix: str = "") -> Column:
    """Return a column of minimap2's short cs tags along the target's forward strand; non-letters become wildcards."""
    text, offsets = _native.differences(arrays(table), _letters_of(table.targets.alphabet, "a"))
    return ("text", np.frombuffer(text, np.uint8), offsets, None, prefix)


def mismatches(table: AlignedPairs, prefix: str = "") -> Column:
    """Return a column of SAM's MD tags, which restore the aligned part of the target from the query and the CIGAR.

    U is written as T, which readers expect, and other characters than letters as wildcards.
    """
    shown = _letters_of(table.targets.alphabet, "A")
    shown[list(b"Uu")] = ord("T")
    text, offsets = _native.mismatches(arrays(table), shown)
    return ("text", np.frombuffer(text, np.uint8), offsets, None, prefix)


def _letters_of(alphabet: Alphabet, first: str) -> Bytes:
    """Return a table of 256 characters: letters in the case of `first` ("a" or "A"), wildcards (or X) for others."""
    wildcard = alphabet.wildcard or "X"
    shown = np.full(256, ord(wildcard.lower() if first == "a" else wildcard), np.uint8)
    for begin in (ord("A"), ord("a")):
        shown[begin : begin + 26] = np.arange(26) + ord(first)
    return shown


def gap_openings(table: AlignedPairs) -> NDArray[np.int64]:
    """Count the gaps of each row, int64, shape (n,); adjacent gaps in different sequences count separately."""
    before = np.concatenate([[0], np.cumsum(_are_gaps(table.cigar_ops))])
    found: NDArray[np.int64] = np.diff(before[table.cigar_offsets])
    return found


def terminal_gaps(table: AlignedPairs) -> NDArray[np.int64]:
    """Count the columns of each row before its first and after its last aligned pair; int64, shape (n,)."""
    is_gap, lengths = _are_gaps(table.cigar_ops), (table.cigar_ops >> 4).astype(np.int64)
    total = np.zeros(len(table), np.int64)
    for step, at, stop in (
        (1, table.cigar_offsets[:-1].copy(), table.cigar_offsets[1:]),
        (-1, table.cigar_offsets[1:] - 1, table.cigar_offsets[:-1] - 1),
    ):
        # Nearly all rows are done after the first run; a few have a gap of the other sequence next to it.
        left = np.flatnonzero(at != stop)
        while len(left := left[is_gap[at[left]]]):
            total[left] += lengths[at[left]]
            at[left] += step
            left = left[at[left] != stop[left]]
    # A path without any pair was counted from both sides.
    return np.minimum(total, table.n_columns)


def _are_gaps(operations: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return a mask of the operations I (1) and D (2)."""
    kinds = operations & 15
    found: NDArray[np.bool_] = (kinds == 1) | (kinds == 2)
    return found


#: Rows whose columns are expanded at once.
ROWS = 4096


def identities(table: AlignedPairs, definition: str) -> NDArray[np.float64]:
    """Return the identity of each row of full alignments, float64, shape (n_rows,); 0 without aligned pairs."""
    identical: NDArray[np.float64] = table.n_identical.astype(np.float64)
    ignored = 0 if table.n_ignored is None else table.n_ignored
    columns: NDArray[np.int32] = table.n_columns - ignored
    if definition in ("columns", "blast"):
        return identical / np.maximum(columns, 1)
    if definition == "matches":
        share: NDArray[np.float64] = identical / np.maximum(columns - table.n_gaps, 1)
        return share
    query, target = aligned_lengths(table)
    if definition == "shorter":
        return identical / np.maximum(np.minimum(query, target) - ignored, 1)
    longer = np.maximum(np.maximum(query, target) - ignored, 1)
    if definition == "longer":
        return identical / longer
    # From the first aligned pair to the last.
    internal: NDArray[np.int64] = columns - terminal_gaps(table)
    if definition == "internal":
        return identical / np.maximum(internal, 1)
    mismatches = columns - table.n_gaps - table.n_identical
    # Each end of either sequence that is not aligned counts as a gap.
    bare = (table.query_start > 0, table.query_end < query, table.target_start > 0, table.target_end < target)
    # A single division, so that 2 of 10 is exactly 0.2; 1 - 8/10 is slightly less.
    found = np.maximum(longer - mismatches - gap_openings(table) - np.sum(bare, axis=0), 0) / longer
    return np.where(columns > table.n_gaps, found, 0.0)


def aligned_lengths(table: AlignedPairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lengths of the aligned queries and targets of all rows, in residues of the frame if translated."""
    return table.queries.lengths[table.query_index], table.targets.lengths[table.target_index]


def residue_sets(alphabet: Alphabet) -> NDArray[np.uint32]:
    """Return the residues that each letter may stand for, as bits, uint32, by code.

    An unambiguous letter stands for itself; the wildcard for all except the stop ``*``.
    """
    letters = alphabet.letters
    sets = np.uint32(1) << np.arange(len(letters), dtype=np.uint32)
    own = dict(zip(letters, sets.tolist(), strict=True))
    for letter, states in alphabet.ambiguous.items():
        if len(states) > 1:
            sets[letters.index(letter)] = sum(own[state] for state in states)
    if alphabet.wildcard:
        sets[letters.index(alphabet.wildcard)] = sum(bit for letter, bit in own.items() if letter != "*")
    return sets


def is_ambiguous(alphabet: Alphabet) -> NDArray[np.bool_]:
    """Return a mask of the letters that may stand for several residues, by code."""
    sets = residue_sets(alphabet)
    found: NDArray[np.bool_] = (sets & (sets - 1)) != 0
    return found


def compatible_columns(table: AlignedPairs) -> NDArray[np.int32]:
    """Count the columns whose letters may be the same residue, like vsearch; int32, shape (n_rows,)."""
    sets = residue_sets(table.queries.alphabet)
    return table.n_identical + _counted_pairs(table, DIFFERENT, lambda one, other: (sets[one] & sets[other]) != 0)


def judged_columns(table: AlignedPairs, rule: str) -> dict[str, Any]:
    """Correct the counts of identical columns by a rule for ambiguous residues."""
    if rule == "match":
        return {"n_identical": compatible_columns(table)}
    if rule == "ignore":
        alphabet = table.queries.alphabet
        code = alphabet.code(alphabet.wildcard) if alphabet.wildcard else len(alphabet.letters)
        equal = _counted_pairs(table, EQUAL, lambda one, _: one == code)
        others = _counted_pairs(table, DIFFERENT, lambda one, other: (one == code) | (other == code))
        return {"n_identical": table.n_identical - equal, "n_ignored": equal + others}
    return {}


def equal_columns(table: AlignedPairs) -> NDArray[np.int32]:
    """Count the columns of equal letters, also those that identities ignore; int32, shape (n_rows,)."""
    if table.n_ignored is None:
        return table.n_identical
    sizes = np.where(table.cigar_ops & 15 == EQUAL, table.cigar_ops >> 4, 0)
    return np.diff(np.concatenate([[0], np.cumsum(sizes)])[table.cigar_offsets]).astype(np.int32)


def _counted_pairs(
    table: AlignedPairs, kind: int, is_counted: Callable[[Bytes, Bytes], NDArray[np.bool_]]
) -> NDArray[np.int32]:
    """Count the pairs of residues in operations of this kind whose codes are counted; int32, shape (n_rows,)."""
    found = np.zeros(len(table), np.int32)
    for begin in range(0, len(table), ROWS):
        some = table.slice(begin, begin + ROWS)
        native = arrays(some)
        kinds, sizes = native["operations"] & 15, (native["operations"] >> 4).astype(np.int64)
        row = np.repeat(np.arange(len(some)), np.diff(native["offsets"]))
        chosen = np.flatnonzero(kinds == kind)
        codes = []
        for side, gap in (("query", DELETION), ("target", INSERTION)):
            before = np.concatenate([[0], np.cumsum(np.where(kinds == gap, 0, sizes))])
            first = native[f"{side}_begin"][row] + before[:-1] - before[native["offsets"][row]]
            codes.append(native[f"{side}_codes"][_places(first[chosen], sizes[chosen])])
        rows = np.repeat(row[chosen], sizes[chosen])[is_counted(codes[0], codes[1])]
        found[begin : begin + ROWS] = np.bincount(rows, minlength=len(some))
    return found


def _places(first: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of runs, given their first ones and sizes."""
    ends = np.cumsum(sizes)
    found: NDArray[np.int64] = np.arange(int(sizes.sum())) + np.repeat(first - (ends - sizes), sizes)
    return found
