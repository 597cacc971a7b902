"""Lineages of placed reads: the ranks shared by the tips below their best branches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tropalign.properties import cached_property
from tropalign.results import display
from tropalign.results.columns import Result
from tropalign.results.placements import Placements

Int64 = NDArray[np.int64]
Lineage = tuple[str, ...]


@dataclass(frozen=True)
class Assigned:
    """Lineage of a read, as far as it is known.

    Attributes
    ----------
    common
        Ranks, from the top, that all tips below all of its best branches share.
    likely
        The same ranks, followed at each lower rank by the majority of these tips.
    support : tuple of float
        Share of the tips that each rank of `likely` holds for; 1 for common ranks.

    Examples
    --------
    >>> tropalign.Assigned(("P",), ("P", "Q"), (1.0, 0.75)).common
    ('P',)
    """

    common: Lineage = ()
    likely: Lineage = ()
    support: tuple[float, ...] = ()

    def _repr_html_(self) -> str:
        return display.record_html(self)


@dataclass(frozen=True, eq=False)
class BranchLineages(Result):
    """Lineages of the tips below each branch.

    Tips are in the order of the tree, in which those below a branch are neighbours::

        (((a,b),c),(d,e))      below the branch of (a,b): tips 0 and 1, so begin = 0, end = 2

    Attributes
    ----------
    lineages : tuple of tuples of str
        Ranks of each tip, from the top; empty if unknown.
    begin, end : int64, shape (n_branches,)
        Tips begin to end - 1 are below the branch.

    Examples
    --------
    >>> import numpy as np
    >>> lineages = (("Bacteria", "Firmicutes"), ("Bacteria", "Firmicutes"), ("Bacteria", "Aquificota"))
    >>> tips = tropalign.BranchLineages(lineages, np.array([0, 0]), np.array([2, 3]))
    >>> tips.below([0]).common, tips.below([0, 1]).likely
    (('Bacteria', 'Firmicutes'), ('Bacteria', 'Firmicutes'))
    """

    lineages: tuple[Lineage, ...]
    begin: Int64
    end: Int64

    @cached_property
    def _taxa(self) -> list[tuple[Int64, list[Lineage]]]:
        """Per rank: the taxon index of each tip, -1 below the end of its lineage, and the taxa in order of tips."""
        found = []
        for rank in range(max(map(len, self.lineages), default=0)):
            number: dict[Lineage, int] = {}
            of_tips = [
                number.setdefault(lineage[: rank + 1], len(number)) if len(lineage) > rank else -1
                for lineage in self.lineages
            ]
            found.append((np.array(of_tips, np.int64), list(number)))
        return found

    @cached_property
    def _is_known(self) -> NDArray[np.bool_]:
        return np.array([bool(lineage) for lineage in self.lineages])

    def __repr__(self) -> str:
        known = sum(map(bool, self.lineages))
        return (
            f"<BranchLineages: {len(self.begin):,} branches, {known:,} of {len(self.lineages):,} tips with a lineage>"
        )

    def below(self, branches: Sequence[int]) -> Assigned:
        """Return the lineage shared by the tips below these branches.

        Branches have equal weights, as have the tips below each branch.

        Parameters
        ----------
        branches
            Indices of the branches, each once.

        Returns
        -------
        Assigned
            Empty if no tip below has a lineage.

        Raises
        ------
        IndexError
            A branch does not exist.

        Examples
        --------
        >>> import numpy as np
        >>> tips = tropalign.BranchLineages((("P", "Q"), ("P", "R"), ("S",)), np.array([0, 1]), np.array([2, 2]))
        >>> tips.below([0, 1])
        Assigned(common=('P',), likely=('P', 'R'), support=(1.0, 0.75))
        """
        weights = np.zeros(len(self.lineages))
        for branch in branches:
            tips = slice(int(self.begin[branch]), int(self.end[branch]))
            known = self._is_known[tips]
            if known.any():
                weights[tips] += known / known.sum()
        inside = np.flatnonzero(weights)  # remaining tips: those with the ranks chosen so far
        total, n_all = float(weights[inside].sum()), len(inside)
        common, likely, support = 0, Lineage(), list[float]()
        for taxa, names in self._taxa:
            at_rank = taxa[inside]
            inside, at_rank = inside[at_rank >= 0], at_rank[at_rank >= 0]
            if not len(inside):
                break
            held = np.bincount(at_rank, weights[inside])
            best = int(held.argmax())  # ties: that of the first tip
            inside = inside[at_rank == best]
            likely = names[best]
            is_common = len(inside) == n_all
            common += is_common
            support.append(1.0 if is_common else float(held[best]) / total)
        return Assigned(likely[:common], likely, tuple(support))

    def assign(self, placements: Placements) -> list[Assigned]:
        """Return the lineage of each read; empty if it was not placed.

        Parameters
        ----------
        placements
            Reads on these branches.

        Returns
        -------
        list of Assigned
            One per read.

        Raises
        ------
        IndexError
            The reads were placed on another tree with more branches.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> (placed,) = tropalign.place(package, [("x", "ACGTA")])
        >>> of_tips = tropalign.BranchLineages((("P",), ("P",), ("S",), ("S",)), np.arange(5) % 4, np.arange(5) % 4 + 1)
        >>> len(of_tips.assign(placed))
        1
        """
        known: dict[bytes, Assigned] = {b"": Assigned()}
        found = []
        for is_placed, tied in zip((placements.branch >= 0).tolist(), placements.tied, strict=True):
            key = tied.tobytes() if is_placed else b""
            if key not in known:
                known[key] = self.below(tied.tolist())
            found.append(known[key])
        return found
