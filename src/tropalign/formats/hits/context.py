"""What formats of hits need beside the hits: how they were searched for, and how text shows them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from tropalign.errors import UsageError
from tropalign.results.found_hits import ORIENTATIONS
from tropalign.results.threshold_options import Thresholds


@dataclass(frozen=True)
class HitsContext:
    """What a format needs beside the hits: how they were searched for, and how text shows them.

    Attributes
    ----------
    thresholds : Thresholds
        What is reported and included.
    orientation : {"search", "scan"}
        Whether queries are models or sequences.
    n_targets
        Targets of each query in all, by which a format knows that a query is complete; None where only the end of the
        parts tells.
    models, sequences
        Where both come from, for headers.
    f1, f2, f3
        P-values up to which targets passed the filters MSV, Viterbi and Forward.
    bias_filter, null2
        Whether there was a filter for biased composition, and a correction of scores for it.
    seed
        Of the random numbers; 0: other ones in each run.
    text_width
        Letters of a line of text; 0 for lines without a bound.
    shows_alignments, shows_accessions
        Of text: alignments below the tables; accessions in place of names.
    """

    thresholds: Thresholds = field(default_factory=Thresholds)
    orientation: str = "search"
    n_targets: int | None = None
    models: str = ""
    sequences: str = ""
    f1: float = 0.02
    f2: float = 1e-3
    f3: float = 1e-5
    bias_filter: bool = True
    null2: bool = True
    seed: int = 42
    text_width: int = 120
    shows_alignments: bool = True
    shows_accessions: bool = False

    def __post_init__(self) -> None:
        if self.orientation not in ORIENTATIONS:
            raise ValueError(f"orientation {self.orientation!r} is none of {', '.join(ORIENTATIONS)}")
        if self.text_width and self.text_width < 0:
            raise ValueError("a line of text has 0 letters or more")

    @property
    def is_unfiltered(self) -> bool:
        """Whether no filter left a target out."""
        return min(self.f1, self.f2, self.f3) >= 1 and not self.bias_filter

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """These fields as JSON."""
        found = {name: getattr(self, name) for name in fields}
        return found | ({"thresholds": self.thresholds.values()} if "thresholds" in found else {})

    @classmethod
    def restore(cls, entries: Any) -> HitsContext:
        """Makes a context of JSON, other fields as by default; ValueError, KeyError or TypeError where it is none."""
        plain = cls()
        known: dict[str, Any] = {}
        for name, value in entries.items():
            if name == "thresholds":
                known[name] = _thresholds(value)
            elif name == "n_targets":
                known[name] = None if value is None else _number(value, int)
            else:
                known[name] = _number(value, type(getattr(plain, name)))
        return cls(**known)


def _number(value: Any, kind: type[Any]) -> Any:
    """The value, where it is of this kind; a whole number is a float, too."""
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _thresholds(entries: Any) -> Thresholds:
    try:
        return Thresholds(**entries)
    except UsageError as error:
        raise ValueError(str(error)) from None
