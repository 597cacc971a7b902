"""Wrong calls of every native entry: what is wrong, the exception, and a part of its text.

Run as a program with the name of a group, it makes the group's calls and prints a line per call: "ok", or what came
instead. So a crash ends a process of its own, and the last line names the call.
"""

import sys

import numpy as np

from tropalign import _native

I32, I64, U8, U32, U64 = np.int32, np.int64, np.uint8, np.uint32, np.uint64


def changed(valid, **changes):
    """The arguments with some of another value."""
    return {**valid, **changes}


def with_value(array, at, value):
    """A copy with one value changed."""
    made = array.copy()
    made[at] = value
    return made


def pairs():
    """align_pairs."""
    codes, offsets = np.arange(12, dtype=U8), np.array([0, 4, 8, 12], I64)
    matrix = np.where(np.eye(32, dtype=bool), 2, -1).astype(I32)
    valid = {
        "query_codes": codes,
        "query_offsets": offsets,
        "target_codes": codes.copy(),
        "target_offsets": offsets.copy(),
        "query_index": np.array([0, 1], I64),
        "target_index": np.array([1, 2], I64),
        "matrix": matrix,
        "gap_open": 3,
        "gap_extend": 1,
        "mode": "local",
        "free_ends": (False,) * 4,
        "depth": 2,
        "n_threads": 2,
        "memory_bytes": 1 << 20,
    }
    lopsided = matrix.copy()
    lopsided[0, 1] = 1
    long_offsets = np.array([0, 4, 8, 10**9], I64)
    yield "valid", _native.align_pairs, valid, None, ""
    for side in ("query", "target"):
        name, name_codes, index = f"{side}_offsets", f"{side}_codes", f"{side}_index"
        for text, wrong in {
            "offsets descend": np.array([0, 8, 4, 12], I64),
            "reach beyond": long_offsets,
            "beyond the data": np.array([-1, 4, 8, 12], I64),
            "one entry more": np.zeros(0, I64),
            "a sequence is empty": np.array([0, 4, 4, 12], I64),
        }.items():
            yield f"{name} {wrong}", _native.align_pairs, changed(valid, **{name: wrong}), ValueError, text
        for code in (31, 32, 255):
            wrong = with_value(codes, 5, code)
            yield f"code {code}", _native.align_pairs, changed(valid, **{name_codes: wrong}), ValueError, name_codes
        for k in (3, -1, 2**62, -(2**63)):
            wrong = np.array([0, k], I64)
            yield f"{index} {k}", _native.align_pairs, changed(valid, **{index: wrong}), ValueError, index
        yield f"short {index}", _native.align_pairs, changed(valid, **{index: np.zeros(1, I64)}), ValueError, "unequal"
        one = changed(valid, **{name: np.array([0], I64)})
        yield f"no sequence: {name}", _native.align_pairs, one, ValueError, index
        for wrong in (codes.astype(I64), codes[::2], codes.reshape(3, 4), [1, 2], None):
            if wrong is not None and not isinstance(wrong, list) and wrong.shape == (6,):
                wrong = np.zeros(24, U8)[::2]
            yield f"{name_codes} {wrong!r}", _native.align_pairs, changed(valid, **{name_codes: wrong}), TypeError, ""
        yield f"int32 {index}", _native.align_pairs, changed(valid, **{index: np.zeros(2, I32)}), TypeError, ""
    for name, wrong, text in [
        ("mode", "glocal", "none of local, global, semiglobal"),
        ("gap_open", -1, "zero or more"),
        ("gap_extend", -1, "zero or more"),
        ("gap_open", 2**31 - 1, "may pass 2147483647"),
        ("gap_extend", 2**31 - 1, "may pass 2147483647"),
        ("matrix", np.full((32, 32), 2**31 - 1, I32), "may pass 2147483647"),
        ("matrix", np.full((32, 32), -(2**31), I32), "may pass 2147483647"),
        ("matrix", lopsided, "not symmetric"),
        ("depth", 3, "depth"),
        ("depth", -1, "depth"),
        ("n_threads", 0, "n_threads"),
        ("n_threads", -5, "n_threads"),
        ("memory_bytes", 0, "memory_bytes"),
        ("memory_bytes", -1, "memory_bytes"),
    ]:
        yield f"{name} {wrong}", _native.align_pairs, changed(valid, **{name: wrong}), ValueError, text
    for name, wrong in [
        ("matrix", matrix[:31]),
        ("matrix", matrix.astype(I64)),
        ("matrix", matrix.T[::-1]),
        ("gap_open", 2**31),
        ("gap_open", 1.5),
        ("free_ends", (True, True)),
        ("n_threads", 2**40),
        ("memory_bytes", 2**70),
        ("progress", 5),
    ]:
        yield f"{name} {wrong!r}", _native.align_pairs, changed(valid, **{name: wrong}), TypeError, ""


