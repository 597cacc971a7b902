"""The models and the sequences of a search: how long all of them are, and parts of them as often as they are wanted.

What fits the memory is kept; otherwise each pass opens models or sequences anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, quiet
from tropalign.profile.models import Model
from tropalign.profile.proteins import Collected, Encoder, Proteins
from tropalign.results.threshold_options import BIT_CUTOFFS
from tropalign.sequences.blocks import SequenceBlock

Int64 = NDArray[np.int64]
#: Begin and end of runs of items, in ascending order.
Bounds = Sequence[tuple[int, int]]

#: Bytes that a node of a model takes with all its tables.
NODE_BYTES = 4_000
#: Models whose texts are made at a time.
TEXTS_AT_ONCE = 64
#: Residues by which a block may be longer than it should be: what is read at a time.
ROOM = 1 << 21


@dataclass(frozen=True, eq=False)
class Models:
    """Some neighbouring models.

    Attributes
    ----------
    items : tuple of Model
    first
        The number of the first one among all.
    """

    #: To workers elsewhere (`tropalign.execution.references`), as `Proteins`.
    is_sent_once = is_made_anew = True

    items: tuple[Model, ...]
    first: int = 0

    def __len__(self) -> int:
        return len(self.items)

    def part(self, begin: int, end: int) -> Models:
        """Models `begin` to `end` of it."""
        return Models(self.items[begin:end], self.first + begin)


class ModelSource:
    """All models of a search.

    Parameters
    ----------
    models
        Opens the models.
    keep_bytes
        What kept models may take.
    can_reopen
        Whether `models` may be called again. Otherwise models have to fit.

    Attributes
    ----------
    lengths : int64, shape (n,)
        Nodes of each.

    Raises
    ------
    InputError
        What reading models raises.
    """

    def __init__(self, models: Callable[[], Iterable[Model]], keep_bytes: int, can_reopen: bool) -> None:
        self._open = models
        self._without: dict[str, str] = {}
        lengths: list[int] = []
        kept: list[Model] = []
        n_nodes = 0
        for model in models():
            lengths.append(model.length)
            n_nodes += model.length
            for kind in BIT_CUTOFFS:
                if getattr(model, kind) is None:
                    self._without.setdefault(kind, model.name)
            if n_nodes * NODE_BYTES <= keep_bytes:
                kept.append(model)
            elif not can_reopen:
                raise InputError(
                    "the models do not fit the memory, and cannot be read twice: write them to a file first"
                )
            else:
                kept = []
        self.lengths = np.array(lengths, np.int64)
        self._parts: dict[tuple[int, int], Models] = {}
        self._whole = Models(tuple(kept)) if n_nodes * NODE_BYTES <= keep_bytes else None

    def check_cutoffs(self, kind: str) -> None:
        """Raises InputError for the first model without thresholds of this kind (``Thresholds.bit_cutoffs``)."""
        if kind in self._without:
            raise InputError(f"the model has no {kind} cutoffs: choose other thresholds", record=self._without[kind])

    def sha256(self) -> str:
        """Hash of all that models tell, in hexadecimal."""
        found = hashlib.sha256()
        for model in self._open() if self._whole is None else self._whole.items:
            texts = (model.name, model.accession, model.description, model.consensus, model.reference, model.structure)
            found.update(repr((texts, model.gathering, model.trusted, model.noise)).encode())
            for table in (model.match, model.transitions, model.composition, model.evalue):
                found.update(np.ascontiguousarray(table).data)
        return found.hexdigest()

    def texts(self) -> Iterator[bytes]:
        """HMMER's text of each. Raises InputError for a model whose text is not known."""
        n = len(self.lengths)
        for models in self.parts([(k, min(k + TEXTS_AT_ONCE, n)) for k in range(0, n, TEXTS_AT_ONCE)]):
            yield from (model.known_text for model in models.items)

    def parts(self, bounds: Bounds) -> Iterator[Models]:
        """Models between these bounds."""
        if self._whole is not None:
            for begin, end in bounds:
                if (begin, end) not in self._parts:  # each block of sequences meets the same ones
                    self._parts[begin, end] = self._whole.part(begin, end)
                yield self._parts[begin, end]
            return
        models, at = iter(self._open()), 0
        for begin, end in bounds:
            found = tuple(islice(models, begin - at, end - at))
            if len(found) < end - begin:
                raise InputError("the file of models changed while it was read: run again")
            at = end
            yield Models(found, begin)


class TargetSource:
    """All sequences of a search.

    They are gone through once and counted when `lengths` are asked for; `stream` goes through them without that.

    Parameters
    ----------
    blocks
        Opens the sequences.
    keep_bytes
        What kept sequences may take.
    can_reopen
        Whether `blocks` may be called again. Otherwise sequences that are counted have to fit.
    n_expected
        Residues in all, about; None where that is not known.

    Raises
    ------
    InputError
        As they are read: a file that cannot be read, what `Encoder` refuses, or no sequence at all.
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
        """For workers elsewhere: the sequences where they are kept, else the files, which a worker has to see."""
        state = {name: value for name, value in vars(self).items() if name != "_parts"} | {"_parts": {}}
        return state if self._whole is None else state | {"_open": None}

    @property
    def lengths(self) -> Int64:
        """Residues of each, int64, shape (n,)."""
        if self._lengths is None:
            self._lengths = self._counted()
        return self._lengths

    def _counted(self) -> Int64:
        """The lengths; the sequences are kept where they fit."""
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
                    "the sequences do not fit the memory, and are read more than once: write them to a file"
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
            raise InputError("there is no sequence: give one or more")

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def is_kept(self) -> bool:
        """Whether they fit, once they have been counted; they are, then."""
        return len(self.lengths) > 0 and self._whole is not None

    def stream(self, most_residues: int, most_sequences: int) -> Iterator[Proteins]:
        """All sequences in one pass, in blocks of about so many; none is held on to."""
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
        """Sequences between these bounds."""
        if self._whole is not None:
            for begin, end in bounds:
                if (begin, end) not in self._parts:  # native code sorts each by length once
                    self._parts[begin, end] = self._whole.part(begin, end)
                yield self._parts[begin, end]
            return
        pieces = self._encoded()

        def next_piece() -> Proteins | None:
            with quiet():  # the first pass has warned
                return next(pieces, None)

        yield from _regrouped(iter(next_piece, None), bounds)

    def sha256(self) -> str:
        """Hash of names, descriptions and residues, in hexadecimal."""
        names, codes = hashlib.sha256(), hashlib.sha256(self.lengths.tobytes())
        for piece in [self._whole] if self._whole is not None else self._encoded():
            names.update("\0".join((*piece.names, *piece.descriptions, "")).encode("utf-8", "surrogatepass"))
            codes.update(piece.codes.data)
        return hashlib.sha256(names.digest() + codes.digest()).hexdigest()


def _regrouped(pieces: Iterable[Proteins], bounds: Bounds) -> Iterator[Proteins]:
    """The sequences between these bounds out of pieces that follow one another."""
    wanted = iter(bounds)
    begin, end = next(wanted, (0, 0))
    found = Collected()
    for piece in pieces:
        last = piece.first + len(piece)
        while begin < end:
            if begin < last:
                found.add(piece.part(max(begin - piece.first, 0), min(end, last) - piece.first))
            if last < end:
                break
            yield found.whole()
            found = Collected()
            begin, end = next(wanted, (0, 0))
