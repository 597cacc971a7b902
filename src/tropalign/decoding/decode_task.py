"""Sequences to be decoded as a task of tiles: neighbouring sequences of one file, read when they are needed."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.decoding.decoding import LEAST_RUN, POSITION_BYTES, Decoder
from tropalign.decoding.model import HMM
from tropalign.errors import InputError, TropalignWarning
from tropalign.execution.manifest import Shard
from tropalign.execution.task import CostList, Progress, Tile, cuts, share
from tropalign.formats.segments.tracks import Track, bounds_of
from tropalign.resources.limits import environment_number
from tropalign.results.segments import Segments
from tropalign.sequences.reader import SequenceBlock, survey_of


def tracks_of(decoder: Decoder, block: SequenceBlock, found: Segments, most: int) -> list[Track]:
    """Return tracks of a block's first sequences, at most `most`, with the segments of the decoder's shown label."""
    tracks, label = [], decoder.shown_label
    for number, name in enumerate(found.names[:most]):
        begin, end = block.offsets[number : number + 2]
        letters, offsets = block.letters[begin:end], np.array([0, end - begin])
        gaps = decoder.long_runs(letters, offsets)
        codes = decoder.codes((name,), letters, offsets, block.file)
        is_shown = (found.sequence == number) & (found.label == label)
        spans = np.stack([found.start[is_shown], found.end[is_shown]], axis=1)
        tracks.append(Track(name, len(codes), spans, decoder.curve(codes, bounds_of(len(codes)), label), gaps))
    return tracks


#: Approximate letters of a tile, and its maximum sequences: a kill loses a tile, a second of work.
TILE_LETTERS, TILE_SEQUENCES = 1 << 22, 4096
#: Maximum sequences in a picture.
MOST_TRACKS = 20
FEWER = "the input has fewer sequences than at the start of the run: run the command again"


class Decoded(NamedTuple):
    """Result of a tile: the segments of its sequences, and the tracks of sequences in the picture."""

    segments: Segments
    tracks: tuple[Track, ...]


@dataclass(frozen=True, eq=False)
class Contents:
    """Result of a pass over the sequences before decoding.

    `lengths`: int64, shape (n_sequences,), letters of each. `files`: index of each file's first sequence, except
    for the first file. `sha256`: hash of names and letters, in hexadecimal.
    """

    lengths: NDArray[np.int64]
    files: tuple[int, ...]
    sha256: str

    @classmethod
    def of(cls, blocks: Iterable[SequenceBlock]) -> Contents:
        """Collect the contents of all blocks."""
        files, last, n = list[int](), ("", 0), 0

        def watched() -> Iterator[SequenceBlock]:
            nonlocal last, n
            for block in blocks:
                if n and (block.file != last[0] or int(block.numbers[0]) <= last[1]):
                    files.append(n)
                last, n = (block.file, int(block.numbers[-1])), n + len(block)
                yield block

        found = survey_of(watched())
        return cls(found.lengths, tuple(files), found.sha256)


@dataclass
class Unlabelled:
    """Counter of the letters without a label in a stream of blocks."""

    decoder: Decoder
    n: int = 0
    n_letters: int = 0

    def watched(self, blocks: Iterable[SequenceBlock]) -> Iterator[SequenceBlock]:
        """Yield blocks unchanged, and count the letters without a label."""
        for block in blocks:
            self.n += int(np.diff(self.decoder.long_runs(block.letters, block.offsets)).sum())
            self.n_letters += len(block.letters)
            yield block

    def warn(self) -> None:
        """Warn of the number of letters without a label, if any."""
        if self.n:
            text = (
                f"{self.n:,} of {self.n_letters:,} letters get no label: they lie in runs of at least {LEAST_RUN} "
                f"missing letters, where sequences are divided"
            )
            warnings.warn(text, TropalignWarning, stacklevel=2)


class DecodeTask:
    """Decoding of sequences by one model.

    `blocks` opens the sequences, which are read once per call of `tiles`. `contents`: known in advance, as shards
    and resumed runs require. `shard`: (i, n), the i-th of n equal shards, from 1. `draws`: return the first
    sequences of all as tracks.
    """

    def __init__(
        self,
        decoder: Decoder,
        blocks: Callable[[], Iterable[SequenceBlock]],
        contents: Contents | None = None,
        shard: Shard | None = None,
        draws: bool = False,
    ) -> None:
        self._decoder, self._blocks, self._draws = decoder, blocks, draws
        self._tiles = None if contents is None else _cut(contents, shard)
        self._records = _Records(())
        self._n_waiting = 0  # tiles of a stream, yielded but not computed yet

    def outline(self) -> list[Tile] | None:
        """Return the tiles, or None if the sequences are not known in advance."""
        return self._tiles

    def tiles(self) -> Iterator[Tile | None]:
        """Yield runs of neighbouring sequences; for a stream each block, after the previous one is done."""
        if self._tiles is not None:
            self._records = _Records(self._blocks())
            yield from self._tiles
            return
        before = 0
        for index, block in enumerate(self._blocks()):
            while self._n_waiting:
                yield None
            self._n_waiting += 1
            yield _tile(index, int(block.offsets[-1]), (before, before + len(block)), block)
            before += len(block)

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Decoded:
        """Return the segments of the tile's sequences; tiles must be computed in order."""
        (begin, end), block = tile.payload
        if block is None:
            block = self._records.take(begin, end)
        found = self._decoder.decode(tuple(block.names), block.letters, block.offsets, file=block.file)
        most = max(0, MOST_TRACKS - begin) if self._draws else 0
        tracks = tuple(tracks_of(self._decoder, block, found, most))
        self._n_waiting = 0
        if progress is not None:
            progress(len(block))
        return Decoded(found, tracks)


