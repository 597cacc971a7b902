"""Trees in Newick format: the text as clades, and names as labels."""

from __future__ import annotations

import io
import re
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
#: What is between two nodes, the next one's label, and its length.
_STEP = re.compile(r"([(,)])([^\s()\[\]{}:;,'\"\0]*)(?::([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?))?")


@dataclass(slots=True)
class Clade:
    """A node with what is below it, in the words of Biopython's clades."""

    name: str | None = None
    branch_length: float | None = None
    confidence: float | None = None
    clades: list[Any] = field(default_factory=list)


def parse_newick(text: str, file: str) -> Any:
    """The root of the one tree in a text: a `Clade` or Biopython's, with labels as names.

    Most trees are plain; reading these here spares the tenth of a second that Biopython's import takes. What is not, it
    reads.

    Raises
    ------
    InputError
        No Newick, or several trees; `file` is named.
    """
    plain, labels = _without_quotes(text, file)
    if not labels and (tree := _plain_tree(plain.strip())):
        return tree
    from Bio.Phylo.NewickIO import NewickError, Parser

    try:
        found = list(Parser(io.StringIO(plain.strip())).parse())
    except (NewickError, ValueError) as error:
        said = shown(_with_labels(str(error).rstrip("."), labels))
        raise InputError(f"this is no Newick tree ({said}): mend the file", file=file) from None
    if len(found) != 1:
        raise InputError(f"the file holds {len(found)} trees: name one with a single tree", file=file)
    root = found[0].root
    if labels:
        _set_labels(root, labels)
    return root


def _plain_tree(text: str) -> Clade | None:
    """A tree of brackets, commas, labels and lengths alone; None of any other text."""
    root = node = Clade()
    above: list[Clade] = []
    at = 0
    while step := _STEP.match(text, at):
        sign, label, length = step.groups()
        at = step.end()
        if sign == "(":
            if node.name or node.branch_length is not None or node.clades:
                return None
            above.append(node)
        elif not above:
            return None
        if sign == ")":
            node = above.pop()
        else:
            node = Clade()
            above[-1].clades.append(node)
        node.branch_length = None if length is None else float(length)
        node.confidence = _number(label) if node.clades else None
        node.name = label if label and node.confidence is None else None
    return root if root.clades and not above and text[at:] == ";" else None


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


def _set_labels(root: Any, labels: list[str]) -> None:
    stack = [root]
    while stack:
        clade = stack.pop()
        if clade.name:
            clade.name = _with_labels(clade.name, labels)
        stack.extend(clade.clades)
