"""The site has every verb, option, extra and variable; test_docs_examples.py runs what its pages show."""

import argparse
import importlib.util
import re
import tomllib

import pytest
from clone import ROOT, skip_without

import tropalign
from tropalign.cli.main import VERBS, make_parser
from tropalign.cli.parser import all_actions, verbs_of
from tropalign.results.output_columns import OUTPUT_COLUMNS

skip_without("docs", "examples")
DOCS = ROOT / "docs"


@pytest.fixture
def command_line():
    """docs/extensions/command_line.py, which makes the pages of the verbs."""
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("command_line", DOCS / "extensions" / "command_line.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_verb_has_a_page_with_every_option(command_line, tmp_path):
    command_line.write_pages(tmp_path / "cli")
    pages = {path.stem: path.read_text() for path in (tmp_path / "cli").glob("*.md")}
    assert set(pages) == set(VERBS)
    for verb, parser in verbs_of(make_parser(False)).items():
        told = re.findall(r"^````\{option\} (.+)\n(.+)$", pages[verb], re.M)
        names = [name.split(" ")[0] for signature, _ in told for name in signature.split(", ")]
        asked = [
            name
            for action in all_actions(parser)
            if command_line.is_shown(action)
            for name in action.option_strings or [command_line.values(action)]
        ]
        assert sorted(names) == sorted(asked) and len(asked) > 0, verb
        assert all(len(words) > 5 and "%%" not in words for _, words in told), verb
        assert "## Examples\n\n```sh\ntropalign " in pages[verb], verb


def test_options_say_their_defaults(command_line):
    """A default that the help leaves out is added; switches and options that are off have none."""
    parser = argparse.ArgumentParser()
    several = parser.add_argument("--several", type=int, default=3, help="how *many*, with --much")
    told = parser.add_argument("--told", default="a", help="which (default: the first)")
    off = parser.add_argument("--off", action="store_true", help="100%% less")
    assert command_line.help_of(several) == "How *many*, with --much (default: 3)."
    assert command_line.prose(command_line.help_of(several)) == r"How \*many\*, with `--much` (default: 3)."
    assert command_line.prose("by --several, --few", {"--several"}) == "by {option}`--several`, `--few`"
    assert command_line.help_of(told) == "Which (default: the first)."
    assert command_line.help_of(off) == "100% less."


def test_pages_that_are_gone_leave_the_folder(command_line, tmp_path):
    folder = tmp_path / "cli"
    folder.mkdir()
    (folder / "forgotten.md").write_text("# A verb that was\n")
    command_line.write_pages(folder)
    kept = folder / "pairs.md"
    date = kept.stat().st_mtime_ns
    command_line.write_pages(folder)
    assert not (folder / "forgotten.md").exists()
    assert kept.stat().st_mtime_ns == date


def test_tables_of_verbs_and_options_are_whole(command_line):
    rows = re.findall(r"^\| \[`(\w+)`\]\(cli/\1\.md\) \| .+ \|$", command_line.table_of_verbs(make_parser(False)), re.M)
    assert rows == list(VERBS)
    assert re.findall(r"^cli/(\w+)$", (DOCS / "command-line.md").read_text(), re.M) == list(VERBS)
    head, _, *rows = command_line.table_of_options(make_parser(False)).splitlines()
    cells = {row.split("`")[1]: re.findall(r"<tropalign (\w+) ", row) for row in rows}
    assert cells["--top"] == ["pairs", "find"] and "--jplace" not in cells
    assert all(len(verbs) > 1 for verbs in cells.values()) and len(cells) > 50
    assert all(row.count("|") == head.count("|") for row in rows)


def test_the_table_of_columns_is_whole(command_line):
    assert "```{include} cli/columns.txt\n```" in (DOCS / "formats.md").read_text()
    head, _, *rows = command_line.table_of_columns().splitlines()
    assert [row.split("`")[1] for row in rows] == list(OUTPUT_COLUMNS)
    assert all(row.count("|") == head.count("|") for row in rows)
    assert "| `query_first` | first aligned residue of the query, " in "\n".join(rows)
    assert any(row.endswith(" | `qstart` | ends |") for row in rows)


def test_an_option_has_one_meaning_or_the_page_tells_them_apart(command_line):
    """Names with several help texts are in the page's table of meanings or the sentence below it, no others."""
    helps = command_line.helps_by_option(make_parser(False))
    several = {name for name, by_verb in helps.items() if len(set(by_verb.values())) > 1}
    tables = (DOCS / "command-line.md").read_text().split("\n## Names with two meanings\n")[1].split("```{toctree}")[0]
    rows, sentence = re.findall(r"^\| (`--.+?) \|", tables, re.M), tables[tables.index("\nThese differ only ") :]
    assert sorted(re.findall(r"`(--[\w-]+)`", " ".join([*rows, sentence]))) == sorted(several)


def test_versions_extras_and_variables_are_told():
    page = (DOCS / "citation.md").read_text()
    assert set(re.findall(r"\d+\.\d+\.\d+", page)) == {tropalign.__version__}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    told = re.search(r"^## Extras$.*?^## ", (DOCS / "install.md").read_text(), re.M | re.S)
    names = [name for row in re.findall(r"^\| (`.+?) \|", told[0], re.M) for name in re.findall(r"`([\w-]+)`", row)]
    assert sorted(names) == sorted(extras)
    sources = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    sources += "".join(path.read_text() for path in (ROOT / "native").rglob("*.cpp"))
    named = set(re.findall(r'(?:getenv\(|environ(?:\.get\(|\[)|^[A-Z]+ = )"(TROPALIGN_\w+)"', sources, re.MULTILINE))
    told = set(re.findall(r"^\| `(TROPALIGN_\w+)` \|", (DOCS / "command-line.md").read_text(), re.M))
    for_tests = {"TROPALIGN_LEAST_KEPT_CELLS", "TROPALIGN_TILE_PAIRS", "TROPALIGN_TILE_READS"}
    of_workers = {"TROPALIGN_JOB_FOLDER"}  # of the server, which nobody else sets
    assert named - for_tests - of_workers == told


def test_pages_and_tables_lie_where_they_should():
    taken = {"search", "genindex", "py-modindex"}
    assert not [path for path in DOCS.glob("*.md") if path.stem in taken]
    # Rows below an empty line, or without the line of hyphens, are shown as text with bars.
    for path in [*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md")]:
        text = re.sub(r"^(`{3,}).*?^\1$", "", path.read_text(), flags=re.M | re.S)
        for table in re.findall(r"(?:^ *\|.*\n?)+", text, re.M):
            head, rule, *_ = [*table.splitlines(), ""]
            assert re.fullmatch(r" *\|[-:| ]+\| *", rule), f"{path}: {head}"
