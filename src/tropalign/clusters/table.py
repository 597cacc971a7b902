"""OTU tables: counts per cluster and sample."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.clusters.dereplication import Uniques
from tropalign.errors import InputError, TropalignWarning, UsageError, named
from tropalign.results.clusters import Clusters
from tropalign.results.otu_table import OtuTable, otu_names
from tropalign.sequences.counts import counts_of
from tropalign.sequences.samples import NameRule, Teller, numbered, samples_of, teller


class SampledReads(NamedTuple):
    """Reads and their samples (sorted by bytes); `size` is the number of reads that each stands for."""

    samples: tuple[str, ...]
    sample: NDArray[np.int64]
    size: NDArray[np.int64]


def sampled(names: Sequence[str], tell: Teller) -> SampledReads:
    """Return the samples and sizes of reads from their names: see `otu_table`."""
    samples, sample = numbered(samples_of(names, tell))
    if len(samples) == len(names) > 1:
        text = f"each of {len(names):,} reads is of a sample of its own, as names tell: see {named('samples')}"
        warnings.warn(text, TropalignWarning, stacklevel=2)
    return SampledReads(samples, sample, counts_of(names))


def tabled(names: Sequence[str], table: OtuTable, file: str | None = None) -> tuple[SampledReads, NDArray[np.int64]]:
    """Return the reads of distinct sequences from a table of counts, and the sequence index of each read.

    Each sequence has the row given by `OtuTable.rows_of`. Reads of other rows, such as chimeras that were left out,
    get -1. Raises InputError for a sequence without a row, or two with the same row.
    """
    sequence = np.full(len(table.names), -1, np.int64)
    for k, (name, row) in enumerate(zip(names, table.rows_of(names).tolist(), strict=True)):
        if row < 0:
            text = f"the table has no row for the sequence {name!r}: name the table of tropalign derep that wrote it"
            raise InputError(text, file=file)
        if sequence[row] >= 0:
            other = names[sequence[row]]
            text = f"two sequences have this row, {other!r} and {name!r}: dereplicate with {named('relabel')}"
            raise InputError(text, file=file, record=table.names[row])
        sequence[row] = k
    return SampledReads(table.samples, table.sample, table.reads), sequence[table.cluster]


def counted(clusters: Clusters, reads: SampledReads, labels: NDArray[np.int64] | None, relabel: str) -> OtuTable:
    """Count reads by cluster and sample; `labels` map reads to distinct sequences, if the clusters are of these."""
    is_there = np.ones(len(reads.sample), bool) if labels is None else labels >= 0
    cluster = clusters.labels if labels is None else clusters.labels[labels[is_there]]
    size, sample = reads.size[is_there], reads.sample[is_there]
    used, column = np.unique(sample, return_inverse=True)
    places, place = np.unique(cluster * len(used) + column, return_inverse=True)
    counts = np.zeros(len(places), np.int64)
    np.add.at(counts, place, size)
    samples = tuple(reads.samples[k] for k in used.tolist())
    row, column = np.divmod(places, max(len(used), 1))
    return OtuTable(otu_names(clusters, relabel), samples, row, column, counts)


def otu_table(
    clusters: Clusters,
    uniques: Uniques | OtuTable | None = None,
    *,
    samples: NameRule | None = None,
    sample_delimiter: str | None = None,
    sample_regex: str | None = None,
    relabel: str = "",
) -> OtuTable:
    """How many reads of each sample each cluster has.

    Parameters
    ----------
    clusters
        Of reads, or of different sequences.
    uniques
        What `dereplicate` made, if the clusters are of its sequences; their reads are counted. Or the table of these
        sequences, as `tropalign derep --otu-table` writes it and `read_otu_table` reads it; rows of other sequences do
        not count.
    samples : {"label", "vsearch", "underscore"}, optional
        Which sample a read is of: by ``;sample=`` or ``;barcodelabel=`` in its name (label, the default); by that, or
        else by the letters, digits and underscores that the name begins with (vsearch's rule, which cuts ``gut-1.r1``
        to ``gut``); or by ``;sample=``, or else the name up to its last underscore.
    sample_delimiter
        In place of `samples`: by ``;sample=`` in the name, or else the name up to this text: ``gut-1`` of ``gut-1.r1``
        for ``"."``.
    sample_regex
        In place of `samples`: the sample is what the first group of this regular expression matches in the name, or
        all of it if it has no group; ``;sample=`` is part of the name.
    relabel
        What clusters are called: "sha1" for the digest of the representative, else what stands before their number;
        by default the representative's name up to its first semicolon.

    Returns
    -------
    OtuTable
        In the order of the clusters; sizes in names (``;size=N``) count. A sample without a read in a cluster has no
        column.

    Raises
    ------
    InputError
        A read whose name tells no sample; two clusters of one name; a sequence without a row of its own in the table.
    UsageError
        What are no clusters or uniques; several rules for samples, or one that cannot be used; uniques that the
        clusters are not of.

    Warns
    -----
    TropalignWarning
        As many samples as reads.

    Examples
    --------
    >>> reads = {"a.1": "ACGTACGTA", "a.2": "ACGTACGTA", "b.1": "ACGTACGTA"}
    >>> unique = tropalign.dereplicate(reads)
    >>> clusters = tropalign.cluster(unique.sequences, order="abundance")
    >>> table = tropalign.otu_table(clusters, unique, sample_delimiter=".", relabel="Otu")
    >>> table.names, table.samples, table.counts.tolist()
    (('Otu1',), ('a', 'b'), [[2, 1]])
    """
    if not isinstance(clusters, Clusters) or not isinstance(uniques, Uniques | OtuTable | None):
        raise UsageError("a table is made of Clusters, and of the Uniques or the OtuTable of their sequences")
    tell = teller(samples, sample_delimiter, sample_regex)
    if not isinstance(relabel, str):
        raise UsageError(f"{named('relabel')} {relabel!r} is no text")
    names = tuple(clusters.sequences.names)
    if uniques is None:
        return counted(clusters, sampled(names, tell), None, relabel)
    if isinstance(uniques, OtuTable):
        return counted(clusters, *tabled(names, uniques), relabel)
    if tuple(uniques.sequences.names) != names:
        raise UsageError("the clusters are not of these different sequences: cluster what was dereplicated")
    return counted(clusters, sampled(uniques.reads, tell), uniques.labels, relabel)
