"""Wrong calls of native/bindings/masks.cpp."""

import numpy as np
from native.wrong_calls.kinds import Entry, at, f64, i64, part, u8

from tropalign import _native

NAN = float("nan")
SEQUENCES = {"codes": u8(*range(20), 0, 0, 0, 0), "offsets": i64(0, 20, 24), "n_threads": 1}
WRONG = [
    ("offsets", "descend", at(1, 30)),
    ("offsets", "beyond", at(2, 25)),
    ("offsets", "empty", i64()),
    ("n_threads", "below 1", 0, -1),
]


def masks():
    """mask_seg, mask_dust and mask_tantan."""
    yield Entry(
        _native.mask_seg,
        SEQUENCES | {"window": 12, "low": 2.2, "high": 2.5},
        [*WRONG, ("window", "below 1", 0, 5000), ("low", "above high", 3.0, NAN)],
        [{"codes": u8(*[255] * 24)}],
    )
    yield Entry(
        _native.mask_dust,
        SEQUENCES | {"window": 64, "level": 20},
        [*WRONG, ("window", "below 4", 3, 5000), ("level", "below 1", 0, 2000)],
        [{"codes": u8(*[255] * 24)}],
    )
    chances = [(name, "not in 0 to 1", 0.0, 1.0, -1.0, NAN) for name in ("repeat", "end", "decay")]
    yield Entry(
        _native.mask_tantan,
        SEQUENCES
        | {"ratios": np.ones((32, 32)), "periods": 50, "repeat": 0.005, "end": 0.05, "decay": 0.9, "least": 0.5},
        [
            *WRONG,
            *chances,
            ("codes", "beyond the alphabet", at(3, 31), at(0, 255)),
            ("ratios", "must have 32 x 32", part(slice(31)), f64([1.0])),
            ("ratios", "below 0", at((0, 0), -1.0), at((31, 31), NAN), at((1, 2), 1e7)),
            ("periods", "below 1", 0, 2000),
        ],
    )
