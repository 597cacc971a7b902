"""Gaps of two pieces and end-gap costs: against the plain recurrence, the affine engines, and other programs."""

import random
import shutil
import subprocess
from itertools import combinations

import numpy as np
import pytest
from oracles import gap_pieces
from oracles.pairwise import FREE_ENDS, cigar_operations
from pairwise.engines import AMINO_ACIDS, FREE_SETS, MODES, assert_same, check_engines, codes

import tropalign

TWO = [(4, 2, 24, 1), (0, 3, 5, 0), (24, 1, 4, 2), (2, 2, 2, 2), (0, 0, 0, 0), (6, 5, 11, 1)]


def relatives(rng, letters, count, lengths):
    out = []
    for _ in range(count):
        length = rng.randint(*lengths)
        copy = [rng.choice(letters) for _ in range(length)]
        if out and rng.random() < 0.7:
            copy = [letter if rng.random() > 0.1 else rng.choice(letters) for letter in rng.choice(out)]
            at = rng.randrange(len(copy))
            if rng.random() < 0.5:
                del copy[at : at + rng.randint(0, 12)]
            else:
                copy[at:at] = [rng.choice(letters) for _ in range(rng.randint(0, 12))]
        out.append("".join(copy)[: lengths[1]] or letters[0])
    return out


def pieces(costs):
    return costs if len(costs) == 4 else costs * 2


def expected(sequences, matrix, gap, end_gap, mode, free_ends=FREE_ENDS):
    scores, ends = matrix.scores, gap if end_gap is None else end_gap
    letters = [codes(matrix.alphabet, text) for text in sequences]
    return [
        gap_pieces.align(a, b, scores, pieces(gap), pieces(ends), mode, free_ends) for a, b in combinations(letters, 2)
    ]


def check(engines, sequences, matrix, gap, end_gap, mode, free_ends=FREE_ENDS):
    wanted = expected(sequences, matrix, gap, end_gap, mode, free_ends)
    ends = None if end_gap is None else tropalign.Gap(*end_gap)
    options = {"matrix": matrix, "gap": gap, "end_gap": ends, "mode": mode, "free_ends": free_ends, "n_threads": 1}
    options["protein"] = matrix.alphabet.name == "protein"
    check_engines(engines, sequences, None, wanted, **options)
    letters = [codes(matrix.alphabet, text) for text in sequences]
    for (a, b), row in zip(combinations(letters, 2), wanted, strict=True):
        costs = pieces(gap), pieces(gap if end_gap is None else end_gap)
        path = cigar_operations(row.cigar)
        assert gap_pieces.rescore(a, b, matrix.scores, *costs, row, path, mode, free_ends) == row.score


def nucleotides(match=2, mismatch=-4):
    return tropalign.SubstitutionMatrix.match_mismatch(match, mismatch)


def test_the_oracle_finds_the_best_of_all_paths():
    rng = random.Random(1)
    for _ in range(40):
        scores = [[rng.randint(-4, 4) for _ in range(3)] for _ in range(3)]
        a, b = ([rng.randrange(3) for _ in range(rng.randint(1, 5))] for _ in range(2))
        inner, ends = (pieces(tuple(rng.randint(0, 5) for _ in range(rng.choice([2, 4])))) for _ in range(2))
        found = gap_pieces.align(a, b, scores, inner, ends, "global")
        assert found.score == gap_pieces.best_score(a, b, scores, inner, ends)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gap", TWO)
def test_two_pieces(engines, gap, mode):
    rng = random.Random(f"{gap}{mode}")
    check(engines, relatives(rng, "ACGT", 9, (1, 50)), nucleotides(2, -3), gap, None, mode)
    check(engines, relatives(rng, "AC", 7, (1, 30)), nucleotides(1, -1), gap, None, mode)
    check(
        engines,
        relatives(rng, AMINO_ACIDS, 5, (20, 80)),
        tropalign.SubstitutionMatrix.from_name("BLOSUM62"),
        gap,
        None,
        mode,
    )


