"""The result of aligning a family."""

import copy
import html
import pickle
import re

import numpy as np
import pytest

import tropalign
from tropalign.errors import UsageError
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences import PROTEIN, SequenceBatch

ROWS = ["MKV-LAWkk", "MKVILA--k", "-RV-LAY-x"]
NAMES = ["one", "two", "three"]


def alignment(**more):
    made = MultipleAlignment.from_rows(NAMES, ROWS)
    n = len(made.columns)
    fields = {
        "residue_confidence": np.linspace(0, 1, n).astype(np.float32),
        "column_confidence": np.linspace(0, 1, 9).astype(np.float32),
        "tree": "(one,(two,three));",
        **more,
    }
    return MultipleAlignment(made.sequences, made.columns, made.n_columns, **fields)


def test_rows_trees_and_equality():
    made = alignment()
    assert list(made) == ROWS and made.shape == (3, 9) and len(made) == 3
    assert [row.tobytes().decode() for row in made.letters] == ROWS
    assert made.sequences.text(0) == "MKVLAWkk" and made.names == tuple(NAMES)
    assert made[1] == made[-2] == ROWS[1] and made.row(-1) == ROWS[2].encode()
    assert made.codes[0, 3] == 255 and made.codes[0, 0] == PROTEIN.code("M")
    assert not made.letters.flags.writeable
    assert made[::-1].tree == made[[1, 0, 2]].tree == made[:, 2:5].tree == made.tree
    assert made[:2].tree is None and made[[0, 1, 1, 2]].tree is None
    assert made == alignment(tree=None, residue_confidence=None) and made == pickle.loads(pickle.dumps(made))
    assert made == copy.deepcopy(made) and made != made[:2] and made != "text"
    others = (["MKV-LAWkk", "MKVILA--k", "-RV-LAYx-"], ["MKV-LAWKk", *ROWS[1:]])
    assert all(MultipleAlignment.from_rows(NAMES, rows) != made for rows in others)
    assert MultipleAlignment.from_rows(["one", "two", "4"], ROWS) != made


@pytest.mark.parametrize("rows", [slice(1, None), [2, 0], np.array([True, False, True]), slice(None, None, -1), []])
def test_some_rows(rows):
    chosen = np.arange(3)[rows if len(np.atleast_1d(rows)) or isinstance(rows, slice) else slice(0, 0)].tolist()
    made = alignment()
    part = made[rows]
    assert list(part) == [ROWS[k] for k in chosen] and part.names == tuple(NAMES[k] for k in chosen)
    whole = [made.residue_confidence[made.row_index == k] for k in chosen]
    assert part.residue_confidence.tolist() == [value for values in whole for value in values.tolist()]


@pytest.mark.parametrize("columns", [slice(2, 5), slice(-3, None), slice(4, 4), slice(None), slice(7, 3)])
def test_some_columns(columns):
    made = alignment()
    part = made[:, columns]
    assert list(part) == [row[columns] for row in ROWS]
    assert part.column_confidence.tolist() == made.column_confidence[columns].tolist()
    assert list(made[1:, columns]) == [row[columns] for row in ROWS[1:]]
    assert list(made[0, columns]) == [ROWS[0][columns]]


def test_gaps_of_all_kinds_and_empty_rows_and_columns():
    part = alignment()[[0, 2]].without_empty_columns()
    assert list(part) == ["MKVLAWkk", "-RVLAY-x"]
    assert part.column_confidence.tolist() == np.delete(alignment().column_confidence, 3).tolist()
    made = MultipleAlignment.from_rows(["a", "b"], [b"A.C_G", "ACC-G"])
    assert list(made) == ["A-C-G", "ACC-G"] and made.sequences.alphabet.name == "nucleotide"
    made = alignment()[:, 6:8]
    assert list(made) == ["Wk", "--", "Y-"]
    assert list(made[1:]) == ["--", "Y-"]


@pytest.mark.parametrize("share", [0, 0.3, 0.5, 0.7, 1])
def test_columns_with_too_few_residues_go(share):
    made = alignment()
    kept = [j for j in range(made.n_columns) if sum(row[j] != "-" for row in ROWS) >= share * len(ROWS)]
    part = made.trimmed(share)
    assert list(part) == ["".join(row[j] for j in kept) for row in ROWS]
    assert part.column_confidence.tolist() == made.column_confidence[kept].tolist()
    assert len(part.residue_confidence) == len(part.sequences.letters)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "half", None])
