"""Reading of sequences from FASTA and FASTQ files, as whole sets or in blocks of records.

    file -> opened (decompressed bytes) -> records_of_file (headers and letters) -> BlockReader -> SequenceBlock

A `Policy` states how verbs differ in the input that they accept. A block lies within one file. `ReadBlocks` is for
reads, which need not come from files and whose names may repeat.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, UsageError, counted, named, quiet, said, shown, warn
from tropalign.sequences.alphabet import (
    GAP_LETTERS,
    NUCLEOTIDE,
    PROTEIN,
    Alphabet,
    AlphabetLike,
    alphabet_of,
    byte_counts,
)
from tropalign.sequences.batch import NO_QUALITY, SequenceBatch, Sequences
from tropalign.sequences.files import Source, can_be_read_twice, file_name, is_store, is_stream, read_lines, size_of
from tropalign.sequences.inputs import files_in, named_texts
from tropalign.sequences.kinds import ONE_KIND, Evidence, Kind, Tally, alphabet_by, mixed, waits
from tropalign.sequences.records import Records, grouped, records_of_file
from tropalign.sequences.texts import Texts, chosen, joined

if TYPE_CHECKING:
    from tropalign.sequences.mapped_store import Taxa

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


#: Treatments of gap characters in unaligned sequences.
GapRule = Literal["refuse", "remove", "note"]
GAPS = get_args(GapRule)
#: Treatments of a repeated name.
DuplicateNames = Literal["error", "number", "keep"]
DUPLICATE_NAMES = get_args(DuplicateNames)


def read_sequences(
    paths: Source | Iterable[Source],
    *,
    alphabet: AlphabetLike | None = None,
    skip_empty: bool = False,
    strict: bool = False,
    gaps: GapRule = "refuse",
    duplicate_names: DuplicateNames = "error",
    clip_stops: bool = False,
    qualities: bool = False,
) -> SequenceBatch:
    """Read FASTA or FASTQ files (gzip, bzip2, xz or zstd by content; ``-`` is standard input) into one batch.

    Parameters
    ----------
    paths
        One file or several, by name or open; their records follow one another.
    alphabet
        An alphabet or its name; by default inferred from the letters of all files, record by record.
    skip_empty
        Skip empty sequences instead of raising an error.
    strict
        Raise an error for letters outside the alphabet, instead of reading them as the wildcard with a warning.
    gaps : {"refuse", "remove", "note"}
        Treatment of ``-``, ``.``, ``_`` and ``~`` in FASTA and FASTQ: an error, removed, or removed with a warning
        that counts them. Gaps of alignments (Stockholm, Clustal, PHYLIP, MSF) are always removed.
    duplicate_names : {"error", "number", "keep"}
        Treatment of a name that an earlier record has: an error, numbered (the second "a" becomes "a_2", with a
        warning), or kept.
    clip_stops
        Remove a ``*`` at the end of each sequence, as in translated genes.
    qualities
        Keep the qualities of FASTQ in the batch, a byte per letter; 255 for the letters of other files.

    Returns
    -------
    SequenceBatch
        Records in input order. A name is the header up to the first blank; blanks inside a sequence are removed.

    Raises
    ------
    InputError
        A file cannot be read, is neither FASTA nor FASTQ, or holds no sequence; a record has no name; a sequence
        is empty or has gaps; names are duplicate; nucleotides and proteins are mixed without an ``alphabet``; or a
        letter is unknown with ``strict`` or in an alphabet without a wildcard.
    UsageError
        `gaps` or `duplicate_names` is another word.

    Warns
    -----
    TropalignWarning
        Letters outside the alphabet, with their number and the first one's position; a ``*`` at the end of most
        proteins, which is aligned as a residue; an ``alphabet`` that the letters contradict; letters that can be those
        of nucleotides or of a protein; duplicate names; a sequence store, which holds no qualities, if these are
        requested.

    Examples
    --------
    >>> tropalign.read_sequences("examples/efp.fasta")
    <SequenceBatch: 37 protein sequences, 6,963 residues>
    """
    if alphabet is not None:
        alphabet = alphabet_of(alphabet)
    for name, word, words in (("gaps", gaps, GAPS), ("duplicate_names", duplicate_names, DUPLICATE_NAMES)):
        if word not in words:
            raise UsageError(f"{named(name)} {word!r} is not one of {', '.join(words)}")
    found = _Whole()
    policy = Policy(
        "refuse" if gaps == "refuse" else "remove",
        empty="skip" if skip_empty else "refuse",
        keeps_qualities=qualities,
        clips_stops=clip_stops,
    )
    sources = sources_of(paths)
    for block in BlockReader(sources, policy):
        found.add(block)
    found.end()
    for source in filter(is_store, sources) if qualities else ():
        text = f"{shown(file_name(source))}: sequence stores contain no qualities, so these sequences have none"
        warnings.warn(text, TropalignWarning, stacklevel=2)
    found.settle_names(duplicate_names)
    if found.n_gaps and gaps == "note":
        text = f"{found.n_gaps:,} gap{'s' * (found.n_gaps > 1)} removed from the sequences"
        warnings.warn(f"{shown(found.files[0])}: {text}", TropalignWarning, stacklevel=2)
    letters = np.frombuffer(found.letters, np.uint8)
    if alphabet is None:
        alphabet = found.evidence.alphabet()
        found.evidence.tell()
    else:
        check_asked(alphabet, found.counts, found.files[0])
    offsets = np.concatenate(found.offsets)
    n = len(offsets) - 1
    if 2 * found.counts[STOP] > n and alphabet == PROTEIN and 2 * (n_stops := final_stops(letters, offsets).sum()) > n:
        text = f"{n_stops:,} of {counted(n, 'sequences')} end in '*', which is aligned as a residue"
        first = shown(found.files[0])
        warnings.warn(f"{first}: {text}: {named('clip_stops')} removes it", TropalignWarning, stacklevel=2)
    codes, count, at = alphabet.codes_of(letters)
    # The batch decodes names and descriptions on first use.
    texts: Any = found.names, found.descriptions
    scores = found.qualities if qualities else None
    taxa = found.taxa(sources) if any(map(is_store, sources)) else None
    batch = SequenceBatch(codes, offsets, texts[0], alphabet, letters, texts[1], scores, taxa)
    if count:
        tell_unknown(batch, at, count, found.file_of(int(np.searchsorted(offsets, at, "right")) - 1), strict)
    return batch


def batch_of(sequences: Sequences, alphabet: AlphabetLike | None = None) -> SequenceBatch:
    """Make a batch of any supported source of sequences."""
    if files := files_in(sequences):
        return read_sequences(files, alphabet=alphabet)
    given: Any = sequences
    batch = given if isinstance(given, SequenceBatch) else SequenceBatch.from_strings(given, alphabet=alphabet)
    if not len(batch):
        raise InputError("there is no sequence: give one or more")
    if not batch.has_residues:
        raise InputError("the batch contains only names and lengths: read the sequences again")
    if not batch.lengths.all():
        raise InputError("the sequence is empty: remove it", record=batch.names[int(batch.lengths.argmin())])
    return batch


#: Letters examined at a time, as they may be in a store's file.
PART = 1 << 22


def check_asked(asked: Alphabet, counts: NDArray[np.int64], file: str) -> None:
    """Warn if the letter counts of a set contradict the requested alphabet."""
    tally = Tally.of_counts(counts)
    kind, judged = tally.kind, alphabet_by(tally.kind, tally)
    if kind in (Kind.PROTEIN, Kind.NUCLEOTIDE) and asked != judged and asked.judged:
        warnings.warn(
            f"{shown(file)}: read as {asked.name} as requested, but its residues look like {judged.name}",
            TropalignWarning,
            stacklevel=3,
        )


def tell_unknown(batch: SequenceBatch, at: int, count: int, file: str, strict: bool) -> None:
    """Report letters outside the alphabet, the first at index `at`: warn, or raise InputError (see `strict`)."""
    k = int(np.searchsorted(batch.offsets, at, "right")) - 1
    first, n_records = f"{chr(batch.letters[at])!r} at position {at - int(batch.offsets[k]) + 1}", 1
    if count > 1:
        n_records, last = 0, -1
        for begin in range(0, len(batch.letters), PART):
            unknown = np.flatnonzero(batch.alphabet.encode(batch.letters[begin : begin + PART])[1]) + begin
            records = np.unique(np.searchsorted(batch.offsets, unknown, "right"))
            n_records += len(records) - int(len(records) > 0 and records[0] == last)
            last = int(records[-1]) if len(records) else last
    within = "" if n_records == 1 else f" in {n_records:,} records"
    what = f"{count:,} letter{'s' * (count > 1)} outside the {batch.alphabet.name} alphabet{within}, the first {first}"
    name = batch.name_texts[k]
    if strict or not batch.alphabet.wildcard:
        remedy = f"omit {named('strict')}" if batch.alphabet.wildcard else "add them to the alphabet"
        raise InputError(f"{what}: correct them or {remedy}", file=file, record=name)
    warnings.warn(
        f"{shown(file)}, record {name!r}: {what}; read as {batch.alphabet.wildcard}", TropalignWarning, stacklevel=3
    )


class _Whole:
    """The joined blocks of all files, without Python objects per record."""

    def __init__(self) -> None:
        self._names: list[Texts] = []
        self._descriptions: list[Texts] = []
        self.letters = bytearray()
        self._qualities = bytearray()
        self.offsets = [np.zeros(1, np.int64)]
        self.counts = np.zeros(256, np.int64)
        self._numbers: list[NDArray[np.int64] | range] = []
        self.files: list[str] = []
        self._ends: list[int] = []  # number of records up to the end of each block
        self.n_gaps = 0
        self.evidence = Evidence()

    def add(self, block: SequenceBlock) -> None:
        """Append a block."""
        self.evidence.add(block.names, block.letters, block.offsets, block.counts, block.file)
        self._names.append(Texts.of(block.names))
        self._descriptions.append(Texts.of(block.descriptions))
        self.offsets.append(block.offsets[1:] + len(self.letters))
        if block.qualities is not None:  # blocks before it without qualities are padded
            self._qualities += bytes([NO_QUALITY]) * (len(self.letters) - len(self._qualities))
            self._qualities += block.qualities.data
        self.letters += block.letters.data
        self.counts += block.counts
        first, last = int(block.numbers[0]), int(block.numbers[-1])
        is_run = last - first + 1 == len(block)
        self._numbers.append(range(first, last + 1) if is_run else block.numbers)
        self.files.append(block.file)
        self._ends.append(len(block) + (self._ends[-1] if self._ends else 0))
        self.n_gaps += block.n_gaps

    @property
    def qualities(self) -> NDArray[np.uint8] | None:
        """A Phred score per letter, once all blocks are added; None if no file has any."""
        if not self._qualities:
            return None
        self._qualities += bytes([NO_QUALITY]) * (len(self.letters) - len(self._qualities))
        return np.frombuffer(self._qualities, np.uint8)

    def taxa(self, sources: list[Source]) -> Taxa | None:
        """Return the taxa from stores among the sources; None if no store has any."""
        from tropalign.sequences.mapped_store import Taxa, taxa_of_stores

        of_files = taxa_of_stores(sources)
        if not of_files:
            return None
        pieces = []
        for file, blocks in groupby(zip(self.files, self._numbers, strict=True), key=itemgetter(0)):
            numbers = np.concatenate([np.asarray(of_block, np.int64) for _, of_block in blocks])
            known = of_files.get(file)
            pieces.append(Taxa.unknown(len(numbers)) if known is None else known.take(numbers - 1))
        return Taxa.joined(pieces)

    def end(self) -> None:
        """Join names and descriptions after the last block."""
        self.names, self.descriptions = _moved(self._names), _moved(self._descriptions)

    def file_of(self, k: int) -> str:
        """Return the file of record k."""
        return self.files[bisect_right(self._ends, k)]

    def number_of(self, k: int) -> int:
        """Return the number of record k in its file, from 1."""
        block = bisect_right(self._ends, k)
        return int(self._numbers[block][k - self._ends[block]])

    def settle_names(self, duplicate_names: DuplicateNames) -> None:
        """Reject, number or keep repeated names."""
        from tropalign import _native

        names = self.names
        found = _native.find_repeated(names.data, names.offsets)
        if found is None or duplicate_names == "keep":
            return
        other, k = found
        if duplicate_names == "number":
            self.names = Texts.of(numbered(names))
            text = f"record {shown(names[k])!r} has the name of an earlier record: duplicate names are numbered"
            warnings.warn(f"{shown(self.file_of(k))}, {text}", TropalignWarning, stacklevel=3)
            return
        number, other_number = self.number_of(k), self.number_of(other)
        file, other_file = self.file_of(k), self.file_of(other)
        # Two streams may have the same name.
        if other_file == file and other_number == number and os.path.exists(file):
            raise InputError("the file is given twice, so all its records are read twice: give it once", file=file)
        both = (
            f"records {other_number} and {number} have"
            if other_file == file
            else f"record {number}, and record {other_number} of {shown(other_file)}, have"
        )
        raise InputError(
            f"{both} the same name: give each record its own name, or use {said('duplicate_names', 'number')} or "
            f"{said('duplicate_names', 'keep')}",
            file=file,
            record=names[k],
        )


def numbered(names: Sequence[str]) -> list[str]:
    """Make names unique: the second "a" becomes "a_2", or the next name that no other record has.

    >>> numbered(["a", "b", "a", "a_2", "a"])
    ['a', 'b', 'a_3', 'a_2', 'a_4']
    """
    taken, seen = set(names), dict[str, int]()
    made = []
    for name in names:
        number = seen.get(name, 0) + 1
        if number > 1:
            while f"{name}_{number}" in taken:
                number += 1
        seen[name] = number
        made.append(name if number == 1 else f"{name}_{number}")
        taken.add(made[-1])
    return made


def _moved(pieces: list[Texts]) -> Texts:
    """Join the texts of all pieces, and clear the list to release them."""
    together = Texts.of(joined(pieces))
    pieces.clear()
    return together


@contextmanager
def without_kind_warnings() -> Iterator[None]:
    """Silence `Evidence.tell` while one side is read: `in_common_alphabet` warns when both sides are known."""
    before = waits.set(True)
    try:
        yield
    finally:
        waits.reset(before)


def evidence_of(batch: SequenceBatch, file: str | None = None) -> Evidence:
    """Collect the evidence of a batch for the kind of its letters."""
    found = Evidence()
    found.add(batch.name_texts, batch.letters, batch.offsets, byte_counts(batch.letters), file)
    return found


def in_common_alphabet(
    first: SequenceBatch, second: SequenceBatch, is_judged: bool, tells: bool = False
) -> tuple[SequenceBatch, SequenceBatch]:
    """Return both sides of an alignment; a side that can be of either kind is read like the other.

    `is_judged`: the user named no alphabet. `tells`: warn if both sides can be of either kind and it is a close
    call.
    """
    sides = first, second
    if not is_judged or not all(batch.alphabet.judged for batch in sides):
        return sides
    evidence = evidence_of(first)
    if first.alphabet == second.alphabet and (not tells or evidence.kind != Kind.EITHER):
        return sides
    evidence.add(second.name_texts, second.letters, second.offsets, byte_counts(second.letters))
    if len(evidence.certain) == 2:  # the caller raises the error of `of_two_kinds`
        return sides
    if tells:
        evidence.tell()
    alphabet = evidence.alphabet()
    return read_as(alphabet, first), read_as(alphabet, second)


def read_as(alphabet: Alphabet, batch: SequenceBatch) -> SequenceBatch:
    """Return the batch, in another alphabet if its letters can be of either kind."""
    if batch.alphabet == alphabet or evidence_of(batch).kind != Kind.EITHER:
        return batch
    return replace(batch, codes=alphabet.codes_of(batch.letters)[0], alphabet=alphabet)


def check_kinds(batch: SequenceBatch, file: str | None = None) -> None:
    """Raise InputError if a sequence is certainly of another kind than the alphabet of the batch."""
    if not batch.alphabet.judged:
        return
    found = evidence_of(batch, file)
    kind, other = (Kind.PROTEIN, "nucleotide") if batch.alphabet == NUCLEOTIDE else (Kind.NUCLEOTIDE, "protein")
    if kind not in found.certain:
        return
    name, _ = found.certain[kind]
    raise InputError(
        f"this looks like a {kind.name.lower()} sequence, but the others are read as {other}: remove it, or set the "
        f"kind of all sequences with {named('alphabet')}",
        file=file,
        record=name,
    )


def of_two_kinds(sets: Sequence[tuple[SequenceBatch, str | None]], remedy: str = ONE_KIND) -> InputError:
    """Return the error for a set of nucleotides and one of proteins, with their files, if known."""
    found = {}
    for batch, file in sets:
        kind = Kind.NUCLEOTIDE if batch.alphabet == NUCLEOTIDE else Kind.PROTEIN
        found[kind] = evidence_of(batch, file).certain.get(kind, (batch.name_texts[0], file))
    (nucleotide, file), (protein, other_file) = found[Kind.NUCLEOTIDE], found[Kind.PROTEIN]
    return mixed(nucleotide, protein, file, other_file, remedy)
