"""Families that are cut at certain columns: the same alignments as without cuts, whatever is among the members."""

import warnings
from itertools import combinations

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.devices.registry import open_devices
from tropalign.errors import ResourceError, TropalignWarning, quiet
from tropalign.msa import anchored, family, run
from tropalign.msa import clades as clade_module
from tropalign.msa.clades import clades_of
from tropalign.msa.models import NUCLEOTIDE
from tropalign.msa.options import options_of
from tropalign.msa.pipeline import FamilyInput, align, align_by_anchors
from tropalign.msa.star import Kinship, star_of

PLAIN = {"n_threads": 1, "device": "cpu"}


@pytest.fixture(autouse=True)
def _every_family_may_be_cut(monkeypatch):
    monkeypatch.setattr(family, "LEAST_CELLS", 0)
    monkeypatch.setattr(family, "LEAST_LENGTH", 0)


def random_text(rng: np.random.Generator, n: int, letters: str = "ACGT") -> str:
    return "".join(letters[k] for k in rng.integers(0, len(letters), n))


def evolved(rng: np.random.Generator, text: str, rate: float, n_gaps: int, letters: str = "ACGT") -> str:
    """Return the text with substitutions, deletions and insertions of up to 30 residues."""
    codes = list(text)
    for place in np.flatnonzero(rng.random(len(codes)) < rate):
        codes[place] = letters[rng.integers(0, len(letters))]
    for _ in range(n_gaps):
        place, size = int(rng.integers(0, len(codes) - 40)), int(rng.integers(1, 30))
        codes[place : place + size * int(rng.integers(0, 2))] = random_text(rng, size, letters) * int(
            rng.integers(0, 2)
        )
    return "".join(codes)


def shares(found: ta.MultipleAlignment, other: ta.MultipleAlignment, masked: list[str] = ()) -> tuple[float, float]:
    """Return the share of the pairs of each alignment that the other one has; without the N of the masked texts."""
    pairs = []
    for one in (found, other):
        places = [np.flatnonzero(np.frombuffer(row.encode(), np.uint8) != ord("-")) for row in one]
        for own, text in zip(places, masked, strict=False):
            own[np.frombuffer(text.encode(), np.uint8) == ord("N")] = -1
        pairs.append(
            {
                (a, b, int(i), int(j))
                for a, b in combinations(range(len(places)), 2)
                for at, i, j in np.stack(np.intersect1d(places[a], places[b], return_indices=True)).T.tolist()
                if at >= 0
            }
        )
    both = len(pairs[0] & pairs[1])
    return both / len(pairs[0]), both / len(pairs[1])


def is_cut(texts: list[str], **how: str) -> bool:
    batch = ta.SequenceBatch.from_strings(texts)
    job = FamilyInput(batch, options_of(**how))
    with quiet():
        return align_by_anchors(job, open_devices(["cpu"], 1, 0), 1, 1 << 30) is not None


def both_ways(texts: list[str], **how) -> tuple[ta.MultipleAlignment, ta.MultipleAlignment]:
    found = ta.align_multiple(texts, **PLAIN, **how)
    assert [row.replace("-", "") for row in found] == texts
    return found, ta.align_multiple(texts, no_anchors=True, **PLAIN, **how)


@pytest.mark.parametrize(("rate", "least"), [(0.003, 0.999), (0.02, 0.999), (0.05, 0.998)])
def test_cuts_do_not_change_the_alignment(rate, least):
    rng = np.random.default_rng(int(1000 * rate))
    start = random_text(rng, 1200)
    texts = [evolved(rng, start, rate, 2) for _ in range(10)]
    assert is_cut(texts)
    found, whole = both_ways(texts)
    assert min(shares(found, whole)) >= least
    assert (found.residue_confidence >= 0).all() and (found.column_confidence <= 1).all()
    assert ta.align_multiple(texts, n_threads=3, device="cpu")[:] == found[:]


def test_proteins_and_copies():
    rng = np.random.default_rng(7)
    letters = "ACDEFGHIKLMNPQRSTVWY"
    start = random_text(rng, 600, letters)
    texts = [evolved(rng, start, 0.05, 1, letters) for _ in range(8)]
    texts += texts[2:4]
    assert is_cut(texts)
    found, whole = both_ways(texts)
    assert min(shares(found, whole)) >= 0.998
    assert found[2] == found[8]
    assert found.tree.count(",") == 9


