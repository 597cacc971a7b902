"""Alignments as profiles, and alignment of profiles with profiles and sequences (Hanif 2014, chapter 4)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.registry import DeviceCache, DeviceLike, device_names, open_devices
from tropalign.errors import ScoringError, UsageError
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import CostList, Progress, Tile, cuts
from tropalign.msa.add import joined
from tropalign.msa.gpu_profiles import Merged, ProfilesOnGpu
from tropalign.resources.limits import checked_threads
from tropalign.results.columns import Result
from tropalign.results.multiple import MultipleAlignment
from tropalign.scoring.matrix import SubstitutionMatrix
from tropalign.sequences.batch import SequenceBatch

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu

#: The code of a gap in `MultipleAlignment.codes`.
GAP_CODE = 255


@dataclass(frozen=True, eq=False)
class ProfileAlignment(Result):
    """Alignment of the columns of two profiles, or of a profile and a sequence.

    Attributes
    ----------
    total : float
        The sum of distances, or of scores, over the columns of the result.
    first : int32, shape (n_first,)
        The new column of each column of the first profile, from 0; ascending.
    second : int32, shape (n_second,)
        The new column of each column of the second profile, or of each residue.
    n_columns : int
        Columns of the result; each has a column of the first, one of the second, or both.
    """

    total: float
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    n_columns: int

    def __repr__(self) -> str:
        return f"<ProfileAlignment: {self.n_columns:,} columns, total {self.total:.6g}>"

    def merged(self, first: MultipleAlignment, second: MultipleAlignment) -> MultipleAlignment:
        """Merge both alignments, with the rows of the first above those of the second.

        Parameters
        ----------
        first, second
            The alignments that were aligned; a sequence is an alignment of one row.

        Returns
        -------
        MultipleAlignment

        Raises
        ------
        UsageError
            An argument that is not an alignment, or has another width.
        InputError
            A name that both have, or different alphabets.
        """
        for alignment, columns in ((first, self.first), (second, self.second)):
            _check_alignment(alignment)
            if alignment.n_columns != len(columns):
                raise UsageError(
                    f"the alignment has {alignment.n_columns} columns, but {len(columns)} were aligned: give the "
                    f"alignments that were aligned"
                )
        whole = joined(first.sequences, second.sequences)
        moved = np.concatenate([self.first[first.columns], self.second[second.columns]])
        return MultipleAlignment(whole, moved.astype(np.int32), self.n_columns)


def profile_of(alignment: MultipleAlignment, weights: Any = None) -> NDArray[np.float64]:
    """Return the shares of letters and gaps in the columns of an alignment.

    Parameters
    ----------
    alignment
        The alignment.
    weights : array_like, shape (n_rows,), optional
        Weights of the rows: 0 or more, not all 0; equal if not given.

    Returns
    -------
    float64, shape (n_columns, n_letters + 1)
        A column per letter of the alignment's alphabet, by code, and the blank's last; rows sum to 1.

    Raises
    ------
    UsageError
        Not an alignment, or weights that are not one number per row.

    Examples
    --------
    >>> alignment = tropalign.MultipleAlignment.from_rows(["a", "b"], ["AC-", "ACT"], tropalign.NUCLEOTIDE)
    >>> profile_of(alignment)[:, [0, 1, 2, 3, -1]].tolist()
    [[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.5, 0.5]]
    """
    _check_alignment(alignment)
    n_rows = len(alignment)
    if weights is None:
        shares = np.full(n_rows, 1 / n_rows)
    else:
        try:
            given = np.asarray(weights, np.float64)
        except (TypeError, ValueError):
            given = np.zeros(0)
        if given.shape != (n_rows,) or not np.isfinite(given).all() or (given < 0).any() or not given.any():
            raise UsageError(f"the weights must be {n_rows} numbers of at least 0, not all of them 0")
        scaled = given / given.max()
        shares = scaled / scaled.sum()
    n_letters, n_columns = len(alignment.sequences.alphabet.letters), alignment.n_columns
    profile = np.zeros((n_columns, n_letters + 1))
    for share, codes in zip(shares, alignment.codes, strict=True):
        profile[np.arange(n_columns), np.where(codes == GAP_CODE, n_letters, codes)] += share
    return np.minimum(profile, 1.0)


def _check_alignment(alignment: Any) -> None:
    if not isinstance(alignment, MultipleAlignment):
        raise UsageError(f"an object of type {type(alignment).__name__} is not an alignment: give a MultipleAlignment")


def align_profiles(first: Any, second: Any) -> ProfileAlignment:
    r"""Align two profiles by the Euclidean distances of their columns.

    ``S(i, j) = min(S(i-1, j-1) + |p_i - q_j|, S(i-1, j) + |p_i - blank|, S(i, j-1) + |blank - q_j|)``, where the
    blank is the column of gaps only. The path is the same on every processor: distances are rounded to multiples
    of a power of two that leaves sums in 31 bits. For ties see docs/msa.md.

    Parameters
    ----------
    first, second
        Alignments, or profiles as `profile_of` returns them: shares from 0 to 1, shape (n_columns, n_letters + 1).

    Returns
    -------
    ProfileAlignment
        `total` is the sum of the distances, in double precision.

    Raises
    ------
    UsageError
        Other arguments, shares outside of 0 to 1, or profiles of different letters.

    Examples
    --------
    >>> one = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKVLAW", "MKILAW"])
    >>> other = tropalign.MultipleAlignment.from_rows(["c"], ["MKLAW"])
    >>> found = align_profiles(one, other)
    >>> found.second.tolist(), found.n_columns
    ([0, 1, 3, 4, 5], 6)
    >>> print(*found.merged(one, other), sep="\n")
    MKVLAW
    MKILAW
    MK-LAW

    References
    ----------
    M. K. Hanif, Mapping Dynamic Programming Algorithms on Graphics Processing Units, TUHH 2014, chapter 4.
    """
    p, q = _profile(first, "first"), _profile(second, "second")
    if p.shape[1] != q.shape[1]:
        raise UsageError(
            f"the profiles have {p.shape[1]} and {q.shape[1]} values per column: use the same alphabet for both"
        )
    return _with_distance(p, q, *_native.align_profiles(p, q))


def _with_distance(
    p: NDArray[np.float64], q: NDArray[np.float64], x: NDArray[np.int32], y: NDArray[np.int32], n_columns: int
) -> ProfileAlignment:
    blank = np.zeros(p.shape[1])
    blank[-1] = 1
    columns = np.tile(blank, (2, n_columns, 1))
    columns[0, x], columns[1, y] = p, q
    total = float(np.linalg.norm(columns[0] - columns[1], axis=1).sum())
    return ProfileAlignment(total, x, y, n_columns)


def align_profile_pairs(
    pairs: Iterable[tuple[Any, Any]], *, n_threads: int = 0, device: DeviceLike = "auto"
) -> list[ProfileAlignment]:
    """Align many pairs of profiles, as `align_profiles` does, on the CPU or on GPUs.

    Parameters
    ----------
    pairs
        Pairs of arguments of `align_profiles`, all of one alphabet.
    n_threads
        CPU threads, 0 for all available.
    device
        "cpu", "cuda:0", "opencl:0.0" or several of them, which share the pairs. "auto" uses the CPU, and also the
        GPUs if there are 10^11 cells or more. The alignments are the same.

    Returns
    -------
    list of ProfileAlignment
        One per pair.

    Raises
    ------
    UsageError
        As `align_profiles`.
    DeviceError
        A named GPU does not exist, or has no double precision.
    ResourceError
        A pair does not fit the memory of the only device.

    Examples
    --------
    >>> one = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKVLAW", "MKILAW"])
    >>> other = tropalign.MultipleAlignment.from_rows(["c"], ["MKLAW"])
    >>> [found.n_columns for found in align_profile_pairs([(one, other), (other, other)])]
    [6, 5]
    """
    names = device_names(device)
    try:
        given = [(first, second) for first, second in pairs]
    except (TypeError, ValueError):
        raise UsageError("the pairs must be a list of pairs of profiles or alignments") from None
    profiles = [(_profile(first, "first"), _profile(second, "second")) for first, second in given]
    if len(widths := {profile.shape[1] for pair in profiles for profile in pair}) > 1:
        counts = " and ".join(map(str, sorted(widths)))
        raise UsageError(f"the profiles have {counts} values per column: use the same alphabet for all")
    task = ProfilePairTask(profiles)
    results = Scheduler(open_devices(names, checked_threads(n_threads), task.n_cells)).run([task])
    found = [merged for result in results for merged in result.value]
    return [_with_distance(*pair, *merged) for pair, merged in zip(profiles, found, strict=True)]


def align_profile_to_sequence(
    profile: Any,
    sequence: Any,
    matrix: SubstitutionMatrix | str | os.PathLike[str] | None = None,
    *,
    gap_cost: float = 4.0,
) -> ProfileAlignment:
    """Align an alignment with a sequence by the mean scores of its columns.

    ``S(i, j) = max(S(i-1, j-1) + w(p_i, b_j), S(i-1, j) + w(p_i, blank), S(i, j-1) + w(blank, b_j))``, where
    ``w(p, b)`` is the mean score of a column's letters, including the blank: the blank scores ``-gap_cost`` with a
    letter and 0 with itself.

    Parameters
    ----------
    profile
        A MultipleAlignment.
    sequence
        A string or bytes in the alignment's alphabet.
    matrix
        A matrix, its name, or a file in NCBI format; by default that of the alphabet.
    gap_cost
        0 or more.

    Returns
    -------
    ProfileAlignment
        `total` is the score, in double precision.

    Raises
    ------
    UsageError
        Not an alignment, not a sequence, or a cost that is not a number of 0 or more.
    ScoringError
        No such matrix, or one for another alphabet.

    Examples
    --------
    >>> alignment = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKVLAW", "MKILAW"])
    >>> found = align_profile_to_sequence(alignment, "MKLAW")
    >>> found.second.tolist(), found.total
    ([0, 1, 3, 4, 5], 25.0)

    References
    ----------
    M. K. Hanif, Mapping Dynamic Programming Algorithms on Graphics Processing Units, TUHH 2014, chapter 4.
    """
    shares = profile_of(profile)
    if not isinstance(sequence, str | bytes) or not sequence:
        raise UsageError("the sequence must be str or bytes and not empty")
    batch = SequenceBatch.from_strings([sequence], alphabet=profile.sequences.alphabet)
    scores = _scores(matrix, profile, gap_cost)
    x, y, n_columns = _native.align_profile_to_sequence(shares, batch.codes, scores)
    blank = len(scores) - 1
    gain = shares @ scores
    letter_at = np.full(n_columns, blank)
    letter_at[y] = batch.codes
    is_profile = np.zeros(n_columns, bool)
    is_profile[x] = True
    total = float(gain[np.arange(len(x)), letter_at[x]].sum() + scores[blank, letter_at[~is_profile]].sum())
    return ProfileAlignment(total, x, y, n_columns)


def _profile(source: Any, name: str) -> NDArray[np.float64]:
    if isinstance(source, MultipleAlignment):
        return profile_of(source)
    values = np.asarray(source)
    if values.ndim != 2 or values.dtype.kind not in "fiu" or min(values.shape) < 1 or values.shape[1] < 2:
        raise UsageError(f"the {name} is neither an alignment nor a profile of shape (n_columns, n_letters + 1)")
    shares = np.ascontiguousarray(values, np.float64)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise UsageError(f"the {name} profile has a value outside 0 to 1")
    return shares


def _scores(matrix: Any, profile: MultipleAlignment, gap_cost: float) -> NDArray[np.float64]:
    """Return the scores of letters and the blank, by code."""
    if isinstance(gap_cost, bool) or not isinstance(gap_cost, int | float) or not 0 <= gap_cost <= 1e6:
        raise UsageError(f"the gap cost {gap_cost!r} is not a number from 0 to 1,000,000")
    alphabet = profile.sequences.alphabet
    chosen = SubstitutionMatrix.default(alphabet) if matrix is None else SubstitutionMatrix.of(matrix, alphabet)
    if not chosen.is_symmetric:
        raise ScoringError(f"the matrix {chosen.name} is not symmetric, as profiles require: choose another matrix")
    chosen.check(profile.sequences)
    n = len(alphabet.letters)
    scores = np.full((n + 1, n + 1), -float(gap_cost))
    scores[:n, :n] = chosen.scores[:n, :n]
    scores[n, n] = 0.0
    return scores


Profile = NDArray[np.float64]

#: Cells of a tile: some seconds of a core.
TILE_CELLS = 4_000_000_000


class ProfilePairTask:
    """Alignments of pairs of profiles, given as shares of columns of one alphabet."""

    def __init__(self, pairs: Sequence[tuple[Profile, Profile]]) -> None:
        self._pairs, self._cache = pairs, DeviceCache()
        self._costs = CostList(np.array([len(p) * len(q) for p, q in pairs], np.float64))

    @property
    def n_cells(self) -> int:
        """Cost of all pairs in cells."""
        return int(self._costs.cost_before(len(self._pairs)))

    def tiles(self) -> Iterator[Tile]:
        """Yield tiles of neighbouring pairs."""
        n = len(self._pairs)
        for index, (begin, end) in enumerate(pairwise(cuts(self._costs, 0, n, n, TILE_CELLS))):
            cells = int(self._costs.cost_before(end) - self._costs.cost_before(begin))
            n_bytes = sum(4 * (len(p) + len(q)) for p, q in self._pairs[begin:end])
            yield Tile(index, cells, n_bytes, end - begin, slice(begin, end))

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> list[Merged]:
        """Align the tile's pairs, one per thread."""
        found: list[Merged] = []
        with ThreadPoolExecutor(n_threads) as pool:
            for merged in pool.map(lambda pair: _native.align_profiles(*pair), self._pairs[tile.payload]):
                found.append(merged)
                if progress:
                    progress(len(found))
        return found

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> list[Merged]:
        """Align the tile's pairs on a GPU, many at once."""
        profiles: ProfilesOnGpu = self._cache.get(device, "profiles", partial(ProfilesOnGpu, device))
        return profiles.profiles(self._pairs[tile.payload], progress and partial(progress, 0))
