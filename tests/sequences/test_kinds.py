"""Nucleotides and proteins told apart, record by record."""

import random
import warnings
from pathlib import Path

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.errors import InputError, TropalignWarning
from tropalign.sequences.alphabet import byte_counts
from tropalign.sequences.kinds import Evidence, Kind, Tally, alphabet_by
from tropalign.sequences.reader import evidence_of

N, P = ta.NUCLEOTIDE, ta.PROTEIN
DNA = "ACGTACGTTGCATGCA"

#: 16S, 18S, ITS and COI primers with degenerate codes and inosine.
PRIMERS = """GTGYCAGCMGCCGCGGTAA GTGCCAGCMGCCGCGGTAA GGACTACNVGGGTWTCTAAT GGACTACHVGGGTWTCTAAT AGAGTTTGATCMTGGCTCAG
AGAGTTTGATYMTGGCTCAG TACGGYTACCTTGTTACGACTT CCTACGGGNGGCWGCAG GACTACHVGGGTATCTAATCC CCGYCAATTYMTTTRAGTTT
GTGARTCATCRARTYTTTG AACTTTYRRCAAYGGATCWCT CTTGGTCATTTAGAGGAAGTAA TCCTCCGCTTATTGATATGC GGWACWGGWTGAACWGTWTAYCCYCC
GGWACWRGWTGRACWNTNTAYCCYCC TANACYTCNGGRTGNCCRAARAAYCA KBTCHACAAAYCAYAARGAYATHGG TAAACYTCWGGRTGWCCRAARAAYCA
GGIACIGGITGGACIGTITAYCC TAIACYTCIGGRTGICCRAARAAYCA TITCIACIAAYCAYAARGAYATTGG GGNTGAACNGTNTAYCCNCC""".split()
MIRNAS = "UGAGGUAGUAGGUUGUAUAGUU UAGCUUAUCAGACUGAUGUUGA UUAAUGCUAAUCGUGAUAGGGGU UAAAGUGCUUAUAGUGCAGGUAG".split()
#: Proteins of few letters: leaders of the threonine operon, glycine-rich repeats, an antifreeze protein, and others.
PROTEINS = [
    "MNRISTTTITTITITTGNGAG",
    "MKRISTTITTTITITTGNGAG",
    "GGGYGGGYGGGYGGLG",
    "ACGTACGTACGTLACGTACGT",
    "TATATATATATATATATATALATA",
    "DTASDAAAAAALTAANAKAAAELTAANAAAAAAATAR",
    "MKV*",
]


