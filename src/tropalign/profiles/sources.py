"""The models and the sequences of a search: kinds of queries, lengths, and parts for any number of passes.

They are kept if they fit the memory; otherwise each pass reads them again.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, UsageError, counted, quiet, shown
from tropalign.formats.format import COMPRESSED
from tropalign.profiles.building import model_of_sequence, models_of_stockholm, refuse_nucleotides, stockholm_of
from tropalign.profiles.models import (
    OLD_TEXT,
    TEXT,
    Model,
    from_pyhmmer,
    is_binary,
    models_of,
    of_foreign,
    pressed_alone,
    text_of,
)
from tropalign.profiles.options import QueryAlphabet, QueryKind
from tropalign.profiles.proteins import EASEL_CODES, N_CANONICAL, UNKNOWN, Collected, Encoder, Proteins
from tropalign.results.found_hits import Query, model_cutoffs
from tropalign.results.threshold_options import BIT_CUTOFFS, Thresholds, keys_of
from tropalign.sequences.aligned_files import STOCKHOLM, check_stockholm, is_alignment, read_alignment
from tropalign.sequences.files import Source, file_name, is_stream, mistaken, opened, size_of, with_line_ends
from tropalign.sequences.flat_files import BEGINS, is_pir
from tropalign.sequences.reader import TARGETS, ReadBlocks, SequenceBlock, with_gaps
from tropalign.sequences.records import records_of_file

#: Bytes that are inspected to detect the contents of a file.
FIRST_BYTES = 1 << 12
A2M_MATCH = re.compile(rb"([A-Z-])")
#: File suffixes of formats in which lower-case letters are insertions.
A2M_SUFFIXES = (".a2m", ".a3m")


def read_queries(
    source: Source, kind: QueryKind = "auto", alphabet: QueryAlphabet = "auto", *, skip_foreign: bool = False
) -> Iterator[Model]:
    """Yield the queries of a file one by one, as models.

    Parameters
    ----------
    source
        A file's name ("-" is standard input) or an open file; compression is judged by content. Models are in
        HMMER's formats; alignments in Stockholm's (several in a file), FASTA, A2M, Clustal, PHYLIP or MSF;
        sequences in FASTA or FASTQ, each of them a query.
    kind : {"auto", "models", "alignment", "sequences"}
        Contents of the file. With "auto", FASTA records that contain gaps are an alignment, all others sequences.
    alphabet : {"auto", "protein"}
        "auto" rejects an alignment, and sequences, of more than ten letters that are all A, C, G, T, U or N, as
        nucleotides; "protein" accepts them. One such sequence among proteins is a protein.
    skip_foreign
        Leave out models of nucleotides, and count them in a warning, instead of raising an error.

    Yields
    ------
    Model
        In the order of the file.

    Raises
    ------
    InputError
        A file that cannot be read or has other contents; a query of nucleotides.
    UsageError
        An unknown kind or alphabet.

    Warns
    -----
    TropalignWarning
        A sequence without residues, which is not a query; models that are left out.

    Examples
    --------
    Families of a library by name:

    >>> models = tropalign.read_queries("tests/fuzz/corpus/models/3f.hmm")
    >>> [model.name for model in models if model.name.startswith("sm")]
    ['small']
    """
    return queries_in(source, kind, alphabet, skip_foreign=skip_foreign)


def queries_in(
    source: Source,
    kind: QueryKind = "auto",
    alphabet: QueryAlphabet = "auto",
    *,
    skip_foreign: bool = False,
    keeps_text: bool = True,
) -> Iterator[Model]:
    """Yield queries as `read_queries` does; `keeps_text` allows writing them."""
    if kind not in get_args(QueryKind):
        raise UsageError(f"{kind!r} is not a kind of queries: choose one of {', '.join(get_args(QueryKind))}")
    if alphabet not in get_args(QueryAlphabet):
        raise UsageError(
            f"queries of the alphabet {alphabet!r} are not supported: choose one of "
            f"{', '.join(get_args(QueryAlphabet))}"
        )
    are_proteins = alphabet == "protein"
    source = pressed_alone(source)
    file = file_name(source)
    stem, suffix = stem_and_suffix(source)
    with opened(source) as stream:
        begin = stream.peek(FIRST_BYTES).lstrip()
        held: str = kind
        if kind == "auto":
            held, stream = _judged(begin, stream, file)
        if kind == "models" and begin.startswith(b">"):
            raise InputError(
                "the file holds sequences instead of models: give the models first, then the sequences", file=file
            )
        if held == "models":
            yield from models_of(stream, file, skip_foreign, keeps_text)
        elif held == "sequences":
            encoder = Encoder(are_proteins)
            for block in ReadBlocks(stream, policy=TARGETS):
                if not are_proteins:  # among proteins, "GAGA" is glycine and alanine
                    refuse_nucleotides([EASEL_CODES[block.letters]], "a sequence", block.file, block.names[0])
                proteins = encoder.encode(block)
                bounds = pairwise(proteins.offsets.tolist())
                for name, words, (first, last) in zip(proteins.names, proteins.descriptions, bounds, strict=True):
                    if first < last:
                        yield model_of_sequence(name, proteins.codes[first:last], words, block.file, keeps_text)
                        continue
                    text = f"{shown(block.file)}, record {shown(name)!r}: the sequence is empty and is skipped"
                    warnings.warn(text, TropalignWarning, stacklevel=2)
        else:
            data, names = stockholm_in(stream, begin, file, suffix)
            yield from models_of_stockholm(data, file, stem, are_proteins, names)


def stockholm_in(stream: io.BufferedReader, begin: bytes, file: str, suffix: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a file's alignments in Stockholm format, for HMMER's builder, and the row names that it lacks.

    `begin`: start of the file without leading blanks. `suffix`: of its name, to recognize A2M and A3M.
    """
    if begin.startswith(STOCKHOLM):
        data = with_line_ends(stream).read()
        check_stockholm(enumerate(data.removesuffix(b"\n").split(b"\n"), 1), file)
        return data, ()
    if begin.startswith(b">"):
        lines: list[str] = []
        texts: list[bytes] = []
        for records in records_of_file(stream):
            letters = records.letters.tobytes()
            lines += records.names
            texts += (letters[begin:end] for begin, end in pairwise(records.offsets.tolist()))
        names = tuple(lines)
        if len({len(text) for text in texts}) > 1 or suffix in A2M_SUFFIXES:
            rows, is_match = _rows_of_a2m(names, texts, file)
            return _stockholm(names, rows, is_match, file), names
        return _stockholm(names, np.frombuffer(b"".join(texts), np.uint8).reshape(len(texts), -1), None, file), names
    names, rows = read_alignment(stream)
    return _stockholm(names, rows, None, file), names


