"""Guide trees as text: Newick on one line, and as CLUSTALW writes and reads them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.format import Codec, concatenated
from tropalign.formats.newick import parse_newick
from tropalign.results.multiple import MultipleAlignment


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
    root = parse_newick(newick, "the tree")
    pieces: list[str] = []
    stack: list[Any] = [root]
    while stack:
        at = stack.pop()
        if isinstance(at, str):
            pieces.append(at)
        elif at.clades:
            end = ";\n" if at is root else f"\n{_length(at)}"
            stack.append(f"){end}")
            for child in reversed(at.clades):
                stack += [child, ",\n"]
            stack[-1] = "(\n"
        else:
            end = ";\n" if at is root else _length(at)
            pieces.append(_NOT_IN_NAMES.sub("_", at.name or "") + end)
    return "".join(pieces)


def _length(clade: Any) -> str:
    return f":{np.float32(clade.branch_length or 0.0)!s}"


NEWICK = Codec(encode_newick, concatenated())
DND = Codec(encode_dnd, concatenated())
