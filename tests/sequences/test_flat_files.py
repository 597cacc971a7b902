"""Files of UniProt, EMBL and GenBank, read as Biopython and HMMER read them."""

import gzip
import io
import random

import pytest
from Bio import SeqIO
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord

import tropalign as ta
from tropalign.sequences import flat_files
from tropalign.sequences.flat_files import FlatFileText

UNIPROT = """ID   7LESS_DROME             Reviewed;          62 AA.
AC   P13368; Q9TYI0; Q9U5V7; Q9VZ36;
DT   01-JAN-1990, integrated into UniProtKB/Swiss-Prot.
DE   RecName: Full=Protein sevenless;
DE            EC=2.7.10.1;
OS   Drosophila melanogaster (Fruit fly).
CC   -!- FUNCTION: Receptor for an extracellular signal;
CC       // and more.
SQ   SEQUENCE   62 AA;  287107 MW;  BCD93A9A9FBF0C9A CRC64;
     MTMFWQQNVD HQSDEQDKQA KGAAPTKRLN ISFNVKIAVN VNTKMTTTHI NQQAPGTSSS
     SX
//
ID   SECOND_HUMAN            Unreviewed;         3 AA.
SQ   SEQUENCE   3 AA;  287 MW;  BCD93A9A9FBF0C9A CRC64;
     MTU
//
"""
EMBL = """ID   X56734; SV 1; linear; mRNA; STD; PLN; 30 BP.
XX
AC   X56734; S46826;
DE   Trifolium repens mRNA for
DE   non-cyanogenic beta-glucosidase
XX
SQ   Sequence 30 BP; 8 A; 6 C; 6 G; 10 T; 0 other;
     aaacaaacca aatatggatt ttattgtagc        30
//
"""
GENBANK = """LOCUS       SCU49845                  70 bp    DNA     linear   PLN 21-JUN-1999
DEFINITION  Saccharomyces cerevisiae TCP1-beta gene, partial cds,
            and Axl2p gene.
ACCESSION   U49845
VERSION     U49845.1  GI:1293613
FEATURES             Location/Qualifiers
     source          1..70
                     /note="ORIGIN and // and VERSION"
ORIGIN
        1 gatcctccat atacaacggt atctccacct caggtttaga tctcaacaac ggaaccattg
       61 ccgacatgag
//
"""
WHOLE = {
    "uniprot": (
        UNIPROT,
        {
            "7LESS_DROME": "MTMFWQQNVDHQSDEQDKQAKGAAPTKRLNISFNVKIAVNVNTKMTTTHINQQAPGTSSSSX",
            "SECOND_HUMAN": "MTU",
        },
        ("RecName: Full=Protein sevenless; EC=2.7.10.1;", ""),
    ),
    "embl": (
        EMBL,
        {"X56734.1": "aaacaaaccaaatatggattttattgtagc"},
        ("Trifolium repens mRNA for non-cyanogenic beta-glucosidase",),
    ),
    "genbank": (
        GENBANK,
        {"U49845.1": "gatcctccatatacaacggtatctccacctcaggtttagatctcaacaacggaaccattgccgacatgag"},
        ("Saccharomyces cerevisiae TCP1-beta gene, partial cds, and Axl2p gene",),
    ),
}


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("change", ["", "blanks", "dos", "gzip", "cut end"])
def test_records(kind, change, tmp_path):
    text, records, descriptions = WHOLE[kind]
    data = text.encode()
    if change == "blanks":
        data = b"\xef\xbb\xbf\n\n" + data + b"\n \n"
    elif change == "dos":
        data = data.replace(b"\n", b"\r\n")
    elif change == "gzip":
        data = gzip.compress(data, mtime=0)
    elif change == "cut end":
        data = data.rstrip()
    path = tmp_path / "a.dat"
    path.write_bytes(data)
    batch = ta.read_sequences(path)
    assert {name: batch.text(k) for k, name in enumerate(batch.names)} == records
    assert batch.descriptions == descriptions


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64, 1 << 20])
def test_records_of_any_piece_equal_biopythons(piece, monkeypatch):
    monkeypatch.setattr(flat_files, "_PIECE_BYTES", piece)
    rng = random.Random(1)
    for kind, letters, molecule in (
        ("embl", "ACGT", "DNA"),
        ("genbank", "ACGTN", "DNA"),
        ("genbank", "MKVL", "protein"),
    ):
        records = [
            SeqRecord(
                Seq("".join(rng.choices(letters, k=rng.choice((1, 10, 59, 60, 61, 250))))),
                id=f"AB{k}.2",
                name=f"AB{k}",
                description="words of it " * rng.randrange(1, 12),
                annotations={"molecule_type": molecule},
            )
            for k in range(6)
        ]
        text = io.StringIO()
        SeqIO.write(records, text, kind)
        found = io.BufferedReader(FlatFileText(io.BytesIO(text.getvalue().encode()), "x", False)).read().decode()
        read = list(SeqIO.parse(io.StringIO(found), "fasta"))
        expected = list(SeqIO.parse(io.StringIO(text.getvalue()), kind))
        assert [str(one.seq).upper() for one in read] == [str(one.seq).upper() for one in expected]
        assert [one.id for one in read] == [one.id for one in expected]
        assert [one.description.split()[1:] for one in read] == [one.description.split() for one in expected]


def test_names_and_letters_are_those_of_hmmer(tmp_path):
    easel = pytest.importorskip("pyhmmer.easel")
    path = tmp_path / "a.dat"
    path.write_text(UNIPROT)
    with easel.SequenceFile(path, format="uniprot") as file:
        expected = [(one.name, one.description, one.sequence) for one in file]
    batch = ta.read_sequences(path)
    texts = [text.decode() if isinstance(text, bytes) else text for one in expected for text in one]
    found = [text for k, name in enumerate(batch.names) for text in (name, batch.descriptions[k], batch.text(k))]
    assert [" ".join(text.split()) for text in texts] == found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (UNIPROT[:-120], "the file ends before the sequence of its last record"),
        (UNIPROT[: UNIPROT.index("ISFN")], "record '7LESS_DROME': the file ends within this record, which must"),
        (UNIPROT.replace("KGAA", "K>AA"), "record '7LESS_DROME': '>' in the sequence: correct the record"),
        (UNIPROT.replace("KGAA", "K\u00c4AA"), "record '7LESS_DROME': a non-ASCII byte in the sequence"),
        (UNIPROT.replace("ID   SEC", "XX   SEC"), "record 'after 7LESS_DROME': a record must begin with 'ID'"),
        (EMBL[: EMBL.index("     aaac")] + "//\n", "record 'X56734.1': the sequence is empty"),
        ("LOCUS       A  0 bp DNA\nVERSION     A.1\nCONTIG      B.1\n//\n", "record 'A.1': the sequence is empty"),
        ("ID   \nSQ   \n   acgt\n//\n", "the header has no name"),
    ],
)  # fmt: skip
def test_faults_get_a_sentence(text, sentence, tmp_path):
    path = tmp_path / "a.dat"
    path.write_text(text)
    with pytest.raises(ta.InputError) as error:
        ta.read_sequences(path)
    assert sentence in str(error.value)
