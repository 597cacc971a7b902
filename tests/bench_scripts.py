"""Loads the scripts of bench/ for their tests, each time anew, and with a page of their own."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from clone import ROOT, skip_without

skip_without("bench")
BENCH = ROOT / "bench"
AS_BEFORE = "as before\n"


def loaded(monkeypatch: pytest.MonkeyPatch, *names: str) -> ModuleType:
    """The first of these modules, imported afresh as a script imports it; the others are forgotten, too."""
    monkeypatch.syspath_prepend(BENCH)
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(names[0])


def with_own_page(monkeypatch: pytest.MonkeyPatch, script: ModuleType, folder: Path, section: str = "") -> ModuleType:
    """The script with a page in `folder`, with `section` in an overview, and `run_main`, which takes its arguments."""
    monkeypatch.setattr(script, "PAGE", folder / f"{script.__name__}.md")
    script.PAGE.write_text(AS_BEFORE)
    if section:
        monkeypatch.setattr(script, "OVERVIEW", folder / "index.md")
        script.OVERVIEW.write_text(f"# x\n<!-- {section}: -->\n{AS_BEFORE}<!-- /{section} -->\n")

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", [f"{script.__name__}.py", *arguments])
        return script.main()

    script.run_main = run
    return script


def is_untouched(script: ModuleType) -> bool:
    """Whether page and overview are as they were."""
    overview = getattr(script, "OVERVIEW", None)
    stays = overview is None or overview.parent != script.PAGE.parent or AS_BEFORE in overview.read_text()
    return stays and script.PAGE.read_text() == AS_BEFORE
