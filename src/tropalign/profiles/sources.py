"""The models and the sequences of a search: their lengths, and parts of them for any number of passes.

They are kept if they fit the memory; otherwise each pass reads them again.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, counted, quiet, shown
from tropalign.profiles.model_files import OLD_TEXT, TEXT, of_foreign
from tropalign.profiles.models import Model, from_pyhmmer, text_of
from tropalign.profiles.proteins import N_CANONICAL, Collected, Encoder, Proteins
from tropalign.profiles.queries import queries_in
from tropalign.results.found_hits import Query, model_cutoffs
from tropalign.results.threshold_options import BIT_CUTOFFS, Thresholds, keys_of
from tropalign.sequences.blocks import TARGETS, ReadBlocks, SequenceBlock, with_gaps
from tropalign.sequences.files import is_stream, opened, size_of

if TYPE_CHECKING:
    from tropalign.profiles.options import QueryAlphabet, QueryKind

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
