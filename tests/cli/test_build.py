"""tropalign build: files that equal hmmbuild's, libraries, inputs of every format, and what cannot be a model."""

import gzip
import random
import shutil
import subprocess

import pytest
from clone import ROOT

from tropalign.cli.main import main
from tropalign.sequences.aligned_files import read_alignment

pytest.importorskip("pyhmmer", reason="models are built by pyhmmer")
EXAMPLE = ROOT / "examples" / "efp_aligned.fasta"
ROWS = [
    "MKVLAWGGHIKLMDERTYSCPQNNWAGIVLHKKEDRSTYFW", "MKVIAWGG-IKLMDERTYSCPQNNWAGI-LHKKEDRSTYFW",
    "MRVIAW-GHIKLMEERTYSCPKNNWAGIVLHKREDRSTYYW", "MRVLSW-GHLKLMDDRTWSCPQ-NWSGIVLHKKENRSTYFW",
]  # fmt: skip
NUCLEOTIDES = ["ACGTACGTTGCAACGTACGATCGATCGTAGC", "ACGTAC--TGCAACGTACGATCGATCGTNGC", "ACGTACGTTGCAACGTAC-ATCGATCGTAGC"]


def stockholm(rows, *lines, columns=()):
    named = [f"row{k} {row}" for k, row in enumerate(rows)]
    marks = [f"#=GC {tag} {text}" for tag, text in columns]
    return "\n".join(["# STOCKHOLM 1.0", *lines, *named, *marks, "//", ""])


def built(path, *options):
    out = path.with_suffix(".out.hmm")
    assert main(["build", str(path), "-q", "-o", str(out), *options]) == 0
    return out.read_text()


def below_the_version(text):
    """The lines that hmmbuild writes of an alignment, whatever its version and the day."""
    return [line for line in text.splitlines() if not line.startswith(("HMMER3/f", "DATE"))]


def test_latin_1_is_read_with_a_warning(tmp_path, capsys):
    for name, text in (("a", b"#=GF DE caf\xe9\na MKVLAW\n"), ("b", b"a\xe9 MKVLAW\n")):
        path = tmp_path / f"{name}.sto"
        path.write_bytes(b"# STOCKHOLM 1.0\n" + text + b"b MKVLAW\n//\n")
        words = [
            "build",
            str(path),
            "--alphabet",
            "protein",
            "-o",
            str(tmp_path / "x.hmm"),
            "-O",
            str(tmp_path / "y.sto"),
        ]
        assert main(words) == 0
        assert "bytes that are not UTF-8 are read as Latin-1" in capsys.readouterr().err
        assert "é" in (tmp_path / "y.sto").read_text()


def mutated(rng, rows, letters, share):
    return ["".join(rng.choice(letters) if x.isalpha() and rng.random() < share else x for x in row) for row in rows]


def cut(rng, rows, gap):
    spans = [sorted(rng.sample(range(len(row) + 1), 2)) for row in rows]
    return [gap * a + row[a:b] + gap * (len(row) - b) for row, (a, b) in zip(rows, spans, strict=True)]


MARKS = "".join("x" if k % 5 else "." for k in range(len(ROWS[0])))
CURATED = ("#=GF ID family", "#=GF AC PF1.2", "#=GF DE some proteins", "#=GF GA 20.5 18.0;", "#=GF TC 21 19")
#: Alignments, options of tropalign, and those of hmmbuild.
CASES = {
    "as by default": (ROWS, [], []),
    "one row": (ROWS[:1], [], []),
    "equal rows": (ROWS[:1] * 5, [], []),
    "ambiguous letters": (mutated(random.Random(1), ROWS, "XBZJOU", 0.3), [], []),
    "stars": (mutated(random.Random(2), ROWS, "*-", 0.2), [], []),
    "fragments by gaps": (cut(random.Random(3), ROWS, "-"), [], []),
    "fragments": (cut(random.Random(4), ROWS, "~"), [], []),
    "insertions beside deletions": (mutated(random.Random(5), ROWS, "-", 0.4), [], []),
    "missing data": (cut(random.Random(6), mutated(random.Random(7), ROWS, "-", 0.4), "~"), [], []),
    "rows of gaps": ([*ROWS, "-" * len(ROWS[0])], [], []),
    "a model at the second try": (["A---------", "-C--------", "--D-------"], [], []),
    "occupancy": (ROWS, ["--occupancy", "0.8"], ["--symfrac", "0.8"]),
    "no fragments": (cut(random.Random(3), ROWS, "-"), ["--fragments", "0"], ["--fragthresh", "0"]),
    "tree": (ROWS, ["--weights", "tree"], ["--wgsc"]),
    "blosum": (ROWS, ["--weights", "blosum", "--weights-identity", "0.8"], ["--wblosum", "--wid", "0.8"]),
    "no weights": (ROWS, ["--weights", "none"], ["--wnone"]),
    "clusters": (ROWS, ["--effective", "clusters", "--clusters-identity", "0.9"], ["--eclust", "--eid", "0.9"]),
    "all sequences": (ROWS, ["--effective", "none"], ["--enone"]),
    "a number": (ROWS, ["--effective-number", "1.25"], ["--eset", "1.25"]),
    "entropy": (ROWS, ["--entropy", "0.3", "--sigma", "9"], ["--ere", "0.3", "--esigma", "9"]),
    "laplace": (ROWS, ["--prior", "laplace"], ["--plaplace"]),
    "no prior": (ROWS, ["--prior", "none"], ["--pnone"]),
    "another name": (ROWS, ["-n", "other"], ["-n", "other"]),
    "seed": (ROWS, ["--seed", "7"], ["--seed", "7"]),
}  # fmt: skip


