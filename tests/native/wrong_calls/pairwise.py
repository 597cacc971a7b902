"""Wrong calls of native/bindings/pairwise.cpp, pair_aligner.cpp and gpu_plan.cpp."""

import numpy as np
from native.wrong_calls.changes import changed, with_value

from tropalign import _native

I32, I64, U8, U32 = np.int32, np.int64, np.uint8, np.uint32


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


def pieces():
    """align_pieces."""
    codes, offsets = np.arange(12, dtype=U8), np.array([0, 4, 8, 12], I64)
    valid = {"query_codes": codes, "query_offsets": offsets, "target_codes": codes.copy(), "target_offsets": offsets}
    valid |= {"query_index": np.array([0, 1], I64), "target_index": np.array([1, 2], I64)}
    valid |= {"matrix": np.where(np.eye(32, dtype=bool), 2, -1).astype(I32), "gap": (4, 2, 24, 1)}
    valid |= {"end_gap": (1, 1, 1, 1), "mode": "global", "free_ends": (False,) * 4, "depth": 2, "n_threads": 2}
    valid |= {"memory_bytes": 1 << 20}
    call = _native.align_pieces
    yield "valid", call, valid, None, ""
    yield "no pair", call, changed(valid, query_index=np.zeros(0, I64), target_index=np.zeros(0, I64)), None, ""
    for name, wrong, error, text in [
        ("query_offsets", np.array([0, 8, 4, 12], I64), ValueError, "offsets descend"),
        ("target_codes", with_value(codes, 5, 31), ValueError, "beyond the alphabet"),
        ("query_index", np.array([0, 3], I64), ValueError, "query_index"),
        ("target_index", np.zeros(1, I64), ValueError, "unequal"),
        ("gap", (4, -1, 24, 1), ValueError, "costs are zero or more"),
        ("end_gap", (4, 1, -24, 1), ValueError, "costs are zero or more"),
        ("gap", (4, 1, 2**31 - 1, 1), ValueError, "may pass 2147483647"),
        ("end_gap", (4, 1, 2, 2**31 - 1), ValueError, "may pass 2147483647"),
        ("gap", (4, 1), TypeError, ""),
        ("gap", (4, 1, 2**31, 1), TypeError, ""),
        ("mode", "glocal", ValueError, "none of local, global, semiglobal"),
        ("depth", 3, ValueError, "depth"),
        ("n_threads", 0, ValueError, "n_threads"),
        ("memory_bytes", 0, ValueError, "memory_bytes"),
        ("progress", 5, TypeError, ""),
    ]:
        yield f"{name} {np.shape(wrong)} {text}", call, changed(valid, **{name: wrong}), error, text


def aligners():
    """PairAligner."""
    codes = np.full(256, 255, U8)
    codes[ord("A") : ord("E")] = np.arange(4)
    matrix = np.where(np.eye(32, dtype=bool), 2, -1).astype(I32)
    valid = {
        "codes": codes,
        "matrix": matrix,
        "gap_open": 3,
        "gap_extend": 1,
        "mode": "local",
        "free_ends": (False,) * 4,
        "depth": 2,
    }
    yield "valid", _native.PairAligner, valid, None, ""
    for name, wrong, text in [
        ("codes", codes[:255].copy(), "not one of each byte"),
        ("codes", with_value(codes, 7, 31), "beyond the alphabet"),
        ("codes", with_value(codes, 7, 254), "beyond the alphabet"),
        ("matrix", np.full((32, 32), 2**31 - 1, I32), "may pass 2147483647"),
        ("matrix", np.full((32, 32), -(2**31), I32), "may pass 2147483647"),
        ("gap_open", -1, "zero or more"),
        ("gap_extend", 2**31 - 1, "may pass 2147483647"),
        ("mode", "glocal", "none of local, global, semiglobal"),
        ("depth", 3, "depth"),
        ("depth", -1, "depth"),
    ]:
        yield f"{name} {wrong}", _native.PairAligner, changed(valid, **{name: wrong}), ValueError, text
    for name, wrong in [
        ("codes", codes.astype(I32)),
        ("codes", codes[::2]),
        ("matrix", matrix[:31]),
        ("matrix", matrix.astype(I64)),
        ("gap_open", 1.5),
        ("free_ends", (True, True)),
    ]:
        yield f"{name} {wrong!r}", _native.PairAligner, changed(valid, **{name: wrong}), TypeError, ""
    aligner = _native.PairAligner(**valid)
    for query in ("A", "", "AXA", "A\0A", "\u00e9", "\ud800"):
        yield f"query {query!r}", aligner.align, {"query": query, "target": "ABCD"}, None, ""
    for query in (b"A", None, 5, ["A"]):
        yield f"query {query!r}", aligner.align, {"query": query, "target": "ABCD"}, TypeError, ""
        yield f"target {query!r}", aligner.align, {"query": "ABCD", "target": query}, TypeError, ""


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


