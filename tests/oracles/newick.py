"""Newick by recursive descent, a character at a time: what a text must mean, or ValueError."""

import re

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


class Reader:
    """One tree in a text, as nested tuples (children, label, is_quoted, length)."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def peek(self):
        """The next character that is neither blank nor part of a comment; "" at the end."""
        while self.at < len(self.text):
            if self.text[self.at].isspace():
                self.at += 1
            elif self.text[self.at] == "[":
                depth = 0
                while True:
                    if self.at == len(self.text):
                        raise ValueError("a comment is open")
                    depth += {"[": 1, "]": -1}.get(self.text[self.at], 0)
                    self.at += 1
                    if depth == 0:
                        break
            else:
                return self.text[self.at]
        return ""

    def tree(self):
        """The tree, with nothing but blanks, comments and semicolons behind it."""
        found = self.node()
        while (sign := self.peek()) == ";":
            self.at += 1
        if sign:
            raise ValueError("text behind the tree")
        return found

    def node(self):
        children = []
        if self.peek() == "(":
            while True:
                self.at += 1
                children.append(self.node())
                if self.peek() != ",":
                    break
            if self.peek() != ")":
                raise ValueError("a bracket is open")
            self.at += 1
        label, is_quoted = self.word(), False
        if label[:1] in ("'", '"') and label:
            label, is_quoted = label[1:-1].replace(2 * label[0], label[0]), True
        length = None
        if self.peek() == ":":
            self.at += 1
            self.peek()
            text = self.word()
            if NUMBER.fullmatch(text) is None or abs(float(text)) == float("inf"):
                raise ValueError("no length")
            length = float(text)
        return children, label, is_quoted, length

    def word(self):
        """Text up to a sign, with its quotes; "" if there is none."""
        self.peek()
        begin, quote = self.at, self.text[self.at : self.at + 1]
        if quote in ("'", '"') and quote:
            while True:
                self.at = self.text.find(quote, self.at + 1)
                if self.at < 0:
                    raise ValueError("a quote is open")
                self.at += 1
                if self.text[self.at : self.at + 1] != quote:
                    return self.text[begin : self.at]
        while self.at < len(self.text) and not self.text[self.at].isspace() and self.text[self.at] not in "()[],:;":
            self.at += 1
        return self.text[begin : self.at]


def read(text):
    """Label, whether it is quoted, length and number of children of each node, parents first."""
    found, stack = [], [Reader(text).tree()]
    while stack:
        children, label, is_quoted, length = stack.pop()
        found.append((label, is_quoted, length, len(children)))
        stack.extend(reversed(children))
    return found
