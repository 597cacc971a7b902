"""Sequences on the opposite strand to their family: named, turned if requested, and never seen where none is."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from clone import ROOT

import tropalign
from tropalign.errors import InputError, UsageError
from tropalign.msa.family import MARK, turned, with_turned

AMPLICONS = tropalign.read_sequences(ROOT / "examples" / "amplicons.fasta")
WAYS = [{"effort": effort} for effort in ("default", "accurate", "fast")]


def family(n=6, turned_rows=(), batch=AMPLICONS):
    return flipped(batch[:n], np.isin(np.arange(n), turned_rows))


def flipped(batch, is_turned):
    """Some sequences on their other strand, and nothing that says so."""
    return replace(with_turned(batch, is_turned), descriptions=())


def evolved(rng, length, n, distance):
    """Nucleotides at about this distance from each other."""
    root = rng.integers(0, 4, length)
    rows = [np.where(rng.random(length) < distance / 2, rng.integers(0, 4, length), root) for _ in range(n)]
    return batch_of("".join("ACGT"[k] for k in row) for row in rows)


def batch_of(texts):
    return tropalign.SequenceBatch.from_strings(texts, alphabet="nucleotide")


def said(call):
    """What a call returns, and the warnings that it gives."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = call()
    return found, [str(one.message) for one in seen]


@pytest.mark.parametrize("how", WAYS)
def test_a_turned_sequence_is_named(how):
    batch = family(turned_rows=[2])
    found, texts = said(lambda: tropalign.align_multiple(batch, **how))
    name, is_judged = batch.names[2], how.get("effort") != "fast"
    assert texts == [
        f"1 of 6 sequences is on the opposite strand to the rest of the family: {name}; strand adjust "
        f"reverse-complements it",
        *[f"1 of 6 sequences does not seem to belong to the family: {name}; drop_foreign leaves it out"] * is_judged,
    ]
    assert found.sequences.letters.tolist() == batch.letters.tolist()


def test_clustalw_names_and_turns_it_too():
    batch = family(turned_rows=[2])
    assert len(said(lambda: tropalign.align_clustalw(batch))[1]) == 1
    found, texts = said(lambda: tropalign.align_clustalw(batch, strand="adjust"))
    assert found.letters.tolist() == tropalign.align_clustalw(family()).letters.tolist() and len(texts) == 1


@pytest.mark.parametrize("how", WAYS)
def test_it_is_turned_where_that_is_wanted(how):
    batch = family(turned_rows=[2, 4])
    found, texts = said(lambda: tropalign.align_multiple(batch, strand="adjust", **how))
    assert texts == [
        f"2 of 6 sequences are on the opposite strand to the rest of the family: {batch.names[2]}, "
        f"{batch.names[4]}; replaced by their reverse complements"
    ]
    right = tropalign.align_multiple(family(), **how)
    assert found.names == right.names and found.letters.tolist() == right.letters.tolist()
    assert [text.endswith(MARK) for text in found.sequences.descriptions] == [k in (2, 4) for k in range(6)]


def test_the_strand_of_most_is_right_and_of_as_many_the_first_one():
    assert turned(family(20, range(12)), 1).tolist() == [k >= 12 for k in range(20)]
    for rows in (range(10), range(10, 20)):
        assert turned(family(20, rows), 1).tolist() == [k >= 10 for k in range(20)]
    assert turned(family(2, [1]), 1).tolist() == turned(family(2, [0]), 1).tolist() == [False, True]


@pytest.mark.parametrize("share", [1 / 60, 0.2, 0.45])
def test_all_of_a_real_family_are_found_and_no_other(share):
    is_turned = np.random.default_rng(3).permutation(60) < 60 * share
    assert turned(with_turned(AMPLICONS, is_turned), 2).tolist() == is_turned.tolist()


@pytest.mark.parametrize(("length", "distance"), [(60, 0.1), (150, 0.3), (1500, 0.4)])
def test_kin_of_any_length(length, distance):
    rng = np.random.default_rng(length)
    batch = evolved(rng, length, 8, distance)
    assert not turned(batch, 1).any()
    assert turned(with_turned(batch, np.arange(8) == 5), 1).tolist() == [k == 5 for k in range(8)]


def test_real_families_of_one_strand_are_not_warned_of():
    reference = tropalign.read_alignment(ROOT / "examples" / "16s" / "ref.phy.gz").sequences
    reads = tropalign.read_sequences(ROOT / "examples" / "16s" / "reads.fasta")
    assert not turned(AMPLICONS, 1).any() and not turned(reads, 1).any()
    some = reference[:200]
    assert not turned(some, 1).any() and not turned(reads, 1, some).any()


