"""Trees as text: Newick on one line, as CLUSTALW writes and reads them, and NEXUS.

A part is a tree in Newick format. What is written is a `tropalign.trees.Tree`, or an alignment with its guide tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

from tropalign.formats.aligned.text import nexus_header
from tropalign.formats.format import Codec, concatenated
from tropalign.formats.header import Header
from tropalign.formats.trees import TreesContext
from tropalign.results.multiple import MultipleAlignment
from tropalign.trees.newick import Nodes, newick_text, parse_newick

#: Digits of branch lengths behind the point.
DIGITS = 8
#: What CLUSTALW has an underscore for, in sequences' names, too: all others stay, or it would not find the sequence.
_NOT_IN_NAMES = re.compile(r"[\s:,;()]")
#: A word of NEXUS that needs no quotes: an underscore in one without quotes means a blank.
_PLAIN_WORD = re.compile(r"[A-Za-z0-9.]+")


def encode_newick(result: Any, context: TreesContext) -> bytes:
    """The tree on one line."""
    newick = result.tree if isinstance(result, MultipleAlignment) else result.newick(DIGITS)
    return f"{newick}\n".encode()


def nodes_of(parts: Iterable[bytes]) -> Nodes:
    """The nodes of the tree that `encode_newick` wrote."""
    return parse_newick(b"".join(parts).decode(), "the tree")


def encode_dnd(result: Any, context: TreesContext) -> bytes:
    """The tree as CLUSTALW has it."""
    return dnd_text(encode_newick(result, context).decode()).encode()


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


def assemble_nexus(parts: Iterable[bytes], out: IO[bytes], header: Header, context: TreesContext) -> None:
    """A block of taxa and one of the tree, support as labels of inner nodes, which all programs read."""
    nodes = nodes_of(parts)
    below = nodes.children()
    taxa = [_word(name) for name, children in zip(nodes.names, below, strict=True) if not children]
    out.write(nexus_header(header, context))
    out.write(f"\nbegin taxa;\n  dimensions ntax={len(taxa)};\n  taxlabels\n".encode())
    out.write("".join(f"    {name}\n" for name in taxa).encode())
    root = "U" if len(below[0]) > 2 else "R"
    tree = f"tree {_word(context.title)} = [&{root}] {_nexus_tree(nodes, below)}"
    out.write(f"  ;\nend;\n\nbegin trees;\n  {tree}\nend;\n".encode())


def _nexus_tree(nodes: Nodes, below: list[list[int]]) -> str:
    texts = []
    for name, support, length in zip(nodes.names, nodes.support, nodes.lengths, strict=True):
        label = f"{support:g}" if support is not None else _word(name) if name else ""
        texts.append(label if length is None else f"{label}:{length:.{DIGITS}f}")
    return newick_text(below, texts, 0)


def _word(name: str) -> str:
    """A name as a word of NEXUS."""
    return name if _PLAIN_WORD.fullmatch(name) else "'" + name.replace("'", "''") + "'"


NEWICK = Codec(encode_newick, concatenated())
DND = Codec(encode_dnd, concatenated())
NEXUS = Codec(encode_newick, assemble_nexus, needs_all=True)
