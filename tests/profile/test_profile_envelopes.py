"""Envelopes against the domains that HMMER reports (through pyhmmer): scores to the last bit, alignments as text."""

import numpy as np
import pyhmmer
import pytest

from tropalign import _native
from tropalign.profile.denormals import denormals_as_zero
from tropalign.profile.models import from_pyhmmer

AMINO = pyhmmer.easel.Alphabet.amino()
LETTERS = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
BITS_PER_NAT = 1.44269504088896341  # pyhmmer turns HMMER's floats into bits in double


def family(M, n, seed):
    """A calibrated model of a random family of M columns, and targets with one, two or three sampled members."""
    rng = np.random.default_rng(seed)
    parent = rng.choice(LETTERS, M)

    def member(kept):
        letters = np.where(rng.random(M) < kept, parent, rng.choice(LETTERS, M))
        gap_begin, gap_length = rng.integers(0, M), rng.integers(0, M // 6)
        letters[gap_begin : gap_begin + gap_length] = "-"
        return "".join(letters)

    rows = [pyhmmer.easel.TextSequence(name=f"s{k}", sequence=member(0.7)) for k in range(8)]
    alignment = pyhmmer.easel.TextMSA(name="family", sequences=rows).digitize(AMINO)
    hmm, _, _ = pyhmmer.plan7.Builder(AMINO, seed=seed).build_msa(alignment, pyhmmer.plan7.Background(AMINO))
    targets = []
    for k in range(n):
        text = "".join("".join(rng.choice(LETTERS, rng.integers(1, 90))) + member(0.6) for _ in range(1 + k % 3))
        letters = np.array(list(text.replace("-", "")))
        letters[rng.random(len(letters)) < 0.02] = "X"
        targets.append(pyhmmer.easel.TextSequence(name=f"{k}", sequence="".join(letters)).digitize(AMINO))
    return hmm, targets


def block_of(targets):
    codes = np.concatenate([np.asarray(target.sequence) for target in targets])
    return _native.TargetBlock(codes, np.append(0, np.cumsum([len(target) for target in targets])))


def hmmer_domains(hmm, targets):
    """(target, domain) of all hits; HMMER with denormals as zeros, as hmmsearch has them."""
    pipeline = pyhmmer.plan7.Pipeline(AMINO, F1=1, F2=1, F3=1, E=1e9, domE=1e9, bias_filter=False)
    with denormals_as_zero():
        hits = pipeline.search_hmm(hmm, pyhmmer.easel.DigitalSequenceBlock(AMINO, targets))
    return [(int(hit.name), domain) for hit in hits for domain in hit.domains]


@pytest.mark.parametrize(("M", "n"), [(6, 9), (8, 20), (21, 20), (99, 21), (100, 17), (263, 12)])
def test_domains_are_those_of_hmmer(M, n, isa):
    hmm, targets = family(M, n, seed=M)
    found = hmmer_domains(hmm, targets)
    assert len(found) >= n
    envelopes = np.array([(k, domain.env_from - 1, domain.env_to) for k, domain in found], np.int32)
    results = _native.rescore_envelopes(from_pyhmmer(hmm).native, block_of(targets), envelopes)
    corrected = 0
    for (_, domain), result in zip(found, results, strict=True):
        alignment = domain.alignment
        assert not result["is_dropped"]
        assert result["envelope_nats"] * BITS_PER_NAT == domain.envelope_score
        assert (result["begin"] + 1, result["end"]) == (alignment.target_from, alignment.target_to)
        assert (result["model_begin"] + 1, result["model_end"]) == (alignment.hmm_from, alignment.hmm_to)
        assert result["model_line"].decode() == alignment.hmm_sequence
        assert result["match_line"].decode() == alignment.identity_sequence
        assert result["target_line"].decode() == alignment.target_sequence
        assert result["posterior_line"].decode() == alignment.posterior_probabilities
        corrected += result["correction_nats"] * BITS_PER_NAT == domain.correction
    assert corrected >= len(found) // 6  # the others' null2 came from stochastic traces
