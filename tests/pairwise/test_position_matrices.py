"""Position matrices (`PositionMatrix`) on either side of alignments.

A matrix of the rows of BLOSUM62 for a sequence must give what the sequence itself gives, in every mode. Matrices of
random scores are compared with the plain recurrence of tests/oracles/pairwise.py by a letter per position.
"""

import numpy as np
import pytest

import tropalign
from tropalign.results.alignments import concatenate
from tropalign.scoring.position_matrix import PositionMatrix

BLOSUM = tropalign.SubstitutionMatrix.from_name("BLOSUM62")
LETTERS = BLOSUM.letters
GAP = tropalign.Gap(11, 1)
MODES = [
    ("local", "all"),
    ("global", "all"),
    ("semiglobal", "all"),
    ("semiglobal", ("query-start",)),
    ("semiglobal", ("query-end", "target-start")),
    ("semiglobal", ("target-start", "target-end")),
]


def draw(rng, n, low=5, high=90, letters="ARNDCQEGHILKMFPSTWYV"):
    return ["".join(rng.choice(list(letters), rng.integers(low, high))) for _ in range(n)]


def mutated(rng, text):
    kept = [letter for letter in text if rng.random() > 0.1]
    return "".join(letter if rng.random() > 0.3 else rng.choice(list("ARNDC")) for letter in kept) or "A"


def rows_of(sequence, name="q"):
    codes = [BLOSUM.alphabet.code(letter) for letter in LETTERS]
    own = [BLOSUM.alphabet.codes_by_letter[letter] for letter in sequence]
    return PositionMatrix(BLOSUM.scores[np.ix_(own, codes)], LETTERS, name=name, consensus=sequence)


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(5)
    queries = draw(rng, 3, 20, 90)
    targets = draw(rng, 60) + [mutated(rng, query) for query in queries for _ in range(3)] + [queries[0]]
    targets[3] += "XBZ*"
    return {f"q{k}": text for k, text in enumerate(queries)}, {f"t{k}": text for k, text in enumerate(targets)}


def tables(*sides, **how):
    return concatenate(list(tropalign.align_all(*sides, device="cpu", **how)))


def same(one, other):
    assert len(one) == len(other)
    names = ["query_index", "target_index", "score", "query_start", "query_end", "target_start", "target_end"]
    names += ["n_identical", "n_similar", "n_gaps", "n_columns", "cigar_ops", "cigar_offsets", "hsp", "strand"]
    for name in names:
        left, right = getattr(one, name), getattr(other, name)
        assert (left is None) == (right is None), name
        if left is not None:
            assert np.array_equal(left, right), name


@pytest.mark.parametrize(("mode", "ends"), MODES)
@pytest.mark.parametrize("report", ["score", "ends", "alignment"])
def test_blosum_rows_give_what_the_sequence_gives(sets, mode, ends, report):
    queries, targets = sets
    how = {"mode": mode, "free_ends": ends, "report": report}
    matrices = [rows_of(text, name) for name, text in queries.items()]
    same(tables(matrices, targets, **how), tables(queries, targets, alphabet="protein", **how))
    same(tables(targets, matrices, **how), tables(targets, queries, alphabet="protein", **how))


@pytest.mark.parametrize(
    "gap", [tropalign.Gap(0, 0), tropalign.Gap(2, 1), tropalign.Gap(9.5, 0.5), tropalign.Gap(200, 9)]
)
@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
def test_gap_costs(sets, gap, mode):
    queries, targets = sets
    matrices = [rows_of(text, name) for name, text in queries.items()]
    for report in ("score", "alignment"):
        how = {"gap": gap, "mode": mode, "report": report}
        same(tables(matrices, targets, **how), tables(queries, targets, alphabet="protein", **how))


@pytest.mark.parametrize(
    "how",
    [
        {"top": 5},
        {"top": 4, "report": "score"},
        {"top": 3, "mode": "global"},
        {"top": 3, "mode": "semiglobal", "free_ends": ("target-start", "target-end")},
        {"min_score": 30},
        {"top": 3, "min_identity": 0.3},
        {"top": 3, "min_coverage": 0.5},
        {"top": 2, "min_score": 20, "exclude_self": True},
        {"max_hsps": 4, "min_score": 9},
        {"max_hsps": 3, "top": 4},
        {"top": 2, "memory_bytes": 1 << 26},
    ],
)
@pytest.mark.parametrize("copies", [1, 12])
def test_selection(sets, how, copies):
    queries, targets = sets
    targets = {f"{name}.{k}": text for k in range(copies) for name, text in targets.items()}
    matrices = [rows_of(text, name) for name, text in queries.items()]
    same(tables(matrices, targets, **how), tables(queries, targets, alphabet="protein", **how))


