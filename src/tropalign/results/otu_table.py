"""The class `OtuTable`: read counts per cluster and sample."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, named, shown
from tropalign.properties import cached_property
from tropalign.results import display
from tropalign.results.clusters import Clusters
from tropalign.results.columns import Result

if TYPE_CHECKING:
    from tropalign.results.placements import BranchLineages, Lineage, Placements

#: Value of `relabel` that names clusters by digests of sequences.
SHA1 = "sha1"


@dataclass(frozen=True, eq=False)
class OtuTable(Result):
    """Counts of reads, a row per cluster (OTU) and a column per sample.

    Attributes
    ----------
    names : tuple of str
        Names of the clusters.
    samples : tuple of str
        Sorted by bytes; in the order of the file if the table was read.
    cluster, sample, reads : int64, shape (n,)
        Counts above 0, cluster by cluster: reads of a sample in a cluster.
    lineages : tuple of tuples of str, optional
        Ranks of each cluster, from the top, empty if unknown. None if there are no lineages at all.

    Examples
    --------
    >>> found = tropalign.cluster({"gut.1": "ACGTACGTA", "gut.2": "ACGTACGTA", "skin.1": "ACGTACGTA"})
    >>> table = tropalign.otu_table(found, sample_delimiter=".", relabel="Otu")
    >>> table.names, table.samples, table.counts.tolist()
    (('Otu1',), ('gut', 'skin'), [[2, 1]])
    """

    names: tuple[str, ...]
    samples: tuple[str, ...]
    cluster: NDArray[np.int64]
    sample: NDArray[np.int64]
    reads: NDArray[np.int64]
    lineages: tuple[Lineage, ...] | None = None

    def __repr__(self) -> str:
        n, clusters, samples = int(self.reads.sum()), len(self.names), len(self.samples)
        return f"<OtuTable: {n:,} reads in {clusters:,} clusters of {samples:,} samples>"

    def _repr_html_(self) -> str:
        rows = display.SHOWN_ROWS
        first = self.cluster < rows
        counts = OtuTable(
            self.names[:rows], self.samples, self.cluster[first], self.sample[first], self.reads[first]
        ).counts
        columns = {"cluster": list(self.names), **{name: counts[:, k] for k, name in enumerate(self.samples[:rows])}}
        return display.grid_html(repr(self)[1:-1], display.cells(columns), len(self.names))

    @property
    def counts(self) -> NDArray[np.int64]:
        """Dense matrix of counts; int64, shape (n_clusters, n_samples)."""
        found = np.zeros((len(self.names), len(self.samples)), np.int64)
        found[self.cluster, self.sample] = self.reads
        return found

    @cached_property
    def _row(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    def rows_of(self, reads: Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each read, found by its name or by the part before its first semicolon.

        Parameters
        ----------
        reads
            Names of the reads.

        Returns
        -------
        int64, shape (n,)
            -1 if there is no such row.

        Examples
        --------
        >>> found = tropalign.cluster({"gut.1": "ACGTACGTA", "gut.2": "ACGTACGTA", "skin.1": "ACGTACGTA"})
        >>> tropalign.otu_table(found, sample_delimiter=".", relabel="Otu").rows_of(["Otu1;size=3", "Otu2"]).tolist()
        [0, -1]
        """
        row = self._row
        found = (row.get(name, row.get(name.partition(";")[0], -1)) for name in reads)
        return np.fromiter(found, np.int64, len(reads))

    def classified(self, placements: Iterable[Placements], lineages: BranchLineages) -> OtuTable:
        """Return the table with the lineage of each cluster, by its representative's place in a tree.

        Parameters
        ----------
        placements
            Result of `place`; each read has the row given by `rows_of`.
        lineages
            Lineages of the tips below each branch.

        Returns
        -------
        OtuTable
            Its lineages are the ranks that all tips below a read's best branches share (`Assigned.common`).

        Raises
        ------
        InputError
            A cluster belongs to no read, or to two.

        Warns
        -----
        TropalignWarning
            There are reads without a row.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, "((a:1,b:1):1,c:1,d:1);")
        >>> of_tips = tropalign.BranchLineages((("P",), ("P",), ("S",), ("S",)), np.arange(5) % 4, np.arange(5) % 4 + 1)
        >>> clusters = tropalign.cluster({"gut.1": "ACGTA", "gut.2": "ACGTA", "skin.1": "TCCAA"})
        >>> table = tropalign.otu_table(clusters, sample_delimiter=".", relabel="Otu")
        >>> placed = tropalign.place(package, [("Otu1", "ACGTA"), ("Otu2", "TCCAA")])
        >>> len(table.classified(placed, of_tips).lineages)
        2
        """
        owners = RowOwners(self)
        found: dict[int, Lineage] = {}
        for some in placements:
            owners.add(some.names)
            assigned = lineages.assign(some)
            found |= {row: each.common for row, each in zip(self.rows_of(some.names).tolist(), assigned, strict=True)}
        owners.settle()
        return replace(self, lineages=tuple(found[row] for row in range(len(self.names))))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table; the file appears complete or not at all.

        Parameters
        ----------
        path
            Its suffix selects the format: .tsv (QIIME's classic table), .biom (BIOM 1.0) or .hdf5 (BIOM 2.1, with
            the extra ``biom``).

        Raises
        ------
        UsageError
            Another suffix.
        InputError, ResourceError
            The path cannot be written, or the disk is full.

        Examples
        --------
        >>> found = tropalign.cluster({"gut.1": "ACGTACGTA", "gut.2": "ACGTACGTA", "skin.1": "ACGTACGTA"})
        >>> tropalign.otu_table(found, sample_delimiter=".", relabel="Otu").write("-")
        #OTU ID	gut	skin
        Otu1	2	1
        """
        import tropalign  # through the public name: results do not depend on files

        tropalign.write_clusters(self, path)


class RowOwners:
    """Assignment of reads to the rows of a table, one read per row; `file` is named in messages."""

    def __init__(self, table: OtuTable, file: str | None = None) -> None:
        self._table, self._file = table, file
        self._owner: dict[int, str] = {}
        self._n_without, self._first_without = 0, ""

    def add(self, reads: Sequence[str]) -> None:
        """Look up some reads. Raises InputError if a row already belongs to another read."""
        for name, row in zip(reads, self._table.rows_of(reads).tolist(), strict=True):
            if row < 0:
                self._first_without = self._first_without or name
                self._n_without += 1
            elif row in self._owner:
                raise InputError(
                    f"the reads {self._owner[row]!r} and {name!r} share this row: give each read its own row",
                    file=self._file,
                    record=self._table.names[row],
                )
            else:
                self._owner[row] = name

    def settle(self) -> None:
        """Check the assignment at the end: InputError for rows without a read, a warning for reads without a row."""
        names = self._table.names
        left = [row for row in range(len(names)) if row not in self._owner]
        if left:
            more = "" if len(left) == 1 else f" (nor for {len(left) - 1:,} others)"
            raise InputError(
                f"there is no read for this row{more}: place the representatives that the table counts, under the "
                "same names",
                file=self._file,
                record=names[left[0]],
            )
        if self._n_without:
            some = "1 read has" if self._n_without == 1 else f"{self._n_without:,} reads have"
            where = "the table" if self._file is None else shown(self._file)
            text = f"{some} no row in {where}, for example {self._first_without!r}: counted as 0"
            warnings.warn(text, TropalignWarning, stacklevel=2)


def otu_names(clusters: Clusters, relabel: str = "") -> tuple[str, ...]:
    """Return the names of clusters in tables: see `otu_table`. Raises InputError for duplicate names."""
    found = new_names(clusters, relabel) or tuple(name.partition(";")[0] for name in clusters.representatives.names)
    seen: set[str] = set()
    for name in found:
        if not name or name in seen:
            what = "two clusters would have this name" if name else "a cluster would have no name"
            raise InputError(
                f"{what} in the table, which uses the representative's name up to its first semicolon: rename the "
                f"clusters with {named('relabel')}",
                record=name,
            )
        seen.add(name)
    return found


def new_names(clusters: Clusters, relabel: str) -> tuple[str, ...] | None:
    """Return cluster names from sequence digests or numbers; None if clusters are named after their representatives."""
    if not relabel:
        return None
    if relabel != SHA1:
        return tuple(f"{relabel}{k}" for k in range(1, len(clusters) + 1))
    batch = clusters.representatives
    texts = (batch.text(k).upper().replace("U", "T") for k in range(len(batch)))
    return tuple(hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest() for text in texts)
