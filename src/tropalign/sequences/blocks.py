"""Sequences a block of records at a time: the one reader that every verb uses.

    file -> opened (decompressed bytes) -> records_of_file (headers and letters) -> BlockReader -> SequenceBlock

What one verb takes and another refuses is a `Policy`. A block lies within one file. Reads, which need not come from
files and whose names may repeat, are `ReadBlocks`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named, quiet, said, shown, warn
from tropalign.sequences.alphabet import GAP_LETTERS
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import Source, can_be_read_twice, file_name, is_stream, read_lines, size_of
from tropalign.sequences.inputs import named_texts
from tropalign.sequences.mapped_store import is_store, records_of_store
from tropalign.sequences.records import BLOCK_LETTERS, BLOCK_RECORDS, Records, records_of_file
from tropalign.sequences.texts import chosen

#: Begins a comment line in old FASTA files; it is never a residue.
COMMENT = b";"


@dataclass(frozen=True)
class Policy:
    """What a verb takes that another one refuses.

    Parameters
    ----------
    gaps : {"refuse", "remove", "keep"}
        What becomes of gap letters (``-``, ``.``, ``_``, ``~``) in a sequence.
    replaces_bytes
        Zero bytes, and in sequences those outside ASCII, are read as ``?``, else they are an InputError.
    names_records
        A record without a name is called read_N, by its number in the file, else it is an InputError.
    empty : {"refuse", "skip", "keep"}
        What becomes of sequences without a letter.
    numbers_names
        A name that was there before gets a number: the second "a" becomes "a_2". Otherwise names may repeat.
    keeps_qualities
        Those of FASTQ are kept.
    """

    gaps: str = "refuse"
    replaces_bytes: bool = False
    names_records: bool = False
    empty: str = "refuse"
    numbers_names: bool = False
    keeps_qualities: bool = False


#: Sets of sequences, whose names and letters have to be right.
SEQUENCES = Policy()
#: Reads, which come in millions and as they are.
READS = Policy(replaces_bytes=True, names_records=True, empty="keep", numbers_names=True)
#: What is searched: databases, whose names may repeat.
TARGETS = Policy(replaces_bytes=True, empty="keep")


@dataclass(frozen=True, eq=False)
class SequenceBlock:
    """Some records of a file.

    Attributes
    ----------
    names, descriptions : sequence of str
        The header up to the first blank, and the rest.
    letters : uint8, shape (n_letters,)
        As they were written, blanks (and by policy gaps) left out.
    offsets : int64, shape (n + 1,)
        Record k is ``letters[offsets[k]:offsets[k + 1]]``.
    numbers : int64, shape (n,)
        Number of each record in its file, from 1.
    file
        As messages call it.
    counts : int64, shape (256,)
        How often each byte occurs in the letters.
    n_gaps
        Gaps that were left out.
    qualities : uint8, shape (n_letters,), or None
        Phred scores; None where they were not kept, or the file has none.
    accessions
        Of each record; empty if the file has none beside names.
    """

    names: Sequence[str]
    descriptions: Sequence[str]
    letters: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    numbers: NDArray[np.int64]
    file: str
    counts: NDArray[np.int64]
    n_gaps: int = 0
    qualities: NDArray[np.uint8] | None = None
    accessions: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.names)


class BlockReader:
    """Blocks of records of files, one after another. Iterate over it once.

    Parameters
    ----------
    sources
        One file or several ("-" is standard input; compressed or not), or open files or streams.
    policy
        What is taken, and how.

    Raises
    ------
    InputError
        While iterating: a file that cannot be read or is neither FASTA nor FASTQ, and what the policy refuses.
    """

    def __init__(self, sources: Source | Iterable[Source], policy: Policy = SEQUENCES) -> None:
        self._sources = sources_of(sources)
        self._policy = policy
        sizes = [size_of(source) for source in self._sources]
        self._total = None if None in sizes else sum(size or 0 for size in sizes)
        self._read = 0

    def fraction(self) -> float | None:
        """Which part of the files has been read, 0 to 1, in bytes on the disk; None where that cannot be known."""
        if self._total is None:
            return None
        return min(1.0, self._read / self._total) if self._total else 1.0

    def __iter__(self) -> Iterator[SequenceBlock]:
        for source in self._sources:
            yield from self._of_file(source)

    def _count(self, n_bytes: int) -> None:
        self._read += n_bytes

    def _of_file(self, source: Source) -> Iterator[SequenceBlock]:
        file = file_name(source)
        policy, kept = self._policy, 0
        found = _Settled(policy, file, None if is_stream(source) else source)
        records = (
            records_of_store(source, self._count)
            if is_store(source)
            else records_of_file(
                source, policy.replaces_bytes, policy.names_records, self._count, policy.keeps_qualities
            )
        )
        for block in found.blocks(records):
            kept += len(block)
            yield block
        if not kept:
            what = "every sequence is empty: there is nothing to read" if found.number else "the file holds no sequence"
            raise InputError(what, file=file)


def sources_of(sources: Source | Iterable[Source]) -> list[Source]:
    """A list of one source or of several. Raises InputError where there is none, or something else."""
    is_one = _is_source(sources) or not isinstance(sources, Iterable)
    found: list[Any] = [sources] if is_one else list(sources)  # type: ignore[arg-type]
    if not found:
        raise InputError("no file was named: name one, or '-' for standard input")
    for source in found:
        if not _is_source(source):
            raise InputError(f"{shown(repr(source)[:80])} is no file: give a path, '-' or an open file")
    return found


def _is_source(value: object) -> bool:
    return isinstance(value, str | os.PathLike) or is_stream(value)


class _Settled:
    """Records of one file as its policy wants them.

    Attributes
    ----------
    number
        Records so far, also those that were left out.
    """

    def __init__(self, policy: Policy, file: str, source: Any = None) -> None:
        self._policy, self._file, self._source = policy, file, source
        self._refused = [*COMMENT, *(GAP_LETTERS.encode() if policy.gaps == "refuse" else b"")]
        self._gaps = list(GAP_LETTERS.encode()) if policy.gaps == "remove" else []
        self._left_out = [*b" \t\r", *self._gaps]
        self.number = 0

    def blocks(self, found: Iterable[Records]) -> Iterator[SequenceBlock]:
        """Blocks of records; none where nothing of a block is left."""
        for records in found:
            self.number += len(records.names)
            yield from self._block(records)

    def _block(self, records: Records) -> Iterator[SequenceBlock]:
        names, descriptions, letters, offsets = records.names, records.descriptions, records.letters, records.offsets
        qualities, accessions = records.qualities, records.accessions
        numbers = np.arange(self.number - len(names) + 1, self.number + 1)
        counts = records.counts
        if counts[self._refused].any():
            raise self._refusal(names, letters, offsets)
        n_gaps = int(counts[self._gaps].sum())
        if counts[self._left_out].any():
            stays = ~np.isin(letters, self._left_out)
            offsets = np.concatenate([[0], np.cumsum(stays)])[offsets]
            letters, counts = letters[stays], counts.copy()
            qualities = None if qualities is None else qualities[stays]
            counts[self._left_out] = 0
        if self._policy.empty == "skip" and not (lengths := np.diff(offsets)).all():
            keep = np.flatnonzero(lengths)
            names, descriptions = (chosen(texts, keep) for texts in (names, descriptions))
            accessions = chosen(accessions, keep) if accessions else ()
            numbers, offsets = numbers[keep], np.concatenate([[0], np.cumsum(lengths[keep])])
        if not names:
            return
        names = self._named(names, numbers)
        if self._policy.empty == "refuse" and not (lengths := np.diff(offsets)).all():
            raise InputError(
                f"the sequence is empty: remove the record or use {named('skip_empty')}",
                file=self._file,
                record=names[int(np.flatnonzero(lengths == 0)[0])],
            )
        found = names, descriptions, letters, offsets, numbers, self._file, counts, n_gaps, qualities, accessions
        yield SequenceBlock(*found)

    def _refusal(self, names: Sequence[str], letters: NDArray[np.uint8], offsets: NDArray[np.int64]) -> InputError:
        """The error of the first gap letter or comment."""
        at = int(np.isin(letters, self._refused).argmax())
        k = int(np.searchsorted(offsets, at, "right")) - 1
        letter = letters[at : at + 1].tobytes()
        if letter == COMMENT:
            what = "';' in a sequence: FASTA has no comment lines; remove lines that begin with ';'"
        else:
            what = (
                f"{letter.decode()!r} at position {at - int(offsets[k]) + 1} is a gap, and these sequences are not "
                f"aligned: remove the gaps, or read with {said('gaps', 'remove')}"
            )
        line = None if self._source is None else line_with(self._source, letter)
        return InputError(what, file=self._file, record=names[k], line=line)

    def _named(self, names: Sequence[str], numbers: NDArray[np.int64]) -> Sequence[str]:
        """The names; by policy one is made where there is none."""
        if "" not in names:
            return names
        if not self._policy.names_records:
            raise InputError(
                "the header holds no name: write one right after the '>' or '@'",
                file=self._file,
                record=f"number {numbers[names.index('')]}",
            )
        return tuple(name or f"read_{number}" for name, number in zip(names, numbers.tolist(), strict=True))


class NumberedNames:
    """Gives each name once: the second "a" becomes "a_2".

    Parameters
    ----------
    taken
        Names that are given already.

    Warns
    -----
    TropalignWarning
        The first name that was there before.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._seen = {hash(name) for name in taken}  # hashes: names themselves would take several times the memory
        self._counts: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        """The name, or it with a number."""
        key = hash(name)
        if key not in self._seen:
            self._seen.add(key)
            return name
        if not self._counts:
            warn(f"the name {name!r} is there already: reads of one name are numbered", stacklevel=4)
        while True:
            self._counts[name] = self._counts.get(name, 1) + 1
            made = f"{name}_{self._counts[name]}"
            if hash(made) not in self._seen:
                self._seen.add(hash(made))
                return made


