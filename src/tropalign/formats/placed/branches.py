"""Reads by branch, with sample counts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

from tropalign.errors import InputError
from tropalign.formats.array_files import DAMAGED_PART
from tropalign.formats.format import Codec, Header
from tropalign.formats.placed.context import PlacedContext
from tropalign.results.placements import Placements

COLUMNS = ("branch", "clade", "length", "reads", "count", "shared")


def encode(placements: Placements, context: PlacedContext) -> bytes:
    """Return a JSON row per branch that is among the best of a read: number, clade, length, reads, shared counts.

    Numbers are of reads with this `branch`: how many, and their counts in each sample. Shared counts are of all
    reads with this branch among their best ones, by how many best ones they have, so that all sums are integers.
    """
    by_sample, branch = context.counts_by_sample(placements.names), placements.branch
    numbers = np.zeros((len(context.branch_lengths), 1 + by_sample.shape[1]), np.int64)
    placed = np.flatnonzero(branch >= 0)
    np.add.at(numbers, branch[placed], np.concatenate([np.ones((len(placed), 1), np.int64), by_sample[placed]], axis=1))
    ties = np.repeat(placements.ties, placements.ties)
    of_ties, at = np.unique(np.stack([placements.tied_branches, ties]), axis=1, return_inverse=True)
    sums = np.zeros(of_ties.shape[1], np.int64)
    np.add.at(sums, at.reshape(-1), np.repeat(by_sample.sum(axis=1), placements.ties))
    shared: dict[int, list[list[int]]] = {}
    for number, n_ties, count in zip(*of_ties.tolist(), sums.tolist(), strict=True):
        shared.setdefault(number, []).append([n_ties, count])
    found = [
        [number, context.clades[number], float(context.branch_lengths[number]), numbers[number].tolist(), counts]
        for number, counts in shared.items()
    ]
    left = np.flatnonzero(branch < 0)
    if len(left):
        found.append([-1, "*", 0.0, [len(left), *by_sample[left].sum(axis=0).tolist()], []])
    return json.dumps(found).encode()


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write a row per branch that is among the best of a read, and a last one for reads without a branch."""
    found: dict[int, tuple[str, str, Any, dict[int, int]]] = {}
    try:
        for part in parts:
            for number, clade, length, numbers, shared in json.loads(part):
                none = np.zeros(1 + max(len(context.samples), 1), np.int64)
                _, _, sums, of_ties = found.setdefault(int(number), (str(clade), f"{float(length):.10g}", none, {}))
                sums += np.array(numbers, np.int64)
                for n_ties, count in shared:
                    of_ties[int(n_ties)] = of_ties.get(int(n_ties), 0) + int(count)
        lines = [*header.comment_lines(), "\t".join([*COLUMNS, *context.samples])]
        for number in sorted(found, key=lambda number: (number < 0, number)):
            clade, length, sums, of_ties = found[number]
            share = sum(of_ties[n_ties] / n_ties for n_ties in sorted(of_ties))
            samples = sums[1:].tolist() if context.samples else []
            words = (number, clade, length, sums[0], sums[1:].sum(), f"{share:.10g}", *samples)
            lines.append("\t".join(map(str, words)))
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        raise InputError(DAMAGED_PART) from None
    out.write(("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"))


BRANCHES = Codec(encode, assemble, assembled_with=("samples",))
