"""Second tracks: against the plain recurrence, the engine of score tables, and pairs without a track."""

import random
import re

import numpy as np
import pytest
from oracles import pairwise, waterman_eggert
from oracles.pairwise import FREE_ENDS
from pairwise.engines import AMINO_ACIDS, FREE_SETS, MODES, codes, rows

import tropalign as ta
from tropalign import _native
from tropalign.errors import InputError, ScoringError, UsageError
from tropalign.pairwise.tracks import track_matrix, with_track
from tropalign.results.alignments import concatenate

BLOSUM62 = ta.SubstitutionMatrix.from_name("BLOSUM62")
STATES = "DVLQSPCAN"


def states_matrix(rng, low=-6, high=5, symmetric=True):
    """A matrix of structure letters, in lower case, with few distinct scores, so that many alignments tie."""
    values = np.array(rng.choices(range(low, high), k=len(STATES) ** 2), float).reshape(len(STATES), -1)
    if symmetric:
        values = np.triu(values) + np.triu(values, 1).T
    np.fill_diagonal(values, high)
    return STATES.lower(), values


def strings(rng, letters, lengths):
    return ["".join(rng.choices(letters, k=n)) for n in lengths]


def summed(residues, states, other_residues, other_states, matrix, weight=1.0, own=BLOSUM62):
    """The table of a pair: scores of residues, plus rounded weighted scores of states."""
    track = track_matrix(matrix)
    one, other = (codes(ta.PROTEIN, text) for text in (residues, other_residues))
    x, y = (codes(track.alphabet, text) for text in (states, other_states))
    added = np.rint(track.scores * weight)
    return (own.scores[np.ix_(one, other)] + added[np.ix_(x, y)]).astype(np.int32)


def lone_codes(table):
    """Matrix and codes of a table's rows and columns: a code for each."""
    m, n = table.shape
    wide = np.zeros((m + n, m + n), int)
    wide[:m, m:] = table
    return range(m), range(m, m + n), wide


def merged(cigar):
    """A CIGAR with M in place of = and X."""
    return re.sub("(?:[0-9]+[=X])+", lambda run: f"{sum(map(int, re.findall('[0-9]+', run[0])))}M", cigar)


def shape(row):
    """Score, coordinates and columns of an alignment, whatever pairs are identical."""
    ends = row.query_start, row.query_end, row.target_start, row.target_end
    return row.score, *ends, merged(row.cigar), row.n_gaps


@pytest.mark.parametrize("mode", MODES)
def test_small_pairs_give_what_the_plain_recurrence_gives(engines, mode):
    rng = random.Random(mode)
    for gap, weight, symmetric in (
        ((3, 1), 1.0, True),
        ((0, 2), 1.4, False),
        ((11, 1), 0.5, True),
        ((5, 0), 30.0, False),
    ):
        matrix = states_matrix(rng, symmetric=symmetric)
        lengths = [rng.randint(1, 40) for _ in range(12)]
        residues, states = strings(rng, "ARND", lengths), strings(rng, STATES, lengths)
        pairs = [(a, b) for a in range(0, 12, 2) for b in range(1, 12, 2)]
        tables = [summed(residues[a], states[a], residues[b], states[b], matrix, weight) for a, b in pairs]
        scoring = {"matrix": "BLOSUM62", "gap": gap, "mode": mode, "track_matrix": matrix, "track_weight": weight}
        track = states[::2], states[1::2]
        for free_ends in rng.sample(FREE_SETS, 2) if mode == "semiglobal" else [FREE_ENDS]:
            wanted = [pairwise.align(*lone_codes(table), *gap, mode, free_ends) for table in tables]
            for engine in engines:
                how = {**scoring, "track": track, "free_ends": free_ends}
                found = rows(engine.align(residues[::2], residues[1::2], **how))
                assert [shape(row) for row in found] == [shape(row) for row in wanted], engine.isa
                scores = engine.align(residues[::2], residues[1::2], **how, report="score")["score"]
                assert scores.tolist() == [row.score for row in wanted]


@pytest.mark.parametrize("mode", MODES)
def test_further_alignments_are_those_of_the_plain_recurrence(engines, mode):
    if mode != "local":
        return
    rng = random.Random(5)
    matrix = states_matrix(rng)
    lengths = [30, 25, 41, 18]
    residues, states = strings(rng, AMINO_ACIDS, lengths), strings(rng, STATES, lengths)
    wanted = []
    for a in range(4):
        for b in range(a + 1, 4):
            table = summed(residues[a], states[a], residues[b], states[b], matrix)
            wanted += waterman_eggert.alignments(*lone_codes(table), [(4, 1)], 3)
    for engine in engines:
        found = engine.align(residues, matrix="BLOSUM62", gap=(4, 1), track=states, track_matrix=matrix, max_hsps=3)
        assert [shape(row) for row in rows(found)] == [shape(row) for row in wanted]