def test_a_further_domain_in_half_of_the_members_stays_together():
    rng = np.random.default_rng(11)
    start, domain = random_text(rng, 900), random_text(rng, 300)
    longer = start[:400] + domain + start[400:]
    texts = [evolved(rng, one, 0.02, 1) for one in (start, longer) for _ in range(5)]
    assert is_cut(texts)
    found, whole = both_ways(texts)
    assert min(shares(found, whole)) >= 0.998
    swapped = domain + start  # where it lies elsewhere in half of them, there is no column to cut at
    assert not is_cut([evolved(rng, one, 0.02, 0) for one in (longer, swapped) for _ in range(4)])


def test_a_tandem_repeat_is_not_cut_within():
    """Members have two to four copies: nothing tells which of them is missing."""
    rng = np.random.default_rng(13)
    left, unit, right = random_text(rng, 300), random_text(rng, 60), random_text(rng, 300)
    texts = [evolved(rng, left + unit * (2 + k % 3) + right, 0.01, 0) for k in range(6)]
    batch = ta.SequenceBatch.from_strings(texts)
    star = star_of(batch, 1, np.full(6, 0.1), NUCLEOTIDE, 1)
    assert not star.are_certain[:, 320:460].all(0).any()
    found, whole = both_ways(texts)
    assert min(shares(found, whole)) >= 0.99


def test_unknown_residues_do_not_bend_the_alignment():
    rng = np.random.default_rng(17)
    start = random_text(rng, 1500)
    plain = [evolved(rng, start, 0.01, 1) for _ in range(6)]
    masked = [one[: 200 * k] + "N" * 250 + one[200 * k + 250 :] for k, one in enumerate(plain)]
    assert is_cut(masked)
    found, without = (ta.align_multiple(texts, **PLAIN) for texts in (masked, plain))
    assert min(shares(found, without)) >= 0.99


def test_a_stranger_is_named_and_aligned_alone():
    rng = np.random.default_rng(19)
    start = random_text(rng, 900)
    texts = [evolved(rng, start, 0.01, 1) for _ in range(6)]
    stranger = evolved(rng, start, 0.4, 0)
    named = {**{f"s{k}": one for k, one in enumerate(texts)}, "other": stranger}
    sentence = "^1 of 7 sequences differs much from the rest of the family: other; aligned with one sequence alone; "
    with pytest.warns(TropalignWarning, match=sentence + "drop_foreign leaves it out$"):
        found = ta.align_multiple(named, **PLAIN)
    assert [row.replace("-", "") for row in found] == [*texts, stranger]
    rest = ta.align_multiple(texts, **PLAIN)
    assert list(found[:6].without_empty_columns()) == list(rest)
    with pytest.warns(TropalignWarning, match="family: other; left out$"):
        assert list(ta.align_multiple(named, drop_foreign=True, **PLAIN)) == list(rest)


def test_two_members_in_one_and_a_reversed_one_are_aligned_alone():
    rng = np.random.default_rng(23)
    start = random_text(rng, 700)
    texts = [evolved(rng, start, 0.01, 1) for _ in range(16)]
    texts += [texts[0] + texts[1], texts[2][::-1]]
    with pytest.warns(TropalignWarning) as told:
        found = ta.align_multiple(texts, **PLAIN)
    assert any("2 of 18 sequences differ much" in str(one.message) for one in told)
    assert [row.replace("-", "") for row in found] == texts


def test_families_of_low_similarity_and_other_inputs_are_not_cut():
    rng = np.random.default_rng(29)
    start = random_text(rng, 600)
    texts = [evolved(rng, start, 0.4, 0) for _ in range(6)]
    assert not is_cut(texts)
    similar = [evolved(rng, start, 0.01, 0) for _ in range(6)]
    assert is_cut(similar) and not is_cut(similar[:2]) and not is_cut(similar, no_anchors=True)


@pytest.mark.parametrize("ends", [(True, False), (False, True), (False, False)])
def test_a_piece_whose_ends_part_takes_residues_of_the_runs(monkeypatch, ends):
    rng = np.random.default_rng(31)
    start = random_text(rng, 900)
    texts = [
        start,
        start[:300] + start[312:],
        start[:600] + random_text(rng, 9) + start[600:],
        evolved(rng, start, 0.01, 0),
    ]
    expected = ta.align_multiple(texts, **PLAIN)
    own, n_calls = anchored._Whole._aligned, 0

    def parts(self, piece, *how):
        nonlocal n_calls
        n_calls += 1
        is_left_whole, is_right_whole = (one or n_calls % 2 == 0 for one in ends)
        return own(self, piece, *how)._replace(
            is_left_whole=is_left_whole or not piece.has_left, is_right_whole=is_right_whole or not piece.has_right
        )

    monkeypatch.setattr(anchored._Whole, "_aligned", parts)
    assert is_cut(texts)
    found = ta.align_multiple(texts, **PLAIN)
    assert n_calls >= 4
    assert [row.replace("-", "") for row in found] == texts
    assert min(shares(found, expected)) >= 0.99


