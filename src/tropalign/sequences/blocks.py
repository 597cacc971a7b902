"""Sequences in blocks of records: the one reader that every verb uses.

    file -> opened (decompressed bytes) -> records_of_file (headers and letters) -> BlockReader -> SequenceBlock

A `Policy` states how verbs differ in the input that they accept. A block lies within one file. `ReadBlocks` is for
reads, which need not come from files and whose names may repeat.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named, quiet, said, shown, warn
from tropalign.sequences.alphabet import GAP_LETTERS, byte_counts
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import Source, can_be_read_twice, file_name, is_store, is_stream, read_lines, size_of
from tropalign.sequences.inputs import named_texts
from tropalign.sequences.records import Records, grouped, records_of_file
from tropalign.sequences.texts import chosen

#: Start of a comment line in old FASTA files; never a residue.
COMMENT = b";"
#: Stop codon of a translated sequence.
STOP = ord("*")


@dataclass(frozen=True)
class Policy:
    """Rules of a verb for unusual input, which verbs treat differently.

    gaps: "refuse", "remove" or "keep" gap characters (``-``, ``.``, ``_``, ``~``).
    replaces_bytes: read zero bytes, and non-ASCII bytes of sequences, as ``?`` instead of raising an InputError.
    names_records: call nameless records read_N, by their number in the file, instead of raising an InputError.
    empty: "refuse", "skip" or "keep" sequences without a letter.
    numbers_names: number repeated names, so that the second "a" becomes "a_2"; otherwise names may repeat.
    keeps_qualities: keep the qualities of FASTQ.
    clips_stops: remove a final ``*`` of each sequence.
    """

    gaps: str = "refuse"
    replaces_bytes: bool = False
    names_records: bool = False
    empty: str = "refuse"
    numbers_names: bool = False
    keeps_qualities: bool = False
    clips_stops: bool = False


#: Sets of sequences, whose names and letters must be correct.
SEQUENCES = Policy()
#: Reads, which come in millions and are taken as they are.
READS = Policy(replaces_bytes=True, names_records=True, empty="keep", numbers_names=True)
#: Databases to search, whose names may repeat.
TARGETS = Policy(replaces_bytes=True, empty="keep")


@dataclass(frozen=True, eq=False)
class SequenceBlock:
    """Consecutive records of a file.

    names, descriptions: the header up to the first blank, and the rest.
    letters: uint8, shape (n_letters,), as written without blanks (and gaps, depending on the policy).
    offsets: int64, shape (n + 1,); record k is ``letters[offsets[k]:offsets[k + 1]]``.
    numbers: int64, shape (n,), of each record in its file, from 1.
    file: name of the file in messages.
    counts: int64, shape (256,), of each byte in `letters`.
    n_gaps: gaps that were removed.
    qualities: uint8 Phred scores, shape (n_letters,), or None.
    accessions: one per record, or empty if the file has none besides the names.
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
    """Blocks of records of one or several files ("-" is standard input) or streams, to be iterated over once.

    Raises InputError while iterating: for unreadable files, other formats than FASTA and FASTQ, and what `policy`
    rejects.
    """

    def __init__(self, sources: Source | Iterable[Source], policy: Policy = SEQUENCES) -> None:
        self._sources = sources_of(sources)
        self._policy = policy
        sizes = [size_of(source) for source in self._sources]
        self._total = None if None in sizes else sum(size or 0 for size in sizes)
        self._read = 0

    def fraction(self) -> float | None:
        """Return the fraction of the files read so far, 0 to 1, in bytes on disk; None if unknown."""
        if self._total is None:
            return None
        return min(1.0, self._read / self._total) if self._total else 1.0

    def _count(self, n_bytes: int) -> None:
        self._read += n_bytes

    def __iter__(self) -> Iterator[SequenceBlock]:
        policy = self._policy
        for source in self._sources:
            file, kept = file_name(source), 0
            found = _Settled(policy, file, None if is_stream(source) else source)
            if is_store(source):
                from tropalign.sequences.mapped_store import records_of_store

                records = records_of_store(source, self._count)
            else:
                records = records_of_file(
                    source, policy.replaces_bytes, policy.names_records, self._count, policy.keeps_qualities
                )
            for block in found.blocks(records):
                kept += len(block)
                yield block
            if not kept:
                is_read = "every sequence is empty: there is nothing to read"
                raise InputError(is_read if found.number else "the file holds no sequence", file=file)


