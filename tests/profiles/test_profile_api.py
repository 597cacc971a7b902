"""Searches from Python: what may be given, what is refused, and that cuts and memory change nothing."""

import io
import warnings
from pathlib import Path

import numpy as np
import pyhmmer
import pytest
from oracles.hmmer import Family, database

import tropalign
from tropalign.errors import InputError, TropalignWarning, UsageError
from tropalign.execution.scheduler import Scheduler
from tropalign.profiles import sources, task
from tropalign.profiles.sources import model_source, target_source
from tropalign.profiles.task import SearchTask
from tropalign.results.found_hits import columns_of
from tropalign.sequences import records

WIDE = tropalign.SearchOptions(0.5, 0.1, 0.01)


@pytest.fixture(scope="module")
def families():
    return [Family(n_columns, seed) for seed, n_columns in enumerate([20, 60, 45, 33])]


@pytest.fixture(scope="module")
def hmms(families):
    return [family.hmm for family in families]


@pytest.fixture(scope="module")
def proteins(families):
    return [(f"p{k}", text) for k, text in enumerate(database(families, 90, seed=1))]


@pytest.fixture
def files(tmp_path, hmms, proteins):
    with open(tmp_path / "models.hmm", "wb") as file:
        for hmm in hmms:
            hmm.write(file)
    (tmp_path / "proteins.fa").write_text("".join(f">{name} about {name}\n{text}\n" for name, text in proteins))
    return tmp_path / "models.hmm", tmp_path / "proteins.fa"


def require_equal(hits, other):
    for name, value in columns_of(other).items():
        np.testing.assert_array_equal(columns_of(hits)[name], value, err_msg=name)
    assert hits.evalue.tolist() == other.evalue.tolist()


def test_hits_have_names_and_e_values(hmms, proteins):
    hits = tropalign.search(hmms, proteins, options=WIDE)
    assert [query.name for query in hits.queries] == [hmm.name for hmm in hmms]
    assert hits.n_targets == len(proteins) == hits.Z and len(hits) > 30
    names, texts = zip(*proteins, strict=True)
    assert all(names[target] == name for target, name in zip(hits.target.tolist(), hits.names, strict=True))
    assert hits.length.tolist() == [len(texts[target]) for target in hits.target.tolist()]
    assert (np.diff(hits.query) >= 0).all() and (hits.evalue <= 10).all()


@pytest.mark.parametrize("orientation", ["search", "scan"])
def test_files_batches_and_pairs_are_the_same(hmms, proteins, files, orientation):
    models, fasta = files

    def run(models, targets):
        if orientation == "search":
            return tropalign.search(models, targets, options=WIDE)
        return tropalign.scan(targets, models, options=WIDE)

    whole = run(hmms, proteins)
    for targets in (dict(proteins).items(), iter(proteins), (pair for pair in proteins)):
        require_equal(run(hmms, targets), whole)
    read = run(models, fasta)
    if orientation == "search":
        assert set(read.descriptions) <= {f"about {name}" for name in read.names} and len(read) == len(whole)
    require_equal(run(str(models), [str(fasta)]), read)
    with open(fasta, "rb") as stream, open(models, "rb") as model_stream:
        require_equal(run(model_stream, stream), read)
    full = [(name, text) for name, text in proteins if text]
    require_equal(run(hmms, tropalign.SequenceBatch.from_strings(full, alphabet="protein")), run(hmms, full))


@pytest.mark.parametrize("orientation", ["search", "scan"])
@pytest.mark.parametrize("is_kept", [True, False])
def test_cuts_and_memory_change_nothing(files, orientation, is_kept, monkeypatch):
    models, fasta = files

    def run():
        if orientation == "search":
            return tropalign.search(models, fasta, options=WIDE, memory_bytes=1 << 30)
        return tropalign.scan(fasta, models, options=WIDE, memory_bytes=1 << 30)

    whole = run()
    monkeypatch.setattr(task, "MOST_MODELS", 3)
    monkeypatch.setattr(task, "MOST_SEQUENCES", 40)
    monkeypatch.setattr(task, "MOST_RESIDUES", 5000)
    monkeypatch.setattr(task, "MODELS_SHARE", 70 * sources.NODE_BYTES / (1 << 30))
    if not is_kept:
        monkeypatch.setattr(sources, "KEEP_SHARE", 0.0)
    tiles = made_task(files, orientation).outline()
    assert len(tiles) > 6
    require_equal(run(), whole)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_one_pass_finds_the_same(files, n_threads, monkeypatch):
    models, fasta = files
    whole = tropalign.search(models, fasta, options=WIDE)
    monkeypatch.setenv("TROPALIGN_LEAST_KEPT_CELLS", "1")
    require_equal(tropalign.search(models, fasta, options=WIDE, n_threads=n_threads), whole)
    monkeypatch.delenv("TROPALIGN_LEAST_KEPT_CELLS")
    monkeypatch.setattr(records, "BLOCK_RECORDS", 9)
    for residues, most in ((1000, 10**6), (10**6, 7 * 4), (1, 10**6)):
        monkeypatch.setattr(task, "PASS_RESIDUES", residues)
        monkeypatch.setattr(task, "HITS_SHARE", most * task.HIT_BYTES / (1 << 30))
        own = made_task(files, "search")
        assert own.is_one_pass and own.outline() is None and len(list(own.tiles())) > 3
        hits = tropalign.search(models, fasta, options=WIDE, n_threads=n_threads, memory_bytes=1 << 30)
        require_equal(hits, whole)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_what_reading_raises_is_told(hmms, families, n_threads):
    def proteins():
        yield "a", families[1].member(1)
        yield "b", "MKV-LAW"

    with pytest.raises(InputError, match=r"record 'b': '-' at position .* is a gap"):
        tropalign.search(hmms, proteins(), n_threads=n_threads)


