"""Every function of sequences takes texts, lists, mappings, batches and files in the same way."""

import io

import numpy as np
import pytest
from Bio import SeqIO
from Bio.Seq import Seq

import tropalign as ta

TEXTS = {
    "protein": ["MKVLAWHEAGAWHEAGMKV", "MKVLAWHEAGAWHEAGMKI", "MKVLAWHEAGWHEAGMKIL"],
    "nucleotide": ["ACGTACGTACGTACGTACGAACGT", "ACGTACGTACGTTCGTACGAACGT", "ACGAACGTACGTTCGTACGAACGA"],
}
ROWS = np.array([list(text.encode()) for text in TEXTS["nucleotide"]], np.uint8)
PACKAGE = ta.ReferencePackage.build(("a", "b", "c"), ROWS, "(a:0.1,b:0.1,c:0.1);")
OLD = ta.align_multiple({"x": TEXTS["protein"][0], "y": TEXTS["protein"][1]})
TABLES = [np.eye(len(text), dtype=np.int8) for text in TEXTS["protein"]]
EFP = "examples/efp.hmm"
#: Functions by name, each with the alphabet of its sequences.
FUNCTIONS = {
    "align_all": ("protein", lambda given: list(ta.align_all(given))),
    "align_all against targets": ("protein", lambda given: list(ta.align_all(["MKVLAW"], given))),
    "cluster": ("nucleotide", lambda given: ta.cluster(given, 0.9)),
    "cluster to": ("nucleotide", lambda given: ta.cluster({"x": TEXTS["nucleotide"][0]}, 0.9, to=given)),
    "dereplicate": ("nucleotide", ta.dereplicate),
    "find_chimeras": ("nucleotide", lambda given: ta.find_chimeras({"x": ROWS[0].tobytes()}, references=given)),
    "mask": ("nucleotide", lambda given: [parts.tolist() for parts in ta.mask(given, "dust")]),
    "translate": ("nucleotide", lambda given: [str(protein) for protein in ta.translate(given)]),
    "pair_distances": ("protein", lambda given: ta.trees.pair_distances(given, "identity").tolist()),
    "align_scores": (
        "protein",
        lambda given: ta.align_scores(TABLES, queries=given, gap=ta.Gap(1, 1)).n_columns.tolist(),
    ),
    "align_multiple": ("protein", ta.align_multiple),
    "align_clustalw": ("protein", ta.align_clustalw),
    "add_sequences": ("protein", lambda given: ta.add_sequences(OLD, given)),
    "align_with_homologs": ("protein", lambda given: ta.align_with_homologs(OLD.sequences, given)),
    "align_to_model": ("protein", lambda given: ta.align_to_model(next(ta.read_queries(EFP)), given)),
    "search": ("protein", lambda given: ta.search(EFP, given, thresholds=ta.Thresholds(E=1e6))),
    "scan": ("protein", lambda given: ta.scan(given, EFP, thresholds=ta.Thresholds(E=1e6))),
    "place": ("nucleotide", lambda given: list(ta.place(PACKAGE, given))),
    "decode": ("nucleotide", lambda given: ta.decode("cpg", given)),
}
#: Forms of the sequences by name, from texts and the path of a file with them.
FORMS = {
    "texts": lambda texts, _: texts,
    "a tuple": lambda texts, _: tuple(texts),
    "a generator": lambda texts, _: (text for text in texts),
    "an array": lambda texts, _: np.array(texts),
    "bytes": lambda texts, _: [text.encode() for text in texts],
    "Seqs": lambda texts, _: [Seq(text) for text in texts],
    "a mapping": lambda texts, _: {f"sequence_{k}": text for k, text in enumerate(texts, 1)},
    "pairs": lambda texts, _: [(f"sequence_{k}", text) for k, text in enumerate(texts, 1)],
    "records": lambda _, path: SeqIO.parse(io.StringIO(path.read_text()), "fasta"),
    "a path": lambda _, path: path,
    "the name of a file": lambda _, path: str(path),
    "an open file": lambda _, path: io.BytesIO(path.read_bytes()),
    "paths": lambda _, path: [path],
    "names of files": lambda _, path: [str(path)],
}


@pytest.mark.filterwarnings("ignore::tropalign.TropalignWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_forms_of_sequences(name, tmp_path):
    alphabet, function = FUNCTIONS[name]
    texts = TEXTS[alphabet]
    path = tmp_path / "given.fa"
    path.write_text("".join(f">sequence_{k}\n{text}\n" for k, text in enumerate(texts, 1)))
    expected = function(ta.SequenceBatch.from_strings(texts))
    for form, given in FORMS.items():
        assert function(given(texts, path)) == expected, form


def test_a_single_text():
    assert [str(protein) for protein in ta.translate("ATGAAATAG", frames=[1])] == ["MK*"]
    assert ta.translate("ATGAAATAG").names[0] == "sequence_1/+1"
    for function in (ta.align_multiple, ta.trees.pair_distances, lambda text: list(ta.align_all(text))):
        with pytest.raises(ta.InputError, match=r"^a single sequence was given, but a list is required"):
            function("MKVLAW")
    with pytest.raises(ta.InputError, match=r"^MKVLAW: there is no such file. If this is a sequence, "):
        ta.search(EFP, "MKVLAW")
    with pytest.raises(ta.InputError, match=r"^given.fa: there is no such file"):
        ta.translate("given.fa")
    with pytest.raises(ta.InputError, match=r"^only nucleotides can be translated"):
        ta.translate("MKVLAW")
