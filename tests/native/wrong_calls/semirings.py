"""Wrong calls of native/bindings/products.cpp, triangular.cpp and closures.cpp."""

import numpy as np
from native.wrong_calls.kinds import Entry, at, f64, i32, part

from tropalign import _native

INF, NAN = float("inf"), float("nan")


def frozen(array):
    """A copy that nobody may write to."""
    made = array.copy()
    made.flags.writeable = False
    return made


def products():
    """survey_numbers, bounded_numbers, tropical_product, truth_product."""
    wrong = [("numbers", TypeError, np.zeros(3, np.int64), np.zeros(3, bool), np.zeros((3, 3)))]
    yield Entry(_native.survey_numbers, {"numbers": np.zeros(3), "is_max": False}, wrong, open=["numbers"])
    cubes = {"numbers": np.zeros((1, 2, 3), np.int16), "is_max": False}
    yield Entry(_native.bounded_numbers, cubes, wrong, open=["numbers"])
    i16 = {"dtype": np.int16}
    yield Entry(
        _native.tropical_product,
        {
            "a": np.zeros((2, 3, 4), **i16),
            "b": np.zeros((2, 4, 5), **i16),
            "is_max": False,
            "argbest": True,
            "limit": 99.0,
        }
        | {"n_threads": 1},
        [
            ("a", "as many columns", np.zeros((2, 3, 5), **i16)),
            ("a", "unequal numbers of matrices", np.zeros((3, 3, 4), **i16), np.zeros((0, 3, 4), **i16)),
            ("a", TypeError, np.zeros((2, 3, 4), np.int64), np.zeros((2, 3, 4), np.int32)),
            ("b", TypeError, np.zeros((2, 4, 5), np.float32)),
            ("limit", "limit", 40000.0, -40000.0, NAN),
            (
                {"a": np.zeros((1, 2**31 - 1, 0), **i16), "b": np.zeros((1, 0, 2**31 - 1), **i16)},
                "too large for any memory",
            ),
            ({"a": np.zeros((1, 2**31, 0), **i16), "b": np.zeros((1, 0, 1), **i16)}, "more than 2147483647"),
        ],
        open=["a", "b"],
    )
    yield Entry(
        _native.truth_product,
        {"a": np.zeros((2, 3, 4), bool), "b": np.zeros((1, 4, 70), bool), "n_threads": 1},
        [
            ("a", "as many columns", np.zeros((2, 3, 5), bool)),
            ("b", "unequal numbers of matrices", np.zeros((3, 4, 5), bool)),
        ],
    )


def triangles():
    """fill_triangle."""
    values, closing = np.zeros((64, 64), np.int16), np.zeros((2, 64), np.int16)
    valid = {"values": values, "is_max": True, "is_weighted": False, "sizes": None, "closing": closing}
    valid |= {"letters": np.zeros(64, np.uint8), "least_distance": 1, "n_threads": 1}
    yield Entry(
        _native.fill_triangle,
        valid,
        [
            ("values", "values", np.zeros((64, 128), np.int16)),
            ("values", "multiple of 64", part(slice(63), slice(63))),
            ("values", "closing", np.zeros((128, 128), np.int16)),
            ("values", TypeError, np.zeros((64, 64), np.int64), np.zeros((64, 64)), frozen),
            ("closing", "closing", part(slice(None), slice(63))),
            ("closing", "letters", part(slice(0))),
            ("closing", TypeError, np.zeros((2, 64), np.int32)),
            ("letters", "letters", None, part(slice(63)), at(63, 2)),
            ("least_distance", "least_distance", 0, 2**31),
            ("sizes", "sizes: only supported for float64", np.zeros(65, np.int16)),
        ],
        [{"values": np.zeros((0, 0), np.int16), "closing": None}, {"least_distance": 2**31 - 1}],
        open=["values", "closing"],
    )
    chain = {"values": np.zeros((64, 64)), "is_max": False, "sizes": np.zeros(65), "closing": None, "letters": None}
    wrong = [("sizes", "sizes", np.zeros(64)), ("sizes", TypeError, np.zeros(65, np.float32))]
    wrong += [("is_max", "sizes: only supported for float64", True)]
    yield Entry(_native.fill_triangle, valid | chain, wrong, open=["values"], name="fill_triangle of a chain")


