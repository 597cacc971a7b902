"""Every public object is documented as numpydoc asks, and its examples run."""

import ast
import dataclasses
import doctest
import functools
import importlib
import inspect
import io
import re
import textwrap
import tokenize
from pathlib import Path

import pytest
from clone import skip_without

import tropalign
from tropalign.options.option import Options

ROOT = Path(__file__).parent.parent
validation = pytest.importorskip("numpydoc.validate")

#: What numpydoc checks and this project does otherwise: no extended summary or "See Also" where there is nothing to
#: say, summaries in the third person, types in signatures (which mypy checks) and not again in the text.
NOT_ASKED = {"ES01", "SA01", "SS05", "PR04", "PR08", "PR09", "RT02", "RT03", "RT04", "RT05", "GL01", "GL02"}
#: The checks of a property, which its class's example may show.
NOT_ASKED_OF_PROPERTIES = {*NOT_ASKED, "EX01"}


def members_of(thing):
    """What a class and those of the package that it is made of define, but for what all classes of options have."""
    for kind in reversed(inspect.getmro(thing)):
        if kind.__module__.startswith("tropalign.") and kind is not Options:
            shared = vars(Options) if issubclass(kind, Options) else {}
            yield from ((name, value) for name, value in vars(kind).items() if name not in shared)


def public_objects():
    """The names in `tropalign.__all__` and their public methods and properties, with what they name."""
    for name in tropalign.__all__:
        thing = getattr(tropalign, name)
        if not callable(thing):
            continue
        yield name, thing
        for member, value in members_of(thing) if inspect.isclass(thing) else ():
            is_documented = callable(value) or isinstance(value, property | classmethod | functools.cached_property)
            if is_documented and not member.startswith("_"):
                yield f"{name}.{member}", value


def modules_with_examples():
    """The modules of the package whose source holds a doctest."""
    package = Path(tropalign.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if re.search(r"^ *>>> ", path.read_text(), re.MULTILINE):
            yield ".".join(("tropalign", *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")


OBJECTS = dict(public_objects())


def function_of(thing):
    """The function behind a method, or None for a class."""
    if isinstance(thing, property):
        return thing.fget
    thing = getattr(thing, "func", getattr(thing, "__func__", thing))
    return thing if inspect.isfunction(thing) else None


def attributes_of(text: str) -> set[str]:
    """The names in a docstring's Attributes section."""
    section = re.search(r"^Attributes\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", inspect.cleandoc(text), re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^(\w[\w, ]*)", section[1], re.MULTILINE) if section else []
    return {name.strip() for head in heads for name in head.split(",")}


@pytest.mark.parametrize("name", OBJECTS)
def test_documented(name):
    thing = OBJECTS[name]
    checked = validation.validate(f"tropalign.{name}")
    unasked = NOT_ASKED_OF_PROPERTIES if isinstance(thing, property | functools.cached_property) else NOT_ASKED
    errors = {code: text for code, text in checked["errors"] if code not in unasked}
    text = thing.__doc__ or ""
    if dataclasses.is_dataclass(thing) and {field.name for field in dataclasses.fields(thing)} <= attributes_of(text):
        errors.pop("PR01", None)  # a dataclass that others make lists its fields as attributes
    if "\n    Yields\n" in f"\n    {inspect.cleandoc(text)}".replace("\n", "\n    "):
        errors.pop("RT01", None)  # returns an iterator
    assert not errors


@pytest.mark.parametrize("name", [name for name, thing in OBJECTS.items() if function_of(thing)])
def test_errors_that_are_raised_are_documented(name):
    function = function_of(OBJECTS[name])
    raised = set(re.findall(r"raise (?:\w+\.)?([A-Z]\w+)", textwrap.dedent(inspect.getsource(function))))
    documented = inspect.getdoc(function).partition("Raises\n------\n")[2]
    assert [error for error in sorted(raised) if not re.search(rf"^{error}\b", documented, re.MULTILINE)] == []


@pytest.mark.parametrize("module", list(modules_with_examples()))
def test_examples_run(module, monkeypatch):
    monkeypatch.chdir(ROOT)
    loaded = importlib.import_module(module)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    report: list[str] = []
    for test in doctest.DocTestFinder().find(loaded, globs={**vars(loaded), "tropalign": tropalign}):
        runner.run(test, out=report.append)
    assert runner.tries
    assert not runner.failures, "".join(report)


#: First words that name nothing: whoever reads such a sentence has to read the code first.
RIDDLE = re.compile(r'("""|#:? |//+ |/\*\*? )(The same|Those|Of|As|All of|It is)\b')


def test_no_docstring_or_comment_begins_with_a_riddle():
    skip_without("src", "native")
    riddles = []
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.k"), *(ROOT / "native").rglob("*.?pp")]:
        lines = [line.strip() for line in path.read_text().splitlines()]
        for number, (before, line) in enumerate(zip(["", *lines], lines, strict=False), 1):
            if RIDDLE.match(line) and (line[0] == '"' or before[:1] != line[0]):
                riddles.append(f"{path.relative_to(ROOT)}:{number}: {line}")
    assert not riddles


#: Words that the field does not use, in docstrings and comments.
PRIVATE = re.compile(
    r"\b(foretold|foretell|reckon\w*|at the (most|least)|nobody|whoever|whatever|anew|so many|likewise|kin of|beside"
    r"|(is|are|was|were) none|walk back)\b"
)


def prose_of(path):
    """Yield (line, text) of the docstrings and comments of a file."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from ((source.count("\n", 0, at.start()) + 1, at[1]) for at in re.finditer(r"(?:^|\s)//+ (.*)", source))
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield from ((node.body[0].lineno + number, line) for number, line in enumerate(text.splitlines()))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def test_docstrings_and_comments_use_the_terms_of_the_field():
    skip_without("src", "native")
    paths = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.k"), *(ROOT / "native").rglob("*.?pp")]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {text}"
        for path in paths
        for number, text in prose_of(path)
        if PRIVATE.search(text)
    ]
    assert not found