def test_chance_is_not_kinship():
    rng = np.random.default_rng(7)
    texts = ["".join(rng.choice(list("ACGT"), 300, p=[0.6, 0.1, 0.1, 0.2])) for _ in range(30)]
    others = ["".join(rng.choice(list("ACGT"), 300, p=[0.2, 0.1, 0.1, 0.6])) for _ in range(5)]
    for some in (texts, [*texts, *others], ["A" * 200, "ACGT" * 50, "A" * 100]):
        assert not turned(batch_of(some), 1).any()


def test_stems_that_are_their_own_other_strand():
    rng = np.random.default_rng(8)
    arms = evolved(rng, 60, 8, 0.2)
    loops = evolved(rng, 12, 8, 0.6)
    stems = [arms.text(k) + loops.text(k) + arms.reverse_complement().text(k) for k in range(8)]
    assert not turned(batch_of(stems), 1).any()


def test_letters_keep_their_case_and_unknown_ones():
    batch = batch_of({"a": "ACgtuRn" * 9, "b": "AACC"})
    made = with_turned(batch, np.array([True, False]))
    assert made.text(0) == "nYaacGT" * 9 and made.text(1) == "AACC" and made.descriptions == (MARK, "")
    assert not turned(batch_of(["N" * 50, "R" * 40, "ACG"]), 1).any()


def test_proteins_have_one_strand():
    proteins = {"a": "MKVLAWMKT", "b": "MKILAWMT"}
    assert said(lambda: tropalign.align_multiple(proteins))[1] == []
    why = "^proteins have no opposite strand: leave strand adjust out$"
    for align in (tropalign.align_multiple, tropalign.align_clustalw):
        with pytest.raises(InputError, match=why):
            align(proteins, strand="adjust")
    with pytest.raises(UsageError, match=r"^strand 'both' is not one of plus, adjust$"):
        tropalign.align_multiple(proteins, strand="both")


def test_new_sequences_of_an_alignment():
    old = tropalign.align_multiple(family(8))
    new = flipped(AMPLICONS[10:14], np.array([False, True, False, False]))
    found, texts = said(lambda: tropalign.add_sequences(old, new))
    assert texts == [
        f"1 of 4 sequences is on the opposite strand to the alignment: {new.names[1]}; strand adjust "
        f"reverse-complements it"
    ]
    assert found.sequences.letters.tolist()[-len(new.letters) :] == new.letters.tolist()
    found, texts = said(lambda: tropalign.add_sequences(old, new, strand="adjust"))
    right = tropalign.add_sequences(old, AMPLICONS[10:14])
    assert found.letters.tolist() == right.letters.tolist() and len(texts) == 1
    assert found.sequences.descriptions[9] == MARK


def test_all_new_sequences_may_be_turned():
    old = tropalign.align_multiple(family(8))
    new = AMPLICONS[10:14].reverse_complement()
    found, texts = said(lambda: tropalign.add_sequences(old, new, strand="adjust"))
    assert found.letters.tolist() == tropalign.add_sequences(old, AMPLICONS[10:14]).letters.tolist()
    assert texts[0].startswith("4 of 4 sequences are on the opposite strand to the alignment: ")
    assert texts[0].endswith("; replaced by their reverse complements")


def test_alignments_that_are_merged_are_warned_of():
    first = tropalign.align_multiple(family(8))
    second = tropalign.align_multiple(AMPLICONS[10:14].reverse_complement())
    _, texts = said(lambda: tropalign.merge_alignments(first, second))
    assert texts == [
        f"4 of 4 rows to be merged are on the opposite strand to the alignment: {', '.join(second.names)}; "
        f"reverse-complement them first"
    ]


def test_many_names_are_counted():
    batch = with_turned(AMPLICONS, np.arange(60) % 4 == 1)
    _, texts = said(lambda: tropalign.align_multiple(batch, effort="fast"))
    (text,) = texts
    assert text.startswith("15 of 60 sequences are on ") and f"{batch.names[37]} and 5 more; strand" in text


def test_a_piece_of_a_long_sequence_shows_its_strand():
    rng = np.random.default_rng(5)
    root = rng.choice(list("ACGT"), 12_000)
    members = [np.where(rng.random(12_000) < 0.05, rng.choice(list("ACGT"), 12_000), root) for _ in range(3)]
    members[1][:5000] = members[2][6000:] = "N"  # the pieces lie elsewhere
    texts = {f"s{k}": "".join(one) for k, one in enumerate(members)}
    batch = tropalign.SequenceBatch.from_strings(texts, alphabet=tropalign.NUCLEOTIDE)
    assert not turned(batch, 1).any()
    assert turned(with_turned(batch, np.array([False, True, True]))[np.array([0, 1])], 1).tolist() == [False, True]
    assert turned(with_turned(batch, np.array([False, True, False])), 1).tolist() == [False, True, False]
