"""Self-contained web page of a tree: no network, no other file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.format import Codec, Header
from tropalign.formats.pages import Report, write_report_page
from tropalign.formats.trees import TreesContext
from tropalign.formats.trees.groups import colours, groups_of
from tropalign.formats.trees.text import encode_newick, lengths_of, nodes_of
from tropalign.results.newick import Nodes
from tropalign.results.rooting import is_of_branch

PAGE = "tree"
SCRIPTS = ("viewer/layout.js", "viewer/view.js", "roots.js", "family.js", "page.js")


def columns_of(nodes: Nodes) -> dict[str, NDArray[Any]]:
    """Return numbers per node: parent (-1 for the root), length (0 if missing) and support (NaN if missing)."""
    missing = math.nan
    return {
        "parent": np.array(nodes.parents, np.int32),
        "length": lengths_of(nodes),
        "support": np.array([missing if value is None else value for value in nodes.support], np.float32),
    }


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: TreesContext) -> None:
    """Write the page."""
    nodes = nodes_of(parts)
    is_tip = np.ones(len(nodes.parents), bool)
    is_tip[nodes.parents[1:]] = False
    tips = [name if tip else "" for name, tip in zip(nodes.names, is_tip.tolist(), strict=True)]
    inner = np.flatnonzero(~is_tip).tolist()
    labels = {node: nodes.names[node] for node in inner if is_of_branch(nodes.names[node])}
    used, numbers = groups_of(tips, context.groups)
    palette = [colours(k) for k in range(len(used))]
    data = {
        "title": context.title,
        "names": ["" if node in labels else name for node, name in enumerate(nodes.names)],
        "labels": labels,
        "has_labels": any(nodes.names[node] for node in inner),
        "has_lengths": any(nodes.lengths[1:]),
        "has_midpoint": None not in nodes.lengths[1:],
        "groups": [
            {"name": name, "light": light, "dark": dark} for name, (light, dark) in zip(used, palette, strict=True)
        ],
    }
    arrays = {**columns_of(nodes), "group": np.array(numbers, np.int64)}
    write_report_page(out, Report(PAGE, SCRIPTS, f"Tree: {context.title}", data, arrays), header)


HTML = Codec(encode_newick, assemble, assembled_with=("title", "groups"), is_binary=True, needs_all=True)
