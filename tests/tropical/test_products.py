"""Products of matrices over semirings: against plain Python, at the bounds of types, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import tropical as oracle

from tropalign import _native
from tropalign.errors import InputError, ResourceError, UsageError
from tropalign.tropical import BOOL, LOG, MAX_PLUS, MIN_PLUS, REAL, chain, matmul, power, scan, zero_of

CHOOSING = (MIN_PLUS, MAX_PLUS)
DTYPES = (np.float16, np.float32, np.float64, np.int16, np.int32)
SIZES = st.one_of(st.integers(0, 20), st.integers(0, 130))


def random_matrix(rng, shape, dtype, semiring, reach=50, share=0.3):
    made = rng.integers(-reach, reach + 1, shape).astype(dtype)
    made[rng.random(shape) < share] = zero_of(semiring, dtype)
    return made


def wide(matrix, semiring):
    numbers = matrix.astype(np.float64)
    numbers[matrix == zero_of(semiring, matrix.dtype)] = semiring.zero
    return numbers


def expected(a, b, semiring):
    sums = wide(a, semiring)[:, :, None] + wide(b, semiring)[None]
    if not a.shape[1]:
        return np.full((len(a), b.shape[1]), semiring.zero), np.full((len(a), b.shape[1]), -1)
    best = sums.argmax(1) if semiring.is_max else sums.argmin(1)
    values = sums.max(1) if semiring.is_max else sums.min(1)
    return values, np.where(np.isinf(values), -1, best)


def check(a, b, semiring):
    values, best = expected(a, b, semiring)
    found, ks = matmul(a, b, semiring, argbest=True)
    assert found.dtype == a.dtype and found.flags.c_contiguous and ks.dtype == np.int32
    assert np.array_equal(wide(found, semiring), values)
    assert np.array_equal(ks, best)
    assert np.array_equal(matmul(a, b, semiring), found)


def test_the_oracle_is_what_it_says():
    """The fast expectation of these tests is that of plain Python."""
    rng = np.random.default_rng(1)
    for semiring in CHOOSING:
        a, b = (random_matrix(rng, shape, np.int32, semiring) for shape in ((7, 5), (5, 9)))
        values, best = oracle.product(wide(a, semiring).tolist(), wide(b, semiring).tolist(), semiring.is_max)
        found = expected(a, b, semiring)
        assert found[0].tolist() == values and found[1].tolist() == best


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("semiring", CHOOSING, ids=repr)
@settings(max_examples=25)
@given(m=SIZES, n=SIZES, k=SIZES, seed=st.integers(0, 2**32), share=st.sampled_from([0, 0.3, 0.95, 1]))
def test_products_of_any_size(semiring, dtype, m, n, k, seed, share):
    rng = np.random.default_rng(seed)
    check(
        random_matrix(rng, (m, k), dtype, semiring, share=share),
        random_matrix(rng, (k, n), dtype, semiring, share=share),
        semiring,
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("semiring", CHOOSING, ids=repr)
def test_every_instruction_set(isa, semiring, dtype):
    rng = np.random.default_rng(2)
    for m, n, k in ((1, 1, 1), (3, 5, 2), (6, 16, 9), (7, 17, 300), (33, 129, 64), (50, 70, 130), (13, 257, 31)):
        check(random_matrix(rng, (m, k), dtype, semiring), random_matrix(rng, (k, n), dtype, semiring), semiring)


def test_ties_and_signs_of_zeros(isa):
    rng = np.random.default_rng(3)
    for dtype in DTYPES:
        a, b = (random_matrix(rng, shape, dtype, MIN_PLUS, reach=1, share=0) for shape in ((40, 150), (150, 90)))
        check(a, b, MIN_PLUS)
    # Of equal sums the first is taken, which 0 and -0 tell.
    for dtype in (np.float32, np.float64):
        a, b = np.zeros((5, 3), dtype), np.zeros((3, 40), dtype)
        a[:, 0], b[0] = -0.0, -0.0
        for semiring in CHOOSING:
            assert np.signbit(matmul(a, b, semiring)).all()
            assert not np.signbit(matmul(a[:, ::-1], b[::-1], semiring)).any()


def test_threads_and_items(isa):
    """A product of several items of work is that of one thread."""
    rng = np.random.default_rng(4)
    a = rng.integers(0, 1000, (500, 40)).astype(np.int16)
    b = rng.integers(0, 1000, (40, 4200)).astype(np.int16)
    whole = matmul(a, b, n_threads=1)
    assert np.array_equal(matmul(a, b, n_threads=3), whole)
    assert np.array_equal(whole[::97], (a[::97, :, None].astype(int) + b[None]).min(1))


@pytest.mark.parametrize(
    "shapes", [((3, 4, 5), (3, 5, 6)), ((1, 4, 5), (3, 5, 6)), ((3, 4, 5), (5, 6)), ((4, 5), (3, 5, 6))]
)
def test_many_products_at_once(shapes):
    rng = np.random.default_rng(5)
    a, b = (random_matrix(rng, shape, np.float32, MIN_PLUS) for shape in shapes)
    found, best = matmul(a, b, argbest=True)
    a, b = (matrix if matrix.ndim == 3 else matrix[None] for matrix in (a, b))
    assert found.shape == best.shape == (3, 4, 6)
    for p in range(3):
        values, ks = expected(a[p % len(a)], b[p % len(b)], MIN_PLUS)
        assert np.array_equal(found[p], values) and np.array_equal(best[p], ks)


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
@pytest.mark.parametrize("semiring", CHOOSING, ids=repr)
@settings(max_examples=60)
@given(data=st.data())
def test_integers_at_their_bounds(semiring, dtype, data):
    """Near the ends of a type a result is exact, or it is refused; none has wrapped around."""
    limits = np.iinfo(dtype)
    near = [limits.min, limits.min + 1, -limits.max // 2, -1, 0, 1, limits.max // 2, limits.max - 1, limits.max]
    numbers = st.lists(st.sampled_from(near) | st.integers(limits.min, limits.max), min_size=4, max_size=4)
    a, b = (np.array(data.draw(numbers), dtype).reshape(2, 2) for _ in "ab")
    values, _ = expected(a, b, semiring)
    is_beyond = np.isfinite(values) & ((values < limits.min) | (values > limits.max))
    is_beyond |= values == float(zero_of(semiring, dtype))
    if is_beyond.any():
        with pytest.raises(InputError, match="cannot hold: convert the matrices to"):
            matmul(a, b, semiring)
    else:
        assert np.array_equal(wide(matmul(a, b, semiring), semiring), values)


def test_floats_and_integers_beyond_their_types():
    for dtype, large, wider in ((np.float16, 6e4, "float32"), (np.float32, 3e38, "float64")):
        a = np.full((2, 2), large, dtype)
        with pytest.raises(InputError, match=rf"entry \[0, 0\] is .*, which {dtype.__name__} cannot hold.* to {wider}"):
            matmul(a, a)
        a[0, 1] = a[1, 0] = np.inf
        with pytest.raises(InputError, match="cannot hold"):
            matmul(a, a)
        assert np.isinf(matmul(a, np.full_like(a, np.inf))).all()
    with pytest.raises(InputError, match="exceed float64: scale both down"):
        matmul([[1e308]], [[1e308]])
    high = np.iinfo(np.int32).max
    a = np.array([[high, high, 7]], np.int32)
    b = np.array([[high], [-high], [3]], np.int32)
    assert matmul(a, b, REAL).tolist() == [[21]]
    with pytest.raises(InputError, match=r"entry \[0, 0\] exceeds int32: convert the matrices to float64"):
        matmul(a, np.abs(b), REAL)
    many = np.full((1, 8), high, np.int32)
    with pytest.raises(InputError, match="exceeds int32"):
        matmul(many, many.T.copy(), REAL)
    with pytest.raises(InputError, match="exceeds float32"):
        matmul(np.full((1, 1), 1e30, np.float32), np.full((1, 1), 1e30, np.float32), REAL)


def test_float16_views_and_sizes():
    rng = np.random.default_rng(6)
    a, b = rng.normal(0, 100, (20, 30)).astype(np.float16), rng.normal(0, 100, (30, 25)).astype(np.float16)
    sums = a[:, :, None].astype(np.float64) + b[None].astype(np.float64)
    assert np.array_equal(matmul(a, b), sums.min(1).astype(np.float16))
    rng = np.random.default_rng(12)
    a, b = rng.random((30, 40)), rng.random((40, 20))
    right = matmul(a, b)
    assert np.array_equal(matmul(np.asfortranarray(a), b[:, ::-1])[:, ::-1], right)
    assert np.array_equal(matmul(a.astype(">f8"), b), right)
    assert np.isinf(matmul(np.zeros((2, 0)), np.zeros((0, 3)))).all()
    assert matmul(np.zeros((0, 4)), np.zeros((4, 3))).shape == (0, 3)
    assert (matmul(np.zeros((2, 0), np.int16), np.zeros((0, 3), np.int16), MAX_PLUS) == -32768).all()
    assert np.isneginf(matmul(np.zeros((2, 0)), np.zeros((0, 3)), LOG)).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int16, np.int32])
def test_real_products(dtype):
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-9, 10, shape).astype(dtype) for shape in ((3, 7, 5), (5, 4)))
    found = matmul(a, b, REAL)
    assert found.dtype == dtype and np.array_equal(found, np.matmul(a.astype(int), b.astype(int)))


@pytest.mark.parametrize("reach", [1, 30, 1000])
@settings(max_examples=15)
@given(m=st.integers(1, 20), n=st.integers(1, 40), k=st.integers(1, 70), seed=st.integers(0, 2**32))
def test_log_products(reach, m, n, k, seed):
    """Within a few units of the numbers' last place, whatever their range."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, reach, (m, k)), rng.normal(0, reach, (k, n))
    a[rng.random(a.shape) < 0.2] = -np.inf
    b[rng.random(b.shape) < 0.2] = -np.inf
    found, right = matmul(a, b, LOG), np.array(oracle.log_product(a.tolist(), b.tolist()))
    scale = 64 + np.where(np.isfinite(a), np.abs(a), 0).max() + np.where(np.isfinite(b), np.abs(b), 0).max()
    assert np.array_equal(np.isinf(found), np.isinf(right))
    finite = np.isfinite(right)
    assert (np.abs(found[finite] - right[finite]) <= 4 * scale * 2.0**-53).all()
    narrow = matmul(a.astype(np.float32), b.astype(np.float32), LOG)
    assert narrow.dtype == np.float32 and np.allclose(narrow[finite], right[finite], rtol=1e-6, atol=1e-6 * scale)


