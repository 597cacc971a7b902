"""Exact alignment of biological sequences at the speed of the machine it runs on."""

from __future__ import annotations

from tropalign.lazy import lazy

TYPE_CHECKING = False  # as for type checkers, without loading typing, which takes 3 ms
if TYPE_CHECKING:
    from tropalign import client as client
    from tropalign import msa as msa
    from tropalign import trees as trees
    from tropalign import tropical as tropical
    from tropalign.clustalw.options import ClustalwOptions as ClustalwOptions
    from tropalign.clustalw.pipeline import align_clustalw as align_clustalw
    from tropalign.clusters.api import cluster as cluster
    from tropalign.clusters.chimeras import find_chimeras as find_chimeras
    from tropalign.clusters.dereplication import Uniques as Uniques
    from tropalign.clusters.dereplication import dereplicate as dereplicate
    from tropalign.clusters.dereplication import otu_table as otu_table
    from tropalign.clusters.files import write_chimeras as write_chimeras
    from tropalign.clusters.files import write_clusters as write_clusters
    from tropalign.decoding.decoding import decode as decode
    from tropalign.decoding.model import HMM as HMM
    from tropalign.errors import DeviceError as DeviceError
    from tropalign.errors import InputError as InputError
    from tropalign.errors import ResourceError as ResourceError
    from tropalign.errors import ScoringError as ScoringError
    from tropalign.errors import TropalignError as TropalignError
    from tropalign.errors import TropalignWarning as TropalignWarning
    from tropalign.formats.clusters.read_otu_tables import read_otu_table as read_otu_table
    from tropalign.formats.saved_results import read_result as read_result
    from tropalign.msa.accuracy import AlignmentScore as AlignmentScore
    from tropalign.msa.accuracy import score_alignment as score_alignment
    from tropalign.msa.api import add_sequences as add_sequences
    from tropalign.msa.api import align_multiple as align_multiple
    from tropalign.msa.api import merge_alignments as merge_alignments
    from tropalign.msa.files import read_alignment as read_alignment
    from tropalign.msa.files import write_alignment as write_alignment
    from tropalign.msa.homologs import align_with_homologs as align_with_homologs
    from tropalign.pairwise import align as align
    from tropalign.pairwise import align_all as align_all
    from tropalign.pairwise import align_many as align_many
    from tropalign.pairwise.embeddings import align_embeddings as align_embeddings
    from tropalign.pairwise.files import write_alignments as write_alignments
    from tropalign.pairwise.masking import mask as mask
    from tropalign.pairwise.reports import dot_plot as dot_plot
    from tropalign.pairwise.reports import plot_matrix as plot_matrix
    from tropalign.pairwise.reports import write_report as write_report
    from tropalign.pairwise.score_statistics import score_statistics as score_statistics
    from tropalign.pairwise.score_tables import align_scores as align_scores
    from tropalign.pairwise.soft import SoftAlignment as SoftAlignment
    from tropalign.pairwise.soft import soft_align as soft_align
    from tropalign.pairwise.tokens import align_tokens as align_tokens
    from tropalign.placement.api import place as place
    from tropalign.placement.reference import ReferencePackage as ReferencePackage
    from tropalign.placement.reference import read_taxonomy as read_taxonomy
    from tropalign.placement.scoring import PlacementScoring as PlacementScoring
    from tropalign.profiles.api import scan as scan
    from tropalign.profiles.api import search as search
    from tropalign.profiles.build_task import build_model as build_model
    from tropalign.profiles.models import Model as Model
    from tropalign.profiles.onto_model import align_to_model as align_to_model
    from tropalign.profiles.options import BuildOptions as BuildOptions
    from tropalign.profiles.options import SearchOptions as SearchOptions
    from tropalign.profiles.outputs import write_hits as write_hits
    from tropalign.profiles.sources import read_queries as read_queries
    from tropalign.results.alignments import Alignment as Alignment
    from tropalign.results.alignments import AlignmentTable as AlignmentTable
    from tropalign.results.chimeras import Chimeras as Chimeras
    from tropalign.results.clusters import Clusters as Clusters
    from tropalign.results.clusters import OtuTable as OtuTable
    from tropalign.results.found_hits import Query as Query
    from tropalign.results.hits import Hits as Hits
    from tropalign.results.multiple import MultipleAlignment as MultipleAlignment
    from tropalign.results.placements import Assigned as Assigned
    from tropalign.results.placements import BranchLineages as BranchLineages
    from tropalign.results.placements import Placements as Placements
    from tropalign.results.segments import Segments as Segments
    from tropalign.results.threshold_options import Thresholds as Thresholds
    from tropalign.scoring import Gap as Gap
    from tropalign.scoring import SubstitutionMatrix as SubstitutionMatrix
    from tropalign.scoring.position_files import read_position_matrices as read_position_matrices
    from tropalign.scoring.position_matrix import PositionMatrix as PositionMatrix
    from tropalign.scoring.statistics import ScoreStatistics as ScoreStatistics
    from tropalign.sequences import NUCLEOTIDE as NUCLEOTIDE
    from tropalign.sequences import PROTEIN as PROTEIN
    from tropalign.sequences import Alphabet as Alphabet
    from tropalign.sequences import SequenceBatch as SequenceBatch
    from tropalign.sequences import SequenceStore as SequenceStore
    from tropalign.sequences import read_sequences as read_sequences
    from tropalign.sequences.translation import translate as translate