class _Records:
    """Runs of neighbouring records, from blocks that are read once, in order."""

    def __init__(self, blocks: Iterable[SequenceBlock]) -> None:
        self._blocks, self._before = iter(blocks), 0
        self._block: SequenceBlock | None = None

    def take(self, begin: int, end: int) -> SequenceBlock:
        """Return records `begin` to `end`, of one file; they must come after all records returned before."""
        pieces = list[SequenceBlock]()
        while begin < end:
            while self._block is None or begin >= self._before + len(self._block):
                self._before += 0 if self._block is None else len(self._block)
                self._block = None  # release it before reading the next one
                self._block = next(self._blocks, None)
                if self._block is None:
                    raise InputError(FEWER)
            last = min(end, self._before + len(self._block))
            pieces.append(_part(self._block, begin - self._before, last - self._before))
            begin = last
        return pieces[0] if len(pieces) == 1 else _together(pieces)


def _part(block: SequenceBlock, begin: int, end: int) -> SequenceBlock:
    first, last = int(block.offsets[begin]), int(block.offsets[end])
    return replace(
        block,
        names=block.names[begin:end],
        descriptions=(),
        letters=block.letters[first:last],
        offsets=block.offsets[begin : end + 1] - first,
        numbers=block.numbers[begin:end],
    )


def _together(pieces: list[SequenceBlock]) -> SequenceBlock:
    """Concatenate the records of neighbouring blocks."""
    lengths = np.concatenate([np.diff(piece.offsets) for piece in pieces])
    return replace(
        pieces[0],
        names=tuple(name for piece in pieces for name in piece.names),
        letters=np.concatenate([piece.letters for piece in pieces]),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        numbers=np.concatenate([piece.numbers for piece in pieces]),
    )


def _cut(contents: Contents, shard: Shard | None) -> list[Tile]:
    """Return tiles of about equal cost, each with sequences of one file."""
    order = CostList(contents.lengths.astype(np.float64) + 1)  # + 1 so that empty sequences have a cost
    most = TILE_SEQUENCES
    if "TROPALIGN_TILE_READS" in os.environ:
        most = environment_number("TROPALIGN_TILE_READS", os.environ["TROPALIGN_TILE_READS"])
    begin, end = share(order, shard)
    bounds = cuts(order, begin, end, most, TILE_LETTERS)
    bounds = sorted({*bounds, *(first for first in contents.files if begin < first < end)})
    n_letters = np.concatenate([[0], np.cumsum(contents.lengths)])
    return [_tile(k, int(n_letters[b] - n_letters[a]), (a, b)) for k, (a, b) in enumerate(pairwise(bounds))]


def _tile(index: int, n_letters: int, span: tuple[int, int], block: SequenceBlock | None = None) -> Tile:
    n = span[1] - span[0]
    return Tile(index, n_letters + n, POSITION_BYTES * n_letters, n, (span, block))


def fingerprint_of(model: HMM) -> str:
    """Return a hash of all parts of a model that affect decoding, in hexadecimal."""
    digest = hashlib.sha256(repr((model.symbols, model.missing, model.labels, model.report)).encode())
    for numbers in (model.start, model.transition, model.emission):
        digest.update(b"" if numbers is None else np.ascontiguousarray(numbers).tobytes())
    return digest.hexdigest()
