"""How much of each folder there is to read, against the budget in tests/budget.tsv.

A change that needs more raises a number there, in a line of its diff. `python tests/test_budget.py` prints the table as
it is now, in the form of that file.
"""

import ast
import importlib.util
import io
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from clone import ROOT, skip_without

BUDGET = Path(__file__).with_suffix("").with_name("budget.tsv")
#: Files whose functions a command runs (docs/extensions/chains.py).
MOST_FILES = {"pairs": 45, "msa": 43, "search": 36, "place": 46}
COLUMNS = ("code_lines", "files", "functions_called_once", "most_imports")
HAS_DOCSTRING = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(source, tree):
    """Count the lines that hold code other than docstrings and imports."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines = {line for token in tokens if token.type not in layout for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(tree):
        if isinstance(node, HAS_DOCSTRING) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        if isinstance(node, ast.Import | ast.ImportFrom):
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def imported(tree, modules):
    """Return the modules of the package that a module imports at run time."""
    checked = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    names = {
        f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in modules else node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node not in checked
        for alias in node.names
    }
    return names & modules


@cache
def found():
    """Measure each folder of src/tropalign; the files directly in it count as the folder `.`."""
    package = ROOT / "src" / "tropalign"
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(package.rglob("*.py"))}
    modules = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__") for path in trees
    }
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    uses = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    uses.update(node.attr for node in nodes if isinstance(node, ast.Attribute))
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    definitions = Counter(node.name for node in nodes if isinstance(node, functions))
    table = {}
    for path, tree in trees.items():
        parts = path.relative_to(package).parts
        row = table.setdefault(parts[0] if len(parts) > 1 else ".", dict.fromkeys(COLUMNS, 0))
        once = [
            node.name
            for node in ast.walk(tree)
            if isinstance(node, functions) and node.name.startswith("_") and not node.name.startswith("__")
            if uses[node.name] == definitions[node.name] == 1
        ]
        row["code_lines"] += code_lines(path.read_text(encoding="utf-8"), tree)
        row["files"] += 1
        row["functions_called_once"] += len(once)
        row["most_imports"] = max(row["most_imports"], len(imported(tree, modules)))
    return table


def text_of(table):
    """Write a table as it stands in tests/budget.tsv."""
    rows = [("folder", *COLUMNS), *((folder, *map(str, row.values())) for folder, row in sorted(table.items()))]
    return "".join("\t".join(row) + "\n" for row in rows)


def test_no_folder_exceeds_its_budget():
    skip_without("src")
    lines = [line.split("\t") for line in BUDGET.read_text(encoding="utf-8").splitlines()[1:]]
    allowed = {folder: dict(zip(COLUMNS, map(int, numbers), strict=True)) for folder, *numbers in lines}
    print(text_of(found()))
    exceeded = [
        f"{folder}: {column} {number}, allowed {allowed.get(folder, {}).get(column, 0)}"
        for folder, row in found().items()
        for column, number in row.items()
        if number > allowed.get(folder, {}).get(column, 0)
    ]
    assert not exceeded, "make it smaller, or raise the number in tests/budget.tsv and say why"


@pytest.mark.parametrize("verb", MOST_FILES)
def test_the_way_of_a_command_is_short(verb):
    skip_without("docs", "src")
    spec = importlib.util.spec_from_file_location("chains", ROOT / "docs" / "extensions" / "chains.py")
    chains = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(chains)
    files = chains.chain(verb)
    assert len(files) <= MOST_FILES[verb], list(files)


if __name__ == "__main__":
    print(text_of(found()), end="")
