"""Masked letters: they do not count where pairs are chosen and judged, and are shown in alignments."""

import numpy as np
import pytest
from oracles import pairwise as oracle
from pairwise.test_masks import poor

import tropalign as ta
from tropalign.cli.main import main
from tropalign.pairwise.engines import Sides
from tropalign.pairwise.masking import decisive, masked
from tropalign.pairwise.options import PairOptions
from tropalign.results.alignments import concatenate
from tropalign.sequences import NUCLEOTIDE, PROTEIN

SCORING = {
    "protein": (ta.SubstitutionMatrix.from_name("BLOSUM62"), ta.Gap(11, 1)),
    "nucleotide": (ta.SubstitutionMatrix.match_mismatch(2, -3), ta.Gap(5, 2)),
}
METHODS = [("protein", "seg"), ("protein", "tantan"), ("protein", "lower"), ("nucleotide", "dust")]


def kin(seed, alphabet, n=12, longest=120):
    """Sequences with poor parts in common, and some of them in lower case."""
    random = np.random.default_rng(seed)
    texts = poor(random, alphabet.states, n, longest, least=40)
    texts = [text + texts[k // 2][:50] for k, text in enumerate(texts)]
    return ta.SequenceBatch.from_strings([text[:20].lower() + text[20:] for text in texts], alphabet=alphabet)


def all_pairs(queries, targets=None, alphabet="protein", **how):
    matrix, gap = SCORING[alphabet]
    return concatenate(list(ta.align_all(queries, targets, matrix=matrix, gap=gap, device="cpu", **how)))


def codes_of(batch, k):
    return batch.codes[batch.offsets[k] : batch.offsets[k + 1]].tolist()


@pytest.mark.parametrize(("alphabet", "method"), METHODS)
def test_scores_without_masked_letters_stand_beside_those_shown(alphabet, method):
    known = {"protein": PROTEIN, "nucleotide": NUCLEOTIDE}[alphabet]
    queries, targets = kin(1, known, 5), kin(2, known, 8)
    table = all_pairs(queries, targets, alphabet, mask=method)
    unmasked = all_pairs(queries, targets, alphabet)
    assert table.score.tolist() == unmasked.score.tolist() and table.cigars() == unmasked.cigars()
    matrix, gap = SCORING[alphabet]
    own, other = masked(queries, method, 1), masked(targets, method, 1)
    for k, (i, j) in enumerate(zip(table.query_index, table.target_index, strict=True)):
        wanted = oracle.align(codes_of(own, i), codes_of(other, j), matrix.scores, gap.open, gap.extend).score
        assert table.corrected_score[k] == wanted
    assert (table.corrected_score != table.score).any()
    scores = all_pairs(queries, targets, alphabet, mask=method, report="score")
    assert scores.score.tolist() == table.score.tolist()
    assert scores.corrected_score.tolist() == table.corrected_score.tolist()


def test_what_is_kept_is_kept_by_the_scores_without_masked_letters():
    queries, targets = kin(3, PROTEIN, 6), kin(4, PROTEIN, 40)
    whole = all_pairs(queries, targets, mask="seg")
    evalues = whole.columns(["evalue"])["evalue"]
    lengths = whole.queries.lengths[whole.query_index], whole.targets.lengths[whole.target_index]
    np.testing.assert_array_equal(evalues, whole.significance.evalues(whole.corrected_score, *lengths))
    for how, wanted in (
        ({"max_evalue": 0.5}, evalues <= 0.5),
        ({"min_score": 30}, whole.corrected_score >= 30),
        ({"min_bits": 17.0}, whole.columns(["bits"])["bits"] >= 17),
    ):
        found = all_pairs(queries, targets, mask="seg", **how)
        assert found == whole.take(wanted) and 0 < len(found) < len(whole), how
        assert len(all_pairs(queries, targets, **how)) > len(found)


@pytest.mark.parametrize("n_targets", [20, 150])  # with 128 and more the best are found group by group
def test_the_best_targets_are_the_best_without_masked_letters(n_targets):
    queries, targets = kin(5, PROTEIN, 6), kin(6, PROTEIN, n_targets)
    whole = all_pairs(queries, targets, mask="seg", report="score")
    best = all_pairs(queries, targets, mask="seg", top=3)
    for query in range(len(queries)):
        of = whole.take(whole.query_index == query)
        wanted = of.target_index[np.argsort(-of.corrected_score, kind="stable")[:3]]
        assert best.target_index[best.query_index == query].tolist() == wanted.tolist()
    raw = all_pairs(queries, targets, top=3)
    assert raw.target_index.tolist() != best.target_index.tolist()


def test_the_other_strand_has_the_mask_of_its_own():
    queries, targets = kin(7, NUCLEOTIDE, 6), kin(8, NUCLEOTIDE, 6)
    table = all_pairs(queries, targets, "nucleotide", mask="dust", strand="both")
    own, other = masked(queries, "dust", 1), masked(targets, "dust", 1)
    matrix, gap = SCORING["nucleotide"]
    strands = {1: own, -1: own.reverse_complement()}
    for k, (i, j) in enumerate(zip(table.query_index, table.target_index, strict=True)):
        plus, minus = (
            oracle.align(codes_of(strands[s], i), codes_of(other, j), matrix.scores, gap.open, gap.extend).score
            for s in (1, -1)
        )
        assert table.corrected_score[k] == max(plus, minus)
        assert table.strand[k] == (-1 if minus > plus else 1)
    options = PairOptions(matrix, gap, mask="dust", strand="both")
    one, reverse, same = decisive(Sides(queries, queries.reverse_complement(), queries), options, 1)
    assert one is same and reverse.text(0) == one.reverse_complement().text(0)
    assert "N" in reverse.text(0) + reverse.text(1) + reverse.text(2)


def test_masked_residues_do_not_count_in_compositions():
    queries, targets = kin(9, PROTEIN, 6), kin(10, PROTEIN, 20)
    table = all_pairs(queries, targets, mask="seg", composition="scaled")
    of_masked = all_pairs(masked(queries, "seg", 1), masked(targets, "seg", 1), composition="scaled")
    assert table.corrected_score.tolist() == of_masked.corrected_score.tolist()
    assert table.score.tolist() == all_pairs(queries, targets).score.tolist()
    kept = all_pairs(queries, targets, mask="seg", composition="scaled", max_evalue=20.0)
    assert kept == table.take(table.columns(["evalue"])["evalue"] <= 20.0) and 0 < len(kept) < len(table)


@pytest.mark.parametrize("mode", ["local", "global"])
def test_hard_masks_are_letters_of_the_sequences(mode):
    queries, targets = kin(11, PROTEIN, 5), kin(12, PROTEIN, 5)
    hard = all_pairs(queries, targets, mask="seg", mask_hard=True, mode=mode)
    assert hard == all_pairs(masked(queries, "seg", 1), masked(targets, "seg", 1), mode=mode)
    assert hard.corrected_score is None and "X" in hard.queries.text(0) + hard.queries.text(1)
    assert hard.score.tolist() != all_pairs(queries, targets, mode=mode).score.tolist()


@pytest.mark.parametrize("hard", [False, True])
def test_frames_are_masked_as_proteins(hard):
    genes = kin(13, NUCLEOTIDE, 4, 400)
    proteins = kin(14, PROTEIN, 6)
    table = all_pairs(genes, proteins, translate="query", mask="seg", mask_hard=hard, top=6)
    frames = masked(ta.translate(genes), "seg", 1)
    other = masked(proteins, "seg", 1)
    matrix, gap = SCORING["protein"]
    names = {name: k for k, name in enumerate(frames.names)}
    shown = table.score if hard else table.corrected_score
    for k, (i, j) in enumerate(zip(table.query_index, table.target_index, strict=True)):
        frame = names[table.queries.names[i]]
        wanted = oracle.align(codes_of(frames, frame), codes_of(other, j), matrix.scores, gap.open, gap.extend).score
        assert shown[k] == wanted


def test_one_set_tiles_and_threads(monkeypatch):
    proteins = kin(15, PROTEIN, 20)
    whole = all_pairs(proteins, mask="seg", min_score=20, n_threads=1)
    assert whole.queries is whole.targets and 0 < len(whole) < 190
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "17")
    assert all_pairs(proteins, mask="seg", min_score=20, n_threads=2) == whole


def test_a_gpu_says_the_same():
    from gpu.cases import run
    from gpu.host_device import HostDevice

    from tropalign.devices.registry import CpuDevice, GpuDevice
    from tropalign.pairwise.task import PairsTask

    queries, targets = kin(16, PROTEIN, 4), kin(17, PROTEIN, 9)
    options = PairOptions(*SCORING["protein"], mask="tantan", max_evalue=5.0)
    job = PairsTask(queries, targets, options)
    found, wanted = (concatenate(list(run(job, [device]))) for device in (GpuDevice(HostDevice(16)), CpuDevice(1)))
    assert found == wanted and len(found) > 3


@pytest.mark.parametrize("verb", ["pairs", "find"])
def test_a_command_shows_both_scores(tmp_path, verb):
    path, out = tmp_path / "a.fa", tmp_path / "out.tsv"
    path.write_text(">a\nMKVLAWHEAGAWEEEEEEEEEEEEEEEEPQRSTYFC\n>b\nMKVLAWHEAGAWEEEEEEEEEEEEEEEEPQRSTYFC\n")
    words = [str(path), str(path), "--mask", "seg", "--composition", "ignored", "--max-evalue", "10"]
    assert main([verb, *words, "--columns", "query,score,corrected_score,cigar", "-o", str(out), "-q"]) == 0
    lines = out.read_text().splitlines()
    assert "# mask: seg" in lines
    _, score, scaled, cigar = lines[-1].split("\t")
    assert int(scaled) < int(score) and cigar == "36="