def sources_of(sources: Source | Iterable[Source]) -> list[Source]:
    """Return a list of one or several sources. Raises InputError if it is empty or holds anything else."""
    is_one = _is_source(sources) or not isinstance(sources, Iterable)
    found: list[Any] = [sources] if is_one else list(sources)  # type: ignore[arg-type]
    if not found:
        raise InputError("no file was given: give one, or '-' for standard input")
    for source in found:
        if not _is_source(source):
            raise InputError(f"{shown(repr(source)[:80])} is not a file: give a path, '-' or an open file")
    return found


def _is_source(value: object) -> bool:
    return isinstance(value, str | os.PathLike) or is_stream(value)


class _Settled:
    """Apply the policy for gaps to the records of one file; `number` counts all records so far, also skipped ones."""

    def __init__(self, policy: Policy, file: str, source: Any = None) -> None:
        self._policy, self._file, self._source = policy, file, source
        self._refused = [*COMMENT, *(GAP_LETTERS.encode() if policy.gaps == "refuse" else b"")]
        self._gaps = list(GAP_LETTERS.encode()) if policy.gaps == "remove" else []
        self._left_out = [*b" \t\r", *self._gaps]
        self.number = 0

    def blocks(self, found: Iterable[Records]) -> Iterator[SequenceBlock]:
        """Yield blocks of records, except empty ones."""
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
            letters, offsets, qualities = _without(np.isin(letters, self._left_out), letters, offsets, qualities)
            counts = counts.copy()
            counts[self._left_out] = 0
        if self._policy.clips_stops and counts[STOP]:
            letters, offsets, qualities = _without(final_stops(letters, offsets), letters, offsets, qualities)
            counts = byte_counts(letters)
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
        """Return the error for the first gap or comment character."""
        at = int(np.isin(letters, self._refused).argmax())
        k = int(np.searchsorted(offsets, at, "right")) - 1
        letter = letters[at : at + 1].tobytes()
        if letter == COMMENT:
            what = "';' in a sequence: FASTA has no comment lines; remove lines that begin with ';'"
        else:
            what = (
                f"{letter.decode()!r} at position {at - int(offsets[k]) + 1} is a gap, but unaligned sequences are "
                f"required: remove the gaps, or use {said('gaps', 'remove')}"
            )
        line = None if self._source is None else line_with(self._source, letter)
        return InputError(what, file=self._file, record=names[k], line=line)

    def _named(self, names: Sequence[str], numbers: NDArray[np.int64]) -> Sequence[str]:
        """Return the names; the policy decides if records without a name get one."""
        if "" not in names:
            return names
        if not self._policy.names_records:
            raise InputError(
                "the header has no name: write one directly after '>' or '@'",
                file=self._file,
                record=f"number {numbers[names.index('')]}",
            )
        return tuple(name or f"read_{number}" for name, number in zip(names, numbers.tolist(), strict=True))


def _without(
    mask: NDArray[np.bool_], letters: NDArray[np.uint8], offsets: NDArray[np.int64], qualities: NDArray[np.uint8] | None
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8] | None]:
    """Return letters, offsets and qualities without the letters of a mask."""
    stays = ~mask
    left = None if qualities is None else qualities[stays]
    return letters[stays], np.concatenate([[0], np.cumsum(stays)])[offsets], left


