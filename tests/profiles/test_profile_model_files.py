"""Models from files: those that HMMER reads, bit for bit (through pyhmmer), and files that are damaged."""

import bz2
import gzip
import io
import itertools
import subprocess
import sys
import warnings

import numpy as np
import pyhmmer
import pytest
from same_models import CORPUS, assert_same

from tropalign.errors import InputError, TropalignWarning
from tropalign.profiles.calibration import calibrate
from tropalign.profiles.models import from_pyhmmer, read_models
from tropalign.profiles.sources import read_queries

TEXT = (CORPUS / "3f.hmm").read_bytes()
AMINO = pyhmmer.easel.Alphabet.amino()


def assert_read_as_by_hmmer(path):
    models = list(read_models(path))
    with pyhmmer.plan7.HMMFile(path, db=False) as file:
        for model, hmm in itertools.zip_longest(models, file):
            assert_same(model, from_pyhmmer(hmm))
    return models


@pytest.mark.parametrize("name", ["3a.hmm", "3c.hmm", "3e.hmm", "3f.hmm", "3f.h3m"])
def test_formats_are_read_as_by_hmmer(name):
    (model,) = assert_read_as_by_hmmer(CORPUS / name)
    assert (model.name, model.accession, model.length) == ("small", "SM00001.1", 10)
    assert model.description == "A family that nobody has seen"
    assert (model.gathering, model.trusted, model.noise) == ((20, 18.5), (21, 19), pytest.approx((19.9, 18.4)))
    assert model.reference == "xxxxxx.xxx" and model.structure == ".HHHHH.EE." and model.mask is None
    assert model.consensus.lower() == "mkvlawheag"


def test_hmmer2_is_read_as_by_hmmer():
    with pytest.warns(TropalignWarning, match="'small' has no calibration: it is calibrated now"):
        (model,) = assert_read_as_by_hmmer(CORPUS / "2.hmm")
    assert model.evalue[0] == pytest.approx(-5.35, abs=0.01)


@pytest.mark.filterwarnings("ignore:.* has no calibration")
@pytest.mark.parametrize("M", [1, 2, 30, 211])
@pytest.mark.parametrize("is_binary", [False, True])
def test_random_models_are_read_as_by_hmmer(M, is_binary, tmp_path):
    path = tmp_path / "some.hmm"
    with open(path, "wb") as file:
        for seed in range(1, 4):
            hmm = pyhmmer.plan7.HMM.sample(AMINO, M, randomness=seed)
            hmm.set_composition()
            hmm.set_consensus()
            hmm.write(file, binary=is_binary)  # without calibration, which pyhmmer does not give
    assert len(assert_read_as_by_hmmer(path)) == 3


@pytest.mark.parametrize(("old", "new"), [
    (b"  COMPO", b"# COMPO"), (b"CONS  yes", b"CONS  no"), (b"\n", b"\r\n"), (b"\n", b"\n\n# remark\n"),
    (b"NAME  small", b"NAME  sm\xc3\xa4ll;\x1b[1m"), (b"-5.3542", b"+5e-1"), (b"18.50", b"18.50;"), 
    (b"DESC  A", b"DESC  A  b\t"), (b"0.01083", b"0.0108312345678901234567"), (b"0.01083", b"-0.00001"),
    (b"0.01083", b"*"), (b"0.01083", b"1.083e-2"),
])  # fmt: skip
def test_variants_are_read_as_by_hmmer(old, new, tmp_path):
    assert old in TEXT
    path = tmp_path / "variant.hmm"
    path.write_bytes(TEXT.replace(old, new))
    if b"no" in new:  # which HMMER refuses to search with
        assert next(read_models(path)).consensus.lower() == "mkvlawheag"
    else:
        assert_read_as_by_hmmer(path)


