"""Results that are pickled and loaded again are the same."""

import pickle
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import tropalign
from tropalign import tropical
from tropalign.trees import alignment_distances, compare_trees, neighbour_joining, parse_tree

EXAMPLES = Path(__file__).parents[2] / "examples"
SEQUENCES = {"a": "MKVLAWHEAGAW", "b": "MKILAWPAWHEAE", "c": "KVLAWMKHE"}
ROWS = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)


def table():
    (found,) = tropalign.align_all(SEQUENCES)
    return found


def stranded():
    (found,) = tropalign.align_all({"a": "AACGGGT", "b": "ACCCGTT"}, strand="both", mode="local", report="ends")
    return found


def hits():
    return tropalign.search(EXAMPLES / "efp.hmm", EXAMPLES / "efp.fasta")[:3]


def package():
    return tropalign.ReferencePackage.build(("a", "b", "c", "d"), ROWS, "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);")


def placements():
    (found,) = tropalign.place(package(), [("x", "ACGTA"), ("y", "CCA")])
    return found


def segments():
    return tropalign.decode("cpg", {"chr": "ATTGCAATCATG" * 20 + "CGCGGCGCCGACG" * 20})


def shortest_paths():
    far = float("inf")
    graph = [[0, 3, 8], [far, 0, 2], [1, far, 0]]
    return tropical.shortest_paths(graph, names=["a", "b", "c"], predecessors=True)


def chimeras():
    a = "ACGTTGCAAGCTTAGGCATC" * 6
    b = a.replace("TTAGG", "TCAGC")
    return tropalign.find_chimeras({"a;size=9": a, "b;size=8": b, "c;size=2": a[:60] + b[60:]})


MAKERS = {
    "table": table,
    "stranded": stranded,
    "row": lambda: table()[1],
    "pair": lambda: tropalign.align("MKVLAW", "MKILAW"),
    "hits": hits,
    "placements": placements,
    "clusters": lambda: tropalign.cluster({"a": "ACGTACGTACGTT", "b": "ACGTACGTACGT", "c": "GGGCCCTTTAAA"}, 0.9),
    "chimeras": chimeras,
    "alignment": lambda: tropalign.align_multiple(SEQUENCES),
    "segments": segments,
    "paths": shortest_paths,
    "tree": lambda: parse_tree("((A:1,B:2)97:0.5,'C c':3,D:-4);"),
    "joined": lambda: neighbour_joining(alignment_distances(tropalign.align_multiple(SEQUENCES)), "abc"),
    "comparisons": lambda: compare_trees([parse_tree("((A:1,B:2):1,C:1,D:1);"), parse_tree("((A:1,C:2):1,B:1,D:1);")]),
    "package": package,
}


#: What of a class that has no equality says that two are the same.
CONTENT = {
    "paths": ("distances", "sources", "predecessors", "names", "method", "notes"),
    "tree": ("names", "children", "lengths", "support"),
    "joined": ("names", "children", "lengths", "support"),
    "package": ("names", "letters", "columns", "planes", "distinct", "gap_flags", "tree.newick"),
}


def content(name, thing):
    if name not in CONTENT:
        return thing
    values = [attrgetter(part)(thing) for part in CONTENT[name]]
    values = [value() if callable(value) else value for value in values]
    return [value.tolist() if isinstance(value, np.ndarray) else value for value in values]


@pytest.mark.parametrize("name", MAKERS)
def test_a_pickle_is_what_was_made(name):
    made = MAKERS[name]()
    kept = pickle.loads(pickle.dumps(made))
    assert type(kept) is type(made)
    assert str(content(name, kept)) == str(content(name, made))
    assert name in CONTENT or kept == made
