"""Dereplication: identical reads once, most abundant first (vsearch's --derep_fulllength), on one strand (--orient)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning, UsageError, named
from tropalign.pairwise.options import PlusOrBoth
from tropalign.ragged import wanted_rows
from tropalign.resources.limits import whole_number
from tropalign.results.clusters import Clusters, Orientations, OtuTable, otu_names
from tropalign.results.columns import Result
from tropalign.results.names import Quality
from tropalign.sequences import SequenceBatch
from tropalign.sequences.alphabet import AlphabetLike
from tropalign.sequences.annotations import NameRule, Teller, counts_of, numbered, samples_of, teller, with_count
from tropalign.sequences.batch import NO_QUALITY, Sequences
from tropalign.sequences.reader import batch_of

#: Length of the k-mers.
SIZE = 12
#: A k-mer belongs to a strand if references with it outnumber those with its reverse complement by more than this
#: factor.
KMER_RATIO = 8
#: A read belongs to a strand if its k-mers of that strand outnumber those of the other by at least this factor.
READ_RATIO = 4
#: Residues whose k-mers are listed at once, 80 bytes each.
AT_ONCE = 1 << 20


def orientations(reads: SequenceBatch, references: SequenceBatch) -> Orientations:
    """Find the strand of each read from its k-mers, by the numbers of references with them and their complements.

    Raises InputError for proteins, and if no strand is certain.
    """
    if not (reads.alphabet.has_strands and set("ACGT") <= set(reads.alphabet.letters)):
        raise InputError(f"{reads.alphabet.name}s have only one strand: leave {named('orient')} out")
    n_having = np.zeros(4**SIZE, np.int32)
    for _, words, _ in _words(references):
        np.add.at(n_having, words, 1)
    plus, minus = np.zeros(len(reads), np.int64), np.zeros(len(reads), np.int64)
    for read, words, others in _words(reads):
        if not len(read):
            continue
        first, n = int(read[0]), int(read[-1] - read[0]) + 1  # reads ascend
        here, there = n_having[words].astype(np.int64), n_having[others].astype(np.int64)
        plus[first : first + n] += np.bincount(read[here > KMER_RATIO * there] - first, minlength=n)
        minus[first : first + n] += np.bincount(read[there > KMER_RATIO * here] - first, minlength=n)
    is_plus = (plus > 0) & (plus >= READ_RATIO * minus)
    is_minus = (minus > 0) & (minus >= READ_RATIO * plus)
    if not (is_plus | is_minus).any():
        raise InputError(
            f"no read shares enough {SIZE}-mers with the references to determine its strand: use other references"
        )
    return Orientations(reads, is_plus.astype(np.int8) - is_minus, plus, minus)


def _words(batch: SequenceBatch) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield sequences with their distinct k-mers of A, C, G and T, and the reverse complements of these; int64."""
    digit_of = np.full(len(batch.alphabet.letters), -1, np.int64)
    digit_of[[batch.alphabet.code(letter) for letter in "ACGT"]] = np.arange(4)  # complements add up to 3
    begin = 0
    while begin < len(batch):
        end = max(begin + 1, int(np.searchsorted(batch.offsets, batch.offsets[begin] + AT_ONCE, "right")) - 1)
        offsets = batch.offsets[begin : end + 1] - batch.offsets[begin]
        digits = digit_of[batch.codes[batch.offsets[begin] : batch.offsets[end]]]
        n = max(0, len(digits) - SIZE + 1)
        sequence = np.repeat(np.arange(begin, end), np.diff(offsets))
        is_whole = sequence[:n] == sequence[len(digits) - n :]
        words, others = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for step in range(SIZE):
            digit = digits[step : step + n]
            is_whole &= digit >= 0
            words = 4 * words + digit
            others += (3 - digit) << 2 * step
        _, first = np.unique(sequence[:n][is_whole] << 2 * SIZE | words[is_whole], return_index=True)
        yield sequence[:n][is_whole][first], words[is_whole][first], others[is_whole][first]
        begin = end


