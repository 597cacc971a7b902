"""Sequences of tokens: against the plain recurrence, by letters and by tables."""

import random

import numpy as np
import pytest
from oracles import pairwise, waterman_eggert
from pairwise.engines import FREE_SETS, MODES

import tropalign as ta
from tropalign.errors import InputError, ResourceError, ScoringError
from tropalign.pairwise import tokens

SCORING = {"match": 2, "mismatch": -1, "gap": ta.Gap(1, 1)}
#: Tokens of many types; more than the letters of an alphabet.
VOCABULARY = ["the", "cat", "", 1, -2.5, None, ("a", 1), frozenset("ab"), "ǂ", b"x", *map(str, range(50))]


def sequences_of(rng, count, n_distinct, longest=30):
    return [rng.choices(VOCABULARY[:n_distinct], k=rng.randint(1, longest)) for _ in range(count)]


def of_row(row):
    numbers = [getattr(row, name) for name in pairwise.Expected.__dataclass_fields__]
    return pairwise.Expected(*numbers)


def expected(query, target, mode, free_ends, match=2, mismatch=-1, gap=(1, 1)):
    scores = np.where(np.eye(len(VOCABULARY), dtype=bool), match, mismatch)
    coded = [[VOCABULARY.index(token) for token in side] for side in (query, target)]
    return pairwise.align(*coded, scores, *gap, mode, free_ends)


@pytest.mark.parametrize("most_letters", [31, 0])
@pytest.mark.parametrize("n_distinct", [3, 31, 60])
@pytest.mark.parametrize("mode", MODES)
def test_tokens_give_what_the_plain_recurrence_gives(monkeypatch, mode, n_distinct, most_letters):
    """Few tokens are letters, many are tables; both ways give the same for the same tokens."""
    monkeypatch.setattr(tokens, "MOST_LETTERS", most_letters)
    monkeypatch.setattr(tokens, "TABLE_CELLS", 2000)  # some pairs at a time
    rng = random.Random(f"{mode} {n_distinct}")
    pairs = list(zip(sequences_of(rng, 25, n_distinct), sequences_of(rng, 25, n_distinct), strict=True))
    for free_ends in rng.sample(FREE_SETS, 3) if mode == "semiglobal" else [pairwise.FREE_ENDS]:
        wanted = [expected(*pair, mode, free_ends) for pair in pairs]
        how = {**SCORING, "mode": mode, "free_ends": free_ends}
        found = ta.align_tokens(pairs, **how)
        assert [of_row(row) for row in found] == wanted
        assert of_row(ta.align_tokens(*pairs[0], **how)) == wanted[0]
        assert ta.align_tokens(pairs, **how, report="score").score.tolist() == [row.score for row in wanted]


@pytest.mark.parametrize("most_letters", [31, 0])
def test_further_alignments(monkeypatch, most_letters):
    monkeypatch.setattr(tokens, "MOST_LETTERS", most_letters)
    rng = random.Random(6)
    pairs = list(zip(sequences_of(rng, 8, 4), sequences_of(rng, 8, 4), strict=True))
    scores = np.where(np.eye(4, dtype=bool), 2, -1)
    wanted = []
    for pair in pairs:
        coded = [[VOCABULARY.index(token) for token in side] for side in pair]
        best = waterman_eggert.alignments(*coded, scores, [(1, 1)], 3)
        wanted += best or [pairwise.Expected(0, 0, 0, 0, 0, "*", 0, 0, 0, 0)]
    found = ta.align_tokens(pairs, **SCORING, max_hsps=3)
    assert [of_row(row) for row in found] == wanted and found.hsp.max() == 3


def test_decimals(monkeypatch):
    pair = sequences_of(random.Random(1), 2, 60)
    how = {"match": 1.25, "mismatch": -0.5, "gap": ta.Gap(0.75, 0.5), "mode": "global"}
    wanted = expected(*pair, "global", (), 1.25, -0.5, (0.75, 0.5))
    assert of_row(ta.align_tokens(*pair, **how)) == wanted
    monkeypatch.setattr(tokens, "MOST_LETTERS", 0)
    assert of_row(ta.align_tokens(*pair, **how)) == wanted


@pytest.mark.parametrize("match", [127, 128, 40_000])
def test_high_scores(match):
    pair = [range(40), [*range(20), "x", *range(20, 40)]]
    assert ta.align_tokens(*pair, match=match, mismatch=-1, gap=ta.Gap(1, 1)).score == 40 * match - 2


def test_strings_are_sequences_of_characters():
    hit = ta.align_tokens("ǃŋàǂxá", "ŋàǂá", **SCORING, mode="global")
    assert (hit.score, hit.cigar, hit.identity) == (4 * 2 - 4, "1I3=1I1=", 4 / 6)


def test_many_distinct_tokens():
    """More than a byte can number, and a token that the other sequence lacks in each pair."""
    query = list(range(3000))
    hit = ta.align_tokens(query, [*query[:1000], "new", *query[1100:]], **SCORING, mode="global")
    assert hit.cigar == "1000=99I1X1900=" and hit.n_identical == 2900


def test_one_pair_in_a_list_is_a_table():
    assert len(ta.align_tokens([("abc", "abd")], **SCORING)) == 1


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: ta.align_tokens([["a"], "b"], "ab", **SCORING),
            InputError,
            "query_1.*token 1 of type list is not hash",
        ),
        (lambda: ta.align_tokens("ab", [], **SCORING), InputError, "target_1.*the sequence has no token"),
        (lambda: ta.align_tokens("ab", 5, **SCORING), InputError, "an object of type int is not a sequence of tokens"),
        (lambda: ta.align_tokens([], **SCORING), InputError, "there is no pair"),
        (lambda: ta.align_tokens("ab", **SCORING), InputError, "the pairs must be a list"),
        (lambda: ta.align_tokens([("a", "b", "c")], **SCORING), InputError, "this is not a pair"),
        (lambda: ta.align_tokens("a", "b", **{**SCORING, "match": "x"}), ScoringError, "the match score 'x' is not"),
        (lambda: ta.align_tokens("a", "b", **{**SCORING, "gap": ta.Gap(1, 1, 5, 0)}), ScoringError, "two pieces"),
        (
            lambda: ta.align_tokens(range(20_000), range(20_000), **SCORING, memory_bytes=10_000_000),
            ResourceError,
            "the scores of one pair exceed the memory",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_pairs_larger_than_a_batch_need_only_the_memory(monkeypatch):
    monkeypatch.setattr("tropalign.pairwise.tokens.TABLE_CELLS", 100)
    hit = ta.align_tokens(range(60), range(5, 65), match=2, mismatch=-1, gap=ta.Gap(1, 1), mode="local")
    assert (hit.score, hit.query_start, hit.cigar) == (110, 5, "55=")
