"""The class `TreeComparisons`: distances between pairs of trees."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import UsageError
from tropalign.results import display
from tropalign.results.columns import Axis, Table

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
#: Distances of two trees.
TreeDistance = Literal["rf", "normalised-rf", "branch-score", "weighted-rf"]
DISTANCES = get_args(TreeDistance)


class ComparedTrees(NamedTuple):
    """Distances between two trees; `TreeComparisons` has their definitions."""

    tree: str
    other: str
    n_taxa: int
    rf: int
    max_rf: int
    normalised_rf: float
    branch_score: float
    weighted_rf: float

    def _repr_html_(self) -> str:
        return display.record_html(self)


@dataclass(frozen=True, eq=False, repr=False)
class TreeComparisons(Table[ComparedTrees]):
    """Distances between pairs of trees, a row per pair.

    ``found[k]`` is one `ComparedTrees`; a slice, a mask or indices select rows. pandas, polars and every consumer of
    an Arrow C stream read `columns`.

    Attributes
    ----------
    names, other_names : tuple of str
        Names of the trees, or their numbers from 1.
    index, other_index : int64, shape (n,)
        The two trees of each row, as indices of `names` and `other_names`.
    n_taxa : int64, shape (n,)
        Taxa that both trees have.
    rf, max_rf : int64, shape (n,)
        Robinson-Foulds distance: splits that only one of the trees has; and how many splits both have, each counted
        by itself, which is the largest value. Branches above a single taxon do not count.
    branch_score : float64, shape (n,)
        Square root of the sum of squared differences of branch lengths; NaN if lengths are missing.
    weighted_rf : float64, shape (n,)
        Sum of the absolute differences of branch lengths; NaN if lengths are missing.
    is_each_pair : bool
        True if trees were compared with each other, so that a row stands for both orders of its trees.

    Examples
    --------
    >>> parse_tree = tropalign.trees.parse_tree
    >>> found = tropalign.trees.compare_trees([parse_tree("((A,B),C,D);"), parse_tree("((A,C),B,D);")])
    >>> found
    <TreeComparisons: 1 pair of trees>
    >>> found[0].rf, found[0].max_rf, found[0].branch_score
    (2, 2, nan)
    """

    _axis: ClassVar[Axis] = Axis(
        "pairs",
        {
            **dict.fromkeys(("index", "other_index", "n_taxa", "rf", "max_rf"), np.int64),
            **dict.fromkeys(("branch_score", "weighted_rf"), np.float64),
        },
    )

    names: tuple[str, ...]
    other_names: tuple[str, ...]
    index: Int64
    other_index: Int64
    n_taxa: Int64
    rf: Int64
    max_rf: Int64
    branch_score: Float64
    weighted_rf: Float64
    is_each_pair: bool = False

    def __len__(self) -> int:
        return len(self.rf)

    @property
    def normalised_rf(self) -> Float64:
        """Robinson-Foulds distance as a share of the largest value; 0 if no tree has a split."""
        return self.rf / np.maximum(self.max_rf, 1)

    def columns(self) -> dict[str, Any]:
        """Return a row per pair of trees.

        Returns
        -------
        dict of str to list or array
            Names and numbers.

        Examples
        --------
        >>> parse_tree = tropalign.trees.parse_tree
        >>> tropalign.trees.compare_trees(parse_tree("(A,B);"), parse_tree("(A,B);")).columns()["tree"]
        ['1']
        """
        return {
            "tree": [self.names[k] for k in self.index.tolist()],
            "other": [self.other_names[k] for k in self.other_index.tolist()],
            "n_taxa": self.n_taxa,
            "rf": self.rf,
            "max_rf": self.max_rf,
            "normalised_rf": self.normalised_rf,
            "branch_score": self.branch_score,
            "weighted_rf": self.weighted_rf,
        }

    def row(self, k: int) -> ComparedTrees:
        """Return a single row.

        Parameters
        ----------
        k
            The row, from 0; negative numbers count from the end.

        Returns
        -------
        ComparedTrees

        Raises
        ------
        IndexError
            There is no such row.

        Examples
        --------
        >>> parse_tree = tropalign.trees.parse_tree
        >>> tropalign.trees.compare_trees(parse_tree("(A:1,B:1);"), parse_tree("(A:1,B:3);")).row(0).weighted_rf
        2.0
        """
        k = ragged.row_number(k, len(self))
        cells: list[Any] = [column[0] for column in self.slice(k, k + 1).columns().values()]
        return ComparedTrees(*[cell.item() if isinstance(cell, np.generic) else cell for cell in cells])

    def matrix(self, distance: TreeDistance = "rf") -> Float64:
        """Return one of the distances as a matrix.

        Parameters
        ----------
        distance : {"rf", "normalised-rf", "branch-score", "weighted-rf"}
            What the matrix holds.

        Returns
        -------
        float64, shape (len(names), len(other_names))
            NaN for pairs that have no row. If the trees were compared with each other, it is symmetric with 0 on the
            diagonal.

        Raises
        ------
        UsageError
            There is no such distance.

        Examples
        --------
        >>> parse_tree = tropalign.trees.parse_tree
        >>> tropalign.trees.compare_trees([parse_tree("((A,B),C,D);"), parse_tree("((A,C),B,D);")]).matrix().tolist()
        [[0.0, 2.0], [2.0, 0.0]]
        """
        if distance not in DISTANCES:
            raise UsageError(f"distance {distance!r} is none of {', '.join(DISTANCES)}")
        found = np.full((len(self.names), len(self.other_names)), np.nan)
        values = getattr(self, distance.replace("-", "_"))
        found[self.index, self.other_index] = values
        if self.is_each_pair:
            found[self.other_index, self.index] = values
            np.fill_diagonal(found, 0.0)
        return found

    def write(self, path: str | os.PathLike[str], distance: TreeDistance | None = None) -> None:
        """Write the rows, or one of the distances as a matrix: see `tropalign.trees.write_comparisons`.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.
        distance
            Write this distance as a matrix; by default all of them as a table.

        Raises
        ------
        TropalignError
            The format or distance does not exist, or the file cannot be written.

        Examples
        --------
        >>> parse_tree = tropalign.trees.parse_tree
        >>> tropalign.trees.compare_trees([parse_tree("((A,B),C,D);"), parse_tree("((A,C),B,D);")]).write("-", "rf")
        # values: distance
                1	2
        1	0	2
        2	2	0
        """
        import tropalign  # through the public name: results do not depend on files

        tropalign.trees.write_comparisons(self, path, distance)

    def _title(self) -> str:
        n = len(self)
        return f"TreeComparisons: {n:,} pair{'s' * (n != 1)} of trees"