@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
def test_long_and_high_scores(mode):
    rng = np.random.default_rng(6)
    query = draw(rng, 1, 4500, 4501)[0]
    others = [mutated(rng, query)[:800], *draw(rng, 40, 3, 50)]
    for report in ("score", "alignment"):
        how = {"mode": mode, "report": report}
        same(tables(rows_of(query), others, **how), tables({"q": query}, others, alphabet="protein", **how))


def oracle(scores, codes, open_, extend):
    """Best local score, cell by cell (Gotoh 1982)."""
    m, n = len(scores), len(codes)
    h, e, f = (np.full((m + 1, n + 1), -(10.0**9)) for _ in range(3))
    h[0, :] = h[:, 0] = 0
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            e[i, j] = max(e[i, j - 1], h[i, j - 1] - open_) - extend
            f[i, j] = max(f[i - 1, j], h[i - 1, j] - open_) - extend
            h[i, j] = max(0, h[i - 1, j - 1] + scores[i - 1, codes[j - 1]], e[i, j], f[i, j])
    return int(h.max())


@pytest.mark.parametrize("most", [9, 120, 30000])
def test_random_scores(most):
    rng = np.random.default_rng(most)
    matrix = PositionMatrix(rng.integers(-most, most // 2, (23, 20)), name="m")
    targets = draw(rng, 40, 3, 30)
    expected = [
        oracle(matrix.scores, ["ACDEFGHIKLMNPQRSTVWY".index(letter) for letter in text], 4, 1) for text in targets
    ]
    for report in ("score", "alignment"):
        assert tables(matrix, targets, gap=tropalign.Gap(4, 1), report=report).score.tolist() == expected


@pytest.mark.parametrize("most", [127, 400, 7000, 32600, 33000, 100000])
@pytest.mark.parametrize(("mode", "ends"), MODES)
def test_scores_of_any_width_are_those_of_the_alignments(mode, ends, most):
    """Scores alone are computed in lanes of 8 and 16 bits, and beyond by a table of each pair, as are alignments."""
    rng = np.random.default_rng(most)
    matrices = [PositionMatrix(rng.integers(-most, most + 1, (n, 20)), name=str(n)) for n in (1, 31, 70)]
    gap = tropalign.Gap(int(rng.integers(0, 3 * most // 2)), int(rng.integers(0, most // 4)))
    how = {"mode": mode, "free_ends": ends, "gap": gap}
    best = [matrices[1].letters[k] for k in matrices[1].scores.argmax(1)]  # a score beyond narrow lanes
    targets = [*draw(rng, 70, 1, 90), "".join(best), "".join(best[5:]) + "A"]
    for sides in ((matrices, targets), (targets, matrices)):
        scores, aligned = tables(*sides, report="score", **how), tables(*sides, report="alignment", **how)
        assert np.array_equal(scores.query_index, aligned.query_index)
        assert np.array_equal(scores.target_index, aligned.target_index)
        assert np.array_equal(scores.score, aligned.score)
    assert np.abs(scores.score).max() > most


def test_matrices_are_no_sequences():
    matrix, sequences = PositionMatrix(np.eye(3, 20, dtype=int) * 5, name="m"), {"s": "MKVLAW"}
    for given in ({"a": matrix}, iter([matrix]), [("x", matrix)], [tropalign.NUCLEOTIDE]):
        with pytest.raises(tropalign.errors.InputError, match=r"type (PositionMatrix|Alphabet) is not a sequence"):
            list(tropalign.align_all(given, sequences))
    with pytest.raises(tropalign.errors.InputError, match="is not a sequence"):
        tropalign.cluster([matrix, matrix])
    with pytest.raises(tropalign.errors.UsageError, match="position matrices have no second track"):
        tropalign.align(matrix, "MKVL", track_weight=2)
    assert tropalign.align(matrix, "AX").score == 5  # which alone looks like nucleotides


def test_strands():
    rng = np.random.default_rng(8)
    scores = rng.integers(-6, 9, (12, 4))
    matrix = PositionMatrix(scores, name="m")
    other = PositionMatrix(scores[::-1, ::-1], name="m")  # A C G T is the reverse of its complement
    targets = draw(rng, 50, 20, 60, "ACGT")
    how = {"gap": tropalign.Gap(9, 3)}
    for report in ("score", "alignment"):
        plus, minus = (tables(one, targets, report=report, **how) for one in (matrix, other))
        both = tables(matrix, targets, strand="both", report=report, **how)
        assert both.score.tolist() == np.maximum(plus.score, minus.score).tolist()
        assert ((both.strand < 0) == (minus.score > plus.score)).all()
        alone = tables(matrix, targets, strand="minus", report=report, **how)
        assert alone.score.tolist() == minus.score.tolist()
        best = tables(matrix, targets * 10, strand="both", report=report, top=7, **how)
        assert best.score.tolist() == sorted(np.tile(both.score, 10).tolist(), reverse=True)[:7]
    assert np.array_equal(alone.query_start, 12 - minus.query_end)


def test_align_and_align_many(sets):
    queries, targets = sets
    (name, query), target = next(iter(queries.items())), targets["t65"]
    one, other = tropalign.align(rows_of(query), target), tropalign.align(query, target)
    assert (one.score, one.cigar, one.identity) == (other.score, other.cigar, other.identity)
    assert (one.query, one.target) == ("q", "target")
    turned = tropalign.align(target, rows_of(query), mode="global")
    assert (turned.score, turned.cigar) == (
        (same_way := tropalign.align(target, query, mode="global")).score,
        same_way.cigar,
    )
    matrix = rows_of(query, name)
    pairs = [(matrix, text) for text in targets.values()]
    many = tropalign.align_many(pairs)
    same(many, tropalign.align_many([((name, query), text) for text in targets.values()], alphabet="protein"))
    many = tropalign.align_many([(text, matrix) for text in targets.values()])
    same(many, tropalign.align_many([(text, (name, query)) for text in targets.values()], alphabet="protein"))


def test_model_of_an_alignment():
    model = tropalign.build_model("examples/efp_aligned.fasta", name="EFP")
    matrix = model.position_matrix()
    assert matrix.consensus == model.consensus
    ratio = model.match[1:] / model.composition.sum()
    assert matrix.scores.shape == ratio.shape
    batch = tropalign.read_sequences("examples/efp.fasta")
    assert (tables(matrix, batch).score > tables({"c": model.consensus.upper()}, batch).score).mean() > 0.3


M = PositionMatrix([[1, -1, -1, -1]] * 3)
P = PositionMatrix(np.ones((3, 20)))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: tropalign.align(M, "MKVLAWMKVLAWMKVL"),
            "InputError",
            "the position matrices have nucleotide letters, but these are protein sequences: give sequences "
            "of the same kind",
        ),
        (
            lambda: tropalign.align(P, "ACGTACGTACGTACGT"),
            "InputError",
            "the position matrices have protein letters, but these are nucleotide sequences: give sequences "
            "of the same kind",
        ),
        (
            lambda: tropalign.align(M, M),
            "UsageError",
            "position matrices are aligned with sequences: give sequences on one side",
        ),
        (
            lambda: tropalign.align_all(M),
            "UsageError",
            "position matrices are aligned with sequences: give sequences on one side",
        ),
        (
            lambda: tropalign.align(M, "ACGT", matrix=(1, -1)),
            "UsageError",
            "position matrices have scores of their own: omit matrix",
        ),
        (
            lambda: tropalign.align_all([M, "ACGT"], ["ACGT"]),
            "InputError",
            "a list has position matrices and an object of type str: give one kind per list",
        ),
        (
            lambda: tropalign.align_all([M, M], ["ACGT"]),
            "InputError",
            "record 'matrix': two position matrices have the same name: give each its own",
        ),
        (
            lambda: tropalign.align_all([M, P], ["ACGT"]),
            "InputError",
            "record 'matrix': the position matrices have nucleotide and protein letters: give those of one alphabet",
        ),
        (
            lambda: tropalign.align_many([(M, "ACGT"), ("ACG", "ACGT")]),
            "InputError",
            "some pairs have a position matrix as query and others a sequence: give matrices on the same "
            "side of all pairs",
        ),
        (
            lambda: tropalign.align(M, "ACGT", gap=tropalign.Gap(9, 2, 20, 1)),
            "ScoringError",
            "position matrices support one gap cost, Gap(open, extend), also at the ends",
        ),
        (
            lambda: tropalign.align_all(M, ["ACGT"], max_evalue=1),
            "UsageError",
            "max_evalue does not support position matrices: use min_score or top",
        ),
        (
            lambda: tropalign.align_all(M, ["ACGT"], mask="dust"),
            "UsageError",
            "mask does not support position matrices: mask the sequences before",
        ),
        (
            lambda: tropalign.align_all(P, ["MKVL"], composition="adjusted"),
            "UsageError",
            "composition does not support position matrices: choose ignored",
        ),
        (
            lambda: tropalign.align_all(M, ["ACGT"], co_optimal=2),
            "UsageError",
            "co_optimal does not support position matrices: leave it out",
        ),
        (
            lambda: tropalign.align_all(M, ["ACGT"], translate="target"),
            "UsageError",
            "translate does not support position matrices: translate the sequences before",
        ),
        (
            lambda: tropalign.align(PositionMatrix(np.full((3, 4), 10**6)), "ACGT" * 999),
            "ScoringError",
            "scores of sequences of 3996 residues may exceed 1073741824 with this position matrix and these "
            "gap costs: divide all of them by a common factor",
        ),
        (
            lambda: tropalign.align_all(M, ["ACGT"], strand="plus", device="cuda:0"),
            "DeviceError",
            "cuda:0: position matrices are supported on the CPU only: choose the device cpu",
        ),
    ],
)
def test_bad_calls(call, error, text):
    with pytest.raises(getattr(tropalign, error, None) or getattr(tropalign.errors, error)) as raised:
        call()
    assert str(raised.value) == text
