"""Many sequences in one block of memory: the only container that engines accept."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Sequence as PySequence
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import Hinted, InputError, TropalignWarning, hint_for, shown
from tropalign.properties import cached_property
from tropalign.ragged import gathered, offsets_of
from tropalign.sequences.alphabet import (
    NUCLEOTIDE,
    Alphabet,
    AlphabetLike,
    alphabet_of,
    byte_counts,
    mirrored,
    reverse_complement,
)
from tropalign.sequences.inputs import chosen_names, named_texts
from tropalign.sequences.kinds import Evidence
from tropalign.sequences.texts import Texts, joined_by, lengths_of, part

if TYPE_CHECKING:
    from tropalign.sequences.mapped_store import Taxa

#: Quality of each residue of a sequence without qualities in a batch with qualities, as in BAM.
NO_QUALITY = 255


#: Maximum number of letters in the repr of a sequence.
SHOWN_LETTERS = 30


@dataclass(frozen=True)
class Sequence(Hinted):
    """One sequence: its name, letters as written, and alphabet."""

    name: str
    letters: str
    alphabet: Alphabet

    @property
    def codes(self) -> NDArray[np.uint8]:
        """Codes of the letters, uint8, shape (length,)."""
        return self.alphabet.encode(np.frombuffer(self.letters.encode("latin-1"), np.uint8))[0]

    def __repr__(self) -> str:
        first = self.letters if len(self.letters) <= SHOWN_LETTERS else f"{self.letters[:SHOWN_LETTERS]}..."
        return f"<Sequence {shown(self.name)}: {first}, {len(self.letters):,} {self.alphabet.name} residues>"

    def __str__(self) -> str:
        return self.letters

    def __len__(self) -> int:
        return len(self.letters)

    def __getitem__(self, key: int | slice) -> str:
        """Return letters."""
        return self.letters[key]


@dataclass(frozen=True, eq=False)
class SequenceBatch(Hinted):
    """Sequences stored one after another. Arrays are checked on creation, and are read-only through the batch.

    Attributes
    ----------
    codes : uint8, shape (n_residues,)
        Codes of ``alphabet``.
    offsets : int64, shape (n + 1,)
        Sequence k is ``codes[offsets[k]:offsets[k + 1]]``.
    names : tuple of str
        One per sequence.
    alphabet : Alphabet
        Alphabet of the codes.
    letters : uint8, shape (n_residues,)
        The bytes as they were read, case kept, for output.
    descriptions : tuple of str
        The rest of each header after the name; empty unless requested.
    qualities : uint8, shape (n_residues,), or None
        Phred scores of the residues, 0 to 93, and 255 throughout a sequence without qualities. None unless
        requested.
    taxa : Taxa, or None
        NCBI's taxon number and lineage of each sequence, if they come from a store that has them.
    track : uint8, shape (n_residues,), or None
        Codes of a second track, such as structure letters, in the alphabet of the track's own matrix.

    Raises
    ------
    ValueError
        The shapes, types or contents of the arrays do not agree.

    Examples
    --------
    >>> batch = tropalign.SequenceBatch.from_strings(["MKVLAW", "MKILA"], ["a", "b"])
    >>> batch
    <SequenceBatch: 2 protein sequences, 11 residues>
    >>> batch.lengths.tolist()
    [6, 5]
    """

    #: Sent once to each remote worker (`tropalign.devices.remote_worker`).
    is_sent_once = True
    #: True if the letters stay in a file: a `StoredBatch`.
    is_stored = False
    #: True if residues score by their position: a `PositionBatch`.
    has_positions = False

    codes: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    names: tuple[str, ...]
    alphabet: Alphabet
    letters: NDArray[np.uint8]
    descriptions: tuple[str, ...] = field(default_factory=tuple)
    qualities: NDArray[np.uint8] | None = None
    taxa: Taxa | None = None
    track: NDArray[np.uint8] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.alphabet, Alphabet):
            raise ValueError(f"the alphabet of a batch must be an Alphabet, not {self.alphabet!r}")
        for name, dtype in (("codes", np.uint8), ("offsets", np.int64), ("letters", np.uint8)):
            object.__setattr__(self, name, _fixed(name, getattr(self, name), dtype))
        for name in ("qualities", "track"):
            values = getattr(self, name)
            if values is not None:
                object.__setattr__(self, name, _fixed(name, values, np.uint8))
                if len(values) != len(self.codes):
                    what = "qualities" if name == "qualities" else "codes of a track"
                    raise ValueError(f"{len(values)} {what} for {len(self.codes)} codes: give one per code")
        n, n_described = self._take_texts("names"), self._take_texts("descriptions")
        codes, offsets = self.codes, self.offsets
        if len(offsets) != n + 1 or n_described not in (0, n):
            raise ValueError(f"{n} names, {len(offsets)} offsets and {n_described} descriptions: give n, n + 1, n")
        if offsets[0] != 0 or offsets[-1] != len(codes) or (offsets[1:] < offsets[:-1]).any():
            raise ValueError(f"offsets must ascend from 0 to the number of codes, {len(codes)}")
        if self.taxa is not None and len(self.taxa) != n:
            raise ValueError(f"taxa of {len(self.taxa)} sequences for {n} sequences: give one taxon per sequence")
        if len(self.letters) != len(codes):
            raise ValueError(f"{len(self.letters)} letters for {len(codes)} codes: give one per code")
        if len(codes) and codes.max() >= len(self.alphabet.letters):
            n_letters = len(self.alphabet.letters)
            raise ValueError(f"a code is {codes.max()}, but the {self.alphabet.name} alphabet has {n_letters} letters")

    def _take_texts(self, name: str) -> int:
        """Store names or descriptions as a tuple, or as bytes to be decoded on first use; return their number."""
        given = getattr(self, name)
        if isinstance(given, Texts):
            object.__setattr__(self, f"_{name}", given)
            object.__delattr__(self, name)
        else:
            given = _texts(name, given)
            object.__setattr__(self, name, given)
        return len(given)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Decode names or descriptions on first use."""
            waiting = self.__dict__.get(f"_{name}") if name in ("names", "descriptions") else None
            if waiting is None:
                return super().__getattr__(name)
            return self.__dict__.setdefault(name, tuple(waiting))  # the same object for all threads

    @property
    def name_texts(self) -> PySequence[str]:
        """The names without decoding them all (bytes if read from a file): for code that needs only a few of many."""
        waiting: PySequence[str] | None = self.__dict__.get("_names")
        return self.names if waiting is None else waiting

    @property
    def _description_texts(self) -> PySequence[str]:
        waiting: PySequence[str] | None = self.__dict__.get("_descriptions")
        return self.descriptions if waiting is None else waiting

    def __reduce__(self) -> tuple[Any, ...]:
        if self.has_residues:
            parts = (self.codes, self.offsets, self.names, self.alphabet, self.letters, self.descriptions)
            return SequenceBatch, (*parts, self.qualities, self.taxa, self.track)
        return SequenceBatch.without_residues, (self.names, self.lengths, self.alphabet)

    @classmethod
    def without_residues(
        cls, names: Iterable[str], lengths: Iterable[int] | NDArray[np.int64], alphabet: Alphabet
    ) -> SequenceBatch:
        """Make a batch of names and lengths without residues: enough to write tables, but no engine accepts it.

        Parameters
        ----------
        names
            One per sequence, no two the same.
        lengths
            Residues of each sequence.
        alphabet
            Alphabet of the sequences.

        Returns
        -------
        SequenceBatch

        Raises
        ------
        ValueError
            Names and lengths differ in number, or a length is negative.

        Examples
        --------
        >>> batch = tropalign.SequenceBatch.without_residues(["a", "b"], [6, 5], tropalign.PROTEIN)
        >>> batch.has_residues, batch.lengths.tolist()
        (False, [6, 5])
        """
        given = np.asarray(lengths)
        if given.size and given.dtype.kind not in "iu":
            raise ValueError(f"lengths must be integers, not {given.dtype}")
        sizes = _fixed("lengths", given.astype(np.int64), np.int64)
        empty = np.zeros(0, np.uint8)
        batch = cls(empty, np.zeros(len(sizes) + 1, np.int64), _texts("names", names), alphabet, empty)
        if len(sizes) and sizes.min() < 0:
            raise ValueError(f"a length is {sizes.min()}: lengths must be 0 or more")
        if sizes.sum(dtype=float) >= 2**62:
            raise ValueError(f"the lengths add up to {sizes.sum(dtype=float):.3g}, more than any memory holds")
        object.__setattr__(batch, "offsets", _fixed("offsets", np.concatenate([[0], np.cumsum(sizes)]), np.int64))
        return batch

    @property
    def has_residues(self) -> bool:
        """True if the batch contains the residues themselves: see `without_residues`."""
        return len(self.codes) == int(self.offsets[-1])

    @classmethod
    def from_strings(
        cls,
        sequences: Iterable[Any] | Mapping[str, Any],
        names: PySequence[str] | None = None,
        alphabet: AlphabetLike | None = None,
    ) -> SequenceBatch:
        """Make a batch from Python objects; the alphabet is inferred from the letters if not given.

        Parameters
        ----------
        sequences
            Strings, bytes, Biopython's Seq or SeqRecord, `Sequence`, or (name, sequence), in any iterable such as
            a list, a generator or a column of a table; or a mapping of names to sequences.
        names
            Names that replace the sequences' own. Sequences without names become sequence_1, sequence_2 ...
        alphabet
            An alphabet or its name.

        Returns
        -------
        SequenceBatch

        Raises
        ------
        InputError
            There is no sequence; a value is not a sequence, such as None; a sequence is empty; names are
            duplicate, or only some sequences have names; or a letter is not in the alphabet.

        Examples
        --------
        >>> tropalign.SequenceBatch.from_strings({"a": "MKVLAW", "b": b"MKILAW"}).names
        ('a', 'b')
        """
        found = list(named_texts(sequences))
        if not found:
            raise InputError("there is no sequence: give one or more")
        texts = [text for _, text in found]
        names = chosen_names([name for name, _ in found], names)
        if alphabet is not None:
            alphabet = alphabet_of(alphabet)
        for name, text in zip(names, texts, strict=True):
            if not text:
                raise InputError("the sequence is empty: remove it", record=name)
        letters = np.frombuffer("".join(texts).encode("latin-1", "replace"), np.uint8)
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=offsets[1:])
        if alphabet is None:
            evidence = Evidence()
            evidence.add(names, letters, offsets, byte_counts(letters))
            alphabet = evidence.alphabet()
        codes, unknown = alphabet.encode(letters)
        if unknown.any() and alphabet == NUCLEOTIDE:
            inosine = (letters & 0xDF) == ord("I")  # inosine is read as N
            if n := int(inosine.sum()):
                k = int(np.searchsorted(offsets, int(inosine.argmax()), "right")) - 1
                what = f"{n} letter{'s' * (n > 1)} 'I' (inosine) read as N"
                warnings.warn(f"record {shown(names[k])!r}: {what}", TropalignWarning, stacklevel=2)
            unknown &= ~inosine
        if unknown.any():
            at = int(np.flatnonzero(unknown)[0])
            k = int(np.searchsorted(offsets, at, "right")) - 1
            i = at - int(offsets[k])
            raise InputError(
                f"{texts[k][i]!r} at position {i + 1} is not a letter of the {alphabet.name} alphabet",
                record=names[k],
            )
        return cls(codes, offsets, names, alphabet, letters)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Residues of each sequence, int64, shape (n,)."""
        return np.diff(self.offsets)

    def text(self, k: int) -> str:
        """Return the letters of sequence k as they were written.

        Parameters
        ----------
        k
            Index of the sequence, from 0; counted from the end if negative.

        Returns
        -------
        str
            Case kept.

        Raises
        ------
        IndexError
            There is no such sequence.

        Examples
        --------
        >>> batch = tropalign.SequenceBatch.from_strings(["MKVLAW", "MKILA"], ["a", "b"])
        >>> batch.text(1)
        'MKILA'
        """
        self._check_residues()
        k = self._number(k)
        return self.letters[self.offsets[k] : self.offsets[k + 1]].tobytes().decode("latin-1")

    def _check_residues(self) -> None:
        if not self.has_residues:
            raise InputError("the batch contains only names and lengths: read the sequences again")

    def _number(self, k: int) -> int:
        """Return the index of sequence k, counted from the end if negative."""
        k = index(k)
        if not -len(self) <= k < len(self):
            raise IndexError(f"sequence {k} is out of range: the batch has {len(self)}")
        return k % len(self)

    @overload
    def __getitem__(self, key: int) -> Sequence: ...
    @overload
    def __getitem__(self, key: slice | PySequence[int] | NDArray[np.integer] | NDArray[np.bool_]) -> SequenceBatch: ...
    def __getitem__(
        self, key: int | slice | PySequence[int] | NDArray[np.integer] | NDArray[np.bool_]
    ) -> Sequence | SequenceBatch:
        """Return one sequence by its index, or a batch by a slice, indices or a mask, in that order."""
        if isinstance(key, int | np.integer):
            k = self._number(int(key))
            return Sequence(self.names[k], self.text(k), self.alphabet)
        if isinstance(key, str):
            hint = hint_for(self, "[name]")
            raise IndexError(f"sequences must be selected by integers, a slice or a mask: write {hint}")
        if not isinstance(key, slice):
            key = np.asarray(key)
            key = key if key.size else key.astype(np.intp)
        return self._take(np.arange(len(self))[key])

    def part(self, begin: int, end: int) -> SequenceBatch:
        """Return consecutive sequences as views of the arrays: nothing is copied.

        Parameters
        ----------
        begin, end
            The first sequence, and the one after the last; 0 <= begin <= end <= n.

        Returns
        -------
        SequenceBatch

        Examples
        --------
        >>> batch = tropalign.SequenceBatch.from_strings(["MKVLAW", "MKILA", "MKV"], ["a", "b", "c"])
        >>> batch.part(1, 3).names
        ('b', 'c')
        """
        self._check_residues()
        first, last = (int(self.offsets[k]) for k in (begin, end))
        names, descriptions = (part(texts, begin, end) for texts in (self.name_texts, self._description_texts))
        return SequenceBatch(
            self.codes[first:last],
            self.offsets[begin : end + 1] - first,
            names,  # type: ignore[arg-type]
            self.alphabet,
            self.letters[first:last],
            descriptions,  # type: ignore[arg-type]
            None if self.qualities is None else self.qualities[first:last],
            None if self.taxa is None else self.taxa.take(slice(begin, end)),
            None if self.track is None else self.track[first:last],
        )

    def __iter__(self) -> Iterator[Sequence]:
        return (self[k] for k in range(len(self)))

    def _take(self, chosen: NDArray[np.intp]) -> SequenceBatch:
        self._check_residues()
        others = [name for name in ("qualities", "track") if getattr(self, name) is not None]
        residues = [self.codes, self.letters, *(getattr(self, name) for name in others)]
        codes, letters, *values = gathered(residues, self.offsets, chosen)
        more = dict(zip(others, values, strict=True))
        return SequenceBatch(
            codes,
            offsets_of(self.lengths[chosen]),
            tuple(self.names[k] for k in chosen),
            self.alphabet,
            letters,
            tuple(self.descriptions[k] for k in chosen) if self.descriptions else (),
            more.get("qualities"),
            None if self.taxa is None else self.taxa.take(chosen),
            more.get("track"),
        )

    def __repr__(self) -> str:
        return f"<SequenceBatch: {len(self)} {self.alphabet.name} sequences, {len(self.codes):,} residues>"

    def reverse_complement(self) -> SequenceBatch:
        """Return the reverse complement of every sequence.

        Returns
        -------
        SequenceBatch

        Raises
        ------
        InputError
            Sequences of this alphabet, such as proteins, have a single strand.

        Examples
        --------
        >>> batch = tropalign.SequenceBatch.from_strings(["AACGaa"])
        >>> batch.reverse_complement().text(0)
        'ttCGTT'
        """
        self._check_residues()
        letters = reverse_complement(self.letters, self.offsets, self.alphabet)
        codes, _ = self.alphabet.encode(letters)
        qualities = None if self.qualities is None else mirrored(self.qualities, self.offsets)
        return with_letters(self, codes, letters, qualities)

    def fingerprint(self) -> str:
        """Return the SHA-256 of codes, letters, offsets, names and qualities, in hexadecimal: equal for equal batches.

        Returns
        -------
        str
            64 hexadecimal digits.

        Examples
        --------
        >>> batch = tropalign.SequenceBatch.from_strings(["MKVLAW", "MKILA"], ["a", "b"])
        >>> import copy
        >>> copy.deepcopy(batch).fingerprint() == batch.fingerprint()
        True
        """
        if (known := self.__dict__.get("_fingerprint")) is not None:
            return str(known)
        digest = hashlib.sha256()
        self._digest_residues(digest)
        parts = [self.offsets.data, joined_by(self.name_texts, "\0")]
        for piece in [*parts, *(more.data for more in (self.qualities, self.track) if more is not None)]:
            _digest(digest, piece)
        return str(self.__dict__.setdefault("_fingerprint", digest.hexdigest()))

    def _digest_residues(self, digest: hashlib._Hash) -> None:
        for piece in (self.codes.data, self.letters.data):
            _digest(digest, piece)

    @property
    def code_counts(self) -> NDArray[np.int64]:
        """Number of occurrences of each code, int64, shape (256,)."""
        return byte_counts(self.codes)

    @property
    def most_codes(self) -> int:
        """Number of codes in memory at once."""
        return len(self.codes)

    @property
    def held_bytes(self) -> int:
        """Memory of a batch in bytes, with its Python strings and the copies of names and qualities made for output.

        Qualities are written as characters for both strands, and the other strand is a batch with its own.
        """
        arrays = self.codes.nbytes + self.letters.nbytes + self.offsets.nbytes
        arrays += 0 if self.qualities is None else 4 * self.qualities.nbytes
        arrays += 0 if self.taxa is None else self.taxa.nbytes
        arrays += 0 if self.track is None else self.track.nbytes
        return batch_bytes(arrays, self.name_texts, self._description_texts)


#: Sequence arguments of functions: a batch, anything that `SequenceBatch.from_strings` accepts, or a file's path
#: or name.
Sequences = SequenceBatch | Iterable[Any] | Mapping[str, Any] | os.PathLike[str]


def _digest(digest: hashlib._Hash, part: memoryview) -> None:
    digest.update(part.nbytes.to_bytes(8, "little"))
    digest.update(part)


def _fixed(name: str, array: Any, dtype: Any) -> NDArray[Any]:
    """Return a read-only view of the array. Raises ValueError if it has another type or several axes."""
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != dtype:
        is_array = isinstance(array, np.ndarray)
        what = f"{array.dtype} of shape {array.shape}" if is_array else f"a {type(array).__name__}"
        raise ValueError(f"{name} must be a one-dimensional array of type {np.dtype(dtype)}, not {what}")
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def with_letters(
    batch: SequenceBatch,
    codes: NDArray[np.uint8],
    letters: NDArray[np.uint8],
    qualities: NDArray[np.uint8] | None,
) -> SequenceBatch:
    """Return sequences of the same names and lengths with other letters."""
    names: Any = batch.name_texts
    descriptions: Any = batch._description_texts
    return SequenceBatch(
        codes, batch.offsets, names, batch.alphabet, letters, descriptions, qualities, batch.taxa, batch.track
    )


def concatenated(batches: PySequence[SequenceBatch], names: PySequence[str] | None = None) -> SequenceBatch:
    """Return the sequences of batches of one alphabet in one batch, under other names if given.

    Qualities and tracks are kept if all batches have them; descriptions and taxa are not kept.
    """
    codes, letters = (np.concatenate([getattr(batch, what) for batch in batches]) for what in ("codes", "letters"))
    qualities = [batch.qualities for batch in batches if batch.qualities is not None]
    tracks = [batch.track for batch in batches if batch.track is not None]
    return SequenceBatch(
        codes,
        offsets_of(np.concatenate([batch.lengths for batch in batches])),
        tuple(name for batch in batches for name in batch.names) if names is None else tuple(names),
        batches[0].alphabet,
        letters,
        qualities=np.concatenate(qualities) if len(qualities) == len(batches) else None,
        track=np.concatenate(tracks) if len(tracks) == len(batches) else None,
    )


def batch_bytes(array_bytes: int, names: PySequence[str], descriptions: PySequence[str]) -> int:
    """Return the memory of arrays of this size and of these texts as Python strings."""
    of_names, of_descriptions = lengths_of(names), lengths_of(descriptions)
    strings = 72 * len(of_names) + 2 * of_names.sum() + 64 * np.count_nonzero(of_descriptions) + of_descriptions.sum()
    return int(array_bytes + strings)


def _texts(name: str, values: Any) -> tuple[str, ...]:
    found = tuple(values) if isinstance(values, Iterable) else (values,)
    if isinstance(values, str) or not set(map(type, found)) <= {str, np.str_}:
        raise ValueError(f"{name} must be a tuple of strings")
    return found


#: Bytes per letter of sequences copied out of a store: letters and codes, and native code's copy.
TAKEN_BYTES = 6


def in_memory(batch: SequenceBatch, index: NDArray[Any]) -> tuple[SequenceBatch, NDArray[Any]]:
    """Return a batch in memory that has the indexed sequences, and their new indices; only a stored batch is reduced.

    `index` has a sequence per row; integer, shape (n,).
    """
    if not batch.is_stored:
        return batch, index
    used, place = np.unique(index, return_inverse=True)
    return batch[used], place.astype(np.int64)


def parts_of(batch: SequenceBatch) -> Iterator[tuple[int, SequenceBatch]]:
    """Yield batches in memory, with the index of their first sequence: the parts of a stored batch, or the batch."""
    stored: Any = batch
    yield from stored.parts() if batch.is_stored else [(0, batch)]


def changed(batch: SequenceBatch, how: Callable[[SequenceBatch], SequenceBatch]) -> SequenceBatch:
    """Apply `how` to a batch; to the parts of a stored batch when they are loaded."""
    stored: Any = batch
    made: SequenceBatch = stored.changed(how) if batch.is_stored else how(batch)
    return made