@pytest.mark.skipif(shutil.which("hmmbuild") is None, reason="hmmbuild is not installed")
class TestBesideHmmbuild:
    def check(self, tmp_path, text, ours, theirs, name="x.sto"):
        path = tmp_path / name
        path.write_text(text)
        beside, alignment, own = (tmp_path / name for name in ("theirs.hmm", "theirs.sto", "ours.sto"))
        command = ["hmmbuild", "--cpu", "0", "-o", "/dev/null", "-O", str(alignment), *theirs, str(beside), str(path)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        found = below_the_version(built(path, *ours, "-O", str(own)))
        assert found == below_the_version(beside.read_text()) and len(found) > 20
        if "--single" in ours:  # hmmbuild writes no alignment
            assert own.read_text().split("\n")[-4].split()[1] == ROWS[3].replace("-", "")
        else:
            assert own.read_text() == alignment.read_text()

    @pytest.mark.parametrize("case", CASES)
    def test_files_are_equal(self, case, tmp_path):
        rows, ours, theirs = CASES[case]
        self.check(tmp_path, stockholm(rows), ["--alphabet", "protein", *ours], ["--amino", *theirs])

    @pytest.mark.parametrize("options", [("occupied", "--fast"), ("reference", "--hand")])
    def test_annotation_is_taken_over(self, options, tmp_path):
        columns = [("RF", MARKS), ("SS_cons", "HHCCE" * 8 + "."), ("MM", "m" * 5 + "." * 36)]
        if options[1] == "--fast":  # where version 3.3 of hmmbuild weighs rows by the marks
            columns = columns[1:]
        text = stockholm(ROWS, *CURATED, columns=columns)
        self.check(tmp_path, text, ["--nodes", options[0]], [options[1]])

    @pytest.mark.parametrize(
        ("ours", "theirs"),
        [
            ([], []),
            (["--matrix", "PAM30"], ["--mx", "PAM30"]),
            (
                ["--gap-open-probability", "0.05", "--gap-extend-probability", "0.3"],
                ["--popen", "0.05", "--pextend", "0.3"],
            ),
        ],
    )
    def test_single_sequences(self, ours, theirs, tmp_path):
        self.check(tmp_path, stockholm([ROWS[3]], *CURATED[:1]), ["--single", *ours], ["--singlemx", *theirs])

    def test_a_single_sequence_names_its_model(self, tmp_path):
        self.check(tmp_path, f">one of them\n{ROWS[3].replace('-', '')}\n", ["--single"], ["--singlemx"], "x.fa")

    @pytest.mark.parametrize(("letters", "word"), [("T", ""), ("T", "dna"), ("U", "rna"), ("U", "")])
    def test_nucleotides(self, letters, word, tmp_path):
        rows = [row.replace("T", letters) for row in NUCLEOTIDES]
        self.check(tmp_path, stockholm(rows), ["--alphabet", word] if word else [], [f"--{word}"] if word else [])

    def test_a_library(self, tmp_path):
        names = [f"#=GF ID family{k}" for k in range(70)]
        text = "".join(stockholm(ROWS[k % 3 :], name) for k, name in enumerate(names))
        self.check(tmp_path, text, ["-t", "2"], [])

    def test_matches_and_insertions(self, tmp_path):
        text = ">a\nMKVlaWGHIKLMNPQRST\n>b\nMKVWG-IKLMNPQRST\n>c\nM-VwWGHIKLMNPQRST\n"
        self.check(tmp_path, text, [], ["--informat", "a2m", "--amino"], "x.a2m")


def test_every_format_makes_the_same_model(tmp_path):
    names, rows = read_alignment(EXAMPLE)
    texts = [row.tobytes().decode() for row in rows]
    pairs = list(zip(names, texts, strict=True))
    files = {
        "efp.fa": "".join(f">{name} words\n{row}\n" for name, row in pairs),
        "efp.sto": "\n".join(["# STOCKHOLM 1.0", *(f"{name} {row}" for name, row in pairs), "//", ""]),
        "efp.aln": "\n".join(["CLUSTAL W", "", *(f"{name} {row}" for name, row in pairs), ""]),
        "efp.phy": "\n".join([f"{len(texts)} {len(texts[0])}", *(f"{name} {row}" for name, row in pairs), ""]),
    }
    models = set()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        models.add(built(tmp_path / name))
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        models.add(built(tmp_path / f"{name}.gz"))
    assert len(models) == 1 and "NAME  efp\n" in models.pop()


LONG = "n" * 10_000


def test_long_names(tmp_path):
    path = tmp_path / "x.sto"
    path.write_text(stockholm(ROWS, f"#=GF ID {LONG}").replace("row1", LONG))
    assert f"NAME  {LONG}\n" in built(path)
