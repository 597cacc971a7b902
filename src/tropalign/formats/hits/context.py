"""Context of hit formats: search settings and text layout."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from tropalign.errors import UsageError
from tropalign.results.found_hits import ORIENTATIONS
from tropalign.results.threshold_options import Thresholds


@dataclass(frozen=True)
class HitsContext:
    """Search settings and text layout for formats of hits.

    n_targets: total targets of each query, by which a format recognises that a query is complete; None if only the
    end of the parts shows this. models, sequences: sources, for headers. f1, f2, f3: P-value limits of the filters
    MSV, Viterbi and Forward. bias_filter, null2: filter for biased composition, and its score correction. seed: 0
    for a different one in each run. text_width: characters per line, 0 for no limit. shows_accessions: instead of
    names.
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
        """True if no filter excluded a target."""
        return min(self.f1, self.f2, self.f3) >= 1 and not self.bias_filter

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return these fields as JSON."""
        found = {name: getattr(self, name) for name in fields}
        return found | ({"thresholds": self.thresholds.values()} if "thresholds" in found else {})

    @classmethod
    def restore(cls, entries: Any) -> HitsContext:
        """Make a context from JSON, with defaults for missing fields. Raises ValueError, KeyError or TypeError."""
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
    """Return a value of this type, or raise TypeError; an integer is also accepted as a float."""
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
