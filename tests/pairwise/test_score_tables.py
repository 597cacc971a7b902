"""Tables of scores: against the plain recurrence, the engines of letters, and in float64."""

import random

import numpy as np
import pytest
from oracles import pairwise, waterman_eggert
from oracles.pairwise import FREE_ENDS, cigar_operations
from pairwise.engines import AMINO_ACIDS, FREE_SETS, MODES, codes, rows

import tropalign as ta
from tropalign.errors import InputError, ResourceError, ScoringError, UsageError

BLOSUM62 = ta.SubstitutionMatrix.from_name("BLOSUM62")


def tables_of(rng, count, kind, most=24, longest=40):
    """Random tables with many ties; some of their shapes are long and flat."""
    shapes = [(rng.randint(1, longest), rng.randint(1, longest)) for _ in range(count)]
    return [np.array(rng.choices(range(-most // 2, most // 3), k=m * n), kind).reshape(m, n) for m, n in shapes]


def expected(table, gap, mode, free_ends=FREE_ENDS):
    """The oracle's alignment: each residue has a code of its own, and no two are equal."""
    m, n = table.shape
    scores = np.zeros((m, m + n), table.dtype)
    scores[:, m:] = table
    wide = np.concatenate([scores, np.zeros((n, m + n), table.dtype)])
    return pairwise.align(range(m), range(m, m + n), wide, *gap, mode, free_ends)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "float32"])
@pytest.mark.parametrize("mode", MODES)
def test_small_tables_give_what_the_plain_recurrence_gives(engines, mode, kind):
    rng = random.Random(f"{mode} {kind}")
    for gap in ((3, 1), (0, 2), (5, 0)):
        tables = tables_of(rng, 12, kind)
        for free_ends in rng.sample(FREE_SETS, 4) if mode == "semiglobal" else [FREE_ENDS]:
            wanted = [expected(table, gap, mode, free_ends) for table in tables]
            options = {"gap": gap, "mode": mode, "free_ends": free_ends}
            for engine in engines:
                assert rows(engine.align_scores(tables, **options)) == wanted, engine.isa
                assert engine.align_scores(tables, **options, report="score")["score"].tolist() == [
                    row.score for row in wanted
                ]


@pytest.mark.parametrize("kind", ["int8", "int16", "float32"])
@pytest.mark.parametrize("mode", MODES)
def test_tables_of_a_matrix_give_what_letters_give(engines, mode, kind):
    """Sizes beyond a strip of rows and a chunk of columns, with either sequence the longer one."""
    rng = random.Random(7)
    shapes = [(1, 1), (7, 900), (1030, 41), (701, 1101), (60, 4503), (300, 300)]
    texts = [["".join(rng.choice(AMINO_ACIDS) for _ in range(n)) for n in shape] for shape in shapes]
    texts += [[text, text[:200] + text[230:] + text[:90]] for text, _ in texts[3:]]
    scores, gap = BLOSUM62.scores, (11, 1)
    pairs = [[codes(ta.PROTEIN, text) for text in pair] for pair in texts]
    tables = [scores[np.ix_(*pair)].astype(kind) for pair in pairs]
    queries, targets = zip(*texts, strict=True)
    index = np.stack([np.arange(len(texts))] * 2, 1)
    for engine in engines:
        want = engine.align(list(queries), list(targets), pairs=index, mode=mode, matrix="BLOSUM62", gap=gap)
        for n_threads in (1, 3, 20):
            sides = {"queries": queries, "targets": targets, "n_threads": n_threads}
            found = engine.align_scores(tables, mode=mode, gap=gap, **sides)
            assert rows(found) == rows(want), (engine.isa, n_threads)


def test_scores_beyond_16_bits_are_computed_again_with_32(engines):
    table = np.full((400, 300), -30_000, np.int16)
    np.fill_diagonal(table, 32_000)
    for engine in engines:
        for mode, score in (("local", 300 * 32_000), ("global", 300 * 32_000 - 102), ("semiglobal", 300 * 32_000)):
            found = engine.align_scores([table], mode=mode, gap=(2, 1))
            assert (found["score"].tolist(), found["cigar"][0][:4]) == ([score], "300X")


@pytest.mark.parametrize("kind", ["int8", "float32"])
def test_further_alignments_pair_no_residues_twice(engines, kind):
    rng = random.Random(3)
    tables = tables_of(rng, 10, kind, most=20, longest=30)
    for engine in engines:
        found = engine.align_scores(tables, gap=(4, 1), max_hsps=4)
        wanted = []
        for table in tables:
            m, n = table.shape
            wide = np.zeros((m + n, m + n), int)
            wide[:m, m:] = table
            best = waterman_eggert.alignments(range(m), range(m, m + n), wide, [(4, 1)], 4)
            wanted += best or [pairwise.Expected(0, 0, 0, 0, 0, "*", 0, 0, 0, 0)]
        assert rows(found) == wanted
        assert found["hsp"][found["query_index"] == 0].tolist() == list(range(1, 1 + (found["query_index"] == 0).sum()))


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("mode", MODES)
def test_decimals_are_as_exact_as_float32(engines, mode, scale):
    """The best score of float64, from a path that is worth it."""
    random = np.random.default_rng(5)
    tables = [(random.normal(-0.2, 1, shape) * scale).astype(np.float32) for shape in ((50, 60), (61, 17), (200, 180))]
    gap = (1.7, 0.3) if scale == 1 else (0, 0)
    for table in tables:
        row = ta.align_scores(table, gap=ta.Gap(*gap), mode=mode)
        score, i, j = 0.0, row.query_start, row.target_start
        for operation, length in cigar_operations(row.cigar):
            if operation == "X":
                score += float(table[range(i, i + length), range(j, j + length)].astype(float).sum())
            else:
                score -= gap[0] + length * gap[1]
            i, j = i + length * (operation != "D"), j + length * (operation != "I")
        assert (i, j) == (row.query_end, row.target_end)
        best = expected(table.astype(float), gap, mode).score
        assert abs(score - row.score) < 1e-6 * scale * (i + j) and abs(best - row.score) < 1e-6 * scale * (i + j)
    found = [engine.align_scores(tables, gap=gap, mode=mode) for engine in engines]
    assert all(rows_of(one) == rows_of(found[0]) for one in found)


@pytest.mark.parametrize("mode", MODES)
def test_forbidden_pairs_and_high_costs_leave_the_other_scores_exact(engines, mode):
    """A score of -1e9 must not make the unit of all scores coarse, nor 16-bit lanes wrap around."""
    random = np.random.default_rng(2)
    tables = [random.integers(-4, 4, shape).astype(np.float32) / 16 for shape in ((40, 50), (70, 30))]
    for table in tables:
        table[random.random(table.shape) < 0.2] = -1e9
    whole = [np.where(table < -100, -32_768, table * 16).astype(np.int16) for table in tables]
    for gap in ((2, 1), (4000, 1)):
        wanted = [expected(table, gap, mode) for table in whole]
        for engine in engines:
            assert rows(engine.align_scores(whole, gap=gap, mode=mode)) == wanted
            found = engine.align_scores(tables, gap=(gap[0] / 16, gap[1] / 16), mode=mode)
            assert rows(found | {"score": found["score"] * 16}) == wanted


def rows_of(columns):
    return [columns[name].tolist() for name in sorted(columns)]


def test_one_table_gives_an_alignment_and_a_list_a_table():
    table = np.array([[2, -1], [-1, 3]], np.int8)
    one = ta.align_scores(table, gap=ta.Gap(5, 1))
    assert isinstance(one, ta.Alignment) and (one.score, one.cigar, one.identity, one.similarity) == (5, "2X", 0, 1)
    many = ta.align_scores([table, table.T], gap=ta.Gap(5, 1), queries={"q": "AC", "r": "GG"}, targets=["AC", "GC"])
    assert many.score.tolist() == [5, 5] and many.cigars() == ["2=", "1=1X"]
    assert [row.query for row in many] == ["q", "r"]
    three = np.stack([table.astype(np.float16)] * 3)  # a list of equal shapes may be one array
    assert ta.align_scores(three, gap=ta.Gap(5, 1)).score.tolist() == [5.0] * 3


TABLE = np.ones((2, 3), np.float32)
NOT_FINITE = np.array([[1, 2, 3], [1, np.nan, 3]], np.float32)


@pytest.mark.parametrize(
    ("error", "said", "scores", "options"),
    [
        (InputError, r"record 'table 2': the score in row 1, column 1 \(from 0\) is nan", [TABLE, NOT_FINITE], {}),
        (InputError, "record 'table 1': the score in row 0, column 2 .* is inf", [np.float32([[1, 2, np.inf]])], {}),
        (InputError, "record 'table 1': scores of type float64 may be rounded: .*float32", TABLE.astype(float), {}),
        (InputError, r"scores of type int64 may be rounded: .*int32", TABLE.astype(int), {}),
        (InputError, r"record 'table 1': the scores have the shape \(0, 3\)", np.zeros((0, 3), np.int8), {}),
        (InputError, r"record 'table 1': the scores have the shape \(3,\)", [np.zeros(3, np.int8)], {}),
        (InputError, "there is no table", [], {}),
        (
            InputError,
            r"record 'q': the sequence \(query\) has 3 residues, but table 1 has 2 rows",
            [TABLE],
            {"queries": {"q": "ACD"}},
        ),
        (InputError, r"1 tables, but the number of sequences \(target\) is 2", [TABLE], {"targets": ["ACD", "ACD"]}),
        (ScoringError, "has decimals, but the scores are whole", [TABLE.astype(np.int8)], {"gap": ta.Gap(0.5, 1)}),
        (ScoringError, "the gap cost has two pieces", [TABLE], {"gap": ta.Gap(5, 2, 9, 1)}),
        (ScoringError, "sums of the scores may exceed", [np.full((9, 9), 2**30, np.int32)], {}),
        (UsageError, "max_hsps applies to local alignments", [TABLE], {"max_hsps": 2, "mode": "global"}),
        (UsageError, "free end 'left'", [TABLE], {"free_ends": ["left"]}),
    ],
)
def test_bad_input_is_one_sentence(error, said, scores, options):
    with pytest.raises(error, match=said):
        ta.align_scores(scores, **{"gap": ta.Gap(2, 1), **options})


def test_letters_of_one_side_and_of_two_alphabets():
    one = np.ones((1, 1), np.int8)
    for side in ({"queries": ["R"]}, {"queries": ["C"]}, {"targets": ["A"]}):
        assert ta.align_scores(one, gap=ta.Gap(9, 1), **side).cigar == "1X"
    four = np.ones((20, 20), np.int8)
    with pytest.raises(InputError, match="nucleotide"):
        ta.align_scores(four, gap=ta.Gap(9, 1), queries=["ACGT" * 5], targets=["ARNDCQEGHILKMFPSTWYV"])
    both = {"queries": ["AXX"], "targets": ["XXA"], "alphabet": "protein"}
    assert ta.align_scores(four[:3, :3].copy(), gap=ta.Gap(9, 1), **both).n_columns == 3


def test_errors_of_the_callback_are_its_own():
    def progress(_):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        ta.align_scores([TABLE] * 3, gap=ta.Gap(9, 1), n_threads=8, progress=progress)


def test_costs_that_no_alignment_can_pay_leave_the_unit_fine():
    table = np.where(np.eye(30) > 0, 0.7, -1).astype(np.float32)
    for gap in (ta.Gap(1e6, 0), ta.Gap(1e6, 1e6), ta.Gap(0, 1e6)):
        assert ta.align_scores(table, gap=gap).score == pytest.approx(21, abs=1e-5)


@pytest.mark.parametrize("mode", ["global", "semiglobal"])
def test_without_scores_above_0_free_gaps_are_better(mode):
    row = ta.align_scores(np.full((3, 3), -0.3, np.float32), gap=ta.Gap(0, 0), mode=mode)
    assert row.score == 0 and "X" not in row.cigar


def test_other_layouts_and_types():
    table = np.arange(12).reshape(3, 4) - 6
    want = ta.align_scores(table.astype(np.int16), gap=ta.Gap(2, 1))
    for one in (
        table.astype(">i2"),
        np.asfortranarray(table.astype(np.int16)),
        table.astype(np.int16)[:, ::-1][:, ::-1],
    ):
        assert ta.align_scores(one, gap=ta.Gap(2, 1)) == want
    with pytest.raises(InputError, match="type bool are not supported"):
        ta.align_scores(table > 0, gap=ta.Gap(2, 1))
    with pytest.raises(ResourceError, match="copy of a table exceeds the memory"):
        ta.align_scores(np.ones((100, 100), np.int8), gap=ta.Gap(2, 1), memory_bytes=1000)
