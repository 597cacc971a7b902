"""What an error says, and that it can do no harm to a terminal."""

import threading
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tropalign.errors import InputError, TropalignWarning, counted, did_you_mean, quiet, shown, warn
from tropalign.sequences.files import prefetched


@pytest.mark.parametrize(
    ("n", "things", "text"),
    [
        (0, "reads", "0 reads"),
        (1, "reads", "1 read"),
        (2, "reads", "2 reads"),
        (1234567, "pairs", "1,234,567 pairs"),
        (1, "taxa", "1 taxon"),
        (1, "vertices", "1 vertex"),
        (1, "rounds of training", "1 round of training"),
    ],
)
def test_one_and_many_are_told_apart(n, things, text):
    assert counted(n, things) == text


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


#: Options as they are mistyped, and the options of a verb that are meant.
TYPOS = {
    "--moed": "--mode", "--mode,": "--mode", "--gap-opne": "--gap-open", "--gapopen": "--gap-open",
    "--gap_extend": "--gap-extend", "--gap-ext": "--gap-extend", "--treads": "--threads", "--thread": "--threads",
    "--min-identiy": "--min-identity", "--min_identity": "--min-identity", "--min-id": "--min-identity",
    "--ouput": "--output", "--out": "--output", "--memroy": "--memory", "--mem": "--memory", "--fromat": "--format",
    "--strnad": "--strand", "--alphabt": "--alphabet", "--matirx": "--matrix", "--dry_run": "--dry-run",
    "--dryrun": "--dry-run", "--colums": "--columns", "--column": "--columns", "--shards": "--shard",
    "--quite": "--quiet", "--tpo": "--top", "--max-evalues": "--max-evalue", "--repot": "--report",
    "-otuput": "--output",
}  # fmt: skip
#: Options that mean something else, or nothing: a hint would mislead.
OTHERS = (
    "--id",
    "--outfmt",
    "--html",
    "--plot",
    "--centroids",
    "--force",
    "--input",
    "--name",
    "--band",
    "--gap",
    "-x",
)


def test_a_mistyped_option_is_answered_with_the_one_that_is_meant():
    known = {
        *TYPOS.values(),
        "--min-coverage",
        "--min-query-coverage",
        "--free-ends",
        "--help",
        "--method",
        "--midpoint",
    }
    assert {typo: did_you_mean(typo, known) for typo in TYPOS} == {
        typo: f"; did you mean {meant!r}?" for typo, meant in TYPOS.items()
    }
    assert [did_you_mean(word, known) for word in OTHERS] == [""] * len(OTHERS)


@pytest.mark.parametrize(("word", "meant"), [("tvs", "tsv"), ("gobal", "global"), ("pair", "pairs"), ("tre", "tree")])
def test_a_mistyped_word_is_answered_too(word, meant):
    assert did_you_mean(word, ["tsv", "csv", "global", "pairs", "place", "tree"]) == f"; did you mean {meant!r}?"


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("glocal", "semiglobal"), ("GLOCAL", "semiglobal"), ("overlap", "semiglobal"), ("infix", "semiglobal"),
        ("nw", "global"), ("needle", "global"), ("smith-waterman", "local"), ("sw", "local"), ("lokal", "local"),
    ],
)  # fmt: skip
def test_words_of_other_programs_are_known(word, meant):
    assert did_you_mean(word, ["local", "global", "semiglobal"]) == f"; did you mean {meant!r}?"
    assert "semiglobal" not in did_you_mean(word, ["nwk", "newick"])


def warns(text):
    """Whether a warning is given."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn(text)
    assert [one.category for one in found] in ([], [TropalignWarning])
    return bool(found)


def test_warnings_are_dropped_in_the_block_alone():
    with quiet():
        with quiet():
            assert not warns("inner")
        assert not warns("outer")
    with pytest.raises(KeyError), quiet():
        raise KeyError
    assert warns("after")


def test_warnings_tell_where_the_function_was_called():
    with pytest.warns(TropalignWarning, match="x") as found:
        warn("x", stacklevel=1)
    assert found[0].filename == __file__


def test_threads_inherit_it_and_others_do_not():
    found, inside, go_on = [], threading.Event(), threading.Event()

    def other():
        with quiet():
            inside.set()
            go_on.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(60)
    assert warns("beside a thread that is quiet")
    go_on.set()
    thread.join()
    with quiet():
        found += prefetched(warns(text) for text in "ab")
    assert found == [False, False]


def test_blocks_that_overlap_leave_the_filters_as_they_were():
    filters = list(warnings.filters)
    inside, leaves = threading.Event(), threading.Event()

    def other():
        with quiet():
            inside.set()
            leaves.wait(60)

    thread = threading.Thread(target=other)
    with quiet():
        thread.start()
        assert inside.wait(60)
    leaves.set()
    thread.join()
    assert list(warnings.filters) == filters
