"""Distances between trees as a table, or one of them as a matrix."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import IO

from tropalign.errors import InputError, UsageError, shown
from tropalign.formats.distance_matrix import VALUES, phylip_names
from tropalign.formats.format import Codec, Header
from tropalign.formats.trees import ComparisonContext
from tropalign.results.tree import TreeComparisons

COLUMNS = ("tree", "other", "n_taxa", "rf", "max_rf", "normalised_rf", "branch_score", "weighted_rf")


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
        out.write(header.above(COLUMNS))
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
