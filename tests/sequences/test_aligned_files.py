"""Alignments from files; what they hold is tested where references are."""

import random
import re

import pytest
from clone import ROOT

import tropalign
from tropalign.cli.main import main
from tropalign.errors import InputError, TropalignWarning
from tropalign.sequences.aligned_files import read_alignment

GOOD = {
    "fasta": b">a one\nACGT\nAC\n>b\nAC-TAC\n",
    "phylip": b" 2 6\na  ACGTAC\nb  AC-TAC\n",
    "blocks": b" 2 6\na  ACG\nb  AC-\n\nTAC\nTAC\n",
    "stockholm": b"# STOCKHOLM 1.0\n#=GF ID x\na ACGTAC\n#=GR a SS ......\nb AC-TAC\n#=GC RF xxxxxx\n//\n",
}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"0 10\na ACG\n", "line 1: the numbers of rows and columns in the first"),
        (b"3 0\n", "line 1: the numbers of rows and columns in the first"),
        (b"1 " + b"9" * 5000 + b"\na ACG\n", "line 1: the numbers of rows and columns in the first"),
        (b"\n \n\n", "the file is empty"),
        (b"# STOCKHOLM 1.0\n#=GF ID\na\n", "line 3, record 'a': a Stockholm line must contain a name and residues"),
        (b"# STOCKHOLM 1.0\n//\n", "the file contains no alignment: fetch it again"),
        (2 * GOOD["stockholm"], "the file contains several alignments, but only one is read: split it"),
    ],
)
def test_no_alignments(tmp_path, text, words):
    path = tmp_path / "x"
    path.write_bytes(text)
    with pytest.raises(InputError, match=words):
        read_alignment(path)


@pytest.mark.filterwarnings("ignore:.*bytes that are not UTF-8 are read as Latin-1")
@pytest.mark.parametrize("name", GOOD)
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path, name):
    rng = random.Random(name)
    path = tmp_path / "x"
    for _ in range(400):
        data = bytearray(GOOD[name])
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            data[at : at + rng.randint(0, 3)] = rng.choice(
                [b"", b"\0", b"\n", b"#=GR", b"//", b"\x1b[2J", b"\xff", b"0", b" "]
            )
            data = data or bytearray(b"\n")
        path.write_bytes(data)
        try:
            names, letters = read_alignment(path)
            assert len(names) == len(letters)
        except InputError as error:
            text = str(error)
            assert "\n" not in text and text.isprintable()


@pytest.mark.parametrize("name", ["voil\u00e0", "\u6f22\u5b57", "a\u00a0b", "\u00e9\u2028x"])
def test_names_beyond_ascii_are_read_in_every_format(name, tmp_path):
    path, word = tmp_path / "x", name.encode()
    for text in (
        b">%b d\nAC\n>b\nGT\n", b" 2 2\n%b AC\nb GT\n", b"# STOCKHOLM 1.0\n%b AC\nb GT\n//\n",
        b"CLUSTAL W\n\n%b AC\nb GT\n", b"PileUp\n\n MSF: 2 Type: N Check: 1 ..\n\n Name: %b Len: 2 Check: 1 "
        b"Weight: 1.0\n Name: b Len: 2 Check: 1 Weight: 1.0\n\n//\n\n%b AC\nb GT\n",
    ):  # fmt: skip
        path.write_bytes(text.replace(b"%b", word))
        names, letters = read_alignment(path)
        assert names == (name, "b") and letters.tobytes() == b"ACGT"


def test_names_that_are_not_utf8_are_told(tmp_path):
    path = tmp_path / "x"
    for text in (b">\xe9\nAC\n", b"# STOCKHOLM 1.0\n\xe9 AC\n//\n"):
        path.write_bytes(text)
        with pytest.warns(TropalignWarning) as told:
            assert read_alignment(path)[0] == ("\u00e9",)
        assert str(told[0].message) == f"{path}: bytes that are not UTF-8 are read as Latin-1"