@pytest.mark.parametrize("mode", MODES[1:])
@pytest.mark.parametrize(
    ("gap", "end_gap"), [((8, 2), (0, 0)), ((8, 2), (3, 1)), ((0, 1), (9, 9)), ((4, 2, 9, 1), (1, 3, 5, 0))]
)
def test_end_gaps(engines, gap, end_gap, mode):
    rng = random.Random(f"{gap}{end_gap}{mode}")
    check(engines, relatives(rng, "ACGT", 9, (1, 40)), nucleotides(2, -3), gap, end_gap, mode)
    check(
        engines, relatives(rng, "AC", 7, (1, 20)), nucleotides(1, -1), gap, end_gap, mode, ("query-start", "target-end")
    )
    matrix = tropalign.SubstitutionMatrix.of(
        ("ACGT", [[rng.randint(-5, 5) for _ in "ACGT"] for _ in "ACGT"]), "nucleotide"
    )
    assert not matrix.is_symmetric
    check(engines, relatives(rng, "ACGT", 7, (1, 20)), matrix, gap, end_gap, mode, ())


@pytest.mark.parametrize("free_ends", FREE_SETS, ids=lambda ends: "+".join(ends) or "none")
def test_every_set_of_free_ends(engines, free_ends):
    rng = random.Random(str(free_ends))
    sequences = relatives(rng, "AC", 9, (1, 18))
    check(engines, sequences, nucleotides(1, -1), (2, 1), (1, 1), "semiglobal", free_ends)
    check(engines, sequences, nucleotides(1, -1), (1, 2, 6, 0), None, "semiglobal", free_ends)


@pytest.mark.parametrize("mode", MODES)
def test_scores_beyond_8_and_16_bits(engines, mode):
    rng = random.Random(mode)
    sequences = relatives(rng, "ACGT", 5, (30, 60))
    for unit in (60, 700, 30_000):
        end_gap = None if mode == "local" else (3 * unit, unit)
        check(
            engines, sequences, nucleotides(2 * unit, -3 * unit), (4 * unit, 2 * unit, 24 * unit, unit), end_gap, mode
        )


@pytest.mark.parametrize("match", [107, 108, 109, 110])
def test_local_scores_at_the_end_of_16_bits(engines, match):
    """300 letters that are the same score some 32,700."""
    rng = random.Random(match)
    text = "".join(rng.choice("ACGT") for _ in range(300))
    sequences = [text, text, text[:150] + "ACGTTGCA" + text[150:], text[3:] + text]
    options = {"match": match, "mismatch": -match, "mode": "local", "protein": False}
    affine = engines[0].align(sequences, None, gap=(9, 2), **options)
    assert affine["score"].max() == 300 * match
    for engine in engines:
        assert_same(engine.align(sequences, None, gap=(9, 2, 99, 2), **options), affine)


@pytest.mark.parametrize("mode", MODES)
def test_equal_pieces_are_the_affine_engines(engines, mode):
    """To the last tie; also where checkpoints keep the path of a long pair."""
    rng = random.Random(mode)
    long = relatives(rng, "ACGT", 1, (3600, 3600))[0]
    changed = "".join(a if rng.random() > 0.1 else rng.choice("ACGT") for a in long[90:3300] + long[3350:])
    some = relatives(rng, "AC", 20, (1, 60))
    for sequences in ([long, changed], some):
        options = {"match": 1, "mismatch": -1, "mode": mode, "protein": False}
        affine = engines[0].align(sequences, None, gap=(2, 1), **options)
        for engine in engines:
            second = engine.align(sequences, None, gap=(2, 1, 7, 1), **options)
            assert_same(second, affine)


