"""What to compute for each pair, checked once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tropalign.errors import DeviceError, InputError, ScoringError, UsageError, named
from tropalign.execution.cluster_address import is_cluster
from tropalign.machine.numbers import decimal_number, whole_number
from tropalign.properties import cached_property

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tropalign.pairwise.integer_scoring import WholeScoring
    from tropalign.scoring import Gap, SubstitutionMatrix
    from tropalign.sequences import Alphabet, SequenceBatch

#: Ends at which residues of that sequence may hang over at no cost (semiglobal); the order is that of native code.
FREE_ENDS = ("query-start", "query-end", "target-start", "target-end")
REPORTS = ("score", "ends", "alignment")
STRANDS = ("plus", "both")
#: Options that leave alignments out by a share of their columns or residues.
SHARES = ("min_identity", "min_coverage", "min_query_coverage", "min_target_coverage")


@dataclass(frozen=True)
class Mode:
    """A kind of alignment.

    Parameters
    ----------
    meaning
        For help texts.
    recurrence
        What engines call it: "local", whose alignments may begin and end anywhere in both sequences and score no less
        than 0, or "global", with whatever ends are free.
    frees_ends
        Ends may be free (all four, unless fewer are asked for).
    """

    meaning: str
    recurrence: str = "global"
    frees_ends: bool = False

    @property
    def is_local(self) -> bool:
        """Whether alignments may begin and end anywhere."""
        return self.recurrence == "local"


#: Every mode by name; the command line and the API read them here. Engines know two recurrences, local and global, and
#: free ends (`PairOptions.recurrence`, `PairOptions.freed`).
MODES: Mapping[str, Mode] = MappingProxyType(
    {
        "local": Mode("the best pair of segments (Smith and Waterman 1981)", "local"),
        "global": Mode("both sequences from end to end (Needleman and Wunsch 1970)"),
        "semiglobal": Mode("global, with residues that hang over at no cost", frees_ends=True),
    }
)


@dataclass(frozen=True)
class PairOptions:
    """How pairs are aligned, and which of them are kept.

    Parameters
    ----------
    matrix, gap
        Scoring; a gap of k residues costs ``gap.open + k * gap.extend``. `whole` has what engines take.
    mode
        One of MODES.
    report
        "score", "ends" (coordinates too) or "alignment" (CIGAR and counts too).
    free_ends
        With "semiglobal": the ends that are free, of FREE_ENDS; all four by default.
    strand
        "plus", or "both": the query's better strand (plus when equal; alphabets with strands only).
    top
        Only the `top` best targets of each query (the earlier target when equal).
    min_score, min_identity, min_coverage
        Only rows with at least this score, this fraction of identical columns, or this fraction of the longer
        sequence's residues beside a residue.
    min_query_coverage, min_target_coverage
        The same of the query's and of the target's residues.
    max_evalue, min_bits
        Local alignments only: those with at most this E-value, at least so many bits.
    db_size
        How many residues E-values take all targets to have; as many as they have by default.
    end_gap
        What a gap before the first or after the last residue of its sequence costs, where that end is not free; as
        `gap` by default. Not in local mode, which has none.

    Raises
    ------
    UsageError
        A value that does not exist, is of another type or out of range.
    ScoringError
        No matrix or gap cost.
    """

    matrix: SubstitutionMatrix
    gap: Gap
    mode: str = "local"
    report: str = "alignment"
    free_ends: frozenset[str] = frozenset(FREE_ENDS)
    strand: str = "plus"
    top: int | None = None
    min_score: float | None = None
    min_identity: float | None = None
    min_coverage: float | None = None
    min_query_coverage: float | None = None
    min_target_coverage: float | None = None
    max_evalue: float | None = None
    min_bits: float | None = None
    db_size: int | None = None
    end_gap: Gap | None = None

    def __post_init__(self) -> None:
        from tropalign.scoring import Gap, SubstitutionMatrix

        if not isinstance(self.matrix, SubstitutionMatrix):
            raise ScoringError(f"an object of type {type(self.matrix).__name__} is no SubstitutionMatrix")
        if not isinstance(self.gap, Gap):
            raise ScoringError(
                "the gap cost has to be a Gap(open, extend): a gap of k residues costs open + k * extend"
            )
        if self.end_gap is not None and not isinstance(self.end_gap, Gap):
            raise ScoringError("the cost of gaps at the ends has to be a Gap(open, extend), too")
        for name, value, allowed in (
            ("mode", self.mode, tuple(MODES)),
            ("report", self.report, REPORTS),
            ("strand", self.strand, STRANDS),
        ):
            if not isinstance(value, str) or value not in allowed:
                raise UsageError(f"{named(name)} {value!r} is none of {', '.join(allowed)}")
        if self.end_gap is not None and MODES[self.mode].is_local:
            raise UsageError(
                "local alignments have no gaps at their ends: leave their costs out, or choose another mode"
            )
        if isinstance(self.free_ends, str) or not isinstance(self.free_ends, Iterable):
            raise UsageError(f"free ends {self.free_ends!r}: give a list of them")
        object.__setattr__(self, "free_ends", tuple(self.free_ends))  # an iterator is read once
        unknown = sorted(set(map(str, self.free_ends)) - set(FREE_ENDS))
        if unknown:
            raise UsageError(f"free end {unknown[0]!r} is none of {', '.join(FREE_ENDS)}")
        object.__setattr__(self, "free_ends", frozenset(self.free_ends))
        if self.top is not None:
            object.__setattr__(self, "top", whole_number("top", self.top))
        if self.min_score is not None:
            object.__setattr__(self, "min_score", decimal_number("min_score", self.min_score))
        if self.top is not None and self.top < 1:
            raise UsageError(f"{named('top')} {self.top}: at least one target per query has to be kept")
        for name in SHARES:
            self._check_share(named(name), getattr(self, name))
        self._check_significance()

    def _check_share(self, name: str, share: Any) -> None:
        if share is None:
            return
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share <= 1:  # type: ignore[operator]
            raise UsageError(f"{name} {share!r} is no fraction between 0 and 1")
        if self.report != "alignment":
            raise UsageError(f"{name} needs {named('report')} alignment")

    def _check_significance(self) -> None:
        if self.db_size is not None:
            object.__setattr__(self, "db_size", whole_number("db_size", self.db_size))
        for name in ("max_evalue", "min_bits", "db_size"):
            value, word = getattr(self, name), named(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float | Real) or not isfinite(value):
                raise UsageError(f"{word} {value!r} is not a number")
            if name != "min_bits" and value <= 0:
                raise UsageError(f"{word} {value}: give a number above 0")
            if not self.is_local:
                raise UsageError(
                    f"{word} applies to local alignments only, which have E-values and bits: use {named('mode')} local"
                )

    @cached_property
    def whole(self) -> WholeScoring:
        """Scores, costs and the least score times the factor that makes them whole; may raise ScoringError."""
        from tropalign.pairwise.integer_scoring import WholeScoring

        return WholeScoring.of(self.matrix, self.gap, self.min_score, self.end_gap)

    @property
    def is_local(self) -> bool:
        """Whether alignments may begin and end anywhere."""
        return MODES[self.mode].is_local

    @property
    def recurrence(self) -> str:
        """The mode as engines call it."""
        return MODES[self.mode].recurrence

    @property
    def pays_ends(self) -> bool:
        """Whether every residue stands in a column, be it against a gap."""
        return self.recurrence == "global" and not any(self.freed())

    def freed(self) -> tuple[bool, bool, bool, bool]:
        """Whether each of FREE_ENDS is free, as engines take it: none but in a mode that frees ends."""
        free = self.free_ends if MODES[self.mode].frees_ends else frozenset()
        return tuple(end in free for end in FREE_ENDS)  # type: ignore[return-value]

    def able_devices(self, names: Iterable[str]) -> list[str]:
        """Devices that can align so: all, or the processor. Raises DeviceError where another was named."""
        listed = list(names)
        if self.matrix.is_symmetric and self.whole.is_affine:
            return listed
        clusters = [name for name in listed if is_cluster(name)]
        named = next((name for name in listed if name not in ("auto", "cpu", *clusters)), None)
        if named is not None:
            is_gap = not self.whole.is_affine
            what = "gap costs of two pieces or of the ends" if is_gap else "scores of a matrix that is not symmetric"
            raise DeviceError(f"{named}: {what} are computed on the CPU only: choose the device cpu")
        return ["cpu", *clusters]

    def check_range(self, longest: int) -> None:
        """Raises ScoringError when a score of sequences this long may not fit 32 bits."""
        scores = self.whole.scores
        worst = max(int(scores.max()), -int(scores.min())) + _most_cost(self.whole)
        if worst * (2 * longest + 2) >= 2**31:
            decimals = "" if self.whole.scale == 1 else f", times {self.whole.scale} for their decimals"
            raise ScoringError(
                f"scores of sequences of {longest} residues may pass 2147483647 with this matrix and these gap costs"
                f"{decimals}: {'give fewer decimals, or ' if decimals else ''}divide all of them by a common factor"
            )

    def parameters(self) -> dict[str, str]:
        """What the headers of results say, and what a resumed run has to share."""
        words = {
            "mode": self.mode,
            "matrix": self.matrix.name,
            "gap_cost": self.gap.formula,
            "report": self.report,
        }
        if MODES[self.mode].frees_ends:
            words["free_ends"] = ",".join(end for end in FREE_ENDS if end in self.free_ends)
        if self.end_gap is not None:
            words["end_gap_cost"] = self.end_gap.formula
        if self.strand != "plus":
            words["strand"] = self.strand
        for name in ("top", "min_score", *SHARES, "max_evalue", "min_bits", "db_size"):
            if getattr(self, name) is not None:
                words[name] = str(getattr(self, name))
        return words


def _most_cost(whole: WholeScoring) -> int:
    """What a gap may cost at a cell, at the most (native/bindings/pair_scoring.hpp)."""
    costs = (*whole.gap, *whole.end_gap)
    return max(costs[::2]) + 2 * max(costs[1::2])


def checked_pairs(pairs: Any, n_queries: int, n_targets: int) -> NDArray[np.int64]:
    """Listed pairs as engines take them: int64, shape (n, 2), contiguous.

    Parameters
    ----------
    pairs
        Query and target indices, in any array-like of whole numbers.

    Raises
    ------
    InputError
        Another shape or type, or an index out of range, with its row.
    """
    import numpy as np

    try:
        given = np.asarray(pairs)
    except ValueError:  # rows of several lengths
        given = np.zeros((1, 1))
    if not given.size and given.ndim < 3:
        return np.zeros((0, 2), np.int64)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InputError(f"pairs have to be an array of (query index, target index), not of shape {given.shape}")
    if given.dtype.kind not in "iu":
        raise InputError(f"pairs have to be whole numbers, not {given.dtype}: give indices of sequences, from 0")
    is_out = (given < 0) | (given >= np.array([n_queries, n_targets]))
    if is_out.any():
        row, side = (int(k) for k in np.argwhere(is_out)[0])
        what, count = (("query", n_queries), ("target", n_targets))[side]
        raise InputError(
            f"row {row} of pairs names {what} {given[row, side]}, but there are {count}: indices begin at 0"
        )
    return np.ascontiguousarray(given, np.int64)


def of_two_alphabets(first: Alphabet, second: Alphabet, words: tuple[str, str]) -> InputError:
    """What is said of queries and targets that no matrix scores together; `words` are what it calls them."""
    return InputError(
        f"the {words[0]} judged {first.name} and the {words[1]} {second.name}, which cannot be "
        f"aligned: translate the nucleotides with {named('translate')}, or say what both are with {named('alphabet')} "
        f"{first.name}"
    )


def check_same_alphabet(queries: SequenceBatch, targets: SequenceBatch) -> None:
    """Raises InputError where queries and targets are of two alphabets, which no matrix scores."""
    if queries.alphabet != targets.alphabet:
        raise of_two_alphabets(queries.alphabet, targets.alphabet, ("queries were", "targets"))
    if queries.alphabet.letters != targets.alphabet.letters:
        raise InputError(
            f"queries and targets have two alphabets of the same name, {queries.alphabet.name}: read both with one"
        )
