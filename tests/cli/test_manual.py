"""Pages for man: every option is there, and man's own checkers have nothing to say."""

from __future__ import annotations

import argparse
import shutil
import subprocess

import pytest

from tropalign.cli.main import VERBS, main, make_parser
from tropalign.cli.parser import man_page, verbs_of, write_man_pages


def plain(text: str) -> str:
    return text.replace("\\-", "-").replace("\\e", "\\").replace("\\fB", "").replace("\\fI", "").replace("\\fR", "")


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_has_every_option_with_its_help(verb: str) -> None:
    parser = make_parser(False)
    one = verbs_of(parser)[verb]
    lines = plain(man_page(one, parser)).split("\n")
    for action in one._actions:
        if action.option_strings and action.help is not argparse.SUPPRESS:
            names = ", ".join(action.option_strings)
            heading = next(line for line in lines if f"{line} ".startswith(f"{names} "))
            assert lines[lines.index(heading) + 1] == (action.help or "").replace("%%", "%")


def test_pages_are_written_and_man_takes_them(tmp_path) -> None:
    write_man_pages(make_parser(False), tmp_path / "man1")
    pages = sorted((tmp_path / "man1").iterdir())
    assert [path.name for path in pages] == sorted(["tropalign.1", *(f"tropalign-{verb}.1" for verb in VERBS)])
    checker = shutil.which("mandoc")
    if checker is None:
        pytest.skip("mandoc is not installed")
    for path in pages:
        said = subprocess.run([checker, "-Tlint", "-W", "warning", path], capture_output=True, text=True).stdout
        assert [line for line in said.splitlines() if "missing date" not in line] == []


def test_a_page_is_printed(capsys) -> None:
    assert main(["--print-man", "merge"]) == 0
    assert capsys.readouterr().out.startswith(".TH TROPALIGN-MERGE 1")
    assert main(["--print-man", "merg"]) == 2
    assert "no page 'merg'" in (said := capsys.readouterr().err) and "did you mean 'merge'?" in said