def plans():
    """plan_gpu."""
    valid = {
        "query": np.array([0, 0, 1], I64),
        "target": np.array([1, 2, 2], I64),
        "length": np.array([9, 5, 3], I64),
        "rank": np.arange(3, dtype=I32),
        "bound": np.array([9, 9, 9], I64),
        "wide_from": 100,
        "extend": 0,
        "strip_cells": 1000,
        "free_ends": (False,) * 4,
        "word_bits": 16,
        "group": 4,
        "rows": (8, 8, 8),
    }
    yield "valid", _native.plan_gpu, valid, None, ""
    for name, wrong, text in [
        *((name, np.array([0, 0, k], I64), name) for name in ("query", "target") for k in (3, -1, 2**40)),
        ("query", np.zeros(2, I64), "unequal"),
        ("rank", np.array([0, 1, 3], I32), "rank"),
        ("rank", np.array([0, 1, -1], I32), "rank"),
        ("rank", np.zeros(2, I32), "unequal"),
        ("bound", np.zeros(2, I64), "unequal"),
        ("bound", np.array([1, 2, -3], I64), "bound"),
        ("bound", np.array([1, 2, 2**62], I64), "bound"),
        ("length", np.array([1, 2, -3], I64), "length"),
        ("length", np.array([1, 2, 2**31], I64), "length"),
        ("extend", -1, "extend"),
        ("extend", 2**40, "extend"),
        ("strip_cells", 0, "strip_cells"),
        ("word_bits", 8, "word_bits"),
        ("word_bits", 0, "word_bits"),
        ("group", 0, "group"),
        ("group", -4, "group"),
        ("group", 2**30, "group"),
        ("rows", (8, 0, 8), "rows"),
        ("rows", (8, 8, -1), "rows"),
        ("rows", (2**31 - 1, 8, 8), "rows"),
    ]:
        yield f"{name} {wrong}", _native.plan_gpu, changed(valid, **{name: wrong}), ValueError, text
    yield "rows (8,)", _native.plan_gpu, changed(valid, rows=(8,)), TypeError, ""


def scatters():
    """scatter_values and scatter_runs."""
    values = {"values": np.zeros((2, 3), I32), "place": np.array([4, 0, 2], I64), "out": np.zeros((2, 5), I32)}
    yield "valid values", _native.scatter_values, values, None, ""
    for k in (5, -1, 2**62):
        wrong = changed(values, place=np.array([4, k, 2], I64))
        yield f"place {k}", _native.scatter_values, wrong, ValueError, "place"
    for name, wrong in [
        ("place", np.zeros(2, I64)),
        ("values", np.zeros((3, 3), I32)),
        ("out", np.zeros((1, 5), I32)),
    ]:
        yield f"{name} {wrong}", _native.scatter_values, changed(values, **{name: wrong}), ValueError, "unequal shapes"
    read_only = np.zeros((2, 5), I32)
    read_only.flags.writeable = False
    for wrong in (read_only, np.zeros((2, 10), I32)[:, ::2], np.zeros((2, 5), I64)):
        yield "out", _native.scatter_values, changed(values, out=wrong), TypeError, ""
    runs = {
        "runs": np.arange(6, dtype=U32),
        "begin": np.array([0, 2, 6], I64),
        "place": np.array([1, 0], I64),
        "offsets": np.array([0, 4, 6], I64),
        "out": np.zeros(6, U32),
    }
    yield "valid runs", _native.scatter_runs, runs, None, ""
    for name, wrong, text in [
        ("begin", np.array([0, 6], I64), "unequal lengths"),
        ("begin", np.array([0, 7, 6], I64), "descend"),
        ("begin", np.array([0, 2, 7], I64), "beyond"),
        ("begin", np.array([-2, 2, 6], I64), "beyond"),
        ("begin", np.array([0, 3, 6], I64), "longer than the room"),
        ("place", np.array([1, 2], I64), "place"),
        ("place", np.array([1, -1], I64), "place"),
        ("offsets", np.array([0, 4, 7], I64), "beyond"),
        ("offsets", np.array([-1, 4, 6], I64), "beyond"),
        ("offsets", np.array([4, 0, 6], I64), "descend"),
        ("offsets", np.zeros(0, I64), "offsets"),
        ("out", np.zeros(5, U32), "beyond"),
    ]:
        yield f"{name} {wrong}", _native.scatter_runs, changed(runs, **{name: wrong}), ValueError, text


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
    yield "valid", lambda **a: _native.BranchMaker(**a).planes(np.array([0, 1], I64)), valid, None, ""
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
    maker = _native.BranchMaker(**valid)
    for wrong in ([2], [-1], [2**62], []):
        yield f"chosen {wrong}", maker.planes, {"chosen": np.array(wrong, I64)}, ValueError, "chosen"


JOINTS = [((0, 0), 5), ((0, 1), -1), ((0, 1), 4), ((1, 3), 5), ((0, 2), 1), ((1, 4), -1)]
BRANCHES = [((0, 0), 6), ((0, 1), -1), ((1, 2), 1), ((1, 2), -1)]


