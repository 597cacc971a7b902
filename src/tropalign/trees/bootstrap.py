"""Bootstrap support of the branches of a tree: trees of resampled columns (Felsenstein 1985)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.devices.registry import DeviceLike, device_names, is_cluster, open_devices
from tropalign.errors import InputError, TropalignWarning, UsageError, counted
from tropalign.execution.manifest import Shard
from tropalign.execution.scheduler import Scheduler
from tropalign.execution.task import CostList, Progress, Tile, checked_progress, cuts, share
from tropalign.resources.limits import checked_memory, checked_threads, resolve_threads, whole_number
from tropalign.results.multiple import MultipleAlignment
from tropalign.results.names import ColumnRule, DistanceModel, TreeMethod
from tropalign.results.tree import Tree, resupported
from tropalign.trees.distances import (
    SATURATED,
    alignment_of,
    checked_model,
    compared_codes,
)
from tropalign.trees.joining import require_memory

METHODS = get_args(TreeMethod)
#: Value of `n_samples` that draws samples until support has settled.
AUTO: Final = "auto"
#: Lengths below this share of the longest one count as 0.
ROUNDING = 1e-9
#: Cost of a tile in compared pairs of residues: about a second on one core.
TILE_CELLS = 5_000_000_000


def with_support(
    tree: Tree,
    alignment: MultipleAlignment,
    n_samples: int | Literal["auto"] = 100,
    *,
    method: TreeMethod = "nj",
    model: DistanceModel | None = None,
    gaps: ColumnRule = "pairwise",
    seed: int = 0,
    n_threads: int = 0,
    memory_bytes: int | None = None,
    device: DeviceLike = "cpu",
    progress: Callable[[int], object] | None = None,
) -> Tree:
    """Return the tree with the support of its branches: the percentage of bootstrap trees that contain each.

    Each sample has as many columns as the alignment, drawn from it with replacement. The result depends on the seed,
    and not on the number of threads. Branches are compared by the split of the taxa that they make; branches of
    UPGMA and WPGMA trees, which have a root, by the taxa below them. Branches of zero length, and branches that
    separate equal rows, get no support: it would only reflect the tie-breaking rule.

    Parameters
    ----------
    tree
        Tree of the alignment's rows, in their order.
    alignment
        Alignment whose columns are resampled.
    n_samples
        Number of trees to make. "auto" makes trees until support has settled, by the frequency criterion of
        Pattengale et al. 2010: after every 50 samples, they are halved at random 100 times, and in 99 of these
        partitions the frequencies of all splits in the two halves must correlate by .99; at most 1000 samples. The
        tree's `n_samples` is the number of samples used.
    method, model, gaps
        How each tree is made.
    seed
        Seed of the draws and of the halves.
    n_threads
        0: as many as the process may use; at most 1024.
    memory_bytes
        Memory limit; a share of the free memory by default. Fewer threads run if memory is short.
    device
        "cpu", or a cluster whose workers make the samples: its address or a distributed.Client.
    progress
        Receives the number of samples started; an exception that it raises stops the work.

    Returns
    -------
    Tree

    Raises
    ------
    InputError
        The taxa are not the rows.
    UsageError
        An option does not exist or is out of range.
    ResourceError
        Memory does not suffice.

    Examples
    --------
    >>> rows = ["MKVLAWHQ", "MKVLAWHK", "MRVIAFHQ", "MRVIAFHK"]
    >>> alignment = tropalign.MultipleAlignment.from_rows("abcd", rows)
    >>> tree = tropalign.trees.neighbour_joining(tropalign.trees.alignment_distances(alignment), alignment.names)
    >>> with_support(tree, alignment, 50, seed=1).newick(2)
    '((a:0.07,b:0.07)94:0.52,c:0.07,d:0.07);'
    """
    if not isinstance(tree, Tree):
        raise UsageError(
            f"an object of type {type(tree).__name__} is not a Tree: build one from the distances of the alignment"
        )
    alignment = alignment_of(alignment)
    if n_samples != AUTO:
        n_samples = whole_number("n_samples", n_samples, 1, 1_000_000)
    n_threads, memory_bytes = checked_threads(n_threads), checked_memory(memory_bytes)
    progress = checked_progress(progress)
    made: dict[str, Any] = {
        "method": method, "model": model, "gaps": gaps, "seed": seed, "memory_bytes": memory_bytes,
    }  # fmt: skip
    names = device_names(device)
    if gpus := [name for name in names if not is_cluster(name) and name not in ("cpu", "auto")]:
        raise UsageError(f"bootstrap samples are computed on CPUs only: leave {gpus[0]} out")
    clusters = list(filter(is_cluster, names))
    if isinstance(n_samples, str):
        if clusters:
            raise UsageError("a cluster requires the number of samples in advance: give a number instead of auto")
        return _settled(tree, alignment, n_threads=n_threads, progress=progress, **made)
    if clusters:
        sample_counts(tree, alignment, range(1), n_threads=1, **made)  # check the arguments
        task = SampleTask(tree, alignment, n_samples, (1, 1), **made)
        devices = open_devices(["cpu", *clusters], n_threads, sum(tile.cost_cells for tile in task.tiles()))
        results = Scheduler(devices, progress).run([task])
        counts: NDArray[np.int32] = np.sum([result.value for result in results], axis=0, dtype=np.int32)
    else:
        counts = sample_counts(tree, alignment, range(n_samples), n_threads=n_threads, progress=progress, **made)
    return supported(tree, counts, n_samples, alignment, gaps)


def sample_counts(
    tree: Tree,
    alignment: MultipleAlignment,
    samples: range,
    *,
    method: str,
    model: str | None,
    gaps: ColumnRule,
    seed: int,
    n_threads: int = 0,
    memory_bytes: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> NDArray[np.int32]:
    """Count the samples that have the split above each node, int32, shape (n_nodes,); arguments as for `with_support`.

    A sample depends on the seed and its index alone, so samples may be counted in several calls.
    """
    trees, seed, threads = _source(tree, alignment, method, model, gaps, seed, n_threads, memory_bytes)
    if tree.n_taxa < 4:
        return np.zeros(len(tree.lengths), np.int32)
    return _native.bootstrap_counts(*trees, len(samples), seed, SATURATED, threads, progress, samples.start)


def _source(
    tree: Tree,
    alignment: MultipleAlignment,
    method: str,
    model: str | None,
    gaps: ColumnRule,
    seed: int,
    n_threads: int,
    memory_bytes: int | None,
) -> tuple[tuple[NDArray[np.uint8], str, str, NDArray[np.int32]], int, int]:
    """Check the arguments for samples; raises as `with_support` does.

    Returns what the core takes (codes, model, method, the nodes above the tree's nodes), the seed
    and the number of threads.
    """
    if method not in METHODS:
        raise UsageError(f"method {method!r} is not one of {', '.join(METHODS)}")
    seed = whole_number("seed", seed, 0, 2**63 - 1)
    if tree.names != alignment.names:
        raise InputError("the taxa of the tree are not the rows of the alignment: build the tree from this alignment")
    chosen = checked_model(model, alignment.sequences.alphabet)
    codes = compared_codes(alignment, gaps)
    n, threads = tree.n_taxa, resolve_threads(checked_threads(n_threads))
    if n >= 4:
        each = 14 * n * n + codes.nbytes  # per thread: rows, distances, and a square of the distances
        allowed = require_memory(each + codes.nbytes, memory_bytes, f"a bootstrap of {n} taxa")
        threads = max(1, min(threads, (allowed - codes.nbytes) // each))
    parents = np.full(len(tree.lengths), -1, np.int32)
    for k, joined in enumerate(tree.children):
        parents[list(joined)] = n + k
    return (codes, chosen, method, parents), seed, threads


def _settled(
    tree: Tree,
    alignment: MultipleAlignment,
    *,
    progress: Callable[[int], object] | None,
    memory_bytes: int | None,
    n_threads: int,
    **made: Any,
) -> Tree:
    """Return the tree with support from as many samples as it takes to settle."""
    trees, seed, threads = _source(tree, alignment, n_threads=n_threads, memory_bytes=memory_bytes, **made)
    if tree.n_taxa < 4:
        return replace(tree, support=np.full(len(tree.lengths), np.nan), n_samples=0)
    # For the splits of all samples, their numbers, and sorting them.
    require_memory(
        40 * MOST_SAMPLES * tree.n_taxa,
        memory_bytes,
        f"sorting the splits of {MOST_SAMPLES} samples of {tree.n_taxa} taxa",
    )
    wanted = np.zeros(0, np.uint64)

    def more(begin: int, end: int) -> NDArray[np.uint64]:
        nonlocal wanted
        told = None if progress is None else lambda done: progress(begin + done)
        wanted, found = _native.bootstrap_splits(*trees, end - begin, seed, SATURATED, threads, told, begin)
        return found

    splits, is_settled = settled_samples(more, seed)
    if not is_settled:
        warnings.warn(f"support has not settled after {len(splits):,} samples", TropalignWarning, stacklevel=3)
    numbers, times = np.unique(splits, return_counts=True)
    at = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    counts = np.zeros(len(tree.lengths), np.int64)
    counts[tree.n_taxa : -1] = np.where(numbers[at] == wanted, times[at], 0)
    return supported(tree, counts, len(splits), alignment, made["gaps"])


def supported(
    tree: Tree, counts: NDArray[np.integer], n_samples: int, alignment: MultipleAlignment, gaps: ColumnRule
) -> Tree:
    """Return the tree with support from sample counts; a tree of three taxa has no branch that needs support.

    No column supports or contradicts a branch of zero length, or one that separates equal rows. Its count only
    reflects the tie-breaking rule, so it gets no support.
    """
    support = np.full(len(tree.lengths), np.nan)
    n = tree.n_taxa
    if n >= 4:
        support[n:-1] = 100.0 * counts[n:-1] / n_samples
        is_empty = (np.abs(tree.lengths) <= ROUNDING * np.abs(np.nan_to_num(tree.lengths)).max()) | _parts_equal_rows(
            tree, compared_codes(alignment, gaps)
        )
        is_empty[:n] = is_empty[-1] = False
        support[is_empty] = np.nan
        if n_empty := int(is_empty.sum()):
            text = f"{counted(n_empty, 'branches')} of zero length or between equal rows: no support is given"
            warnings.warn(text, TropalignWarning, stacklevel=3)
    return resupported(tree, support, n_samples)


def _parts_equal_rows(tree: Tree, codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return a mask of nodes: true if a taxon below the node has an equal row outside it.

    Each group of taxa with equal rows gets random numbers whose sum is 0, so the sum below a node is 0 if it holds
    all or no taxa of each group.
    """
    n, draw = tree.n_taxa, np.random.default_rng(0)
    of_row: dict[bytes, list[int]] = {}
    for taxon, row in enumerate(codes):
        of_row.setdefault(row.tobytes(), []).append(taxon)
    sums = np.zeros(len(tree.lengths), np.uint64)
    for taxa in of_row.values():
        sums[taxa[1:]] = draw.integers(0, 2**64, len(taxa) - 1, np.uint64)
        sums[taxa[:1]] = -sums[taxa[1:]].sum(keepdims=True)  # modulo 2^64
    for k, joined in enumerate(tree.children):
        sums[n + k] = sums[list(joined)].sum()
    found: NDArray[np.bool_] = sums != 0
    return found


class SampleTask:
    """Task that counts splits in trees of resampled columns.

    n_samples: of the whole run. shard: (i, n), the i-th of n shares of the samples, counted from 1. Other arguments
    are those of `with_support`.
    """

    def __init__(
        self,
        tree: Tree,
        alignment: MultipleAlignment,
        n_samples: int,
        shard: Shard,
        *,
        memory_bytes: int | None = None,
        **made: Any,
    ) -> None:
        self._tree, self._alignment, self._made = tree, alignment, {**made, "memory_bytes": memory_bytes}
        n = tree.n_taxa
        costs = CostList(np.full(n_samples, n * (n - 1) / 2 * (alignment.n_columns + n) + 1))
        spans = pairwise(cuts(costs, *share(costs, shard), n_samples, TILE_CELLS))
        self._tiles = [
            Tile(k, int(costs.cost_before(end) - costs.cost_before(begin)), 14 * n * n, end - begin, (begin, end))
            for k, (begin, end) in enumerate(spans)
        ]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_tiles": []}  # a worker gets its tiles one by one

    def tiles(self) -> list[Tile]:
        """Return the tiles: ranges of samples."""
        return self._tiles

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> NDArray[np.int32]:
        """Count the samples that have the split above each node; int32, shape (n_nodes,)."""
        samples = range(*tile.payload)
        return sample_counts(self._tree, self._alignment, samples, n_threads=n_threads, progress=progress, **self._made)


def count_bytes(counts: NDArray[np.int32]) -> bytes:
    """Serialise the counts of a tile."""
    return counts.astype("<i4").tobytes()


def sum_of(parts: Iterable[bytes], n_nodes: int) -> NDArray[np.int64]:
    """Sum the counts of all tiles. Raises ValueError if a part has too few counts."""
    found = np.zeros(n_nodes, np.int64)
    for part in parts:
        found += np.frombuffer(part, "<i4", n_nodes)
    return found


#: Samples between checks, partitions per check, required correlation, and partitions that have to reach it.
SPACING, PARTINGS, LEAST_CORRELATION, LEAST_PARTINGS = 50, 100, 0.99, 99
#: Maximum number of samples, settled or not.
MOST_SAMPLES = 1_000


# Frequency criterion (FC): after every 50 samples, the samples are split at random into two equal halves, 100
# times. Each time, the frequencies in the two halves of all splits that occur in any sample's tree are correlated
# (Pearson). If the correlation is at least .99 in 99 of the 100 partitions, support has settled.
def has_settled(splits: NDArray[np.uint64], seed: int = 0) -> bool:
    """True if the support of the samples has settled.

    splits: uint64, shape (n_samples, n_splits), one number per split of each sample's tree, equal for equal splits.
    """
    n_samples = len(splits)
    numbers = np.unique(splits, return_inverse=True)[1].reshape(splits.shape)
    n = int(numbers.max()) + 1 if numbers.size else 0
    whole = np.bincount(numbers.ravel(), minlength=n)
    n_low = 0
    for parting in range(PARTINGS):
        half = np.bincount(numbers[_half(n_samples, parting, seed)].ravel(), minlength=n)
        a, b = half - half.mean(), whole - half - (whole - half).mean()
        spread = float(np.sqrt((a * a).sum() * (b * b).sum()))
        if spread == 0:  # if all are equal, there is nothing to correlate
            n_low += not np.array_equal(half, whole - half)
        else:  # Pearson's
            n_low += float((a * b).sum()) / spread < LEAST_CORRELATION
        if n_low > PARTINGS - LEAST_PARTINGS:
            return False
    return True


def settled_samples(more: Callable[[int, int], NDArray[np.uint64]], seed: int = 0) -> tuple[NDArray[np.uint64], bool]:
    """Draw samples until support has settled or `MOST_SAMPLES` is reached; return all splits and whether it settled.

    more: (start, end) -> the splits of the samples.
    """
    splits = more(0, SPACING)
    while not (is_settled := has_settled(splits, seed)) and len(splits) < MOST_SAMPLES:
        splits = np.concatenate([splits, more(len(splits), len(splits) + SPACING)])
    return splits, is_settled


def _half(n_samples: int, parting: int, seed: int) -> NDArray[np.int64]:
    """Return half of the samples, those with the smallest hashes (Steele, Lea and Flood 2014), machine-independent."""
    key = (seed * PARTINGS + parting) * MOST_SAMPLES % 2**64
    x = (np.arange(1, n_samples + 1, dtype=np.uint64) + np.uint64(key)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.argsort(x ^ (x >> np.uint64(31)), kind="stable")[: n_samples // 2]
