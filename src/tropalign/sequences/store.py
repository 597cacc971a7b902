"""Opening sequence stores and writing them as a stream in bounded memory. `mapped_store` has the file layout."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import ExitStack
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import __version__
from tropalign.execution.files import check_outputs, write_to
from tropalign.sequences.alphabet import alphabet_saved, byte_counts
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.blocks import BlockReader, Policy, sources_of
from tropalign.sequences.files import STORE_MAGIC, Source, is_stream
from tropalign.sequences.mapped_store import (
    ARRAYS,
    ASCII_LAYOUT,
    DIGEST_BYTES,
    END,
    LAYOUT,
    PLACE,
    SIZE_BYTES,
    TAXA_ARRAYS,
    MappedStore,
)
from tropalign.sequences.taxonomy import FoundTaxa, Taxdump, TaxonTable, taxdump_files
from tropalign.sequences.texts import Texts

#: Everything is stored as it is; verbs reject or skip what they do not accept when they read.
AS_IT_IS = Policy(gaps="keep", empty="keep")
PAGE = 1 << 12
#: Memory for an array that waits for its turn in the file; larger ones are held in a temporary file.
HELD_BYTES = 1 << 25
PIECE = 1 << 20


class SequenceStore(MappedStore):
    """Sequences in a file that is mapped into memory. `open` and `build` make one.

    Attributes
    ----------
    path
        The file.
    letters : uint8, shape (n_residues,)
        The bytes as they were written, without blanks.
    offsets : int64, shape (n + 1,)
        Sequence k is ``letters[offsets[k]:offsets[k + 1]]``.
    names, descriptions
        One text per sequence: the header up to the first blank, and the rest.
    by_length : int64, shape (n,)
        Indices by ascending length; ties in input order.
    taxa : Taxa, or None
        The taxid and lineage of each sequence; None if nothing is known.
    alphabet : Alphabet
        The alphabet inferred from the letters when the store was built.
    manifest
        The metadata in the file.
    mapped
        The bytes of the file.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "efp.tdb")
    >>> store = tropalign.SequenceStore.build("examples/efp.fasta", path)
    >>> store
    <SequenceStore: 37 protein sequences, 6,963 residues>
    >>> tropalign.read_sequences(path)
    <SequenceBatch: 37 protein sequences, 6,963 residues>
    """

    @classmethod
    def build(
        cls,
        sources: Any,
        path: str | os.PathLike[str],
        taxonomy: str | os.PathLike[str] | None = None,
        taxdump: str | os.PathLike[str] | None = None,
    ) -> SequenceStore:
        """Write the sequences of files into a store, which is written whole or not at all.

        Parameters
        ----------
        sources
            FASTA or FASTQ files, compressed or not, or stores, whose records follow one another. Empty sequences
            and repeated names stay as they are.
        path
            The file to make, by convention ``.tdb``. An existing file is replaced.
        taxonomy
            A table of lines ``name<tab>taxid`` or ``name<tab>taxid<tab>lineage``, with a header or without.
            Sequences that it does not list have the taxid of their store, or of UniProt's header (``OX=9606``).
        taxdump
            NCBI's taxonomy, which has lineages by taxid: the archive taxdump.tar.gz, or a folder with nodes.dmp
            and names.dmp. A lineage lists names from the top, separated by semicolons.

        Returns
        -------
        SequenceStore
            The new store, open.

        Raises
        ------
        InputError
            A file cannot be read or written, or is being written by another process; a table or taxonomy is
            invalid, or is that of other sequences.
        ResourceError
            The disk is full.

        Warns
        -----
        TropalignWarning
            Names of the table that are not in the files, taxids that are not in the taxonomy.

        Examples
        --------
        >>> import tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "efp.tdb")
        >>> store = tropalign.SequenceStore.build("examples/efp.fasta", path)
        >>> int(store.offsets[store.by_length[0] + 1] - store.offsets[store.by_length[0]])
        185
        """
        file, found = os.fsdecode(path), sources_of(sources)
        named = [*(source for source in found if not is_stream(source)), taxonomy]
        named += [] if taxdump is None else taxdump_files(taxdump)
        check_outputs([file], [os.fsdecode(source) for source in named if source is not None])  # type: ignore[arg-type]
        table = None if taxonomy is None else TaxonTable.read(taxonomy)
        taxa = FoundTaxa(found, table, None if taxdump is None else Taxdump(taxdump))
        write_to(file, lambda out: write_store(found, out, f"tropalign {__version__}", taxa))
        return cls.open(file)


def write_store(sources: list[Source], out: IO[bytes], made_by: str, taxa: FoundTaxa | None = None) -> None:
    """Write the records of files into a store.

    `out` need not be seekable; `made_by` names the program and its version; `taxa` is by default found from stores
    and headers alone. Raises InputError if a file cannot be read.
    """
    file, found = _File(out), taxa or FoundTaxa(sources, None, None)
    with ExitStack() as held:
        waiting = {
            name: held.enter_context(_Waiting())
            for name in ("offsets", "names", "name_offsets", "descriptions", "description_offsets")
        }
        for name in ("offsets", "name_offsets", "description_offsets"):
            waiting[name].add(np.zeros(1, PLACE))
        counts, is_ascii = np.zeros(256, np.int64), True
        with file.array("letters") as letters:
            for block in BlockReader(sources, AS_IT_IS):
                counts += byte_counts(block.letters)
                waiting["offsets"].add(block.offsets[1:] + letters.n_bytes)
                letters.add(block.letters)
                found.add(block)
                for kind, texts in (("name", block.names), ("description", block.descriptions)):
                    data, added = waiting[f"{kind}s"], Texts.of(texts)
                    waiting[f"{kind}_offsets"].add((added.offsets[1:] + data.n_bytes).astype(PLACE))
                    data.add(added.data)
                    is_ascii &= added.is_ascii
        lengths = np.diff(waiting["offsets"].array(PLACE))
        for name, values in waiting.items():
            with file.array(name) as array:
                values.move_to(array)
        with file.array("by_length") as array:
            array.add(np.argsort(lengths, kind="stable").astype(PLACE))
        if (known := found.taxa()) is not None:
            is_ascii &= known.lineages.is_ascii
            numbers: list[NDArray[Any]] = [known.taxids, known.lineage, known.lineages.data, known.lineages.offsets]
            for (name, dtype), taxon_array in zip(TAXA_ARRAYS.items(), numbers, strict=True):
                with file.array(name) as array:
                    array.add(taxon_array.astype(dtype))
        file.finish(
            {
                "layout": ASCII_LAYOUT if is_ascii else LAYOUT,
                "made_by": made_by,
                "n_sequences": len(lengths),
                "n_residues": int(lengths.sum()),
                "longest": int(lengths.max(initial=0)),
                "letter_counts": counts.tolist(),
            }
        )


class _Waiting:
    """An array that waits for its position in the file, in memory or in a temporary file."""

    def __init__(self) -> None:
        self._held = tempfile.SpooledTemporaryFile(HELD_BYTES)
        self.n_bytes = 0

    def __enter__(self) -> _Waiting:
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def add(self, values: NDArray[Any]) -> None:
        """Append values."""
        self._held.write(values.tobytes())
        self.n_bytes += values.nbytes

    def array(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Load the whole array into memory."""
        self._held.seek(0)
        return np.frombuffer(self._held.read(), dtype)

    def move_to(self, array: _Array) -> None:
        """Write the array to the file."""
        self._held.seek(0)
        while piece := self._held.read(PIECE):
            array.add(np.frombuffer(piece, np.uint8))


