"""Sequences cut at long runs of missing letters: what is left, and what decode says of it."""

import itertools
import random
import re

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.decoding.decoding import LEAST_RUN, long_runs, pieces_of

RNG = random.Random(5)
BACK = "".join(RNG.choices("ATGC", [32, 32, 18, 18], k=3000))
ISLAND = "CGCGGCGCCGACG" * 60
BOTH = ("island", "background")


def rows(found, name=None, shift=0):
    segments = [segment for segment in found if name in (None, segment.sequence)]
    return [(row.label, row.start + shift, row.end + shift, row.support) for row in segments]


def runs_of(text):
    """Those of N, which regular expressions find."""
    return [match.span() for match in re.finditer(f"N{{{LEAST_RUN},}}", text)]


def between(text):
    """Begin and end of what such runs leave of a text."""
    bounds = [0, *itertools.chain.from_iterable(runs_of(text)), len(text)]
    return [(a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=True) if a < b]


@pytest.mark.parametrize("chunk", [1, 2, 7, 64, 1 << 18])
def test_any_text_is_cut_where_regular_expressions_find_runs(chunk, monkeypatch):
    monkeypatch.setattr("tropalign.decoding.decoding.CHUNK", chunk)
    rng = random.Random(chunk)
    for _ in range(30):
        texts = [
            "".join(rng.choice("ACN") * rng.choice([1, 2, 9, 10, 11, 40]) for _ in range(rng.randint(0, 9)))
            for _ in range(rng.randint(0, 5))
        ]
        whole = np.frombuffer("".join(texts).encode(), np.uint8)
        offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)]).astype(np.int64)
        is_missing = np.arange(256) == ord("N")
        want = [(first + a, first + b) for text, first in zip(texts, offsets, strict=False) for a, b in runs_of(text)]
        assert [tuple(run) for run in long_runs(whole, is_missing, offsets).tolist()] == want
        found = pieces_of(whole.copy(), ord("N"), offsets)
        left = [(k, a, text[a:b]) for k, text in enumerate(texts) for a, b in between(text)]
        texts_found = [found.codes[a:b].tobytes().decode() for a, b in itertools.pairwise(found.offsets.tolist())]
        assert list(zip(found.sequence.tolist(), found.begin.tolist(), texts_found, strict=True)) == left
        assert found.n_unlabelled.tolist() == [sum(b - a for a, b in runs_of(text)) for text in texts]


@pytest.mark.parametrize("by", ["viterbi", "posterior"])
@pytest.mark.parametrize("n", [1, 9, 10, 11, 83, 1000, 1_000_000])
def test_no_run_is_an_island_and_none_swallows_one(n, by):
    texts = {
        "back": BACK + "N" * n + BACK,
        "right": BACK + ISLAND + "N" * n + BACK,
        "left": BACK + "n" * n + ISLAND + BACK,
        "ends": "N" * n + BACK + "R" * n,
    }
    found = ta.decode("cpg", texts, by=by, min_support=0.5)
    assert rows(found, "back") == rows(found, "ends") == []
    ((_, start, end, support),) = rows(found, "right")
    assert abs(start - 3000) < 20 and abs(end - 3780) < 40 and support > 0.9
    ((_, start, end, support),) = rows(found, "left")
    assert abs(start - 3000 - n) < 40 and abs(end - 3780 - n) < 40 and support > 0.9


@pytest.mark.parametrize("by", ["viterbi", "posterior"])
def test_labels_beside_runs_are_those_of_the_pieces_alone(by):
    parts = [BACK, ISLAND + BACK[:77] + "N" * 9 + ISLAND, "A", BACK[:500] + ISLAND]
    gaps = [10, 5000, 12, 100_000]
    text = "".join(part + "N" * gap for part, gap in zip(parts, gaps, strict=True)) + BACK
    found = ta.decode("cpg", {"a": BACK, "s": text, "n": "N" * 50, "z": ISLAND}, by=by, labels=BOTH)
    want, likelihood, at = [], 0.0, 0
    for part, gap in zip([*parts, BACK], [*gaps, 0], strict=True):
        alone = ta.decode("cpg", [part], by=by, labels=BOTH)
        want += rows(alone, shift=at)
        likelihood += float(alone.log_likelihoods[0])
        at += len(part) + gap
    assert rows(found, "s") == want
    assert found.log_likelihoods[1] == likelihood and found.log_likelihoods[2] == 0
    assert found.n_unlabelled.tolist() == [0, sum(gaps), 50, 0] and rows(found, "n") == []
    assert repr(found).endswith(f"of 4 sequences, {sum(gaps) + 50:,} of {found.lengths.sum():,} letters unlabelled>")


def test_a_few_missing_letters_cut_nothing():
    text = BACK[:300] + ISLAND + "N" + ISLAND + "N" * 9 + ISLAND + BACK[300:900]
    model = ta.HMM.load("cpg")
    found = ta.decode("cpg", [text])
    ((label, start, end, support),) = rows(found)
    path, _ = model.viterbi(text)
    inside = np.flatnonzero(path < 4)
    assert (label, start, end) == ("island", inside[0], inside[-1] + 1) and len(inside) == end - start
    assert support == pytest.approx(model.posterior(text)[start:end, :4].sum(axis=1).mean(), abs=1e-12)
    assert found.log_likelihoods[0] == model.forward(text) and found.n_unlabelled[0] == 0


def test_a_piece_that_the_model_cannot_make_is_named():
    model = ta.HMM([1, 0], [[0, 1], [0, 1]], [[1, 0], [0, 1]], symbols="AC", missing="N")
    assert len(ta.decode(model, ["ACC" + "N" * 10 + "AC"])) == 4
    with pytest.raises(ta.InputError) as caught:
        ta.decode(model, {"x": "AC", "y": "ACC" + "N" * 10 + "CC"})
    assert str(caught.value) == (
        "record 'y': the model cannot generate this sequence, since no path has a probability above 0 for its "
        "letters 14 to 15, between runs of at least 10 missing letters"
    )


def test_results_keep_how_much_has_no_label(tmp_path):
    (tmp_path / "x.fa").write_text(f">s\n{BACK}{'N' * 70}{ISLAND}\n>t\n{BACK}\n")
    assert main(["decode", "--model", "cpg", str(tmp_path / "x.fa"), "-q", "-o", str(tmp_path / "x.result")]) == 0
    found = ta.read_result(tmp_path / "x.result")
    assert found.n_unlabelled.tolist() == [70, 0]
    assert found.where(found.support > 2).n_unlabelled.tolist() == [70, 0]
    assert next(found.pieces(1)).n_unlabelled.tolist() == [70]
