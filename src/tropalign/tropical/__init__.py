"""Semirings, products of matrices, shortest paths, polyadic problems and hidden Markov models."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.tropical.closures import closure
    from tropalign.tropical.decoding import decode
    from tropalign.tropical.folding import Structure, nussinov
    from tropalign.tropical.graph_files import read_graph
    from tropalign.tropical.graphs import DenseGraph, Graph
    from tropalign.tropical.hmm import HMM
    from tropalign.tropical.intervals import (
        MatrixChain,
        SearchTree,
        best_cuts,
        matrix_chain,
        search_tree,
        triangular,
    )
    from tropalign.tropical.paths import shortest_paths
    from tropalign.tropical.products import chain, matmul, power, scan
    from tropalign.tropical.semirings import BOOL, LOG, MAX_PLUS, MIN_PLUS, REAL, Semiring, zero_of

#: The public names, and the modules that they are loaded from on first use.
_HOMES: dict[str, str] = {
    "BOOL": "semirings",
    "HMM": "hmm",
    "LOG": "semirings",
    "MAX_PLUS": "semirings",
    "MIN_PLUS": "semirings",
    "REAL": "semirings",
    "DenseGraph": "graphs",
    "Graph": "graphs",
    "MatrixChain": "intervals",
    "SearchTree": "intervals",
    "Semiring": "semirings",
    "Structure": "folding",
    "best_cuts": "intervals",
    "chain": "products",
    "decode": "decoding",
    "closure": "closures",
    "matmul": "products",
    "matrix_chain": "intervals",
    "nussinov": "folding",
    "power": "products",
    "read_graph": "graph_files",
    "scan": "products",
    "search_tree": "intervals",
    "shortest_paths": "paths",
    "triangular": "intervals",
    "zero_of": "semirings",
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
    return getattr(import_module(f"tropalign.tropical.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
