"""What reports for a browser share stands in their frame alone."""

import collections
import re

import pytest

from tropalign.formats.aligned import report as aligned
from tropalign.formats.hits import report as hits
from tropalign.formats.pages import FRAME, PAGES, REPORT_SCRIPTS, page_texts
from tropalign.formats.pairs import report as pairs
from tropalign.formats.placed import report as placed
from tropalign.formats.trees import report as trees

REPORTS = {module.PAGE: module.SCRIPTS for module in (pairs, placed, hits, trees)}


@pytest.mark.parametrize("name", [*REPORTS, "aligned"])
def test_every_script_stands_on_the_page_and_declares_names_of_its_own(name):
    """Scripts of a page are one program: of two functions of one name the second silently hides the first."""
    scripts = REPORTS.get(name, aligned.SCRIPTS)
    assert {path.name for path in (PAGES / name).glob("*.js")} == {script for script in scripts if "/" not in script}
    assert {path.name for path in FRAME.glob("*.js")} == {"frame.js", *REPORT_SCRIPTS}
    script = page_texts(name, scripts, name in REPORTS)[b"script"].decode()
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", script, re.MULTILINE)
    assert {"Frame", "shown"} < set(names)
    assert name not in REPORTS or {"addTable", "begins", "page"} < set(names)
    assert [name for name, n in collections.Counter(names).items() if n > 1] == []


@pytest.mark.parametrize("name", [*REPORTS, "aligned"])
def test_every_part_is_filled_in_and_every_id_is_one_element(name):
    filled = page_texts(name, REPORTS.get(name, aligned.SCRIPTS), name in REPORTS)
    frame = (FRAME / "frame.html").read_bytes()
    markup = (frame + filled[b"controls"] + filled[b"body"] + filled[b"help"]).decode()
    assert not re.search(rb"@\w+@", filled[b"body"])
    assert set(re.findall(rb"@(\w+)@", frame)) == {*filled, b"made", b"data"}
    ids = re.findall(r'\bid="([\w-]+)"', markup)
    needed = {"tree": {"summary", "tree", "tree-find"}, "aligned": {"sheet", "words", "save"}}
    assert needed.get(name, {"summary", "table", "find", "save"}) < set(ids)
    assert len(ids) == len(set(ids))
    labelled = re.findall(r'(?:aria-labelledby|for)="([\w-]+)"', markup)
    assert set(labelled) <= set(ids)
