"""Sum statistics: against the plain oracle, against blastx, and through the command line."""

import random
from pathlib import Path

import numpy as np
import pytest
from oracles import sums as oracle

import tropalign as ta
from tropalign.cli.main import main
from tropalign.errors import UsageError
from tropalign.pairwise.hsps import rules_of, sum_expectations
from tropalign.results.alignments import concatenate

RECORDED = Path(__file__).parent.parent / "data/blast/exons.tsv"
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
#: A codon of each.
CODONS = dict(
    zip(
        AMINO_ACIDS,
        "GCT TGT GAT GAA TTT GGT CAT ATT AAA CTT ATG AAT CCT CAA CGT TCT ACT GTT TGG TAT".split(),
        strict=True,
    )
)


@pytest.mark.parametrize("r", [2, 3, 4, 6])
@pytest.mark.parametrize("x", [-6.0, -1.0, 1.0, 4.0, 12.0, 40.0])
def test_tails_are_those_of_the_double_integral(r, x):
    chance = -np.expm1(-sum_expectations(r, np.array(x)))
    assert float(chance) == pytest.approx(oracle.tail(r, x), rel=1e-3)
    assert float(chance) == pytest.approx(-np.expm1(-oracle.expectation(r, x)), rel=1e-6)


@pytest.mark.parametrize("r", [1, 2, 5, 12, 60])
def test_tails_are_those_of_random_sums(r):
    found = oracle.simulated(r, 40_000, np.random.default_rng(r))
    for share in (0.02, 0.3, 0.8, 0.98):
        x = np.quantile(found, 1 - share)
        chance = 1 - np.exp(-sum_expectations(r, np.array(x)))
        assert abs(chance - share) < 5 * np.sqrt(share * (1 - share) / len(found))


def test_far_tails_fall_to_nothing():
    values = sum_expectations(3, np.array([-1e6, 50.0, 300.0, 720.0, 5000.0]))
    assert (np.diff(values) < 0).all() and values[-1] == 0 and values[-2] > 0
    near = 3 * np.exp(-300.0) * 300.0**2 / 36
    assert values[2] == pytest.approx(near, rel=0.01)


@pytest.fixture(scope="module")
def genes():
    rng = random.Random(7)

    def drawn(letters, n):
        return "".join(letters[int(rng.random() * len(letters))] for _ in range(n))

    def number(low, high):
        return low + int(rng.random() * (high - low))

    proteins = {f"protein_{k}": drawn(AMINO_ACIDS, number(120, 240)) for k in range(16)}
    genomes = {}
    for g in range(4):
        text = drawn("ACGT", 200)
        for k in (2 * g, 2 * g + 1):
            own, at = proteins[f"protein_{k}"], 0
            own = "".join(drawn(AMINO_ACIDS, 1) if rng.random() < 0.4 else letter for letter in own)
            while at < len(own):
                n = number(18, 40)
                text += "".join(CODONS[letter] for letter in own[at : at + n]) + drawn("ACGT", number(40, 118))
                at += n
        if g % 2:
            text = text[::-1].translate(str.maketrans("ACGT", "TGCA"))
        genomes[f"genome_{g}"] = text
    return genomes, proteins


HOW = {"translate": "query", "max_hsps": 12, "sum_statistics": True}


def table_of(queries, targets, **how):
    sides = [ta.SequenceBatch.from_strings(side) for side in (queries, targets)]
    return concatenate(list(ta.align_all(*sides, **{**HOW, "n_threads": 1, **how})))


def lines(table):
    names = "query target score query_first query_last target_first target_last sum_evalue sum_count".split()
    columns = table.columns(names)
    return {row[:7]: row[7:] for row in zip(*(columns[name].tolist() for name in names), strict=True)}


def test_sets_are_those_of_blastx(genes):
    """What blastx 2.12 gives: exact alignments are longer than some of its own, and make other sets."""
    found = lines(table_of(*genes, max_evalue=10.0))
    theirs = {}
    for line in RECORDED.read_text().splitlines():
        query, target, evalue, *numbers = line.split("\t")
        if float(evalue) <= 1e-3:  # of chance hits seeds find fewer
            theirs[query, target, *map(int, numbers)] = float(evalue)
    sizes = {
        key: sum(key[:2] == other[:2] and theirs[other] == evalue for other in theirs) for key, evalue in theirs.items()
    }
    both = [key for key in theirs if key in found]
    alike = [key for key in both if found[key][1] == sizes[key]]
    ratios = np.array([found[key][0] / theirs[key] for key in alike])
    several = np.array([sizes[key] for key in alike]) > 1
    assert (len(theirs), len(both), len(alike)) == (29, 23, 17) and several.sum() > 12
    assert (abs(ratios[several] - 1) < 0.06).all()
    assert (abs(ratios[~several] - 1) < 0.04).all()  # two digits are written