def _judged(begin: bytes, stream: io.BufferedReader, file: str) -> tuple[str, io.BufferedReader]:
    """Return the kind of a file's queries, and the file from its start."""
    if begin.startswith((TEXT, OLD_TEXT)) or is_binary(begin):
        return "models", stream
    if begin.startswith((b"@", *BEGINS)) or is_pir(begin):
        return "sequences", stream
    if begin.startswith(b">"):
        data = io.BytesIO(stream.read())
        data.name = file
        has_gaps = any(not line.startswith(b">") and any(gap in line for gap in (b"-", b".", b"~")) for line in data)
        data.seek(0)
        return "alignment" if has_gaps else "sequences", io.BufferedReader(data)
    if is_alignment(begin) or begin[:1].isdigit():
        return "alignment", stream
    if not begin:
        raise InputError("the file is empty", file=file)
    raise InputError(
        mistaken(begin, "queries")
        or "the file holds no queries: give models in HMMER's format, an alignment, or sequences in FASTA",
        file=file,
    )


def _rows_of_a2m(names: tuple[str, ...], texts: list[bytes], file: str) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return rows with columns for insertions, whose residues are flush left and padded with dots, and the matches.

    A2M (UCSC SAM): a match is an upper-case letter or a "-", an insertion a lower-case letter; dots are ignored.

        MKvlAW   (two matches, two insertions, two matches)        MKvlAW
        MKAW                                                  ->   MK..AW
    """
    # Per row, the insertions before each match, and after the last one.
    split = [A2M_MATCH.split(text.replace(b".", b"")) for text in texts]
    n_match = len(split[0]) // 2
    for name, parts in zip(names, split, strict=True):
        if len(parts) // 2 != n_match:
            raise InputError(
                f"{len(parts) // 2} match columns, but other rows have {n_match}: rows must have the same length, "
                f"or in A2M the same number of upper-case letters and '-'",
                file=file,
                record=name,
            )
    widths = [max(len(parts[2 * k]) for parts in split) for k in range(n_match + 1)]
    padded = (
        b"".join(part if k % 2 else part.ljust(widths[k // 2], b".") for k, part in enumerate(parts)) for parts in split
    )
    rows = np.frombuffer(b"".join(padded), np.uint8).reshape(len(texts), -1)
    is_match = np.zeros(rows.shape[1], np.bool_)
    is_match[np.cumsum(widths[:-1]) + np.arange(n_match)] = True
    return rows, is_match


def _stockholm(names: tuple[str, ...], rows: NDArray[np.uint8], is_match: NDArray[np.bool_] | None, file: str) -> bytes:
    """Return an alignment in the format for HMMER's builder; raises InputError if it is not of proteins."""
    unknown = EASEL_CODES[rows] == UNKNOWN
    if unknown.any():
        k, at = np.argwhere(unknown)[0].tolist()
        letter = shown(chr(rows[k, at]))
        raise InputError(f"{letter!r} is not a protein letter: correct the alignment", file=file, record=names[k])
    letters = rows[EASEL_CODES[rows] != EASEL_CODES[ord("-")]]
    if not letters.size:
        raise InputError("the alignment holds no residues: give another one", file=file)
    return stockholm_of(rows, is_match)


