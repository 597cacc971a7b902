"""Paired ends against the plain recurrences: sums of both mates' scores, and their rows put together by the rule."""

import random

import numpy as np
import pytest
from oracles import placement as oracle
from placement.cases import reads, reference, vector_of

import tropalign as ta
from tropalign.errors import InputError, UsageError

IUPAC = {
    "A": "A", "C": "C", "G": "G", "T": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
    "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip
OTHER = dict(zip("ACGTRYSWKMBDHVN", "TGCAYRSWMKVHDBN", strict=True))
PROGRAM = ta.PlacementScoring(2, 0, -3, 3, 1, 3, 1)


def other_strand(text):
    return "".join(OTHER[letter] for letter in reversed(text))


def either(one, other):
    """The rule for two letters in one column."""
    a, b = set(IUPAC[one]), set(IUPAC[other])
    wanted = a & b or a | b
    return next(letter for letter, states in IUPAC.items() if set(states) == wanted)


def together(one, other):
    """Mates as (letters, columns) -> the same of the pair, slot by slot: columns, and halves for what is between."""
    if not any(c >= 0 for c in one[1]) or not any(c >= 0 for c in other[1]):
        return one[0] + other[0], one[1] + other[1]
    begin = [min(c for c in columns if c >= 0) for _, columns in (one, other)]
    if begin[1] < begin[0]:
        one, other = other, one

    def slots(columns):
        at = min(c for c in columns if c >= 0) - 0.5
        for column in columns:
            at = column if column >= 0 else at if at % 1 else at + 0.5
            yield at

    held = {}
    for letter, slot in zip(one[0], slots(one[1]), strict=True):
        held.setdefault(slot, []).append(letter)
    theirs, last = set(held), max(one[1])
    for letter, slot in zip(other[0], slots(other[1]), strict=True):
        if slot % 1 == 0:
            held[slot] = [either(held[slot][0], letter) if slot in held else letter]
        elif slot > last and slot not in theirs:
            held.setdefault(slot, []).append(letter)
    order = sorted(held)
    letters = "".join("".join(held[slot]) for slot in order)
    return letters, [int(slot) if slot % 1 == 0 else -1 for slot in order for _ in held[slot]]


def pairs_of(package, seed, count, longest):
    """Names and mates: pieces of the reference, near each other or not, and strands at random."""
    rng, made = random.Random(seed), []
    for k, (_, text) in enumerate(reads(seed, count, longest, package=package)):
        half = rng.randint(1, max(1, len(text)))
        mates = text[:half] or "A", other_strand(text[max(0, half - rng.randint(0, 4)) :] or "N")
        made.append((f"p{k}", *(mates if rng.random() < 0.6 else mates[::-1])))
    return [*made, ("unusable", "NNN", "N"), ("one", "NN", "ACGTA"), ("empty", "", "ACGTT")]


def write(folder, pairs, endings=("", "")):
    paths = [folder / name for name in ("r_1.fa", "r_2.fa")]
    for number, (path, ending) in enumerate(zip(paths, endings, strict=True)):
        path.write_text("".join(f">{pair[0]}{ending} x\n{pair[1 + number]}\n" for pair in pairs))
    return paths


@pytest.mark.parametrize("strand", ["plus", "both"])
@pytest.mark.parametrize("seed", range(4))
def test_pairs_are_those_of_the_recurrence(tmp_path, seed, strand):
    package = reference(seed, n_tips=6, n_columns=26)
    pairs = pairs_of(package, seed, 12, 18)
    paths = write(tmp_path, pairs, ("/1", "/2") if seed % 2 else ("", ""))
    placed = list(ta.place(package, [str(paths[0])], mates=[str(paths[1])], strand=strand))
    (placed,) = placed
    assert list(placed.names) == [name for name, _, _ in pairs]
    for k, (_, one, other) in enumerate(pairs):
        ways = [(one, other_strand(other)), (other_strand(one), other)][: 1 + (strand == "both")]
        if not set(one + other) - {"N"}:
            assert placed.branch[k] == -1
            continue
        of_ways = []
        for way in ways:
            usable = [text for text in way if set(text) - {"N"}]
            sets = [package.states.sets[np.frombuffer(text.encode(), np.uint8)].tolist() for text in usable]
            vectors = [vector_of(package, b) for b in range(package.n_branches)]
            of_ways.append([sum(oracle.score(v, s, PROGRAM.numbers()) for s in sets) for v in vectors])
        best_way = 1 if len(of_ways) > 1 and max(of_ways[1]) > max(of_ways[0]) else 0
        scores = of_ways[best_way]
        assert placed.strand[k] == (-1 if best_way else 1)
        assert placed.score[k] == max(scores) and placed.branch[k] == scores.index(max(scores))
        assert placed.tied[k].tolist() == [b for b, score in enumerate(scores) if score == max(scores)]
        assert placed.second_score[k] == sorted(scores)[-2]
        vector = vector_of(package, scores.index(max(scores)))
        mates = []
        for text in ways[best_way]:
            columns = [-1] * len(text)
            if set(text) - {"N"}:
                sets = package.states.sets[np.frombuffer(text.encode(), np.uint8)].tolist()
                columns = [
                    int(package.columns[c]) if c >= 0 else -1 for c in oracle.path(vector, sets, PROGRAM.numbers())
                ]
            mates.append((text, columns))
        letters, columns = placed.read(k)
        assert (letters.tobytes().decode(), columns.tolist()) == together(*mates)


def test_threads_tiles_and_pruning_change_nothing(tmp_path, monkeypatch):
    package = reference(7, n_tips=8, n_columns=40)
    paths = [str(path) for path in write(tmp_path, pairs_of(package, 3, 30, 24))]
    (whole,) = ta.place(package, paths[0], mates=paths[1], strand="both", n_threads=1)
    monkeypatch.setenv("TROPALIGN_TILE_READS", "7")
    pieces = list(ta.place(package, paths[0], mates=paths[1], strand="both", n_threads=2, prune=False))
    assert len(pieces) > 3
    for name in ("branch", "score", "second_score", "ties", "strand", "letters", "column", "tied_branches"):
        joined = np.concatenate([getattr(piece, name) for piece in pieces])
        np.testing.assert_array_equal(joined, getattr(whole, name), err_msg=name)


def test_whole_fragments_get_their_place(tmp_path):
    """Forward and reverse mates of fragments that overlap in the middle spell the fragment."""
    rng = np.random.default_rng(5)
    row = "".join(rng.choice(list("ACGT"), 120))
    rows = np.array([list(text.encode()) for text in (row, row[:60] + other_strand(row[:60]), "A" * 120)], np.uint8)
    package = ta.ReferencePackage.build(("a", "b", "c"), rows, "(a:0.1,b:0.1,c:0.1);")
    fragment = row[15:105]
    paths = write(
        tmp_path, [("p", fragment[:50], other_strand(fragment[40:])), ("q", fragment[:30], other_strand(fragment[60:]))]
    )
    (placed,) = ta.place(package, paths[0], mates=paths[1])
    letters, columns = placed.read(0)
    assert letters.tobytes().decode() == fragment and columns.tolist() == list(range(15, 105))
    letters, columns = placed.read(1)
    assert letters.tobytes().decode() == fragment[:30] + fragment[60:]
    assert columns.tolist() == [*range(15, 45), *range(75, 105)] and placed.score.tolist() == [200, 120]


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (">a\nAC\n>b\nAC\n", ">a\nAC\n", r"r_2.fa: the file ends before .*r_1.fa: both must hold the mates"),
        (">a\nAC\n", ">a\nAC\n>b\nAC\n", r"r_1.fa: the file ends before .*r_2.fa"),
        (">a\nAC\n>b\nAC\n", ">a\nAC\n>c\nAC\n", r"r_2.fa, record 'c': expected the mate of 'b'"),
        (">a/1\nAC\n", ">a/1\nAC\n", None),
        (">a/2\nAC\n", ">a/1\nAC\n", r"record 'a/1': expected the mate of 'a/2'"),
        (">a/1\nAC\n", ">a\nAC\n", r"record 'a': expected the mate of 'a/1'"),
    ],
)
def test_files_that_are_not_in_step(tmp_path, one, other, words):
    package = reference(1)
    (tmp_path / "r_1.fa").write_text(one)
    (tmp_path / "r_2.fa").write_text(other)
    placing = {"reads": [str(tmp_path / "r_1.fa")], "mates": [str(tmp_path / "r_2.fa")]}
    if words is None:
        assert next(iter(ta.place(package, **placing))).names == ("a",)
        return
    with pytest.raises(InputError, match=words):
        list(ta.place(package, **placing))


def test_what_has_no_mates(tmp_path):
    paths = write(tmp_path, [("a", "ACD", "ACD")])
    with pytest.raises(
        InputError, match="mates lie on opposite strands, but proteins have only one: place the reads without mates"
    ):
        ta.place(reference(1, kind="protein"), paths[0], mates=paths[1])
    with pytest.raises(
        UsageError, match="2 files of reads, but 1 of mates: give the same number of each, in the same order"
    ):
        ta.place(reference(1), [paths[0], paths[0]], mates=paths[1])
    with pytest.raises(UsageError, match=r"r_1.fa is given both as reads and as their mates: give another file"):
        list(ta.place(reference(1), paths[0], mates=str(paths[0])))