def test_threads_memory_and_strands():
    rng = random.Random(4)
    sequences = relatives(rng, "ACGT", 40, (20, 150))
    batch = tropalign.SequenceBatch.from_strings(sequences, alphabet="nucleotide")
    options = {
        "gap": tropalign.Gap(4, 2, 24, 1),
        "end_gap": tropalign.Gap(2, 1),
        "mode": "global",
        "matrix": nucleotides(),
    }
    one = next(tropalign.align_all(batch, n_threads=1, **options))
    for changed in ({"n_threads": 3}, {"memory_bytes": 16 << 20, "n_threads": 2}):
        tables = list(tropalign.align_all(batch, **changed, **options))
        assert np.concatenate([table.score for table in tables]).tolist() == one.score.tolist()
        assert [cigar for table in tables for cigar in table.cigars()] == one.cigars()
    flipped = tropalign.SequenceBatch.from_strings(
        [t[::-1].translate(str.maketrans("ACGT", "TGCA")) for t in sequences], alphabet="nucleotide"
    )
    pairs = np.array([(i, j) for i in range(40) for j in range(40) if i != j])
    forward, reverse = (
        next(tropalign.align_all(side, batch, pairs=pairs, report="score", **options)).score
        for side in (batch, flipped)
    )
    best = np.maximum(forward, reverse)
    top = next(tropalign.align_all(batch, strand="both", top=2, **options))
    for query in range(40):
        own = best[pairs[:, 0] == query]
        assert sorted(top.score[top.query_index == query], reverse=True) == sorted(own, reverse=True)[:2]
    least = int(np.sort(one.score)[-30])
    kept = next(tropalign.align_all(batch, min_score=least, **options))
    assert sorted(kept.score) == sorted(one.score[one.score >= least])


def test_best_targets_of_many():
    """Where affine costs are scored a group of targets at a time."""
    rng = random.Random(6)
    targets = relatives(rng, "ACGT", 150, (10, 60))
    gap = tropalign.Gap(1, 3, 9, 0)
    every = next(tropalign.align_all(targets[:2], targets, gap=gap, alphabet="nucleotide", report="score"))
    top = next(tropalign.align_all(targets[:2], targets, gap=gap, alphabet="nucleotide", top=4))
    for query in (0, 1):
        score = every.score[every.query_index == query]
        assert top.target_index[top.query_index == query].tolist() == np.lexsort((np.arange(150), -score))[:4].tolist()


def test_decimals():
    found = tropalign.align(
        "ACGTACGTTT", "ACGT", mode="global", gap=tropalign.Gap(9.5, 0.5), end_gap=tropalign.Gap(0, 0.25)
    )
    assert (found.score, found.cigar) == (20 - 6 * 0.25, "4I4=2I")
    two = tropalign.align("ACGTACCCCCCCCGTACGTA", "ACGTAACGTA", mode="global", gap=tropalign.Gap(1.5, 4, 12, 0.1))
    assert two.score == 50 - 12 - 10 * 0.1


def test_align_align_many_and_align_all_agree():
    rng = random.Random(7)
    sequences = relatives(rng, "ACGT", 6, (5, 40))
    options = {
        "gap": tropalign.Gap(2, 2, 9, 1),
        "end_gap": tropalign.Gap(1, 1),
        "mode": "global",
        "alphabet": "nucleotide",
    }
    pairs = list(combinations(sequences, 2))
    one_by_one = [tropalign.align(a, b, **options) for a, b in pairs]
    table = tropalign.align_many(pairs, **options)
    assert [pair.cigar for pair in one_by_one] == table.cigars()
    assert [pair.score for pair in one_by_one] == table.score.tolist()


def test_biopython_has_the_same_scores():
    """Its costs are those of the first residue, and its end gaps those of both ends of both sequences."""
    from Bio.Align import PairwiseAligner, substitution_matrices

    rng = random.Random(8)
    blosum = substitution_matrices.load("BLOSUM62")
    for _ in range(60):
        a, b = relatives(rng, AMINO_ACIDS, 2, (2, 60))
        (o, e), (eo, ee) = ((rng.randint(0, 12), rng.randint(0, 3)) for _ in range(2))
        aligner = PairwiseAligner(mode="global", substitution_matrix=blosum)
        aligner.open_internal_gap_score, aligner.extend_internal_gap_score = -(o + e), -e
        aligner.open_end_gap_score, aligner.extend_end_gap_score = -(eo + ee), -ee
        ours = tropalign.align(
            a,
            b,
            mode="global",
            matrix="BLOSUM62",
            gap=tropalign.Gap(o, e),
            end_gap=tropalign.Gap(eo, ee),
            alphabet="protein",
        )
        assert ours.score == aligner.score(a, b), (a, b, o, e, eo, ee)


