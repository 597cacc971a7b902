"""Sequences of a store that stay in its file, for passes over more of them than fit into memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.sequences.alphabet import GAP_LETTERS, Alphabet, byte_counts
from tropalign.sequences.batch import SequenceBatch, batch_bytes
from tropalign.sequences.kinds import Evidence
from tropalign.sequences.mapped_store import SPAN, MappedStore, damaged
from tropalign.sequences.reader import check_asked, tell_unknown
from tropalign.sequences.texts import lengths_of, mended

#: Letters of a part that is held in memory; a longer sequence is a part by itself.
PART_LETTERS = 1 << 22
#: Sequences that are copied before pages are released: the system maps 64 KiB around each.
PAGES_AT_ONCE = 128
#: Integers per sequence that stay in memory: offsets of letters, names and descriptions, lengths, the order by
#: length.
NUMBERS = 5


class StoredBatch(SequenceBatch):
    """Sequences of a store; only the requested ones are in memory; `stored_batch` makes one.

    It has the interface of a batch. `codes` encodes all letters on each access: use `parts`, or some of the
    sequences.
    """

    is_stored = True
    _store: MappedStore
    _changed: Callable[[SequenceBatch], SequenceBatch]

    @classmethod
    def of_store(
        cls,
        store: MappedStore,
        alphabet: Alphabet,
        changed: Callable[[SequenceBatch], SequenceBatch] = lambda batch: batch,
    ) -> StoredBatch:
        """Make a batch of a store; `changed` is applied to sequences when they are loaded."""
        batch = object.__new__(cls)
        parts = {
            "offsets": store.offsets,
            "_names": store.names,
            "alphabet": alphabet,
            "letters": store.letters,
            "_descriptions": store.descriptions,
            "qualities": None,
            "taxa": store.taxa,
            "track": None,
            "_store": store,
            "_changed": changed,
        }
        for name, value in parts.items():
            object.__setattr__(batch, name, value)
        return batch

    @property
    def codes(self) -> NDArray[np.uint8]:
        """Codes of all letters, encoded on each access."""
        return np.concatenate([part.codes for _, part in self.parts()])

    @property
    def has_residues(self) -> bool:
        """True: the file has them."""
        return True

    @property
    def code_counts(self) -> NDArray[np.int64]:
        """Number of occurrences of each code, int64, shape (256,)."""
        return sum((part.code_counts for _, part in self.parts()), np.zeros(256, np.int64))

    @property
    def most_codes(self) -> int:
        """Number of codes of the largest part."""
        return max(PART_LETTERS, int(self.lengths.max()))

    @property
    def held_bytes(self) -> int:
        """Memory of names, offsets and a part, and of file pages that have not been released yet."""
        return len(self._store.names.data) + 8 * NUMBERS * len(self) + SPAN + 2 * self.most_codes

    def parts(self) -> Iterator[tuple[int, SequenceBatch]]:
        """Yield runs of sequences with the index of their first one."""
        for begin, end in self._store.spans(PART_LETTERS, len(self)):
            yield begin, self.part(begin, end)

    def changed(self, how: Callable[[SequenceBatch], SequenceBatch]) -> StoredBatch:
        """Apply `how` lazily, part by part."""
        return self.of_store(self._store, self.alphabet, how)

    def part(self, begin: int, end: int) -> SequenceBatch:
        """Return consecutive sequences without descriptions; their letters are encoded."""
        offsets = self.offsets[begin : end + 1]
        letters = self.letters[offsets[0] : offsets[-1]]
        names: Any = self._store.names.part(begin, end)
        codes = self.alphabet.codes_of(letters)[0]
        return self._changed(SequenceBatch(codes, offsets - offsets[0], names, self.alphabet, letters))

    def _take(self, chosen: NDArray[np.intp]) -> SequenceBatch:
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.lengths[chosen])])
        letters = np.empty(offsets[-1], np.uint8)
        for k, (place, sequence) in enumerate(zip(offsets.tolist(), chosen.tolist(), strict=False), 1):
            begin, end = self.offsets[sequence : sequence + 2].tolist()
            letters[place : place + end - begin] = self.letters[begin:end]
            if k % PAGES_AT_ONCE == 0:
                self._store.let_go()
        self._store.let_go()
        names, descriptions = (
            tuple(texts[k] for k in chosen.tolist()) for texts in (self._store.names, self._store.descriptions)
        )
        codes, taxa = self.alphabet.codes_of(letters)[0], None if self.taxa is None else self.taxa.take(chosen)
        return self._changed(SequenceBatch(codes, offsets, names, self.alphabet, letters, descriptions, None, taxa))

    def __repr__(self) -> str:
        return f"<StoredBatch: {len(self)} {self.alphabet.name} sequences, {len(self.letters):,} residues>"

    def _digest_residues(self, digest: hashlib._Hash) -> None:
        """Add codes and letters in the same way as a batch in memory."""
        size = len(self.letters).to_bytes(8, "little")
        digest.update(size)
        for _, part in self.parts():
            digest.update(part.codes.data)
        digest.update(size)
        for begin, end in self._store.spans(PART_LETTERS, len(self)):
            digest.update(self.letters[self.offsets[begin] : self.offsets[end]].data)


def stored_batch(
    path: str | os.PathLike[str],
    most_bytes: int,
    alphabet: Alphabet | None = None,
    strict: bool = False,
    allows_duplicates: bool = False,
) -> StoredBatch | None:
    """Open a store that does not fit into memory, and leave its sequences in the file.

    `most_bytes` limits a batch together with an engine's copy of it. Returns None if the sequences fit, or if one
    of them is empty, nameless, has gaps or (unless `allows_duplicates`) a repeated name: `read_sequences` then
    raises the error. Raises InputError for a damaged store, for mixed nucleotides and proteins, and with `strict`
    for unknown letters. Warns like `tropalign.read_sequences`.
    """
    store = MappedStore.open(path)
    lengths = np.diff(store.offsets)
    taxa = 0 if store.taxa is None else store.taxa.nbytes
    in_memory = batch_bytes(2 * len(store.letters) + taxa, store.names, store.descriptions) + 2 * len(store.letters)
    if in_memory <= most_bytes or not len(store) or lengths.min() == 0:
        return None
    if not allows_duplicates and _native.find_repeated(store.names.data, store.names.offsets) is not None:
        return None
    if lengths_of(store.names).min() == 0 or mended(store.names)[1]:
        return None
    counts, evidence = np.zeros(256, np.int64), Evidence()
    for begin, end in store.spans(PART_LETTERS, len(store)):
        letters = store.letters[store.offsets[begin] : store.offsets[end]]
        of_part, offsets = byte_counts(letters), store.offsets[begin : end + 1] - store.offsets[begin]
        counts += of_part
        if alphabet is None:
            evidence.add(store.names.part(begin, end), letters, offsets, of_part, store.path)
    if counts.tolist() != store.manifest["letter_counts"]:
        raise damaged("its letter counts do not match its manifest", store.path)
    if counts[list(GAP_LETTERS.encode())].any():
        return None
    if alphabet is None:
        alphabet = evidence.alphabet()
        evidence.tell()
    else:
        check_asked(alphabet, counts, store.path)
    batch = StoredBatch.of_store(store, alphabet)
    used = np.flatnonzero(counts).astype(np.uint8)
    unknown = used[alphabet.encode(used)[1]]
    if len(unknown):
        at = next(
            begin + int(np.argmax(found))
            for begin in range(0, len(store.letters), PART_LETTERS)
            if (found := np.isin(store.letters[begin : begin + PART_LETTERS], unknown)).any()
        )
        tell_unknown(batch, at, int(counts[unknown].sum()), store.path, strict)
    return batch
