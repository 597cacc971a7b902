"""The classes `Tree` (taxa, topology, branch lengths, support), with its readers, and `TreeComparisons`."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import InputError, Single, UsageError, shown
from tropalign.resources.limits import whole_number
from tropalign.results import display
from tropalign.results.columns import Axis, Table
from tropalign.results.newick import MOST_BYTES, Nodes, each_tree, newick_text, number_in, parse_nodes, quoted
from tropalign.sequences.files import file_name, read_text

if TYPE_CHECKING:
    import Bio.Phylo.BaseTree

#: Largest tree that `str` draws, in taxa, and its width in characters.
SHOWN_TAXA, LINE_LETTERS = 100, 80
#: Decimals of computed lengths; and the share of the longest length up to which lengths are rounding errors.
DIGITS, NOISE = 8, 1e-12


#: Tree formats that can be written; the same names as in the registry of formats.
TreeFormat = Literal["newick", "dnd", "html", "nexus", "pdf", "png", "svg"]


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Single):
    """A tree of n taxa.

    Nodes 0 to n - 1 are the taxa; node n + k joins the nodes ``children[k]``, all of which are below n + k. The last
    node is the root; if it joins three or more nodes, its position has no meaning, and the tree is unrooted.

    Attributes
    ----------
    names : tuple of str
        Of the taxa.
    children : tuple of tuple of int
        Of each inner node.
    lengths : float64, shape (n_nodes,)
        Of the branch above each node; 0 above the root. Those of neighbour joining may be negative. NaN if missing
        in the file.
    support : float64, shape (n_nodes,), or None
        Percent of the bootstrap samples that have the branch above each node; NaN if unknown. Trees from
        files keep the numbers of the file: percentages, or fractions up to 1.
    n_samples : int or None
        Number of these bootstrap samples, if known.
    labels : tuple of str, or None
        Label of each inner node in its file: the name of a clade, or several kinds of support (``95/100``). A number
        is here only if it is not the shortest text of its value (``1.000``), so that it is written as it was read;
        "" for all others.
    digits : int or None
        Of the lengths behind the point, in files; as many as are needed to read the same numbers again if None, as of
        trees from files.
    name : str
        Its name in a NEXUS file, otherwise "". Equality ignores it.

    Examples
    --------
    >>> tree = parse_tree("((A:1,B:2):0.5,C:3,D:4);")
    >>> tree
    Tree: 4 taxa, unrooted
    >>> tree.names, tree.children, tree.lengths.tolist(), tree.is_rooted
    (('A', 'B', 'C', 'D'), ((0, 1), (4, 2, 3)), [1.0, 2.0, 3.0, 4.0, 0.5, 0.0], False)
    """

    names: tuple[str, ...]
    children: tuple[tuple[int, ...], ...]
    lengths: NDArray[np.float64]
    support: NDArray[np.float64] | None = None
    n_samples: int | None = None
    labels: tuple[str, ...] | None = None
    digits: int | None = None
    name: str = ""

    def __repr__(self) -> str:
        return f"Tree: {self.n_taxa} taxa, {'rooted' if self.is_rooted else 'unrooted'}"

    def __eq__(self, other: object) -> bool:
        """True if names, topology, lengths, support and labels are equal."""
        if not isinstance(other, Tree):
            return NotImplemented
        shapes = ((each.names, each.children, each.labels, each.n_samples) for each in (self, other))
        pairs = ((self.lengths, other.lengths), (self.support, other.support))
        return len({*shapes}) == 1 and all(
            one is another or (one is not None and another is not None and np.array_equal(one, another, equal_nan=True))
            for one, another in pairs
        )

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre style='font-family:monospace;white-space:pre;line-height:1.25'>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        """Return the title and, up to `SHOWN_TAXA` taxa, a drawing of the branches in characters."""
        return repr(self) if self.n_taxa > SHOWN_TAXA else f"{self!r}\n{_drawn(self)}"

    @property
    def n_taxa(self) -> int:
        """Number of taxa."""
        return len(self.names)

    @property
    def is_rooted(self) -> bool:
        """True if the root joins two nodes."""
        return len(self.children[-1]) == 2

    def newick(self, digits: int | None = None) -> str:
        """Return the tree in Newick format; inner nodes are labelled by name, support, or both (``name/90``).

        Parameters
        ----------
        digits
            Of the lengths, behind the point; as many as are needed to read the same numbers again when not given. A
            length that is not 0 never becomes 0: it is written as ``2.5e-09`` instead.

        Examples
        --------
        >>> parse_tree("((A:1,B:2):0.5,'C c':3,D:4);").newick(digits=2)
        "((A:1.00,B:2.00):0.50,'C c':3.00,D:4.00);"
        """
        if digits is not None:
            whole_number("digits", digits, 0, 100)
        n = self.n_taxa
        labels, support = [quoted(name) for name in self.names], np.full(len(self.children), np.nan)
        if self.support is not None:
            support = self.support[n:]
        for value, label in zip(support.tolist(), self.labels or [""] * len(support), strict=True):
            # Whole percents if the number of bootstrap samples is known; else the file's number.
            text = "" if math.isnan(value) else support_text(value) if self.n_samples is None else f"{value:.0f}"
            says_both = text and number_in(label.rpartition("/")[2]) == value
            labels.append(quoted(label if says_both else "/".join(filter(None, (label, text)))))
        # If the number of digits is given, lengths up to `least` are rounding errors of 0.
        least = NOISE * float(np.abs(self.lengths).max(initial=0, where=~np.isnan(self.lengths)))
        for node, length in enumerate(self.lengths[:-1].tolist()):
            if math.isnan(length):
                continue
            text = f"{length!r}" if digits is None else f"{length:.{digits}f}"
            if digits is not None and float(text) == 0:
                text = f"{length:.{digits}g}" if abs(length) > least else text.removeprefix("-")
            labels[node] += f":{text}"
        return newick_text([()] * n + list(self.children), labels, len(labels) - 1)

    def to_biopython(self) -> Bio.Phylo.BaseTree.Tree:
        """Return Biopython's Tree.

        Returns
        -------
        Bio.Phylo.BaseTree.Tree
            Support is the confidence of its clades.

        Examples
        --------
        >>> tree = parse_tree("((A:1,B:2)97:0.5,C:3,D:4);").to_biopython()
        >>> tree.distance("A", "C"), [clade.confidence for clade in tree.get_nonterminals()]
        (4.5, [None, 97])
        """
        from io import StringIO

        from Bio import Phylo

        made = Phylo.read(StringIO(self.newick()), "newick")
        made.rooted = self.is_rooted
        return made

    def write(
        self, path: str | os.PathLike[str], format: TreeFormat | None = None, *, groups: Mapping[str, str] | None = None
    ) -> None:
        """Write the tree as text, a page or a picture: see `tropalign.trees.write_tree`.

        Parameters
        ----------
        path, format, groups
            As of `tropalign.trees.write_tree`.

        Raises
        ------
        TropalignError
            A format that does not exist; a file that cannot be written.

        Examples
        --------
        >>> parse_tree("(a:1,b:2);").write("-")
        (a:1.0,b:2.0);
        """
        import tropalign  # by its public name: this module is below `trees.files`

        tropalign.trees.write_tree(self, path, format, groups=groups)


def resupported(tree: Tree, support: NDArray[np.float64], n_samples: int) -> Tree:
    """Return the tree with support from samples in place of labels that are numbers."""
    labels = None if tree.labels is None else tuple("" if number_in(text) else text for text in tree.labels)
    return replace(tree, support=support, n_samples=n_samples, labels=labels)


def support_text(value: float) -> str:
    """Return the shortest text of a support value from a file.

    >>> support_text(97.3), support_text(100.0), support_text(0.934)
    ('97.3', '100', '0.934')
    """
    return repr(float(value)).removesuffix(".0")


def _drawn(tree: Tree) -> str:
    """Draw a tree as lines of text; negative lengths are drawn as 0."""
    from io import StringIO

    from Bio import Phylo

    lengths = np.maximum(np.nan_to_num(tree.lengths), 0.0)
    numbered = Tree(
        tuple(map(str, range(tree.n_taxa))), tree.children, lengths
    )  # taxa are numbered here: their names may hold unprintable characters
    drawn = numbered.to_biopython()
    for tip in drawn.get_terminals():
        tip.name = shown(tree.names[int(tip.name)])
    out = StringIO()
    Phylo.draw_ascii(drawn, file=out, column_width=LINE_LETTERS)
    return out.getvalue().rstrip()


def tree_of_joins(names: Iterable[str], children: Iterable[Iterable[int]], lengths: NDArray[np.float64]) -> Tree:
    """Make a `Tree` from the output of native code."""
    joins = tuple(tuple(int(child) for child in joined) for joined in children)
    return Tree(tuple(names), joins, lengths, digits=DIGITS)


def read_tree(path: str | os.PathLike[str]) -> Tree:
    """Read a tree from a Newick or NEXUS file, compressed or not.

    Raises
    ------
    InputError
        No such file, no tree, several trees, two taxa with the same name, or fewer than two taxa.
    """
    return parse_tree(read_text(path, MOST_BYTES), file_name(path))


def read_trees(path: str | os.PathLike[str]) -> list[Tree]:
    """Read all trees from a Newick or NEXUS file, compressed or not.

    Raises
    ------
    InputError
        No such file or no tree; two taxa of a tree with the same name, or fewer than two taxa.
    """
    return list(parse_trees(read_text(path, MOST_BYTES), file_name(path)))


def parse_trees(text: str, file: str = "the trees") -> Iterator[Tree]:
    """Yield the trees of a text in Newick or NEXUS format, as `parse_tree` makes them.

    Raises
    ------
    InputError
        Neither of them, no tree, two taxa of one name, or fewer than two; `file` is named.

    Examples
    --------
    >>> [tree.names for tree in parse_trees("(A:1,B:2); ((C,D),E);")]
    [('A', 'B'), ('C', 'D', 'E')]
    """
    if not isinstance(text, str):
        raise UsageError(f"an object of type {type(text).__name__} is not a tree: give a string in Newick format")
    trees = each_tree(text, file)
    begin = list(islice(trees, 2))
    for k, (name, nodes) in enumerate(chain(begin, trees), 1):
        yield _tree_of(nodes, file if len(begin) == 1 else f"{file}, tree {k}", name)


def parse_tree(text: str, file: str = "the tree") -> Tree:
    """Make a tree from Newick or NEXUS text. Numbers as labels of inner nodes are support.

    Raises
    ------
    InputError
        Neither of them, several trees, two taxa of one name, or fewer than two; `file` is named.

    Examples
    --------
    >>> parse_tree("((A:1,B:2)97:0.5,C:3,D:4);").support.tolist()
    [nan, nan, nan, nan, 97.0, nan]
    """
    if not isinstance(text, str):
        raise UsageError(f"an object of type {type(text).__name__} is not a tree: give a string in Newick format")
    return _tree_of(parse_nodes(text, file), file)


def _tree_of(nodes: Nodes, file: str, name: str = "") -> Tree:
    """Return a tree of nodes from this file."""
    below = nodes.children()
    leaves = [node for node, children in enumerate(below) if not children]
    names = [nodes.names[node] for node in leaves]
    if len(names) < 2:
        raise InputError("the tree has one taxon: give one with two or more", file=file)
    if "" in names:
        raise InputError("a taxon has no name: give each its own name", file=file)
    seen: set[str] = set()
    for taxon in names:
        if taxon in seen:
            raise InputError(f"two taxa are called {taxon!r}: give each its own name", file=file)
        seen.add(taxon)
    top = 0
    while len(below[top]) == 1:  # skip a root with a single child
        top = below[top][0]
    inner = [node for node in range(len(below) - 1, top - 1, -1) if below[node]]
    order = [*leaves, *inner]
    number = dict(zip(order, range(len(order)), strict=True))
    children = tuple(tuple(number[child] for child in below[node]) for node in inner)
    lengths = np.array([math.nan if (length := nodes.lengths[node]) is None else length for node in order], float)
    lengths[-1] = 0
    known = [math.nan] * len(leaves) + [_support(nodes.support[node], nodes.names[node]) for node in inner]
    support = np.array(known)
    given = [
        nodes.labels[node] if nodes.support[node] is None else nodes.names[node] or nodes.labels[node] for node in inner
    ]
    labels = tuple(
        "" if label == support_text(value) != "nan" else label
        for label, value in zip(given, known[len(leaves) :], strict=True)
    )
    return Tree(
        tuple(names),
        children,
        lengths,
        None if np.isnan(support).all() else support,
        labels=labels if any(labels) else None,
        name=name,
    )


def _support(support: float | None, label: str) -> float:
    """Return the support of an inner node as a number, which may be quoted in the file; NaN if unknown."""
    found = number_in(label) if support is None else support
    return math.nan if found is None else float(found)


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
            Meaning of the values of the matrix.

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
