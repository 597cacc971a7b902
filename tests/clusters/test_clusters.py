"""Clusters against the plain oracle, bounds against every alignment, and what a call may not ask for."""

import copy
import pickle
from collections import Counter
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import clusters as oracle

import tropalign as ta
from tropalign.clusters import candidates, methods
from tropalign.clusters.candidates import CandidateFilter, coverages
from tropalign.clusters.methods import LINKAGES, check_memory, compared_by
from tropalign.clusters.options import METHODS, ClusterOptions, CoverageOf
from tropalign.errors import InputError, ResourceError, UsageError
from tropalign.pairwise.options import MODES, PairOptions
from tropalign.results.aligned_pairs import identities
from tropalign.results.alignments import concatenate
from tropalign.results.names import DEFINITIONS

DNA, PROTEIN = "ACGT", "ARNDCQEGHILKMFPSTWYV"


def families(rng, n, letters, longest=30, divergence=0.12):
    """Sequences in families: copies of a few, each with some letters changed, lost and added, and some cut short."""
    parents = ["".join(rng.choice(list(letters), rng.integers(8, longest))) for _ in range(max(1, n // 4))]
    texts = []
    for _ in range(n):
        text = []
        for letter in parents[rng.integers(len(parents))]:
            change = rng.random() / divergence
            text += [letter] if change > 1 else ["", rng.choice(list(letters)), letter * 2][int(change * 3)]
        cut = rng.integers(0, len(text) // 3 + 1) if rng.random() < 0.3 else 0
        texts.append("".join(text)[cut:] or letters[0])
    return texts


def batch_of(texts, alphabet):
    return ta.SequenceBatch.from_strings(texts, alphabet=alphabet)


def residues(alphabet):
    """The residues of each code of nucleotides."""
    return [set(alphabet.ambiguous.get(letter, "ACGT" if letter == "N" else letter)) for letter in alphabet.letters]


def pair_similarity(batch, options):
    """What the oracle asks for the similarity of two sequences."""
    pairs = options.pairs
    sets = residues(batch.alphabet) if pairs.ambiguous == "match" else None
    strands = (batch, batch.reverse_complement()) if pairs.strand == "both" else (batch,)
    sides = [[one.codes[one.offsets[k] : one.offsets[k + 1]] for k in range(len(one))] for one in strands]

    def similar(member, representative):
        return oracle.similarity(
            sides[0][member], sides[0][representative], pairs.matrix.scores, (pairs.gap.open, pairs.gap.extend),
            pairs.mode, options.identity, options.min_coverage, options.coverage_of,
            sides[1][member] if pairs.strand == "both" else None, sets,
        )  # fmt: skip

    return similar


@settings(max_examples=70)
@given(
    seed=st.integers(0, 2**32 - 1),
    is_dna=st.booleans(),
    definition=st.sampled_from(sorted(DEFINITIONS)),
    least=st.sampled_from([0, 0.2, 0.5, 0.7, 0.8, 0.9, 0.97, 1.0]),
    mode=st.sampled_from(["global", "global", "semiglobal", "local"]),
    covered=st.sampled_from([None, 0.5, 0.9]),
    of=st.sampled_from(get_args(CoverageOf)),
    assign=st.sampled_from(["best", "first"]),
    order=st.sampled_from(["length", "input"]),
    gap=st.sampled_from([(10, 1), (0, 2), (3, 0), (20, 3)]),
    strand=st.sampled_from(["plus", "both"]),
    ambiguous=st.sampled_from(["differ", "match"]),
)
def test_greedy_is_the_plain_rule(
    seed, is_dna, definition, least, mode, covered, of, assign, order, gap, strand, ambiguous
):
    rng = np.random.default_rng(seed)
    letters = (DNA * 3 + "NRY" if ambiguous == "match" else DNA) if is_dna else PROTEIN
    batch = batch_of(families(rng, 14, letters), ta.NUCLEOTIDE if is_dna else ta.PROTEIN)
    covered = 0.5 if mode == "local" else covered
    strand, ambiguous = (strand, ambiguous) if is_dna else ("plus", "differ")
    asked = {"min_identity": least, "identity": definition, "min_coverage": covered, "coverage_of": of}
    asked |= {"assign": assign, "order": order}
    matrix = ta.SubstitutionMatrix.default(batch.alphabet)
    how = {"mode": mode, "strand": strand, "ambiguous": ambiguous}
    options = ClusterOptions(PairOptions(matrix, ta.Gap(*gap), **how), **asked)
    found = ta.cluster(batch, gap=ta.Gap(*gap), n_threads=1, **how, **asked)
    places = sorted(range(len(batch)), key=lambda k: -int(batch.lengths[k])) if order == "length" else range(len(batch))
    similar = pair_similarity(batch, options)
    labels, representatives = oracle.greedy(len(batch), places, least, assign, similar)
    assert (found.labels.tolist(), found.representative_index.tolist()) == (labels, representatives)
    members = [k for k in range(len(batch)) if k not in representatives]
    for k in members[:3]:
        member = ClusterOptions(options.pairs, identity=definition, min_coverage=0.0 if mode != "local" else 1e-9)
        assert found.identity[k] == pytest.approx(pair_similarity(batch, member)(k, representatives[labels[k]]))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    definition=st.sampled_from(sorted(DEFINITIONS)),
    least=st.sampled_from([0, 0.5, 0.75, 0.9, 0.97]),
    covered=st.sampled_from([None, 0.6]),
    method=st.sampled_from(sorted(LINKAGES)),
    order=st.sampled_from(["length", "input"]),
    strand=st.sampled_from(["plus", "both"]),
    is_symmetric=st.booleans(),
)
def test_linkages_are_the_plain_rule(seed, definition, least, covered, method, order, strand, is_symmetric):
    """The later one of two sequences is the query, as in what is shown of the clusters."""
    rng = np.random.default_rng(seed)
    batch = batch_of(families(rng, 12, DNA), ta.NUCLEOTIDE)
    asked = {"min_identity": least, "identity": definition, "min_coverage": covered, "method": method, "order": order}
    matrix = ta.SubstitutionMatrix.default(batch.alphabet)
    if not is_symmetric:
        matrix = ta.SubstitutionMatrix.of((DNA, rng.integers(-4, 6, (4, 4))), batch.alphabet)
    options = ClusterOptions(PairOptions(matrix, ta.Gap(10, 1), mode="global", strand=strand), **asked)
    found = ta.cluster(batch, **asked, matrix=matrix, gap=ta.Gap(10, 1), strand=strand)
    ranks = [(-int(length), k) if order == "length" else (0, k) for k, length in enumerate(batch.lengths)]
    similar = pair_similarity(batch, options)

    def similar_in_order(i, j):
        return similar(i, j) if ranks[i] > ranks[j] else similar(j, i)

    expected = oracle.linked(len(batch), least, method, similar_in_order)
    assume(expected is not None)
    assert sorted(np.flatnonzero(found.labels == k).tolist() for k in range(len(found))) == expected
    firsts = [min(members, key=ranks.__getitem__) for members in expected]
    assert sorted(found.representative_index.tolist()) == sorted(firsts)
    if method == "complete" and covered is None:
        assert (found.identity >= least - 1e-9).all()


@pytest.mark.parametrize("method", sorted(LINKAGES))
def test_linkages_decide_by_the_alignment_that_is_shown(method):
    """Its identity is 0.75 with the later sequence as the query, and 1 with the earlier one."""
    texts = {"a": "TCCTCAGC", "b": "GCTATATGGCCGTTAGCTGGCGACTATCTTAGTGATTAGGCTGGCATGACTGCTTGCGA"}
    asked = {"alphabet": "nucleotide", "strand": "both", "order": "input", "end_gap": ta.Gap(2, 1)}
    assert ta.cluster(texts, 1.0, method=method, **asked).labels.tolist() == [0, 1]
    joined = ta.cluster(texts, 0.75, method=method, **asked)
    assert joined.labels.tolist() == [0, 0] and joined.identity.tolist() == [1, 0.75]


def test_every_method_is_greedy_or_a_linkage():
    assert set(METHODS) == {"greedy", *LINKAGES}
    with pytest.raises(KeyError):
        check_memory(10, "median", 1 << 30)


@pytest.mark.parametrize("method", ["single", "complete", "average"])
def test_linkages_are_those_of_scipy(method):
    from scipy.cluster.hierarchy import fcluster, linkage

    rng = np.random.default_rng(5)
    batch = batch_of(families(rng, 120, DNA, longest=90, divergence=0.2), ta.NUCLEOTIDE)
    table = concatenate(list(ta.align_all(batch, mode="global")))
    distances = 1 - identities(table, "columns")
    distances += rng.random(len(distances)) * 1e-9  # no two are equal, so that no rule for ties matters
    for least in (0.5, 0.55, 0.6, 0.65):
        flat = fcluster(linkage(distances, method), 1 - least, "distance")
        found = ta.cluster(batch, least + 1e-7, identity="columns", method=method)
        same = found.labels[:, None] == found.labels[None, :]
        assert (same == (flat[:, None] == flat[None, :])).all()
        assert 1 < len(found) < len(batch)


@settings(max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    is_dna=st.booleans(),
    definition=st.sampled_from(sorted(DEFINITIONS)),
    least=st.sampled_from([0.3, 0.6, 0.8, 0.9, 0.97, 1.0]),
    mode=st.sampled_from(sorted(MODES)),
    covered=st.sampled_from([None, 0.4, 0.9]),
    of=st.sampled_from(get_args(CoverageOf)),
    gap=st.sampled_from([(10, 1), (0, 0), (0, 2), (3, 0), (40, 8)]),
    end=st.sampled_from([None, (2, 1), (0, 0), (30, 2), (5, 3, 9, 1)]),
    strand=st.sampled_from(["plus", "both"]),
    ambiguous=st.sampled_from(["differ", "match"]),
)
def test_bounds_leave_out_no_pair_that_is_similar(
    seed, is_dna, definition, least, mode, covered, of, gap, end, strand, ambiguous
):
    rng = np.random.default_rng(seed)
    letters, alphabet = (DNA * 6 + "NK", ta.NUCLEOTIDE) if is_dna else (PROTEIN * 3 + "XB", ta.PROTEIN)
    strand = strand if is_dna else "plus"
    batch = batch_of(families(rng, 16, letters, longest=70, divergence=rng.choice([0.02, 0.1, 0.3])), alphabet)
    covered = 0.4 if mode == "local" and covered is None else covered
    ends = None if end is None or mode == "local" else ta.Gap(*end)
    how = {"mode": mode, "strand": strand, "end_gap": ends, "ambiguous": ambiguous}
    pairs = PairOptions(ta.SubstitutionMatrix.default(alphabet), ta.Gap(*gap), **how)
    options = ClusterOptions(pairs, min_identity=least, identity=definition, min_coverage=covered, coverage_of=of)
    table = concatenate(list(ta.align_all(batch, batch, gap=ta.Gap(*gap), **how)))
    is_similar = identities(table, definition) >= least
    if covered is not None:
        is_similar &= coverages(table, of) >= covered
    keep = CandidateFilter(options, alphabet, 2).within(batch, batch)
    assert keep.ravel()[is_similar].all()


def test_bounds_leave_most_of_the_others_out():
    rng = np.random.default_rng(1)
    for letters, alphabet in ((DNA, ta.NUCLEOTIDE), (PROTEIN, ta.PROTEIN)):
        batch = batch_of(["".join(rng.choice(list(letters), 250)) for _ in range(60)], alphabet)
        matrix, cost = ta.SubstitutionMatrix.default(alphabet), ta.Gap(*alphabet.gap_cost)
        for definition in ("shorter", "columns", "internal", "longer"):
            options = ClusterOptions(PairOptions(matrix, cost, mode="global"), identity=definition)
            assert CandidateFilter(options, alphabet, 1).within(batch, batch).mean() < 0.05


@pytest.mark.parametrize("pair_bytes", [64, 1 << 20])
@pytest.mark.parametrize("assign", ["best", "first"])
def test_blocks_bounds_and_threads_change_nothing(assign, pair_bytes, monkeypatch):
    rng = np.random.default_rng(7)
    batch = batch_of(families(rng, 150, DNA, longest=120, divergence=0.05), ta.NUCLEOTIDE)
    asked = {"min_identity": 0.95, "assign": assign, "strand": "both"}
    expected = ta.cluster(batch, **asked, n_threads=1)
    assert 10 < len(expected) < 145
    monkeypatch.setattr(methods, "MOST_BLOCK", 37)
    monkeypatch.setattr(methods, "ROUND", 3)
    monkeypatch.setattr(candidates, "LEAST_PAIRS", 5)
    monkeypatch.setattr(candidates, "SEQUENCE_BYTES", 1 << 20)
    monkeypatch.setattr(
        candidates.CandidateFilter,
        "within",
        lambda self, q, t, asked=None: np.ones((len(q), len(t)), bool) if asked is None else asked,
    )
    monkeypatch.setattr(methods, "CANDIDATE_BYTES", pair_bytes)  # 50 representatives at a time
    found = ta.cluster(batch, **asked, n_threads=3, memory_bytes=100 << 20)
    for name in ("labels", "representative_index", "identity", "strand", "score"):
        assert (getattr(found, name) == getattr(expected, name)).all(), name
    assert found.cigars == expected.cigars


def test_a_chromosome_among_reads_is_told_of_and_left_out_by_coverage():
    rng = np.random.default_rng(5)
    giant = "".join(rng.choice(list(DNA), 40_000))
    reads = {f"r{k}": giant[100 * k : 100 * k + 30] for k in range(20)}
    with pytest.warns(ta.TropalignWarning, match=r"record 'giant' has 40,000 residues, 1,333 times the median"):
        found = ta.cluster({"giant": giant, **reads}, n_threads=1)
    assert len(found) == 1
    pairs = PairOptions(ta.SubstitutionMatrix.default(ta.NUCLEOTIDE), ta.Gap(10, 1), mode="global")
    options = ClusterOptions(pairs, min_coverage=0.5)
    batch = ta.SequenceBatch.from_strings([giant, *reads.values()], alphabet=ta.NUCLEOTIDE)
    assert CandidateFilter(options, ta.NUCLEOTIDE, 1).within(batch, batch)[0].sum() == 1


def test_sequences_too_long_for_common_subsequences_are_aligned(monkeypatch):
    rng = np.random.default_rng(9)
    texts = families(rng, 60, DNA, longest=90, divergence=0.05)
    expected = ta.cluster(texts, 0.9, n_threads=1)
    monkeypatch.setattr(candidates, "MOST_LETTERS", 50 * 50)
    found = ta.cluster(texts, 0.9, n_threads=1)
    assert 5 < len(expected) < 55 and (found.labels == expected.labels).all() and found.cigars == expected.cigars


@pytest.mark.parametrize("strand", ["plus", "both"])
@pytest.mark.parametrize("identity", ["shorter", "columns"])
@pytest.mark.parametrize("has_copies", [False, True])
def test_single_linkage_leaves_out_what_is_connected(identity, strand, has_copies, monkeypatch):
    rng = np.random.default_rng(17)
    for _ in range(4):
        texts = list(families(rng, 90, DNA, longest=120, divergence=0.05))
        if has_copies:
            texts = rng.permutation([*texts, *rng.choice(texts, 60)]).tolist()
        batch = batch_of(texts, ta.NUCLEOTIDE)
        matrix, gap = ta.SubstitutionMatrix.default(ta.NUCLEOTIDE), ta.Gap(10, 1)
        pairs = PairOptions(matrix, gap, mode="global", strand=strand)
        options = ClusterOptions(pairs=pairs, min_identity=0.95, identity=identity, method="single")
        compared = compared_by(batch, options, 1, 1 << 30, ["cpu"])
        every = methods.labels_of(len(batch), options, methods._compared(*compared, None))
        monkeypatch.setattr(methods, "MOST_ROWS", int(rng.integers(1, 60)))
        monkeypatch.setattr(methods, "FEW_ROWS", int(rng.integers(1, 20)))
        n_before = compared[0].tally.n_pairs
        found = methods.linkage_labels(*compared, 1 << 30)
        assert (found == every).all() and 5 < found.max() < 85
        if not has_copies:
            assert compared[0].tally.n_pairs - n_before < 10 * len(batch)
        counts = Counter(texts).values()  # of equal reads, two are compared with others
        assert len(methods._without_copies(compared[0])[0]) == sum(min(count, 2) for count in counts)


def test_isa_changes_nothing(isa):
    rng = np.random.default_rng(8)
    found = ta.cluster(families(rng, 60, DNA, longest=200, divergence=0.05), 0.95)
    assert found.labels.sum() == ISA_LABELS


ISA_LABELS = ta.cluster(families(np.random.default_rng(8), 60, DNA, longest=200, divergence=0.05), 0.95).labels.sum()


def test_words_and_floors_by_hand():
    from tropalign import _native

    batch = batch_of(["ACGTACG", "CGTAC", "TTTTT", "GACGT"], ta.NUCLEOTIDE)
    shared = _native.shared_words(batch.codes, batch.offsets, batch.codes, batch.offsets, 3, 2)
    assert shared.tolist() == [[5, 3, 0, 2], [3, 3, 0, 1], [0, 0, 3, 0], [2, 1, 0, 3]]
    matrix = np.where(np.eye(32, dtype=bool), 5, -4).astype(np.int32)
    pair, enough = (np.array([0]), np.array([1])), np.array([99], np.int32)
    floor = _native.score_floors(
        batch.codes, batch.offsets, batch.codes, batch.offsets, *pair, enough, matrix, 10, 1, 1
    )
    assert floor.tolist() == [5 * 5 - 2 * (10 + 1)]  # one residue of the longer sequence beyond either end


def altered(rng, text, rate):
    """A copy in which letters are exchanged, left out or put in, with repeats of its own, and with ends of others."""
    kinds = rng.random(len(text))
    letters = "".join(
        c if kind > rate else rng.choice(["", c + rng.choice(list(DNA)), rng.choice(list(DNA))])
        for c, kind in zip(text, kinds, strict=True)
    )
    begin = rng.integers(0, max(1, len(letters) // 20))
    return "".join(rng.choice(list(DNA), rng.integers(0, 9))) + letters[begin:] or "A"


@pytest.mark.parametrize("identity", [0.8, 0.95, 0.97, 1.0])
def test_words_leave_out_no_similar_pair(identity):
    from tropalign import _native

    rng, n_similar, n_left_out = np.random.default_rng(int(100 * identity)), 0, 0
    for _ in range(60):
        letters = DNA if rng.random() < 0.8 else "AC"  # of two letters words occur many times
        texts = ["".join(rng.choice(list(letters), rng.integers(1, 300))) for _ in range(6)]
        texts += [altered(rng, texts[k % 6], rng.choice([0, (1 - identity) / 2, 1 - identity])) for k in range(18)]
        batch = batch_of(texts, ta.NUCLEOTIDE)
        every = np.arange(len(batch), dtype=np.int32)
        common = _native.lcs_lengths(batch.codes, batch.offsets, 32, every, every, 2)
        shorter = np.minimum(batch.lengths[:, None], batch.lengths[None, :])
        is_similar = common >= identity * shorter - 1e-6
        for word in (1, 3, 5, 8, 12):
            codes = (batch.codes, batch.offsets) * 2
            may_be = _native.similar_by_words(*codes, word, identity, 1e-6, 2).astype(bool)
            assert (may_be | ~is_similar).all()
            n_left_out += int((~may_be).sum())
        n_similar += int(is_similar.sum()) - len(batch)
    assert n_similar > 100
    assert n_left_out > 1000 or identity < 0.95


def test_seven_differences_in_a_hundred_letters_are_93_percent():
    text = "".join(np.random.default_rng(3).choice(list(DNA), 100))
    other = "".join({"A": "C"}.get(c, "A") if k % 14 == 7 else c for k, c in enumerate(text))
    for definition in DEFINITIONS:  # 1 - 7 / 100 is less than 0.93 in binary
        assert len(ta.cluster([text, other], 0.93, identity=definition)) == 1
        assert len(ta.cluster([text, other], 0.931, identity=definition)) == 2


@pytest.mark.parametrize("method", ["greedy", "single", "complete"])
def test_what_is_not_covered_is_apart_even_without_a_least_identity(method):
    texts = ["ACGTACGTACGTACGTACGT", "ACGTACGTAC"]
    assert len(ta.cluster(texts, 0, min_coverage=0.5, method=method)) == 1
    assert len(ta.cluster(texts, 0, min_coverage=0.6, method=method)) == 2


def test_abundances_decide():
    names = {"a;size=2": "ACGTACGTAC", "b;size=9;": "ACGTACGTAA", "c": "ACGTACGTAAC"}
    found = ta.cluster(names, 0.8, order="abundance")
    assert found.representatives.names == ("b;size=9;",)
    assert (found.cluster_sizes.tolist(), found.sizes.tolist()) == ([12], [2, 9, 1])
    assert ta.cluster(names, 0.8).representatives.names == ("c",)


def test_one_sequence_is_one_cluster():
    for method in ("greedy", "single", "complete", "average"):
        found = ta.cluster(["MKVLAW"], method=method)
        assert (len(found), found.members(0), found.cigars) == (1, ["sequence_1"], [None])


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"min_identity": 1.5}, UsageError, "min_identity 1.5 is not a fraction between 0 and 1"),
        ({"min_identity": True}, UsageError, "min_identity True is not a fraction"),
        ({"min_coverage": -0.1}, UsageError, "min_coverage -0.1 is not a fraction"),
        (
            {"identity": "best"},
            UsageError,
            "'best' is not one of 0 shorter, 1 columns, 2 internal, 3 openings, 4 blast",
        ),
        ({"identity": 5}, UsageError, "identity 5 is not one of"),
        ({"method": "upgma"}, UsageError, "method 'upgma' is not one of greedy, single, complete, average"),
        ({"order": None}, UsageError, "order None is not one of"),
        ({"assign": "all"}, UsageError, "assign 'all' is not one of best, first"),
        ({"coverage_of": "query"}, UsageError, "coverage_of 'query' is not one of"),
        ({"method": "single", "coverage_of": "member"}, UsageError, "needs method greedy"),
        ({"mode": "local", "identity": 1}, UsageError, "give min_coverage, or choose mode global"),
        ({"progress": 5}, UsageError, "progress 5 is not a function: give one that takes a number"),
        ({"order": "abundance"}, InputError, "no name has an abundance such as ;size=12"),
        ({"strand": "both", "alphabet": "protein"}, InputError, "protein sequences have no reverse strand"),
        ({"memory_bytes": 1000}, ResourceError, "allow more"),
        ({"method": "average", "memory_bytes": 1}, ResourceError, "choose method single or greedy"),
    ],
)
def test_what_is_refused(options, error, sentence):
    with pytest.raises(error) as refused:
        ta.cluster({"a": "ACGTACGTAC", "b": "ACGTACGTAA", "c": "ACGT"}, **options)
    assert sentence in str(refused.value)


def test_a_size_of_nothing_is_refused():
    with pytest.raises(InputError, match="its ;size= count is 0: write an integer"):
        ta.cluster({"a;size=0": "ACGTACGTAC", "b": "ACGTACGTAA"})


def test_clusters_are_equal_by_content():
    names = {"a": "ACGTACGTAC", "b": "ACGTACGTAA", "c": "TTTT"}
    found = ta.cluster(names, 0.9)
    assert found == ta.cluster(names, 0.9, n_threads=2) == pickle.loads(pickle.dumps(found)) == copy.deepcopy(found)
    assert found != ta.cluster(names, 0.95)
    assert found != ta.cluster({**names, "c": "TTTA"}, 0.9)
    assert found != ta.cluster({"A": names["a"], "b": names["b"], "c": names["c"]}, 0.9)
    assert found != 2


def test_progress_is_told_and_may_end_the_work():
    told = []
    batch = batch_of(families(np.random.default_rng(2), 30, DNA), ta.NUCLEOTIDE)
    for method in ("greedy", "average"):
        ta.cluster(batch, method=method, progress=told.append)
        assert told.pop() == len(batch)
    with pytest.raises(KeyboardInterrupt):
        ta.cluster(batch, progress=lambda done: (_ for _ in ()).throw(KeyboardInterrupt))


def test_blocks_stay_small_however_much_memory_there_is(monkeypatch):
    """The bound holds for every comparison, and decides nothing."""
    batch = batch_of(families(np.random.default_rng(5), 200, DNA, longest=60, divergence=0.05), ta.NUCLEOTIDE)
    whole = ta.cluster(batch, memory_bytes=4 << 30).labels
    most, offered = methods.CANDIDATE_BYTES * methods.MOST_BLOCK, []
    offer = methods.Greedy._offer_some

    def recorded(self, places, begin, end):
        offered.append(methods.CANDIDATE_BYTES * len(places) * (end - begin))
        offer(self, places, begin, end)

    monkeypatch.setattr(methods.Greedy, "_offer_some", recorded)
    monkeypatch.setattr(methods, "MOST_BLOCK_BYTES", most)
    monkeypatch.setattr(methods, "MOST_BLOCK", 64)
    assert ta.cluster(batch, memory_bytes=4 << 30).labels.tolist() == whole.tolist()
    assert 0 < max(offered) <= most
    monkeypatch.setattr(methods, "MOST_BLOCK_BYTES", most // 16)
    offered.clear()
    assert ta.cluster(batch, memory_bytes=4 << 30).labels.tolist() == whole.tolist()
    assert most // 32 < max(offered) <= most // 16
