"""Runs of neighbouring reads: cut out of the blocks of files, and combined into the reads of a tile."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import InputError, UsageError, counted, said, shown, warn
from tropalign.placement.scorer import Best, Scores, Sets
from tropalign.placement.tree import StateAlphabet
from tropalign.results.clusters import RowOwners
from tropalign.sequences.alphabet import GAP_LETTERS, Alphabet, reverse_complement
from tropalign.sequences.files import Source, file_name
from tropalign.sequences.reader import (
    READS,
    BlockReader,
    NumberedNames,
    Policy,
    ReadBlocks,
    SequenceBlock,
    sources_of,
    with_gaps,
)

#: Separator of the mates of a pair; readers replace zero bytes in files.
BETWEEN = 0
_ENDING = re.compile(r"/[12]$")


class MatedBlocks:
    r"""Blocks of pairs of mates, the records at the same position of two files; to be iterated over once.

    A pair is passed on as one read, so that counting, cutting and distributing reads need not know about mates::

        r_1.fq  ACGTA    r_2.fq  GGTC    the pair's letters  A C G T A \0 G G T C

    `taken` are names in use.
    Raises UsageError if the numbers of files differ, or if a file is given as both. Raises InputError while
    iterating: for unreadable files, mates of different names, and files of different numbers of records.
    """

    def __init__(
        self,
        reads: Source | Iterable[Source],
        mates: Source | Iterable[Source],
        taken: Iterable[str] = (),
        policy: Policy = READS,
    ) -> None:
        firsts, seconds = sources_of(reads), sources_of(mates)
        if len(firsts) != len(seconds):
            raise UsageError(
                f"{counted(len(firsts), 'files of reads')}, but {len(seconds)} of mates: give the same number of "
                "each, in the same order"
            )
        self._files = list(zip(firsts, seconds, strict=True))
        for first, second in self._files:
            are_paths = isinstance(first, str | os.PathLike) and isinstance(second, str | os.PathLike)
            if are_paths and file_name(first) == file_name(second):
                raise UsageError(
                    f"{shown(file_name(second))} is given both as reads and as their mates: give another file"
                )
        self._names, self._policy = NumberedNames(taken), policy

    def __iter__(self) -> Iterator[SequenceBlock]:
        for files in self._files:
            sides = [_Side(BlockReader(file, self._policy), file_name(file)) for file in files]
            while True:
                one, other = (side.waiting() for side in sides)
                if one is None or other is None:
                    break
                n = min(len(one), len(other))
                yield self._joined(sides[0].take(n), sides[1].take(n))
            if one is not other:
                short, long = sides if one is None else sides[::-1]
                raise InputError(
                    f"the file ends before {shown(long.file)}: both must hold the mates of the same reads in the "
                    f"same order",
                    file=short.file,
                )

    def _joined(self, one: SequenceBlock, other: SequenceBlock) -> SequenceBlock:
        names = tuple(self._names(_pair_name(a, b, other.file)) for a, b in zip(one.names, other.names, strict=True))
        lengths, other_lengths = np.diff(one.offsets), np.diff(other.offsets)
        offsets = np.concatenate([[0], np.cumsum(lengths + 1 + other_lengths)]).astype(np.int64)
        letters = np.full(int(offsets[-1]), BETWEEN, np.uint8)
        letters[_places(offsets[:-1], one.offsets)] = one.letters
        letters[_places(offsets[:-1] + lengths + 1, other.offsets)] = other.letters
        counts = np.bincount(letters, minlength=256).astype(np.int64)
        return SequenceBlock(names, one.descriptions, letters, offsets, one.numbers, one.file, counts)


def _places(begins: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the target index of each letter, given the target start of each text."""
    return np.repeat(begins - offsets[:-1], np.diff(offsets)) + np.arange(int(offsets[-1]))


def _pair_name(one: str, other: str, file: str) -> str:
    """Return the common name of two mates, without ``/1`` and ``/2``."""
    base = _ENDING.sub("", one)
    if base != _ENDING.sub("", other) or (one != other and (one[-2:], other[-2:]) != ("/1", "/2")):
        raise InputError(
            f"expected the mate of {one!r}: both files must hold the same reads in the same order, with equal "
            f"names or names that end in /1 and /2",
            file=file,
            record=other,
        )
    return base


