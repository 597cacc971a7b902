"""Wrong calls of what binds pairs.

native/bindings/pairwise.cpp, pair_*.cpp, best_targets.cpp, adjusted.cpp, normal.cpp, shared_words.cpp, gpu_plan.cpp.
"""

import numpy as np
from native.wrong_calls.kinds import Entry, at, i32, i64, part, u32

from tropalign import _native

CODES, OFFSETS = np.arange(12, dtype=np.uint8), i64(0, 4, 8, 12)
SETS = {"query_codes": CODES, "query_offsets": OFFSETS, "target_codes": CODES.copy(), "target_offsets": OFFSETS.copy()}
WRONG_SETS = [(f"{side}_codes", f"{side}_codes", at(5, 31), at(5, 255)) for side in ("query", "target")]
PAIRS = SETS | {"query_index": i64(0, 1), "target_index": i64(1, 2)}
WRONG_PAIRS = [
    *WRONG_SETS,
    *((name, name, *(at(1, k) for k in (3, -1, 2**62))) for name in ("query_index", "target_index")),
    *((name, "unequal", np.zeros(1, np.int64)) for name in ("query_index", "target_index")),
]
MATRIX = np.where(np.eye(32, dtype=bool), 2, -1).astype(np.int32)
SCORING = {"matrix": MATRIX, "gap_open": 3, "gap_extend": 1}
WRONG_SCORING = [
    ("matrix", "may exceed 2147483647", np.full_like(MATRIX, 2**31 - 1), np.full_like(MATRIX, -(2**31))),
    ("matrix", TypeError, part(slice(31)), lambda matrix: matrix.T[::-1]),
    ("gap_open", "must be at least 0", -1),
    ("gap_open", "may exceed 2147483647", 2**31 - 1),
    ("gap_open", TypeError, 2**31),
    ("gap_extend", "must be at least 0", -1),
    ("gap_extend", "may exceed 2147483647", 2**31 - 1),
]
HOW = {"mode": "local", "free_ends": (False,) * 4, "depth": 2}
WRONG_HOW = [
    ("mode", "not one of local, global, semiglobal", "glocal"),
    ("depth", "depth", 3, -1),
    ("free_ends", TypeError, (True, True)),
]
ROOM = {"n_threads": 2, "memory_bytes": 1 << 20}
WRONG_ROOM = [("memory_bytes", "memory_bytes", 0, -1)]
TRACK = {"query_track": CODES[::-1].copy(), "target_track": CODES[::-1].copy(), "track_scores": MATRIX + 1}
WRONG_TRACK = [
    *((name, "another size", part(slice(5))) for name in ("query_track", "target_track")),
    *((name, "beyond the alphabet", at(5, 31)) for name in ("query_track", "target_track")),
    *(({name: None}, "give all or none") for name in TRACK),
    ("track_scores", "may exceed 2147483647", np.full_like(MATRIX, 2**31 - 1), np.full_like(MATRIX, -(2**31))),
]
NO_PAIR = {"query_index": np.zeros(0, np.int64), "target_index": np.zeros(0, np.int64)}


