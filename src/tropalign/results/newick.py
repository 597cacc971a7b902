"""Trees in Newick format: the text as nodes in arrays, nodes as text, and names as labels.

The grammar, blanks and comments allowed between all parts::

    tree    node ";"                                     the semicolon of the last tree may be missing
    node    [ "(" node { "," node } ")" ] [ label ] [ ":" length ] [ "{" branch number "}" ]
    label   'quoted, '' for a quote'   "quoted"   or anything without blanks and ( ) [ ] , : ;

A label ends in the line in which it begins. Anything else is an error with its line and column. A blank within a label
without quotes is an error too: it may be part of the name, or a comma may be missing. Underscores stay underscores.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tropalign.errors import InputError, shown

#: Size limit of a Newick file in bytes, enough for some million tips.
MOST_BYTES = 1 << 28
#: A quoted label. A quote inside it is doubled. Some programs escape it with a backslash instead; the characters
#: that follow distinguish this from a label that ends in a backslash.
QUOTED = r"""'(?:''|\\'(?!'|\s*(?:[\[\]():;,]|$))|[^'])*+'|"(?:""|[^"])*+\""""
_ESCAPED = re.compile(r"''|\\'(?!')")
#: An unquoted label (quotes are allowed after its first character, since CLUSTALW's files have no quoting), or a
#: length.
_WORD = r"""[^\s()\[\],:;'"][^\s()\[\],:;]*+"""
LABEL = f"{QUOTED}|{_WORD}"
#: Everything that may follow a bracket or a comma: a label, a colon, a length, a branch number.
_NUMBER = re.compile(r"\{[0-9]{1,9}\}")
_NODE = re.compile(rf"\s*({LABEL})?\s*(?:(:)\s*({_WORD})?)?\s*({_NUMBER.pattern})?\s*")
#: A decimal number as written by C, Python, NumPy and R: 1.e-5, .5, 1E+3, +1.
DECIMAL = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_LENGTH = re.compile(rf"({DECIMAL})({_NUMBER.pattern})?")
_SUPPORT = re.compile(DECIMAL)
#: Support of a branch: a number, or several kinds such as IQ-TREE's 95/100; "nan" if one is unknown.
OF_BRANCH = rf"(?:{DECIMAL}|(?i:nan))(?:[/|,;](?:{DECIMAL}|(?i:nan)))*"
_BARE_SUPPORT = re.compile(OF_BRANCH)
#: Keys of support in comments: FigTree, PAUP, BEAST and MrBayes, and B of the New Hampshire X format. RAxML and
#: CLUSTALW write the number alone.
_SUPPORT_COMMENT = re.compile(
    rf"[&,]!?(?:support|bootstrap|label|posterior|prob|confidence)\s*=\s*\"?({DECIMAL}(?:/{DECIMAL})*)\"?\s*(?:,|$)"
    rf"|^&&NHX(?::.*)?:B=({DECIMAL})(?::|$)",
    re.DOTALL,
)
#: Digits that may be the fraction of a number with a decimal comma.
_DECIMALS = re.compile(r"[0-9]+(?:[eE][-+]?[0-9]+)?")
#: Text outside comments, up to the next square bracket.
_OUTSIDE = re.compile(rf"(?:{LABEL}|[\s(),:;'\"])*+")
_UNEXPECTED = {
    "(": "this opening bracket follows a label, a length or a closing bracket",
    ")": "this closing bracket has no opening bracket",
    ",": "this comma is outside the brackets of the tree",
    ":": "this node has a second length",
}
#: Text behind a semicolon up to a closing bracket that has no opening one.
_CLOSED_LATER = re.compile(rf"(?:{LABEL}|[\s,:;])*+\)")
_HAS_LENGTH = re.compile(rf"(?:{LABEL})?\s*:")
_BRACKET = re.compile(r"[\[\]]")
_STATEMENT = re.compile(rf"(?:{LABEL}|[\s(),:'\"])*+;?")
_BETWEEN = re.compile(r"[\s;]*")
_LINE_END = re.compile(r"\r\n|\r|\n")
#: A label that needs no quotes.
_PLAIN = re.compile(r"[^\s()\[\]{}:;,'\"]*")
#: Characters that CLUSTALW replaces with an underscore, in sequence names as well.
_NOT_IN_CLUSTALW = re.compile(r"[\s:,;()]")


