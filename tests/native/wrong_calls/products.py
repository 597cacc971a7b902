"""Wrong calls of native/bindings/products.cpp and triangular.cpp."""

import numpy as np
from native.wrong_calls.changes import changed, with_value

from tropalign import _native

F32, F64, I16, I32, U8 = np.float32, np.float64, np.int16, np.int32, np.uint8


def matrix_products():
    """survey_numbers, bounded_numbers, tropical_product, truth_product."""
    for wrong, error in [
        (np.zeros(3, np.int64), TypeError),
        (np.zeros(3, bool), TypeError),
        (np.zeros((3, 3)), TypeError),
        (np.zeros(6)[::2], TypeError),
        ([1.0], TypeError),
    ]:
        arguments = {"numbers": wrong, "is_max": False}
        yield f"numbers {wrong!r}", _native.survey_numbers, arguments, error, ""
        yield f"bounded {wrong!r}", _native.bounded_numbers, arguments, error, ""
    valid = {
        "a": np.zeros((2, 3, 4), I16), "b": np.zeros((2, 4, 5), I16), "is_max": False, "argbest": True, "limit": 99,
        "n_threads": 1,
    }  # fmt: skip
    yield "valid", _native.tropical_product, valid, None, ""
    for name, wrong, error, text in [
        ("a", np.zeros((2, 3, 5), I16), ValueError, "the columns of a"),
        ("a", np.zeros((3, 3, 4), I16), ValueError, "not as many matrices"),
        ("a", np.zeros((0, 3, 4), I16), ValueError, "not as many matrices"),
        ("a", np.zeros((2, 3, 4), np.int64), TypeError, "not of float32"),
        ("a", np.zeros((2, 3, 4), I32), TypeError, "b: of another type"),
        ("a", np.zeros((3, 4), I16), TypeError, ""),
        ("a", np.zeros((2, 3, 8), I16)[:, :, ::2], TypeError, ""),
        ("b", np.zeros((2, 4, 5), F32), TypeError, "b: of another type"),
        ("limit", 40000.0, ValueError, "limit"),
        ("limit", -40000.0, ValueError, "limit"),
        ("limit", float("nan"), ValueError, "limit"),
        ("n_threads", 0, ValueError, "n_threads"),
        ("progress", 5, TypeError, "progress"),
    ]:
        yield f"{name} {wrong!r}", _native.tropical_product, changed(valid, **{name: wrong}), error, text
    huge = {"a": np.zeros((1, 2**31 - 1, 0), I16), "b": np.zeros((1, 0, 2**31 - 1), I16)}
    yield "too large", _native.tropical_product, changed(valid, **huge), ValueError, "than any memory holds"
    long = {"a": np.zeros((1, 2**31, 0), I16), "b": np.zeros((1, 0, 1), I16)}
    yield "too long", _native.tropical_product, changed(valid, **long), ValueError, "more than 2147483647"
    truths = {"a": np.zeros((2, 3, 4), bool), "b": np.zeros((1, 4, 70), bool), "n_threads": 1}
    yield "valid truths", _native.truth_product, truths, None, ""
    for name, wrong, error, text in [
        ("a", np.zeros((2, 3, 5), bool), ValueError, "the columns of a"),
        ("a", np.zeros((2, 3, 4), U8), TypeError, ""),
        ("b", np.zeros((3, 4, 5), bool), ValueError, "not as many matrices"),
        ("n_threads", 0, ValueError, "n_threads"),
    ]:
        yield f"truths {name} {wrong!r}", _native.truth_product, changed(truths, **{name: wrong}), error, text


def triangles():
    """fill_triangle."""
    letters = np.zeros(64, U8)
    valid = {
        "values": np.zeros((64, 64), I16), "is_max": True, "is_weighted": False, "sizes": None,
        "closing": np.zeros((2, 64), I16), "letters": letters, "least_distance": 1, "n_threads": 1,
    }  # fmt: skip
    yield "valid", _native.fill_triangle, valid, None, ""
    yield "nothing", _native.fill_triangle, changed(valid, values=np.zeros((0, 0), I16), closing=None), None, ""
    chain = changed(valid, values=np.zeros((64, 64)), is_max=False, sizes=np.zeros(65), closing=None, letters=None)
    yield "valid chain", _native.fill_triangle, chain, None, ""
    read_only = np.zeros((64, 64), I16)
    read_only.flags.writeable = False
    for arguments, name, wrong, error, text in [
        (valid, "values", np.zeros((64, 128), I16), ValueError, "values"),
        (valid, "values", np.zeros((63, 63), I16), ValueError, "multiple of 64"),
        (valid, "values", np.zeros((128, 128), I16), ValueError, "closing"),
        (valid, "values", np.zeros((64, 64), np.int64), TypeError, "values"),
        (valid, "values", np.zeros((64, 64)), TypeError, "closing"),
        (valid, "values", read_only, TypeError, ""),
        (valid, "closing", np.zeros((2, 63), I16), ValueError, "closing"),
        (valid, "closing", np.zeros((0, 64), I16), ValueError, "letters"),
        (valid, "closing", np.zeros((2, 64), I32), TypeError, "closing"),
        (valid, "letters", None, ValueError, "letters"),
        (valid, "letters", letters[1:].copy(), ValueError, "letters"),
        (valid, "letters", with_value(letters, 63, 2), ValueError, "letters"),
        (valid, "least_distance", 0, ValueError, "least_distance"),
        (valid, "least_distance", 2**31 - 1, None, ""),
        (valid, "least_distance", 2**31, ValueError, "least_distance"),
        (valid, "sizes", np.zeros(65, I16), ValueError, "sizes: for float64"),
        (valid, "n_threads", 0, ValueError, "n_threads"),
        (chain, "sizes", np.zeros(64), ValueError, "sizes"),
        (chain, "sizes", np.zeros(65, F32), TypeError, "sizes"),
        (chain, "is_max", True, ValueError, "sizes: for float64"),
    ]:
        yield f"{name} {wrong!r}", _native.fill_triangle, changed(arguments, **{name: wrong}), error, text