@settings(max_examples=25)
@given(m=SIZES, n=SIZES, k=SIZES, seed=st.integers(0, 2**32), share=st.sampled_from([0.02, 0.5]))
def test_bool_products(m, n, k, seed, share):
    rng = np.random.default_rng(seed)
    a, b = rng.random((m, k)) < share, rng.random((k, n)) < share
    assert np.array_equal(matmul(a, b, BOOL), (a[:, :, None] & b[None]).any(1))


@pytest.mark.parametrize("semiring", [MIN_PLUS, MAX_PLUS, REAL, LOG])
def test_powers(semiring):
    rng = np.random.default_rng(8)
    a = rng.integers(0, 3, (5, 5)).astype(np.float64)
    for n in range(7):
        steps = np.full((5, 5), semiring.zero)
        np.fill_diagonal(steps, semiring.one)
        for _ in range(n):
            steps = matmul(steps, a, semiring)
        assert np.allclose(power(a, n, semiring), steps, rtol=1e-13, atol=1e-12)
    assert power(np.array([[True, False], [False, False]]), 0, BOOL).tolist() == [[True, False], [False, True]]


def test_powers_and_scans_of_integers():
    with pytest.raises(InputError, match="int16 cannot hold: convert the matrices to int32"):
        power(np.full((1, 1), 1000, np.int16), 33)
    assert power(np.full((1, 1), 1000, np.int16), 32).tolist() == [[32000]]
    assert power(np.full((1, 1), 1000, np.int16), 32, MAX_PLUS).tolist() == [[32000]]
    assert scan(np.zeros((0, 3, 3))).shape == (0, 3, 3)
    assert scan(np.zeros((100, 0, 0))).shape == (100, 0, 0)
    steps = np.random.default_rng(10).integers(-5, 6, (70, 4, 4)).astype(np.int16)
    found, total = scan(steps), steps[0]
    for k in range(1, 70):
        total = matmul(total, steps[k])
        assert np.array_equal(found[k], total)


