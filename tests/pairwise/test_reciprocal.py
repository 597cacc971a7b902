"""Each other's best pairs, against the plain definition: whatever else chooses pairs, and however they are scored."""

from pathlib import Path

import numpy as np
import pytest
from oracles.reciprocal import each_others_best

import tropalign as ta
from tropalign.cli.main import main

LETTERS = {"protein": "ACDEFGHIKLMNPQRSTVWY", "nucleotide": "ACGT"}


def sets(seed, alphabet="protein", n=(12, 15), lengths=(5, 40)):
    random = np.random.default_rng(seed)
    letters = list(LETTERS[alphabet])
    families = ["".join(random.choice(letters, int(random.integers(*lengths)))) for _ in range(5)]

    def one():
        text = families[int(random.integers(len(families)))]
        rate = random.choice([0.0, 0.1, 0.4])
        return "".join(random.choice(letters) if random.random() < rate else letter for letter in text)

    return tuple({f"{name}{k}": one() for k in range(size)} for name, size in zip("qt", n, strict=True))


def rows_of(queries, targets, **how):
    found = []
    for table in ta.align_all(queries, targets, device="cpu", n_threads=1, **how):
        table = table if table.hsp is None else table.take(table.hsp == 1)
        columns = table.columns(["query", "target", "corrected_score"])
        found += zip(*(values.tolist() for values in columns.values()), strict=True)
    return found


HOW = [
    {},
    {"report": "score"},
    {"max_evalue": 10.0},
    {"min_score": 20},
    {"min_identity": 0.9},
    {"min_query_coverage": 0.8, "min_target_coverage": 0.5},
    {"mode": "global"},
    {"mode": "semiglobal", "gap": ta.Gap(10.5, 0.5)},
    {"composition": "adjusted"},
    {"composition": "scaled", "max_evalue": 5.0},
    {"mask": "seg"},
    {"max_hsps": 3},
    {"pairs": [(i, j) for i in range(12) for j in range(15) if (i + j) % 3]},
]


@pytest.mark.parametrize("how", HOW, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_two_sets(how, seed):
    queries, targets = sets(seed)
    everything = rows_of(queries, targets, **how)
    if how.get("mode", "local") == "local":
        everything = [row for row in everything if row[2] > 0]
    expected = each_others_best(everything)
    assert sorted(rows_of(queries, targets, reciprocal=True, **how)) == expected
    assert 0 < len(expected) < len(everything)


@pytest.mark.parametrize("how", [how for how in HOW if "pairs" not in how], ids=str)
def test_one_set(how):
    sequences, _ = sets(11)
    everything = rows_of(sequences, None, **how)
    if how.get("mode", "local") == "local":
        everything = [row for row in everything if row[2] > 0]
    expected = each_others_best(everything, is_one_set=True)
    assert sorted(rows_of(sequences, None, reciprocal=True, **how)) == expected != []


@pytest.mark.parametrize("strand", ["plus", "both"])
def test_nucleotides(strand):
    queries, targets = sets(3, "nucleotide")
    turned = str.maketrans("ACGT", "TGCA")
    queries = {name: text.translate(turned)[::-1] if k % 2 else text for k, (name, text) in enumerate(queries.items())}
    expected = each_others_best(rows_of(queries, targets, strand=strand))
    assert sorted(rows_of(queries, targets, strand=strand, reciprocal=True)) == expected


def test_translated_queries():
    queries, _ = sets(4, "nucleotide", lengths=(60, 120))
    _, targets = sets(5)
    how = {"translate": "query", "min_score": 12}
    expected = each_others_best(rows_of(queries, targets, **how))
    assert sorted(rows_of(queries, targets, reciprocal=True, **how)) == expected != []


@pytest.mark.parametrize("top", [1, 2, 500])
@pytest.mark.parametrize("n_targets", [15, 200])
def test_the_best_are_those_of_all_targets(top, n_targets):
    """Whatever top says, which chooses the earlier ones of those that tie."""
    queries, targets = sets(8, n=(20, n_targets))
    expected = each_others_best(rows_of(queries, targets))
    order = list(targets)
    wanted = []
    for query in queries:
        wanted += sorted((row for row in expected if row[0] == query), key=lambda row: order.index(row[1]))[:top]
    assert sorted(rows_of(queries, targets, reciprocal=True, top=top)) == sorted(wanted)
    assert len(wanted) < len(expected) or top == 500


def test_small_tiles_and_threads(monkeypatch):
    """Rows in the order of queries, then of targets."""
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "7")
    queries, targets = sets(9)
    places = {name: k for names in (queries, targets) for k, name in enumerate(names)}
    expected = sorted(each_others_best(rows_of(queries, targets)), key=lambda row: (places[row[0]], places[row[1]]))
    for threads in (1, 3):
        found = []
        for table in ta.align_all(queries, targets, reciprocal=True, n_threads=threads, device="cpu"):
            found += zip(*table.columns(["query", "target", "score"]).values(), strict=True)
        assert found == expected


def test_progress_counts_all_pairs():
    queries, targets = sets(2)
    told = []
    list(ta.align_all(queries, targets, reciprocal=True, progress=told.append, n_threads=1, device="cpu"))
    assert told == sorted(told) and told[-1] == 12 * 15


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = sets(21, lengths=(60, 90))
    for name, records in zip(("a.fa", "b.fa"), made, strict=True):
        Path(name).write_text("".join(f">{key}\n{text}\n" for key, text in records.items()))
    return made


def test_the_command(files):
    queries, targets = files
    how = {"max_evalue": 1e-3, "composition": "adjusted"}
    expected = [row[:2] for row in each_others_best(rows_of(queries, targets, **how))]
    for words in ([], ["--max-hsps", "2"], ["--html", "x.html"], ["-f", "sam"]):
        assert main(["find", "a.fa", "b.fa", "--reciprocal", "-q", "-o", "x.m8", *words]) == 0
        lines = [line.split("\t") for line in Path("x.m8").read_text().splitlines() if not line.startswith("@")]
        if words != ["-f", "sam"]:
            assert sorted({tuple(line[:2]) for line in lines}) == expected
    words = ["find", "a.fa", "b.fa", "--reciprocal", "-q", "--no-comments", "-o"]
    assert main([*words, "1.tsv", "-t", "1"]) == main([*words, "2.tsv", "-t", "2"]) == 0
    assert Path("1.tsv").read_bytes() == Path("2.tsv").read_bytes()
    assert main(["db", "build", "b.fa", "-o", "b.tdb"]) == 0
    assert main(["find", "a.fa", "b.tdb", *words[3:], "3.tsv", "--memory", "200M"]) == 0
    assert Path("1.tsv").read_bytes() == Path("3.tsv").read_bytes()
    assert main(["find", "a.fa", "b.fa", "--reciprocal", "--dry-run", "-o", "4.tsv"]) == 0


def test_no_pair_is_left(files):
    assert main(["find", "a.fa", "b.fa", "--reciprocal", "-q", "--max-evalue", "1e-300", "-o", "x.m8"]) == 0
    assert Path("x.m8").read_bytes() == b""
