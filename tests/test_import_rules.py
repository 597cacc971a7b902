"""The arrows between the package's folders (docs/architecture.md): who may import whom, and who does."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tropalign

#: Where the package is imported from: the sources of an editable install, or the installed package.
SOURCE = Path(tropalign.__file__).parent
#: Exactly these: an arrow that nothing needs any more goes, too.
ALLOWED = {
    "errors": set(),
    "properties": set(),
    "renamed": set(),
    "machine": {"errors"},
    "execution": {"errors", "machine"},
    "sequences": {"errors", "properties", "execution"},
    "scoring": {"errors", "properties", "sequences"},
    "results": {"errors", "properties", "sequences"},
    "devices": {"errors", "machine", "execution"},
    "formats": {"errors", "properties", "sequences", "results"},
    "pairwise": {
        "errors", "properties", "machine", "sequences", "scoring", "results", "execution", "devices", "formats",
    },
    "trees": {"errors", "machine", "sequences", "results", "execution", "devices", "formats", "pairwise"},
    "clusters": {
        "errors", "machine", "sequences", "scoring", "results", "execution", "devices", "formats", "pairwise",
    },
    "phylo": {"errors", "properties", "machine", "sequences", "results", "execution", "devices", "formats"},
    "msa": {
        "errors", "machine", "sequences", "scoring", "results", "execution", "devices", "formats", "pairwise",
    },
    "profile": {"errors", "properties", "machine", "sequences", "results", "execution", "devices", "formats"},
    "clustalw": {
        "errors", "machine", "sequences", "scoring", "results", "execution", "devices", "formats", "pairwise", "trees",
        "msa",
    },
    "semirings": {"errors", "machine", "sequences", "results", "execution", "devices"},
    "hmm": {"errors", "properties", "machine", "sequences", "results", "execution", "devices", "formats"},
    "tropical": {"semirings", "hmm"},
    "reports": {"errors", "execution", "formats", "results"},
    "cli": {
        "errors", "machine", "sequences", "scoring", "execution", "devices", "formats", "pairwise", "clusters", "phylo",
        "msa", "clustalw", "profile", "trees", "semirings", "hmm", "reports",
    },
    "submissions": {"errors", "scoring", "formats", "hmm", "cli"},
    "client": {
        "errors", "execution", "sequences", "scoring", "results", "formats", "pairwise", "profile", "submissions",
        "cli",
    },
    "serve": {"errors", "properties", "machine", "execution", "sequences", "submissions", "cli"},
}  # fmt: skip
#: Folders of jobs that never import each other: what two of them need belongs below both, as `pairwise` and `trees` do.
#: CLUSTALW reads and orders families as `msa` does, and stands above it.
JOBS = {"clusters", "phylo", "msa", "profile", "semirings", "hmm"}
#: Who may call the compiled core.
NATIVE = {
    "sequences",
    "devices",
    "results",
    "formats",
    "pairwise",
    "trees",
    "clusters",
    "phylo",
    "msa",
    "clustalw",
    "profile",
    "semirings",
    "hmm",
}
#: No folder: `tropalign.__version__`, and who may tell it.
VERSION = "__version__"
TELL_THE_VERSION = {
    "cli", "client", "clusters", "execution", "msa", "pairwise", "profile", "reports", "sequences", "serve",
    "submissions",
}  # fmt: skip


def imported_folders(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield "." * node.level  # a relative import, which no rule allows
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tropalign":
            parts = node.module.split(".")
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("tropalign."):
                    yield alias.name.split(".")[1]


def folder_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


MODULES = [p for p in SOURCE.rglob("*.py") if p.name != "__init__.py" or p.parent != SOURCE]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_follow_the_arrows(path):
    folder = folder_of(path)
    allowed = ALLOWED[folder] | {folder} | ({"_native"} if folder in NATIVE else set())
    allowed |= {VERSION} if folder in TELL_THE_VERSION else set()
    for other in imported_folders(path):
        assert other in allowed, f"{path} imports {other}"


@pytest.mark.parametrize("folder", ALLOWED)
def test_every_arrow_is_needed(folder):
    used = {other for path in MODULES if folder_of(path) == folder for other in imported_folders(path)}
    assert used - {folder, "_native", VERSION} == ALLOWED[folder]


def test_arrows_go_one_way():
    order = list(ALLOWED)
    for folder, others in ALLOWED.items():
        assert all(order.index(other) < order.index(folder) for other in others), folder
        assert folder not in JOBS or not others & JOBS


def imported_at_once(path, modules):
    """Those of the modules that are imported as soon as this one is."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else node.module for name in whole)


def test_no_module_imports_itself_through_others():
    dotted = {path: path.relative_to(SOURCE.parent).with_suffix("").parts for path in MODULES}
    modules = {".".join(parts).removesuffix(".__init__"): path for path, parts in dotted.items()}
    arrows = {name: modules.keys() & set(imported_at_once(path, modules)) for name, path in modules.items()}
    while free := [name for name, others in arrows.items() if not others]:
        arrows = {name: others.difference(free) for name, others in arrows.items() if name not in free}
    assert not arrows, f"a circle: {sorted(arrows)}"


def test_nothing_keeps_a_property_behind_a_lock():
    """Python 3.11's own has a lock per property, which the child of a fork finds locked for ever (`properties.py`)."""
    users = {folder_of(path) for path in MODULES if re.search(r"functools.*\bcached_property\b", path.read_text())}
    assert users == {"properties"}


def test_package_import_loads_nothing_heavy():
    code = "import tropalign, sys; print([m for m in ('numpy', 'Bio', 'rich', 'dnaio') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
