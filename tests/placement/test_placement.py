"""Reads on branches: against the plain recurrences, on every instruction set, with and without pruning."""

import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import placement as oracle
from placement.cases import newick, reads, reference, vector_of

import tropalign as ta
from tropalign import _native
from tropalign.errors import InputError, ResourceError, ScoringError, TropalignError, TropalignWarning
from tropalign.placement.scorer import Scorer, encoded
from tropalign.placement.scoring import SCHEMES
from tropalign.placement.task import BASE_BYTES, PlaceTask
from tropalign.results.placements import concatenate
from tropalign.sequences.reader import ReadBlocks, survey_of

SCHEMES_HERE = {
    "program": SCHEMES["program"],
    "paper": SCHEMES["paper"],
    "own": ta.PlacementScoring(5, -4, -9, 8, 2, 7, 3),
    "free gaps": ta.PlacementScoring(3, 0, -4, 0, 0, 1, 0),
    "long gaps cost more": ta.PlacementScoring(4, 0, -5, 1, 3, 2, 6),
    "large": ta.PlacementScoring(300, -100, -900, 500, 100, 500, 100),
}


@pytest.fixture(params=_native.supported_isas())
def isa(request, monkeypatch):
    """Every instruction set that the processor has."""
    monkeypatch.setenv("TROPALIGN_ISA", request.param)
    return request.param


def sets_of(package, text):
    return package.states.sets[np.frombuffer(text.encode(), np.uint8)]


def native_scores(package, texts, scoring, word_bits=0):
    codes, offsets, table = encoded([sets_of(package, text) for text in texts])
    numbers = scoring.numbers()
    longest = max(map(len, texts))
    bits = word_bits or _native.place_word_bits(numbers, longest, len(package.columns))
    scores, *_ = _native.place_scores(
        package.planes, package.n_distinct, package.n_empty, numbers, codes, offsets, table, bits, None, 0, 1, 2
    )
    return scores[:, package.distinct]


@pytest.mark.parametrize("scheme", SCHEMES_HERE)
@pytest.mark.parametrize("kind", ["nucleotide", "protein"])
def test_scores_are_those_of_the_recurrence(isa, kind, scheme):
    scoring = SCHEMES_HERE[scheme]
    for seed in range(3):
        package = reference(seed, n_tips=4 + seed, n_columns=17 + seed, kind=kind)
        texts = [text for _, text in reads(seed, 8, 12, kind, package)]
        numbers = scoring.numbers()
        wanted = [
            [
                oracle.score(vector_of(package, k), sets_of(package, text).tolist(), numbers)
                for k in range(package.n_branches)
            ]
            for text in texts
        ]
        np.testing.assert_array_equal(native_scores(package, texts, scoring), wanted)


@pytest.mark.parametrize("word_bits", [8, 16, 32])
def test_all_word_widths_agree(isa, word_bits):
    package = reference(7, n_tips=40, n_columns=150)
    texts = [text for _, text in reads(7, 30, 120, package=package)]
    np.testing.assert_array_equal(
        native_scores(package, texts, SCHEMES["program"], word_bits),
        native_scores(package, texts, SCHEMES["program"], 32),
    )


@pytest.mark.parametrize(("n_bases", "bits"), [(127, 8), (128, 16), (16000, 16), (16001, 32)])
def test_words_hold_the_highest_score(n_bases, bits):
    assert _native.place_word_bits(SCHEMES["program"].numbers(), n_bases, 10**6) == bits
    assert _native.place_word_bits(SCHEMES["program"].numbers(), n_bases, 100) == min(bits, 16)  # as many hold no more


@pytest.mark.parametrize("length", [126, 127, 128, 300])
def test_reads_that_match_throughout(isa, length):
    """Their scores are the highest there are, on both sides of what 8 bits hold."""
    text = ("ACGTTGCA" * 40)[:length]
    rows = np.array([list(text.encode())] * 4, np.uint8)
    package = ta.ReferencePackage.build(("a", "b", "c", "d"), rows, "((a:1,b:1):1,c:1,d:1);")
    (placed,) = ta.place(package, [("r", text)])
    assert placed.score[0] == 2 * length and placed.ties[0] == 5
    assert placed.column.tolist() == list(range(length))


