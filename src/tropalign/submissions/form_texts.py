"""Adaptation of command-line texts to forms: options by label, without streams and `@FILE`."""

from __future__ import annotations

import re

from tropalign.properties import cached
from tropalign.submissions.labels import in_words
from tropalign.submissions.verbs import SERVED, command_named, label_of

_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_SEE_HELP = re.compile(r" \(see tropalign [a-z ]+ --help\)$")
#: Phrases that apply only to command lines.
_COMMAND_LINE = re.compile(
    r"[;,] - (\(default\) )?is (standard input|stdin|stdout)|; --columns help lists them|; several times for several"
    r"|; may be repeated|; @FILE for those of a file, one per line"
)


@cached
def labels() -> dict[str, str]:
    """Return the labels of all options in forms, by flag."""
    options = [one for name in SERVED for one in command_named(name).declared().values() if one.label]
    chosen = [one for one in options if one.role == "value" or one.names is not None]
    return {flag: label_of(one) for one in chosen for flag in one.typed}


def for_forms(text: str) -> str:
    """Adapt a command-line text to a form.

    >>> from tropalign.submissions.form_texts import for_forms
    >>> for_forms("with --gap-extend2 a second cost; - is stdin")
    'With “Second gap extension cost” a second cost'
    """
    text = _FLAG.sub(lambda found: _named(found.group()), _COMMAND_LINE.sub("", text))
    return text[:1].upper() + text[1:]


def message_for_forms(text: str) -> str:
    """Replace options in a message by their labels, and remove the reference to the command line's help.

    >>> from tropalign.submissions.form_texts import message_for_forms
    >>> message_for_forms("x.fa: add --unaligned (see tropalign tree --help)")
    'x.fa: add “Sequences are not aligned”'
    """
    text = _SEE_HELP.sub("", text)
    return _FLAG.sub(lambda found: _named(found.group()) if found.group() in labels() else found.group(), text)


def _named(flag: str) -> str:
    if flag not in labels() and not flag.startswith("--"):
        return flag
    return f"“{labels().get(flag) or in_words(flag.lstrip('-'))}”"
