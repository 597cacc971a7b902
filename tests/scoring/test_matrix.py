import copy
import gzip
import pickle
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import parasail
import pytest
from Bio.Align import substitution_matrices

import tropalign as ta

DATA = Path(__file__).parents[1] / "data"

code = ta.PROTEIN.code
SMALL = "# two letters\n   A  R\nA  4 -1\nR -1  5\n"


@pytest.fixture
def matrix_file(tmp_path):
    def write(text):
        path = tmp_path / "small.mat"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize("name", [name for name in substitution_matrices.load() if name != "SCHNEIDER"])
def test_every_matrix_of_biopython(name):
    theirs = substitution_matrices.load(name)
    ours = ta.SubstitutionMatrix.from_name(name.lower())
    assert ours.name == name and ours.scores.shape == (32, 32)
    assert ours.scores.dtype == (np.int32 if ours.scale == 1 else np.float64)
    assert (
        np.allclose(ours.scaled(ours.scale), ours.scale * ours.scores, 0, 1e-9)
        and ours.scaled(ours.scale).dtype == np.int32
    )
    assert (ours.scores == ours.scores.T).all()
    alphabet = ours.alphabet.letters
    for a in set(theirs.alphabet) & set(alphabet):
        for b in set(theirs.alphabet) & set(alphabet):
            assert ours.scores[alphabet.index(a), alphabet.index(b)] == theirs[a, b]
    assert ours.scores[31, 31] == ours.scores.min()


def test_every_matrix_of_parasail():
    """By parasail's name and by EMBOSS's: BLOSUM30 to BLOSUM90 and PAM10 to PAM500, figure by figure."""
    known = [name for name in dir(parasail) if name.startswith(("blosum", "pam")) and name[-1].isdigit()]
    known.remove("blosum100")  # of which there is no second source
    assert len(known) == 64
    letters = "ARNDCQEGHILKMFPSTWYVBZX*"
    for name in known:
        ours = ta.SubstitutionMatrix.of(name)
        assert ours.name == name.upper() and (ours.scores == ta.SubstitutionMatrix.of(f"E{name}").scores).all()
        theirs = getattr(parasail, name).matrix[:24, :24]
        codes = [code(letter) for letter in letters]
        assert (ours.scores[np.ix_(codes, codes)] == theirs).all(), name


@pytest.mark.parametrize("name", ["dnafull", "DNAFULL", "EDNAFULL", "nuc44", "NUC.4.4", "ENUC.4.4"])
def test_names_of_nucleotides(name):
    """The figures of EMBOSS's file: 5, -4, and means over what ambiguous letters stand for."""
    matrix = ta.SubstitutionMatrix.of(name)
    assert matrix.name == "NUC.4.4" and matrix.alphabet is ta.NUCLEOTIDE
    assert [matrix["A", letter] for letter in "ACGTUSWRYKMBVHDN"] == [5, *[-4] * 5, 1, 1, -4, -4, 1, -4, -1, -1, -1, -2]


@pytest.mark.parametrize(("name", "match", "mismatch"), [("EDNAMAT", 5, -4), ("dnamat", 5, -4), ("EDNASIMPLE", 1, -1)])
def test_letters_of_nucleotides_that_are_equal_or_not(name, match, mismatch):
    """EMBOSS's matrices without means: an ambiguous letter equals itself alone, and U is T."""
    matrix = ta.SubstitutionMatrix.of(name)
    assert matrix.name == name.upper().removeprefix("E") and matrix.alphabet is ta.NUCLEOTIDE
    for one, other in product("ACGTUSWRYKMBVHDN", repeat=2):
        is_equal = one.replace("U", "T") == other.replace("U", "T")
        assert matrix[one, other] == (match if is_equal else mismatch)


def test_stops_of_blosum62_12():
    """BLOSUM62 but for *."""
    matrix, plain = ta.SubstitutionMatrix.of("EBLOSUM62-12"), ta.SubstitutionMatrix.of("BLOSUM62")
    for one, other in product("ARNDCQEGHILKMFPSTWYVBZX*", repeat=2):
        stops = (one == "*") + (other == "*")
        assert matrix[one, other] == (plain[one, other] if stops != 1 else -12)