class _Array:
    """An array of the file while it is written."""

    def __init__(self, file: _File, name: str) -> None:
        self._file, self._name = file, name
        self._begin, self.n_bytes, self._digest = file.at, 0, hashlib.sha256()

    def __enter__(self) -> _Array:
        return self

    def add(self, values: NDArray[Any]) -> None:
        """Write values."""
        data = values.tobytes()
        self._digest.update(data)
        self._file.write(data)
        self.n_bytes += len(data)

    def __exit__(self, *error: object) -> None:
        digest = self._digest.hexdigest()
        self._file.arrays[self._name] = {"begin": self._begin, "bytes": self.n_bytes, "sha256": digest}


class _File:
    """The file while it is written: page-aligned arrays, then the manifest."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out, self.at = out, 0
        self.arrays: dict[str, dict[str, Any]] = {}
        self.write(STORE_MAGIC)

    def write(self, data: bytes) -> None:
        self._out.write(data)
        self.at += len(data)

    def array(self, name: str) -> _Array:
        """Start an array at the next page."""
        self.write(b"\0" * (-self.at % PAGE))
        return _Array(self, name)

    def finish(self, facts: dict[str, Any]) -> None:
        """Write the manifest, its size and checksum."""
        arrays = {name: self.arrays[name] for name in (*ARRAYS, *TAXA_ARRAYS) if name in self.arrays}
        manifest = json.dumps({**facts, "arrays": arrays}).encode()
        self.write(manifest)
        self.write(len(manifest).to_bytes(SIZE_BYTES, "little"))
        self.write(hashlib.sha256(manifest).digest()[:DIGEST_BYTES])
        self.write(END)


# size of the words | the words, as JSON | offsets | codes | letters
def batch_to_bytes(batch: SequenceBatch) -> bytes:
    """Serialise a batch without its qualities."""
    words = {"alphabet": batch.alphabet.saved, "names": batch.names, "descriptions": batch.descriptions}
    text = json.dumps(words).encode()
    arrays = (batch.offsets.astype(PLACE), batch.codes, batch.letters)
    return b"".join([len(text).to_bytes(SIZE_BYTES, "little"), text, *(array.tobytes() for array in arrays)])


def batch_of_bytes(data: bytes) -> SequenceBatch:
    """Restore a batch. Raises ValueError, LookupError or TypeError if the bytes are not those of one."""
    begin = SIZE_BYTES + int.from_bytes(data[:SIZE_BYTES], "little")
    words = json.loads(data[SIZE_BYTES:begin])
    names, descriptions = (tuple(words[name]) for name in ("names", "descriptions"))
    if not all(isinstance(text, str) for text in (*names, *descriptions)):
        raise ValueError("names must be strings")
    offsets = np.frombuffer(data, PLACE, len(names) + 1, begin)
    n = int(offsets[-1])
    codes, letters = np.frombuffer(data, np.uint8, offset=begin + offsets.nbytes).reshape(2, n)
    return SequenceBatch(
        codes, offsets.astype(np.int64), names, alphabet_saved(words["alphabet"]), letters, descriptions
    )
