"""Declarations of verbs: each option stands once, and words of a command and its replay make the same command."""

import ast
import inspect
import shlex

import pytest

from tropalign.cli.main import main, make_parser
from tropalign.cli.parser import command_of, former_names
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
        declared("pairs").from_replayed(words)


#: Names that options had before, and today's.
FORMER = {
    "msa a.fa --mode fast": "msa a.fa --effort fast",
    "msa a.fa --order=tree": "msa a.fa --row-order tree",
    "build a.sto --columns reference": "build a.sto --nodes reference",
    "build a.fa --single --gap-open 0.1 --gap-extend 0.3": (
        "build a.fa --single --gap-open-probability 0.1 --gap-extend-probability 0.3"
    ),
    "score a.fa --reference b.fa --mask m": "score a.fa --reference b.fa --reference-columns m",
    "cluster a.fa --table t.biom": "cluster a.fa --otu-table t.biom",
    "derep a.fa --table t.biom": "derep a.fa --otu-table t.biom",
    "serve --databases d": "serve --stores d",
}


@pytest.mark.parametrize("words", FORMER)
def test_former_names_mean_the_same_and_are_told(words):
    former, today = (make_parser(False).parse_args(line.split()) for line in (words, FORMER[words]))
    assert command_of(former) == command_of(today)
    told = [sentence.split() for sentence in former_names(former, words.split())]
    assert told and all(sentence[0] in words and sentence[3] in FORMER[words].split() for sentence in told)
    assert not [*former_names(today, FORMER[words].split())]


def test_an_option_is_given_by_one_of_its_names():
    words = ["msa", "a.fa", "--mode", "fast", "--effort", "accurate"]
    with pytest.raises(UsageError, match="--mode is called --effort now, which is given, too: leave --mode out"):
        list(former_names(make_parser(False).parse_args(words), words))


def test_all_former_names_are_tested():
    flags = {flag for command in COMMANDS for one in command.declared().values() for flag in one.formerly_typed}
    assert flags == {word.partition("=")[0] for line in FORMER for word in line.split() if word.startswith("--")} - {
        "--single", "--reference"
    }  # fmt: skip


def test_the_command_line_tells_of_a_former_name_unless_it_is_quiet(tmp_path, capsys):
    (tmp_path / "a.fa").write_text(">a\nMKVLAW\n>b\nMKVAW\n")
    words = ["msa", str(tmp_path / "a.fa"), "--mode", "fast", "-o", str(tmp_path / "b.fa")]
    assert main(words) == 0
    assert "warning: --mode is called --effort now: write that\n" in capsys.readouterr().err
    assert main([*words, "-q"]) == 0 and capsys.readouterr().err == ""


def test_a_refusal_points_at_the_help_of_its_verb():
    with pytest.raises(UsageError) as caught:
        command_of(make_parser(False, ["db"]).parse_args(["db", "build", "-", "-", "-o", "x.tdb"])).run()
    assert str(caught.value) == "standard input can be read once: name - once" and caught.value.verb == "db build"