@dataclass(slots=True)
class Nodes:
    """Nodes of a tree as in its file, parents first, children in the order of the text; node 0 is the root.

    Of each node: parents (-1 for the root), labels (without quotes; support from a comment follows a slash), names
    (labels without support), lengths (of the branch above; None if missing), support (numbers in labels or
    comments; None if missing), numbers (in braces; None if missing).
    """

    parents: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    lengths: list[float | None] = field(default_factory=list)
    support: list[float | None] = field(default_factory=list)
    numbers: list[int | None] = field(default_factory=list)

    def add(self, parent: int) -> int:
        """Add a node and return its number."""
        self.parents.append(parent)
        self.labels.append("")
        self.names.append("")
        self.lengths.append(None)
        self.support.append(None)
        self.numbers.append(None)
        return len(self.parents) - 1

    def children(self) -> list[list[int]]:
        """Return the children of each node."""
        found: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents[1:], 1):
            found[parent].append(node)
        return found


class _Comment(NamedTuple):
    begin: int
    text: str


class TreeText:
    """Text that holds trees; `plain` is the text with comments replaced by blanks, so that positions stay the same."""

    def __init__(self, text: str, file: str) -> None:
        self._text, self._file = text, file
        self._comments: list[_Comment] = []
        self.plain = self._without_comments()
        self.has_comments = bool(self._comments)

    def _without_comments(self) -> str:
        """Note the comments, which may hold comments, and leave blanks in their place."""
        text, at, pieces = self._text, 0, list[str]()
        while (end := _OUTSIDE.match(text, at).end()) < len(text):  # type: ignore[union-attr]
            pieces.append(text[at:end])
            begin, depth = end, 0
            for bracket in _BRACKET.finditer(text, begin):
                depth += 1 if bracket[0] == "[" else -1
                if depth < 0:
                    raise self.error(begin, "this bracket closes a comment that was not opened")
                if depth == 0:
                    at = bracket.end()
                    break
            else:
                raise self.error(begin, "this comment is not closed", "close it with ]")
            pieces.append(" " * (at - begin))
            self._comments.append(_Comment(begin, text[begin + 1 : at - 1]))
        return "".join([*pieces, text[at:]])

    def comments_in(self, begin: int, end: int) -> list[str]:
        """Return the comments that start within a span of the text."""
        first = bisect_left(self._comments, (begin, ""))
        return [text for _, text in self._comments[first : bisect_left(self._comments, (end, ""))]]

    def error(self, at: int, problem: str, remedy: str = "correct the file") -> InputError:
        """Return an error with line and column of a position."""
        lines = _LINE_END.split(self._text[:at])
        where = f"{self._file}, line {len(lines)}, column {len(lines[-1]) + 1}"
        return InputError(f"{problem}: {remedy}", file=where)

    def count_error(self, n_trees: int) -> InputError:
        """Return the error for a file that does not hold exactly one tree."""
        found = "no tree: give another file"
        if n_trees:
            found = f"{n_trees:,} trees, but exactly one is required: write it to a file of its own"
        return InputError(f"the file contains {found}", file=self._file)

    def nexus_error(self) -> InputError:
        """Return the error for a NEXUS file without trees."""
        return InputError("this NEXUS file contains no tree in a block TREES: give a file with a tree", file=self._file)

    def check_label(self, label: str, at: int) -> None:
        """Reject a quoted label that does not end on its line; `at` is its start."""
        if _LINE_END.search(label):
            remedy = f"close it with {label[0]}, or write the name on one line"
            raise self.error(at, "this quote is not closed on its line", remedy)

    def statement_end(self, at: int) -> int:
        """Return the position after the next semicolon outside quotes, or the end of the text."""
        return _STATEMENT.match(self.plain, at).end()  # type: ignore[union-attr]


