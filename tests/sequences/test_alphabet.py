import copy
import pickle

import numpy as np
import pytest

import tropalign as ta
from tropalign.placement.tree import states_of
from tropalign.sequences.alphabet import ALPHABETS, Alphabet, alphabet_named, alphabet_saved, byte_counts
from tropalign.sequences.kinds import judge_alphabet


def letters(text):
    return np.frombuffer(text.encode(), np.uint8)


@pytest.mark.parametrize("alphabet", [ta.PROTEIN, ta.NUCLEOTIDE])
def test_codes_are_positions_in_any_case(alphabet):
    for text in (alphabet.letters, alphabet.letters.lower()):
        codes, unknown = alphabet.encode(letters(text))
        assert codes.dtype == np.uint8 and codes.tolist() == list(range(len(alphabet.letters)))
        assert codes.max() < 31 and not unknown.any()
    assert alphabet.decode(codes) == alphabet.letters


def test_bytes_are_counted_and_unknown_ones_become_the_wildcard():
    codes, unknown = ta.PROTEIN.encode(np.arange(256, dtype=np.uint8))
    assert unknown.sum() == 256 - 2 * 26 - 1
    assert (codes[unknown] == ta.PROTEIN.code("X")).all()
    assert ta.NUCLEOTIDE.encode(letters("uU"))[0].tolist() == [ta.NUCLEOTIDE.code("T")] * 2
    many = np.random.default_rng(1).integers(0, 256, (1 << 21) + 7, np.uint8)
    for n in (0, 5, 1 << 16, len(many)):
        for text in (many[:n], many[1:n]):
            np.testing.assert_array_equal(byte_counts(text), np.bincount(text, minlength=256))


@pytest.mark.parametrize(
    ("text", "alphabet"),
    [
        ("ACGTACGT", ta.NUCLEOTIDE),
        ("acguacgu", ta.NUCLEOTIDE),
        ("ACGTNNNNNN", ta.NUCLEOTIDE),
        ("ACGT" * 50 + "RYSWKM", ta.NUCLEOTIDE),
        ("ACGT" * 50 + "E", ta.NUCLEOTIDE),
        ("ACGT" * 50 + "X" * 20, ta.NUCLEOTIDE),
        ("ACGT-ACGT?", ta.NUCLEOTIDE),
        ("ACGT" * 5 + "E", ta.PROTEIN),
        ("MKVLAAGW", ta.PROTEIN),
        ("GAGAGSGAGAGY", ta.PROTEIN),
        ("RYSWKM", ta.PROTEIN),
        ("", ta.PROTEIN),
        ("***", ta.PROTEIN),
    ],
)
def test_alphabet_judged_by_the_letters(text, alphabet):
    assert judge_alphabet(letters(text)) is alphabet


#: Structural states of proteins as one letter each (as in 3Di): an alphabet that tropalign does not know.
FOLDS = Alphabet("fold", "ACDEFGHIKLMNPQRSTVWY", "D", gap_cost=(8, 1))


@pytest.fixture
def folds(monkeypatch):
    monkeypatch.setitem(ALPHABETS, FOLDS.name, FOLDS)
    return FOLDS


def test_a_third_alphabet(folds, tmp_path):
    """Registered, it is read, scored, aligned, printed and copied; nothing else has to know it."""
    path = tmp_path / "folds.fa"
    path.write_text(">a\nDVLVVLCA\n>b\nDVLVLCA\n>c\nPPPPWWWW\n")
    batch = ta.read_sequences(path, alphabet="fold")
    assert batch.alphabet == folds and repr(batch) == "<SequenceBatch: 3 fold sequences, 23 residues>"
    matrix = ta.SubstitutionMatrix.match_mismatch(4, -3, folds)
    (table,) = ta.align_all(pickle.loads(pickle.dumps(batch)), matrix=matrix, mode="global")
    assert table.row(0).n_columns == 8  # 7 letters match, of which D, the wildcard, scores 0; a gap of one costs 8 + 1
    assert table.score[0] == 6 * 4 - 9
    assert ta.align("DVLV", "DVLV", matrix=matrix).score == 12
    with pytest.raises(ta.ScoringError, match="there is no default matrix for fold sequences: choose one"):
        ta.align("DVLV", "DVLV", alphabet="fold")
    with pytest.raises(ta.InputError, match="both strands were requested, but folds have only one"):
        ta.align_all(batch, matrix=matrix, strand="both")
    with pytest.raises(ta.InputError, match="fold sequences have no model of evolution"):
        states_of(folds)
    with pytest.raises(ta.ScoringError, match="BLOSUM62 is a protein matrix, but the sequences look like fold"):
        ta.SubstitutionMatrix.from_name("BLOSUM62").check(batch)
    assert judge_alphabet(letters("DVLVVLCA")) is ta.PROTEIN  # never judged, only asked for