def test_what_is_no_share_of_the_rows_is_refused(share):
    with pytest.raises(UsageError, match="is not a fraction: give a number from 0 to 1"):
        alignment().trimmed(share)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"columns": np.zeros(3, np.int32)}, "columns must be an array of 21 int32"),
        ({"columns": np.zeros(21, np.int64)}, "columns must be an array of 21 int32"),
        ({"columns": np.zeros(21, np.int32)}, "must ascend"),
        ({"n_columns": 8}, "residue_confidence|column_confidence|outside the 8 columns"),
        ({"residue_confidence": np.zeros(20, np.float32)}, "array of 21 float32"),
        ({"column_confidence": np.zeros(9)}, "array of 9 float32"),
        ({"sequences": "text"}, "a SequenceBatch with residues"),
        ({"sequences": SequenceBatch.without_residues(["a"], [21], PROTEIN)}, "a SequenceBatch with residues"),
    ],
)
def test_wrong_arrays(fields, why):
    made = alignment()
    right = {name: getattr(made, name) for name in ("sequences", "columns", "n_columns")}
    right |= {"residue_confidence": made.residue_confidence, "column_confidence": made.column_confidence}
    with pytest.raises(ValueError, match=why):
        MultipleAlignment(**{**right, **fields})


@pytest.mark.parametrize(("names", "rows"), [(["a"], ["AC", "AG"]), (["a", "b"], ["AC", "A"]), ([], [])])
def test_rows_that_are_no_alignment(names, rows):
    with pytest.raises(ValueError, match="alignment"):
        MultipleAlignment.from_rows(names, rows)


@pytest.mark.parametrize("key", [3, -4])
def test_no_such_row(key):
    with pytest.raises(IndexError, match=f"row {key} of 3"):
        alignment()[key]


def test_wrong_slices():
    with pytest.raises(ValueError, match="must have step 1"):
        alignment()[:, ::2]
    for key in ((), (0,), (0, None), (0, 1, 2)):
        with pytest.raises(TypeError, match="a range of columns"):
            alignment()[key]


def test_text_of_many_rows_is_short_and_harmless():
    names = [f"sequence_{k}_{'x' * 40}" for k in range(50)]
    text = repr(MultipleAlignment.from_rows(names, ["ACGT" * 100] * 50))
    lines = text.splitlines()
    assert len(lines) == 1 + 12 + 1 and "... 38 more" in lines and max(map(len, lines)) < 120
    nasty = MultipleAlignment.from_rows(["a\x1b[31m", "<b>"], ["AC<GT", "ACCGT"])
    assert "\x1b" not in repr(nasty)
    page = nasty._repr_html_()
    assert "<b>" not in page and "monospace" in page
    assert html.escape("AC<GT") in re.sub("<[^>]*>", "", page)


def test_a_notebook_shows_colours_where_they_are_not_too_many():
    (line,) = MultipleAlignment.from_rows(["n"], ["ACGT-N"])._repr_html_().splitlines()
    letters = re.search("</span>(A?.*)</pre>", line)[1]
    spans = re.findall("<span style='background:#([0-9a-f]{6})66'>([A-Z]+)</span>", letters)
    assert [text for _, text in spans] == ["A", "C", "G", "T", "N"] and len({hue for hue, _ in spans}) == 5
    large = MultipleAlignment.from_rows([f"s{k}" for k in range(90)], ["ACGT" * 100] * 90)._repr_html_()
    assert "ACGT" * 100 in large and "position:sticky" in large and large.count("background:#") == 0


def test_biopython_and_files_have_the_same_rows(tmp_path):
    made = alignment().to_biopython()
    assert [made[k] for k in range(3)] == ROWS and [row.id for row in made.sequences] == NAMES
    assert made.shape == (3, 9)
    assert made.column_annotations["confidence"] == alignment().column_confidence.tolist()
    made = alignment()
    made.write(tmp_path / "x.sto.gz")
    assert tropalign.read_alignment(tmp_path / "x.sto.gz") == made
    with pytest.raises(tropalign.TropalignError, match=r"no format has the suffix '.doc'"):
        made.write(tmp_path / "x.doc")
    with pytest.raises(tropalign.TropalignError, match="is not a MultipleAlignment"):
        tropalign.write_alignment("text", tmp_path / "x.fa")
