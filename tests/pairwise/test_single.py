"""One pair at a time and short lists: the results of `align_all`, whichever way they are computed."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tropalign as ta
from tropalign.errors import UsageError
from tropalign.pairwise import single
from tropalign.results.aligned_pairs import arrays_of

ENDS = ta.pairwise.FREE_ENDS
PROTEINS, NUCLEOTIDES = "ARNDCQEGHILKMFPSTWYV", "ACGT"
MATRICES = {
    "protein": [None, "BLOSUM50", "pam250", ta.SubstitutionMatrix.match_mismatch(300, -200, ta.PROTEIN)],
    "nucleotide": [None, *(ta.SubstitutionMatrix.match_mismatch(*pair) for pair in ((1, 0), (0, -3), (2000, -3000)))],
}
PER_ISA = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def whole(query, target, names=("query", "target"), alphabet=None, **options):
    batch = ta.SequenceBatch.from_strings([query, target], names, alphabet)
    options = {"pairs": [[0, 1]], "n_threads": 1, **options}
    return next(ta.align_all(batch, **options)).row(0)


def assert_same_table(table, other):
    columns, others = arrays_of(table), arrays_of(other)
    assert columns.keys() == others.keys()
    for name, values in columns.items():
        np.testing.assert_array_equal(values, others[name], name)
        assert values.dtype == others[name].dtype


def assert_same(row, other):
    assert repr(row) == repr(other) and str(row) == str(other) and row._repr_html_() == other._repr_html_()
    assert (row.query, row.target, row.strand) == (other.query, other.target, other.strand)
    assert row.query_text() == other.query_text() and row.index == other.index
    for name in ("score", "query_index", "query_end", "n_similar", "cigar", "identity"):
        assert getattr(row, name, "none") == getattr(other, name, "none"), name
    if row.table.depth == "alignment":
        assert row.operations() == other.operations() and row.aligned() == other.aligned()
    assert_same_table(row.table, other.table)
    assert row.table.queries is row.table.targets
    assert row.table.queries.fingerprint() == other.table.queries.fingerprint()


@st.composite
def calls(draw):
    name = draw(st.sampled_from(["protein", "nucleotide"]))
    few = st.sampled_from(
        "AC" if draw(st.booleans()) else NUCLEOTIDES + "acgtRNu" if name == "nucleotide" else PROTEINS
    )
    query = draw(st.lists(few, min_size=1, max_size=80))
    target = draw(st.lists(few, min_size=1, max_size=80))
    if draw(st.booleans()):
        copied = [letter for letter in query if draw(st.integers(0, 9))]
        target = target[: draw(st.integers(0, 5))] + copied + target[:1]
    options = {
        "mode": draw(st.sampled_from(["local", "global", "semiglobal"])),
        "report": draw(st.sampled_from(["score", "ends", "alignment", "alignment"])),
        "matrix": draw(st.sampled_from(MATRICES[name])),
        "gap": draw(st.one_of(st.none(), st.builds(ta.Gap, st.integers(0, 12), st.integers(0, 3)))),
        "free_ends": draw(st.lists(st.sampled_from(ENDS), unique=True)),
    }
    if name == "nucleotide":
        options["strand"] = draw(st.sampled_from(["plus", "minus", "both"]))
    return "".join(query), "".join(target), ta.sequences.ALPHABETS[name], options


@PER_ISA
@given(calls())
def test_a_pair_is_the_row_of_a_table(isa, call):
    query, target, alphabet, options = call
    row = ta.align(query, target, alphabet=alphabet, **options)
    assert row._lone is not None
    assert_same(row, whole(query, target, alphabet=alphabet, **options))


@PER_ISA
@given(st.lists(calls(), min_size=1, max_size=4))
def test_a_list_is_the_rows_of_a_table(isa, listed):
    *_, alphabet, options = listed[0]
    pairs = [(query, target) for query, target, of, _ in listed if of is alphabet]
    queries, targets = (
        {f"{side}_{k}": pair[k_side] for k, pair in enumerate(pairs, 1)}
        for k_side, side in enumerate(("query", "target"))
    )
    batches = [ta.SequenceBatch.from_strings(texts, alphabet=alphabet) for texts in (queries, targets)]
    (expected,) = ta.align_all(*batches, pairs=[[k, k] for k in range(len(pairs))], **options)
    for cells in (0, 10**9):  # as a task, and one after another
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tropalign.pairwise.api.FEW_CELLS", cells)
            table = ta.align_many(pairs, alphabet=alphabet, **options)
        assert_same_table(table, expected)
        assert (table.queries.names, table.targets.names) == (tuple(queries), tuple(targets))


@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
@pytest.mark.parametrize("length", [31, 32, 33, 64, 129, 400, 700, 1000])
def test_lengths_around_vectors_and_beyond_short_ones(isa, mode, length):
    rng = np.random.default_rng(length)
    query = "".join(rng.choice(list(PROTEINS), length))
    target = query[5 : length // 2] + query[length // 2 + 3 :] + "".join(rng.choice(list(PROTEINS), length % 40))
    for one, other in ((query, target), (target, query), (query, target[:9])):
        row = ta.align(one, other, mode=mode)
        assert row._lone is not None
        assert_same(row, whole(one, other, mode=mode))


def test_scores_beyond_16_bits_and_the_largest_pairs():
    query = "ACGGT" * 1000
    row = ta.align(query, query[7:], report="score", mode="local")
    assert row._lone is None and row.score == 5 * len(query[7:])
    matrix = ta.SubstitutionMatrix.match_mismatch(1_000_000, -1_000_000)
    row = ta.align("ACGTACGTA", "ACGTCGTA", matrix=matrix, gap=ta.Gap(999_999, 0))
    assert (row.score, row.cigar) == (7_000_001, "4=1I4=")


@pytest.mark.parametrize("text", ["protein", "dna"])
def test_judged_alphabets_and_other_kinds_of_text(text):
    query, target = ("MKVLAWHEAGAW", "mkilawHEAGW") if text == "protein" else ("ACGTTGCAn", "acguugcRa")
    plain = ta.align(query, target)
    assert_same(plain, whole(query, target))
    assert ta.align(query.encode(), bytearray(target.encode())).cigar == plain.cigar
    batch = ta.SequenceBatch.from_strings({"first": query, "second": target})
    named = ta.align(batch[0], batch[1])
    assert (named.query, named.target, named.cigar) == ("first", "second", plain.cigar)
    assert ta.align(batch[0], batch[0]).query == "query"  # two of one name


def test_matrices_that_change_are_read_again(tmp_path):
    scores = {("A", "A"): 2, ("A", "C"): -1, ("C", "C"): 3}
    assert ta.align("AACC", "AACC", matrix=scores).score == 10
    scores["C", "C"] = 30
    assert ta.align("AACC", "AACC", matrix=scores).score == 64
    letters, array = "ACGT", np.full((4, 4), 1.0)
    assert ta.align("ACGT", "ACGT", matrix=(letters, array)).score == 4
    array[:] = 5
    assert ta.align("ACGT", "ACGT", matrix=(letters, array)).score == 20
    path = tmp_path / "own.txt"
    for score in (2, 7):
        path.write_text(f"   A  C\nA  {score} -1\nC -1  {score}\n")
        assert (
            ta.align("AACC", "AACC", matrix=path).score == ta.align("AACC", "AACC", matrix=str(path)).score == 4 * score
        )


def test_alphabets_of_one_name_do_not_take_each_others_place():
    matrix = ta.SubstitutionMatrix.match_mismatch
    for letters in ("ACGTN", "TGCAN"):
        alphabet = ta.Alphabet("mine", letters, "N")
        scores = matrix(1, -1, alphabet)
        for _ in range(2):
            assert ta.align("ACGT", "ACGA", alphabet=alphabet, matrix=scores, mode="global").score == 2
            assert ta.align("ACGT", "ACGA", matrix=scores, gap=ta.Gap(10, 1)).table.queries.alphabet is alphabet


def test_arguments_are_kept_and_read_once():
    for k in range(2 * single.MOST_KEPT):
        assert ta.align("AAAAAA", "AAA", mode="global", gap=ta.Gap(k, 1)).score == 15 - k - 3
    assert len(single._kept) <= single.MOST_KEPT
    options = {"mode": "semiglobal", "alphabet": "nucleotide"}
    for _ in range(2):
        row = ta.align("AACCGG", "CCGGTT", free_ends=iter(["query-start", "target-end"]), **options)
        assert row.score == 20


def test_every_call_warns():
    for _ in range(2):
        with pytest.warns(ta.TropalignWarning, match=r"BLOSUM62 has no letter U: 1 are scored like C"):
            assert ta.align("MKVLAU", "MKVLAC").score == 31
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ta.align("ACGU", "ACGT", matrix=ta.SubstitutionMatrix.of("NUC.4.4"))  # U is read as T


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ta.align("MKV", ""), ta.InputError, "record 'target': the sequence is empty: remove it"),
        (
            lambda: ta.align("MK1", "MKV"),
            ta.InputError,
            "record 'query': '1' at position 3 is not a letter of the protein alphabet",
        ),
        (
            lambda: ta.align("MKV", "MK\u00e9"),
            ta.InputError,
            "'\u00e9' at position 3 is not a letter of the protein alphabet",
        ),
        (
            lambda: ta.align("MKV", "MK\u20ac"),
            ta.InputError,
            "'\u20ac' at position 3 is not a letter of the protein alphabet",
        ),
        (lambda: ta.align("MKV", "MK\ud800"), ta.InputError, "at position 3 is not a letter of the protein alphabet"),
        (lambda: ta.align("MKV", None), ta.InputError, "record 'target': None is not a sequence"),
        (lambda: ta.align("MKV", "MKL", mode="glocal"), UsageError, "mode 'glocal' is not one of"),
        (lambda: ta.align("MKV", "MKL", mode=[]), UsageError, "mode [] is not one of"),
        (lambda: ta.align("MKV", "MKL", report="cigar"), UsageError, "report 'cigar' is not one of"),
        (lambda: ta.align("MKV", "MKL", strand="up"), UsageError, "strand 'up' is not one of"),
        (lambda: ta.align("MKV", "MKL", strand="both"), ta.InputError, "proteins have only one"),
        (lambda: ta.align("MKV", "MKL", free_ends="query-end"), UsageError, "free ends 'query-end' are not a list"),
        (lambda: ta.align("MKV", "MKL", free_ends=["end"]), UsageError, "free end 'end' is not one of"),
        (lambda: ta.align("MKV", "MKL", free_ends=7), UsageError, "free ends 7 are not a list"),
        (lambda: ta.align("MKV", "MKL", gap=(1, 2)), ta.ScoringError, "the gap cost must be a Gap"),
        (lambda: ta.align("MKV", "MKL", matrix=5), ta.ScoringError, "an object of type int is not a matrix"),
        (
            lambda: ta.align("MKV", "MKL", matrix="NUC.4.4"),
            ta.ScoringError,
            "NUC.4.4 is a nucleotide matrix, but the sequences look like protein",
        ),
        (lambda: ta.align("MKV", "MKL", alphabet="rna"), ta.InputError, "there is no alphabet 'rna'"),
        (
            lambda: ta.align(
                "A" * 600,
                "A",
                matrix=ta.SubstitutionMatrix.match_mismatch(1_000_000, 0),
                gap=ta.Gap(1_000_000, 1_000_000),
            ),
            ta.ScoringError,
            "scores of sequences of 600 residues may exceed 2147483647",
        ),
        (lambda: ta.align_many([]), ta.InputError, "there is no pair: give one or more"),
        (lambda: ta.align_many("MKV"), ta.InputError, "the pairs must be a list of (query, target)"),
        (
            lambda: ta.align_many(["MK"]),
            ta.InputError,
            "record 'number 1': this is not a pair: give a query and a target",
        ),
        (lambda: ta.align_many([("M", "K"), ("M", None)]), ta.InputError, "record 'number 2': None is not a sequence"),
        (lambda: ta.align_many([("M", "K"), ("", "K")]), ta.InputError, "record 'query_2': the sequence is empty"),
        (
            lambda: ta.align_many([(("a", "MK"), "ML"), (("a", "MV"), "ML")]),
            ta.InputError,
            "record 'a': two sequences have the same name: give each its own",
        ),
        (lambda: ta.align_many([("M", "K")], n_threads=-1), UsageError, "n_threads -1 is out of range"),
        (lambda: ta.align_many([("M", "K")], memory_bytes=10), ta.ResourceError, "10 B are allowed"),
        (lambda: ta.align_many([("M", "K")], device="gpu"), UsageError, "'gpu' is not a device"),
    ],
)
def test_what_is_wrong_is_said_each_time(call, error, words):
    for _ in range(2):
        with pytest.raises(error) as caught:
            call()
        assert words in str(caught.value)


@pytest.mark.parametrize("report", ["score", "ends", "alignment"])
def test_a_row_of_its_own_is_like_any_other(report):
    row = ta.align("AACGGG", "CCCGTT", strand="both", mode="local", report=report)
    assert row._lone is not None
    for twin in (copy.copy(row), copy.deepcopy(row), pickle.loads(pickle.dumps(row))):
        assert (twin.score, twin.strand, str(twin), twin.table.depth) == (30, -1, str(row), report)
    assert row.table is row.table and row.table[0].score == row.score and row.index == 0
    with pytest.raises(AttributeError, match="'Alignment' object has no attribute 'scores'"):
        _ = row.scores
    if report == "score":
        with pytest.raises(AttributeError, match=r"Alignment.query_start was not computed: .* than 'score'"):
            _ = row.query_start
        with pytest.raises(AttributeError, match=r"Alignment.cigar was not computed"):
            _ = row.cigar


def test_a_list_shares_sequences_of_one_name():
    family = ta.SequenceBatch.from_strings({"a": "MKVLAW", "b": "MKILAW", "c": "KVLAW"})
    table = ta.align_many([(family[0], family[1]), (family[0], family[2]), (family[1], "MKV")])
    assert table.queries.names == ("a", "b") and table.targets.names == ("b", "c", "target_3")
    assert [(row.query, row.target) for row in table] == [("a", "b"), ("a", "c"), ("b", "target_3")]
    assert table.cigars() == [ta.align(row.query_text(), table.targets.text(k)).cigar for k, row in enumerate(table)]


NO_PAIR = (
    "the {} detected as nucleotide and the {} as protein, which cannot be aligned with each other: translate the "
    "nucleotides with translate, or set the alphabet of both with alphabet nucleotide"
)


def test_nucleotides_are_not_aligned_with_a_protein():
    dna, protein = "ACGTACGTACGGTA", "MKVLAWHEE"
    with pytest.raises(ta.InputError) as caught:
        ta.align(dna, protein)
    assert str(caught.value) == NO_PAIR.format("query was", "target")
    with pytest.raises(ta.InputError, match="the query was detected as protein and the target as nucleotide"):
        ta.align(protein, "acgun" * 3, report="score", mode="global", end_gap=ta.Gap(1, 1))
    with pytest.raises(ta.InputError) as caught:
        ta.align_many([(dna, protein), (dna[3:], protein[3:])])
    assert str(caught.value) == NO_PAIR.format("queries were", "targets")
    for said in ({"alphabet": "protein"}, {"matrix": ta.SubstitutionMatrix.load("BLOSUM62")}):
        assert ta.align(dna, protein, **said).score >= 0
        assert ta.align_many([(dna, protein)], **said).queries.alphabet == ta.PROTEIN


def test_a_short_peptide_may_look_like_nucleotides():
    """Ten letters of a protein are A, C, G, T and N now and then; they are judged with the other side's."""
    assert ta.align("GATTACAGAT", "GATTWCAGAE").score == ta.align("GATTACAGAT", "GATTWCAGAE", alphabet="protein").score
    assert ta.align_many([("GAT", "GLT")]).queries.alphabet == ta.PROTEIN
    with pytest.raises(ta.InputError, match="the sequence is empty"):
        ta.align("", "ACGTACGTACGT")
