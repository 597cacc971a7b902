"""The functions of the package on a server: equal to the local call, column by column."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from client.fake_server import computed, served

import tropalign
from tropalign import Gap, Thresholds
from tropalign.client import connect
from tropalign.errors import InputError, UsageError
from tropalign.results.alignments import concatenate
from tropalign.results.placements import concatenate as all_placed

EXAMPLES = Path(__file__).parents[2] / "examples"
PROTEINS = {"a": "MKVLAWMKTAYIAKQR", "b": "MKILAWMTAYIAKQ", "c": "MKVAWMKTAYIKQRQ", "d": "GGSGGSWWPA"}
DNA = {"a;size=3": "ACGTACGTACGTTACG", "b": "ACGTACGTACGTTACC", "c": "CCCCCTTTTTGGGGG", "d": "CGTAACGTACGTACGT"}


@pytest.fixture(scope="module")
def server():
    with served() as (fake, url):
        fake.compute = computed
        yield connect(url)


def assert_equal(one, other):
    """Field by field, arrays by type and content."""
    assert type(one) is type(other)
    for field in dataclasses.fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, tropalign.SequenceBatch):
            assert mine.names == theirs.names and mine.alphabet == theirs.alphabet
            assert np.array_equal(mine.letters, theirs.letters) and np.array_equal(mine.codes, theirs.codes)
        elif isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype and mine.shape == theirs.shape, field.name
            assert np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f"), field.name
        elif field.name != "significance":
            assert mine == theirs, field.name


PAIRS = {
    "plain": {},
    "global": {"mode": "global", "matrix": "PAM250", "gap": Gap(9.5, 0.5), "report": "ends"},
    "semiglobal": {"mode": "semiglobal", "free_ends": ("query-start", "target-end"), "end_gap": Gap(3, 1)},
    "two pieces": {"gap": Gap(11, 2, 20, 1), "top": 2, "min_score": 5, "report": "score"},
    "filters": {"min_identity": 0.2, "min_query_coverage": 0.1, "max_evalue": 1000.0, "db_size": 50},
    "listed": {"pairs": [[0, 2], [1, 0]]},
    "alphabet": {"alphabet": "protein", "matrix": "BLOSUM45"},
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(server, name):
    (table,) = server.pairs(PROTEINS, **PAIRS[name])
    local = concatenate(list(tropalign.align_all(PROTEINS, **PAIRS[name])))
    assert table == local
    assert_equal(table, local)
    if local.significance is not None and "max_evalue" in PAIRS[name]:
        names = ["query", "target", "bits", "evalue"]
        mine, theirs = table.columns(names), local.columns(names)
        assert all(np.array_equal(mine[name], theirs[name]) for name in names)


def test_pairs_of_files_with_both_strands(server):
    path = EXAMPLES / "amplicons.fasta"
    queries = tropalign.read_sequences(path)[:4]
    (table,) = server.pairs(queries, path, strand="both", top=3)
    assert_equal(table, concatenate(list(tropalign.align_all(queries, path, strand="both", top=3))))
    assert table.queries is not table.targets and table[0].query == queries.names[0]


def test_pairs_of_one_set_are_of_one_batch(server):
    (table,) = server.pairs(["MKV", "MKL"])
    assert table.queries is table.targets and table.queries.names == ("sequence_1", "sequence_2")


def test_a_family(server):
    for options in ({}, {"effort": "fast", "row_order": "tree", "seed": 3}, {"tree": "((a,b),(c,d));"}):
        alignment, local = server.msa(PROTEINS, **options), tropalign.align_multiple(PROTEINS, **options)
        assert alignment == local
        assert_equal(alignment, local)


def test_a_family_with_a_turned_sequence(server):
    batch = tropalign.read_sequences(EXAMPLES / "amplicons.fasta")[:5]
    given = {one.name: one.letters for one in batch[:4]} | {"t": batch[[4]].reverse_complement().text(0)}
    with pytest.warns(
        tropalign.TropalignWarning, match="the rest of the family: t; replaced by its reverse complement$"
    ):
        local = tropalign.align_multiple(given, strand="adjust")
    assert_equal(server.msa(given, strand="adjust"), local)


def test_clusters(server):
    given = {name: DNA[name] for name in ("a;size=3", "c")}
    for options in ({}, {"strand": "both", "identity": 2, "order": "abundance", "gap": Gap(5, 1)}, {"to": given}):
        found, local = server.cluster(DNA, 0.8, **options), tropalign.cluster(DNA, 0.8, **options)
        assert found == local
        assert_equal(found, local)


def test_searches(server):
    model, proteins = str(EXAMPLES / "efp.hmm"), str(EXAMPLES / "efp.fasta")
    options = tropalign.SearchOptions(f3=1e-4, null2=False, seed=7)
    for given in (
        {},
        {"thresholds": Thresholds(T=250, incE=1e-80, Z=1000), "options": options},
        {"options": tropalign.SearchOptions.unfiltered()},
        {"n_rounds": 2, "thresholds": Thresholds(E=1e-5)},
        {"thresholds": Thresholds(E=1e-5, bit_cutoffs="gathering-if-any", per_model={"EFP": (250.125, 20)})},
    ):
        assert_equal(server.search(model, proteins, **given), tropalign.search(model, proteins, **given))
    assert_equal(server.scan(proteins, model), tropalign.scan(proteins, model))
    assert_equal(server.search(model, PROTEINS), tropalign.search(model, list(PROTEINS.items())))


def test_a_search_by_the_models_own_cutoffs_says_that_there_are_none(server):
    with pytest.raises(InputError, match="has no gathering cutoffs"):
        server.search(EXAMPLES / "efp.hmm", EXAMPLES / "efp.fasta", thresholds=Thresholds(bit_cutoffs="gathering"))


def test_placements(server, tmp_path):
    folder = EXAMPLES / "16s"
    package = tropalign.ReferencePackage.read(folder / "ref.phy.gz", folder / "ref.nwk")
    reads = tropalign.read_sequences(folder / "reads.fasta")[:20]
    for options in ({"min_score": 400}, {"strand": "both", "scoring": "paper", "prune": False}):
        (placed,) = server.place(package, reads, **options)
        assert_equal(placed, all_placed(list(tropalign.place(package, reads, **options))))
    few = tmp_path / "reads.fasta"
    few.write_text(">" + ">".join((folder / "reads.fasta").read_text().split(">")[1:41]))
    (placed,) = server.place(package, few)
    assert_equal(placed, all_placed(list(tropalign.place(package, few))))


def test_segments(server):
    sequences = {"one": "ATTGCAATCATG" * 20 + "CGCGGCGCCGACG" * 20, "none": "ATTGCAATCATG" * 30}
    model = tropalign.HMM.load("cpg")
    for options in ({}, {"by": "posterior", "labels": ("background", "island"), "min_length": 3}):
        local = tropalign.decode("cpg", sequences, **options)
        assert_equal(server.decode("cpg", sequences, **options), local)
        assert_equal(server.decode(model, sequences, **options), local)


def test_progress_is_told(server):
    seen = []
    list(server.pairs(PROTEINS, progress=lambda stage, share: seen.append(share)))
    assert seen[-1] == 1.0


@pytest.mark.parametrize(
    ("given", "words"),
    [({"n_threads": 2}, "leave n_threads out"), ({"device": "cpu"}, "leave device out"),
     ({"translate": "query"}, "does not accept translate for pairs"), ({"mod": "local"}, "did you mean 'mode'"),
     ({"matrix": {"a": 1}}, "accepts a matrix as its name"), ({"gap": 3}, "must be a tropalign.Gap"),
     ({"progress": 3}, "a function")],
)  # fmt: skip
def test_what_a_server_does_not_take(server, given, words):
    with pytest.raises(UsageError, match=words):
        server.pairs(PROTEINS, **given)


def test_what_is_no_input(server):
    with pytest.raises(UsageError, match="the name 'a b' cannot be sent as FASTA"):
        server.pairs({"a b": "MKV", "c": "MKL"})
    with pytest.raises(InputError, match="a single sequence was given, but a list is required"):
        server.pairs("MKV")
    with pytest.raises(UsageError, match="one file"):
        server.search(["a.hmm", "b.hmm"], PROTEINS)
    with pytest.raises(UsageError, match="is not a ReferencePackage"):
        server.place("reference", PROTEINS)
    with pytest.raises(InputError, match="two per row"):
        server.pairs(PROTEINS, pairs=[1, 2])
    with pytest.raises(InputError, match="out of range: there are 4 sequences"):
        server.pairs(PROTEINS, pairs=[[1, 4]])


def test_other_results_than_those_asked_for(fake):
    alignment = tropalign.align_multiple(PROTEINS)
    fake.compute = lambda body, files: computed(
        {**body, "verb": "msa", "inputs": {"family": body["inputs"]["queries"]}}, files
    )
    with pytest.raises(InputError, match="did not return a result of pairs"):
        connect(fake.url).pairs(PROTEINS)
    fake.compute = lambda body, files: ("done", "", {"main": ("x.result", b"PK" + bytes(100))})
    with pytest.raises(InputError, match="not a result of this version of tropalign"):
        connect(fake.url).msa(alignment)
