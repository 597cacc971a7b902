"""Posteriors of pairs: against the plain recurrences and all alignments of tiny pairs, on every instruction set."""

import dataclasses
import math
import random
import subprocess
import sys
from functools import lru_cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import pair_posteriors as oracle

import tropalign as ta
from tropalign import _native
from tropalign.errors import ScoringError
from tropalign.msa.models import NUCLEOTIDE, PROTEIN, PROTEIN_1, PROTEIN_2, model_of

MODELS = {"protein 1": PROTEIN_1, "protein 2": PROTEIN_2, "overhangs": PROTEIN, "nucleotide": NUCLEOTIDE}
#: Of kPosteriorOne.
ONE = 32767
#: Posteriors are rounded to 16 bits and computed in floats.
NEAR = 1.0 / ONE


def batch_of(texts, model=PROTEIN_2):
    return ta.SequenceBatch.from_strings(list(texts), alphabet=model.alphabet)


def posteriors(texts, pairs, model=PROTEIN_2, cutoff=0.0, keep=0.0, n_threads=1):
    """Distances, and a matrix per pair."""
    batch = batch_of(texts, model)
    distance, sizes, columns, values = _native.pair_posteriors(
        batch.codes,
        batch.offsets,
        np.array(pairs, np.int32).reshape(-1, 2),
        **model.arguments(),
        cutoff=cutoff,
        keep=keep,
        n_threads=n_threads,
    )
    matrices, row, element = [], 0, 0
    for x, y in pairs:
        matrix = np.zeros((len(texts[x]), len(texts[y])))
        for i in range(len(matrix)):
            size = int(sizes[row])
            mine = slice(element, element + size)
            assert (np.diff(columns[mine].astype(int)) > 0).all()
            matrix[i, columns[mine]] = values[mine] / ONE
            row, element = row + 1, element + size
        matrices.append(matrix)
    assert row == len(sizes) and element == len(columns) == len(values)
    return distance, matrices


def texts_of(rng, lengths, model):
    letters = model.alphabet.letters
    plain = model.alphabet.states
    return ["".join(rng.choice(plain if rng.random() < 0.9 else letters) for _ in range(n)) for n in lengths]


def related(rng, text, model):
    """A copy with substitutions and gaps."""
    out = []
    for letter in text:
        chance = rng.random()
        if chance > 0.1:
            out.append(letter if chance > 0.3 else rng.choice(model.alphabet.states))
        if chance < 0.05:
            out += rng.choices(model.alphabet.states, k=3)
    return "".join(out) or text[0]


def codes(model, text):
    return model.alphabet.encode(np.frombuffer(text.encode(), np.uint8))[0].tolist()


@lru_cache
def wanted(model, first, second):
    matrix = oracle.combined(model, codes(model, first), codes(model, second))
    return oracle.distance(matrix), np.array(matrix)


