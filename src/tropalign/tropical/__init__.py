"""Public names of tropical algebra: semirings, shortest paths, polyadic problems and hidden Markov models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.lazy import lazy

if TYPE_CHECKING:
    from tropalign.decoding.decoding import decode as decode
    from tropalign.decoding.model import HMM as HMM
    from tropalign.tropical.closures import closure as closure
    from tropalign.tropical.graphs import DenseGraph as DenseGraph
    from tropalign.tropical.graphs import Graph as Graph
    from tropalign.tropical.graphs import read_graph as read_graph
    from tropalign.tropical.intervals import MatrixChain as MatrixChain
    from tropalign.tropical.intervals import SearchTree as SearchTree
    from tropalign.tropical.intervals import Structure as Structure
    from tropalign.tropical.intervals import best_cuts as best_cuts
    from tropalign.tropical.intervals import matrix_chain as matrix_chain
    from tropalign.tropical.intervals import nussinov as nussinov
    from tropalign.tropical.intervals import search_tree as search_tree
    from tropalign.tropical.intervals import triangular as triangular
    from tropalign.tropical.paths import shortest_paths as shortest_paths
    from tropalign.tropical.products import chain as chain
    from tropalign.tropical.products import matmul as matmul
    from tropalign.tropical.products import power as power
    from tropalign.tropical.products import scan as scan
    from tropalign.tropical.semirings import BOOL as BOOL
    from tropalign.tropical.semirings import LOG as LOG
    from tropalign.tropical.semirings import MAX_PLUS as MAX_PLUS
    from tropalign.tropical.semirings import MIN_PLUS as MIN_PLUS
    from tropalign.tropical.semirings import REAL as REAL
    from tropalign.tropical.semirings import Semiring as Semiring
    from tropalign.tropical.semirings import zero_of as zero_of

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "decoding.decoding": "decode",
        "decoding.model": "HMM",
        "tropical.closures": "closure",
        "tropical.graphs": "DenseGraph Graph read_graph",
        "tropical.intervals": "MatrixChain SearchTree Structure best_cuts matrix_chain nussinov search_tree triangular",
        "tropical.paths": "shortest_paths",
        "tropical.products": "chain matmul power scan",
        "tropical.semirings": "BOOL LOG MAX_PLUS MIN_PLUS REAL Semiring zero_of",
    },
    "tropalign",
)
