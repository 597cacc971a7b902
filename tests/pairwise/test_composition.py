"""Bits and E-values of scores scaled by composition: against plain Python, sequences by chance and the options."""

import pickle

import numpy as np
import pytest
from oracles.composition import adjusted_score, corrected_score

import tropalign as ta
from tropalign.cli.main import main
from tropalign.errors import ScoringError
from tropalign.pairwise.composition import STEPS, Scaled
from tropalign.pairwise.engines import Engines, Rows, Sides
from tropalign.pairwise.filters import STRETCH
from tropalign.pairwise.options import PairOptions
from tropalign.scoring.statistics import background, rates
from tropalign.sequences import NUCLEOTIDE, PROTEIN

BLOSUM62 = ta.SubstitutionMatrix.from_name("BLOSUM62")
BLASTN = ta.SubstitutionMatrix.match_mismatch(2, -3)


def biased(random, n, longest, letters, alphabet, least=1):
    """Sequences of few kinds of residues each, with related parts and a letter that is no residue now and then."""
    texts = []
    for _ in range(n):
        chances = random.dirichlet(np.full(len(letters), 0.3))
        text = "".join(random.choice(list(letters), int(random.integers(least, longest)), p=chances))
        if texts and random.random() < 0.5:
            text = text[: len(text) // 2] + texts[-1][len(texts[-1]) // 3 :]
        texts.append(text + "X" * (random.random() < 0.2) if alphabet == PROTEIN else text)
    return ta.SequenceBatch.from_strings(texts, alphabet=alphabet)


def all_pairs(queries, targets, composition="scaled", **how):
    return next(iter(ta.align_all(queries, targets, composition=composition, device="cpu", **how)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("matrix", "gap", "letters", "alphabet", "strand"),
    [
        (BLOSUM62, (11, 1), "ACDEFGHIKLMNPQRSTVWY", PROTEIN, "plus"),
        (BLOSUM62, (9, 2), "ACDEFGHIKLMNPQRSTVWY", PROTEIN, "plus"),
        (BLASTN, (5, 2), "ACGT", NUCLEOTIDE, "plus"),
        (BLASTN, (5, 2), "ACGT", NUCLEOTIDE, "both"),
    ],
)
def test_scores_are_those_of_plain_python(seed, matrix, gap, letters, alphabet, strand):
    random = np.random.default_rng(seed)
    queries, targets = (biased(random, n, 60, letters, alphabet) for n in (5, 7))
    reverse = queries.reverse_complement() if strand == "both" else queries
    table = all_pairs(queries, targets, matrix=matrix, gap=ta.Gap(*gap), strand=strand)
    residues, average = set(background(alphabet)[0].tolist()), rates(matrix)[0]
    assert len(table) == 35 and (table.corrected_score <= table.score).all()
    assert (table.corrected_score < table.score).any()
    for k in range(len(table)):
        batch = reverse if strand == "both" and table.strand[k] < 0 else queries
        sides = [
            one.codes[one.offsets[i] : one.offsets[i + 1]].tolist()
            for one, i in ((batch, table.query_index[k]), (targets, table.target_index[k]))
        ]
        assert table.corrected_score[k] == corrected_score(*sides, matrix.scores.tolist(), *gap, residues, average)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("name", "gap"), [("BLOSUM62", (11, 1)), ("BLOSUM45", (14, 2)), ("PAM70", (10, 1))])
def test_adjusted_scores_are_those_of_plain_python(seed, name, gap):
    """To 1: a solver of another kind may round a score of residues otherwise."""
    random, matrix = np.random.default_rng(seed), ta.SubstitutionMatrix.from_name(name)
    queries, targets = (biased(random, n, 80, "ACDEFGHIKLMNPQRSTVWY", PROTEIN) for n in (3, 5))
    table = all_pairs(queries, targets, "adjusted", matrix=matrix, gap=ta.Gap(*gap))
    codes, shares = background(PROTEIN)
    assert len(table) == 15
    for k in range(len(table)):
        query, target = (
            batch.codes[batch.offsets[i] : batch.offsets[i + 1]].tolist()
            for batch, i in ((queries, table.query_index[k]), (targets, table.target_index[k]))
        )
        how = matrix.scores.tolist(), *gap, codes.tolist(), shares, *rates(matrix)
        assert abs(table.corrected_score[k] - adjusted_score(query, target, *how)) <= 1


def test_an_adjusted_score_may_pass_the_raw_one(sets):
    """By the raw score alone such a pair would not be found at its E-value."""
    whole, raw = (all_pairs(*sets, kind) for kind in ("adjusted", "ignored"))
    ratio = raw.columns(["evalue"])["evalue"] / whole.columns(["evalue"])["evalue"]
    k = int(np.argmax(np.where(ratio < STRETCH, ratio, 0)))
    assert whole.corrected_score[k] > whole.score[k] + 5
    pair = [
        side[int(i) : int(i) + 1] for side, i in zip(sets, (whole.query_index[k], whole.target_index[k]), strict=True)
    ]
    evalues = [all_pairs(*pair, kind).columns(["evalue"])["evalue"][0] for kind in ("ignored", "adjusted")]
    between = float(np.sqrt(np.prod(evalues)))
    assert len(all_pairs(*pair, "adjusted", max_evalue=between)) == 1
    assert len(all_pairs(*pair, "ignored", max_evalue=between)) == 0


def test_sequences_of_one_residue_and_of_too_many():
    """No matrix says as much of pairs of one residue as the matrix says of average ones."""
    pair = ["A" * 4000], ["A" * 4000]
    adjusted, scaled = (all_pairs(*pair, kind, alphabet="protein").corrected_score for kind in ("adjusted", "scaled"))
    assert adjusted.tolist() == scaled.tolist() == [8000]
    with pytest.raises(
        ScoringError, match="sequences of 20,000,000 residues are too long for scores corrected for comp"
    ):
        all_pairs(["ACGTACGTAA"], ["ACGTT" * 4_000_000], matrix=BLASTN, gap=ta.Gap(5, 2))


def test_adjusted_scores_depend_on_the_pair_alone(sets):
    whole = all_pairs(*sets, "adjusted", n_threads=2, memory_bytes=1 << 28)
    turned = all_pairs(*sets[::-1], "adjusted", n_threads=1)
    scores = whole.corrected_score.reshape(len(sets[0]), len(sets[1]))
    np.testing.assert_array_equal(turned.corrected_score.reshape(len(sets[1]), len(sets[0])).T, scores)
    one = all_pairs(sets[0][2:3], sets[1][7:8], "adjusted")
    assert one.corrected_score.tolist() == [scores[2, 7]]


def test_decimals_count_in_their_own_units():
    random = np.random.default_rng(1)
    queries, targets = (biased(random, n, 60, "ACGT", NUCLEOTIDE) for n in (4, 6))
    halves = ta.SubstitutionMatrix.match_mismatch(1, -1.5)
    table = all_pairs(queries, targets, matrix=halves, gap=ta.Gap(2.5, 1), report="score")
    whole = all_pairs(queries, targets, matrix=BLASTN, gap=ta.Gap(5, 2), report="score")
    assert table.corrected_score.dtype == np.float64
    np.testing.assert_array_equal(2 * table.corrected_score, whole.corrected_score)


@pytest.mark.parametrize("length", [1000, 1_500_000])
def test_long_sequences_and_many_decimals_have_coarser_parts(length):
    """Within the rounding of 32 parts and 1: a score is no higher, and no more than a part per column lower."""
    random = np.random.default_rng(2)
    text = "".join(random.choice(list("AACGT"), 300))
    around = "".join(random.choice(list("AATTC"), length))
    found = all_pairs([text], [around[: length // 2] + text + around[length // 2 :]], matrix=BLASTN, gap=ta.Gap(5, 2))
    alone = all_pairs([text], [text], matrix=BLASTN, gap=ta.Gap(5, 2))
    assert found.score.tolist() == alone.score.tolist() == [600]
    assert 500 < found.corrected_score[0] < 600
    fine = ta.SubstitutionMatrix(
        "fine", PROTEIN, BLOSUM62.scores + 0.0001 * np.eye(len(BLOSUM62.scores)), BLOSUM62.letters
    )
    pair = ["KKKKKEEKKKKEKEKK" * 4], ["KKEKKEEKKKKEKEKK" * 4]
    scores = [all_pairs(*pair, matrix=m, gap=ta.Gap(11, 1)).corrected_score[0] for m in (BLOSUM62, fine)]
    assert abs(scores[1] - scores[0]) < 0.6


def test_average_or_unknown_composition_changes_nothing():
    codes, shares = background(PROTEIN)
    counts = np.rint(1000 * shares).astype(int)
    text = "".join(PROTEIN.letters[code] * n for code, n in zip(codes.tolist(), counts.tolist(), strict=True))
    table = all_pairs([text], [text[::-1]], matrix="BLOSUM62", gap=ta.Gap(11, 1))
    sides = Sides(table.queries, None, table.targets)
    composition = Scaled(Engines(sides, PairOptions(BLOSUM62, ta.Gap(11, 1)), 1 << 28))
    assert composition._parts(Rows(table.query_index, table.target_index, "score", None)).tolist() == [STEPS]
    assert table.corrected_score.tolist() == table.score.tolist()
    table = all_pairs(["XXXX", "MKVLAWCC"], ["MKVLAWCC"], alphabet="protein", matrix="BLOSUM62", gap=ta.Gap(11, 1))
    assert table.corrected_score[0] == table.score[0]


@pytest.fixture(scope="module")
def sets():
    random = np.random.default_rng(3)
    letters = "ACDEFGHIKLMNPQRSTVWY"
    return biased(random, 12, 150, letters, PROTEIN, 30), biased(random, 60, 150, letters, PROTEIN, 30)


@pytest.mark.parametrize("how", [{"max_evalue": 1.0}, {"min_bits": 20.0}, {"max_evalue": 5.0, "min_bits": 15.0}])
@pytest.mark.parametrize("composition", ["scaled", "adjusted"])
def test_filters_keep_the_rows_that_suffice(sets, composition, how):
    whole = all_pairs(*sets, composition)
    raw = next(iter(ta.align_all(*sets, device="cpu")))
    is_kept = np.ones(len(whole), bool)
    for table, stretch in ((whole, 1), (raw, STRETCH if composition == "adjusted" else 1)):
        columns = table.columns(["evalue", "bits"])
        is_kept &= columns["evalue"] <= stretch * how.get("max_evalue", np.inf)
        is_kept &= columns["bits"] >= how.get("min_bits", -np.inf) - np.log2(stretch)
    wanted = whole.take(is_kept)
    found = all_pairs(*sets, composition, **how)
    assert 0 < len(found) < len(whole)
    assert found == wanted
    raw = next(iter(ta.align_all(*sets, device="cpu", **how)))
    assert len(raw) > len(found) and raw.corrected_score is None


def test_tiles_and_threads_change_nothing(sets, monkeypatch):
    whole = all_pairs(*sets, max_evalue=1.0, n_threads=1)
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "37")
    tables = list(ta.align_all(*sets, composition="scaled", max_evalue=1.0, n_threads=2))
    assert len(tables) > 5
    np.testing.assert_array_equal(np.concatenate([t.corrected_score for t in tables]), whole.corrected_score)
    np.testing.assert_array_equal(np.concatenate([t.score for t in tables]), whole.score)


def test_a_gpu_says_the_same(sets):
    from gpu.cases import run
    from gpu.host_device import HostDevice

    from tropalign.devices.registry import CpuDevice, GpuDevice
    from tropalign.pairwise.task import PairsTask

    options = PairOptions(BLOSUM62, ta.Gap(11, 1), composition="scaled", max_evalue=1.0)
    job = PairsTask(*sets, options)
    for found, wanted in zip(run(job, [GpuDevice(HostDevice(16))]), run(job, [CpuDevice(1)]), strict=True):
        np.testing.assert_array_equal(found.corrected_score, wanted.corrected_score)


def test_best_targets_are_those_of_raw_scores(sets):
    """In the order of what their E-values are of."""
    table = all_pairs(*sets, top=3)
    raw = next(iter(ta.align_all(*sets, top=3, device="cpu")))
    pairs, of_raw = (set(zip(t.query_index.tolist(), t.target_index.tolist(), strict=True)) for t in (table, raw))
    assert pairs == of_raw
    assert (np.diff(table.query_index) >= 0).all()
    is_same_query = np.diff(table.query_index) == 0
    assert (np.diff(table.corrected_score)[is_same_query] <= 0).all()
    assert table.target_index.tolist() != raw.target_index.tolist()


def test_shuffled_sequences_of_biased_composition():
    """Chance pairs with E-values up to 1, of which E says 40: no more by scaled scores, 10 times as many by raw."""
    random = np.random.default_rng(11)
    residues = list("ACDEFGHIKLMNPQRSTVWY")
    average = background(PROTEIN)[1]
    kinds = [np.where(np.isin(residues, list(rich)), 3.0, 1.0) * average for rich in ("KE", "SN", "QP", "AG")]

    def made(n):
        chances = [kind / kind.sum() for kind in kinds for _ in range(n // 4)]
        return ["".join(random.choice(residues, 250, p=p)) for p in chances]

    queries, targets = made(40), made(400)
    how = {"matrix": "BLOSUM62", "gap": ta.Gap(11, 1), "report": "score", "max_evalue": 1.0}
    scaled, raw = (
        sum(len(table) for table in ta.align_all(queries, targets, composition=composition, device="cpu", **how))
        for composition in ("scaled", "ignored")
    )
    assert 40 / 4 < scaled <= 40
    assert raw > 10 * 40


def test_tables_keep_corrected_scores(sets):
    table = all_pairs(*sets, max_evalue=1.0)
    again = pickle.loads(pickle.dumps(table))
    assert again == table and again.corrected_score.tolist() == table.corrected_score.tolist()
    assert table[2:5].corrected_score.tolist() == table.corrected_score[2:5].tolist()
    columns = table.columns(["score", "corrected_score", "evalue"])
    assert columns["corrected_score"].tolist() == table.corrected_score.tolist()
    lengths = table.queries.lengths[table.query_index], table.targets.lengths[table.target_index]
    np.testing.assert_array_equal(columns["evalue"], table.significance.evalues(table.corrected_score, *lengths))
    raw = next(iter(ta.align_all(*sets, max_evalue=1.0, device="cpu")))
    assert raw.columns(["corrected_score"])["corrected_score"].tolist() == raw.score.tolist()
    assert raw != table


def test_a_command_says_what_its_evalues_are(tmp_path):
    path, out = tmp_path / "a.fa", tmp_path / "out.tsv"
    path.write_text(">a\nKKKKKEEKKKKEKEKK\n>b\nKKEKKEEKKKKEKEKK\n")
    words = ["--composition", "scaled", "--columns", "query,score,corrected_score,bits,evalue"]
    assert main(["pairs", str(path), *words, "-o", str(out), "-q"]) == 0
    lines = out.read_text().splitlines()
    assert "# composition: scaled" in lines
    _, score, scaled, *_ = lines[-1].split("\t")
    assert int(scaled) < int(score)


def test_further_alignments_are_judged_by_the_same_matrix():
    """A domain twice in the target: both copies have the score that the first one has in a target of its own."""
    random = np.random.default_rng(8)
    letters = list("ACDEFGHIKLMNPQRSTVWY")
    domain, between = ("".join(random.choice(letters, n)) for n in (60, 40))
    table = all_pairs([domain], [domain + between + domain], "adjusted", max_evalue=1e-3, max_hsps=3)
    assert table.hsp.tolist() == [1, 2]
    assert table.corrected_score[0] == table.corrected_score[1] != table.score[0]