@dataclass(frozen=True, eq=False)
class Uniques(Result):
    """The distinct sequences of a set of reads.

    Attributes
    ----------
    sequences : SequenceBatch
        Distinct sequences, each with the characters and the name of its first read, and ``;size=N``. If all reads
        have qualities, so have the sequences.
    labels : int64, shape (n_reads,)
        Index of each read's sequence; -1 if the read was left out, by a limit or for an uncertain strand.
    reads : tuple of str, n_reads
        Names of the reads.

    Examples
    --------
    >>> found = tropalign.dereplicate({"a": "ACGTAC", "b": "CCCC", "c": "acgtac"})
    >>> found.sequences.text(0), found.labels.tolist()
    ('ACGTAC', [0, 1, 0])
    """

    sequences: SequenceBatch
    labels: NDArray[np.int64]
    reads: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Uniques: {len(self.sequences):,} distinct sequences of {len(self.reads):,} reads>"

    def take(self, rows: NDArray[Any]) -> Uniques:
        """Select some of the sequences, such as those that are not chimeras; reads of the others are left out.

        Parameters
        ----------
        rows
            Indices (integers), each once, or a mask (bool).

        Returns
        -------
        Uniques
            The selected sequences in the order of `rows`.

        Raises
        ------
        IndexError
            A sequence does not exist or is named twice, or the mask has another length.

        Examples
        --------
        >>> found = tropalign.dereplicate({"a": "ACGTAC", "b": "CCCC", "c": "acgtac"})
        >>> found.take([1]).labels.tolist()
        [-1, 0, -1]
        """
        chosen = np.arange(len(self.sequences))[wanted_rows(np.asarray(rows), len(self.sequences))]
        if len(np.unique(chosen)) < len(chosen):
            raise IndexError("a row is listed twice: list each row once")
        number = np.full(len(self.sequences) + 1, -1, np.int64)  # the last item is for reads already left out
        number[chosen] = np.arange(len(chosen))
        return Uniques(self.sequences[chosen], number[self.labels], self.reads)

    def clusters(self) -> Clusters:
        """Return each sequence as a cluster of its own, for writing.

        Returns
        -------
        Clusters

        Examples
        --------
        >>> tropalign.dereplicate({"a": "ACGTAC", "b": "CCCC", "c": "acgtac"}).clusters()
        <Clusters: 2 sequences in 2 clusters>
        """
        n = len(self.sequences)
        own, sizes = np.arange(n), counts_of(self.sequences.names)
        strand, score, start = np.ones(n, np.int8), np.zeros(n, np.int32), np.zeros(n, np.int64)
        return Clusters(self.sequences, own, own, own, sizes, np.ones(n), strand, score, [None] * n, start, start)


class Limits(NamedTuple):
    """Limits of the sequences that are kept: reads of a sequence, residues of a read, and number of sequences."""

    min_size: int = 1
    max_unique_size: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    topn: int | None = None


def dereplicate(
    sequences: Sequences,
    *,
    strand: PlusOrBoth = "plus",
    min_size: int = 1,
    max_unique_size: int | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
    topn: int | None = None,
    quality: Quality = "mean",
    orient: Sequences | None = None,
    alphabet: AlphabetLike | None = None,
) -> Uniques:
    """Find identical reads: equal length and equal residues (case is ignored, and U equals T).

    Parameters
    ----------
    sequences
        The reads, in any form that `align_all` accepts; ``;size=N`` in a name counts.
    strand : {"plus", "both"}
        Both: a read also equals an earlier read if it is its reverse complement.
    min_size
        Minimum number of reads of a sequence.
    max_unique_size
        Maximum number of reads of a sequence.
    min_length, max_length
        Minimum and maximum number of residues of a read; others are left out first.
    topn
        Maximum number of sequences, the most abundant ones.
    quality : {"mean", "max"}
        If all reads have qualities, the quality of a residue of several reads: that of the mean of their error
        probabilities, rounded down, or the highest one.
    orient
        References: reads are turned to the strand on which they share 12-mers with these; reads whose strand is
        uncertain are left out.
    alphabet
        Alphabet of the reads; guessed from their residues by default.

    Returns
    -------
    Uniques
        Most abundant first; ties are sorted by the bytes of their names.

    Raises
    ------
    InputError
        Reads cannot be used, no sequence is within the limits, strands of proteins are requested, or no read shows
        its strand.
    UsageError
        A strand or quality that does not exist, or a limit below 1.

    Examples
    --------
    >>> found = tropalign.dereplicate({"a": "ACGTAC", "b": "CCCC", "c": "acgtac"})
    >>> found.sequences.names, found.labels.tolist()
    (('a;size=2', 'b;size=1'), [0, 1, 0])
    """
    if strand not in get_args(PlusOrBoth):
        raise UsageError(f"strand {strand!r} is not one of {', '.join(get_args(PlusOrBoth))}")
    if quality not in get_args(Quality):
        raise UsageError(f"quality {quality!r} is not one of {', '.join(get_args(Quality))}")
    least = whole_number("min_size", min_size)
    if least < 1:
        raise UsageError(f"min_size {least} is below 1: each sequence has at least one read")
    given = {"max_unique_size": max_unique_size, "min_length": min_length, "max_length": max_length, "topn": topn}
    limits = {name: None if value is None else whole_number(name, value, 1) for name, value in given.items()}
    batch, chosen = batch_of(sequences, alphabet), (strand, Limits(least, **limits), quality)
    if orient is None:
        return dereplicated(batch, *chosen)
    found = orientations(batch, batch_of(orient, batch.alphabet))
    uniques = dereplicated(found.oriented(), *chosen)
    labels = np.full(len(batch), -1, np.int64)
    labels[found.strand != 0] = uniques.labels
    return Uniques(uniques.sequences, labels, tuple(batch.names))


