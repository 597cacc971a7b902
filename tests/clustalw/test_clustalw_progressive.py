"""CLUSTALW's progressive stage against plain Python, and against what CLUSTAL W 2.1 makes of small families."""

import json
import re
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import clustalw as oracle

import tropalign
from tropalign import _native
from tropalign.clustalw.distances import pair_distances
from tropalign.clustalw.matrices import SERIES, matrix_table, profile_matrix, series_of
from tropalign.clustalw.options import ClustalwOptions
from tropalign.clustalw.pipeline import align_batch
from tropalign.clustalw.progressive import align_along_tree, parse_clustalw_tree, read_clustalw_tree
from tropalign.errors import InputError, ResourceError, UsageError
from tropalign.msa.guide_tree import GuideTree, parse_guide_tree

DATA = Path(__file__).parent.parent / "data" / "clustalw"


def random_children(rng, n):
    """A random order of joins."""
    nodes, children = list(range(n)), []
    for k in range(n - 1):
        one, other = (nodes.pop(int(rng.integers(0, len(nodes)))) for _ in range(2))
        children.append((one, other))
        nodes.append(n + k)
    return children


@st.composite
def jobs(draw):
    """Options, sequences that resemble one another, a tree with weights, and distances or none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    is_nucleotide = draw(st.booleans())
    letters = draw(st.sampled_from(["ACGTU", "ACGTN"] if is_nucleotide else ["AGW", "ACDEFGHIKLMNPQRSTVWYBZXUO"]))
    n, longest = draw(st.integers(2, 6)), draw(st.sampled_from([1, 3, 20, 40]))
    parent = rng.choice(list(letters), int(rng.integers(1, longest + 1)))
    texts = []
    for _ in range(n):
        kept = np.flatnonzero(rng.random(len(parent)) < 0.85)
        text = parent[kept if len(kept) else [0]].copy()
        changed = rng.random(len(text)) < draw(st.sampled_from([0.1, 0.6]))
        text[changed] = rng.choice(list(letters), int(changed.sum()))
        texts.append("".join(text))
    options = ClustalwOptions(
        gap_open=draw(st.sampled_from([None, 0.0, 3.7, 40.0])),
        gap_extend=draw(st.sampled_from([None, 0.0, 1.1])),
        series=draw(st.sampled_from(list(SERIES))),
        nucleotide_matrix=draw(st.sampled_from(["iub", "clustalw"])),
        delay=draw(st.sampled_from([0, 30, 60, 100])),
        gap_distance=draw(st.sampled_from([0, 1, 4, 9])),
        has_hydrophilic_gaps=draw(st.booleans()),
        has_residue_gaps=draw(st.booleans()),
        has_end_gaps=draw(st.booleans()),
        counts_end_gaps=draw(st.booleans()),
        negative_matrix=draw(st.booleans()),
        has_weights=draw(st.booleans()),
    )
    distances = rng.random(n * (n - 1) // 2) if draw(st.booleans()) else None
    lengths = rng.random(2 * n - 1) * draw(st.sampled_from([0.1, 0.5]))
    alphabet = "nucleotide" if is_nucleotide else "protein"
    batch = tropalign.SequenceBatch.from_strings(texts, alphabet=alphabet)
    tree = GuideTree(np.array(random_children(rng, n), np.int32), lengths)
    return batch, options, tree, rng.integers(1, 1 << 16, n).astype(np.int32), distances


def expected_columns(batch, options, tree, weights, distances):
    is_nucleotide = batch.alphabet.name == "nucleotide"
    series = []
    for entry in series_of(options, is_nucleotide):
        matrix = profile_matrix(entry.name, options)
        series.append((entry.above, entry.shorter_than, entry.scale, matrix.mismatch, matrix.scores))
    costs = {name: options.cost(name, is_nucleotide) for name in ("gap_open", "gap_extend")}
    names = ("gap_distance", "delay", "has_hydrophilic_gaps", "has_residue_gaps", "has_end_gaps", "counts_end_gaps",
             "negative_matrix", "has_weights")  # fmt: skip
    rules = oracle.Rules(series, is_nucleotide, **costs, **{name: getattr(options, name) for name in names})
    n = len(batch)
    square = None
    if distances is not None:
        square = np.zeros((n, n))
        square[np.triu_indices(n, 1)] = distances
        square += square.T
    sequences = [[oracle.LETTERS.index(letter) for letter in batch.text(k)] for k in range(n)]
    return oracle.align(
        rules, sequences, tree.children.tolist(), tree.branch_lengths.tolist(), weights.tolist(), square
    )


@settings(max_examples=60)
@given(jobs(), st.integers(1, 3), st.sampled_from([0, 1 << 20]))
def check_against_oracle(job, n_threads, step_bytes):
    columns, order = expected_columns(*job)
    batch, options, tree, weights, distances = job
    found = align_along_tree(batch, options, tree, weights, distances, n_threads=n_threads, step_bytes=step_bytes)
    assert found.columns.tolist() == list(chain.from_iterable(columns))
    assert found.order.tolist() == order
    assert found.n_columns == 1 + max(max(row) for row in columns)


def test_equals_plain_python(isa):
    check_against_oracle()


@settings(max_examples=60)
@given(jobs(), st.integers(1, 3))
def test_compat_always_aligns(job, n_threads):
    """No oracle but the original itself; whatever comes in, residues ascend and no column is empty."""
    batch, options, tree, weights, distances = job
    found = align_along_tree(
        batch, options.replaced(is_compat=True), tree, weights % 1000 + 1, distances, n_threads=n_threads
    )
    assert len(tropalign.MultipleAlignment(batch, found.columns, found.n_columns)) == len(batch)
    assert sorted(set(found.columns.tolist())) == list(range(found.n_columns))
    assert sorted(found.order.tolist()) == list(range(len(batch)))


RECORDED = json.loads((DATA / "alignments.json").read_text())
#: What an option of the original is called here.
NAMES = {
    "quicktree": ("quicktree", lambda _: True),
    "matrix": ("series", str),
    "dnamatrix": ("nucleotide_matrix", str),
    "gapopen": ("gap_open", float),
    "gapext": ("gap_extend", float),
    "negative": ("negative_matrix", lambda _: True),
    "nopgap": ("has_residue_gaps", lambda _: False),
    "nohgap": ("has_hydrophilic_gaps", lambda _: False),
    "hgapresidues": ("hydrophilic", str),
    "maxdiv": ("delay", int),
    "gapdist": ("gap_distance", int),
    "transweight": ("transition_weight", float),
    "noweights": ("has_weights", lambda _: False),
}


def options_of(text):
    given = dict(part.lstrip("-").partition("=")[::2] for part in text.split() if not part.startswith("-pw"))
    return ClustalwOptions(is_compat=True, **{NAMES[name][0]: NAMES[name][1](value) for name, value in given.items()})


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, runs in RECORDED.items() for text in runs])
def test_compat_equals_the_original(kind, text):
    batch = tropalign.read_sequences(DATA / f"{kind}.fasta")
    found = tropalign.align_clustalw(batch, options_of(text), n_threads=2)
    assert [row.upper() for row in found] == RECORDED[kind][text]


@pytest.mark.parametrize("kind", RECORDED)
def test_compat_is_the_same_on_every_processor(isa, kind):
    batch = tropalign.read_sequences(DATA / f"{kind}.fasta")
    found = tropalign.align_clustalw(batch, ClustalwOptions(is_compat=True))
    assert [row.upper() for row in found] == RECORDED[kind][""]


@pytest.mark.parametrize("is_compat", [False, True])
def test_threads_and_memory_do_not_matter(is_compat):
    batch = tropalign.read_sequences(DATA.parent.parent.parent / "examples" / "efp.fasta")
    options = ClustalwOptions(is_compat=is_compat, quicktree=True)
    whole = tropalign.align_clustalw(batch, options)
    for n_threads, memory in ((2, None), (5, 20 << 20)):
        other = tropalign.align_clustalw(batch, options, n_threads=n_threads, memory_bytes=memory)
        assert other.columns.tolist() == whole.columns.tolist()


def test_profiles_whose_steps_do_not_fit():
    rng = np.random.default_rng(1)
    parent = rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 700)
    batch = tropalign.SequenceBatch.from_strings(["".join(np.delete(parent, range(k, k + 40))) for k in (5, 300, 600)])
    tree = GuideTree(np.array([[0, 1], [3, 2]], np.int32), np.full(5, 0.05))
    weights = np.ones(3)
    one, other = (align_along_tree(batch, ClustalwOptions(), tree, weights, step_bytes=size) for size in (0, 1 << 25))
    assert one.columns.tolist() == other.columns.tolist()


def test_one_sequence_is_returned_as_it_is():
    batch = tropalign.SequenceBatch.from_strings({"a": "MKVL"})
    assert list(tropalign.align_clustalw(batch)) == ["MKVL"]


def test_equal_and_tiny_sequences():
    assert list(tropalign.align_clustalw(tropalign.SequenceBatch.from_strings(["W"] * 5))) == ["W"] * 5
    assert list(tropalign.align_clustalw(tropalign.SequenceBatch.from_strings(["MKVLAW", "MKVLAW"]))) == ["MKVLAW"] * 2


def test_sequences_without_kin_come_last():
    texts = ["MKVLAWYRNDMKVLAWYRND", "GGSPGGSPGGSPTT", "MKVLAWYRNDMKVLAWYRNE", "MKVLAWYRNDMKVAWYRNE"]
    batch = tropalign.SequenceBatch.from_strings(texts)
    tree = GuideTree(np.array([[0, 1], [2, 3], [4, 5]], np.int32), np.array([0.05, 0.9, 0.05, 0.05, 0.05, 0.05, 0]))
    found = align_along_tree(batch, ClustalwOptions(), tree, np.ones(4))
    assert found.order.tolist()[-1] == 1
    assert align_along_tree(batch, ClustalwOptions(delay=0), tree, np.ones(4)).order.tolist() == [0, 1, 2, 3]


def test_of_two_pairs_that_are_alike_as_much_the_first_begins():
    batch = tropalign.SequenceBatch.from_strings(["MKVLAW", "MKVLCW", "MKWLAW", "MKWLCW"])
    distances = np.array([0.5, 0.9, 0.9, 0.9, 0.9, 0.5])  # (0, 1) and (2, 3): 50 %
    tree = GuideTree(np.array([[0, 1], [2, 3], [4, 5]], np.int32), np.full(7, 0.1))
    job = (batch, ClustalwOptions(delay=100), tree, np.full(4, 100, np.int32), distances)
    found = align_along_tree(*job, n_threads=1, step_bytes=1 << 20)
    assert found.order.tolist() == expected_columns(*job)[1] == [0, 1, 2, 3]


def test_the_given_tree_is_used():
    batch = tropalign.read_sequences(DATA / "proteins.fasta")
    n = len(batch)
    ladder = GuideTree(np.array([[0, 1]] + [[n + k, k + 2] for k in range(n - 2)], np.int32), np.full(2 * n - 1, 0.1))
    assert align_batch(batch, ClustalwOptions(), ladder).tree == ladder.newick(batch.names)


def test_a_tree_without_lengths_gives_the_order_only():
    batch = tropalign.read_sequences(DATA / "proteins.fasta")
    bare = parse_guide_tree(re.sub(r":[-\d.e]+", "", tropalign.align_clustalw(batch).tree), batch.names)
    assert not bare.branch_lengths.any()
    found = align_batch(batch, ClustalwOptions(clustering="upgma"), bare)
    options, distances = ClustalwOptions(), pair_distances(batch, ClustalwOptions())
    expected = align_along_tree(batch, options, bare, np.ones(len(batch)), distances)
    assert found.columns.tolist() == expected.columns.tolist()


@pytest.mark.parametrize("kind", RECORDED)
def test_the_tree_of_the_original_gives_its_alignment(kind, tmp_path):
    batch = tropalign.read_sequences(DATA / f"{kind}.fasta")
    (tmp_path / "a.dnd").write_text(json.loads((DATA / f"{kind}.json").read_text())["full"]["tree"])
    options = ClustalwOptions(is_compat=True)
    tree = read_clustalw_tree(tmp_path / "a.dnd", batch.names, options)
    assert [row.upper() for row in align_batch(batch, options, tree)] == RECORDED[kind][""]


def test_trees_of_other_shapes_are_read_as_they_are(tmp_path):
    for text in ("(a:1,b:2);", "((a:1,b:2):1,c:3);", "(a,b,c);", "(a:1,b:1,c:2,d:3);", "((a:1,b:1,c:1):1,d:1,e:2);"):
        (tmp_path / "a.nwk").write_text(text)
        names = sorted(set(text) & set("abcde"))
        tree = read_clustalw_tree(tmp_path / "a.nwk", names, ClustalwOptions())
        assert tree.newick(names) == parse_guide_tree(text, names).newick(names)
    with pytest.raises(InputError, match=r"a.nwk: the tree has no leaf 'f'"):
        read_clustalw_tree(tmp_path / "a.nwk", [*names, "f"], ClustalwOptions())


def test_progress_reaches_the_end_and_may_end_the_work():
    batch, told = tropalign.read_sequences(DATA / "proteins.fasta"), []
    tropalign.align_clustalw(batch, progress=lambda stage, share: told.append((stage, share)))
    assert all(0 <= share <= 1 for _, share in told)

    def stop(stage, share):
        raise KeyboardInterrupt

    long = tropalign.SequenceBatch.from_strings(["MKVLAWYRND" * 1500] * 3)
    with pytest.raises(KeyboardInterrupt):
        tropalign.align_clustalw(long, ClustalwOptions(is_compat=True, quicktree=True), progress=stop)


def test_memory_that_does_not_suffice_is_said():
    batch = tropalign.read_sequences(DATA / "proteins.fasta")
    tree = GuideTree(np.array([[0, 1]] + [[12 + k, k + 2] for k in range(10)], np.int32), np.full(23, 0.1))
    with pytest.raises(ResourceError, match=r"^the alignment of 12 sequences needs .* are allowed: allow more with"):
        align_batch(batch, ClustalwOptions(), tree, memory_bytes=1000)


def test_profiles_that_are_too_long_are_said(monkeypatch):
    def refuse(*_, **__):
        raise OverflowError

    monkeypatch.setattr(_native, "clustalw_progressive", refuse)
    with pytest.raises(ResourceError, match=r"do not fit 32 bits: leave out the longest sequences"):
        tropalign.align_clustalw(tropalign.SequenceBatch.from_strings(["MKVLAW", "MKVAW"]))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"clustering": "wpgma"}, "clustering 'wpgma' is not one of nj, upgma"),
        ({"series": "vtml"}, "series 'vtml' is not one of gonnet, blosum, pam, id"),
        ({"nucleotide_matrix": 3}, "nucleotide_matrix 3 is not one of iub, clustalw"),
        ({"gap_open": -1}, "gap_open -1 is not a number from 0 to 100"),
        ({"gap_extend": float("nan")}, "gap_extend nan is not a number from 0 to 10"),
        ({"pw_gap_open": "10"}, "pw_gap_open '10' is not a number from 0 to 100"),
        ({"transition_weight": 2}, "transition_weight 2 is not a number from 0 to 1"),
        ({"delay": 30.5}, "delay 30.5 is not a whole number from 0 to 100"),
        ({"gap_distance": True}, "gap_distance True is not a whole number from 0 to 100"),
        ({"hydrophilic": "G-P"}, "hydrophilic 'G-P' is not a string of amino acids"),
    ],
)
def test_options_that_are_refused(given, text):
    with pytest.raises(UsageError, match=text):
        ClustalwOptions(**given)


def test_matrices_are_those_of_the_series():
    options = ClustalwOptions()
    for entry in (entry for series in SERIES.values() for entry in series):
        table = matrix_table(entry.name)
        assert (table == table.T).all()
        assert profile_matrix(entry.name, options).scores.min() == 0
    assert {name: profile_matrix(name, options).mismatch for name in ("GONNET80", "GONNET160", "BLOSUM62")} == {
        "GONNET80": 342, "GONNET160": 163, "BLOSUM62": 288,
    }  # fmt: skip
    transition = profile_matrix("IUB", ClustalwOptions(transition_weight=0.25)).scores
    assert transition[0, 6] == transition[2, 18] == 475


def test_lengths_of_given_trees_are_not_rounded():
    """Those of the original's own trees have five decimals in the file that it reads again."""
    text, options = "(a:1e-6,b:2e-6,(c:3e-6,d:1e-6):1e-6);", ClustalwOptions(is_compat=True)
    tree = parse_clustalw_tree(text, list("abcd"), options)
    assert tree.branch_lengths.sum() == pytest.approx(8e-6) and 2e-6 in tree.branch_lengths.round(9).tolist()
