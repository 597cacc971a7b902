"""Formats of clusters, a module each, and what they need beside the clusters."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class ClustersContext:
    """What a format needs beside the clusters.

    Attributes
    ----------
    writes_sizes
        Whether representatives get the reads of their cluster as ``;size=N``.
    """

    writes_sizes: bool = False

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """These fields as JSON."""
        return {name: value for name, value in asdict(self).items() if name in fields}