def dereplicated(
    batch: SequenceBatch,
    strand: str = "plus",
    limits: Limits = Limits(),  # noqa: B008
    quality: Quality = "mean",
) -> Uniques:
    """Return the distinct sequences of a batch, by checked options: see `dereplicate`."""
    if strand == "both" and not batch.alphabet.has_strands:
        raise InputError(f"strand both is only for nucleotides, not for {batch.alphabet.name}s")
    reads = tuple(batch.names)
    most = np.inf if limits.max_length is None else limits.max_length
    fits = np.flatnonzero((batch.lengths >= (limits.min_length or 1)) & (batch.lengths <= most))
    if not len(fits):
        raise InputError(f"no read has {_bounds(limits.min_length, limits.max_length)} residues: allow other lengths")
    batch = batch if len(fits) == len(batch) else batch[fits]
    number, first, is_turned = read_numbers(batch, strand)
    sizes = np.zeros(len(first), np.int64)
    np.add.at(sizes, number, counts_of(batch.names))
    largest = np.inf if limits.max_unique_size is None else limits.max_unique_size
    kept = np.flatnonzero((sizes >= limits.min_size) & (sizes <= largest)).tolist()
    if not kept:
        raise InputError(f"no sequence has {_bounds(limits.min_size, limits.max_unique_size)} reads: allow other sizes")
    kept.sort(key=lambda one: (-sizes[one], batch.names[first[one]].encode()))
    kept = kept[: limits.topn]
    rank = np.full(len(first), -1, np.int64)
    rank[kept] = np.arange(len(kept))
    chosen = batch[np.array([first[one] for one in kept], np.int64)]
    names = tuple(with_count(name, size) for name, size in zip(chosen.names, sizes[kept].tolist(), strict=True))
    scores = None
    if batch.qualities is not None and batch.qualities.max() < NO_QUALITY:
        scores = _joined_qualities(batch, chosen, rank[number], is_turned, quality)
    sequences = SequenceBatch(chosen.codes, chosen.offsets, names, chosen.alphabet, chosen.letters, qualities=scores)
    labels = np.full(len(reads), -1, np.int64)
    labels[fits] = rank[number]
    return Uniques(sequences, labels, reads)


def _bounds(least: int | None, most: int | None) -> str:
    """Return a range in words.

    >>> from tropalign.clusters.dereplication import _bounds
    >>> _bounds(2, None), _bounds(None, 9), _bounds(2, 9)
    ('at least 2', 'at most 9', 'from 2 to 9')
    """
    if most is None:
        return f"at least {least}"
    return f"at most {most}" if least is None else f"from {least} to {most}"


def clusters_of_reads(reads: SequenceBatch, uniques: Uniques) -> Clusters:
    """Return the kept sequences as clusters of their reads, without alignments."""
    kept = np.flatnonzero(uniques.labels >= 0)
    kept = kept[np.argsort(uniques.labels[kept], kind="stable")]
    labels, batch, n = uniques.labels[kept], reads[kept], len(kept)
    _, first = np.unique(labels, return_index=True)
    codes, offsets = _spelt(batch).data, batch.offsets.tolist()
    texts = [bytes(codes[begin:end]) for begin, end in pairwise(offsets)]
    of = first[labels].tolist()
    strand = np.array([1 if text == texts[k] else -1 for text, k in zip(texts, of, strict=True)], np.int8)
    cigars = [None if k == own else "" for own, k in enumerate(of)]
    zero = np.zeros(n, np.int64)
    sizes, score = counts_of(batch.names), np.zeros(n, np.int32)
    return Clusters(batch, labels, first, np.arange(n), sizes, np.ones(n), strand, score, cigars, zero, zero)


