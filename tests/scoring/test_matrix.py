import warnings

import numpy as np
import pytest
from Bio.Align import substitution_matrices

import tropalign as ta

code = ta.PROTEIN.code
SMALL = "# two letters\n   A  R\nA  4 -1\nR -1  5\n"


@pytest.fixture
def matrix_file(tmp_path):
    def write(text):
        path = tmp_path / "small.mat"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.filterwarnings("ignore:the scores of")
@pytest.mark.parametrize("name", [name for name in substitution_matrices.load() if name != "SCHNEIDER"])
def test_every_matrix_of_biopython(name):
    theirs = substitution_matrices.load(name)
    ours = ta.SubstitutionMatrix.from_name(name.lower())
    factor = int(ours.name.split(" x ")[1]) if " x " in ours.name else 1
    assert ours.scores.shape == (32, 32) and ours.scores.dtype == np.int32
    assert (ours.scores == ours.scores.T).all()
    alphabet = ours.alphabet.letters
    for a in set(theirs.alphabet) & set(alphabet):
        for b in set(theirs.alphabet) & set(alphabet):
            assert ours.scores[alphabet.index(a), alphabet.index(b)] == round(factor * theirs[a, b])
    assert ours.scores[31, 31] == ours.scores.min()


def test_decimals_are_said():
    with pytest.warns(ta.TropalignWarning, match="the scores of GONNET1992 have decimals: they are multiplied by 10, "):
        matrix = ta.SubstitutionMatrix.from_name("GONNET1992")
    assert matrix.name == "GONNET1992 x 10" and matrix.scores[code("W"), code("W")] == 142


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("SCHNEIDER", "SCHNEIDER scores codons, not residues: choose another matrix"),
        ("BLOSUM51", "there is no matrix 'BLOSUM51'; there are BENNER22, BENNER6, "),
    ],
)
def test_names_that_cannot_be(name, sentence):
    with pytest.raises(ta.ScoringError) as error:
        ta.SubstitutionMatrix.from_name(name)
    assert str(error.value).startswith(sentence)


def test_letters_that_a_matrix_lacks_take_the_row_of_another():
    scores = ta.SubstitutionMatrix.from_name("BLOSUM62").scores
    for letter, other in {"U": "C", "J": "X", "O": "X"}.items():
        for b in "ARNDCQEGHILKMFPSTWYVBZX*":
            assert scores[code(letter), code(b)] == scores[code(b), code(letter)] == scores[code(other), code(b)]


def test_letters_scored_like_another_are_counted():
    blosum = ta.SubstitutionMatrix.from_name("BLOSUM62")
    with pytest.warns(ta.TropalignWarning) as given:
        blosum.check(ta.SequenceBatch.from_strings(["MKVU", "MUOV"], alphabet=ta.PROTEIN))
    assert [str(warning.message) for warning in given] == [
        "the matrix BLOSUM62 has no letter U: 2 are scored like C",
        "the matrix BLOSUM62 has no letter O: 1 are scored like X",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blosum.check(ta.SequenceBatch.from_strings(["MKVX*BZ"], alphabet=ta.PROTEIN))


@pytest.mark.parametrize(
    ("sequences", "alphabet", "sentence"),
    [
        (
            ["ARA", "AXR"],
            ta.PROTEIN,
            "the matrix small.mat has no letter X, which record 'sequence_2' holds at position 2: "
            "add it to the matrix or choose another",
        ),
        (
            ["ACGT"],
            ta.NUCLEOTIDE,
            "small.mat is a protein matrix but the sequences were judged nucleotide: choose another matrix or say "
            "which they are with --alphabet",
        ),
    ],
)
def test_a_matrix_that_does_not_fit(matrix_file, sequences, alphabet, sentence):
    matrix = ta.SubstitutionMatrix.from_file(matrix_file(SMALL), ta.PROTEIN)
    with pytest.raises(ta.ScoringError) as error:
        matrix.check(ta.SequenceBatch.from_strings(sequences, alphabet=alphabet))
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    "text", [SMALL, SMALL.lower(), SMALL.replace("\n", "\r\n"), " R A # comment\nA -1 4\n\nR 5 -1 # x"]
)
def test_a_file(matrix_file, text):
    matrix = ta.SubstitutionMatrix.from_file(matrix_file(text), ta.PROTEIN)
    assert matrix.name == "small.mat" and set(matrix.letters) == {"A", "R"}
    assert matrix.scores[:2, :2].tolist() == [[4, -1], [-1, 5]] and (matrix.scores[2:] == -1).all()


