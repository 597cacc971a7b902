"""Public functions in threads; each process begins cold, with nothing imported, cached or read.

``python threads.py compare N_THREADS [CASE ...]``: all threads run all cases, each in another order. It prints the
hashes of the results by case; a case with several hashes gave different results.

``python threads.py fork N CASE``: one thread runs a case for the first time, and the process forks N times meanwhile.
Each child runs the case, too; their exit codes are printed.

``python threads.py exit SEED CASE``: daemon threads run a case again and again while the interpreter exits.
"""

import faulthandler
import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXAMPLES, SEARCH = ROOT / "examples", ROOT / "tests/data/search"
DNA = {"a": "ACGTTGCAAGCTTAGGCATCAAAC", "b": "ACGTTGCATGCTTAGCATCAAAC", "c": "ACGTTGGATGCTTAGCATCACAC"}
GENES = {"g1": "ATGAAAGTGCTGGCTTGG", "g2": "ATGAAAATTCTGGCTNGG"}
OTUS = "#OTU ID\ts1\ts2\nx\t1\t2\ny\t0\t3\n"
BIOM = (
    '{"format":"Biological Observation Matrix 1.0.0","format_url":"http://biom-format.org","type":"OTU table",'
    '"generated_by":"t","date":"2020-01-01T00:00:00","id":null,"matrix_type":"sparse","matrix_element_type":"int",'
    '"shape":[2,2],"rows":[{"id":"x","metadata":null},{"id":"y","metadata":null}],'
    '"columns":[{"id":"s1","metadata":null},{"id":"s2","metadata":null}],"data":[[0,0,1],[0,1,2],[1,1,3]]}'
)
GRAPH = [[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]]


@contextmanager
def new_folder():
    """A folder that the thread itself removes: TemporaryDirectory would, at exit, remove those still in use."""
    folder = Path(tempfile.mkdtemp())
    yield folder
    shutil.rmtree(folder)


def written(name, write):
    """The bytes of a file that `write` makes in a folder of its own."""
    with new_folder() as folder:
        path = folder / name
        write(path)
        return path.read_bytes()


def stored(name, text, read):
    """What `read` makes of a file with this text."""
    with new_folder() as folder:
        path = folder / name
        path.write_text(text)
        return read(path)


def proteins(ta):
    """Proteins, read anew."""
    return ta.read_sequences(EXAMPLES / "efp.fasta")[:12]


def align(ta):
    local = ta.align("MKVLAWGHEKLV", "MKILAWGHKLV")
    both = ta.align(DNA["a"], DNA["b"], mode="global", strand="both")
    table = ta.align("MKVLAW", "MKILAW", matrix="PAM120", gap=ta.Gap(9, 1))
    return [(found.score, str(found)) for found in (local, both, table)]


def align_all(ta):
    (table,) = ta.align_all(proteins(ta), max_evalue=10)
    return [table.score, table.cigar_ops, table.query_index]


def align_many(ta):
    batch = proteins(ta)
    table = ta.align_many([(str(batch[k]), str(batch[k + 1])) for k in range(5)], mode="global")
    return [table.score, table.cigar_ops]


def composition(ta):
    (table,) = ta.align_all(proteins(ta), composition="adjusted", max_evalue=10)
    return [table.score]


def translated(ta):
    (table,) = ta.align_all(GENES, {"p": "MKVLAW"}, translate="query")
    return [table.score, table.query_start]


def align_multiple(ta):
    return [ta.align_multiple(proteins(ta)).letters, ta.align_multiple(DNA).letters]


def align_clustalw(ta):
    return [ta.align_clustalw(proteins(ta)).letters]


def add_sequences(ta):
    return [ta.add_sequences(EXAMPLES / "efp_aligned.fasta", {"new": "MKVLAWGHEKLVGADDE"}).letters]


def merge_alignments(ta):
    batch = proteins(ta)
    return [ta.merge_alignments(ta.align_multiple(batch[:3]), ta.align_multiple(batch[3:6])).letters]


def align_with_homologs(ta):
    return [ta.align_with_homologs(proteins(ta)[:3], EXAMPLES / "efp.fasta").letters]