def test_wfa2_has_the_same_scores():
    """Its penalties P with match a: score = a (m + n) / 2 - P."""
    wfa = pytest.importorskip("pywfa")
    rng = random.Random(9)
    for _ in range(60):
        a, b = relatives(rng, "ACGT", 2, (5, 120))
        (o1, e1, o2, e2), x = (rng.randint(2, 8), rng.randint(2, 4), rng.randint(10, 30), 1), rng.randint(1, 6)
        aligner = wfa.WavefrontAligner(
            a, distance="affine2p", match=0, mismatch=x + 2, gap_opening=o1, gap_extension=e1 + 1, gap_opening2=o2,
            gap_extension2=e2 + 1, scope="score",
        )  # fmt: skip
        penalty = -aligner.wavefront_align(b)
        ours = tropalign.align(
            a, b, mode="global", matrix=nucleotides(2, -x), gap=tropalign.Gap(o1, e1, o2, e2), alphabet="nucleotide"
        )
        assert ours.score == len(a) + len(b) - penalty, (a, b)


@pytest.mark.skipif(shutil.which("needle") is None, reason="needs EMBOSS")
def test_needle_has_the_same_scores(tmp_path):
    rng = random.Random(10)
    for case in range(4):
        sequences = relatives(rng, AMINO_ACIDS, 2, (30, 90))
        for name, text in zip("ab", sequences, strict=True):
            (tmp_path / name).write_text(f">{name}\n{text}\n")
        first, following, end_first, end_following = [
            (10, 0.5, 10, 0.5),
            (12, 2, 3, 1),
            (8, 1, 20, 3),
            (10, 1, 1, 0.5),
        ][case]
        command = f"needle a b -gapopen {first} -gapextend {following} -endweight Y -endopen {end_first} "
        command += f"-endextend {end_following} -auto -stdout"
        text = subprocess.run(
            command.split(), cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
        ).stdout
        score = next(float(line.split()[2]) for line in text.splitlines() if line.startswith("# Score:"))
        of = tropalign.Gap.from_first_residue
        ours = tropalign.align(
            *sequences,
            mode="global",
            matrix="BLOSUM62",
            gap=of(first, following),
            end_gap=of(end_first, end_following),
            alphabet="protein",
        )
        assert ours.score == score


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        ((1, 1, 2), "needs both an open and an extend cost: give both"),
        ((1, 1, 2, -1), "the gap extend2 cost -1 is negative"),
    ],
)
def test_costs_that_are_refused(costs, sentence):
    with pytest.raises(tropalign.ScoringError, match=sentence):
        tropalign.Gap(*costs)


def test_a_stop_comes_within_a_pair():
    """The work of one long pair ends soon after progress says so."""

    class StopError(Exception):
        pass

    from tropalign import _native

    rng = np.random.default_rng(1)
    code, offsets = rng.integers(0, 4, 40_000).astype(np.uint8), np.array([0, 20_000, 40_000])
    arrays = (code, offsets, code, offsets, np.array([0]), np.array([1]), nucleotides().scores)

    def stop(_):
        raise StopError

    with pytest.raises(StopError):
        _native.align_pieces(*arrays, (4, 2, 24, 1), (4, 2, 24, 1), "global", (False,) * 4, 2, 1, 1 << 28, stop)


def test_a_pair_beyond_the_memory_is_refused():
    rng = np.random.default_rng(2)
    texts = ["".join(rng.choice(list("ACGT"), 40_000)) for _ in range(2)]
    batch = tropalign.SequenceBatch.from_strings(texts, alphabet="nucleotide")
    sentence = (
        "a pair requires more memory than allowed with gap costs of two pieces or of the ends: allow more with "
        "memory_bytes"
    )
    with pytest.raises(tropalign.ResourceError, match=sentence):
        next(tropalign.align_all(batch, gap=tropalign.Gap(4, 2, 24, 1), memory_bytes=12 << 20))
