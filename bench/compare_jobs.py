"""The cases of bench/compare.py beyond pairs and placement: families, searches, products, models, trees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sets import load

Call = Callable[[], bytes]
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def _family(effort: str) -> Call:
    import tropalign

    family = EXAMPLES / "efp.fasta"
    return lambda: str(tropalign.align_multiple(family, effort=effort, n_threads=1, device="cpu")).encode()


def _clustalw() -> Call:
    import tropalign

    return lambda: str(tropalign.align_clustalw(EXAMPLES / "efp.fasta", n_threads=1, device="cpu")).encode()


def _search() -> Call:
    import tropalign

    batch = tropalign.SequenceBatch.from_strings(load("100-420")[:1500], alphabet=tropalign.PROTEIN)
    return lambda: str(tropalign.search(EXAMPLES / "efp.hmm", batch, n_threads=1, device="cpu")).encode()


def _members() -> Call:
    """A search in which every target is a hit, so that domains are most of the work."""
    import tropalign

    batch = tropalign.read_sequences(EXAMPLES / "efp.fasta")
    return lambda: str(tropalign.search(EXAMPLES / "efp.hmm", batch, n_threads=1, device="cpu")).encode()


def _product(dtype: str) -> Call:
    from tropalign.tropical import matmul

    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 4000, (384, 384)).astype(dtype) for _ in range(2))
    return lambda: np.asarray(matmul(a, b, n_threads=1)).tobytes()


def _closure() -> Call:
    from tropalign.tropical import closure

    weights = np.random.default_rng(2).integers(1, 1000, (384, 384)).astype(np.float32)
    np.fill_diagonal(weights, 0)
    return lambda: np.asarray(closure(weights, n_threads=1)).tobytes()


def _model(n_states: int) -> tuple[Any, np.ndarray]:
    from tropalign.tropical import HMM

    rng = np.random.default_rng(3)
    start, transition, emission = (
        rng.dirichlet(np.ones(k), n) for n, k in ((1, n_states), (n_states, n_states), (n_states, 4))
    )
    return HMM(start[0], transition, emission), rng.integers(0, 4, 4000).astype(np.uint8)


def _hmm(method: str, n_states: int) -> Call:
    model, codes = _model(n_states)
    return lambda: repr(getattr(model, method)(codes, n_threads=1)).encode()


def _folding() -> Call:
    from tropalign.tropical import nussinov

    text = "".join(np.random.default_rng(4).choice(list("ACGU"), 600))
    return lambda: repr(nussinov(text, n_threads=1)).encode()


def _joining() -> Call:
    from tropalign.trees import neighbour_joining

    points = np.random.default_rng(5).random((400, 8))
    distances = np.round(np.abs(points[:, None] - points[None]).sum(2), 6)
    return lambda: repr(neighbour_joining(distances)).encode()


#: Name -> what makes the call, whose answer says what the results come down to.
JOBS: dict[str, Callable[[], Call]] = {
    "msa default": lambda: _family("default"),
    "msa accurate": lambda: _family("accurate"),
    "msa fast": lambda: _family("fast"),
    "msa clustalw": _clustalw,
    "search 1500 proteins": _search,
    "search members": _members,
    **{f"product {dtype}": lambda dtype=dtype: _product(dtype) for dtype in ("float32", "float64", "int32", "int16")},
    "closure float32": _closure,
    **{
        f"hmm {method} {n}": lambda method=method, n=n: _hmm(method, n)
        for method in ("viterbi", "forward")
        for n in (16, 64, 256)
    },
    "nussinov": _folding,
    "neighbour joining": _joining,
}