CASES = {
    "usual": ((11, 1), 1.0),
    "beyond 8 bits": ((40, 3), 25.0),
    "very low scores": ((2, 1), 60.0),
    "wide": ((4000, 9), 900.0),
}


@pytest.mark.parametrize("report", ["alignment", "ends"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mode", MODES)
def test_many_pairs_give_what_tables_give(engines, mode, case, report):
    """Units of shared rows, of two rows and of neither; kin score beyond 8 bits; directions and checkpoints."""
    rng = random.Random(f"{mode} {case}")
    gap, weight = CASES[case]
    matrix = states_matrix(rng, symmetric=mode != "global")
    ancestor = rng.choices(range(len(AMINO_ACIDS)), k=330)
    residues, states = [], []
    for k in range(36):
        kept = ancestor[: rng.randint(20, 330)] if k % 3 == 0 else rng.choices(range(20), k=rng.randint(10, 130))
        kept = [letter if rng.random() < 0.9 else rng.randrange(20) for letter in kept]
        residues.append("".join(AMINO_ACIDS[letter] for letter in kept))
        states.append("".join(STATES[letter % len(STATES)] for letter in kept))
    index = np.stack(np.triu_indices(36, 1), 1)
    tables = [summed(residues[a], states[a], residues[b], states[b], matrix, weight) for a, b in index.tolist()]
    how = {"matrix": "BLOSUM62", "gap": gap, "mode": mode, "report": report}
    for engine in engines:
        found = engine.align(residues, **how, track=states, track_matrix=matrix, track_weight=weight)
        want = engine.align_scores(tables, mode=mode, gap=gap)
        for name in ("score", "query_start", "query_end", "target_start", "target_end"):
            np.testing.assert_array_equal(found[name], want[name], err_msg=name)
        if report == "alignment":
            assert [shape(row) for row in rows(found)] == [shape(row) for row in rows(want)]
            scores = engine.align(
                residues, **how | {"report": "score"}, track=states, track_matrix=matrix, track_weight=weight
            )
            np.testing.assert_array_equal(scores["score"], want["score"])


@pytest.mark.parametrize("mode", MODES)
def test_long_pairs_give_what_tables_give(isa, mode):
    """Pairs with checkpoints in lanes, and pairs that run alone for lack of memory."""
    rng = random.Random(8)
    matrix = states_matrix(rng, symmetric=False)
    lengths = [(700, 1101), (1030, 41), (60, 4503), (1500, 1500)]
    queries, targets = (strings(rng, AMINO_ACIDS, of) for of in zip(*lengths, strict=True))
    track, other = (strings(rng, STATES, of) for of in zip(*lengths, strict=True))
    targets[3] = queries[3][:600] + queries[3][640:] + targets[3][:40]
    other[3] = track[3][:600] + track[3][640:] + other[3][:40]
    tables = [summed(*pair, matrix) for pair in zip(queries, track, targets, other, strict=True)]
    want = ta.align_scores(tables, gap=ta.Gap(11, 1), mode=mode)
    index = np.stack([np.arange(4)] * 2, 1)
    how = {"gap": ta.Gap(11, 1), "mode": mode, "track": (track, other), "track_matrix": matrix, "pairs": index}
    for memory in (None, 40_000_000):
        found = concatenate(list(ta.align_all(queries, targets, **how, memory_bytes=memory)))
        assert found.score.tolist() == want.score.tolist()
        assert [merged(cigar) for cigar in found.cigars()] == [merged(cigar) for cigar in want.cigars()]
        np.testing.assert_array_equal(found.query_start, want.query_start)
        np.testing.assert_array_equal(found.target_end, want.target_end)
        ends = concatenate(list(ta.align_all(queries, targets, **how, memory_bytes=memory, report="ends")))
        np.testing.assert_array_equal(ends.query_start, want.query_start)
        np.testing.assert_array_equal(ends.target_start, want.target_start)


@pytest.mark.parametrize("weight", [0, 1e-9])
@pytest.mark.parametrize("mode", MODES)
def test_a_track_without_weight_changes_nothing(isa, mode, weight):
    rng = random.Random(9)
    lengths = [rng.randint(5, 90) for _ in range(40)]
    residues, states = strings(rng, AMINO_ACIDS, lengths), strings(rng, STATES, lengths)
    how = {"mode": mode, "max_hsps": 2 if mode == "local" else 1}
    track = {"track": states, "track_matrix": states_matrix(rng), "track_weight": weight}
    for options in ({}, {"report": "ends", "max_hsps": 1}, {"top": 3}, {"min_score": 20, "min_identity": 0.2}):
        with_it, without = (concatenate(list(ta.align_all(residues, **how | options, **more))) for more in (track, {}))
        for name in ("query_index", "target_index", "score", "query_start", "target_end", "n_similar", "cigar_ops"):
            np.testing.assert_array_equal(getattr(with_it, name), getattr(without, name), err_msg=name)


def test_best_targets_are_those_of_all_pairs(isa):
    """More targets than a grouped scan needs, which cannot add a track."""
    rng = random.Random(10)
    lengths = [rng.randint(10, 40) for _ in range(160)]
    residues, states = strings(rng, AMINO_ACIDS, lengths), strings(rng, STATES, lengths)
    how = {"track": (states[:6], states[6:]), "track_matrix": states_matrix(rng), "report": "score"}
    every = concatenate(list(ta.align_all(residues[:6], residues[6:], **how)))
    best = concatenate(list(ta.align_all(residues[:6], residues[6:], top=4, min_score=10, **how)))
    for query in range(6):
        rows = np.flatnonzero(every.query_index == query)
        order = rows[np.lexsort((rows, -every.score[rows]))][:4]
        order = order[every.score[order] >= 10]
        own = best.query_index == query
        assert best.target_index[own].tolist() == every.target_index[order].tolist()
        assert best.score[own].tolist() == every.score[order].tolist()


def test_clusters_use_the_track(isa):
    """States decide the alignment, and with it identities; bounds of scores of residues alone do not apply."""
    rng = random.Random(11)
    base, states = strings(rng, AMINO_ACIDS, [60])[0], strings(rng, STATES, [60])[0]
    sequences = {"a": base, "b": base[:30] + "".join(rng.choices(AMINO_ACIDS, k=30)), "c": base[::-1]}
    track = {"a": states, "b": states, "c": states[::-1]}
    matrix = states_matrix(rng)
    for method in ("greedy", "single", "average"):
        found = ta.cluster(sequences, 0.5, identity="columns", method=method, track=track, track_matrix=matrix)
        assert found.labels.tolist() == [0, 0, 1]
        index = np.array([[0, 1], [0, 2], [1, 2]])
        table = concatenate(list(ta.align_all(sequences, mode="global", track=track, track_matrix=matrix, pairs=index)))
        assert (table.identity >= 0.5).tolist() == [True, False, False]


def test_single_pairs_and_lists_are_as_sets(isa):
    matrix = states_matrix(random.Random(12))
    scoring = {"track_matrix": matrix, "track_weight": 1.5, "mode": "global"}
    one = ta.align("MKVLAW", "MKILA", track=("ddvvls", "ddvls"), **scoring)
    many = ta.align_many(
        [("MKVLAW", "MKILA"), ("MKVLAW", "MK")], track=[("ddvvls", "ddvls"), ("ddvvls", "DD")], **scoring
    )
    table = summed("MKVLAW", "ddvvls", "MKILA", "ddvls", matrix, 1.5)
    want = pairwise.align(*lone_codes(table), 11, 1, "global")
    assert (one.score, many.score[0]) == (want.score, want.score)
    assert one.cigar == many.cigars()[0]
    named = {"a": "MKVLAW", "b": "MKILA"}
    by_name = next(ta.align_all(named, track={"b": "ddvls", "a": "ddvvls"}, **scoring))
    assert by_name.score.tolist() == [want.score]


def test_weights_round_to_the_units_of_the_matrix():
    """Scores of the track are rounded once, whatever limits are set."""
    matrix = ("DV", np.array([[1.0, -1], [-1, 3]]))
    scoring = {"track": ["dv", "dv"], "track_matrix": matrix, "mode": "global", "matrix": (0, -9)}
    for weight, gap, score in ((1.4, ta.Gap(9, 1), 1 + 4), (1.5, ta.Gap(9, 1), 2 + 4), (1.4, ta.Gap(9.5, 1), 1.5 + 4)):
        for least in (None, 0.25):
            how = {**scoring, "track_weight": weight, "gap": gap, "min_score": least, "alphabet": "nucleotide"}
            assert next(ta.align_all(["AA", "AA"], **how)).score.tolist() == [score]


SEQUENCES, MATRIX = {"a": "MKVLAW", "b": "MKILA"}, ("DVLS", np.eye(4) * 4 - 1)
GOOD = {"a": "ddvvls", "b": "ddvls"}
MISTAKES = [
    ({"track": {"a": "ddvvls"}}, InputError, "record 'b': this sequence has no string in the second track"),
    ({"track": GOOD | {"c": "dd"}}, InputError, "record 'c': this string of the second track belongs to no sequence"),
    (
        {"track": GOOD | {"b": "ddvl"}},
        InputError,
        "record 'b': the second track has 4 letters, but the sequence has 5 residues",
    ),
    (
        {"track": GOOD | {"b": "ddvlx"}},
        InputError,
        "record 'b': 'x' at position 5 is not a letter of the track alphabet",
    ),
    ({"track": 5}, UsageError, "track 5 is not a set of strings: give one per sequence"),
    ({"track": ["ddvvls"]}, InputError, "track has 1 string for 2 sequences: give one for each"),
    ({"track": [("a", "ddvvls"), "ddvls"]}, InputError, "some strings of track have names and others do not"),
    ({"track": [("a", "ddvvls"), ("a", "ddvvls")]}, InputError, "two sequences have the same name"),
    ({"track": None}, UsageError, "track_matrix needs track: add it"),
    ({"track_matrix": None}, UsageError, "track needs track_matrix: add it"),
    ({"track_matrix": (1, -1)}, ScoringError, "match and mismatch have no letters"),
    ({"track_weight": -1}, UsageError, "track_weight -1 is not a number from 0 to 1000"),
    ({"track": None, "track_matrix": None, "track_weight": 2}, UsageError, "track_weight applies to a second track"),
    ({"targets": SEQUENCES}, UsageError, "track must be two sets, of the queries and of the targets"),
    ({"gap": ta.Gap(4, 2, 24, 1)}, UsageError, "track supports one open and one extend cost"),
    ({"max_evalue": 1}, UsageError, "max_evalue applies to E-values and bits, which scores of two tracks do not have"),
    ({"composition": "adjusted"}, UsageError, "composition applies to E-values and bits"),
    ({"mask": "seg"}, UsageError, "track does not support mask"),
    ({"co_optimal": 2}, UsageError, "track does not support co_optimal"),
    ({"targets": SEQUENCES, "translate": "query"}, UsageError, "track belongs to the given residues"),
    ({"device": "cuda:0"}, ta.errors.DeviceError, "second tracks are supported on the CPU only"),
]


@pytest.mark.parametrize(("changes", "kind", "sentence"), MISTAKES, ids=lambda value: None)
def test_mistakes_are_named(changes, kind, sentence):
    given = {"queries": SEQUENCES, "track": GOOD, "track_matrix": MATRIX, **changes}
    with pytest.raises(kind) as error:
        ta.align_all(given.pop("queries"), given.pop("targets", None), **given)
    assert sentence in str(error.value)


def test_a_pair_of_strings_is_needed_for_a_pair():
    with pytest.raises(UsageError, match="track must be a tuple of two strings"):
        ta.align("MKV", "MK", track="ddv", track_matrix=MATRIX)


def test_batches_keep_their_track():
    batch = with_track(ta.SequenceBatch.from_strings(SEQUENCES), GOOD, track_matrix(MATRIX))
    assert batch.track.tolist() == [0, 0, 1, 1, 2, 3, 0, 0, 1, 2, 3]
    assert batch[[1, 0]].track.tolist() == [0, 0, 1, 2, 3, 0, 0, 1, 1, 2, 3]
    assert batch[1:].track.tolist() == [0, 0, 1, 2, 3]
    assert batch.fingerprint() != ta.SequenceBatch.from_strings(SEQUENCES).fingerprint()


def test_native_entries_check_the_track():
    batch = ta.SequenceBatch.from_strings(SEQUENCES)
    matrix = np.ascontiguousarray(BLOSUM62.scores, np.int32)
    index = np.array([0, 1])
    call = (batch.codes, batch.offsets, batch.codes, batch.offsets, index, index, matrix, 11, 1, "local", (False,) * 4)
    for track, sentence in (
        ((batch.codes, None, matrix), "give all or none"),
        ((batch.codes[1:], batch.codes, matrix), "another size than the codes"),
        ((np.full_like(batch.codes, 31), batch.codes, matrix), "beyond the alphabet"),
        ((batch.codes, batch.codes, matrix * 1_000_000_00), "may exceed 2147483647"),
    ):
        names = ("query_track", "target_track", "track_scores")
        with pytest.raises(ValueError, match=sentence):
            _native.align_pairs(*call, 2, 1, 1 << 26, **dict(zip(names, track, strict=True)))