def _spelt(batch: SequenceBatch) -> NDArray[np.uint8]:
    """Return codes that keep letters outside the alphabet apart: ``?`` is not N, unlike in alignments."""
    if not batch.alphabet.codes_of(batch.letters)[1]:
        return batch.codes
    codes, (_, unknown) = batch.codes.copy(), batch.alphabet.encode(batch.letters)
    codes[unknown] = np.frombuffer(batch.letters[unknown].tobytes().upper(), np.uint8) | np.uint8(128)  # not a code
    return codes


#: Error probability of each quality up to `NO_QUALITY`. A random base is wrong with 0.75, the limit for 0 and 1, as in
#: vsearch.
_ERRORS = np.minimum(0.75, 10.0 ** (-np.arange(NO_QUALITY + 1) / 10))
#: Keeps a quality whose probability has a rounding error.
_ROUNDING = 1e-9


def _joined_qualities(
    batch: SequenceBatch, chosen: SequenceBatch, labels: NDArray[np.int64], turned: NDArray[np.bool_], quality: Quality
) -> NDArray[np.uint8]:
    """Return the qualities of the `chosen` sequences from those of their reads; `turned` reads are on the other strand.

    A sequence of a single read keeps its qualities.
    """
    assert batch.qualities is not None and chosen.qualities is not None
    sizes = counts_of(batch.names)
    total, n_reads = np.bincount(labels[labels >= 0], sizes[labels >= 0], len(chosen)), np.bincount(labels + 1)[1:]
    errors = np.full(len(chosen.codes), 1.0 if quality == "max" else 0.0)
    begins = chosen.offsets.tolist()
    for k in np.flatnonzero(n_reads[labels] * (labels >= 0) > 1).tolist():
        read = _ERRORS[batch.qualities[batch.offsets[k] : batch.offsets[k + 1]]][:: -1 if turned[k] else 1]
        so_far = errors[begins[labels[k]] : begins[labels[k] + 1]]
        if quality == "max":
            np.minimum(so_far, read, out=so_far)
        else:
            so_far += read * (sizes[k] / total[labels[k]])
    is_joined = np.repeat(n_reads > 1, chosen.lengths)
    found = chosen.qualities.copy()
    found[is_joined] = -10 * np.log10(errors[is_joined]) + _ROUNDING
    return found


def read_numbers(batch: SequenceBatch, strand: str) -> tuple[NDArray[np.int64], list[int], NDArray[np.bool_]]:
    """Number reads by their sequence, int64, shape (n_reads,).

    Also return the first read of each sequence, and a mask of the reads that are its reverse complement.
    """
    codes = _spelt(batch).data
    reverse = _spelt(batch.reverse_complement()).data if strand == "both" else None
    first_of: dict[bytes, int] = {}
    first: list[int] = []
    number, is_turned = np.empty(len(batch), np.int64), np.zeros(len(batch), bool)
    for k, (begin, end) in enumerate(pairwise(batch.offsets.tolist())):
        read = bytes(codes[begin:end])
        found = first_of.get(read)
        if found is None and reverse is not None:
            found = first_of.get(bytes(reverse[begin:end]))
            is_turned[k] = found is not None
        if found is None:
            found = first_of[read] = len(first)
            first.append(k)
        number[k] = found
    return number, first, is_turned


class SampledReads(NamedTuple):
    """Reads and their samples (sorted by bytes); `size` is the number of reads that each stands for."""

    samples: tuple[str, ...]
    sample: NDArray[np.int64]
    size: NDArray[np.int64]


