"""Forward and Backward parsers against HMMER's (through pyhmmer)."""

import numpy as np
import pyhmmer
import pytest

from tropalign import _native
from tropalign.profiles.building import denormals_as_zero
from tropalign.profiles.models import from_pyhmmer

AMINO = pyhmmer.easel.Alphabet.amino()


def family(M, n, seed):
    """A calibrated model of a random family of M columns, and a sampled member per target."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
    parent = rng.choice(letters, M)
    rows = [np.where(rng.random(M) < 0.7, parent, rng.choice(letters, M)) for _ in range(8)]
    sequences = [
        pyhmmer.easel.TextSequence(name=f"s{k}", sequence="".join(row)).digitize(AMINO) for k, row in enumerate(rows)
    ]
    alignment = pyhmmer.easel.TextMSA(
        name="family",
        sequences=[pyhmmer.easel.TextSequence(name=s.name, sequence=s.textize().sequence) for s in sequences],
    ).digitize(AMINO)
    hmm, _, _ = pyhmmer.plan7.Builder(AMINO, seed=seed).build_msa(alignment, pyhmmer.plan7.Background(AMINO))
    targets = []
    for k in range(n):
        flanks = ["".join(rng.choice(letters, rng.integers(0, 120))) for _ in range(3)]
        member = "".join(np.where(rng.random(M) < 0.6, parent, rng.choice(letters, M)))
        text = flanks[0] + member + (flanks[1] + member + flanks[2] if k % 2 else "")
        targets.append(pyhmmer.easel.TextSequence(name=f"t{k}", sequence=text).digitize(AMINO))
    return hmm, targets


@pytest.mark.parametrize("M", [15, 97, 160])
def test_scores_are_those_of_hmmer(M, isa):
    hmm, targets = family(M, 12, seed=M)
    with denormals_as_zero():
        hits = pyhmmer.plan7.Pipeline(AMINO, bias_filter=False).search_hmm(
            hmm, pyhmmer.easel.DigitalSequenceBlock(AMINO, targets)
        )
    expected = {hit.name: hit.pre_score for hit in hits if len(hit.domains) == 1}
    assert expected
    lengths = np.array([len(target) for target in targets])
    codes = np.concatenate([np.asarray(target.sequence) for target in targets])
    block = _native.TargetBlock(codes, np.append(0, np.cumsum(lengths)))
    nats = _native.forward_scores(from_pyhmmer(hmm).native, block, np.arange(len(targets), dtype=np.int32))
    for target, L, score in zip(targets, lengths, nats, strict=True):
        if target.name in expected:
            p1 = float(np.float32(L) / np.float32(L + 1))
            null = np.float32(L * np.log(p1) + np.log(1 - p1))
            assert np.float32(float(score - null) / np.log(2)) == np.float32(expected[target.name])


@pytest.mark.parametrize("M", [15, 97, 160])
def test_a_target_has_the_score_that_it_has_alone(M, isa):
    """However many share the registers, and whether they end together or one by one."""
    hmm, targets = family(M, 40, seed=M)
    codes = [np.asarray(target.sequence) for target in targets]
    long = np.concatenate(codes[:12])  # keeps one lane busy while the others idle
    even = np.concatenate(codes)[: 64 * M].reshape(32, 2 * M)  # end together: the most lanes are the cheapest
    codes = [*codes, long, codes[0][:1], *even]
    model = from_pyhmmer(hmm).native
    block = _native.TargetBlock(np.concatenate(codes), np.append(0, np.cumsum([len(one) for one in codes])))

    def scores(some):
        return _native.forward_scores(model, block, np.array(some, dtype=np.int32))

    alone = np.concatenate([scores([k]) for k in range(len(codes))])
    rng = np.random.default_rng(M)
    for n in [*range(2, 20), 31, len(codes)]:
        some = rng.permutation(len(codes))[:n]
        assert scores(some).tobytes() == alone[some].tobytes()
    for n in [4, 8, 16, 32]:
        assert scores(range(42, 42 + n)).tobytes() == alone[42 : 42 + n].tobytes()
