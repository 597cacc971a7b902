"""Messages name arguments of functions in Python, and options on the command line."""

import inspect
import io
import re

import numpy as np
import pytest

import tropalign as ta
from tropalign import trees, tropical
from tropalign.cli.main import main
from tropalign.errors import TropalignError, named, options_named

PROTEINS = {"a": "MKVLAWHEAGAWMKVLAW", "b": "MKILAWPAWHEAEMKVLAW", "c": "KVLAWMKHEMKVLAWHH"}
ALIGNED = ta.align_multiple(PROTEINS)
OTHERS = ta.align_multiple({"d": "MKV", "e": "ML"})
DISTANCES = trees.alignment_distances(ALIGNED)
TREE = trees.neighbour_joining(DISTANCES, list(PROTEINS))
ROWS = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
PACKAGE = ta.ReferencePackage.build(tuple("abcd"), ROWS, "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);")
MODELS = "examples/efp.hmm"
TOKENS = {"match": 2, "mismatch": -1, "gap": ta.Gap(1, 1)}
WEIGHTS = [[0.0, 1.0], [1.0, 0.0]]

#: Functions of numbers, and what calls them, other arguments right. Results that come one by one are listed.
CALLS = {
    ta.align: lambda **given: ta.align("MKV", "MKL", **given),
    ta.align_all: lambda **given: list(
        ta.align_all({"d": "ACGTACGTACGT"}, PROTEINS, translate="query", **given)
        if "genetic_code" in given
        else ta.align_all(PROTEINS, **given)
    ),
    ta.align_many: lambda **given: ta.align_many([("MKV", "MKL")], **given),
    ta.align_scores: lambda **given: ta.align_scores([np.ones((3, 3), np.int8)], gap=ta.Gap(1, 1), **given),
    ta.align_embeddings: lambda **given: ta.align_embeddings(np.ones((3, 4, 5)), gap=ta.Gap(1, 1), **given),
    ta.align_tokens: lambda **given: ta.align_tokens("MKV", "MKL", **{**TOKENS, **given}),
    ta.soft_align: lambda **given: ta.soft_align([np.ones((3, 3))] * 3, gap=ta.Gap(1, 1), **given),
    ta.read_position_matrices: lambda **given: ta.read_position_matrices(
        io.BytesIO(b">m\nA [1]\nC [1]\nG [1]\nT [1]\n"), "jaspar", **given
    ),
    ta.align_multiple: lambda **given: ta.align_multiple(PROTEINS, **given),
    ta.align_with_homologs: lambda **given: ta.align_with_homologs(PROTEINS, PROTEINS, **given),
    ta.align_clustalw: lambda **given: ta.align_clustalw(PROTEINS, **given),
    ta.add_sequences: lambda **given: ta.add_sequences(ALIGNED, {"d": "MKVLAWHEA"}, **given),
    ta.merge_alignments: lambda **given: ta.merge_alignments(ALIGNED, OTHERS, **given),
    ta.cluster: lambda **given: ta.cluster(PROTEINS, **given),
    ta.dereplicate: lambda **given: ta.dereplicate(PROTEINS, **given),
    ta.find_chimeras: lambda **given: ta.find_chimeras({"a;size=2": "ACGTACGTACGT"}, **given),
    ta.decode: lambda **given: ta.decode("cpg", {"a": "ACGTACGTTGCA"}, **given),
    ta.place: lambda **given: list(ta.place(PACKAGE, [("x", "ACGTA")], **given)),
    ta.search: lambda **given: ta.search(MODELS, PROTEINS, **given),
    ta.scan: lambda **given: ta.scan(PROTEINS, MODELS, **given),
    ta.align_to_model: lambda **given: ta.align_to_model(MODELS, PROTEINS, **given),
    ta.mask: lambda **given: ta.mask(PROTEINS, "seg", **given),
    ta.read_otu_table: lambda **given: ta.read_otu_table("examples/amplicons.fasta", **given),
    ta.translate: lambda **given: ta.translate(ta.SequenceBatch.from_strings({"a": "ACGTAC"}), **given),
    ta.ClustalwOptions: ta.ClustalwOptions,
    ta.SearchOptions: ta.SearchOptions,
    ta.Thresholds: ta.Thresholds,
    ta.PlacementScoring: ta.PlacementScoring,
    trees.with_support: lambda **given: trees.with_support(TREE, ALIGNED, **given),
    trees.alignment_distances: lambda **given: trees.alignment_distances(ALIGNED, **given),
    trees.pair_distances: lambda **given: trees.pair_distances(ta.SequenceBatch.from_strings(PROTEINS), **given),
    trees.neighbour_joining: lambda **given: trees.neighbour_joining(DISTANCES, **given),
    trees.upgma: lambda **given: trees.upgma(DISTANCES, **given),
    trees.wpgma: lambda **given: trees.wpgma(DISTANCES, **given),
    tropical.chain: lambda **given: tropical.chain([WEIGHTS, WEIGHTS], **given),
    tropical.closure: lambda **given: tropical.closure(WEIGHTS, **given),
    tropical.matmul: lambda **given: tropical.matmul(WEIGHTS, WEIGHTS, **given),
    tropical.matrix_chain: lambda **given: tropical.matrix_chain([1, 2, 3], **given),
    tropical.nussinov: lambda **given: tropical.nussinov("GGGAAACCC", **given),
    tropical.power: lambda n=2, **given: tropical.power(WEIGHTS, n, **given),
    tropical.scan: lambda **given: tropical.scan([WEIGHTS, WEIGHTS], **given),
    tropical.search_tree: lambda **given: tropical.search_tree([1.0, 2.0], **given),
    tropical.shortest_paths: lambda **given: tropical.shortest_paths(WEIGHTS, **given),
    tropical.triangular: lambda **given: tropical.triangular(WEIGHTS, **given),
}  # fmt: skip
#: What is said of them in words instead.
IN_WORDS = {"genetic_code": "genetic code", "code": "genetic code"}


