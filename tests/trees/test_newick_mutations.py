"""Trees with one character changed: what is read is what an independent parser reads, or an error."""

import random

from oracles.newick import read

from tropalign.errors import InputError
from tropalign.results.newick import parse_newick

CHARACTERS = "()[],:;'\" \n\r\t_aZ09.-+eE{}/&=\\#\u00e9"
NAMES = ["a", "Homo_sapiens", "x.y", "sp|P1", "it's", "'a b'", "'it''s'", "'x(1)'", "'p,q:r;s'", "'[c]'", '"a ""b"', ""]
LENGTHS = ["", ":1", ":0.5", ":1e-5", ":1.E+3", ":-2", ":.25", ": 3", ":1[90]", ":[x,(y]2"]
LABELS = ["", "97", "0.5", "95/100", "clade", "'9'", "[&support=3]", "x[c]"]


def random_tree(draw, depth=3):
    if depth and draw.random() < 0.6:
        below = [random_tree(draw, depth - 1) for _ in range(draw.choice([1, 2, 2, 2, 3]))]
        return f"({draw.choice([',', ', ']).join(below)}){draw.choice(LABELS)}{draw.choice(LENGTHS)}"
    return draw.choice(NAMES) + draw.choice(LENGTHS[:-2])


def mutated(draw, text):
    at, kind = draw.randrange(len(text)), draw.randrange(3)
    return text[:at] + (draw.choice(CHARACTERS) if kind else "") + text[at + (kind < 2) :]


def is_label(ours, label, n_children):
    """Whether a label is what was written, with the support of a comment behind that of an inner node."""
    return ours == label or (n_children > 0 and (not label or ours.startswith(f"{label}/")))


def test_no_tree_is_read_as_another():
    draw = random.Random(46)
    n_same = n_refused = 0
    for _ in range(200):
        tree = f"({random_tree(draw)},{random_tree(draw)});"
        for text in [tree, *(mutated(draw, tree) for _ in range(20))]:
            try:
                nodes = parse_newick(text, "a file")
            except InputError:  # it may refuse more: decimal commas, line ends in names
                n_refused += 1
                continue
            n_children = list(map(len, nodes.children()))
            if "\\'" in text:  # quotes that are escaped so are an extension
                continue
            labels, _, lengths, counts = zip(*read(text), strict=True)
            assert nodes.lengths == list(lengths) and n_children == list(counts), text
            assert all(map(is_label, nodes.labels, labels, counts)), text
            n_same += 1
    assert n_same > 1000 and n_refused > 1000
