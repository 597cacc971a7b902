"""Pairs with one or both sides translated: for each pair the frames with the best score are kept.

A pair of sequences is scored as pairs of proteins, one after another, the query's frames in the outer loop:

    read 0, gene 0     read 0, gene 1     read 1, gene 0
    +1 +2 +3 -1 -2 -3  +1 +2 +3 -1 -2 -3  +1 ...
    ^ begins[0]        ^ begins[1]        ^ begins[2]

If scores are equal, the first frame in this order counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named
from tropalign.pairwise.filters import selected
from tropalign.sequences import NUCLEOTIDE, PROTEIN, SequenceBatch
from tropalign.sequences.reader import read_as
from tropalign.sequences.translation import FRAMES, Frames, codon_table

Index = NDArray[np.int64]

#: Choices of translated sides.
SIDES = ("query", "target", "both")
#: Formats in which a query is a read in the target's alphabet.
MAPS = ("bam", "sam")


def check_code(code: int) -> None:
    """Raise UsageError if NCBI has no genetic code of this number."""
    codon_table(code)


def check_shown(format_name: str) -> None:
    """Raise UsageError if a format cannot show translated sequences."""
    if format_name in MAPS:
        raise UsageError(
            f"format {format_name} maps reads to sequences of the same alphabet, but {named('translate')} aligns "
            "proteins: choose paf, m8, tsv or another table"
        )


def check_sides(translate: str) -> None:
    """Raise UsageError if this is not a choice of sides."""
    if not isinstance(translate, str) or translate not in SIDES:
        raise UsageError(f"translate {translate!r} is not one of {', '.join(SIDES)}")


def side_of(
    batch: SequenceBatch, side: str, translate: str, code: int, file: str | None = None
) -> SequenceBatch | Frames:
    """Return the "query" or "target" sequences for alignment: their frames if `translate` includes this side.

    Raises InputError for translated sequences that are not nucleotides, and for others that are not proteins.
    """
    is_translated = translate in (side, "both")
    batch = read_as(NUCLEOTIDE if is_translated else PROTEIN, batch)
    if batch.alphabet == (NUCLEOTIDE if is_translated else PROTEIN):
        return Frames.of(batch, code) if is_translated else batch
    wrong = "cannot be translated" if is_translated else "only the other side is translated"
    remedy = "omit it" if is_translated else "translate both, or none"
    raise InputError(
        f"{named('translate')} {translate} was requested, but these sequences look like {batch.alphabet.name} and "
        f"{wrong}: {remedy}",
        file=file,
    )


@dataclass(frozen=True)
class PairFrames:
    """The frames of queries and of targets, None for an untranslated side (one at most).

    `residues` are those of each original query and target, summed over its frames.
    """

    query: Frames | None
    target: Frames | None
    residues: tuple[Index, Index]

    @classmethod
    def of(cls, queries: SequenceBatch | Frames, targets: SequenceBatch | Frames | None) -> PairFrames | None:
        """Return the frames of a run's pairs; None without translation."""
        query, target = (side if isinstance(side, Frames) else None for side in (queries, targets))
        if query is None and target is None:
            return None
        sides = (queries, queries if targets is None else targets)
        query_residues, target_residues = (
            side.residues if isinstance(side, Frames) else side.lengths for side in sides
        )
        return cls(query, target, (query_residues, target_residues))

    @property
    def most(self) -> int:
        """Most pairs of frames per pair of sequences."""
        return len(FRAMES) if self.query is None or self.target is None else len(FRAMES) ** 2

    @property
    def sides(self) -> tuple[str, ...]:
        """Translated sides of a pair."""
        return tuple(name for name, frames in (("query", self.query), ("target", self.target)) if frames is not None)

    @property
    def words(self) -> str:
        """Description for headers and manifests."""
        frames = self.target if self.query is None else self.query
        code = 1 if frames is None else frames.code
        return f"{' and '.join(self.sides)}, genetic code {code}, the best frames of each pair"

    def given(self, queries: SequenceBatch, targets: SequenceBatch) -> tuple[SequenceBatch, SequenceBatch]:
        """Return the original queries and targets of the aligned ones."""
        source = [
            batch if frames is None else frames.source
            for batch, frames in ((queries, self.query), (targets, self.target))
        ]
        return source[0], source[1]

    def source(self, query: Index) -> Index:
        """Return the original queries of these rows."""
        return query if self.query is None else self.query.index[query]

    def query_span(self, begin: int, end: int) -> tuple[int, int]:
        """Return the range of frames of the queries from `begin` to before `end`."""
        return (begin, end) if self.query is None else (int(self.query.first[begin]), int(self.query.first[end]))

    def expanded(self, query: Index, target: Index) -> tuple[Index, Index, Index]:
        """Return pairs of frames of these pairs of sequences, and the offset of each pair's first."""
        row, query_frame = _each_frame(self.query, query)
        within, target_frame = _each_frame(self.target, target[row])
        begins = np.searchsorted(row[within], np.arange(len(query)))
        return query_frame[within], target_frame, begins

    def best(self, query: Index, score: NDArray[np.int32], begins: Index, least: Index | None) -> Index:
        """Return the best of each pair's rows that reach their least scores, if there are any."""
        if not len(begins):
            return np.zeros(0, np.int64)
        ranked = score.astype(np.int64)
        if least is not None:
            ranked[score < least] = np.iinfo(np.int64).min
        best = np.maximum.reduceat(ranked, begins)
        sizes = np.diff(np.append(begins, len(query)))
        is_best = np.flatnonzero(ranked == np.repeat(best, sizes))
        first = is_best[np.searchsorted(is_best, begins)]
        found: Index = first[best > np.iinfo(np.int64).min]
        return found

    def best_found(self, found: dict[str, Any], top: int | None) -> dict[str, Any]:
        """Merge the best targets of each query's frames into the best of the query.

        The result is exact: a target that keeps another one from the best of a frame is better for the query as
        well.
        """
        source = self.source(found["query"])
        order = np.lexsort((found["query"], -found["score"].astype(np.int64), found["target"], source))
        pairs = np.stack([source, found["target"]])[:, order]
        order = order[np.concatenate([[True], (pairs[:, 1:] != pairs[:, :-1]).any(0)])[: len(order)]]
        order = order[selected(source[order], found["score"][order], None, top)]
        return {name: values[order] for name, values in found.items()}


def _each_frame(frames: Frames | None, sequence: Index) -> tuple[Index, Index]:
    """Return, for each frame of each of these sequences, the sequence's position among them, and the frame."""
    if frames is None:
        return np.arange(len(sequence)), sequence
    sizes = np.diff(frames.first)[sequence]
    row = np.repeat(np.arange(len(sequence)), sizes)
    begins = np.cumsum(sizes) - sizes
    return row, frames.first[sequence][row] + np.arange(len(row)) - begins[row]
