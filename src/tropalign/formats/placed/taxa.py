"""Reads per taxon, a row per taxon."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import IO

from tropalign.errors import InputError
from tropalign.formats.format import Codec
from tropalign.formats.header import Header
from tropalign.formats.part_arrays import DAMAGED_PART
from tropalign.formats.placed.context import PlacedContext
from tropalign.formats.placed.table import lineage_text
from tropalign.results.placements import Placements
from tropalign.sequences.counts import counts_of

COLUMNS = ("taxon", "rank", "reads", "count", "own_reads", "own_count")
#: Rank of the reads that were not placed; 0 is that of those of which all that is known is that they were.
UNPLACED = -1


def encode(placements: Placements, context: PlacedContext) -> bytes:
    """Reads and their counts by what the tips of their best branches have in common, as JSON."""
    reads: Counter[tuple[str, ...]] = Counter()
    counts: Counter[tuple[str, ...]] = Counter()
    n_unplaced = [0, 0]
    assigned = [] if context.lineages is None else context.lineages.assign(placements)
    sizes = counts_of(placements.names).tolist()
    for each, is_placed, count in zip(assigned, (placements.branch >= 0).tolist(), sizes, strict=True):
        if is_placed:
            reads[each.common] += 1
            counts[each.common] += count
        else:
            n_unplaced[0] += 1
            n_unplaced[1] += count
    return json.dumps([n_unplaced, [[lineage, reads[lineage], counts[lineage]] for lineage in reads]]).encode()


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """A row per taxon that reads have in or below it: the taxa above come first, neighbours by the alphabet."""
    own: dict[tuple[str, ...], list[int]] = {}
    unplaced = [0, 0]
    for part in parts:
        of_part, taxa = _read(part)
        _add(unplaced, of_part)
        for lineage, n_reads, count in taxa:
            _add(own.setdefault(lineage, [0, 0]), [n_reads, count])
    within: dict[tuple[str, ...], list[int]] = {}
    for lineage, numbers in own.items():
        for rank in range(len(lineage) + 1):
            _add(within.setdefault(lineage[:rank], [0, 0]), numbers)
    lines = [*header.comment_lines(), "\t".join(COLUMNS)]
    lines += [_line(lineage_text(taxon), len(taxon), within[taxon], own.get(taxon, [0, 0])) for taxon in sorted(within)]
    if unplaced[0]:
        lines.append(_line("unplaced", UNPLACED, unplaced, unplaced))
    out.write(("\n".join(lines) + "\n").encode())


def _add(sums: list[int], numbers: list[int]) -> None:
    sums[0] += numbers[0]
    sums[1] += numbers[1]


def _line(taxon: str, rank: int, within: list[int], own: list[int]) -> str:
    return "\t".join(map(str, (taxon, rank, *within, *own)))


def _read(part: bytes) -> tuple[list[int], list[tuple[tuple[str, ...], int, int]]]:
    try:
        unplaced, taxa = json.loads(part)
        n_reads, count = map(int, unplaced)
        return [n_reads, count], [(tuple(map(str, words)), int(n), int(of)) for words, n, of in taxa]
    except (ValueError, TypeError):
        raise InputError(DAMAGED_PART) from None


TAXA = Codec(encode, assemble)
