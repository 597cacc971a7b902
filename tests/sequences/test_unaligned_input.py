"""Gaps, comments, duplicate names and formats of files of sequences that are not aligned."""

import gzip
from pathlib import Path

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.errors import InputError, TropalignWarning, UsageError
from tropalign.sequences.reader import numbered

DNA = "ACGTACGTTGCATGCA"


def records(batch):
    return [(name, batch.text(k)) for k, name in enumerate(batch.names)]


@pytest.mark.parametrize("gap", "-._~")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (">a\nACGTACGTTGCATGCA\n>b\nAC{}TACGTTGCATGCA\n", 4),
        (">a\nACGTACGTTGCATGCA\n\n>b {}\nACGTACG\nTTG{}ATGCA\n", 6),
        ("@a\nACGTACG\n+\nIIIII{}I\n@b\nACGT{}CG\n+\nIIIIIII\n", 6),
        (">b\n{}\n", 2),
        (">b\r\nACGT{}\r\n", 2),
    ],
)
def test_gap_letters_are_refused_with_record_and_line_or_removed(gap, text, line, tmp_path):
    path = tmp_path / "x"
    path.write_text(text.replace("{}", gap), newline="")
    with pytest.raises(InputError) as error:
        ta.read_sequences(path)
    said = str(error.value)
    assert said.startswith(f"{path}, line {line}, record 'b': {gap!r} at position ") and said.endswith('gaps="remove"')
    if len(text) > 10:
        assert gap not in "".join(text for _, text in records(ta.read_sequences(path, gaps="remove")))


def test_gaps_of_compressed_files_and_streams(tmp_path):
    path = tmp_path / "x.fa.gz"
    path.write_bytes(gzip.compress(b">a\nAC-GT\n"))
    with pytest.raises(InputError, match="line 2, record 'a': '-' at position 3 is a gap"):
        ta.read_sequences(path)
    with gzip.open(path) as stream, pytest.raises(InputError, match="record 'a': '-' at position 3 is a gap"):
        ta.read_sequences(stream)
    with pytest.raises(UsageError, match="gaps 'keep' is not one of refuse, remove, note"):
        ta.read_sequences(path, gaps="keep")


VERBS = [
    "pairs {x}", "pairs {x} {y}", "pairs {y} {x}", "cluster {x}", "derep {x}", "chimeras {x}", "find {x} {y}",
    "find {y} {x}", "msa {x}", "msa {x} --method clustalw",
]  # fmt: skip


@pytest.mark.parametrize("line", VERBS)
def test_each_verb_refuses_gaps_and_removes_them(line, tmp_path, capsys):
    paths = {name: str(tmp_path / name) for name in "xy"}
    Path(paths["x"]).write_text(f">a;size=9\n{DNA}--{DNA}\n>b;size=2\n{DNA}{DNA}\n")
    Path(paths["y"]).write_text(f">c\n{DNA}{DNA}\n")
    words = [*line.format(**paths).split(), "-q", "-o", str(tmp_path / "out")]
    assert main(words) == 3
    assert "line 2, record 'a;size=9': '-' at position 17" in (said := capsys.readouterr().err)
    assert said.endswith("--gaps remove\n")
    assert main([*words, "--gaps", "remove"]) == 0


@pytest.mark.parametrize("line", VERBS)
@pytest.mark.parametrize("rule", ["error", "number", "keep"])
def test_duplicate_names_per_verb(line, rule, tmp_path, capsys):
    paths = {name: str(tmp_path / name) for name in "xy"}
    Path(paths["x"]).write_text(f">a;size=9\n{DNA}{DNA}\n>a;size=9\n{DNA}G{DNA}\n")
    Path(paths["y"]).write_text(f">c\n{DNA}{DNA}\n")
    words = [*line.format(**paths).split(), "-q", "-o", str(tmp_path / "out"), "--duplicate-names", rule]
    if rule == "keep" and line.startswith("msa") and "clustalw" not in line:  # FASTA cannot hold two rows of a name
        words += ["-f", "nexus"]
    if rule == "keep" and "clustalw" in line:  # whose guide tree is in Newick
        assert main(words) == 3 and "two taxa have the name 'a" in capsys.readouterr().err
        return
    assert main(words) == (3 if rule == "error" else 0)
    said = capsys.readouterr().err
    assert ("records 1 and 2 have the same name" in said and "--duplicate-names number" in said) == (rule == "error")


