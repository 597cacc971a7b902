"""Wrong calls of native/bindings/trees.cpp, clustalw_pairs.cpp, clustalw_profiles.cpp and sequences.cpp."""

import numpy as np
from native.wrong_calls.kinds import Entry, at, f64, i32, i64, part, u8

from tropalign import _native

INF, NAN = float("inf"), float("nan")
TEXT = np.frombuffer(b">a\nMKV\n>b\nM\n", np.uint8)


def joins_of_distances():
    """neighbour_joining and average_linkage."""
    for call, more, least in (
        (_native.neighbour_joining, {"is_clustalw": False}, 3),
        *((_native.average_linkage, {"linkage": name}, 2) for name in ("average", "complete", "weighted")),
    ):
        yield Entry(
            call,
            {"distances": np.arange(6.0), "n": 4} | more,
            [
                ("n", "must be n (n - 1) / 2", 5),
                ("n", "fewer taxa", least - 1, -3),
                ("n", "more than 1048576", 2**62),
                ("distances", TypeError, np.arange(6, dtype=np.int32), np.zeros((2, 3)), None),
                ("distances", "from 0 to 1e30", *(at(5, value) for value in (-1.0, NAN, INF, 2e30))),
            ],
            [{"distances": np.arange(6, dtype=np.float32)}],
            open=["distances"],
        )


def distances_of_rows():
    """aligned_distances, counted_distances and bootstrap_counts."""
    rows = {"codes": u8([0, 1, 2, 128], [0, 1, 3, 1], [0, 2, 3, 1]), "model": "identity", "n_threads": 1}
    wrong = [
        ("codes", "fewer", part(slice(1))),
        ("codes", "no columns", part(slice(3), slice(0))),
        ("codes", "neither below 64 nor 128", at((1, 1), 64), at((1, 1), 255)),
        ("model", "must be identity", "jtt"),
    ]
    yield Entry(_native.aligned_distances, rows, wrong)
    samples = {"method": "upgma", "parents": i32(3, 3, 4, 4, -1), "n_samples": 2, "seed": 1, "greatest": 10.0}
    wrong += [
        ("parents", "must have one per node", part(slice(3)), np.arange(1, 9, dtype=np.int32)),
        ("parents", "the last one is not -1", at(4, 3)),
        ("parents", "not below its parent", at(0, 2), at(3, 5), at(0, -1)),
        ("n_samples", "below 1", 0),
        ("n_samples", "above 2147483647", 2**40),
        ("first_sample", "below 0", -1),
        ("first_sample", "above 2147483647", 2**40),
        ("greatest", "from 0 to 1e30", -1.0, NAN),
        ("seed", TypeError, -1),
    ]
    wrong.append(("method", "none of nj", "ml"))
    yield Entry(_native.bootstrap_counts, rows | samples, wrong)
    counts = [
        ("equal", "outside of 0", at(0, 5), at(0, -1)),
        ("equal", "unequal lengths", i32(1)),
        ("model", "requires transitions", "k2p"),
    ]
    yield Entry(_native.counted_distances, {"compared": i32(4, 5), "equal": i32(4, 1), "model": "kimura"}, counts)


CHILDREN = i32([0, 1], [3, 2])
WRONG_CHILDREN = [
    ("children", "not below its parent", at((1, 0), 4), at((0, 1), -1)),
    ("children", "child of two", at((1, 0), 0)),
    ("children", "two per inner node", np.zeros((2, 3), np.int32)),
]


def clustalw_pairs():
    """clustalw_identities, clustalw_word_scores, clustalw_rooted."""
    sequences = {"codes": u8(0, 4, 2, 0, 24, 3, 1), "offsets": i64(0, 3, 3, 7), "n_threads": 2}
    wrong = [
        ("offsets", "too many sequences", np.zeros(2**20 + 2, np.int64)),
        ("codes", "beyond the alphabet of 32", at(3, 32)),
    ]
    eye = np.eye(32, dtype=np.int32)
    yield Entry(
        _native.clustalw_identities,
        sequences | {"matrix": eye, "gap_open": np.full(5, 20, np.int32), "gap_extend": 1},
        [
            *wrong,
            ("matrix", "must have shape (32, 32)", np.zeros((25, 25), np.int32)),
            ("matrix", "matrix: scores may exceed", np.full_like(eye, 2**30), np.full_like(eye, -(2**31))),
            ("gap_open", "up to the longest", part(slice(4))),
            ("gap_open", "a negative cost", np.full(5, -1, np.int32)),
            ("gap_open", "gap_open: scores may exceed", np.full(5, 2**31 - 1, np.int32)),
            ("gap_extend", "a negative cost", -1),
            ("gap_extend", "gap_extend: scores may exceed", 2**30),
        ],
    )
    wrong += [
        ("n_letters", "outside of 1 to 32", 0, 33),
        ("length", "outside of 1 to 8", 0, 9),
        ("length", "1048576 k-mers", 5),
        ("gap", "outside of 0 to 1000", -1),
        ("n_top", "outside of 1 to 1000", 0, 1001),
        ("window", "outside of 0 to 1000", -1),
        ("window", TypeError, 2**40),
        ({"codes": np.zeros(65536, np.uint8), "offsets": i64(0, 65536)}, "longer than 65535"),
    ]
    words = {"n_letters": 25, "length": 1, "gap": 3, "n_top": 5, "window": 5}
    for call in (_native.clustalw_word_scores, _native.clustalw_word_scores_compat):
        yield Entry(call, sequences | words, wrong)
    for call, dtype in ((_native.clustalw_rooted, np.float64), (_native.clustalw_rooted_compat, np.float32)):
        yield Entry(
            call,
            {"children": CHILDREN, "lengths": np.array([1, 2, 3, 0, 0], dtype)},
            [
                *WRONG_CHILDREN,
                ("children", "at least three leaves", part(slice(1)), part(slice(0))),
                ("lengths", "must have a length per node", part(slice(4))),
                ("lengths", "outside of", at(2, NAN), at(2, INF)),
            ],
        )