@pytest.mark.parametrize("sides", [("query",), ("target",), ()])
def test_sets_are_the_best_of_all(genes, sides):
    genomes, proteins = genes
    how = {"max_hsps": 8, "max_evalue": 10.0, "max_intron": 122}
    if sides == ("query",):
        table = table_of(genomes, proteins, **how)
    elif sides == ("target",):
        table = table_of(proteins, genomes, **{**how, "translate": "target"})
    else:
        rng = random.Random(3)
        pieces = ["".join(rng.choice(AMINO_ACIDS) for _ in range(26)) for _ in range(4)]
        targets = {
            f"t{k}": "".join(
                piece + "".join(rng.choice(AMINO_ACIDS) for _ in range(rng.choice([150, 170, 300]))) for piece in pieces
            )
            for k in range(8)
        }
        queries = {"q": ("".join(AMINO_ACIDS[::-1]) * 8).join(pieces), "p": ("PGWWC" * 40).join(pieces)}
        table = table_of(queries, targets, max_hsps=6, translate=None, max_evalue=10.0)
    assert table.sum_count.max() >= 3 and (table.sum_count == 1).any()
    rules = [
        ((r.query_gap, r.target_gap), None if r.places is None else float(np.exp(r.places)), r.share)
        for r in rules_of(sides, 122)
    ]
    significance = table.significance
    columns = table.columns(["query", "target", "query_frame", "target_frame", "evalue"])
    groups = {}
    for k, row in enumerate(table):
        frames = int(columns["query_frame"][k]), int(columns["target_frame"][k])
        shift = [max(abs(frame) - 1, 0) / 3 for frame in frames]
        places = (
            row.query_start + shift[0],
            row.query_end + shift[0],
            row.target_start + shift[1],
            row.target_end + shift[1],
        )
        score = float(significance.statistics.nats(row.score))
        key = columns["query"][k], columns["target"][k], np.sign(frames[0]), np.sign(frames[1])
        groups.setdefault(key, []).append((*places, score, float(columns["evalue"][k]), k))
    compared = 0
    for own in groups.values():
        first = own[0][6]
        query, target = (
            int(batch.lengths[index[first]])
            for batch, index in ((table.queries, table.query_index), (table.targets, table.target_index))
        )
        space = significance.n_residues, significance.n_sequences
        shorter = float(significance.statistics.length_adjustments(query, *space))
        lengths = max(query - shorter, 1), max(target - shorter, 1)
        expected = oracle.sets(own, rules, lengths, float(significance.statistics.search_spaces(query, *space)))
        for number, (evalue, size) in expected.items():
            k = own[number][6]
            assert (table.sum_count[k], table.sum_evalue[k]) == (size, pytest.approx(evalue, rel=0.01))
            compared += size > 1
    assert compared > 8


def test_further_alignments_are_the_best_of_all_frames(genes):
    genomes, proteins = genes
    how = {"max_hsps": 5, "sum_statistics": False, "max_evalue": 1.0}
    table = table_of(genomes, proteins, **how)
    assert len({(row.query_index, row.target_index) for row in table}) > len({row.target_index for row in table})
    frames = table.queries
    pairs = np.array([(q, t) for q in range(len(frames)) for t in range(len(table.targets))])
    every = concatenate(list(ta.align_all(frames, table.targets, pairs=pairs, max_hsps=5, max_evalue=1.0)))
    index = table.query_frames.index
    kept = {}
    for row in every:
        kept.setdefault((int(index[row.query_index]), row.target_index), []).append(-row.score)
    found = {}
    for row in table:
        found.setdefault((int(index[row.query_index]), row.target_index), []).append(-row.score)
        assert row.hsp == len(found[int(index[row.query_index]), row.target_index])
    assert found == {pair: sorted(scores)[:5] for pair, scores in kept.items()}


