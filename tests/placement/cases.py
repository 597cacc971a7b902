"""Small references at random."""

import random

import numpy as np

from tropalign import ReferencePackage

LETTERS = {"nucleotide": "ACGT", "protein": "ARNDCQEGHILKMFPSTWYV"}


def newick(rng, names):
    """A random binary tree, rooted in two or three."""
    parts = [f"{name}:{rng.choice([0.01, 0.1, 0.5, 2.0])}" for name in names]
    while len(parts) > rng.choice([2, 3]):
        one, other = parts.pop(rng.randrange(len(parts))), parts.pop(rng.randrange(len(parts)))
        parts.append(f"({one},{other}):{rng.choice([0.02, 0.3])}")
    return f"({','.join(parts)});"


def reference(seed, n_tips=6, n_columns=24, kind="nucleotide", **options):
    """Relatives with gaps and ambiguity codes."""
    rng = random.Random(seed)
    letters = LETTERS[kind]
    ancestor = [rng.choice(letters) for _ in range(n_columns)]
    gappy = [rng.random() < 0.4 for _ in range(n_columns)]
    rows = []
    for _ in range(n_tips):
        row = []
        for letter, often_gap in zip(ancestor, gappy, strict=True):
            luck = rng.random()
            if luck < (0.7 if often_gap else 0.08):
                row.append("-")
            else:
                row.append(
                    rng.choice(letters)
                    if luck > 0.85
                    else rng.choice("RYN" if kind == "nucleotide" else "XB")
                    if luck > 0.82
                    else letter
                )
        rows.append("".join(row))
    names = tuple(f"t{k}" for k in range(n_tips))
    array = np.array([list(row.encode()) for row in rows], np.uint8)
    return ReferencePackage.build(names, array, newick(rng, names), alphabet=kind, n_threads=1, **options)


def reads(seed, count, longest, kind="nucleotide", package=None):
    """Random ones, and pieces of the reference with errors."""
    rng = random.Random(seed)
    letters, made = LETTERS[kind] + ("N" if kind == "nucleotide" else "X"), []
    for k in range(count):
        if package is not None and rng.random() < 0.7:
            row = bytes(package.letters[rng.randrange(len(package.letters))]).decode().replace("-", "")
            begin = rng.randrange(max(1, len(row)))
            text = [rng.choice(letters) if rng.random() < 0.1 else letter for letter in row[begin : begin + longest]]
            if rng.random() < 0.3 and text:
                text[rng.randrange(len(text)) : 0] = rng.choices(letters, k=rng.randint(1, 4))
        else:
            text = rng.choices(letters, k=rng.randint(1, longest))
        made.append((f"r{k}", "".join(text[:longest]) or "A"))
    return made


def vector_of(package, branch):
    """(set, flag) of each column."""
    bit = 1 << package.states.n_states
    return [(int(v) & (bit - 1), bool(int(v) & bit)) for v in package.vectors()[package.distinct[branch]]]
