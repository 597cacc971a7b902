"""Position matrices and their files."""

import copy
import pickle

import numpy as np
import pytest

import tropalign
from tropalign.scoring.position_matrix import PositionBatch, PositionMatrix

MEME = """MEME version 4

ALPHABET= ACGT

strands: + -

Background letter frequencies
A 0.3 C 0.2 G 0.2 T 0.3

MOTIF TATA
letter-probability matrix: alength= 4 w= 2 nsites= 10 E= 0
 0.0 0.0 0.0 1.0
 1.0 0.0 0.0 0.0

MOTIF box2 other
letter-probability matrix: alength= 4 w= 1
 0.25 0.25 0.25 0.25
"""
PROTEIN_MEME = """MEME version 5.4.1

ALPHABET= ACDEFGHIKLMNPQRSTVWY

MOTIF m1
letter-probability matrix: alength= 20 w= 1 nsites= 5
0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05 0.05
"""
JASPAR = ">MA0001.1 AGL3\nA [ 0 3 79]\nC [94 75 4]\nG [ 1 0 3]\nT [ 2 19 11]\n>MA2 X\nA [1]\nC [1]\nG [1]\nT [1]\n"
TRANSFAC = """AC  M1
XX
ID  motif1
P0      A      C      G      T
01      1      2      2      0      S
02      2      1      2      0      R
XX
//
"""
PSIBLAST = (
    "\nLast position-specific scoring matrix computed, weighted observed percentages rounded down\n"
    "            A   R   N   D   C   Q   E   G   H   I   L   K   M   F   P   S   T   W   Y   V   A   R\n"
    "    1 M    -1  -1  -2  -3  -1   0  -2  -3  -2   1   2  -1   6   0  -3  -2  -1  -2  -1   1    0   0\n"
    "    2 K    -1   2   0  -1  -3   1   1  -2  -1  -3  -2   5  -1  -3  -1   0  -1  -3  -2  -2    0   0\n"
    "\n                      K         Lambda\nStandard Ungapped    0.1365     0.3203\n"
)
FILES = {"meme": MEME, "jaspar": JASPAR, "transfac": TRANSFAC, "psiblast": PSIBLAST}


def read(folder, form, text, **how):
    path = folder / "given.txt"
    path.write_text(text)
    return tropalign.read_position_matrices(path, form, **how)


def test_files(tmp_path):
    tata, flat = read(tmp_path, "meme", MEME)
    background = np.array([0.3, 0.2, 0.2, 0.3])
    counts = np.array([[0, 0, 0, 10.0], [10, 0, 0, 0]])
    expected = np.rint(4 * np.log2((counts + background) / 11 / background))
    assert tata.scores.tolist() == expected.tolist()
    assert (tata.name, tata.consensus, flat.name, len(flat)) == ("TATA", "TA", "box2", 1)
    assert read(tmp_path, "meme", MEME, scale=100)[0].scores[0, 3] == np.rint(100 * np.log2(10.3 / 11 / 0.3))
    (protein,) = read(tmp_path, "meme", PROTEIN_MEME)
    assert protein.alphabet == tropalign.PROTEIN
    assert not protein.scores.any()
    first, second = read(tmp_path, "jaspar", JASPAR)
    assert (first.name, first.consensus, second.name) == ("MA0001.1", "CCA", "MA2")
    assert first.scores[0, 1] == np.rint(4 * np.log2(94.25 / 98 / 0.25))
    (motif,) = read(tmp_path, "transfac", TRANSFAC)
    assert (motif.name, motif.scores.shape) == ("M1", (2, 4))
    (pssm,) = read(tmp_path, "psiblast", PSIBLAST)
    assert (pssm.name, pssm.consensus, pssm.letters) == ("given", "MK", "ARNDCQEGHILKMFPSTWYV")
    assert pssm.scores[0, 12] == 6
    assert pssm.scores[1].tolist()[:4] == [-1, 2, 0, -1]


