"""Reads by taxon (the lineage that the tips below a read's best branches share): table, sunburst, counts per sample."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.formats.array_files import DAMAGED_PART
from tropalign.formats.clusters.biom_hdf5 import check_texts, hdf5_bytes, require
from tropalign.formats.clusters.otu_tables import assemble_biom, biom_text, check_classic, classic_text
from tropalign.formats.format import Codec, Header
from tropalign.formats.pages import Report, write_report_page
from tropalign.formats.placed.context import PlacedContext
from tropalign.formats.placed.tables import lineage_text
from tropalign.results.clusters import OtuTable
from tropalign.results.placements import Lineage, Placements

COLUMNS = ("taxon", "rank", "reads", "count", "own_reads", "own_count")
#: Rank of reads that were not placed; 0 is the rank of placed reads without a taxon.
UNPLACED = -1
#: Number of reads, then their counts in each sample.
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Taxa:
    """Numbers of reads and their counts, int64, shape (1 + n_samples,).

    own: by the taxon of the reads, without taxa below it. unplaced: for reads that were not placed.
    """

    own: dict[Lineage, Numbers]
    unplaced: Numbers

    def within(self) -> dict[Lineage, Numbers]:
        """Return the numbers of each taxon including all taxa below it, parents first, in alphabetical order."""
        found: dict[Lineage, Numbers] = {}
        for lineage, numbers in self.own.items():
            for rank in range(len(lineage) + 1):
                above = lineage[:rank]
                found[above] = found[above] + numbers if above in found else numbers
        return {taxon: found[taxon] for taxon in sorted(found)}


def encode(placements: Placements, context: PlacedContext) -> bytes:
    """Return reads and their counts as JSON, by the lineage shared by the tips of their best branches."""
    by_sample = context.counts_by_sample(placements.names)
    numbers = np.concatenate([np.ones((len(placements), 1), np.int64), by_sample], axis=1)
    assigned = [] if context.lineages is None else context.lineages.assign(placements)
    reads_of: dict[Lineage, list[int]] = {}
    for read, (each, branch) in enumerate(zip(assigned, placements.branch.tolist(), strict=True)):
        if branch >= 0:
            reads_of.setdefault(each.common, []).append(read)
    taxa = [[taxon, *numbers[reads].sum(axis=0).tolist()] for taxon, reads in reads_of.items()]
    return json.dumps([numbers[placements.branch < 0].sum(axis=0).tolist(), taxa]).encode()


def taxa_of_parts(parts: Iterable[bytes], context: PlacedContext) -> Taxa:
    """Return the sums of all parts. Raises InputError for a damaged part."""
    shape = 1 + max(len(context.samples), 1)
    own, unplaced = dict[Lineage, Numbers](), np.zeros(shape, np.int64)
    try:
        for part in parts:
            of_part, taxa = json.loads(part)
            unplaced += np.array(of_part, np.int64)
            for words, *numbers in taxa:
                sums = own.setdefault(tuple(map(str, words)), np.zeros(shape, np.int64))
                sums += np.array(numbers, np.int64)
    except (ValueError, TypeError, OverflowError):
        raise InputError(DAMAGED_PART) from None
    return Taxa(own, unplaced)


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write a row per taxon with reads in or below it; counts of samples, if any, are in additional columns."""
    taxa = taxa_of_parts(parts, context)
    none = np.zeros_like(taxa.unplaced)
    lines = [*header.comment_lines(), "\t".join([*COLUMNS, *context.samples])]
    for taxon, within in taxa.within().items():
        lines.append(_line(lineage_text(taxon), len(taxon), within, taxa.own.get(taxon, none), context))
    if taxa.unplaced[0]:
        lines.append(_line("unplaced", UNPLACED, taxa.unplaced, taxa.unplaced, context))
    out.write(("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"))


def _line(taxon: str, rank: int, within: Numbers, own: Numbers, context: PlacedContext) -> str:
    sums = [number for numbers in (within, own) for number in (int(numbers[0]), int(numbers[1:].sum()))]
    of_samples = within[1:].tolist() if context.samples else []
    return "\t".join(map(str, (taxon, rank, *sums, *of_samples)))


TAXA = Codec(encode, assemble, assembled_with=("samples",))