@pytest.mark.parametrize("strand", ["plus", "both"])
@pytest.mark.parametrize("n_bases", [126, 140, 300])
def test_floors_of_likely_branches_change_nothing(isa, n_bases, strand):
    """Reads like a branch, like two, and like none: those that lack more than 8 bits hold are scored anew."""
    draw = np.random.default_rng(n_bases)
    package = reference(11, n_tips=150, n_columns=500)  # of fewer branches no floor is sought
    tips = [bytes(row[row != ord("-")]).decode() for row in package.letters]
    near, far = ("".join(draw.choice(list("ACGTN"), 3 * n_bases)) for _ in range(2))
    texts = [tips[k][20 : 20 + n_bases] for k in range(0, 150, 15)]
    texts += [tips[k][:60] + tips[k + 1][100:160] + near[: n_bases - 120] for k in range(0, 80, 20)] + [far[:n_bases]]
    given = [(str(k), text) for k, text in enumerate(texts)]
    (pruned,), (whole,) = (ta.place(package, given, strand=strand, prune=prune) for prune in (True, False))
    for name in ("score", "second_score", "branch", "ties", "strand", "tied_branches", "column"):
        np.testing.assert_array_equal(getattr(pruned, name), getattr(whole, name), name)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n_tips=st.integers(3, 60),
    n_columns=st.integers(1, 60),
    longest=st.sampled_from([5, 30, 90, 200]),
    kind=st.sampled_from(["nucleotide", "protein"]),
    scheme=st.sampled_from(["program", "free gaps", "long gaps cost more"]),
    strand=st.sampled_from(["plus", "both"]),
)
def test_pruning_changes_nothing(seed, n_tips, n_columns, longest, kind, scheme, strand):
    try:
        package = reference(seed, n_tips, n_columns, kind)
    except InputError:
        return  # gaps alone
    texts = reads(seed, 6, longest, kind, package)
    options = {"scoring": SCHEMES_HERE[scheme], "strand": strand if kind == "nucleotide" else "plus"}
    (pruned,), (whole,) = (list(ta.place(package, texts, prune=prune, **options)) for prune in (True, False))
    for name in ("branch", "score", "second_score", "ties", "strand", "letters", "column"):
        np.testing.assert_array_equal(getattr(pruned, name), getattr(whole, name), err_msg=name)
    for one, other in zip(pruned.tied, whole.tied, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("scheme", ["program", "long gaps cost more"])
def test_pruning_changes_nothing_on_any_processor(isa, scheme):
    """Several groups of bounds, so that later ones are swept for what beats the first; reads of 8 and 16 bits."""
    package = reference(11, n_tips=300, n_columns=260)
    texts = [
        *reads(12, 12, 90, package=package),
        *((f"long {k}", text) for k, text in reads(13, 3, 200, package=package)),
    ]
    options = {"scoring": SCHEMES_HERE[scheme], "strand": "both"}
    (pruned,), (whole,) = (list(ta.place(package, texts, prune=prune, **options)) for prune in (True, False))
    for name in ("branch", "score", "second_score", "ties", "strand", "letters", "column"):
        np.testing.assert_array_equal(getattr(pruned, name), getattr(whole, name), err_msg=name)
    assert len(package.vectors()) > 512


@pytest.mark.parametrize("seed", [48, 81, 176, 241, 1, 2])
def test_pruning_sees_reads_that_hang_over_the_end(seed):
    """Inside, all branches together promise more than any has; one has the read's first part at its very end."""
    rng = np.random.default_rng(seed)
    n_tips = int(rng.integers(6, 30))
    text = rng.choice(list("ACGT"), 60)
    overlap = int(rng.integers(30, 50))
    rows = rng.choice(list("ACGT"), (n_tips, 300))
    piece = int(rng.integers(5, 15))
    for row in rows:
        begin = int(rng.integers(0, 60 - piece))
        row[100 + begin : 100 + begin + piece] = text[begin : begin + piece]
    rows[int(rng.integers(0, n_tips)), -overlap:] = text[:overlap]
    letters = np.array([list("".join(row).encode()) for row in rows], np.uint8)
    names = tuple(f"t{k}" for k in range(n_tips))
    package = ta.ReferencePackage.build(names, letters, newick(random.Random(seed), names))
    (pruned,), (whole,) = (list(ta.place(package, [("r", "".join(text))], prune=prune)) for prune in (True, False))
    for name in ("branch", "score", "second_score", "ties", "column"):
        np.testing.assert_array_equal(getattr(pruned, name), getattr(whole, name), err_msg=name)


@pytest.mark.parametrize("scheme", SCHEMES_HERE)
def test_placements_are_those_of_the_recurrence(scheme):
    scoring = SCHEMES_HERE[scheme]
    for seed in range(6):
        package = reference(seed, n_tips=5, n_columns=19)
        texts = reads(seed + 50, 6, 11, package=package)
        (placed,) = ta.place(package, texts, scoring=scoring)
        for k, (_, text) in enumerate(texts):
            if set(text) == {"N"}:
                assert placed.branch[k] == -1
                continue
            read = sets_of(package, text).tolist()
            scores = [oracle.score(vector_of(package, b), read, scoring.numbers()) for b in range(package.n_branches)]
            best = max(scores)
            assert placed.score[k] == best and placed.branch[k] == scores.index(best)
            assert placed.ties[k] == scores.count(best)
            assert placed.second_score[k] == sorted(scores)[-2]
            assert placed.tied[k].tolist() == [b for b, score in enumerate(scores) if score == best]
            columns = oracle.path(vector_of(package, scores.index(best)), read, scoring.numbers())
            assert placed.read(k)[1].tolist() == [int(package.columns[c]) if c >= 0 else -1 for c in columns]


def test_paths_score_what_was_found():
    """The score again from the columns alone, and letters in order."""
    package = reference(3, n_tips=30, n_columns=200)
    texts = reads(3, 40, 80, package=package)
    (placed,) = ta.place(package, texts)
    place = {int(column): k for k, column in enumerate(package.columns)}
    for k, (_, text) in enumerate(texts):
        if placed.branch[k] < 0:
            continue
        vector, columns = vector_of(package, int(placed.branch[k])), placed.read(k)[1]
        used = [place[int(c)] for c in columns if c >= 0]
        assert used == sorted(set(used))
        total, before, run = 0, None, 0
        for letter, column in zip(sets_of(package, text).tolist(), columns.tolist(), strict=True):
            if column < 0:
                run += 1
                continue
            at = place[column]
            states, flag = vector[at]
            total += (2 if states & letter else 0) - (3 if flag else 0)
            if before is not None:
                total -= gap_cost([vector[c][1] for c in range(before + 1, at)]) + (2 + run if run else 0)
            before, run = at, 0
        assert total == placed.score[k]


def gap_cost(flags):
    """Of leaving these columns out: a closed one costs 1, 3 where a gap opens; in gap columns both cost nothing."""
    closed = flags.count(False)
    if not closed:
        return 0
    return closed if flags[0] else closed + 2


def test_threads_and_blocks_change_nothing(monkeypatch):
    package = reference(4, n_tips=30, n_columns=120)
    texts = reads(4, 50, 70, package=package)
    (wanted,) = ta.place(package, texts, n_threads=1)
    monkeypatch.setattr("tropalign.sequences.records.BLOCK_RECORDS", 7)
    monkeypatch.setattr("tropalign.placement.task.TILE_SCORES", 200)
    blocks = list(ta.place(package, texts, n_threads=2))
    assert len(blocks) >= 8
    for name in ("branch", "score", "second_score", "ties", "column", "letters"):
        np.testing.assert_array_equal(np.concatenate([getattr(b, name) for b in blocks]), getattr(wanted, name))


def test_either_strand():
    package = reference(5, n_tips=20, n_columns=200)
    texts = reads(5, 20, 60, package=package)
    turned = str.maketrans("ACGTRYN", "TGCAYRN")
    other = [(name, text[::-1].translate(turned)) for name, text in texts]
    (plus,), (both,), (minus,) = (
        list(ta.place(package, some, strand=strand))
        for some, strand in ((texts, "plus"), (texts, "both"), (other, "both"))
    )
    assert (both.score >= plus.score).all()
    same = both.strand > 0
    np.testing.assert_array_equal(both.score[same], plus.score[same])
    assert same.sum() > 10
    better = both.score > 0
    np.testing.assert_array_equal(minus.score, both.score)
    strict = better & (minus.strand != both.strand)
    assert strict.sum() > 10
    for k in np.flatnonzero(strict):
        assert minus.branch[k] == both.branch[k]
        np.testing.assert_array_equal(minus.read(int(k))[1], both.read(int(k))[1])


def test_letters_of_all_kinds():
    """Lower case and U are read, gaps are removed if asked, unknown letters are wildcards; some reads are left out."""
    package = reference(6, n_tips=10, n_columns=60)
    row = bytes(package.letters[0]).decode().replace("-", "")
    texts = [
        ("a", row),
        ("b", row.lower().replace("t", "u")),
        ("c", "-".join(row)),
        ("d", "NNNN"),
        ("e", ""),
        ("f", row[:9] + "!"),
    ]
    with pytest.warns(TropalignWarning, match=r"read 'f': '!' is not a nucleotide letter; such letters are read as N"):
        (placed,) = ta.place(package, texts, gaps="remove")
    assert placed.branch[0] == placed.branch[1] == placed.branch[2] and len(set(placed.score[:3].tolist())) == 1
    np.testing.assert_array_equal(placed.read(0)[1], placed.read(2)[1])
    assert placed.branch.tolist()[3:5] == [-1, -1] and placed.branch[5] >= 0
    assert bytes(placed.read(1)[0]).decode() == row.lower().replace("t", "u")


def test_names_that_come_twice_are_numbered():
    package = reference(6)
    with pytest.warns(TropalignWarning, match="the name 'a' occurs again: reads of the same name are numbered"):
        (placed,) = ta.place(package, [("a", "ACGT"), ("a_2", "ACG"), ("a", "ACGT"), ("a", "ACG")])
    assert placed.names == ("a", "a_2", "a_3", "a_4")


def test_reads_longer_than_the_reference():
    package = reference(8, n_tips=8, n_columns=20)
    (placed,) = ta.place(package, [("r", "ACGT" * 50)])
    assert placed.branch[0] >= 0
    with pytest.raises(
        InputError, match=r"record 'r': the scheme aligns whole reads, but 200 residues do not fit the \d+ columns"
    ):
        list(ta.place(package, [("r", "ACGT" * 50)], scoring="paper"))


def test_a_read_whose_alignment_fits_no_memory():
    package, texts = reference(8, n_tips=8, n_columns=20), [("s", "ACGT"), ("r", "ACGT" * 100)]
    with pytest.raises(
        ResourceError, match=r"the alignment of read 'r', of 400 residues, needs .*: leave this read out"
    ):
        list(ta.place(package, texts, n_threads=1, memory_bytes=2000))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"match": 0}, "a match \\(0\\) must score more"),
        ({"on_gap": -1}, "must score below 0, or alignments would run through gaps"),
        ({"gap_open": -1}, "must be at least 0"),
        ({"mismatch": 1}, "must be at most 0"),
        ({"match": 20_000, "on_gap": -30_000}, "at most 10,000"),
    ],
)
def test_scores_that_make_no_sense(arguments, words):
    with pytest.raises(ScoringError, match=words):
        ta.PlacementScoring(**arguments)