def clustalw_families():
    """clustalw_progressive."""
    scores = np.eye(25, dtype=np.int32)[None] * 500
    valid = {"letters": np.arange(12, dtype=np.uint8), "offsets": i64(0, 4, 8, 12), "children": CHILDREN}
    valid |= {"lengths": np.full(5, 0.1), "weights": i32(1, 2, 3), "distances": None, "above": f64(-1.0)}
    valid |= {"shorter_than": i32(100), "scales": np.array([0.5], np.float32), "mismatches": i32(100), "scores": scores}
    valid |= {"is_compat": False, "is_nucleotide": False, "gap_open": 10.0, "gap_extend": 0.2, "gap_distance": 4}
    valid |= {"hydrophilic": 7, "delay": 30, "has_hydrophilic_gaps": True, "has_residue_gaps": True}
    valid |= {"has_end_gaps": False, "counts_end_gaps": False, "negative_matrix": False, "has_weights": True}
    apart = np.full(3, 0.2)
    yield Entry(
        _native.clustalw_progressive,
        valid | {"step_bytes": 1 << 20, "n_threads": 1},
        [
            *WRONG_CHILDREN,
            ("letters", "beyond the alphabet", at(3, 25)),
            ("offsets", "a sequence is empty", at(2, 4)),
            ("offsets", "one more than sequences", i64(0, 4, 12)),
            ("children", "at least two", part(slice(0))),
            ("lengths", "must have a length per node", part(slice(4))),
            ("lengths", "outside", at(2, NAN)),
            ("weights", "must have a weight per sequence", part(slice(2))),
            ("weights", "outside of 1", at(2, 0), at(2, 1 << 21)),
            ("distances", "must have a distance per pair", np.full(4, 0.2)),
            ("distances", "outside", f64(0.2, -1, 0.2)),
            ("above", "the same number of entries", f64(-1, 2)),
            ("above", "at least one", np.zeros(0)),
            ("above", "not a number", at(0, NAN)),
            ("scales", "outside of 0 to 10", at(0, NAN)),
            ("mismatches", "outside", at(0, 5000)),
            ("scores", "25 letters", part(slice(1), slice(24))),
            ("scores", "outside of -4095", at((0, 1, 1), 4096)),
            ("gap_open", "outside", NAN),
            ("gap_extend", "outside", 11.0),
            ("gap_distance", "outside", -1),
            ("hydrophilic", "beyond the letters", 1 << 25),
            ("step_bytes", "outside", -1),
        ],
        [{"distances": apart}, {"is_compat": True}, {"is_compat": True, "distances": apart}],
    )


def records_of_text():
    """split_fasta and split_fastq."""
    usual = {"text": TEXT, "goes_on": False, "most_records": 5, "leading_blanks": False}
    wrong = [("text", TypeError, ">a"), ("most_records", "most_records", 0), ("most_records", TypeError, 2**64)]
    yield Entry(_native.split_fasta, usual, wrong, [{"text": TEXT[:0]}])
    wrong += [("most_letters", "most_letters", 0)]
    yield Entry(_native.split_fastq, usual | {"most_letters": 9}, wrong, [{"text": TEXT[:0]}])


def letters_of_files():
    """check_plain, count_bytes, encode_letters and find_repeated."""
    yield Entry(_native.check_plain, {"text": TEXT}, right=[{"text": TEXT[:0]}])
    yield Entry(_native.count_bytes, {"letters": TEXT}, right=[{"letters": TEXT[:0]}])
    yield Entry(
        _native.encode_letters,
        {"letters": TEXT, "table": np.zeros(256, np.uint8), "wildcard": 3},
        [("table", "table", part(slice(255))), ("wildcard", "wildcard", -1, 255)],
    )
    yield Entry(_native.find_repeated, {"data": TEXT, "offsets": i64(0, 1, 12)}, right=[{"offsets": i64(0)}])