@pytest.mark.parametrize("name", MODELS)
def test_the_oracle_counts_alignments(name):
    model, rng = MODELS[name], random.Random(3)
    for m, n in [(1, 1), (1, 3), (4, 1), (3, 3), (4, 5)]:
        x, y = (codes(model, text) for text in texts_of(rng, (m, n), model))
        by_hmm, forward, backward = oracle.hmm(model, x, y)
        assert forward == pytest.approx(backward, abs=1e-9)
        by_path = partial(oracle.hmm_weight, model, x, y)
        assert math.log(math.fsum(map(by_path, oracle.alignments(m, n)))) == pytest.approx(forward, abs=1e-9)
        np.testing.assert_allclose(by_hmm, oracle.counted(by_path, m, n), atol=1e-12)
        by_path = partial(oracle.partition_weight, model, x, y)
        np.testing.assert_allclose(oracle.partition(model, x, y), oracle.counted(by_path, m, n), atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_posteriors_are_those_of_the_recurrences(isa, name):
    model, rng = MODELS[name], random.Random(name)
    texts = texts_of(rng, [1, 2, 3, 17, 40, 41, 64], model)
    texts += [related(rng, text, model) for text in texts[3:]]
    pairs = [(x, y) for x in range(len(texts)) for y in range(x + 1, len(texts)) if (x + y) % 3 == 0] + [(5, 0), (9, 4)]
    distances, matrices = posteriors(texts, pairs, model)
    for (x, y), found, matrix in zip(pairs, distances, matrices, strict=True):
        distance, exact = wanted(model, texts[x], texts[y])
        np.testing.assert_allclose(matrix, exact, atol=NEAR, err_msg=f"{texts[x]} {texts[y]}")
        assert found == pytest.approx(distance, abs=2e-5)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_share_of_the_hmm(isa, share):
    model = dataclasses.replace(PROTEIN_2, hmm_share=share)
    texts = ["MKVLAWMKHE", "MKILAWPAWHE"]
    _, (matrix,) = posteriors(texts, [(0, 1)], model)
    np.testing.assert_allclose(matrix, wanted(model, *texts)[1], atol=NEAR)


@settings(max_examples=30)
@given(st.lists(st.text("ACDEFGHIKLMNPQRSTVWYXBZJUO*", min_size=1, max_size=60), min_size=2, max_size=6))
def test_any_sequences(texts):
    pairs = [(x, y) for x in range(len(texts)) for y in range(x)]
    distances, matrices = posteriors(texts, pairs)
    for (x, y), found, matrix in zip(pairs, distances, matrices, strict=True):
        distance, exact = wanted(PROTEIN_2, texts[x], texts[y])
        np.testing.assert_allclose(matrix, exact, atol=NEAR)
        assert found == pytest.approx(distance, abs=2e-5)


def test_a_cutoff_leaves_elements_out(isa):
    rng = random.Random(5)
    texts = texts_of(rng, [60], PROTEIN_2)
    texts += [related(rng, texts[0], PROTEIN_2) for _ in range(6)]
    pairs = [(0, k) for k in range(1, 7)]
    all_distances, whole = posteriors(texts, pairs)
    distances, kept = posteriors(texts, pairs, cutoff=0.01)
    assert distances.tolist() == all_distances.tolist()
    for full, part in zip(whole, kept, strict=True):
        stays = full >= 0.01
        assert stays.any() and not stays.all()
        assert (part == np.where(stays, full, 0)).all()


def test_a_share_of_the_elements_is_kept(isa):
    rng = random.Random(6)
    texts = texts_of(rng, [50, 37], PROTEIN_2)
    texts += [related(rng, texts[0], PROTEIN_2), texts[0]]
    pairs = [(0, 1), (0, 2), (3, 0)]
    _, whole = posteriors(texts, pairs)
    _, kept = posteriors(texts, pairs, keep=0.05)
    for full, part in zip(whole, kept, strict=True):
        count = (part > 0).sum()
        assert 0 < count <= 0.05 * full.size
        lowest = part[part > 0].min()
        assert (part == np.where(full >= lowest, full, 0)).all()
        # One value lower would be too many.
        lower = full[(full < lowest) & (full > 0)]
        assert (full >= lower.max()).sum() > 0.05 * full.size


@pytest.mark.parametrize("isa_name", _native.supported_isas())
def test_results_do_not_depend_on_threads_or_company(monkeypatch, isa_name):
    monkeypatch.setenv("TROPALIGN_ISA", isa_name)
    rng = random.Random(7)
    texts = texts_of(rng, [rng.randint(1, 90) for _ in range(24)], PROTEIN_2)
    pairs = [(x, y) for x in range(24) for y in range(24) if x != y]
    rng.shuffle(pairs)
    distances, matrices = posteriors(texts, pairs, cutoff=0.01)
    again, others = posteriors(texts, pairs, cutoff=0.01, n_threads=3)
    assert distances.tobytes() == again.tobytes()
    assert all((a == b).all() for a, b in zip(matrices, others, strict=True))
    for k in range(0, len(pairs), 97):
        alone, (matrix,) = posteriors(texts, [pairs[k]], cutoff=0.01)
        assert alone[0] == distances[k] and (matrix == matrices[k]).all()
        swapped, (matrix,) = posteriors(texts, [pairs[k][::-1]], cutoff=0.01)
        assert swapped[0] == distances[k] and (matrices[k] == matrix.T).all()


def test_blocks_with_checkpoints(isa):
    """Sixteen such pairs side by side do not fit the cache, one pair does; and the recurrences say the same of it."""
    rng = random.Random(8)
    (text,) = texts_of(rng, [290], PROTEIN_2)
    texts = [text, *(related(rng, text, PROTEIN_2) for _ in range(16))]
    pairs = [(0, k) for k in range(1, 17)]
    distances, matrices = posteriors(texts, pairs, cutoff=0.01)
    for k in (0, 7, 15):
        alone, (matrix,) = posteriors(texts, [pairs[k]], cutoff=0.01)
        assert alone[0] == distances[k] and (matrix == matrices[k]).all()
    distance, exact = wanted(PROTEIN_2, texts[0], texts[1])
    exact = np.where(exact < 0.01 - NEAR, 0, exact)
    np.testing.assert_allclose(np.where(np.abs(exact - 0.01) < NEAR, exact, matrices[0]), exact, atol=NEAR)
    assert distances[0] == pytest.approx(distance, abs=2e-5)


def test_a_short_sequence_within_a_long_one(isa):
    """Hundreds of rows or columns come after the end of what is aligned."""
    rng = random.Random(11)
    (text,) = texts_of(rng, [450], PROTEIN_2)
    texts = [text, text[:110], related(rng, text[200:250], PROTEIN_2), text[420:]]
    pairs = [(0, 1), (2, 0), (0, 3)]
    distances, matrices = posteriors(texts, pairs)
    for (x, y), found, matrix in zip(pairs, distances, matrices, strict=True):
        distance, exact = wanted(PROTEIN_2, texts[x], texts[y])
        np.testing.assert_allclose(matrix, exact, atol=NEAR)
        assert found == pytest.approx(distance, abs=2e-5)


def test_numbers_beyond_the_range_of_floats(isa):
    """Two domains that changed places: what is likely in the end is 2^-300 times as likely as something else before."""
    rng = random.Random(9)
    first, second = texts_of(rng, [110, 108], PROTEIN_2)
    texts = [first + second, second + first, first]
    pairs = [(0, 1), (0, 2)]
    _, matrices = posteriors(texts, pairs)
    for (x, y), matrix in zip(pairs, matrices, strict=True):
        np.testing.assert_allclose(matrix, wanted(PROTEIN_2, texts[x], texts[y])[1], atol=NEAR)


def changed_places(rng, n):
    """Two domains of so many residues each, in either order."""
    first, second = texts_of(rng, [n, n], PROTEIN_2)
    return first + second, second + first


def test_pairs_beyond_floats_do_not_depend_on_company(isa):
    """Domains of 150 residues are 2^600 in front of anything else, where floats hold 2^206."""
    rng = random.Random(13)
    one, other = changed_places(rng, 150)
    # Some pairs stay within floats: those of the same order.
    texts = [
        one,
        *(related(rng, one, PROTEIN_2) for _ in range(5)),
        *(related(rng, other, PROTEIN_2) for _ in range(6)),
    ]
    pairs = [(x, y) for x in range(len(texts)) for y in range(x)]
    distances, matrices = posteriors(texts, pairs, cutoff=0.01)
    again, others = posteriors(texts, pairs, cutoff=0.01, n_threads=3)
    assert distances.tobytes() == again.tobytes()
    assert all((a == b).all() for a, b in zip(matrices, others, strict=True))
    for k in range(0, len(pairs), 7):
        for pair in (pairs[k], pairs[k][::-1]):
            alone, (matrix,) = posteriors(texts, [pair], cutoff=0.01)
            assert alone[0] == distances[k] and ((matrix if pair == pairs[k] else matrix.T) == matrices[k]).all()
    k = pairs.index((11, 0))
    exact = wanted(PROTEIN_2, texts[11], texts[0])[1]
    np.testing.assert_allclose(np.where(matrices[k] > 0, exact, 0), matrices[k], atol=NEAR)


def test_numbers_beyond_the_range_of_doubles(isa):
    """Domains that changed places: one of the two can be aligned, and is, with all its residues."""
    rng = random.Random(14)
    one, other = changed_places(rng, 1000)
    (distance,), (matrix,) = posteriors([one, other], [(0, 1)])
    assert distance == pytest.approx(0.5, abs=0.01)
    pairs_of_domains = matrix[:1000, 1000:].trace() + matrix[1000:, :1000].trace()
    assert pairs_of_domains == pytest.approx(matrix.sum(), rel=0.05) and matrix.sum() > 900


def test_work_is_stopped_by_what_watches_it():
    rng = random.Random(10)
    texts = texts_of(rng, [1500] * 24, PROTEIN_2)
    pairs = [(x, y) for x in range(24) for y in range(x)]
    seen = []

    def progress(count):
        seen.append(count)
        if len(seen) == 2:
            raise RuntimeError("enough")

    batch = batch_of(texts)
    with pytest.raises(RuntimeError, match="enough"):
        _native.pair_posteriors(
            batch.codes,
            batch.offsets,
            np.array(pairs, np.int32),
            **PROTEIN_2.arguments(),
            cutoff=0.01,
            keep=0.0,
            n_threads=2,
            progress=progress,
        )
    assert len(seen) == 2 and seen[0] <= seen[1] < len(pairs)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_memory_is_foreseen():
    """A program of its own computes pairs of long sequences and says how much its memory grew."""
    program = (
        "import numpy as np\n"
        "from tropalign import _native\n"
        "from tropalign.resources.limits import peak_bytes\n"
        "from tropalign.msa.models import PROTEIN_2\n"
        "codes = np.random.default_rng(1).integers(0, 20, 17 * 4000).astype(np.uint8)\n"
        "offsets = np.arange(18) * 4000\n"
        "run = lambda pairs: _native.pair_posteriors(codes, offsets, np.array(pairs, np.int32).reshape(-1, 2),\n"
        "    **PROTEIN_2.arguments(), cutoff=0.5, keep=0.0, n_threads=1)\n"
        "run([]); before = peak_bytes()\n"
        "run([(0, k) for k in range(1, 17)]); print(peak_bytes() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    used, foreseen = int(done.stdout), _native.posterior_scratch_bytes(4000, 4000)
    assert 0.3 * foreseen < used < foreseen + (4 << 20)


def test_no_pairs(isa):
    distances, matrices = posteriors(["MKV", "MK"], [])
    assert len(distances) == 0 and matrices == []


def test_there_is_a_model_per_alphabet():
    names = {"tropalign": PROTEIN, "quickprobs1": PROTEIN_1, "quickprobs2": PROTEIN_2}
    assert all(model_of(ta.PROTEIN, rules) is model for rules, model in names.items())
    assert model_of(ta.NUCLEOTIDE) is model_of(ta.NUCLEOTIDE, "quickprobs1") is NUCLEOTIDE
    with pytest.raises(ScoringError, match="the alphabet rna-like has no pair model"):
        model_of(ta.Alphabet("rna-like", "ACGU", "A"))
    with pytest.raises(
        ScoringError, match="rules 'probcons' do not exist: choose one of tropalign, quickprobs1, quickprobs2"
    ):
        model_of(ta.PROTEIN, "probcons")


def test_tables_are_the_published_ones():
    """Sums and corners by which a wrong digit or a row in the wrong place shows."""
    assert PROTEIN_2.match[:20, :20].sum() == pytest.approx(1, abs=1e-6)
    assert PROTEIN_2.insert[:20].sum() == pytest.approx(1, abs=1e-6)
    assert NUCLEOTIDE.insert[:4].sum() == pytest.approx(1, abs=1e-3)
    code = ta.PROTEIN.code
    for first, second, score in [("W", "W", 15), ("A", "A", 4), ("V", "Y", -2), ("B", "D", 5), ("*", "*", 1)]:
        assert math.log(PROTEIN_2.boltzmann[code(first), code(second)]) * 5.6007 == pytest.approx(score)
    for first, second, score in [("W", "W", 15.8), ("V", "L", 1.7), ("B", "D", 0), ("X", "A", 0)]:
        assert math.log(PROTEIN_1.boltzmann[code(first), code(second)]) * 5 == pytest.approx(score)
    # B is N or D.
    both = PROTEIN_2.match[code("A"), code("N")] + PROTEIN_2.match[code("A"), code("D")]
    assert PROTEIN_2.match[code("A"), code("B")] == pytest.approx(both)
    for model in MODELS.values():
        assert np.isfinite(model.boltzmann).all() and (model.match > 0).all()
        assert (model.match == model.match.T).all()