def test_alphabets_are_one_by_name(folds):
    for alphabet in ALPHABETS.values():
        for made in (pickle.loads(pickle.dumps(alphabet)), copy.copy(alphabet), copy.deepcopy(alphabet)):
            assert made is alphabet
    assert Alphabet("protein", "AC", "A") == ta.PROTEIN and hash(ta.PROTEIN) == hash(Alphabet("protein", "AC", "A"))
    assert ta.PROTEIN != ta.NUCLEOTIDE and ta.PROTEIN != "protein" and alphabet_named("protein") is ta.PROTEIN
    with pytest.raises(ta.InputError, match="there is no alphabet 'dna': use one of nucleotide, protein, fold"):
        alphabet_named("dna")


def test_an_alphabet_nobody_registered_survives_pickling():
    again = pickle.loads(pickle.dumps(FOLDS))
    assert again == FOLDS and again.letters == FOLDS.letters and again.gap_cost == (8, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("x", "", "A"), "1 to 31 different letters"),
        (("x", "A" * 2, "A"), "1 to 31 different letters"),
        (("x", "".join(map(chr, range(33, 65))), "!"), "1 to 31 different letters"),
        (("x", "ac", "a"), "upper-case"),
        (("x", "AC", "X"), "the wildcard and the synonyms"),
        (("x", "AC", "A", {"U": "T"}), "the wildcard and the synonyms"),
    ],
)
def test_no_alphabets(arguments, words):
    with pytest.raises(ValueError, match=words):
        Alphabet(*arguments)


def test_an_own_alphabet_keeps_all_that_it_says_in_files(tmp_path):
    own = Alphabet("inosine", "ACGTI", "", {"U": "T"}, dict(zip("ACGTUI", "TGCAAC", strict=True)), gap_cost=(7, 2))
    assert all(getattr(alphabet_saved(own.saved), name) == getattr(own, name) for name in vars(own) if name[0] != "_")
    assert all(alphabet_saved(alphabet.saved) is alphabet for alphabet in ALPHABETS.values())
    result = ta.align_many([("ACGIA", "TCCGT"), ("ACGIA", "ACCTT")], alphabet=own, matrix=(2, -3), strand="minus")
    ta.write_alignments(result, tmp_path / "x.result", format="result")
    back = ta.read_result(tmp_path / "x.result")
    assert [row.query_text() for row in back] == [row.query_text() for row in result] == ["TCCGT"] * 2


@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=str)
def test_what_an_alphabet_says_holds_together(alphabet):
    known = {*alphabet.letters, *alphabet.synonyms}
    assert set(alphabet.states) | set(alphabet.ambiguous) <= known
    assert set("".join(alphabet.ambiguous.values())) <= set(alphabet.states)
    assert set(alphabet.stand_ins) <= set(alphabet.letters) and set("".join(alphabet.stand_ins.values())) <= known
    assert not alphabet.complement or set(alphabet.complement) == known
    assert (ta.SubstitutionMatrix.default(alphabet).scores.diagonal()[:4] > 0).all()


def test_the_other_strand_of_a_letter_stands_for_the_other_states():
    """A set's complement, state by state, is the set of the letter's complement: for every byte."""
    states, table = states_of(ta.NUCLEOTIDE), ta.NUCLEOTIDE.complement_table
    a, c, g, t = (states.sets >> k & 1 for k in range(4))
    assert np.array_equal(states.sets[table], t | g << 1 | c << 2 | a << 3)
    assert np.array_equal(states.known[table], states.known)
    upper = np.arange(256) < 97
    assert np.array_equal(table[table][upper], np.where(np.arange(256) == ord("U"), ord("T"), np.arange(256))[upper])
