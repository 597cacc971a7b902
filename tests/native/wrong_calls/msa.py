"""Wrong calls of native/bindings/msa_*.cpp."""

import numpy as np
from native.wrong_calls.kinds import Entry, at, f32, f64, i32, i64, part, u8, u16

from tropalign import _native

INF, NAN = float("inf"), float("nan")
CODES, OFFSETS = np.arange(12, dtype=np.uint8), i64(0, 4, 8, 12)


def subsequences():
    """lcs_lengths, lcs_distances."""
    wrong = [
        ("offsets", "a sequence is empty", at(2, 4)),
        ("codes", "beyond the alphabet", at(3, 128)),
        ("n_codes", "outside of 1 to 128", 0, 129),
    ]
    sequences = {"codes": CODES, "offsets": OFFSETS, "n_codes": 12, "n_threads": 1}
    sides = [(side, side, at(1, 3), at(1, -1)) for side in ("rows", "columns")]
    which = ("wanted", "an entry per row and column", np.ones((3, 2), np.uint8), np.ones((2, 1), np.uint8))
    chosen = {"rows": i32(0, 2), "columns": i32(0, 2), "wanted": np.ones((2, 2), np.uint8)}
    yield Entry(_native.lcs_lengths, sequences | chosen, [*wrong, *sides, which])
    share = [("share", "must have 32", part(slice(31))), ("share", "outside", np.ones(32, np.float32), at(3, NAN))]
    yield Entry(_native.lcs_distances, sequences | {"share": np.zeros(32, np.float32)}, wrong + share)


def certain_residues():
    """certain_pairs."""
    losses = {name: np.full(shape, 3, np.int32) for name, shape in (("pair", (12, 12)), ("gap", 12), ("end", 12))}
    yield Entry(
        _native.certain_pairs,
        {
            "codes": CODES, "offsets": OFFSETS, "x": 0, "ys": i32(1, 2), "most": i32(50, 60), **losses, "open": 5,
            "slack": 2, "n_threads": 1,
        },
        [
            ("offsets", "a sequence is empty", at(2, 4)),
            ("offsets", "descend", at(1, 9)),
            ("codes", "beyond the alphabet", at(3, 12)),
            ("x", "not the index", 3, -1),
            ("ys", "ys", at(1, 3), at(1, -1)),
            ("most", "a number per pair", part(slice(1))),
            ("most", "most", at(0, -1), at(0, 1 << 28)),
            ("pair", "a row and column per code", np.zeros((12, 11), np.int32)),
            ("pair", "pair", at((1, 1), -1), at((1, 1), 2001)),
            ("gap", "gap", at(0, -1), at(0, 2001)),
            ("gap", "1 to 32", np.zeros(33, np.int32), np.zeros(0, np.int32)),
            ("end", "as many numbers as gap", part(slice(11))),
            ("end", "end", at(0, -1), at(0, 2001)),
            ("end", "greater than that of gap", at(0, 4)),
            ("open", "outside of 0 to 2000", -1, 2001),
            ("slack", "outside of 0 to 2000", -1, 2001),
            (
                {"codes": np.zeros(4_000_004, np.uint8), "offsets": i64(0, 1, 2, 4_000_003)},
                "longer than 4000000",
            ),
        ],
    )  # fmt: skip


def groups_of_sequences():
    """pool_posteriors."""
    yield Entry(
        _native.pool_posteriors,
        {
            "pairs": i32([0, 1], [0, 2]), "row_sizes": u16(1, 0, 2, 1, 1, 0), "columns": u16(0, 0, 1, 1, 2),
            "values": u16(100, 200, 300, 400, 500), "offsets": i64(0, 3, 5, 8),
            "column_of": u16(0, 2, 3, 0, 1, 0, 1, 3), "begins": i64(0, 2),
            "n_rows": i32(4), "n_columns": i32(4), "cutoff": 0.0, "n_threads": 1,
        },
        [
            ("pairs", "must have two numbers", np.zeros((2, 3), np.int32)),
            ("pairs", "pairs", at((1, 1), 3), at((1, 0), -1)),
            ("row_sizes", "fewer than residues", part(slice(5))),
            ("row_sizes", "more than residues", u16(1, 0, 2, 1, 1, 0, 0)),
            ("row_sizes", "columns: fewer", at(5, 1)),
            ("row_sizes", "columns: more", at(4, 0)),
            ("columns", "columns", at(2, 2)),
            ("columns", "unequal", part(slice(4))),
            ("column_of", "descend", at(2, 2)),
            ("column_of", "beyond its group", at(2, 4)),
            ("begins", "start and end with the pairs", at(1, 1)),
            ("begins", "reach beyond", at(1, 3)),
            ("n_rows", "beyond its group", at(0, 3)),
            ("n_rows", "outside of 0 to 65535", at(0, -1)),
            ("n_columns", "outside of 0 to 65535", at(0, 65536)),
            ("n_columns", "must have a number per pair", i32(4, 4)),
            ("cutoff", "outside of 0 to 1", 1.5, NAN),
        ],
    )  # fmt: skip


