"""Targets past all filters to hits: every field of hits and domains beside HMMER's (through pyhmmer), bit for bit."""

import gzip
import io
import math
from pathlib import Path

import numpy as np
import pyhmmer
import pytest

from tropalign import _native
from tropalign.profiles.building import denormals_as_zero
from tropalign.profiles.models import from_pyhmmer

AMINO = pyhmmer.easel.Alphabet.amino()
LETTERS = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
BITS_PER_NAT = 1.44269504088896341  # pyhmmer turns HMMER's floats into bits in double


def family(M, seed):
    """A calibrated model of a random family of M columns, and what samples another member (kept: of each residue)."""
    rng = np.random.default_rng(seed)
    parent = rng.choice(LETTERS, M)

    def member(kept):
        letters = np.where(rng.random(M) < kept, parent, rng.choice(LETTERS, M))
        gap_begin, gap_length = rng.integers(0, M), rng.integers(0, M // 5 + 1)
        letters[gap_begin : gap_begin + gap_length] = "-"
        return "".join(letters)

    rows = [pyhmmer.easel.TextSequence(name=f"s{k}", sequence=member(0.7)) for k in range(8)]
    alignment = pyhmmer.easel.TextMSA(name="family", sequences=rows).digitize(AMINO)
    hmm, _, _ = pyhmmer.plan7.Builder(AMINO, seed=seed).build_msa(alignment, pyhmmer.plan7.Background(AMINO))
    return hmm, member, rng


def repeats(M, n, seed):
    """A model, and n targets of one to seven members each, some side by side, some far apart, some worn out."""
    hmm, member, rng = family(M, seed)
    targets = []
    for k in range(n):
        text = ""
        for _ in range(1 + k % 7):
            spacer = rng.choice(LETTERS, rng.choice([0, 0, 2, 15, 120]))
            text += "".join(spacer) + member(rng.choice([0.35, 0.55, 0.7]))
        letters = np.array(list(text.replace("-", "") or "A"))
        letters[rng.random(len(letters)) < 0.02] = "X"
        letters[rng.random(len(letters)) < 0.01] = "B"
        targets.append(pyhmmer.easel.TextSequence(name=f"{k}", sequence="".join(letters)).digitize(AMINO))
    return hmm, targets


def block_of(targets):
    codes = np.concatenate([np.asarray(target.sequence) for target in targets])
    return _native.TargetBlock(codes, np.append(0, np.cumsum([len(target) for target in targets])))


def hmmer_hits(hmm, targets, **options):
    """HMMER's hits by target, with denormals as zeros, as hmmsearch has them; how each was found (its tblout)."""
    pipeline = pyhmmer.plan7.Pipeline(AMINO, F1=1, F2=1, F3=1, E=1e9, domE=1e9, bias_filter=False, **options)
    with denormals_as_zero():
        hits = pipeline.search_hmm(hmm, pyhmmer.easel.DigitalSequenceBlock(AMINO, targets))
    table = io.BytesIO()
    hits.write(table, format="targets", header=False)
    lines = [line.split() for line in table.getvalue().decode().splitlines()]
    # exp reg clu ov env dom
    counts = {int(line[0]): (line[10], *map(int, line[11:16])) for line in lines}
    return {int(hit.name): (hit, counts[int(hit.name)]) for hit in hits}


def hmmer_numbers(hit, counts):
    domains = [
        (domain.env_from - 1, domain.env_to, domain.alignment.target_from - 1, domain.alignment.target_to,
         domain.alignment.hmm_from - 1, domain.alignment.hmm_to, domain.envelope_score, domain.correction, domain.bias,
         domain.score, domain.pvalue, domain.alignment.target_sequence, domain.alignment.posterior_probabilities)
        for domain in hit.domains
    ]  # fmt: skip
    best = hit.best_domain.env_from - 1, hit.best_domain.env_to, hit.best_domain.score
    return hit.score, hit.pre_score, hit.sum_score, hit.pvalue, best, domains, counts


def own_numbers(found, k):
    domains = []
    for d in range(found["domain_offsets"][k], found["domain_offsets"][k + 1]):
        line = slice(*found["line_offsets"][d : d + 2])
        nats = [float(found[f"domain_{name}"][d]) * BITS_PER_NAT
                for name in ("envelope_nats", "correction_nats", "bias_nats")]  # fmt: skip
        domains.append((
            *(found[f"domain_{name}"][d] for name in ("envelope_begin", "envelope_end", "begin", "end", "model_begin",
                                                      "model_end")),
            *nats, float(found["domain_bits"][d]), math.exp(found["domain_log_p"][d]),
            found["target_line"][line].tobytes().decode(), found["posterior_line"][line].tobytes().decode(),
        ))  # fmt: skip
    bits = [float(found[name][k]) for name in ("bits", "pre_bits", "sum_bits")]
    best = domains[found["best_domain"][k]]
    counts = [int(found[name][k]) for name in ("n_regions", "n_clustered", "n_overlaps", "n_envelopes")]
    counts = f"{found['n_expected'][k]:.1f}", *counts, len(domains)
    return *bits, math.exp(found["log_p"][k]), (best[0], best[1], best[9]), domains, counts


def require_same(hmm, targets, *, seed=42, null2=True):
    """Compares all; the columns that were found."""
    hits = hmmer_hits(hmm, targets, seed=seed, null2=null2)
    chosen = np.arange(len(targets), dtype=np.int32)
    found = _native.find_domains(from_pyhmmer(hmm).native, block_of(targets), chosen, seed, null2)
    assert sorted(hits) == found["target"].tolist()
    for k, target in enumerate(found["target"]):
        assert own_numbers(found, k) == hmmer_numbers(*hits[target])
    return found


@pytest.mark.parametrize(("M", "n"), [(3, 20), (7, 30), (30, 40), (86, 40), (101, 20), (260, 14)])
def test_hits_are_those_of_hmmer(M, n, isa):
    found = require_same(*repeats(M, n, seed=M))
    if M >= 30:
        assert found["n_clustered"].sum() >= 5
        assert len(found["domain_bits"]) > n


DATA = Path(__file__).parent.parent / "data" / "search"


@pytest.fixture(scope="module")
def proteins():
    with pyhmmer.easel.SequenceFile(DATA / "domains.fasta", digital=True, alphabet=AMINO) as file:
        sequences = list(file)
    for k, sequence in enumerate(sequences):
        sequence.name = f"{k}"
    return sequences


@pytest.mark.parametrize(("name", "n_clustered", "n_overlaps"), [("fn3", 5, 0), ("RRM_1", 5, 3), ("Pkinase", 14, 5)])
def test_families(name, n_clustered, n_overlaps, proteins, tmp_path, isa):
    path = DATA / "pfam.hmm"
    if name == "Pkinase":
        path = tmp_path / "pkinase.hmm"
        path.write_bytes(gzip.decompress((DATA / "pkinase.hmm.gz").read_bytes()))
    with pyhmmer.plan7.HMMFile(path) as file:
        (hmm,) = (hmm for hmm in file if hmm.name == name)
    found = require_same(hmm, proteins)
    assert found["n_clustered"].sum() >= n_clustered
    assert found["n_overlaps"].sum() >= n_overlaps


@pytest.mark.parametrize("options", [{"seed": 7}, {"null2": False}])
def test_options(options):
    hmm, targets = repeats(40, 25, seed=5)
    default = require_same(hmm, targets)
    found = require_same(hmm, targets, **options)
    assert any(not np.array_equal(found[name], column) for name, column in default.items())


def test_an_arbitrary_seed_finds_the_clear_domains():
    hmm, member, _ = family(60, seed=8)
    text = "".join(member(1) for _ in range(4)).replace("-", "")
    targets = [pyhmmer.easel.TextSequence(name="0", sequence=text).digitize(AMINO)]
    found = _native.find_domains(from_pyhmmer(hmm).native, block_of(targets), np.zeros(1, np.int32), 0)
    assert found["n_clustered"].tolist() == [1]
    assert np.diff(found["domain_offsets"]).tolist() == [4]


def test_targets_without_domains_have_no_hit():
    hmm, _, _ = family(50, seed=9)
    texts = ["A", "X" * 30, "ACDEFGHIKL" * 3]
    targets = [pyhmmer.easel.TextSequence(name=f"{k}", sequence=text).digitize(AMINO) for k, text in enumerate(texts)]
    require_same(hmm, targets)
    empty = _native.TargetBlock(np.zeros(0, np.uint8), np.zeros(3, np.int64))
    found = _native.find_domains(from_pyhmmer(hmm).native, empty, np.array([0, 1], np.int32))
    assert len(found["target"]) == 0
    assert found["domain_offsets"].tolist() == [0]