@dataclass
class _Side:
    """One of the two files, with the remaining part of its current block."""

    reader: BlockReader
    file: str

    def __post_init__(self) -> None:
        self._blocks = iter(self.reader)
        self._rest: SequenceBlock | None = None

    def waiting(self) -> SequenceBlock | None:
        """Return the rest of the block, or the next one."""
        while self._rest is None or not len(self._rest):
            self._rest = next(self._blocks, None)
            if self._rest is None:
                return None
        return self._rest

    def take(self, n: int) -> SequenceBlock:
        """Take the first n remaining records."""
        block = self._rest
        assert block is not None
        self._rest = _part(block, n, len(block))
        return _part(block, 0, n)


def _part(block: SequenceBlock, begin: int, end: int) -> SequenceBlock:
    low, high = int(block.offsets[begin]), int(block.offsets[end])
    names: Sequence[str] = tuple(block.names[begin:end])
    offsets, numbers = block.offsets[begin : end + 1] - low, block.numbers[begin:end]
    letters = block.letters[low:high]
    return SequenceBlock(
        names, tuple(block.descriptions[begin:end]), letters, offsets, numbers, block.file, block.counts
    )


Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reads:
    """A run of reads.

    `letters`: uint8, without gaps, as written. `offsets`: int64, shape (n + 1,). `is_turned`: bool, shape (n,),
    reads that are here as their reverse complements; None without any.
    """

    names: tuple[str, ...]
    letters: NDArray[np.uint8]
    offsets: Index
    is_turned: NDArray[np.bool_] | None = None


def are_usable(sets: Sets, offsets: Index, states: StateAlphabet) -> NDArray[np.bool_]:
    """Return which reads have a letter that does not represent all states."""
    before = np.concatenate([[0], np.cumsum(sets != states.all_states)])
    return np.diff(before[offsets]) > 0


def part(block: Reads | SequenceBlock, begin: int, end: int) -> Reads:
    """Return a run of a block's reads."""
    first, last = int(block.offsets[begin]), int(block.offsets[end])
    is_turned = block.is_turned if isinstance(block, Reads) else None
    return Reads(
        tuple(block.names[begin:end]),
        block.letters[first:last],
        block.offsets[begin : end + 1] - first,
        None if is_turned is None else is_turned[begin:end],
    )


def regrouped(
    blocks: Iterable[SequenceBlock], spans: Iterator[tuple[int, int]] | None, most_reads: int
) -> Iterator[Reads]:
    """Yield the reads of each span (start, end); or, without spans, of each block in runs of at most `most_reads`."""
    if spans is None:
        for block in blocks:
            for begin in range(0, len(block.names), most_reads):
                yield part(block, begin, min(begin + most_reads, len(block.names)))
        return
    before = 0  # reads of earlier blocks
    pieces: list[Reads] = []
    span = next(spans, None)
    for block in blocks:
        after = before + len(block.names)
        while span is not None and span[0] < after:
            begin, end = max(span[0], before), min(span[1], after)
            pieces.append(part(block, begin - before, end - before))
            if span[1] > after:
                break
            yield _together(pieces)
            pieces, span = [], next(spans, None)
        if span is None:
            return
        before = after
    raise InputError("the input has fewer reads than at the start of the run: run the command again")


def _together(pieces: list[Reads]) -> Reads:
    """Concatenate the reads of neighbouring blocks."""
    if len(pieces) == 1:
        return pieces[0]
    names = tuple(name for piece in pieces for name in piece.names)
    offsets = ragged.joined([piece.offsets for piece in pieces])
    return Reads(names, np.concatenate([piece.letters for piece in pieces]), offsets)


def opened(reads: Any, mates: Any, taken: Iterable[str], gaps: str) -> Iterator[SequenceBlock]:
    """Open reads, or pairs of `reads` and `mates`, block by block; `taken`: names that are in use."""
    policy = with_gaps(READS, gaps)
    return iter(ReadBlocks(reads, taken, policy) if mates is None else MatedBlocks(reads, mates, taken, policy))


def owning(blocks: Iterable[SequenceBlock], owners: RowOwners, settles: bool = True) -> Iterator[SequenceBlock]:
    """Yield the blocks, and note which read each row of the table belongs to; check for unused rows if `settles`.

    Raises InputError for a row that two reads have, and at the end for a row without a read.
    """
    for block in blocks:
        owners.add(block.names)
        yield block
    if settles:
        owners.settle()


#: Length of k-mers, and maximum number of the reference's rows whose k-mers count.
WORD, MOST_ROWS = 11, 256
#: The other strand shares more than this multiple of the k-mers, plus this number, as in `tropalign.msa.family`.
WORD_RATIO, WORD_EXCESS = 2, 8
N_BASES = 4
#: Bits of a k-mer: it occurs in a row, or in the reverse complement of one.
OWN, OTHER = np.uint8(1), np.uint8(2)


