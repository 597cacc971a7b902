"""Sequences aligned to models beside hmmalign (through pyhmmer), to the byte; threads, memory and bad input."""

import io
import subprocess
from pathlib import Path

import numpy as np
import pyhmmer
import pytest
from oracles.hmmer import LETTERS, Family, database
from pyhmmer.easel import Alphabet, MSAFile, TextSequence
from pyhmmer.plan7 import Background, Builder, HMMFile

import tropalign
from tropalign import _native
from tropalign.errors import InputError, ResourceError, UsageError
from tropalign.profiles import onto_model
from tropalign.profiles.family_models import family_model_of, read_family_model
from tropalign.profiles.models import Model

ALPHABETS = {"amino": Alphabet.amino(), "dna": Alphabet.dna(), "rna": Alphabet.rna()}


def written(hmm, path, binary=False):
    with open(path, "wb") as out:
        hmm.write(out, binary=binary)
    return path


def theirs(path, texts, kind="amino", form="stockholm", trim=False):
    """What hmmalign writes of sequences called s0, s1, ..."""
    with HMMFile(path) as file:  # a text has rounded numbers
        hmm = file.read()
    named = [TextSequence(name=f"s{k}", sequence=text).digitize(ALPHABETS[kind]) for k, text in enumerate(texts)]
    made = pyhmmer.hmmalign(hmm, named, trim=trim, digitize=False, all_consensus_cols=True)
    out = io.BytesIO()
    made.write(out, form)
    return out.getvalue()


def plain(data):
    """A file without the lines that say what made it."""
    return b"".join(line for line in data.splitlines(True) if not line.startswith(b"#=GF CC"))


def ours(path, texts, tmp_path, suffix=".sto", **how):
    """What is written here of the same."""
    family = tmp_path / "ours.fa"
    family.write_text("".join(f">s{k}\n{text}\n" for k, text in enumerate(texts)))
    made = tropalign.align_to_model(path, family, **how)
    out = tmp_path / f"ours{suffix}"
    made.write(out)
    return plain(out.read_bytes())


