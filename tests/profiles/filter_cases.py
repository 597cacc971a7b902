"""Models and targets for tests of filters, and HMMER's own scores of some."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pyhmmer

from tropalign import _native
from tropalign.profiles.models import from_pyhmmer
from tropalign.profiles.proteins import BACKGROUND, encode

DATA = Path(__file__).parent.parent / "data" / "search"
EVALUE = np.array([-8.5, 0.71, -9, 0.71, -4, 0.71], np.float32)


def block_of(targets):
    offsets = np.cumsum([0, *map(len, targets)])
    return _native.TargetBlock(np.concatenate([*targets, []]).astype(np.uint8), offsets)


def every(targets):
    return np.arange(len(targets), dtype=np.int32)


def probabilities(rng, n, size):
    """Rows of probabilities, most of them uneven and some of them 0."""
    rows = rng.gamma(0.5, size=(n, size)) * (rng.random((n, size)) < 0.95) + 1e-9 * (rng.random((n, size)) < 0.5)
    rows[:, 0] += 1e-3
    return (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)


def random_model(M, rng, deletes=None):
    """A model, and its likeliest residues; `deletes`: how likely a delete goes on."""
    match = probabilities(rng, M + 1, 20)
    transitions = np.concatenate([probabilities(rng, M + 1, n) for n in (3, 2, 2)], axis=1)
    if rng.random() < 0.7:
        transitions[:, :3] = [0.96, 0.01, 0.03]
    if deletes is not None:
        transitions[:, 5:] = [1 - deletes, deletes]
    transitions[0, :2] = 0.5  # the model can be entered
    composition = probabilities(rng, 1, 20)[0]
    model = _native.ProfileModel(match, transitions, composition, BACKGROUND, EVALUE, b"x" * M)
    return model, match[1:].argmax(axis=1).astype(np.uint8)


def random_target(L, likeliest, rng):
    """Residues of all kinds, with pieces of the likeliest ones, of which nodes are left out."""
    target = rng.integers(0, 29 if rng.random() < 0.2 else 20, L).astype(np.uint8)
    if rng.random() < 0.05:
        target[:] = rng.choice([20, 27, 28])
    for _ in range(rng.integers(0, 5)):
        at, begin, end = rng.integers(0, L + 1), *np.sort(rng.integers(0, len(likeliest) + 1, 2))
        left_out = slice(*np.sort(rng.integers(begin, end + 1, 2)))
        piece = np.concatenate([likeliest[begin : left_out.start], likeliest[left_out.stop : end]])[: L - at]
        target[at : at + len(piece)] = piece
    return target


def scores_of_hmmer(column):
    """Models, targets and HMMER's scores in data/search/filters.tsv: a row per model, a column per target."""
    models = []
    with pyhmmer.plan7.HMMFile(DATA / "pfam.hmm") as file:
        models += map(from_pyhmmer, file)
    with gzip.open(DATA / "pkinase.hmm.gz") as stream, pyhmmer.plan7.HMMFile(stream) as file:
        models += map(from_pyhmmer, file)
    records = "".join((DATA / name).read_text() for name in ("proteins.fasta", "domains.fasta")).split(">")[1:]
    texts = ["".join(record.splitlines()[1:]) for record in records]
    targets = [encode(np.frombuffer(text.encode(), np.uint8)) for text in texts if text]
    with open(DATA / "filters.tsv", newline="") as file:
        scores = [float(row[column]) for row in csv.DictReader(file, delimiter="\t")]
    return models, targets, np.array(scores, np.float32).reshape(len(models), len(targets))