def made_task(files, orientation, shard=None, memory_bytes=1 << 30):
    models, sequences = (
        source(file, memory_bytes) for source, file in zip((model_source, target_source), files, strict=True)
    )
    return SearchTask(
        models, sequences, WIDE, tropalign.Thresholds(), orientation=orientation, memory_bytes=memory_bytes, shard=shard
    )


@pytest.mark.parametrize("orientation", ["search", "scan"])
def test_tiles_are_as_outlined_and_may_be_split(files, orientation, monkeypatch):
    monkeypatch.setattr(task, "MOST_SEQUENCES", 50)
    monkeypatch.setenv("TROPALIGN_LEAST_KEPT_CELLS", "1")
    own = made_task(files, orientation)
    tiles = list(own.tiles())
    outline = own.outline()
    assert [(t.index, t.cost_cells, t.n_items, t.n_bytes) for t in tiles] == [
        (t.index, t.cost_cells, t.n_items, t.n_bytes) for t in outline
    ]
    for tile in tiles:
        halves = own.split(tile)
        assert len(halves) == 2 and sum(half.n_items for half in halves) == tile.n_items
        found = own.join(tile, [own.on_cpu(half, 1) for half in halves])
        for name, value in columns_of(own.on_cpu(tile, 2)).items():
            np.testing.assert_array_equal(columns_of(found)[name], value, err_msg=name)
        single = halves[0]
        while pieces := own.split(single):
            single = pieces[0]
        assert len(single.payload[0]) == 1


@pytest.mark.parametrize("orientation", ["search", "scan"])
@pytest.mark.parametrize("n_shards", [2, 5])
def test_shards_hold_all_hits(files, orientation, n_shards):
    def found(shard):
        results = Scheduler(tropalign.devices.registry.open_devices(["cpu"], 1, 0)).run(
            [made_task(files, orientation, shard)]
        )
        return {
            (piece.first_query + query, target, bits)
            for piece in (result.value for result in results)
            for query, target, bits in zip(
                piece.query.tolist(), piece.target.tolist(), piece.bits.tolist(), strict=True
            )
        }

    parts = [found((k, n_shards)) for k in range(1, n_shards + 1)]
    assert all(parts)
    assert set.union(*parts) == found(None) and sum(map(len, parts)) == len(found(None))


def test_hits_that_no_threshold_admits_are_dropped_early(files):
    own = made_task(files, "search")
    (tile,) = own.tiles()
    found = own.on_cpu(tile, 1)
    own.thresholds = tropalign.Thresholds(T=20)
    assert 0 < len(own.on_cpu(tile, 1)) < len(found)
    assert (own.on_cpu(tile, 1).bits >= 20).all()


def test_letters_that_no_protein_has_are_read_as_x(hmms, families):
    text = families[1].member(1)
    strange = text[:20] + "1J%" + text[20:]
    with pytest.warns(TropalignWarning, match=r"record 'b': '1' is not a protein letter; .* read as X") as told:
        hits = tropalign.search(hmms, [("a", text), ("b", strange), ("c", "??")])
    assert len(told) == 1
    require_equal(
        hits, tropalign.search(hmms, [("a", text), ("b", strange.translate({49: "X", 37: "X"})), ("c", "XX")])
    )


