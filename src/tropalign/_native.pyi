"""The compiled core, as type checkers see it; made by packaging/stub.py, out of native/bindings.

Every function checks its arrays and raises ValueError on a wrong one, TypeError on one of another dtype or layout.
Arrays are contiguous in C order. What another thread writes into them during a call is not guarded.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy
from numpy.typing import NDArray

_bool: TypeAlias = NDArray[numpy.bool_]
_float32: TypeAlias = NDArray[numpy.float32]
_float64: TypeAlias = NDArray[numpy.float64]
_int16: TypeAlias = NDArray[numpy.int16]
_int32: TypeAlias = NDArray[numpy.int32]
_int64: TypeAlias = NDArray[numpy.int64]
_int8: TypeAlias = NDArray[numpy.int8]
_uint16: TypeAlias = NDArray[numpy.uint16]
_uint32: TypeAlias = NDArray[numpy.uint32]
_uint64: TypeAlias = NDArray[numpy.uint64]
_uint8: TypeAlias = NDArray[numpy.uint8]

def supported_isas() -> list[str]: ...
def selected_isa() -> str: ...
def align_pairs(
    query_codes: _uint8,
    query_offsets: _int64,
    target_codes: _uint8,
    target_offsets: _int64,
    query_index: _int64,
    target_index: _int64,
    matrix: _int32,
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
    query_codes: _uint8,
    query_offsets: _int64,
    target_codes: _uint8,
    target_offsets: _int64,
    query_index: _int64,
    target_index: _int64,
    matrix: _int32,
    gap: tuple[int, int, int, int],
    end_gap: tuple[int, int, int, int],
    mode: str,
    free_ends: tuple[bool, bool, bool, bool],
    depth: int,
    n_threads: int,
    memory_bytes: int,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]: ...
def align_next(
    query_codes: _uint8,
    query_offsets: _int64,
    target_codes: _uint8,
    target_offsets: _int64,
    query_index: _int64,
    target_index: _int64,
    matrix: _int32,
    gap: tuple[int, int, int, int],
    taken_offsets: _int64,
    taken_query_start: _int32,
    taken_target_start: _int32,
    path_offsets: _int64,
    path: _uint32,
    least: _int32,
    depth: int,
    n_threads: int,
    memory_bytes: int,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]: ...
def best_targets(
    query_codes: _uint8,
    query_offsets: _int64,
    reverse_codes: _uint8 | None,
    target_codes: _uint8,
    target_offsets: _int64,
    span: tuple[int, int],
    skips_self: bool,
    most: int,
    least_scores: _int32,
    class_of_target: _int32,
    matrix: _int32,
    gap_open: int,
    gap_extend: int,
    mode: str,
    free_ends: tuple[bool, bool, bool, bool],
    n_threads: int,
    memory_bytes: int,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]: ...
def adjusted_scores(
    query_codes: _uint8,
    query_offsets: _int64,
    target_codes: _uint8,
    target_offsets: _int64,
    query_index: _int64,
    target_index: _int64,
    matrix: _int32,
    gap_open: int,
    gap_extend: int,
    residues: _uint8,
    shares: _float64,
    lambda_: float,
    entropy: float,
    pseudocounts: float,
    parts: int,
    n_threads: int,
    memory_bytes: int,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]: ...
def adjusted_matrices(
    query_codes: _uint8,
    query_offsets: _int64,
    target_codes: _uint8,
    target_offsets: _int64,
    query_index: _int64,
    target_index: _int64,
    matrix: _int32,
    gap_open: int,
    gap_extend: int,
    residues: _uint8,
    shares: _float64,
    lambda_: float,
    entropy: float,
    pseudocounts: float,
    parts: int,
) -> dict[str, Any]: ...
def normal_cumulative(values: _float64) -> _float64: ...
def score_bounds(
    query_codes: _uint8,
    query_offsets: _int64,
    target_codes: _uint8,
    target_offsets: _int64,
    query_index: _int64,
    target_index: _int64,
    matrix: _int32,
    gap_open: int,
    gap_extend: int,
    mode: str,
    pays_ends: bool,
    n_threads: int,
) -> _int32: ...
def identity_bounds(
    query_codes: _uint8,
    query_offsets: _int64,
    target_codes: _uint8,
    target_offsets: _int64,
    query_index: _int64,
    target_index: _int64,
    n_threads: int,
) -> _int32: ...
def shared_words(
    query_codes: _uint8, query_offsets: _int64, target_codes: _uint8, target_offsets: _int64, word: int, n_threads: int
) -> _int32: ...
def similar_by_words(
    query_codes: _uint8,
    query_offsets: _int64,
    target_codes: _uint8,
    target_offsets: _int64,
    word: int,
    identity: float,
    rounding: float,
    n_threads: int,
) -> _uint8: ...
def score_floors(
    query_codes: _uint8,
    query_offsets: _int64,
    target_codes: _uint8,
    target_offsets: _int64,
    query_index: _int64,
    target_index: _int64,
    enough: _int32,
    matrix: _int32,
    gap_open: int,
    gap_extend: int,
    n_threads: int,
) -> _int32: ...

class PairAligner:
    def __init__(
        self,
        codes: _uint8,
        matrix: _int32,
        gap_open: int,
        gap_extend: int,
        mode: str,
        free_ends: tuple[bool, bool, bool, bool],
        depth: int,
    ) -> None: ...
    def align(self, query: str, target: str) -> tuple[Any, ...] | None: ...

def join_rows(columns: list[tuple[Any, ...]], n_rows: int, separator: str = "\t", terminator: str = "\n") -> bytes: ...
def column_text(column: tuple[Any, ...], n_rows: int) -> tuple[bytes, _int64]: ...
def gapped_text(arrays: dict[str, Any], wants_middle: bool = True) -> tuple[_uint8, _uint8, _uint8, _int64]: ...
def srspair_records(arrays: dict[str, Any], scoring: str, minus_scoring: str) -> bytes: ...
def differences(arrays: dict[str, Any], letters: _uint8) -> tuple[bytes, _int64]: ...
def spread_residues(values: _uint8, columns: _int32, offsets: _int64, begin: int, cells: _uint8) -> None: ...
def split_fasta(
    text: _uint8, goes_on: bool, most_records: int, leading_blanks: bool
) -> tuple[tuple[_uint8, _int64], tuple[_uint8, _int64], tuple[_uint8, _int64], _int64, _uint8, int]: ...
def split_fastq(
    text: _uint8,
    goes_on: bool,
    most_records: int,
    most_letters: int,
    leading_blanks: bool,
    keeps_qualities: bool = False,
) -> tuple[tuple[_uint8, _int64], tuple[_uint8, _int64], tuple[_uint8, _int64], _int64, _uint8, int] | None: ...
def check_plain(text: _uint8) -> tuple[int, int]: ...
def count_bytes(letters: _uint8) -> _int64: ...
def encode_letters(letters: _uint8, table: _uint8, wildcard: int) -> tuple[_uint8, int, int]: ...
def find_repeated(data: _uint8, offsets: _int64) -> tuple[int, int] | None: ...
def mask_seg(
    codes: _uint8, offsets: _int64, window: int, low: float, high: float, n_threads: int
) -> tuple[_int64, _int64]: ...
def mask_dust(codes: _uint8, offsets: _int64, window: int, level: int, n_threads: int) -> tuple[_int64, _int64]: ...
def mask_tantan(
    codes: _uint8,
    offsets: _int64,
    ratios: _float64,
    periods: int,
    repeat: float,
    end: float,
    decay: float,
    least: float,
    n_threads: int,
) -> tuple[_int64, _int64]: ...
def plan_gpu(
    query: _int64,
    target: _int64,
    length: _int64,
    rank: _int32,
    bound: _int64,
    wide_from: int,
    extend: int,
    strip_cells: int,
    free_ends: Sequence[bool],
    word_bits: int,
    group: int,
    rows: Sequence[int],
) -> list[tuple[int, bool, int, _int32, _int32, _int64, _int32]]: ...
def gpu_constants() -> dict[str, int]: ...
def scatter_values(values: _int32, place: _int64, out: _int32) -> None: ...
def scatter_runs(runs: _uint32, begin: _int64, place: _int64, offsets: _int64, out: _uint32) -> None: ...

class BranchMaker:
    def __init__(
        self,
        letters: _uint8,
        tip_row: _int64,
        column: _int64,
        sets: _uint32,
        n_states: int,
        joints: _int32,
        branches: _int32,
        transitions: _float64,
        discrete: bool,
        n_threads: int,
    ) -> None: ...
    def planes(self) -> tuple[_uint64, _int64]: ...

def plane_vectors(planes: _uint64, n_vectors: int, n_empty: int, rows: _int64) -> _uint32: ...

class BranchBounds:
    def __init__(self, planes: _uint64, n_vectors: int, n_empty: int) -> None: ...

def place_word_bits(scoring: Sequence[int], n_bases: int, n_columns: int) -> int: ...
def can_prune(scoring: Sequence[int]) -> bool: ...
def place_scores(
    planes: _uint64,
    n_vectors: int,
    n_empty: int,
    scoring: Sequence[int],
    codes: _uint8,
    offsets: _int64,
    sets: _uint32,
    word_bits: int,
    bounds: BranchBounds | None,
    n_best: int,
    n_strands: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_int32, _int32, _int8, int]: ...
def place_paths(
    planes: _uint64,
    n_vectors: int,
    n_empty: int,
    scoring: Sequence[int],
    codes: _uint8,
    offsets: _int64,
    sets: _uint32,
    rows: _int64,
    windows: _int32,
    n_threads: int,
) -> tuple[_int32, _int32]: ...
def pair_posteriors(
    codes: _uint8,
    offsets: _int64,
    pairs: _int32,
    transitions: _float64,
    match: _float64,
    insert: _float64,
    boltzmann: _float64,
    gap: _float64,
    hmm_share: float,
    cutoff: float,
    keep: float,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_float32, _uint16, _uint16, _uint16]: ...
def posterior_scratch_bytes(length_x: int, length_y: int) -> int: ...
def lcs_lengths(
    codes: _uint8,
    offsets: _int64,
    n_codes: int,
    rows: _int32,
    columns: _int32,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
    wanted: _uint8 | None = None,
) -> _int32: ...
def lcs_distances(
    codes: _uint8,
    offsets: _int64,
    n_codes: int,
    share: _float32,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _float32: ...
def pool_posteriors(
    pairs: _int32,
    row_sizes: _uint16,
    columns: _uint16,
    values: _uint16,
    offsets: _int64,
    column_of: _uint16,
    begins: _int64,
    n_rows: _int32,
    n_columns: _int32,
    cutoff: float,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_uint16, _uint16, _uint16]: ...

class PosteriorStore:
    def __init__(self, lengths: _int32) -> None: ...
    def add(self, pairs: _int32, row_sizes: _uint16, columns: _uint16, values: _uint16) -> None: ...
    def has(self, x: int, y: int) -> bool: ...
    def matrix(self, x: int, y: int) -> tuple[_uint32, _uint16, _uint16]: ...
    def relax(
        self,
        weights: _float64,
        groups: _int32,
        gain: float,
        cutoff: float,
        n_threads: int,
        progress: Callable[[int], object] | None = None,
        products: Callable[[_int32, _int32, _uint16, _int32, _int32, int, int], _int32] | None = None,
        third_weights: _float64 | None = None,
    ) -> None: ...
    @property
    def n_pairs(self) -> int: ...
    @property
    def n_elements(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...

def guide_tree(distances: _float32, progress: Callable[[int], object] | None = None) -> tuple[_int32, _float64]: ...
def sequence_weights(children: _int32, branch_lengths: _float64) -> _float64: ...
def progressive(
    store: PosteriorStore,
    children: _int32,
    weights: _float64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _int32: ...
def refine(
    store: PosteriorStore,
    columns: _int32,
    weights: _float64,
    split: str,
    accept: str,
    n_rounds: int,
    seed: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _int32: ...
def confidence(
    store: PosteriorStore,
    columns: _int32,
    weights: _float64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_float32, _float32]: ...
def block_rows(store: PosteriorStore) -> tuple[_int32, _uint32, _uint32, _uint16]: ...
def align_profiles(first: _float64, second: _float64) -> tuple[_int32, _int32, int]: ...
def align_profile_to_sequence(profile: _float64, codes: _uint8, scores: _float64) -> tuple[_int32, _int32, int]: ...
def read_model(text: bytes, with_nucleotides: bool = False) -> dict[str, Any] | tuple[int, bytes, bytes]: ...
def effective_number(
    codes: _uint8,
    is_node: _uint8 | None,
    occupancy: float,
    fragment: float,
    entropy: float,
    sigma: float,
    background: _float32,
) -> float: ...

class ProfileModel:
    def __init__(
        self,
        match: _float32,
        transitions: _float32,
        composition: _float32,
        background: _float32,
        evalue: _float32,
        consensus: bytes,
    ) -> None: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def match_odds(self) -> _float32: ...
    @property
    def transitions(self) -> _float32: ...
    @property
    def byte_cost(self) -> _uint8: ...
    @property
    def word_match(self) -> _int16: ...
    @property
    def word_transitions(self) -> _int16: ...
    @property
    def background(self) -> _float32: ...
    @property
    def composition_odds(self) -> _float32: ...
    @property
    def byte_constants(self) -> tuple[int, int, int]: ...
    @property
    def evalue(self) -> tuple[float, float, float, float, float, float]: ...
    @property
    def consensus(self) -> bytes: ...

class TargetBlock:
    def __init__(self, codes: _uint8, offsets: _int64) -> None: ...
    @property
    def n_targets(self) -> int: ...
    def by_length(self) -> _int32: ...

def recode(letters: _uint8, table: _uint8, codes: _uint8) -> int: ...
def rescore_envelopes(
    model: ProfileModel, block: TargetBlock, envelopes: _int32, with_null2: bool = True
) -> list[dict[str, Any]]: ...
def msv_scores(model: ProfileModel, block: TargetBlock, targets: _int32) -> _float32: ...
def msv_filter(model: ProfileModel, block: TargetBlock, targets: _int32, F1: float) -> tuple[_int32, _float32]: ...
def bias_scores(model: ProfileModel, block: TargetBlock, targets: _int32) -> _float32: ...
def viterbi_scores(model: ProfileModel, block: TargetBlock, targets: _int32) -> _float32: ...
def arranged_bias_scores(model: ProfileModel, block: TargetBlock, targets: _int32, arrangement: int) -> _float32: ...
def arranged_viterbi_scores(model: ProfileModel, block: TargetBlock, targets: _int32, arrangement: int) -> _float32: ...
def n_bias_arrangements() -> int: ...
def n_viterbi_arrangements() -> int: ...
def bias_logarithms(values: _float32) -> _float32: ...
def bits_of(nats: float, null_nats: float) -> float: ...
def gumbel_p(bits: float, mu: float, lambda_: float) -> float: ...
def gumbel_log_p(bits: float, mu: float, lambda_: float) -> float: ...
def exponential_p(bits: float, mu: float, lambda_: float) -> float: ...
def exponential_log_p(bits: float, mu: float, lambda_: float) -> float: ...
def msv_filter_of_highest(
    model: ProfileModel,
    block: TargetBlock,
    targets: _int32,
    highest: _uint8,
    F1: float,
    msv: Callable[[_int32, _uint8], _uint8],
) -> tuple[_int32, _float32]: ...
def word_moves(block: TargetBlock, targets: _int32) -> _int32: ...
def viterbi_scores_of_highest(block: TargetBlock, targets: _int32, highest: _int32) -> _float32: ...
def set_denormals(bits: int) -> int: ...
def forward_scores(model: ProfileModel, block: TargetBlock, targets: _int32) -> _float32: ...
def parse_targets(model: ProfileModel, block: TargetBlock, targets: _int32) -> list[dict[str, Any]]: ...
def find_regions(begin: _float32, end: _float32, homology: _float32) -> _int32: ...
def trace_segments(
    model: ProfileModel, block: TargetBlock, target: int, begin: int, end: int, n_traces: int = 200, seed: int = 42
) -> tuple[_int32, _float32]: ...
def cluster_segments(segments: _int32, n_traces: int) -> tuple[_int32, _float32]: ...
def find_domains(
    model: ProfileModel, block: TargetBlock, targets: _int32, seed: int = 42, null2: bool = True
) -> dict[str, NDArray[Any]]: ...

class AlignmentModel:
    def __init__(self, match: _float32, transitions: _float32, background: _float32) -> None: ...

def align_targets(
    model: AlignmentModel,
    block: TargetBlock,
    targets: _int32,
    places: _int32,
    posteriors: _float32,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _int32: ...
def align_targets_in_logs(
    model: AlignmentModel,
    block: TargetBlock,
    targets: _int32,
    places: _int32,
    posteriors: _float32,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> None: ...
def target_alignment_bytes(model: AlignmentModel, length: int) -> int: ...
def insert_widths(places: _int32, offsets: _int64, n_nodes: int) -> _int32: ...
def columns_of_places(places: _int32, offsets: _int64, widths: _int32, is_trimmed: bool) -> _int32: ...
def alignment_checksum(codes: _uint8) -> int: ...
def search_block(
    models: list[ProfileModel],
    block: TargetBlock,
    options: tuple[float, float, float, bool, bool, int],
    n_threads: int,
    progress: Callable[[int], object] | None = None,
    reporting: tuple[float, float, float, int, bool] = ...,
) -> dict[str, NDArray[Any]]: ...
def finish_block(
    models: list[ProfileModel],
    block: TargetBlock,
    model: _int32,
    target: _int32,
    msv_nats: _float32,
    viterbi_nats: _float32,
    options: tuple[float, float, float, bool, bool, int],
    n_threads: int,
    progress: Callable[[int], object] | None = None,
    reporting: tuple[float, float, float, int, bool] = ...,
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
) -> tuple[NDArray[Any], _int32 | None]: ...
def truth_product(a: _bool, b: _bool, n_threads: int, progress: Callable[[int], object] | None = None) -> _bool: ...
def closure(
    values: NDArray[Any],
    via: _int32 | None,
    is_max: bool,
    n_left: int,
    tolerance: float,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[int, bool]: ...
def path_predecessors(
    values: NDArray[Any],
    via: _int32,
    is_max: bool,
    predecessors: _int32,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> bool: ...
def negative_cycle(via: _int32, vertex: int) -> list[int]: ...
def closure_bits(bits: _uint64, n: int, n_threads: int, progress: Callable[[int], object] | None = None) -> None: ...
def fill_triangle(
    values: NDArray[Any],
    is_max: bool,
    is_weighted: bool,
    sizes: NDArray[Any] | None,
    closing: NDArray[Any] | None,
    letters: _uint8 | None,
    least_distance: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> None: ...
def viterbi_codes(
    start: _float64,
    transition: _float64,
    emission: _float64,
    codes: _uint8,
    offsets: _int64,
    n_threads: int = 1,
    progress: Callable[[int], object] | None = None,
    method: str = "auto",
) -> tuple[NDArray[Any], _float64]: ...
def viterbi_frames(
    start: _float64,
    transition: _float64,
    frames: _float64,
    offsets: _int64,
    n_threads: int = 1,
    progress: Callable[[int], object] | None = None,
    method: str = "auto",
) -> tuple[NDArray[Any], _float64]: ...
def hmm_forward_codes(
    start: _float64,
    transition: _float64,
    emission: _float64,
    codes: _uint8,
    offsets: _int64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _float64: ...
def hmm_forward_frames(
    start: _float64,
    transition: _float64,
    frames: _float64,
    offsets: _int64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _float64: ...
def hmm_posteriors_codes(
    start: _float64,
    transition: _float64,
    emission: _float64,
    codes: _uint8,
    offsets: _int64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_float64, _float64]: ...
def hmm_posteriors_frames(
    start: _float64,
    transition: _float64,
    frames: _float64,
    offsets: _int64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_float64, _float64]: ...
def hmm_counts_codes(
    start: _float64,
    transition: _float64,
    emission: _float64,
    codes: _uint8,
    offsets: _int64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_float64, _float64, _float64, _float64]: ...
def hmm_counts_frames(
    start: _float64,
    transition: _float64,
    frames: _float64,
    offsets: _int64,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_float64, _float64, _float64, _float64]: ...
def hmm_labels(
    start: _float64,
    transition: _float64,
    emission: _float64,
    codes: _uint8,
    offsets: _int64,
    state_labels: _uint8,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_uint8, _float64]: ...
def hmm_support(
    start: _float64,
    transition: _float64,
    emission: _float64,
    codes: _uint8,
    offsets: _int64,
    state_labels: _uint8,
    begins: _int64,
    ends: _int64,
    labels: _uint8,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> tuple[_float64, _float64]: ...
def neighbour_joining(
    distances: NDArray[Any], n: int, is_clustalw: bool, progress: Callable[[int], object] | None = None
) -> tuple[_int32, tuple[int, int, int], _float64]: ...
def average_linkage(
    distances: NDArray[Any], n: int, progress: Callable[[int], object] | None = None, is_complete: bool = False
) -> tuple[_int32, _float64]: ...
def aligned_distances(
    codes: _uint8, model: str, n_threads: int, progress: Callable[[int], object] | None = None
) -> _float64: ...
def counted_distances(compared: _int32, equal: _int32, model: str) -> _float64: ...
def bootstrap_counts(
    codes: _uint8,
    model: str,
    is_joining: bool,
    parents: _int32,
    n_samples: int,
    seed: int,
    greatest: float,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
    first_sample: int = 0,
) -> _int32: ...
def bootstrap_splits(
    codes: _uint8,
    model: str,
    is_joining: bool,
    parents: _int32,
    n_samples: int,
    seed: int,
    greatest: float,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
    first_sample: int = 0,
) -> tuple[_uint64, _uint64]: ...
def clustalw_progressive(
    letters: _uint8,
    offsets: _int64,
    children: _int32,
    lengths: _float64,
    weights: _int32,
    distances: _float64 | None,
    above: _float64,
    shorter_than: _int32,
    scales: _float32,
    mismatches: _int32,
    scores: _int32,
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
) -> tuple[_int32, int, _int32]: ...
def clustalw_identities(
    codes: _uint8,
    offsets: _int64,
    matrix: _int32,
    gap_open: _int32,
    gap_extend: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _int32: ...
def clustalw_word_scores(
    codes: _uint8,
    offsets: _int64,
    n_letters: int,
    length: int,
    gap: int,
    n_top: int,
    window: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _int32: ...
def clustalw_word_scores_compat(
    codes: _uint8,
    offsets: _int64,
    n_letters: int,
    length: int,
    gap: int,
    n_top: int,
    window: int,
    n_threads: int,
    progress: Callable[[int], object] | None = None,
) -> _int32: ...
def clustalw_rooted(children: _int32, lengths: _float64) -> tuple[_int32, _float64]: ...
def clustalw_rooted_compat(children: _int32, lengths: _float32) -> tuple[_int32, _float32]: ...