def cluster(ta):
    found = ta.cluster(ta.read_sequences(EXAMPLES / "amplicons.fasta")[:60], 0.9, strand="both")
    return [found.labels, written("c.uc", lambda path: ta.write_clusters(found, path))]


def dereplicate(ta):
    found = ta.dereplicate(ta.read_sequences(EXAMPLES / "mock.fasta"))
    table = ta.otu_table(ta.cluster(found.sequences, order="abundance"), found, relabel="Otu", sample_regex="^([a-z]+)")
    return [found.sequences.names, table.names, table.counts]


def find_chimeras(ta):
    a, b = "ACGTTGCAAGCTTAGGCATC" * 6, "ACGTTGCAAGCTCAGCCATC" * 6
    found = ta.find_chimeras({"a;size=9": a, "b;size=8": b, "c;size=2": a[:60] + b[60:]})
    return [found.verdicts, written("c.tsv", lambda path: ta.write_chimeras(found, path))]


def build_model(ta):
    model = ta.build_model(EXAMPLES / "efp_aligned.fasta", name="EFP")
    return [model.evalue, model.match, model.known_text.partition(b"DATE")[0]]


def search(ta):
    hits = ta.search(EXAMPLES / "efp.hmm", EXAMPLES / "efp.fasta")
    return [hits.names, hits.log_p, written("h.tbl", lambda path: ta.write_hits(hits, path))]


def scan(ta):
    hits = ta.scan(SEARCH / "domains.fasta", SEARCH / "pfam.hmm")
    return [hits.names, hits.log_p]


def align_to_model(ta):
    return [ta.align_to_model(EXAMPLES / "efp.hmm", proteins(ta)).letters]


def place(ta):
    package = ta.ReferencePackage.read(EXAMPLES / "16s/ref.phy.gz", EXAMPLES / "16s/ref.nwk")
    reads = ta.read_sequences(EXAMPLES / "16s/reads.fasta")[:20]
    return [array for block in ta.place(package, reads, strand="both") for array in (block.score, block.branch)]


def decode(ta):
    letters = "ATTGCAATCATG" * 20 + "CGCGGCGCCGACG" * 20 + "ATTGCAATCATG" * 20
    return [
        [(one.label, one.start, one.end) for one in ta.decode("cpg", {"chr": letters}, by=way)]
        for way in ("viterbi", "posterior")
    ]


def tropical(ta):
    import numpy as np

    paths = ta.tropical.shortest_paths(np.array(GRAPH), names=list("abc"))
    product = ta.tropical.matmul(np.array(GRAPH), np.array(GRAPH), ta.tropical.MAX_PLUS)
    return [paths.distances, product, ta.tropical.closure(np.array(GRAPH))]


def trees(ta):
    distances = ta.trees.pair_distances(proteins(ta))
    aligned = ta.trees.alignment_distances(EXAMPLES / "efp_aligned.fasta")
    names = proteins(ta).names
    joined, averaged = ta.trees.neighbour_joining(distances, names), ta.trees.upgma(distances, names)
    return [distances, aligned, *(str(tree) for tree in (joined, averaged))]


def translate(ta):
    batch = ta.SequenceBatch.from_strings(GENES)
    return [ta.translate(batch, code).codes for code in (1, 2, 11)]


def mask(ta):
    batch = proteins(ta)
    return [array for method in ("seg", "tantan") for array in ta.mask(batch, method)]


def score_alignment(ta):
    found = ta.score_alignment(EXAMPLES / "efp_clustalw.fasta", EXAMPLES / "efp_aligned.fasta")
    return [str(found)]


def score_statistics(ta):
    matrix = ta.SubstitutionMatrix.from_name("BLOSUM62", ta.PROTEIN)
    return [str(ta.score_statistics(matrix, ta.Gap(11, 1)))]


def read_otu_table(ta):
    tables = [stored(name, text, ta.read_otu_table) for name, text in (("o.tsv", OTUS), ("o.biom", BIOM))]
    return [(table.names, table.samples, table.counts.tolist()) for table in tables]


