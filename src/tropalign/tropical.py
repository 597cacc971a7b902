"""Public names of tropical algebra: semirings, shortest paths, polyadic problems and hidden Markov models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.lazy import lazy

if TYPE_CHECKING:
    from tropalign.hmm.decoding import decode as decode
    from tropalign.hmm.model import HMM as HMM
    from tropalign.semirings.closures import closure as closure
    from tropalign.semirings.graph_files import read_graph as read_graph
    from tropalign.semirings.graphs import DenseGraph as DenseGraph
    from tropalign.semirings.graphs import Graph as Graph
    from tropalign.semirings.intervals import MatrixChain as MatrixChain
    from tropalign.semirings.intervals import SearchTree as SearchTree
    from tropalign.semirings.intervals import Structure as Structure
    from tropalign.semirings.intervals import best_cuts as best_cuts
    from tropalign.semirings.intervals import matrix_chain as matrix_chain
    from tropalign.semirings.intervals import nussinov as nussinov
    from tropalign.semirings.intervals import search_tree as search_tree
    from tropalign.semirings.intervals import triangular as triangular
    from tropalign.semirings.paths import shortest_paths as shortest_paths
    from tropalign.semirings.products import chain as chain
    from tropalign.semirings.products import matmul as matmul
    from tropalign.semirings.products import power as power
    from tropalign.semirings.products import scan as scan
    from tropalign.semirings.semirings import BOOL as BOOL
    from tropalign.semirings.semirings import LOG as LOG
    from tropalign.semirings.semirings import MAX_PLUS as MAX_PLUS
    from tropalign.semirings.semirings import MIN_PLUS as MIN_PLUS
    from tropalign.semirings.semirings import REAL as REAL
    from tropalign.semirings.semirings import Semiring as Semiring
    from tropalign.semirings.semirings import zero_of as zero_of

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "hmm.decoding": "decode",
        "hmm.model": "HMM",
        "semirings.closures": "closure",
        "semirings.graph_files": "read_graph",
        "semirings.graphs": "DenseGraph Graph",
        "semirings.intervals": "MatrixChain SearchTree Structure best_cuts matrix_chain nussinov "
        "search_tree triangular",
        "semirings.paths": "shortest_paths",
        "semirings.products": "chain matmul power scan",
        "semirings.semirings": "BOOL LOG MAX_PLUS MIN_PLUS REAL Semiring zero_of",
    },
    "tropalign",
)
