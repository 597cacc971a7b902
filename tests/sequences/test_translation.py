"""Six frames against Biopython's translation of each."""

import random
from itertools import product

import numpy as np
import pytest
from Bio.Data.CodonTable import unambiguous_dna_by_id
from Bio.Seq import Seq

import tropalign as ta
from tropalign.sequences.translation import FRAMES, codon_table


def biopythons(text, frame, code):
    """Biopython's words, which are of two letters (B: D or N) where ours is X."""
    strand = Seq(text) if frame > 0 else Seq(text).reverse_complement()
    piece = strand[abs(frame) - 1 :]
    protein = str(piece[: len(piece) // 3 * 3].translate(table=code))
    return protein.translate(str.maketrans("BZJ", "XXX"))


@pytest.mark.filterwarnings("ignore:This table contains")
@pytest.mark.parametrize("code", sorted(unambiguous_dna_by_id))
def test_every_code_as_biopython_translates(code):
    draw = random.Random(code)
    texts = {f"s{k}": "".join(draw.choices("ACGT", k=draw.choice([3, 4, 5, 6, 50, 301]))) for k in range(20)}
    texts["every codon"] = "".join(a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT")
    found = ta.translate(ta.SequenceBatch.from_strings(texts, alphabet="nucleotide"), code)
    expected = {}
    for name, text in texts.items():
        for frame in FRAMES:
            if protein := biopythons(text, frame, code):
                expected[f"{name}/{frame:+d}"] = protein
    assert dict(zip(found.names, (str(protein) for protein in found), strict=True)) == expected
    assert found.alphabet == ta.PROTEIN


def test_ambiguous_letters_rna_and_some_frames():
    draw = random.Random(5)
    text = "".join(draw.choices(ta.NUCLEOTIDE.letters, k=1200)) + "GCNTARTGYATHNNNTANRAY"
    found = ta.translate(ta.SequenceBatch.from_strings([text.lower()], ["a"], "nucleotide"))
    assert [str(protein) for protein in found] == [biopythons(text, frame, 1) for frame in FRAMES]
    assert str(found[0]).endswith("A*CIXXX")
    batch = ta.SequenceBatch.from_strings(["AUGGCCUAA", "AUGG"], ["x", "y"], "nucleotide")
    found = ta.translate(batch, frames=(3, 1, -2))
    assert [(p.name, str(p)) for p in found] == [
        ("x/+3", "GL"), ("x/+1", "MA*"), ("x/-2", "*A"), ("y/+1", "M"), ("y/-2", "H"),
    ]  # fmt: skip


#: What IUPAC's letters mean (Cornish-Bowden 1985).
MEANT = {letter: letter for letter in "ACGT"}
MEANT |= {"R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC"}
MEANT |= {"B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT"}


@pytest.mark.parametrize("code", sorted(unambiguous_dna_by_id))
def test_a_codon_is_what_all_that_its_letters_mean_agree_on(code):
    residues = unambiguous_dna_by_id[code].forward_table
    codons = ["".join(codon) for codon in product(MEANT, repeat=3)]
    expected = ""
    for codon in codons:
        meant = {residues.get("".join(bases), "*") for bases in product(*(MEANT[letter] for letter in codon))}
        expected += meant.pop() if len(meant) == 1 else "X"
    (found,) = ta.translate(ta.SequenceBatch.from_strings(["".join(codons)], alphabet="nucleotide"), code, frames=[1])
    assert str(found) == expected


@pytest.mark.parametrize("frame", FRAMES)
def test_places_of_residues_are_as_documented(frame):
    draw = np.random.default_rng(1)
    text = "".join(draw.choice(list("ACGT"), 100))
    protein = str(ta.translate(ta.SequenceBatch.from_strings([text], alphabet="nucleotide"), frames=[frame])[0])
    a, b, f = 5, 20, abs(frame)
    piece = text[f - 1 + 3 * a : f - 1 + 3 * b] if frame > 0 else text[100 - (f - 1) - 3 * b : 100 - (f - 1) - 3 * a]
    assert biopythons(piece, 1 if frame > 0 else -1, 1) == protein[a:b]


@pytest.mark.parametrize("code", [0, 7, 99, -1, True, "1", None])
def test_no_such_code(code):
    with pytest.raises(
        ta.errors.UsageError, match=rf"^there is no genetic code {code!r}: use one of NCBI's numbers 1, 2, 3,"
    ):
        ta.translate(ta.SequenceBatch.from_strings(["ACGTACGT"]), code)


def test_the_genetic_code_by_its_former_name():
    batch = ta.SequenceBatch.from_strings({"a": "ATGTGA"}, alphabet="nucleotide")
    assert str(ta.translate(batch, genetic_code=4, frames=[1])[0]) == "MW"
    with pytest.warns(FutureWarning, match="^the argument code is now called genetic_code$"):
        assert str(ta.translate(batch, code=4, frames=[1])[0]) == "MW"
    with pytest.raises(TypeError, match="unexpected keyword argument 'table'"):
        ta.translate(batch, table=4)
    with pytest.raises(TypeError, match="multiple values for argument 'genetic_code'"):
        ta.translate(batch, 11, code=4)


@pytest.mark.parametrize("frames", [(), (0,), (1, 1), (4,), (1, -4)])
def test_no_such_frame(frames):
    with pytest.raises(ta.errors.UsageError, match=r"choose from 1, 2, 3, -1, -2, -3, each at most once$"):
        ta.translate(ta.SequenceBatch.from_strings(["ACGTACGT"]), frames=frames)


def test_odd_nucleotides_short_sequences_and_kept_tables():
    for wrong in (ta.SequenceBatch.from_strings(["MKVLAW"]), ["MKVLAW"]):
        with pytest.raises(ta.InputError, match=r"^only nucleotides can be translated: give nucleotide sequences"):
            ta.translate(wrong)
    batch = ta.SequenceBatch.from_strings({"long": "ACGTA", "short": "AC"}, alphabet="nucleotide")
    with pytest.raises(ta.InputError, match=r"^record 'short': the sequence is shorter than a codon in every"):
        ta.translate(batch)
    assert codon_table(11) is codon_table(11)
    with pytest.raises(ValueError, match="read-only"):
        codon_table(11)[0, 0, 0] = 1