def test_unknown_residues_of_the_centre_are_certain_for_nobody():
    rng = np.random.default_rng(37)
    start = random_text(rng, 1600)
    plain = [evolved(rng, start, 0.03, 2) for _ in range(6)]
    masked = [one[: 150 * k] + "N" * 260 + one[150 * k + 260 :] for k, one in enumerate(plain)]
    batch = ta.SequenceBatch.from_strings(masked)
    for centre in (0, 3):
        star = star_of(batch, centre, np.full(6, 0.05), NUCLEOTIDE, 1)
        is_unknown = np.frombuffer(masked[centre].encode(), np.uint8) == ord("N")
        assert is_unknown.sum() == 260 and not star.are_certain[:, is_unknown].any()
    assert is_cut(masked)
    found, whole = both_ways(masked)
    assert min(shares(found, whole, masked)) >= 0.995


def test_the_copies_of_a_repeat_keep_their_place():
    """Half of the members have the domain twice, in copies that differ by 10 %."""
    rng = np.random.default_rng(3)
    left, domain, right = random_text(rng, 500), random_text(rng, 150), random_text(rng, 500)
    copies = [left + domain + right, left + domain + evolved(rng, domain, 0.12, 0) + right]
    texts = [evolved(rng, copies[k % 2], 0.01, 0) for k in range(9)]
    assert is_cut(texts)
    found, whole = both_ways(texts)
    assert min(shares(found, whole)) >= 0.9999


def test_copies_of_one_sequence_need_no_alignment(monkeypatch):
    start = random_text(np.random.default_rng(41), 400)
    monkeypatch.setattr(anchored, "star_of", None)
    found = ta.align_multiple([start] * 4, **PLAIN)
    assert list(found) == [start] * 4 and found.tree.count(",") == 3
    assert (found.residue_confidence == 1).all() and (found.column_confidence == 1).all()


def test_two_distinct_sequences_are_cut():
    rng = np.random.default_rng(43)
    start = random_text(rng, 500)
    texts = [start, evolved(rng, start, 0.01, 2), start]
    assert is_cut(texts)
    found, whole = both_ways(texts)
    assert min(shares(found, whole)) >= 0.998
    assert not is_cut([start, evolved(rng, start, 0.3, 0), start])


@pytest.mark.parametrize("n_members", [2, 3, 5])
def test_the_members_left_are_aligned_without_the_foreign_one(monkeypatch, n_members):
    """The sizes are not tested again without it."""
    rng = np.random.default_rng(47)
    start = random_text(rng, 600)
    texts = [evolved(rng, start, 0.01, 1) for _ in range(n_members)]
    monkeypatch.setattr(family, "LEAST_CELLS", 600**2 * n_members * (n_members - 1) / 2 * 1.2)
    named = {**{f"s{k}": one for k, one in enumerate(texts)}, "other": random_text(rng, 580)}
    is_cut = []
    own = anchored.align_anchored
    monkeypatch.setattr(anchored, "align_anchored", lambda *how: is_cut.append(own(*how)) or is_cut[-1])
    with pytest.warns(TropalignWarning) as told:
        found = ta.align_multiple(named, drop_foreign=True, **PLAIN)
    assert [one for one in is_cut if one is None] == [] and len(is_cut) == 2
    assert len(told) == 1 and str(told[0].message).endswith("family: other; left out")
    assert [row.replace("-", "") for row in found] == texts


def test_the_rest_is_aligned_whole_if_it_cannot_be_cut(monkeypatch):
    rng = np.random.default_rng(53)
    start = random_text(rng, 600)
    texts = [evolved(rng, start, 0.01, 1) for _ in range(5)]
    own, n_calls = anchored.align_anchored, 0

    def first_only(*how):
        nonlocal n_calls
        n_calls += 1
        return own(*how) if n_calls == 1 else None

    monkeypatch.setattr(anchored, "align_anchored", first_only)
    with pytest.warns(TropalignWarning) as told:
        found = ta.align_multiple([*texts, random_text(rng, 580)], drop_foreign=True, **PLAIN)
    assert n_calls == 2 and len(told) == 1
    assert list(found) == list(ta.align_multiple(texts, no_anchors=True, **PLAIN))


