"""Context of placed-read formats: the reference, and the layout of its alignment."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.sequences.annotations import Teller, counts_of, labelled_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tropalign.results.clusters import OtuTable
    from tropalign.results.placements import BranchLineages

INSERTIONS = ("drop", "columns")
WHICH = ("all", "reads", "reference")
MORE = ("", "lineages")
#: Fields with several texts.
TEXTS = ("names", "samples")


@dataclass(frozen=True, eq=False)
class PlacedContext:
    """Reference and layout for formats of placed reads.

    names, letters: rows of the reference alignment, as written. newick: the tree with numbered branches. clades:
    description of each branch, for the table. insertions: drop residues between reference columns, or give them new
    columns. which: rows of the alignment. more: whether the table has columns of lineages. lineages: of the tips
    below each branch. page_bytes: memory limit for making a report; None for no limit. samples, otus: the table of
    counts, if reads stand for its rows. tell: finds the sample in a read's name, without a table; empty if there is
    none in it.
    """

    names: tuple[str, ...] = ()
    letters: NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, 0), np.uint8))
    newick: str = ""
    clades: tuple[str, ...] = ()
    branch_lengths: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    insertions: str = "drop"
    which: str = "all"
    more: str = ""
    lineages: BranchLineages | None = None
    page_bytes: int | None = None
    samples: tuple[str, ...] = ()
    otus: OtuTable | None = None
    tell: Teller = labelled_sample

    def __post_init__(self) -> None:
        if self.insertions not in INSERTIONS or self.which not in WHICH:
            raise ValueError(f"insertions must be one of {', '.join(INSERTIONS)}, and which one of {', '.join(WHICH)}")
        if self.letters.dtype != np.uint8 or self.letters.ndim != 2 or len(self.letters) != len(self.names):
            raise ValueError("letters must be rows of uint8, one per name")
        if self.more not in MORE:
            raise ValueError(f"more must be one of {', '.join(map(repr, MORE))}")

    @property
    def has_lineages(self) -> bool:
        """True if the table has columns of lineages."""
        return self.more == "lineages"

    def counts_by_sample(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return counts per read and sample, int64, shape (n, n_samples); a single column without samples."""
        if self.otus is None:
            return counts_of(names)[:, None]
        rows, table = self.otus.rows_of(names), self.otus
        found = np.zeros((len(names), len(table.samples)), np.int64)
        begins, ends = (np.searchsorted(table.cluster, rows, side) for side in ("left", "right"))
        for read, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
            found[read, table.sample[begin:end]] = table.reads[begin:end]
        return found

    def counts(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of sequences that each read stands for, over all samples; int64, shape (n,)."""
        totals: NDArray[np.int64] = self.counts_by_sample(names).sum(axis=1)
        return totals

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return these fields as JSON."""
        entries: dict[str, Any] = {}
        for name in fields:
            value = getattr(self, name)
            if name == "letters":
                packed = base64.b64encode(zlib.compress(value.tobytes())).decode()
                entries[name] = {"shape": list(value.shape), "packed": packed}
            else:
                entries[name] = list(value) if name in TEXTS else value
        return entries

    @classmethod
    def restore(cls, entries: Any) -> PlacedContext:
        """Make a context from JSON, with defaults for missing fields. Raises ValueError, KeyError or TypeError."""
        known: dict[str, Any] = {
            name: entries[name] for name in ("newick", "insertions", "which", "more") if name in entries
        }
        texts = {name: entries[name] for name in TEXTS if name in entries}
        if not all(isinstance(words, list) for words in texts.values()):
            raise TypeError("names must be lists")
        for word in [*known.values(), *(word for words in texts.values() for word in words)]:
            if not isinstance(word, str):
                raise TypeError("names and choices must be strings")
            word.encode()
        if set(entries) - {*known, *texts, "letters"}:
            raise ValueError("there are fields that no format requires")
        if "letters" in entries:
            known["letters"] = _letters(entries["letters"])
        known |= {name: tuple(words) for name, words in texts.items()}
        return cls(**known)


def _letters(entries: Any) -> NDArray[np.uint8]:
    n_rows, n_columns = entries["shape"]
    if not (isinstance(n_rows, int) and isinstance(n_columns, int)) or min(n_rows, n_columns) < 0:
        raise ValueError("a shape must be two sizes")
    try:
        # Limits inflation to the declared shape, so that a bomb is not fully inflated.
        unpacked = zlib.decompressobj().decompress(base64.b64decode(entries["packed"]), n_rows * n_columns + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    return np.frombuffer(unpacked, np.uint8).reshape(n_rows, n_columns)