def test_duplicate_names_are_numbered_or_kept(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(f">a\n{DNA}\n>a_2\n{DNA}\n>a\n{DNA}\n>b\n{DNA}\n>a\n{DNA}\n")
    with pytest.warns(
        TropalignWarning, match="record 'a' has the name of an earlier record: duplicate names are numbered"
    ):
        assert ta.read_sequences(path, duplicate_names="number").names == ("a", "a_2", "a_3", "b", "a_4")
    assert ta.read_sequences(path, duplicate_names="keep").names == ("a", "a_2", "a", "b", "a")
    assert numbered(["x", "x", "x_2", "x"]) == ["x", "x_3", "x_2", "x_4"] and len(set(numbered(["q"] * 50))) == 50
    with pytest.raises(UsageError, match="duplicate_names 'drop' is not one of error, number, keep"):
        ta.read_sequences(path, duplicate_names="drop")


@pytest.mark.parametrize("text", [">a\n;old comment\nACGT\n", ">a\nACGT\n; comment\nACGT\n", "; first\n>a\nACGT\n"])
def test_comment_lines_are_refused(text, tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(text)
    with pytest.raises(InputError, match=r"line \d(.*';'|: this is neither FASTA nor FASTQ)"):
        ta.read_sequences(path)


PIR = ">P1;X\nsome -title-\nMKVLAW FFEEP\nMKL*\n\n>F1;Y_1\n\nMKVLAW*\nC;Accession: A1\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PIR, [("X", "MKVLAWFFEEPMKL"), ("Y_1", "MKVLAW")]),
        (PIR.replace("\n", "\r\n"), [("X", "MKVLAWFFEEPMKL"), ("Y_1", "MKVLAW")]),
        (PIR.replace("\n", "\r"), [("X", "MKVLAWFFEEPMKL"), ("Y_1", "MKVLAW")]),
        (">N1;d\ntitle\nACGTACGTAC GTACGT*\n", [("d", "ACGTACGTACGTACGT")]),
        (">P1;X\nt\nMK\n>P1;Y\nt\nMK*\n", "line 4, record 'X': the sequence of a PIR record must end with '\\*'"),
        (">P1;X\nt\nMKL\n", "record 'X': the sequence of a PIR record must end with '\\*'"),
        (">P1;X\nt\nMKL*\n>Y\nMKL\n", "line 4: a PIR record must begin with"),
        (">a\rMKVLAW\rLL\r>b\rMKL", [("a", "MKVLAWLL"), ("b", "MKL")]),
        (">a\r\nMKVLAW\r\n>b\r\nMKL\r\n", [("a", "MKVLAW"), ("b", "MKL")]),
        ("@a\rACGTACGTACGTAC\r+\rIIIIIIIIIIIIII\r", [("a", "ACGTACGTACGTAC")]),
        ("ID   X   10 AA.\rAC   P1;\rSQ   SEQ\r     MKVLAW LL\r//\r", [("X", "MKVLAWLL")]),
    ],
)  # fmt: skip
def test_formats_of_files(text, found, tmp_path):
    path = tmp_path / "x"
    path.write_text(text, newline="")
    if isinstance(found, str):
        with pytest.raises(InputError, match=found):
            ta.read_sequences(path)
    else:
        assert records(ta.read_sequences(path)) == found


RELEASE = """GBBCT1.SEQ          Genetic Sequence Data Bank
                          April 15 2008

                NCBI-GenBank Flat File Release 165.0

                        Bacterial Sequences (Part 1)

   1 loci,          20 bases, from      1 reported sequences

"""
LOCUS = """LOCUS       {0}     20 bp    DNA             PLN       21-JUN-1999
DEFINITION  Yeast.
VERSION     {0}.1
ORIGIN
        1 gatcctccat atacaacggt
//
"""


@pytest.mark.parametrize("text", [RELEASE + LOCUS.format("U1"), RELEASE + LOCUS.format("U1") + LOCUS.format("U2")])
def test_headers_of_releases_are_skipped(text, tmp_path):
    path = tmp_path / "gbbct1.seq"
    path.write_text(text)
    assert ta.read_sequences(path).names == tuple(f"U{k + 1}.1" for k in range(text.count("LOCUS ")))


def test_accessions_of_flat_files_are_in_hit_tables(tmp_path, capsys):
    protein = "MAVNINGAVQKLNGSKKLDSQADLIKKLKEENQPKAAARL"
    path = tmp_path / "x.dat"
    entry = (
        "ID   {0}_DROME    Reviewed;   40 AA.\nAC   {1}; Q9VZ36;\nAC   Q5BI35;\nDE   X.\nSQ   SEQUENCE\n     {2}\n//\n"
    )
    path.write_text(entry.format("A", "P13368", protein) + entry.format("B", "A0A001", protein[:30]))
    for verb in ("search",):
        assert main([verb, str(path), str(path), "-q", "-f", "tblout", "-o", "-"]) == 0
        rows = [line.split()[:3] for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
        assert {tuple(row[:2]) for row in rows} == {("A_DROME", "P13368"), ("B_DROME", "A0A001")}
    assert [hit.accession for hit in ta.search(path, path)[:1]] == ["P13368"]


def test_letters_in_place_of_a_file_are_told():
    hmm = Path("examples/efp.hmm")
    sentence = r"MKV: there is no such file\. If this is a sequence, use Seq"
    for call in (lambda: ta.search(hmm, "MKV"), lambda: ta.read_sequences(["MKV"])):
        with pytest.raises(InputError, match=sentence):
            call()


@pytest.mark.parametrize("gap", "-.~")
def test_gaps_of_alignments(gap, tmp_path, capsys):
    """The same letters are gaps in --add, score and place."""
    old, new = tmp_path / "old.fa", tmp_path / "new.fa"
    old.write_text(f">a\nMKVLAWFF{gap * 2}EE\n>b\nMKVLAWFFGGEE\n")
    new.write_text(">c\nMKVLAWFFEE\n")
    assert main(["msa", str(old), "--add", str(new), "-q", "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith(">a\nMKVLAWFF--EE\n>b\n")
    assert ta.read_alignment(old).sequences.text(0) == "MKVLAWFFEE"
    rows = np.array(
        [list(row) for row in (b"ACGTA", b"ACGAA", b"AC#AA".replace(b"#", gap.encode()), b"TCCAA")], np.uint8
    )
    plain = rows.copy()
    plain[plain == ord(gap)] = ord("-")
    tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
    built = [ta.ReferencePackage.build(tuple("abcd"), each, tree) for each in (rows, plain)]
    assert (built[0].planes == built[1].planes).all()


def test_place_removes_gaps_if_asked():
    rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
    package = ta.ReferencePackage.build(tuple("abcd"), rows, "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);")
    with pytest.raises(InputError, match="record 'x': '-' at position 3 is a gap"):
        list(ta.place(package, [("x", "AC-GTA")]))
    (placed,) = ta.place(package, [("x", "AC-GTA")], gaps="remove")
    assert placed.score.tolist() == [10]
