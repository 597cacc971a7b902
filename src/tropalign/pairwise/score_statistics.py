"""Parameters of bits and E-values for any matrix and gap costs: published ones, or simulated ones."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from dataclasses import astuple, replace
from math import isfinite, log, pi, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from tropalign.errors import ScoringError
from tropalign.pairwise.engines import Engines, Rows, Sides
from tropalign.pairwise.options import PairOptions
from tropalign.resources.limits import default_budget, resolve_threads
from tropalign.scoring import Gap, MatrixLike, SubstitutionMatrix, WholeScoring
from tropalign.scoring.statistics import (
    ESTIMATED,
    ScoreStatistics,
    background,
    check_has_statistics,
    published_statistics,
)
from tropalign.sequences import NUCLEOTIDE, PROTEIN, SequenceBatch

#: Numbers of random pairs and lengths of their sequences; the second entry applies if chance alignments are
#: longer than `LONG` times the first length. The longer the sequences, the less their ends matter; the more pairs,
#: the less chance does: lambda has a relative standard error of 0.78 / sqrt(pairs).
SIZES = ((16_000, 1200), (6_000, 2400))
LONG = 1 / 16
#: Largest share of their sequences that chance alignments may cover: beyond it, no score has an E-value.
TOO_LONG = 1 / 4
#: Pairs that are generated and aligned at a time.
AT_ONCE = 2000
SEED = 20010115
#: Scores and costs with statistics, by alphabet: suggestions if others have no statistics.
USUAL = {
    PROTEIN.name: "--matrix BLOSUM62 --gap-open 11 --gap-extend 1",
    NUCLEOTIDE.name: "--match 2 --mismatch -3 --gap-open 5 --gap-extend 2",
}
#: Part of the file name of a cached estimate: change it if estimates change.
METHOD = 1


def score_statistics(matrix: MatrixLike, gap: Gap) -> ScoreStatistics:
    """Return lambda, K and the other parameters of bit scores and E-values of local alignments.

    NCBI's published parameters if there are any, else an estimate from alignments of random sequences, which takes
    a few seconds and is kept in the user's cache directory.

    Parameters
    ----------
    matrix
        Any source that `SubstitutionMatrix.of` accepts.
    gap
        A gap of k residues costs ``gap.open + k * gap.extend``.

    Returns
    -------
    ScoreStatistics
        Equal on every machine; ``source`` names the origin.

    Raises
    ------
    ScoringError
        The scores have no statistics: those of random sequences grow with their length.

    Examples
    --------
    >>> print(tropalign.score_statistics("BLOSUM62", tropalign.Gap(11, 1)))
    lambda 0.267, K 0.041, H 0.14 (published by NCBI for BLOSUM62 and gaps of 11 + 1 k)
    """
    scores = SubstitutionMatrix.of(matrix)
    if not isinstance(gap, Gap):
        raise ScoringError("the gap cost must be a Gap(open, extend): a gap of k residues costs open + k * extend")
    found = published_statistics(scores, gap)
    if found is not None:
        return found
    path = user_cache_path("tropalign", appauthor=False) / f"statistics-{_key(scores, gap)}.json"
    found = _read(path)
    if found is None:
        found = simulated_statistics(scores, gap)
        _write(path, found)
    return found


def simulated_statistics(matrix: SubstitutionMatrix, gap: Gap) -> ScoreStatistics:
    """Estimate statistics from the best local alignments of random sequences.

    Mean lengths of alignments of score S are alpha S + beta, by least squares. Lambda and K maximise the
    likelihood of the scores found (Altschul and others 2001), where P(score < S) = exp(-K (n - alpha S - beta)^2
    exp(-lambda S)) for two sequences of n residues. Raises ScoringError for scores without statistics.
    """
    check_has_statistics(matrix)
    scale = WholeScoring.of(matrix, gap).scale
    for n_pairs, length in SIZES:
        found = _aligned(matrix, gap, n_pairs, length)
        if found.mean_length() <= LONG * length:
            break
        if found.mean_length() > TOO_LONG * length:
            cost = f"{gap.open} + {gap.extend} k"
            cost = f"min({cost}, {gap.open2} + {gap.extend2} k)" if gap.has_two_pieces else cost
            raise ScoringError(
                f"with {matrix.name} and gaps of {cost}, the best alignment of two random sequences covers "
                f"{found.mean_length() / length:.0%} of them at any length, so E-values are undefined: raise the gap "
                f"costs, or use {USUAL[matrix.alphabet.name]}"
            )
    alpha, beta = found.line()
    lambda_, k = _most_likely(found, length, alpha, beta)
    source = f"{ESTIMATED} of {n_pairs} pairs of {length} residues"
    lambda_, alpha = lambda_ * scale, alpha * scale  # in units of the given scores
    numbers = _digits(lambda_, 4), _digits(k, 3), _digits(lambda_ / alpha, 3), _digits(alpha, 3), _digits(beta, 3)
    return ScoreStatistics(*numbers, source, 1 / scale if scale > 1 else 1)


class _Found(NamedTuple):
    """Best local alignments of random pairs: the distinct scores, their counts, and the sums of their lengths."""

    scores: NDArray[np.int64]
    counts: NDArray[np.int64]
    lengths: NDArray[np.float64]

    def mean_length(self) -> float:
        return float(self.lengths.sum() / self.counts.sum())

    def line(self) -> tuple[float, float]:
        """Return alpha and beta by least squares."""
        n, total, length = self.counts.sum(), self.counts @ self.scores, self.lengths.sum()
        spread = float(n * (self.counts @ self.scores**2) - total**2)
        if not spread:
            raise ScoringError("all random sequences score the same, so E-values are undefined: use another matrix")
        alpha = float(n * (self.lengths @ self.scores) - total * length) / spread
        return alpha, float(length - alpha * total) / float(n)


def _aligned(matrix: SubstitutionMatrix, gap: Gap, n_pairs: int, length: int) -> _Found:
    """Align pairs of random sequences, which are the same on every machine."""
    bits = np.random.PCG64(SEED)  # its numbers are the same in every version of NumPy
    n_threads = resolve_threads(0)
    scores, lengths = [], []
    for begin in range(0, n_pairs, AT_ONCE):
        n = min(AT_ONCE, n_pairs - begin)
        queries, targets = (random_sequences(matrix, n, length, bits) for _ in range(2))
        engines = Engines(Sides(queries, None, targets), PairOptions(matrix, gap), default_budget())
        pair = np.arange(n)
        found = engines.native(n_threads, Rows(pair, pair, "ends", None), lambda _: None)
        scores.append(found["score"].astype(np.int64))
        ends, starts = found["query_end"] + found["target_end"], found["query_start"] + found["target_start"]
        lengths.append((ends - starts) / 2)
        if np.mean(np.concatenate(lengths)) > 2 * TOO_LONG * length:  # the others will not change that
            break
    each, where = np.unique(np.concatenate(scores), return_inverse=True)
    return _Found(each, np.bincount(where), np.bincount(where, np.concatenate(lengths)).astype(np.float64))


def random_sequences(matrix: SubstitutionMatrix, n: int, length: int, bits: np.random.PCG64) -> SequenceBatch:
    """Generate sequences of independent residues with natural frequencies (to 2^-17 of all).

    Raises ScoringError if the frequencies of the alphabet are unknown.
    """
    codes, shares = background(matrix.alphabet)
    ends = np.rint(np.cumsum(shares) * 65536).astype(np.int64)
    residues = np.repeat(codes, np.diff(ends, prepend=0))
    drawn = bits.random_raw(-(-n * length // 4)).astype("<u8").view("<u2")[: n * length]
    letters = np.frombuffer(matrix.alphabet.letters.encode("ascii"), np.uint8)
    chosen = residues[drawn]
    names = [str(k) for k in range(n)]
    return SequenceBatch(chosen, np.arange(n + 1) * length, tuple(names), matrix.alphabet, letters[chosen])


def _most_likely(found: _Found, length: int, alpha: float, beta: float) -> tuple[float, float]:
    """Return the maximum likelihood estimates of lambda and K."""
    from scipy.optimize import minimize

    bounds = np.stack([found.scores, found.scores + 1])
    room = np.square(length - np.clip(alpha * bounds + beta, 0, length - 1))

    def surprise(guess: NDArray[np.float64]) -> float:
        lower, upper = np.exp(-room * np.exp(guess[1] - guess[0] * bounds))  # P(score < S), P(score < S + 1)
        return -float(found.counts @ np.log(np.maximum(upper - lower, 1e-300)))

    n = found.counts.sum()
    mean = float(found.counts @ found.scores) / n
    spread = sqrt(float(found.counts @ np.square(found.scores - mean)) / n)
    lambda_ = pi / sqrt(6) / spread  # start: Gumbel's distribution by its mean and standard deviation
    first = np.array([lambda_, lambda_ * mean - 0.5772 - 2 * log(length)])
    best = minimize(surprise, first, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-8, "maxiter": 2000})
    return float(best.x[0]), float(np.exp(best.x[1]))


def _digits(number: float, n: int) -> float:
    """Round to n digits: further ones are chance, and differ between processors."""
    return float(f"{number:.{n}g}")


def _key(matrix: SubstitutionMatrix, gap: Gap) -> str:
    """Return a hash of everything that determines an estimate, for its file name."""
    codes, shares = background(matrix.alphabet)
    words = (
        METHOD,
        SIZES,
        SEED,
        matrix.alphabet.name,
        matrix.scores.astype(float)[np.ix_(codes, codes)].tolist(),
        shares.tolist(),
    )
    return hashlib.sha256(repr((words, astuple(gap))).encode()).hexdigest()[:32]


def _read(path: Path) -> ScoreStatistics | None:
    """Read the output of `_write`; None if the file is missing or damaged."""
    try:
        text, digest = path.read_text("utf-8").splitlines()
        if hashlib.sha256(text.encode()).hexdigest() != digest:
            return None
        lambda_, k, h, alpha, beta, source, step = json.loads(text)
        if not all(isfinite(number) for number in (lambda_, k, h, alpha, beta, step)):
            return None
        return ScoreStatistics(lambda_, k, h, alpha, beta, str(source), step)
    except (OSError, ValueError, TypeError):  # includes damaged JSON
        return None


def _write(path: Path, statistics: ScoreStatistics) -> None:
    """Keep an estimate, if possible."""
    text = json.dumps(astuple(replace(statistics, lengths=None))[:-1])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        temporary.write_text(f"{text}\n{hashlib.sha256(text.encode()).hexdigest()}\n", "utf-8")
        os.replace(temporary, path)
    except OSError:  # no cache, then
        pass
