import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tropalign as ta
from tropalign.sequences.alphabet import reverse_complement

TEXTS = ["MKVlag", "WW", "X*", "mkv"]


@pytest.fixture
def batch():
    return ta.SequenceBatch.from_strings(TEXTS, ["a", "b", "c", "d"])


def test_the_layout_and_single_sequences(batch):
    assert len(batch) == 4 and batch.names == ("a", "b", "c", "d") and batch.alphabet is ta.PROTEIN
    assert batch.codes.dtype == np.uint8 and batch.offsets.dtype == batch.lengths.dtype == np.int64
    assert batch.offsets.tolist() == [0, 6, 8, 10, 13] and batch.lengths.tolist() == [6, 2, 2, 3]
    assert batch.letters.tobytes() == b"MKVlagWWX*mkv"
    assert ta.PROTEIN.decode(batch.codes) == "MKVLAGWWX*MKV"
    assert repr(batch) == "<SequenceBatch: 4 protein sequences, 13 residues>"
    assert str(batch[0]) == "MKVlag" and len(batch[-1]) == 3 and batch[np.int64(1)].name == "b"
    assert np.array_equal(batch[3].codes, batch.codes[10:])
    assert [str(sequence) for sequence in batch] == TEXTS
    for k in (4, -5):
        with pytest.raises(IndexError, match=f"sequence {k} is out of range: the batch has 4"):
            batch[k]
        with pytest.raises(IndexError, match=f"sequence {k} is out of range: the batch has 4"):
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
        ((["MKV", "MK-V"],), "record 'sequence_2': '-' at position 3 is not a letter of the protein alphabet"),
        ((["ACE"], ["a"], ta.NUCLEOTIDE), "record 'a': 'E' at position 3 is not a letter of the nucleotide alphabet"),
    ],
)
def test_strings_that_make_no_batch(arguments, sentence):
    with pytest.raises(ta.InputError) as error:
        ta.SequenceBatch.from_strings(*arguments)
    assert str(error.value) == sentence


def test_reverse_complement():
    batch = ta.SequenceBatch.from_strings(["ACGTRn", "UUA"], alphabet=ta.NUCLEOTIDE)
    back = batch.reverse_complement()
    assert [back.text(k) for k in range(2)] == ["nYACGT", "UAA"]
    assert np.array_equal(back.codes, ta.NUCLEOTIDE.encode(back.letters)[0])
    with pytest.raises(ta.InputError, match="protein sequences have no reverse strand"):
        ta.SequenceBatch.from_strings(["MKV"]).reverse_complement()


def test_the_other_strand_of_rna_is_rna():
    texts = ["AACGU", "aacg", "AACGT", "AACGUT", "aaCGu", "C"]
    other = ta.SequenceBatch.from_strings(texts, alphabet="nucleotide").reverse_complement()
    assert [other.text(k) for k in range(6)] == ["ACGUU", "cgtt", "ACGTT", "AACGTT", "aCGuu", "G"]
    alignment = ta.align("AACGUGG", "CCACGUU", strand="both", mode="global")
    assert (alignment.strand, alignment.query_text()) == (-1, "CCACGUU")


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


@given(
    st.lists(st.text("ACGTRYSWKMBDHVNUacgtryswkmbdhvnu-?X*", max_size=9), max_size=12),
    st.integers(1, 12),
)
def test_other_strands_in_pieces(texts, piece):
    letters = np.frombuffer("".join(texts).encode(), np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)]).astype(np.int64)
    table = str.maketrans("ACGTURYSWKMBDHVNacgturyswkmbdhvn", "TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tropalign.sequences.alphabet.PIECE", piece)
        made = reverse_complement(letters, offsets, ta.NUCLEOTIDE)
    rna = {ord("T"): "U", ord("t"): "u"}
    others = [(text.translate(table)[::-1], {*text.upper()}) for text in texts]
    assert made.tobytes().decode() == "".join(
        other.translate(rna) if "U" in own and "T" not in own else other for other, own in others
    )


def copies(value):
    return [pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)]


def test_batches_survive_copying(batch):
    dna = ta.SequenceBatch.from_strings(["ACGTT", "ACTT"], ["x", "y"])
    batch.lengths, batch[::2], dna.lengths  # cached values are no part of a batch
    (wanted,) = ta.align_all(batch)
    for made in copies(batch):
        assert made.fingerprint() == batch.fingerprint() and not made.codes.flags.writeable
        (table,) = ta.align_all(made)
        assert table.score.tolist() == wanted.score.tolist()
    for made in copies(dna):
        assert made.reverse_complement().fingerprint() == dna.reverse_complement().fingerprint()
        assert next(ta.align_all(made, dna, strand="both")).row(0).score == 25


def scores_of(batch):
    (table,) = ta.align_all(batch)
    return table.score.tolist()


def test_batches_go_to_other_processes(batch):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(scores_of, batch).result() == scores_of(batch)