def test_a3m_is_read_and_written(tmp_path):
    path = tmp_path / "a.a3m"
    path.write_text(">a\nMKV\n>b\nagMKtV\n>c\nM-aaV\n>d\n-K.Vxyz\n")
    names, letters = read_alignment(path)
    assert names == tuple("abcd")
    assert [row.tobytes().decode() for row in letters] == ["--MK--V---", "AGMKT-V---", "--M-AAV---", "---K--VXYZ"]
    whole = tropalign.align_multiple(tropalign.read_sequences("examples/efp.fasta")[:12])
    tropalign.write_alignment(whole, path)
    found = tropalign.read_alignment(path)
    assert found.sequences.names == whole.sequences.names
    assert [found.sequences.text(k) for k in range(12)] == [whole.sequences.text(k) for k in range(12)]
    is_query = whole.letters[0] != ord("-")
    columns = found.letters[0] != ord("-")
    assert (found.letters[:, columns] == whole.letters[:, is_query]).all()


def test_masked_sequences_are_no_a3m(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(">a\nMKV\n>b\nagMKtV\n")
    with pytest.raises(InputError, match="6 characters, but 3 expected"):
        read_alignment(path)


@pytest.mark.parametrize("format_name", ["clustal", "stockholm", "phylip", "msf"])
def test_rows_of_alignments_serve_as_sequences(format_name, tmp_path):
    path = tmp_path / "a"
    batch = tropalign.read_sequences("examples/efp.fasta")[:5]
    tropalign.write_alignment(tropalign.align_multiple(batch), path, format=format_name)
    found = tropalign.read_sequences(path)
    assert found.names == batch.names
    assert [found.text(k) for k in range(5)] == [batch.text(k) for k in range(5)]


A, B = "ACGTACGTACGTACGT", "AC--ACGTACGAACGT"
LAYOUTS = {
    "relaxed": f"2 16\na {A}\nlonger_than_ten {B}\n",
    "strict": f"2 16\nHomo sapie{A}\nPan       {B}\n",
    "strict, blanks between": f" 2 16\nHomo sapie{A[:10]} {A[10:]}\nPan trogl {B[:10]} {B[10:]}\n",
    "strict interleaved": f"2 16\nHomo sapie{A[:8]}\nPan trogl {B[:8]}\n\n          {A[8:]}\n          {B[8:]}\n",
    "strict sequential": f"2 16\nHomo sapie{A[:8]}\n{A[8:]}\nPan trogl {B[:8]}\n{B[8:]}\n",
    "interleaved": f"2 16\na {A[:8]}\nb {B[:8]}\n\n{A[8:]}\n{B[8:]}\n",
    "interleaved, no blank line": f"2 16\na {A[:10]}\nb {B[:10]}\n{A[10:]}\n{B[10:]}\n",
    "sequential": f"2 16\na {A[:10]}\n{A[10:]}\nb {B[:10]}\n{B[10:]}\n",
    "sequential, unequal lines": f"2 16\na {A[:3]}\n{A[3:9]}\n{A[9:]}\nb {B[:14]}\n{B[14:]}\n",
    "names alone": f"2 16\na\n{A}\nb\n{B}\n",
    "names as long as groups": f"2 16\nABCDEFGHIJ {A[:6]}\n{A[6:]}\nKLMNOPQRST {B[:6]}\n{B[6:]}\n",
    "tabs": f"2\t16\na\t{A}\nb\t{B}\n",
    "one row": f"1 16\na {A[:8]}\n{A[8:]}\n",
    "option I": f"2 16 I\na {A}\nb {B}\n",
    "unicode": f"2 16\nvoil\u00e0      {A}\n\u6f22\u5b57        {B}\n",
}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_phylip_are_told_apart_by_counting(name, end, tmp_path):
    path = tmp_path / "x.phy"
    path.write_bytes(LAYOUTS[name].replace("\n", end).encode())
    names, letters = read_alignment(path)
    assert [row.tobytes().decode() for row in letters] == [A, B][: len(names)]
    wanted = {"one row": ("a",), "relaxed": ("a", "longer_than_ten"), "unicode": ("voil\u00e0", "\u6f22\u5b57")}
    wanted |= {name: ("Homo sapie", "Pan trogl") for name in LAYOUTS if name.startswith("strict")}
    wanted |= {"strict": ("Homo sapie", "Pan"), "names as long as groups": ("ABCDEFGHIJ", "KLMNOPQRST")}
    assert names == wanted.get(name, ("a", "b"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("2 8\nAAAA CC\nGGGG TT\nTTTT AA\nCCCCGG\n", "are valid both as sequential and as interleaved PHYLIP"),
        ("2 8\na ACGT\nb ACGT\nACGT\n", "the first line states 2 rows of 8 columns"),
        ("2 8\na ACGTACGT\nb ACGTACG\n", "record 'b': 7 characters, but 8 expected"),
        ("3 8\na ACGTACGT\nb ACGTACGT\n", "the first line states 3 rows, but there are 2"),
        ("2 8\na ACGTACGT\nb ACGTACGT\nc ACGTACGT\n", "the first line states 2 rows, but there are 3"),
        ("2 8\na ACGT\nb ACGT\nACG\nACGTA\n", "the first line states 2 rows of 8 columns"),
        (2 * "2 8\na ACGTACGT\nb ACGTACGT\n", "line 4: a second alignment begins here, but only one is read"),
        ("CLUSTAL W (1.83) multiple\n\na ACGT\n\nCLUSTAL W (1.83) multiple\n\na AC\n", "line 5: a second alignment"),
        ("# STOCKHOLM 1.0\na ACGT\nb ACGT\n", "the last line is not //, so the file may be truncated"),
        ("# STOCKHOLM 1.0\na ACGT\n//\n# STOCKHOLM 1.0\na ACGT\n", "the last line is not //"),
        ("# STOCKHOLM 1.0\na ACGT\n#=GC RF xx\n\n", "the last line is not //"),
        ("# STOCKHOLM 1.0\ra ACGT\rb ACG", "the last line is not //"),
    ],
)
def test_what_cannot_be_read_for_sure_is_refused(text, sentence, tmp_path):
    path = tmp_path / "x"
    path.write_text(text, newline="")
    for read in (read_alignment, tropalign.read_alignment, tropalign.read_sequences):
        with pytest.raises(InputError, match=sentence):
            read(path)


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["crlf", "cr"])
@pytest.mark.parametrize("name", GOOD)
def test_line_ends_of_other_systems(name, end, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(GOOD[name].replace(b"\n", end.encode()))
    names, letters = read_alignment(path)
    assert names == ("a", "b") and letters.tobytes() == b"ACGTACAC-TAC"


def test_stockholm_may_end_in_comments_and_blanks(tmp_path):
    path = tmp_path / "x"
    path.write_text("# STOCKHOLM 1.0\na ACGT\n//\n\n# the end\n")
    assert read_alignment(path)[0] == ("a",)


NEXUS = {
    "plain": "begin data; dimensions ntax=2 nchar=8; format datatype=dna missing=? gap=-; matrix a ACGT-CGT b "
    "AC?TACGT; end;",
    "nested comments": "[one [two [three]] 'quote]\nbegin data;\ndimensions ntax=2 nchar=8;\n"
    "format datatype=dna missing=? gap=-;\nmatrix [1 [2]]\na ACGT[4[5]]-CGT\nb AC?TACGT [it's]\n;\nend;",
    "interleaved": "begin data;\ndimensions ntax=2 nchar=8;\nformat datatype=dna interleave gap=- missing=?;\nmatrix\n"
    "a ACGT\nb AC?T\n\na -CGT\nb ACGT\n;\nend;",
    "match character": "begin data;\ndimensions ntax=2 nchar=8;\nformat datatype=dna interleave=yes matchchar=. "
    "gap=-;\nmatrix\na ACGT-CGT\nb ..?.A...\n;\nend;",
    "characters": "begin taxa;\ndimensions ntax=2;\ntaxlabels a b;\nend;\nbegin characters;\ndimensions nchar=8;\n"
    "format missing=* gap=~ datatype=nucleotide;\nmatrix\na\nACGT\n~CGT\nb\nAC*TACGT\n;\nend;\n"
    "begin trees;\ntree t = (a,b);\nend;",
    "upper case": "BEGIN DATA;\nDIMENSIONS NTAX = 2 NCHAR = 8;\nFORMAT DATATYPE = DNA GAP = - MISSING = ?;\nMATRIX\n"
    "a ACGT-CGT\nb AC?TACGT\n;\nENDBLOCK;",
}


@pytest.mark.filterwarnings("ignore:.*1 letter outside the nucleotide alphabet, the first '.'")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("name", NEXUS)
def test_nexus(name, end, tmp_path):
    path = tmp_path / "x.nex"
    path.write_bytes(f"#NEXUS\n{NEXUS[name]}\n".replace("\n", end).encode())
    names, letters = read_alignment(path)
    assert names == ("a", "b") and letters.tobytes() == b"ACGT-CGTAC?TACGT"
    assert tropalign.read_sequences(path).names == ("a", "b")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("begin trees; tree t = (a,b); end;", "this NEXUS file contains no alignment"),
        ("[ [x] begin data;", "line 2: a comment begins here and does not end"),
        ("begin data; dimensions nchar=4; matrix a ACGT", "this statement lacks its semicolon or a closing quote"),
        ("begin data; dimensions nchar=4; matrix 'a ACGT;", "this statement lacks its semicolon or a closing quote"),
        ("begin data; dimensions nchar=4; matrix a ACGT b ACG; end;", "record 'b': 3 characters, but 4 expected"),
        ("begin data; dimensions nchar=4; matrix a ACGTA b ACG; end;", "record 'a': 5 characters, but 4 expected"),
        ("begin data; dimensions ntax=3 nchar=4; matrix a ACGT b ACGT; end;", "ntax is 3, but there are 2 rows"),
        ("begin data; dimensions nchar=4; format datatype=standard; matrix a 0101; end;", "data of type standard"),
        ("begin data; dimensions nchar=4; matrix a 0101; end;", "'0' is not a residue"),
        ("begin data; matrix a ACGT; end;", "the dimensions of the matrix lack nchar"),
        ("begin data; dimensions nchar=x; matrix a ACGT; end;", "nchar must be a number, not 'x'"),
        ("begin data; dimensions nchar=4; format transpose; matrix a ACGT; end;", "matrices with TRANSPOSE are not"),
        (2 * "begin data; dimensions nchar=4; matrix a ACGT; end; ", "a second alignment begins here"),
        ("begin data; dimensions nchar=4; matrix a ACGT a ACGT; end;", "two rows have the same name"),
        ("begin data; dimensions nchar=3; format datatype=protein; matrix a A{CD}G; end;", "not a set of nucleotides"),
    ],
)
def test_nexus_that_is_refused(text, sentence, tmp_path):
    path = tmp_path / "x.nex"
    path.write_text(f"#NEXUS\n{text}\n")
    with pytest.raises(InputError, match=sentence):
        read_alignment(path)


