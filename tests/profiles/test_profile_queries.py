"""Queries out of alignments and sequences: the models that HMMER builds (through pyhmmer), to the last bit."""

import dataclasses
import gzip
import io
import sys

import numpy as np
import pyhmmer
import pytest
from same_models import CORPUS, assert_same

from tropalign.errors import InputError, TropalignWarning, UsageError
from tropalign.profiles.building import denormals_as_zero
from tropalign.profiles.models import from_pyhmmer, read_models
from tropalign.profiles.sources import read_queries

AMINO = pyhmmer.easel.Alphabet.amino()
BACKGROUND = pyhmmer.plan7.Background(AMINO)
LETTERS = list("ACDEFGHIKLMNPQRSTVWY")


def family(n=9, width=40, seed=1):
    """Rows of an alignment with gaps, insertions in two places, and lower case."""
    rng = np.random.default_rng(seed)
    parent = rng.choice(LETTERS, width)
    rows = []
    for k in range(n):
        row = np.where(rng.random(width) < 0.6, parent, rng.choice(LETTERS, width))
        row[rng.random(width) < 0.1] = "-"
        row[10:13], row[25] = list("..." if k else "qrs"), "." if k % 5 else "k"
        rows.append("".join(row))
    return rows


ROWS = family()
#: Makes letters of nucleotides of all residues.
TO_DNA = str.maketrans({letter: "ACGT"[k % 4] for k, letter in enumerate("".join(LETTERS) + "qrsk")})
NAMES = [f"seq{k}" for k in range(len(ROWS))]


def stockholm(rows=ROWS, head="", tail=""):
    lines = "".join(f"{name} {row}\n" for name, row in zip(NAMES, rows, strict=True))
    return f"# STOCKHOLM 1.0\n{head}\n{lines}{tail}//\n".encode()


def fasta(rows=ROWS):
    return "".join(f">{name} text\n{row[:30]}\n{row[30:]}\n" for name, row in zip(NAMES, rows, strict=True)).encode()


def clustal():
    blocks = ("".join(f"{n:10} {row[at : at + 25]}\n" for n, row in zip(NAMES, ROWS, strict=True)) for at in (0, 25))
    return ("CLUSTAL W (1.83)\n\n\n" + "\n\n".join(blocks)).replace(".", "-").encode()


def phylip():
    rows = "".join(f"{name:10}{row}\n" for name, row in zip(NAMES, ROWS, strict=True)).replace(".", "-")
    return f" {len(ROWS)} {len(ROWS[0])}\n{rows}".encode()


def msf():
    head = "".join(f" Name: {name}  Len: 40  Check: 0  Weight: 1.0\n" for name in NAMES)
    rows = "".join(f"{name} {row}\n" for name, row in zip(NAMES, ROWS, strict=True))
    return f"!!AA_MULTIPLE_ALIGNMENT\n\n x MSF: 40 Type: P Check: 0 ..\n\n{head}\n//\n\n{rows}".encode()


def built(data, name):
    """What hmmbuild writes and hmmsearch reads."""
    with pyhmmer.easel.MSAFile(io.BytesIO(data), "stockholm", digital=True, alphabet=AMINO) as file:
        alignment = file.read()
    alignment.name = alignment.name or name
    with denormals_as_zero():
        hmm, _, _ = pyhmmer.plan7.Builder(AMINO).build_msa(alignment, BACKGROUND)
    text = io.BytesIO()
    hmm.write(text)
    text.seek(0)
    with pyhmmer.plan7.HMMFile(text) as file:
        return from_pyhmmer(file.read())


@pytest.mark.parametrize("write", [stockholm, fasta, clustal, phylip, msf])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_an_alignment_gives_the_model_of_hmmbuild(write, compress, tmp_path):
    path = tmp_path / ("family.txt.gz" if compress is gzip.compress else "family.txt")
    path.write_bytes(compress(write()))
    (model,) = read_queries(path)
    assert_same(model, built(stockholm(), "family"))