def parse_newick(text: str, file: str, *, has_numbers: bool = False) -> Nodes:
    """Return the only tree in a text; with `has_numbers`, ``{n}`` is a branch number even directly after a label."""
    source = TreeText(text.removeprefix("\ufeff"), file)
    return _only(source, _newick_trees(source, has_numbers=has_numbers))[1]


def _newick_trees(source: TreeText, *, has_numbers: bool = False) -> Iterator[tuple[str, Nodes]]:
    """Yield the trees of a text, whose names are empty."""
    at = 0
    if _BETWEEN.fullmatch(source.plain):
        return
    while True:
        nodes, at = tree_at(source, at, has_numbers=has_numbers)
        at = _BETWEEN.match(source.plain, at).end()  # type: ignore[union-attr]
        if at < len(source.plain) and source.plain[at] != "(":
            remedy = "correct the file" if len(nodes.parents) > 1 else "put brackets around the tree, and commas in it"
            raise source.error(at, f"unexpected {_excerpt(source.plain[at:])} after the end of the tree", remedy)
        yield "", nodes
        if at == len(source.plain):
            return


def _only(source: TreeText, trees: Iterator[tuple[str, Nodes]]) -> tuple[str, Nodes]:
    """Return the only tree. Raises InputError for none or several, after reading all."""
    first = next(trees, None)
    if first is None:
        raise source.count_error(0)
    if n_others := sum(1 for _ in trees):
        raise source.count_error(1 + n_others)
    return first


def tree_at(source: TreeText, at: int, *, has_numbers: bool = False) -> tuple[Nodes, int]:
    """Read the tree that starts at a position; return its nodes and the position after the semicolon."""
    maker = _Maker(source, has_numbers)
    nodes, plain = maker.nodes, source.plain
    node, last = nodes.add(-1), -1  # `last`: the sibling before a comma
    above: list[tuple[int, int]] = []  # open inner nodes and the positions of their brackets
    is_inner = False
    while True:
        match = _NODE.match(plain, at)
        assert match is not None  # all its parts are optional
        begin, at = at, match.end()
        if at > begin:
            maker.fill(node, is_inner, last, match)
        sign, at = plain[at : at + 1], at + 1
        if sign == "(" and not is_inner and not plain[begin : at - 1].strip():
            above.append((node, at - 1))
            node, last = nodes.add(node), -1
        elif sign == "," and above:
            node, last, is_inner = nodes.add(above[-1][0]), node, False
        elif sign == ")" and above:
            (node, _), last, is_inner = above.pop(), -1, True
        elif sign in ("", ";") and not above:
            maker.take_bare_support()
            return nodes, at
        elif sign == ";" and _CLOSED_LATER.match(plain, at):
            raise source.error(at - 1, "this semicolon is within the brackets of the tree", "a comma may be intended")
        elif sign in ("", ";"):
            raise source.error(above[-1][1], "this bracket is not closed", "the file may be truncated")
        else:
            raise maker.unexpected(at - 1, plain[begin : at - 1].strip())


