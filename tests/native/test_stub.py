"""The stub of the compiled module is what packaging/stub.py makes of it."""

import ast
import sys

import pytest
from clone import ROOT, skip_without

from tropalign import _native

skip_without("packaging", "src")
pytest.importorskip("nanobind", reason="nanobind, which makes the stub, is not installed")
pytest.importorskip("ruff", reason="ruff, which formats the stub, is not installed")
sys.path.insert(0, str(ROOT / "packaging"))
from stub import STUB, stub  # noqa: E402


def test_the_stub_is_that_of_the_compiled_core():
    assert STUB.read_text() == stub(), "run python packaging/stub.py"
    named = {node.name for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert named == {name for name in dir(_native) if not name.startswith("__")}


def test_no_type_is_left_open():
    """Strict type checks would pass over what is `object` or without its items."""
    for node in ast.walk(ast.parse(STUB.read_text())):
        if isinstance(node, ast.FunctionDef):
            annotations = [argument.annotation for argument in node.args.args if argument.arg != "self"]
            for annotation in [*annotations, node.returns]:
                assert ast.unparse(annotation) not in {"object", "dict", "list", "tuple", "NDArray", "Callable"}, (
                    node.name
                )
