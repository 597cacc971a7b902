"""The stub that packaging/stub.py makes of the compiled module."""

import ast
import sys

import pytest
from clone import ROOT, skip_without

from tropalign import _native

skip_without("packaging", "src")
pytest.importorskip("nanobind", reason="nanobind, which makes the stub, is not installed")
pytest.importorskip("ruff", reason="ruff, which formats the stub, is not installed")
sys.path.insert(0, str(ROOT / "packaging"))
from stub import stub  # noqa: E402


def test_the_stub_has_all_names_and_types():
    """Strict type checks would pass over `object` and containers without item types. Tests alone call `testing`."""
    tree = ast.parse(stub())
    named = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert named == {name for name in dir(_native) if not name.startswith("__") and name != "testing"}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            annotations = [argument.annotation for argument in node.args.args if argument.arg != "self"]
            for annotation in [*annotations, node.returns]:
                assert ast.unparse(annotation) not in {"object", "dict", "list", "tuple", "NDArray", "Callable"}, (
                    node.name
                )
