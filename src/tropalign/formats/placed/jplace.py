"""jplace (Matsen et al. 2012): the best branches of each read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO

from tropalign.formats.format import Codec, Header
from tropalign.formats.placed.context import PlacedContext
from tropalign.results.placements import Placements

FIELDS = ("edge_num", "likelihood", "like_weight_ratio", "distal_length", "pendant_length")
SEPARATOR = b",\n"


def encode(placements: Placements, context: PlacedContext) -> bytes:
    """Return an entry per placed read: all its best branches, with equal weights, each at its middle.

    A score separates the best branches from others, but does not give their probabilities. So all branches with the
    best score are listed, for any number of them, and the weights of a read sum to 1.
    """
    entries = []
    distal = [json.dumps(float(f"{length / 2:.10g}")) for length in context.branch_lengths.tolist()]
    begins = placements.tied_offsets.tolist()
    counts = context.counts(placements.names).tolist()
    for k, name in enumerate(placements.names):
        listed = placements.tied_branches[begins[k] : begins[k + 1]].tolist()
        if placements.branch[k] < 0 or not listed:
            continue
        shared = f"{float(placements.score[k])}, {1.0 / len(listed)}"
        branches = ", ".join([f"[{branch}, {shared}, {distal[branch]}, 0.0]" for branch in listed])
        entries.append(f'{{"p": [{branches}], "nm": {json.dumps([[name, counts[k]]])}}}'.encode())
    return SEPARATOR.join(entries)


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the tree, the entries, and the end."""
    meta = {"invocation": header.command, "likelihood": "the alignment score"}
    frame = {"version": 3, "tree": context.newick, "fields": FIELDS, "metadata": meta}
    out.write(json.dumps(frame, indent=0)[:-2].encode() + b',\n"placements": [\n')
    is_first = True
    for part in parts:
        if part:
            out.write(part if is_first else SEPARATOR + part)
            is_first = False
    out.write(b"\n]}\n")


JPLACE = Codec(encode, assemble, assembled_with=("newick",))
