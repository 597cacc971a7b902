"""The commands and examples of the pages on trees, paths, decoding, algebra and CLUSTALW run as they are written."""

import doctest
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
if not (ROOT / "docs").is_dir() or not (ROOT / "examples").is_dir():
    pytest.skip("pages and examples are in a clone only, not in the sdist", allow_module_level=True)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Pages, and the heading from which on they are tried.
PAGES = {"tree.md": "# ", "paths.md": "# ", "decode.md": "# ", "msa.md": "## CLUSTALW"}


def blocks(page: str, *kinds: str) -> list[str]:
    """The blocks of these kinds, from the page's heading to the next one of its level."""
    text = (ROOT / "docs" / page).read_text()
    begin = PAGES[page]
    end = r"(?=^## |\Z)" if begin.startswith("## ") else r"\Z"
    section = re.search(rf"^{begin}.*?{end}", text, re.MULTILINE | re.DOTALL)
    assert section, page
    return [body for kind, body in BLOCK.findall(section[0]) if kind in kinds]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A scratch folder with the examples, and a command `tropalign` of this interpreter."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    command = tmp_path / "bin" / "tropalign"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tropalign.cli.main "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_then_python(folder, page):
    found = blocks(page, "console")
    assert found
    for block in found:
        for line in block.splitlines():
            if line.startswith("$ "):
                ran = subprocess.run(["bash", "-o", "pipefail", "-c", line[2:]], capture_output=True, text=True)
                assert ran.returncode == 0, f"{line}\n{ran.stderr}"
    examples = [
        text for text in blocks(page, "python") if "hmmlearn" not in text or importlib.util.find_spec("hmmlearn")
    ]
    ran = subprocess.run([sys.executable, "-c", "\n".join(examples)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_no_page_has_a_heading_twice(page):
    """Links name headings; of two alike they find the first."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / "docs" / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    assert len(set(headings)) == len(headings)


def test_what_decode_prints(folder):
    """Columns stand apart in the page as they do in no file."""
    command, *shown = blocks("decode.md", "console")[0].split("\n...\n")[0].splitlines()
    printed = subprocess.run(command[2:].split(), capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line.split() for line in printed if not line.startswith("#")]
    assert [line.split() for line in shown[1:]] == found[: len(shown) - 1]


def test_the_values_that_paths_shows(folder):
    code = next(text for text in blocks("paths.md", "python") if "read_graph" in text)
    values = re.findall(r"^(?P<call>[a-z]\S.*?)  # (?:of a matrix: )?(?P<value>[\[\d].*)$", code, re.MULTILINE)
    assert len(values) == 3
    scope: dict[str, object] = {}
    exec(code, scope)
    for call, value in values:
        found = eval(call, scope)
        assert str(found.astype(int).tolist() if getattr(found, "ndim", 0) else found) == value, call


def test_the_doctests_of_tropical():
    assert doctest.testfile(str(ROOT / "docs" / "tropical.md"), module_relative=False).failed == 0


def test_the_model_that_decode_shows(tmp_path):
    from tropalign import HMM

    (block,) = blocks("decode.md", "toml")
    (tmp_path / "dice.toml").write_text(block)
    assert HMM.load(tmp_path / "dice.toml").name == "dice"
