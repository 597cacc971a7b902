"""Alphabets of one's own: against the plain recurrence, and against proteins with the same scores."""

import pickle
import random

import numpy as np
import pytest
from oracles import pairwise
from pairwise.engines import MODES

import tropalign as ta
from tropalign.errors import InputError, ScoringError

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ01234"
OWN = ta.Alphabet("state", LETTERS)
BLOSUM62 = ta.SubstitutionMatrix.from_name("BLOSUM62")
#: The letters that BLOSUM62 has, in another order than those of PROTEIN.
AMINO = ta.Alphabet("amino", "".join(sorted(BLOSUM62.letters)))


def texts_of(rng, count, letters=LETTERS, longest=40):
    """Random texts; some letters are lower case."""
    return [
        "".join(rng.choice(letters + letters.lower()) for _ in range(rng.randint(1, longest))) for _ in range(count)
    ]


def of_row(row):
    """What the oracle says of a pair."""
    numbers = [getattr(row, name) for name in pairwise.Expected.__dataclass_fields__]
    return pairwise.Expected(*numbers)


@pytest.mark.parametrize("mode", MODES)
def test_thirty_one_letters_give_what_the_plain_recurrence_gives(mode):
    rng = random.Random(mode)
    scores = np.array(rng.choices(range(-6, 8), k=31 * 31)).reshape(31, 31)
    pairs = list(zip(texts_of(rng, 20), texts_of(rng, 20), strict=True))
    how = {"mode": mode, "gap": ta.Gap(3, 1), "alphabet": OWN, "matrix": (LETTERS.lower(), scores)}
    wanted = [
        pairwise.align(*([LETTERS.index(letter) for letter in text.upper()] for text in pair), scores, 3, 1, mode)
        for pair in pairs
    ]
    table = ta.align_many(pairs, **how)
    assert [of_row(table.row(k)) for k in range(len(table))] == wanted
    assert [of_row(ta.align(*pair, **how)) for pair in pairs] == wanted
    queries, targets = zip(*pairs, strict=True)
    index = np.stack([np.arange(20)] * 2, 1)
    (table,) = ta.align_all(queries, targets, pairs=index, **how)
    assert [of_row(row) for row in table] == wanted
    assert table.row(0).query_text() == queries[0]  # the case is kept


def test_match_and_mismatch():
    """All letters count: there is no wildcard, which would score 0."""
    same = np.where(np.eye(31, dtype=bool), 2, -1)
    (first, second) = texts = texts_of(random.Random(2), 2, "A0Z4")
    coded = [[LETTERS.index(letter) for letter in text.upper()] for text in texts]
    how = {"gap": ta.Gap(1, 1), "alphabet": OWN, "matrix": (2, -1), "mode": "global"}
    assert of_row(ta.align(first, second, **how)) == pairwise.align(*coded, same, 1, 1, "global")
    for rule in ("mismatch", "zero", "match"):
        matrix = ta.SubstitutionMatrix.match_mismatch(2, -1, OWN, rule)
        assert np.array_equal(matrix.scores[:31, :31], same)
    assert ta.align("ACGT", "ACGT", matrix=(3, -1)).score == 12 and ta.align("MKVL", "MKVL", matrix=(3, -1)).score == 12
    assert ta.align("ACGT", "ACGT", matrix=(1.5, -1)).score == 6.0


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl", "paf", "sam", "fasta", "srspair", "matrix", "bed"])
def test_letters_of_proteins_give_what_proteins_give(tmp_path, form):
    rng = random.Random(form)
    texts = {f"s{k}": text for k, text in enumerate(texts_of(rng, 6, AMINO.letters.replace("*", "")))}
    for name, alphabet in (("protein", ta.PROTEIN), ("own", AMINO)):
        tables = ta.align_all(texts, matrix="BLOSUM62", gap=ta.Gap(11, 1), alphabet=alphabet, mode="global")
        ta.write_alignments(tables, tmp_path / name, form)
    assert (tmp_path / "own").read_bytes() == (tmp_path / "protein").read_bytes()


