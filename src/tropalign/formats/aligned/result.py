"""Complete alignment with confidence and guide tree, for `read_result`."""

from __future__ import annotations

from typing import Any

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.result_file import Packed, result_format
from tropalign.formats.saved_results import batch_packed
from tropalign.results.multiple import MultipleAlignment


def pack(alignment: MultipleAlignment, context: AlignedContext) -> Packed:
    """Pack the alignment with its sequences, confidence and tree."""
    notes, arrays = batch_packed(alignment.sequences, "sequences")
    known: dict[str, Any] = {
        name: values
        for name in ("columns", "residue_confidence", "column_confidence", "is_node", "is_masked")
        if (values := getattr(alignment, name)) is not None
    }
    return {"n_columns": alignment.n_columns, "tree": alignment.tree, **notes}, arrays | known


RESULT = result_format("aligned", pack)