@pytest.mark.parametrize("semiring", [MIN_PLUS, MAX_PLUS, LOG, REAL])
@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 33, 300])
def test_scans(semiring, n):
    """Entry k is the product of the first k + 1 matrices, however these are grouped."""
    rng = np.random.default_rng(9)
    steps = rng.integers(0, 9, (n, 3, 3)).astype(np.float64) / (16 if semiring == REAL else 1)
    found, total = scan(steps, semiring), steps[0]
    for k in range(n):
        total = matmul(total, steps[k], semiring) if k else steps[0]
        assert np.allclose(found[k], total, rtol=1e-12, atol=0), k
    assert np.array_equal(scan(steps, semiring, n_threads=1), found)


@pytest.mark.parametrize("semiring", [MIN_PLUS, REAL])
def test_chains(semiring):
    rng = np.random.default_rng(11)
    sizes = [3, 9, 2, 30, 1, 8, 4]
    factors = [rng.integers(0, 5, shape).astype(np.int32) for shape in pairwise(sizes)]
    total = factors[0]
    for factor in factors[1:]:
        total = matmul(total, factor, semiring)
    assert np.array_equal(chain(factors, semiring), total)
    assert np.array_equal(chain(iter(factors[:1]), semiring), factors[0])


HUGE = np.zeros((1_000_000, 1), np.float32)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_bad_numbers_anywhere(isa, dtype):
    rng = np.random.default_rng(13)
    for semiring, wrong in ((MIN_PLUS, -np.inf), (MAX_PLUS, np.inf), (LOG, np.inf), (REAL, -np.inf)):
        for at in (0, 1, 30, 64, 100, 132):
            a = rng.normal(0, 9, (7, 19)).astype(dtype)
            for number in (np.nan, wrong):
                a.flat[at] = number
                with pytest.raises(InputError, match=rf"A\[{at // 19}, {at % 19}\] is"):
                    matmul(a, a.T, semiring)