def closures():
    """closure, path_predecessors, negative_cycle and closure_bits."""
    ones, far = np.ones((3, 3), np.float32), np.full((3, 3), -1, np.int32)
    yield Entry(
        _native.closure,
        {"values": ones, "via": far + 1, "is_max": False, "n_left": 0, "tolerance": 0.0, "n_threads": 1},
        [
            ("values", "values: the matrix is not square", part(slice(3), slice(2))),
            ("values", "via: must be as large", np.ones((4, 4), np.float32)),
            (
                "values",
                TypeError,
                np.ones((3, 3), np.int64),
                np.ones((3, 3), np.float16),
                np.ones(9, np.float32),
                frozen,
            ),
            ("values", "NaN", np.full((3, 3), np.nan, np.float32)),
            ("values", "infinity of the wrong sign", np.full((3, 3), -np.inf)),
            ("values", "may exceed the range of native code", *(np.full((3, 3), k, np.int16) for k in (20000, -6000))),
            ("values", "may exceed the range of native code", np.full((3, 3), 2**30, np.int32)),
            ("via", "via: must be as large", np.zeros((2, 3), np.int32)),
            ("n_left", "n_left", 3, -1),
            ("tolerance", "tolerance", -1.0, NAN),
        ],
        [{"values": np.ones((3, 3), dtype)} for dtype in (np.float64, np.int32, np.int16)],
        open=["values"],
    )
    yield Entry(
        _native.path_predecessors,
        {"values": ones, "via": far, "is_max": False, "predecessors": far.copy(), "n_threads": 1},
        [
            ("values", "not square", part(slice(3), slice(2))),
            ("values", TypeError, np.ones((3, 3), np.int64)),
            ("via", "via: a number", np.full((3, 3), 3, np.int32), np.full((3, 3), -2, np.int32)),
            ("via", "via: must be as large", np.full((2, 2), -1, np.int32)),
            ("predecessors", "predecessors: must be as large", np.zeros((2, 2), np.int32)),
            ("predecessors", "the same memory", far),
        ],
        [{"via": i32([-1, 2, -1], [-1, -1, -1], [-1, 0, -1])}],  # a circle of detours
        open=["values"],
    )
    wrong = [("vertex", "vertex", -1, 3)]
    yield Entry(_native.negative_cycle, {"via": far, "vertex": 1}, wrong, [{"via": far + 1, "vertex": 0}])
    yield Entry(
        _native.closure_bits,
        {"bits": np.zeros((3, 8), np.uint64), "n": 3, "n_threads": 1},
        [
            ("n", "must have a row per vertex", 4, -1),
            ("bits", "blocks of 512", part(slice(3), slice(7)), part(slice(3), slice(0))),
        ],
    )


