"""NEXUS tree parser (files of FigTree, PAUP, MrBayes and BEAST), and the parser for either format.

begin trees;
  translate 1 mouse, 2 'house cat';                  names for the labels of tips
  tree best = [&R] ((1:1,2:2)[&posterior=0.9]:3,x);  is   ((mouse:1,'house cat':2)0.9:3,x);
end;

Without TRANSLATE, a tip label that is the number of a taxon in TAXLABELS, and not itself a taxon name, means that
taxon.
"""

from __future__ import annotations

import re

from tropalign.errors import InputError
from tropalign.results.newick import LABEL, QUOTED, Nodes, TreeText, parse_newick, tree_at, unquoted

#: First word of a NEXUS file, in any case.
BEGIN = "#NEXUS"
_WORD = re.compile(rf"\s*({LABEL})\s*")
_SEMICOLON = re.compile(r"\s*;")
_TREE_NAME = re.compile(rf"\s*(?:\*\s*)?(?:{QUOTED}|[^\s()\[\],:;='\"]+)\s*=")


def is_nexus(begin: str) -> bool:
    """True if a text that starts like this is NEXUS.

    >>> is_nexus("#nexus begin trees;"), is_nexus("(a,b);")
    (True, False)
    """
    return begin.lstrip("\ufeff \t\r\n")[: len(BEGIN)].upper() == BEGIN


def parse_nodes(text: str, file: str) -> Nodes:
    """Return the only tree of a text in Newick or NEXUS format.

    >>> parse_nodes("#NEXUS begin trees; translate 1 a, 2 b; tree x = [&U] (1:1,2:2); end;", "a file").names
    ['', 'a', 'b']
    """
    return _parse_nexus(text, file) if is_nexus(text) else parse_newick(text, file)


def _parse_nexus(text: str, file: str) -> Nodes:
    source = TreeText(text, file)
    found: Nodes | None = None
    n_trees, block = 0, ""
    taxa: list[list[str]] = []
    names: dict[str, str] = {}
    at = text.index("#") + len(BEGIN)
    while word := _WORD.match(source.plain, at):
        begin, verb = at, word[1].lower()
        if verb == "begin":
            named = _WORD.match(source.plain, word.end())
            block, names = named[1].lower() if named else "", {}
        elif verb == "taxlabels" and block in ("taxa", "data", "characters"):
            taxa.append(_words(source, word.end()))
        elif block == "trees" and verb == "translate":
            names = _translation(source, word.end())
        elif block == "trees" and verb in ("tree", "utree"):
            n_trees += 1
            if n_trees == 1:
                found = _tree(source, word, names or (_numbered(taxa[0]) if len(taxa) == 1 else {}))
        block = "" if verb in ("end", "endblock") else block
        at = source.statement_end(at)
        if source.plain[at - 1] != ";":
            raise source.error(begin, "this statement has no semicolon at its end", "the file may be cut short")
        while empty := _SEMICOLON.match(source.plain, at):
            at = empty.end()
    if source.plain[at:].strip():
        at += len(source.plain[at:]) - len(source.plain[at:].lstrip())
        raise source.error(at, f"no statement begins with {source.plain[at]!r}")
    if found is None:
        problem = "this NEXUS file holds no tree in a block TREES: name a file with a tree"
        raise InputError(problem, file=file)
    if n_trees > 1:
        raise source.count_error(n_trees)
    return found


def _tree(source: TreeText, word: re.Match[str], names: dict[str, str]) -> Nodes:
    """Return the tree of a statement ``tree name = (...);``, with tip labels translated by `names`."""
    equals = _TREE_NAME.match(source.plain, word.end())
    if equals is None:
        raise source.error(word.start(1), "this tree has no name and equals sign", "write tree NAME = (...);")
    nodes, _ = tree_at(source, equals.end())
    is_inner = [False] * len(nodes.parents)
    for parent in nodes.parents[1:]:
        is_inner[parent] = True
    nodes.names = [name if inner else names.get(name, name) for name, inner in zip(nodes.names, is_inner, strict=True)]
    return nodes


def _words(source: TreeText, at: int) -> list[str]:
    found = []
    while word := _WORD.match(source.plain, at):
        source.check_label(word[1], word.start(1))
        found.append(unquoted(word[1]))
        at = word.end()
    return found


def _numbered(taxa: list[str]) -> dict[str, str]:
    """Map numbers to taxa, except numbers that are themselves the name of a taxon."""
    names = set(taxa)
    return {str(number): name for number, name in enumerate(taxa, 1) if str(number) not in names}


def _translation(source: TreeText, at: int) -> dict[str, str]:
    """Read TRANSLATE, ``1 mouse, 2 cat``, as a map from label to name; a trailing comma is allowed."""
    names: dict[str, str] = {}
    while key := _WORD.match(source.plain, at):
        name = _WORD.match(source.plain, key.end())
        if name is None:
            raise source.error(key.start(1), f"TRANSLATE has no name for {key[1]!r}")
        for word in (key, name):
            source.check_label(word[1], word.start(1))
        if names.setdefault(unquoted(key[1]), unquoted(name[1])) != unquoted(name[1]):
            raise source.error(key.start(1), f"TRANSLATE has two names for {key[1]!r}")
        at = name.end()
        if source.plain[at : at + 1] != ",":
            break
        at += 1
    if source.plain[at : at + 1] != ";":
        problem = "TRANSLATE has to be pairs of a label and a name with commas between them"
        raise source.error(at, problem, "put a name with blanks into quotes, or add the comma that is missing")
    return names
