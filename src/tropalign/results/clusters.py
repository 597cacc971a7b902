"""Clusters of sequences: which sequence belongs to which, and how it aligns with its representative."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.arrays import distinct
from tropalign.results import display
from tropalign.results.columns import Table
from tropalign.results.format_names import ClustersFormat
from tropalign.sequences import SequenceBatch


class Cluster(NamedTuple):
    """One cluster.

    Attributes
    ----------
    representative : str
        The name of the sequence that represents it.
    members : list of str
        Names of its sequences, the representative first.
    """

    representative: str
    members: list[str]

    def _repr_html_(self) -> str:
        return display.record_html(self)


#: A run of a CIGAR: how many columns, and their kind.
RUN = re.compile(r"([0-9]+)([=XID])")


def starts_by_cigars(
    sequences: SequenceBatch, members_of: NDArray[np.int64], cigars: Sequence[str | None]
) -> dict[str, NDArray[np.int64]]:
    """Where alignments begin, as far as CIGARs tell: 0 where they have all residues, else -1.

    Parameters
    ----------
    members_of
        The representative of each sequence, int64, shape (n,).

    Returns
    -------
    dict
        ``member_start`` and ``representative_start``, int64, shape (n,).
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

    ``clusters[k]`` is one `Cluster`; a slice, a mask or indices give those clusters with their sequences. pandas,
    polars and everything that takes an Arrow C stream read `columns`, a row per sequence.

    Attributes
    ----------
    sequences : SequenceBatch
        All of them, n.
    labels : int64, shape (n,)
        The cluster of each sequence, from 0 in the order of the representatives.
    representative_index : int64, shape (n_clusters,)
        Which sequence represents each cluster.
    rank : int64, shape (n,)
        When each sequence was looked at.
    sizes : int64, shape (n,)
        How many reads each sequence stands for (``;size=N`` in its name, else 1).
    identity : float64, shape (n,)
        With the representative, by the definition that was asked for; 1 for itself.
    strand : int8, shape (n,)
        1, or -1 where the other strand was aligned with the representative.
    score : int32, or float64 where scores have decimals, shape (n,)
        Of the alignment with the representative; 0 for itself.
    cigars : list of str or None, n
        That alignment, along the representative's forward strand; None for itself.
    member_start, representative_start : int64, shape (n,)
        The first residue of the member (along its strand as given) and of the representative that the alignment has;
        0 but in modes "local" and "semiglobal"; -1 where an earlier version, which did not keep it, made the result.

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

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes pickles of earlier versions, too, which did not keep where alignments begin."""
        self.__dict__.update(state)
        if "member_start" not in state:
            self.__dict__.update(starts_by_cigars(self.sequences, self.representative_index[self.labels], self.cigars))

    def __len__(self) -> int:
        return len(self.representative_index)

    @property
    def representatives(self) -> SequenceBatch:
        """The sequence that represents each cluster, in the order of the clusters."""
        return self.sequences[self.representative_index]

    @property
    def cluster_sizes(self) -> NDArray[np.int64]:
        """The reads of each cluster, int64, shape (n_clusters,): its sequences, or the sum of their ``;size=N``."""
        sizes = np.zeros(len(self), np.int64)
        np.add.at(sizes, self.labels, self.sizes)
        return sizes

    def member_index(self, cluster: int) -> NDArray[np.int64]:
        """Indices of a cluster's sequences, its representative first, then in the order they were looked at.

        Parameters
        ----------
        cluster
            From 0; from the end where it is negative.

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
        """Names of a cluster's sequences, its representative first.

        Parameters
        ----------
        cluster
            From 0; from the end where it is negative.

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
        """Indices of the sequences as outputs list them: cluster by cluster, its representative first."""
        return np.lexsort((self.rank, self.labels)).astype(np.int64)

    def columns(self) -> dict[str, NDArray[Any]]:
        """A row per sequence, cluster by cluster, each beginning with its representative.

        Returns
        -------
        dict of str to array
            Arrays of shape (n,): cluster, representative, member, identity, strand, score, length, size.

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
        """Cluster k by itself.

        Parameters
        ----------
        k
            From 0; from the end where it is negative.

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
        """The clusters at these indices (whole numbers) or where this mask (bool) is true, with their sequences.

        Parameters
        ----------
        rows
            Indices (whole numbers), each once, or a mask (bool).

        Returns
        -------
        Clusters
            In that order; their sequences in the order in which they are here.

        Raises
        ------
        IndexError
            A cluster that there is not or that is named twice, or a mask of another length.

        Examples
        --------
        >>> import numpy as np
        >>> found = tropalign.cluster({"a": "ACGTACGTACGTT", "b": "ACGTACGTACGT", "c": "GGGCCCTTTAAA"}, 0.9)
        >>> found.take(np.array([1])).members(0)
        ['c']
        """
        rows = np.arange(len(self))[ragged.wanted_rows(rows, len(self))]
        if len(distinct(rows)) < len(rows):
            raise IndexError("a cluster is named twice: take each once")
        label = np.full(len(self), -1)
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
            **{name: getattr(self, name)[stays] for name in kept},
        )

    def slice(self, begin: int, end: int) -> Clusters:
        """Clusters [begin, end) as Python's slices count them, with their sequences.

        Parameters
        ----------
        begin, end
            As Python's slices count them.

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
        """Writes the clusters: see `tropalign.write_clusters`.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.
        format
            "tsv", "uc", "html" (a page for the browser) or "fasta" (the representatives): by the suffix of the path
            when not given.

        Raises
        ------
        TropalignError
            A format that does not exist, a file that cannot be written.

        Examples
        --------
        >>> tropalign.cluster({"a": "ACGTACGT", "b": "ACGTACGTA"}).write("-", "fasta")
        >b
        ACGTACGTA
        """
        import tropalign  # by its public name: results know nothing of files

        tropalign.write_clusters(self, path, format)

    def _title(self) -> str:
        n, k = len(self.sequences), len(self)
        return f"Clusters: {n} sequence{'s' * (n != 1)} in {k} cluster{'s' * (k != 1)}"
