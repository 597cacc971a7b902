"""docs/architecture.md against the tree: the map names every file and no other, recipes and words are real."""

import ast
import re

import pytest
from clone import ROOT, skip_without
from test_import_rules import ALLOWED

skip_without("src", "native", "docs")
PAGE = (ROOT / "docs" / "architecture.md").read_text()
SOURCE = ROOT / "src" / "tropalign"
NAMED = re.compile(r"`([\w/.-]+)`")


def chapter(title, level=2):
    """The text below a heading, up to the next one of its level or above."""
    begin = PAGE.index(f"\n{'#' * level} {title}\n")
    end = re.compile(rf"^#{{1,{level}}} ", re.MULTILINE).search(PAGE, begin + level + 2 + len(title))
    return PAGE[begin : end.start() if end else len(PAGE)]


def first_cells(text):
    """The first cell of each row of the tables in a text, without the names of their columns."""
    rows = re.findall(r"^\| (.+?) \| .+\|$", text, re.MULTILINE)
    return [row for row in rows if row not in ("file", "folder", "term") and not set(row) <= set("-| ")]


def folders_of_the_map():
    return re.findall(r"^### `((?:src|native)/[\w/]*)`$", chapter("The map"), re.MULTILINE)


def is_worth_a_line(path):
    """Whether it is source, and more than the docstring that makes a folder a package."""
    if "__pycache__" in path.parts or path.suffix not in (".py", ".pyi", ".typed", ".k", ".h", ".hpp", ".cpp"):
        return False
    if path.name != "__init__.py":
        return True
    return any(not isinstance(node, ast.Expr) for node in ast.parse(path.read_text()).body)


def test_the_map_names_every_file_and_no_other():
    named = [
        folder + cell.strip("`") for folder in folders_of_the_map() for cell in first_cells(chapter(f"`{folder}`", 3))
    ]
    there = [path for top in (SOURCE, ROOT / "native") for path in top.rglob("*") if path.is_file()]
    assert sorted(named) == sorted(str(path.relative_to(ROOT)) for path in there if is_worth_a_line(path))


def test_the_map_names_every_folder_of_tests_and_bench():
    rows = [cell.strip("`") for cell in first_cells(chapter("Beside the package", 3))]
    named = set(rows)
    assert len(rows) == len(named)
    assert all((ROOT / folder).is_dir() for folder in named)
    mirrored = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    for folder in ("tests", "bench"):
        for path in (ROOT / folder).iterdir():
            if path.is_dir() and any(file.is_file() and file.suffix != ".pyc" for file in path.rglob("*")):
                is_mirror = folder == "tests" and path.name in mirrored
                assert is_mirror or f"{folder}/{path.name}/" in named, path


def test_the_table_of_arrows_is_that_of_the_rules():
    rows = re.findall(r"^\| `(\w+)(?:\.py)?` \| (.+?) \| .+ \|$", chapter("The arrows"), re.MULTILINE)
    names = {folder: set(re.findall(r"\w+", imports)) for folder, imports in rows}
    names["errors"] = names["properties"] = names["renamed"] = set()
    assert names.pop("cli") == {"all", "above", "properties", "renamed", "results", "tropical", "and", "aside"}
    above = list(ALLOWED)[: list(ALLOWED).index("cli")]
    assert ALLOWED["cli"] == set(above) - {"properties", "renamed", "results", "tropical"}
    assert names == {folder: others for folder, others in ALLOWED.items() if folder != "cli"}


JOURNEYS = ["A pair's journey", "A read's journey", "A family's journey"]


@pytest.mark.parametrize("title", [*JOURNEYS, "What survives a kill", "Memory", "Recipes"])
def test_files_that_are_named_exist(title):
    """Below src/tropalign, native or the root; a name in capitals stands for one to be chosen."""
    named = [name for name in NAMED.findall(chapter(title)) if "." in name and not re.search(r"[A-Z]{3}", name)]
    files = [name for name in named if name.rpartition(".")[2] in ("py", "k", "h", "hpp", "cpp", "md", "txt", "toml")]
    assert files
    places = [ROOT, SOURCE, ROOT / "native", *(ROOT / folder for folder in folders_of_the_map())]
    for name in files:
        assert any((place / name).is_file() for place in places), name


@pytest.mark.parametrize("title", [*JOURNEYS, "What survives a kill", "How the scheduler works", "Memory"])
def test_functions_that_are_named_exist(title):
    sources = [
        path
        for top in (SOURCE, ROOT / "native")
        for path in top.rglob("*")
        if path.suffix in (".py", ".pyi", ".cpp", ".hpp")
    ]
    words = set(re.findall(r"\w+", " ".join(path.read_text() for path in sources)))
    for name in re.findall(r"`_?([A-Za-z_]+(?:\.[a-z_]+)?)`", chapter(title)):
        if "/" not in name and name != "k":
            assert all(word in words or f"_{word}" in words for word in name.split(".")), name


def test_words_of_the_glossary_are_used():
    sources = [path for top in (SOURCE, ROOT / "native") for path in top.rglob("*") if is_worth_a_line(path)]
    words = " ".join(path.read_text() for path in sources).lower().replace("_", " ")
    terms = [term for cell in first_cells(chapter("Glossary")) for term in cell.split(", ")]
    for term in terms:
        assert re.search(rf"\b{term}s?\b", words), term
    assert len(terms) == len(set(terms)) > 40


def test_pages_are_linked():
    assert "docs/architecture.md" in (ROOT / "README.md").read_text()
    assert "architecture" in (ROOT / "docs" / "index.md").read_text().split()
    for name in re.findall(r"\]\(([\w./-]+?\.md)\)", PAGE):
        assert (ROOT / "docs" / name).is_file(), name