class _Maker:
    """Collects the nodes of one tree during parsing."""

    def __init__(self, source: TreeText, has_numbers: bool) -> None:
        self.source, self.has_numbers = source, has_numbers
        self.nodes = Nodes()
        self.bare: dict[int, str] = {}  # comments that consist of a number
        self.has_bare_tips = False

    def fill(self, node: int, is_inner: bool, last: int, match: re.Match[str]) -> None:
        """Store the label, length and number that follow a bracket or a comma."""
        label, colon, length, number = match.groups()
        nodes, is_quoted = self.nodes, label is not None and label[0] in "'\""
        if colon:
            nodes.lengths[node], in_length = self._length(length, match)
            number = number or in_length
        if label and not is_quoted and not number:
            # `)0.9:1{5}` and `) {5}`; a name may end in braces unless all branches are known to be numbered.
            brace = label.rfind("{")
            if brace >= 0 and (self.has_numbers or brace == 0) and _NUMBER.fullmatch(label, brace):
                label, number = label[:brace], label[brace:]
        if number:
            nodes.numbers[node] = int(number[1:-1])
        if label:
            self.source.check_label(label, match.start(1))
            self._name(node, unquoted(label), is_inner and not is_quoted)
            if last >= 0 and not is_quoted:
                self._refuse_decimal_comma(node, last, label, match.start(1))
        if not self.source.has_comments or (node == 0 and not is_inner):
            return
        for text in self.source.comments_in(match.start(), match.end()):
            if _BARE_SUPPORT.fullmatch(text):
                self.bare[node] = text
                self.has_bare_tips |= not is_inner
            elif is_inner and (found := _SUPPORT_COMMENT.search(text)):
                self._add_support(node, found[1] or found[2])

    def _length(self, text: str | None, match: re.Match[str]) -> tuple[float, str | None]:
        """Return the length, and the branch number directly after it."""
        if not text:
            raise self.source.error(match.start(2), "there is no length after this colon")
        found = _LENGTH.fullmatch(text)
        length = math.inf if found is None else float(found[1])
        if found is None or math.isinf(length):
            problem = f"the length {_excerpt(text)} is not a number" + (
                "" if found is None else (" in the range of a double")
            )
            raise self.source.error(match.start(3), problem, "write one such as 0.15 or 1e-5")
        return length, found[2]

    def _name(self, node: int, label: str, may_be_support: bool) -> None:
        """Enter a label, as support if it is a number."""
        nodes = self.nodes
        nodes.labels[node] = label
        nodes.support[node] = number_in(label) if may_be_support else None
        nodes.names[node] = label if nodes.support[node] is None else ""

    def _refuse_decimal_comma(self, tip: int, last: int, label: str, at: int) -> None:
        """Reject a label of digits after a comma that may be the fraction of the preceding length or support."""
        lengths = self.nodes.lengths
        if _DECIMALS.fullmatch(label) is None or (lengths[last] is None) == (lengths[tip] is None):
            return
        if lengths[tip] is None or self.nodes.support[last] is not None:
            if any(map(_DECIMALS.fullmatch, self.nodes.names[:tip])):  # numeric taxon names
                return
            problem = f"the comma before {_excerpt(label)} may be a decimal comma"
            raise self.source.error(at - 1, problem, "write decimals with a point, or a length at every branch")

    def take_bare_support(self) -> None:
        """Use comments that are numbers as support, unless tips have them as well, as in old jplace files."""
        for node, text in {} if self.has_bare_tips else self.bare.items():
            self._add_support(node, text)

    def _add_support(self, node: int, text: str) -> None:
        """Take the support in a comment: as the label, or after the label and a slash unless it is already known."""
        nodes, label = self.nodes, self.nodes.labels[node]
        if not label:
            self._name(node, text, True)
        elif label != text and (nodes.support[node] is None or nodes.support[node] != number_in(text)):
            is_name = _BARE_SUPPORT.fullmatch(label) is None
            self._name(node, f"{label}/{text}", False)
            if is_name and (support := number_in(text)) is not None:
                nodes.names[node], nodes.support[node] = label, support

    def unexpected(self, at: int, before: str) -> InputError:
        """Return the error for an unexpected character; `before` is the text between the previous delimiter and it."""
        sign, rest = self.source.plain[at], self.source.plain[at:]
        remedy = "correct the file"
        if sign in "'\"" and re.match(QUOTED, rest) is None:
            problem, remedy = "this quote is not closed", f"close it with {sign}, and double any quote inside a name"
        elif sign in _UNEXPECTED:
            problem = _UNEXPECTED[sign]
        elif _HAS_LENGTH.match(before):
            problem, remedy = f"unexpected {_excerpt(rest)} after a length", "a comma may be missing"
        else:
            problem = f"unexpected {_excerpt(rest)} after the label {_excerpt(before)}"
            remedy = "put a name with blanks into quotes, or add the missing comma"
        return self.source.error(at, problem, remedy)


