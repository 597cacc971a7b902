"""Format "result": what `read_result` gives back is what was written, and whatever is damaged is an InputError."""

import io
import json
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tropalign
from tropalign import InputError
from tropalign.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
PROTEINS = {"a": "MKVLAWMKTAYIAKQR", "b": "MKILAWMTAYIAKQ", "c": "MKVAWMKTAYIKQRQ"}


def table(**options):
    (found,) = tropalign.align_all(PROTEINS, **options)
    return found


def written(result, folder):
    path = folder / "x.result"
    result.write(path)
    return path


RESULTS = {
    "pairs": table,
    "scores": lambda: table(report="score", gap=tropalign.Gap(9.5, 0.5)),
    "ends": lambda: table(report="ends", mode="global"),
    "aligned": lambda: tropalign.align_multiple(PROTEINS),
    "clusters": lambda: tropalign.cluster(PROTEINS, 0.7),
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_is_read_is_what_was_written(name, tmp_path):
    result = RESULTS[name]()
    path = written(result, tmp_path)
    assert tropalign.read_result(path) == result
    assert tropalign.read_result(str(path)) == result
    with open(path, "rb") as file:
        assert tropalign.read_result(file) == result


def test_several_tiles_are_joined_and_confidence_is_kept(tmp_path):
    result = RESULTS["aligned"]()
    again = tropalign.read_result(written(result, tmp_path))
    assert again.tree == result.tree and np.array_equal(again.residue_confidence, result.residue_confidence)
    (whole,) = tropalign.align_all(PROTEINS)
    tropalign.write_alignments([whole.slice(0, 1), whole.slice(1, 1), whole.slice(1, 3)], tmp_path / "x.result")
    assert tropalign.read_result(tmp_path / "x.result") == whole


@pytest.mark.parametrize("words", [[], ["--model"]], ids=["family", "model"])
def test_alignments_of_the_command_are_kept(words, tmp_path):
    (tmp_path / "a.fa").write_text("".join(f">{name}\n{letters}\n" for name, letters in PROTEINS.items()))
    tropalign.build_model(tropalign.align_multiple(PROTEINS), name="a").write(tmp_path / "a.hmm")
    more = [*words, str(tmp_path / "a.hmm")] if words else []
    for name in ("x.result", "x.fasta"):
        assert main(["msa", *more, str(tmp_path / "a.fa"), "-o", str(tmp_path / name), "-q"]) == 0
    found = tropalign.read_result(tmp_path / "x.result")
    assert np.array_equal(found.letters, tropalign.read_alignment(tmp_path / "x.fasta").letters)


def test_segments_are_kept_and_those_of_before_letters_without_a_label_were_counted(tmp_path):
    (tmp_path / "a.fa").write_text(">a\n" + "ACGT" * 9 + "N" * 20 + "CGCG" * 9)
    path = tmp_path / "x.result"
    assert main(["decode", "--model", "cpg", str(tmp_path / "a.fa"), "-o", str(path), "-q"]) == 0
    assert tropalign.read_result(path).n_unlabelled.tolist() == [20]
    older = tmp_path / "older.result"
    with zipfile.ZipFile(path) as new, zipfile.ZipFile(older, "w") as old:
        for name in new.namelist():
            if "n_unlabelled" not in name:
                old.writestr(name, new.read(name))
    assert tropalign.read_result(older).n_unlabelled.tolist() == [0]


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="examples are not beside the tests")
@pytest.mark.parametrize("verb", ["search", "scan", "unfiltered", "iterated"])
def test_hits_are_kept(verb, tmp_path):
    model, proteins = EXAMPLES / "efp.hmm", EXAMPLES / "efp.fasta"
    hits = {
        "search": lambda: tropalign.search(model, proteins),
        "scan": lambda: tropalign.scan(proteins, model),
        "unfiltered": lambda: tropalign.search(model, proteins, options=tropalign.SearchOptions.unfiltered()),
        "iterated": lambda: tropalign.search(model, proteins, n_rounds=2),
    }[verb]()
    again = tropalign.read_result(written(hits, tmp_path))
    assert repr(again) == repr(hits) and again.queries == hits.queries and again.thresholds == hits.thresholds
    assert np.array_equal(again.domain_i_evalue, hits.domain_i_evalue)
    assert hits[0].best_domain.lines == again[0].best_domain.lines


