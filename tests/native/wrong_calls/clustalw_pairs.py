"""Wrong calls of native/bindings/clustalw_pairs.cpp."""

import numpy as np
from native.wrong_calls.changes import changed, with_value

from tropalign import _native

I32, I64, F32 = np.int32, np.int64, np.float32
CODES, OFFSETS = np.array([0, 4, 2, 0, 24, 3, 1], np.uint8), np.array([0, 3, 3, 7], I64)
SEQUENCES = [
    ("offsets", np.zeros(0, I64), ValueError, "empty"),
    ("offsets", np.array([0, 5, 3], I64), ValueError, "descend"),
    ("offsets", np.array([0, 8], I64), ValueError, "beyond the data"),
    ("offsets", np.array([-1, 7], I64), ValueError, "beyond the data"),
    ("offsets", OFFSETS.astype(I32), TypeError, ""),
    ("offsets", np.zeros(2**20 + 2, I64), ValueError, "more sequences"),
    ("codes", with_value(CODES, 3, 32), ValueError, "beyond the alphabet of 32"),
    ("codes", CODES[::2], TypeError, ""),
    ("n_threads", 0, ValueError, "below 1"),
    ("progress", 5, TypeError, "progress"),
]


def clustalw_identities():
    """Pairs that are aligned."""
    valid = {
        "codes": CODES,
        "offsets": OFFSETS,
        "matrix": np.eye(32, dtype=I32),
        "gap_open": np.full(5, 20, I32),
        "gap_extend": 1,
        "n_threads": 2,
    }
    call = _native.clustalw_identities
    yield "right", call, valid, None, ""
    for name, value, error, part in [
        *SEQUENCES,
        ("matrix", np.zeros((25, 25), I32), ValueError, "not of shape (32, 32)"),
        ("matrix", np.full((32, 32), 2**30, I32), ValueError, "matrix: scores may pass"),
        ("matrix", np.full((32, 32), -(2**31), I32), ValueError, "matrix: scores may pass"),
        ("gap_open", np.full(4, 20, I32), ValueError, "up to the longest"),
        ("gap_open", np.full(5, -1, I32), ValueError, "less than nothing"),
        ("gap_open", np.full(5, 2**31 - 1, I32), ValueError, "gap_open: scores may pass"),
        ("gap_extend", -1, ValueError, "less than nothing"),
        ("gap_extend", 2**30, ValueError, "gap_extend: scores may pass"),
    ]:
        yield f"{name} {np.shape(value)}", call, changed(valid, **{name: value}), error, part


def clustalw_words():
    """Pairs whose words are counted."""
    valid = {"codes": CODES, "offsets": OFFSETS, "n_letters": 25, "length": 1, "gap": 3, "n_top": 5, "window": 5}
    valid |= {"n_threads": 2}
    longer = np.zeros(65536, np.uint8)
    wrong = [
        *SEQUENCES,
        ("n_letters", 0, ValueError, "outside of 1 to 32"),
        ("n_letters", 33, ValueError, "outside of 1 to 32"),
        ("length", 0, ValueError, "outside of 1 to 8"),
        ("length", 9, ValueError, "outside of 1 to 8"),
        ("length", 5, ValueError, "1048576 words"),
        ("gap", -1, ValueError, "outside of 0 to 1000"),
        ("n_top", 0, ValueError, "outside of 1 to 1000"),
        ("n_top", 1001, ValueError, "outside of 1 to 1000"),
        ("window", -1, ValueError, "outside of 0 to 1000"),
        ("window", 2**40, TypeError, ""),
    ]
    for call in (_native.clustalw_word_scores, _native.clustalw_word_scores_compat):
        yield "right", call, valid, None, ""
        for name, value, error, part in wrong:
            yield f"{name} {np.shape(value)}", call, changed(valid, **{name: value}), error, part
        beyond = changed(valid, codes=longer, offsets=np.array([0, 65536], I64))
        yield "long", call, beyond, ValueError, "longer than 65535"


def clustalw_roots():
    """Trees whose root is placed."""
    children = np.array([[0, 1], [3, 2]], I32)
    for call, dtype in ((_native.clustalw_rooted, np.float64), (_native.clustalw_rooted_compat, F32)):
        valid = {"children": children, "lengths": np.array([1, 2, 3, 0, 0], dtype)}
        yield "right", call, valid, None, ""
        for name, value, error, part in [
            ("children", children[:1], ValueError, "fewer than three leaves"),
            ("children", np.zeros((0, 2), I32), ValueError, "fewer than three leaves"),
            ("children", np.zeros((2, 3), I32), ValueError, "not two of each inner node"),
            ("children", np.array([[0, 1], [4, 2]], I32), ValueError, "not below its parent"),
            ("children", np.array([[0, -1], [3, 2]], I32), ValueError, "not below its parent"),
            ("children", np.array([[0, 1], [0, 2]], I32), ValueError, "child of two"),
            ("children", children.astype(I64), TypeError, ""),
            ("lengths", np.zeros(4, dtype), ValueError, "not one of each node"),
            ("lengths", np.array([1, 2, np.nan, 0, 0], dtype), ValueError, "outside of"),
            ("lengths", np.array([1, 2, np.inf, 0, 0], dtype), ValueError, "outside of"),
            ("lengths", np.zeros(5, np.float16), TypeError, ""),
        ]:
            yield f"{name} {value.tolist()}", call, changed(valid, **{name: value}), error, part
