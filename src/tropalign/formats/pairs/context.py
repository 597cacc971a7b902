"""What formats of pairs need beside the tables: the sequences, and how they were scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.pairs import MATRIX_LAYOUTS
from tropalign.results import MatrixValue
from tropalign.results.identity_names import DEFINITIONS
from tropalign.results.kept_columns import DEPTHS
from tropalign.results.output_columns import OUTPUT_COLUMNS
from tropalign.results.rows import Named
from tropalign.sequences.alphabet import ALPHABETS, Alphabet


@dataclass(frozen=True, eq=False)
class Labels:
    """Names and lengths of sequences, where shards are merged; letters and alphabet where a format shows letters."""

    names: tuple[str, ...] = ()
    lengths: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    letters: NDArray[np.uint8] | None = None
    alphabet: Alphabet | None = None

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class PairsContext:
    """What a format needs beside the tables: the sequences, and how they were scored.

    Attributes
    ----------
    queries, targets
        What the tables' indices point into; batches, or Labels where nothing is encoded any more.
    report
        Depth of the tables.
    both_strands
        Whether the tables have a strand column.
    decimal_scores
        Whether scores are floats.
    is_triangle
        All pairs of one set, each once.
    matrix_values : {"score", "identity", "distance"}
    matrix_layout : {"tsv", "phylip", "npz"}
    columns
        The columns that the formats of tables show, names of `OUTPUT_COLUMNS` (tropalign.results.output_columns); None:
        those that each shows by itself.
    has_whole_queries
        Whether each table has all pairs of its queries.
    identity
        The definition of identity of the tables.
    substitution, gap
        The SubstitutionMatrix and Gap, where the format shows them; None when unknown.
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

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """These fields as JSON; of sequences names and lengths, and None for targets that are the queries.

        With the field "letters" sequences have those and their alphabet, too.
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
                    entries[name] |= {"letters": text, "alphabet": value.alphabet.name}
            else:
                entries[name] = value
        return entries

    @classmethod
    def restore(cls, entries: Any) -> PairsContext:
        """Makes a context of JSON, other fields as by default; ValueError, KeyError or TypeError where it is none."""
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
        raise ValueError("columns are a list of names")
    return tuple(names)


def _labels(entries: Any) -> Labels:
    names, lengths = entries["names"], np.asarray(entries["lengths"])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError("names are a list of text")
    for name in names:
        name.encode()
    if lengths.shape != (len(names),) or (len(names) and lengths.dtype != np.int64) or (lengths < 0).any():
        raise ValueError("lengths are whole numbers, one per name")
    lengths = lengths.astype(np.int64)
    if "letters" not in entries:
        return Labels(tuple(names), lengths)
    letters = np.frombuffer(entries["letters"].encode("latin-1"), np.uint8)
    if len(letters) != lengths.sum():
        raise ValueError("as many letters as the lengths say")
    return Labels(tuple(names), lengths, letters, ALPHABETS[entries["alphabet"]])
