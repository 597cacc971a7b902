"""Trees as text: Newick on one line, CLUSTALW's form of it, NEXUS; and the distances between trees.

A part is a tree in Newick format, in NEXUS below a line with its name.
The result is a `tropalign.trees.Tree`, or an alignment with its guide tree.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, shown
from tropalign.formats.aligned.text import nexus_header
from tropalign.formats.distance_matrix import VALUES, phylip_names
from tropalign.formats.format import Codec, Concatenated, Header
from tropalign.formats.trees import ComparisonContext, TreesContext
from tropalign.results.multiple import MultipleAlignment
from tropalign.results.newick import Nodes, clustalw_name, newick_text, parse_newick
from tropalign.results.rooting import parted
from tropalign.results.tree import TreeComparisons

#: Names that CLUSTALW accepts but that other programs cannot read without quotes.
_NEEDS_QUOTES = re.compile(r"""['"{].*|.*[\[\]].*|""")
#: A NEXUS token that needs no quotes; an underscore in an unquoted one means a blank.
_PLAIN_WORD = re.compile(r"[A-Za-z0-9.]+")


def encode_newick(result: Any, context: TreesContext) -> bytes:
    """Return the tree on one line."""
    newick = result.tree if isinstance(result, MultipleAlignment) else result.newick(result.digits)
    return f"{newick}\n".encode()


def nodes_of(parts: Iterable[bytes]) -> Nodes:
    """Return the nodes of the tree that `encode_newick` wrote."""
    return parse_newick(b"".join(parts).decode(), "the tree")


def encode_dnd(result: Any, context: TreesContext) -> bytes:
    """Return the tree in CLUSTALW's form, with computed lengths as float32."""
    is_computed = isinstance(result, MultipleAlignment) or result.digits is not None
    nodes = nodes_of([encode_newick(result, context)])
    below = nodes.children()
    # Names of tips, in quotes only if they could not be read again without them.
    words = {name: clustalw_name(name) for name, children in zip(nodes.names, below, strict=True) if not children}
    times = Counter(words.values())
    for name, word in words.items():
        if times[word] > 1 or _NEEDS_QUOTES.fullmatch(word):
            words[name] = "'" + name.replace("'", "''") + "'"
    pieces: list[str] = []
    stack: list[int | str] = [0]
    while stack:
        at = stack.pop()
        if isinstance(at, str):
            pieces.append(at)
            continue
        length = nodes.lengths[at]  # a non-zero length never becomes 0
        text = "" if length is None else f":{np.float32(length) or length if is_computed else length!s}"
        support = parted(nodes.labels[at])[1] if below[at] else ""
        end = text + (f"[{support}]" if support else "") if at else ";\n"
        if not below[at]:
            pieces.append(words[nodes.names[at]] + end)
            continue
        stack.append(f"){end}" if not at else f")\n{end}")
        for child in reversed(below[at]):
            stack += [child, ",\n"]
        stack[-1] = "(\n"
    return "".join(pieces).encode()


def encode_nexus(result: Any, context: TreesContext) -> bytes:
    """Return the tree's name and the tree, a line each."""
    return " ".join(getattr(result, "name", "").split()).encode() + b"\n" + encode_newick(result, context)


def assemble_nexus(parts: Iterable[bytes], out: IO[bytes], header: Header, context: TreesContext) -> None:
    """Write a block of taxa and one of the trees, with support as labels of inner nodes, which all programs read."""
    named = [part.partition(b"\n") for part in parts]
    taxa: dict[str, None] = {}
    statements = []
    for k, (name, _, newick) in enumerate(named, 1):
        nodes = nodes_of([newick])
        below = nodes.children()
        taxa |= {_word(name): None for name, children in zip(nodes.names, below, strict=True) if not children}
        root = "U" if len(below[0]) > 2 else "R"
        texts = []
        for label, support, length in zip(nodes.labels, nodes.support, nodes.lengths, strict=True):
            label = _word(label) if label and support is None else label
            texts.append(label if length is None else f"{label}:{length!r}")
        title = context.title if len(named) == 1 else name.decode() or f"{context.title}_{k}"
        statements.append(f"tree {_word(title)} = [&{root}] {newick_text(below, texts, 0)}")
    out.write(nexus_header(header, context))
    out.write(f"\nbegin taxa;\n  dimensions ntax={len(taxa)};\n  taxlabels\n".encode())
    out.write("".join(f"    {name}\n" for name in taxa).encode())
    out.write(b"  ;\nend;\n\nbegin trees;\n")
    out.write("".join(f"  {statement}\n" for statement in statements).encode() + b"end;\n")


def _word(name: str) -> str:
    """Return a name as a NEXUS token."""
    return name if _PLAIN_WORD.fullmatch(name) else "'" + name.replace("'", "''") + "'"


NEWICK = Codec(encode_newick, Concatenated())
DND = Codec(encode_dnd, Concatenated())
NEXUS = Codec(encode_nexus, assemble_nexus, needs_all=True)


def lengths_of(nodes: Nodes) -> NDArray[Any]:
    """Return branch lengths, 0 if missing: float32 unless that makes a length 0 or infinite, else float64."""
    lengths = np.array([0.0, *(length or 0.0 for length in nodes.lengths[1:])])
    with np.errstate(over="ignore"):
        small = lengths.astype(np.float32)
    return small if np.isfinite(small).all() and ((small != 0) == (lengths != 0)).all() else lengths


def numbered_tree(text: str) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """Return the nodes of a tree that `PlacementTree.newick` wrote: names ("" if missing), and arrays by name.

    Nodes are parents first, children in the order of the text. Arrays: parent (int32, -1 above the root, node 0),
    length (`lengths_of`), branch (int32, -1 above the root). Raises InputError for other text.
    """
    damaged = InputError("the tree of a placement is damaged: write the shard again")
    try:
        nodes = parse_newick(text, "", has_numbers=True)
    except InputError:
        raise damaged from None
    if len(nodes.parents) < 2 or None in nodes.numbers[1:] or None in nodes.lengths[1:]:
        raise damaged
    return nodes.names, {
        "parent": np.array(nodes.parents, np.int32),
        "length": lengths_of(nodes),
        "branch": np.array([-1, *nodes.numbers[1:]], np.int32),
    }


COMPARED_COLUMNS = ("tree", "other", "n_taxa", "rf", "max_rf", "normalised_rf", "branch_score", "weighted_rf")


def _text(value: object) -> str:
    """Return a cell; missing numbers are ``*``."""
    if isinstance(value, float):
        return "*" if math.isnan(value) else f"{value:.10g}"
    return shown(value) if isinstance(value, str) else str(value)


def encode_tsv(found: TreeComparisons, context: ComparisonContext) -> bytes:
    """Return the rows of the table, or the matrix with the names of its columns."""
    if context.distance is None:
        columns = found.columns().values()
        values = [column if isinstance(column, list) else column.tolist() for column in columns]
        lines = ["\t".join(map(_text, row)) for row in zip(*values, strict=True)]
    else:
        lines = ["\t".join(["", *map(shown, found.other_names)])]
        rows = found.matrix(context.distance).tolist()  # type: ignore[arg-type]
        lines += ["\t".join([shown(name), *map(_text, row)]) for name, row in zip(found.names, rows, strict=True)]
    return "".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace")


def assemble_tsv(parts: Iterable[bytes], out: IO[bytes], header: Header, context: ComparisonContext) -> None:
    """Write comment lines, column names and rows; before a matrix, instead, the line that `tree` reads."""
    if context.distance is None:
        out.write(header.above(COMPARED_COLUMNS))
    elif header.has_comments:
        out.write(VALUES + b" distance\n")
    for part in parts:
        out.write(part)


def encode_phylip(found: TreeComparisons, context: ComparisonContext) -> bytes:
    """Return the square matrix of one distance between all trees."""
    if context.distance is None or not found.is_each_pair:
        raise UsageError("PHYLIP holds one distance of trees that are compared with each other: write a .tsv instead")
    rows = found.matrix(context.distance).tolist()  # type: ignore[arg-type]
    if any(map(math.isnan, chain.from_iterable(rows))):
        raise InputError(f"{context.distance} needs branch lengths, which a tree lacks: choose rf, or write a .tsv")
    words = Counter("_".join(name.split()) for name in found.names)
    if (word := max(words, key=words.__getitem__)) and words[word] > 1:
        raise InputError(
            f"{words[word]} trees are called {shown(word)}, and a PHYLIP matrix requires different names: rename them, "
            "or write a .tsv"
        )
    lines = [" ".join([name, *map(_text, row)]) for name, row in zip(phylip_names(found.names), rows, strict=True)]
    return "".join(f"{line}\n" for line in (len(rows), *lines)).encode("utf-8", "backslashreplace")


def assemble_phylip(parts: Iterable[bytes], out: IO[bytes], header: Header, context: ComparisonContext) -> None:
    """Write the matrix."""
    for part in parts:
        out.write(part)


TSV = Codec(encode_tsv, assemble_tsv, needs_all=True)
PHYLIP = Codec(encode_phylip, assemble_phylip, needs_all=True)