def final_stops(letters: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the letters that are a final ``*`` of a sequence."""
    found = np.zeros(len(letters), bool)
    last = offsets[1:][np.diff(offsets) > 0] - 1
    found[last] = letters[last] == STOP
    return found


class NumberedNames:
    """Makes names unique: the second "a" becomes "a_2", and gives a warning. Names in `taken` are in use already."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._seen = {hash(name) for name in taken}  # hashes: the names themselves would take several times the memory
        self._counts: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        """Return the name, with a number if it was used before."""
        key = hash(name)
        if key not in self._seen:
            self._seen.add(key)
            return name
        if not self._counts:
            warn(f"the name {name!r} occurs again: reads of the same name are numbered", stacklevel=4)
        while True:
            self._counts[name] = self._counts.get(name, 1) + 1
            made = f"{name}_{self._counts[name]}"
            if hash(made) not in self._seen:
                self._seen.add(hash(made))
                return made


@dataclass(frozen=True, eq=False)
class Survey:
    """Result of a pass over reads before any is placed.

    lengths: int64, shape (n_reads,), in input order, without gaps.
    hashes: uint64, shape (n_reads,), equal for reads of equal letters; collisions are possible but rare.
    sha256: hash of names, letters and lengths in hexadecimal, independent of compression and division into files.
    """

    n_reads: int
    lengths: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    sha256: str


class ReadBlocks:
    """Blocks of reads or search targets from any source, to be iterated over once.

    `reads`: FASTA or FASTQ files ("-" is standard input), open files, a SequenceBatch, or an iterable of (name,
    letters), SeqRecords or Sequences. `taken`: names in use, if the policy numbers names; the first repeated name
    gives a warning. Raises InputError while iterating if a file cannot be read.
    """

    def __init__(self, reads: Any, taken: Iterable[str] = (), policy: Policy = READS) -> None:
        self._names = NumberedNames(taken) if policy.numbers_names else None
        self._reader: BlockReader | None = None
        if isinstance(reads, Mapping):
            reads = reads.items()
        if not _is_source(reads) and not isinstance(reads, SequenceBatch):
            if not isinstance(reads, Iterable):
                what = f"an object of type {type(reads).__name__} does not contain reads"
                raise InputError(f"{what}: give files, a SequenceBatch, or (name, sequence) pairs")
            values = iter(reads)
            firsts = list(islice(values, 1))
            if not firsts:
                self._blocks: Iterator[SequenceBlock] = iter(())
                return
            reads = chain(firsts, values)
            if _is_source(firsts[0]):
                reads = list(reads)
        if _is_source(reads) or isinstance(reads, list):
            self._reader = BlockReader(reads, policy)
            self._blocks = iter(self._reader)
        else:
            if isinstance(reads, SequenceBatch):
                pairs = ((name, reads.text(k)) for k, name in enumerate(reads.names))
            else:
                pairs = ((name or "", text) for name, text in named_texts(reads))
            groups = (Records.of_named(*zip(*group, strict=True)) for group in grouped(pairs))
            self._blocks = _Settled(policy, "the reads").blocks(groups)

    def fraction(self) -> float | None:
        """Return the fraction of the files read so far, 0 to 1; None if unknown."""
        return None if self._reader is None else self._reader.fraction()

    def __iter__(self) -> Iterator[SequenceBlock]:
        if self._names is None:
            yield from self._blocks
            return
        for block in self._blocks:
            yield replace(block, names=tuple(map(self._names, block.names)))


def line_with(source: Any, letter: bytes) -> int | None:
    """Return the first line of FASTA or FASTQ whose sequence has this letter; None if it cannot be read again."""
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


def with_gaps(policy: Policy, gaps: str) -> Policy:
    """Return the policy with this rule for gaps. Raises UsageError for another word."""
    if gaps not in ("refuse", "remove"):
        raise UsageError(f"{named('gaps')} {gaps!r} is not one of refuse, remove")
    return replace(policy, gaps=gaps)


def survey_of(blocks: Iterable[SequenceBlock]) -> Survey:
    """Count and hash the reads of blocks, without gaps."""
    names, letters = hashlib.sha256(), hashlib.sha256()
    lengths, hashes = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
    with quiet():  # the second pass warns
        for block in blocks:
            names.update("".join(f"{name}\0" for name in block.names).encode("utf-8", "surrogatepass"))
            letters.update(block.letters.data)
            lengths.append(np.diff(block.offsets))
            # The first eight bytes of a hash of each read's letters: the same on every machine.
            text, offsets = block.letters.tobytes(), block.offsets.tolist()
            found = (hashlib.blake2b(text[a:b], digest_size=8).digest() for a, b in pairwise(offsets))
            hashes.append(np.frombuffer(b"".join(found), "<u8").astype(np.uint64))
    of_all = np.concatenate(lengths)
    digest = hashlib.sha256(names.digest() + letters.digest() + of_all.tobytes())
    return Survey(len(of_all), of_all, np.concatenate(hashes), digest.hexdigest())
