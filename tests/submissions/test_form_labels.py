"""Words of forms: every option has some that are no flag, and texts of the command line speak of these."""

import re

import pytest

from tropalign.submissions.verbs import (
    GROUPS,
    OUTPUTS,
    SERVED,
    command_named,
    for_forms,
    message_for_forms,
    served_verb,
)

#: Flags that are words already.
PLAIN = re.compile(r"--(no-)?[a-z]{3,}(-[a-z]{3,})*")


@pytest.mark.parametrize("name", SERVED)
def test_labels_are_words_and_tell_options_apart(name):
    options = served_verb(name).options
    for one in options:
        assert command_named(name).declared()[one.dest].label or PLAIN.fullmatch(one.flag), one.flag
    labels = [one.label for one in options]
    assert len({*labels}) == len(labels)


@pytest.mark.parametrize("name", SERVED)
def test_texts_of_forms_name_no_flag_and_no_stream(name):
    verb = served_verb(name)
    for one in (*verb.inputs, *verb.options, *(each for each in verb.outputs if not each.always)):
        text = for_forms(one.help)
        assert text[0] == text[0].upper()
        assert "stdin" not in text and "standard input" not in text and " -o" not in text and "FILE" not in text, text


def test_no_label_is_of_something_that_is_gone():
    verbs = [served_verb(name) for name in SERVED]
    assert {*GROUPS.values()} <= {one.group for verb in verbs for one in verb.options}
    assert {*OUTPUTS} <= {one.role for verb in verbs for one in verb.outputs}


def test_messages_of_pages_point_at_no_help_of_the_command_line():
    said = "place takes one of --tree and --taxonomy (see tropalign place --help)"
    assert message_for_forms(said) == "place takes one of --tree and --taxonomy"
