"""The classes `Clusters` (the cluster of each sequence, and its alignment to the representative) and `OtuTable`."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.arrays import distinct
from tropalign.errors import InputError, TropalignWarning, named, shown
from tropalign.properties import cached_property
from tropalign.results import display
from tropalign.results.columns import Result, Table
from tropalign.results.names import ClustersFormat
from tropalign.sequences import SequenceBatch
from tropalign.sequences.batch import concatenated

if TYPE_CHECKING:
    from tropalign.results.placements import BranchLineages, Lineage, Placements


class Cluster(NamedTuple):
    """One cluster: names of its representative and of its members, the representative first."""

    representative: str
    members: list[str]

    def _repr_html_(self) -> str:
        return display.record_html(self)


#: A run of a CIGAR: number of columns and their kind.
RUN = re.compile(r"([0-9]+)([=XID])")


def starts_by_cigars(
    sequences: SequenceBatch, members_of: NDArray[np.int64], cigars: Sequence[str | None]
) -> dict[str, NDArray[np.int64]]:
    """Infer alignment starts from CIGARs: 0 if a CIGAR covers all residues of a sequence, otherwise -1 for unknown.

    members_of: the representative of each sequence, int64, shape (n,).
    """
    reach = np.zeros((2, len(cigars)), np.int64)
    for k, cigar in enumerate(cigars):
        for length, sign in RUN.findall(cigar or ""):
            reach[0, k] += int(length) * (sign != "D")
            reach[1, k] += int(length) * (sign != "I")
    is_itself = np.array([cigar is None for cigar in cigars], bool)
    whole = [is_itself | (reach[0] == sequences.lengths), is_itself | (reach[1] == sequences.lengths[members_of])]
    return {
        name: np.where(has_all, 0, -1)
        for name, has_all in zip(("member_start", "representative_start"), whole, strict=True)
    }


@dataclass(frozen=True, eq=False, repr=False)
class Clusters(Table[Cluster]):
    """Sequences in clusters; ``len`` is the number of clusters.

    ``clusters[k]`` is one `Cluster`; a slice, a mask or indices select clusters with their sequences. pandas, polars
    and every consumer of an Arrow C stream read `columns`, a row per sequence.

    Attributes
    ----------
    sequences : SequenceBatch
        All n sequences.
    labels : int64, shape (n,)
        The cluster of each sequence, from 0 in the order of the representatives; -1 for reads that are similar to no
        given representative.
    representative_index : int64, shape (n_clusters,)
        Sequence that represents each cluster.
    rank : int64, shape (n,)
        Position of each sequence in processing order.
    sizes : int64, shape (n,)
        Number of reads that each sequence stands for (``;size=N`` in its name, else 1).
    identity : float64, shape (n,)
        Identity to the representative, by the requested definition; 1 for itself.
    strand : int8, shape (n,)
        1, or -1 if the other strand was aligned to the representative.
    score : int32, or float64 where scores have decimals, shape (n,)
        Score of the alignment to the representative; 0 for itself.
    cigars : list of str or None, n
        Alignment to the representative, along its forward strand; None for itself.
    member_start, representative_start : int64, shape (n,)
        First aligned residue of the member (along its strand as given) and of the representative; 0 except in modes
        "local" and "semiglobal"; -1 if the result comes from an earlier version, which did not store it.
    n_given : int
        Number of given representatives (argument `to` of `tropalign.cluster`), which come first in `sequences` and
        have size 0, because they are not reads; 0 if the representatives were found.

    Examples
    --------
    >>> found = tropalign.cluster({"a": "ACGTACGTACGTT", "b": "ACGTACGTACGT", "c": "GGGCCCTTTAAA"}, 0.9)
    >>> found
    <Clusters: 3 sequences in 2 clusters>
    >>> found.members(0)
    ['a', 'b']
    """

    sequences: SequenceBatch
    labels: NDArray[np.int64]
    representative_index: NDArray[np.int64]
    rank: NDArray[np.int64]
    sizes: NDArray[np.int64]
    identity: NDArray[np.float64]
    strand: NDArray[np.int8]
    score: NDArray[Any]
    cigars: Sequence[str | None]
    member_start: NDArray[np.int64]
    representative_start: NDArray[np.int64]
    n_given: int = 0

    def __len__(self) -> int:
        return len(self.representative_index)

    @property
    def representatives(self) -> SequenceBatch:
        """The representative of each cluster, in the order of the clusters."""
        return self.sequences[self.representative_index]

    @property
    def cluster_sizes(self) -> NDArray[np.int64]:
        """Reads per cluster, int64, shape (n_clusters,): number of its sequences, or the sum of their ``;size=N``."""
        sizes = np.zeros(len(self), np.int64)
        is_there = self.labels >= 0
        np.add.at(sizes, self.labels[is_there], self.sizes[is_there])
        return sizes

    @property
    def unmapped(self) -> SequenceBatch:
        """The reads that are similar to no given representative, in input order."""
        return self.sequences[np.flatnonzero(self.labels < 0)]

    def member_index(self, cluster: int) -> NDArray[np.int64]:
        """Return the indices of a cluster's sequences: the representative, then the others in processing order.

        Parameters
        ----------
        cluster
            The cluster, from 0; negative numbers count from the end.

        Returns
        -------
        int64, shape (n_members,)

        Raises
        ------
        IndexError
            There is no such cluster.

        Examples
        --------
        >>> tropalign.cluster(["ACGTACGT", "ACGTACGTA"]).member_index(0).tolist()
        [1, 0]
        """
        members = np.flatnonzero(self.labels == ragged.row_number(cluster, len(self), "cluster"))
        return members[np.argsort(self.rank[members])]

    def members(self, cluster: int) -> list[str]:
        """Return the names of a cluster's sequences, the representative first.

        Parameters
        ----------
        cluster
            The cluster, from 0; negative numbers count from the end.

        Returns
        -------
        list of str

        Raises
        ------
        IndexError
            There is no such cluster.

        Examples
        --------
        >>> tropalign.cluster({"a": "ACGTACGT", "b": "ACGTACGTA"}).members(0)
        ['b', 'a']
        """
        return [self.sequences.names[k] for k in self.member_index(cluster).tolist()]

    @property
    def row_order(self) -> NDArray[np.int64]:
        """Indices in output order: cluster by cluster, the representative first; without unmapped reads."""
        rows = np.lexsort((self.rank, self.labels)).astype(np.int64)
        return rows[np.count_nonzero(self.labels < 0) :]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return a row per sequence of a cluster, cluster by cluster, the representative first.

        Returns
        -------
        dict of str to array
            Arrays of shape (n,), without unmapped reads: cluster, representative, member, identity, strand, score,
            length, size.

        Examples
        --------
        >>> tropalign.cluster(["ACGTACGT", "ACGTACGTA"]).columns()["member"].tolist()
        ['sequence_2', 'sequence_1']
        """
        rows = self.row_order
        names = np.array(self.sequences.names, dtype=object)
        labels = self.labels[rows]
        return {
            "cluster": labels,
            "representative": names[self.representative_index[labels]],
            "member": names[rows],
            "identity": self.identity[rows],
            "strand": self.strand[rows],
            "score": self.score[rows],
            "length": self.sequences.lengths[rows],
            "size": self.sizes[rows],
        }

    def row(self, k: int) -> Cluster:
        """Return a single cluster.

        Parameters
        ----------
        k
            The cluster, from 0; negative numbers count from the end.

        Returns
        -------
        Cluster

        Raises
        ------
        IndexError
            There is no such cluster.

        Examples
        --------
        >>> tropalign.cluster({"a": "ACGTACGT", "b": "ACGTACGTA"}).row(0).representative
        'b'
        """
        members = self.members(k)
        return Cluster(members[0], members)

    def take(self, rows: NDArray[Any]) -> Clusters:
        """Return the clusters at these indices (integers) or in this mask (bool), with their sequences.

        Parameters
        ----------
        rows
            Indices (integers), each once, or a mask (bool).

        Returns
        -------
        Clusters
            Clusters in the order of `rows`; their sequences keep their order. Unmapped reads are left out.

        Raises
        ------
        IndexError
            A cluster does not exist or is named twice, or the mask has another length.

        Examples
        --------
        >>> import numpy as np
        >>> found = tropalign.cluster({"a": "ACGTACGTACGTT", "b": "ACGTACGTACGT", "c": "GGGCCCTTTAAA"}, 0.9)
        >>> found.take(np.array([1])).members(0)
        ['c']
        """
        rows = np.arange(len(self))[ragged.wanted_rows(rows, len(self))]
        if len(distinct(rows)) < len(rows):
            raise IndexError("a cluster is selected twice: select each once")
        label = np.full(len(self) + 1, -1)  # the last item is for unmapped reads
        label[rows] = np.arange(len(rows))
        stays = np.flatnonzero(label[self.labels] >= 0)
        place = np.full(len(self.sequences), -1)
        place[stays] = np.arange(len(stays))
        kept = ("rank", "sizes", "identity", "strand", "score", "member_start", "representative_start")
        return replace(
            self,
            sequences=self.sequences[stays],
            labels=label[self.labels[stays]],
            representative_index=place[self.representative_index[rows]],
            cigars=[self.cigars[k] for k in stays.tolist()],
            n_given=len(rows) if self.n_given else 0,
            **{name: getattr(self, name)[stays] for name in kept},
        )

    def slice(self, begin: int, end: int) -> Clusters:
        """Return clusters [begin, end) with their sequences.

        Parameters
        ----------
        begin, end
            Bounds as in Python's slices.

        Returns
        -------
        Clusters

        Examples
        --------
        >>> len(tropalign.cluster(["ACGTACGT", "ACGTACGTA", "GGGGCCCC"]).slice(0, 1))
        1
        """
        return self.take(np.arange(len(self))[begin:end])

    def write(self, path: str | os.PathLike[str], format: ClustersFormat | None = None) -> None:
        """Write the clusters: see `tropalign.write_clusters`.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.
        format
            "tsv", "uc", "clstr", "html" (a web page) or "fasta" (the representatives); by default, the suffix of the
            path decides.

        Raises
        ------
        TropalignError
            The format does not exist, or the file cannot be written.

        Examples
        --------
        >>> tropalign.cluster({"a": "ACGTACGT", "b": "ACGTACGTA"}).write("-", "fasta")
        >b
        ACGTACGTA
        """
        import tropalign  # through the public name: results do not depend on files

        tropalign.write_clusters(self, path, format)

    def _title(self) -> str:
        n, k = len(self.sequences) - self.n_given, len(self)
        return f"Clusters: {n} sequence{'s' * (n != 1)} in {k} cluster{'s' * (k != 1)}"


@dataclass(frozen=True, eq=False)
class Orientations:
    """Reads with their strand: 1, -1, or 0 if it is uncertain; and their numbers of k-mers of each strand."""

    reads: SequenceBatch
    strand: NDArray[np.int8]
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]

    def oriented(self) -> SequenceBatch:
        """Return the reads whose strand is certain, reverse-complemented if it is the minus strand."""
        minus = self.reads[np.flatnonzero(self.strand < 0)]
        both = concatenated([self.reads, minus.reverse_complement()], [*self.reads.names, *minus.names])
        places = np.where(self.strand < 0, len(self.reads) + np.cumsum(self.strand < 0) - 1, np.arange(len(self.reads)))
        oriented: SequenceBatch = both[places[self.strand != 0]]
        return oriented


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