def test_clusters_of_proteins_are_those_of_their_letters():
    rng = random.Random(4)
    texts = {}
    for k in range(5):
        text = "".join(rng.choice("ACDEFGHIKL") for _ in range(60))
        texts |= {f"{k}a": text, f"{k}b": text[:30] + text[31:], f"{k}c": "W" + text[:-1]}
    found = [
        ta.cluster(texts, matrix="BLOSUM62", gap=ta.Gap(11, 1), alphabet=alphabet, min_identity=0.9)
        for alphabet in (ta.PROTEIN, AMINO)
    ]
    assert found[0].labels.tolist() == found[1].labels.tolist() and len(found[1]) == 5


def test_saved_results_and_pickles_hold_the_letters(tmp_path):
    (table,) = ta.align_all({"a": "xyzzy", "b": "XYZY"}, alphabet=OWN, matrix=(2, -1), gap=ta.Gap(1, 1), mode="global")
    table.write(tmp_path / "own.result")
    for again in (ta.read_result(tmp_path / "own.result"), pickle.loads(pickle.dumps(table))):
        assert again == table and again.queries.alphabet.letters == LETTERS and again.row(0).query_text() == "xyzzy"


def test_an_alphabet_of_a_known_name_keeps_its_letters(tmp_path):
    own = ta.Alphabet("protein", "HEC")
    (table,) = ta.align_all({"a": "HHEC", "b": "HHCC"}, alphabet=own, matrix=(2, -1))
    table.write(tmp_path / "x.result")
    read = ta.read_result(tmp_path / "x.result")
    assert read.queries.alphabet.letters == "HEC" and read.queries.codes.tolist() == table.queries.codes.tolist()


def test_letters_that_only_the_matrix_has_are_ignored():
    matrix = ta.SubstitutionMatrix.of("BLOSUM62", ta.Alphabet("few", "WAC"))
    assert matrix.alphabet.letters == "WAC" and matrix["W", "W"] == 11 and matrix["A", "C"] == 0


def test_other_characters_are_x_in_formats_of_letters(tmp_path):
    (table,) = ta.align_all({"a": "A01B", "b": "A02B"}, alphabet=OWN, matrix=(2, -1), gap=ta.Gap(9, 1), mode="global")
    table.write(tmp_path / "out.paf")
    assert "cs:Z::2*xx:1" in (tmp_path / "out.paf").read_text()
    with pytest.warns(ta.TropalignWarning, match="such as '0' not allowed in SAM: written as X"):
        table.write(tmp_path / "out.sam")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ta.Alphabet("x", LETTERS + "5"), ValueError, "1 to 31 different letters"),
        (lambda: ta.Alphabet("x", "ABA"), ValueError, "1 to 31 different letters"),
        (lambda: ta.Alphabet("x", "AB-"), ValueError, "must not include"),
        (lambda: ta.Alphabet("x", "AB\n"), ValueError, "must not include"),
        (
            lambda: ta.align("AB", "A!", alphabet=OWN, matrix=(2, -1)),
            InputError,
            "'!' at position 2 is not a letter of",
        ),
        (lambda: ta.align("AB", "AB", alphabet=OWN), ScoringError, "there is no default matrix for state sequences"),
        (
            lambda: ta.align("AB", "AC", alphabet=OWN, matrix=("AB", np.eye(2))),
            ScoringError,
            "has no letter C, but record 'target' contains it at position 2",
        ),
        (
            lambda: next(ta.align_all(["AB", "AC"], alphabet=OWN, matrix=(2, -1), max_evalue=1)),
            ScoringError,
            "E-values require residue frequencies",
        ),
        (
            lambda: next(ta.align_all(["AB", "AC"], alphabet=OWN, matrix=(2, -1), mask="seg")),
            InputError,
            "mask seg is for proteins, but these are states: choose none",
        ),
        (lambda: ta.align("AB", "AB", alphabet=OWN, matrix=(2,)), ScoringError, "is not a matrix"),
        (lambda: ta.align("AB", "AB", alphabet=OWN, matrix=(2, 1e7)), ScoringError, "the mismatch score"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_letter_outside_the_alphabet_names_the_record(tmp_path):
    path = tmp_path / "in.fa"
    path.write_text(">a\nABAB\n>b\nAB!B\n")
    with pytest.raises(
        InputError, match=r"record 'b': 1 letter outside the state alphabet, the first '!' at position 3"
    ):
        ta.read_sequences(path, alphabet=OWN)