def numbers_of(function):
    """The arguments that take one number."""
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if re.fullmatch(r"(int|float)( \| None)?", str(one.annotation))]


def test_every_public_function_of_numbers_is_called():
    rooms = (ta, trees, tropical)
    public = [getattr(room, name) for room in rooms for name in room.__all__]
    uncalled = {one.__name__ for one in public if inspect.isfunction(one) and numbers_of(one) and one not in CALLS}
    assert uncalled == {"dot_plot"}  # whose letters per word are told by the word


@pytest.mark.parametrize(
    ("function", "argument"),
    [(function, name) for function in CALLS for name in numbers_of(function)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_wrong_number_is_told_by_the_name_of_its_argument(function, argument, request, monkeypatch):
    monkeypatch.chdir(request.config.rootpath)
    for wrong in ("many", [1], float("nan")):
        with pytest.raises(TropalignError) as caught:
            CALLS[function](**{argument: wrong})
        message = str(caught.value)
        assert IN_WORDS.get(argument, argument) in message and "--" not in message, message


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("pairs --min-score 5 --report score --min-identity 0.5", "--min-identity needs --report alignment"),
        ("pairs --max-evalue 1 --mode global", "--max-evalue applies to local alignments only"),
        ("pairs --memory 10", "allow more with --memory"),
        ("pairs --strand both", "omit --strand both"),
        ("cluster --memory 10", "allow more with --memory"),
        ("msa --cutoff 2 --realign", "--cutoff: '2' is above 0.5: give a number from 0.0001 to 0.5"),
    ],
)
def test_the_command_line_names_its_options(words, sentence, tmp_path, capsys):
    path = tmp_path / "a.fa"
    path.write_text("".join(f">{name}\n{text}\n" for name, text in PROTEINS.items()))
    verb, *others = words.split()
    assert main([verb, str(path), *others]) in (2, 3, 4)
    assert sentence in capsys.readouterr().err


def test_options_are_named_while_the_command_line_runs():
    with options_named():
        assert [named(name) for name in ("min_score", "n_threads", "memory_bytes", "f1", "E", "domE")] == [
            "--min-score", "--threads", "--memory", "--F1", "-E", "--domE"
        ]  # fmt: skip
    assert named("min_score") == "min_score"
