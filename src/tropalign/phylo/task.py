"""Scores of reads against all branches, as work for any device."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.execution.task import Progress, Tile
from tropalign.phylo.reference import ReferencePackage
from tropalign.phylo.scoring import PlacementScoring

if TYPE_CHECKING:
    from tropalign.devices.gpu import Gpu
    from tropalign.phylo.gpu import ScoresOnGpu

#: Scores held at a time: reads by distinct branches, 4 bytes each.
SCORES_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class Scores:
    """Of some reads.

    Attributes
    ----------
    values : int32, shape (n_reads, n_distinct)
        Scores against the distinct vectors; with pruning the least int32 where they are surely none of the best.
    windows : int32, shape (n_reads, 2)
        Begin and end of the columns (of those that take part) in which the best alignments with the best vector, the
        first of several, lie.
    """

    values: NDArray[np.int32]
    windows: NDArray[np.int32]


class Scorer:
    """What scores reads, made once for all blocks of them.

    Parameters
    ----------
    n_best
        How many of the best scores have to be right; 0 for all of them.
    """

    def __init__(self, package: ReferencePackage, scoring: PlacementScoring, n_best: int) -> None:
        self.package, self.numbers, self.n_best = package, scoring.numbers(), n_best
        self.cells = 0
        self._lock = threading.Lock()
        self._on_gpu: dict[Gpu, ScoresOnGpu] = {}

    def word_bits(self, n_letters: int) -> int:
        """Bits that hold every score of a read of that length."""
        from tropalign import _native

        return int(_native.place_word_bits(self.numbers, n_letters, len(self.package.columns)))

    def on_cpu(self, texts: list[NDArray[np.uint32]], n_threads: int, progress: Progress | None) -> Scores:
        """Scores of reads whose words are equally wide."""
        from tropalign import _native

        package, word_bits = self.package, self.word_bits(max(map(len, texts)))
        can_prune = self.n_best and word_bits <= 16 and _native.can_prune(self.numbers)
        bounds = package.bounds if can_prune else None
        reference = (package.planes, package.n_distinct, package.n_empty, self.numbers)
        rest = (word_bits, bounds, self.n_best, n_threads, progress)
        scores, windows, cells = _native.place_scores(*reference, *encoded(texts), *rest)
        with self._lock:
            self.cells += cells
        return Scores(scores[:, : package.n_distinct], windows)

    def on_gpu(self, texts: list[NDArray[np.uint32]], device: Gpu, progress: Progress | None) -> Scores:
        """The same on a GPU."""
        from tropalign.phylo.gpu import ScoresOnGpu

        with self._lock:
            if device not in self._on_gpu:
                self._on_gpu[device] = ScoresOnGpu(device, self.package.vectors(), self.numbers)
        codes = np.concatenate(texts).astype(np.uint8)
        offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
        scores = self._on_gpu[device].scores(codes, offsets, progress)
        with self._lock:
            self.cells += len(codes) * self.package.n_distinct * len(self.package.columns)
        n_columns = len(self.package.columns)
        return Scores(scores, np.tile(np.array([0, n_columns], np.int32), (len(texts), 1)))


class ScoreTask:
    """Scores of some reads; a tile holds neighbours whose words are equally wide.

    Parameters
    ----------
    texts
        State sets of each read, by ascending width of words.
    """

    def __init__(self, scorer: Scorer, texts: list[NDArray[np.uint32]]) -> None:
        self.scorer, self.texts = scorer, texts
        self._read_cells = scorer.package.n_distinct * len(scorer.package.columns)
        at_once = max(1, SCORES_AT_ONCE // scorer.package.n_distinct)
        bits = [scorer.word_bits(len(text)) for text in texts]
        self._tiles: list[Tile] = []
        begin = 0
        for k in range(1, len(texts) + 1):
            if k == len(texts) or bits[k] != bits[begin] or k - begin == at_once:
                self._tiles.append(self._tile(len(self._tiles), begin, k))
                begin = k

    def _tile(self, index: int, begin: int, end: int) -> Tile:
        cells = self._read_cells * sum(len(text) for text in self.texts[begin:end])
        return Tile(index, cells, 4 * self.scorer.package.n_distinct * (end - begin), end - begin, (begin, end))

    def fingerprint(self) -> str:
        """Hash of the reference and the reads."""
        digest = hashlib.sha256(self.scorer.package.fingerprint().encode())
        for text in self.texts:
            digest.update(text.tobytes())
        return digest.hexdigest()

    def tiles(self) -> list[Tile]:
        """Runs of reads."""
        return self._tiles

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Scores:
        """Scores of the tile's reads."""
        return self.scorer.on_cpu(self.texts[slice(*tile.payload)], n_threads, progress)

    def on_gpu(self, tile: Tile, device: Gpu, progress: Progress | None = None) -> Scores:
        """The same on a GPU."""
        return self.scorer.on_gpu(self.texts[slice(*tile.payload)], device, progress)

    def split(self, tile: Tile) -> list[Tile]:
        """Two tiles of half the reads; none of a single one."""
        begin, end = tile.payload
        if end - begin < 2:
            return []
        middle = (begin + end) // 2
        return [self._tile(tile.index, a, b) for a, b in ((begin, middle), (middle, end))]

    def join(self, tile: Tile, results: list[Any]) -> Scores:
        """One after another."""
        return Scores(np.concatenate([r.values for r in results]), np.concatenate([r.windows for r in results]))


def encoded(texts: list[NDArray[np.uint32]]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint32]]:
    """Reads as codes, where each begins, and the set of states of each code."""
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    table, codes = np.unique(np.concatenate(texts) if texts else np.zeros(0, np.uint32), return_inverse=True)
    return codes.astype(np.uint8), offsets, table.astype(np.uint32)
