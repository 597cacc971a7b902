"""Checks that a GPU's filters compute the CPU's results."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.gpu import Gpu
from tropalign.errors import DeviceError
from tropalign.profiles.gpu import FiltersOnGpu, Survivors
from tropalign.profiles.proteins import Proteins

#: Nodes of the model; two words and three nodes per lane of 32, so that little is compiled.
N_NODES = 90
LENGTHS = (1, 30, 90, 150, 400)


def check_gpu(gpu: Gpu) -> None:
    """Filter random and related proteins by a model; raises DeviceError if the scores differ from the CPU's."""
    rng = np.random.default_rng(9)
    model, consensus = random_model(rng, N_NODES)
    texts = [rng.integers(0, 20, n).astype(np.uint8) for n in LENGTHS]
    texts += [consensus, np.tile(consensus, 3), np.concatenate([consensus[::2], consensus])]
    proteins = proteins_of(texts)
    got = FiltersOnGpu(gpu).survivors([model], proteins, 1.0)
    if not all(map(np.array_equal, got, on_processor([model], proteins, 1.0))):
        raise DeviceError(f"{gpu.name}: its scores of profile models are not those of the processor")


def random_model(rng: np.random.Generator, n_nodes: int) -> tuple[_native.ProfileModel, NDArray[np.uint8]]:
    """Return a model of random positions, each of which prefers a residue, and these residues."""
    consensus = rng.integers(0, 20, n_nodes).astype(np.uint8)
    match = rng.dirichlet(np.full(20, 0.5), n_nodes + 1)
    match[np.arange(1, n_nodes + 1), consensus] += 1
    match /= match.sum(axis=1, keepdims=True)
    opened, extended = rng.uniform(0.005, 0.05, (2, n_nodes + 1)), rng.uniform(0.2, 0.7, (2, n_nodes + 1))
    transitions = np.stack(
        [1 - opened.sum(axis=0), *opened, 1 - extended[0], extended[0], 1 - extended[1], extended[1]], axis=1
    )
    transitions[-1] = (1 - opened[0, -1], opened[0, -1], 0, 1 - extended[0, -1], extended[0, -1], 1, 0)
    background = np.full(20, 0.05, np.float32)
    evalue = np.array([-9.0, 0.7, -10.0, 0.7, -4.0, 0.7], np.float32)
    letters = bytes(b"ACDEFGHIKLMNPQRSTVWY"[k] for k in consensus)
    arrays = (match.astype(np.float32), transitions.astype(np.float32), match[1:].mean(axis=0).astype(np.float32))
    return _native.ProfileModel(*arrays, background, evalue, letters), consensus


def proteins_of(texts: list[NDArray[np.uint8]]) -> Proteins:
    """Return sequences of codes as a block."""
    names = [str(k) for k in range(len(texts))]
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return Proteins(names, [""] * len(names), np.concatenate(texts).astype(np.uint8), offsets)


def on_processor(models: list[_native.ProfileModel], proteins: Proteins, f1: float) -> Survivors:
    """Return the results of the CPU."""
    found = []
    for k, model in enumerate(models):
        passed, msv = _native.msv_filter(model, proteins.native, proteins.native.by_length(), f1)
        viterbi = _native.viterbi_scores(model, proteins.native, passed)
        found.append((np.full(len(passed), k, np.int32), passed, msv, viterbi))
    model_of, targets, msv, viterbi = (np.concatenate(column) for column in zip(*found, strict=True))
    return model_of, targets, msv, viterbi