def stem_and_suffix(source: Source) -> tuple[str, str]:
    """Return the name of a model after its file, and the file's suffix, ignoring compression."""
    if is_stream(source) or source == "-":
        return "query", ""
    name = os.path.basename(os.fsdecode(source))  # type: ignore[arg-type]
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    stem, suffix = os.path.splitext(name)
    return stem or "query", suffix


Int64 = NDArray[np.int64]
#: Start and end of runs of items, in ascending order.
Bounds = Sequence[tuple[int, int]]

#: Bytes per node of a model with all its tables.
NODE_BYTES = 4_000
#: Models whose texts are produced at once.
TEXTS_AT_ONCE = 64
#: Share of the memory for models that are kept between passes, and for sequences; and the limit for sequences that
#: can be read again: reading more of them for each batch of models takes a hundredth of the time of a search.
KEEP_SHARE, MOST_KEPT_BYTES = 0.2, 128 << 20
#: Residues by which a block may exceed its size: as many as are read at once.
ROOM = 1 << 21


@dataclass(frozen=True, eq=False)
class Models:
    """A run of models; `first` is the index of the first one among all."""

    #: For transfer to remote workers (`tropalign.devices.remote_worker`), as in `Proteins`.
    is_sent_once = is_made_anew = True

    items: tuple[Model, ...]
    first: int = 0

    def __len__(self) -> int:
        return len(self.items)

    def part(self, begin: int, end: int) -> Models:
        """Return models `begin` to `end`."""
        return Models(self.items[begin:end], self.first + begin)


class ModelSource:
    """All models of a search.

    `models` opens the models. `keep_bytes`: limit for kept models. `can_reopen`: `models` may be called again;
    otherwise models have to fit. `lengths`: int64, shape (n,), nodes per model.
    """

    def __init__(self, models: Callable[[], Iterable[Model]], keep_bytes: int, can_reopen: bool) -> None:
        self._open = models
        #: Names and accessions of all models; and models without some kind of cutoffs, which are checked later.
        self._keys: set[str] = set()
        self._without: list[Query] = []
        lengths: list[int] = []
        kept: list[Model] = []
        n_nodes = 0
        for model in models():
            lengths.append(model.length)
            n_nodes += model.length
            self._keys.update(keys_of(model.name, model.accession))
            own = {kind: getattr(model, kind) for kind in BIT_CUTOFFS}
            if None in own.values():
                self._without.append(Query(model.name, model.length, model.accession, **own))
            if n_nodes * NODE_BYTES <= keep_bytes:
                kept.append(model)
            elif not can_reopen:
                raise InputError(
                    "the models do not fit in memory and cannot be read twice from this source: write them to a "
                    "file first"
                )
            else:
                kept = []
        self.lengths = np.array(lengths, np.int64)
        self._parts: dict[tuple[int, int], Models] = {}
        self._whole = Models(tuple(kept)) if n_nodes * NODE_BYTES <= keep_bytes else None

    def check_cutoffs(self, thresholds: Thresholds) -> None:
        """Raise InputError for the first model without thresholds that it must have."""
        for model in self._without if thresholds.requires_cutoffs else ():
            model_cutoffs(model, thresholds)

    def warn_of_unknown(self, places: Mapping[str, str]) -> None:
        """Warn of names that are neither names nor accessions of models; `places` locates each of them."""
        others = [name for name in places if name not in self._keys]
        if others:
            more = f"; nor can {counted(len(others) - 1, 'names')} after it be found" if others[1:] else ""
            text = f"{places[others[0]]}: no model has the name or accession {others[0]!r}{more}"
            warnings.warn(shown(text), TropalignWarning, stacklevel=2)

    def sha256(self) -> str:
        """Return a hash of the contents of all models, in hexadecimal."""
        found = hashlib.sha256()
        for model in self._open() if self._whole is None else self._whole.items:
            texts = (model.name, model.accession, model.description, model.consensus, model.reference, model.structure)
            found.update(repr((texts, model.gathering, model.trusted, model.noise)).encode())
            for table in (model.match, model.transitions, model.composition, model.evalue):
                found.update(np.ascontiguousarray(table).data)
        return found.hexdigest()

    def texts(self) -> Iterator[bytes]:
        """Yield HMMER's text of each model; raises InputError if a model has no text."""
        n = len(self.lengths)
        for models in self.parts([(k, min(k + TEXTS_AT_ONCE, n)) for k in range(0, n, TEXTS_AT_ONCE)]):
            yield from (model.known_text for model in models.items)

    def parts(self, bounds: Bounds) -> Iterator[Models]:
        """Yield the models between these bounds."""
        if self._whole is not None:
            for begin, end in bounds:
                if (begin, end) not in self._parts:  # each block of sequences uses the same parts
                    self._parts[begin, end] = self._whole.part(begin, end)
                yield self._parts[begin, end]
            return
        models, at = iter(self._open()), 0
        for begin, end in bounds:
            found = tuple(islice(models, begin - at, end - at))
            if len(found) < end - begin:
                raise InputError("the model file changed while it was being read: run the command again")
            at = end
            yield Models(found, begin)


