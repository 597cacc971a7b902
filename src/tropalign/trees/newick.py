"""Trees in Newick format: the text as nodes in arrays, nodes as text, and names as labels."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tropalign.errors import InputError, shown

#: Bytes of a Newick file at most: some million tips.
MOST_BYTES = 1 << 28
#: A comment or a quoted label. In a label a quote is doubled; some programs put a backslash before it instead, which is
#: told from a label that ends in a backslash by what follows.
_QUOTED = re.compile(r"\[(?:\\\]|[^\]])*\]|'((?:''|\\'(?!'|\s*(?:[\[\]():;,]|$))|[^'])*)'")
_ESCAPED = re.compile(r"''|\\'(?!')")
#: A label that needs no quotes.
_PLAIN = re.compile(r"[^\s()\[\]{}:;,'\"]*")
#: What is between two nodes, the next one's label (or the number of a quoted one), and its length.
_STEP = re.compile(r"([(,)])(\0[0-9]+\0|[^\s()\[\]{}:;,'\"\0]*)(?::([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?))?")
#: A length that is none.
_NO_LENGTH = re.compile(r":\s*([-+]?(?:nan|inf)[a-z]*)", re.IGNORECASE)
#: The number of a branch, as jplace has it.
_NUMBER = re.compile(r"\{([0-9]{1,9})\}")


@dataclass(slots=True)
class Nodes:
    """The nodes of a tree as a file has it, parents first, children in the order of the text; node 0 is the root.

    Attributes
    ----------
    parents : list of int
        -1 for the root.
    names : list of str
        Labels; "" where there is none, or where an inner node's is a number.
    lengths : list of float or None
        Of the branch above each node; None where there is none.
    support : list of float or None
        The labels of inner nodes that are numbers.
    numbers : list of int or None
        Of the branch above each node, in braces.
    """

    parents: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    lengths: list[float | None] = field(default_factory=list)
    support: list[float | None] = field(default_factory=list)
    numbers: list[int | None] = field(default_factory=list)

    def add(self, parent: int) -> int:
        """A new node, and its number."""
        self.parents.append(parent)
        self.names.append("")
        self.lengths.append(None)
        self.support.append(None)
        self.numbers.append(None)
        return len(self.parents) - 1

    def children(self) -> list[list[int]]:
        """The children of each node."""
        found: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents[1:], 1):
            found[parent].append(node)
        return found


def parse_newick(text: str, file: str, *, has_numbers: bool = False) -> Nodes:
    """The one tree in a text; `has_numbers`: whether its branches may be numbered in braces, as those of jplace are.

    Most trees are plain; reading these here spares the tenth of a second that Biopython's import takes. What is not, it
    reads.

    Raises
    ------
    InputError
        No Newick, or several trees; `file` is named.
    """
    plain, labels = _without_quotes(text, file)
    nodes = _plain_nodes(plain.strip(), has_numbers) or _biopython_nodes(plain.strip(), labels, file)
    if labels:
        nodes.names = [_with_labels(name, labels) for name in nodes.names]
    return nodes


def _plain_nodes(text: str, has_numbers: bool = False) -> Nodes | None:
    """A tree of brackets, commas, labels and lengths alone (and numbers in braces); None of any other text."""
    nodes = Nodes()
    node = nodes.add(-1)
    is_inner = [False]
    above: list[int] = []
    at = 0
    while step := _STEP.match(text, at):
        sign, label, length = step.groups()
        at = step.end()
        if sign == "(":
            if nodes.names[node] or nodes.lengths[node] is not None or is_inner[node]:
                return None
            above.append(node)
            is_inner[node] = True
        elif not above:
            return None
        if sign == ")":
            node = above.pop()
        else:
            node = nodes.add(above[-1])
            is_inner.append(False)
        nodes.lengths[node] = None if length is None else float(length)
        if has_numbers and (number := _NUMBER.match(text, at)):
            nodes.numbers[node], at = int(number[1]), number.end()
        nodes.support[node] = _number(label) if is_inner[node] else None
        nodes.names[node] = "" if nodes.support[node] is not None else label
    return nodes if is_inner[0] and not above and text[at:] == ";" else None


def _biopython_nodes(text: str, labels: list[str], file: str) -> Nodes:
    """Any tree. Raises InputError."""
    from Bio.Phylo.NewickIO import NewickError, Parser

    if odd := _NO_LENGTH.search(text):  # which Biopython takes for a name
        raise InputError(f"the length {odd[1]!r} of a branch is no number: mend the file", file=file)
    try:
        found = list(Parser(io.StringIO(text)).parse())
    except (NewickError, ValueError) as error:
        said = shown(_with_labels(str(error).rstrip("."), labels))
        raise InputError(f"this is no Newick tree ({said}): mend the file", file=file) from None
    if len(found) != 1:
        raise InputError(f"the file holds {len(found)} trees: name one with a single tree", file=file)
    nodes = Nodes()
    stack: list[tuple[int, Any]] = [(-1, found[0].root)]
    while stack:
        parent, clade = stack.pop()
        node = nodes.add(parent)
        nodes.names[node] = clade.name or ""
        nodes.lengths[node], nodes.support[node] = clade.branch_length, clade.confidence
        stack.extend((node, child) for child in reversed(clade.clades))
    return nodes


def preorder(children: Sequence[Sequence[int]], top: int) -> list[int]:
    """A node and all below it, parents first, children in their order.

    Parameters
    ----------
    children
        Of each node.
    top
        The node.

    Examples
    --------
    >>> preorder([(), (), (0, 1)], 2)
    [2, 0, 1]
    """
    found, stack = [], [top]
    while stack:
        found.append(stack.pop())
        stack.extend(reversed(children[found[-1]]))
    return found


def newick_text(children: Sequence[Sequence[int]], texts: Sequence[str], root: int) -> str:
    """A tree in Newick format.

    Parameters
    ----------
    children
        Of each node, in the order in which they are written.
    texts
        The label of each node, quoted where it needs it, with its length and whatever else belongs to it.
    root
        Its number.

    Examples
    --------
    >>> newick_text([(), (), (0, 1)], ["a:1", "b:2", ""], 2)
    '(a:1,b:2);'
    """
    pieces: list[str] = []
    stack: list[int | str] = [root]
    while stack:
        at = stack.pop()
        if isinstance(at, str):
            pieces.append(at)
        elif not children[at]:
            pieces.append(texts[at])
        else:
            stack.append(")" + texts[at])
            for k, child in enumerate(reversed(children[at])):
                stack.extend([",", child] if k else [child])
            stack.append("(")
    return "".join(pieces) + ";"


def _number(label: str) -> float | None:
    """The support of a node, where its label is a number."""
    try:
        return int(label) if label.isdigit() else float(label)
    except ValueError:
        return None


def quoted(name: str) -> str:
    """A name as a label: in quotes where it needs them.

    Examples
    --------
    >>> quoted("sp|P12345"), quoted("5' end")
    ('sp|P12345', "'5'' end'")
    """
    if _PLAIN.fullmatch(name):
        return name
    return "'" + name.replace("'", "''") + "'"


def _without_quotes(text: str, file: str) -> tuple[str, list[str]]:
    """The text with a number in place of each quoted label and without comments, and these labels."""
    labels: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        if match[1] is None:
            return ""
        labels.append(_ESCAPED.sub("'", match[1]))
        return f"\0{len(labels) - 1}\0"

    plain = _QUOTED.sub(replaced, text.replace("\0", ""))
    for sign, what in (("'", "quote"), ("[", "bracket of a comment"), ("]", "bracket of a comment")):
        if sign in plain:
            raise InputError(f"this is no Newick tree (a {what} stands alone): mend the file", file=file)
    return plain, labels


def _with_labels(text: str, labels: list[str]) -> str:
    return re.sub("\0([0-9]+)\0", lambda match: labels[int(match[1])], text)
