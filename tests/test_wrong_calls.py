"""Calls of the public API that are wrong: each is refused in one sentence, none is computed as something else.

Rooms have tests of their own errors; here is what spans them, a line per call.
"""

import dataclasses
import io
import pickle
from pathlib import Path

import numpy as np
import pytest

import tropalign as ta
from tropalign.errors import InputError, ScoringError, UsageError

NAMES = ("a", "b", "c", "d")
ROWS = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
TREE = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
PROTEINS = ta.SequenceBatch.from_strings({"a": "MKVLAWHEAGAW", "b": "MKILAWPAWHEAE", "c": "KVLAWMKHE"})
NO_RESIDUES = ta.SequenceBatch.without_residues(["x", "y"], [3, 4], ta.NUCLEOTIDE)
BLOSUM62 = ta.SubstitutionMatrix.from_name("BLOSUM62")
(TABLE,) = ta.align_all(PROTEINS)
PACKAGE = ta.ReferencePackage.build(NAMES, ROWS, TREE)
READS = [("x", "ACGTA"), ("y", "CCA")]


def align(**options):
    return list(ta.align_all(PROTEINS, **options))


def place(reads=READS, package=PACKAGE, **options):
    return list(ta.place(package, reads, **options))


def build(names=NAMES, tree=TREE, **options):
    return ta.ReferencePackage.build(names, ROWS, tree, **options)


def named(names):
    return ta.SequenceBatch.from_strings(["MKV", "MKL"], names)


def lengths(names, sizes):
    return ta.SequenceBatch.without_residues(names, sizes, ta.PROTEIN)