def test_blosumn():
    """NCBI's file, every letter of it."""
    ours, theirs = ta.SubstitutionMatrix.of("EBLOSUMN"), ta.SubstitutionMatrix.of(DATA / "BLOSUMN")
    assert ours.name == "BLOSUMN" and (ours.scores == theirs.scores).all()
    assert (ours["A", "A"], ours["W", "*"], ours["*", "*"], ours["E", "Z"]) == (6, -7, 1, 5)


def test_names_and_cells():
    names = ta.SubstitutionMatrix.names()
    assert len(set(names)) == len(names) and {"BLOSUM62", "PAM120", "VTML200", "NUC.4.4"} <= {*names}
    matrix = ta.SubstitutionMatrix.of("VTML200")
    assert (matrix["W", "W"], matrix["wf"], matrix["F", "W"], matrix["UC"]) == (15, 3, 3, 12)
    assert ta.align("MKVLAW", "MKILAW", matrix="eblosum62").score == ta.align("MKVLAW", "MKILAW").score
    for letters in (("A",), "A", "A1", ("A", 5), ("A", None), 0, ("AR", "A"), [], (["A"], "A")):
        with pytest.raises(KeyError, match=r"give two letters of the protein alphabet, such as \('A', 'R'\)"):
            matrix[letters]


