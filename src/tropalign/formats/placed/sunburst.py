"""Web page of reads per taxon: lineages as rings, for one sample or all together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

import numpy as np

from tropalign.formats.format import Codec, Header
from tropalign.formats.pages import Report, write_report_page
from tropalign.formats.placed.context import PlacedContext
from tropalign.formats.placed.taxa import Taxa, encode, gathered
from tropalign.results.placements import Lineage

PAGE = "taxa"
SCRIPTS = ("viewer/pictures.js", "viewer/hues.js", "rings.js", "bars.js", "taxa.js")


def report(taxa: Taxa, context: PlacedContext) -> Report:
    """Return the report: a node per taxon with reads in or below it, parents first, starting with the root."""
    within = taxa.within() or {(): np.zeros_like(taxa.unplaced)}
    number = {taxon: k for k, taxon in enumerate(within)}
    none = np.zeros_like(taxa.unplaced)
    own = np.array([taxa.own.get(taxon, none) for taxon in within])
    node, sample = np.nonzero(own[:, 1:])
    arrays = {
        "parent": np.array([_parent(taxon, number) for taxon in within], np.int64),
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


def _parent(taxon: Lineage, number: dict[Lineage, int]) -> int:
    """Return the node of the taxon above; -1 for the root."""
    return number[taxon[:-1]] if taxon else -1


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the page."""
    write_report_page(out, report(gathered(parts, context), context), header)


SUNBURST = Codec(encode, assemble, assembled_with=("samples",), is_binary=True)
