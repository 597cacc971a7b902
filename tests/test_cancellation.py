"""Long calls tell how far they are, and end when what they tell raises, or at Ctrl-C."""

import inspect
import os
import signal
import threading
import time

import numpy as np
import pytest

import tropalign as ta
from tropalign import trees, tropical
from tropalign.errors import UsageError

RANDOM = np.random.default_rng(3)
PROTEIN = "ACDEFGHIKLMNPQRSTVWY"


def random_rows(n, length, letters):
    return {
        f"s{k}": "".join(letters[i] for i in row) for k, row in enumerate(RANDOM.integers(0, len(letters), (n, length)))
    }


FAMILY = random_rows(12, 60, PROTEIN)
READS = random_rows(40, 80, "ACGT")
ALIGNED = ta.MultipleAlignment.from_rows(list(FAMILY), list(FAMILY.values()))
OTHERS = ta.MultipleAlignment.from_rows(["x", "y"], ["MKVLAW", "MKILAW"])
ROWS = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
PACKAGE = ta.ReferencePackage.build(tuple("abcd"), ROWS, "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);")
TAXA = [f"t{k}" for k in range(1500)]
DISTANCES = RANDOM.random(1500 * 1499 // 2)
WIDE = ta.MultipleAlignment.from_rows(TAXA, ["".join(row) for row in RANDOM.choice(list("ACGT"), (1500, 1500))])
TREE = trees.neighbour_joining(trees.alignment_distances(WIDE, "identity"), TAXA)
WEIGHTS = RANDOM.random((1500, 1500)).astype(np.float32)
LONG = random_rows(400, 2000, PROTEIN)

#: Each public function that tells how far it is, with enough to do that it is told at least once.
CALLS = {
    ta.align_all: lambda **given: list(ta.align_all(FAMILY, **given)),
    ta.align_many: lambda **given: ta.align_many([("MKVLAW", "MKILAW")], **given),
    ta.align_scores: lambda **given: ta.align_scores([np.ones((3, 3), np.int8)] * 3, gap=ta.Gap(1, 1), **given),
    ta.align_tokens: lambda **given: ta.align_tokens(
        [("abc", "abd")] * 3, match=2, mismatch=-1, gap=ta.Gap(1, 1), **given
    ),
    ta.align_embeddings: lambda **given: ta.align_embeddings(np.ones((3, 4, 5)), gap=ta.Gap(1, 1), **given),
    ta.soft_align: lambda **given: ta.soft_align([np.ones((3, 3))] * 3, gap=ta.Gap(1, 1), **given),
    ta.align_multiple: lambda **given: ta.align_multiple(FAMILY, **given),
    ta.align_with_homologs: lambda **given: ta.align_with_homologs({"a": "MKVLAWHE", "b": "MKVLA"}, FAMILY, **given),
    ta.align_clustalw: lambda **given: ta.align_clustalw(FAMILY, **given),
    ta.add_sequences: lambda **given: ta.add_sequences(OTHERS, FAMILY, **given),
    ta.merge_alignments: lambda **given: ta.merge_alignments(ALIGNED, OTHERS, **given),
    ta.align_to_model: lambda **given: ta.align_to_model("examples/efp.hmm", LONG, **given),
    ta.cluster: lambda **given: ta.cluster(FAMILY, **given),
    ta.find_chimeras: lambda **given: ta.find_chimeras({f"{k};size=2": v for k, v in READS.items()}, **given),
    ta.decode: lambda **given: ta.decode("cpg", READS, **given),
    ta.mask: lambda **given: ta.mask(READS, "dust", **given),
    ta.place: lambda **given: list(ta.place(PACKAGE, [("x", "ACGTA")], **given)),
    ta.search: lambda **given: ta.search("examples/efp.hmm", FAMILY, **given),
    ta.scan: lambda **given: ta.scan(FAMILY, "examples/efp.hmm", **given),
    trees.alignment_distances: lambda **given: trees.alignment_distances(WIDE, "identity", **given),
    trees.pair_distances: lambda **given: trees.pair_distances(ta.SequenceBatch.from_strings(FAMILY), **given),
    trees.neighbour_joining: lambda **given: trees.neighbour_joining(DISTANCES, TAXA, **given),
    trees.upgma: lambda **given: trees.upgma(DISTANCES, TAXA, **given),
    trees.wpgma: lambda **given: trees.wpgma(DISTANCES, TAXA, **given),
    trees.compare_trees: lambda **given: trees.compare_trees([TREE, TREE], **given),
    trees.consensus_tree: lambda **given: trees.consensus_tree([TREE, TREE], **given),
    trees.with_support: lambda **given: trees.with_support(TREE, WIDE, 3, model="identity", **given),
    tropical.chain: lambda **given: tropical.chain([WEIGHTS[:9, :9]] * 3, **given),
    tropical.closure: lambda **given: tropical.closure(WEIGHTS, **given),
    tropical.matmul: lambda **given: tropical.matmul(WEIGHTS, WEIGHTS, **given),
    tropical.matrix_chain: lambda **given: tropical.matrix_chain([2, 3, 4, 5], **given),
    tropical.nussinov: lambda **given: tropical.nussinov("GGGAAACCC", **given),
    tropical.power: lambda **given: tropical.power(WEIGHTS[:9, :9], 3, **given),
    tropical.scan: lambda **given: tropical.scan(np.stack([WEIGHTS] * 3), **given),
    tropical.search_tree: lambda **given: tropical.search_tree([1.0, 2.0], **given),
    tropical.shortest_paths: lambda **given: tropical.shortest_paths(WEIGHTS, **given),
    tropical.triangular: lambda **given: tropical.triangular(WEIGHTS[:9, :9], **given),
}  # fmt: skip
#: Public functions that compute for seconds at the most, or in Python and NumPy alone, where Ctrl-C ends them.
WITHOUT = {
    "align", "best_cuts", "build_model", "dereplicate", "dot_plot", "otu_table", "parse_tree", "parse_trees",
    "plot_matrix", "plot_tree", "replace_negative_lengths", "score_alignment", "score_statistics", "translate",
    "zero_of",
}  # fmt: skip


#: A call that takes longer has told something.
UNTOLD_SECONDS = 0.5


class Cancelled(Exception):
    """What callers raise."""


def test_every_public_function_tells_or_is_named_as_one_that_does_not():
    public = [getattr(room, name) for room in (ta, trees, tropical) for name in room.__all__]
    functions = [one for one in public if inspect.isfunction(one) and not one.__name__.startswith(("read_", "write_"))]
    tell = {one for one in functions if "progress" in inspect.signature(one).parameters}
    assert tell == set(CALLS)
    assert {one.__name__ for one in functions if one not in tell} == WITHOUT


@pytest.mark.filterwarnings("ignore:no homologs were found")
@pytest.mark.parametrize("function", CALLS, ids=lambda one: one.__name__)
def test_what_the_callers_function_raises_ends_the_call(function):
    def stop(*_told):
        raise Cancelled

    begin = time.perf_counter()
    try:
        CALLS[function](progress=stop)
    except Cancelled:
        pass
    else:  # it is told every 50 ms, so that a call on a fast machine may end before
        assert time.perf_counter() - begin < UNTOLD_SECONDS
    with pytest.raises(UsageError, match="progress 3 is not a function: give one that takes"):
        CALLS[function](progress=3)


def test_an_event_of_another_thread_ends_a_single_long_pair():
    first, second = ("".join(row) for row in RANDOM.choice(list("ACGT"), (2, 200_000)))
    begun, ends, outcome = threading.Event(), threading.Event(), []

    def told(_n_begun):
        begun.set()
        if ends.is_set():
            raise Cancelled

    def work():
        with pytest.raises(Cancelled):
            ta.align_many([(first, second)], mode="global", report="score", n_threads=1, progress=told)
        outcome.append("ended")

    worker = threading.Thread(target=work)
    worker.start()
    assert begun.wait(60)
    ends.set()
    worker.join(60)
    assert outcome == ["ended"]


def test_an_interrupt_ends_a_call_without_a_function():
    matrix, n_ended = np.tile(WEIGHTS, (3, 3)), 0

    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.1, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while n_ended < 100:  # a machine may be so busy that the interrupt is late
            tropical.closure(matrix, n_threads=1, device="cpu")
            n_ended += 1
    timer.join()
