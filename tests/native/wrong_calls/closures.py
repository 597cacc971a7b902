"""Wrong calls of native/bindings/closures.cpp."""

import numpy as np
from native.wrong_calls.changes import changed

from tropalign import _native


def closing():
    """Closures of matrices."""
    via = np.zeros((3, 3), np.int32)

    def good(values):
        return {"values": values, "via": via.copy(), "is_max": False, "n_left": 0, "tolerance": 0.0, "n_threads": 1}

    for dtype in (np.float32, np.float64, np.int32, np.int16):
        yield f"valid {dtype.__name__}", _native.closure, good(np.ones((3, 3), dtype)), None, ""
    numbers = np.ones((3, 3), np.float32)
    for name, wrong, error, text in [
        ("values", np.ones((3, 2), np.float32), ValueError, "values: the matrix is not square"),
        ("values", np.ones((4, 4), np.float32), ValueError, "via: not as large"),
        ("values", np.ones((3, 3), np.int64), TypeError, "not of float32"),
        ("values", np.ones((3, 3), np.float16), TypeError, ""),
        ("values", np.ones(9, np.float32), TypeError, ""),
        ("values", np.ones((6, 3), np.float32)[::2], TypeError, ""),
        ("values", np.full((3, 3), np.nan, np.float32), ValueError, "NaN"),
        ("values", np.full((3, 3), -np.inf, np.float64), ValueError, "infinity of the wrong sign"),
        ("values", np.full((3, 3), 20000, np.int16), ValueError, "may pass what native code"),
        ("values", np.full((3, 3), -6000, np.int16), ValueError, "may pass what native code"),
        ("values", np.full((3, 3), 2**30, np.int32), ValueError, "may pass what native code"),
        ("via", np.zeros((3, 3), np.int64), TypeError, ""),
        ("via", np.zeros((2, 3), np.int32), ValueError, "via: not as large"),
        ("n_left", 3, ValueError, "n_left"),
        ("n_left", -1, ValueError, "n_left"),
        ("tolerance", -1.0, ValueError, "tolerance"),
        ("tolerance", float("nan"), ValueError, "tolerance"),
        ("n_threads", 0, ValueError, "below 1"),
        ("progress", 3, TypeError, "not callable"),
    ]:
        yield (
            f"{name} {np.asarray(wrong).ravel()[:1]}",
            _native.closure,
            changed(good(numbers), **{name: wrong}),
            error,
            text,
        )
    frozen = numbers.copy()
    frozen.flags.writeable = False
    yield "values read-only", _native.closure, good(frozen), TypeError, ""


def walking():
    """Predecessors, cycles and bits."""
    numbers, via = np.ones((3, 3), np.float32), np.full((3, 3), -1, np.int32)
    good = {"values": numbers, "via": via, "is_max": False, "predecessors": via.copy(), "n_threads": 1}
    circle = np.array([[-1, 2, -1], [-1, -1, -1], [-1, 0, -1]], np.int32)
    yield "valid", _native.path_predecessors, good, None, ""
    yield "a circle of detours", _native.path_predecessors, changed(good, via=circle), None, ""
    for name, wrong, error, text in [
        ("values", np.ones((3, 2), np.float32), ValueError, "not square"),
        ("values", np.ones((3, 3), np.int64), TypeError, ""),
        ("via", np.full((3, 3), 3, np.int32), ValueError, "via: a number"),
        ("via", np.full((3, 3), -2, np.int32), ValueError, "via: a number"),
        ("via", np.full((2, 2), -1, np.int32), ValueError, "via: not as large"),
        ("predecessors", np.zeros((2, 2), np.int32), ValueError, "predecessors: not as large"),
        ("predecessors", via, ValueError, "the same memory"),
        ("n_threads", 0, ValueError, "below 1"),
        ("progress", 3, TypeError, "not callable"),
    ]:
        yield f"{name} {wrong}", _native.path_predecessors, changed(good, **{name: wrong}), error, text
    for vertex in (-1, 3):
        yield f"vertex {vertex}", _native.negative_cycle, {"via": via, "vertex": vertex}, ValueError, "vertex"
    yield "cycle", _native.negative_cycle, {"via": via, "vertex": 1}, None, ""
    yield "cycle in a circle", _native.negative_cycle, {"via": np.zeros((3, 3), np.int32), "vertex": 0}, None, ""
    bits = np.zeros((3, 8), np.uint64)
    good_bits = {"bits": bits, "n": 3, "n_threads": 1}
    yield "bits", _native.closure_bits, good_bits, None, ""
    for name, wrong, error, text in [
        ("n", 4, ValueError, "not a row per vertex"),
        ("n", -1, ValueError, "not a row per vertex"),
        ("bits", np.zeros((3, 7), np.uint64), ValueError, "blocks of 512"),
        ("bits", np.zeros((3, 0), np.uint64), ValueError, "blocks of 512"),
        ("bits", np.zeros((3, 8), np.int64), TypeError, ""),
        ("n_threads", 0, ValueError, "below 1"),
        ("progress", "x", TypeError, "not callable"),
    ]:
        yield f"bits {name} {np.shape(wrong)}", _native.closure_bits, changed(good_bits, **{name: wrong}), error, text