@pytest.mark.parametrize("how", [["--effort", "fast"], ["--rules", "quickprobs1"]])
def test_options_are_checked_before_a_family_is_cut(tmp_path, capsys, how):
    rng = np.random.default_rng(59)
    start = random_text(rng, 400)
    path = tmp_path / "family.fa"
    path.write_text("".join(f">s{k}\n{evolved(rng, start, 0.01, 0)}\n" for k in range(4)))
    assert main(["msa", str(path), "-o", str(tmp_path / "out.fa"), "--drop-foreign", *how]) == 2
    assert "foreign members are only detected" in capsys.readouterr().err


def test_the_distances_of_many_members_need_no_more_memory_than_said(monkeypatch):
    rng = np.random.default_rng(61)
    start = random_text(rng, 300)
    texts = [evolved(rng, start, 0.05, 0) for _ in range(12)]
    expected = ta.align_multiple(texts, **PLAIN)
    monkeypatch.setattr(anchored, "ROWS_AT_ONCE", 5)
    monkeypatch.setattr(anchored, "COLUMNS_AT_ONCE", 7)
    assert ta.align_multiple(texts, **PLAIN).tree == expected.tree
    batch = ta.SequenceBatch.from_strings(texts)
    n_more = anchored._held_bytes(batch, 0) - anchored.TREE_BYTES * len(batch) ** 2
    assert n_more == anchored.STAR_BYTES * 12 * 300 + anchored.RESIDUE_BYTES * 12 * 300


def test_the_forecast_is_that_of_the_whole_family_if_it_cannot_be_cut(monkeypatch):
    rng = np.random.default_rng(67)
    start = random_text(rng, 1000)
    devices = open_devices(["cpu"], 1, 0)
    seconds = []
    for unit in (start, "ACGTTGCA" * 125, "A" * 1000, "ACGTTGCA" + "N" * 12):
        texts = [evolved(rng, (unit * 50)[: 1000 + k], 0.002, 0) for k in range(6)]
        job = FamilyInput(ta.SequenceBatch.from_strings(texts), options_of())
        seconds.append(run._seconds_by_anchors(job, devices, 1, 1 << 30))
    assert seconds[0] > 0 and seconds[1:] == [None] * 3
    job = FamilyInput(ta.SequenceBatch.from_strings([start + "A" * k for k in range(6)]), options_of())
    monkeypatch.setattr(run, "_seconds_by_anchors", lambda *how: 7.5)
    assert run.seconds_of(job, devices, 1, 1 << 30) == 7.5
    monkeypatch.setattr(run, "_seconds_by_anchors", lambda *how: None)
    assert 0 < run.seconds_of(job, devices, 1, 1 << 30) != 7.5


def test_fragments_count_only_where_they_have_residues():
    rng = np.random.default_rng(71)
    start = random_text(rng, 3000)
    whole = [evolved(rng, start, 0.02, 2) for _ in range(6)]
    spans = [(1200, 1600), (0, 900), (2100, 2990), (700, 2500), (1210, 1590), (2990 - 400, 2990)]
    parts = [text[begin:end] for text, (begin, end) in zip(whole, spans, strict=True)]
    parts.append(random_text(rng, 9) + whole[1][500:1100] + random_text(rng, 60))
    texts = [*parts, *whole]
    batch = ta.SequenceBatch.from_strings(texts)
    kinship = Kinship(batch)
    assert kinship.centre >= len(parts)
    assert abs(kinship.compared().starts[:6] - [begin for begin, _ in spans]).max() < 60
    job = FamilyInput(batch, options_of())
    with quiet():
        found = align_by_anchors(job, open_devices(["cpu"], 1, 0), 1, 1 << 30)
    assert found is not None
    assert [row.replace("-", "") for row in found] == texts
    rest = ta.align_multiple(whole, **PLAIN)
    assert min(shares(found[len(parts) :].without_empty_columns(), rest)) >= 0.999
    places = [np.flatnonzero(np.frombuffer(row.encode(), np.uint8) != ord("-")) for row in found]
    for k, (begin, end) in enumerate(spans):  # each fragment lies in the columns of its source
        assert (places[k] == places[len(parts) + k][begin:end]).mean() > 0.99
    source = places[len(parts) + 1][500:1100]
    assert (places[6][9:609] == source).mean() > 0.99 and np.ptp(places[6]) < 800


