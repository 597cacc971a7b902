"""The best targets of queries, found in groups of targets, against a list of all pairs sorted by score."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise.engines import assert_same

import tropalign as ta
from tropalign.pairwise import engines, plan
from tropalign.pairwise.options import FREE_ENDS, MODES, PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.results.aligned_pairs import KEPT_COLUMNS
from tropalign.results.alignments import concatenate

LETTERS = "ARNDCQEGHILKMFPSTWYVBZX"


def random_texts(rng, n, shortest, longest, letters=LETTERS):
    return ["".join(rng.choice(list(letters), rng.integers(shortest, longest + 1))) for _ in range(n)]


def mutated(rng, text, share, letters=LETTERS):
    return "".join(rng.choice(list(letters)) if rng.random() < share else letter for letter in text)


def expected(queries, targets, top, min_score, **options):
    """Rows of the score table of all listed pairs, sorted and cut here."""
    n_targets = len(queries if targets is None else targets)
    pairs = [(q, t) for q in range(len(queries)) for t in range(n_targets) if targets is not None or q != t]
    batch = ta.SequenceBatch.from_strings(queries, alphabet=ta.PROTEIN)
    others = batch if targets is None else ta.SequenceBatch.from_strings(targets, alphabet=ta.PROTEIN)
    table = concatenate(list(ta.align_all(batch, others, pairs=pairs, report="score", n_threads=1, **options)))
    rows = []
    for query in range(len(queries)):
        scored = [(-int(table.score[k]), t) for k, (q, t) in enumerate(pairs) if q == query]
        rows += [(query, t, -s) for s, t in sorted(scored)[:top] if min_score is None or -s >= min_score]
    return rows


def found(table):
    return list(
        zip(table["query_index"].tolist(), table["target_index"].tolist(), table["score"].tolist(), strict=True)
    )


def similar(rng):
    """Scores beyond 8 bits, and one query without a hit."""
    (text,) = random_texts(rng, 1, 300, 300)
    return [*(mutated(rng, text, 0.1) for _ in range(6)), "WC"], [mutated(rng, text[k:], 0.2) for k in range(130)]


def long_query(rng):
    (text,) = random_texts(rng, 1, 4200, 4200)
    return [text, "MKV"], [mutated(rng, text[k : k + 30], 0.2) for k in range(140)]


#: What makes queries and targets (None: one set), how many targets are kept, and the least score.
CASES = {
    "peptides": (lambda rng: (random_texts(rng, 30, 1, 25), random_texts(rng, 150, 1, 30)), 5, None),
    "one query": (lambda rng: (random_texts(rng, 1, 70, 70), random_texts(rng, 200, 1, 90)), 300, None),
    "least score": (lambda rng: (random_texts(rng, 40, 5, 40), random_texts(rng, 130, 5, 40)), 4, 9),
    "many ties": (lambda rng: (random_texts(rng, 20, 3, 5, "AC"), random_texts(rng, 400, 2, 6, "AC")), 7, None),
    "one set": (lambda rng: (random_texts(rng, 140, 2, 20), None), 3, None),
    "wide lanes": (similar, 3, None),
    "long query": (long_query, 4, None),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_every_instruction_set_finds_the_best(engines, case, mode):
    make, top, min_score = CASES[case]
    queries, targets = make(np.random.default_rng(len(case)))
    wanted = expected(queries, targets, top, min_score, mode=mode)
    assert wanted
    for engine in engines:
        for n_threads in (1, 3):
            given_options = {"mode": mode, "top": top, "min_score": min_score, "report": "score", "gap": (11, 1)}
            assert found(engine.align(queries, targets, **given_options, n_threads=n_threads)) == wanted, engine.isa


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    ends=st.sets(st.sampled_from(FREE_ENDS)),
    gap=st.sampled_from([(11, 1), (0, 1), (3, 0), (60, 3), (200, 2)]),
    top=st.integers(1, 200),
    longest=st.sampled_from([6, 20, 70, 140]),
)
def test_free_ends_and_gaps(seed, ends, gap, top, longest):
    rng = np.random.default_rng(seed)
    queries, targets = random_texts(rng, 3, 1, longest), random_texts(rng, 130, 1, longest)
    options = {"mode": "semiglobal", "free_ends": ends, "gap": ta.Gap(*gap)}
    batches = [ta.SequenceBatch.from_strings(texts, alphabet=ta.PROTEIN) for texts in (queries, targets)]
    table = concatenate(list(ta.align_all(*batches, top=top, report="score", n_threads=1, **options)))
    columns = {name: getattr(table, name) for name in ("query_index", "target_index", "score")}
    assert found(columns) == expected(queries, targets, top, None, **options)


def test_columns_beyond_one_group(monkeypatch):
    rng = np.random.default_rng(7)
    targets = [*random_texts(rng, 140, 1, 40), *random_texts(rng, 2, 16_500, 16_600)]
    queries = ["MKV", targets[-1][8000:8030]]
    assert_as_listed(monkeypatch, queries, targets, ta.PROTEIN, mode="local", top=3)


@pytest.mark.parametrize("report", ["score", "ends", "alignment"])
@pytest.mark.parametrize("mode", MODES)
def test_both_strands(monkeypatch, mode, report):
    rng = np.random.default_rng(11)
    targets = random_texts(rng, 150, 20, 60, "ACGT")
    turned = str.maketrans("ACGT", "TGCA")
    queries = [mutated(rng, targets[k], 0.1, "ACGT") for k in range(20)]
    queries += [mutated(rng, targets[k][::-1].translate(turned), 0.1, "ACGT") for k in range(20)]
    assert_as_listed(
        monkeypatch, queries, targets, ta.NUCLEOTIDE, mode=mode, top=2, report=report, strand="both", min_score=3
    )


@pytest.mark.parametrize("mode", MODES)
def test_matrix_beyond_8_bits(monkeypatch, mode):
    rng = np.random.default_rng(12)
    queries, targets = random_texts(rng, 9, 1, 30, "AR"), random_texts(rng, 140, 1, 30, "AR")
    matrix = ("AR", [[300, -200], [-200, 250]])
    assert_as_listed(monkeypatch, queries, targets, ta.PROTEIN, mode=mode, top=4, matrix=matrix)


def assert_as_listed(monkeypatch, queries, targets, alphabet, **options):
    """The same columns whether groups of targets are scored or pairs are listed, in many tiles or one."""
    batch, others = (ta.SequenceBatch.from_strings(texts, alphabet=alphabet) for texts in (queries, targets))

    def columns():
        table = concatenate(list(ta.align_all(batch, others, n_threads=1, **options)))
        names = ("query_index", "target_index", "score", "strand", "query_start", "target_end", "cigar_ops")
        return {name: getattr(table, name) for name in names if getattr(table, name) is not None}

    assert plan.suits_groups(others)
    in_groups = columns()
    monkeypatch.setattr(plan, "GROUP_TILE_CELLS", 1)  # a tile per query
    assert_same(in_groups, columns())
    monkeypatch.setattr(plan, "LEAST_TARGETS", len(targets) + 1)
    assert_same(in_groups, columns())


def test_tiles_hold_whole_queries_and_all_pairs():
    rng = np.random.default_rng(13)
    batch = ta.SequenceBatch.from_strings(random_texts(rng, 300, 5, 25), alphabet=ta.PROTEIN)
    options = PairOptions(ta.SubstitutionMatrix.default(ta.PROTEIN), ta.Gap(11, 1), top=2)
    shares = [PairsTask(batch, None, options, shard=(k, 3)) for k in (1, 2, 3)]
    assert sum(task.n_pairs for task in shares) == 300 * 299
    tables = [concatenate([task.on_cpu(tile, 1) for tile in task.tiles()]) for task in shares]
    whole = concatenate(list(ta.align_all(batch, top=2, n_threads=1)))
    together = concatenate(tables)
    for name in ("query_index", "target_index", "score", "cigar_ops"):
        np.testing.assert_array_equal(getattr(together, name), getattr(whole, name))


def test_progress_and_interrupt():
    rng = np.random.default_rng(14)
    batch = ta.SequenceBatch.from_strings(random_texts(rng, 2000, 200, 300), alphabet=ta.PROTEIN)
    options = PairOptions(ta.SubstitutionMatrix.default(ta.PROTEIN), ta.Gap(11, 1), report="score", top=2)
    task = PairsTask(batch, None, options)
    (tile, *_) = task.tiles()
    seen = []

    def stop(items):
        seen.append(items)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        task.on_cpu(tile, 1, stop)
    assert 0 <= seen[0] <= tile.n_items


@pytest.mark.parametrize("report", ["ends", "alignment"])
def test_few_targets_are_handed_on_alone(monkeypatch, report):
    rng = np.random.default_rng(8)
    queries = ta.SequenceBatch.from_strings(random_texts(rng, 3, 20, 40), alphabet=ta.PROTEIN)
    targets = ta.SequenceBatch.from_strings(random_texts(rng, 200, 1, 60), alphabet=ta.PROTEIN)
    tables = []
    for share in (0.0, 1.0):  # all of them, and those that pairs name
        monkeypatch.setattr(engines, "FEW_USED", share)
        tables.append(concatenate(list(ta.align_all(queries, targets, top=4, report=report))))
        tables.append(concatenate(list(ta.align_all(queries, targets, min_score=10**6, report=report))))  # no row
    names = [*(column.name for column in KEPT_COLUMNS), "query_index", "target_index", "cigar_ops"]
    assert_same(*({name: getattr(tables[k], name) for name in names} for k in (0, 2)))
    assert [len(table) for table in tables] == [12, 0, 12, 0]
