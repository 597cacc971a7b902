"""Every command and every Python example of the pages runs as it is written, and prints what the page shows."""

import contextlib
import doctest
import importlib.util
import io
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest
from clone import ROOT, skip_without
from docs_files import write_files
from docs_pages import Step, is_printed, pages, read_steps

from tropalign.cli.main import main

skip_without("docs", "examples")


def steps_of(page: str) -> list[Step]:
    return read_steps((ROOT / page).read_text())


IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")
PAGES = [page for page in pages() if steps_of(page)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A scratch folder with the examples, and a command `tropalign` of this interpreter."""
    folder = tmp_path / "reader"
    shutil.copytree(ROOT / "examples", folder / "examples")
    python = f'"{sys.executable}"'
    commands = {"tropalign": f"{python} -m tropalign.cli.main", "python": python, "python3": python, "less": "cat"}
    (tmp_path / "bin").mkdir()
    for name, command in commands.items():
        path = tmp_path / "bin" / name
        path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")  # programs installed beside it
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(folder)
    return folder


def lacks(step: Step) -> str:
    """Why the step does not run here, empty where it does."""
    missing = [name for name in step.needs if not shutil.which(name) and not importlib.util.find_spec(name)]
    return step.reason or (f"needs {', '.join(missing)}" if missing else "")


#: Characters that a shell makes something of.
OF_A_SHELL = set("|&;<>$`*?[]{}()!~\\")


def own_commands(code: str) -> list[list[str]] | None:
    """The words of each command, where a script has tropalign's alone and needs no shell for them, or None."""
    found = [shlex.split(line, comments=True) for line in code.splitlines()]
    found = [words for words in found if words]
    is_plain = all(words[0] == "tropalign" and OF_A_SHELL.isdisjoint("".join(words[1:])) for words in found)
    return [words[1:] for words in found] if is_plain and "\\\n" not in code else None


def run_script(code: str, capfd: pytest.CaptureFixture[str]) -> str:
    """What a script of bash prints; its first command that fails ends it.

    Commands of tropalign alone need no process each, of whose time most goes to its start.
    """
    commands = own_commands(code)
    if commands is not None:
        capfd.readouterr()
        codes = [main(words) for words in commands]
        printed, told = capfd.readouterr()
        assert not any(codes), f"{code}\n{told}"
        return printed
    ran = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, f"{code}\n{ran.stderr}"
    return ran.stdout


def run_python(code: str, scope: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of other packages
        if code.lstrip().startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, scope, "page", None, None)
            assert not doctest.DocTestRunner(verbose=False).run(test, clear_globs=False).failed, printed.getvalue()
            scope.update(test.globs)
        else:
            exec(compile(code, "page", "exec"), scope)
    return printed.getvalue()


@pytest.mark.parametrize("page", PAGES)
def test_all_of_a_page_runs_in_order(folder, tmp_path, page, capfd):
    write_files(folder, page, (ROOT / page).read_text(), tmp_path)
    scope: dict[str, object] = {"__name__": "page"}
    for step in steps_of(page):
        if lacks(step):
            continue
        printed = run_script(step.code, capfd) if step.kind == "sh" else run_python(step.code, scope)
        if step.shown is not None:
            assert is_printed(step.shown, printed), f"{page}:\n{step.code}\nprints\n{printed}"


def test_what_does_not_run():
    """Not run is what says why; the reason of the skip lists it."""
    idle = [(page, step, lacks(step)) for page in pages() for step in steps_of(page) if lacks(step)]
    assert all(len(reason) > 5 for _, _, reason in idle)
    here = sum(step.commands() for page in pages() for step in steps_of(page) if not lacks(step))
    pytest.skip(
        f"{sum(step.commands() for _, step, _ in idle)} commands do not run here, {here} do: "
        + "; ".join(f"{page}: {step.code.strip().splitlines()[0]} ({reason})" for page, step, reason in idle)
    )


EVERYTHING = """
# A page

```sh
tropalign one \\
  --two
pip install three
four
```
```text
five
```

    tropalign six   # README's way
    make seven

<!-- not run: eight is not to be had here -->
```console
$ eight
```
<!-- needs: nine, ten -->
```console
$ nine \\
    --more
printed
...
$ ten
```
<!-- python
eleven = 11
-->
```python
print(eleven)
```

Words between.

```text
of another thing
```
"""


def test_the_reader_of_pages():
    found = [(s.kind, s.code, s.shown, s.needs, s.reason) for s in read_steps(EVERYTHING)]
    assert found == [
        ("sh", "pip install three", None, [], "installs software"),
        ("sh", "tropalign one --two\nfour\n", "five\n", [], ""),
        ("sh", "make seven", None, [], "sets up a clone, or reaches out to the network"),
        ("sh", "tropalign six   # README's way\n", None, [], ""),
        ("sh", "eight\n", None, [], "eight is not to be had here"),
        ("sh", "nine --more\n", "printed\n...\n", ["nine", "ten"], ""),
        ("sh", "ten\n", None, ["nine", "ten"], ""),
        ("python", "eleven = 11", None, [], ""),
        ("python", "print(eleven)\n", None, [], ""),
    ]


@pytest.mark.parametrize(
    ("shown", "is_right"),
    [
        ("a  b\nc.d\ne\n", True),
        ("a b\n...\n", True),
        ("...\ne\n", True),
        ("# ...\na b\nc...\ne", True),
        ("a b\nc.d\n", False),
        ("a b\n...\nf\n", False),
        ("a b\ncxd\ne\n", False),
        ("a b\nc?d\ne\n", False),
    ],
)
def test_the_comparison_with_what_is_printed(shown, is_right):
    assert is_printed(shown, "a\tb\n\nc.d\ne\n") == is_right


def test_the_pictures_of_the_pages(tmp_path, monkeypatch):
    """Each is one that the build makes or that the repository has; and each that is made is shown."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("docutils")
    monkeypatch.syspath_prepend(ROOT / "docs" / "extensions")
    from gallery import make_gallery
    from make_pictures import make_pictures

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of other packages
        make_pictures(tmp_path)
        make_gallery(tmp_path, tmp_path / "pages")
    framed = re.findall(r"^```\{gallery\} (.+)$", (ROOT / "docs" / "gallery.md").read_text(), re.MULTILINE)
    assert sorted(framed) == sorted(path.name for path in (tmp_path / "pages").iterdir())
    shutil.rmtree(tmp_path / "pages")
    made = {path.name for path in tmp_path.iterdir()}
    assert all(ElementTree.parse(tmp_path / name).getroot().tag.endswith("svg") for name in made)
    shown = {(ROOT / page).parent / path for page in pages() for path in IMAGE.findall((ROOT / page).read_text())}
    missing = [path for path in shown if path.parent.name != "pictures" and not path.is_file()]
    assert shown and not missing
    assert {path.name for path in shown if path.parent.name == "pictures"} == made


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_no_page_has_a_heading_twice(page):
    """Links name headings; of two alike they find the first."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / "docs" / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    assert len(set(headings)) == len(headings)


BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, kind: str) -> list[str]:
    return [body for each, body in BLOCK.findall((ROOT / "docs" / page).read_text()) if each == kind]


def test_the_values_that_paths_shows(folder):
    code = next(text for text in blocks("paths.md", "python") if "read_graph" in text)
    values = re.findall(r"^(?P<call>[a-z]\S.*?)  # (?:of a matrix: )?(?P<value>[\[\d].*)$", code, re.MULTILINE)
    assert len(values) == 3
    scope: dict[str, object] = {}
    exec(code, scope)
    for call, value in values:
        found = eval(call, scope)
        assert str(found.astype(int).tolist() if getattr(found, "ndim", 0) else found) == value, call


def test_the_model_that_decode_shows(tmp_path):
    from tropalign import HMM

    (block,) = blocks("decode.md", "toml")
    (tmp_path / "dice.toml").write_text(block)
    assert HMM.load(tmp_path / "dice.toml").name == "dice"
