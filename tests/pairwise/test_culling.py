"""Culling against the plain definition, by all ways that alignments are found."""

from pathlib import Path

import numpy as np
import pytest
from cli.shard_runs import shards_of
from oracles.culling import kept
from pairwise.test_reciprocal import LETTERS, sets

import tropalign as ta
from tropalign.cli.main import main
from tropalign.pairwise.filters import ROWS_AT_ONCE, _kept

COLUMNS = ["query_index", "query_start", "query_end", "corrected_score", "target_index", "hsp"]


def domains(seed, alphabet="protein", n=(6, 160)):
    """Proteins of several domains, so that spans lie within others, or beside these."""
    random = np.random.default_rng(seed)
    letters = list(LETTERS[alphabet])
    made = ["".join(random.choice(letters, int(random.integers(15, 40)))) for _ in range(4)]

    def changed(text):
        return "".join(random.choice(letters) if random.random() < 0.2 else letter for letter in text)

    def one():
        return "".join(changed(made[k]) for k in random.permutation(4)[: int(random.integers(1, 4))])

    return tuple({f"{name}{k}": one() for k in range(size)} for name, size in zip("qt", n, strict=True))


def rows_of(queries, targets, **how):
    found = []
    for table in ta.align_all(queries, targets, device="cpu", n_threads=1, **how):
        found += zip(*(values.tolist() for values in table.columns(COLUMNS).values()), strict=True)
    return found


HOW = [
    {"top": 400},
    {"top": 30, "report": "ends"},
    {"top": 20, "max_hsps": 4},
    {"top": 50, "max_evalue": 1.0, "composition": "adjusted"},
    {"top": 50, "mask": "seg"},
    {"top": 40, "min_identity": 0.5},
    {"top": 40, "exclude_self": True},
    {"top": 40, "gap": ta.Gap(10.5, 0.5)},
]


@pytest.mark.parametrize("how", HOW, ids=str)
@pytest.mark.parametrize("most", [1, 2, 7])
@pytest.mark.parametrize("n_targets", [20, 160])
def test_proteins(how, most, n_targets):
    queries, targets = domains(most, n=(6, n_targets))
    everything = rows_of(queries, targets, **how)
    expected = kept(everything, most)
    assert rows_of(queries, targets, culling=most, **how) == expected
    assert len(expected) < len(everything)


@pytest.mark.parametrize("strand", ["plus", "both"])
def test_nucleotides(strand):
    queries, targets = domains(5, "nucleotide")
    turned = str.maketrans("ACGT", "TGCA")
    targets = {name: text.translate(turned)[::-1] if k % 2 else text for k, (name, text) in enumerate(targets.items())}
    how = {"strand": strand, "top": 60, "max_hsps": 2}
    assert rows_of(queries, targets, culling=2, **how) == kept(rows_of(queries, targets, **how), 2)


def test_translated_queries():
    queries, _ = sets(4, "nucleotide", lengths=(60, 120))
    _, targets = domains(5)
    how = {"translate": "query", "top": 50}
    assert rows_of(queries, targets, culling=1, **how) == kept(rows_of(queries, targets, **how), 1)


@pytest.mark.parametrize("seed", range(30))
def test_spans_by_chance(seed, monkeypatch):
    """Many equal spans and scores, and more rows than are compared at a time."""
    monkeypatch.setattr("tropalign.pairwise.filters.ROWS_AT_ONCE", [3, 10, ROWS_AT_ONCE][seed % 3])
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 200))
    begin, end = np.sort(random.integers(0, 12, (2, n)), axis=0).astype(np.int32)
    score = -np.sort(-random.integers(0, 30, n))
    rows = list(zip([0] * n, begin.tolist(), end.tolist(), score.tolist(), range(n), strict=True))
    for most in (1, 2, 5):
        keep = _kept(begin, end, score, most)
        assert np.flatnonzero(keep).tolist() == [row[4] for row in kept(rows, most)]


def test_tiles_threads_and_shards(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, records in zip(("a.fa", "b.fa"), domains(6), strict=True):
        Path(name).write_text("".join(f">{key}\n{text}\n" for key, text in records.items()))
    words = ["find", "a.fa", "b.fa", "--culling", "2", "--max-hsps", "2", "--no-comments"]
    assert main([*words, "-q", "-o", "1.tsv", "-t", "1"]) == 0
    one = Path("1.tsv").read_bytes()
    assert main([*words[:3], *words[5:], "-q", "-o", "all.tsv"]) == 0
    assert 5 < one.count(b"\n") < Path("all.tsv").read_bytes().count(b"\n")
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "50")
    assert main([*words, "-q", "-o", "2.tsv", "-t", "2"]) == 0
    assert main(["merge", *shards_of(3, words), "-o", "3.tsv", "-q"]) == 0
    assert main(["db", "build", "b.fa", "-o", "b.tdb"]) == 0
    monkeypatch.setattr("tropalign.verbs.pairs.MOST_READ", 0.0)
    assert main([*words[:2], "b.tdb", *words[3:], "-q", "-o", "4.tsv"]) == 0
    assert all(Path(f"{k}.tsv").read_bytes() == one for k in (2, 3, 4))


def test_only_what_is_needed_is_computed(tmp_path, monkeypatch):
    """Spans, where the columns are names alone."""
    monkeypatch.chdir(tmp_path)
    Path("a.fa").write_text(">a\nMKVLAWGGHIKL\n>b\nMKVLAWGG\n>c\nMKVLAWGGHIKK\n")
    words = ["pairs", "a.fa", "--top", "2", "--columns", "query,target", "-q", "--no-comments"]
    assert main([*words, "--culling", "1", "-o", "x.tsv"]) == 0
    assert Path("x.tsv").read_text() == "query\ttarget\na\tc\nb\ta\nb\tc\nc\ta\n"
