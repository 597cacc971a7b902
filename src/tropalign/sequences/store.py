"""Opening sequence stores and writing them as a stream in bounded memory. `mapped_store` has the file layout.

Taxa come from:

* A table: ``name<tab>taxid``, or ``name<tab>taxid<tab>lineage``, like makeblastdb's -taxid_map; or NCBI's
  ``prot.accession2taxid``: ``accession<tab>accession.version<tab>taxid<tab>gi``. A name may be an accession.
* NCBI's taxdump: ``nodes.dmp`` (a taxon's parent), ``names.dmp`` (its names) and ``merged.dmp`` (former numbers), in a
  folder or as the archive ``taxdump.tar.gz``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tarfile
import tempfile
import warnings
import zlib
from array import array
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import __version__
from tropalign.errors import InputError, TropalignWarning, counted, shown
from tropalign.execution.files import check_outputs, write_to
from tropalign.properties import cached_property
from tropalign.resources.limits import default_budget, require
from tropalign.sequences.alphabet import alphabet_saved, byte_counts
from tropalign.sequences.batch import SequenceBatch
from tropalign.sequences.files import STORE_MAGIC, Source, file_name, is_stream, lines_of, read_text
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
    Taxa,
    taxa_of_stores,
)
from tropalign.sequences.reader import BlockReader, Policy, SequenceBlock, sources_of
from tropalign.sequences.texts import Texts, decoded, joined_by, lines_in

#: Largest possible taxid.
MOST_TAXID = 2**31 - 1
#: Bytes of a table row as Python objects; lines between two checks of the memory; remedy if it is exceeded.
ROW_BYTES, ROWS_AT_ONCE, REMEDY = 400, 1 << 16, "keep only the lines of sequences in the database"
#: Largest table in bytes. Larger ones take more memory than their sequences: reduce them to the names in use.
MOST_BYTES = 1 << 31
#: Limit of ancestors: no taxon has as many.
MOST_RANKS = 1000
#: Longest line in bytes and most lines of a taxdump file, several times those of NCBI: a small archive can unpack
#: to any size.
MOST_LINE, MOST_LINES = 1 << 20, 30_000_000
ROOT = 1
_FILES = ("nodes.dmp", "names.dmp")
_TAXID = re.compile(rb"\s*[0-9]{1,18}\s*")
#: Columns of NCBI's accession tables: accession, accession.version, taxid, gi.
N_NCBI_CELLS = 4
#: Prefixes of accessions in NCBI's and UniProt's names.
DATABASES = frozenset(
    {"gi", "ref", "gb", "emb", "dbj", "sp", "tr", "pir", "prf", "pdb", "lcl", "gnl", "tpg", "tpe", "tpd"}
)
#: An accession with its version: of GenBank, EMBL and DDBJ, RefSeq, and UniProt
#: (www.uniprot.org/help/accession_numbers). In other names, apparent versions may be different sequences.
_VERSIONED = re.compile(
    r"([A-Z]{1,6}[0-9]{5,}|[A-Z]{2}_[A-Z]{0,6}[0-9]+|[OPQ][0-9][A-Z0-9]{3}[0-9]|[A-NR-Z][0-9]([A-Z][A-Z0-9]{2}[0-9]){1,2})"
    r"\.[0-9]+"
)


@dataclass(frozen=True)
class TableRow:
    """Entry of a table for one sequence."""

    taxid: int
    lineage: str
    line: int


@dataclass(frozen=True)
class TaxonTable:
    """Taxids of sequences by name, with optional lineages; `file` is the name in messages."""

    file: str
    rows: dict[str, TableRow]

    @classmethod
    def read(cls, source: Source) -> TaxonTable:
        """Read a table; empty lines, comments (``#``) and a header are skipped.

        Raises InputError for other columns, invalid taxids, and names with two different taxids or lineages.
        """
        file, rows, is_first = file_name(source), dict[str, TableRow](), True
        text = read_text(source, MOST_BYTES)
        allowed = default_budget()
        for number, line in enumerate(lines_in(text), 1):
            if number % ROWS_AT_ONCE == 0:
                require(sys.getsizeof(text) + ROW_BYTES * len(rows), allowed, f"the table {shown(file)}", REMEDY)
            if not line.strip() or line.startswith("#"):
                continue
            cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()
            where = f"{file}, line {number}"
            if len(cells) == N_NCBI_CELLS and cells[1].startswith(cells[0]):
                cells = cells[1:3]
            if not 2 <= len(cells) <= 3 or not cells[0]:
                raise InputError(
                    "this is not a line of a taxid table: write a name, a tab and a taxid, and optionally another tab "
                    "and a lineage",
                    file=where,
                )
            name, taxid, lineage = (*cells, "")[:3]
            is_header, is_first = is_first and not any(map(str.isdigit, taxid)), False
            if is_header:
                continue
            if not (re.fullmatch("[0-9]{1,10}", taxid) and int(taxid) <= MOST_TAXID):
                raise InputError(f"{shown(repr(taxid))} is not a taxid: write NCBI's number of the taxon", file=where)
            row = TableRow(int(taxid), lineage, number)
            before = rows.setdefault(name, row)
            if (before.taxid, before.lineage) != (row.taxid, row.lineage):
                what = f"taxid {before.taxid}" if before.taxid != row.taxid else "another lineage"
                raise InputError(
                    f"{shown(repr(name))} has {what} in line {before.line}: remove one of the lines", file=where
                )
        if not rows:
            raise InputError("the table contains no sequence: write lines of a name, a tab and a taxid", file=file)
        return cls(file, rows)

    @cached_property
    def _without_version(self) -> dict[str, str | None]:
        """Names of the table by accession without version; None if versions differ in taxon."""
        found: dict[str, str | None] = {}
        for name, row in self.rows.items():
            if (parts := _VERSIONED.fullmatch(name)) is None:
                continue
            other = found.setdefault(parts[1], name)
            if other is not None and self.rows[other].taxid != row.taxid:
                found[parts[1]] = None
        return found

    def name_of(self, name: str) -> str | None:
        """Return the table's name of a sequence: itself, an accession in it, or one of another version; else None.

        >>> table = TaxonTable("t", {"P12345": TableRow(9606, "", 1), "NP_1.2": TableRow(10090, "", 2)})
        >>> [table.name_of(name) for name in ("sp|P12345|A_HUMAN", "P12345.3", "gi|5|ref|NP_1.2|", "NP_1", "Q1")]
        ['P12345', 'P12345', 'NP_1.2', 'NP_1.2', None]
        """
        if name in self.rows:
            return name
        accessions = _accessions(name)
        bare = [
            accession if (parts := _VERSIONED.fullmatch(accession)) is None else parts[1] for accession in accessions
        ]
        exact = (word for word in (*accessions, *bare) if word in self.rows)
        return next(exact, next((known for word in bare if (known := self._without_version.get(word))), None))

    def line_of(self, taxid: int) -> int | None:
        """Return the first line with this taxid, or None."""
        return next((row.line for row in self.rows.values() if row.taxid == taxid), None)


def _accessions(name: str) -> list[str]:
    """Return possible accessions in a name: ``NP_1.2`` in ``gi|5|ref|NP_1.2|``, whose 5 is not an accession."""
    words = name.split("|")
    if words[0] not in DATABASES:
        return [name]
    known = zip(["", *words], words, strict=False)
    return [word for before, word in known if word and word not in DATABASES and before != "gi"]


def taxdump_files(path: str | os.PathLike[str]) -> list[str]:
    """Return the files of a taxdump: the archive, or the files in the folder."""
    path = os.fsdecode(path)
    return [os.path.join(path, name) for name in (*_FILES, "merged.dmp")] if os.path.isdir(path) else [path]


class Taxdump:
    """NCBI's taxonomy, from a folder with nodes.dmp and names.dmp, or an archive (tar) of these."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(path)
        self._taxids, self._parents = self._pairs("nodes.dmp")
        self._merged = dict(zip(*(side.tolist() for side in self._pairs("merged.dmp")), strict=True))

    def lineages(self, taxids: list[int]) -> dict[int, str]:
        """Return the lineages of known taxa: names from below the root to the taxon, separated by semicolons.

        Raises InputError for unknown parents and cycles; warns of taxa without a name.
        """
        settled = {taxid: self._merged.get(taxid, taxid) for taxid in taxids}
        known = [taxid for taxid in taxids if self._place(np.array([settled[taxid]]))[0] >= 0]
        above = self._above(np.array([settled[taxid] for taxid in known], np.int64))
        names = self._names(np.unique(above))
        if nameless := sorted(set(np.unique(above).tolist()) - set(names)):
            what = (
                f"{counted(len(nameless), 'taxa')} of {self.path} without a scientific name, for example {nameless[0]}"
            )
            warnings.warn(f"{what}: their numbers are used instead", TropalignWarning, stacklevel=5)
        found = {}
        for taxid, path in zip(known, above.T[:, ::-1].tolist(), strict=True):
            below_root = [each for each in dict.fromkeys(path) if each != ROOT] or [ROOT]
            found[taxid] = ";".join(names.get(each, str(each)) for each in below_root)
        return found

    def _above(self, taxids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the taxa, their parents, and so on up to the root, which repeats; shape (n_ranks, n)."""
        rows = [taxids]
        while (rows[-1] != ROOT).any():
            places = self._place(rows[-1])
            if (places < 0).any():
                k = int(np.argmin(places))
                raise InputError(
                    f"taxon {rows[-1][k]}, the parent of {rows[-2][k]}, has no line in nodes.dmp: unpack the taxdump "
                    "again",
                    file=self.path,
                )
            if len(rows) > MOST_RANKS:
                k = int(np.argmax(rows[-1] != ROOT))
                raise InputError(
                    f"taxon {taxids[k]} has no path to the root in nodes.dmp: unpack the taxdump again", file=self.path
                )
            rows.append(self._parents[places])
        return np.array(rows)

    def _place(self, taxids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices of taxa among the known ones, or -1."""
        if not len(self._taxids):
            return np.full(len(taxids), -1)
        places = np.minimum(np.searchsorted(self._taxids, taxids), len(self._taxids) - 1)
        return np.where(self._taxids[places] == taxids, places, -1)

    def _pairs(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Read the first two numbers of each line of a file, sorted by the first."""
        first, second = array("q"), array("q")
        for number, cells in self._lines(name):
            try:
                for side, cell in zip((first, second), cells[:2], strict=True):
                    if not _TAXID.fullmatch(cell):
                        raise ValueError("int also accepts 1_0")
                    side.append(int(cell))
            except (OverflowError, ValueError):
                where = f"{self.path}, {name}, line {number}"
                raise InputError(
                    "a line of NCBI's taxdump must begin with two taxids: unpack the taxdump again", file=where
                ) from None
        taxids, others = (np.frombuffer(side, np.int64) for side in (first, second))
        order = np.argsort(taxids, kind="stable")
        return taxids[order], others[order]

    def _names(self, taxids: NDArray[np.int64]) -> dict[int, str]:
        """Read scientific names."""
        wanted = {b"%d" % taxid: taxid for taxid in taxids.tolist()}
        found: dict[int, str] = {}
        for _, cells in self._lines("names.dmp"):
            if cells[0] in wanted and len(cells) > 3 and cells[3] == b"scientific name":
                found[wanted[cells[0]]] = " ".join(decoded(cells[1]).split())
        return found

    def _lines(self, name: str) -> Iterator[tuple[int, list[bytes]]]:
        """Yield number and cells of each line of a file; nothing for a missing optional file."""
        with self._opened(name) as stream:
            lines = () if stream is None else lines_of(stream, MOST_LINE, f"{self.path}, {name}")
            for number, line in enumerate(lines, 1):
                if number > MOST_LINES:
                    raise InputError(
                        f"{name} has more than {MOST_LINES:,} lines: give NCBI's taxdump.tar.gz", file=self.path
                    )
                if line.strip():
                    yield number, line.rstrip(b"\r\n").removesuffix(b"\t|").split(b"\t|\t")

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes] | None]:
        """Open one of the files; None if it is optional and missing."""
        try:
            if os.path.isdir(self.path):
                path = os.path.join(self.path, name)
                found = open(path, "rb") if os.path.exists(path) else None
                with found or nullcontext():
                    self._check(name, found)
                    yield found
                return
            with tarfile.open(self.path) as archive:
                members = (each for each in archive if each.isfile() and os.path.basename(each.name) == name)
                member = next(members, None)
                packed = None if member is None else archive.extractfile(member)
                self._check(name, packed)
                yield packed
        except FileNotFoundError:
            raise InputError("there is no such file", file=self.path) from None
        except (tarfile.TarError, EOFError, zlib.error):
            raise InputError(
                "it is neither a folder nor a complete archive: give NCBI's taxdump.tar.gz, or the folder with its "
                "files",
                file=self.path,
            ) from None
        except OSError as error:
            raise InputError(f"it cannot be read ({error.strerror or error})", file=self.path) from None

    def _check(self, name: str, found: IO[bytes] | None) -> None:
        if found is None and name in _FILES:
            raise InputError(
                f"it contains no {name}: give NCBI's taxdump.tar.gz, or the folder with its files", file=self.path
            )


Int64 = NDArray[np.int64]
#: UniProt's tag of a taxid in a header.
_TAG = re.compile(rb"(?<![^ \n])OX=([0-9]{1,10})(?![^ \n])")


class FoundTaxa:
    """Finds the taxon of each record: from the table, else from a source store, else from its header (``OX=9606``).

    The table may list a record by its name or by an accession within the name.
    """

    def __init__(self, sources: list[Source], table: TaxonTable | None, taxdump: Taxdump | None) -> None:
        self._table, self._taxdump = table, taxdump
        self._of_stores = taxa_of_stores(sources)
        self._unmet = set() if table is None else set(table.rows)
        self._numbers = {"": 0}  # lineage -> its number
        self._taxids: list[Int64] = [np.zeros(0, np.int64)]
        self._lineage: list[Int64] = [np.zeros(0, np.int64)]

    def add(self, block: SequenceBlock) -> None:
        """Add the taxa of a block of records."""
        taxids = tagged(Texts.of(block.descriptions))
        lineage = np.zeros(len(block), np.int64)
        if (of_store := self._of_stores.get(block.file)) is not None:
            own = of_store.take(block.numbers - 1)
            taxids = np.where(own.taxids > 0, own.taxids, taxids)
            used, place = np.unique(own.lineage, return_inverse=True)
            lineage = np.array([self._number(own.lineages[k]) for k in used.tolist()], np.int64)[place]
        if self._table is not None:
            for k, name in enumerate(block.names):
                if (known := self._table.name_of(name)) is not None:
                    self._unmet.discard(known)
                    row = self._table.rows[known]
                    taxids[k], lineage[k] = row.taxid, self._number(row.lineage)
        self._taxids.append(taxids)
        self._lineage.append(lineage)

    def _number(self, lineage: str) -> int:
        return self._numbers.setdefault(lineage, len(self._numbers))

    def taxa(self) -> Taxa | None:
        """Return the taxa of all records, with missing lineages from the taxdump; None if nothing is known.

        Raises InputError if no record has a name of the table, or if no taxid is in the taxdump. Warns if that is
        true of some.
        """
        table = self._table
        if table is not None and self._unmet:
            n, first = len(self._unmet), next(name for name in table.rows if name in self._unmet)
            if n == len(table.rows):
                what = f"none of its names is in the files, for example {shown(repr(first))}"
                raise InputError(f"{what}: a name must be the header up to the first blank", file=table.file)
            warnings.warn(
                f"{shown(table.file)}: {n:,} of its {len(table.rows):,} names {_verb(n)} not in the files, for "
                f"example {shown(repr(first))} (line {table.rows[first].line})",
                TropalignWarning,
                stacklevel=1,
            )
        taxids, lineage = np.concatenate(self._taxids), np.concatenate(self._lineage)
        if self._taxdump is not None:
            open_ones = np.flatnonzero((taxids > 0) & (lineage == 0))
            used, place = np.unique(taxids[open_ones], return_inverse=True)
            found = self._taxdump.lineages(used.tolist())
            has_none = not found and not lineage.any()
            self._warn_unknown_taxids([taxid for taxid in used.tolist() if taxid not in found], self._taxdump, has_none)
            numbers = [self._number(found.get(taxid, "")) for taxid in used.tolist()]
            lineage[open_ones] = np.array(numbers, np.int64)[place]
        if not taxids.any() and not lineage.any():
            return None
        return Taxa(taxids, Texts.of(list(self._numbers)), lineage)

    def _warn_unknown_taxids(self, taxids: list[int], taxdump: Taxdump, has_none: bool) -> None:
        """Warn of taxids that are not in the taxdump."""
        if not taxids:
            return
        first = str(taxids[0])
        if self._table is not None and (line := self._table.line_of(taxids[0])) is not None:
            first += f" ({shown(self._table.file)}, line {line})"
        if has_none:
            raise InputError(
                f"none of the sequences' taxids is in it, for example {first}: use a newer one", file=taxdump.path
            )
        warnings.warn(
            f"{shown(taxdump.path)}: {len(taxids):,} of the sequences' taxids {_verb(len(taxids))} not in it, for "
            f"example {first}: their lineages are unknown",
            TropalignWarning,
            stacklevel=2,
        )


def _verb(n: int) -> str:
    return "is" if n == 1 else "are"


def tagged(descriptions: Texts) -> Int64:
    """Return the taxids in UniProt headers, 0 if a header has none; int64, shape (n,)."""
    taxids = np.zeros(len(descriptions), np.int64)
    text = bytes(joined_by(descriptions, "\n")) if len(descriptions) else b""
    ends = descriptions.offsets[1:] + np.arange(len(descriptions))
    for found in reversed(list(_TAG.finditer(text))):  # the first one in a header counts
        if (taxid := int(found[1])) <= MOST_TAXID:
            taxids[int(np.searchsorted(ends, found.start()))] = taxid
    return taxids


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
