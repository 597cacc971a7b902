"""``NegativeCycle``, the error that names one."""

from __future__ import annotations

from collections.abc import Hashable

from tropalign.errors import InputError, shown

#: Vertices of a cycle that an error lists.
_SHOWN_VERTICES = 12


class NegativeCycle(InputError):
    """A cycle that makes paths ever better, so that there is no best one.

    Parameters
    ----------
    vertices
        Those of the cycle, in the order of its edges.
    weight
        The sum of its edges.
    is_max
        Whether paths are to be long, so that the cycle is positive.
    names
        The names of all vertices; their numbers are shown where there are none.
    """

    def __init__(
        self, vertices: list[int], weight: float, *, is_max: bool = False, names: tuple[Hashable, ...] | None = None
    ) -> None:
        self.vertices, self.weight, self.is_max = vertices, weight, is_max
        labels = [str(v) if names is None else shown(str(names[v])) for v in [*vertices, vertices[0]]]
        if len(labels) > _SHOWN_VERTICES:
            labels = [*labels[: _SHOWN_VERTICES - 2], "...", labels[-1]]
        sign, better = ("positive", "long") if is_max else ("negative", "short")
        super().__init__(
            f"the cycle {' -> '.join(labels)} is {sign} (its weight is {weight:g}), so that paths through it can be "
            f"made as {better} as one likes: change one of its edges"
        )
