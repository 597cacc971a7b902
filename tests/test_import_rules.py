"""The arrows between the package's folders (docs/architecture.md): who may import whom, and who does."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import tropalign

#: Where the package is imported from: the sources of an editable install, or the installed package.
SOURCE = Path(tropalign.__file__).parent
#: Exactly these: an arrow that nothing needs any more goes, too.
ALLOWED = {
    "errors": set(),
    "properties": set(),
    "arrays": set(),
    "ragged": set(),
    "lazy": {"errors"},
    "resources": {"errors"},
    "options": {"errors"},
    "execution": {"errors", "resources"},
    "sequences": {"errors", "properties", "ragged", "lazy", "resources", "execution"},
    "scoring": {"errors", "properties", "arrays", "resources", "sequences"},
    "results": {"errors", "properties", "arrays", "ragged", "resources", "options", "sequences"},
    "devices": {"errors", "properties", "resources", "options", "execution"},
    "formats": {"errors", "properties", "arrays", "ragged", "resources", "execution", "sequences", "results"},
    "pairwise": {
        "errors", "properties", "arrays", "ragged", "lazy", "resources", "options", "execution", "sequences",
        "scoring", "results", "devices", "formats",
    },
    "trees": {
        "errors", "arrays", "resources", "execution", "sequences", "scoring", "results", "devices", "formats",
        "pairwise",
    },
    "clusters": {
        "errors", "arrays", "ragged", "resources", "options", "execution", "sequences", "scoring", "results",
        "devices", "formats", "pairwise",
    },
    "placement": {
        "errors", "properties", "arrays", "ragged", "resources", "options", "execution", "sequences", "results",
        "devices", "formats",
    },
    "profiles": {
        "errors", "properties", "arrays", "resources", "options", "execution", "sequences", "scoring", "results",
        "devices", "formats",
    },
    "msa": {
        "errors", "properties", "arrays", "ragged", "lazy", "resources", "options", "execution", "sequences",
        "scoring", "results", "devices", "formats", "pairwise", "profiles",
    },
    "clustalw": {
        "errors", "properties", "arrays", "resources", "options", "execution", "sequences", "scoring", "results",
        "devices", "pairwise", "trees", "msa",
    },
    "tropical": {"errors", "properties", "arrays", "resources", "execution", "sequences", "results", "devices"},
    "decoding": {
        "errors", "properties", "arrays", "ragged", "resources", "options", "execution", "sequences", "results",
        "devices", "formats",
    },
    "verbs": {
        "errors", "properties", "resources", "options", "execution", "sequences", "scoring", "results", "devices",
        "formats", "pairwise", "trees", "clusters", "placement", "profiles", "msa", "clustalw", "tropical", "decoding",
    },
    "cli": {"errors", "options", "execution", "verbs"},
    "__main__": {"cli"},
    "submissions": {"errors", "properties", "options", "scoring", "formats", "verbs", "cli"},
    "client": {
        "errors", "lazy", "options", "execution", "sequences", "scoring", "results", "formats", "pairwise", "clusters",
        "placement", "profiles", "msa", "decoding", "verbs", "submissions",
    },
    "serve": {"errors", "properties", "resources", "options", "execution", "sequences", "verbs", "submissions"},
}  # fmt: skip
#: Folders of jobs that never import each other: what two of them need belongs below both, as `pairwise` and `trees` do.
#: `msa` stands above `profiles` (homologs.py searches), and `clustalw` above `msa`.
JOBS = {"clusters", "placement", "profiles", "tropical", "decoding"}
#: Who may call the compiled core.
NATIVE = {
    "scoring", "sequences", "results", "devices", "formats", "pairwise", "trees", "clusters", "placement",
    "msa", "profiles", "clustalw", "tropical", "decoding",
}  # fmt: skip
#: No folder: `tropalign.__version__`, and who may tell it.
VERSION = "__version__"
TELL_THE_VERSION = {"cli", "client", "devices", "formats", "sequences", "serve", "verbs"}


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


#: What lists public names of many folders and loads none.
LISTS = {SOURCE / "__init__.py", SOURCE / "trees" / "__init__.py", SOURCE / "tropical" / "__init__.py"}
#: An installed package has the examples beside its modules: they are its users' code.
MODULES = [path for path in SOURCE.rglob("*.py") if path not in LISTS and path.parts[len(SOURCE.parts)] != "examples"]


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


class Imports(NamedTuple):
    """Modules of the package that a module imports, and packages of others: at once, in functions, for mypy alone."""

    at_once: set[str]
    in_functions: set[str]
    for_types: set[str]
    others: set[str]


def named(node):
    """What an import names: modules by their whole names, and packages of others."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    whole = [f"{node.module}.{alias.name}" for alias in node.names]
    return [name if name in DOTTED or name == CORE else node.module for name in whole]


