"""Options of other programs are answered with what to write here."""

import re

import pytest

from tropalign.cli.main import main, make_parser
from tropalign.cli.other_programs import NAMES, PROGRAMS
from tropalign.cli.parser import verbs_of


@pytest.fixture(scope="module")
def options():
    """The options of each verb."""
    verbs = verbs_of(make_parser(False))
    return {name: [one for action in verb._actions for one in action.option_strings] for name, verb in verbs.items()}


def test_what_is_advised_exists_and_what_exists_is_not_answered(options):
    for verbs, names, what in NAMES:
        for verb in verbs:
            taken = {f"{dashes}{name}" for name in names.split() for dashes in ("-", "--")} & set(options[verb])
            assert not taken, (verb, taken)
            for other, option in re.findall(r" tropalign (\w+) (--\w+)", what):
                assert option in options[other]
            own = re.sub(r" tropalign \w+ --\w+", "", what)
            advised = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", own))
            assert advised <= set(options[verb]), (verb, what)


def test_other_programs_are_answered_with_the_verb_for_their_job(options, capsys):
    for names, told in PROGRAMS.items():
        verb, *more = told.split()
        assert verb in options and all(word in options[verb] for word in more if word.startswith("-"))
        for name in names.split():
            assert main([name, "a.fa"]) == 2
            sentence = f"tropalign: there is no verb {name}: use tropalign {told} (see tropalign --help)\n"
            assert capsys.readouterr().err == sentence