def best_paths():
    """viterbi_codes, viterbi_frames."""
    no_logarithm = [np.nan, np.inf, 1e300]
    shared = [
        ("start", "must have 1 to 65536 states", np.zeros(0), np.zeros(65537)),
        ("start", "transition: must have a row and a column per state", np.zeros(4)),
        ("start", "start: a number is not a logarithm", *(at(1, value) for value in no_logarithm)),
        ("transition", "transition: must have a row and a column per state", np.zeros((3, 4)), np.zeros((4, 3))),
        ("transition", "transition: a number is not a logarithm", at((2, 2), np.nan)),
        ("offsets", "must start and end with the data", at(-1, 4), at(0, 1)),
    ]
    model = {"start": np.zeros(3), "transition": np.zeros((3, 3))}
    offsets = np.array([0, 2, 2, 5])
    codes = [
        ("emission", "must have a row per state", np.zeros((2, 4))),
        ("emission", "must have 1 to 256 symbols", np.zeros((3, 0)), np.zeros((3, 257))),
        ("emission", "emission: a number is not a logarithm", np.full((3, 4), np.nan)),
        ("codes", "beyond the alphabet of 4", np.full(5, 4, np.uint8)),
    ]
    letters = {"emission": np.zeros((3, 4)), "codes": np.array([0, 3, 1, 2, 0], np.uint8), "offsets": offsets}
    yield Entry(_native.viterbi_codes, model | letters | {"n_threads": 1}, shared + codes)
    frames = [("frames", "must have a column per state", np.zeros((5, 2)))]
    frames += [("frames", "frames: a number is not a logarithm", at((4, 2), np.nan))]
    rows = {"frames": np.zeros((5, 3)), "offsets": offsets, "n_threads": 1}
    yield Entry(_native.viterbi_frames, model | rows, shared + frames)


def sums_of_hmms():
    """hmm_forward, hmm_posteriors, hmm_counts, hmm_labels, hmm_support."""
    shared = [
        ("start", "start: must have 1 to", np.zeros(0)),
        ("start", "transition: must have a number per pair", f64(0.5, 0.25, 0.25)),
        ("start", "start: a number outside", at(1, NAN)),
        ("transition", "transition: must have a number per pair", np.zeros((2, 3))),
        ("transition", "transition: a number outside", np.full((2, 2), -0.5), np.full((2, 2), INF)),
    ]
    of_codes = [
        *shared,
        ("emission", "emission: must have a row per state", np.full((3, 3), 1 / 3)),
        ("emission", "emission: must have 1 to", np.zeros((2, 0))),
        ("emission", "1 to 256 symbols", np.zeros((2, 257))),
        ("emission", "emission: a number outside", at((1, 2), NAN)),
        ("codes", "beyond the alphabet", at(3, 3)),
    ]
    wrong_frame = (np.full((4, 2), value) for value in (NAN, INF, -1e9))
    of_frames = [*shared, ("frames", "frames: must have a column per state", np.zeros((4, 3)))]
    of_frames += [("frames", "frames: a number that is neither", *wrong_frame)]
    of_segments = [
        ("state_labels", "state_labels: must have a label per state", np.zeros(3, np.uint8)),
        ("labels", "segments: arrays of unequal", np.zeros(1, np.uint8)),
        ("ends", "not within a sequence", at(1, 5)),
        ("ends", "overlapping", at(0, 3)),
        ("ends", "empty", at(0, 0)),
        ("begins", "overlapping", at(0, -1)),
    ]
    model = {"start": f64(0.5, 0.5), "transition": np.full((2, 2), 0.5), "n_threads": 1}
    codes = np.array([0, 1, 2, 0], np.uint8)
    letters = model | {"emission": np.full((2, 3), 1 / 3), "codes": codes, "offsets": np.array([0, 4])}
    frames = model | {"frames": np.zeros((4, 2)), "offsets": np.array([0, 4])}
    for name in ("forward", "posteriors", "counts"):
        yield Entry(getattr(_native, f"hmm_{name}_codes"), letters, of_codes)
        yield Entry(getattr(_native, f"hmm_{name}_frames"), frames, of_frames)
    labels = letters | {"state_labels": np.zeros(2, np.uint8)}
    yield Entry(
        _native.hmm_labels,
        labels,
        [*of_codes, ("state_labels", "labels: must have a label per state", np.zeros(3, np.uint8))],
    )
    segments = {"begins": np.array([0, 2]), "ends": np.array([2, 4]), "labels": np.zeros(2, np.uint8)}
    yield Entry(_native.hmm_support, labels | segments, of_codes + of_segments)