def aligned_pairs():
    """align_pairs, align_pieces and align_next."""
    no_sequences = [
        ({f"{side}_offsets": i64(0), f"{side}_index": index}, f"{side}_index")
        for side, index in (("query", i64(0, 0)), ("target", i64(0, 0)))
    ]
    own = [(f"{side}_offsets", "a sequence is empty", at(2, 4)) for side in ("query", "target")]
    own += [(f"{side}_offsets", "reach beyond", at(3, 10**9)) for side in ("query", "target")]
    wrong = WRONG_PAIRS + WRONG_HOW + WRONG_ROOM
    yield Entry(
        _native.align_pairs, PAIRS | SCORING | HOW | ROOM, wrong + WRONG_SCORING + own + no_sequences, [NO_PAIR]
    )
    yield Entry(_native.align_pairs, PAIRS | SCORING | HOW | ROOM | TRACK, WRONG_TRACK, [NO_PAIR])
    gaps = [
        ("gap", "costs must be at least 0", (4, -1, 24, 1)),
        ("end_gap", "costs must be at least 0", (4, 1, -24, 1)),
        ("gap", "may exceed 2147483647", (4, 1, 2**31 - 1, 1)),
        ("end_gap", "may exceed 2147483647", (4, 1, 2, 2**31 - 1)),
        ("gap", TypeError, (4, 1), (4, 1, 2**31, 1)),
    ]
    pieces = {"matrix": MATRIX, "gap": (4, 2, 24, 1), "end_gap": (1, 1, 1, 1)}
    yield Entry(_native.align_pieces, PAIRS | pieces | HOW | ROOM | {"mode": "global"}, wrong + gaps, [NO_PAIR])
    # Sequence 0 with 1, and 1 with 2, each of 4 letters.
    taken = {
        "taken_offsets": i64(0, 2, 3),
        "taken_query_start": i32(0, 1, 2),
        "taken_target_start": i32(1, 0, 2),
        "path_offsets": i64(0, 3, 4, 5),
        "path": u32(1 << 4 | 7, 1 << 4 | 1, 2 << 4 | 8, 2 << 4 | 8, 2 << 4 | 7),
        "least": i32(1, 5),
    }
    beside = [
        ("least", "least", i32(1), at(1, 0), at(0, -5)),
        ("taken_query_start", "reach beyond", i32(0, 1)),
        ("taken_target_start", "unequal", i32(0, 1)),
        *((f"taken_{side}_start", "not an alignment", at(1, -1), at(1, 3), at(2, 3)) for side in ("query", "target")),
        ("path", "not an alignment", *(at(2, operation) for operation in (5 << 4 | 8, 2**32 - 1, 2 << 4, 2 << 4 | 9))),
        ("taken_offsets", "must be one more", i64(0, 3), i64(0, 1, 2, 3)),
    ]
    how = {"matrix": MATRIX, "gap": (4, 2, 24, 1), "depth": 2}
    some = [row for row in WRONG_PAIRS if row[1] != "unequal"] + [WRONG_HOW[1]] + WRONG_ROOM
    some += [row for row in gaps if row[0] == "gap"]
    none = NO_PAIR | {"taken_offsets": i64(0), "least": i32()}
    yield Entry(_native.align_next, PAIRS | how | taken | ROOM, [*some, *beside], [none])
    yield Entry(_native.align_next, PAIRS | how | taken | ROOM | TRACK, WRONG_TRACK, [none])


def listed():
    """list_pairs."""
    wrong = [
        ("query", "unequal", i64(0), i64(0, 1, 2)),
        ("first", "out of range", i64(-1, 0), i64(0, 2**41)),
        ("count", "out of range", i64(2, -1), i64(2**40, 1)),
    ]
    none = {name: i64() for name in ("query", "first", "count")}
    yield Entry(_native.list_pairs, {"query": i64(3, 4), "first": i64(0, 2), "count": i64(2, 0)}, wrong, [none])


def by_tables():
    """align_tables."""
    table = np.ones((4, 4), np.int8)
    valid = {"tables": [table, table.astype(np.float32)], "gap_open": 1.0, "gap_extend": 0.5, "most": 1}
    wrong = [
        ("tables", "must have a table per pair", [table], [table] * 3),
        ("tables", "a shape other than the lengths", [table[:3].copy(), table], [table, np.ones((4, 5), np.int8)]),
        ("tables", "not a contiguous array", [table.T[::-1], table], [table[0], table], [None, table]),
        ("tables", "not float32, int32, int16 or int8", [table.astype(float), table], [table, table.astype(np.int64)]),
        ("tables", "not finite", [table, np.full((4, 4), np.nan, np.float32)]),
        ("tables", "may exceed 32 bits", [np.full((4, 4), 2**30, np.int32), table]),
        ("gap_open", "not from 0 to 1000000", -1.0, 1e7, np.nan),
        ("gap_extend", "not from 0 to 1000000", -1.0, np.inf),
        ("most", "must be 1, or more", 0, -1),
    ]
    wrong += WRONG_PAIRS + WRONG_HOW + WRONG_ROOM
    yield Entry(_native.align_tables, PAIRS | HOW | ROOM | valid, wrong, [NO_PAIR | {"tables": []}])


def softly_by_tables():
    """align_softly."""
    table = np.ones((3, 4), np.float32)
    read_only = table.copy()
    read_only.flags.writeable = False
    valid = {"tables": [table], "posteriors": [table.copy()], "gap_open": 1.0, "gap_extend": 0.5, "temperature": 1.0}
    wrong = [
        ("tables", "not float32 or float64", [np.ones((3, 4), np.int8)]),
        ("tables", "must have an array per table", [], [table] * 2),
        ({"tables": [table[:0]], "posteriors": [table[:0].copy()]}, "empty, or too large"),
        ("posteriors", "another type or shape", [np.ones((4, 3), np.float32)], [np.ones((3, 4))]),
        ("posteriors", "the same memory", [table]),
        ("posteriors", "not a contiguous array", [read_only], [np.ones((4, 3), np.float32).T]),
        ("temperature", "out of range", 0.0, -1.0, np.nan),
        ("gap_open", "out of range", -1.0, np.nan),
        ("gap_extend", "out of range", -1.0, np.nan),
        *(row for row in WRONG_HOW if row[0] != "depth"),
        ("n_threads", "n_threads", 0),
    ]
    how = {"mode": "local", "free_ends": (False,) * 4, "n_threads": 2}
    yield Entry(_native.align_softly, valid | how, wrong)