def posteriors():
    """pair_posteriors and posterior_scratch_bytes."""
    tables = [
        case
        for name in ("match", "boltzmann")
        for case in (
            (name, "not 4 by 4", np.ones((4, 5)), np.ones((3, 3))),
            (name, "not finite and above 0", *(at((1, 2), value) for value in (NAN, -1, INF))),
            (name, "1048576", at((1, 2), 1e7)),
        )
    ]
    yield Entry(
        _native.pair_posteriors,
        {
            "codes": CODES % 4, "offsets": OFFSETS, "pairs": i32([0, 1], [2, 0]),
            "transitions": f64(0.6, 0.1, 0.1, 0.01, 0.01, 0.4, 0.9, 0), "match": np.full((4, 4), 1 / 16),
            "insert": np.full(4, 0.25), "boltzmann": np.ones((4, 4)), "gap": f64(0.1, 0.5), "hmm_share": 0.5,
            "cutoff": 0.01, "keep": 0.0, "n_threads": 2,
        },
        [
            *tables,
            ("codes", "beyond the alphabet", at(5, 4)),
            ("codes", "reach beyond the data", part(slice(5))),
            ("offsets", "a sequence is empty", at(2, 4)),
            ("pairs", "outside of 0 to 2", *(at((1, 1), k) for k in (3, -1, 2**31 - 1, -(2**31)))),
            ("pairs", "paired with itself", at((1, 1), 2)),
            ("pairs", "must have two columns", np.zeros((2, 3), np.int32)),
            ("pairs", TypeError, np.asfortranarray),
            ("transitions", "must have 8 numbers", part(slice(7))),
            ("transitions", "weight of an overhang", *(at(7, p) for p in (1, NAN, -1, INF))),
            ("transitions", "between 0 and 1", *(at(5, p) for p in (0, 1, NAN, -1, INF))),
            ("transitions", "no probability for matches", at(3, 0.49)),
            ("insert", "must have 1 to 31 numbers", np.zeros(0), np.full(32, 0.25)),
            ("insert", "within 0 and 1", *(at(2, p) for p in (0, NAN, -1, 2))),
            ("boltzmann", "above 0", at((1, 2), 0)),
            ("gap", "must have 2 numbers", np.ones(3)),
            ("gap", "within 0 and 1", *(at(1, p) for p in (0, NAN, 2))),
            *((name, "must be from 0 to 1", -0.1, 1.1, NAN) for name in ("hmm_share", "cutoff", "keep")),
            (
                {"codes": np.zeros(65_537, np.uint8), "offsets": i64(0, 1, 65_537), "pairs": i32([0, 1])},
                "longer than 65535",
            ),
        ],
    )  # fmt: skip
    lengths = {"length_x": 3, "length_y": 4}
    wrong = [(name, f"{name}: must be 1 to 65535", 0, -1, 65_536, 2**62) for name in lengths]
    yield Entry(_native.posterior_scratch_bytes, lengths, wrong)


def _added(**changes):
    """What a new store of three sequences says to posteriors of a pair."""
    store = _native.PosteriorStore(i32(2, 3, 1))
    twice = changes.pop("twice", False)
    for _ in range(1 + twice):
        store.add(**changes)


def posterior_stores():
    """PosteriorStore."""
    wrong = [("lengths", "-1 residues", i32(2, -1)), ("lengths", "65536 residues", i32(65536))]
    yield Entry(_native.PosteriorStore, {"lengths": i32(2, 3, 1)}, wrong, name="PosteriorStore")
    given = {"pairs": i32([0, 1]), "row_sizes": u16(1, 2), "columns": u16(0, 1, 2), "values": u16(1, 32767, 100)}
    yield Entry(
        _added,
        given,
        [
            ("pairs", "out of range", i32([0, 3]), i32([-1, 1])),
            ("pairs", "the same sequence twice", i32([1, 1])),
            ("pairs", "must have rows of 2", i32([0, 1, 2])),
            ("pairs", "more rows than row_sizes", i32([1, 0])),
            ("pairs", "do not ascend within", i32([0, 2])),
            ("pairs", "more than the pairs have", part(slice(0))),
            ("row_sizes", "more than the pairs have", u16(1, 1), u16(1, 2, 0)),
            ("row_sizes", "more elements than columns", u16(1, 3), u16(1, 65535)),
            ("row_sizes", "more rows than row_sizes", u16(1)),
            ("columns", "do not ascend", u16(0, 2, 1), u16(0, 1, 1)),
            ("columns", "do not ascend within", u16(0, 1, 3)),
            ("columns", "must have equal sizes", u16(0, 1)),
            ("values", "above 32767", at(1, 32768)),
            ({name: np.concatenate([array, array]) for name, array in given.items()}, "a pair occurs twice"),
            ({"twice": True}, "already present"),
        ],
        name="PosteriorStore.add",
    )
    store = _native.PosteriorStore(i32(2, 3, 1))
    store.add(**given)
    wrong = [("y", "has no posteriors", 2), ("y", "y: no", 3), ("x", "x: no", -1), ({"x": 1}, "has no posteriors")]
    yield Entry(store.matrix, {"x": 0, "y": 1}, wrong)
    yield Entry(store.has, {"x": 0, "y": 1}, [("x", "x: not the index of a sequence", 3)])
    wrong_weights = [at(1, value) for value in (NAN, -1, INF)]
    yield Entry(
        store.relax,
        {"weights": np.ones(3), "groups": np.zeros(3, np.int32), "gain": 0.0, "cutoff": 0.01, "n_threads": 2},
        [
            ("weights", "must have one per", np.ones(2)),
            ("weights", "outside", *wrong_weights),
            ("groups", "must have one per", np.zeros(4, np.int32)),
            ("third_weights", "third_weights: must have one per", np.ones(4)),
            ("third_weights", "third_weights: a number outside", f64(1, NAN, 1)),
            ("gain", "gain: outside", NAN, -1.0),
            ("cutoff", "cutoff: outside", 1.5, NAN),
            ("products", TypeError, 1),
            ("progress", TypeError, 1),
        ],
    )


