"""How many reads of each sample each cluster has."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, named
from tropalign.results.clusters import Clusters

#: Where names are digests of sequences.
SHA1 = "sha1"


@dataclass(frozen=True, eq=False)
class OtuTable:
    """Counts of reads, a row per cluster (OTU) and a column per sample.

    Attributes
    ----------
    names : tuple of str
        Of the clusters.
    samples : tuple of str
        In the order of their bytes.
    cluster, sample, reads : int64, shape (n,)
        Numbers above 0, cluster by cluster: how many reads of a sample a cluster has.

    Examples
    --------
    >>> found = tropalign.cluster({"gut.1": "ACGTACGTA", "gut.2": "ACGTACGTA", "skin.1": "ACGTACGTA"})
    >>> table = tropalign.otu_table(found, relabel="Otu")
    >>> table.names, table.samples, table.counts.tolist()
    (('Otu1',), ('gut', 'skin'), [[2, 1]])
    """

    names: tuple[str, ...]
    samples: tuple[str, ...]
    cluster: NDArray[np.int64]
    sample: NDArray[np.int64]
    reads: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """All numbers; int64, shape (n_clusters, n_samples)."""
        found = np.zeros((len(self.names), len(self.samples)), np.int64)
        found[self.cluster, self.sample] = self.reads
        return found

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the table; the file appears whole or not at all.

        Parameters
        ----------
        path
            In the format that its suffix names: .tsv (QIIME's classic table) or .biom (BIOM 1.0).

        Raises
        ------
        UsageError
            Another suffix.
        InputError, ResourceError
            A place that cannot be written; a full disk.

        Examples
        --------
        >>> found = tropalign.cluster({"gut.1": "ACGTACGTA", "gut.2": "ACGTACGTA", "skin.1": "ACGTACGTA"})
        >>> tropalign.otu_table(found, relabel="Otu").write("-")
        #OTU ID	gut	skin
        Otu1	2	1
        """
        import tropalign  # by its public name: results know nothing of files

        tropalign.write_clusters(self, path)


def otu_names(clusters: Clusters, relabel: str = "") -> tuple[str, ...]:
    """What clusters are called in tables: see `otu_table`. Raises InputError where two have one name."""
    found = new_names(clusters, relabel) or tuple(name.partition(";")[0] for name in clusters.representatives.names)
    seen: set[str] = set()
    for name in found:
        if not name or name in seen:
            what = "two clusters have this name" if name else "a cluster has no name"
            raise InputError(f"{what}: give all names with {named('relabel')}", record=name)
        seen.add(name)
    return found


def new_names(clusters: Clusters, relabel: str) -> tuple[str, ...] | None:
    """Names of clusters by their sequences or numbers; None where they are called after their representatives."""
    if not relabel:
        return None
    if relabel != SHA1:
        return tuple(f"{relabel}{k}" for k in range(1, len(clusters) + 1))
    batch = clusters.representatives
    texts = (batch.text(k).upper().replace("U", "T") for k in range(len(batch)))
    return tuple(hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest() for text in texts)
