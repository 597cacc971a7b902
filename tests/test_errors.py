"""What an error says, and that it can do no harm to a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tropalign.errors import InputError, shown


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("read 1", "read 1"),
        ("\u00e9t\u00e9", "\u00e9t\u00e9"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\t\r", "a\\nb\\t\\r"),
        ("\u202eabc\u2028", "\\u202eabc\\u2028"),
        ("\udce9", "\\udce9"),
        ("", ""),
    ],
)
def test_shown(name, text):
    assert shown(name) == text


@given(st.text(), st.text(), st.integers(1, 9))
def test_where_an_error_is_can_always_be_printed(file, record, line):
    text = str(InputError("mend it", file=file, record=record, line=line))
    assert text.isprintable() and text.endswith(": mend it") and f"line {line}" in text
