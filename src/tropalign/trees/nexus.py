"""Trees in NEXUS files, as FigTree, PAUP, MrBayes and BEAST write them, as Newick text.

begin trees;
  translate 1 mouse, 2 'house cat';                  names for the labels of tips
  tree best = [&R] ((1:1,2:2)[&posterior=0.9]:3,x);  -->  ((mouse:1,'house cat':2)0.9:3,x);
end;
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tropalign.errors import InputError
from tropalign.trees.newick import quoted

#: What a NEXUS file begins with, in any case.
BEGIN = "#NEXUS"
#: A comment, a quoted word, a sign, a word; and what else there is, which is an error.
_TOKEN = re.compile(r"\[([^\[\]]*)\]|'((?:''|[^'])*)'|([(),;:=])|([^\s\[\](),;:=']+)|(\S)")
#: What comments call support: FigTree, PAUP, BEAST and MrBayes.
_SUPPORT = re.compile(
    r"[&,]!?(?:support|bootstrap|label|posterior|prob|confidence)\s*=\s*\"?([0-9.]+(?:[eE][-+]?[0-9]+)?)\"?\s*(?:,|$)"
)


class _Token(NamedTuple):
    """A comment ("["), a word ("w") or a sign, with its text."""

    kind: str
    text: str


def is_nexus(begin: str) -> bool:
    """Whether a text that begins so is NEXUS.

    Examples
    --------
    >>> is_nexus("#nexus begin trees;"), is_nexus("(a,b);")
    (True, False)
    """
    return begin.lstrip()[: len(BEGIN)].upper() == BEGIN


def newick_of_nexus(text: str, file: str) -> str:
    """The one tree of a NEXUS file in Newick format: names for numbers, and support for what comments say of it.

    Raises
    ------
    InputError
        Damaged NEXUS, no tree, or several; `file` is named.

    Examples
    --------
    >>> newick_of_nexus("#NEXUS begin trees; translate 1 a, 2 b; tree x = [&U] (1:1,2:2); end;", "a file")
    '(a:1,b:2);'
    """
    trees: list[str] = []
    names: dict[str, str] = {}
    block = ""
    for statement in _statements(text, file):
        words = [token for token in statement if token.kind != "["]
        verb = words[0].text.lower() if words else ""
        if verb == "begin" and len(words) > 1:
            block, names = words[1].text.lower(), {}
        elif verb in ("end", "endblock"):
            block = ""
        elif block == "trees" and verb == "translate":
            names = _translation(words[1:])
        elif block == "trees" and verb in ("tree", "utree"):
            trees.append(_newick(statement, names, file))
    if not trees:
        raise InputError(
            "this NEXUS file holds no tree (block TREES): alignments are read from FASTA, Clustal, Stockholm, PHYLIP "
            "and MSF",
            file=file,
        )
    if len(trees) > 1:
        raise InputError(f"the file holds {len(trees)} trees: name one with a single tree", file=file)
    return trees[0]


def _statements(text: str, file: str) -> Iterator[list[_Token]]:
    """What stands between semicolons."""
    found: list[_Token] = []
    for match in _TOKEN.finditer(text.lstrip()[len(BEGIN) :]):
        comment, quoted_word, sign, word, odd = match.groups()
        if odd is not None:
            raise InputError(f"this is no NEXUS (a {odd} stands alone): mend the file", file=file)
        if sign == ";":
            yield found
            found = []
        elif comment is not None:
            found.append(_Token("[", comment))
        elif sign is not None:
            found.append(_Token(sign, sign))
        else:
            found.append(_Token("w", word if quoted_word is None else quoted_word.replace("''", "'")))
    if any(token.kind != "[" for token in found):
        raise InputError("the last statement of this NEXUS file has no semicolon: the file may be cut short", file=file)


def _translation(words: list[_Token]) -> dict[str, str]:
    """Names by what stands for them: ``1 mouse, 2 cat``."""
    names: dict[str, str] = {}
    key: str | None = None
    for token in [*words, _Token(",", ",")]:
        if token.kind == ",":
            key = None
        elif key is None:
            key, names[token.text] = token.text, ""
        else:
            names[key] = f"{names[key]} {token.text}".lstrip()
    return names


def _newick(statement: list[_Token], names: dict[str, str], file: str) -> str:
    """The tree of a statement ``tree name = (...)``."""
    kinds = [token.kind for token in statement]
    if "=" not in kinds:
        raise InputError("a tree of this NEXUS file has no = behind its name: mend the file", file=file)
    tokens = statement[kinds.index("=") + 1 :]
    pieces: list[str] = []
    at, is_inner = 0, False
    while at < len(tokens):
        if tokens[at].kind in "(),":
            is_inner = tokens[at].kind == ")"
            pieces.append(tokens[at].text)
            at += 1
            continue
        end = next((k for k in range(at, len(tokens)) if tokens[k].kind in "(),"), len(tokens))
        pieces.append(_node(tokens[at:end], names, is_inner))
        at = end
    return "".join(pieces) + ";"


def _node(tokens: list[_Token], names: dict[str, str], is_inner: bool) -> str:
    """A label with its length; the names are of tips, and support of inner nodes may stand in comments."""
    label, length = "", ""
    is_length = False
    for token in tokens:
        if token.kind == "[":
            found = _SUPPORT.search(token.text) if is_inner else None
            label = label or (found[1] if found else "")
        elif token.kind == ":":
            is_length = True
        elif is_length:
            length += token.text
        else:
            label = f"{label} {token.text}".lstrip()
    label = label if is_inner else names.get(label, label)
    return quoted(label) + (f":{length}" if length else "")
