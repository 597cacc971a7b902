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


def test_a_terminal_shows_columns_and_the_mean(files, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["score", "--reference", str(files / "refs"), str(files / "tests")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split() == ["mean", "of", "2", "0.5000", "0.5000"]
    assert len({line.rindex(".") for line in lines[1:]}) == 1


def test_a_page_beside_the_table(files, capsys):
    page = files / "x.html"
    words = ["score", "--reference", str(files / "ref.fa"), str(files / "poor.fa"), "--html", str(page)]
    assert main(words) == 0
    assert table(capsys.readouterr().out)[1][1] == "0.0000"
    text = page.read_text()
    assert '"title":"poor and ref"' in text and '"SP 0.0000"' in text and "tropalign score" in text