def aligners():
    """PairAligner."""
    codes = np.full(256, 255, np.uint8)
    codes[ord("A") : ord("E")] = np.arange(4)
    wrong = [
        ("codes", "must have a code per byte", part(slice(255))),
        ("codes", "beyond the alphabet", at(7, 31), at(7, 254)),
    ]
    valid = {"codes": codes} | SCORING | HOW
    yield Entry(_native.PairAligner, valid, wrong + WRONG_SCORING + WRONG_HOW, name="PairAligner")
    both = [(side, TypeError, b"A", 5, ["A"]) for side in ("query", "target")]
    right = [{"query": query} for query in ("A", "", "AXA", "A\0A", "\u00e9", "\ud800")]
    yield Entry(_native.PairAligner(**valid).align, {"query": "ABCD", "target": "ABCD"}, both, right)


def plans():
    """plan_gpu, scatter_values and scatter_runs."""
    yield Entry(
        _native.plan_gpu,
        {
            "query": i64(0, 0, 1), "target": i64(1, 2, 2), "length": i64(9, 5, 3), "rank": i32(0, 1, 2),
            "bound": i64(9, 9, 9), "wide_from": 100, "extend": 0, "strip_cells": 1000, "free_ends": (False,) * 4,
            "word_bits": 16, "group": 4, "rows": (8, 8, 8),
        },
        [
            *((name, name, *(at(2, k) for k in (3, -1, 2**40))) for name in ("query", "target")),
            *((name, "unequal", part(slice(2))) for name in ("query", "rank", "bound")),
            ("rank", "rank", at(2, 3), at(2, -1)),
            ("bound", "bound", at(2, -3), at(2, 2**62)),
            ("length", "length", at(2, -3), at(2, 2**31)),
            ("extend", "extend", -1, 2**40),
            ("strip_cells", "strip_cells", 0),
            ("word_bits", "word_bits", 8, 0),
            ("group", "group", 0, -4, 2**30),
            ("rows", "rows", (8, 0, 8), (8, 8, -1), (2**31 - 1, 8, 8)),
            ("rows", TypeError, (8,)),
        ],
    )  # fmt: skip
    out = np.zeros((2, 5), np.int32)
    frozen = out.copy()
    frozen.flags.writeable = False
    yield Entry(
        _native.scatter_values,
        {"values": np.zeros((2, 3), np.int32), "place": i64(4, 0, 2), "out": out},
        [
            ("place", "place", *(at(1, k) for k in (5, -1, 2**62))),
            ("place", "unequal shapes", np.zeros(2, np.int64)),
            ("values", "unequal shapes", np.zeros((3, 3), np.int32)),
            ("out", "unequal shapes", part(slice(1))),
            ("out", TypeError, frozen),
        ],
    )
    runs = {"runs": np.arange(6, dtype=np.uint32), "begin": i64(0, 2, 6), "place": i64(1, 0), "offsets": i64(0, 4, 6)}
    yield Entry(
        _native.scatter_runs,
        runs | {"out": np.zeros(6, np.uint32)},
        [
            ("begin", "unequal lengths", i64(0, 6)),
            ("begin", "descend", at(1, 7)),
            ("begin", "beyond", at(2, 7), at(0, -2)),
            ("begin", "exceed its room", at(1, 3)),
            ("place", "place", at(1, 2), at(1, -1)),
            ("out", "beyond", part(slice(5))),
        ],
    )


