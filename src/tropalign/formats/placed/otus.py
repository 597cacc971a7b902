"""The OTU table with lineages of its reads as taxonomy: QIIME's classic table, BIOM 1.0 and BIOM 2.1."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.array_files import DAMAGED_PART
from tropalign.formats.clusters.biom_hdf5 import check_texts, hdf5_bytes, require
from tropalign.formats.clusters.otu_tables import assemble_biom, biom_text, check_classic, classic_text
from tropalign.formats.format import Codec, Header
from tropalign.formats.placed.context import PlacedContext
from tropalign.results.otu_table import OtuTable
from tropalign.results.placements import Placements


def encode(placements: Placements, context: PlacedContext) -> bytes:
    """Return rows of the reads as JSON: number, name, lineage, samples and their counts."""
    assert context.otus is not None and context.lineages is not None  # set whenever a table is requested
    table, found = context.otus, []
    rows, by_sample = table.rows_of(placements.names), context.counts_by_sample(placements.names)
    for row, each, counts in zip(rows.tolist(), context.lineages.assign(placements), by_sample, strict=True):
        if row >= 0:
            samples = np.flatnonzero(counts)
            found.append([row, table.names[row], each.common, samples.tolist(), counts[samples].tolist()])
    return json.dumps(found).encode()


def gathered(parts: Iterable[bytes], context: PlacedContext) -> OtuTable:
    """Return the table of all parts, in the order of its rows. Raises InputError for a damaged part."""
    try:
        rows = sorted(row for part in parts for row in json.loads(part))
        lengths = [len(samples) for _, _, _, samples, _ in rows]
        sample, reads = (np.array([one for row in rows for one in row[k]], np.int64) for k in (3, 4))
        cluster = np.repeat(np.arange(len(rows)), lengths)
        if not len(cluster) == len(sample) == len(reads) or (
            len(sample) and not 0 <= sample.min() <= sample.max() < len(context.samples)
        ):
            raise ValueError("other samples than there are")
        names, lineages = tuple(str(row[1]) for row in rows), tuple(tuple(map(str, row[2])) for row in rows)
    except (ValueError, TypeError, IndexError, OverflowError):
        raise InputError(DAMAGED_PART) from None
    return OtuTable(names, context.samples, cluster, sample, reads, lineages)


def assemble_tsv(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write all lines."""
    out.write(classic_text(gathered(parts, context)))


def assemble_json(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the table and its provenance."""
    assemble_biom([biom_text(gathered(parts, context))], out, header, context)


def assemble_hdf5(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the table as HDF5."""
    out.write(hdf5_bytes(gathered(parts, context), header.version))


def check_tsv(context: PlacedContext) -> None:
    """Raise InputError, before any read is placed, if the table cannot be written as text."""
    if context.otus is not None:
        check_classic(context.otus)


def check_hdf5(context: PlacedContext) -> None:
    """Raise InputError, before any read is placed, if HDF5 cannot store the table or a lineage of a tip."""
    if context.otus is not None and context.lineages is not None:
        check_texts(context.otus, context.lineages.lineages)


OTUS = Codec(encode, assemble_tsv, assembled_with=("samples",), check=check_tsv)
BIOM = Codec(encode, assemble_json, assembled_with=("samples",))
BIOM2 = Codec(encode, assemble_hdf5, assembled_with=("samples",), is_binary=True, require=require, check=check_hdf5)