CALLS = {
    "a mode among several": (lambda: align(mode=np.array(["local", "global"])), UsageError, "not one of local"),
    "top as an array": (lambda: align(top=np.array([1, 2])), UsageError, "is not a whole number"),
    "identity beyond floats": (lambda: align(min_identity=10**400), UsageError, "is not a fraction"),
    "identity as an array": (lambda: align(min_identity=np.array([0.5])), UsageError, "is not a fraction"),
    "device None": (lambda: align(device=None), UsageError, "None is not a device"),
    "device among names": (lambda: align(device=["cpu", 1]), UsageError, "1 is not a device"),
    "device as bytes": (lambda: align(device=b"cpu"), UsageError, "is not a device"),
    "an empty sequence": (
        lambda: list(ta.align_all(dataclasses.replace(PROTEINS, offsets=np.array([0, 0, 5, 34])))),
        InputError,
        "record 'a': the sequence is empty",
    ),
    "alphabet as a number": (
        lambda: ta.SequenceBatch.from_strings(["MK"], alphabet=5),
        InputError,
        "int is not an alphabet",
    ),
    "alphabet as bytes": (
        lambda: ta.read_sequences(io.BytesIO(b">a\nMK\n"), alphabet=b"protein"),
        InputError,
        "bytes is not an alphabet",
    ),
    "alphabet unhashable": (lambda: build(alphabet=[]), InputError, "list is not an alphabet"),
    "matrix of no alphabet": (
        lambda: ta.SubstitutionMatrix.match_mismatch(1, -1, None),
        InputError,
        "is not an alphabet",
    ),
    "default of nothing": (lambda: ta.SubstitutionMatrix.default(None), InputError, "is not an alphabet"),
    "matrix without a name": (lambda: ta.SubstitutionMatrix.from_name(None), ScoringError, "is not a matrix name"),
    "matrix of a text": (lambda: BLOSUM62.check("MKV"), ScoringError, "is not a SequenceBatch"),
    "a score beyond floats": (lambda: align(matrix={("A", "A"): 10**400}), ScoringError, "is not a number"),
    "names as one text": (lambda: named("ab"), InputError, "must be a list"),
    "names as bytes": (lambda: named(b"ab"), InputError, "must be a list"),
    "names None": (lambda: named(["a", None]), InputError, "the name None is neither"),
    "names nan": (lambda: named([float("nan"), "b"]), InputError, "the name nan is neither"),
    "names as lists": (lambda: named([["a"], ["b"]]), InputError, "is neither a string"),
    "lengths as fractions": (lambda: lengths(["a"], [3.5]), ValueError, "must be integers"),
    "lengths beyond memory": (lambda: lengths(["a", "b"], [2**62, 2**62]), ValueError, "more than any memory"),
    "names of lengths": (lambda: lengths("ab", [2, 2]), ValueError, "a tuple of strings"),
    "text of no residues": (lambda: NO_RESIDUES.text(0), InputError, "only names and lengths"),
    "slice of no residues": (lambda: NO_RESIDUES[:1], InputError, "only names and lengths"),
    "strand of no residues": (lambda: NO_RESIDUES.reverse_complement(), InputError, "only names and lengths"),
    "half a sequence": (lambda: PROTEINS.text(1.5), TypeError, "interpreted as an integer"),
    "half a row": (lambda: TABLE.row(1.0), TypeError, "interpreted as an integer"),
    "take a text": (lambda: TABLE.take("a"), IndexError, "rows must be selected by integers"),
    "take beyond the rows": (lambda: TABLE.take([99]), IndexError, "out of bounds"),
    "queries that are none": (
        lambda: dataclasses.replace(TABLE, queries=np.zeros(3)),
        ValueError,
        "must be SequenceBatches",
    ),
    "files None": (lambda: ta.read_sequences(None), InputError, "None is not a file"),
    "place without a reference": (lambda: place(package=None), UsageError, "NoneType is not a ReferencePackage"),
    "place with a path": (lambda: place(package="reference.npz"), UsageError, "str is not a ReferencePackage"),
    "place without scoring": (lambda: place(scoring=None), UsageError, "is neither a PlacementScoring"),
    "place with a class": (lambda: place(scoring=ta.PlacementScoring), UsageError, "is neither a PlacementScoring"),
    "place half a thread": (lambda: place(n_threads=1.0), UsageError, "n_threads 1.0 is not a whole number"),
    "place a million threads": (lambda: place(n_threads=10**6), UsageError, "from 0 to 1024"),
    "place in no memory": (lambda: place(memory_bytes=0), UsageError, "memory_bytes 0 is out of range"),
    "place in text": (lambda: place(memory_bytes="1G"), UsageError, "is not a whole number"),
    "place nothing": (lambda: place(None), InputError, "NoneType does not contain reads"),
    "place no residues": (lambda: place(NO_RESIDUES), InputError, "only names and lengths"),
    "half a score": (lambda: ta.PlacementScoring(match=2.5), ScoringError, "match must be an integer"),
    "a score None": (lambda: ta.PlacementScoring(gap_open=None), ScoringError, "gap_open must be"),
    "half a whole read": (lambda: ta.PlacementScoring(whole_read=0.5), ScoringError, "must be True or False"),
    "reference names in no order": (lambda: build(set(NAMES)), InputError, "in the order of the rows"),
    "reference names as a text": (lambda: build("abcd"), InputError, "a list of strings"),
    "reference names as numbers": (lambda: build((1, 2, 3, 4)), InputError, "a list of strings"),
    "reference without a tree": (lambda: build(tree=None), InputError, "NoneType is not a tree"),
    "reference of -1 threads": (lambda: build(n_threads=-1), UsageError, "from 0 to 1024"),
    "save without a name": (lambda: PACKAGE.save(""), InputError, "not a file name"),
    "save to a folder": (lambda: PACKAGE.save("/"), InputError, "not a file name"),
    "save nowhere": (lambda: PACKAGE.save("/nonexistent/x.npz"), InputError, "cannot be written"),
    "an alphabet of numbers": (lambda: ta.Alphabet("x", 5, "A"), ValueError, "must be strings"),
    "a wildcard of two letters": (lambda: ta.Alphabet("x", "AB", "AB"), ValueError, "the wildcard"),
    "a synonym of two letters": (
        lambda: ta.Alphabet("x", "AB", "A", synonyms={"CD": "A"}),
        ValueError,
        "must be a single letter",
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_it_is_refused(call):
    function, kind, words = CALLS[call]
    with pytest.raises(kind) as caught:
        function()
    message = str(caught.value)
    assert words in message and "\n" not in message


@pytest.mark.parametrize("memory", [2**63, 2**70, 1e18])
def test_more_memory_than_there_is_can_be_allowed(memory):
    assert [table.score.tolist() for table in align(memory_bytes=memory)] == [TABLE.score.tolist()]


def test_two_alphabets_of_one_name_are_not_mixed():
    other = ta.Alphabet("protein", "ACGT", "A")
    batch = ta.SequenceBatch.from_strings(["ACGT", "ACGG"], alphabet=other)
    with pytest.raises(ScoringError, match="different alphabets of the same name, protein"):
        list(ta.align_all(batch))
    with pytest.raises(InputError, match="different alphabets of the same name, protein"):
        list(ta.align_all(batch, PROTEINS))
    assert pickle.loads(pickle.dumps(batch)).alphabet.letters == "ACGT"


def test_an_error_of_the_callers_own_code_passes_through():
    def reads():
        yield READS[0]
        raise KeyError("mine")

    def progress(count):
        raise RuntimeError("mine")

    with pytest.raises(KeyError, match="mine"):
        place(reads())
    with pytest.raises(RuntimeError, match="mine"):
        place(progress=progress)


def test_nothing_is_written_where_a_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("", Path("."), tmp_path):
        with pytest.raises(InputError, match="not a file name"):
            PACKAGE.save(name)
    assert not list(tmp_path.iterdir())
