"""Checks that a GPU computes the CPU's posteriors and alignments of profiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.gpu import Gpu
from tropalign.errors import DeviceError
from tropalign.msa.gpu import ONE, Found, PosteriorsOnGpu, Shape
from tropalign.msa.gpu_profiles import ProfilesOnGpu
from tropalign.msa.models import PROTEIN_2

#: Few rows per lane, so that little is compiled; and lengths of the sequences, the longest of which takes two
#: strips.
SHAPE = Shape(rows=(4,))
LENGTHS = (30, 90, 150)
#: Maximum difference of posteriors and distances from the CPU's.
TOLERANCE = 1e-4
CUTOFF = 0.01
#: Letters of profiles, the blank included.
N_LETTERS = 25


def check_gpu(gpu: Gpu) -> None:
    """Compute posteriors of related proteins, each against each; raises DeviceError if they differ from the CPU's."""
    rng = np.random.default_rng(9)
    common = rng.integers(0, 20, max(LENGTHS))
    texts = [np.where(rng.random(n) < 0.6, common[:n], rng.integers(0, 20, n)).astype(np.uint8) for n in LENGTHS]
    codes, offsets = np.concatenate(texts), np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
    pairs = np.array([(x, y) for x in range(len(texts)) for y in range(len(texts)) if x != y], np.int32)
    got = PosteriorsOnGpu(gpu, PROTEIN_2, CUTOFF, shape=SHAPE).posteriors(codes, offsets, pairs)
    wanted = _native.pair_posteriors(
        codes, offsets, pairs, **PROTEIN_2.arguments(), cutoff=CUTOFF, keep=0.0, n_threads=1
    )
    if max(difference(got, wanted, CUTOFF)) > TOLERANCE:
        raise DeviceError(f"{gpu.name}: its posteriors are not those of the processor")
    # Profiles of two strips, with the same paths.
    profiles = [rng.dirichlet(np.full(N_LETTERS, 0.2), n) for n in LENGTHS[:2]]
    profiles[0][::3] = np.eye(N_LETTERS)[-1]
    aligned = ProfilesOnGpu(gpu)
    found_paths: list[Any] = [*aligned.profiles([(profiles[1], profiles[0])])[0]]
    paths: list[Any] = [*_native.align_profiles(profiles[1], profiles[0])]
    scores = rng.integers(-4, 9, (N_LETTERS, N_LETTERS)).astype(np.float64)
    codes = rng.integers(0, N_LETTERS - 1, LENGTHS[0]).astype(np.uint8)
    found_paths += aligned.sequences([(profiles[1], codes)], scores)[0]
    paths += _native.align_profile_to_sequence(profiles[1], codes, scores)
    if not all(np.array_equal(one, other) for one, other in zip(found_paths, paths, strict=True)):
        raise DeviceError(f"{gpu.name}: its alignments of profiles are not those of the processor")


def difference(got: Found, wanted: Found, cutoff: float) -> tuple[float, float]:
    """Return the largest differences between two results for the same pairs: of distances, and of posteriors.

    An element that only one of them has is compared with the cutoff.
    """
    if len(got[0]) != len(wanted[0]) or len(got[1]) != len(wanted[1]):
        return np.inf, np.inf
    places = [_places(found) for found in (got, wanted)]
    both = np.union1d(*places)
    values = np.full((2, len(both)), int(cutoff * ONE))
    for k, (place, found) in enumerate(zip(places, (got, wanted), strict=True)):
        values[k, np.searchsorted(both, place)] = found[3]
    apart = np.abs(values[0] - values[1]).max(initial=0) / ONE
    return float(np.abs(got[0] - wanted[0]).max(initial=0)), float(apart)


def _places(found: Found) -> NDArray[np.int64]:
    """Return a number for the row and column of each element."""
    rows = np.repeat(np.arange(len(found[1])), found[1])
    return rows.astype(np.int64) * (ONE * 2 + 2) + found[2]
