"""Names of users' files become names that lead nowhere."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tropalign.submissions.submission import MOST_BYTES, MOST_LETTERS, numbered, sanitised, stem_of


@given(st.text(max_size=400))
def test_a_name_is_a_name(text):
    name = sanitised(text)
    assert name and name.isprintable() and not set("/\\\0") & set(name)
    assert name[0] not in ".-@~ " and name not in (".", "..")
    assert len(name) <= MOST_LETTERS and len(name.encode("utf-8", "surrogatepass")) <= MOST_BYTES
    assert os.path.basename(name) == name and sanitised(name) == name


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("proteins.fa", "proteins.fa"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("-o.fa", "o.fa"),
        ("--output=/etc/x", "x"),
        ("a\nb\x1b[31m.fa", "ab[31m.fa"),
        ("x\u202efa.exe", "xfa.exe"),
        ("", "sequences.fa"),
        ("...", "sequences.fa"),
        ("@list", "list"),
        ("é" * 300 + ".fastq.gz", "é" * 85 + ".fastq.gz"),
        ("<img src=x onerror=alert(1)>.fa", "<img src=x onerror=alert(1)>.fa"),
    ],
)
def test_known_names(given_name, name):
    assert sanitised(given_name) == name


def test_numbers_part_equal_names():
    assert numbered("x.fa", ["x.fa", "x-2.fa"]) == "x-3.fa"
    assert stem_of(".gz") == ".gz"