def call(*arguments, **options):
    return lambda: matmul(*arguments, **options)


WRONG = {
    "no matrix": (call([1.0], [[1.0]]), InputError, "A has 1 dimensions instead of 2 or 3: give rows and columns"),
    "a text": (call("ab", [[1.0]]), InputError, "A is of type str, not a matrix of numbers"),
    "ragged": (call([[1, 2], [3]], [[1.0]]), InputError, "A has rows of different lengths"),
    "complex": (call(np.array([[1j]]), [[1.0]]), UsageError, "A has type complex128"),
    "int64": (call(np.array([[1]]), np.array([[1]])), UsageError, "A has type int64, which min-plus does not support"),
    "two types": (call(np.ones((1, 1), np.int16), [[1.0]]), UsageError, "A has type int16 and B float64: convert one"),
    "no fit": (call([[1.0]], [[1.0], [2.0]]), InputError, "A has 1 columns, but B has 2 rows: both must be equal"),
    "no fit of many": (call(np.ones((2, 1, 1)), np.ones((3, 1, 1))), InputError, "A has 2 matrices and B 3"),
    "NaN": (call([[1.0, 2.0]], [[1.0], [np.nan]]), InputError, "B[1, 0] is NaN: give only numbers"),
    "NaN of one of many": (call(np.array([[[1.0]], [[np.nan]]]), [[1.0]]), InputError, "A[1, 0, 0] is NaN"),
    "wrong infinity": (call([[-np.inf]], [[1.0]]), InputError, "A[0, 0] is -inf, which is not in min-plus"),
    "wrong infinity of max-plus": (call([[np.inf]], [[1.0]], MAX_PLUS), InputError, "its infinity is -inf"),
    "infinity of real": (call([[np.inf]], [[0.0]], REAL), InputError, "A[0, 0] is inf, which is not in real"),
    "minus infinity of real": (call([[-np.inf]], [[0.0]], REAL), InputError, "A[0, 0] is -inf"),
    "infinity of log": (call([[np.inf]], [[0.0]], LOG), InputError, "A[0, 0] is inf, which is not in log"),
    "integers of log": (call(*[np.ones((1, 1), np.int16)] * 2, LOG), UsageError, "which log does not support"),
    "numbers of bool": (call([[1, 0]], [[1], [0]], BOOL), InputError, "A is of type list, not a matrix of truth"),
    "best k of real": (call([[1.0]], [[1.0]], REAL, argbest=True), UsageError, "argbest supports only MIN_PLUS"),
    "no semiring": (call([[1.0]], [[1.0]], "min-plus"), UsageError, "'min-plus' is not a semiring: give one of"),
    "best k by an array": (call([[1.0]], [[1.0]], argbest=np.ones(2)), UsageError, "argbest is a ndarray: give True"),
    "a huge result": (call(HUGE, HUGE.T), ResourceError, "a product of 1000000000000 numbers needs 3.7 TiB"),
    "a huge result of log": (call(HUGE, HUGE.T, LOG), ResourceError, "needs 21.9 TiB"),
    "a huge result of bool": (call(HUGE > 0, HUGE.T > 0, BOOL), ResourceError, "needs 931.4 GiB"),
    "threads": (call([[1.0]], [[1.0]], n_threads=-1), UsageError, "n_threads"),
    "masked": (call(np.ma.masked_less([[1.0]], 2), [[1.0]]), UsageError, "A is a masked array"),
    "power of no square": (lambda: power([[1.0, 2.0]], 2), InputError, "A has 1 rows and 2 columns"),
    "negative power": (lambda: power([[1.0]], -1), UsageError, "n -1 is out of range"),
    "power of NaN": (lambda: power([[np.nan]], 0), InputError, "A[0, 0] is NaN"),
    "power one of NaN": (lambda: power([[np.nan]], 1), InputError, "A[0, 0] is NaN"),
    "empty chain": (lambda: chain([]), InputError, "there are no matrices: give at least one"),
    "chain of NaN": (lambda: chain([[[np.nan]]]), InputError, "matrices[0][0, 0] is NaN"),
    "chain of no fit": (lambda: chain([[[1.0, 2.0]], [[1.0]]]), InputError, "matrices[0] has 2 columns"),
    "chain of two types": (
        lambda: chain([np.ones((1, 1)), np.ones((1, 1), np.int16)]), UsageError, "matrices[1] int16"
    ),
    "chain of no list": (lambda: chain(5), UsageError, "int is not a list of matrices"),
    "scan of one matrix": (lambda: scan([[1.0]]), InputError, "matrices has 2 dimensions instead of 3"),
    "scan of NaN": (lambda: scan([[[np.nan]]]), InputError, "matrices[0, 0] is NaN"),
    "zero of int64": (lambda: zero_of(MIN_PLUS, np.int64), UsageError, "dtype has type int64"),
    "zero of no type": (lambda: zero_of(MIN_PLUS, "x"), UsageError, "'x' is not a numeric type"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_refused(name):
    wrong, error, text = WRONG[name]
    with pytest.raises(error) as raised:
        wrong()
    assert text in str(raised.value) and "\n" not in str(raised.value)


def test_a_stop_ends_the_work():
    a = np.zeros((1, 600, 600))
    calls = []

    def stop(done):
        calls.append(done)
        raise RuntimeError("enough")

    big = np.zeros((1, 600, 9000))
    with pytest.raises(RuntimeError, match="enough"):
        for _ in range(100):
            _native.tropical_product(a, big, False, False, 0, 1, stop)
    assert calls