def test_options_that_are_none():
    package = reference(9)
    with pytest.raises(TropalignError, match="the scheme 'x' is not one of program, paper"):
        ta.place(package, [], scoring="x")
    with pytest.raises(TropalignError, match="strand 'minus' is not one of plus, both"):
        ta.place(package, [], strand="minus")
    with pytest.raises(InputError, match="proteins have no opposite strand"):
        ta.place(reference(9, kind="protein"), [], strand="both")


REPEATS = """
import numpy as np, tropalign as ta
from tropalign.resources.limits import peak_bytes
rows = np.array([list(b"A" * 4000)] * 200, np.uint8)
rows[np.arange(200), np.arange(200)] = ord("C")
tree = "t0:1"
for k in range(1, 199):
    tree = f"({tree},t{k}:1):1"
package = ta.ReferencePackage.build(tuple(f"t{k}" for k in range(200)), rows, f"({tree},t199:1);")
(placed,) = ta.place(package, [("r", "A" * 3000)])
print(*placed.score, peak_bytes() >> 20)
"""


def test_words_that_repeat_are_no_places():
    """A read and a reference of one letter share words everywhere, as many as cells: a place for each took 770 MB."""
    done = subprocess.run([sys.executable, "-c", REPEATS], capture_output=True, text=True, check=True)
    score, megabytes = map(int, done.stdout.split())
    assert score == 6000 and megabytes < 500