def best_targets():
    """best_targets."""
    scoring = SCORING | {"mode": "local", "free_ends": (False,) * 4}
    valid = SETS | {"reverse_codes": None, "span": (0, 3), "skips_self": True, "most": 2}
    valid |= {"least_scores": np.full((3, 2), -5, np.int32), "class_of_target": i32(0, 1, 1)}
    long = {"target_codes": np.zeros(65537, np.uint8), "target_offsets": i64(0, 65537)}
    yield Entry(
        _native.best_targets,
        valid | scoring | ROOM,
        [
            *WRONG_SETS,
            *WRONG_SCORING,
            *WRONG_HOW[::2],
            *WRONG_ROOM,
            (long, "longer than 65536"),
            ("span", "span: not within", (-1, 2), (0, 4), (2, 1), (2**62, 2**62)),
            ("reverse_codes", "beyond the data", CODES[:8]),
            ("reverse_codes", "reverse_codes", at(5, 31)(CODES)),
            ("reverse_codes", TypeError, CODES.astype(np.int64)),
            ("most", "most: below 1", 0),
            ("least_scores", "must have a row per query", np.zeros((2, 2), np.int32)),
            ("least_scores", "at least one class", np.zeros((3, 0), np.int32)),
            ("least_scores", TypeError, np.zeros((3, 2), np.int64), np.zeros(3, np.int32)),
            ("class_of_target", "must have a class per target", i32(0, 1)),
            ("class_of_target", "has no column", i32(0, 1, 2), i32(0, -1, 1)),
        ],
        [{"reverse_codes": CODES.copy()}, {"span": (1, 1), "least_scores": np.full((0, 2), -5, np.int32)}],
    )
    rows = np.full((12, 32), 2, np.int32)
    both = {"positions": rows, "reverse_positions": rows.copy(), "reverse_codes": CODES.copy()}
    yield Entry(
        _native.best_targets,
        valid | scoring | ROOM | both,
        [
            ("positions", "must have a row of 32 scores", rows[:11].copy(), np.zeros((12, 31), np.int32)),
            ("reverse_positions", "must have a row of 32 scores", rows[:11].copy(), np.zeros((13, 32), np.int32)),
            ("positions", "without positions", None),
            ("reverse_positions", "missing for reverse_codes", None),
            ("reverse_codes", "without positions or reverse_codes", None),
            ("positions", TypeError, rows.astype(np.int64), rows[0].copy(), rows.T[::-1]),
            ("positions", "may exceed 1073741824", np.full_like(rows, 2**30), np.full_like(rows, -(2**31))),
            ("gap_open", "may exceed 1073741824", 2**27),
        ],
        [{"positions": np.full_like(rows, 99999)}],
        name="best_targets by position",
    )


def adjusted():
    """adjusted_scores, adjusted_matrices and normal_cumulative."""
    residues = {"residues": np.arange(4, dtype=np.uint8), "shares": np.full(4, 0.25)}
    how = {"lambda_": 0.5, "entropy": 0.3, "pseudocounts": 20.0, "parts": 32}
    wrong = [
        *WRONG_PAIRS,
        *WRONG_SCORING,
        ("residues", "must be 2 to 31", np.zeros(1, np.uint8)),
        ("residues", "unequal lengths", np.arange(3, dtype=np.uint8)),
        ("residues", "residues", np.array([0, 1, 2, 31], np.uint8)),
        ("residues", "occurs twice", np.array([0, 1, 2, 2], np.uint8)),
        ("shares", "not between 0 and 1", np.array([0.5, 0.5, 0.0, 0.0]), np.full(4, np.nan)),
        ("shares", "their sum is not 1", np.full(4, 0.2)),
        ("lambda_", "lambda", 0.0, np.nan, 101.0),
        ("entropy", "entropy", 0.0, np.nan, 101.0),
        ("pseudocounts", "pseudocounts", 0.0, np.nan, 1e7),
        ("parts", "parts", 0, 1025),
    ]
    valid = PAIRS | SCORING | residues | how
    yield Entry(_native.adjusted_scores, valid | ROOM, wrong + WRONG_ROOM, [NO_PAIR])
    yield Entry(_native.adjusted_matrices, valid, wrong, [NO_PAIR])
    yield Entry(_native.normal_cumulative, {"values": np.zeros(3)}, [("values", TypeError, np.zeros(3, np.float32))])


def bounds():
    """identity_bounds, score_bounds, shared_words, similar_by_words and score_floors."""
    pairs = PAIRS | {"n_threads": 2}
    yield Entry(_native.identity_bounds, pairs, WRONG_PAIRS)
    how = {"mode": "local", "pays_ends": False}
    yield Entry(_native.score_bounds, pairs | SCORING | how, WRONG_PAIRS + WRONG_SCORING + WRONG_HOW[:1])
    words, wrong_words = {"word": 3, "n_threads": 2}, [*WRONG_SETS, ("word", "word", 0, 13)]
    yield Entry(_native.shared_words, SETS | words, wrong_words)
    wrong_share = [(name, name, -0.1, 1.1, float("nan")) for name in ("identity", "rounding")]
    yield Entry(
        _native.similar_by_words, SETS | words | {"identity": 0.9, "rounding": 1e-6}, [*wrong_words, *wrong_share]
    )
    wrong = [("enough", "must have one per pair", np.zeros(3, np.int32))]
    yield Entry(_native.score_floors, pairs | SCORING | {"enough": i32(0, 0)}, WRONG_PAIRS + WRONG_SCORING + wrong)
