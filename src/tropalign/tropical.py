"""Public names of tropical algebra: semirings, shortest paths, polyadic problems and hidden Markov models."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.hmm.decoding import decode
    from tropalign.hmm.model import HMM
    from tropalign.semirings.closures import closure
    from tropalign.semirings.folding import Structure, nussinov
    from tropalign.semirings.graph_files import read_graph
    from tropalign.semirings.graphs import DenseGraph, Graph
    from tropalign.semirings.intervals import (
        MatrixChain,
        SearchTree,
        best_cuts,
        matrix_chain,
        search_tree,
        triangular,
    )
    from tropalign.semirings.paths import shortest_paths
    from tropalign.semirings.products import chain, matmul, power, scan
    from tropalign.semirings.semirings import BOOL, LOG, MAX_PLUS, MIN_PLUS, REAL, Semiring, zero_of

#: The public names, and the modules that they are loaded from on first use.
_HOMES: dict[str, str] = {
    "BOOL": "semirings.semirings",
    "HMM": "hmm.model",
    "LOG": "semirings.semirings",
    "MAX_PLUS": "semirings.semirings",
    "MIN_PLUS": "semirings.semirings",
    "REAL": "semirings.semirings",
    "DenseGraph": "semirings.graphs",
    "Graph": "semirings.graphs",
    "MatrixChain": "semirings.intervals",
    "SearchTree": "semirings.intervals",
    "Semiring": "semirings.semirings",
    "Structure": "semirings.folding",
    "best_cuts": "semirings.intervals",
    "chain": "semirings.products",
    "decode": "hmm.decoding",
    "closure": "semirings.closures",
    "matmul": "semirings.products",
    "matrix_chain": "semirings.intervals",
    "nussinov": "semirings.folding",
    "power": "semirings.products",
    "read_graph": "semirings.graph_files",
    "scan": "semirings.products",
    "search_tree": "semirings.intervals",
    "shortest_paths": "semirings.paths",
    "triangular": "semirings.intervals",
    "zero_of": "semirings.semirings",
}

__all__ = [
    "BOOL",
    "HMM",
    "LOG",
    "MAX_PLUS",
    "MIN_PLUS",
    "REAL",
    "DenseGraph",
    "Graph",
    "MatrixChain",
    "SearchTree",
    "Semiring",
    "Structure",
    "best_cuts",
    "chain",
    "closure",
    "decode",
    "matmul",
    "matrix_chain",
    "nussinov",
    "power",
    "read_graph",
    "scan",
    "search_tree",
    "shortest_paths",
    "triangular",
    "zero_of",
]


def __getattr__(name: str) -> Any:
    """Loads a name from its home on first use: the command line reads lists of words without loading NumPy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tropalign.tropical' has no attribute {name!r}")
    return getattr(import_module(f"tropalign.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
