"""Wrong calls of native/bindings/msa_*.cpp."""

import numpy as np
from native.wrong_calls.changes import changed, with_value

from tropalign import _native

I32, I64, U8 = np.int32, np.int64, np.uint8


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
        ("branch_lengths", np.full(5, np.inf), "outside of 0"),
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
        "split": "gap",
        "accept": "not_longer",
        "n_rounds": 9,
        "seed": 1,
        "n_threads": 2,
    }
    yield "valid", _native.refine, valid, None, ""
    for name, wrong, text in [
        *(("columns", wrong, text) for wrong, text in WRONG_COLUMNS),
        *(("weights", wrong, text) for wrong, text in WRONG_WEIGHTS),
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


def profiles_of_families():
    """align_profiles, align_profile_to_sequence."""
    shares, scores = np.full((3, 4), 0.25), np.zeros((4, 4))
    two = {"first": shares, "second": shares}
    one = {"profile": shares, "codes": np.arange(3, dtype=U8), "scores": scores}
    yield "two", _native.align_profiles, two, None, ""
    yield "one", _native.align_profile_to_sequence, one, None, ""
    for name, wrong, error, text in [
        ("first", with_value(shares, (1, 2), np.nan), ValueError, "first: a number beyond 1"),
        ("second", with_value(shares, (1, 2), 2), ValueError, "second: a number beyond 1"),
        ("second", np.zeros((3, 5)), ValueError, "second: not the letters"),
        ("first", np.zeros((0, 4)), ValueError, "first: no column"),
        ("first", shares.astype(np.float32), TypeError, ""),
    ]:
        yield f"{name} {wrong.shape}", _native.align_profiles, changed(two, **{name: wrong}), error, text
    for name, wrong, error, text in [
        ("codes", np.array([0, 3], U8), ValueError, "codes: code 3"),
        ("codes", np.zeros(0, U8), ValueError, "codes: none"),
        ("scores", np.zeros((3, 4)), ValueError, "scores: not one of each two letters"),
        ("scores", np.full((4, 4), np.inf), ValueError, "scores: a number beyond"),
        ("profile", shares[:, :1].copy(), ValueError, "profile: no column, or no letter"),
    ]:
        yield f"{name} {wrong.shape}", _native.align_profile_to_sequence, changed(one, **{name: wrong}), error, text
