"""Position matrices and their files."""

import copy
import pickle
from fractions import Fraction

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
#: The form of the text output of meme: other tables, and lines that begin with MOTIF or ALPHABET in each section.
FULL_MEME = """\
********************************************************************************
MEME - Motif discovery tool
********************************************************************************
MEME version 5.5.5 (Release date: Thu Sep 14 08:48:04 2023 +1000)

For further information on how to interpret these results please access https://meme-suite.org/meme.
********************************************************************************


********************************************************************************
TRAINING SET
********************************************************************************
PRIMARY SEQUENCES= sites.fa
CONTROL SEQUENCES= --none--
ALPHABET= ACGT
Sequence name            Weight Length  Sequence name            Weight Length
-------------            ------ ------  -------------            ------ ------
one                      1.0000     20  two                      1.0000     20
********************************************************************************

********************************************************************************
COMMAND LINE SUMMARY
********************************************************************************
command: meme sites.fa -text -dna -nmotifs 2

model:  mod=         zoops    nmotifs=         2    evt=           inf
nsites: minsites=        2    maxsites=        4    wnsites=       0.8
Letter frequencies in dataset:
A 0.25 C 0.25 G 0.25 T 0.25
Background letter frequencies (from file dataset with add-one prior applied):
A 0.3 C 0.2
G 0.2 T 0.3
Background model order: 0
********************************************************************************


********************************************************************************
MOTIF TA MEME-1	width =   2  sites =   4  llr = 9  E-value = 1.2e-009
********************************************************************************
--------------------------------------------------------------------------------
	Motif TA MEME-1 Description
--------------------------------------------------------------------------------
Simplified        A  :a
pos.-specific     C  ::
probability       G  ::
matrix            T  a:
--------------------------------------------------------------------------------

--------------------------------------------------------------------------------
	Motif TA MEME-1 sites sorted by position p-value
--------------------------------------------------------------------------------
Sequence name             Start   P-value      Site
-------------             ----- ---------      --
one                           3  1.01e-03 GG TA CCGG
two                           5  1.01e-03 CCGG TA GG
--------------------------------------------------------------------------------

--------------------------------------------------------------------------------
	Motif TA MEME-1 block diagrams
--------------------------------------------------------------------------------
SEQUENCE NAME            POSITION P-VALUE  MOTIF DIAGRAM
-------------            ----------------  -------------
one                                 0.001  2_[+1]_16
--------------------------------------------------------------------------------

--------------------------------------------------------------------------------
	Motif TA MEME-1 in BLOCKS format
--------------------------------------------------------------------------------
BL   MOTIF TA width=2 seqs=2
one                      (    3) TA  1
//

--------------------------------------------------------------------------------

--------------------------------------------------------------------------------
	Motif TA MEME-1 position-specific scoring matrix
--------------------------------------------------------------------------------
log-odds matrix: alength= 4 w= 2 n= 38 bayes= 4.2 E= 1.2e-009
  -865   -865   -865    174
   174   -865   -865   -865
--------------------------------------------------------------------------------

--------------------------------------------------------------------------------
	Motif TA MEME-1 position-specific probability matrix
--------------------------------------------------------------------------------
letter-probability matrix: alength= 4 w= 2 nsites= 4 E= 1.2e-009
 0.000000  0.000000  0.000000  1.000000
 1.000000  0.000000  0.000000  0.000000
--------------------------------------------------------------------------------

--------------------------------------------------------------------------------
	Motif TA MEME-1 regular expression
--------------------------------------------------------------------------------
TA
--------------------------------------------------------------------------------

Time  0.39 secs.

********************************************************************************


********************************************************************************
MOTIF  2 MEME	width =   1  sites =   2  llr = 1  E-value = 9.0e+001
********************************************************************************
letter-probability matrix: alength= 4 w= 1 nsites= 2 E= 9.0e+001
 0.500000  0.000000  0.500000  0.000000
--------------------------------------------------------------------------------

********************************************************************************
SUMMARY OF MOTIFS
********************************************************************************
	Combined block diagrams: non-overlapping sites with p-value < 0.0001
--------------------------------------------------------------------------------
SEQUENCE NAME            COMBINED P-VALUE  MOTIF DIAGRAM
-------------            ----------------  -------------
one                              1.00e-03  2_[+1(1.01e-03)]_16
--------------------------------------------------------------------------------
********************************************************************************
Stopped because requested number of motifs (2) found.
********************************************************************************
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


def test_full_meme(tmp_path):
    first, second = read(tmp_path, "meme", FULL_MEME)
    assert (first.name, first.consensus, second.name, len(second)) == ("TA", "TA", "2", 1)
    background = np.array([0.3, 0.2, 0.2, 0.3])
    counts = np.array([[0, 0, 0, 4.0], [4, 0, 0, 0]])
    assert first.scores.tolist() == np.rint(4 * np.log2((counts + background) / 5 / background)).tolist()


def test_records_of_counts(tmp_path):
    # Rows without letters, in another order, and lines with spaces are the same matrix.
    plain = ">MA2 X\n1 2\n3 4\n5 6\n7 8\n"
    shuffled = "> MA2\n T [7 8 ]\n\nC[ 3 4]\nG [5 6]\r\nA [1 2]"
    assert read(tmp_path, "jaspar", plain) == read(tmp_path, "jaspar", shuffled)
    # Records of a version have no matrix; a record without AC and ID has a number; rows may begin with 00.
    version, record = "VV  1.0\nXX\n//\n", "P0 A C G T\n00 1 3 5 7\n01 2 4 6 8 N\n//\n"
    first, second = read(tmp_path, "transfac", version + "ID MA2\n" + record + version + "XX\n" + record)
    assert [first] == read(tmp_path, "jaspar", plain)
    assert (second.name, second.scores.tolist()) == ("matrix_2", first.scores.tolist())


def test_numbers_of_numpy():
    counts = [[8, 0, 0, 0]]
    for scale in (np.float32(2), np.int64(2), Fraction(2)):
        assert PositionMatrix.from_counts(counts, scale=scale) == PositionMatrix.from_counts(counts, scale=2)
    made = PositionMatrix.from_counts(counts, pseudocount=np.float32(1), background=np.ones(4, np.float32))
    assert made == PositionMatrix.from_counts(counts)


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
    assert rna.consensus == "U"


def test_copies():
    matrix = PositionMatrix([[4, -3, -2, -8]], name="m", consensus="R")
    for made in (pickle.loads(pickle.dumps(matrix)), copy.deepcopy(matrix)):
        assert repr(made) == repr(matrix) == "<PositionMatrix m: 1 position, nucleotide>"
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


BACKGROUND = "background is not an array of numbers: give a frequency per column"
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
    (
        lambda: PositionMatrix.from_counts([[1e308, 1e308, 0, 0]]),
        "record 'matrix': the score in row 0, column 0 (from 0) would be -inf, beyond 1000000: use counts, a "
        "background and a pseudocount of similar magnitude",
    ),
    (
        lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], background=[1e308] * 4),
        "record 'matrix': the score in row 0, column 0 (from 0) would be inf, beyond 1000000: use counts, a "
        "background and a pseudocount of similar magnitude",
    ),
    (
        lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], background=[1e-320, 1, 1, 1]),
        "record 'matrix': the score in row 0, column 0 (from 0) would be inf, beyond 1000000: use counts, a "
        "background and a pseudocount of similar magnitude",
    ),
    (
        lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], pseudocount=1e-323),
        "record 'matrix': the score in row 0, column 1 (from 0) would be -inf, beyond 1000000: use counts, a "
        "background and a pseudocount of similar magnitude",
    ),
    (lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], background="abcd"), BACKGROUND),
    (lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], background=["1"] * 4), BACKGROUND),
    (lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], background=[[1, 1], [1]]), BACKGROUND),
    (lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], background={}), BACKGROUND),
    (lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], pseudocount=None), "pseudocount None is not a number"),
    (lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], pseudocount="1"), "pseudocount '1' is not a number"),
    (
        lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], pseudocount=np.ones(4)),
        "pseudocount array([1., 1., 1., 1.]) is not a number",
    ),
    (lambda: PositionMatrix.from_counts([[1, 0, 0, 0]], pseudocount=np.nan), "pseudocount nan is not a number"),
]


@pytest.mark.parametrize(("call", "text"), BAD)
def test_bad_matrices(call, text):
    if text is None:
        call()
        return
    is_usage = text.startswith(("background", "pseudocount"))
    with pytest.raises(tropalign.errors.UsageError if is_usage else tropalign.InputError) as raised:
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
    ("meme", MEME.replace("w= 2", "w= x"), "line 11: alength=, w= and nsites= must be numbers"),
    ("meme", MEME.replace("w= 2", "w= 3"), "line 11, record 'TATA': the matrix has 2 rows, but w= 3: complete it"),
    (
        "meme",
        MEME.replace("w= 2", "w= 3").replace(" 1.0 0.0 0.0 0.0\n", ""),
        "line 11, record 'TATA': the matrix has 1 row, but w= 3: complete it",
    ),
    (
        "meme",
        MEME.replace("w= 2", "w= 1"),
        "line 13, record 'TATA': this row follows the last one of the matrix: correct w=, or remove the row",
    ),
    (
        "meme",
        MEME.replace("w= 1", "") + "\n0.5 0.5 0 0\n",
        "line 19, record 'box2': this row follows the last one of the matrix: correct w=, or remove the row",
    ),
    (
        "meme",
        MEME.replace("w= 2", "w= 0"),
        "line 11, record 'TATA': w= 0, but a matrix has at least 1 row: correct it",
    ),
    (
        "meme",
        MEME.replace("alength= 4 w= 2", "alength= 20 w= 2"),
        "line 11, record 'TATA': alength= 20, but the alphabet has 4 letters: correct it",
    ),
    (
        "meme",
        MEME.replace("nsites= 10", "nsites= -5"),
        "line 11, record 'TATA': nsites= -5 is not a number of at least 0: correct it",
    ),
    (
        "meme",
        MEME.replace("nsites= 10", "nsites= nan"),
        "line 11, record 'TATA': nsites= nan is not a number of at least 0: correct it",
    ),
    (
        "meme",
        MEME.replace("MOTIF TATA", "MOTIF empty\nMOTIF TATA"),
        "line 10, record 'empty': the motif has no letter-probability matrix: add it, or remove the motif",
    ),
    (
        "meme",
        MEME + "\nMOTIF last",
        "line 19, record 'last': the motif has no letter-probability matrix: add it, or remove the motif",
    ),
    ("meme", MEME.replace("C 0.2", "C"), "line 7: the background must have a frequency per letter of the alphabet"),
    (
        "meme",
        FULL_MEME.replace("G 0.2 T 0.3", "G 0.2 T x"),
        "line 30: the background must have a frequency per letter of the alphabet",
    ),
    ("meme", MEME.replace(" 1.0 0.0 0.0 0.0", " 1.0 0.0 x 0.0"), "line 13: a row of the matrix must have 4 numbers"),
    (
        "meme",
        MEME.replace("ALPHABET= ACGT", 'ALPHABET "own"'),
        "line 3: alphabets defined in the file are not supported: write ALPHABET= and the letters",
    ),
    (
        "jaspar",
        JASPAR.replace("94 75 4", "94 75"),
        "line 3: a row of the matrix must have 3 numbers",
    ),
    (
        "jaspar",
        JASPAR.replace("\nT [1]", ""),
        "line 6, record 'MA2': the matrix has 3 rows, not one for each of A, C, G and T: correct it",
    ),
    (
        "jaspar",
        JASPAR.replace(">MA2 X\n", ""),
        "line 1, record 'MA0001.1': the matrix has 8 rows, not one for each of A, C, G and T: correct it",
    ),
    (
        "jaspar",
        JASPAR.replace("\nT [1]", "\nG [1]"),
        "line 6, record 'MA2': the rows must be A [numbers] and the same for C, G and T, or four rows of numbers alone",
    ),
    ("jaspar", JASPAR.replace(">MA2 X", ">"), "line 6: a matrix must have a name: write it after >"),
    ("transfac", TRANSFAC.replace("      0      S", ""), "line 5: a row of the matrix must have 4 numbers"),
    ("transfac", TRANSFAC.replace("0      S", "0   0  S"), "line 5: a row of the matrix must have 4 numbers"),
    ("transfac", TRANSFAC.replace("0      S", "0   0"), "line 5: a row of the matrix must have 4 numbers"),
    (
        "transfac",
        TRANSFAC + "AC  M2\nID x\n//\n",
        "line 9, record 'M2': the record has no matrix: add the line P0 and its rows, or remove the record",
    ),
    (
        "transfac",
        "AC  M2\nP0 A C G T\n//\n",
        "line 1, record 'M2': the record has no matrix: add the line P0 and its rows, or remove the record",
    ),
    (
        "transfac",
        TRANSFAC + TRANSFAC.replace("M1", "M2").removesuffix("//\n"),
        "line 9, record 'M2': the record does not end with //: complete it, or add the line",
    ),
    (
        "transfac",
        TRANSFAC + "AC  M2",
        "line 9, record 'M2': the record does not end with //: complete it, or add the line",
    ),
    (
        "transfac",
        TRANSFAC.replace("//\n", "P0 A C G T\n"),
        "line 8, record 'M1': the record has a second matrix: end it by //",
    ),
    (
        "transfac",
        TRANSFAC.replace("G      T", "T      G"),
        "line 4, record 'M1': the columns must be A C G T: reorder them",
    ),
    (
        "transfac",
        TRANSFAC.replace("02  ", "03  "),
        "line 6, record 'M1': the rows of a matrix follow the line P0 and are numbered from 1: correct this row",
    ),
    (
        "transfac",
        TRANSFAC.replace("02  ", "XX\n02  "),
        "line 7, record 'M1': the rows of a matrix follow the line P0 and are numbered from 1: correct this row",
    ),
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
    assert str(raised.value).removeprefix(path).removeprefix(", ").removeprefix(": ") == said


def test_format_and_scale(tmp_path):
    with pytest.raises(
        tropalign.errors.UsageError, match="'xms' is not a format of position matrices: use one of meme"
    ):
        read(tmp_path, "xms", MEME)
    with pytest.raises(tropalign.errors.UsageError, match=r"'jaspar'\] is not a format of position matrices"):
        read(tmp_path, ["jaspar"], JASPAR)
    with pytest.raises(tropalign.InputError, match="PSI-BLAST's matrices have scores already: leave the scale out"):
        read(tmp_path, "psiblast", PSIBLAST, scale=2)
