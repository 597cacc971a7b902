"""``tropalign pairs --embeddings``: equal to tables of scores; files, stopped runs and bad input."""

import csv
import runpy
import sys

import numpy as np
import pytest
from clone import ROOT
from kept_parts import parts_in

import tropalign as ta
from tropalign.cli.main import main

EXAMPLE = ROOT / "examples/embeddings.npz"
PROTEINS = ta.read_sequences(ROOT / "examples/embeddings.fasta")


def vectors():
    with np.load(EXAMPLE) as file:
        return {name: file[name] for name in file.files}


def normed(array):
    array = array.astype(np.float64)
    return array / np.linalg.norm(array, axis=1, keepdims=True)


def rows(path):
    with open(path) as file:
        return list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))


@pytest.fixture
def npz(tmp_path):
    def write(name="a.npz", **arrays):
        np.savez(tmp_path / name, **arrays)
        return str(tmp_path / name)

    return write


def test_the_example_is_what_its_script_makes():
    made = runpy.run_path(str(ROOT / "examples/make_embeddings.py"))
    for name, array in vectors().items():
        np.testing.assert_array_equal(made["vectors"](str(PROTEINS[PROTEINS.names.index(name)])), array)


@pytest.mark.parametrize(
    ("options", "how"),
    [
        ([], {}),
        (["--mode", "global", "--gap-open", "2", "--gap-extend", "0.25"], {"mode": "global", "gap": ta.Gap(2, 0.25)}),
        (["--mode", "semiglobal", "--free-ends", "query-start"], {"mode": "semiglobal", "free_ends": ["query-start"]}),
        (["--max-hsps", "3"], {"max_hsps": 3}),
    ],
)
def test_rows_are_those_of_tables(options, how, tmp_path):
    out = tmp_path / "a.tsv"
    words = ["--embeddings", str(EXAMPLE), "--scale", "1.5", "--shift", "0.9", "-q", "-o", str(out)]
    assert main(["pairs", str(ROOT / "examples/embeddings.fasta"), *words, *options]) == 0
    arrays = [normed(array) for array in vectors().values()]
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    tables = [(1.5 * (arrays[i] @ arrays[j].T) - 0.9).astype(np.float32) for i, j in pairs]
    sides = [[(PROTEINS.names[k], str(PROTEINS[k])) for k in side] for side in zip(*pairs, strict=True)]
    wanted = ta.align_scores(tables, **{"gap": ta.Gap(1, 0.1), **how}, queries=sides[0], targets=sides[1])
    found = rows(out)
    assert [(row["query"], row["target"], row["cigar"]) for row in found] == [
        (row.query, row.target, row.cigar) for row in wanted
    ]
    np.testing.assert_allclose([float(row["score"]) for row in found], wanted.score, rtol=2e-5)
    assert [row["identity"] for row in found] == [f"{row.identity:.4f}" for row in wanted]


def test_names_and_formats_of_h5(tmp_path, npz):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for k, (name, array) in enumerate(sorted(vectors().items())):
            file[str(k)] = array
            file[str(k)].attrs["original_id"] = name  # as bio_embeddings writes it
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["group/of"] = np.ones((2, 3))
    words = ["--shift", "0.5", "-q", "--no-comments", "-o"]
    assert main(["pairs", "--embeddings", str(tmp_path / "a.h5"), *words, str(tmp_path / "h5.tsv")]) == 0
    other = npz("sorted.npz", **dict(sorted(vectors().items())))
    assert main(["pairs", "--embeddings", other, *words, str(tmp_path / "npz.tsv")]) == 0
    assert (tmp_path / "h5.tsv").read_bytes() == (tmp_path / "npz.tsv").read_bytes()
    assert main(["pairs", "--embeddings", str(tmp_path / "b.h5")]) == 3