class TargetSource:
    """All sequences of a search; the first use of `lengths` reads and counts them, `stream` reads them without that.

    `blocks` opens the sequences. `keep_bytes`: limit for kept sequences. `can_reopen`: `blocks` may be called
    again; otherwise counted sequences have to fit. `n_expected`: approximate total of residues, or None if
    unknown. Reading raises InputError if a file cannot be read, `Encoder` rejects a sequence, or there is no
    sequence.
    """

    def __init__(
        self,
        blocks: Callable[[], Iterable[SequenceBlock]],
        keep_bytes: int,
        can_reopen: bool,
        n_expected: int | None = None,
    ) -> None:
        self._open, self._keep_bytes, self._can_reopen = blocks, keep_bytes, can_reopen
        self.n_expected = n_expected
        self._whole: Proteins | None = None
        self._lengths: Int64 | None = None
        self._parts: dict[tuple[int, int], Proteins] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for remote workers: the sequences if kept, else the files, which a worker must see."""
        state = {name: value for name, value in vars(self).items() if name != "_parts"} | {"_parts": {}}
        return state if self._whole is None else state | {"_open": None}

    @property
    def lengths(self) -> Int64:
        """Residues per sequence, int64, shape (n,)."""
        if self._lengths is None:
            self._lengths = self._counted()
        return self._lengths

    def _counted(self) -> Int64:
        """Count the residues of each sequence; keep the sequences if they fit."""
        lengths = [np.zeros(0, np.int64)]
        kept = Collected()
        n_bytes = 0
        for piece in self._encoded():
            lengths.append(piece.lengths)
            n_bytes += piece.held_bytes()
            if n_bytes <= self._keep_bytes:
                kept.add(piece)
            elif not self._can_reopen:
                raise InputError(
                    "the sequences do not fit in memory and cannot be read twice from this source: write them to "
                    "a file first"
                )
            else:
                kept = Collected()
        if n_bytes <= self._keep_bytes:
            self._whole = kept.whole()
        return np.concatenate(lengths)

    def _encoded(self) -> Iterator[Proteins]:
        is_empty = True
        for piece in map(Encoder().encode, self._open()):
            is_empty = False
            yield piece
        if is_empty:
            raise InputError("there are no sequences: give at least one")

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def is_kept(self) -> bool:
        """True if the sequences fit the memory and are kept; counts them on first access."""
        return len(self.lengths) > 0 and self._whole is not None

    def stream(self, most_residues: int, most_sequences: int) -> Iterator[Proteins]:
        """Yield all sequences in one pass, in blocks of about these sizes, without keeping them."""
        found = Collected(most_residues + ROOM)
        for piece in self._encoded():
            for begin in range(0, len(piece), most_sequences):
                found.add(piece.part(begin, min(begin + most_sequences, len(piece))))
                if found.n_codes >= most_residues or found.n >= most_sequences:
                    yield found.whole()
                    found = Collected(most_residues + ROOM)
        if found.n:
            yield found.whole()

    def parts(self, bounds: Bounds) -> Iterator[Proteins]:
        """Yield the sequences between these bounds."""
        if self._whole is not None:
            for begin, end in bounds:
                if (begin, end) not in self._parts:  # keep each part, so that native code sorts it by length only once
                    self._parts[begin, end] = self._whole.part(begin, end)
                yield self._parts[begin, end]
            return
        pieces, wanted = self._encoded(), iter(bounds)
        begin, end = next(wanted, (0, 0))
        found = Collected()
        while True:
            with quiet():  # the first pass has warned
                piece = next(pieces, None)
            if piece is None:
                return
            last = piece.first + len(piece)
            while begin < end:
                if begin < last:
                    found.add(piece.part(max(begin - piece.first, 0), min(end, last) - piece.first))
                if last < end:
                    break
                yield found.whole()
                found = Collected()
                begin, end = next(wanted, (0, 0))

    def sha256(self) -> str:
        """Return a hash of names, descriptions and residues, in hexadecimal."""
        names, codes = hashlib.sha256(), hashlib.sha256(self.lengths.tobytes())
        for piece in [self._whole] if self._whole is not None else self._encoded():
            names.update("\0".join((*piece.names, *piece.descriptions, "")).encode("utf-8", "surrogatepass"))
            codes.update(piece.codes.data)
        return hashlib.sha256(names.digest() + codes.digest()).hexdigest()


def is_models(value: Any) -> bool:
    """True for models, the name of a file of models, or a list that starts with one."""
    if isinstance(value, list | tuple) and value:
        return is_models(value[0])
    if isinstance(value, str | os.PathLike):
        if not os.path.isfile(value):
            return False  # the reader reports it
        with opened(value) as file:
            return file.read(len(TEXT)) in (TEXT, OLD_TEXT[: len(TEXT)])
    return isinstance(value, Model) or type(value).__module__.startswith("pyhmmer.plan7")


def model_source(
    models: Any,
    memory_bytes: int,
    kind: QueryKind = "auto",
    alphabet: QueryAlphabet = "auto",
    skip_foreign: bool = False,
    keeps_text: bool = False,
) -> ModelSource:
    """Return models from files (read as by `read_queries`), or as given; raises InputError if there is no model."""
    keep_bytes = int(KEEP_SHARE * memory_bytes)
    if _is_file(models):
        models = [models]
    if isinstance(models, Model) or not isinstance(models, Iterable):
        models = [models]
    given = list(models)
    can_reopen = not any(is_stream(item) or item == "-" for item in given)

    def models_of_all() -> Iterator[Model]:
        for item in given:
            if isinstance(item, Model):
                yield item
            elif _is_file(item):
                yield from queries_in(item, kind, alphabet, skip_foreign=skip_foreign, keeps_text=keeps_text)
            elif not (hasattr(item, "match_emissions") and hasattr(item, "evalue_parameters")):
                raise InputError(
                    f"{shown(repr(item)[:80])} is not a model: give files, a Model, or a pyhmmer.plan7.HMM"
                )
            elif skip_foreign and item.alphabet.K != N_CANONICAL:
                warnings.warn(of_foreign([text_of(item.name)]), TropalignWarning, stacklevel=2)
            else:
                yield from_pyhmmer(item)

    source = ModelSource(models_of_all, keep_bytes, can_reopen)
    if not len(source.lengths):
        raise InputError("there are no models: give at least one")
    return source


def _is_file(value: Any) -> bool:
    return isinstance(value, str) or is_stream(value) or hasattr(value, "__fspath__")


@dataclass(frozen=True)
class _Opener:
    """Opener of sequences, here or on a worker with access to the same files."""

    sequences: Any
    gaps: str = "refuse"

    def __call__(self) -> Iterable[SequenceBlock]:
        return ReadBlocks(self.sequences, policy=with_gaps(TARGETS, self.gaps))

    def __getstate__(self) -> dict[str, Any]:
        given = self.sequences
        if isinstance(given, list | tuple):
            given = [os.path.abspath(item) if isinstance(item, str | os.PathLike) else item for item in given]
        return {"sequences": given, "gaps": self.gaps}


def target_source(sequences: Any, memory_bytes: int, gaps: str = "refuse") -> TargetSource:
    """Return sequences from any source; they are read when a search requests them."""
    if _is_file(sequences):
        sequences = [sequences]
    can_reopen, n_expected = hasattr(sequences, "__len__"), None  # iterators cannot be reopened
    if isinstance(sequences, list | tuple) and any(map(_is_file, sequences)):
        can_reopen = not any(is_stream(item) or item == "-" for item in sequences)
        sizes = [size_of(item) for item in sequences]
        if None not in sizes:
            n_expected = sum(size or 0 for size in sizes)  # more if they are compressed
    keep_bytes = int(KEEP_SHARE * memory_bytes)
    if can_reopen:
        keep_bytes = min(keep_bytes, MOST_KEPT_BYTES)
    return TargetSource(_Opener(sequences, gaps), keep_bytes, can_reopen, n_expected)
