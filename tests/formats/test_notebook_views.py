"""What notebooks show, in a browser whose page sets ``pre`` in its own proportional font, as JupyterLab does."""

import pytest

import tropalign

STYLE = "<style>body {font-family: serif; font-size: 13px} pre {font-family: inherit; white-space: pre-wrap}</style>"
#: Where each letter of an element's text begins, line by line.
PLACES = """
const lines = [[]], range = document.createRange();
const walker = document.createTreeWalker(arguments[0], NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());)
  for (let k = 0; k < node.length; ++k) {
    if (node.data[k] === "\\n") { lines.push([]); continue; }
    range.setStart(node, k); range.setEnd(node, k + 1);
    lines.at(-1).push(range.getBoundingClientRect().x);
  }
return lines;
"""
SET = {"first <i>": "MKVLAWHEAGIIIIIIWWWWWWMKV" * 3, "second": "MKILAWPAWHEAEIIIIIWWWWWMKV" * 3}


def views():
    (table,) = tropalign.align_all(SET, mode="global")
    return {"alignment": table[0]._repr_html_(), "table": table._repr_html_()}


@pytest.mark.parametrize("name", ["alignment", "table"])
def test_letters_stand_below_each_other(browser, tmp_path, name):
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><meta charset='utf-8'>{STYLE}{views()[name]}")
    browser.get(path.as_uri())
    browser.execute_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    pre = browser.find_element("tag name", "pre")
    lines = [line for line in browser.execute_script(PLACES, pre) if len(line) > 80]
    assert len(lines) >= 2 and len(lines) % 2 == 0
    for query, target in zip(lines[::2], lines[1::2], strict=True):
        n = min(len(query), len(target))
        assert query[:n] == pytest.approx(target[:n], abs=0.01)
    steps = [b - a for a, b in zip(lines[0], lines[0][1:], strict=False)]
    assert min(steps) > 5 and max(steps) - min(steps) < 0.05
