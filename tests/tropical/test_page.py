"""The examples of docs/tropical.md run as they stand there."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tropical.md"


def test_examples_run():
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.attempted > 15 and not results.failed