def test_other_letters():
    matrix = PositionMatrix([[4, -3, -2, -8]])
    code = tropalign.NUCLEOTIDE.code
    of = matrix.by_code[0]
    assert [of[code(letter)] for letter in "ACGTRYN"] == [4, -3, -2, -8, 1, -6, -3]
    assert of[31] == -8
    proteins = PositionMatrix([[*range(20)]])
    of, code = proteins.by_code[0], tropalign.PROTEIN.code
    assert of[code("B")] == (2 + 11) // 2
    assert of[code("X")] == 9
    assert of[code("U")] == of[code("C")] == 1
    rna = PositionMatrix([[1, 2, 3, 4]], "ACGU")
    assert rna.by_code[0, 3] == 4


def test_copies():
    matrix = PositionMatrix([[4, -3, -2, -8]], name="m", consensus="R")
    for made in (pickle.loads(pickle.dumps(matrix)), copy.deepcopy(matrix)):
        assert repr(made) == repr(matrix) == "<PositionMatrix m: 1 positions, nucleotide>"
        assert made.scores.tolist() == matrix.scores.tolist()
        assert made.consensus == "R"
        assert made == matrix
    batch = PositionBatch.of([matrix, PositionMatrix([[1, 2, 3, 4]] * 2)])
    again = pickle.loads(pickle.dumps(batch))
    assert np.array_equal(again.scores, batch.scores)
    assert again.fingerprint() == batch.fingerprint()
    assert PositionBatch.of([PositionMatrix([[4, -3, -2, -9]], name="m", consensus="R")]).fingerprint() != (
        PositionBatch.of([matrix]).fingerprint()
    )


BAD = [
    (
        lambda: PositionMatrix([]),
        "record 'matrix': the scores have the shape (0,), but need a row per position and a column per letter",
    ),
    (
        lambda: PositionMatrix([1, 2, 3, 4]),
        "record 'matrix': the scores have the shape (4,), but need a row per position and a column per letter",
    ),
    (lambda: PositionMatrix([[1, 2], [1]]), "record 'matrix': the scores are not a table of numbers: give a 2-D array"),
    (lambda: PositionMatrix([["a", "b"]]), "record 'matrix': the scores are not a table of numbers: give a 2-D array"),
    (lambda: PositionMatrix([[1.0, np.nan, 0, 0]]), "record 'matrix': the score in row 0, column 1 (from 0) is nan"),
    (lambda: PositionMatrix([[0, 0, 0, -np.inf]]), "record 'matrix': the score in row 0, column 3 (from 0) is -inf"),
    (
        lambda: PositionMatrix([[1, 0.5, 0, 0]]),
        "record 'matrix': the score in row 0, column 1 (from 0) is 0.5, not a whole number: multiply "
        "all scores by a scale and round them with numpy.rint",
    ),
    (
        lambda: PositionMatrix([[0, 2_000_000, 0, 0]]),
        "record 'matrix': the score in row 0, column 1 (from 0) is 2000000, beyond 1000000",
    ),
    (
        lambda: PositionMatrix([[1, 2, 3]]),
        "record 'matrix': the scores have 3 columns, but 4 or 20 without letters: give the letters of the columns",
    ),
    (
        lambda: PositionMatrix([[1, 2, 3]], "AC"),
        "record 'matrix': the letters must be a string of 3 different letters, one per column",
    ),
    (
        lambda: PositionMatrix([[1, 2, 3]], "ACa"),
        "record 'matrix': the letters must be a string of 3 different letters, one per column",
    ),
    (
        lambda: PositionMatrix([[1, 2, 3]], "AC1"),
        "record 'matrix': the column '1' is not a letter of the protein alphabet: leave the column out, "
        "or give the alphabet of the letters",
    ),
    (lambda: PositionMatrix([[1, 2, 3]], "ACM", alphabet="nucleotide"), None),
    (
        lambda: PositionMatrix([[1, 2, 3]], "ACF", alphabet="nucleotide"),
        "record 'matrix': the column 'F' is not a letter of the nucleotide alphabet: leave the column "
        "out, or give the alphabet of the letters",
    ),
    (
        lambda: PositionMatrix([[1, 2, 3]], "AUT"),
        "record 'matrix': two columns have the same letter, such as U and T: give each letter once",
    ),
    (
        lambda: PositionMatrix([[1, 2, 3, 4]], consensus="AC"),
        "record 'matrix': the consensus must be a string of 1 letters, one per row",
    ),
    (
        lambda: PositionMatrix([[1, 2, 3, 4]], consensus="!"),
        "record 'matrix': the consensus has '!', which is not a letter of the nucleotide alphabet",
    ),
    (
        lambda: PositionMatrix([[1, 2, 3, 4]], name=""),
        "the name of a position matrix must be a string that is not empty",
    ),
    (
        lambda: PositionMatrix.from_counts([[1, -2, 3, 4]]),
        "record 'matrix': the count in row 0, column 1 (from 0) is -2.0, below 0",
    ),
    (
        lambda: PositionMatrix.from_counts([[0, 0, 0, 0]]),
        "record 'matrix': the counts of row 0 (from 0) are all 0: leave the row out",
    ),
    (
        lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], background=[1, 1]),
        "record 'matrix': the background must have 4 frequencies above 0, one per column",
    ),
    (
        lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], pseudocount=-1),
        "record 'matrix': the pseudocount -1 is not a number of at least 0",
    ),
    (
        lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], pseudocount=0),
        "record 'matrix': a count is 0, so its score is not finite: give a pseudocount above 0",
    ),
    (
        lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], scale=0),
        "record 'matrix': the scale 0 is not a number above 0 and up to 1000",
    ),
]