def test_calibration_is_that_of_hmmer(tmp_path):
    """HMMER calibrates the models that it reads from HMMER 2's files; so it does here with models that it builds."""
    rng = np.random.default_rng(1)
    background = pyhmmer.plan7.Background(AMINO)
    for M in (2, 40, 150):
        parent = rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), M)
        rows = ["".join(np.where(rng.random(M) < 0.7, parent, "A")) for _ in range(4)]
        named = [pyhmmer.easel.TextSequence(name=f"s{k}", sequence=row) for k, row in enumerate(rows)]
        alignment = pyhmmer.easel.TextMSA(name="m", sequences=named).digitize(AMINO)
        hmm, _, _ = pyhmmer.plan7.Builder(AMINO, seed=42).build_msa(alignment, background)
        model = from_pyhmmer(hmm)
        np.testing.assert_array_equal(calibrate(model.match, model.transitions, model.composition), model.evalue)


def test_a_model_without_calibration_is_calibrated(tmp_path):
    text = b"\n".join(line for line in TEXT.split(b"\n") if not line.startswith(b"STATS"))
    path = tmp_path / "bare.hmm"
    path.write_bytes(text * 2)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        models = list(read_models(path))
    assert [str(warning.message) for warning in told] == [
        f"{path}: the model 'small' has no calibration: it is calibrated now, and so are further models without one"
    ]
    expected = next(read_models(CORPUS / "3f.hmm")).evalue
    for model in models:
        np.testing.assert_allclose(model.evalue, expected, atol=1e-4)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress])
def test_compressed_files_and_streams(compress, tmp_path, monkeypatch):
    path = tmp_path / "some.gz"
    path.write_bytes(compress(TEXT * 3))
    assert len(list(read_models(path))) == 3
    with open(path, "rb") as stream:
        assert len(list(read_models(stream))) == 3
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert len(list(read_models("-"))) == 3


@pytest.mark.parametrize("block", [1, 7, 1000, 5735])
def test_blocks_of_a_file_may_end_anywhere(block, monkeypatch):
    monkeypatch.setattr("tropalign.profiles.models.BLOCK_BYTES", block)
    models = list(read_models(io.BytesIO(TEXT * 3 + b"\n\n")))
    assert len(models) == 3
    assert_same(models[0], models[2])


def test_one_model_is_in_memory_at_a_time():
    read = []

    class Stream(io.BytesIO):
        def read(self, size=-1):
            read.append(size)
            return super().read(size)

        readinto = None

    stream = read_models(Stream(TEXT * 2000))
    next(stream)
    before = len(read)
    next(stream)
    assert len(read) == before and sum(read) < len(TEXT) * 500


def test_a_pressed_library_alone(tmp_path):
    (tmp_path / "library.hmm.h3m").write_bytes((CORPUS / "3f.h3m").read_bytes())
    assert [model.name for model in read_models(tmp_path / "library.hmm")] == ["small"]
    with pytest.raises(InputError, match="there is no such file"):
        next(read_models(tmp_path / "other.hmm"))


REMEDY = "correct this line, or download the file again"
LINES = TEXT.count(b"\n")
EIGHTH = TEXT.index(b"\n      9 ") + 1


def line_of(begin):
    """The number of the line that begins so."""
    return 1 + TEXT[: TEXT.index(b"\n" + begin)].count(b"\n") + 1


def changed(old, new):
    assert old in TEXT
    return TEXT.replace(old, new, 1)


