"""Wrong calls of native/bindings/hmm_sums.cpp."""

import numpy as np
from native.wrong_calls.changes import changed, with_value

from tropalign import _native

I64, U8 = np.int64, np.uint8
NAN, INF = float("nan"), float("inf")
MODEL = {"start": np.array([0.5, 0.5]), "transition": np.full((2, 2), 0.5), "n_threads": 1}
CODES = {**MODEL, "emission": np.full((2, 3), 1 / 3), "codes": np.array([0, 1, 2, 0], U8), "offsets": np.array([0, 4])}
FRAMES = {**MODEL, "frames": np.zeros((4, 2)), "offsets": np.array([0, 4])}
LABELS = {**CODES, "state_labels": np.zeros(2, U8)}
SUPPORT = {**LABELS, "begins": np.array([0, 2]), "ends": np.array([2, 4]), "labels": np.zeros(2, U8)}


def sums_of_hmms():
    """hmm_forward, hmm_posteriors, hmm_counts, hmm_labels, hmm_support."""
    calls = [(getattr(_native, f"hmm_{name}_codes"), CODES) for name in ("forward", "posteriors", "counts")]
    calls += [(getattr(_native, f"hmm_{name}_frames"), FRAMES) for name in ("forward", "posteriors", "counts")]
    calls += [(_native.hmm_labels, LABELS), (_native.hmm_support, SUPPORT)]
    for call, valid in calls:
        yield f"{call.__name__} good", call, valid, None, ""
        cases = [*_of_model(), *(_of_frames() if "frames" in valid else _of_codes())]
        cases += _of_labels() if "state_labels" in valid and "begins" not in valid else []
        cases += _of_segments() if "begins" in valid else []
        for change, error, part in cases:
            yield f"{call.__name__} {list(change)} {part}", call, changed(valid, **change), error, part


def _of_model():
    return [
        ({"start": np.zeros(0)}, ValueError, "start: none"),
        ({"start": np.array([0.5, 0.25, 0.25])}, ValueError, "transition: not one number per pair"),
        ({"start": np.array([0.5, NAN])}, ValueError, "start: a number outside"),
        ({"start": np.array([1, 0])}, TypeError, ""),
        ({"transition": np.zeros((2, 3))}, ValueError, "transition: not one number per pair"),
        ({"transition": np.full((2, 2), -0.5)}, ValueError, "transition: a number outside"),
        ({"transition": np.full((2, 2), INF)}, ValueError, "transition: a number outside"),
        ({"transition": np.full((2, 2), 0.5, order="F").T[::-1]}, TypeError, ""),
        ({"offsets": np.zeros(0, I64)}, ValueError, "offsets: empty"),
        ({"offsets": np.array([3, 1])}, ValueError, "offsets descend"),
        ({"offsets": np.array([0, 5])}, ValueError, "beyond the data"),
        ({"offsets": np.array([-1, 4])}, ValueError, "beyond the data"),
        ({"offsets": np.array([0, 2**63 - 1])}, ValueError, "beyond the data"),
        ({"n_threads": 0}, ValueError, "n_threads"),
        ({"progress": 5}, TypeError, "not callable"),
    ]


def _of_codes():
    return [
        ({"emission": np.full((3, 3), 1 / 3)}, ValueError, "emission: not one row per state"),
        ({"emission": np.zeros((2, 0))}, ValueError, "emission: none"),
        ({"emission": np.zeros((2, 257))}, ValueError, "more than 256 symbols"),
        ({"emission": with_value(CODES["emission"], (1, 2), NAN)}, ValueError, "emission: a number outside"),
        ({"codes": np.array([0, 1, 2, 3], U8)}, ValueError, "beyond the alphabet"),
        ({"codes": np.zeros(4, I64)}, TypeError, ""),
    ]


def _of_frames():
    return [
        ({"frames": np.zeros((4, 3))}, ValueError, "frames: not one column per state"),
        ({"frames": np.full((4, 2), NAN)}, ValueError, "frames: a number that is neither"),
        ({"frames": np.full((4, 2), INF)}, ValueError, "frames: a number that is neither"),
        ({"frames": np.full((4, 2), -1e9)}, ValueError, "frames: a number that is neither"),
        ({"frames": np.zeros((4, 2), np.float32)}, TypeError, ""),
    ]


def _of_labels():
    return [({"state_labels": np.zeros(3, U8)}, ValueError, "labels: not one per state")]


def _of_segments():
    return [
        ({"state_labels": np.zeros(3, U8)}, ValueError, "state_labels: not one per state"),
        ({"labels": np.zeros(1, U8)}, ValueError, "segments: not as many"),
        ({"ends": np.array([2, 5])}, ValueError, "not within a sequence"),
        ({"ends": np.array([3, 4])}, ValueError, "overlapping"),
        ({"ends": np.array([0, 4])}, ValueError, "empty"),
        ({"begins": np.array([-1, 2])}, ValueError, "overlapping"),
    ]
