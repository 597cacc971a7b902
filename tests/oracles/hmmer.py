"""HMMER itself, through pyhmmer, as the oracle of searches; and families of random proteins to search for."""

import numpy as np
import pyhmmer

from tropalign.profiles.building import denormals_as_zero
from tropalign.results.hit_pyhmmer import found_of

AMINO = pyhmmer.easel.Alphabet.amino()
LETTERS = np.array(list("ACDEFGHIKLMNPQRSTVWY"))


class Family:
    """Proteins that descend from a random one, and a calibrated model of them (`hmm`, of pyhmmer)."""

    def __init__(self, n_columns, seed):
        self.rng = np.random.default_rng(seed)
        self.parent = self.rng.choice(LETTERS, n_columns)
        rows = [pyhmmer.easel.TextSequence(name=f"s{k}", sequence=self._row(0.7)) for k in range(8)]
        alignment = pyhmmer.easel.TextMSA(name=f"family{seed}", sequences=rows).digitize(AMINO)
        builder = pyhmmer.plan7.Builder(AMINO, seed=seed + 1)
        self.hmm = builder.build_msa(alignment, pyhmmer.plan7.Background(AMINO))[0]

    def _row(self, kept):
        """A member with its gaps; `kept` is the share of columns as in the parent."""
        n = len(self.parent)
        letters = np.where(self.rng.random(n) < kept, self.parent, self.rng.choice(LETTERS, n))
        begin, length = self.rng.integers(0, n), self.rng.integers(0, n // 5 + 1)
        letters[begin : begin + length] = "-"
        return "".join(letters)

    def member(self, kept):
        """The letters of a member."""
        return self._row(kept).replace("-", "")


def database(families, n, seed):
    """Letters of n proteins: random ones of all lengths from 0, strange ones, and some with members of the families."""
    rng = np.random.default_rng(seed)
    texts = []
    for k in range(n):
        letters = rng.choice(LETTERS, int(rng.choice([0, 1, 5, 40, 150, 400, 900])))
        if k % 7 == 1:  # of biased composition
            letters = rng.choice(LETTERS[[0, 8, 9, 15]], len(letters))
        if k % 11 == 2 and len(letters):
            letters[rng.random(len(letters)) < 0.05] = "X"
            letters[rng.random(len(letters)) < 0.02] = "B"
            letters[rng.random(len(letters)) < 0.01] = "*"
        text = "".join(letters)
        for family in families:
            for _ in range(int(rng.choice([0, 0, 0, 1, 3]))):
                at = int(rng.integers(0, len(text) + 1))
                text = text[:at] + family.member(rng.choice([0.3, 0.45, 0.6])) + text[at:]
        texts.append(text)
    return texts


def digital(texts):
    """Proteins as pyhmmer takes them, called by their numbers."""
    named = [pyhmmer.easel.TextSequence(name=str(k), sequence=text) for k, text in enumerate(texts)]
    return pyhmmer.easel.DigitalSequenceBlock(AMINO, [sequence.digitize(AMINO) for sequence in named])


def pipeline(options, **more):
    """HMMER's pipeline with these SearchOptions, which keeps all hits."""
    return pyhmmer.plan7.Pipeline(
        AMINO, F1=options.f1, F2=options.f2, F3=options.f3, bias_filter=options.bias_filter, null2=options.null2,
        seed=options.seed, **{"E": 1e9, "domE": 1e9, "Z": 1} | more,
    )  # fmt: skip


def hits_of_search(hmm, sequences, options):
    """What HMMER finds for a model, as FoundHits."""
    with denormals_as_zero():
        return found_of(pipeline(options).search_hmm(hmm, sequences))


def hits_of_scan(sequence, hmms, options):
    """What HMMER finds for a sequence, as FoundHits."""
    background = pyhmmer.plan7.Background(AMINO)
    profiles = pyhmmer.plan7.OptimizedProfileBlock(AMINO, [hmm.to_profile(background).to_optimized() for hmm in hmms])
    with denormals_as_zero():
        return found_of(pipeline(options).scan_seq(sequence, profiles))