def best_targets():
    """best_targets."""
    codes, offsets = np.arange(12, dtype=U8), np.array([0, 4, 8, 12], I64)
    matrix = np.where(np.eye(32, dtype=bool), 2, -1).astype(I32)
    valid = {"query_codes": codes, "query_offsets": offsets, "reverse_codes": None, "target_codes": codes}
    valid |= {"target_offsets": offsets, "span": (0, 3), "skips_self": True, "most": 2, "least_score": -5}
    valid |= {"matrix": matrix, "gap_open": 3, "gap_extend": 1, "mode": "local", "free_ends": (False,) * 4}
    valid |= {"n_threads": 2, "memory_bytes": 1 << 20}
    call = _native.best_targets
    long_codes, long_offsets = np.zeros(65537, U8), np.array([0, 65537], I64)
    yield "valid", call, valid, None, ""
    yield "other strand", call, changed(valid, reverse_codes=codes.copy()), None, ""
    yield "no query", call, changed(valid, span=(1, 1)), None, ""
    for span in [(-1, 2), (0, 4), (2, 1), (2**62, 2**62)]:
        yield f"span {span}", call, changed(valid, span=span), ValueError, "span: not within"
    for side in ("query", "target"):
        wrong = np.array([0, 8, 4, 12], I64)
        yield side, call, changed(valid, **{f"{side}_offsets": wrong}), ValueError, "offsets descend"
        yield (
            side,
            call,
            changed(valid, **{f"{side}_codes": with_value(codes, 5, 31)}),
            ValueError,
            "beyond the alphabet",
        )
    long_target = changed(valid, target_codes=long_codes, target_offsets=long_offsets)
    yield "long target", call, long_target, ValueError, "longer than 65536"
    for name, wrong, error, text in [
        ("reverse_codes", codes[:8], ValueError, "beyond the data"),
        ("reverse_codes", with_value(codes, 5, 31), ValueError, "reverse_codes"),
        ("reverse_codes", codes.astype(I64), TypeError, ""),
        ("most", 0, ValueError, "most: below 1"),
        ("n_threads", 0, ValueError, "below 1"),
        ("memory_bytes", 0, ValueError, "memory_bytes"),
        ("mode", "glocal", ValueError, "none of"),
        ("matrix", np.full((32, 32), 2**31 - 1, I32), ValueError, "may pass 2147483647"),
        ("least_score", 2**31, TypeError, ""),
        ("progress", 5, TypeError, "progress"),
    ]:
        yield f"{name} {np.shape(wrong)}", call, changed(valid, **{name: wrong}), error, text


def bounds():
    """score_bounds and identity_bounds."""
    codes, offsets = np.arange(12, dtype=U8), np.array([0, 4, 8, 12], I64)
    valid = {"query_codes": codes, "query_offsets": offsets, "target_codes": codes.copy(), "target_offsets": offsets}
    valid |= {"query_index": np.array([0, 1], I64), "target_index": np.array([1, 2], I64), "n_threads": 2}
    scoring = {"matrix": np.where(np.eye(32, dtype=bool), 2, -1).astype(I32), "gap_open": 3, "gap_extend": 1}
    scoring |= {"mode": "local", "pays_ends": False}
    for call, arguments in ((_native.identity_bounds, valid), (_native.score_bounds, valid | scoring)):
        yield "valid", call, arguments, None, ""
        for name, wrong, error, text in [
            ("query_offsets", np.array([0, 8, 4, 12], I64), ValueError, "offsets descend"),
            ("target_codes", with_value(codes, 5, 31), ValueError, "beyond the alphabet"),
            ("query_index", np.array([0, 3], I64), ValueError, "query_index"),
            ("target_index", np.array([0, -1], I64), ValueError, "target_index"),
            ("target_index", np.zeros(1, I64), ValueError, "unequal"),
            ("query_index", np.zeros(2, I32), TypeError, ""),
            ("n_threads", 0, ValueError, "below 1"),
        ]:
            yield f"{name} {wrong}", call, changed(arguments, **{name: wrong}), error, text
    for name, wrong, text in [("mode", "glocal", "none of"), ("gap_open", -1, "zero or more")]:
        yield name, _native.score_bounds, changed(valid | scoring, **{name: wrong}), ValueError, text


def words():
    """shared_words and score_floors."""
    codes, offsets = np.arange(12, dtype=U8), np.array([0, 4, 8, 12], I64)
    sets = {"query_codes": codes, "query_offsets": offsets, "target_codes": codes.copy(), "target_offsets": offsets}
    sets |= {"n_threads": 2}
    pairs = {"query_index": np.array([0, 1], I64), "target_index": np.array([1, 2], I64), "enough": np.zeros(2, I32)}
    scoring = {"matrix": np.where(np.eye(32, dtype=bool), 2, -1).astype(I32), "gap_open": 3, "gap_extend": 1}
    both = [(_native.shared_words, sets | {"word": 3}), (_native.score_floors, sets | pairs | scoring)]
    for call, arguments in both:
        yield "valid", call, arguments, None, ""
        for name, wrong, error, text in [
            ("query_offsets", np.array([0, 8, 4, 12], I64), ValueError, "offsets descend"),
            ("target_offsets", np.array([0, 4, 8, 13], I64), ValueError, "target_offsets"),
            ("target_codes", with_value(codes, 5, 31), ValueError, "beyond the alphabet"),
            ("query_codes", codes.astype(I32), TypeError, ""),
            ("n_threads", 0, ValueError, "below 1"),
        ]:
            yield f"{name} {wrong}", call, changed(arguments, **{name: wrong}), error, text
    for word in (0, 13):
        yield f"word {word}", _native.shared_words, changed(both[0][1], word=word), ValueError, "word"
    for name, wrong, text in [
        ("query_index", np.array([0, 3], I64), "query_index"),
        ("target_index", np.array([0, -1], I64), "target_index"),
        ("target_index", np.zeros(1, I64), "unequal"),
        ("enough", np.zeros(3, I32), "not one per pair"),
        ("gap_extend", -1, "zero or more"),
    ]:
        yield f"{name} {wrong}", _native.score_floors, changed(both[1][1], **{name: wrong}), ValueError, text
