"""Formats of multiple alignments: what is written is what other programs read."""

import io
import re

import numpy as np
import pytest
from Bio import Align, AlignIO, SeqIO
from clone import ROOT, skip_without

import tropalign
from formats.written import written as file_of
from tropalign.errors import InputError
from tropalign.formats.aligned import AlignedContext, ConfidenceFormat
from tropalign.formats.aligned.text import checksum
from tropalign.formats.format import Header, format_names, format_of
from tropalign.results.multiple import MultipleAlignment
from tropalign.sequences import PROTEIN, SequenceBatch

HEADER = Header("1.2.3", "tropalign msa [x].fa", {"mode": "default"})
TEXT_FORMATS = ("fasta", "clustal", "stockholm", "phylip", "msf", "nexus")


def family(n=7, width=150, letters="ACDEFGHIKLMNPQRSTVWYacdXBZ", seed=0, **fields):
    random = np.random.default_rng(seed)
    rows = random.choice(np.frombuffer(letters.encode(), np.uint8), (n, width))
    rows[random.random((n, width)) < 0.3] = ord("-")
    rows[:, 5] = ord(letters[0])
    rows[-1, :4] = rows[-1, -3:] = ord("-")
    names = [f"seq{k}|{'n' * (5 * k)}" for k in range(n)]
    made = MultipleAlignment.from_rows(names, rows)
    return MultipleAlignment(made.sequences, made.columns, made.n_columns, **fields)


def with_confidence():
    plain = family()
    return family(
        residue_confidence=np.linspace(0, 1, len(plain.columns)).astype(np.float32),
        column_confidence=np.linspace(0, 1, 150).astype(np.float32),
    )


def written(name, alignment, kind="aligned"):
    return file_of(kind, name, AlignedContext("my family"), [alignment], HEADER)


def rows_by_biopython(name, data):
    text = io.StringIO(data.decode())
    reader = {"phylip": "phylip-relaxed"}.get(name, name)
    found = list(SeqIO.parse(text, "fasta")) if name == "fasta" else AlignIO.read(text, reader)
    return {row.id: str(row.seq).replace(".", "-") for row in found}


@pytest.mark.parametrize("name", TEXT_FORMATS)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_biopython_reads_the_same(name, n):
    made = family(n)
    assert rows_by_biopython(name, written(name, made)) == dict(zip(made.names, made, strict=True))


@pytest.mark.parametrize("name", ["clustal", "msf", "nexus", "stockholm"])
def test_its_newer_reader_does_too(name):
    made = family()
    (read,) = Align.parse(io.StringIO(written(name, made).decode()), name)
    assert [read[k].replace(".", "-") for k in range(len(made))] == list(made)


@pytest.mark.parametrize("name", [name for name in TEXT_FORMATS if name != "nexus"])
@pytest.mark.parametrize("letters", ["ACDEFGHIKLMNPQRSTVWYacdXBZ", "ACGTNacgt"])
def test_read_again(name, letters, tmp_path):
    made = family(letters=letters)
    path = tmp_path / "x"
    path.write_bytes(written(name, made))
    assert tropalign.read_alignment(path) == made


def test_every_format_is_tested():
    assert set(format_names("aligned")) - {"html", "png", "result", "svg", "vcf"} == {*TEXT_FORMATS, "a2m", "a3m"}
    suffixes = [suffix for name in format_names("aligned") for suffix in format_of("aligned", name).suffixes]
    assert len(set(suffixes)) == len(suffixes)
    assert isinstance(format_of("aligned", "stockholm"), ConfidenceFormat)
    assert not isinstance(format_of("aligned", "fasta"), ConfidenceFormat)


def test_every_format_has_a_row_on_the_page():
    skip_without("docs")
    page = (ROOT / "docs" / "msa.md").read_text()
    rows = re.findall(r"^\| `(\w+)`(?: \(default\))? \| ((?:`\.\w+` ?)+) \|", page, re.MULTILINE)
    assert {name: tuple(re.findall(r"\.\w+", suffixes)) for name, suffixes in rows} == {
        name: format_of("aligned", name).suffixes for name in format_names("aligned")
    }


def test_fasta_keeps_descriptions_and_a3m_the_columns_of_the_first_row():
    batch = SequenceBatch.from_strings({"a": "ACGT", "b": "ACG"})
    described = SequenceBatch(batch.codes, batch.offsets, batch.names, batch.alphabet, batch.letters, ("first one", ""))
    made = MultipleAlignment(described, np.array([0, 1, 2, 3, 0, 1, 3], np.int32), 4)
    assert written("fasta", made) == b">a first one\nACGT\n>b\nAC-G\n"
    assert b"#=GS a DE first one\n" in written("stockholm", made)
    rows = {"q": "AC-DE-F", "b": "-CGdEH-", "c": "ac---hf"}
    made = MultipleAlignment.from_rows(rows, rows.values())
    assert written("a3m", made) == b">q\nACDEF\n>b\n-CgDEh-\n>c\nAC--hF\n"