def imports_of(path):
    found = Imports(set(), set(), set(), set())

    def visit(node, kind):
        for child in ast.iter_child_nodes(node):
            inner = (
                found.for_types if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test) else kind
            )
            inner = found.in_functions if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else inner
            if isinstance(child, ast.Import | ast.ImportFrom):
                names = set(named(child))
                ours = {name for name in names if name.startswith("tropalign.")}
                inner |= ours
                if inner is found.at_once:
                    found.others.update(name for name in names - ours if name.partition(".")[0] not in QUICK)
            else:
                visit(child, inner)

    visit(ast.parse(path.read_text()), found.at_once)
    return found


def loaded_with(name, known):
    """Modules and packages of others that are there once this one is imported, with the packages above each."""
    if name not in known:
        found = known[name] = {name}  # what a circle of packages meets again is on its way
        above = {name.rpartition(".")[0]} - {"tropalign"}
        if name in DOTTED:
            found |= imports()[name].others
            for other in (imports()[name].at_once | above) & (DOTTED.keys() | {CORE}):
                found |= loaded_with(other, known)
    return known[name]


CORE = "tropalign._native"
DOTTED = {
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): path for path in MODULES
}
#: Packages that every process has, or that load in a moment; of the standard library all but these.
QUICK = sys.stdlib_module_names - {"asyncio", "multiprocessing", "tomllib", "zipfile"} | {"tropalign"}


@cache
def imports():
    """Of every module; seconds, which not every process that collects tests has to spend."""
    return {name: imports_of(path) for name, path in DOTTED.items()}


def circles(arrows):
    """Sets of modules that import themselves through one another."""
    behind = {name: set() for name in arrows}
    for name in arrows:
        ahead = [name]
        while ahead:
            new = arrows[ahead.pop()] - behind[name]
            behind[name] |= new
            ahead += new
    return {
        frozenset({name, *(other for other in behind[name] if name in behind[other])})
        for name in arrows
        if name in behind[name]
    }


def test_no_circles_and_locks():
    """Imports in functions and for type checkers count."""
    arrows = {
        name: (of.at_once | of.in_functions | of.for_types) & DOTTED.keys() - {name} for name, of in imports().items()
    }
    assert not circles(arrows)
    # Python 3.11's own has a lock per property, which the child of a fork finds locked for ever (`properties.py`).
    users = {folder_of(path) for path in MODULES if re.search(r"functools.*\bcached_property\b", path.read_text())}
    assert users == {"properties"}


#: Rooms whose modules start light: they name what a command may need, and load what it does need.
START_LIGHT = {"cli", "client", "serve", "submissions", "verbs"}
#: Lines that an import in a function spares elsewhere, at least: a third of a millisecond.
LEAST_LINES = 150


@pytest.mark.parametrize("name", sorted(DOTTED))
def test_imports_in_functions_have_a_reason(name):
    """They keep from being loaded what the command may not need: lines enough, the core, or a package of others."""
    at_once = loaded_with(name, {})
    for other in imports()[name].in_functions & DOTTED.keys():
        spared = loaded_with(other, {}) - at_once
        lines = sum(len(DOTTED[module].read_text().splitlines()) for module in spared & DOTTED.keys())
        if folder_of(DOTTED[name]) not in START_LIGHT:
            assert lines >= LEAST_LINES or spared - DOTTED.keys(), f"{name}: import {other} at the top"


def test_package_import_loads_nothing_heavy():
    code = "import tropalign, sys; print([m for m in ('numpy', 'Bio', 'rich') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
