"""Writing aligned pairs to files from Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, get_args

from tropalign.errors import UsageError
from tropalign.execution.files import output_name
from tropalign.formats.format import format_for_path, format_of, suffix_of, write
from tropalign.formats.pairs import layout_of
from tropalign.formats.pairs.context import PairsContext
from tropalign.pairwise.translated import check_shown
from tropalign.results import MatrixValue, aligned_pairs
from tropalign.results.alignments import AlignmentTable, warn_of_local
from tropalign.results.names import AlignmentsFormat
from tropalign.results.output_columns import own_names

if TYPE_CHECKING:
    from tropalign.scoring import Gap, SubstitutionMatrix


def write_alignments(
    tables: AlignmentTable | Iterable[AlignmentTable],
    path: str | os.PathLike[str],
    format: AlignmentsFormat | None = None,
    *,
    matrix: SubstitutionMatrix | None = None,
    gap: Gap | None = None,
    matrix_values: MatrixValue | None = None,
) -> None:
    """Write aligned pairs like ``tropalign pairs``; the file appears whole or not at all.

    Parameters
    ----------
    tables
        A table, or several of the same sequences as yielded by `align_all`; one at a time is held in memory.
    path
        ``-`` is standard output; a suffix such as ``.gz`` compresses.
    format
        Any of the command line's, such as "tsv", "paf", "sam", "bam", "parquet"; by default inferred from the
        suffix of the path.
    matrix, gap
        Scoring of the pairs, for formats that show it (srspair).
    matrix_values : {"score", "identity", "distance"}
        Values of the format "matrix"; by default the distance in PHYLIP files and the score in others.

    Raises
    ------
    UsageError
        A format or suffix does not exist; `tables` is empty or holds something else; or tables differ in their
        sequences.
    InputError
        The format cannot show the pairs, or lacks a package; or the file cannot be written.
    ResourceError
        The disk is full.

    Examples
    --------
    >>> tables = tropalign.align_all({"a": "MKVLAW", "b": "MKILAW", "c": "KVLAW"})
    >>> tropalign.write_alignments(tables, "-", "paf")
    a	6	0	6	+	b	6	0	6	5	6	255	AS:i:32	cg:Z:2=1X3=	NM:i:1	de:f:0.1667	cs:Z::2*iv:3
    a	6	1	6	+	c	5	0	5	5	5	255	AS:i:28	cg:Z:5=	NM:i:0	de:f:0.0000	cs:Z::5
    b	6	1	6	+	c	5	0	5	4	5	255	AS:i:27	cg:Z:1=1X3=	NM:i:1	de:f:0.2000	cs:Z::1*vi:3
    """
    output = output_name(path)
    name = format_for_path("pairs", output) if format is None else format
    first, every = _tables(tables)
    suffix = suffix_of(output)
    layout = layout_of(suffix)
    values: MatrixValue = matrix_values or ("distance" if layout == "phylip" else "score")
    if values not in get_args(MatrixValue):
        raise UsageError(f"matrix_values {matrix_values!r} is not one of {', '.join(get_args(MatrixValue))}")
    is_set = first.queries is first.targets
    if name == "matrix" and layout == "phylip" and (values != "distance" or not is_set):
        raise UsageError(
            "PHYLIP contains the distances of a single set: use matrix_values='distance' and the pairs of one set"
        )
    context = PairsContext.of_table(
        first, matrix_values=values, matrix_layout=layout, is_triangle=is_set, substitution=matrix, gap=gap
    )
    is_translated = first.query_frames is not None or first.target_frames is not None
    if is_translated:
        check_shown(name)
        if name == "matrix":
            queries, targets = (aligned_pairs.given(first, side)[0] for side in ("query", "target"))
            context = replace(context, queries=queries, targets=targets)
    if (is_translated or first.hsp is not None) and not format_of("pairs", name).own_columns:
        context = replace(context, columns=own_names(first))
    if name == "matrix":
        warn_of_local(first, values)
    write("pairs", every, output, name, "write_alignments", context)


def _tables(tables: Any) -> tuple[AlignmentTable, Iterator[AlignmentTable]]:
    """Return the first table, and an iterator over all tables that checks that their sequences are the same."""
    if isinstance(tables, AlignmentTable):
        return tables, iter([tables])
    if not isinstance(tables, Iterable) or isinstance(tables, str | bytes):
        raise UsageError(
            f"an object of type {type(tables).__name__} is not an AlignmentTable: give the output of align_all"
        )
    given = iter(tables)
    first = next(given, None)
    if first is None:
        raise UsageError("there is no table to write: give at least one")

    def checked() -> Iterator[AlignmentTable]:
        for table in chain([first], given):
            if not isinstance(table, AlignmentTable):
                raise UsageError(f"an object of type {type(table).__name__} is not an AlignmentTable")
            if any(a is not b and a != b for a, b in zip(_kind(table), _kind(first), strict=True)):
                raise UsageError(
                    "tables with different sequences, depths or strands cannot share a file: write two files"
                )
            yield table

    every = checked()
    return (first, every) if isinstance(first, AlignmentTable) else (next(every), every)  # raises the error


def _kind(table: AlignmentTable) -> tuple[Any, ...]:
    optional = table.strand is None, table.hsp is None
    return (table.queries, table.targets, table.depth, *optional, table.score.dtype)
