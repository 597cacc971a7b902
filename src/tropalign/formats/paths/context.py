"""Context of shortest-path formats."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.properties import cached_property
from tropalign.results import rows
from tropalign.results.paths import ShortestPaths

#: Separator of the vertices of a path in text.
SEPARATOR = ","


@dataclass(frozen=True, eq=False)
class PathsContext:
    """The distances, of which a part is a range of rows, and the selection to write.

    paths: the rows start at the sources. targets: columns to write, int64. with_paths: also write the vertices of
    each path. edges: source, target (int64) and weight of the graph's edges, for a picture.
    """

    paths: ShortestPaths
    targets: NDArray[np.int64]
    with_paths: bool = False
    edges: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]] | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all vertices, or their numbers."""
        named = self.paths.names
        return tuple(map(str, range(self.paths.distances.shape[1]) if named is None else named))

    @cached_property
    def encoded_names(self) -> rows.Texts:
        """Names of all vertices in UTF-8. Raises InputError for a name that would break a line or a column."""
        check_names(self.names, self.with_paths)
        return rows.encoded(self.names)

    def distances(self, part: range) -> NDArray[Any]:
        """Return distances of some rows to the targets."""
        whole = self.paths.distances[part.start : part.stop]
        n = whole.shape[1]
        return whole if len(self.targets) == n and (self.targets == np.arange(n)).all() else whole[:, self.targets]

    def describe(self, fields: tuple[str, ...]) -> dict[str, Any]:
        """Return an empty dictionary, since distances have no shards."""
        return {}


def check_names(names: Iterable[Hashable], with_paths: bool) -> None:
    """Raise InputError for a name that would break a line, a column, or a path in text."""
    for name in map(str, names):
        if "\t" in name or "\n" in name or "\r" in name:
            raise InputError("the name holds a tab or a line break: rename the vertex", record=name)
        if with_paths and SEPARATOR in name:
            raise InputError(
                "the name holds a comma, which stands between the vertices of a path: rename the vertex, or write "
                "paths as Parquet",
                record=name,
            )


def numbers_as_text(values: NDArray[Any]) -> list[str]:
    """Return the shortest text that restores each number; ``inf`` for infinity."""
    if values.dtype.kind == "f":
        return [text.removesuffix(".0") for text in values.astype(str).tolist()]
    infinity = np.iinfo(values.dtype).max
    return ["inf" if value == infinity else str(value) for value in values.tolist()]