def nucleotide_model(kind, n, seed, mask=False):
    """A model of random rows, its sequences' letters, and a parent of members."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("ACGU" if kind == "rna" else "ACGT"))
    parent = rng.choice(letters, n)
    lines = ["# STOCKHOLM 1.0", "#=GF ID family"]
    for k in range(9):
        row = np.where(rng.random(n) < 0.8, parent, rng.choice(letters, n))
        row[rng.random(n) < 0.1] = "-"
        lines.append(f"r{k} {''.join(row)}")
    if mask:
        lines.append("#=GC MM " + "".join(rng.choice([".", "m"], n)))
    text = "\n".join([*lines, "//", ""]).encode()
    with MSAFile(io.BytesIO(text), "stockholm", digital=True, alphabet=ALPHABETS[kind]) as file:
        hmm = Builder(ALPHABETS[kind], seed=seed).build_msa(file.read(), Background(ALPHABETS[kind]))[0]
    return hmm, letters, parent


def doubled(family, n):
    """A protein with many copies of a domain, whose odds of a single one leave the range of floats."""
    return "".join(family.member(0.95) + "GS" for _ in range(n))


@pytest.mark.parametrize(("M", "seed"), [(1, 1), (2, 5), (7, 2), (33, 3), (120, 4), (260, 7)])
@pytest.mark.parametrize("trim", [False, True])
def test_proteins_are_aligned_as_by_hmmalign(isa, M, seed, trim, tmp_path):
    family = Family(M, seed)
    texts = [text for text in database([family], 40, seed) if text] + [family.member(0.5) or "A" for _ in range(30)]
    path = written(family.hmm, tmp_path / "x.hmm")
    assert ours(path, texts, tmp_path, trim=trim) == theirs(path, texts, trim=trim)
    assert ours(path, texts, tmp_path, ".a2m", trim=trim) == theirs(path, texts, form="a2m", trim=trim)


@pytest.mark.parametrize("kind", ["dna", "rna"])
@pytest.mark.parametrize("binary", [False, True])
def test_nucleotides_are_aligned_as_by_hmmalign(kind, binary, tmp_path):
    hmm, letters, parent = nucleotide_model(kind, 70, 3, mask=True)
    rng = np.random.default_rng(4)
    texts = ["A", "N" * 30, "ACGTURYKMSWBDHVN"]
    for _ in range(30):
        row = np.where(rng.random(70) < 0.7, parent, rng.choice(letters, 70))
        ends = rng.integers(0, 70, 2)
        texts.append("".join(rng.choice(letters, rng.integers(0, 50))) + "".join(row[min(ends) : max(ends) + 1]))
    path = written(hmm, tmp_path / "x.hmm", binary)
    for trim in (False, True):
        assert ours(path, texts, tmp_path, trim=trim) == theirs(path, texts, kind, trim=trim)
    assert b"#=GC MM" in ours(path, texts, tmp_path)


def test_what_leaves_the_range_of_floats_is_aligned_in_logarithms(isa, tmp_path):
    family = Family(150, 11)
    texts = [doubled(family, 2), doubled(family, 9), family.member(0.9), doubled(family, 14) + "X" * 40]
    path = written(family.hmm, tmp_path / "x.hmm")
    model = read_family_model(path)
    batch = tropalign.SequenceBatch.from_strings(texts)
    block = _native.TargetBlock(model.letters.codes[batch.letters], batch.offsets)
    places, posteriors = np.zeros(len(batch.codes), np.int32), np.zeros(len(batch.codes), np.float32)
    dropped = _native.align_targets(model.native, block, np.arange(4, dtype=np.int32), places, posteriors, 1)
    assert {1, 3} <= set(dropped.tolist()) and 2 not in dropped
    assert ours(path, texts, tmp_path) == theirs(path, texts)


def test_no_residue_that_the_model_emits_is_all_inserted(tmp_path):
    path = written(Family(20, 2).hmm, tmp_path / "x.hmm")
    made = tropalign.align_to_model(path, {"a": "***"})
    assert made[0].replace("-", "") == "***" and made.residue_confidence.tolist() == [0, 0, 0]


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("memory", [None, 40 << 20])
def test_threads_and_memory_change_nothing(threads, memory, tmp_path):
    family = Family(90, 6)
    texts = [text for text in database([family], 150, 8) if text]
    path = written(family.hmm, tmp_path / "x.hmm")
    assert ours(path, texts, tmp_path, n_threads=threads, memory_bytes=memory) == ours(path, texts, tmp_path)


def test_a_giant_takes_what_it_needs_or_is_refused(tmp_path):
    family = Family(60, 9)
    text = "".join(np.random.default_rng(1).choice(LETTERS, 35_000)) + family.member(0.9)
    path = written(family.hmm, tmp_path / "x.hmm")
    assert ours(path, [text], tmp_path, ".a2m") == theirs(path, [text], form="a2m")
    with pytest.raises(ResourceError, match=r"record 's0' needs .* of memory, excluding the model"):
        ours(path, [text], tmp_path, memory_bytes=10 << 20)


def test_a_model_of_a_search_is_one_to_align_to(tmp_path):
    family = Family(40, 3)
    path = written(family.hmm, tmp_path / "x.hmm")
    (model,) = tropalign.read_queries(path)
    assert isinstance(model, Model) and family_model_of("x") is None
    assert tropalign.align_to_model(model, ["MKVLAW"]) == tropalign.align_to_model(path, ["MKVLAW"])


def test_rows_and_columns_keep_what_they_are(tmp_path):
    family = Family(30, 4)
    path = written(family.hmm, tmp_path / "x.hmm")
    made = tropalign.align_to_model(path, {f"s{k}": family.member(0.6) + "WWW" * k for k in range(4)})
    assert made.is_node.sum() == 30 and made[1:].is_node is not None and made[:, 2:9].is_node.shape == (7,)
    assert made.without_empty_columns().is_node.shape == made.without_empty_columns().shape[1:]
    made.write(tmp_path / "x.result")
    again = tropalign.read_result(tmp_path / "x.result")
    assert again == made and (again.is_node == made.is_node).all() and again.is_masked is None
    assert np.array_equal(again.residue_confidence, made.residue_confidence)
    made.write(tmp_path / "x.a3m")
    a2m = ours(path, [made.sequences.text(k).upper() for k in range(4)], tmp_path, ".a2m").decode()
    a3m = (tmp_path / "x.a3m").read_text()
    joined = ["".join(record.split("\n")[1:]) for record in a2m.split(">")[1:]]
    assert ["".join(record.split("\n")[1:]) for record in a3m.split(">")[1:]] == joined


def test_names_of_any_length(tmp_path):
    family = Family(25, 4)
    path = written(family.hmm, tmp_path / "x.hmm")
    made = tropalign.align_to_model(path, {"n" * 10_000: family.member(0.9), "b": "AC"})
    made.write(tmp_path / "x.sto")
    assert tropalign.read_alignment(tmp_path / "x.sto").names == made.names


@pytest.mark.parametrize(
    ("sequences", "why"),
    [
        ({}, "there is no sequence"),
        ({"a": ""}, "record 'a': the sequence is empty"),
        ({"a": "ACGTTGACATGACGATAGCATTACG"}, "the sequences are nucleotide"),
        ({"a": "MKVLAW", "b": "ACGTTGACATGACGATAGCATTACG"}, "record 'b': this looks like a nucleotide sequence"),
        ({"a": "M" * 100_001}, "record 'a': the sequence has 100,001 residues"),
    ],
)
def test_what_cannot_be_aligned_is_refused(sequences, why, tmp_path):
    path = written(Family(20, 2).hmm, tmp_path / "x.hmm")
    batch = tmp_path / "x.fa"
    if why.startswith("the sequences"):
        sequences = tropalign.SequenceBatch.from_strings(sequences)
    with pytest.raises(InputError, match=why):
        tropalign.align_to_model(path, sequences)
    assert not batch.exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the file is empty"),
        (">a\nMKV\n", "this is not a model in HMMER's format"),
        ("HMMER3/f [x]\nNAME  a\n", "the model ends within its header"),
        ("HMMER3/f [x]\nNAME  a\nALPH  coins\nLENG  1\nHMM\n" + "#" * 90, "the model is for coins"),
        ("two", "the file holds several models, 'family2' and others"),
        ("cut", "the model ends within its nodes|the line holds no further probability"),
    ],
)
def test_what_is_no_model_is_refused(text, why, tmp_path):
    path = tmp_path / "x.hmm"
    whole = written(Family(20, 2).hmm, path).read_text()
    path.write_text({"two": whole + whole, "cut": whole[: len(whole) // 2 + 3]}.get(text, text))
    with pytest.raises(InputError, match=why):
        tropalign.align_to_model(path, ["MKV"])


def test_an_object_that_is_no_model():
    with pytest.raises(UsageError, match="an object of type int is not a model"):
        tropalign.align_to_model(3, ["MKV"])


def test_trim_is_true_or_false(tmp_path):
    path = written(Family(20, 2).hmm, tmp_path / "x.hmm")
    with pytest.raises(UsageError, match="trim is a str: give True or False"):
        tropalign.align_to_model(path, ["MKV"], trim="yes")


def alignment_model(n_residues):
    """A model of two nodes, all of whose residues are as likely."""
    share = np.full((3, n_residues), 1 / n_residues, np.float32)
    return _native.AlignmentModel(share, np.full((3, 7), 0.5, np.float32), share[0].copy())


def test_native_code_checks_its_arrays():
    model = alignment_model(4)
    block = _native.TargetBlock(np.zeros(5, np.uint8), np.array([0, 2, 2, 5]))
    places, posteriors = np.zeros(5, np.int32), np.zeros(5, np.float32)
    for targets, arrays, why in (
        ([3], (places, posteriors, 1), "targets: a number is outside"),
        ([1], (places, posteriors, 1), "targets: a sequence is empty"),
        ([0], (places[1:].copy(), posteriors, 1), "places: must have one per residue"),
        ([0], (places, posteriors[1:].copy(), 1), "posteriors: must have one per residue"),
        ([0], (places, posteriors, 0), "n_threads: below 1"),
    ):
        for align in (_native.align_targets, _native.align_targets_in_logs):
            with pytest.raises(ValueError, match=why):
                align(model, block, np.array(targets, np.int32), *arrays)
    with pytest.raises(ValueError, match="match: must have 20 or 4"):
        alignment_model(5)
    offsets, three = np.array([0, 3]), np.arange(3, dtype=np.int32)
    with pytest.raises(ValueError, match="places: a node is not in the model"):
        _native.insert_widths(three + 2, offsets, 3)
    with pytest.raises(ValueError, match="widths: an insertion is longer"):
        _native.columns_of_places(np.array([0, 0, 1], np.int32), offsets, np.array([1, 0], np.int32), False)
    with pytest.raises(ValueError, match="cells: must have a row per sequence"):
        _native.spread_residues(np.zeros(3, np.uint8), three, offsets, 0, np.zeros((2, 2), np.uint8))


def test_columns_beside_their_picture():
    """Of native/profiles/target_alignment.hpp: two nodes, inserts of at most 2, 0 and 3."""
    places = np.array([0, 0, 1, 2, -2, -2, -2, 0, 1, 2, -2], np.int32)
    offsets, widths = np.array([0, 7, 11]), np.array([2, 0, 3], np.int32)
    assert np.array_equal(_native.insert_widths(places, offsets, 2), widths)
    columns = _native.columns_of_places(places, offsets, widths, False)
    assert columns.tolist() == [0, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4]
    trimmed = _native.columns_of_places(places, offsets, widths, True)
    assert trimmed.tolist() == [-1, -1, 0, 1, -1, -1, -1, -1, 0, 1, -1]


@pytest.mark.parametrize("seed", range(12))
def test_hostile_models_and_sequences(seed, tmp_path):
    """Any probabilities, zeros among them, and any codes: an alignment with each residue once, or a sentence."""
    rng = np.random.default_rng(seed)
    M = int(rng.integers(1, 40))
    match = rng.dirichlet(np.full(20, 0.05), M + 1).astype(np.float32)
    t = rng.random((M + 1, 7)).astype(np.float32)
    t[rng.random(t.shape) < 0.3] = 0
    model = Model("x", "", "", match, t, match[0], np.zeros(6, np.float32), "x" * M)
    texts = ["".join(rng.choice([*LETTERS, *"XBZUOJ*"], rng.integers(1, 120))) for _ in range(20)]
    made = tropalign.align_to_model(model, texts)
    assert [made.sequences.text(k).upper() for k in range(20)] == texts
    made.write(tmp_path / "x.sto")
    assert tropalign.read_alignment(tmp_path / "x.sto").shape == made.shape


def test_progress_and_its_end(tmp_path):
    family = Family(25, 4)
    path = written(family.hmm, tmp_path / "x.hmm")
    told = []
    tropalign.align_to_model(path, ["MKV"] * 40, progress=lambda stage, share: told.append((stage, share)))
    assert all(stage == "alignment" and 0 <= share <= 1 for stage, share in told)
    assert onto_model.LOG_BYTES == 24


def test_hmmalign_itself(tmp_path):
    """HMMER's program, where it is installed, has the same bytes as its code in pyhmmer."""
    model, family = Path("examples/efp.hmm"), Path("examples/efp.fasta")
    try:
        done = subprocess.run(["hmmalign", str(model), str(family)], capture_output=True, check=True)
    except FileNotFoundError:
        pytest.skip("hmmalign is not installed")
    made = tropalign.align_to_model(model, family)
    made.write(tmp_path / "x.sto")
    assert plain((tmp_path / "x.sto").read_bytes()) == done.stdout
