"""The effective number of sequences beside the one that HMMER finds, on alignments of every kind."""

import io
import random

import numpy as np
import pytest

from tropalign import _native
from tropalign.profiles import building
from tropalign.profiles.options import BuildOptions
from tropalign.profiles.proteins import BACKGROUND, EASEL_CODES

easel = pytest.importorskip("pyhmmer.easel", reason="HMMER's numbers come from pyhmmer")
AMINO = "ACDEFGHIKLMNPQRSTVWY"


def family(rng, n_rows, n_columns, likeness, gaps=0.1):
    """Rows that descend from one, with gaps that stretch."""
    ancestor = rng.choices(AMINO, k=n_columns)
    rows = []
    for _ in range(n_rows):
        row, is_gap = [], False
        for letter in ancestor:
            is_gap = rng.random() < (0.6 if is_gap else gaps)
            row.append("-" if is_gap else letter if rng.random() < likeness else rng.choice(AMINO))
        rows.append("".join(row))
    return rows


def with_letters(rng, rows, letters, share):
    return ["".join(rng.choice(letters) if x != "-" and rng.random() < share else x for x in row) for row in rows]


def cut(rng, rows, gap):
    """The rows, some of them within a span alone."""
    found = []
    for row in rows:
        begin, end = sorted(rng.sample(range(len(row) + 1), 2)) if rng.random() < 0.5 else (0, len(row))
        found.append(gap * begin + row[begin:end] + gap * (len(row) - end))
    return found


def alignment_of(rows, marks=None):
    codes = [f"row{k} {row}" for k, row in enumerate(rows)]
    lines = ["# STOCKHOLM 1.0", "#=GF ID x", *codes, *([f"#=GC RF {marks}"] if marks else []), "//", ""]
    alphabet, _ = building.hmmer_tools()
    text = io.BytesIO("\n".join(lines).encode())
    with easel.MSAFile(text, "stockholm", digital=True, alphabet=alphabet) as reader:
        (found,) = reader
    return found


def both(rows, options, marks=None):
    """The number that is found here, None where HMMER has to decide it, and HMMER's."""
    alignment = alignment_of(rows, marks)
    ours = building._with_effective_number(alignment, options).effective_number
    _, background = building.hmmer_tools()
    try:
        hmm = building._calibrated(lambda builder: builder.build_msa(alignment.copy(), background), options=options)
    except ValueError:  # no column is a node, say
        return ours, None
    return ours, hmm.nseq_effective


OPTIONS = [
    BuildOptions(),
    BuildOptions(occupancy=0.8, fragments=0.8),
    BuildOptions(entropy=0.9, sigma=20),
    BuildOptions(entropy=0.3, fragments=0.0, occupancy=0.2),
]


@pytest.mark.parametrize("seed", range(30))
def test_numbers_are_those_of_hmmer(seed):
    rng = random.Random(seed)
    rows = family(rng, rng.choice([1, 2, 3, 7, 30]), rng.choice([5, 30, 90]), rng.random(), rng.choice([0, 0.1, 0.3]))
    for kind in (rows, cut(rng, rows, "-"), cut(rng, rows, "~"), with_letters(rng, rows, "XBZJOU*", 0.3)):
        if not any(letter.isalpha() for row in kind for letter in row):
            continue
        for options in OPTIONS:
            ours, theirs = both(kind, options)
            assert ours is None or ours == theirs


def test_most_numbers_are_found_here():
    rng = random.Random(7)
    found = [both(family(rng, 20, 60, 0.6), BuildOptions()) for _ in range(20)]
    assert sum(ours is not None for ours, _ in found) >= 18
    assert len({theirs for _, theirs in found}) > 5


@pytest.mark.parametrize("seed", range(10))
def test_marked_columns(seed):
    rng = random.Random(seed)
    rows = cut(rng, family(rng, 12, 40, 0.5, 0.3), "-")
    marks = "".join(rng.choice("xX#.-_~") for _ in range(40))
    ours, theirs = both(rows, BuildOptions(nodes="reference"), marks)
    assert ours is None or ours == theirs


def number(rows, **changes):
    codes = EASEL_CODES[np.array([list(row.encode()) for row in rows], np.uint8)]
    values = {"is_node": None, "occupancy": 0.5, "fragment": 0.5, "entropy": 0.59, "sigma": 45.0, **changes}
    return _native.effective_number(codes, background=BACKGROUND, **values)


def test_what_hmmer_has_to_decide():
    rows = family(random.Random(1), 10, 120, 0.9)
    assert 0 < number(rows) < 10
    assert np.isnan(number(["-" * 9] * 3))
    assert np.isnan(number(rows, is_node=np.zeros(120, np.uint8)))
    assert number(rows, entropy=9.0) == 10
