"""Wrong calls of native/bindings/trees.cpp."""

import numpy as np
from native.wrong_calls.changes import changed, with_value

from tropalign import _native

I32, F64, F32, U8 = np.int32, np.float64, np.float32, np.uint8


def joins_of_distances():
    """neighbour_joining and average_linkage."""
    valid = {"distances": np.arange(6, dtype=F64), "n": 4}
    for call, good, least in (
        (_native.neighbour_joining, {**valid, "is_clustalw": False}, 3),
        (_native.average_linkage, {**valid, "is_complete": False}, 2),
        (_native.average_linkage, {**valid, "is_complete": True}, 2),
    ):
        yield "valid", call, good, None, ""
        yield "float32", call, changed(good, distances=valid["distances"].astype(F32)), None, ""
        for name, wrong, error, text in [
            ("n", 5, ValueError, "not n (n - 1) / 2"),
            ("n", least - 1, ValueError, "fewer taxa"),
            ("n", -3, ValueError, "fewer taxa"),
            ("n", 2**62, ValueError, "more than 1048576"),
            ("distances", np.arange(6, dtype=I32), TypeError, "neither float32 nor float64"),
            ("distances", np.arange(12, dtype=F64)[::2], TypeError, ""),
            ("distances", np.zeros((2, 3)), TypeError, ""),
            ("distances", None, TypeError, ""),
            ("progress", 3, TypeError, "not callable"),
        ]:
            yield f"{name} {wrong}", call, changed(good, **{name: wrong}), error, text
        for value in (-1, np.nan, np.inf, 2e30):
            wrong = with_value(valid["distances"], 5, value)
            yield f"distance {value}", call, changed(good, distances=wrong), ValueError, "no number from 0 to 1e30"


def distances_of_rows():
    """aligned_distances, counted_distances and bootstrap_counts."""
    codes = np.array([[0, 1, 2, 128], [0, 1, 3, 1], [0, 2, 3, 1]], U8)
    rows = {"codes": codes, "model": "identity", "n_threads": 1}
    parents = np.array([3, 3, 4, 4, -1], I32)
    samples = {**rows, "is_joining": False, "parents": parents, "n_samples": 2, "seed": 1, "greatest": 10.0}
    for call, good in ((_native.aligned_distances, rows), (_native.bootstrap_counts, samples)):
        yield "valid", call, good, None, ""
        for name, wrong, error, text in [
            ("codes", codes[:1], ValueError, "fewer"),
            ("codes", codes[:, :0], ValueError, "no columns"),
            ("codes", with_value(codes, (1, 1), 64), ValueError, "neither below 64 nor 128"),
            ("codes", with_value(codes, (1, 1), 255), ValueError, "neither below 64 nor 128"),
            ("codes", codes[:, ::2], TypeError, ""),
            ("codes", codes.astype(I32), TypeError, ""),
            ("model", "jtt", ValueError, "none of identity"),
            ("n_threads", 0, ValueError, "below 1"),
            ("progress", 3, TypeError, "not callable"),
        ]:
            yield f"{name} {wrong}", call, changed(good, **{name: wrong}), error, text
    for name, wrong, text in [
        ("parents", parents[:3], "not one per node"),
        ("parents", np.arange(1, 9, dtype=I32), "not one per node"),
        ("parents", with_value(parents, 4, 3), "the last one is not -1"),
        ("parents", with_value(parents, 0, 2), "not below its parent"),
        ("parents", with_value(parents, 3, 5), "not below its parent"),
        ("parents", with_value(parents, 0, -1), "not below its parent"),
        ("n_samples", 0, "below 1"),
        ("n_samples", 2**40, "above 2147483647"),
        ("first_sample", -1, "below 0"),
        ("first_sample", 2**40, "above 2147483647"),
        ("greatest", -1.0, "no number"),
        ("greatest", np.nan, "no number"),
    ]:
        yield f"{name} {wrong}", _native.bootstrap_counts, changed(samples, **{name: wrong}), ValueError, text
    yield "seed -1", _native.bootstrap_counts, changed(samples, seed=-1), TypeError, ""
    counted = {"compared": np.array([4, 5], I32), "equal": np.array([4, 1], I32), "model": "kimura"}
    yield "valid counts", _native.counted_distances, counted, None, ""
    for name, wrong, text in [
        ("equal", np.array([5, 1], I32), "outside of 0"),
        ("equal", np.array([-1, 1], I32), "outside of 0"),
        ("equal", np.array([1], I32), "unequal lengths"),
        ("model", "k2p", "needs transitions"),
    ]:
        yield f"{name} {wrong}", _native.counted_distances, changed(counted, **{name: wrong}), ValueError, text
