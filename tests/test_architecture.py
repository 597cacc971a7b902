"""The pages for developers against the tree: every source says what it is, words are real, links lead somewhere."""

import importlib.util
import re

import pytest
from clone import ROOT, skip_without
from test_import_rules import ALLOWED

skip_without("src", "native", "docs")
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in ("architecture", "recipes")}
SOURCE = ROOT / "src" / "tropalign"


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
    assert not silent


def test_the_map_lists_every_source(source_map):
    rows = set()
    for text in source_map.page().split("\n## ")[1:]:
        folder = text.split("`")[1]
        for names in re.findall(r"^\| `(.+?)` \|", text, re.MULTILINE):
            header, *body = names.split(", ")
            rows |= {folder + header, *(folder + header.removesuffix(".hpp") + suffix for suffix in body)}
    there = {str(path.relative_to(ROOT)) for path in source_map.sources() if path.name != "__init__.py"}
    assert rows == there and len(there) > 500


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.py", '"""Batches, e.g. of reads. Nothing else."""\n', "Batches, e.g. of reads"),
        ("a.hpp", "#pragma once\n// A cell\n// of a row (Gotoh 1982).\n//\n// More.\n", "A cell of a row"),
        ("a.k", "/* Sums of products:\n\n   more */\n", "Sums of products"),
        ("a.cpp", '#include "a.hpp"\n', ""),
    ],
)
def test_first_sentences_are_read_as_they_stand(source_map, tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text)
    assert source_map.first_sentence(tmp_path / name) == sentence


def test_sentences_are_markdown_in_the_map(source_map):
    assert source_map.escaped("a|b_c `d_e`") == r"a\|b\_c `d_e`"


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_exist(page):
    """Below src/tropalign or the root; a word in capitals stands for one to be chosen."""
    named = {
        name for name in re.findall(r"`([\w./-]+)`", PAGES[page]) if re.search(r"\w/|\w\.(py|hpp|cpp|k|md)$", name)
    }
    named = {name for name in named if not re.search(r"[A-Z]{3}", name)}
    assert len(named) > 20
    places = (ROOT, SOURCE, ROOT / "native" / "pairwise", SOURCE / "msa", SOURCE / "pairwise", SOURCE / "serve" / "web")
    assert not [name for name in named if not any((place / name).exists() for place in places)]


@pytest.mark.parametrize("page", PAGES)
def test_names_of_code_are_in_the_code(source_map, page):
    sources = [path for path in source_map.sources() if path.relative_to(ROOT).parts[0] in ("src", "native")]
    tests = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "tests").rglob("*.hpp")]
    words = set(re.findall(r"\w+", " ".join(path.read_text() for path in [*sources, *tests])))
    text = re.sub(r"^```.*?^```", "", PAGES[page], flags=re.MULTILINE | re.DOTALL)
    named = {part for name in re.findall(r"`_?([A-Za-z_.]+)`", text) for part in name.split(".")}
    named = {name for name in named if not re.fullmatch(r"[A-Z]*|k|md|toml|\w+_TYPE", name)}
    assert not [name for name in named if name not in words and f"_{name}" not in words]


def test_words_of_the_glossary_are_used(source_map):
    text = " ".join(path.read_text() for path in source_map.sources())
    words = re.sub("_|(?<=[a-z])(?=[A-Z])", " ", text).lower()
    cells = re.findall(r"^\| (.+?) \| .+\|$", PAGES["architecture"].split("\n## Glossary\n")[1], re.MULTILINE)[2:]
    terms = [term for cell in cells for term in cell.split(", ")]
    for term in terms:
        assert re.search(rf"\b{term}s?\b", words), term
    assert 40 < len(terms) == len(set(terms)) <= 60


def test_every_folder_has_a_place_on_the_floors():
    """The picture has each folder once; what it imports stands on its line or further down."""
    picture = PAGES["architecture"].split("\n## The floors\n")[1].split("```")[1]
    folders = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    floors = [re.findall(r"\w+", line[17:64]) for line in picture.splitlines()]
    height = {folder: -number for number, floor in enumerate(floors) for folder in floor}
    assert folders <= height.keys()
    for folder, others in ALLOWED.items():
        assert all(height[other] < height[folder] for other in others if folder in height and other in height), folder


def test_pages_are_linked():
    readme, index = (ROOT / "README.md").read_text(), (ROOT / "docs" / "index.md").read_text().split()
    for page, text in PAGES.items():
        assert f"docs/{page}.md" in readme and page in index
        for name in re.findall(r"\]\(([\w./-]+?\.md)\b", text):
            assert name.startswith("_generated/") or (ROOT / "docs" / name).is_file(), name


def test_comments_and_pages_name_files_that_exist():
    """Paths in lower case; words in upper case stand for a name of one's own."""
    folders = ("src", "native", "docs", "tests", "bench", "packaging", "examples")
    files = [path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*.*") if path.is_file()]
    known = {"isa_list.hpp"}  # made by CMake
    known |= {"/".join(path.parts[k:]) for path in files for k in range(len(path.parts))}
    absent = [
        f"{path}: {name}"
        for path in files
        if path.parts[0] in folders[:3]
        and path.suffix in {".md", ".py", ".cpp", ".hpp", ".k", ".js"}
        and not (path.parts[1][0] == "_" or (path.parts[1] == "cli" and path.parts[0] == "docs"))  # generated
        for name in re.findall(r"(?<![\w./{-])[a-z0-9_/]{2,}\.(?:py|hpp|cpp)\b", (ROOT / path).read_text())
        if name not in known
    ]
    assert not absent