@dataclass(frozen=True, eq=False)
class Survey:
    """What a pass over reads finds before any is placed.

    Attributes
    ----------
    n_reads
    lengths : int64, shape (n_reads,)
        Letters of each, in input order, gaps left out.
    hashes : uint64, shape (n_reads,)
        Equal for reads of the same letters; others may share one by a rare accident.
    sha256
        Hash of names, letters and lengths in hexadecimal: equal for equal reads, however they are compressed or cut
        into files.
    """

    n_reads: int
    lengths: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    sha256: str


class ReadBlocks:
    """Blocks of reads (or of what is searched) from whatever holds them. Iterate over it once.

    Parameters
    ----------
    reads
        FASTA or FASTQ files (compressed or not, "-" for standard input, open files), a SequenceBatch, or an iterable of
        (name, letters), SeqRecords or Sequences.
    taken
        Names that are given already, where the policy numbers names.
    policy
        What is taken, and how.

    Raises
    ------
    InputError
        While iterating: a file that cannot be read.

    Warns
    -----
    TropalignWarning
        The first name that was there before.
    """

    def __init__(self, reads: Any, taken: Iterable[str] = (), policy: Policy = READS) -> None:
        self._names = NumberedNames(taken) if policy.numbers_names else None
        self._reader: BlockReader | None = None
        if isinstance(reads, Mapping):
            reads = reads.items()
        if not _is_source(reads) and not isinstance(reads, SequenceBatch):
            reads, first = _peeked(reads)
            if first is _NOTHING:
                self._blocks: Iterator[SequenceBlock] = iter(())
                return
            if _is_source(first):
                reads = list(reads)
        if _is_source(reads) or isinstance(reads, list):
            self._reader = BlockReader(reads, policy)
            self._blocks = iter(self._reader)
        else:
            self._blocks = _Settled(policy, "the reads").blocks(_named_records(_pairs(reads)))

    def fraction(self) -> float | None:
        """Which part of the files has been read, 0 to 1; None where that cannot be known."""
        return None if self._reader is None else self._reader.fraction()

    def __iter__(self) -> Iterator[SequenceBlock]:
        if self._names is None:
            yield from self._blocks
            return
        for block in self._blocks:
            yield replace(block, names=tuple(map(self._names, block.names)))


