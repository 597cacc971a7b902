"""Which hits are reported and included, and in which order: HMMER's rules, on hits that are made up."""

import math

import numpy as np
import pytest
from results.found import made_found

from tropalign.errors import InputError, UsageError
from tropalign.results.found_hits import FoundHits, Query, Thresholds, columns_of, is_kept, verdicts
from tropalign.results.hits import judged

ONE = [{"bits": 20, "log_p": math.log(1e-6)}]
PFAM = Query("q", 7, gathering=(20.5, 10.25), trusted=(25.0, 15.0))


def by_p(*values, **others):
    return made_found([(f"t{k}", {"log_p": math.log(p), "bits": 10 - k}, ONE) for k, p in enumerate(values)], **others)


def test_evalues_are_of_all_targets_or_of_a_given_space():
    hits = judged(by_p(0.01, 0.2, 0.09, 0.00005), Thresholds())
    assert hits.names == ("t3", "t0", "t2")
    assert hits.evalue.tolist() == [math.exp(math.log(p)) * 100 for p in (0.00005, 0.01, 0.09)]
    assert hits.is_included.tolist() == [True, False, False]
    assert (hits.Z, hits.domZ.tolist()) == (100, [3])
    assert hits.domain_c_evalue.tolist() == [math.exp(math.log(1e-6)) * 3] * 3
    hits = judged(by_p(0.01, 0.2, 0.1, 0.0001), Thresholds(Z=1, domZ=7))
    assert (len(hits), hits.Z, hits.domZ.tolist()) == (4, 1, [7])


def test_denormal_numbers_are_zeros():
    smallest = np.finfo(np.float64).smallest_normal
    rows = [(f"t{k}", {"log_p": p, "bits": 20}, [{"bits": 20, "log_p": p}]) for k, p in enumerate((-710, -708))]
    hits = judged(made_found(rows), Thresholds())
    assert 0 < math.exp(-710) < smallest < math.exp(-710) * 100  # too small before it is multiplied
    assert hits.evalue.tolist() == hits.domain_i_evalue.tolist() == [0, math.exp(-708) * 100]
    assert hits[0].evalue == hits[0].domains[0].i_evalue == hits[0].domains[0].c_evalue == 0
    few = judged(made_found(rows), Thresholds(Z=0.5))
    assert 0 < math.exp(-708) * 0.5 < smallest and few.evalue.tolist() == [0, 0]


def test_domains_are_judged_among_reported_targets():
    own = [{"bits": bits, "log_p": math.log(p)} for bits, p in ((9, 0.2), (8, 0.6), (7, 0.001))]
    found = made_found([(f"t{k}", {"log_p": -20}, own) for k in range(20)])
    hits = judged(found, Thresholds())
    assert hits.domZ.tolist() == [20]
    assert hits.domain_is_reported[:3].tolist() == [True, False, True]
    assert hits.domain_is_included[:3].tolist() == [False, False, False]
    assert (hits.n_reported[0], hits.n_included[0]) == (2, 0)
    by_score = judged(found, Thresholds(domT=7.5, incdomT=8.5))
    assert by_score.domain_is_reported[:3].tolist() == [True, True, False]
    assert by_score.domain_is_included[:3].tolist() == [True, False, False]


def test_inclusion_and_scores_in_double():
    hits = judged(by_p(0.01), Thresholds())
    assert (hits.is_included.tolist(), hits.domain_is_included.tolist()) == ([False], [False])
    found = made_found([("t", {"bits": 0.1}, ONE)])
    assert float(np.float32(0.1)) == 0.10000000149011612
    assert len(judged(found, Thresholds(T=0.1000000014))) == 1
    assert len(judged(found, Thresholds(T=0.1000000016))) == 0  # the same in float32


def test_cutoffs_of_models_and_of_a_scan():
    own = [{"bits": bits} for bits in (10.25, 10, 16)]
    rows = [("a", {"bits": 20.5}, own), ("b", {"bits": 20.25}, own), ("c", {"bits": 30}, own)]
    hits = judged(made_found(rows, queries=(PFAM,)), Thresholds(bit_cutoffs="gathering"))
    assert hits.names == ("c", "a")
    assert hits.is_included.all()
    assert hits.domain_is_reported.tolist() == hits.domain_is_included.tolist() == [True, False, True] * 2
    assert len(judged(made_found(rows, queries=(PFAM,)), Thresholds(bit_cutoffs="trusted"))) == 1
    with pytest.raises(InputError, match="record 'q': the model has no noise cutoffs: choose other thresholds"):
        judged(made_found(rows, queries=(PFAM,)), Thresholds(bit_cutoffs="noise"))
    either = judged(made_found(rows, queries=(PFAM,)), Thresholds(bit_cutoffs="noise-if-any", T=20.4, domT=11))
    assert either.names == ("a", "c") and either.domain_is_reported.tolist() == [False, False, True] * 2
    given = Thresholds(bit_cutoffs="noise", per_model={"q": (20.25, 10)})
    assert judged(made_found(rows, queries=(PFAM,)), given).names == ("c", "a", "b")
    rows = [("m0", {"bits": 21, "target": 0}, ONE), ("m1", {"bits": 21, "target": 1}, ONE)]
    models = {0: PFAM, 1: Query("m1", 9, gathering=(30.0, 1.0))}
    found = made_found(rows, queries=(Query("s", 70),), orientation="scan", models=models)
    assert judged(found, Thresholds(bit_cutoffs="gathering")).names == ("m0",)
    assert judged(found, Thresholds(bit_cutoffs="trusted-if-any", T=1)).names == ("m1",)


