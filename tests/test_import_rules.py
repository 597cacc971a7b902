"""The arrows between the package's folders (docs/design.md): who may import whom."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "tropalign"
BASE = {"errors", "machine", "sequences", "scoring", "results", "execution", "devices", "formats"}
ALLOWED = {
    "errors": set(),
    "sequences": {"errors"},
    "scoring": {"sequences", "errors"},
    "machine": {"errors"},
    "results": {"errors", "sequences", "scoring"},
    "execution": {"errors", "machine", "devices"},
    "devices": {"errors", "machine", "execution"},
    "formats": {"errors", "sequences", "scoring", "results"},
    "pairwise": BASE,
    "phylo": BASE,
    "cli": {*BASE, "pairwise", "phylo", "__version__"},
}


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


@pytest.mark.parametrize("path", [p for p in SOURCE.rglob("*.py") if p.name != "__init__.py" or p.parent != SOURCE])
def test_imports_follow_the_arrows(path):
    folder = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for other in imported_folders(path):
        assert other in ALLOWED[folder] | {folder, "_native"}, f"{path} imports {other}"


def test_package_import_loads_nothing_heavy():
    import subprocess
    import sys

    code = "import tropalign, sys; print([m for m in ('numpy', 'Bio', 'rich', 'dnaio') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
