"""A sequence store: sequences in one file that is mapped into memory instead of read.

    magic | letters | offsets | names | name offsets | descriptions | description offsets | by length | taxa | manifest
    | end

Taxa are optional: taxids, the number of each sequence's lineage, lineages, and their offsets.

Arrays are page-aligned, so that they are mapped as they are: opening takes milliseconds for any size, and
processes share the pages. The file does not state what letters mean: a store holds the letters as written, of any
alphabet. The structure of the file is checked before use: a truncated store, or one whose arrays do not fit one
another, is an InputError. Changed bytes within an array are found by `SequenceStore.verify` only, which reads all
of them.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, shown
from tropalign.sequences.alphabet import Alphabet, byte_counts
from tropalign.sequences.files import STORE_MAGIC, Source, file_name, is_store
from tropalign.sequences.kinds import judge_counts
from tropalign.sequences.records import BLOCK_LETTERS, BLOCK_RECORDS, Records, in_utf8
from tropalign.sequences.texts import Texts, joined

END = b"end of the store"
#: Increased when an older tropalign cannot read what a newer one writes. Names and descriptions are UTF-8; the
#: first layout is the same restricted to ASCII, and is still written for ASCII texts.
LAYOUT = 2
ASCII_LAYOUT = 1
#: Types of letters, and of their positions and other indices.
LETTER, PLACE = np.dtype(np.uint8), np.dtype("<i8")
ARRAYS: dict[str, np.dtype[Any]] = {
    "letters": LETTER,
    "offsets": PLACE,
    "names": LETTER,
    "name_offsets": PLACE,
    "descriptions": LETTER,
    "description_offsets": PLACE,
    "by_length": PLACE,
}
#: Arrays of taxa: all or none exist.
TAXA_ARRAYS: dict[str, np.dtype[Any]] = {
    "taxids": PLACE,
    "lineage_numbers": PLACE,
    "lineages": LETTER,
    "lineage_offsets": PLACE,
}
#: The end of a file: size and SHA-256 of the manifest before it, and END.
SIZE_BYTES, DIGEST_BYTES = 8, 32
END_BYTES = SIZE_BYTES + DIGEST_BYTES + len(END)
MOST_MANIFEST_BYTES = 1 << 20
#: Letters whose pages are released together while blocks are read.
SPAN = 1 << 24
REBUILD = "build it again with tropalign db build"


@dataclass(frozen=True, eq=False)
class Taxa:
    """Taxa of sequences, in their order.

    taxids: int64, shape (n,), NCBI's numbers, or 0.
    lineages: the distinct lineages; the first one is empty.
    lineage: int64, shape (n,), index of each sequence's lineage.

    Raises ValueError for arrays of different lengths and invalid numbers.
    """

    taxids: NDArray[np.int64]
    lineages: Texts
    lineage: NDArray[np.int64]

    def __post_init__(self) -> None:
        if len(self.taxids) != len(self.lineage):
            raise ValueError(f"{len(self.taxids)} taxids for {len(self.lineage)} lineages: give one per lineage")
        if len(self) and not 0 <= self.lineage.min() <= self.lineage.max() < len(self.lineages):
            raise ValueError(f"a lineage index is out of range for {len(self.lineages)} lineages")
        if len(self) and self.taxids.min() < 0:
            raise ValueError(f"a taxid is {self.taxids.min()}: taxids must be 0 or more")

    def __len__(self) -> int:
        return len(self.taxids)

    @classmethod
    def unknown(cls, n: int) -> Taxa:
        """Make unknown taxa for n sequences."""
        return cls(np.zeros(n, np.int64), Texts.of([""]), np.zeros(n, np.int64))

    @classmethod
    def joined(cls, pieces: Sequence[Taxa]) -> Taxa:
        """Concatenate the taxa of several sets of sequences."""
        shifts = np.cumsum([0, *(len(piece.lineages) for piece in pieces)])
        return cls(
            np.concatenate([piece.taxids for piece in pieces]),
            Texts.of(joined([piece.lineages for piece in pieces])),
            np.concatenate([piece.lineage + shift for piece, shift in zip(pieces, shifts.tolist(), strict=False)]),
        )

    def take(self, index: NDArray[np.integer] | slice) -> Taxa:
        """Return the taxa of the sequences with these indices."""
        return Taxa(self.taxids[index], self.lineages, self.lineage[index])

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.taxids.nbytes + self.lineage.nbytes + self.lineages.data.nbytes + self.lineages.offsets.nbytes

    def digest(self) -> str:
        """Return the SHA-256 of taxids and lineages, in hexadecimal."""
        found = hashlib.sha256()
        for part in (self.taxids, self.lineage, self.lineages.offsets, self.lineages.data):
            found.update(np.ascontiguousarray(part).data)
        return found.hexdigest()


@dataclass(frozen=True, eq=False)
class MappedStore:
    """A mapped store: the read-only part of a `SequenceStore`."""

    path: str
    letters: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    names: Texts
    descriptions: Texts
    by_length: NDArray[np.int64]
    alphabet: Alphabet
    manifest: dict[str, Any]
    mapped: mmap.mmap
    taxa: Taxa | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Map a store into memory.

        Parameters
        ----------
        path
            The file.

        Returns
        -------
        SequenceStore

        Raises
        ------
        InputError
            The file does not exist, is not a store, is truncated or damaged, or was written by a newer version of
            tropalign.

        Examples
        --------
        >>> import tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "efp.tdb")
        >>> store = tropalign.SequenceStore.build("examples/efp.fasta", path)
        >>> tuple(tropalign.SequenceStore.open(path).names[:2])
        ('sp|Q662F0|EFP_BORBP', 'sp|B7J1E4|EFP_BORBZ')
        """
        file = os.fsdecode(path)
        try:
            with open(file, "rb") as stream:
                mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            raise InputError("there is no such file", file=file) from None
        except OSError as error:
            raise InputError(f"the file cannot be read ({error.strerror})", file=file) from None
        except ValueError:  # zero bytes
            raise InputError("the file is empty", file=file) from None
        manifest, alphabet = _manifest(mapped, file)
        arrays = {name: _mapped_array(mapped, manifest, name, file) for name in ARRAYS}
        n = len(arrays["offsets"]) - 1
        for offsets, data in (
            ("offsets", "letters"),
            ("name_offsets", "names"),
            ("description_offsets", "descriptions"),
        ):
            _check_offsets(arrays[offsets], n, len(arrays[data]), offsets, file)
        order = arrays["by_length"]
        if len(order) != n or (n and (order.min() < 0 or order.max() >= n)):
            raise damaged("the order by length refers to sequences that do not exist", file)
        taxa = None if "taxids" not in manifest["arrays"] else _taxa(mapped, manifest, n, file)
        return cls(
            file,
            arrays["letters"],
            arrays["offsets"],
            Texts(arrays["names"], arrays["name_offsets"]),
            Texts(arrays["descriptions"], arrays["description_offsets"]),
            order,
            alphabet,
            manifest,
            mapped,
            taxa,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} {self.alphabet.name} sequences, {len(self.letters):,} residues>"

    def verify(self) -> None:
        """Compare every array with its checksum, which reads the whole file.

        Raises
        ------
        InputError
            A byte has changed since the store was built.

        Examples
        --------
        >>> import tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "efp.tdb")
        >>> store = tropalign.SequenceStore.build("examples/efp.fasta", path)
        >>> store.verify()
        """
        for name, entry in self.manifest["arrays"].items():
            begin, end = entry["begin"], entry["begin"] + entry["bytes"]
            digest = hashlib.sha256()
            for at in range(begin, end, SPAN):
                digest.update(self.mapped[at : min(end, at + SPAN)])
            if digest.hexdigest() != entry["sha256"]:
                raise damaged(f"the checksum of its {name.replace('_', ' ')} does not match", self.path)

    def spans(self, most_letters: int, most_sequences: int) -> Iterator[tuple[int, int]]:
        """Yield runs of sequences, as (begin, end), within both limits, but of at least one sequence.

        Pages of letters that have been passed are released, so that a pass takes little memory for any size.

        Parameters
        ----------
        most_letters, most_sequences
            Limits of a run.

        Yields
        ------
        tuple of int
            The first sequence, and the one after the last.

        Examples
        --------
        >>> import tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "efp.tdb")
        >>> store = tropalign.SequenceStore.build("examples/efp.fasta", path)
        >>> list(store.spans(3000, 20))
        [(0, 15), (15, 30), (30, 37)]
        """
        n, begin, let_go = len(self), 0, 0
        while begin < n:
            last = int(np.searchsorted(self.offsets, self.offsets[begin] + most_letters, "right")) - 1
            end = min(max(begin + 1, last), begin + most_sequences, n)
            yield begin, end
            begin = end
            if int(self.offsets[begin]) - let_go >= SPAN:
                let_go = self._let_go(let_go, int(self.offsets[begin]))

    def let_go(self) -> None:
        """Release the pages of all letters; they are read again when needed.

        Examples
        --------
        >>> import tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "efp.tdb")
        >>> store = tropalign.SequenceStore.build("examples/efp.fasta", path)
        >>> store.let_go()
        """
        self._let_go(0, len(self.letters))

    def _let_go(self, begin: int, end: int) -> int:
        """Release the pages of these letters, up to the last whole page; return `end`."""
        if hasattr(self.mapped, "madvise"):
            at = self.manifest["arrays"]["letters"]["begin"]
            first = (at + begin) // mmap.PAGESIZE * mmap.PAGESIZE
            size = (at + end) // mmap.PAGESIZE * mmap.PAGESIZE - first
            if size > 0:
                self.mapped.madvise(mmap.MADV_DONTNEED, first, size)
        return end


