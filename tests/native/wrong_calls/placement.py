"""Wrong calls of native/bindings/placement.cpp."""

import numpy as np
from native.wrong_calls.kinds import Entry, at, i32, i64, part, u8, u32

from tropalign import _native

U64 = np.uint64


def planes_of(n_vectors=3, n_columns=8, n_states=4):
    """Random planes of a reference."""
    rng = np.random.default_rng(1)
    return rng.integers(0, 2**63, (-(-n_vectors // 64), n_columns, n_states + 1)).astype(U64)


PLANES = {"planes": planes_of(), "n_vectors": 3, "n_empty": 1}
WRONG_PLANES = [
    ("planes", "multiple of 4", part(slice(1), slice(7))),
    ("planes", "states", *(np.zeros((1, 8, n), U64) for n in (1, 33, 0))),
    ({"planes": np.zeros((0, 8, 5), U64), "n_vectors": 0}, "at least one vector"),
    ("planes", "n_empty", np.zeros((1, 0, 5), U64)),
    ("n_vectors", "n_vectors", 65, 0, -1, -(2**63)),
    ("n_empty", "n_empty", -1, 8, 2**31 - 1),
]
SCORING = (2, 0, -3, 3, 1, 3, 1, 0)
WRONG_SCORING = [
    ("scoring", "scoring", (2**31 - 1, *SCORING[1:]), (2, -(2**31), *SCORING[2:]), (2, 0, -3, -3, 1, 3, 1, 0)),
    ("scoring", "scoring", (*SCORING[:6], -1, 0)),
    ("scoring", TypeError, (1, 2), (1, 2, 3), (2**40,) * 8),
]
READS = {"scoring": SCORING, "codes": u8(0, 1, 2, 3, 0), "offsets": i64(0, 3, 5), "sets": u32(1, 2, 4, 8)}
WRONG_READS = [
    *WRONG_SCORING,
    ("codes", "codes", at(3, 4), np.full(5, 255, np.uint8)),
    ("codes", "offsets", part(slice(4)), np.zeros(6, np.uint8)),
    ("offsets", "offsets", at(0, 1)),
    ("sets", "sets", at(3, 16), np.full(4, 2**32 - 1, np.uint32), np.ones(257, np.uint32)),
    ("sets", "codes", part(slice(0))),
]


def makers():
    """BranchMaker."""
    sets = np.full(256, 15, np.uint32)
    sets[[65, 67, 71, 84]] = 1, 2, 4, 8
    joints, branches = i32([4, 0, 0, 1, 0], [5, 2, 0, 3, 0]), i32([4, 5, 0], [0, 5, 0])
    valid = {
        "letters": np.frombuffer(b"ACGTACGGTCGTAAGT", np.uint8).reshape(4, 4), "tip_row": i64(0, 1, 2, 3),
        "column": i64(0, 1, 2, 3), "sets": sets, "n_states": 4, "joints": joints, "branches": branches,
        "transitions": np.array([[0.9, 0.1, 0.1, 0.9]]), "discrete": False, "n_threads": 1,
    }  # fmt: skip
    wrong_joints = (((0, 0), 5), ((0, 1), -1), ((0, 1), 4), ((1, 3), 5), ((0, 2), 1), ((1, 4), -1))
    wrong_branches = (((0, 0), 6), ((0, 1), -1), ((1, 2), 1), ((1, 2), -1))
    wrong = [
        ("joints", "joints", *(at(place, k) for place, k in wrong_joints)),
        ("branches", "branches", *(at(place, k) for place, k in wrong_branches)),
        ("joints", "rows of 5", np.zeros((2, 4), np.int32)),
        ("branches", "rows of 5", np.zeros((2, 4), np.int32)),
        ("branches", "empty", part(slice(0))),
        ("column", "empty", part(slice(0))),
        ("transitions", "rows of 5", np.zeros((1, 3))),
        ("transitions", "joints", part(slice(0))),
        ("sets", "sets", part(slice(255)), at(65, 16), at(65, 2**32 - 1)),
        ("n_states", "n_states", 0, 32),
        ("n_states", "sets", 3),
        ("tip_row", "tip_row", at(3, 4), at(3, -1)),
        ("tip_row", "joints", part(slice(3))),
        ("column", "column", at(3, 4), i64(-1)),
    ]
    yield Entry(_native.BranchMaker, valid, wrong, name="BranchMaker")
    yield Entry(lambda **arguments: _native.BranchMaker(**arguments).planes(), valid, name="BranchMaker.planes")


def vectors():
    """plane_vectors, BranchBounds, place_word_bits and can_prune."""
    rows = [("rows", "rows", *(at(1, k) for k in (3, -1, 64, 2**62)))]
    yield Entry(_native.plane_vectors, PLANES | {"rows": i64(0, 1, 2)}, WRONG_PLANES + rows)
    yield Entry(_native.BranchBounds, PLANES, WRONG_PLANES, name="BranchBounds")
    bits = [
        ("n_bases", "n_bases", -1),
        ("n_columns", "n_bases", 2**40),
        ({"scoring": (2**20, *SCORING[1:]), "n_bases": 10**6, "n_columns": 10**6}, "exceed 32 bits"),
    ]
    yield Entry(_native.place_word_bits, {"scoring": SCORING, "n_bases": 100, "n_columns": 100}, WRONG_SCORING + bits)
    yield Entry(_native.can_prune, {"scoring": SCORING}, WRONG_SCORING)


def placements():
    """place_scores and place_paths."""
    scores = PLANES | READS | {"word_bits": 8, "bounds": None, "n_best": 1, "n_strands": 1, "n_threads": 1}
    bounds = _native.BranchBounds(planes_of(), 3, 1)
    wrong = WRONG_PLANES + WRONG_READS
    yield Entry(_native.place_scores, scores, wrong)
    others = ((planes_of(100), 100, 1), (planes_of(3, 12), 3, 1), (planes_of(3, 8, 3), 3, 1), (planes_of(), 3, 0))
    long_read = {"codes": np.zeros(200, np.uint8), "offsets": i64(0, 200), "planes": planes_of(3, 200), "bounds": None}
    odd = {"n_strands": 2, "codes": np.zeros(4, np.uint8), "offsets": i64(0, 4)}
    yield Entry(
        _native.place_scores,
        scores | {"bounds": bounds},
        [
            *wrong,
            ("word_bits", "word_bits", 0, 7, 64, -8),
            ("word_bits", "bounds", 32),
            (long_read, "too few for the scores"),
            ("n_best", "n_best", 0),
            ("bounds", "other planes", *(_native.BranchBounds(*other) for other in others)),
            ("n_strands", "n_strands", 0, 3),
            ({"bounds": None, "n_strands": 2}, "n_strands"),
            (odd, "is odd"),
            ({"scoring": (2, -1, *SCORING[2:]), "word_bits": 16}, "not valid for these scores"),
        ],
        [{"n_strands": 2}],
        open=["bounds"],
        name="place_scores with bounds",
    )
    paths = {"rows": i64(0, 2), "windows": i32([0, 7], [2, 5]), "n_threads": 1}
    own = [
        ("rows", "rows", at(1, 3), at(1, -1), part(slice(1))),
        ("windows", "windows", at((1, 1), 8), at((1, 0), -1), at((1, 0), 5), i32([0, 7, 1], [2, 5, 1]), part(slice(0))),
    ]
    yield Entry(_native.place_paths, PLANES | READS | paths, wrong + own)