def test_stockholm_with_all_that_goes_into_a_model():
    head = "#=GF ID fam\n#=GF AC F1.2\n#=GF DE A family\n#=GF GA 20.00 18.50;\n#=GF TC 21.0 19.0;\n#=GF NC 19.9 18.4;\n"
    tail = f"#=GC SS_cons {'H' * 40}\n#=GC RF {'x' * 40}\n"
    other = stockholm(family(seed=2))
    first, second = read_queries(io.BytesIO(stockholm(head=head, tail=tail) + other))
    assert_same(first, built(stockholm(head=head, tail=tail), ""))
    assert (first.name, first.accession, first.description) == ("fam", "F1.2", "A family")
    assert first.gathering == (20, 18.5) and first.structure == "H" * first.length
    assert_same(second, built(other, "query-2"))


def dotless(row):
    return row.replace(".", "")


@pytest.mark.parametrize(("rows", "name"), [(ROWS, "x.a2m"), ([dotless(row) for row in ROWS], "x.fa")])
def test_a2m(rows, name, tmp_path):
    (tmp_path / name).write_bytes(fasta(rows))
    (model,) = read_queries(tmp_path / name)
    is_insertion = np.array([c in ".qrsk" for c in ROWS[0]])
    assert ROWS[0][is_insertion.argmax()] == "q"
    mask = "".join(np.where(is_insertion, ".", "x"))
    assert_same(model, built(stockholm(tail=f"#=GC RF {mask}\n"), "x"))


@pytest.mark.parametrize("text", ["M", "MKVLAWHEAGXBZJUO*", "".join(LETTERS) * 12])
def test_a_sequence_gives_the_model_of_phmmer(text):
    records = f">first some words\n{text.lower()}\n>second\n{text}\n".encode()
    first, second = read_queries(io.BytesIO(records))
    sequence = pyhmmer.easel.TextSequence(name="first", description="some words", sequence=text).digitize(AMINO)
    with denormals_as_zero():
        hmm, _, _ = pyhmmer.plan7.Builder(AMINO).build(sequence, BACKGROUND)
    assert_same(first, dataclasses.replace(from_pyhmmer(hmm), description="some words", is_sequence=True))
    assert second.name == "second"
    assert first.match.tobytes() == second.match.tobytes()


def test_sequences_without_a_residue_are_no_queries():
    with pytest.warns(TropalignWarning, match="record 'b': the sequence is empty"):
        models = list(read_queries(io.BytesIO(b">a\nMKV\n>b\n>c\nMKI\n")))
    assert [model.name for model in models] == ["a", "c"]


def test_models_are_queries():
    assert_same(next(read_queries(CORPUS / "3f.hmm")), next(read_models(CORPUS / "3f.hmm")))
    assert_same(next(read_queries(CORPUS / "3f.h3m", "models")), next(read_models(CORPUS / "3f.hmm")))


def test_the_kind_may_be_said():
    rows = [row.replace("-", "A").replace(".", "G") for row in ROWS]
    assert len(list(read_queries(io.BytesIO(fasta(rows))))) == len(rows)
    (model,) = read_queries(io.BytesIO(fasta(rows)), "alignment")
    assert_same(model, built(stockholm(rows), "query"))
    with pytest.raises(UsageError, match=r"^'msa' is not a kind of queries: choose one of auto, models"):
        next(read_queries(io.BytesIO(b""), "msa"))


