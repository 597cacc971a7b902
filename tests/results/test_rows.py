import numpy as np
import pytest
from formats.tables import plain_cigar, plain_rows
from hypothesis import given
from hypothesis import strategies as st

from tropalign import _native
from tropalign.errors import InputError
from tropalign.results import rows
from tropalign.sequences import SequenceBatch

lengths = st.one_of(st.integers(0, 30), st.integers(0, 2**28 - 1))
operations = st.lists(st.tuples(lengths, st.integers(0, 8)), max_size=12)


def coded(ops):
    return np.array([length << 4 | kind for length, kind in ops], np.uint32)


def cigar_column(cigars, prefix=""):
    offsets = np.cumsum([0, *map(len, cigars)]).astype(np.int64)
    return ("cigar", np.concatenate([np.zeros(0, np.uint32), *map(coded, cigars)]), offsets, prefix)


def text_column(words, index=None, prefix=""):
    return ("text", *rows.encoded(words), index, prefix)


@st.composite
def tables(draw):
    n = draw(st.integers(0, 6))
    ascii = st.characters(min_codepoint=32, max_codepoint=126)
    words = draw(st.lists(st.text(ascii, max_size=40), min_size=1, max_size=4))

    def array(elements, dtype):
        return np.array(draw(st.lists(elements, min_size=n, max_size=n)), dtype)

    prefix = st.text(ascii, max_size=25)
    kinds = {
        "int32": lambda: ("int32", array(st.integers(-(2**31), 2**31 - 1), np.int32), draw(prefix)),
        "int64": lambda: ("int64", array(st.integers(-(2**63), 2**63 - 1), np.int64), draw(prefix)),
        "real": lambda: ("real", array(st.floats(allow_nan=False), np.float64), draw(st.integers(0, 9)), draw(prefix)),
        "share": lambda: ("real", array(st.fractions(0, 1, max_denominator=512), np.float64), 4, draw(prefix)),
        "text": lambda: text_column(words, array(st.integers(0, len(words) - 1), np.int64), draw(prefix)),
        "own": lambda: text_column((words * 6)[:n], None, draw(prefix)),
        "cigar": lambda: cigar_column(draw(st.lists(operations, min_size=n, max_size=n)), draw(prefix)),
        "constant": lambda: ("constant", draw(prefix)),
    }
    return [kinds[kind]() for kind in draw(st.lists(st.sampled_from(list(kinds)), max_size=6))], n


@given(tables(), st.sampled_from(["\t", "", ", "]), st.sampled_from(["\n", "\n\n", ""]))
def test_joins_as_python_does(table, separator, terminator):
    columns, n = table
    assert rows.join(columns, n, separator, terminator) == plain_rows(columns, n, separator, terminator)


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(0, 9))
def test_fractions_round_as_python_does(a, b, decimals):
    value = np.array([a / b])
    assert rows.join([("real", value, decimals, "")], 1) == f"{a / b:.{decimals}f}\n".encode()


def test_texts_and_numbers_that_are_none():
    values = np.array([np.nan, np.inf, -np.inf, -0.0])
    assert rows.join([("real", values, 2, "")], 4) == b"nan\ninf\n-inf\n-0.00\n"
    assert _native.join_rows([text_column(["a"], np.array([0, -1, 0]))], 3)[:6] == b"a\n*\na\n"
    batch = SequenceBatch.from_strings(["ACGT"], ["Prot\u00e9ine"])
    assert rows.join([rows.names(batch, np.zeros(2, np.int64))], 2).decode() == "Prot\u00e9ine\n" * 2


@given(st.lists(operations, max_size=5))
def test_cigars_as_text(cigars):
    cigars = [[(length or 1, kind) for length, kind in ops] for ops in cigars]
    column = cigar_column(cigars)
    text, offsets = rows.column_text(column, len(cigars))
    assert offsets[0] == 0 and offsets[-1] == len(text)
    for k, ops in enumerate(cigars):
        cigar = text[offsets[k] : offsets[k + 1]].decode()
        assert cigar == plain_cigar(coded(ops))


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (("int32", np.zeros(3, np.int64), ""), "the wrong type"),
        (("int32", np.zeros(6, np.int32)[::2], ""), "contiguous"),
    ],
)
def test_columns_of_another_type_are_told_apart(column, words):
    with pytest.raises(TypeError, match=words):
        _native.join_rows([column], 3)


def test_names_that_break_a_line():
    batch = SequenceBatch.from_strings(["ACGT"], ["a\tb"])
    with pytest.raises(InputError, match="tab or a line break"):
        rows.names(batch, np.zeros(1, np.int64))
    batch = SequenceBatch.from_strings(["MKV"] * 100, [*map(str, range(99)), "a\tb"])
    for _ in range(2):
        with pytest.raises(InputError, match=r"the name contains a tab or a line break"):
            rows.names(batch, np.array([3]))


def test_few_names_out_of_many():
    texts = [f"näme {k}" for k in range(100)]
    few, many = np.array([7, 93, 7, 0]), np.arange(100)[::-1].copy()
    batch = SequenceBatch.from_strings(["MKV"] * 100, texts)
    column = rows.names(batch, few, "p ")
    assert len(column[2]) == 4, "only what the rows name is encoded"
    assert rows.join([column], 4) == "".join(f"p {texts[k]}\n" for k in few).encode()
    for index in (many, few):  # all are encoded from then on
        assert rows.join([rows.names(batch, index)], len(index)) == "".join(f"{texts[k]}\n" for k in index).encode()
