"""The examples of docs/tropical.md run as they stand there."""

import doctest

from clone import ROOT, skip_without


def test_examples_run():
    skip_without("docs")
    results = doctest.testfile(str(ROOT / "docs" / "tropical.md"), module_relative=False)
    assert results.attempted > 15 and not results.failed