def taxa_of_stores(sources: list[Source]) -> dict[str, Taxa]:
    """Return the taxa of those files that are stores with taxa, by the file's name in messages."""
    stores = (MappedStore.open(source) for source in sources if is_store(source))  # type: ignore[arg-type]
    return {file_name(store.path): store.taxa for store in stores if store.taxa is not None}


def records_of_store(source: Source, count: Callable[[int], None]) -> Iterator[Records]:
    """Yield the records of a store in blocks, without copying letters; `count` receives the number of letters read."""
    store = MappedStore.open(source)  # type: ignore[arg-type]

    def records() -> Iterator[Records]:
        for begin, end in store.spans(BLOCK_LETTERS, BLOCK_RECORDS):
            first, last = int(store.offsets[begin]), int(store.offsets[end])
            count(last - first)
            names, descriptions = store.names.part(begin, end), store.descriptions.part(begin, end)
            letters = store.letters[first:last]
            yield Records(names, descriptions, letters, store.offsets[begin : end + 1] - first, byte_counts(letters))

    return in_utf8(records(), store.path)


def damaged(what: str, file: str) -> InputError:
    """Return the error for a store that is not as it was written."""
    return InputError(f"the store is damaged ({what}): {REBUILD}", file=file)


def _manifest(mapped: mmap.mmap, file: str) -> tuple[dict[str, Any], Alphabet]:
    """Return the checked manifest of a file, and the alphabet of its letters."""
    if mapped[: len(STORE_MAGIC)] != STORE_MAGIC:
        raise InputError(f"this is not a sequence store: {REBUILD.replace(' again', '')}", file=file)
    size = len(mapped)
    if size < len(STORE_MAGIC) + END_BYTES or mapped[-len(END) :] != END:
        raise damaged("its end is missing", file)
    n_bytes = int.from_bytes(mapped[size - END_BYTES : size - END_BYTES + SIZE_BYTES], "little")
    begin = size - END_BYTES - n_bytes
    if n_bytes > MOST_MANIFEST_BYTES or begin < len(STORE_MAGIC):
        raise damaged("the size of its manifest is invalid", file)
    data = mapped[begin : begin + n_bytes]
    if hashlib.sha256(data).digest() != mapped[size - END_BYTES + SIZE_BYTES : size - len(END)]:
        raise damaged("the checksum of its manifest does not match", file)
    try:
        manifest = json.loads(data)
        layout, made_by = int(manifest["layout"]), str(manifest["made_by"])
        if layout in (ASCII_LAYOUT, LAYOUT):
            names = [*ARRAYS, *(TAXA_ARRAYS if "taxids" in manifest["arrays"] else ())]
            manifest["arrays"] = {
                name: {key: int(entry[key]) for key in ("begin", "bytes")} | {"sha256": str(entry["sha256"])}
                for name in names
                for entry in (manifest["arrays"][name],)
            }
            counts = np.array(manifest["letter_counts"], np.int64).reshape(256)
            return manifest, judge_counts(counts)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        raise damaged("its manifest is incomplete or invalid", file) from None
    raise InputError(
        f"this store was written by {shown(made_by)} in a newer format: use that version, or {REBUILD}", file=file
    )


