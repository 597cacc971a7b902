"""Wrong calls of native/bindings/phylo.cpp."""

import numpy as np
from native.wrong_calls.changes import changed, with_value

from tropalign import _native

I32, I64, U8, U32, U64 = np.int32, np.int64, np.uint8, np.uint32, np.uint64


def makers():
    """BranchMaker."""
    sets = np.full(256, 15, U32)
    sets[[65, 67, 71, 84]] = 1, 2, 4, 8
    letters = np.frombuffer(b"ACGTACGGTCGTAAGT", U8).reshape(4, 4)
    valid = {
        "letters": letters,
        "tip_row": np.arange(4, dtype=I64),
        "column": np.arange(4, dtype=I64),
        "sets": sets,
        "n_states": 4,
        "joints": np.array([[4, 0, 0, 1, 0], [5, 2, 0, 3, 0]], I32),
        "branches": np.array([[4, 5, 0], [0, 5, 0]], I32),
        "transitions": np.array([[0.9, 0.1, 0.1, 0.9]]),
        "discrete": False,
        "n_threads": 1,
    }
    yield "valid", lambda **a: _native.BranchMaker(**a).planes(), valid, None, ""
    for name, wrong, text in [
        *(("joints", with_value(valid["joints"], at, k), "joints") for at, k in JOINTS),
        *(("branches", with_value(valid["branches"], at, k), "branches") for at, k in BRANCHES),
        ("joints", np.zeros((2, 4), I32), "rows of 5"),
        ("branches", np.zeros((2, 4), I32), "rows of 5"),
        ("branches", np.zeros((0, 3), I32), "empty"),
        ("column", np.zeros(0, I64), "empty"),
        ("transitions", np.zeros((1, 3)), "rows of 5"),
        ("transitions", np.zeros((0, 4)), "joints"),
        ("sets", np.zeros(255, U32), "sets"),
        ("sets", with_value(sets, 65, 16), "sets"),
        ("sets", with_value(sets, 65, 2**32 - 1), "sets"),
        ("n_states", 0, "n_states"),
        ("n_states", 32, "n_states"),
        ("n_states", 3, "sets"),
        ("tip_row", np.array([0, 1, 2, 4], I64), "tip_row"),
        ("tip_row", np.array([0, 1, 2, -1], I64), "tip_row"),
        ("tip_row", np.zeros(3, I64), "joints"),
        ("column", np.array([0, 1, 2, 4], I64), "column"),
        ("column", np.array([-1], I64), "column"),
        ("n_threads", 0, "n_threads"),
    ]:
        yield f"{name} {wrong}", _native.BranchMaker, changed(valid, **{name: wrong}), ValueError, text


JOINTS = [((0, 0), 5), ((0, 1), -1), ((0, 1), 4), ((1, 3), 5), ((0, 2), 1), ((1, 4), -1)]
BRANCHES = [((0, 0), 6), ((0, 1), -1), ((1, 2), 1), ((1, 2), -1)]