def _excerpt(text: str) -> str:
    """Return the first word of a text, shortened for a message."""
    match = re.match(LABEL, text)
    word = match[0] if match else text[:1]
    return repr(shown(word if len(word) <= 40 else word[:39] + "…"))


def unquoted(label: str) -> str:
    """Return the name that a label stands for.

    >>> unquoted("'5'' end'"), unquoted('"a b"'), unquoted("5'end")
    ("5' end", 'a b', "5'end")
    """
    if label[0] not in "'\"":
        return label
    return _ESCAPED.sub("'", label[1:-1]) if label[0] == "'" else label[1:-1].replace('""', '"')


def number_in(label: str) -> float | None:
    """Return a label as a number; None if it is not a number or does not fit in a double.

    >>> number_in("97.3"), number_in("100"), number_in("95/100"), number_in("nan"), number_in("1e999")
    (97.3, 100, None, None, None)
    """
    if _SUPPORT.fullmatch(label) is None:
        return None
    if label.isdecimal():
        return int(label) if len(label) <= 300 else None
    return None if math.isinf(value := float(label)) else value


def preorder(children: Sequence[Sequence[int]], top: int) -> list[int]:
    """Return a node and all its descendants, parents first, children in order.

    >>> preorder([(), (), (0, 1)], 2)
    [2, 0, 1]
    """
    found, stack = [], [top]
    while stack:
        found.append(stack.pop())
        stack.extend(reversed(children[found[-1]]))
    return found