def test_the_order_of_hits_and_equal_alignments():
    """By P-value; then by name, by whether the first domain has two residues or more, and by where it begins."""
    first = [{"begin": 9, "end": 12}]
    rows = [
        ("b", {"log_p": -30, "bits": 1}, first),
        ("a", {"log_p": -30, "bits": 2}, [{"begin": 5, "end": 6}]),
        ("a", {"log_p": -30, "bits": 2}, first),
        ("a", {"log_p": -30, "bits": 2}, [{"begin": 3, "end": 8}]),
        ("z", {"log_p": -31, "bits": 1}, first),
    ]
    assert judged(made_found(rows), Thresholds()).target.tolist() == [4, 3, 2, 1, 0]
    assert judged(made_found(rows), Thresholds(incT=0)).target.tolist() == [3, 2, 1, 0, 4]
    own = [
        {"bits": 5, "begin": 1, "end": 9, "log_p": -30},
        {"bits": 7, "begin": 1, "end": 9, "log_p": -30},
        {"bits": 6, "begin": 2, "end": 9, "log_p": -30},
    ]
    rows = [("a", {"log_p": -30, "n_overlaps": 1}, own), ("b", {"log_p": -30}, own)]
    hits = judged(made_found(rows), Thresholds())
    assert hits.domain_is_reported.tolist() == [False, True, True, True, True, True]
    assert hits.n_reported.tolist() == hits.n_included.tolist() == [2, 3]


def test_queries_stay_in_order_also_without_hits():
    rows = [(f"t{k}", {"log_p": -20 - k, "query": k % 2}, ONE) for k in range(6)]
    hits = judged(made_found(rows, queries=(PFAM, Query("r", 3))), Thresholds())
    assert hits.query.tolist() == [0, 0, 0, 1, 1, 1]
    assert hits.names == ("t4", "t2", "t0", "t5", "t3", "t1")
    found = made_found([])
    own = verdicts(found, Thresholds())
    assert (len(own["is_included"]), own["domZ"].tolist()) == (0, [0])
    assert "0 of 1 query in 100 targets" in repr(judged(found, Thresholds()))


def test_hits_that_hmmer_keeps_while_it_reads_widen_columns():
    rows = [
        ("a_long_name", {"log_p": math.log(0.5), "accession": "ABC", "target": 0}, ONE),
        ("a_longer_name", {"log_p": math.log(0.5), "accession": "ABCD", "target": 60}, ONE),
        ("short", {"log_p": math.log(1e-3), "target": 3}, ONE),
    ]
    found = made_found(rows)
    assert is_kept(found, Thresholds()).tolist() == [True, False, True]
    hits = judged(found, Thresholds())
    assert hits.names == ("short",)
    assert hits.widths.tolist() == [[11, 3, 5]]
    assert judged(hits, Thresholds()).widths.tolist() == [[11, 3, 5]]
    assert judged(found, Thresholds(Z=100)).widths.tolist() == [[5, 0, 5]]


def test_what_cannot_be_reported_may_be_dropped():
    """Hits that `is_kept` drops change nothing, whatever targets follow."""
    rng = np.random.default_rng(5)
    rows = [(f"t{k}", {"log_p": float(-rng.exponential(4)), "target": k}, ONE) for k in range(80)]
    for thresholds in (Thresholds(), Thresholds(E=1), Thresholds(T=3), Thresholds(Z=5)):
        found = made_found(rows, n_targets=80)
        kept = FoundHits(**columns_of(found) | verdict_columns(found, is_kept(found, thresholds)))
        a, b = judged(found, thresholds), judged(kept, thresholds)
        assert a.names == b.names
        assert a.widths.tolist() == b.widths.tolist()


def verdict_columns(found, rows):
    from tropalign.results.found_hits import chosen

    return chosen(found, np.flatnonzero(rows))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"E": 0}, "E 0 is not above 0"),
        ({"domZ": -1.0}, r"domZ -1\.0 is not above 0"),
        ({"T": "20"}, "T '20' is not a number"),
        ({"E": None}, "E None is not a number"),
        ({"incE": math.nan}, "incE nan is not a number"),
        ({"Z": True}, "Z True is not a number"),
        ({"per_model": {"a": "12"}}, "per_model must map names of models to two scores"),
        ({"bit_cutoffs": "ga"}, "bit_cutoffs 'ga' is not one of gathering, noise, trusted"),
    ],
)
def test_thresholds_that_are_none(given, text):
    with pytest.raises(UsageError, match=text):
        Thresholds(**given)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"bits": np.zeros(2)}, "column bits must be a one-dimensional array of float32"),
        ({"names": ("a",)}, "column accessions has 2 items, not 1"),
        ({"query": np.array([0, 1], np.int32)}, "the query index of a hit is out of range for 1 queries"),
        (
            {"best_domain": np.array([0, 1], np.int32)},
            "a hit must have at least one domain, and the best must be one of them",
        ),
        ({"domain_offsets": np.array([0, 2, 2])}, "a hit must have at least one domain"),
        ({"domain_offsets": np.array([0, 1, 3])}, "domain_offsets must start with 0 and end with the number"),
        ({"line_offsets": np.array([0, 6, 5])}, "line_offsets must start with 0"),
        ({"orientation": "up"}, "orientation 'up' is not one of search, scan"),
        ({"orientation": "scan"}, "models of a scan must include every target of a hit"),
        ({"n_passed": np.zeros((1, 3), np.int64)}, r"n_passed must be int64 of shape \(1, 4\)"),
        ({"widths": np.zeros((2, 3), np.int64)}, r"widths must be int64 of shape \(1, 3\)"),
        ({"domZ": np.zeros(2)}, "column domZ has 2 items, not 1"),
    ],
)
def test_columns_that_do_not_fit(change, text):
    found = by_p(0.1, 0.1)
    with pytest.raises(ValueError, match=text):
        FoundHits(**columns_of(found) | change)
