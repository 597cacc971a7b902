"""SP and TC of an alignment from their definition (Thompson, Plewniak and Poch 1999), by every pair of residues.

Rows are texts by name. A column of the reference counts where it holds an upper-case letter, or where `core` says so.
"""

from itertools import combinations

GAPS = "-._~"


def counted(test, reference, core=None):
    """Pairs in columns that count, those that are aligned; such columns of two residues at least, those aligned."""
    if core is None:
        core = [any(letter.isupper() for letter in column) for column in zip(*reference.values(), strict=True)]
    where = {name: [c for c, letter in enumerate(row) if letter not in GAPS] for name, row in test.items()}
    seen = dict.fromkeys(reference, 0)
    pairs = pairs_aligned = columns = columns_aligned = 0
    for column, counts in enumerate(core):
        homes = []
        for name, row in reference.items():
            if row[column] not in GAPS:
                homes.append(where[name][seen[name]])
                seen[name] += 1
        if counts and len(homes) > 1:
            together = [a == b for a, b in combinations(homes, 2)]
            pairs, pairs_aligned = pairs + len(together), pairs_aligned + sum(together)
            columns, columns_aligned = columns + 1, columns_aligned + all(together)
    return pairs, pairs_aligned, columns, columns_aligned