def test_tiles_of_equal_reads_are_bounded_by_their_letters():
    package = reference(3, n_tips=20, n_columns=90)
    found = survey_of(ReadBlocks([(f"r{k}", "ACGTTGCA" * 500) for k in range(400)]))
    means = {"n_best": 2, "both_strands": False, "n_threads": 1, "memory_bytes": 8 << 20}
    task = PlaceTask(package, list, SCHEMES["program"], found=found, **means)
    most = max(tile.n_items for tile in task.outline())
    assert 1 <= most * 4000 * BASE_BYTES <= 8 << 20
    assert sum(tile.cost_cells for tile in task.outline()) < 2 * task.cost_cells(4000)


@pytest.mark.parametrize("strand", ["plus", "both"])
def test_equal_reads_are_placed_once(monkeypatch, strand):
    """Wherever they lie, and as long as there is memory to keep them; with the same result."""
    package = reference(3, n_tips=20, n_columns=90)
    different = [text for _, text in reads(3, 6, 40, package=package)]
    given = [(f"r{k}", different[k * k % len(different)]) for k in range(40)] + [("none", "NNN")]
    monkeypatch.setenv("TROPALIGN_TILE_READS", "4")

    def placed(**options):
        return concatenate(list(ta.place(package, given, strand=strand, n_threads=1, **options)))

    scored = []
    engine = Scorer.on_cpu

    def counting(self, texts, *others):
        scored.extend(texts)
        return engine(self, texts, *others)

    monkeypatch.setattr(Scorer, "on_cpu", counting)
    kept = placed()
    assert len(scored) == len({text for _, text in given} - {"NNN"})
    monkeypatch.setattr("tropalign.placement.task.KNOWN_SHARE", 0)
    scored.clear()
    forgotten = placed()
    assert len(scored) > len(different)
    for field in ("score", "second_score", "branch", "ties", "strand", "tied_branches", "column", "letters"):
        np.testing.assert_array_equal(getattr(kept, field), getattr(forgotten, field), field)
