"""Checks that a GPU decodes sequences and sums their probabilities like the CPU."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.gpu import Gpu
from tropalign.errors import DeviceError
from tropalign.hmm.gpu import ModelsOnGpu, Steps

#: States and symbols of the model, and the lengths of the sequences.
N_STATES, N_SYMBOLS, LENGTHS = 12, 4, (1, 40, 90)


def check_gpu(gpu: Gpu) -> None:
    """Raise DeviceError if paths or sums differ from the CPU's."""
    models, rng = ModelsOnGpu(gpu), np.random.default_rng(9)
    start, transition, emission = (
        rng.dirichlet(np.ones(n), *rows)
        for n, rows in ((N_STATES, ()), (N_STATES, (N_STATES,)), (N_SYMBOLS, (N_STATES,)))
    )
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
    observed = Steps(rng.integers(0, N_SYMBOLS, offsets[-1]).astype(np.uint8), offsets)
    logs = np.log(start), np.log(transition), np.log(emission)
    found, wanted = models.paths(*logs, observed), _native.viterbi_codes(*logs, observed.steps, offsets)
    if not all(map(np.array_equal, found, wanted)):
        raise DeviceError(f"{models.device.name}: its paths of hidden Markov models are not those of the processor")
    sums = models.forward(start, transition, emission, observed)
    plain = [plain_forward(start, transition, emission, observed.steps[a:b]) for a, b in pairwise(offsets)]
    if not np.allclose(sums, plain, rtol=1e-12, atol=0):
        raise DeviceError(f"{models.device.name}: its sums of hidden Markov models are not those of the processor")


def plain_forward(
    start: NDArray[np.float64], transition: NDArray[np.float64], emission: NDArray[np.float64], codes: NDArray[np.uint8]
) -> float:
    """Return the logarithm of a sequence's probability, by NumPy."""
    if not len(codes):
        return 0.0
    values, total = start * emission[:, codes[0]], 0.0
    for code in codes[1:]:
        highest = values.max()
        if highest == 0:
            break
        total += float(np.log(highest))
        values = (values / highest) @ transition * emission[:, code]
    with np.errstate(divide="ignore"):
        return total + float(np.log(values.sum()))
