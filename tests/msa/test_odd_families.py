"""Families of odd sequences: a row without its gaps is its sequence with any effort, and old rows stay together."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tropalign
from tropalign.results.multiple import MultipleAlignment

LETTERS = {"protein": "ARNDCQEGHILKMFPSTWYVBZX*JUOark", "nucleotide": "ACGTURYSWKMBDHVNacgtn"}
HOW = (
    {"effort": "default"},
    {"effort": "default", "rules": "quickprobs1", "refine": 3},
    {"effort": "default", "rules": "quickprobs2", "keep": 0.3, "row_order": "tree"},
    {"effort": "accurate"},
    {"effort": "fast"},
)
CLUSTALW = (
    tropalign.ClustalwOptions(),
    tropalign.ClustalwOptions(is_compat=True),
    tropalign.ClustalwOptions(quicktree=True, clustering="upgma"),
)
ALPHABETS = {"protein": tropalign.PROTEIN, "nucleotide": tropalign.NUCLEOTIDE}
ALONE = {"n_threads": 1, "device": "cpu"}


@st.composite
def families(draw, most=20):
    """Sequences of one kind: parts of a root, with insertions, copies, single letters, and what has nothing to do."""
    kind = draw(st.sampled_from(list(LETTERS)))
    words = st.text(draw(st.sampled_from([LETTERS[kind], LETTERS[kind][:4], LETTERS[kind][-3:]])), min_size=1)
    root = draw(words)
    part = st.tuples(st.integers(0, len(root) - 1), st.integers(1, 40)).map(lambda at: root[at[0] : sum(at)])
    longer = st.tuples(part, words, part).map("".join)
    texts = draw(st.lists(st.just(root) | part | longer | words, min_size=1, max_size=most))
    return {f"s{k}": text for k, text in enumerate(texts)}, kind


def batch_of(texts, kind):
    return tropalign.SequenceBatch.from_strings(texts, alphabet=kind)


def same_sequences(alignment, texts):
    assert {name: row.replace("-", "") for name, row in zip(alignment.names, alignment, strict=True)} == texts


@settings(max_examples=120)
@given(families(), st.sampled_from(HOW))
def test_rows_without_gaps_are_the_sequences(family, how):
    found = tropalign.align_multiple(batch_of(*family), **how, **ALONE)
    same_sequences(found, family[0])
    assert (found.letters != ord("-")).any(0).all()
    for confidence in (found.residue_confidence, found.column_confidence):
        assert np.isfinite(confidence).all() and ((confidence >= 0) & (confidence <= 1)).all()


@settings(max_examples=60)
@given(families(), st.sampled_from(CLUSTALW))
def test_so_they_are_by_clustalw(family, options):
    found = tropalign.align_clustalw(batch_of(*family), options, **ALONE)
    same_sequences(found, family[0])
    assert (found.letters != ord("-")).any(0).all()


@st.composite
def alignments(draw, texts, kind, with_gaps):
    """Some sequences with gaps anywhere, and perhaps a row and columns of gaps."""
    width = max(map(len, texts.values())) + draw(st.integers(0, 5))
    rows = {}
    for name, text in texts.items():
        places = sorted(draw(st.permutations(range(width)))[: len(text)])
        row = ["-"] * width
        for place, letter in zip(places, text, strict=True):
            row[place] = letter
        rows[name] = "".join(row)
    if with_gaps and draw(st.booleans()):
        rows["gaps"] = "-" * width
    return MultipleAlignment.from_rows(rows, rows.values(), ALPHABETS[kind])


@st.composite
def old_and_new(draw):
    texts, kind = draw(families(most=6).filter(lambda family: len(family[0]) > 1))
    cut = draw(st.integers(1, len(texts) - 1))
    names = list(texts)
    old, new = ({name: texts[name] for name in some} for some in (names[:cut], names[cut:]))
    first, second = draw(alignments(old, kind, True)), draw(alignments(new, kind, False))
    return first, second, batch_of(new, kind)


def keep_their_columns(found, rows, old):
    """Each row's letters, and for residues of one column one column, in the same order."""
    some = found[rows]
    assert some.sequences.letters.tolist() == old.sequences.letters.tolist()
    moved = {}
    for before, after in zip(old.columns.tolist(), some.columns.tolist(), strict=True):
        assert moved.setdefault(before, after) == after
    places = [moved[column] for column in sorted(moved)]
    assert places == sorted(set(places))


@settings(max_examples=80)
@given(old_and_new(), st.booleans())
def test_old_rows_stay_together_where_sequences_are_added(case, keep_length):
    old, _, new = case
    found = tropalign.add_sequences(old, new, keep_length=keep_length, **ALONE)
    assert found.names == old.names + new.names
    keep_their_columns(found, slice(len(old)), old)
    rows = [row.replace("-", "") for row in list(found)[len(old) :]]
    if keep_length:
        assert found.n_columns == old.n_columns
        assert all(is_part(row, new.text(k)) for k, row in enumerate(rows))
    else:
        assert rows == [new.text(k) for k in range(len(new))]


def is_part(letters, text):
    """Whether letters stand in a text in this order."""
    left = iter(text)
    return all(letter in left for letter in letters)


@settings(max_examples=60)
@given(old_and_new())
def test_rows_of_both_alignments_stay_together(case):
    first, second, _ = case
    found = tropalign.merge_alignments(first, second, **ALONE)
    assert found.names == first.names + second.names
    keep_their_columns(found, slice(len(first)), first)
    keep_their_columns(found, slice(len(first), len(found)), second)