def test_arrays_cannot_be_written_to_and_may_have_strides(batch):
    for array in (batch.codes, batch.offsets, batch.letters, batch[1:].codes, batch[[0]].offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    wide = np.zeros((13, 2), np.uint8)
    made = replace(batch, codes=wide[:, 0])
    assert made.codes.flags.c_contiguous and scores_of(made)


CODES, OFFSETS = np.zeros(13, np.uint8), np.array([0, 6, 8, 10, 13])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"codes": np.zeros(12, np.uint8)}, "offsets must ascend from 0 to the number of codes, 12"),
        (
            {"codes": np.zeros((13, 1), np.uint8)},
            r"codes must be a one-dimensional array of type uint8, not uint8 of shape",
        ),
        ({"codes": CODES.astype(np.int64)}, "codes must be a one-dimensional array of type uint8, not int64"),
        ({"codes": [0] * 13}, "codes must be a one-dimensional array of type uint8, not a list"),
        ({"codes": np.full(13, 255, np.uint8)}, "a code is 255, but the protein alphabet has 27 letters"),
        ({"codes": np.full(13, 27, np.uint8)}, "a code is 27, but the protein alphabet has 27 letters"),
        ({"alphabet": ta.NUCLEOTIDE, "codes": np.full(13, 15, np.uint8)}, "the nucleotide alphabet has 15 letters"),
        ({"offsets": np.array([0, 6, 8, 10, 3000])}, "offsets must ascend from 0 to the number of codes, 13"),
        ({"offsets": np.array([0, 8, 6, 10, 13])}, "offsets must ascend"),
        ({"offsets": np.array([-1, 6, 8, 10, 13])}, "offsets must ascend"),
        ({"offsets": np.array([1, 6, 8, 10, 13])}, "offsets must ascend"),
        ({"offsets": np.array([0, 6, 8, 13])}, "4 names, 4 offsets and 4 descriptions|4 names, 4 offsets"),
        ({"offsets": OFFSETS.astype(np.int32)}, "offsets must be a one-dimensional array of type int64, not int32"),
        ({"offsets": np.zeros(0, np.int64)}, "4 names, 0 offsets"),
        ({"letters": CODES[:12]}, "12 letters for 13 codes: give one per code"),
        ({"names": ("a", "b", "c")}, "3 names, 5 offsets"),
        ({"names": "abcd"}, "names must be a tuple of strings"),
        ({"names": ("a", "b", "c", None)}, "names must be a tuple of strings"),
        ({"descriptions": ("x",)}, "1 descriptions"),
        ({"alphabet": "protein"}, "the alphabet of a batch must be an Alphabet, not 'protein'"),
    ],
)
def test_arrays_that_make_no_batch(batch, changes, words):
    with pytest.raises(ValueError, match=words):
        replace(batch, **changes)


def test_names_and_lengths_alone(batch):
    bare = ta.SequenceBatch.without_residues(batch.names, batch.lengths, batch.alphabet)
    for made in (bare, *copies(bare)):
        assert made.names == batch.names and made.lengths.tolist() == [6, 2, 2, 3] and not made.has_residues
    assert batch.has_residues and batch[0:0].has_residues
    with pytest.raises(ta.InputError, match="the batch contains only names and lengths: read the sequences again"):
        ta.align_all(bare)
    with pytest.raises(ValueError, match="a length is -1"):
        ta.SequenceBatch.without_residues(("a",), [-1], ta.PROTEIN)
    with pytest.raises(ValueError, match="2 names, 2 offsets"):
        ta.SequenceBatch.without_residues(("a", "b"), [1], ta.PROTEIN)


def test_names_from_a_file_become_texts_when_they_are_asked_for(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(">a one\nMKV\n>b\nMKL\n>cd two  three\nMW\n")
    made = [ta.read_sequences(path) for _ in range(5)]
    assert all("names" not in vars(batch) and "descriptions" not in vars(batch) for batch in made)
    plain = ta.SequenceBatch.from_strings(["MKV", "MKL", "MW"], ["a", "b", "cd"])
    assert made[0].fingerprint() == plain.fingerprint() and made[0].held_bytes == plain.held_bytes + 2 * 64 + 13
    assert len(made[0]) == 3 and list(made[0].name_texts) == ["a", "b", "cd"] and "names" not in vars(made[0])
    assert made[0].names == ("a", "b", "cd") and type(made[0].names) is tuple and made[0].names is made[0].names
    assert made[0].descriptions == ("one", "", "two  three")
    for other in (
        pickle.loads(pickle.dumps(made[1])),
        copy.deepcopy(made[2]),
        replace(made[3]),
        made[4][[0, 1, 2]],
    ):
        assert (other.names, other.descriptions) == (made[0].names, made[0].descriptions)
        assert other.fingerprint() == plain.fingerprint()
    assert not hasattr(made[0], "title")
