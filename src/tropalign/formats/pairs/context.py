"""Context of pair formats: the sequences and their scoring."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.pairs import MATRIX_LAYOUTS
from tropalign.results import MatrixValue
from tropalign.results.aligned_pairs import DEPTHS
from tropalign.results.names import DEFINITIONS
from tropalign.results.output_columns import OUTPUT_COLUMNS
from tropalign.results.rows import Named
from tropalign.sequences.alphabet import Alphabet, alphabet_saved

if TYPE_CHECKING:
    from tropalign.results.alignments import AlignmentTable


@dataclass(frozen=True, eq=False)
class Labels:
    """Names and lengths of sequences for merging shards; also letters and alphabet if a format shows residues."""

    names: tuple[str, ...] = ()
    lengths: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    letters: NDArray[np.uint8] | None = None
    alphabet: Alphabet | None = None
    is_stored = False  # like a batch in memory

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class PairsContext:
    """Sequences and scoring for formats of pairs.

    queries, targets: batches, or Labels after encoding. report: depth of the tables. is_triangle: all pairs of one
    set, each once. columns: names of `OUTPUT_COLUMNS` (tropalign.results.output_columns) for table formats; None for
    each format's default. has_whole_queries: each table has all pairs of its queries. identity: definition of the
    tables. substitution, gap: for formats that show them; None if unknown.
    """

    queries: Named = field(default_factory=Labels)
    targets: Named = field(default_factory=Labels)
    report: str = "alignment"
    both_strands: bool = False
    decimal_scores: bool = False
    is_triangle: bool = False
    matrix_values: str = "score"
    matrix_layout: str = "tsv"
    columns: tuple[str, ...] | None = None
    has_whole_queries: bool = False
    substitution: Any = None
    gap: Any = None
    identity: str = "columns"

    @classmethod
    def of_table(cls, table: AlignmentTable, **more: Any) -> PairsContext:
        """Make the context of a table, and of others of the same sequences."""
        return cls(
            table.queries, table.targets, table.depth, table.strand is not None,
            table.score.dtype.kind == "f", identity=table.identity_definition, **more,
        )  # fmt: skip

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return these fields as JSON; sequences by names and lengths, targets as None if they are the queries.

        With the field "letters", sequences include their letters and alphabet.
        """
        entries: dict[str, Any] = {}
        for name in fields:
            if name == "letters":
                continue
            value = getattr(self, name)
            if name == "targets" and "queries" in fields and value is self.queries:
                entries[name] = None
            elif name in ("queries", "targets"):
                entries[name] = {"names": list(value.names), "lengths": value.lengths.tolist()}
                if "letters" in fields and value.letters is not None:
                    text = value.letters.tobytes().decode("latin-1")
                    entries[name] |= {"letters": text, "alphabet": value.alphabet.saved}
            else:
                entries[name] = value
        return entries

    @classmethod
    def restore(cls, entries: Any) -> PairsContext:
        """Make a context from JSON, with defaults for missing fields. Raises ValueError, KeyError or TypeError."""
        known: dict[str, Any] = {}
        allowed: dict[str, tuple[Any, ...]] = {
            "report": DEPTHS,
            "both_strands": (False, True),
            "decimal_scores": (False, True),
            "is_triangle": (False, True),
            "matrix_values": get_args(MatrixValue),
            "matrix_layout": tuple(MATRIX_LAYOUTS),
            "identity": tuple(DEFINITIONS),
        }
        for name, value in entries.items():
            if name in ("queries", "targets"):
                known[name] = known["queries"] if name == "targets" and value is None else _labels(value)
            elif name == "columns":
                known[name] = None if value is None else _columns(value)
            elif value in allowed[name]:
                known[name] = value
            else:
                raise ValueError(f"{name} cannot be {value!r}")
        return cls(**known)


def _columns(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not names or any(name not in OUTPUT_COLUMNS for name in names):
        raise ValueError("columns must be a list of names")
    return tuple(names)


def _labels(entries: Any) -> Labels:
    names, lengths = entries["names"], np.asarray(entries["lengths"])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError("names must be a list of strings")
    for name in names:
        name.encode()
    if lengths.shape != (len(names),) or (len(names) and lengths.dtype != np.int64) or (lengths < 0).any():
        raise ValueError("lengths must be integers, one per name")
    lengths = lengths.astype(np.int64)
    if "letters" not in entries:
        return Labels(tuple(names), lengths)
    letters = np.frombuffer(entries["letters"].encode("latin-1"), np.uint8)
    if len(letters) != lengths.sum():
        raise ValueError("the number of letters must equal the sum of the lengths")
    return Labels(tuple(names), lengths, letters, alphabet_saved(entries["alphabet"]))