def write_alignments(ta):
    kinds = "sam paf tsv jsonl txt".split()
    (table,) = ta.align_all(ta.SequenceBatch.from_strings(DNA), ta.SequenceBatch.from_strings(DNA), strand="both")
    return [written(f"x.{kind}", lambda path: ta.write_alignments(table, path)) for kind in kinds]


def pictures(ta):
    (table,) = ta.align_all(ta.SequenceBatch.from_strings(DNA), mode="global")
    tree = ta.trees.parse_tree("((a:1,b:2)90:1,c:1,d:2);")
    drawn = [ta.plot_matrix(table), ta.dot_plot(ta.align(DNA["a"], DNA["b"]))]
    return [len(drawn), written("t.svg", lambda path: ta.trees.write_tree(tree, path))]


CASES = {
    case.__name__: case
    for case in (
        align, align_all, align_many, composition, translated, align_multiple, align_clustalw, add_sequences,
        merge_alignments, align_with_homologs, cluster, dereplicate, find_chimeras, build_model, search, scan,
        align_to_model, place, decode, tropical, trees, translate, mask, score_alignment, score_statistics,
        read_otu_table, write_alignments, pictures,
    )
}  # fmt: skip


def hash_of(value):
    """A hash of arrays, texts, numbers and lists of these."""
    found = hashlib.sha256()
    for part in value if isinstance(value, list) else [value]:
        if hasattr(part, "dtype"):
            found.update(f"{part.dtype} {part.shape}".encode() + part.tobytes())
        elif isinstance(part, list):
            found.update(hash_of(part).encode())
        else:
            found.update(part if isinstance(part, bytes) else repr(part).encode())
    return found.hexdigest()[:16]


def align_long(ta):
    for _ in range(20):
        ta.align("MKVLAWGHEKLV" * 100, "MKILAWGHKLV" * 100)


def align_all_followed(ta):
    list(ta.align_all(proteins(ta), n_threads=2, progress=lambda n: sum(range(3000))))


def align_multiple_followed(ta):
    ta.align_multiple(proteins(ta), n_threads=1, progress=lambda stage, share: sum(range(3000)))


#: Cases for threads that the end of the interpreter meets in native code, with the interpreter's lock and without.
ENDLESS = {case.__name__: case for case in (align_long, align_all_followed, align_multiple_followed)}


def compare(n_threads, *names):
    """The hashes of all threads by case."""
    names = names or list(CASES)
    found = {name: set() for name in names}
    start = threading.Barrier(n_threads)

    def work(k):
        start.wait()
        import tropalign as ta

        for j in range(len(names)):
            name = names[(j + k * 3) % len(names)]
            try:
                hashed = hash_of(CASES[name](ta))
            except Exception as error:
                hashed = f"{type(error).__name__}: {error}"
            found[name].add(hashed)

    sys.setswitchinterval(1e-5)
    warnings.simplefilter("ignore")
    threads = [threading.Thread(target=work, args=(k,)) for k in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    changed = sum(one[2].__name__ == "TropalignWarning" for one in warnings.filters)
    print(json.dumps({"changed filters": [changed], **{name: sorted(hashes) for name, hashes in found.items()}}))


def fork(n, name):
    """The exit codes of children that were forked while a thread runs the case for the first time."""
    warnings.simplefilter("ignore")  # Python 3.12 warns of forks beside threads
    import tropalign as ta

    tempfile.gettempdir()  # a child would inherit its lock from the thread
    thread = threading.Thread(target=CASES[name], args=(ta,))
    thread.start()
    children = []
    for _ in range(n):
        time.sleep(0.01)
        child = os.fork()
        if child == 0:
            faulthandler.dump_traceback_later(60, exit=True)
            CASES[name](ta)
            os._exit(0)
        children.append(child)
    thread.join()
    print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])


def leave(seed, name):
    """Leaves daemon threads at work."""
    import tropalign as ta

    def work():
        while True:
            {**CASES, **ENDLESS}[name](ta)

    {**CASES, **ENDLESS}[name](ta)
    for _ in range(4):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(random.Random(seed).random() / 5)
    print("exit")


if __name__ == "__main__":
    {"compare": compare, "fork": fork, "exit": leave}[sys.argv[1]](int(sys.argv[2]), *sys.argv[3:])
