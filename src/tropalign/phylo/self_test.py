"""Checks that a GPU scores reads like the CPU."""

from __future__ import annotations

import numpy as np

from tropalign.devices.gpu import Gpu
from tropalign.errors import DeviceError
from tropalign.phylo.gpu import ScoresOnGpu
from tropalign.phylo.reference import ReferencePackage
from tropalign.phylo.scorer import Scorer
from tropalign.phylo.scoring import SCHEMES, PlacementScoring
from tropalign.sequences import NUCLEOTIDE

#: Tips (so that branches make two work-groups), columns, and reads of the synthetic reference.
N_TIPS, N_COLUMNS, N_READS = 48, 90, 24


def check_gpu(gpu: Gpu) -> None:
    """Score reads against a small tree, in words of both widths; raises DeviceError if they differ from the CPU's."""
    rng = np.random.default_rng(7)
    package = _reference(rng)
    sets = 1 << rng.integers(0, 4, (N_READS, N_COLUMNS), np.uint32)
    reads = [row[: rng.integers(1, N_COLUMNS)] for row in sets]
    # Multiplied by a thousand, the scores exceed 16 bits.
    for scoring in (SCHEMES["program"], PlacementScoring(2000, 0, -3000, 3000, 1000, 3000, 1000)):
        wanted = Scorer(package, scoring, 0).on_cpu(reads, [], 1, None).values
        codes, lengths = np.concatenate(reads).astype(np.uint8), [len(read) for read in reads]
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        if not np.array_equal(ScoresOnGpu(gpu, package.vectors(), scoring.numbers()).scores(codes, offsets), wanted):
            raise DeviceError(f"{gpu.name}: its scores of reads are not those of the processor")


def _reference(rng: np.random.Generator) -> ReferencePackage:
    """Return a reference whose rows change a little from tip to tip of a comb-like tree."""
    letters = np.frombuffer(b"ACGT-", np.uint8)
    rows = np.empty((N_TIPS, N_COLUMNS), np.uint8)
    rows[0] = rng.choice(letters[:4], N_COLUMNS)
    for k in range(1, N_TIPS):
        rows[k] = np.where(rng.random(N_COLUMNS) < 0.1, rng.choice(letters, N_COLUMNS), rows[k - 1])
    tree = "t0:0.1"
    for k in range(1, N_TIPS):
        tree = f"({tree},t{k}:0.1):0.1"
    names = tuple(f"t{k}" for k in range(N_TIPS))
    return ReferencePackage.build(names, rows, f"{tree};", alphabet=NUCLEOTIDE, n_threads=1)