def test_sets_of_nucleotides_and_names_of_nexus(tmp_path):
    path = tmp_path / "x.nex"
    path.write_text(
        "#nexus\nbegin data; dimensions nchar=4; format datatype=dna interleave;\nmatrix\n'it''s [a] b' A{CT}\n"
        "c_d {A C,G}(ACGT)\n\n'it''s [a] b' GT\nc_d TT\n;\nend;\n"
    )
    names, letters = read_alignment(path)
    assert names == ("it's [a] b", "c_d") and letters.tobytes() == b"AYGTVNTT"


def test_a3m_of_equal_rows_has_its_insertions(tmp_path):
    """The rows are of one length by chance: only the file's name says that small letters are insertions."""
    text = ">a\nMKvVL\n>b\nMKVLa\n"
    for name, rows in (("x.a3m", ["MKVVL-", "MK-VLA"]), ("x.a2m", ["MKVVL-", "MK-VLA"]), ("x.fa", ["MKvVL", "MKVLa"])):
        (tmp_path / name).write_text(text)
        assert [row.tobytes().decode() for row in read_alignment(tmp_path / name)[1]] == rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (">P1;X\ntitleA\nMKVLAW-EFK*\n>P1;Y\ntitleB\nMKVLAWLEFK*\n", "line 1: PIR alignments are not supported"),
        (">a\nMKVLAW-EFK\n;ab\n>b\nMKVLAWLEFK\n;cd\n", "line 3: lines that begin with ; are comments"),
    ],
)
def test_titles_and_comments_are_no_residues(text, said, tmp_path):
    (tmp_path / "x.fa").write_text(text)
    with pytest.raises(InputError, match=said):
        read_alignment(tmp_path / "x.fa")


