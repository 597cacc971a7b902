"""The compiled core, as type checkers see it: names and parameters are those of native/bindings (a test compares them).

Every function checks its arrays and raises ValueError on a wrong one, TypeError on one of another dtype or layout.
Arrays are contiguous in C order. What another thread writes into them during a call is not guarded.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_U8: TypeAlias = NDArray[np.uint8]
_U16: TypeAlias = NDArray[np.uint16]
_U32: TypeAlias = NDArray[np.uint32]
_U64: TypeAlias = NDArray[np.uint64]
_I32: TypeAlias = NDArray[np.int32]
_I64: TypeAlias = NDArray[np.int64]
_F32: TypeAlias = NDArray[np.float32]
_F64: TypeAlias = NDArray[np.float64]

def supported_isas() -> list[str]: ...
def selected_isa() -> str: ...
def hmm_forward_codes(
    start: _F64,
    transition: _F64,
    emission: _F64,
    codes: _U8,
    offsets: _I64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _F64: ...
def hmm_forward_frames(
    start: _F64,
    transition: _F64,
    frames: _F64,
    offsets: _I64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _F64: ...
def hmm_posteriors_codes(
    start: _F64,
    transition: _F64,
    emission: _F64,
    codes: _U8,
    offsets: _I64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_F64, _F64]: ...
def hmm_posteriors_frames(
    start: _F64,
    transition: _F64,
    frames: _F64,
    offsets: _I64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_F64, _F64]: ...
def hmm_counts_codes(
    start: _F64,
    transition: _F64,
    emission: _F64,
    codes: _U8,
    offsets: _I64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_F64, _F64, _F64, _F64]: ...
def hmm_counts_frames(
    start: _F64,
    transition: _F64,
    frames: _F64,
    offsets: _I64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_F64, _F64, _F64, _F64]: ...
def hmm_labels(
    start: _F64,
    transition: _F64,
    emission: _F64,
    codes: _U8,
    offsets: _I64,
    state_labels: _U8,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_U8, _F64]: ...
def hmm_support(
    start: _F64,
    transition: _F64,
    emission: _F64,
    codes: _U8,
    offsets: _I64,
    state_labels: _U8,
    begins: _I64,
    ends: _I64,
    labels: _U8,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_F64, _F64]: ...
def align_pairs(
    query_codes: _U8,
    query_offsets: _I64,
    target_codes: _U8,
    target_offsets: _I64,
    query_index: _I64,
    target_index: _I64,
    matrix: _I32,
    gap_open: int,
    gap_extend: int,
    mode: str,
    free_ends: tuple[bool, bool, bool, bool],
    depth: int,
    n_threads: int,
    memory_bytes: int,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]: ...
def align_pieces(
    query_codes: _U8,
    query_offsets: _I64,
    target_codes: _U8,
    target_offsets: _I64,
    query_index: _I64,
    target_index: _I64,
    matrix: _I32,
    gap: tuple[int, int, int, int],
    end_gap: tuple[int, int, int, int],
    mode: str,
    free_ends: tuple[bool, bool, bool, bool],
    depth: int,
    n_threads: int,
    memory_bytes: int,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]: ...
def best_targets(
    query_codes: _U8,
    query_offsets: _I64,
    reverse_codes: _U8 | None,
    target_codes: _U8,
    target_offsets: _I64,
    span: tuple[int, int],
    skips_self: bool,
    most: int,
    least_score: int,
    matrix: _I32,
    gap_open: int,
    gap_extend: int,
    mode: str,
    free_ends: tuple[bool, bool, bool, bool],
    n_threads: int,
    memory_bytes: int,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]: ...
def score_bounds(
    query_codes: _U8,
    query_offsets: _I64,
    target_codes: _U8,
    target_offsets: _I64,
    query_index: _I64,
    target_index: _I64,
    matrix: _I32,
    gap_open: int,
    gap_extend: int,
    mode: str,
    pays_ends: bool,
    n_threads: int,
) -> _I32: ...
def shared_words(
    query_codes: _U8,
    query_offsets: _I64,
    target_codes: _U8,
    target_offsets: _I64,
    word: int,
    n_threads: int,
) -> _I32: ...
def score_floors(
    query_codes: _U8,
    query_offsets: _I64,
    target_codes: _U8,
    target_offsets: _I64,
    query_index: _I64,
    target_index: _I64,
    enough: _I32,
    matrix: _I32,
    gap_open: int,
    gap_extend: int,
    n_threads: int,
) -> _I32: ...
def identity_bounds(
    query_codes: _U8,
    query_offsets: _I64,
    target_codes: _U8,
    target_offsets: _I64,
    query_index: _I64,
    target_index: _I64,
    n_threads: int,
) -> _I32: ...

class PairAligner:
    def __init__(
        self,
        codes: _U8,
        matrix: _I32,
        gap_open: int,
        gap_extend: int,
        mode: str,
        free_ends: tuple[bool, bool, bool, bool],
        depth: int,
    ) -> None: ...
    def align(self, query: str, target: str) -> tuple[Any, ...] | None: ...

def split_fasta(
    text: _U8, goes_on: bool, most_records: int, leading_blanks: bool
) -> tuple[tuple[_U8, _I64], tuple[_U8, _I64], tuple[_U8, _I64], _I64, _U8, int]: ...
def split_fastq(
    text: _U8,
    goes_on: bool,
    most_records: int,
    most_letters: int,
    leading_blanks: bool,
    keeps_qualities: bool = False,
) -> tuple[tuple[_U8, _I64], tuple[_U8, _I64], tuple[_U8, _I64], _I64, _U8, int] | None: ...
def check_plain(text: _U8) -> tuple[int, int]: ...
def count_bytes(letters: _U8) -> _I64: ...
def encode_letters(letters: _U8, table: _U8, wildcard: int) -> tuple[_U8, int, int]: ...
def find_repeated(data: _U8, offsets: _I64) -> tuple[int, int] | None: ...
def join_rows(columns: list[tuple[Any, ...]], n_rows: int, separator: str = "\t", terminator: str = "\n") -> bytes: ...
def column_text(column: tuple[Any, ...], n_rows: int) -> tuple[bytes, _I64]: ...
def gapped_text(arrays: dict[str, Any], wants_middle: bool = True) -> tuple[_U8, _U8, _U8, _I64]: ...
def differences(arrays: dict[str, Any], letters: _U8) -> tuple[bytes, _I64]: ...
def srspair_records(arrays: dict[str, Any], scoring: str, minus_scoring: str) -> bytes: ...
def plan_gpu(
    query: _I64,
    target: _I64,
    length: _I64,
    rank: _I32,
    bound: _I64,
    wide_from: int,
    extend: int,
    strip_cells: int,
    free_ends: tuple[bool, bool, bool, bool],
    word_bits: int,
    group: int,
    rows: tuple[int, int, int],
) -> list[tuple[int, bool, int, _I32, _I32, _I64, _I32]]: ...
def gpu_constants() -> dict[str, int]: ...
def scatter_values(values: _I32, place: _I64, out: _I32) -> None: ...
def scatter_runs(runs: _U32, begin: _I64, place: _I64, offsets: _I64, out: _U32) -> None: ...

class BranchMaker:
    def __init__(
        self,
        letters: _U8,
        tip_row: _I64,
        column: _I64,
        sets: _U32,
        n_states: int,
        joints: _I32,
        branches: _I32,
        transitions: NDArray[np.float64],
        discrete: bool,
        n_threads: int,
    ) -> None: ...
    def planes(self) -> tuple[_U64, _I64]: ...

def plane_vectors(planes: _U64, n_vectors: int, n_empty: int, rows: _I64) -> _U32: ...

class BranchBounds:
    def __init__(self, planes: _U64, n_vectors: int, n_empty: int) -> None: ...

def place_word_bits(scoring: Sequence[int], n_bases: int, n_columns: int) -> int: ...
def can_prune(scoring: Sequence[int]) -> bool: ...
def place_scores(
    planes: _U64,
    n_vectors: int,
    n_empty: int,
    scoring: Sequence[int],
    codes: _U8,
    offsets: _I64,
    sets: _U32,
    word_bits: int,
    bounds: BranchBounds | None,
    n_best: int,
    n_strands: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_I32, _I32, NDArray[np.int8], int]: ...
def place_paths(
    planes: _U64,
    n_vectors: int,
    n_empty: int,
    scoring: Sequence[int],
    codes: _U8,
    offsets: _I64,
    sets: _U32,
    rows: _I64,
    windows: _I32,
    n_threads: int,
) -> tuple[_I32, _I32]: ...
def pair_posteriors(
    codes: _U8,
    offsets: _I64,
    pairs: _I32,
    transitions: NDArray[np.float64],
    match: NDArray[np.float64],
    insert: NDArray[np.float64],
    boltzmann: NDArray[np.float64],
    gap: NDArray[np.float64],
    hmm_share: float,
    cutoff: float,
    keep: float,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[NDArray[np.float32], _U16, _U16, _U16]: ...
def posterior_scratch_bytes(length_x: int, length_y: int) -> int: ...

class PosteriorStore:
    def __init__(self, lengths: _I32) -> None: ...
    def add(self, pairs: _I32, row_sizes: _U16, columns: _U16, values: _U16) -> None: ...
    def has(self, x: int, y: int) -> bool: ...
    def matrix(self, x: int, y: int) -> tuple[_U32, _U16, _U16]: ...
    def relax(
        self,
        weights: NDArray[np.float64],
        groups: _I32,
        gain: float,
        cutoff: float,
        n_threads: int,
        progress: Callable[[int], object] | None = None,
        products: Callable[[_I32, _I32, _U16, _I32, _I32, int, int], _I32] | None = None,
        third_weights: NDArray[np.float64] | None = None,
    ) -> None: ...
    @property
    def n_pairs(self) -> int: ...
    @property
    def n_elements(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...

def block_rows(store: PosteriorStore) -> tuple[_I32, _U32, _U32, _U16]: ...
def align_profiles(first: _F64, second: _F64) -> tuple[_I32, _I32, int]: ...
def align_profile_to_sequence(profile: _F64, codes: _U8, scores: _F64) -> tuple[_I32, _I32, int]: ...
def lcs_lengths(
    codes: _U8,
    offsets: _I64,
    n_codes: int,
    rows: _I32,
    columns: _I32,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _I32: ...
def lcs_distances(
    codes: _U8,
    offsets: _I64,
    n_codes: int,
    share: _F32,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _F32: ...
def pool_posteriors(
    pairs: _I32,
    row_sizes: _U16,
    columns: _U16,
    values: _U16,
    offsets: _I64,
    column_of: _U16,
    begins: _I64,
    n_rows: _I32,
    n_columns: _I32,
    cutoff: float,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_U16, _U16, _U16]: ...
def neighbour_joining(
    distances: _F32 | _F64, n: int, is_clustalw: bool, progress: Callable[[int], object] | None = None
) -> tuple[_I32, tuple[int, int, int], _F64]: ...
def average_linkage(
    distances: _F32 | _F64, n: int, progress: Callable[[int], object] | None = None, is_complete: bool = False
) -> tuple[_I32, _F64]: ...
def aligned_distances(
    codes: _U8, model: str, n_threads: int, progress: Callable[[int], object] | None = None
) -> _F64: ...
def counted_distances(compared: _I32, equal: _I32, model: str) -> _F64: ...
def bootstrap_counts(
    codes: _U8,
    model: str,
    is_joining: bool,
    parents: _I32,
    n_samples: int,
    seed: int,
    greatest: float,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
    first: int = 0,
) -> _I32: ...
def guide_tree(distances: _F32, progress: Callable[[int], object] | None = None) -> tuple[_I32, _F64]: ...
def sequence_weights(children: _I32, branch_lengths: _F64) -> _F64: ...
def progressive(
    store: PosteriorStore,
    children: _I32,
    weights: _F64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _I32: ...
def clustalw_progressive(
    letters: _U8,
    offsets: _I64,
    children: _I32,
    lengths: _F64,
    weights: _I32,
    distances: _F64 | None,
    above: _F64,
    shorter_than: _I32,
    scales: _F32,
    mismatches: _I32,
    scores: _I32,
    is_compat: bool,
    is_nucleotide: bool,
    gap_open: float,
    gap_extend: float,
    gap_distance: int,
    hydrophilic: int,
    delay: int,
    has_hydrophilic_gaps: bool,
    has_residue_gaps: bool,
    has_end_gaps: bool,
    counts_end_gaps: bool,
    negative_matrix: bool,
    has_weights: bool,
    step_bytes: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_I32, int, _I32]: ...
def refine(
    store: PosteriorStore,
    columns: _I32,
    weights: _F64,
    split: str,
    accept: str,
    n_rounds: int,
    seed: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _I32: ...
def confidence(
    store: PosteriorStore,
    columns: _I32,
    weights: _F64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_F32, _F32]: ...
def read_model(text: bytes) -> dict[str, Any] | tuple[int, bytes, bytes]: ...

class ProfileModel:
    def __init__(
        self, match: _F32, transitions: _F32, composition: _F32, background: _F32, evalue: _F32, consensus: bytes
    ) -> None: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def match_odds(self) -> _F32: ...
    @property
    def transitions(self) -> _F32: ...
    @property
    def byte_cost(self) -> _U8: ...
    @property
    def word_match(self) -> NDArray[np.int16]: ...
    @property
    def word_transitions(self) -> NDArray[np.int16]: ...
    @property
    def background(self) -> _F32: ...
    @property
    def composition_odds(self) -> _F32: ...
    @property
    def byte_constants(self) -> tuple[int, int, int]: ...
    @property
    def evalue(self) -> tuple[float, float, float, float, float, float]: ...
    @property
    def consensus(self) -> bytes: ...

class TargetBlock:
    def __init__(self, codes: _U8, offsets: _I64) -> None: ...
    @property
    def n_targets(self) -> int: ...
    def by_length(self) -> _I32: ...

def recode(letters: _U8, table: _U8, codes: _U8) -> int: ...
def msv_scores(model: ProfileModel, block: TargetBlock, targets: _I32) -> _F32: ...
def msv_filter(model: ProfileModel, block: TargetBlock, targets: _I32, F1: float) -> tuple[_I32, _F32]: ...
def msv_filter_of_highest(
    model: ProfileModel,
    block: TargetBlock,
    targets: _I32,
    highest: _U8,
    F1: float,
    msv: Callable[[_I32, _U8], _U8],
) -> tuple[_I32, _F32]: ...
def word_moves(block: TargetBlock, targets: _I32) -> _I32: ...
def viterbi_scores_of_highest(block: TargetBlock, targets: _I32, highest: _I32) -> _F32: ...
def bias_scores(model: ProfileModel, block: TargetBlock, targets: _I32) -> _F32: ...
def viterbi_scores(model: ProfileModel, block: TargetBlock, targets: _I32) -> _F32: ...
def arranged_bias_scores(model: ProfileModel, block: TargetBlock, targets: _I32, arrangement: int) -> _F32: ...
def arranged_viterbi_scores(model: ProfileModel, block: TargetBlock, targets: _I32, arrangement: int) -> _F32: ...
def n_bias_arrangements() -> int: ...
def n_viterbi_arrangements() -> int: ...
def bias_logarithms(values: _F32) -> _F32: ...
def rescore_envelopes(
    model: ProfileModel, block: TargetBlock, envelopes: _I32, with_null2: bool = True
) -> list[dict[str, Any]]: ...
def bits_of(nats: float, null_nats: float) -> float: ...
def gumbel_p(bits: float, mu: float, lambda_: float) -> float: ...
def gumbel_log_p(bits: float, mu: float, lambda_: float) -> float: ...
def exponential_p(bits: float, mu: float, lambda_: float) -> float: ...
def exponential_log_p(bits: float, mu: float, lambda_: float) -> float: ...
def set_denormals(bits: int) -> int: ...
def forward_scores(model: ProfileModel, block: TargetBlock, targets: _I32) -> _F32: ...
def parse_targets(model: ProfileModel, block: TargetBlock, targets: _I32) -> list[dict[str, Any]]: ...
def find_regions(begin: _F32, end: _F32, homology: _F32) -> _I32: ...
def trace_segments(
    model: ProfileModel, block: TargetBlock, target: int, begin: int, end: int, n_traces: int = 200, seed: int = 42
) -> tuple[_I32, _F32]: ...
def cluster_segments(segments: _I32, n_traces: int) -> tuple[_I32, _F32]: ...
def find_domains(
    model: ProfileModel, block: TargetBlock, targets: _I32, seed: int = 42, null2: bool = True
) -> dict[str, NDArray[Any]]: ...

_Options: TypeAlias = tuple[float, float, float, bool, bool, int]
_Reporting: TypeAlias = tuple[float, float, float, int, bool]

def search_block(
    models: list[ProfileModel],
    block: TargetBlock,
    options: _Options,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
    reporting: _Reporting = ...,
) -> dict[str, NDArray[Any]]: ...
def finish_block(
    models: list[ProfileModel],
    block: TargetBlock,
    model: _I32,
    target: _I32,
    msv_nats: _F32,
    viterbi_nats: _F32,
    options: _Options,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
    reporting: _Reporting = ...,
) -> dict[str, NDArray[Any]]: ...
def survey_numbers(numbers: NDArray[Any], is_max: bool) -> tuple[float, float, bool, bool, int]: ...
def bounded_numbers(numbers: NDArray[Any], is_max: bool) -> NDArray[Any]: ...
def tropical_product(
    a: NDArray[Any],
    b: NDArray[Any],
    is_max: bool,
    argbest: bool,
    limit: float,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[NDArray[Any], NDArray[np.int32] | None]: ...
def viterbi_codes(
    start: _F64,
    transition: _F64,
    emission: _F64,
    codes: _U8,
    offsets: _I64,
    n_threads: int = 1,
    progress: Callable[[int], object] | None = None,
    method: str = "auto",
) -> tuple[_U8 | _U16, _F64]: ...
def viterbi_frames(
    start: _F64,
    transition: _F64,
    frames: _F64,
    offsets: _I64,
    n_threads: int = 1,
    progress: Callable[[int], object] | None = None,
    method: str = "auto",
) -> tuple[_U8 | _U16, _F64]: ...
def closure(
    values: NDArray[Any],
    via: _I32 | None,
    is_max: bool,
    n_left: int,
    tolerance: float,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[int, bool]: ...
def path_predecessors(
    values: NDArray[Any],
    via: _I32,
    is_max: bool,
    predecessors: _I32,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> bool: ...
def negative_cycle(via: _I32, vertex: int) -> list[int]: ...
def closure_bits(bits: _U64, n: int, n_threads: int, progress: Callable[[int], object] | None = None) -> None: ...
def clustalw_identities(
    codes: _U8,
    offsets: _I64,
    matrix: _I32,
    gap_open: _I32,
    gap_extend: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _I32: ...
def clustalw_word_scores(
    codes: _U8,
    offsets: _I64,
    n_letters: int,
    length: int,
    gap: int,
    n_top: int,
    window: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _I32: ...
def clustalw_word_scores_compat(
    codes: _U8,
    offsets: _I64,
    n_letters: int,
    length: int,
    gap: int,
    n_top: int,
    window: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _I32: ...
def clustalw_rooted(children: _I32, lengths: _F64) -> tuple[_I32, _F64]: ...
def clustalw_rooted_compat(children: _I32, lengths: _F32) -> tuple[_I32, _F32]: ...
def fill_triangle(
    values: NDArray[Any],
    is_max: bool,
    is_weighted: bool,
    sizes: NDArray[Any] | None,
    closing: NDArray[Any] | None,
    letters: _U8 | None,
    least_distance: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> None: ...
def truth_product(
    a: NDArray[np.bool_], b: NDArray[np.bool_], n_threads: int, progress: Callable[[int], object] | None = None
) -> NDArray[np.bool_]: ...
