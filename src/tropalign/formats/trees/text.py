"""Guide trees as text: Newick on one line, and as CLUSTALW writes and reads them."""

from __future__ import annotations

import re

import numpy as np

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.format import Codec, concatenated
from tropalign.results.multiple import MultipleAlignment
from tropalign.trees.newick import parse_newick


def encode_newick(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The tree on one line."""
    return f"{alignment.tree}\n".encode()


#: What CLUSTALW has an underscore for, in sequences' names, too: all others stay, or it would not find the sequence.
_NOT_IN_NAMES = re.compile(r"[\s:,;()]")


def encode_dnd(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The guide tree."""
    return dnd_text(str(alignment.tree)).encode()


def dnd_text(newick: str) -> str:
    """A tree in Newick format with lengths of 32 bits, which CLUSTALW keeps."""
    nodes = parse_newick(newick, "the tree")
    below = nodes.children()
    pieces: list[str] = []
    stack: list[int | str] = [0]
    while stack:
        at = stack.pop()
        if isinstance(at, str):
            pieces.append(at)
            continue
        end = f":{np.float32(nodes.lengths[at] or 0.0)!s}" if at else ";\n"
        if not below[at]:
            pieces.append(_NOT_IN_NAMES.sub("_", nodes.names[at]) + end)
            continue
        stack.append(f"){end}" if not at else f")\n{end}")
        for child in reversed(below[at]):
            stack += [child, ",\n"]
        stack[-1] = "(\n"
    return "".join(pieces)


NEWICK = Codec(encode_newick, concatenated())
DND = Codec(encode_dnd, concatenated())