def test_scores_with_decimals():
    matrix = ta.SubstitutionMatrix.from_name("GONNET1992")
    assert matrix.name == "GONNET1992" and matrix.scores[code("W"), code("W")] == 14.2
    assert matrix.scale == 10 and matrix.scaled(20)[code("W"), code("W")] == 284
    with pytest.raises(ta.ScoringError, match="5 times the scores of GONNET1992 are not integers: use a multiple"):
        matrix.scaled(5)
    with pytest.raises(ta.ScoringError, match="the scores of GONNET1992, times 1000000 for the decimals of scores and"):
        matrix.scaled(1_000_000)
    assert ta.SubstitutionMatrix.match_mismatch(1.5, -0.75).scale == 4  # the least: quarters, not hundredths
    assert ta.SubstitutionMatrix.of(("AC", [[0.1 + 0.2, 0], [0, 1]])).scores[0, 0] == 0.3


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("SCHNEIDER", "SCHNEIDER scores codons, not residues: choose another matrix"),
        ("BLOSUM51", "there is no matrix 'BLOSUM51'; did you mean 'BLOSUM"),
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
            "the matrix small.mat has no letter X, but record 'sequence_2' contains it at position 2: "
            "add it to the matrix, or choose another matrix",
        ),
        (
            ["ACGT"],
            ta.NUCLEOTIDE,
            "small.mat is a protein matrix, but the sequences look like nucleotide: choose another matrix, or set the "
            "kind of the sequences with alphabet",
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


NO_MATRIX = "this is not a matrix in NCBI format (letters, then a letter and its scores per line)"


@pytest.mark.filterwarnings("ignore:.*read as Latin-1")
@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("", "", "the file is empty"),
        ("# nothing\n", "", NO_MATRIX),
        ("hello world\n", ", line 1", NO_MATRIX),
        (b"\xff\xfe\x00", ", line 1", NO_MATRIX),
        (SMALL.replace("A  4", "AA 4"), ", line 3", NO_MATRIX),
        (" A A\nA 1 2\n", ", line 1", "the matrix has a letter twice: remove one of them"),
        (" A R\nA 1\nR 1 2\n", ", line 2", "the row of A has 1 scores for 2 letters: correct it"),
        (" A R\nA 1 2 3\nR 1 2\n", ", line 2", "the row of A has 3 scores for 2 letters: correct it"),
        (" A R\nA 1 2\n", "", "there is no row of R: a matrix must have one row per column"),
        (" A R\nA 1 2\nA 1 2\n", ", line 3", "second row of A: a matrix must have one row per column"),
        (" A R\nN 1 2\n", ", line 2", "row of a letter without a column: N: a matrix must have one row per column"),
        (" A R\nA 1 1_0\n", ", line 2", "the row of A contains a value that is not a number: correct it"),
        (" A R\nA 1 x\n", ", line 2", "the row of A contains a value that is not a number: correct it"),
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
        (" A\nA nan\n", "the matrix small.mat has a score that is not a number: correct it"),
        (" A\nA inf\n", "the matrix small.mat has a score that is not a number: correct it"),
        (
            " A\nA 1e7\n",
            "the matrix small.mat has scores beyond 1000000: give smaller scores and costs",
        ),
        (
            " A\nA 600000.5\n",
            "the matrix small.mat has scores beyond 500000, the limit for decimals: round them",
        ),
        (" A\nA 0.12345\n", "the scores of small.mat have more than four decimals: round them"),
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
    with pytest.raises(ta.InputError, match="this is a directory: give the files in it"):
        ta.SubstitutionMatrix.from_file(tmp_path)
    with pytest.raises(ta.ScoringError, match="there is no matrix or file 'nothing'; available are BLOSUM62, BLO"):
        ta.SubstitutionMatrix.load("nothing")


def test_match_and_mismatch():
    matrix = ta.SubstitutionMatrix.match_mismatch(5, -4)
    assert matrix.alphabet is ta.NUCLEOTIDE
    assert np.array_equal(matrix.scores[0, :4], [5, -4, -4, -4])
    wild = ta.NUCLEOTIDE.code("N")
    assert not matrix.scores[wild, :15].any() and not matrix.scores[:15, wild].any()


GOOD = ta.SubstitutionMatrix.from_name("BLOSUM62")


def changed(row, column, value, dtype=np.int64):
    scores = GOOD.scores.astype(dtype)
    scores[row, column] = value
    return scores


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scores": GOOD.scores[:24, :24]}, "the scores of BLOSUM62 must be numbers in an array of 32 x 32"),
        ({"scores": GOOD.scores.astype(complex)}, "must be numbers"),
        ({"scores": GOOD.scores.tolist()}, "must be numbers"),
        ({"scores": None}, "must be numbers"),
        ({"scores": GOOD.scores + np.pi}, "the scores of BLOSUM62 have more than four decimals: round them"),
        (
            {"scores": changed(0, 0, np.nan, np.float64)},
            "the matrix BLOSUM62 has scores beyond 1000000: give smaller scores and costs",
        ),
        (
            {"scores": changed(0, 0, -(2**31))},
            "the matrix BLOSUM62 has scores beyond 1000000: give smaller scores and costs",
        ),
        (
            {"scores": changed(0, 0, 2**31 - 1)},
            "the matrix BLOSUM62 has scores beyond 1000000: give smaller scores and costs",
        ),
        (
            {"scores": changed(0, 0, 2**40)},
            "the matrix BLOSUM62 has scores beyond 1000000: give smaller scores and costs",
        ),
        (
            {"scores": changed(31, 31, -(2**31), np.int32)},
            "the matrix BLOSUM62 has scores beyond 1000000: give smaller scores and costs",
        ),
        ({"alphabet": "protein"}, "the alphabet of the matrix BLOSUM62 must be an Alphabet"),
        ({"name": None}, "the name and the letters of a matrix must be strings"),
        ({"letters": 5}, "the name and the letters of a matrix must be strings"),
    ],
)
def test_arrays_that_make_no_matrix(changes, words):
    with pytest.raises(ta.ScoringError, match=words):
        replace(GOOD, **changes)


def test_scores_are_kept_as_they_were_given():
    scores = GOOD.scores.astype(np.int64)
    matrix = replace(GOOD, scores=scores)
    scores[0, 0] = 99
    assert (matrix.scores == GOOD.scores).all() and matrix.scores.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        matrix.scores[0, 0] = 1


def test_matrices_survive_copying():
    batch = ta.SequenceBatch.from_strings(["MKVLAW", "MKILAW"])
    for made in (pickle.loads(pickle.dumps(GOOD)), copy.deepcopy(GOOD)):
        assert (made.scores == GOOD.scores).all() and made.alphabet is ta.PROTEIN and not made.scores.flags.writeable
        (table,) = ta.align_all(batch, matrix=made)
        assert table.score.tolist() == [32]


