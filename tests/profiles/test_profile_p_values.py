"""Scores in bits and P-values against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tropalign import _native

F32 = np.float32
BITS = st.floats(-300, 1000, width=32) | st.sampled_from([np.inf, -np.inf])
MU, LAMBDA = st.floats(-20, 10, width=32), st.floats(0.25, 2, width=32)


def exp(x):
    return math.exp(x) if x < 709 else math.inf


@given(BITS, MU, LAMBDA)
def test_p_of_optimal_scores(bits, mu, lambda_):
    expected_number = exp(-lambda_ * (bits - mu))
    wanted = -math.expm1(-expected_number)
    p, log_p = _native.testing.gumbel_p(bits, mu, lambda_), _native.testing.gumbel_log_p(bits, mu, lambda_)
    assert p == pytest.approx(wanted, rel=3e-8)
    if wanted > 0:
        assert log_p == pytest.approx(math.log(wanted), rel=3e-8, abs=5e-9)
    else:
        assert log_p == pytest.approx(-lambda_ * (bits - mu))


@given(BITS, MU, LAMBDA)
def test_p_of_forward_scores(bits, mu, lambda_):
    p, log_p = _native.testing.exponential_p(bits, mu, lambda_), _native.testing.exponential_log_p(bits, mu, lambda_)
    if bits < mu:
        assert (p, log_p) == (1, 0)
    else:
        assert log_p == -lambda_ * (bits - mu)
        assert p == math.exp(log_p)


@pytest.mark.parametrize("x", [-5.0, 0.0, 3.0, 19.0, 19.2, 40.0, 800.0])
def test_where_hmmer_changes_the_formula(x):
    """P is exp(-x) from where that is below 5e-9, to the last bit; else 1 - exp(-exp(-x))."""
    t = math.exp(-x)
    assert _native.testing.gumbel_p(x, 0, 1) == (t if t < 5e-9 else 1 - math.exp(-t))
    if t < 5e-9:
        assert _native.testing.gumbel_log_p(x, 0, 1) == -x
    elif math.exp(-t) < 5e-9:
        assert _native.testing.gumbel_log_p(x, 0, 1) == -math.exp(-t)
    else:
        assert _native.testing.gumbel_log_p(x, 0, 1) == math.log(1 - math.exp(-t))


@given(st.floats(-1e4, 1e4, width=32), st.floats(-1e4, 1e4, width=32))
def test_bits(nats, null):
    """The difference is a float, the quotient a double that is rounded to one."""
    assert _native.testing.bits_of(nats, null) == F32(float(F32(nats) - F32(null)) / 0.69314718055994529)


def test_bits_of_an_overflow():
    bits = _native.testing.bits_of(math.inf, -6.5)
    assert bits == math.inf and _native.testing.gumbel_p(bits, -8, 0.7) == 0