def test_a_single_alignment_has_its_own_evalue_by_nine_tenths(genes):
    table = table_of(*genes)
    alone = table.sum_count == 1
    evalues = table.columns(["evalue"])["evalue"]
    np.testing.assert_allclose(table.sum_evalue[alone], evalues[alone] / 0.9)
    assert (table.sum_evalue[~alone] < evalues[~alone]).all() and alone.any() and not alone.all()
    row = table.take(np.flatnonzero(~alone)).row(0)
    assert row.sum_count > 1 and row.sum_evalue < 1e-3
    assert ta.align("MKV", "MKV").sum_evalue is None and ta.align("MKV", "MKV").sum_count is None


def test_sets_count_where_no_alignment_does(genes):
    """The least E-value is asked of sets; longer introns are linked where that is said."""
    strict, loose = table_of(*genes, max_evalue=1e-12), table_of(*genes, max_evalue=1e-3)
    assert (strict.sum_evalue <= 1e-12).all() and (strict.columns(["evalue"])["evalue"] > 1e-12).any()
    assert lines(strict) == {key: numbers for key, numbers in lines(loose).items() if numbers[0] <= 1e-12}
    fewer = table_of(*genes, max_evalue=1e-3, max_intron=20)
    assert fewer.sum_count.max() < loose.sum_count.max()


def test_columns_need_sums(genes):
    table = table_of(*genes, sum_statistics=False)
    assert table.sum_evalue is None
    with pytest.raises(UsageError, match="sum_evalue requires sum statistics: add sum_statistics"):
        table.columns(["sum_evalue"])


@pytest.fixture
def files(genes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, sequences in zip(("g.fa", "p.fa"), genes, strict=True):
        Path(name).write_text("".join(f">{record}\n{text}\n" for record, text in sequences.items()))


FIND = ["find", "g.fa", "p.fa", "--translate", "query", "--max-hsps", "12", "-q"]


def test_command_line(files, genes):
    assert main([*FIND, "--sum-statistics", "-o", "all.tsv", "--no-comments"]) == 0
    names, *written = [line.split("\t") for line in Path("all.tsv").read_text().splitlines()]
    assert names[:6] == ["query", "target", "hsp", "evalue", "sum_evalue", "sum_count"]
    table = table_of(*genes, max_evalue=1e-3, top=500)
    assert [int(row[5]) for row in written] == table.sum_count.tolist()
    assert [float(row[4]) for row in written] == pytest.approx(table.sum_evalue.tolist(), rel=0.01)
    assert main([*FIND, "--sum-statistics", "-o", "more.tsv", "-t", "2", "--no-comments"]) == 0
    assert Path("more.tsv").read_bytes() == Path("all.tsv").read_bytes()
    for k in (1, 2):
        assert main([*FIND, "--sum-statistics", "-o", f"{k}.tsv", "--shard", f"{k}/2"]) == 0
    assert main(["merge", "1.tsv", "2.tsv", "-o", "merged.tsv", "-q"]) == 0
    without = [line for line in Path("merged.tsv").read_text().splitlines() if not line.startswith("#")]
    assert without == Path("all.tsv").read_text().splitlines()
    for words in (
        ["--reciprocal", "-o", "best.tsv"],
        ["--culling", "2", "-o", "fewer.tsv"],
        ["-f", "m8", "--columns", "query,sum_evalue,sum_count", "-o", "sums.m8"],
        ["--dry-run"],
        ["-f", "result", "-o", "all.result"],
    ):
        assert main([*FIND, "--sum-statistics", *words]) == 0, words


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--sum-statistics", "--max-hsps", "1"],
            "--sum-statistics combines several alignments of a pair: add --max-hsps, such as 10",
        ),
        (
            ["--max-intron", "90"],
            "--max-intron applies to alignments that --sum-statistics links: add --sum-statistics",
        ),
        (["--columns", "query,sum_count"], "sum_count is a column of sum statistics: add --sum-statistics"),
        (
            ["--sum-statistics", "-f", "paf", "--translate", "both", "--max-intron", "90"],
            "--max-intron applies to nucleotides against proteins",
        ),
    ],
)
def test_what_the_command_line_refuses(files, words, sentence, capsys):
    assert main([*FIND, *words, "-o", "x.tsv"]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
