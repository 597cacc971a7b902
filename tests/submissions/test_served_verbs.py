"""Fields of verbs: every option of every parser is classified, and none that names a place is offered."""

import argparse
from pathlib import Path

import pytest

from tropalign.cli.main import VERBS
from tropalign.errors import UsageError
from tropalign.formats.registry import format_for_path
from tropalign.submissions.tables import ABOUT, SERVERS
from tropalign.submissions.verbs import SERVED, format_of_verb, parser_of, served_verb, unclassified

ROOT = Path(__file__).parents[2]
#: Verbs that make no sense on a server, each with its reason.
NOT_SERVED = {"merge": "shards are the server's", "devices": "the server's", "serve": "itself", "submit": "it"}


def test_every_verb_is_served_or_not_on_purpose():
    assert {*VERBS} == {name.split()[0] for name in SERVED} | {name for name in NOT_SERVED if name in VERBS}


@pytest.mark.parametrize("name", SERVED)
def test_every_option_is_classified(name):
    assert unclassified(name) == [], "say in submissions/tables.py what it is"


@pytest.mark.parametrize("name", SERVED)
def test_the_tables_name_what_there_is(name):
    known, dests = ABOUT[name], {action.dest for action in parser_of(name)._actions}
    named = {*known.inputs, *known.texts, *known.named, *known.never, *known.common, *known.example_options}
    assert named | {one.dest for one in known.beside} <= dests
    assert {*known.example} | {*known.labels} <= {*known.inputs}
    assert {*known.common} <= {one.dest for one in served_verb(name).options}


def test_a_new_option_that_takes_a_path_is_not_offered(monkeypatch):
    parser = parser_of("msa")
    added = parser.add_argument("--new-file", metavar="FILE")
    try:
        served_verb.cache_clear()
        assert unclassified("msa") == ["new_file"]
        assert served_verb("msa").option("new_file") is None
    finally:
        parser._remove_action(added)
        parser._option_string_actions.pop("--new-file")
        for group in parser._action_groups:
            if added in group._group_actions:
                group._group_actions.remove(added)
        served_verb.cache_clear()


def test_a_new_option_that_takes_a_number_appears():
    parser = argparse.ArgumentParser()
    from tropalign.cli.options import decimal, whole
    from tropalign.submissions.verbs import _kind

    kinds = [parser.add_argument("--a", type=whole(1)), parser.add_argument("--b", type=decimal)]
    kinds += [parser.add_argument("--c", action="store_true"), parser.add_argument("--d", choices=("x", "y"))]
    assert [_kind(action) for action in kinds] == ["whole", "number", "flag", "choice"]


@pytest.mark.parametrize("name", SERVED)
def test_nothing_of_the_server_is_offered(name):
    options = {one.dest for one in served_verb(name).options}
    assert not options & {*SERVERS, "epa_ng", "pipeline", "write_only", "save_reference"}
    assert not options & {one.dest for one in ABOUT[name].beside}
    for one in served_verb(name).options:
        assert one.kind != "text" or one.dest in ABOUT[name].texts
        assert one.help and one.label and one.group
        assert (one.kind == "choice") == bool(one.choices)


@pytest.mark.parametrize("name", SERVED)
def test_formats_have_suffixes_that_choose_them(name):
    verb, kind = served_verb(name), ABOUT[name].kind
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
        ("pair", "no server runs a verb 'pair'; did you mean 'pairs'?"),
        ("merge", "no server runs a verb 'merge': choose one of"),
        ("db", "no server runs a verb 'db'"),
        ("x\ny", r"no server runs a verb 'x\\ny'"),
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
        "local",
        True,
    )
    assert (top.kind, top.flag, top.group) == ("whole", "--top", "Which pairs")
    assert matrix.kind == "choice" and "BLOSUM62" in matrix.choices and verb.input("matrix").kind == "matrix"
    assert [one.role for one in verb.outputs] == ["main", "report", "plot"]
    assert verb.report == "report" and served_verb("cluster").report is None
    assert verb.input("queries").takes_database and not verb.input("pairs").takes_database
    assert served_verb("place").input("mates").many and not served_verb("tree").input("taxa").many