def planes_of(n_vectors=3, n_columns=8, n_states=4):
    rng = np.random.default_rng(1)
    return rng.integers(0, 2**63, (-(-n_vectors // 64), n_columns, n_states + 1)).astype(U64)


def wrong_planes():
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
    for changes, error, text in wrong_planes():
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


def wrong_reads():
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
    scores = {**reads_and_planes(), "word_bits": 8, "bounds": None, "n_best": 1, "n_threads": 1}
    paths = {
        **reads_and_planes(),
        "rows": np.array([0, 2], I64),
        "windows": np.array([[0, 7], [2, 5]], I32),
        "n_threads": 1,
    }
    bounds = _native.BranchBounds(planes_of(), 3, 1)
    yield "valid scores", _native.place_scores, scores, None, ""
    yield "valid bounds", _native.place_scores, changed(scores, bounds=bounds), None, ""
    yield "valid paths", _native.place_paths, paths, None, ""
    for changes, error, text in [*wrong_planes(), *wrong_reads()]:
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


def rows_of_text():
    """join_rows and column_text."""
    text, far = np.frombuffer(b"abcdef", U8), np.array([0, 1, 99], I64)
    offsets = np.array([0, 2, 6], I64)
    for column, error, part in [
        (("text", text, offsets, None, ""), None, ""),
        ((), ValueError, "lacks a part"),
        (("int32",), ValueError, "lacks a part"),
        (("int32", ""), ValueError, "lacks a part"),
        (("text", text, ""), ValueError, "lacks a part"),
        ((5, ""), TypeError, "kind"),
        (("constant", 5), TypeError, "prefix"),
        (("constant", None), TypeError, "prefix"),
        (("words", ""), ValueError, "unknown kind"),
        ([], TypeError, ""),
        ("int32", TypeError, ""),
        (None, TypeError, ""),
        (("int32", np.zeros(1, I32), ""), ValueError, "fewer items"),
        (("int32", np.zeros(2, I64), ""), TypeError, "another type"),
        (("int32", [1, 2], ""), TypeError, "another type"),
        (("int64", np.zeros(4, I64)[::2], ""), TypeError, "not contiguous"),
        (("real", np.zeros(2), 10, ""), ValueError, "decimals"),
        (("real", np.zeros(2), -1, ""), ValueError, "decimals"),
        (("real", np.zeros(2), "x", ""), TypeError, "decimals"),
        (("text", text, far, None, ""), ValueError, "beyond"),
        (("text", text, np.array([-1, 2, 6], I64), None, ""), ValueError, "beyond"),
        (("text", text, np.array([2, 0, 6], I64), None, ""), ValueError, "descend"),
        (("text", text, np.zeros(0, I64), None, ""), ValueError, "fewer items"),
        (("text", text, np.array([0], I64), None, ""), ValueError, "fewer items"),
        (("text", text, offsets, np.array([0, 2], I64), ""), ValueError, "names no item"),
        (("text", text, offsets, np.array([0, -(2**63)], I64), ""), ValueError, "names no item"),
        (("text", text, offsets, np.array([0], I64), ""), ValueError, "fewer items"),
        (("cigar", np.zeros(6, U32), far, ""), ValueError, "beyond"),
        (("cigar", np.zeros(6, U32), np.array([0, 6], I64), ""), ValueError, "fewer items"),
        (("cigar", np.zeros(6, U8), offsets, ""), TypeError, "another type"),
    ]:
        yield f"join {column}", _native.join_rows, {"columns": [column], "n_rows": 2}, error, part
        yield f"column {column}", _native.column_text, {"column": column, "n_rows": 2}, error, part
    constant = ("constant", "x" * 1000)
    for n_rows, error, part in [
        (-1, ValueError, "negative"),
        (2**62, ValueError, "any memory"),
        (2**64, TypeError, ""),
    ]:
        yield f"join {n_rows}", _native.join_rows, {"columns": [constant], "n_rows": n_rows}, error, part
        yield f"column {n_rows}", _native.column_text, {"column": constant, "n_rows": n_rows}, error, part
    yield "no list", _native.join_rows, {"columns": ("constant", ""), "n_rows": 1}, TypeError, ""


def alignments():
    """gapped_text and srspair_records."""
    letters, codes = np.frombuffer(b"ACGTACGT", U8), np.arange(8, dtype=U8)
    ones, names, bounds = np.ones(2, I32), np.frombuffer(b"ab", U8), np.array([0, 1, 2], I64)
    arrays = {
        "query_begin": np.array([0, 4], I64),
        "target_begin": np.array([0, 4], I64),
        "query_letters": letters,
        "query_codes": codes,
        "target_letters": letters.copy(),
        "target_codes": codes.copy(),
        "operations": np.array([4 << 4 | 7, 3 << 4 | 8, 1 << 4 | 1], U32),
        "offsets": np.array([0, 1, 3], I64),
        "positive": np.ones((32, 32), U8).ravel(),
        **dict.fromkeys(("score", "n_identical", "n_similar", "n_gaps", "query_start", "target_start"), ones),
        "strand": None,
        **{f"{side}_names": names for side in ("query", "target")},
        **{f"{side}_name_offsets": bounds for side in ("query", "target")},
        **{f"{side}_index": np.array([0, 1], I64) for side in ("query", "target")},
    }

    def gapped(**changes):
        return _native.gapped_text({**arrays, **changes})

    def srspair(**changes):
        return _native.srspair_records({**arrays, **changes}, "# Gap_penalty: 1\n")

    yield "valid gapped", gapped, {}, None, ""
    yield "valid srspair", srspair, {}, None, ""
    for name, wrong, error, text in [
        *((f"{side}_begin", np.array([0, k], I64), ValueError, "longer") for side in SIDES for k in FAR),
        ("query_begin", np.zeros(3, I64), ValueError, "fewer items"),
        ("query_begin", np.zeros(2, I32), TypeError, "another type"),
        ("target_begin", np.zeros(1, I64), ValueError, "fewer items"),
        ("query_codes", codes[:7], ValueError, "fewer items"),
        ("target_letters", letters[:6], ValueError, "longer"),
        ("operations", np.array([2**32 - 9, 3 << 4 | 8, 1 << 4 | 1], U32), ValueError, "longer"),
        ("operations", np.array([4 << 4 | 7, 3 << 4 | 8, 1 << 4 | 5], U32), ValueError, "operation"),
        ("offsets", np.array([0, 1, 4], I64), ValueError, "beyond"),
        ("offsets", np.array([0, 3, 1], I64), ValueError, "descend"),
        ("offsets", np.array([-1, 1, 3], I64), ValueError, "beyond"),
        ("offsets", np.array([0, 1], I64), ValueError, "fewer items"),
        ("positive", np.ones(1023, U8), ValueError, "fewer items"),
    ]:
        yield f"gapped {name} {wrong}", gapped, {name: wrong}, error, text
        yield f"srspair {name} {wrong}", srspair, {name: wrong}, error, text
    for name, wrong, error, text in [
        ("score", np.ones(1, I32), ValueError, "fewer items"),
        ("n_gaps", np.ones(2, I64), TypeError, "another type"),
        ("strand", np.ones(1, np.int8), ValueError, "fewer items"),
        ("query_names", names[:1], ValueError, "beyond"),
        ("query_name_offsets", np.array([0, 2, 1], I64), ValueError, "descend"),
        ("query_name_offsets", np.array([-1, 1, 2], I64), ValueError, "beyond"),
        ("query_name_offsets", np.zeros(0, I64), ValueError, "fewer items"),
        ("query_index", np.array([0, 2], I64), ValueError, "names no sequence"),
        ("target_index", np.array([0, -1], I64), ValueError, "names no sequence"),
    ]:
        yield f"srspair {name} {wrong}", srspair, {name: wrong}, error, text
    yield "empty dict", _native.gapped_text, {"arrays": {}}, KeyError, "query_begin"
    yield "no dict", _native.gapped_text, {"arrays": []}, TypeError, ""


def subsequences():
    """lcs_lengths, lcs_distances."""
    codes, offsets = np.arange(12, dtype=U8), np.array([0, 4, 8, 12], I64)
    chosen = np.array([0, 2], np.int32)
    valid = {"codes": codes, "offsets": offsets, "n_codes": 12, "rows": chosen, "columns": chosen, "n_threads": 1}
    all_pairs = {"codes": codes, "offsets": offsets, "n_codes": 12, "share": np.zeros(32, np.float32), "n_threads": 1}
    for call, good in ((_native.lcs_lengths, valid), (_native.lcs_distances, all_pairs)):
        yield "valid", call, good, None, ""
        for name, wrong, error, text in [
            ("offsets", np.array([0, 8, 4, 12], I64), ValueError, "offsets descend"),
            ("offsets", np.array([0, 4, 8, 13], I64), ValueError, "reach beyond"),
            ("offsets", np.array([0, 4, 4, 12], I64), ValueError, "a sequence is empty"),
            ("offsets", np.zeros(0, I64), ValueError, "one entry more"),
            ("offsets", offsets.astype(np.int32), TypeError, ""),
            ("codes", with_value(codes, 3, 128), ValueError, "beyond the alphabet"),
            ("codes", codes[::2], TypeError, ""),
            ("n_codes", 0, ValueError, "outside of 1 to 128"),
            ("n_codes", 129, ValueError, "outside of 1 to 128"),
            ("n_threads", 0, ValueError, "below 1"),
            ("progress", 3, TypeError, "not callable"),
        ]:
            yield f"{name} {wrong}", call, changed(good, **{name: wrong}), error, text
    for side in ("rows", "columns"):
        for k in (3, -1):
            wrong = np.array([0, k], np.int32)
            yield f"{side} {k}", _native.lcs_lengths, changed(valid, **{side: wrong}), ValueError, side
    for wrong, text in [(np.zeros(31, np.float32), "not 32"), (np.full(32, 1, np.float32), "outside"),
                        (np.full(32, np.nan, np.float32), "outside")]:  # fmt: skip
        yield f"share {wrong[0]}", _native.lcs_distances, changed(all_pairs, share=wrong), ValueError, text


def groups_of_sequences():
    """pool_posteriors."""
    u16 = np.uint16
    valid = {
        "pairs": np.array([[0, 1], [0, 2]], np.int32),
        "row_sizes": np.array([1, 0, 2, 1, 1, 0], u16),
        "columns": np.array([0, 0, 1, 1, 2], u16),
        "values": np.array([100, 200, 300, 400, 500], u16),
        "offsets": np.array([0, 3, 5, 8], I64),
        "column_of": np.array([0, 2, 3, 0, 1, 0, 1, 3], u16),
        "begins": np.array([0, 2], I64),
        "n_rows": np.array([4], np.int32),
        "n_columns": np.array([4], np.int32),
        "weights": np.ones(2),
        "cutoff": 0.0,
        "n_threads": 1,
    }
    yield "valid", _native.pool_posteriors, valid, None, ""
    for name, wrong, text in [
        ("pairs", np.zeros((2, 3), np.int32), "not two numbers"),
        ("pairs", np.array([[0, 1], [0, 3]], np.int32), "pairs"),
        ("pairs", np.array([[0, 1], [-1, 2]], np.int32), "pairs"),
        ("row_sizes", np.array([1, 0, 2, 1, 1], u16), "fewer than residues"),
        ("row_sizes", np.array([1, 0, 2, 1, 1, 0, 0], u16), "more than residues"),
        ("row_sizes", np.array([1, 0, 2, 1, 1, 1], u16), "columns: fewer"),
        ("row_sizes", np.array([1, 0, 2, 1, 0, 0], u16), "columns: more"),
        ("columns", np.array([0, 0, 2, 1, 2], u16), "columns"),
        ("columns", np.zeros(4, u16), "unequal"),
        ("offsets", np.array([0, 3, 5, 9], I64), "reach beyond"),
        ("column_of", np.array([0, 2, 2, 0, 1, 0, 1, 3], u16), "descend"),
        ("column_of", np.array([0, 2, 4, 0, 1, 0, 1, 3], u16), "beyond its group"),
        ("begins", np.array([0, 1], I64), "begin and end with the pairs"),
        ("begins", np.array([0, 3], I64), "reach beyond"),
        ("n_rows", np.array([3], np.int32), "beyond its group"),
        ("n_rows", np.array([-1], np.int32), "outside of 0 to 65535"),
        ("n_columns", np.array([65536], np.int32), "outside of 0 to 65535"),
        ("n_columns", np.array([4, 4], np.int32), "not one of each"),
        ("weights", np.array([1.0, 0.0]), "above 0"),
        ("weights", np.array([1.0, np.nan]), "above 0"),
        ("weights", np.ones(3), "not one of each"),
        ("cutoff", 1.5, "outside of 0 to 1"),
        ("cutoff", float("nan"), "outside of 0 to 1"),
        ("n_threads", 0, "below 1"),
    ]:
        yield f"{name} {wrong}", _native.pool_posteriors, changed(valid, **{name: wrong}), ValueError, text


def posteriors():
    """pair_posteriors and posterior_scratch_bytes."""
    codes, offsets = np.arange(12, dtype=U8) % 4, np.array([0, 4, 8, 12], I64)
    valid = {
        "codes": codes,
        "offsets": offsets,
        "pairs": np.array([[0, 1], [2, 0]], I32),
        "transitions": np.array([0.6, 0.1, 0.1, 0.01, 0.01, 0.4, 0.9, 0.0]),
        "match": np.full((4, 4), 1 / 16),
        "insert": np.full(4, 0.25),
        "boltzmann": np.ones((4, 4)),
        "gap": np.array([0.1, 0.5]),
        "hmm_share": 0.5,
        "cutoff": 0.01,
        "keep": 0.0,
        "n_threads": 2,
    }
    yield "valid", _native.pair_posteriors, valid, None, ""
    nan, inf = float("nan"), float("inf")
    changes = [
        ("codes", with_value(codes, 5, 4), "beyond the alphabet"),
        ("codes", codes[:5].copy(), "reach beyond the data"),
        ("offsets", np.array([0, 8, 4, 12], I64), "descend"),
        ("offsets", np.array([0, 4, 4, 12], I64), "a sequence is empty"),
        ("offsets", np.array([-1, 4, 8, 12], I64), "beyond the data"),
        ("offsets", np.zeros(0, I64), "one entry more"),
        *(("pairs", np.array([[0, 1], [2, k]], I32), "outside of 0 to 2") for k in (3, -1, 2**31 - 1, -(2**31))),
        ("pairs", np.array([[0, 1], [2, 2]], I32), "a sequence with itself"),
        ("pairs", np.zeros((2, 3), I32), "not two columns"),
        ("transitions", np.full(7, 0.1), "not 8 numbers"),
        *(("transitions", with_value(valid["transitions"], 7, p), "weight of an overhang") for p in (1, nan, -1, inf)),
        *(("transitions", with_value(valid["transitions"], 5, p), "between 0 and 1") for p in (0, 1, nan, -1, inf)),
        ("transitions", with_value(valid["transitions"], 3, 0.49), "no probability to stay"),
        ("insert", np.zeros(0), "not 1 to 31 numbers"),
        ("insert", np.full(32, 0.25), "not 1 to 31 numbers"),
        *(("insert", with_value(valid["insert"], 2, p), "within 0 and 1") for p in (0, nan, -1, 2)),
        *(
            (name, table, text)
            for name in ("match", "boltzmann")
            for table, text in [
                (np.ones((4, 5)), "not 4 by 4"),
                (np.ones((3, 3)), "not 4 by 4"),
                *((with_value(valid[name], (1, 2), p), "not finite and above 0") for p in (nan, -1, inf)),
                (with_value(valid[name], (1, 2), 1e7), "over 1048576"),
            ]
        ),
        ("boltzmann", with_value(valid["boltzmann"], (1, 2), 0), "above 0"),
        ("gap", np.ones(3), "not 2 numbers"),
        *(("gap", np.array([0.5, p]), "within 0 and 1") for p in (0, nan, 2)),
        *((name, p, "not from 0 to 1") for name in ("hmm_share", "cutoff", "keep") for p in (-0.1, 1.1, nan)),
        ("n_threads", 0, "below 1"),
    ]
    for name, wrong, text in changes:
        yield f"{name} {wrong}", _native.pair_posteriors, changed(valid, **{name: wrong}), ValueError, text
    for name, wrong in [
        ("codes", codes.astype(I64)),
        ("codes", np.zeros(24, U8)[::2]),
        ("offsets", offsets.astype(I32)),
        ("pairs", valid["pairs"].astype(I64)),
        ("pairs", np.asfortranarray(valid["pairs"])),
        ("match", valid["match"].astype(np.float32)),
        ("gap", [0.1, 0.5]),
        ("progress", 5),
    ]:
        yield f"{name} {wrong!r}", _native.pair_posteriors, changed(valid, **{name: wrong}), TypeError, ""
    long = changed(valid, codes=np.zeros(65_537, U8), offsets=np.array([0, 1, 65_537], I64))
    long["pairs"] = np.array([[0, 1]], I32)
    yield "65,536 residues", _native.pair_posteriors, long, ValueError, "longer than 65535"
    lengths = {"length_x": 3, "length_y": 4}
    yield "valid lengths", _native.posterior_scratch_bytes, lengths, None, ""
    for name in lengths:
        for wrong in (0, -1, 65_536, 2**62):
            arguments = changed(lengths, **{name: wrong})
            yield f"{name} {wrong}", _native.posterior_scratch_bytes, arguments, ValueError, f"{name}: not 1 to 65535"


def posterior_stores():
    """PosteriorStore."""
    u16 = np.uint16
    store = _native.PosteriorStore(np.array([2, 3, 1], I32))
    given = {
        "pairs": np.array([[0, 1]], I32),
        "row_sizes": np.array([1, 2], u16),
        "columns": np.array([0, 1, 2], u16),
        "values": np.array([1, 32767, 100], u16),
    }
    for wrong, text in [([2, -1], "-1 residues"), ([65536], "65536 residues")]:
        yield f"lengths {wrong}", _native.PosteriorStore, {"lengths": np.array(wrong, I32)}, ValueError, text
    yield "lengths int64", _native.PosteriorStore, {"lengths": np.array([1, 2])}, TypeError, ""
    for name, wrong, text in [
        ("pairs", np.array([[0, 3]], I32), "no sequence"),
        ("pairs", np.array([[-1, 1]], I32), "no sequence"),
        ("pairs", np.array([[1, 1]], I32), "with itself"),
        ("pairs", np.array([[0, 1, 2]], I32), "rows of other than 2"),
        ("pairs", np.array([[1, 0]], I32), "more rows than row_sizes"),
        ("pairs", np.array([[0, 2]], I32), "do not ascend within"),
        ("pairs", np.zeros((0, 2), I32), "more than the pairs have"),
        ("row_sizes", np.array([1, 1], u16), "more than the pairs have"),
        ("row_sizes", np.array([1, 3], u16), "more elements than columns"),
        ("row_sizes", np.array([1, 65535], u16), "more elements than columns"),
        ("row_sizes", np.array([1], u16), "more rows than row_sizes"),
        ("row_sizes", np.array([1, 2, 0], u16), "more than the pairs have"),
        ("columns", np.array([0, 2, 1], u16), "do not ascend"),
        ("columns", np.array([0, 1, 1], u16), "do not ascend"),
        ("columns", np.array([0, 1, 3], u16), "do not ascend within"),
        ("columns", np.array([0, 1], u16), "of different sizes"),
        ("values", np.array([1, 32768, 100], u16), "above 32767"),
    ]:
        yield f"add {name} {wrong}", store.add, changed(given, **{name: wrong}), ValueError, text
    yield "add int32 columns", store.add, changed(given, columns=np.array([0, 1, 2], I32)), TypeError, ""
    twice = {name: np.concatenate([array, array]) for name, array in given.items()}
    yield "add twice at once", store.add, twice, ValueError, "a pair twice"
    yield "add", store.add, given, None, ""
    yield "add again", store.add, given, ValueError, "there already"
    for x, y, text in [(0, 2, "without posteriors"), (0, 3, "y: no"), (-1, 0, "x: no"), (1, 1, "without posteriors")]:
        yield f"matrix {x} {y}", store.matrix, {"x": x, "y": y}, ValueError, text
    yield "has", store.has, {"x": 3, "y": 0}, ValueError, "x: no sequence"
    valid = {"weights": np.ones(3), "groups": np.zeros(3, I32), "gain": 0.0, "cutoff": 0.01, "n_threads": 2}
    yield "relax", store.relax, valid, None, ""
    for name, wrong, text in [
        ("weights", np.ones(2), "not one of each"),
        ("weights", np.array([1, np.nan, 1]), "outside"),
        ("weights", np.array([1, -1.0, 1]), "outside"),
        ("weights", np.array([1, np.inf, 1]), "outside"),
        ("groups", np.zeros(4, I32), "not one of each"),
        ("third_weights", np.ones(4), "third_weights: not one of each"),
        ("third_weights", np.array([1, np.nan, 1]), "third_weights: a number outside"),
        ("gain", float("nan"), "gain: outside"),
        ("gain", -1.0, "gain: outside"),
        ("cutoff", 1.5, "cutoff: outside"),
        ("cutoff", float("nan"), "cutoff: outside"),
        ("n_threads", 0, "below 1"),
    ]:
        yield f"relax {name} {wrong}", store.relax, changed(valid, **{name: wrong}), ValueError, text
    yield "relax progress", store.relax, changed(valid, progress=1), TypeError, "not callable"


def small_store():
    """Three sequences of 3, 2 and 3 residues; the pair (1, 2) has no posteriors."""
    store = _native.PosteriorStore(np.array([3, 2, 3], np.int32))
    u16 = np.uint16
    sizes, columns = np.array([1, 0, 1, 1, 1, 1], u16), np.array([0, 1, 0, 1, 2], u16)
    store.add(np.array([[0, 1], [0, 2]], np.int32), sizes, columns, np.full(5, 9000, u16))
    return store


TREE, ONES = np.array([[1, 0], [2, 3]], np.int32), np.ones(3)
WRONG_TREES = [
    (TREE[:1], "one fewer than leaves"),
    (np.array([[1, 0], [2, 4]], np.int32), "not below"),
    (np.array([[1, 0], [2, -1]], np.int32), "not below"),
    (np.array([[1, 0], [1, 3]], np.int32), "child of two"),
    (np.zeros((2, 3), np.int32), "not two of each"),
]
WRONG_WEIGHTS = [
    (np.ones(2), "not one of each"),
    (np.array([1.0, -1.0, 1.0]), "outside of 0"),
    (np.array([1.0, np.nan, 1.0]), "outside of 0"),
    (np.array([1.0, 2e6, 1.0]), "outside of 0"),
]
WRONG_COLUMNS = [
    (np.arange(7, dtype=np.int32), "not one of each residue"),
    (np.array([0, 1, 1, 0, 1, 0, 1, 2], np.int32), "do not ascend"),
    (np.array([-1, 1, 2, 0, 1, 0, 1, 2], np.int32), "outside of 0"),
    (np.array([0, 1, 2**31 - 1, 0, 1, 0, 1, 2], np.int32), "outside of 0"),
]


def guide_trees():
    """guide_tree, sequence_weights and progressive."""
    for wrong, text in [
        (np.zeros(2, np.float32), "none of n"),
        (np.array([0.5, -0.5, 0.5], np.float32), "negative, or no number"),
        (np.array([0.5, np.nan, 0.5], np.float32), "negative, or no number"),
        (np.array([0.5, np.inf, 0.5], np.float32), "negative, or no number"),
    ]:
        yield f"distances {wrong}", _native.guide_tree, {"distances": wrong}, ValueError, text
    yield "no distances: one leaf", _native.guide_tree, {"distances": np.zeros(0, np.float32)}, None, ""
    weigh = {"children": TREE, "branch_lengths": np.ones(5)}
    yield "valid weights", _native.sequence_weights, weigh, None, ""
    for name, wrong, text in [
        *(("children", wrong, text) for wrong, text in WRONG_TREES[1:]),
        ("branch_lengths", np.ones(4), "not one of each"),
        ("branch_lengths", np.full(5, -1.0), "outside of 0"),
    ]:
        yield f"weights: {name} {wrong}", _native.sequence_weights, changed(weigh, **{name: wrong}), ValueError, text
    valid = {"store": small_store(), "children": TREE, "weights": ONES, "n_threads": 2}
    yield "valid alignment", _native.progressive, valid, None, ""
    empty = _native.PosteriorStore(np.zeros(0, np.int32))
    for name, wrong, text in [
        *(("children", wrong, text) for wrong, text in WRONG_TREES),
        *(("weights", wrong, text) for wrong, text in WRONG_WEIGHTS),
        ("n_threads", 0, "below 1"),
        ("store", empty, "no sequences"),
    ]:
        yield f"alignment: {name} {wrong}", _native.progressive, changed(valid, **{name: wrong}), ValueError, text
    yield "progress 3", _native.progressive, changed(valid, progress=3), TypeError, ""


def refinements():
    """refine and confidence."""
    columns = np.array([0, 1, 2, 0, 2, 1, 2, 3], np.int32)
    valid = {
        "store": small_store(),
        "columns": columns,
        "weights": ONES,
        "children": TREE,
        "split": "tree",
        "accept": "better",
        "n_rounds": 9,
        "seed": 1,
        "n_threads": 2,
    }
    yield "valid", _native.refine, valid, None, ""
    yield "no tree needed", _native.refine, changed(valid, children=None, split="gap"), None, ""
    for name, wrong, text in [
        *(("columns", wrong, text) for wrong, text in WRONG_COLUMNS),
        *(("children", wrong, text) for wrong, text in WRONG_TREES),
        *(("weights", wrong, text) for wrong, text in WRONG_WEIGHTS),
        ("children", None, "needed for split tree"),
        ("split", "half", "none of random"),
        ("accept", "never", "none of always"),
        ("n_rounds", -1, "below 0"),
        ("n_threads", 0, "below 1"),
    ]:
        yield f"{name} {wrong}", _native.refine, changed(valid, **{name: wrong}), ValueError, text
    yield "seed -1", _native.refine, changed(valid, seed=-1), TypeError, ""
    sure = {"store": small_store(), "columns": columns, "weights": ONES, "n_threads": 1}
    yield "valid confidence", _native.confidence, sure, None, ""
    for name, wrong, text in [
        *(("columns", wrong, text) for wrong, text in WRONG_COLUMNS),
        *(("weights", wrong, text) for wrong, text in WRONG_WEIGHTS),
        ("n_threads", 0, "below 1"),
    ]:
        yield f"confidence: {name} {wrong}", _native.confidence, changed(sure, **{name: wrong}), ValueError, text


def groups_of_columns():
    """align_columns."""
    i32 = np.int32
    valid = {
        "store": small_store(),
        "columns": np.array([0, 1, 3, 0, 1, 0, 1, 4], i32),
        "first": np.array([0], i32),
        "n_first_columns": 4,
        "second": np.array([2, 1], i32),
        "n_second_columns": 6,
        "pairs": np.array([[0, 1], [0, 2]], i32),
        "weights": np.ones(2),
        "n_threads": 2,
    }
    yield "valid", _native.align_columns, valid, None, ""
    none = {"pairs": np.zeros((0, 2), i32), "weights": np.zeros(0)}
    yield "no pairs", _native.align_columns, changed(valid, **none), None, ""
    yield "no members", _native.align_columns, changed(valid, **none, first=np.zeros(0, i32)), None, ""
    for name, wrong, text in [
        *(("columns", wrong, text) for wrong, text in WRONG_COLUMNS),
        ("first", np.array([3], i32), "outside of 0"),
        ("first", np.array([-1], i32), "outside of 0"),
        ("first", np.array([1], i32), "named twice"),
        ("second", np.array([2, 2], i32), "named twice"),
        ("n_first_columns", 3, "a column beyond"),
        ("n_second_columns", 0, "outside of 1"),
        ("n_second_columns", 2**40, "outside of 1"),
        ("pairs", np.array([[0, 1], [1, 2]], i32), "not of the first and the second"),
        ("pairs", np.array([[0, 1], [2, 0]], i32), "not of the first and the second"),
        ("pairs", np.array([[0, 1], [0, 3]], i32), "outside of 0"),
        ("pairs", np.zeros((2, 3), i32), "other than 2"),
        ("weights", np.ones(3), "not one of each"),
        ("weights", np.array([1.0, np.inf]), "outside of 0"),
        ("n_threads", 0, "below 1"),
    ]:
        yield f"{name} {wrong}", _native.align_columns, changed(valid, **{name: wrong}), ValueError, text
    unknown = changed(valid, first=np.array([1], i32), second=np.array([2], i32), pairs=np.array([[1, 2]], i32))
    yield "pair without posteriors", _native.align_columns, changed(unknown, weights=np.ones(1)), ValueError, "without"


SIDES, FAR = ("query", "target"), (6, 2**63 - 1, -1, -(2**63))

ALL = (
    pairs, plans, scatters, makers, vectors, placements, subsequences, groups_of_sequences, posteriors,
    posterior_stores, guide_trees, refinements, groups_of_columns, rows_of_text, alignments,
)  # fmt: skip
GROUPS = {f.__name__: f for f in ALL}


def outcome(call, arguments, error, text):
    """The word "ok", or what came instead of the exception."""
    try:
        call(**arguments)
    except Exception as raised:
        if error is None or type(raised) is not error or text not in str(raised):
            return f"{type(raised).__name__}: {raised}"
    else:
        if error is not None:
            return "no exception"
    return "ok"


if __name__ == "__main__":
    for name, *case in GROUPS[sys.argv[1]]():
        print(name.replace("\n", " "), end="\t", flush=True)
        print(outcome(*case).replace("\n", " "), flush=True)