#: SELEX with blanks as gaps, and what Easel (pyhmmer 0.12) makes of it.
SELEX = b"""# a comment
#=RF       xxxxxxx xxx
HBB_HUMAN  VHLTPEE.KSA
MYG_PHYCA   VLSEGEW QL

#=RF       xxxxx
HBB_HUMAN    VTALWG
MYG_PHYCA  VLHVWA
"""
SELEX_ROWS = {"HBB_HUMAN": "VHLTPEE.KSA--VTALWG", "MYG_PHYCA": "-VLSEGEW-QLVLHVWA--"}
PSI_BLAST = b"""a|1             MKV--LA
b               MKVwyLA

a|1             GG
b               -G
"""


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (SELEX, SELEX_ROWS),
        (PSI_BLAST, {"a|1": "MKV--LAGG", "b": "MKVwyLA-G"}),
        (b"a ACGT\nlonger AC-T\n", {"a": "ACGT", "longer": "AC-T"}),
        (b"#=ID x\na ACGT\nlonger AC-T\n", {"a": "ACGT", "longer": "AC-T"}),
        (b"#=ID x\n\nseq1   ACGT\nseq2\n", {"seq1": "ACGT", "seq2": "----"}),
    ],
)
def test_rows_of_selex_and_psi_blast(tmp_path, text, rows):
    path = tmp_path / "x"
    path.write_bytes(text)
    names, letters = read_alignment(path)
    assert dict(zip(names, (bytes(row).decode() for row in letters), strict=True)) == rows
    # As sequences, their gaps are left out.
    batch = tropalign.read_sequences(path, skip_empty=True)
    assert [str(one) for one in batch] == [
        bare for row in rows.values() if (bare := row.replace("-", "").replace(".", ""))
    ]


