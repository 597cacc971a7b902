"""The alignment of a model above the sequences: beside hmmalign, and what is refused."""

import io
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from pyhmmer.easel import Alphabet, MSAFile
from pyhmmer.plan7 import Background, Builder

import tropalign
from tropalign import _native
from tropalign.errors import InputError, UsageError
from tropalign.profiles.family_models import read_family_model

SEED = """# STOCKHOLM 1.0
#=GF ID seed

r1 ..MKVLAWMKT-AACDEFGG
#=GS r2 DE second row
r2 wwMKVL-WMRTwAACDEF..
r3 ..--VL-WMRT-AACD-Fgg
r4 a.MKVLAWM----------k
//
"""
NEW = {"a": "MKVLAWMKTAACDEF", "b": "MKVLWWLAWMKTACDEFOO"}


def model_of(text, path, kind="amino"):
    alphabet = getattr(Alphabet, kind)()
    with MSAFile(io.BytesIO(text.encode()), "stockholm", digital=True, alphabet=alphabet) as file:
        hmm = Builder(alphabet).build_msa(file.read(), Background(alphabet))[0]
    with open(path, "wb") as out:
        hmm.write(out)
    return path


@pytest.fixture
def seed(tmp_path):
    """An alignment and its model."""
    alignment = tmp_path / "seed.sto"
    alignment.write_text(SEED)
    return alignment, model_of(SEED, tmp_path / "seed.hmm")


@pytest.mark.parametrize("trim", [False, True])
@pytest.mark.parametrize(("form", "suffix"), [("Stockholm", ".sto"), ("A2M", ".a2m")])
def test_rows_are_those_of_hmmalign(seed, trim, form, suffix, tmp_path):
    if shutil.which("hmmalign") is None:
        pytest.skip("hmmalign is not installed")
    alignment, model = seed
    new = tmp_path / "new.fa"
    new.write_text("".join(f">{name}\n{text}\n" for name, text in NEW.items()))
    words = ["hmmalign", *["--trim"] * trim, "--mapali", alignment, "--outformat", form, model, new]
    theirs = subprocess.run([str(word) for word in words], capture_output=True, check=True).stdout
    out = tmp_path / f"x{suffix}"
    tropalign.align_to_model(model, new, trim=trim, mapali=alignment).write(out)
    assert b"".join(line for line in out.read_bytes().splitlines(True) if not line.startswith(b"#=GF CC")) == theirs


def test_rows_come_first_and_keep_their_residues(seed, tmp_path):
    alignment, model = seed
    made = tropalign.align_to_model(model, NEW, mapali=alignment)
    assert made.names == ("r1", "r2", "r3", "r4", "a", "b")
    whole = tropalign.read_alignment(alignment)
    assert [row.replace("-", "").upper() for row in made][:4] == [row.replace("-", "").upper() for row in whole]
    n = int(made.sequences.offsets[4])
    assert np.isnan(made.residue_confidence[:n]).all() and not np.isnan(made.residue_confidence[n:]).any()
    columns = read_family_model(model).columns - 1
    nodes = made.letters[:4, made.is_node]
    assert (nodes == np.frombuffer("".join(whole).upper().encode(), np.uint8).reshape(4, -1)[:, columns]).all()
    assert tropalign.align_to_model(model, NEW, mapali=whole) == made
    for suffix in (".sto", ".aln", ".afa", ".a3m", ".html", ".svg", ".result", ".phy", ".msf", ".nex"):
        made.write(tmp_path / f"x{suffix}")
    assert tropalign.read_result(tmp_path / "x.result") == made


def test_a_model_that_was_built_knows_its_alignment(seed):
    alignment, _ = seed
    found = tropalign.align_to_model(tropalign.build_model(alignment), NEW, mapali=alignment)
    assert found.names[:4] == ("r1", "r2", "r3", "r4")


def test_missing_ends_are_gaps(tmp_path):
    text = SEED.replace("r3 ..--VL", "r3 ~~~~VL")
    alignment = tmp_path / "seed.sto"
    alignment.write_text(text)
    made = tropalign.align_to_model(model_of(text, tmp_path / "x.hmm"), NEW, mapali=alignment)
    assert made[2].replace("-", "").upper() == "VLWMRTAACDFGG"


def test_nucleotides(tmp_path):
    text = "# STOCKHOLM 1.0\n#=GF ID x\n\na ACGUACGUUA\nb ACG-ACGUUA\nc ACGUACNUU-\n//\n"
    alignment = tmp_path / "x.sto"
    alignment.write_text(text)
    made = tropalign.align_to_model(model_of(text, tmp_path / "x.hmm", "rna"), {"d": "ACGTACTTA"}, mapali=alignment)
    assert made[0].replace("-", "").upper() == "ACGUACGUUA" and made.names == ("a", "b", "c", "d")


def test_checksum_by_hand():
    total = 0
    for code in (3, 20, 26):
        total = (total + code) % 2**32
        total = (total + (total << 10)) % 2**32
        total ^= total >> 6
    total = (total + (total << 3)) % 2**32
    total ^= total >> 11
    assert _native.alignment_checksum(np.array([3, 20, 26], np.uint8)) == (total + (total << 15)) % 2**32


def test_what_is_refused(seed, tmp_path):
    alignment, model = seed
    other = tmp_path / "other.sto"
    other.write_text(SEED.replace("MKVLAWMKT", "MKVLAWMKS"))
    with pytest.raises(
        InputError, match=r"other.sto: by its checksum, this is not the alignment from which the model 'seed'"
    ):
        tropalign.align_to_model(model, NEW, mapali=other)
    known = read_family_model(model)
    with pytest.raises(InputError, match=r"record 'seed': the model lacks the columns and the checksum"):
        tropalign.align_to_model(replace(known, checksum=None), NEW, mapali=alignment)
    with pytest.raises(InputError, match="record 'r1': the alignment of the model also has a row with this name"):
        tropalign.align_to_model(model, {"r1": "MKV"}, mapali=alignment)
    with pytest.raises(UsageError, match="an object of type int is not an alignment"):
        tropalign.align_to_model(model, NEW, mapali=3)
    no_map = tmp_path / "no_map.hmm"
    no_map.write_text(model.read_text().replace("MAP   yes", "MAP   no"))
    with pytest.raises(InputError, match="the model lacks the columns"):
        tropalign.align_to_model(no_map, NEW, mapali=alignment)