# A read's k-mers are counted in the rows of the reference and in the rows' reverse complements. To measure the
# effect of composition, those of its complement (not reversed) are also counted in the rows: T-rich reads resemble
# the other strand of any A-rich reference.
class OtherStrand:
    """Finder of reads on the opposite strand.

    `letters`: uint8, shape (n_rows, n_columns), of the reference. `alphabet` has two strands and `N_BASES` states.
    `paired`: reads are pairs, whose second mate lies on the opposite strand. `adjusts`: such reads are turned.
    """

    def __init__(self, letters: NDArray[np.uint8], alphabet: Alphabet, paired: bool, adjusts: bool) -> None:
        self._alphabet, self._paired, self._adjusts, self._n_found, self._first = alphabet, paired, adjusts, 0, ""
        states, n_bytes = alphabet.states, 256
        self._digit, self._other_digit = np.full((2, n_bytes), -1, np.int32)
        for letter, code in alphabet.codes_by_letter.items():
            if (state := alphabet.letters[code]) in states:
                self._digit[ord(letter)] = states.index(state)
                self._other_digit[ord(letter)] = states.index(alphabet.complement[state])
        is_gap = np.isin(np.arange(n_bytes), list(GAP_LETTERS.encode()))
        chosen = letters[np.unique(np.linspace(0, len(letters) - 1, MOST_ROWS).astype(np.int64))]
        rows = np.pad(chosen, ((0, 0), (0, 1)))  # no k-mer spans two rows, since byte 0 is not a base
        words, is_known = _words(self._digit[rows[~is_gap[rows]]])
        self._strands = np.zeros(N_BASES**WORD, np.uint8)
        self._strands[words[is_known]] = OWN
        left, turned = np.flatnonzero(self._strands.view(np.bool_)).astype(np.int32), np.int32(0)
        complements = np.array([states.index(alphabet.complement[state]) for state in states], np.int32)
        for _ in range(WORD):
            turned, left = turned << 2 | complements[left & 3], left >> 2
        self._strands[turned] |= OTHER

    def add(self, reads: Reads) -> Reads:
        """Count some more reads; return them, with those on the opposite strand turned if they are to be adjusted."""
        n, lengths = len(reads.names), np.diff(reads.offsets)
        of_letter = np.repeat(np.arange(n, dtype=np.int32), lengths)
        first = of_letter[: max(0, len(of_letter) - WORD + 1)]
        is_within = first == of_letter[len(of_letter) - len(first) :]
        is_second = np.cumsum(reads.letters == BETWEEN, dtype=np.int32)[: len(first)] > first if self._paired else None

        def n_words(digit: NDArray[np.int32], bit: np.uint8) -> NDArray[np.int64]:
            """Return the number of each read's k-mers with this bit, or with the other one in a second mate."""
            words, is_known = _words(digit[reads.letters])
            bits = bit if is_second is None else np.where(is_second, (OWN | OTHER) ^ bit, bit)
            return np.bincount(first[is_known & is_within & (self._strands[words] & bits > 0)], minlength=n)

        by_chance = np.maximum(n_words(self._digit, OWN), n_words(self._other_digit, OWN))
        found = np.flatnonzero(n_words(self._digit, OTHER) > WORD_RATIO * by_chance + WORD_EXCESS)
        if len(found) and not self._n_found:
            self._first = reads.names[int(found[0])]
        self._n_found += len(found)
        return self._turned(reads, found) if self._adjusts and len(found) else reads

    def _turned(self, reads: Reads, found: NDArray[np.int64]) -> Reads:
        """Return the reads, the found ones as their reverse complements; a pair is turned by swapping its mates."""
        is_turned = np.zeros(len(reads.names), bool)
        is_turned[found] = True
        if not self._paired:
            other = reverse_complement(reads.letters, reads.offsets, self._alphabet)
            letters = np.where(np.repeat(is_turned, np.diff(reads.offsets)), other, reads.letters)
            return Reads(reads.names, letters, reads.offsets, is_turned)
        letters = reads.letters.copy()
        for k in found.tolist():
            pair = reads.letters[reads.offsets[k] : reads.offsets[k + 1]]
            at = int(np.flatnonzero(pair == BETWEEN)[0])
            turned = np.concatenate([pair[at + 1 :], pair[at : at + 1], pair[:at]])
            letters[reads.offsets[k] : reads.offsets[k + 1]] = turned
        return Reads(reads.names, letters, reads.offsets, is_turned)

    def tell(self, n_reads: int) -> None:
        """Warn of the reads that were found among `n_reads`."""
        if not self._n_found:
            return
        what = counted(n_reads, "pairs of mates" if self._paired else "reads")
        is_one = self._n_found == 1
        verb, as_what = ("is", "its reverse complement") if is_one else ("are", "their reverse complements")
        remedy = f"{said('strand', 'adjust')} places {as_what}"
        warn(
            f"{self._n_found:,} of {what} {verb} on the opposite strand to the reference, the first "
            f"{shown(self._first)!r}: {f'placed as {as_what}' if self._adjusts else remedy}"
        )


