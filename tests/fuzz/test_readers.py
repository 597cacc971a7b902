"""Files that nobody wrote are read, or refused in one line: a short run of the fuzzer (make fuzz is the long one)."""

import pytest
from fuzz import archives
from fuzz.readers import HANG_SECONDS, fault_of, fuzz

from tropalign.errors import InputError


def test_the_corpus_and_some_mutated_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    count, faults = fuzz(tmp_path, seed=1, files=120)
    assert faults == [] and count == 2040


def test_what_is_changed_is_good_before(tmp_path):
    for data in archives.results(tmp_path):
        (tmp_path / "x.result").write_bytes(data)
        archives.read_result(tmp_path / "x.result")


def reader_that_raises(error):
    def read(path):
        raise error

    return read


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (InputError("no such thing", file="x"), None),
        (InputError("two\nlines"), "no printable line"),
        (InputError("\x1b[31mred"), "no printable line"),
        (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
        (AssertionError(), "AssertionError"),
    ],
)
def test_what_is_a_fault(tmp_path, error, fault):
    found = fault_of(reader_that_raises(error), tmp_path)
    assert found is None if fault is None else fault in found


def test_a_hang_is_a_fault(tmp_path, monkeypatch):
    monkeypatch.setattr("fuzz.readers.HANG_SECONDS", 1)
    assert HANG_SECONDS > 1

    def read(path):
        while True:
            pass

    assert "more than 1 seconds" in fault_of(read, tmp_path)
