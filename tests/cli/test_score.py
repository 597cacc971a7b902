"""tropalign score: tables, directories, masks, and what cannot be scored."""

import pytest

from tropalign.cli.main import main

REFERENCE = ">a\nmkVLAw\n>b\n--VIAw\n"
GOOD = ">a\nMKVLAW\n>b\n--VIAW\n>other\nWWWWWW\n"
POOR = ">a\nMKVLAW\n>b\nVI-A-W\n"


@pytest.fixture
def files(tmp_path):
    for folder, name, text in [
        (".", "ref.fa", REFERENCE), (".", "good.fa", GOOD), (".", "poor.fa", POOR), ("refs", "x.fasta", REFERENCE),
        ("refs", "y.fasta", REFERENCE), ("tests", "x.fa", GOOD), ("tests", "y.fa", POOR), (".", "mask", "000001\n"),
    ]:  # fmt: skip
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text(text)
    return tmp_path


def table(text):
    return [line.split("\t") for line in text.splitlines()]


def test_a_row_per_alignment(files, capsys):
    tests = [str(files / name) for name in ("good.fa", "poor.fa")]
    assert main(["score", "--reference", str(files / "ref.fa"), *tests]) == 0
    assert table(capsys.readouterr().out) == [
        ["alignment", "sp", "tc", "columns", "pairs", "sequences"],
        [tests[0], "1.0000", "1.0000", "3", "3", "2"],
        [tests[1], "0.0000", "0.0000", "3", "3", "2"],
    ]


def test_directories_are_paired_by_name(files, capsys):
    out = files / "scores.tsv"
    assert main(["score", "--reference", str(files / "refs"), str(files / "tests"), "-o", str(out)]) == 0
    rows = [row[:2] for row in table(out.read_text())]
    assert rows[1:] == [
        [str(files / "tests" / "x.fa"), "1.0000"],
        [str(files / "tests" / "y.fa"), "0.0000"],
    ]


def test_a_terminal_shows_columns_and_the_mean(files, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["score", "--reference", str(files / "refs"), str(files / "tests")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split() == ["mean", "of", "2", "0.5000", "0.5000"]
    assert len({line.rindex(".") for line in lines[1:]}) == 1


@pytest.mark.parametrize(("options", "n_columns"), [(["--reference-columns", "mask"], 1), (["--all-columns"], 4)])
def test_other_columns(files, capsys, options, n_columns):
    options = [str(files / word) if word == "mask" else word for word in options]
    assert main(["score", "--reference", str(files / "ref.fa"), str(files / "poor.fa"), *options]) == 0
    assert table(capsys.readouterr().out)[1][3] == str(n_columns)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--reference", "ref.fa", "none.fa"], 3, "none.fa: there is no such file"),
        (["--reference", "refs", "good.fa"], 3, "refs has this name: give references the names of their alignments"),
        (["--reference", "twice", "good.fa"], 3, "x.txt: another reference has this name, suffixes aside: keep one"),
        (["--reference", "empty", "good.fa"], 3, "empty: there is no file in the directory: name another one"),
        (["--reference", "ref.fa", "ref.fa", "-o", "ref.fa"], 2, "ref.fa is an input: name another file to write to"),
        (
            ["--reference", "ref.fa", "good.fa", "--reference-columns", "good.fa"],
            3,
            "'>' marks no column: write 1 or x for",
        ),
        (
            ["--reference", "refs", "tests", "--reference-columns", "mask"],
            2,
            "--reference-columns is for one reference",
        ),
        (["--reference", "-", "-"], 2, "standard input can be read once: name - once"),
        (["--reference", "ref.fa", "good.fa", "-o", "s.parquet"], 2, "s.parquet: scores are tab-separated text: end"),
        (["--reference", "ref.fa", "good.fa", "-o", "s.csv.gz"], 2, "end the name in .tsv or .txt"),
        (["good.fa"], 2, "required: --reference"),
    ],
)
def test_what_cannot_be_scored(files, capsys, monkeypatch, arguments, code, words):
    (files / "empty").mkdir()
    (files / "twice").mkdir()
    for name in ("x.fa", "x.txt"):
        (files / "twice" / name).touch()
    monkeypatch.chdir(files)
    assert main(["score", *arguments]) == code
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


def test_a_page_beside_the_table(files, capsys):
    page = files / "x.html"
    words = ["score", "--reference", str(files / "ref.fa"), str(files / "poor.fa"), "--html", str(page)]
    assert main(words) == 0
    assert table(capsys.readouterr().out)[1][1] == "0.0000"
    text = page.read_text()
    assert '"title":"poor and ref"' in text and '"SP 0.0000"' in text and "tropalign score" in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["good.fa", "poor.fa", "--html", "x.html"], "--html shows one alignment: name one, or leave --html out"),
        (["good.fa", "--html", "x.svg"], "x.svg: end the name in .html (and .gz or the like to compress)"),
        (["good.fa", "--html", "good.fa.html", "-o", "good.fa.html"], "good.fa.html"),
    ],
)
def test_what_is_no_page(files, capsys, monkeypatch, words, sentence):
    monkeypatch.chdir(files)
    assert main(["score", "--reference", "ref.fa", *words]) == 2
    assert sentence in capsys.readouterr().err
    assert not (files / "x.html").exists()
