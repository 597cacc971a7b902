"""Trees as text, and their pages, as tests make them."""

import io

import numpy as np

from tropalign.formats.format import Header, make_writer
from tropalign.formats.trees import TreesContext
from tropalign.results.newick import quoted
from tropalign.trees import parse_tree

HEADER = Header("1.2.3", "tropalign tree family.aln", {"bootstrap": "100"})


def random_newick(n, seed=0, names=None, has_support=True, top=3):
    """A tree whose neighbouring tips are near each other, as text."""
    random = np.random.default_rng(seed)
    labels = [quoted(name) for name in names or [f"t{k}" for k in range(n)]]
    parts = [f"{label}:{random.exponential(0.05):.5f}" for label in labels]
    while len(parts) > top:
        k = int(random.integers(len(parts) - 1))
        a, b = parts[k : k + 2]
        support = random.integers(20, 101) if has_support else ""
        parts[k : k + 2] = [f"({a},{b}){support}:{random.exponential(0.05):.5f}"]
    return f"({','.join(parts)});"


def written(form, tree, groups=None, title="family", header=HEADER, kind="trees"):
    writer, out = make_writer(kind, form, header, TreesContext(title, groups or {})), io.BytesIO()
    writer.assemble([f"{tree}\n".encode() if isinstance(tree, str) else writer.encode(tree)], out)
    return out.getvalue()


def page_of(text, groups=None):
    return written("html", text if text.startswith("'") else parse_tree(text), groups)