def sampled(names: Sequence[str], tell: Teller) -> SampledReads:
    """Return the samples and sizes of reads from their names: see `otu_table`."""
    samples, sample = numbered(samples_of(names, tell))
    if len(samples) == len(names) > 1:
        text = f"according to their names, all {len(names):,} reads come from different samples: see {named('samples')}"
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
            text = (
                f"the table has no row for the sequence {name!r}: give the table that tropalign derep wrote with "
                f"these sequences"
            )
            raise InputError(text, file=file)
        if sequence[row] >= 0:
            other = names[sequence[row]]
            text = f"the sequences {other!r} and {name!r} both match this row: dereplicate with {named('relabel')}"
            raise InputError(text, file=file, record=table.names[row])
        sequence[row] = k
    return SampledReads(table.samples, table.sample, table.reads), sequence[table.cluster]


def counted(clusters: Clusters, reads: SampledReads, labels: NDArray[np.int64] | None, relabel: str) -> OtuTable:
    """Count reads by cluster and sample; `labels` map reads to distinct sequences, if these were clustered."""
    cluster = clusters.labels[clusters.n_given :]
    if labels is not None:
        cluster = np.where(labels < 0, -1, cluster[labels])
    is_there = cluster >= 0  # excludes reads that were left out or not mapped
    cluster, size, sample = cluster[is_there], reads.size[is_there], reads.sample[is_there]
    used, column = np.unique(sample, return_inverse=True)
    places, place = np.unique(cluster * len(used) + column, return_inverse=True)
    counts = np.zeros(len(places), np.int64)
    np.add.at(counts, place, size)
    samples = tuple(reads.samples[k] for k in used.tolist())
    row, column = np.divmod(places, max(len(used), 1))
    names = otu_names(clusters, relabel)
    if clusters.n_given:  # only OTUs with reads, as in vsearch
        rows, row = np.unique(row, return_inverse=True)
        names = tuple(names[k] for k in rows.tolist())
    return OtuTable(names, samples, row, column, counts)


def otu_table(
    clusters: Clusters,
    uniques: Uniques | OtuTable | None = None,
    *,
    samples: NameRule | None = None,
    sample_delimiter: str | None = None,
    sample_regex: str | None = None,
    relabel: str = "",
) -> OtuTable:
    """Count the reads of each cluster by sample.

    Parameters
    ----------
    clusters
        Clusters of reads, or of distinct sequences.
    uniques
        If distinct sequences were clustered: the result of `dereplicate`, whose reads are counted; or their table, as
        `tropalign derep --otu-table` writes it and `read_otu_table` reads it. Rows of other sequences do not count.
    samples : {"label", "vsearch", "underscore"}, optional
        The sample of a read. label (default): ``;sample=`` or ``;barcodelabel=`` in its name. vsearch: as label, or
        else the letters, digits and underscores at the start of the name (``gut`` for ``gut-1.r1``). underscore:
        ``;sample=``, or else the name up to its last underscore.
    sample_delimiter
        Instead of `samples`: ``;sample=`` in the name, or else the name up to this text, such as ``gut-1`` of
        ``gut-1.r1`` for ``"."``.
    sample_regex
        Instead of `samples`: a regular expression. The sample is the match of its first group in the name, or the
        whole match without a group; ``;sample=`` is part of the name.
    relabel
        Names of the clusters: "sha1" for the digest of the representative, else a prefix of their numbers (default:
        the representative's name up to its first semicolon).

    Returns
    -------
    OtuTable
        In the order of the clusters; sizes in names (``;size=N``) count. A sample without a read in a cluster has no
        column.

    Raises
    ------
    InputError
        The name of a read contains no sample, two clusters have the same name, or a sequence has no row of its own.
    UsageError
        `clusters` or `uniques` has a wrong type, several rules for samples are given, a rule cannot be used, or the
        clusters do not contain the sequences of `uniques`.

    Warns
    -----
    TropalignWarning
        Each read has a sample of its own.

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
        raise UsageError("a table requires Clusters, and optionally the Uniques or the OtuTable of their sequences")
    tell = teller(samples, sample_delimiter, sample_regex)
    if not isinstance(relabel, str):
        raise UsageError(f"{named('relabel')} {relabel!r} is not a string")
    names = tuple(clusters.sequences.names[clusters.n_given :])
    if uniques is None:
        return counted(clusters, sampled(names, tell), None, relabel)
    if isinstance(uniques, OtuTable):
        return counted(clusters, *tabled(names, uniques), relabel)
    if tuple(uniques.sequences.names) != names:
        raise UsageError("the clusters do not contain these distinct sequences: cluster the result of dereplicate")
    return counted(clusters, sampled(uniques.reads, tell), uniques.labels, relabel)
