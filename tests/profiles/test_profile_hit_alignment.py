"""Hits as a multiple alignment, against HMMER's (through pyhmmer), byte for byte."""

import dataclasses
import io

import numpy as np
import pyhmmer
import pytest

import tropalign as ta
from tropalign.errors import InputError
from tropalign.formats.format import Header
from tropalign.formats.hits.context import HitsContext
from tropalign.formats.hits.hmmer import stockholm_lines
from tropalign.profiles.building import denormals_as_zero
from tropalign.profiles.models import from_pyhmmer
from tropalign.profiles.outputs import Wanted, outputs_of
from tropalign.results.hits import POSTERIORS, align_hits

AMINO = pyhmmer.easel.Alphabet.amino()
LETTERS = np.array(list("ACDEFGHIKLMNPQRSTVWY"))


def family(M, n, seed):
    """A model of a random family, and targets with members that have gaps and insertions of up to five residues."""
    rng = np.random.default_rng(seed)
    parent = rng.choice(LETTERS, M)

    def member(kept):
        letters = np.where(rng.random(M) < kept, parent, rng.choice(LETTERS, M)).tolist()
        for at in rng.integers(2, M - 2, 3):
            letters[at] += "".join(rng.choice(LETTERS, rng.integers(0, 6))) + "*" * (rng.random() < 0.1)
        at = int(rng.integers(2, M - 2))
        letters[at : at + 3] = ["-"] * len(letters[at : at + 3])
        return letters

    rows = [pyhmmer.easel.TextSequence(name=f"s{k}", sequence="".join(x[0] for x in member(0.8))) for k in range(8)]
    alignment = pyhmmer.easel.TextMSA(name="family", sequences=rows).digitize(AMINO)
    hmm, _, _ = pyhmmer.plan7.Builder(AMINO).build_msa(alignment, pyhmmer.plan7.Background(AMINO))
    hmm.accession, hmm.description = "F1", "some family"
    texts = []
    for k in range(n):
        pieces = ["".join(rng.choice(LETTERS, rng.integers(1, 50))) + "".join(member(0.75)) for _ in range(1 + k % 2)]
        texts.append("".join(pieces).replace("-", ""))
    return hmm, texts


def hmmer_text(hmm, names, descriptions, texts):
    targets = [
        pyhmmer.easel.TextSequence(name=name, description=description, sequence=text).digitize(AMINO)
        for name, description, text in zip(names, descriptions, texts, strict=True)
    ]
    with denormals_as_zero():
        pipeline = pyhmmer.plan7.Pipeline(AMINO)
        hits = pipeline.search_hmm(hmm, pyhmmer.easel.DigitalSequenceBlock(AMINO, targets))
        alignment = hits.to_msa(AMINO, all_consensus_cols=True)
    alignment.name, alignment.accession, alignment.description = hmm.name, hmm.accession, hmm.description
    stream = io.BytesIO()
    alignment.write(stream, "stockholm")
    return stream.getvalue().decode().splitlines()


def found(hmm, names, descriptions, texts):
    records = "".join(f">{n} {d}\n{t}\n" for n, d, t in zip(names, descriptions, texts, strict=True))
    return ta.search(from_pyhmmer(hmm), io.BytesIO(records.encode()), n_threads=1, device="cpu")


@pytest.mark.parametrize("at_a_time", [1, 300, 1 << 18])
@pytest.mark.parametrize(("M", "n"), [(30, 30), (45, 30), (180, 12), (430, 5)])
def test_the_alignment_is_that_of_hmmer(M, n, at_a_time, monkeypatch):
    monkeypatch.setattr("tropalign.results.hits.LETTERS_AT_A_TIME", at_a_time)
    hmm, texts = family(M, n, seed=M)
    names, descriptions = [f"t{k}" for k in range(n)], ["of some kind" if k % 3 else "" for k in range(n)]
    hits = found(hmm, names, descriptions, texts)
    alignment = align_hits(hits)
    own = list(stockholm_lines(alignment, hits.queries[0], "nobody"))
    expected = hmmer_text(hmm, names, descriptions, texts)
    assert len(alignment.names) >= n // 2 and (alignment.letters == ord(".")).any()
    assert [line for line in own if not line.startswith("#=GF AU")] == expected


def test_equal_names_are_numbered():
    hmm, texts = family(60, 12, seed=3)
    names = ["twin"] * 12
    texts = [texts[k % 2] for k in range(12)]
    hits = found(hmm, names, [""] * 12, texts)
    own = list(stockholm_lines(align_hits(hits), hits.queries[0], ""))
    assert own[1].startswith("# WARNING: seq names have been made unique")
    assert own == hmmer_text(hmm, names, [""] * 12, texts)


def with_sequence(hits, letters):
    return dataclasses.replace(hits, queries=(dataclasses.replace(hits.queries[0], sequence=letters),))


def test_a_query_with_a_sequence_is_the_first_row():
    hmm, texts = family(30, 4, seed=4)
    hits = found(hmm, list("abcd"), [""] * 4, texts)
    alignment = align_hits(with_sequence(hits, "acdefghikl" * 3))
    plain = align_hits(hits)
    assert alignment.names == ("family", *plain.names) and alignment.descriptions[0] == "some family"
    assert alignment.letters[0][alignment.is_node].tobytes() == b"ACDEFGHIKL" * 3
    assert not alignment.has_posteriors[0] and alignment.has_posteriors[1:].all()
    np.testing.assert_array_equal(alignment.letters[1:], plain.letters)
    assert alignment.mean_posteriors == plain.mean_posteriors
    own = list(stockholm_lines(alignment, hits.queries[0], ""))
    assert not any(line.startswith("#=GR family ") for line in own)
    with pytest.raises(ValueError, match="29 residues, but the model has 30 nodes"):
        align_hits(with_sequence(hits, "A" * 29))


def test_no_hits_make_no_alignment():
    hmm, _ = family(30, 1, seed=5)
    hits = found(hmm, ["a"], [""], ["M" * 50])
    assert align_hits(hits) is None
    alone = align_hits(with_sequence(hits, "A" * 30))
    assert alone.letters.shape == (1, 30)
    assert list(stockholm_lines(alone, hits.queries[0], "")) == [
        *("# STOCKHOLM 1.0", "#=GF ID family", "#=GF AC F1", "#=GF DE some family", ""),
        *("#=GS family AC F1", "", "#=GS family DE some family", ""),
        *("family  " + "A" * 30, "#=GC RF " + "x" * 30, "//"),
    ]


def test_digits_are_read_as_hmmer_reads_them():
    assert POSTERIORS[ord("0")] == np.float32(0.01) and POSTERIORS[ord("7")] == np.float32(0.7)
    assert POSTERIORS[ord("*")] == 1 and POSTERIORS[ord(".")] == 0


def test_a_scan_makes_no_alignment():
    wanted = Wanted("hits.sto", "stockholm", {})
    with pytest.raises(InputError, match="hits of a scan cannot form an alignment"):
        outputs_of(wanted, Header("1", "", {}), HitsContext(orientation="scan"), False)
