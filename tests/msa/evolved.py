"""Protein families that evolve along a random tree, with the alignment that is true of them."""

import numpy as np

LETTERS = np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8)


class _Sites:
    """The sites of a family in their order along the sequences, as they arise; each with a rate of its own."""

    def __init__(self, rng, n):
        self.rng = rng
        self.after = {k: k + 1 for k in range(-1, n)}  # -1 is the beginning, the last one points beyond
        self.after[n - 1] = None
        self.rates = rng.gamma(0.8, 1.25, n)

    def insert(self, before, n):
        """New sites behind a site."""
        new = np.arange(len(self.rates), len(self.rates) + n)
        self.rates = np.append(self.rates, self.rng.gamma(0.8, 1.25, n))
        following = self.after[before]
        for site in new.tolist():
            self.after[before] = before = site
        self.after[before] = following
        return new

    def columns(self):
        """The column of each site."""
        column, site = np.zeros(len(self.rates), np.int64), self.after[-1]
        for place in range(len(self.rates)):
            column[site], site = place, self.after[site]
        return column


def _grown(rng, sites, sequence, time, indel_rate, shortest):
    """A sequence after some time: substitutions, then insertions and deletions of some four residues."""
    at, letters = sequence
    hit = rng.random(len(at)) < 1 - np.exp(-sites.rates[at] * time)
    letters = np.where(hit, rng.integers(0, 20, len(at)), letters)
    for _ in range(rng.poisson(indel_rate * time * len(at))):
        size, place = int(rng.geometric(0.25)), int(rng.integers(0, len(at)))
        if rng.random() < 0.5:
            if len(at) - size > shortest:
                at, letters = (np.delete(part, slice(place, place + size)) for part in (at, letters))
        elif len(at) < 6 * shortest:
            new = sites.insert(int(at[place - 1]) if place else -1, size)
            at, letters = np.insert(at, place, new), np.insert(letters, place, rng.integers(0, 20, size))
    return at, letters


def evolved_family(n, length, seed, depth=0.7, indel_rate=0.02, fragments=0.0):
    """A family of n proteins of about `length` residues.

    Parameters
    ----------
    depth
        Substitutions per site from the root to a leaf.
    fragments
        The share of sequences of which only a part is left.

    Returns
    -------
    texts : list of str
    columns : list of arrays
        The true column of each residue.
    """
    rng = np.random.default_rng(seed)
    sites = _Sites(rng, length)
    lineages = [((np.arange(length), rng.integers(0, 20, length)), 0.0)]  # a sequence, and when it was that
    now, all_splits = 0.0, float((1 / np.arange(1, max(n, 2))).sum())
    while len(lineages) < n:
        now += depth / len(lineages) / all_splits
        k = int(rng.integers(0, len(lineages)))
        sequence, then = lineages[k]
        lineages[k] = (_grown(rng, sites, sequence, now - then, indel_rate, length // 3), now)
        lineages.append(lineages[k])
    grown = [
        _grown(rng, sites, sequence, max(depth - then, 0.0), indel_rate, length // 3) for sequence, then in lineages
    ]
    column = sites.columns()
    texts, columns = [], []
    for at, letters in (grown[k] for k in rng.permutation(n)):
        if rng.random() < fragments:
            size = max(min(20, len(at)), int(len(at) * rng.uniform(0.2, 0.6)))
            begin = int(rng.integers(0, len(at) - size + 1))
            at, letters = at[begin : begin + size], letters[begin : begin + size]
        texts.append(LETTERS[letters].tobytes().decode())
        columns.append(column[at])
    return texts, columns