PAGE = "taxa"
SCRIPTS = ("rings.js", "bars.js", "taxa.js")


def report(taxa: Taxa, context: PlacedContext) -> Report:
    """Return the report: a node per taxon with reads in or below it, parents first, starting with the root."""
    within = taxa.within() or {(): np.zeros_like(taxa.unplaced)}
    number = {taxon: k for k, taxon in enumerate(within)}
    none = np.zeros_like(taxa.unplaced)
    own = np.array([taxa.own.get(taxon, none) for taxon in within])
    node, sample = np.nonzero(own[:, 1:])
    arrays = {
        "parent": np.array([number[taxon[:-1]] if taxon else -1 for taxon in within], np.int64),
        "reads": own[:, 0].astype(np.float64),
        "node": node,
        "sample": sample,
        "count": own[node, 1 + sample].astype(np.float64),  # may exceed 32 bits
        "unplaced": taxa.unplaced[1:].astype(np.float64),
    }
    data = {
        "names": [taxon[-1] if taxon else "" for taxon in within],
        "samples": list(context.samples),
        "unplaced_reads": int(taxa.unplaced[0]),
    }
    return Report(PAGE, SCRIPTS, "Taxa", data, arrays)


def assemble_sunburst(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the page."""
    write_report_page(out, report(taxa_of_parts(parts, context), context), header)


SUNBURST = Codec(encode, assemble_sunburst, assembled_with=("samples",), is_binary=True)


def encode_counts(placements: Placements, context: PlacedContext) -> bytes:
    """Return rows of the reads as JSON: number, name, lineage, samples and their counts."""
    assert context.otus is not None and context.lineages is not None  # set whenever a table is requested
    table, found = context.otus, []
    rows, by_sample = table.rows_of(placements.names), context.counts_by_sample(placements.names)
    for row, each, counts in zip(rows.tolist(), context.lineages.assign(placements), by_sample, strict=True):
        if row >= 0:
            samples = np.flatnonzero(counts)
            found.append([row, table.names[row], each.common, samples.tolist(), counts[samples].tolist()])
    return json.dumps(found).encode()


def table_of_parts(parts: Iterable[bytes], context: PlacedContext) -> OtuTable:
    """Return the table of all parts, in the order of its rows. Raises InputError for a damaged part."""
    try:
        rows = sorted(row for part in parts for row in json.loads(part))
        lengths = [len(samples) for _, _, _, samples, _ in rows]
        sample, reads = (np.array([one for row in rows for one in row[k]], np.int64) for k in (3, 4))
        cluster = np.repeat(np.arange(len(rows)), lengths)
        if not len(cluster) == len(sample) == len(reads) or (
            len(sample) and not 0 <= sample.min() <= sample.max() < len(context.samples)
        ):
            raise ValueError("the samples differ from those of the context")
        names, lineages = tuple(str(row[1]) for row in rows), tuple(tuple(map(str, row[2])) for row in rows)
    except (ValueError, TypeError, IndexError, OverflowError):
        raise InputError(DAMAGED_PART) from None
    return OtuTable(names, context.samples, cluster, sample, reads, lineages)


def assemble_tsv(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write all lines."""
    out.write(classic_text(table_of_parts(parts, context)))


def assemble_json(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the table and its provenance."""
    assemble_biom([biom_text(table_of_parts(parts, context))], out, header, context)


def assemble_hdf5(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the table as HDF5."""
    out.write(hdf5_bytes(table_of_parts(parts, context), header.version))


def check_tsv(context: PlacedContext) -> None:
    """Raise InputError, before any read is placed, if the table cannot be written as text."""
    if context.otus is not None:
        check_classic(context.otus)


def check_hdf5(context: PlacedContext) -> None:
    """Raise InputError, before any read is placed, if HDF5 cannot store the table or a lineage of a tip."""
    if context.otus is not None and context.lineages is not None:
        check_texts(context.otus, context.lineages.lineages)


OTUS = Codec(encode_counts, assemble_tsv, assembled_with=("samples",), check=check_tsv)
BIOM = Codec(encode_counts, assemble_json, assembled_with=("samples",))
BIOM2 = Codec(
    encode_counts, assemble_hdf5, assembled_with=("samples",), is_binary=True, require=require, check=check_hdf5
)