def test_marks_of_columns_and_checksums():
    rows = {"a": "AaS-CWT", "b": "AATACWA", "c": "AAAACRV"}
    made = MultipleAlignment.from_rows(rows, rows.values(), PROTEIN)
    lines = written("clustal", made).decode().splitlines()
    assert lines[0] == "CLUSTAL multiple sequence alignment by tropalign 1.2.3"
    assert lines[5][11:] == "**: * ."
    dna = MultipleAlignment.from_rows(["a", "b"], ["AACGT", "ATCGT"])
    assert written("clustal", dna).decode().splitlines()[4][11:] == "* ***"
    # GCG's checksum of hbb_human in the example of its documentation of MSF has no gaps within 57 letters; by hand:
    assert checksum(np.frombuffer(b"ACa", np.uint8)) == 65 * 1 + 67 * 2 + 65 * 3
    assert checksum(np.frombuffer(b"A" * 58, np.uint8)) == (65 * (57 * 58 // 2 + 1)) % 10_000


def test_confidence_in_tables_and_stockholm():
    made = with_confidence()
    text = written("stockholm", made)
    read = AlignIO.read(io.StringIO(text.decode()), "stockholm")
    assert read.column_annotations["posterior_probability"] == "".join(
        "*" if value >= 0.95 else str(int(value * 10 + 0.5)) for value in made.column_confidence.tolist()
    )
    for k, row in enumerate(read):
        digits = row.letter_annotations["posterior_probability"]
        assert [a == "." for a in digits] == [b == "-" for b in made[k]]
    assert (
        "posterior_probability"
        not in AlignIO.read(io.StringIO(written("stockholm", family()).decode()), "stockholm").column_annotations
    )
    assert b"#=GF CC command: tropalign msa [x].fa\n" in text
    lines = written("tsv", made, "confidence").decode().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    assert rows[0] == ["sequence", "position", "residue", "column", "confidence", "column_confidence"]
    assert len(rows) == 1 + len(made.columns)
    for name, position, letter, column, own, of_column in rows[1:]:
        k = made.names.index(name)
        assert made[k][int(column)] == letter == made.sequences.text(k)[int(position)]
        assert float(of_column) == pytest.approx(float(made.column_confidence[int(column)]), abs=1e-4)
        at = int(made.sequences.offsets[k]) + int(position)
        assert float(own) == pytest.approx(float(made.residue_confidence[at]), abs=1e-4)


def test_nexus_quotes_names_and_holds_its_own_letters_alone():
    names = ["a b", "it's", "123", "x-1", "fine_1"]
    made = MultipleAlignment.from_rows(names, ["ACGU"] * 5)
    text = written("nexus", made).decode()
    assert [line.split(" ACGU")[0].strip() for line in text.splitlines() if line.endswith("ACGU")] == [
        "'a b'", "'it''s'", "'123'", "'x-1'", "fine_1",
    ]  # fmt: skip
    assert "datatype=rna" in text and "[command: tropalign msa (x).fa]" in text
    made = MultipleAlignment.from_rows(["a", "b"], ["MUOJ*-kvb", "Muoj1-KVZ"])
    rows = AlignIO.read(io.StringIO(written("nexus", made).decode()), "nexus")
    assert [str(row.seq) for row in rows] == ["MXXX*-kvb", "MXXXX-KVZ"]
    assert b"a ACGTTN\n" in written("nexus", MultipleAlignment.from_rows(["a"], ["ACGUTN"]))


BLANK, LIKE_A_LINE = "does not allow empty names or blanks in names", "does not allow names that begin with "


@pytest.mark.parametrize(
    ("name", "row", "words"),
    [
        *((name, "a b", BLANK) for name in ("clustal", "stockholm", "phylip", "msf")),
        *((name, row, LIKE_A_LINE) for name, row in (("stockholm", "#=GC"), ("stockholm", "//"), ("msf", "//x"))),
        *((name, "a\nb", "the name contains a tab or a line break") for name in ("fasta", "a3m", "nexus")),
    ],
)
def test_names_that_a_format_cannot_hold_are_refused(name, row, words):
    made = MultipleAlignment.from_rows([row, "c"], ["AC", "AG"])
    with pytest.raises(InputError) as error:
        written(name, made)
    assert words in str(error.value)
    assert row == "a\nb" or f"record {row!r}: format {name} {words}" in str(error.value)


def test_parquet_holds_the_same_table():
    parquet = pytest.importorskip("pyarrow.parquet")
    made = with_confidence()
    table = parquet.read_table(io.BytesIO(written("parquet", made, "confidence"))).to_pydict()
    text = written("tsv", made, "confidence").decode().splitlines()
    rows = [line.split("\t") for line in text if not line.startswith("#")]
    assert list(table) == rows[0]
    assert [list(map(str, values)) for values in zip(*list(table.values())[:4], strict=True)] == [
        row[:4] for row in rows[1:]
    ]