def planes_of(n_vectors=3, n_columns=8, n_states=4):
    rng = np.random.default_rng(1)
    return rng.integers(0, 2**63, (-(-n_vectors // 64), n_columns, n_states + 1)).astype(U64)


def _wrong_planes():
    """Arguments `planes`, `n_vectors` and `n_empty` that do not fit."""
    for changes, text in [
        ({"planes": planes_of(n_columns=7)}, "multiple of 4"),
        ({"planes": np.zeros((1, 8, 1), U64)}, "states"),
        ({"planes": np.zeros((1, 8, 33), U64)}, "states"),
        ({"planes": np.zeros((1, 8, 0), U64)}, "states"),
        ({"planes": np.zeros((0, 8, 5), U64), "n_vectors": 0}, "no vector"),
        ({"planes": np.zeros((1, 0, 5), U64)}, "n_empty"),
        ({"n_vectors": 65}, "n_vectors"),
        ({"n_vectors": 0}, "n_vectors"),
        ({"n_vectors": -1}, "n_vectors"),
        ({"n_vectors": -(2**63)}, "n_vectors"),
        ({"n_empty": -1}, "n_empty"),
        ({"n_empty": 8}, "n_empty"),
        ({"n_empty": 2**31 - 1}, "n_empty"),
    ]:
        yield changes, ValueError, text
    yield {"planes": planes_of().astype(I64)}, TypeError, ""
    yield {"planes": planes_of()[:, ::2]}, TypeError, ""
    yield {"planes": planes_of()[0]}, TypeError, ""


def vectors():
    """plane_vectors, BranchBounds, place_word_bits and can_prune."""
    valid = {"planes": planes_of(), "n_vectors": 3, "n_empty": 1}
    rows = {"rows": np.arange(3, dtype=I64)}
    yield "valid vectors", _native.plane_vectors, {**valid, **rows}, None, ""
    yield "valid bounds", _native.BranchBounds, valid, None, ""
    for changes, error, text in _wrong_planes():
        yield f"{changes}", _native.plane_vectors, {**valid, **rows, **changes}, error, text
        yield f"{changes}", _native.BranchBounds, {**valid, **changes}, error, text
    for k in (3, -1, 64, 2**62):
        wrong = {**valid, "rows": np.array([0, k], I64)}
        yield f"rows {k}", _native.plane_vectors, wrong, ValueError, "rows"
    bits = {"scoring": SCORING, "n_bases": 100, "n_columns": 100}
    yield "valid bits", _native.place_word_bits, bits, None, ""
    for changes, text in [
        *(({"scoring": scoring}, "scoring") for scoring in WRONG_SCORINGS),
        ({"n_bases": -1}, "n_bases"),
        ({"n_columns": 2**40}, "n_bases"),
        ({"scoring": (2**20, 0, -3, 3, 1, 3, 1, 0), "n_bases": 10**6, "n_columns": 10**6}, "beyond 32 bits"),
    ]:
        yield f"bits {changes}", _native.place_word_bits, {**bits, **changes}, ValueError, text
    for scoring in WRONG_SCORINGS:
        yield f"can_prune {scoring}", _native.can_prune, {"scoring": scoring}, ValueError, "scoring"
    yield "can_prune (1, 2)", _native.can_prune, {"scoring": (1, 2)}, TypeError, ""


SCORING = (2, 0, -3, 3, 1, 3, 1, 0)
WRONG_SCORINGS = [
    (2**31 - 1, 0, -3, 3, 1, 3, 1, 0),
    (2, -(2**31), -3, 3, 1, 3, 1, 0),
    (2, 0, -3, -3, 1, 3, 1, 0),
    (2, 0, -3, 3, 1, 3, -1, 0),
]


def reads_and_planes():
    return {
        "planes": planes_of(),
        "n_vectors": 3,
        "n_empty": 1,
        "scoring": SCORING,
        "codes": np.array([0, 1, 2, 3, 0], U8),
        "offsets": np.array([0, 3, 5], I64),
        "sets": np.array([1, 2, 4, 8], U32),
    }


def _wrong_reads():
    """Arguments `scoring`, `codes`, `offsets` and `sets` that do not fit."""
    for changes, text in [
        *(({"scoring": scoring}, "scoring") for scoring in WRONG_SCORINGS),
        ({"codes": np.array([0, 1, 2, 4, 0], U8)}, "codes"),
        ({"codes": np.full(5, 255, U8)}, "codes"),
        ({"codes": np.zeros(4, U8)}, "offsets"),
        ({"codes": np.zeros(6, U8)}, "offsets"),
        ({"offsets": np.array([0, 6, 5], I64)}, "offsets"),
        ({"offsets": np.array([-3, 3, 5], I64)}, "offsets"),
        ({"offsets": np.array([1, 3, 5], I64)}, "offsets"),
        ({"offsets": np.array([0, 3, 2**62], I64)}, "offsets"),
        ({"offsets": np.zeros(0, I64)}, "offsets"),
        ({"sets": np.array([1, 2, 4, 16], U32)}, "sets"),
        ({"sets": np.full(4, 2**32 - 1, U32)}, "sets"),
        ({"sets": np.ones(257, U32)}, "sets"),
        ({"sets": np.zeros(0, U32)}, "codes"),
        ({"n_threads": 0}, "n_threads"),
        ({"n_threads": -1}, "n_threads"),
    ]:
        yield changes, ValueError, text
    yield {"scoring": (1, 2, 3)}, TypeError, ""
    yield {"scoring": (2**40,) * 8}, TypeError, ""
    yield {"codes": np.zeros(5, I64)}, TypeError, ""
    yield {"n_threads": 2**40}, TypeError, ""


def placements():
    """place_scores and place_paths."""
    scores = {**reads_and_planes(), "word_bits": 8, "bounds": None, "n_best": 1, "n_strands": 1, "n_threads": 1}
    paths = {
        **reads_and_planes(),
        "rows": np.array([0, 2], I64),
        "windows": np.array([[0, 7], [2, 5]], I32),
        "n_threads": 1,
    }
    bounds = _native.BranchBounds(planes_of(), 3, 1)
    yield "valid scores", _native.place_scores, scores, None, ""
    yield "valid bounds", _native.place_scores, changed(scores, bounds=bounds), None, ""
    yield "valid strands", _native.place_scores, changed(scores, bounds=bounds, n_strands=2), None, ""
    yield "valid paths", _native.place_paths, paths, None, ""
    for changes, error, text in [*_wrong_planes(), *_wrong_reads()]:
        yield f"scores {changes}", _native.place_scores, {**scores, **changes}, error, text
        yield f"bounded {changes}", _native.place_scores, {**scores, "bounds": bounds, **changes}, error, text
        yield f"paths {changes}", _native.place_paths, {**paths, **changes}, error, text
    long_read = {"codes": np.zeros(200, U8), "offsets": np.array([0, 200], I64), "planes": planes_of(3, 200)}
    other = _native.BranchBounds(planes_of(100), 100, 1)
    for changes, text in [
        ({"word_bits": 0}, "word_bits"),
        ({"word_bits": 7}, "word_bits"),
        ({"word_bits": 64}, "word_bits"),
        ({"word_bits": -8}, "word_bits"),
        (long_read, "too few for the scores"),
        ({"bounds": bounds, "n_best": 0}, "n_best"),
        ({"bounds": bounds, "word_bits": 32}, "bounds"),
        ({"bounds": other}, "other planes"),
        ({"bounds": _native.BranchBounds(planes_of(3, 12), 3, 1)}, "other planes"),
        ({"bounds": _native.BranchBounds(planes_of(3, 8, 3), 3, 1)}, "other planes"),
        ({"bounds": _native.BranchBounds(planes_of(), 3, 0)}, "other planes"),
        ({"bounds": bounds, "n_strands": 0}, "n_strands"),
        ({"bounds": bounds, "n_strands": 3}, "n_strands"),
        ({"n_strands": 2}, "n_strands"),
        ({"bounds": bounds, "n_strands": 2, "codes": np.zeros(4, U8), "offsets": np.array([0, 4], I64)}, "odd number"),
        ({"bounds": bounds, "scoring": (2, -1, -3, 3, 1, 3, 1, 0), "word_bits": 16}, "do not hold"),
    ]:
        yield f"scores {changes}", _native.place_scores, {**scores, **changes}, ValueError, text
    yield "progress", _native.place_scores, changed(scores, progress="x"), TypeError, ""
    for changes, text in [
        ({"rows": np.array([0, 3], I64)}, "rows"),
        ({"rows": np.array([0, -1], I64)}, "rows"),
        ({"rows": np.array([0], I64)}, "rows"),
        ({"windows": np.array([[0, 7], [2, 8]], I32)}, "windows"),
        ({"windows": np.array([[0, 7], [-1, 5]], I32)}, "windows"),
        ({"windows": np.array([[0, 7], [5, 5]], I32)}, "windows"),
        ({"windows": np.array([[0, 7, 1], [2, 5, 1]], I32)}, "windows"),
        ({"windows": np.zeros((0, 2), I32)}, "windows"),
    ]:
        yield f"paths {changes}", _native.place_paths, {**paths, **changes}, ValueError, text
