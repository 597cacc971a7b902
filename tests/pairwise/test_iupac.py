"""What ambiguous letters score without a matrix: as vsearch has it, as edlib has it, and by definition."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from oracles.pairwise import align as by_definition

import tropalign as ta
from tropalign.cli.main import main
from tropalign.sequences.alphabet import IUPAC_RULES

STANDS_FOR = {
    **{letter: letter for letter in "ACGT"},
    **{"R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC"},
    **{"B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT"},
}


def matrix(iupac, match=5, mismatch=-4):
    return ta.SubstitutionMatrix.match_mismatch(match, mismatch, iupac=iupac)


@pytest.fixture(scope="module")
def data(request):
    return request.config.rootpath / "tests" / "data"


@pytest.fixture(scope="module")
def sequences(data):
    """Nine sequences of some 60 nucleotides, of which a seventh is ambiguous."""
    return ta.read_sequences(data / "iupac.fasta")


@pytest.mark.parametrize("iupac", IUPAC_RULES)
def test_every_pair_of_letters(iupac):
    scores = matrix(iupac)
    for one in STANDS_FOR:
        for other in STANDS_FOR:
            shared, is_plain = (
                set(STANDS_FOR[one]) & set(STANDS_FOR[other]),
                len(STANDS_FOR[one] + STANDS_FOR[other]) == 2,
            )
            wanted = 5 if one == other else -4
            if iupac == "match":
                wanted = 5 if shared else -4
            elif "N" in (one, other) or (iupac == "zero" and not is_plain):
                wanted = 0
            assert scores[one, other] == scores[one.lower(), other] == wanted, (one, other)
    assert (scores.name == "match 5 mismatch -4") == (iupac == "mismatch")


def test_letters_of_proteins_and_of_ambiguous_nucleotides():
    scores = ta.SubstitutionMatrix.match_mismatch(2, -1, "protein", "match")
    assert [scores[pair] for pair in ("BD", "BN", "BZ", "ZE", "JL", "XW", "BX", "**", "*A", "X*", "WA")] == [
        *[2, 2, -1, 2, 2, 2, 2, 2, -1, -1, -1]
    ]
    pair = ta.align("ACGTRCGTN", "ACGTACGTC", matrix=matrix("match"), mode="global")
    assert (pair.score, pair.cigar, pair.n_identical, pair.n_similar) == (45, "4=1X3=1X", 7, 9)


def test_scores_of_vsearch(data, sequences):
    """vsearch 2.22.1 with --gapopen 10 --gapext 1, of which the first is the whole cost of a gap's first residue."""
    lines = [line.split("\t") for line in (data / "vsearch_iupac.tsv").read_text().splitlines()[1:]]
    number = {name: k for k, name in enumerate(sequences.names)}
    for query, target, raw in lines:
        pair = (sequences.text(number[name]) for name in (query, target))
        found = ta.align(*pair, mode="global", matrix=matrix("zero"), gap=ta.Gap(9, 1), alphabet="nucleotide")
        assert found.score == int(raw)
    assert len(lines) == 36


def test_distances_of_edlib(sequences):
    edlib = pytest.importorskip("edlib")
    scores = matrix("match", 0, -1)
    equal = [(one, other) for one in STANDS_FOR for other in STANDS_FOR if scores[one, other] == 0 and one != other]
    texts = [sequences.text(k) for k in range(len(sequences))]
    for pair in combinations(texts, 2):
        found = ta.align(*pair, mode="global", matrix=scores, gap=ta.Gap(0, 1), alphabet="nucleotide")
        assert found.score == -edlib.align(*pair, additionalEqualities=equal)["editDistance"]


@cache
def defined(one, other, iupac, mode):
    """The oracle's alignment, for all instruction sets at once."""
    codes = ([ta.NUCLEOTIDE.letters.index(letter) for letter in side] for side in (one, other))
    return by_definition(*codes, matrix(iupac).scores, 10, 1, mode)


@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
@pytest.mark.parametrize("iupac", IUPAC_RULES)
def test_alignments_by_definition(sequences, mode, iupac, isa):
    """Also of sequences that hardly differ, for which there are bands and wavefronts."""
    rng = np.random.default_rng(11)
    text = "".join(rng.choice(list("ACGT"), 230))
    like = "".join(rng.choice(list("RYN")) if rng.random() < 0.02 else letter for letter in text)
    texts = [sequences.text(0), sequences.text(1), text, like, like[:100] + like[103:]]
    scores = matrix(iupac)
    batch = ta.SequenceBatch.from_strings(texts, alphabet="nucleotide")
    (table,) = ta.align_all(batch, mode=mode, matrix=scores, gap=ta.Gap(10, 1))
    for k, (one, other) in enumerate(combinations(texts, 2)):
        wanted = defined(one, other, iupac, mode)
        found = ta.align(one, other, mode=mode, matrix=scores, gap=ta.Gap(10, 1), alphabet="nucleotide")
        for row in (found, table[k]):
            assert (row.score, row.cigar, row.n_identical, row.n_similar) == (
                wanted.score, wanted.cigar, wanted.n_identical, wanted.n_similar
            )  # fmt: skip


def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "two.fa"
    path.write_text(">a\nACGTRCGTN\n>b\nACGTACGTC\n")
    scores = []
    for words in ([], *(["--iupac", iupac] for iupac in IUPAC_RULES), ["--iupac", "match", "--match", "1.5"]):
        assert main(["pairs", str(path), "--mode", "global", "--alphabet", "nucleotide", "-q", *words]) == 0
        out = capsys.readouterr().out
        scores.append(out.splitlines()[-1].split("\t")[2])
        assert ("iupac match" in out) == ("match" in words)
    assert scores == ["31", "31", "35", "45", "13.5"]


@pytest.mark.parametrize("iupac", ["average", None, True, ["match"]])
def test_no_such_rule(iupac):
    with pytest.raises(ta.ScoringError, match="is not one of mismatch, zero, match"):
        matrix(iupac)