def newick_text(children: Sequence[Sequence[int]], texts: Sequence[str], root: int) -> str:
    """Return a tree in Newick format; `texts` are the complete node texts: quoted label, length and so on.

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


def clustalw_name(name: str) -> str:
    """Return a name as CLUSTALW changes it in sequences and in trees; its tree format has no quotes.

    >>> clustalw_name("sp|P1 (x)"), clustalw_name("5'end")
    ('sp|P1__x_', "5'end")
    """
    return _NOT_IN_CLUSTALW.sub("_", name)


def quoted(name: str) -> str:
    """Return a name as a label, in quotes if necessary.

    >>> quoted("sp|P12345"), quoted("5' end")
    ('sp|P12345', "'5'' end'")
    """
    if _PLAIN.fullmatch(name):
        return name
    return "'" + name.replace("'", "''") + "'"


#: First word of a NEXUS file, in any case.
BEGIN = "#NEXUS"
_TOKEN = re.compile(rf"\s*({LABEL})\s*")
_SEMICOLON = re.compile(r"\s*;")
_TREE_NAME = re.compile(rf"\s*(?:\*\s*)?({QUOTED}|[^\s()\[\],:;='\"]+)\s*=")


# begin trees;
#   translate 1 mouse, 2 'house cat';                  names for the labels of tips
#   tree best = [&R] ((1:1,2:2)[&posterior=0.9]:3,x);  is   ((mouse:1,'house cat':2)0.9:3,x);
# end;
#
# Without TRANSLATE, a tip label that is the number of a taxon in TAXLABELS, and not itself a taxon name, means that
# taxon.
def is_nexus(begin: str) -> bool:
    """True if a text that starts like this is NEXUS.

    >>> is_nexus("#nexus begin trees;"), is_nexus("(a,b);")
    (True, False)
    """
    return begin.lstrip("\ufeff \t\r\n")[: len(BEGIN)].upper() == BEGIN


def each_tree(text: str, file: str) -> Iterator[tuple[str, Nodes]]:
    """Yield name and nodes of each tree of a text in Newick or NEXUS format; Newick has no names.

    >>> [name for name, _ in each_tree("#NEXUS begin trees; tree x = (a,b); tree y = (a,b); end;", "a file")]
    ['x', 'y']
    """
    source = TreeText(text.removeprefix("\ufeff"), file)
    has_tree = False
    for found in _nexus_trees(source) if is_nexus(text) else _newick_trees(source):
        has_tree = True
        yield found
    if not has_tree:
        raise source.count_error(0)


def parse_nodes(text: str, file: str) -> Nodes:
    """Return the only tree of a text in Newick or NEXUS format.

    >>> parse_nodes("#NEXUS begin trees; translate 1 a, 2 b; tree x = [&U] (1:1,2:2); end;", "a file").names
    ['', 'a', 'b']
    """
    if not is_nexus(text):
        return parse_newick(text, file)
    source = TreeText(text, file)
    return _only(source, _nexus_trees(source))[1]


def _nexus_trees(source: TreeText) -> Iterator[tuple[str, Nodes]]:
    """Yield name and nodes of each tree of a NEXUS text. Raises InputError for a text without trees."""
    n_trees, block = 0, ""
    taxa: list[list[str]] = []
    names: dict[str, str] = {}
    at = source.plain.index("#") + len(BEGIN)
    while word := _TOKEN.match(source.plain, at):
        begin, verb = at, word[1].lower()
        if verb == "begin":
            named = _TOKEN.match(source.plain, word.end())
            block, names = named[1].lower() if named else "", {}
        elif verb == "taxlabels" and block in ("taxa", "data", "characters"):
            taxa.append(_words(source, word.end()))
        elif block == "trees" and verb == "translate":
            names = _translation(source, word.end())
        elif block == "trees" and verb in ("tree", "utree"):
            n_trees += 1
            yield _tree(source, word, names or (_numbered(taxa[0]) if len(taxa) == 1 else {}))
        block = "" if verb in ("end", "endblock") else block
        at = source.statement_end(at)
        if source.plain[at - 1] != ";":
            raise source.error(begin, "this statement has no semicolon at its end", "the file may be truncated")
        while empty := _SEMICOLON.match(source.plain, at):
            at = empty.end()
    if source.plain[at:].strip():
        at += len(source.plain[at:]) - len(source.plain[at:].lstrip())
        raise source.error(at, f"unexpected {source.plain[at]!r} at the start of a statement")
    if not n_trees:
        raise source.nexus_error()


def _tree(source: TreeText, word: re.Match[str], names: dict[str, str]) -> tuple[str, Nodes]:
    """Return name and tree of a statement ``tree name = (...);``, with tip labels translated by `names`."""
    equals = _TREE_NAME.match(source.plain, word.end())
    if equals is None:
        raise source.error(word.start(1), "this tree has no name and equals sign", "write tree NAME = (...);")
    nodes, _ = tree_at(source, equals.end())
    is_inner = [False] * len(nodes.parents)
    for parent in nodes.parents[1:]:
        is_inner[parent] = True
    nodes.names = [name if inner else names.get(name, name) for name, inner in zip(nodes.names, is_inner, strict=True)]
    return unquoted(equals[1]), nodes


def _words(source: TreeText, at: int) -> list[str]:
    found = []
    while word := _TOKEN.match(source.plain, at):
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
    while key := _TOKEN.match(source.plain, at):
        name = _TOKEN.match(source.plain, key.end())
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
        problem = "TRANSLATE must consist of pairs of a label and a name, separated by commas"
        raise source.error(at, problem, "put a name with blanks into quotes, or add the missing comma")
    return names
