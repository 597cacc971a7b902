"""Complete tables of pairs with their sequences, for `read_result`."""

from __future__ import annotations

from typing import Any, cast

from tropalign.formats.pairs.context import PairsContext
from tropalign.formats.result_file import Packed, result_format
from tropalign.formats.saved_results import batch_packed
from tropalign.results.alignments import AlignmentTable, arrays_of, empty_table


def pack(table: AlignmentTable, context: PairsContext) -> Packed:
    """Pack the columns."""
    return {}, arrays_of(table)


def whole(context: PairsContext) -> Packed:
    """Pack depth and sequences."""
    notes, arrays = batch_packed(context.queries, "queries")
    if context.targets is not context.queries:
        more_notes, more_arrays = batch_packed(context.targets, "targets")
        notes, arrays = notes | more_notes, arrays | more_arrays
    if context.identity != "columns":
        notes["identity"] = context.identity
    return {"depth": context.report, **notes}, arrays


def _empty(context: PairsContext) -> Packed:
    queries, targets = cast(Any, context.queries), cast(Any, context.targets)
    return {}, arrays_of(empty_table(queries, targets, context.report, context.both_strands, context.decimal_scores))


RESULT = result_format(
    "pairs",
    pack,
    whole,
    _empty,
    assembled_with=("queries", "targets", "letters", "report", "both_strands", "decimal_scores", "identity"),
)
