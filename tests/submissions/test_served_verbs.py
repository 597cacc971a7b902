"""Fields of verbs: every option of every parser is classified, and none that names a place is offered."""

from pathlib import Path

import pytest

from tropalign.errors import UsageError
from tropalign.formats.format import format_for_path
from tropalign.options.option import DECIMAL, TEXT, Options, option, whole
from tropalign.submissions.verbs import SERVED, about, command_named, format_of_verb, options_of, served_verb
from tropalign.verbs import VERBS

ROOT = Path(__file__).parents[2]
#: Verbs that make no sense on a server, each with its reason.
NOT_SERVED = {
    "merge": "shards are the server's",
    "devices": "the server's",
    "workflow": "files for the user's own machine",
    "serve": "itself",
    "admin": "it",
    "submit": "it",
}


def test_every_verb_is_served_or_not_on_purpose():
    assert {*VERBS} == {name.split()[0] for name in SERVED} | {name for name in NOT_SERVED if name in VERBS}


@pytest.mark.parametrize("name", SERVED)
def test_examples_and_common_options_are_among_the_fields(name):
    verb, known = served_verb(name), about(name)
    assert {*known.example} <= {one.dest for one in verb.inputs}
    assert {*known.example_options} <= {one.dest for one in verb.options}
    common = {one.name for one in command_named(name).declared().values() if one.is_common}
    assert common <= {one.dest for one in verb.options}


def test_a_new_option_that_takes_a_path_is_not_offered():
    with pytest.raises(TypeError, match="declare the allowed values, by a kind or by choices: where it lies"):
        option(default=None, metavar="FILE", help="where it lies")


def test_a_new_option_that_takes_a_number_appears():
    from tropalign.submissions.verbs import _kind

    class Some(Options):
        a: int = option(default=1, kind=whole(1))
        b: float = option(default=1, kind=DECIMAL)
        c: bool = option(default=False)
        d: str = option(default="x", choices=("x", "y"))
        e: str = option(default="", kind=TEXT)

    assert [_kind(one) for one in Some.declared().values()] == ["whole", "number", "flag", "choice", "text"]


@pytest.mark.parametrize("name", SERVED)
def test_nothing_of_the_server_is_offered(name):
    options = {one.dest for one in served_verb(name).options}
    others = {one.name for role in ("machine", "private", "output") for one in options_of(name, role)}
    assert not options & {*others, "epa_ng", "pipeline", "write_only", "save_reference", "output", "threads"}
    for one in served_verb(name).options:
        assert one.help and one.label and one.group
        assert (one.kind == "choice") == bool(one.choices)


@pytest.mark.parametrize("name", SERVED)
def test_formats_have_suffixes_that_choose_them(name):
    verb, kind = served_verb(name), about(name).kind
    for format in verb.formats:
        suffix = format_of_verb(name, format).suffix
        if kind and (format != "matrix"):
            assert format_for_path(kind, f"x{suffix}") == format
    assert verb.formats[0] == verb.default_format


@pytest.mark.parametrize("name", SERVED)
def test_examples_are_there(name):
    for file in served_verb(name).example.values():
        assert (ROOT / "examples" / file).is_file()
    assert {one.dest for one in served_verb(name).inputs if one.required} <= {*served_verb(name).example}


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("pair", "servers cannot run the verb 'pair'; did you mean 'pairs'?"),
        ("merge", "servers cannot run the verb 'merge': choose one of"),
        ("db", "servers cannot run the verb 'db'"),
        ("x\ny", r"servers cannot run the verb 'x\\ny'"),
    ],
)
def test_other_verbs_are_refused(word, sentence):
    with pytest.raises(UsageError, match=sentence):
        served_verb(word)


def test_fields_of_pairs():
    verb = served_verb("pairs")
    mode, top, matrix = verb.option("mode"), verb.option("top"), verb.option("matrix")
    assert (mode.kind, mode.choices, mode.default, mode.is_common) == (
        "choice",
        ("local", "global", "semiglobal"),
        None,  # by what is shown
        True,
    )
    assert (top.kind, top.flag, top.group) == ("whole", "--top", "Selection of pairs")
    assert matrix.kind == "choice" and "BLOSUM62" in matrix.choices and verb.input("matrix").kind == "matrix"
    assert [one.role for one in verb.outputs] == ["main", "report", "plot"]
    assert verb.report == served_verb("cluster").report == "report" and served_verb("derep").report is None
    assert verb.input("queries").takes_database and not verb.input("pairs").takes_database
    assert served_verb("place").input("mates").many and not served_verb("tree").input("taxa").many
