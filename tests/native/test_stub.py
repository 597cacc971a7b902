"""The stub of the compiled module says what the module has."""

import ast
import re
from pathlib import Path

import tropalign
from tropalign import _native

STUB = ast.parse((Path(tropalign.__file__).parent / "_native.pyi").read_text())


def parameters(function):
    """Name of each parameter of a nanobind function, and whether it has a default; by its signature."""
    ((signature, *_),) = function.__nb_signature__
    inside = re.fullmatch(r"def \w+\((.*)\)(?: -> .*)?", signature).group(1)
    while (flat := re.sub(r"\[[^\[\]]*\]", "", inside)) != inside:  # types have commas, too
        inside = flat
    return [(part.split(":")[0].split("=")[0].strip(), "=" in part) for part in inside.split(",") if part.strip()]


def stub_parameters(function):
    names = [argument.arg for argument in function.args.args]
    first_default = len(names) - len(function.args.defaults)
    return [(name, k >= first_default) for k, name in enumerate(names)]


def named_functions(nodes):
    return [(node.name, node) for node in nodes if isinstance(node, ast.FunctionDef)]


def functions(nodes):
    return {name: stub_parameters(node) for name, node in named_functions(nodes)}


def is_property(function):
    return [ast.unparse(decorator) for decorator in function.decorator_list] == ["property"]


def test_functions_and_their_parameters():
    classes = {node.name for node in STUB.body if isinstance(node, ast.ClassDef)}
    public = {name for name in dir(_native) if not name.startswith("__")}
    found = {name: parameters(getattr(_native, name)) for name in public - classes}
    assert found == functions(STUB.body)
    assert found["join_rows"][-1] == ("terminator", True)


def test_classes_and_their_methods():
    for node in STUB.body:
        if isinstance(node, ast.ClassDef):
            made = getattr(_native, node.name)
            own = {name for name in vars(made) if name == "__init__" or not name.startswith("__")}
            properties = {name for name in own if isinstance(vars(made)[name], property)}
            named = {name for name, function in named_functions(node.body) if is_property(function)}
            assert properties == named
            methods = {name: parameters(getattr(made, name)) for name in own - properties}
            assert methods == {name: stub_parameters(f) for name, f in named_functions(node.body) if name not in named}