@pytest.mark.parametrize("text", [*PRIMERS, *MIRNAS])
def test_primers_and_micro_rnas_are_nucleotides(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error" if "I" not in text else "ignore")
        assert ta.SequenceBatch.from_strings([text]).alphabet == N
        assert ta.SequenceBatch.from_strings([text.lower()]).alphabet == N


@pytest.mark.parametrize("text", PROTEINS)
def test_proteins_of_few_letters_are_proteins(text):
    assert ta.SequenceBatch.from_strings([text]).alphabet == P


@pytest.mark.parametrize("length", [5, 8, 15])
def test_error_rates_of_random_peptides(length):
    """At most 1 in 100 is read as nucleotides, and at most 3 in 1,000 without a warning."""
    frequencies = [82, 55, 41, 55, 14, 39, 67, 71, 23, 60, 97, 58, 24, 39, 47, 66, 53, 11, 29, 69]
    draw = random.Random(length)
    tallies = [
        Tally.of_text("".join(draw.choices("ARNDCQEGHILKMFPSTWYV", frequencies, k=length)).encode())
        for _ in range(5000)
    ]
    wrong = [tally for tally in tallies if alphabet_by(tally.kind, tally) == N]
    assert len(wrong) < {5: 0.015, 8: 0.01, 15: 0.002}[length] * 5000
    assert sum(not tally.is_close for tally in wrong) <= 15
    assert not any(tally.kind == Kind.NUCLEOTIDE for tally in tallies)


@pytest.mark.parametrize(
    ("texts", "alphabet", "is_told"),
    [
        (["GASTKV"], N, True),
        (["GASTKVNDRYWHMC"], P, False),
        (["GAGAGSGAGAGY"], P, True),
        (["MKV"], P, False),
        (["MKV", DNA], N, False),
        (["RYSWKMBDHVN"], N, False),
        (["ACGTRYSWKMBDHVN"], N, False),
        (["GASTKV", DNA], N, False),
        (["GASTKV", "MKVLAW"], P, False),
        (["GATTACA", "GASTKV", "MKVLAW"], P, False),
        (["GATTACA"], N, False),
        (["NNNN", DNA], N, False),
        (["NNNN", "MKVLAW"], P, False),
    ],
)
def test_what_can_be_both_follows_its_companions_or_is_told(texts, alphabet, is_told, tmp_path):
    path = tmp_path / "x.fa"
    path.write_text("".join(f">s{k}\n{text}\n" for k, text in enumerate(texts)))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert ta.read_sequences(path).alphabet == alphabet
    told = [str(one.message) for one in found]
    assert len(told) == is_told and all("record 's0'" in text and 'use alphabet="' in text for text in told)
    assert ta.SequenceBatch.from_strings(texts).alphabet == alphabet


MIXED = ">d\nACGTACGTTGCATGCA\n>p\nMKVLAWFFEE\n"


@pytest.mark.parametrize(
    "line",
    [
        "pairs {mixed}", "pairs {dna} {mixed}", "pairs {mixed} {dna}", "cluster {mixed}", "derep {mixed}",
        "msa {mixed}", "msa {mixed} --method clustalw", "find {dna} {mixed}", "find {mixed} {dna}", "chimeras {mixed}",
        "tree {mixed} --unaligned", "tree {rows}", "msa {rows} --add {dna}",
    ],
)  # fmt: skip
def test_every_verb_refuses_both_kinds_in_one_file(line, tmp_path, capsys):
    files = {"mixed": MIXED, "dna": f">x\n{DNA}\n", "rows": f">d\n{DNA}\n>p\nMKVLAWFFEEMKVLAW\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    paths = {name: str(tmp_path / name) for name in files}
    assert main([*line.format(**paths).split(), "-o", str(tmp_path / "out")]) == 3
    said = capsys.readouterr().err
    assert "'p'" in said and "'d'" in said and "--alphabet" in said, said


@pytest.mark.parametrize("at", range(4))
def test_two_records_of_a_mixed_set_are_named_in_any_order(at, tmp_path):
    records = [f">d{k}\n{DNA}\n" for k in range(3)]
    records.insert(at, ">prot\nMKVLAWFFEE\n")
    path = tmp_path / "x.fa"
    path.write_text("".join(records))
    with pytest.raises(InputError, match=r"record 'prot': this looks like a protein, but record 'd0' is a nucl"):
        ta.read_sequences(path)
    for alphabet in ("protein", "nucleotide"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert ta.read_sequences(path, alphabet=alphabet).alphabet.name == alphabet


def test_both_kinds_in_two_files(tmp_path):
    (tmp_path / "d.fa").write_text(f">d\n{DNA}\n")
    (tmp_path / "p.fa").write_text(">p\nMKVLAW\n")
    with pytest.raises(InputError, match=r"p.fa, record 'p': .* record 'd' of .*d.fa is a nucleotide sequence"):
        ta.read_sequences([tmp_path / "d.fa", tmp_path / "p.fa"])


@pytest.mark.parametrize("text", ["ACGTIACGT", "acgtiacgt", "GGIACIGGITGGACIGTITAYCC"])
def test_inosine_is_n_with_a_warning(text, tmp_path):
    with pytest.warns(TropalignWarning, match=r"'[Ii]' \(inosine\) read as N|'[Ii]' .*; read as N"):
        batch = ta.SequenceBatch.from_strings([text, DNA])
    assert batch.alphabet == N and N.decode(batch.codes[:5])[text[:5].upper().find("I")] == "N"
    path = tmp_path / "x.fa"
    path.write_text(f">a\n{text}\n")
    with pytest.warns(TropalignWarning, match="outside the nucleotide alphabet, the first '[Ii]' .* read as N"):
        assert ta.read_sequences(path).alphabet == N


def test_one_side_follows_the_other():
    for sides in ((["GASTKV"], ["MKVLAWFFE"]), (["MKVLAWFFE"], ["GASTKV"])):
        (table,) = ta.align_all(*sides)
        assert table.queries.alphabet == table.targets.alphabet == P
    for sides in ((["MKV"], [DNA]), ([DNA], ["MKV"]), (["MKV"], ["GATTACA"])):
        (table,) = ta.align_all(*sides)
        assert table.queries.alphabet == table.targets.alphabet == N
    assert ta.align("GASTKV", "MKVLAWFFE").score == 9
    with pytest.raises(InputError, match="the query was detected as nucleotide and the target as protein"):
        ta.align(DNA, "MKVLAWFFE")


def test_place_refuses_reads_of_the_other_kind():
    tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
    rows = np.frombuffer(b"ACGTACGTACGTACGTAC" * 4, np.uint8).reshape(4, -1)
    package = ta.ReferencePackage.build(tuple("abcd"), rows, tree)
    for reads in ([("x", "MKVLAWFFEE")], [("y", "ACGTACGTACG"), ("x", "MPLQ")]):
        with pytest.raises(
            InputError, match="record 'x': according to its letters, the read is a protein sequence, but the ref"
        ):
            list(ta.place(package, reads))
    rows = np.frombuffer(b"MKVLAWFFEEMKVLAWFF" * 4, np.uint8).reshape(4, -1)
    package = ta.ReferencePackage.build(tuple("abcd"), rows, tree)
    with pytest.raises(
        InputError, match="record 'x': according to its letters, the read is a nucleotide sequence, but the ref"
    ):
        list(ta.place(package, [("y", "MKVLAW"), ("x", DNA)]))


def test_blocks_and_texts_are_counted_alike():
    for text in [*PRIMERS, *MIRNAS, *PROTEINS, "", "--..", "acgu" * 50 + "e", "Xx" * 3]:
        letters = np.frombuffer(text.encode(), np.uint8)
        assert Tally.of_text(text.encode()) == Tally.of_counts(byte_counts(letters))
    empty = Evidence()
    empty.add(["a"], np.zeros(0, np.uint8), np.zeros(2, np.int64), np.zeros(256, np.int64))
    assert empty.kind == Kind.NONE and empty.alphabet() == P


def test_proteins_of_the_examples():
    batch = ta.read_sequences(Path("examples/efp.fasta"))
    assert evidence_of(batch).certain.keys() == {Kind.PROTEIN}