def line_with(source: Any, letter: bytes) -> int | None:
    """The first line of a file of FASTA or FASTQ whose sequence has this letter; None if it cannot be read again."""
    if not can_be_read_twice(os.fspath(source)) or is_store(source):
        return None
    lines = ((number, line.strip()) for number, line in enumerate(read_lines(source), 1) if line.strip())
    is_fastq, size, quality = False, 0, 0
    for n, (number, line) in enumerate(lines):
        is_fastq = is_fastq or (n == 0 and line.startswith(b"@"))
        if quality > 0:
            quality -= len(line)
        elif is_fastq and line.startswith(b"+"):
            size, quality = 0, size
        elif not line.startswith(b"@" if is_fastq else b">"):
            if letter in line:
                return number
            size += len(line)
    return None


_NOTHING = object()


def _peeked(values: Iterable[Any]) -> tuple[Iterator[Any], Any]:
    """Values that can still be taken from the first on, and the first of them."""
    if not isinstance(values, Iterable):
        what = f"an object of type {type(values).__name__} holds no reads"
        raise InputError(f"{what}: give files, a SequenceBatch, or pairs of name and text")
    taken = iter(values)
    first = next(taken, _NOTHING)
    return (iter(()) if first is _NOTHING else chain([first], taken)), first


def _pairs(reads: Any) -> Iterator[tuple[str, str]]:
    if isinstance(reads, SequenceBatch):
        return ((name, reads.text(k)) for k, name in enumerate(reads.names))
    return ((name or "", text) for name, text in named_texts(reads))