def small_store():
    """Three sequences of 3, 2 and 3 residues; the pair (1, 2) has no posteriors."""
    store = _native.PosteriorStore(i32(3, 2, 3))
    store.add(i32([0, 1], [0, 2]), u16(1, 0, 1, 1, 1, 1), u16(0, 1, 0, 1, 2), np.full(5, 9000, np.uint16))
    return store


WRONG_TREES = [
    ("children", "not below", at((1, 1), 4), at((1, 1), -1)),
    ("children", "child of two", at((1, 0), 1)),
    ("children", "two per inner node", np.zeros((2, 3), np.int32)),
]
WRONG_WEIGHTS = [
    ("weights", "wrong length", np.ones(2)),
    ("weights", "outside of 0", *(at(1, value) for value in (-1.0, NAN, 2e6))),
]
WRONG_COLUMNS = [
    ("columns", "must have a column per residue", np.arange(7, dtype=np.int32)),
    ("columns", "do not ascend", i32(0, 1, 1, 0, 1, 0, 1, 2)),
    ("columns", "outside of 0", at(0, -1), at(2, 2**31 - 1)),
]


def guide_trees():
    """guide_tree, sequence_weights and progressive."""
    wrong = [("distances", "is not n (n - 1) / 2", part(slice(2)))]
    wrong += [("distances", "negative or NaN", *(at(1, value) for value in (-0.5, NAN, INF)))]
    one_leaf = {"distances": np.zeros(0, np.float32)}
    yield Entry(_native.guide_tree, {"distances": f32(0.5, 0.5, 0.5)}, wrong, [one_leaf])
    tree = i32([1, 0], [2, 3])
    lengths = [("branch_lengths", "must have one per node", np.ones(4))]
    lengths += [("branch_lengths", "outside of 0", np.full(5, -1.0), np.full(5, INF))]
    yield Entry(_native.sequence_weights, {"children": tree, "branch_lengths": np.ones(5)}, WRONG_TREES + lengths)
    empty = _native.PosteriorStore(np.zeros(0, np.int32))
    wrong = [("children", "one inner node fewer than leaves", part(slice(1))), ("store", "no sequences", empty)]
    valid = {"store": small_store(), "children": tree, "weights": np.ones(3), "n_threads": 2}
    yield Entry(_native.progressive, valid, WRONG_TREES + WRONG_WEIGHTS + wrong)


def refinements():
    """refine and confidence."""
    valid = {"store": small_store(), "columns": i32(0, 1, 2, 0, 2, 1, 2, 3), "weights": np.ones(3), "n_threads": 1}
    yield Entry(_native.confidence, valid, WRONG_COLUMNS + WRONG_WEIGHTS)
    own = [("split", "must be random", "half"), ("accept", "must be always", "never")]
    own += [("n_rounds", "below 0", -1), ("seed", TypeError, -1)]
    more = {"split": "gap", "accept": "not_longer", "n_rounds": 9, "seed": 1}
    yield Entry(_native.refine, valid | more, WRONG_COLUMNS + WRONG_WEIGHTS + own)


def profiles_of_families():
    """align_profiles, align_profile_to_sequence."""
    shares = np.full((3, 4), 0.25)
    two = [
        ("first", "first: a number beyond 1", at((1, 2), NAN)),
        ("second", "second: a number beyond 1", at((1, 2), 2)),
        ("second", "second: must have the letters", np.zeros((3, 5))),
        ("first", "first: must have at least one column", np.zeros((0, 4))),
    ]
    yield Entry(_native.align_profiles, {"first": shares, "second": shares}, two)
    one = [
        ("codes", "codes: code 3", u8(0, 3)),
        ("codes", "codes: empty", np.zeros(0, np.uint8)),
        ("scores", "scores: must have a score per two letters", np.zeros((3, 4))),
        ("scores", "scores: a number beyond", np.full((4, 4), INF)),
        ("profile", "profile: must have at least one column", part(slice(3), slice(1))),
    ]
    valid = {"profile": shares, "codes": np.arange(3, dtype=np.uint8), "scores": np.zeros((4, 4))}
    yield Entry(_native.align_profile_to_sequence, valid, one)
