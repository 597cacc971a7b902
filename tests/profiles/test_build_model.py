"""tropalign.build_model and Model.write: models of alignments from Python, and files of models."""

import io

import pytest
from clone import ROOT

import tropalign as ta
from tropalign.cli.main import main

pytest.importorskip("pyhmmer", reason="models are built by pyhmmer")
ALIGNED, PROTEINS, MODEL = (ROOT / "examples" / name for name in ("efp_aligned.fasta", "efp.fasta", "efp.hmm"))
ROWS = ["MKVLAWGGHIKLMDERTYSCPQNNW", "MKVIAWGG-IKLMDERTYSCPQNNW", "MRVIAW-GHIKLMEERTYSCPKNNW"]


def stockholm(name="", rows=ROWS):
    marks = [f"#=GF ID {name}"] if name else []
    return "\n".join(["# STOCKHOLM 1.0", *marks, *(f"row{k} {row}" for k, row in enumerate(rows)), "//", ""]).encode()


def test_the_file_is_that_of_the_command(tmp_path):
    ta.build_model(ALIGNED, name="EFP").write(tmp_path / "python.hmm")
    assert main(["build", str(ALIGNED), "-n", "EFP", "-q", "-o", str(tmp_path / "command.hmm")]) == 0
    assert (tmp_path / "python.hmm").read_bytes() == (tmp_path / "command.hmm").read_bytes()


def test_an_alignment_in_memory():
    alignment = ta.read_alignment(ALIGNED)
    ours, theirs = ta.build_model(alignment, name="EFP"), ta.build_model(ALIGNED, name="EFP")
    assert ours.text == theirs.text and ours.length > 100


def test_a_single_sequence_names_its_model():
    rows = ta.MultipleAlignment.from_rows(["one"], ROWS[:1])
    assert ta.build_model(rows, options=ta.BuildOptions(single=True)).name == "one"


def test_options():
    rows = ta.MultipleAlignment.from_rows(list("abc"), ROWS)
    whole = ta.build_model(rows, name="x", options=ta.BuildOptions(occupancy=0.1))
    dense = ta.build_model(rows, name="x", options=ta.BuildOptions(occupancy=1))
    assert (whole.length, dense.length) == (25, 23)


def test_models_that_are_read_are_written_as_they_were(tmp_path):
    (model,) = ta.read_queries(MODEL)
    model.write(tmp_path / "again.hmm.gz")
    (again,) = ta.read_queries(tmp_path / "again.hmm.gz")
    assert again.text == model.text == MODEL.read_bytes()


def test_a_written_model_finds_the_same(tmp_path):
    query = next(iter(ta.read_queries(io.BytesIO(b">a\n" + b"MKVLAWGGHIKLMDERTYSCPQNNW" + b"\n"))))
    query.write(tmp_path / "a.hmm")
    ours, theirs = ta.search(query, PROTEINS), ta.search(tmp_path / "a.hmm", PROTEINS)
    assert [hit.name for hit in ours] == [hit.name for hit in theirs]


@pytest.mark.parametrize(
    ("given", "options", "sentence"),
    [
        (lambda: io.BytesIO(stockholm("a") + stockholm("b")), {}, "the file holds several alignments"),
        (
            lambda: io.BytesIO(stockholm()),
            {},
            "an alignment that was not read from a file has no name: give one with name",
        ),
        (lambda: io.BytesIO(stockholm("a", ["ACGTACGTTACG"])), {"alphabet": "dna"}, "an alignment of nucleotides"),
        (lambda: io.BytesIO(stockholm("a", ["AAAA"])), {}, "set alphabet protein, dna or rna"),
    ],
)
def test_bad_alignments(given, options, sentence):
    with pytest.raises(ta.InputError) as caught:
        ta.build_model(given(), **options)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"alphabet": "protien"}, "alphabet 'protien' is not one of auto, protein, dna, rna"),
        ({"name": "a b"}, "the name of a model must not contain blanks"),
        ({"name": 3}, "the name of a model must not contain blanks"),
        ({"options": 5}, "5 is not a BuildOptions"),
    ],
)
def test_bad_arguments(options, sentence):
    with pytest.raises(ta.TropalignError) as caught:
        ta.build_model(io.BytesIO(stockholm("a")), **options)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"nodes": "some"}, "nodes 'some' is not one of occupied, reference"),
        ({"occupancy": 1.5}, "occupancy 1.5 is not a fraction between 0 and 1"),
        ({"entropy": 0}, "entropy 0 is not a number above 0"),
        ({"sigma": float("nan")}, "sigma nan is not a number above 0"),
        ({"gap_open_probability": 0.5, "single": True}, "gap_open_probability 0.5 is not below 0.5"),
        ({"occupancy": "x"}, "occupancy 'x' is not a number"),
        ({"seed": 0}, "seed"),
        ({"matrix": "VTML"}, "matrix 'VTML' is not one of BLOSUM62"),
    ],
)
def test_bad_options(values, sentence):
    with pytest.raises(ta.TropalignError) as caught:
        ta.BuildOptions(**values)
    assert sentence in str(caught.value)


def test_a_suffix_of_something_else(tmp_path):
    with pytest.raises(ta.TropalignError, match=r"no format has the suffix '\.tsv'"):
        ta.build_model(ALIGNED).write(tmp_path / "x.tsv")
    with pytest.raises(ta.TropalignError, match="an object of type int is not a file name: give one"):
        ta.build_model(ALIGNED).write(3)