__version__ = "0.1.0"

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "clustalw.pipeline": "align_clustalw",
        "clustalw.options": "ClustalwOptions",
        "clusters.api": "cluster",
        "clusters.chimeras": "find_chimeras",
        "clusters.dereplication": "Uniques dereplicate otu_table",
        "clusters.files": "write_chimeras write_clusters",
        "errors": "DeviceError InputError ResourceError ScoringError TropalignError TropalignWarning",
        "formats.clusters.read_otu_tables": "read_otu_table",
        "formats.saved_results": "read_result",
        "decoding.decoding": "decode",
        "decoding.model": "HMM",
        "msa.accuracy": "AlignmentScore score_alignment",
        "msa.api": "add_sequences align_multiple merge_alignments",
        "msa.homologs": "align_with_homologs",
        "msa.files": "read_alignment write_alignment",
        "pairwise": "align align_all align_many",
        "pairwise.embeddings": "align_embeddings",
        "pairwise.files": "write_alignments",
        "pairwise.masking": "mask",
        "pairwise.reports": "dot_plot plot_matrix write_report",
        "pairwise.score_statistics": "score_statistics",
        "pairwise.score_tables": "align_scores",
        "pairwise.tokens": "align_tokens",
        "pairwise.soft": "SoftAlignment soft_align",
        "placement.api": "place",
        "placement.reference": "ReferencePackage read_taxonomy",
        "placement.scoring": "PlacementScoring",
        "profiles.api": "scan search",
        "profiles.build_task": "build_model",
        "profiles.outputs": "write_hits",
        "profiles.models": "Model",
        "profiles.onto_model": "align_to_model",
        "profiles.options": "BuildOptions SearchOptions",
        "profiles.sources": "read_queries",
        "results.alignments": "Alignment AlignmentTable",
        "results.chimeras": "Chimeras",
        "results.clusters": "Clusters OtuTable",
        "results.found_hits": "Query",
        "results.hits": "Hits",
        "results.multiple": "MultipleAlignment",
        "results.placements": "Assigned BranchLineages Placements",
        "results.segments": "Segments",
        "results.threshold_options": "Thresholds",
        "scoring": "Gap SubstitutionMatrix",
        "scoring.position_files": "read_position_matrices",
        "scoring.position_matrix": "PositionMatrix",
        "scoring.statistics": "ScoreStatistics",
        "sequences": "NUCLEOTIDE PROTEIN Alphabet SequenceBatch SequenceStore read_sequences",
        "sequences.translation": "translate",
    },
    modules="client msa trees tropical",
)
__all__ += ["__version__"]