@pytest.mark.parametrize("form", ["selex", "psiblast"])
def test_selex_and_psi_blast_of_easel(tmp_path, form):
    easel = pytest.importorskip("pyhmmer.easel")
    source = ROOT / "examples" / "efp_aligned.fasta"
    with easel.MSAFile(str(source), "afa") as file:
        alignment = file.read()
    with open(tmp_path / "x", "wb") as out:
        alignment.write(out, form)
    names, letters = read_alignment(tmp_path / "x")
    wanted, rows = read_alignment(source)
    assert names == wanted and letters.tobytes().upper() == rows.tobytes().upper()
    (tmp_path / "y").write_bytes(SELEX)
    with easel.MSAFile(str(tmp_path / "y"), "selex") as file:
        theirs = [text.replace(".", "-") for text in file.read().alignment]
    assert theirs == [text.replace(".", "-") for text in SELEX_ROWS.values()]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a ACGT\nb ACGT\nc ACG\n", "line 3, record 'c': 3 letters, but 4 are expected"),
        (b"a ACGT\nb ACGT\nc AC GT\n", "line 3: read as SELEX or PSI-BLAST, this is no alignment"),
        (b"a ACGT\nb ACGT\n//\n", "line 3: a line // ends an alignment in Stockholm, but the first line"),
        (b"a ACGT\nb ACGT\n\nb ACGT\na ACGT\n", "line 4: this block has other rows than the first one"),
        (b"a ACGT\nb ACGT\na ACGT\n", "line 3, record 'a': two rows have the same name"),
        (b"#=RF xxxx\na ACG1\nb ACGT\n", "line 2, record 'a': '1' is not a residue"),
        (b"#=ID x\n#=DE nothing else\n", "the file holds no alignment"),
        (b"#=ID x\na  AC GT\nb \tACGT\n", "line 3: a tab stands between residues"),
        (b"one ACGT\nhello there, world\n", "line 1: this is not an alignment: FASTA begins"),
    ],
)
def test_damaged_selex(tmp_path, text, words):
    path = tmp_path / "x"
    path.write_bytes(text)
    with pytest.raises(InputError, match=re.escape(words)):
        read_alignment(path)


@pytest.mark.parametrize("text", [SELEX.split(b"\n", 1)[1], PSI_BLAST])
def test_all_verbs_that_read_alignments_read_selex(tmp_path, text):
    path = tmp_path / "x.slx"
    path.write_bytes(text)
    (tmp_path / "more.fa").write_bytes(b">c\nVHLTPEEKSAVTALWG\n")
    (tmp_path / "t.fa").write_bytes(b">t\nMKVWYLAGGVHLTPEEKSAVTALWGMKVWYLA\n")
    out = str(tmp_path / "out")
    for words in (
        ["tree", path, "--distances", "identity"],
        ["score", path, "--reference", path],
        ["build", path, "--alphabet", "protein"],
        ["search", path, tmp_path / "t.fa"],
        ["msa", tmp_path / "more.fa", "--add", path],
        ["pairs", path],
    ):
        assert main([*map(str, words), *([] if words[0] == "score" else ["-q", "-o", out])]) == 0, words
