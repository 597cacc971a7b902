"""What reports for a browser share stands in their frame alone."""

import collections
import re

import pytest

from tropalign.formats.hits import report as hits
from tropalign.formats.pages.web_page import FRAME, PAGES, SCRIPTS, _frame
from tropalign.formats.pairs import report as pairs
from tropalign.formats.placed import report as placed

REPORTS = [pytest.param(module, id=module.PAGE) for module in (pairs, placed, hits)]


@pytest.mark.parametrize("module", REPORTS)
def test_every_script_stands_on_the_page_and_declares_names_of_its_own(module):
    """Scripts of a page are one program: of two functions of one name the second silently hides the first."""
    assert {path.name for path in (PAGES / module.PAGE).glob("*.js")} == set(module.SCRIPTS)
    assert {path.name for path in FRAME.glob("*.js")} == set(SCRIPTS)
    script = _frame(module.PAGE, module.SCRIPTS)[1][b"script"].decode()
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", script, re.MULTILINE)
    assert {"addTable", "begins", "page"} < set(names)
    assert [name for name, n in collections.Counter(names).items() if n > 1] == []


@pytest.mark.parametrize("module", REPORTS)
def test_every_part_is_filled_in_and_every_id_is_one_element(module):
    frame, filled = _frame(module.PAGE, module.SCRIPTS)
    markup = (frame + filled[b"body"] + filled[b"help"]).decode()
    assert not re.search(rb"@\w+@", filled[b"body"])
    ids = re.findall(r'\bid="([\w-]+)"', markup)
    assert {"summary", "table", "find", "save"} < set(ids)
    assert len(ids) == len(set(ids))
    labelled = re.findall(r'(?:aria-labelledby|for)="([\w-]+)"', markup)
    assert set(labelled) <= set(ids)
