import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tropalign as ta

TEXTS = ["MKVlag", "WW", "X*", "mkv"]


@pytest.fixture
def batch():
    return ta.SequenceBatch.from_strings(TEXTS, ["a", "b", "c", "d"])


def test_layout(batch):
    assert len(batch) == 4 and batch.names == ("a", "b", "c", "d") and batch.alphabet is ta.PROTEIN
    assert batch.codes.dtype == np.uint8 and batch.offsets.dtype == batch.lengths.dtype == np.int64
    assert batch.offsets.tolist() == [0, 6, 8, 10, 13] and batch.lengths.tolist() == [6, 2, 2, 3]
    assert batch.letters.tobytes() == b"MKVlagWWX*mkv"
    assert ta.PROTEIN.decode(batch.codes) == "MKVLAGWWX*MKV"
    assert repr(batch) == "<SequenceBatch: 4 protein sequences, 13 residues>"


def test_one_sequence(batch):
    assert str(batch[0]) == "MKVlag" and len(batch[-1]) == 3 and batch[np.int64(1)].name == "b"
    assert np.array_equal(batch[3].codes, batch.codes[10:])
    assert [str(sequence) for sequence in batch] == TEXTS
    for k in (4, -5):
        with pytest.raises(IndexError, match=f"sequence {k} of 4"):
            batch[k]
        with pytest.raises(IndexError, match=f"sequence {k} of 4"):
            batch.text(k)
    assert batch.text(-1) == batch.text(3) == TEXTS[3]


@pytest.mark.parametrize(
    ("key", "chosen"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        (slice(2, 2), []),
        ([3, 0], [3, 0]),
        ([], []),
        (np.array([-1, 1]), [3, 1]),
        (np.array([True, False, True, False]), [0, 2]),
    ],
)
def test_several_sequences(batch, key, chosen):
    part = batch[key]
    assert [str(sequence) for sequence in part] == [TEXTS[k] for k in chosen]
    assert part.names == tuple("abcd"[k] for k in chosen)
    assert part.alphabet is batch.alphabet and part.offsets.dtype == np.int64
    assert np.array_equal(part.codes, ta.PROTEIN.encode(part.letters)[0])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((["MKV", ""],), "record 'sequence_2': the sequence is empty: remove it"),
        ((["MKV", "MKV"], ["a", "a"]), "two sequences have the same name: give each its own"),
        ((["MKV"], ["a", "b"]), "1 sequences but 2 names: give one name per sequence"),
        ((["MKV", "MK-V"],), "record 'sequence_2': '-' at position 3 is no protein letter"),
        ((["ACE"], ["a"], ta.NUCLEOTIDE), "record 'a': 'E' at position 3 is no nucleotide letter"),
    ],
)
def test_strings_that_make_no_batch(arguments, sentence):
    with pytest.raises(ta.InputError) as error:
        ta.SequenceBatch.from_strings(*arguments)
    assert str(error.value) == sentence


def test_reverse_complement():
    batch = ta.SequenceBatch.from_strings(["ACGTRn", "UUA"], alphabet=ta.NUCLEOTIDE)
    back = batch.reverse_complement()
    assert [back.text(k) for k in range(2)] == ["nYACGT", "TAA"]
    assert np.array_equal(back.codes, ta.NUCLEOTIDE.encode(back.letters)[0])
    with pytest.raises(ta.InputError, match="only nucleotides"):
        ta.SequenceBatch.from_strings(["MKV"]).reverse_complement()


@given(st.lists(st.text("ACGTRYSWKMBDHVNacgtryswkmbdhvn", min_size=1, max_size=40), min_size=1, max_size=8))
def test_twice_reversed_is_the_same(texts):
    batch = ta.SequenceBatch.from_strings(texts, alphabet=ta.NUCLEOTIDE)
    assert batch.reverse_complement().reverse_complement().fingerprint() == batch.fingerprint()


def test_fingerprint_sees_everything_that_results_depend_on(batch):
    same = ta.SequenceBatch.from_strings(TEXTS, list("abcd"))
    others = [
        ta.SequenceBatch.from_strings(["MKVlag", "WWX", "*", "mkv"], list("abcd")),
        ta.SequenceBatch.from_strings(TEXTS, list("abce")),
        ta.SequenceBatch.from_strings([text.upper() for text in TEXTS], list("abcd")),
        batch[::-1],
    ]
    assert same.fingerprint() == batch.fingerprint() and len(batch.fingerprint()) == 64
    assert len({batch.fingerprint(), *(other.fingerprint() for other in others)}) == 5
    dna, protein = (ta.SequenceBatch.from_strings(["ACGT"], alphabet=a) for a in (ta.NUCLEOTIDE, ta.PROTEIN))
    assert dna.fingerprint() != protein.fingerprint()
