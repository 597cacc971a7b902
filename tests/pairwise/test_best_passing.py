"""The best targets are counted among those that pass: against all pairs, filtered, sorted and cut here."""

import numpy as np
import pytest
from pairwise.test_best_targets import mutated, random_texts

import tropalign as ta
from tropalign.errors import UsageError
from tropalign.pairwise.options import SHARES
from tropalign.results.alignments import concatenate

NUCLEOTIDES = "ACGT"


def families(seed, n_targets, letters, shortest=12, longest=60):
    """Queries, and targets: whole ones with many differences score more than short parts with few."""
    rng = np.random.default_rng(seed)
    queries = random_texts(rng, 12, shortest, longest, letters)
    targets = []
    for k in range(n_targets):
        query = queries[k % len(queries)]
        kind = k // len(queries) % 4
        part = query[: max(6, len(query) // 2)] if kind % 2 else query[k % 3 :]
        tail = "".join(random_texts(rng, 1, 0, 30, letters)) if kind < 2 else ""
        targets.append(mutated(rng, part, 0.05 if kind % 2 else 0.2 + 0.05 * (k % 4), letters) + tail)
    return queries, targets


def table_of(queries, targets, **options):
    return concatenate(list(ta.align_all(queries, targets, n_threads=1, **options)))


def best_by_hand(queries, targets, top, **options):
    """(query, target, score, strand) of the `top` best rows that pass, of all rows."""
    every = table_of(queries, targets, **options)
    score = every.score if every.corrected_score is None else every.corrected_score
    rows = list(zip(*(every.columns([name])[name].tolist() for name in ("query_index", "target_index")), strict=True))
    order = sorted(range(len(rows)), key=lambda k: (rows[k][0], -score[k], rows[k][1]))
    kept, seen = [], {}
    for k in order:
        seen[rows[k][0]] = seen.get(rows[k][0], 0) + 1
        if seen[rows[k][0]] <= top:
            kept.append((*rows[k], every.score[k].item(), every.cigar(k)))
    return kept


def found(table):
    columns = table.columns(["query_index", "target_index"])
    pairs = zip(columns["query_index"].tolist(), columns["target_index"].tolist(), strict=True)
    return [
        (*pair, score, cigar) for pair, score, cigar in zip(pairs, table.score.tolist(), table.cigars(), strict=True)
    ]


#: Alphabet, targets, K, and options.
CASES = {
    "identity": (ta.PROTEIN, 60, 2, {"min_identity": 0.92}),
    "in groups of targets": (ta.PROTEIN, 200, 2, {"min_identity": 0.8}),
    "query coverage": (ta.PROTEIN, 200, 1, {"min_query_coverage": 0.9}),
    "target coverage": (ta.PROTEIN, 150, 3, {"min_target_coverage": 0.95}),
    "coverage of the longer": (ta.PROTEIN, 60, 1, {"min_coverage": 0.97}),
    "nothing passes": (ta.PROTEIN, 150, 2, {"min_identity": 1.0, "min_query_coverage": 1.0, "mode": "semiglobal"}),
    "global": (ta.PROTEIN, 140, 2, {"min_identity": 0.6, "mode": "global"}),
    "by another definition": (ta.PROTEIN, 140, 2, {"min_identity": 0.6, "mode": "global", "identity": "longer"}),
    "both strands": (ta.NUCLEOTIDE, 150, 2, {"min_identity": 0.9, "min_query_coverage": 0.5, "strand": "both"}),
    "with a least score": (ta.NUCLEOTIDE, 60, 2, {"min_identity": 0.97, "min_score": 30}),
    "E-values": (ta.PROTEIN, 200, 2, {"min_identity": 0.92, "max_evalue": 10}),
    "decimals": (ta.PROTEIN, 150, 2, {"min_identity": 0.8, "gap": ta.Gap(10.5, 0.25)}),
    "two gap costs": (ta.PROTEIN, 150, 2, {"min_identity": 0.8, "gap": ta.Gap(10, 2, 20, 1)}),
    "masked": (ta.PROTEIN, 150, 2, {"min_identity": 0.8, "mask": "tantan"}),
}


@pytest.mark.parametrize("tile_pairs", [None, 7])
@pytest.mark.parametrize("case", CASES)
def test_the_first_that_pass(monkeypatch, case, tile_pairs):
    """Also where a query's candidates are more than a tile may hold."""
    if tile_pairs is not None:
        monkeypatch.setenv("TROPALIGN_TILE_PAIRS", str(tile_pairs))
    alphabet, n_targets, top, options = CASES[case]
    texts = families(1, n_targets, NUCLEOTIDES if alphabet == ta.NUCLEOTIDE else "ARNDCQEGHILKMFPSTWYV")
    queries, targets = (ta.SequenceBatch.from_strings(some, alphabet=alphabet) for some in texts)
    table = table_of(queries, targets, top=top, **options)
    assert found(table) == best_by_hand(queries, targets, top, **options)
    first = table_of(queries, targets, top=top, top_first=True, **options)
    kept = {name: value for name, value in options.items() if name not in SHARES}
    assert set(found(first)) <= set(found(table_of(queries, targets, top=top, **kept)))
    assert len(first) < len(table) or case == "nothing passes"


@pytest.mark.parametrize("tile_pairs", [None, 40])
@pytest.mark.parametrize("n", [30, 140])
def test_one_set_without_names_of_its_own(monkeypatch, n, tile_pairs):
    if tile_pairs is not None:
        monkeypatch.setenv("TROPALIGN_TILE_PAIRS", str(tile_pairs))
    batch = ta.SequenceBatch.from_strings(families(2, n, "ARNDCQEGHILKMFPSTWYV")[1], alphabet=ta.PROTEIN)
    every = table_of(batch, None, top=n)
    passing = [row for row, share in zip(found(every), every.identity, strict=True) if share >= 0.75]
    expected = [row for k, row in enumerate(passing) if k < 2 or passing[k - 2][0] != row[0]]
    assert found(table_of(batch, None, top=2, min_identity=0.75)) == expected
    assert found(table_of(batch, batch, top=2, min_identity=0.75, exclude_self=True)) == expected


@pytest.mark.parametrize("tile_pairs", [None, 11])
@pytest.mark.parametrize(("translate", "n_targets"), [("query", 150), ("query", 40), ("target", 40)])
def test_frames(monkeypatch, translate, n_targets, tile_pairs):
    if tile_pairs is not None:
        monkeypatch.setenv("TROPALIGN_TILE_PAIRS", str(tile_pairs))
    proteins = families(3, n_targets, "ARNDCQEGHILKMFPSTWYV")
    triplets = "GCT CGT AAT GAT TGT CAA GAA GGT CAT ATT TTA AAA ATG TTT CCT TCT ACT TGG TAT GTT".split()
    codons = dict(zip("ARNDCQEGHILKMFPSTWYV", triplets, strict=True))
    side = translate == "target"
    texts = [list(some) for some in proteins]
    texts[side] = ["".join(codons[letter] for letter in text) for text in texts[side]]
    alphabets = [ta.PROTEIN, ta.PROTEIN]
    alphabets[side] = ta.NUCLEOTIDE
    queries, targets = (ta.SequenceBatch.from_strings(t, alphabet=a) for t, a in zip(texts, alphabets, strict=True))
    options = {"min_identity": 0.8, "translate": translate}
    table = table_of(queries, targets, top=2, **options)
    assert found(table) == best_by_hand(queries, targets, 2, **options) and len(table) > 12


def test_pairs_of_a_list_in_any_order():
    rng = np.random.default_rng(4)
    texts = families(4, 30, "ARNDCQEGHILKMFPSTWYV")
    queries, targets = (ta.SequenceBatch.from_strings(some, alphabet=ta.PROTEIN) for some in texts)
    pairs = rng.permutation([(q, t) for q in range(12) for t in range(30)])[:200]
    table = table_of(queries, targets, pairs=pairs, top=1, min_identity=0.7)
    every = table_of(queries, targets, pairs=pairs, min_identity=0.7)
    place = {(q, t): k for k, (q, t) in enumerate(pairs.tolist())}
    expected = {}
    for row in sorted(found(every), key=lambda row: (row[0], -row[2], place[row[:2]])):
        expected.setdefault(row[0], row)
    assert found(table) == list(expected.values())


def test_without_filters_nothing_is_counted_otherwise():
    queries, targets = families(5, 150, "ARNDCQEGHILKMFPSTWYV")
    assert found(table_of(queries, targets, top=3)) == found(table_of(queries, targets, top=3, top_first=True))


def test_top_first_needs_top():
    with pytest.raises(UsageError, match="top_first has no effect without a number of targets: add top"):
        list(ta.align_all(["MKVLAW", "MKILAW"], top_first=True))