DAMAGE = {
    "truncated in a node": (
        TEXT[: EIGHTH - 200], line_of(b"      9 ") - 2, "small",
        "the line holds no further probability, but one is expected",
    ),
    "truncated between lines": (TEXT[:EIGHTH], line_of(b"      9 ") - 1, "small", "the model ends within its nodes"),
    "truncated in the header": (TEXT[:45], 3, "small", "the model ends within its header"),
    "no last line": (TEXT[:-3], LINES - 1, "small", "the model ends before its line //"),
    "models on one line": (
        TEXT[:-1] + TEXT, LINES, "small", "'//HMMER3/f' was found instead of the line // that ends the model",
    ),
    "the second is damaged": (
        TEXT + changed(b"0.01083", b"0.x"), LINES + line_of(b"          0.01083"), "small",
        "'0.x' is not a negative logarithm of a probability",
    ),
    "a node is missing": (
        changed(b"\n      3 ", b"\n      4 "), line_of(b"      3 "), "small",
        "'4' was found where node 3 of 10 is expected",
    ),
    "a length of nothing": (
        changed(b"LENG  10", b"LENG  0"), line_of(b"LENG"), "small", "'0' is not a number of nodes",
    ),
    "a length of too much": (
        changed(b"LENG  10", b"LENG  2000000000"), line_of(b"LENG"), "small",
        "the model holds fewer than the 2000000000 nodes of its line LENG",
    ),
    "no alphabet": (changed(b"ALPH", b"ALPX"), line_of(b"HMM "), "small", "the model has no line ALPH"),
    "no name": (changed(b"NAME", b"NAMX"), line_of(b"HMM "), None, "the model has no line NAME"),
    "a name of nothing": (changed(b"small", b""), 2, None, "the line holds no name"),
    "statistics of one kind": (
        changed(b"STATS LOCAL MSV", b"REMARK"), line_of(b"HMM "), "small",
        "the model lacks some of its three STATS lines",
    ),
    "a number beyond floats": (
        changed(b"-5.3542", b"1e99"), line_of(b"STATS LOCAL MSV"), "small", "'1e99' is not a number",
    ),
    "another format": (
        b">a\nMKV\n", 1, None, "'>a' was found at the start of a model: expected HMMER3/f or an earlier format",
    ),
    "a format of the future": (
        changed(b"HMMER3/f", b"HMMER3/g"), 1, None,
        "'HMMER3/g' was found at the start of a model: expected HMMER3/f or an earlier format",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_refused_in_one_sentence(name, tmp_path):
    text, line, record, sentence = DAMAGE[name]
    path = tmp_path / "damaged.hmm"
    path.write_bytes(text)
    with pytest.raises(InputError) as caught:
        list(read_models(path))
    place = f"{path}, line {line}" + (f", record {record!r}" if record else "")
    assert str(caught.value) == f"{place}: {sentence}: {REMEDY}"


def test_alphabets_mixed_in_one_file():
    models = read_models(io.BytesIO(TEXT + changed(b"ALPH  amino", b"ALPH  RNA") + TEXT))
    assert next(models).name == "small"
    with pytest.raises(InputError) as caught:
        next(models)
    assert str(caught.value) == (
        f"the open stream, line {LINES + 1}, record 'small': "
        "the model is for RNA, but search is for proteins: leave it out, or use skip_foreign"
    )


def test_a_mask_is_read():
    (model,) = read_models(io.BytesIO(changed(b"MM    no", b"MM    YES")))
    assert model.mask == "-" * 10


@pytest.mark.parametrize(
    "content", [b"", b"\n \n", gzip.compress(b"", mtime=0)], ids=["nothing", "blank lines", "gzip"]
)
def test_an_empty_file(content, tmp_path):
    path = tmp_path / "empty.hmm"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"^{path}: the file is empty$"):
        list(read_models(path))


OLD = (CORPUS / "2.hmm").read_bytes()
OLD_DAMAGE = {
    "truncated": (OLD[:1900], "record 'small': the line has only [0-9]+ words"),
    "no null model": (OLD.replace(b"NULE", b"NULX"), "line 17, record 'small': the model has no line NULE"),
    "no number": (OLD.replace(b"-2467", b"x"), "line 20, record 'small': 'x' is not an integer"),
    "too large": (OLD.replace(b"-2467", b"9999999"), "line 20, record 'small': 9999999 is not a score of HMMER 2"),
    "too long": (OLD.replace(b"LENG  10", b"LENG  999"), "the model is too short for the 999 nodes of its line LENG"),
    "nucleotides": (OLD.replace(b"Amino", b"Nucleic"), "line 1, record 'small': the model is for DNA"),
}


@pytest.mark.parametrize("name", OLD_DAMAGE)
def test_a_damaged_file_of_hmmer2(name):
    text, sentence = OLD_DAMAGE[name]
    with pytest.raises(InputError, match=sentence):
        list(read_models(io.BytesIO(text)))


BINARY = (CORPUS / "3f.h3m").read_bytes()
BINARY_DAMAGE = {
    "truncated": (BINARY[:-1], "the file ends within model 1: download or press it again"),
    "other bytes follow": (BINARY + b"abcd", "the data after model 1 are not a model: download or press the file"),
    "length": (BINARY[:8] + b"\xff" * 4 + BINARY[12:], "model 1 has a length of -1: download or press the file again"),
    "alphabet": (BINARY[:12] + b"\x09" + BINARY[13:], "model 1 has the unknown alphabet 9: download or press the file"),
    "a number": (BINARY[:16] + b"\xff" * 4 + BINARY[20:], "model 1 has a number that is not finite"),
    "a probability": (BINARY[:16] + b"\0\0\x80\xbf" + BINARY[20:], "model 1 has a probability below 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY_DAMAGE)
def test_a_damaged_binary_file(name):
    data, sentence = BINARY_DAMAGE[name]
    with pytest.raises(InputError, match=sentence):
        list(read_models(io.BytesIO(data)))


def test_a_model_that_cannot_be_calibrated():
    lines = [line for line in TEXT.split(b"\n") if not line.startswith(b"STATS")]
    flat = [
        line[:8] + b" *" * 20 + line[190:] if line[:8].strip().isdigit() else line for line in lines
    ]  # no residue is ever emitted
    with pytest.raises(
        InputError, match="line 1, record 'small': the model has no calibration and cannot be calibrated"
    ):
        list(read_models(io.BytesIO(b"\n".join(flat))))


def test_pyhmmer_is_not_needed_to_read_models():
    code = "import sys; from tropalign.profiles.models import read_models; list(read_models(sys.argv[1]))"
    code += "; assert 'pyhmmer' not in sys.modules"
    subprocess.run([sys.executable, "-c", code, str(CORPUS / "3f.hmm")], check=True)


def test_models_of_nucleotides_are_left_out_where_that_is_asked():
    rna, dna = changed(b"ALPH  amino", b"ALPH  RNA"), changed(b"ALPH  amino", b"ALPH  DNA")
    with pytest.warns(TropalignWarning) as told:
        assert len(list(read_models(io.BytesIO(TEXT + rna + TEXT), skip_foreign=True))) == 2
    assert [str(each.message) for each in told] == [
        "the open stream: the model 'small' is not for proteins and is left out"
    ]
    with pytest.warns(TropalignWarning) as told:
        assert len(list(read_queries(io.BytesIO(rna + TEXT + dna), skip_foreign=True))) == 1
    assert [str(each.message) for each in told] == [
        "the open stream: 2 models, such as 'small', are not for proteins and are left out"
    ]


def test_names_beyond_ascii():
    for name in ("\u00e9t\u00e9", "\u6f22"):
        (model,) = read_models(io.BytesIO(TEXT.replace(b"NAME  small", b"NAME  " + name.encode())))
        assert model.name == name
    (model,) = read_models(io.BytesIO(TEXT.replace(b"NAME  small", b"NAME  \xe9t\xe9")))
    assert model.name == "\u00e9t\u00e9"


def test_probabilities_above_1():
    compo = next(line for line in TEXT.split(b"\n") if b"COMPO" in line)
    for line in (compo, next(line for line in TEXT.split(b"\n") if line.split()[:1] == [b"3"])):
        number = line.split()[1]
        bad = TEXT.replace(line, line.replace(number, b"-0.5000", 1))
        with pytest.raises(InputError) as caught:
            list(read_models(io.BytesIO(bad)))
        sentence = (
            "the open stream, line 1, record 'small': the model holds a probability above 1: download the file again"
        )
        assert str(caught.value) == sentence