@pytest.mark.filterwarnings("error")
def test_proteins_of_few_letters_are_queries_where_that_is_said():
    """And where they are so short that they could be either."""
    few = b">a\nGATTACAGATTACAGATTACAGATTACAGATTACAGATTACA\n"
    (model,) = read_queries(io.BytesIO(few), alphabet="protein")
    assert model.name == "a"
    for rows in (b">a\nGATT-ACAGATTACA\n>b\nGATTTACAGATTACA\n", stockholm([row.translate(TO_DNA) for row in ROWS])):
        with pytest.raises(InputError, match="of nucleotides"):
            next(read_queries(io.BytesIO(rows)))
        assert len(list(read_queries(io.BytesIO(rows), alphabet="protein"))) == 1
    assert len(list(read_queries(io.BytesIO(b">a\nMKVLAWHEAGAW\n>b\nGAGAGAGAGAGAGAGAGAG\n")))) == 2
    assert len(list(read_queries(io.BytesIO(b">a\nGATTACAGAT\n>b\nGATTACAGATTACAX\n>c\nGATTACAGATTARA\n")))) == 3
    with pytest.raises(UsageError, match=r"^queries of the alphabet 'dna' are not supported: choose one of auto, pro"):
        next(read_queries(io.BytesIO(few), alphabet="dna"))


BAD = {
    "no known residue": (
        b">a\nXXX\n", "auto", "record 'a': random sequences get no scores from the model: leave it out"
    ),
    "nothing": (b"", "auto", "the file is empty"),
    "no format": (
        b"some text\n", "auto",
        "the file holds no queries: give models in HMMER's format, an alignment, or sequences in FASTA",
    ),
    "an unknown letter": (
        fasta().replace(b"-qrs", b"-1rs").replace(b"qrs", b"1rs"), "auto",
        "record 'seq0': '1' is not a protein letter: correct the alignment",
    ),
    "nucleotides": (
        b">a\nACGT-ACGT\n>b\nACGTTACGT\n", "auto",
        "queries, record 'queries': this is an alignment of nucleotides (only A, C, G, T, U, N), but search is for "
        "proteins: translate it (tropalign.translate), search with nhmmer, or set alphabet protein",
    ),
    "nucleotides as Stockholm": (
        b"# STOCKHOLM 1.0\n\na MKVLAWGGHE\n//\n# STOCKHOLM 1.0\n#=GF ID dna\n\na ACG-ACgt\nb ACUNA.GT\n//\n", "auto",
        "queries, record 'dna': this is an alignment of nucleotides (only A, C, G, T, U, N), but search",
    ),
    "nucleotides as sequences": (
        b">a\nacgtn\n>b\nacgtug\n", "auto",
        "queries, record 'a': this is a sequence of nucleotides (only A, C, G, T, U, N), but search is for proteins: "
        "translate it (tropalign.translate), search with nhmmer, or set alphabet protein",
    ),
    "rows of unequal length": (
        b">a\nMKV-LAW\n>b\nMKVLA\n", "auto",
        "record 'b': 5 match columns, but other rows have 7: rows must have the same length, or in A2M the same "
        "number of upper-case letters and '-'",
    ),
    "a Stockholm file that ends early": (
        stockholm()[:-3], "auto",
        "queries, line 11: this is not a valid Stockholm alignment (the last line is not //, so the file may be ",
    ),
    "gaps in sequences": (
        b">a\nMK-V\n", "sequences", "record 'a': '-' at position 3 is a gap, but unaligned sequences are required"
    ),
    "a sequence without a residue": (
        b">a\n*\n", "sequences",
        "record 'a': no model can be built from this sequence (Error raised from C code: forward score underflow",
    ),
    "columns of gaps alone": (
        stockholm(["-" * 40] * len(ROWS)), "auto", "record 'queries': no model can be built from this alignment ("
    ),
    "rows of gaps alone": (b">a\n---\n>b\n---\n", "auto", "the alignment holds no residues: give another one"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_queries_are_refused_in_one_sentence(name, tmp_path):
    data, kind, sentence = BAD[name]
    path = tmp_path / "queries"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        list(read_queries(path, kind))
    assert sentence in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("data", [stockholm(), b">a\nMKV\n"])
def test_without_pyhmmer_only_models_are_queries(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyhmmer.plan7", None)
    assert next(read_queries(CORPUS / "3f.hmm")).name == "small"
    with pytest.raises(InputError, match=r"require pyhmmer: pip install pyhmmer"):
        next(read_queries(io.BytesIO(data)))
