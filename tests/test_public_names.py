"""What shells and type checkers see of the package."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from clone import ROOT, skip_without

import tropalign

PACKAGE = Path(tropalign.__file__).parent


def is_lazy(path):
    """Whether a package or module loads its public names on first use."""
    source = path / "__init__.py" if path.is_dir() else path
    return (
        source.suffix == ".py"
        and source.is_file()
        and path != PACKAGE / "__init__.py"
        and "= lazy(" in source.read_text()
    )


SNIPPET = """
import tropalign
pair = tropalign.align("MKVLAW", "MKILAW")
pair.score
pair.scoer
for table in tropalign.align_all(["MKVLAW", "MKILAW"]):
    table.scores
    table[0].cigr
    reveal_type(table[0])
    reveal_type(table[0].query_start)
    reveal_type(table.matrix())
"""


def test_the_public_names_are_listed():
    """In a fresh process, before anything is loaded."""
    code = "import sys, tropalign; print(*dir(tropalign)); assert 'numpy' not in sys.modules"
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert listed == sorted(tropalign.__all__)
    assert {"align", "align_all", "write_alignments", "Alignment", "read_sequences"} <= set(listed)
    assert all(hasattr(tropalign, name) for name in listed)


@pytest.mark.parametrize("module", ["", *sorted(path.name for path in PACKAGE.iterdir() if is_lazy(path))])
def test_type_checkers_see_the_names_that_are_loaded(module):
    """What is imported for them is what `lazy` loads, from the same homes."""
    package = importlib.import_module(f"tropalign.{module.removesuffix('.py')}".rstrip("."))
    guarded = next(node for node in ast.parse(Path(package.__file__).read_text()).body if isinstance(node, ast.If))
    homes = {alias.asname: node.module for node in guarded.body for alias in node.names if alias.name == alias.asname}
    assert sorted({*homes} | {*package.__all__} & {"__version__"}) == sorted(package.__all__) == dir(package)
    for name, home in homes.items():
        assert getattr(package, name) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nothing'"):
        _ = package.nothing


def test_the_pages_of_the_api_have_every_name_once():
    skip_without("docs")
    folder = ROOT / "docs" / "api"
    documented, words, home = [], "", ""
    for path in sorted(folder.glob("*.md")):
        words += path.read_text()
        for module, name in re.findall(r"^\.\. (?:currentmodule:: (\S+)|auto\w+:: (\S+))$", path.read_text(), re.M):
            home = module or home
            documented += [f"{home}.{name}"] if name else []
    assert len(set(documented)) == len(documented) > 60
    lacking = [name for name in tropalign.__all__ if f"tropalign.{name}" not in documented and f"`{name}`" not in words]
    assert lacking == ["__version__"]


def test_the_names_of_an_alignment_are_listed():
    pair = tropalign.align("MKVLAW", "MKILAW")
    assert {"score", "cigar", "query_start", "n_columns", "coordinates", "to_biopython"} <= set(dir(pair))
    assert all(inspect.getdoc(getattr(type(pair), name)) for name in dir(pair) if not name.startswith("_"))


def test_type_checkers_find_misspelt_names(tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPET)
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", str(path)], capture_output=True, text=True
    ).stdout
    for line, text in [
        (5, '"Alignment" has no attribute "scoer"; maybe "score"?'),
        (7, '"AlignmentTable" has no attribute "scores"; maybe "score"?'),
        (8, '"Alignment" has no attribute "cigr"; maybe "cigar"?'),
        (9, 'Revealed type is "tropalign.results.alignment.Alignment"'),
        (10, 'Revealed type is "int"'),
    ]:
        rows = [row.replace("builtins.", "") for row in found.splitlines() if f"snippet.py:{line}: " in row]
        assert any(text in row for row in rows), found
    assert found.count("error:") == 3, found


def test_type_checkers_see_which_arguments_may_be_left_out(tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "calls.py"
    path.write_text(
        """
from pathlib import Path
import tropalign as ta
ta.align("MK", "MV"), ta.align_all(["MK"]), ta.align_many([("MK", "MV")]), ta.cluster(["MK"], 0.5)
ta.align_multiple(["MK"]), ta.align_clustalw(["MK"]), ta.add_sequences(Path("x"), ["MK"])
ta.merge_alignments(Path("x"), Path("y")), ta.search("x.hmm", ["MK"]), ta.scan(["MK"], "x.hmm")
ta.decode("cpg", ["AC"]), ta.place(ta.ReferencePackage.read("x", "y"), ["AC"])
ta.ClustalwOptions(), ta.PlacementScoring(2, 0), ta.SearchOptions(0.1), ta.Thresholds(1e-3)
ta.align_many()
"""
    )
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(path)], capture_output=True, text=True
    ).stdout
    assert [line.partition("error: ")[2] for line in found.splitlines() if "error:" in line] == [
        'Missing positional argument "pairs" in call to "align_many"  [call-arg]'
    ], found
