"""jplace (Matsen et al. 2012): the best branches of each read."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tropalign.results.placements import Placements


def jplace_entries(placements: Placements, lengths: NDArray[np.float64]) -> Iterator[str]:
    """An entry a placed read: its best branches, which share its weight, each at its middle."""
    for k, name in enumerate(placements.names):
        if placements.branch[k] < 0:
            continue
        weight = 1.0 / int(placements.ties[k])
        score = float(placements.score[k])
        branches = [[b, score, weight, float(f"{lengths[b] / 2:.10g}"), 0.0] for b in placements.tied[k].tolist()]
        yield json.dumps({"p": branches, "nm": [[name, 1]]})


def jplace_frame(newick: str, invocation: str) -> tuple[str, str]:
    """What comes before and after the entries."""
    fields = ["edge_num", "likelihood", "like_weight_ratio", "distal_length", "pendant_length"]
    meta = {"invocation": invocation, "likelihood": "the alignment score"}
    head = json.dumps({"version": 3, "tree": newick, "fields": fields, "metadata": meta}, indent=0)[:-2]
    return head + ',\n"placements": [\n', "\n]}\n"
