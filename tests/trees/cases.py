"""Trees and alignments for the tests of trees."""

import numpy as np

from tropalign.trees import Tree


def random_tree(n, seed, kinds=3):
    """An unrooted tree of n taxa whose inner nodes join two others each, with lengths that are not all different."""
    random = np.random.default_rng(seed)
    left, children = list(range(n)), []
    while len(left) > 3:
        joined = tuple(int(left.pop(random.integers(len(left)))) for _ in range(2))
        children.append(joined)
        left.append(n + len(children) - 1)
    children.append(tuple(left))
    lengths = random.integers(1, kinds + 1, 2 * n - 2) / 4.0
    lengths[-1] = 0
    return Tree(tuple(f"t{k}" for k in range(n)), tuple(children), lengths)


def path_lengths(tree):
    """Distances of all taxa along the branches, a square."""
    n = tree.n_taxa
    below = {k: {k: 0.0} for k in range(n)}
    square = np.zeros((n, n))
    for k, joined in enumerate(tree.children):
        parts = [{taxon: far + tree.lengths[child] for taxon, far in below[child].items()} for child in joined]
        for one in parts:
            for other in parts:
                if one is not other:
                    for a, far_a in one.items():
                        for b, far_b in other.items():
                            square[a, b] = far_a + far_b
        below[n + k] = {taxon: far for part in parts for taxon, far in part.items()}
    return square


def splits(tree):
    """Length and support of each branch by the taxa on the side without the first one; those that are trivial, too."""
    names = set(tree.names)
    below = [{name} for name in tree.names]
    for joined in tree.children:
        below.append(set().union(*(below[child] for child in joined)))
    found = {}
    for node, taxa in enumerate(below[:-1]):
        side = frozenset(names - taxa if tree.names[0] in taxa else taxa)
        support = np.nan if tree.support is None else tree.support[node]
        length = tree.lengths[node] + (found[side][0] if side in found else 0.0)
        found[side] = (float(length), float(support))
    return found
