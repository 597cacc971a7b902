"""Significance of the sum of several local alignment scores (Karlin and Altschul 1993).

The normalised scores lambda S - ln(K m n) of two long random sequences form a Poisson process of density e^-x. So
the r-th best of them is -ln G, with G gamma-distributed of shape r. The r - 1 better ones exceed it by a total of
Y, which is gamma-distributed of shape r - 1 and independent of G. The sum of the r best, Y - r ln G, exceeds x
with the probability

    P_r(x) = 1 / (r - 2)!  integral from 0 to infinity of  y^(r - 2) e^-y  Gamma(r, e^((y - x) / r))  dy

where Gamma(r, v) is the regularised lower incomplete gamma function; both of its tails are used here. It is the
integral of Karlin and Altschul, over t. For large x it approaches e^-x x^(r - 1) / (r! (r - 1)!).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.properties import cached

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

#: Gauss-Legendre nodes on each piece of an integral.
NODES = 32
#: Distance of knots: near the mean of the sum, and as a share of the distance from the first knot.
STEP, GROWTH = 0.1, 0.03
#: -ln(1 - P) is 0 below e^-this: no float64 is smaller.
LEAST_LOG = 745.0


def sum_expectations(r: int, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the expected number of sets of r alignments whose normalised scores have such a sum: -ln(1 - P_r).

    `sums` are those of lambda S - ln(K m n), any shape. Results are correct to five digits, and at most about 30
    if chance is certain to reach the sum.
    """
    if r == 1:
        return np.exp(-np.maximum(sums, -3.4))
    spline = _logarithms(r)
    lowest, highest = spline.x[0], spline.x[-1]
    logs = np.where(sums > highest, -np.inf, spline(np.clip(sums, lowest, highest)))
    found: NDArray[np.float64] = np.exp(logs)
    return found


@lru_cache(maxsize=1024)
def _logarithms(r: int) -> CubicSpline:
    """Interpolate ln(-ln(1 - P_r)) from where P is almost 1 to where it is almost 0."""
    from scipy.interpolate import CubicSpline
    from scipy.special import digamma, polygamma

    mean = -r * float(digamma(r)) + r - 1
    spread = float(np.sqrt(r * r * float(polygamma(1, r)) + r - 1))
    first = mean - 7 * spread
    knots, logs = [first], [_log_expectation(r, first)]
    while logs[-1] > -LEAST_LOG:
        knots.append(knots[-1] + max(STEP, GROWTH * (knots[-1] - first)))
        logs.append(_log_expectation(r, knots[-1]))
    return CubicSpline(knots, logs)


@cached
def _nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.polynomial.legendre.leggauss(NODES)


def _log_expectation(r: int, x: float) -> float:
    """Return ln(-ln(1 - P_r(x))) by quadrature."""
    from scipy.special import gammaln

    # Gamma(r, v) changes between v = e^-12 and about r; beyond that the integrand falls as e^-y.
    begin = max(x - 12.0 * r, 0.0)
    end = max(float(r), x + r * (np.log(r) + 1)) + 40 + 12 * np.sqrt(r)
    bounds = np.concatenate([[0.0] if begin > 0 else [], np.linspace(begin, end, 9 + int(np.sqrt(r)))])
    nodes, weights = _nodes()
    half = np.diff(bounds)[:, None] / 2
    y = (bounds[:-1, None] + half * (1 + nodes)).ravel()
    density = np.log(half * weights).ravel() + (r - 2) * np.log(y) - y - gammaln(r - 1)
    lower, upper = _log_gammas(r, (y - x) / r)
    tail = _log_sum(density + lower)
    if tail < -1:
        return float(np.log(-np.log1p(-np.exp(tail)))) if tail > -30 else tail
    return float(np.log(-_log_sum(density + upper)))


def _log_sum(logs: NDArray[np.float64]) -> float:
    most = logs.max()
    return float(most + np.log(np.exp(logs - most).sum()))


def _log_gammas(r: int, log_v: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the logs of the lower and upper regularised incomplete gamma function; the lower stays finite near 0."""
    from scipy.special import gammainc, gammaincc, gammaln, hyp1f1

    v = np.exp(np.minimum(log_v, 700.0))
    small = np.minimum(v, r)
    series = r * log_v - small + np.log(hyp1f1(1, r + 1, small)) - gammaln(r + 1)
    with np.errstate(divide="ignore"):
        return np.where(v < r, series, np.log(gammainc(r, v))), np.log(gammaincc(r, v))