def test_lower_case_and_stops_are_read_as_hmmer_reads_them(hmms, families):
    text = families[1].member(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hits = tropalign.search(hmms, [("a", text), ("b", text.lower()), ("c", text + "*UO")])
    assert hits.bits[hits.names.index("a")] == hits.bits[hits.names.index("b")]


def test_names_may_repeat_and_sequences_be_empty(hmms, families):
    text = families[1].member(1)
    hits = tropalign.search(hmms, [("a", text), ("a", text), ("b", "")])
    assert hits.names == ("a", "a") and hits.n_targets == 3 == hits.Z


def test_progress_counts_comparisons(hmms, proteins):
    seen = []
    tropalign.search(hmms, proteins, progress=seen.append)
    assert seen[-1] == len(hmms) * len(proteins)


@pytest.mark.parametrize(
    ("models", "targets", "error", "text"),
    [
        (
            None,
            [("a", "MKV-LAW")],
            InputError,
            r"record 'a': '-' at position \d+ is a gap, but unaligned",
        ),
        (None, [("long", "M" * 100_001)], InputError, "100,001 residues, but a protein may have at most 100,000"),
        (None, [], InputError, "there are no sequences: give at least one"),
        (None, io.BytesIO(b""), InputError, "the file is empty"),
        ([], [("a", "MKV")], InputError, "there are no models: give at least one"),
        (None, "no.fa", InputError, "no.fa: there is no such file"),
        ("no.hmm", [("a", "MKV")], InputError, "no.hmm: there is no such file"),
        (5, [("a", "MKV")], InputError, "5 is not a model: give files"),
        ([None], [("a", "MKV")], InputError, "None is not a model: give files"),
    ],
)
def test_what_is_refused(hmms, models, targets, error, text):
    with pytest.raises(error, match=text):
        tropalign.search(hmms if models is None else models, targets)


@pytest.mark.parametrize("name", ["f1", "f2", "f3"])
@pytest.mark.parametrize(
    ("value", "text"), [(-1, "out of range"), (float("nan"), "out of range"), ("x", "not a number")]
)
def test_wrong_p_values(name, value, text):
    with pytest.raises(UsageError, match=f"{name} .*{text}"):
        tropalign.SearchOptions(**{name: value})


@pytest.mark.parametrize(
    "options", [{"seed": -1}, {"seed": 1 << 32}, {"seed": 1.5}, {"null2": 1}, {"bias_filter": "no"}]
)
def test_wrong_options(options):
    with pytest.raises(UsageError, match=next(iter(options))):
        tropalign.SearchOptions(**options)


@pytest.mark.parametrize(
    ("name", "value"), [("thresholds", 5), ("options", 5), ("thresholds", tropalign.SearchOptions())]
)
def test_settings_of_another_class(hmms, name, value):
    with pytest.raises(UsageError, match=r"is not a (Thresholds|SearchOptions): make one"):
        tropalign.search(hmms, [("a", "MKV")], **{name: value})


def test_streams_that_are_read_again_have_to_fit(files, monkeypatch):
    monkeypatch.setattr(sources, "KEEP_SHARE", 1e-9)
    monkeypatch.setattr(task, "MOST_MODELS", 2)
    models, fasta = files
    with open(fasta, "rb") as stream, pytest.raises(InputError, match="the sequences do not fit in memory"):
        tropalign.search(models, stream)
    with open(models, "rb") as stream, pytest.raises(InputError, match="the models do not fit in memory"):
        tropalign.search(stream, fasta)


def test_pyhmmer_objects_may_be_given(hmms, proteins):
    assert isinstance(hmms[0], pyhmmer.plan7.HMM)
    require_equal(tropalign.search(hmms[0], proteins), tropalign.search([hmms[0]], proteins))


def test_nucleotides_are_told_once_and_searched_all_the_same(hmms, tmp_path):
    """hmmsearch searches them without a word; the hits stay."""
    words = "the sequences look like nucleotides, .* translate them first \\(in Python"
    genes = [(f"gene{k}", "ACGTTGCAACGNTTAGGCAT" * 5) for k in range(3)]
    (path := tmp_path / "genes.fa").write_text("".join(f">{name}\n{text}\n" for name, text in genes))
    for search in (tropalign.search, tropalign.scan):
        for given in (genes, path):
            sides = (hmms, given) if search is tropalign.search else (given, hmms)
            with pytest.warns(TropalignWarning, match=words) as told:
                search(*sides)
            assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", TropalignWarning)
        tropalign.search(hmms, [("peptide", "GAGAGAGATC"), ("protein", "MKVLAWHEAGRRPLNDEEFYSTQMCIKV" * 3)])


def test_models_of_a_scan_may_come_first():
    right = tropalign.scan("examples/efp.fasta", "examples/efp.hmm")
    (model,) = tropalign.read_queries("examples/efp.hmm")
    for one in ("examples/efp.hmm", Path("examples/efp.hmm"), ["examples/efp.hmm"], model):
        assert tropalign.scan(one, "examples/efp.fasta") == right
    with pytest.raises(InputError, match=r"none\.fa: there is no such file"):
        tropalign.scan("none.fa", "examples/efp.hmm")