@pytest.mark.parametrize(
    ("columns", "ends", "expected"),
    [
        ([3, 4, 12], (False, True), [3, 4, 5]),
        ([-30, 3, 4], (True, False), [2, 3, 4]),
        ([-30, 3, 40], (False, False), [-30, 3, 40]),
        ([-3, 12], (True, True), [-3, 12]),
        ([0, 9], (True, True), [0, 9]),
    ],
)
def test_free_ends_beyond_a_piece_are_drawn_in(columns, ends, expected):
    assert anchored._drawn_in(np.array(columns), 10, *ends).tolist() == expected


def test_long_members_are_cut_and_pieces_must_be_short(monkeypatch):
    rng = np.random.default_rng(73)
    start = random_text(rng, 1500)
    texts = [evolved(rng, start, 0.01, 1) for _ in range(4)]
    expected = ta.align_multiple(texts, **PLAIN)
    for module in (family, anchored):
        monkeypatch.setattr(module, "MOST_RESIDUES", 700)
    batch = ta.SequenceBatch.from_strings(texts)
    devices = open_devices(["cpu"], 1, 0)
    job = FamilyInput(batch, options_of())
    with quiet():
        assert list(align_by_anchors(job, devices, 1, 1 << 30)) == list(expected)
    foreign = [text[:200] + random_text(rng, 350) + text[550:] for text in texts]
    job = FamilyInput(ta.SequenceBatch.from_strings(foreign), options_of())
    with (
        quiet(),
        pytest.raises(ResourceError, match=r"^no columns are certain between residues \d+ and 5[56]\d of record"),
    ):
        align_by_anchors(job, devices, 1, 1 << 30)
    monkeypatch.setattr(anchored, "MOST_LEFT", 0)
    with quiet(), pytest.raises(ResourceError, match="sequences that are aligned as a whole may have at most"):
        align(job, devices, 1, 1 << 30)


def clades(rng: np.random.Generator, sizes: list[int], rate: float) -> list[str]:
    """Return members of clades that differ by `rate` from their common ancestor."""
    start = random_text(rng, 900)
    ancestors = [evolved(rng, start, rate, 2) for _ in sizes]
    return [evolved(rng, one, 0.01, 1) for one, n in zip(ancestors, sizes, strict=True) for _ in range(n)]


def test_clades_are_cut_on_their_own_and_aligned_with_each_other():
    rng = np.random.default_rng(79)
    texts = clades(rng, [6, 5, 1], 0.15)
    texts.insert(3, texts[7])
    batch = ta.SequenceBatch.from_strings(texts)
    unique = batch[np.array([k for k in range(13) if k != 3])]
    found_clades = clades_of(unique)
    assert found_clades is not None
    assert sorted(one.tolist() for one in found_clades) == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11]]
    assert is_cut(texts)
    found, whole = both_ways(texts)
    assert found[3] == found[8] and found.tree.count(",") == 12
    assert min(shares(found, whole)) >= 0.985
    assert (found.residue_confidence >= 0).all() and (found.residue_confidence <= 1).all()
    assert list(ta.align_multiple(texts, n_threads=3, device="cpu")) == list(found)


def test_families_of_many_or_of_no_clades_are_aligned_as_a_whole(monkeypatch):
    rng = np.random.default_rng(83)
    texts = clades(rng, [3, 3, 2, 2], 0.15)
    assert clades_of(ta.SequenceBatch.from_strings(texts)) is None  # ten members, of which two or fewer may be left
    texts = clades(rng, [6, 6], 0.25)
    assert is_cut(texts)
    monkeypatch.setattr(clade_module, "MOST_CELLS", 0)
    monkeypatch.setattr(clade_module, "FEW_CELLS", 0)
    assert not is_cut(texts)


def test_a_clade_among_the_members_that_are_alone_is_aligned_as_a_clade():
    rng = np.random.default_rng(89)
    texts = clades(rng, [30, 3], 0.25)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ta.align_multiple(texts, **PLAIN)
    assert min(shares(found, ta.align_multiple(texts, no_anchors=True, **PLAIN))) >= 0.97


def test_a_stranger_among_clades_is_named():
    rng = np.random.default_rng(97)
    texts = clades(rng, [6, 6, 6], 0.15)
    named = {**{f"s{k}": one for k, one in enumerate(texts)}, "other": random_text(rng, 900)}
    with pytest.warns(TropalignWarning, match="^1 of 19 sequences does not seem to belong to the family: other; drop"):
        found = ta.align_multiple(named, **PLAIN)
    assert [row.replace("-", "") for row in found] == [*named.values()]
    with pytest.warns(TropalignWarning, match="other; left out$"):
        assert len(ta.align_multiple(named, drop_foreign=True, **PLAIN)) == 18
