"""Taxa of the records of a store while it is written: from a table, from source stores, or from headers."""

from __future__ import annotations

import re
import warnings

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, shown
from tropalign.sequences.blocks import SequenceBlock
from tropalign.sequences.files import Source
from tropalign.sequences.mapped_store import taxa_of_stores
from tropalign.sequences.taxa import Taxa
from tropalign.sequences.taxonomy_files import MOST_TAXID, Taxdump, TaxonTable
from tropalign.sequences.texts import Texts, joined_by

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
        self._tell_unmet()
        taxids, lineage = np.concatenate(self._taxids), np.concatenate(self._lineage)
        if self._taxdump is not None:
            open_ones = np.flatnonzero((taxids > 0) & (lineage == 0))
            used, place = np.unique(taxids[open_ones], return_inverse=True)
            found = self._taxdump.lineages(used.tolist())
            has_none = not found and not lineage.any()
            self._tell_strange([taxid for taxid in used.tolist() if taxid not in found], self._taxdump, has_none)
            numbers = [self._number(found.get(taxid, "")) for taxid in used.tolist()]
            lineage[open_ones] = np.array(numbers, np.int64)[place]
        if not taxids.any() and not lineage.any():
            return None
        return Taxa(taxids, Texts.of(list(self._numbers)), lineage)

    def _tell_unmet(self) -> None:
        if self._table is None or not self._unmet:
            return
        n, first = len(self._unmet), next(name for name in self._table.rows if name in self._unmet)
        if n == len(self._table.rows):
            raise InputError(
                f"none of its names is in the files, {shown(repr(first))} for one: a name is the header up to the "
                "first blank",
                file=self._table.file,
            )
        warnings.warn(
            f"{shown(self._table.file)}: {n:,} of its {len(self._table.rows):,} names {_verb(n)} not in the files, "
            f"{shown(repr(first))} (line {self._table.rows[first].line}) for one",
            TropalignWarning,
            stacklevel=2,
        )

    def _tell_strange(self, taxids: list[int], taxdump: Taxdump, has_none: bool) -> None:
        """Warn of taxids that are not in the taxdump."""
        if not taxids:
            return
        first = str(taxids[0])
        if self._table is not None and (line := self._table.line_of(taxids[0])) is not None:
            first += f" ({shown(self._table.file)}, line {line})"
        if has_none:
            raise InputError(
                f"no taxid of the sequences is in it, {first} for one: take a newer one", file=taxdump.path
            )
        warnings.warn(
            f"{shown(taxdump.path)}: {len(taxids):,} of the sequences' taxids {_verb(len(taxids))} not in it, {first} "
            "for one: no lineage is known there",
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
