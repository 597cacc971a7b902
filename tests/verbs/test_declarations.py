"""Declarations of verbs: each option stands once, and words of a command and its replay make the same command."""

import ast
import inspect
import shlex

import pytest

from tropalign.cli.main import make_parser
from tropalign.cli.parser import command_of
from tropalign.errors import UsageError
from tropalign.verbs import VERBS, declared

#: Functions that declare an option.
DECLARE = ("option", "input_file", "output_file")
COMMANDS = [action for name in VERBS for action in (declared(name).actions or (declared(name),))]


def declaring(command):
    """Where each option is declared anew: the classes that do not take it over from another one."""
    for base in command.__mro__[:-1]:
        tree = ast.parse(inspect.getsource(inspect.getmodule(base)))
        body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == base.__name__).body
        for node in body:
            made_by = node.value.func if isinstance(getattr(node, "value", None), ast.Call) else None
            if isinstance(node, ast.AnnAssign) and getattr(made_by, "id", "") in (
                "option",
                "input_file",
                "output_file",
            ):
                yield node.target.id, base


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.verb)
def test_each_option_is_declared_once(command):
    found = [name for name, _ in declaring(command)]
    assert len({*found}) == len(found), sorted(name for name in {*found} if found.count(name) > 1)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.verb)
def test_each_option_says_what_it_is(command):
    flags = [flag for one in command.declared().values() for flag in one.typed]
    assert len({*flags}) == len(flags)
    for one in command.declared().values():
        assert one.help and one.help[0] not in " ." and not one.help.endswith("."), one.name
        assert one.role != "output" or (one.output and (one.suffix or command.verb == "merge")), one.name


NUMBERS = [
    (command, one)
    for command in COMMANDS
    for one in command.declared().values()
    if one.kind is not None and one.kind.name in ("whole", "number")
]


@pytest.mark.parametrize(("command", "one"), NUMBERS, ids=lambda each: getattr(each, "verb", getattr(each, "name", "")))
def test_each_number_has_a_range(command, one):
    """What lies outside is refused as it is read, and defaults lie within."""
    least, most = one.kind.least, one.kind.most
    assert least is not None and most is not None and -1e300 <= least < most <= 1e300
    assert one.default is None or least <= one.default <= most
    bounds = {str(bound): one.kind.parse(str(bound)) for bound in (least, most)} if one.kind.name == "whole" else {}
    assert list(bounds.values()) == [least, most][: len(bounds)]
    for word in (
        "1e308",
        "-1e308",
        "inf",
        "-inf",
        "nan",
        "1e-306",
        "1e999",
        "9" * 40,
        "-" + "9" * 40,
        "1_0",
        "0x1f",
        "",
    ):
        if one.kind.name == "number" and word[-1:].isdigit() and "_" not in word and least <= float(word) <= most:
            continue
        with pytest.raises(ValueError, match=r"^'?.*'? is "):
            one.kind.parse(word)


@pytest.mark.parametrize(
    "words",
    [
        "pairs a.fa",
        "pairs a.fa b.fa --mode global --top 3 --min-score 2.5 --strand both --no-comments",
        "search m.hmm a.fa b.fa -E 1e-5 --cut_ga",
        "decode --model cpg a.fa --fix start --fix transition --fit --rounds 3",
        "cluster -- -odd.fa",
        "tree x.aln --outgroup a --outgroup b",
    ],
)
def test_a_replayed_command_is_the_same(words):
    first, *rest = shlex.split(words)
    command = command_of(make_parser(False, [first]).parse_args([first, *rest]))
    replayed = command.replayed()
    assert replayed[0] == first and type(command).from_replayed(replayed[1:]) == command


@pytest.mark.parametrize(
    "words", [["--modes=global", "--", "a"], ["--mode", "--", "a"], ["--top=0", "--", "a"], ["--"]]
)
def test_words_that_are_no_replay_are_refused(words):
    with pytest.raises((ValueError, TypeError)):
        declared("find").from_replayed(words)


def test_a_refusal_points_at_the_help_of_its_verb():
    with pytest.raises(UsageError) as caught:
        command_of(make_parser(False, ["db"]).parse_args(["db", "build", "-", "-", "-o", "x.tdb"])).run()
    assert str(caught.value) == "standard input can be read only once: name - once" and caught.value.verb == "db build"
