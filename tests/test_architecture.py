"""The pages for developers against the tree: every source says what it is, words are real, links lead somewhere."""

import importlib.util
import re

import pytest
from clone import ROOT, skip_without

skip_without("src", "native", "docs")
PAGE = (ROOT / "docs" / "architecture.md").read_text()
SOURCE = ROOT / "src" / "tropalign"
#: Native files are held to the rule for the map as soon as all of them keep it.
EXEMPT = {"native"}


def chapter(title, level=2):
    """The text below a heading, up to the next one of its level or above."""
    begin = PAGE.index(f"\n{'#' * level} {title}\n")
    end = re.compile(rf"^#{{1,{level}}} ", re.MULTILINE).search(PAGE, begin + level + 2 + len(title))
    return PAGE[begin : end.start() if end else len(PAGE)]


@pytest.fixture(scope="module")
def source_map():
    """docs/extensions/source_map.py, which makes the map."""
    spec = importlib.util.spec_from_file_location("source_map", ROOT / "docs" / "extensions" / "source_map.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_source_begins_with_a_sentence_that_says_what_it_is(source_map):
    """A docstring or a head comment; the body of a header may leave it to the header."""
    silent = [path for path in source_map.sources() if not source_map.first_sentence(path)]
    silent = [path for path in silent if not (path.suffix == ".cpp" and path.with_suffix(".hpp").exists())]
    assert not [path for path in silent if path.relative_to(ROOT).parts[0] not in EXEMPT]


def test_the_map_lists_every_source(source_map):
    rows = set()
    for text in source_map.page().split("\n## ")[1:]:
        folder = text.split("`")[1]
        for names in re.findall(r"^\| `(.+?)` \|", text, re.MULTILINE):
            header, *body = names.split(", ")
            rows |= {folder + header, *(folder + header.removesuffix(".hpp") + suffix for suffix in body)}
    there = {str(path.relative_to(ROOT)) for path in source_map.sources() if path.name != "__init__.py"}
    assert rows == there and len(there) > 600


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.py", '"""Batches, e.g. of reads. Nothing else."""\n', "Batches, e.g. of reads"),
        ("a.hpp", "#pragma once\n// A cell\n// of a row.\n//\n// More.\n#include <a>\n", "A cell of a row"),
        ("a.k", "/* Sums of products:\n\n   more */\n", "Sums of products"),
        ("a.cpp", '#include "a.hpp"\n', ""),
    ],
)
def test_first_sentences_are_read_as_they_stand(source_map, tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text)
    assert source_map.first_sentence(tmp_path / name) == sentence


def test_sentences_are_markdown_in_the_map(source_map):
    assert source_map.escaped("a|b_c `d_e`") == r"a\|b\_c `d_e`"


def test_words_of_the_glossary_are_used(source_map):
    words = " ".join(path.read_text() for path in source_map.sources()).lower().replace("_", " ")
    cells = re.findall(r"^\| (.+?) \| .+\|$", chapter("Glossary"), re.MULTILINE)[2:]
    terms = [term for cell in cells for term in cell.split(", ")]
    for term in terms:
        assert re.search(rf"\b{term}s?\b", words), term
    assert len(terms) == len(set(terms)) > 40


def test_pages_are_linked():
    assert "docs/architecture.md" in (ROOT / "README.md").read_text()
    assert "architecture" in (ROOT / "docs" / "index.md").read_text().split()
    for name in re.findall(r"\]\(([\w./-]+?\.md)\)", PAGE):
        assert name.startswith("_generated/") or (ROOT / "docs" / name).is_file(), name
