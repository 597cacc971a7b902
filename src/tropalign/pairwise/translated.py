"""Pairs of which one side or both are translated: of each pair the frames with the best score are kept.

A pair of sequences is scored as pairs of proteins, one after another, the query's frames on the outside:

    read 0, gene 0     read 0, gene 1     read 1, gene 0
    +1 +2 +3 -1 -2 -3  +1 +2 +3 -1 -2 -3  +1 ...
    ^ begins[0]        ^ begins[1]        ^ begins[2]

Of equal scores the first frame counts, as they are ordered here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named
from tropalign.pairwise.selection import selected
from tropalign.sequences import NUCLEOTIDE, PROTEIN, SequenceBatch
from tropalign.sequences.kinds import read_as
from tropalign.sequences.translation import FRAMES, Frames, codon_table

Index = NDArray[np.int64]

#: Which sides of a pair are translated.
SIDES = ("query", "target", "both")
#: Formats in which a query is a read of the target's letters.
MAPS = ("bam", "sam")


def aligned(side: SequenceBatch | Frames) -> SequenceBatch:
    """What is aligned: of frames the proteins."""
    return side.proteins if isinstance(side, Frames) else side


def given(side: SequenceBatch | Frames) -> SequenceBatch:
    """What was given: of frames the nucleotides."""
    return side.source if isinstance(side, Frames) else side


def check_code(code: int) -> None:
    """Raises UsageError where NCBI has no genetic code of this number."""
    codon_table(code)


def check_shown(format_name: str) -> None:
    """Raises UsageError where a format cannot show translated sequences."""
    if format_name in MAPS:
        raise UsageError(
            f"format {format_name} maps reads to sequences of their letters, and {named('translate')} aligns proteins: "
            "choose paf, m8, tsv or another table"
        )


def check_sides(translate: str) -> None:
    """Raises UsageError where these are not the sides of a pair."""
    if not isinstance(translate, str) or translate not in SIDES:
        raise UsageError(f"translate {translate!r} is none of {', '.join(SIDES)}")


def side_of(
    batch: SequenceBatch, side: str, translate: str, code: int, file: str | None = None
) -> SequenceBatch | Frames:
    """The "query" or "target" sequences as they are aligned: their frames where `translate` names this side.

    Raises
    ------
    InputError
        They are not nucleotides where they are to be translated, or not proteins where they are not.
    """
    is_translated = translate in (side, "both")
    batch = read_as(NUCLEOTIDE if is_translated else PROTEIN, batch)
    if batch.alphabet == (NUCLEOTIDE if is_translated else PROTEIN):
        return Frames.of(batch, code) if is_translated else batch
    wrong = "these are to be translated" if is_translated else "only the other side is translated"
    remedy = "leave it out" if is_translated else "translate both, or none"
    raise InputError(
        f"{named('translate')} {translate} was asked for, but the sequences were judged {batch.alphabet.name} and "
        f"{wrong}: {remedy}",
        file=file,
    )


@dataclass(frozen=True)
class PairFrames:
    """The frames of queries and of targets, None for a side that is not translated.

    Attributes
    ----------
    query, target
        One of them at the least.
    residues
        Residues of each query and of each target as they were given, all its frames together.
    """

    query: Frames | None
    target: Frames | None
    residues: tuple[Index, Index]

    @classmethod
    def of(cls, queries: SequenceBatch | Frames, targets: SequenceBatch | Frames | None) -> PairFrames | None:
        """Frames of a run's pairs; None where nothing is translated."""
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
        """Pairs of frames that a pair has at the most."""
        return len(FRAMES) if self.query is None or self.target is None else len(FRAMES) ** 2

    @property
    def sides(self) -> tuple[str, ...]:
        """Sides of a pair that are translated."""
        return tuple(name for name, frames in (("query", self.query), ("target", self.target)) if frames is not None)

    @property
    def words(self) -> str:
        """For headers and manifests."""
        frames = self.target if self.query is None else self.query
        code = 1 if frames is None else frames.code
        return f"{' and '.join(self.sides)}, genetic code {code}, the best frames of each pair"

    def given(self, queries: SequenceBatch, targets: SequenceBatch) -> tuple[SequenceBatch, SequenceBatch]:
        """Queries and targets as they were given, of those that are aligned."""
        source = [
            batch if frames is None else frames.source
            for batch, frames in ((queries, self.query), (targets, self.target))
        ]
        return source[0], source[1]

    def source(self, query: Index) -> Index:
        """The queries as they were given that these rows belong to."""
        return query if self.query is None else self.query.index[query]

    def query_span(self, begin: int, end: int) -> tuple[int, int]:
        """The frames of the queries from `begin` to before `end`."""
        return (begin, end) if self.query is None else (int(self.query.first[begin]), int(self.query.first[end]))

    def expanded(self, query: Index, target: Index) -> tuple[Index, Index, Index]:
        """Pairs of frames of these pairs of sequences, and where those of each begin."""
        row, query_frame = _each_frame(self.query, query)
        within, target_frame = _each_frame(self.target, target[row])
        begins = np.searchsorted(row[within], np.arange(len(query)))
        return query_frame[within], target_frame, begins

    def best(self, query: Index, score: NDArray[np.int32], begins: Index, least: Index | None) -> Index:
        """The row of the best score among those of each pair that reach what they need, if there is one."""
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
        """The best targets of each query, out of those of each of its frames.

        They are among them: what keeps a target from the best of a frame is better there, hence better for the query.
        """
        source = self.source(found["query"])
        order = np.lexsort((found["query"], -found["score"].astype(np.int64), found["target"], source))
        pairs = np.stack([source, found["target"]])[:, order]
        order = order[np.concatenate([[True], (pairs[:, 1:] != pairs[:, :-1]).any(0)])[: len(order)]]
        order = order[selected(source[order], found["score"][order], None, top)]
        return {name: values[order] for name, values in found.items()}


def _each_frame(frames: Frames | None, sequence: Index) -> tuple[Index, Index]:
    """For each frame of each of these sequences its place among them, and the frame."""
    if frames is None:
        return np.arange(len(sequence)), sequence
    sizes = np.diff(frames.first)[sequence]
    row = np.repeat(np.arange(len(sequence)), sizes)
    begins = np.cumsum(sizes) - sizes
    return row, frames.first[sequence][row] + np.arange(len(row)) - begins[row]