def test_h5_without_its_package(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "h5py", None)
    (tmp_path / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    assert main(["pairs", "--embeddings", str(tmp_path / "a.h5")]) == 3
    assert "a.h5: reading .h5 needs the package h5py: install it, or give .npz" in capsys.readouterr().err


def test_a_stopped_run_goes_on_with_the_same_vectors_only(tmp_path, monkeypatch, npz, capsys):
    from tropalign.pairwise import PairsTask

    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "4")
    out, compute, computed = tmp_path / "out.tsv", PairsTask.on_cpu, []

    def fails(task, tile, *arguments):
        if tile.index == 2 and not computed.count(2):
            computed.append(2)
            raise MemoryError
        computed.append(tile.index)
        return compute(task, tile, *arguments)

    monkeypatch.setattr(PairsTask, "on_cpu", fails)
    monkeypatch.setattr(PairsTask, "split", lambda task, tile: [])
    words = ["pairs", "--embeddings", npz(**vectors()), "--shift", "0.5", "-q", "-o"]
    assert main([*words, str(out)]) == 4
    before = set(parts_in(tmp_path / "out.tsv.parts"))
    assert before and not out.exists()
    changed = vectors()
    changed["EFP_MYCPU"] = changed["EFP_MYCPU"] + 1
    npz(**changed)
    capsys.readouterr()
    assert main([*words, str(out)]) == 3
    assert "(embeddings was '16 numbers per residue, hash " in capsys.readouterr().err
    npz(**vectors())
    computed[:] = [2]
    assert main([*words, str(out)]) == 0
    assert not before & set(computed[1:])
    assert main([*words, str(tmp_path / "whole.tsv"), "-t", "1"]) == 0
    assert out.read_bytes() == (tmp_path / "whole.tsv").read_bytes()


ONE = np.ones((3, 2))


@pytest.mark.parametrize(
    ("code", "said", "arrays", "options"),
    [
        (3, "a.npz, record 'b': the number in row 1, column 0 (from 0) is nan", {"b": [[1, 2], [np.nan, 1]]}, []),
        (3, "a.npz, record 'b': the number in row 0, column 1 (from 0) is -inf", {"b": [[1, -np.inf]]}, []),
        (3, "record 'b': the number in row 0, column 0 (from 0) is 1e+200, but must be finite", {"b": [[1e200]]}, []),
        (3, "a.npz, record 'b': an array of shape (3,) and type float64 is not", {"b": np.ones(3)}, []),
        (3, "a.npz, record 'b': an array of shape (0, 2) and type float64 is not", {"b": np.ones((0, 2))}, []),
        (3, "a.npz, record 'b': an array of shape (3, 0) and type float64 is not", {"b": np.ones((3, 0))}, []),
        (3, "a.npz, record 'b': an array of shape (1, 2) and type complex128 is not", {"b": [[1j, 2]]}, []),
        (3, "a.npz, record 'b': an array of shape (1, 1) and type bool is not", {"b": [[True]]}, []),
        (3, "a.npz: this file is not an .npz or .h5 of arrays", {"b": np.array([[{}]], object)}, []),
        (3, "a.npz: there is no array: give one or more", {}, []),
        (
            3,
            "a.npz, record 'b': the vectors have 3 numbers, but those of a have 2",
            {"a": ONE, "b": np.ones((2, 3))},
            [],
        ),
        (3, "the set contains only one sequence, so there is no pair", {"a": ONE}, []),
        (
            3,
            "record 'a x b': a score is not finite: scale",
            {"a": ONE * 1e30, "b": ONE * 1e30},
            ["--similarity", "dot"],
        ),
        (4, "tropalign with this input needs", {"a": ONE, "b": ONE}, ["--memory", "20M"]),
        (2, "argument --shift: 'nan' is not a number", {"a": ONE, "b": ONE}, ["--shift", "nan"]),
        (2, "argument --scale: '4e9' is not a number", {"a": ONE, "b": ONE}, ["--scale", "4e9"]),
    ],
)
def test_bad_input_is_one_sentence(code, said, arrays, options, npz, capsys):
    words = ["pairs", "--embeddings", npz(**arrays), "--mode", "global", *options]
    try:
        got = main(words)
    except SystemExit as end:
        got = end.code
    error = capsys.readouterr().err
    assert got == code and said in error and error.count("\n") == 1


def test_two_files_need_vectors_of_one_model(npz, capsys):
    assert main(["pairs", "--embeddings", npz(a=ONE), npz("b.npz", c=np.ones((4, 5)))]) == 3
    assert "b.npz, record 'c': the vectors have 5 numbers, but those of a have 2" in capsys.readouterr().err