def _named_records(pairs: Iterable[tuple[str, str]]) -> Iterator[Records]:
    """Names and texts, some at a time."""
    names, texts, size = list[str](), list[str](), 0
    for name, text in pairs:
        names.append(name)
        texts.append(text)
        size += len(text)
        if size >= BLOCK_LETTERS or len(names) >= BLOCK_RECORDS:
            yield Records.of_named(names, texts)
            names, texts, size = [], [], 0
    if names:
        yield Records.of_named(names, texts)


def with_gaps(policy: Policy, gaps: str) -> Policy:
    """A policy with this rule for gaps. Raises UsageError on another word."""
    if gaps not in ("refuse", "remove"):
        raise UsageError(f"{named('gaps')} {gaps!r} is not one of refuse, remove")
    return replace(policy, gaps=gaps)


def blocks_of(reads: Any, taken: Iterable[str] = (), policy: Policy = READS) -> ReadBlocks:
    """Blocks of reads as they come: see `ReadBlocks`."""
    return ReadBlocks(reads, taken, policy)


def survey_of(blocks: Iterable[SequenceBlock]) -> Survey:
    """Counts and hashes the reads of blocks, gaps left out."""
    names, letters = hashlib.sha256(), hashlib.sha256()
    lengths, hashes = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
    with quiet():  # the reading that follows warns
        for block in blocks:
            names.update("".join(f"{name}\0" for name in block.names).encode("utf-8", "surrogatepass"))
            letters.update(block.letters.data)
            lengths.append(np.diff(block.offsets))
            hashes.append(_hashes(block))
    of_all = np.concatenate(lengths)
    digest = hashlib.sha256(names.digest() + letters.digest() + of_all.tobytes())
    return Survey(len(of_all), of_all, np.concatenate(hashes), digest.hexdigest())


def _hashes(block: SequenceBlock) -> NDArray[np.uint64]:
    """A number per read, the first eight bytes of a hash of its letters: the same on every machine."""
    letters, offsets = block.letters.tobytes(), block.offsets.tolist()
    found = (hashlib.blake2b(letters[a:b], digest_size=8).digest() for a, b in pairwise(offsets))
    return np.frombuffer(b"".join(found), "<u8").astype(np.uint64)
