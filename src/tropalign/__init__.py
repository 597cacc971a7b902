"""Exact alignment of biological sequences at the speed of the machine it runs on."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tropalign.renamed import register

if TYPE_CHECKING:
    from tropalign.clustalw.api import align_clustalw
    from tropalign.clustalw.options import ClustalwOptions
    from tropalign.clusters.api import cluster
    from tropalign.clusters.files import write_clusters
    from tropalign.errors import (
        DeviceError,
        InputError,
        ResourceError,
        ScoringError,
        TropalignError,
        TropalignWarning,
    )
    from tropalign.formats.saved_results import read_result
    from tropalign.hmm.decoding import decode
    from tropalign.hmm.model import HMM
    from tropalign.msa.accuracy import AlignmentScore, score_alignment
    from tropalign.msa.api import add_sequences, align_multiple, merge_alignments
    from tropalign.msa.files import read_alignment, write_alignment
    from tropalign.pairwise import align, align_all, align_many
    from tropalign.pairwise.files import write_alignments
    from tropalign.pairwise.score_statistics import score_statistics
    from tropalign.phylo import PlacementScoring, ReferencePackage, place, read_taxonomy
    from tropalign.profile.api import scan, search
    from tropalign.profile.files import write_hits
    from tropalign.profile.models import Model
    from tropalign.profile.options import SearchOptions
    from tropalign.profile.queries import read_queries
    from tropalign.reports.pairs import dot_plot, plot_matrix, write_report
    from tropalign.results.alignment import Alignment
    from tropalign.results.alignments import AlignmentTable
    from tropalign.results.clusters import Clusters
    from tropalign.results.found_hits import Query
    from tropalign.results.hits import Hits
    from tropalign.results.lineages import Assigned, BranchLineages
    from tropalign.results.multiple import MultipleAlignment
    from tropalign.results.placements import Placements
    from tropalign.results.segments import Segments
    from tropalign.results.thresholds import Thresholds
    from tropalign.scoring import Gap, SubstitutionMatrix
    from tropalign.scoring.statistics import ScoreStatistics
    from tropalign.sequences import NUCLEOTIDE, PROTEIN, Alphabet, SequenceBatch, SequenceStore, read_sequences
    from tropalign.sequences.translation import translate

__version__ = "0.1.0"

register()

_HOMES = {
    "DeviceError": "errors",
    "InputError": "errors",
    "ResourceError": "errors",
    "ScoringError": "errors",
    "TropalignError": "errors",
    "TropalignWarning": "errors",
    "Alignment": "results.alignment",
    "AlignmentTable": "results.alignments",
    "Placements": "results.placements",
    "BranchLineages": "results.lineages",
    "Assigned": "results.lineages",
    "read_taxonomy": "phylo",
    "AlignmentScore": "msa.accuracy",
    "score_alignment": "msa.accuracy",
    "MultipleAlignment": "results.multiple",
    "align_multiple": "msa.api",
    "align_clustalw": "clustalw.api",
    "ClustalwOptions": "clustalw.options",
    "add_sequences": "msa.api",
    "merge_alignments": "msa.api",
    "read_alignment": "msa.files",
    "write_alignment": "msa.files",
    "align": "pairwise",
    "align_all": "pairwise",
    "align_many": "pairwise",
    "write_alignments": "pairwise.files",
    "dot_plot": "reports.pairs",
    "plot_matrix": "reports.pairs",
    "write_report": "reports.pairs",
    "score_statistics": "pairwise.score_statistics",
    "cluster": "clusters.api",
    "Clusters": "results.clusters",
    "write_clusters": "clusters.files",
    "PlacementScoring": "phylo",
    "ReferencePackage": "phylo",
    "place": "phylo",
    "Hits": "results.hits",
    "Query": "results.found_hits",
    "SearchOptions": "profile.options",
    "Thresholds": "results.thresholds",
    "Model": "profile.models",
    "read_queries": "profile.queries",
    "search": "profile.api",
    "write_hits": "profile.files",
    "scan": "profile.api",
    "HMM": "hmm.model",
    "decode": "hmm.decoding",
    "Segments": "results.segments",
    "Gap": "scoring",
    "SubstitutionMatrix": "scoring",
    "ScoreStatistics": "scoring.statistics",
    "NUCLEOTIDE": "sequences",
    "PROTEIN": "sequences",
    "Alphabet": "sequences",
    "SequenceBatch": "sequences",
    "SequenceStore": "sequences",
    "read_sequences": "sequences",
    "translate": "sequences.translation",
    "read_result": "formats.saved_results",
}

__all__ = [  # noqa: RUF022 (the order of _HOMES)
    "__version__",
    "DeviceError",
    "InputError",
    "ResourceError",
    "ScoringError",
    "TropalignError",
    "TropalignWarning",
    "Alignment",
    "AlignmentTable",
    "Placements",
    "BranchLineages",
    "Assigned",
    "read_taxonomy",
    "AlignmentScore",
    "score_alignment",
    "MultipleAlignment",
    "align_multiple",
    "align_clustalw",
    "ClustalwOptions",
    "add_sequences",
    "merge_alignments",
    "read_alignment",
    "write_alignment",
    "align",
    "align_all",
    "align_many",
    "write_alignments",
    "dot_plot",
    "plot_matrix",
    "write_report",
    "score_statistics",
    "cluster",
    "Clusters",
    "write_clusters",
    "PlacementScoring",
    "ReferencePackage",
    "place",
    "Hits",
    "Query",
    "SearchOptions",
    "Thresholds",
    "Model",
    "read_queries",
    "search",
    "write_hits",
    "scan",
    "HMM",
    "decode",
    "Segments",
    "Gap",
    "SubstitutionMatrix",
    "ScoreStatistics",
    "NUCLEOTIDE",
    "PROTEIN",
    "Alphabet",
    "SequenceBatch",
    "SequenceStore",
    "read_sequences",
    "translate",
    "read_result",
]


def __getattr__(name: str) -> Any:
    """Loads a public name from its home on first use, so that importing the package costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tropalign' has no attribute {name!r}")
    value = getattr(import_module(f"tropalign.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not, so that shells and notebooks complete them."""
    return sorted(__all__)
