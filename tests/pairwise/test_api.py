import warnings

import numpy as np
import parasail
import pytest
from oracles.pairwise import cigar_operations, rescore

import tropalign as ta
from tropalign.errors import UsageError
from tropalign.pairwise.options import PairOptions
from tropalign.results.alignments import concatenate

FAMILY = "examples/family.fasta"


def batch_of(path):
    return ta.read_sequences(path)


@pytest.fixture(scope="module")
def family(request):
    return batch_of(request.config.rootpath / FAMILY)


@pytest.mark.parametrize(
    ("mode", "function"),
    [("local", parasail.sw_striped_32), ("global", parasail.nw_striped_32), ("semiglobal", parasail.sg_striped_32)],
)
def test_scores_equal_parasail(family, mode, function):
    table = concatenate(list(ta.align_all(family, mode=mode, matrix="BLOSUM50", gap=ta.Gap(8, 2))))
    for k in range(0, len(table), 7):
        row = table.row(k)
        query, target = family.text(row.query_index), family.text(row.target_index)
        assert row.score == function(query, target, 10, 2, parasail.blosum50).score
        if mode != "semiglobal":
            scores = ta.SubstitutionMatrix.from_name("BLOSUM50").scores
            codes = [ta.PROTEIN.encode(np.frombuffer(t.encode(), np.uint8))[0] for t in (query, target)]
            path = cigar_operations(row.cigar)
            rescored = rescore(*codes, scores, 8, 2, path, row.query_start, row.target_start)
            assert rescored == (row.score, row.query_end, row.target_end)


def test_the_best_and_minima(family):
    table = concatenate(list(ta.align_all(family, top=3)))
    assert (np.bincount(table.query_index) == 3).all()
    assert (table.query_index != table.target_index).all()
    everything = concatenate(list(ta.align_all(family, family, report="score")))
    for query in range(len(family)):
        rows = everything.score[(everything.query_index == query) & (everything.target_index != query)]
        assert table.score[table.query_index == query].tolist() == sorted(rows.tolist(), reverse=True)[:3]
    everything = concatenate(list(ta.align_all(family)))
    floor = int(np.median(everything.score))
    kept = concatenate(list(ta.align_all(family, min_score=floor, min_identity=0.4)))
    expected = everything.take((everything.score >= floor) & (everything.identity >= 0.4))
    assert kept.cigars() == expected.cigars() and (kept.score == expected.score).all()


def test_all_ways_have_one_mode_by_default():
    """Local, which bit scores, E-values and tables of hits suppose."""
    texts = ["MKVLAWHEAG", "WWWHEAGPPP"]
    (wanted,) = ta.align_all(texts, mode="local")
    assert wanted.cigars() == ["5="]
    assert ta.align(*texts).cigar == "5=" and ta.align_many([texts]).cigars() == next(ta.align_all(texts)).cigars() == [
        "5="
    ]
    assert PairOptions(ta.SubstitutionMatrix.of("BLOSUM62"), ta.Gap(11, 1)).mode == "local"


def test_strands_and_empty_rows():
    query, other = "ACGTTGCAAGGTCCATTTGA", "TCAAATGGACCTTGCAACGT"
    row = ta.align("GG" + query, "TTT" + other + "A", mode="local", strand="both")
    assert (row.strand, row.score, row.cigar) == (-1, 100, "20=")
    assert (row.query_start, row.query_end, row.target_start, row.target_end) == (2, 22, 3, 23)
    top, _, bottom = row.aligned()
    assert top == bottom == other
    row = ta.align("AAAA", "WWWW", mode="local", alphabet=ta.PROTEIN)
    assert (row.score, row.cigar, row.n_columns, row.query_end) == (0, "*", 0, 0)


def test_all_free_ends_by_one_word():
    query, target = "GGGGACGTTGCA", "ACGTTGCATTTT"
    row = ta.align(query, target, mode="semiglobal", free_ends="all")
    assert row.cigar == "8=" and row == ta.align(query, target, mode="semiglobal")
    (table,) = ta.align_all([query, target], mode="semiglobal", free_ends="all")
    assert table[0].score == row.score == ta.align_many([(query, target)], mode="semiglobal", free_ends="all").score[0]


def test_shows_and_converts(family):
    table = next(ta.align_all(family, mode="global"))
    row = table[0]
    assert row.query in str(row) and "|" in str(row)
    assert "<span" in row._repr_html_() and "<span" in table._repr_html_()
    assert "rows" in repr(table)
    import pyarrow as pa

    arrow = pa.table(table)
    assert arrow.column("cigar").to_pylist() == table.cigars()
    assert arrow.column("score").to_pylist() == table.score.tolist()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ta.align("", "ACG"), ta.InputError, "record 'query': the sequence is empty"),
        (lambda: ta.align("AC-G", "ACG"), ta.InputError, "'-' at position 3"),
        (lambda: ta.align("ACGT", "ACG", mode="glocal"), ta.TropalignError, "semiglobal; did you mean 'semiglobal'?"),
        (lambda: ta.align("ACGT", "ACG", gap=ta.Gap(-1, 1)), ta.ScoringError, "open cost -1 is negative"),
        (lambda: ta.align("ACGT", "ACG", gap=ta.Gap(1.00005, 1)), ta.ScoringError, "1.00005 has more than four"),
        (lambda: ta.align("ACGT", "ACG", matrix="BLOSUM99"), ta.ScoringError, "no matrix or file 'BLOSUM99'"),
        (lambda: ta.align("ACGT", "ACG", matrix="BLOSUM62"), ta.ScoringError, "sequences look like nucleotide"),
        (lambda: next(ta.align_all(["MKV"])), ta.InputError, "only one sequence, so there is no pair"),
        (lambda: next(ta.align_all(["MKV", "MKL"], strand="both")), ta.InputError, "proteins have only one"),
        (lambda: ta.align("MKV", "MKL", strand="minus"), ta.InputError, "the minus strand was requested, but proteins"),
        (lambda: ta.cluster(["ACGT", "ACGA"], strand="minus"), UsageError, "'minus' is not one of plus, both"),
        (lambda: next(ta.align_all(["MKV", "MKL"], memory_bytes=10)), ta.ResourceError, "10 B are allowed"),
    ],
)
def test_errors_say_what_is_wrong(call, error, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(error, match=None) as caught:
            call()
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("device", "words"), [([], "device: the list is empty"), ("gpu", "'gpu' is not a device: write auto")]
)
def test_a_device_that_cannot_be(device, words):
    with pytest.raises(ta.TropalignError, match=words):
        ta.align_all(["MKV", "MKL"], device=device)
