"""Trees in Newick format: the text as Biopython's clades, and names as labels."""

from __future__ import annotations

import io
import re
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


def parse_newick(text: str, file: str) -> Any:
    """The root of the one tree in a text: a Biopython clade, with labels as names.

    Raises
    ------
    InputError
        No Newick, or several trees; `file` is named.
    """
    from Bio.Phylo.NewickIO import NewickError, Parser

    plain, labels = _without_quotes(text, file)
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