def test_whatever_holds_a_matrix(tmp_path):
    theirs = substitution_matrices.load("BLOSUM62")
    path = tmp_path / "b.mat.gz"
    path.write_bytes(gzip.compress(str(theirs).encode()))
    letters = theirs.alphabet
    both = {(a, b): theirs[a, b] for a in letters for b in letters}
    once = {pair: score for pair, score in both.items() if letters.index(pair[0]) <= letters.index(pair[1])}
    for source in (
        GOOD, "BLOSUM62", "blosum62", path, str(path), theirs, (letters, np.asarray(theirs)),
        (letters.lower(), np.asarray(theirs).tolist()), both, once, {"".join(pair): both[pair] for pair in both},
    ):  # fmt: skip
        assert (ta.SubstitutionMatrix.of(source).scores == GOOD.scores).all()
        assert ta.align("MKVLAW", "MKILAW", matrix=source).score == 32


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (5, "an object of type int is not a matrix: give a name, a path, a SubstitutionMatrix, a Biopython Array"),
        (np.zeros((4, 4)), "an object of type ndarray is not a matrix"),
        (["BLOSUM62"], "an object of type list is not a matrix"),
        ({}, "for each (0 letters given)"),
        ({"A": {"R": 1}}, "the keys of a matrix mapping must be pairs of letters, such as ('A', 'R')"),
        ({("A", 1): 1}, "the keys of a matrix mapping must be pairs of letters"),
        ({5: 1}, "the keys of a matrix mapping must be pairs of letters"),
        ({("A", "A"): 1, ("R", "R"): 1}, "the matrix has no score of A against R: add it"),
        ({("A", "A"): "x"}, "a score of the matrix is not a number: correct it"),
        (("AR", np.zeros((3, 3))), "a matrix needs different letters"),
        (("AA", np.zeros((2, 2))), "a matrix needs different letters"),
        (("AR", "xy"), "a matrix needs different letters"),
        (("AR", [[1, np.nan], [np.nan, 1]]), "the matrix custom has a score that is not a number: correct it"),
        ("a\0b", "there is no matrix or file 'a\\x00b'"),
    ],
)
def test_what_holds_no_matrix(source, sentence):
    with pytest.raises(ta.ScoringError) as error:
        ta.SubstitutionMatrix.of(source)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        ((99999999999, -4), "the match score 99999999999 exceeds the maximum of 1000000"),
        ((5, -2147483649), "the mismatch score -2147483649 exceeds the maximum of 1000000"),
        ((1_000_001, 0), "the match score 1000001 exceeds the maximum of 1000000"),
        ((1.23456, 0), "the match score 1.23456 has more than four decimals: round it"),
        ((True, 0), "the match score True is not a number"),
        (("5", 0), "the match score '5' is not a number"),
        ((5, None), "the mismatch score None is not a number"),
    ],
)
def test_matches_that_cannot_be(scores, sentence):
    with pytest.raises(ta.ScoringError) as error:
        ta.SubstitutionMatrix.match_mismatch(*scores)
    assert str(error.value).startswith(sentence)


def test_a_protein_matrix_is_none_for_nucleotides():
    dna = ta.SequenceBatch.from_strings(["ACGT", "ACGA"])
    for alphabet in (None, ta.NUCLEOTIDE):
        with pytest.raises(ta.ScoringError, match="BLOSUM62 is a protein matrix, but the sequences look like"):
            ta.SubstitutionMatrix.load("BLOSUM62", alphabet).check(dna)
    assert ta.SubstitutionMatrix.load("NUC.4.4").alphabet is ta.NUCLEOTIDE


@pytest.mark.parametrize("name", ["EDNAFULL", "TRANS", "HOXD70"])
def test_a_matrix_of_nucleotides_is_none_for_proteins(name):
    proteins = ta.SequenceBatch.from_strings(["MKVLAW", "GATACA"], alphabet="protein")
    with pytest.raises(ta.ScoringError, match=r"is a nucleotide matrix, but the sequences look like protein: choose"):
        ta.align_all(proteins, matrix=name)


def test_a_file_without_an_end_is_refused(tmp_path):
    with pytest.raises(ta.InputError, match="/dev/full: the file has more than 1048576 bytes, too many for a file"):
        ta.SubstitutionMatrix.load("/dev/full")
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b" " * (1 << 26)))
    with pytest.raises(ta.InputError, match="the file has more than 1048576 bytes"):
        ta.SubstitutionMatrix.load(bomb)
