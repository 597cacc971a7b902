"""Comparison of a GPU's results with the CPU's."""

from __future__ import annotations

import numpy as np

from tropalign.devices.gpu import Gpu
from tropalign.errors import DeviceError
from tropalign.pairwise.engines import REPORT_COLUMNS
from tropalign.pairwise.options import MODES, PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.sequences import PROTEIN, SequenceBatch


def check_gpu(gpu: Gpu) -> None:
    """Align relatives of one protein in every mode. Raises DeviceError if a result differs from the CPU's."""
    rng = np.random.default_rng(7)
    letters = np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8)
    ancestor = rng.choice(letters, 90)
    relatives = []
    for _ in range(40):
        begin, end = np.sort(rng.integers(0, 90, 2))
        middle = rng.choice(letters, rng.integers(0, 30))
        relatives.append(np.concatenate([ancestor[:begin], middle, ancestor[end:]]).tobytes().decode() + "W")
    batch = SequenceBatch.from_strings(relatives, alphabet=PROTEIN)
    for mode in MODES:
        task = PairsTask(batch, None, PairOptions(SubstitutionMatrix.from_name("BLOSUM62"), Gap(11, 1), mode=mode))
        (tile,) = task.tiles()
        table, other = task.on_gpu(tile, gpu), task.on_cpu(tile, 1)
        names = REPORT_COLUMNS["alignment"]
        if not all(np.array_equal(getattr(table, name), getattr(other, name)) for name in names):
            raise DeviceError(f"{gpu.name}: its {mode} alignments differ from those of the CPU")
