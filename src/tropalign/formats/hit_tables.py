"""What the formats of the table of domains share: their rows in groups of a fixed number, however the run was cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tropalign.errors import InputError
from tropalign.results.columns import arrow_batch
from tropalign.results.hit_tables import DOMAINS, Columns
from tropalign.results.hits import Hits

#: Rows of a batch, a row group of Parquet.
GROUP_ROWS = 1 << 16


def groups(pieces: Iterator[Hits]) -> Iterator[Columns]:
    """The table of domains in groups of GROUP_ROWS, the last one shorter."""
    waiting: list[Columns] = []
    n_rows = 0
    for hits in pieces:
        waiting.append(hits.domains.columns())
        n_rows += len(waiting[-1]["bits"])
        if n_rows < GROUP_ROWS:
            continue
        whole, n_left = _concatenated(waiting), n_rows % GROUP_ROWS
        for end in range(GROUP_ROWS, n_rows + 1, GROUP_ROWS):
            yield {name: values[end - GROUP_ROWS : end] for name, values in whole.items()}
        waiting, n_rows = [{name: values[n_rows - n_left :] for name, values in whole.items()}], n_left
    if n_rows:
        yield _concatenated(waiting)


def _concatenated(tables: list[Columns]) -> Columns:
    return {name: _joined([table[name] for table in tables]) for name in DOMAINS}


def _joined(pieces: list[Any]) -> Any:
    if isinstance(pieces[0], list):
        return [text for piece in pieces for text in piece]
    return np.concatenate(pieces)


def batch_of(columns: Columns) -> Any:
    """The columns as a nanoarrow array of structs."""
    return arrow_batch(columns)


def no_rows() -> Columns:
    """The table without a row, for the schema."""
    return {name: [] if dtype is str else np.zeros(0, dtype) for name, (dtype, _) in DOMAINS.items()}


def require_pyarrow() -> None:
    """Raises InputError with the remedy when pyarrow is absent."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError(
            "Parquet needs pyarrow: pip install 'tropalign[parquet]', or choose another --format"
        ) from None
