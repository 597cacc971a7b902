"""Wrong calls of native/bindings/hmm_viterbi.cpp."""

import numpy as np
from native.wrong_calls.changes import changed, with_value

from tropalign import _native


def best_paths():
    """viterbi_codes, viterbi_frames."""
    model = {"start": np.zeros(3), "transition": np.zeros((3, 3))}
    of_codes = model | {
        "emission": np.zeros((3, 4)),
        "codes": np.array([0, 3, 1, 2, 0], np.uint8),
        "offsets": np.array([0, 2, 2, 5]),
    }
    of_frames = model | {"frames": np.zeros((5, 3)), "offsets": np.array([0, 2, 2, 5])}
    shared = [
        ("start", np.zeros(0), "not of 1 to 65536 states"),
        ("start", np.zeros(65537), "not of 1 to 65536 states"),
        ("start", np.zeros(4), "transition: not states by states"),
        ("start", np.array([0, np.nan, 0]), "start: a number is no logarithm"),
        ("start", np.array([0, np.inf, 0]), "start: a number is no logarithm"),
        ("start", np.array([0, 1e300, 0]), "start: a number is no logarithm"),
        ("transition", np.zeros((3, 4)), "transition: not states by states"),
        ("transition", np.zeros((4, 3)), "transition: not states by states"),
        ("transition", with_value(model["transition"], (2, 2), np.nan), "transition: a number is no logarithm"),
        ("offsets", np.zeros(0, np.int64), "empty"),
        ("offsets", np.array([0, 3, 2, 5]), "descend"),
        ("offsets", np.array([0, 6]), "beyond the data"),
        ("offsets", np.array([-1, 5]), "beyond the data"),
        ("offsets", np.array([0, 4]), "do not begin and end with the data"),
        ("offsets", np.array([1, 5]), "do not begin and end with the data"),
        ("n_threads", 0, "below 1"),
    ]
    own = {
        _native.viterbi_codes: [
            ("emission", np.zeros((2, 4)), "not a row per state"),
            ("emission", np.zeros((3, 0)), "not of 1 to 256 symbols"),
            ("emission", np.zeros((3, 257)), "not of 1 to 256 symbols"),
            ("emission", np.full((3, 4), np.nan), "emission: a number is no logarithm"),
            ("codes", np.full(5, 4, np.uint8), "beyond the alphabet of 4"),
        ],
        _native.viterbi_frames: [
            ("frames", np.zeros((5, 2)), "not a column per state"),
            ("frames", with_value(of_frames["frames"], (4, 2), np.nan), "frames: a number is no logarithm"),
        ],
    }
    for function, valid in [(_native.viterbi_codes, of_codes), (_native.viterbi_frames, of_frames)]:
        yield f"valid {function.__name__}", function, valid, None, ""
        for name, wrong, text in shared + own[function]:
            yield f"{function.__name__} {name} {text}", function, changed(valid, **{name: wrong}), ValueError, text
        for name, value in valid.items():
            other = value.astype(np.float32)
            yield f"{function.__name__} {name} of floats", function, changed(valid, **{name: other}), TypeError, ""
        twice = np.repeat(valid["transition"], 2, 1)[:, ::2]
        yield f"{function.__name__} with gaps", function, changed(valid, transition=twice), TypeError, ""
        yield f"{function.__name__} progress", function, changed(valid, progress=3), TypeError, "not callable"