def _words(digits: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return all k-mers as numbers, and whether all bases of each are known; a digit is a base, negative if unknown."""
    n = max(0, len(digits) - WORD + 1)
    words, is_known, length = np.maximum(digits, 0), digits >= 0, 1
    while length < WORD:  # join two k-mers, which overlap in the last step
        step = min(length, WORD - length)
        left = max(0, len(words) - step)
        words = N_BASES**step * words[:left] + words[step:] % N_BASES**step
        is_known = is_known[:left] & is_known[step:]
        length += step
    return words[:n], is_known[:n]


#: Bytes of a `KnownRead` object with its key, excluding the items of its arrays.
KNOWN_BYTES = 700


@dataclass(frozen=True, eq=False, slots=True)
class KnownRead:
    """Placement of a read.

    `numbers`: its row in the arrays of `Best`: score, second, row, ties, start and end of the window, strand.
    `tied`: int64, all branches with the best score, ascending. `column`: int32, of each base on the placed strand.
    """

    numbers: tuple[int, ...]
    tied: NDArray[np.int64]
    column: NDArray[np.int32]


class KnownReads:
    """Placed reads by key, up to `most_bytes`; pickling drops them."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._reads: dict[bytes, KnownRead] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._most_bytes,)

    def get(self, key: bytes) -> KnownRead | None:
        """Return the placement of the read with that key, or None."""
        return self._reads.get(key)

    def keep(self, reads: dict[bytes, KnownRead]) -> None:
        """Add reads by their keys while there is room; two threads may add the same one."""
        for key, read in reads.items():
            taken = KNOWN_BYTES + read.tied.nbytes + read.column.nbytes
            if self._bytes + taken > self._most_bytes:
                return
            self._reads[key] = read
            self._bytes += taken


def key_of(sets: NDArray[Any]) -> bytes:
    """Return the key of a read's state sets."""
    return hashlib.blake2b(sets.tobytes(), digest_size=16).digest()


def known_of(best: Best, columns: NDArray[np.int32], offsets: Index) -> list[KnownRead]:
    """Return the placements one by one; `columns` holds the columns of all reads, one read after another."""
    arrays = (best.score, best.second, best.row, best.ties, best.windows[:, 0], best.windows[:, 1], best.strands)
    numbers = zip(*(array.tolist() for array in arrays), strict=True)
    of_read = (columns[a:b].copy() for a, b in pairwise(offsets.tolist()))
    return [KnownRead(*parts) for parts in zip(numbers, best.tied, of_read, strict=True)]


def best_of(reads: list[KnownRead]) -> Best:
    """Return the placements of the reads as one `Best`, in their order."""
    numbers = np.array([read.numbers for read in reads], np.int64).reshape(len(reads), 7)
    score, second, row, ties, begin, end, strands = numbers.T
    windows = np.stack([begin, end], axis=1).astype(np.int32)
    tied = [read.tied for read in reads]
    return Best(score.astype(np.int32), second.astype(np.int32), row, ties, windows, tied, strands.astype(np.int8))


Letters = NDArray[np.uint8]
Columns = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Mates:
    """The mates of some pairs, mate 1 and mate 2 in turn, each read on both strands.

    `own`, `other`: uint8, letters as written, and letters of the opposite strands. `offsets`: int64, shape (2 n +
    1,). `is_usable`: bool, shape (2 n,), mates with a letter that does not stand for all states.
    """

    own: Letters
    other: Letters
    offsets: Index
    is_usable: NDArray[np.bool_]

    @classmethod
    def of(cls, letters: Letters, offsets: Index, states: StateAlphabet) -> Mates:
        """Split pairs in the form of `tropalign.placement.reads`."""
        between = np.flatnonzero(letters == BETWEEN)
        if len(between) != len(offsets) - 1:
            raise ValueError("each pair must have one byte between its mates")
        lengths = np.stack([between - offsets[:-1], offsets[1:] - between - 1], axis=1).reshape(-1)
        own = letters[letters != BETWEEN]
        of_mates = ragged.offsets_of(lengths)
        other = reverse_complement(own, of_mates, states.alphabet)
        return cls(own, other, of_mates, are_usable(states.sets[own], of_mates, states))

    def turned(self, strand: NDArray[np.int8]) -> Letters:
        """Return letters on the strand of the reference; `strand` is 1 if mate 1 is read as it is, -1 if reversed."""
        is_other = np.stack([strand < 0, strand > 0], axis=1).reshape(-1)
        return np.where(np.repeat(is_other, np.diff(self.offsets)), self.other, self.own)


def sums(
    mates: Mates,
    chosen: Index,
    states: StateAlphabet,
    both: bool,
    n_columns: int,
    score: Callable[[list[Sets]], NDArray[np.int32]],
) -> Scores:
    """Score the chosen pairs: sums of the mates' scores, in the better orientation.

    In each orientation one mate is read as it is, and the other one's opposite strand. A mate without a usable
    letter adds 0. `both`: mate 1 may be on either strand; else it is on the reference's. `score` returns the
    scores of texts against all branches, a row per text.
    """
    number: dict[bytes, int] = {}
    texts: list[Sets] = []

    def place_of(mate: int, letters: Letters) -> int:
        text = states.sets[letters[mates.offsets[mate] : mates.offsets[mate + 1]]]
        at = number.setdefault(text.tobytes(), len(number))
        if at == len(texts):
            texts.append(text)
        return at

    ways = [(mates.own, mates.other), (mates.other, mates.own)][: 1 + both]
    wanted = [
        [
            [place_of(2 * k + m, way[m]) for m in (0, 1) if mates.is_usable[2 * k + m]]
            for k in chosen.tolist()
        ]
        for way in ways
    ]  # fmt: skip
    found = score(texts)
    windows = np.tile(np.array([0, n_columns], np.int32), (len(chosen), 1))
    of_ways = []
    for way, places in enumerate(wanted):
        values = np.stack([found[at].sum(axis=0, dtype=np.int32) for at in places])
        of_ways.append(Scores(values, windows, np.full(len(chosen), way, np.int8)))
    return of_ways[0] if not both else of_ways[0].better(of_ways[1])


def merged(
    one: tuple[Letters, Columns], other: tuple[Letters, Columns], states: StateAlphabet
) -> tuple[Letters, Columns]:
    """Merge two mates into one read, letters in the order of their columns.

    If both have a letter in a column, the result has the letter that both may be: their own if they agree, the
    more certain one if the other one includes it, else the code for either (A and G: R). Letters between columns
    are those of the mate that starts first, as far as it reaches, then those of the second.
    """
    if not (one[1] >= 0).any() or not (other[1] >= 0).any():
        return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])
    if other[1][other[1] >= 0][0] < one[1][one[1] >= 0][0]:
        one, other = other, one
    (letters, columns), (more, at) = one, other
    keys, more_keys = _slots(columns), _slots(at)
    last = int(columns.max())
    place = {column: k for k, column in enumerate(columns.tolist()) if column >= 0}
    letters = letters.copy()
    stays = np.ones(len(more), bool)
    for k, column in enumerate(at.tolist()):
        if column in place:
            letters[place[column]] = common_letter(int(letters[place[column]]), int(more[k]), states)
            stays[k] = False
    stays &= (at >= 0) | ((more_keys > 2 * last) & ~np.isin(more_keys, keys))
    order = np.argsort(np.concatenate([keys, more_keys[stays]]), kind="stable")
    return np.concatenate([letters, more[stays]])[order], np.concatenate([columns, at[stays]])[order]


def _slots(columns: Columns) -> Index:
    """Return slots: 2c for a letter in column c, 2c + 1 for an insertion after it, 2c - 1 before the first column."""
    keys = np.where(columns >= 0, 2 * columns.astype(np.int64), -1)
    first = int(columns[columns >= 0][0])
    before = np.maximum.accumulate(keys)
    return np.where(columns >= 0, keys, np.where(before < 0, 2 * first - 1, before + 1))


def common_letter(one: int, other: int, states: StateAlphabet) -> int:
    """Return the letter for the states that both stand for, or for their union if they share no state."""
    a, b = int(states.sets[one]), int(states.sets[other])
    wanted = a & b or a | b
    if wanted in (a, b):
        return one if wanted == a else other
    return next(byte for byte in range(ord("A"), ord("Z") + 1) if states.known[byte] and states.sets[byte] == wanted)