def _mapped_array(mapped: mmap.mmap, manifest: dict[str, Any], name: str, file: str) -> NDArray[Any]:
    entry, dtype = manifest["arrays"][name], (ARRAYS | TAXA_ARRAYS)[name]
    begin, n_bytes = entry["begin"], entry["bytes"]
    if begin < 0 or n_bytes < 0 or begin % dtype.itemsize or n_bytes % dtype.itemsize or begin + n_bytes > len(mapped):
        raise damaged(f"its {name.replace('_', ' ')} extend beyond the end of the file", file)
    return np.frombuffer(mapped, dtype, n_bytes // dtype.itemsize, begin)


def _taxa(mapped: mmap.mmap, manifest: dict[str, Any], n: int, file: str) -> Taxa:
    """Read the taxa of n sequences."""
    taxids, numbers, lineages, offsets = (_mapped_array(mapped, manifest, name, file) for name in TAXA_ARRAYS)
    _check_offsets(offsets, len(offsets) - 1, len(lineages), "lineage_offsets", file)
    try:
        taxa = Taxa(taxids, Texts(lineages, offsets), numbers)
    except ValueError as error:
        raise damaged(str(error), file) from None
    if len(taxa) != n:
        raise damaged(f"it has {len(taxa)} taxids for {n} sequences", file)
    return taxa


def _check_offsets(offsets: NDArray[np.int64], n: int, size: int, name: str, file: str) -> None:
    is_good = n >= 0 and len(offsets) == n + 1 and offsets[0] == 0 and offsets[-1] == size
    if not is_good or (offsets[1:] < offsets[:-1]).any():
        raise damaged(f"its {name.replace('_', ' ')} do not ascend to the end of their data", file)