def test_a_file_as_biopython_reads_it(matrix_file):
    blosum = substitution_matrices.load("BLOSUM62")
    path = matrix_file(str(blosum))
    assert (ta.SubstitutionMatrix.load(str(path)).scores == ta.SubstitutionMatrix.load("blosum62").scores).all()


NO_MATRIX = "this is no matrix in NCBI format (letters, then a letter and its scores a line)"


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("", "", "the file is empty"),
        ("# nothing\n", "", NO_MATRIX),
        ("hello world\n", ", line 1", NO_MATRIX),
        (b"\xff\xfe\x00", ", line 1", NO_MATRIX),
        (SMALL.replace("A  4", "AA 4"), ", line 3", NO_MATRIX),
        (" A A\nA 1 2\n", ", line 1", "the matrix has a letter twice: leave one out"),
        (" A R\nA 1\nR 1 2\n", ", line 2", "the row of A has 1 scores for 2 letters: mend it"),
        (" A R\nA 1 2 3\nR 1 2\n", ", line 2", "the row of A has 3 scores for 2 letters: mend it"),
        (" A R\nA 1 2\n", "", "there is no row of R: a matrix has one row per column"),
        (" A R\nA 1 2\nA 1 2\n", ", line 3", "second row of A: a matrix has one row per column"),
        (" A R\nN 1 2\n", ", line 2", "row of a letter without a column: N: a matrix has one row per column"),
        (" A R\nA 1 x\n", ", line 2", "the row of A holds a word that is no number: mend it"),
    ],
)
def test_files_that_are_no_matrix(matrix_file, text, place, sentence):
    path = matrix_file(text)
    with pytest.raises(ta.InputError) as error:
        ta.SubstitutionMatrix.from_file(path)
    assert str(error.value) == f"{path}{place}: {sentence}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            " A R\nA 1 2\nR 3 1\n",
            "the matrix small.mat is not symmetric, which pairwise alignment needs: A against R scores 2, "
            "the reverse 3",
        ),
        (" A\nA nan\n", "the matrix small.mat has a score that is no number: mend it"),
        (" A\nA inf\n", "the matrix small.mat has a score that is no number: mend it"),
        (" A\nA 1e7\n", "the matrix small.mat has scores beyond 1000000"),
        (" A\nA 200000.5\n", "the matrix small.mat has scores beyond 100000"),
        (" A\nA 0.12345\n", "the scores of small.mat have more than three decimals: round them"),
        (" 1\n1 5\n", "the matrix small.mat has no letter of the protein alphabet: choose another"),
    ],
)
def test_scores_that_cannot_be(matrix_file, text, sentence):
    with pytest.raises(ta.ScoringError) as error:
        ta.SubstitutionMatrix.from_file(matrix_file(text))
    assert str(error.value) == sentence


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ta.InputError, match=r"none\.mat: there is no such file"):
        ta.SubstitutionMatrix.from_file(tmp_path / "none.mat")
    with pytest.raises(ta.InputError, match="this is a directory: name the files in it"):
        ta.SubstitutionMatrix.from_file(tmp_path)
    with pytest.raises(ta.ScoringError, match="there is no matrix and no file 'nothing'; the matrices are BENNER22"):
        ta.SubstitutionMatrix.load("nothing")


def test_match_and_mismatch():
    matrix = ta.SubstitutionMatrix.match_mismatch(5, -4)
    assert matrix.alphabet is ta.NUCLEOTIDE
    assert np.array_equal(matrix.scores[0, :4], [5, -4, -4, -4])
    wild = ta.NUCLEOTIDE.code("N")
    assert not matrix.scores[wild, :15].any() and not matrix.scores[:15, wild].any()
