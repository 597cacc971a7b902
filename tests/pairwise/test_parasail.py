"""Real sequences against parasail, score by score, and its alignments re-scored as ours are."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from oracles.pairwise import cigar_operations, rescore
from pairwise.engines import assert_same

import tropalign

parasail = pytest.importorskip("parasail")

FUNCTIONS = {"local": "sw", "global": "nw", "semiglobal": "sg"}
GAPS = [(8, 2), (11, 1), (0, 3)]


@pytest.fixture(scope="module", params=["proteins", "amplicons"])
def sample(request):
    batch = tropalign.read_sequences(request.config.rootpath / "tests" / "data" / f"{request.param}.fasta")
    texts = [batch.text(k) for k in range(len(batch))]
    codes = [batch.codes[a:b].tolist() for a, b in zip(batch.offsets[:-1], batch.offsets[1:], strict=True)]
    if request.param == "proteins":
        scores = tropalign.SubstitutionMatrix.from_name("BLOSUM50").scores
        return texts, codes, {"matrix": "BLOSUM50"}, scores, parasail.blosum50
    scores = tropalign.SubstitutionMatrix.match_mismatch(5, -4).scores
    return texts, codes, {"protein": False, "match": 5, "mismatch": -4}, scores, parasail.matrix_create("ACGT", 5, -4)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("mode", FUNCTIONS)
def test_scores_and_paths(engines, sample, mode, gap):
    texts, codes, options, scores, matrix = sample
    # Its striped variants miss the best score where the first residue of a gap costs no more than the next.
    align = getattr(parasail, f"{FUNCTIONS[mode]}_scan_32")
    by_isa = [engine.align(texts, None, gap=gap, mode=mode, n_threads=1, **options) for engine in engines]
    for columns in by_isa[1:]:
        assert_same(columns, by_isa[0])
    columns = by_isa[0]
    for k, (a, b) in enumerate(combinations(range(len(texts)), 2)):
        # Overlapping by nothing scores 0; parasail takes the best overlap that pairs residues, however bad.
        expected = align(texts[a], texts[b], gap[0] + gap[1], gap[1], matrix).score
        assert columns["score"][k] == (max(expected, 0) if mode == "semiglobal" else expected), (a, b)
        operations = cigar_operations(columns["cigar"][k])
        start = (columns["query_start"][k], columns["target_start"][k])
        rescored = rescore(codes[a], codes[b], scores, *gap, operations, *start)
        assert rescored == (columns["score"][k], columns["query_end"][k], columns["target_end"][k])
        lengths = {letter: sum(length for x, length in operations if x == letter) for letter in "=XID"}
        assert columns["n_identical"][k] == lengths["="]
        assert columns["n_gaps"][k] == lengths["I"] + lengths["D"]
        assert columns["n_columns"][k] == sum(lengths.values())


#: Functions for free ends of one or both sequences: the ends, and whether an overlap may be empty (score 0).
FREE = {
    "sg": ("all", True),
    "sg_qe_de": (("query-end", "target-end"), False),
    "sg_qb_db": (("query-start", "target-start"), False),
    "sg_qb_de": (("query-start", "target-end"), True),
    "sg_qe_db": (("query-end", "target-start"), True),
    "sg_qx": (("query-start", "query-end"), False),
    "sg_dx": (("target-start", "target-end"), False),
    "sg_qb": (("query-start",), False),
    "sg_de": (("target-end",), False),
}


@pytest.mark.parametrize("function", FREE)
def test_free_ends_of_either_sequence(engines, sample, function):
    texts, codes, options, scores, matrix = sample
    (free, may_be_empty), align = FREE[function], getattr(parasail, f"{function}_scan_32")
    columns = engines[0].align(texts[:14], None, gap=(8, 2), mode="semiglobal", free_ends=free, **options)
    for k, (a, b) in enumerate(combinations(range(14), 2)):
        expected = align(texts[a], texts[b], 10, 2, matrix).score
        assert columns["score"][k] == (max(expected, 0) if may_be_empty else expected), (a, b)
        start = (columns["query_start"][k], columns["target_start"][k])
        rescored = rescore(codes[a], codes[b], scores, 8, 2, cigar_operations(columns["cigar"][k]), *start)
        assert rescored == (columns["score"][k], columns["query_end"][k], columns["target_end"][k])


@pytest.mark.parametrize("mode", FUNCTIONS)
def test_its_alignments_score_as_ours(engines, sample, mode):
    """Its path may be another of the best ones; scored by the same rules it is as good."""
    texts, codes, options, scores, matrix = sample
    align = getattr(parasail, f"{FUNCTIONS[mode]}_trace_striped_32")
    columns = engines[0].align(texts, None, gap=(8, 2), mode=mode, **options)
    for k, (a, b) in list(enumerate(combinations(range(len(texts)), 2)))[::5]:
        if columns["score"][k] == 0:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cigar = align(texts[a], texts[b], 10, 2, matrix).cigar
        start = [cigar.beg_query, cigar.beg_ref]
        operations = cigar_operations(cigar.decode.decode())
        if mode != "global":  # what lies before and after the alignment stands in its CIGAR as gaps
            while operations and operations[0][0] in "ID":
                operation, length = operations.pop(0)
                start[operation == "D"] += length
            while operations and operations[-1][0] in "ID":
                operations.pop()
        assert rescore(codes[a], codes[b], scores, 8, 2, operations, *start)[0] == columns["score"][k], (a, b)


def test_letters_that_parasail_scores_as_a_stop(engines):
    """U scores as C and O, J as X (with a warning), not as a stop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = engines[0].align(["MKUUOJV"], ["MKCCXXV"], matrix="BLOSUM62", gap=(11, 1), mode="global")
        plain = engines[0].align(["MKCCXXV"], ["MKCCXXV"], matrix="BLOSUM62", gap=(11, 1), mode="global")
    assert ours["score"][0] == plain["score"][0]
    assert np.all(ours["n_identical"] == 3)
