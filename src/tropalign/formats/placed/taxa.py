"""Reads per taxon: the lineages shared by the tips below their best branches, with counts per sample."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.formats.array_files import DAMAGED_PART
from tropalign.formats.format import Codec, Header
from tropalign.formats.placed.context import PlacedContext
from tropalign.formats.placed.table import lineage_text
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


def gathered(parts: Iterable[bytes], context: PlacedContext) -> Taxa:
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
    taxa = gathered(parts, context)
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
