"""Wrong calls of native/bindings/clustalw_profiles.cpp."""

import numpy as np
from native.wrong_calls.changes import changed, with_value

from tropalign import _native

I32, I64, U8, F64 = np.int32, np.int64, np.uint8, np.float64


def progressive_alignment():
    """clustalw_progressive."""
    letters, offsets = np.arange(12, dtype=U8), np.array([0, 4, 8, 12], I64)
    children, lengths = np.array([[0, 1], [3, 2]], I32), np.full(5, 0.1)
    scores = np.eye(25, dtype=I32)[None] * 500
    valid = {
        "letters": letters,
        "offsets": offsets,
        "children": children,
        "lengths": lengths,
        "weights": np.array([1, 2, 3], I32),
        "distances": None,
        "above": np.array([-1.0]),
        "shorter_than": np.array([100], I32),
        "scales": np.array([0.5], np.float32),
        "mismatches": np.array([100], I32),
        "scores": scores,
        "is_compat": False,
        "is_nucleotide": False,
        "gap_open": 10.0,
        "gap_extend": 0.2,
        "gap_distance": 4,
        "hydrophilic": 7,
        "delay": 30,
        "has_hydrophilic_gaps": True,
        "has_residue_gaps": True,
        "has_end_gaps": False,
        "counts_end_gaps": False,
        "negative_matrix": False,
        "has_weights": True,
        "step_bytes": 1 << 20,
        "n_threads": 1,
    }
    call = _native.clustalw_progressive
    for is_compat in (False, True):
        for distances in (None, np.full(3, 0.2)):
            good = changed(valid, is_compat=is_compat, distances=distances)
            yield f"valid {is_compat} {distances}", call, good, None, ""
    for name, wrong, text in [
        ("letters", with_value(letters, 3, 25), "beyond the alphabet"),
        ("offsets", np.array([0, 8, 4, 12], I64), "offsets descend"),
        ("offsets", np.array([0, 4, 8, 13], I64), "reach beyond"),
        ("offsets", np.array([0, 4, 4, 12], I64), "a sequence is empty"),
        ("offsets", np.array([0, 4, 12], I64), "one more than sequences"),
        ("children", np.zeros((0, 2), I32), "at least two"),
        ("children", np.zeros((2, 3), I32), "two of each"),
        ("children", np.array([[0, 1], [3, 4]], I32), "not below its parent"),
        ("children", np.array([[0, -1], [3, 2]], I32), "not below its parent"),
        ("children", np.array([[0, 1], [0, 2]], I32), "the child of two"),
        ("lengths", np.full(4, 0.1), "not one of each node"),
        ("lengths", with_value(lengths, 2, np.nan), "outside"),
        ("weights", np.array([1, 2], I32), "not one of each sequence"),
        ("weights", np.array([1, 2, 0], I32), "outside of 1"),
        ("weights", np.array([1, 2, 1 << 21], I32), "outside of 1"),
        ("distances", np.full(4, 0.2), "not one of each pair"),
        ("distances", np.array([0.2, -1, 0.2]), "outside"),
        ("above", np.array([-1.0, 2.0]), "differ in number"),
        ("above", np.zeros(0), "or there is none"),
        ("above", np.array([np.nan]), "no number"),
        ("scales", np.array([np.nan], np.float32), "outside of 0 to 10"),
        ("mismatches", np.array([5000], I32), "outside"),
        ("scores", scores[:, :24].copy(), "25 letters"),
        ("scores", with_value(scores, (0, 1, 1), 4096), "outside of -4095"),
        ("gap_open", np.nan, "outside"),
        ("gap_extend", 11.0, "outside"),
        ("gap_distance", -1, "outside"),
        ("hydrophilic", 1 << 25, "beyond the letters"),
        ("step_bytes", -1, "outside"),
        ("n_threads", 0, "below 1"),
    ]:
        yield f"{name} {wrong}"[:60], call, changed(valid, **{name: wrong}), ValueError, text
    for name, wrong in [("letters", letters.astype(I32)), ("children", children[:, ::-1]), ("progress", 3)]:
        yield f"{name} of another kind", call, changed(valid, **{name: wrong}), TypeError, ""
