"""The class `Placements`, the result of placing reads: a row per read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.properties import cached_property
from tropalign.results import display
from tropalign.results.columns import Axis, Result, Table

Int64 = NDArray[np.int64]
#: Columns with an item per read.
READ_COLUMNS: dict[str, type] = {
    "branch": np.int64, "score": np.int32, "second_score": np.int32, "ties": np.int64, "strand": np.int8,
}  # fmt: skip


class PlacedRead(NamedTuple):
    """One placed read; the fields are those of `Placements` and of `Placements.spans`."""

    read: str
    branch: int
    score: int
    second_score: int
    ties: int
    strand: int
    start: int
    end: int
    inserted: int
    unaligned: int

    def _repr_html_(self) -> str:
        return display.record_html(self)


@dataclass(frozen=True, eq=False, repr=False)
class Placements(Table[PlacedRead]):
    """Reads and the branches on which they were placed, a row per read.

    ``placements[k]`` is one `PlacedRead`; a slice, a mask or indices select reads. pandas, polars and every consumer
    of an Arrow C stream read their columns.

    Attributes
    ----------
    names : tuple of str
    letters : uint8
        Characters of all reads as they were written, on the placed strand, without gaps.
    offsets : int64, shape (n + 1,)
        Read k's characters are ``letters[offsets[k]:offsets[k + 1]]``.
    branch : int64, shape (n,)
        The best branch, the first one of ties; -1 for a read without a usable residue or with too low a score.
    score, second_score : int32, shape (n,)
        Scores of the best branch and of the next best one (equal in a tie).
    ties : int64, shape (n,)
        Number of branches with the best score.
    strand : int8, shape (n,)
        1, or -1 if the read was reverse-complemented.
    tied_branches : int64
        Best branches of each read, ascending; as many as its `ties`.
    tied_offsets : int64, shape (n + 1,)
        Read k's best branches are ``tied_branches[tied_offsets[k]:tied_offsets[k + 1]]``.
    column : int32, shape of `letters`
        Reference column of each residue, 0-based; -1 if it is inserted or overhangs an end.

    Raises
    ------
    ValueError
        A column of another length or type, or offsets that do not cut it into reads.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
    >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
    >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
    >>> (placed,) = tropalign.place(package, [("x", "ACGTA"), ("y", "CCA")])
    >>> len(placed), placed.strand.tolist()
    (2, [1, 1])
    """

    _axis: ClassVar[Axis] = Axis(
        "reads",
        {"names": str, **READ_COLUMNS},
        {
            "offsets": Axis("letters", {"letters": np.uint8, "column": np.int32}),
            "tied_offsets": Axis("tied_branches", {"tied_branches": np.int64}),
        },
    )

    names: tuple[str, ...]
    letters: NDArray[np.uint8]
    offsets: Int64
    branch: Int64
    score: NDArray[np.int32]
    second_score: NDArray[np.int32]
    ties: Int64
    strand: NDArray[np.int8]
    tied_branches: Int64
    tied_offsets: Int64
    column: NDArray[np.int32]

    def __post_init__(self) -> None:
        self._axis.check(self)

    def __len__(self) -> int:
        return len(self.names)

    def _title(self) -> str:
        return f"Placements: {len(self):,} reads, {int((self.branch >= 0).sum()):,} of them placed"

    def row(self, k: int) -> PlacedRead:
        """Return a single read.

        Parameters
        ----------
        k
            The read, from 0; negative numbers count from the end.

        Returns
        -------
        PlacedRead

        Raises
        ------
        IndexError
            There is no such read.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> (placed,) = tropalign.place(package, [("x", "ACGTA"), ("y", "CCA")])
        >>> placed.row(1).read, placed.row(1).start
        ('y', 1)
        """
        k = ragged.row_number(k, len(self), "read")
        values = self.slice(k, k + 1).columns()
        return PlacedRead(*(np.asarray(values[name]).tolist()[0] for name in PlacedRead._fields))

    def columns(self) -> dict[str, list[str] | NDArray[Any]]:
        """Return the columns by name, a row per read: the fields of `PlacedRead`.

        Returns
        -------
        dict of str to list or array
            An item per read.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> (placed,) = tropalign.place(package, [("x", "ACGTA"), ("y", "CCA")])
        >>> placed.columns()["end"].tolist()
        [5, 4]
        """
        own = {name: getattr(self, name) for name in READ_COLUMNS}
        places = dict(zip(("start", "end", "inserted", "unaligned"), self.spans(), strict=True))
        return {"read": list(self.names), **own, **places}

    def read(self, k: int) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return the residues of read k, and their columns.

        Parameters
        ----------
        k
            The read, from 0; negative numbers count from the end.

        Returns
        -------
        letters : uint8, shape (length,)
        columns : int32, shape (length,)
            From 0; -1 for a residue without a column.

        Raises
        ------
        IndexError
            There is no such read.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> (placed,) = tropalign.place(package, [("x", "ACGTA"), ("y", "CCA")])
        >>> letters, columns = placed.read(1)
        >>> letters.tobytes(), columns.tolist()
        (b'CCA', [1, 2, 3])
        """
        k = ragged.row_number(k, len(self), "read")
        own = slice(int(self.offsets[k]), int(self.offsets[k + 1]))
        return self.letters[own], self.column[own]

    @cached_property
    def tied(self) -> tuple[Int64, ...]:
        """Best branches of each read, int64."""
        return tuple(np.split(self.tied_branches, self.tied_offsets[1:-1])) if len(self) else ()

    def spans(self) -> tuple[Int64, Int64, Int64, Int64]:
        """Return each read's first column, one past its last, its inserted residues, and residues beyond its ends.

        Returns
        -------
        start, end, inserted, unaligned : int64, shape (n,)
            A read without a residue in a column has 0, 0, 0 and all its residues unaligned.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> (placed,) = tropalign.place(package, [("x", "ACGTA"), ("y", "CCA")])
        >>> [column.tolist() for column in placed.spans()]
        [[0, 1], [5, 4], [0, 0], [0, 0]]
        """
        places = np.flatnonzero(self.column >= 0)
        # Positions of read k are places[first[k]:first[k + 1]].
        first = np.searchsorted(places, self.offsets)
        n_placed, n_letters = np.diff(first), np.diff(self.offsets)
        out = np.zeros((4, len(self)), np.int64)
        out[3] = n_letters
        there = n_placed > 0
        begin, end = places[first[:-1][there]], places[first[1:][there] - 1]
        inside = end - begin + 1
        out[0, there], out[1, there] = self.column[begin], self.column[end].astype(np.int64) + 1
        out[2, there], out[3, there] = inside - n_placed[there], n_letters[there] - inside
        return out[0], out[1], out[2], out[3]


def concatenate(pieces: Sequence[Placements]) -> Placements:
    """Concatenate placements. Raises ValueError for an empty list."""
    if not pieces:
        raise ValueError("there are no placements to concatenate")
    return Placements(**Placements._axis.joined(pieces))


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
        is_known = self._taxa[0][0] >= 0 if self._taxa else np.zeros(len(self.lineages), bool)
        for branch in branches:
            tips = slice(int(self.begin[branch]), int(self.end[branch]))
            known = is_known[tips]
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
            best = int(held.argmax())  # argmax prefers the first tip
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