@pytest.mark.parametrize(("call", "text"), BAD)
def test_bad_matrices(call, text):
    if text is None:
        call()
        return
    with pytest.raises(tropalign.InputError) as raised:
        call()
    assert str(raised.value) == text


BAD_FILES = [
    ("meme", "", "the file is empty"),
    ("meme", JASPAR, "this is a JASPAR file, but meme was requested: name its format, jaspar"),
    (
        "jaspar",
        ">a\nMKVLAW\n",
        "this is not a file of position matrices, but jaspar was requested: name the format of the file",
    ),
    ("meme", "MEME version 4\n", "the file has no matrix"),
    (
        "meme",
        MEME.replace("ALPHABET= ACGT", ""),
        "line 7: the background must have a frequency per letter of the alphabet",
    ),
    ("meme", MEME.replace("C 0.2", ""), "line 7: the background must have a frequency per letter of the alphabet"),
    ("meme", MEME.replace("MOTIF TATA", "MOTIF"), "line 10: a motif must have a name"),
    ("meme", MEME.replace("MOTIF TATA", ""), "line 11: the matrix has no MOTIF line with a name before it: add it"),
    ("meme", MEME.replace("w= 2", "w= x"), "line 11: w= and nsites= must be numbers"),
    ("meme", MEME.replace("w= 2", "w= 3"), "line 14, record 'TATA': the matrix has 2 rows, but w= 3: complete it"),
    ("meme", MEME.replace(" 1.0 0.0 0.0 0.0", " 1.0 0.0 x 0.0"), "line 13: a row of the matrix must have 4 numbers"),
    (
        "meme",
        MEME.replace("ALPHABET= ACGT", 'ALPHABET "own"'),
        "line 3: alphabets defined in the file are not supported: write ALPHABET= and the letters",
    ),
    (
        "jaspar",
        JASPAR.replace("94 75 4", "94 75"),
        "the file is not valid JASPAR (data has inconsistent lengths): correct it, or convert it again",
    ),
    ("transfac", TRANSFAC.replace("      0      S", ""), None),
    (
        "psiblast",
        PSIBLAST.replace("    2 K", "    3 K"),
        "line 5: row 2 of the matrix needs its number, a letter and 20 scores",
    ),
    ("psiblast", PSIBLAST.replace("  -1   2   0", "  -1   x   0"), "line 5: a row of the matrix must have 20 numbers"),
]


@pytest.mark.parametrize(("form", "text", "said"), BAD_FILES)
def test_bad_files(tmp_path, form, text, said):
    with pytest.raises(tropalign.InputError) as raised:
        read(tmp_path, form, text)
    path = str(tmp_path / "given.txt")
    assert str(raised.value).startswith(path)
    if said is not None:
        assert str(raised.value).removeprefix(path).removeprefix(", ").removeprefix(": ") == said


def test_format_and_scale(tmp_path):
    with pytest.raises(
        tropalign.errors.UsageError, match="'xms' is not a format of position matrices: use one of meme"
    ):
        read(tmp_path, "xms", MEME)
    with pytest.raises(tropalign.InputError, match="PSI-BLAST's matrices have scores already: leave the scale out"):
        read(tmp_path, "psiblast", PSIBLAST, scale=2)