def changed(data, change):
    """The archive with its members changed: (name, bytes) -> bytes or None."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.infolist():
            made = change(member.filename, old.read(member))
            if made is not None:
                new.writestr(member.filename, made)
    return io.BytesIO(out.getvalue())


def npy(array):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def notes_with(**more):
    return lambda name, data: json.dumps({**json.loads(data), **more}).encode() if name == "notes.json" else data


def array_as(wanted, array):
    return lambda name, data: npy(array) if name == f"{wanted}.npy" else data


def scores_with(old, new):
    return lambda name, data: data.replace(old, new) if name == "score.npy" else data


LIES = {
    "another kind": notes_with(kind="trees"),
    "kind of others": notes_with(kind="hits"),
    "another layout": notes_with(layout=99),
    "no depth": notes_with(depth=3),
    "names that are none": notes_with(queries={"alphabet": "protein", "names": [1, 2, 3]}),
    "half letters": notes_with(queries={"alphabet": "protein", "names": ["\ud800", "b", "c"]}),
    "another alphabet": notes_with(queries={"alphabet": "klingon", "names": ["a", "b", "c"]}),
    "a missing column": lambda name, data: None if name == "score.npy" else data,
    "no notes": lambda name, data: None if name == "notes.json" else data,
    "notes that are none": lambda name, data: b"[[[" if name == "notes.json" else data,
    "another type": array_as("score", np.zeros(3, np.float32)),
    "objects": array_as("score", np.array([{}, {}, {}], object)),
    "another length": array_as("query_end", np.zeros(4, np.int32)),
    "an index outside": array_as("query_index", np.array([0, 0, 3])),
    "an end outside": array_as("query_end", np.array([99, 99, 99], np.int32)),
    "offsets that descend": array_as("cigar_offsets", np.array([0, 5, 3, 9])),
    "a path of another length": array_as("cigar_ops", np.full(9, (1 << 28) - 1 << 4 | 7, np.uint32)),
    "a square": array_as("score", np.zeros((3, 1), np.int32)),
    "a header of a terabyte": scores_with(b"(3,)", b"(1000000000000,)"),
    "a header with an open bracket": scores_with(b"(3,), }", b"(3 ,  }"),
    "a column too many": lambda name, data: data if name != "score.npy" else data + b"\0",
}


@pytest.mark.parametrize("name", LIES)
def test_lies_are_found(name, tmp_path):
    data = written(table(), tmp_path).read_bytes()
    with pytest.raises(InputError, match="not a result of this version of tropalign"):
        tropalign.read_result(changed(data, LIES[name]))


def hits():
    model = next(iter(tropalign.read_queries(io.BytesIO(f">q\n{PROTEINS['a']}\n".encode()))))
    loose = tropalign.Thresholds(E=1e9, domE=1e9, incE=1e9, incdomE=1e9)
    unfiltered = tropalign.SearchOptions.unfiltered()
    return tropalign.search(model, PROTEINS.items(), thresholds=loose, options=unfiltered)


def one_as(wanted, value):
    """The archive with the first number of an array changed."""

    def change(name, data):
        if name != f"{wanted}.npy":
            return data
        array = np.load(io.BytesIO(data))
        array[0] = value
        return npy(array)

    return change


#: Arrays of results whose first numbers no result has: each of them went wrong in use once.
NUMBERS = [
    *(("aligned", name, np.inf) for name in ("residue_confidence", "column_confidence")),
    ("hits", "log_p", 1e308), ("hits", "domain_log_p", np.nan), ("hits", "bits", np.nan), ("hits", "widths", 2**40),
    ("hits", "widths", -1), ("hits", "domZ", -1.0), ("hits", "domain_model_begin", 7), ("hits", "domain_begin", -3),
    ("hits", "domain_end", 99), ("hits", "domain_envelope_end", 0), ("hits", "model_line", ord(".")),
    ("hits", "target_line", ord("-")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "value"), NUMBERS)
def test_numbers_that_no_result_has_are_found(kind, name, value, tmp_path):
    data = written(hits() if kind == "hits" else RESULTS[kind](), tmp_path).read_bytes()
    tropalign.read_result(changed(data, lambda _, member: member))
    with pytest.raises(InputError, match="not a result of this version of tropalign"):
        tropalign.read_result(changed(data, one_as(name, value)))


@pytest.mark.parametrize("name", ["pairs", "aligned", "clusters"])
def test_random_damage(name, tmp_path):
    """Whatever is flipped or cut: a result, or the sentence."""
    data = written(RESULTS[name](), tmp_path).read_bytes()
    draws = random.Random(5)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(draws.randint(1, 4)):
            damaged[draws.randrange(len(damaged))] = draws.randrange(256)
        if draws.random() < 0.3:
            del damaged[draws.randrange(len(damaged)) :]
        try:
            tropalign.read_result(io.BytesIO(bytes(damaged)))
        except InputError as error:
            assert "not a result of this version of tropalign" in str(error)


def test_what_is_no_result_or_not_there(tmp_path):
    path = tmp_path / "bomb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes.json", b" " * 10_000_000)
    with pytest.raises(InputError, match="bomb: this is not a result"):
        tropalign.read_result(path)
    with pytest.raises(InputError, match="no/x: there is no such file"):
        tropalign.read_result("no/x")
