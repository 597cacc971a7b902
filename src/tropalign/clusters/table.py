"""Clusters and samples: a table of counts."""

from __future__ import annotations

import warnings

import numpy as np

from tropalign.clusters.dereplication import Uniques
from tropalign.errors import InputError, TropalignWarning, UsageError, named
from tropalign.results.clusters import Clusters
from tropalign.results.otu_table import OtuTable, otu_names
from tropalign.sequences.counts import counts_of
from tropalign.sequences.samples import RULES, numbered, samples_of

#: Counts of a table at most: 2 GiB.
MOST_COUNTS = 1 << 28


def otu_table(
    clusters: Clusters, uniques: Uniques | None = None, *, samples: str = "label", relabel: str = ""
) -> OtuTable:
    """How many reads of each sample each cluster has.

    Parameters
    ----------
    clusters
        Of reads, or of different sequences.
    uniques
        What `dereplicate` made, if the clusters are of its sequences; their reads are counted.
    samples : {"label", "underscore"}
        Which sample a read is of: by ``;sample=`` or ``;barcodelabel=`` in its name, else by the letters, digits and
        underscores that the name begins with, as vsearch has it; or by the name up to its last underscore.
    relabel
        What clusters are called: "sha1" for the digest of the representative, else what stands before their number;
        by default the representative's name up to its first semicolon.

    Returns
    -------
    OtuTable
        In the order of the clusters; sizes in names (``;size=N``) count.

    Raises
    ------
    InputError
        A read whose name tells no sample; samples without end; two clusters of one name.
    UsageError
        Other samples than these two; uniques that the clusters are not of.

    Warns
    -----
    TropalignWarning
        As many samples as reads.

    Examples
    --------
    >>> reads = {"a.1": "ACGTACGTA", "a.2": "ACGTACGTA", "b.1": "ACGTACGTA"}
    >>> unique = tropalign.dereplicate(reads)
    >>> table = tropalign.otu_table(tropalign.cluster(unique.sequences, order="abundance"), unique, relabel="Otu")
    >>> table.names, table.samples, table.counts.tolist()
    (('Otu1',), ('a', 'b'), [[2, 1]])
    """
    if samples not in RULES:
        raise UsageError(f"samples {samples!r} is none of {', '.join(RULES)}")
    names: tuple[str, ...] = tuple(clusters.sequences.names)
    cluster = clusters.labels
    if uniques is not None:
        if tuple(uniques.sequences.names) != names:
            raise UsageError("the clusters are not of these different sequences: cluster what was dereplicated")
        is_there = uniques.labels >= 0
        names = tuple(name for name, is_kept in zip(uniques.reads, is_there.tolist(), strict=True) if is_kept)
        cluster = cluster[uniques.labels[is_there]]
    distinct, sample = numbered(samples_of(names, samples))
    if len(distinct) * len(clusters) > MOST_COUNTS:
        raise InputError(
            f"names tell {len(distinct):,} samples of {len(names):,} reads: write ;sample=NAME into them, or say with "
            f"{named('samples')} which part is the sample"
        )
    if len(distinct) == len(names) > 1:
        text = f"each of {len(names):,} reads is of a sample of its own, as names tell: see {named('samples')}"
        warnings.warn(text, TropalignWarning, stacklevel=2)
    counts = np.zeros((len(clusters), len(distinct)), np.int64)
    np.add.at(counts, (cluster, sample), counts_of(names))
    return OtuTable(otu_names(clusters, relabel), distinct, counts)
