"""Searches in rounds, against HMMER's (pyhmmer's iterate_seq, which is jackhmmer)."""

import io

import numpy as np
import pyhmmer
import pytest

import tropalign as ta
from tropalign.errors import UsageError
from tropalign.profiles.building import denormals_as_zero
from tropalign.profiles.iterate import ITERATED, IterateTask
from tropalign.profiles.models import from_pyhmmer
from tropalign.profiles.options import SearchOptions
from tropalign.profiles.sources import model_source, target_source

AMINO = pyhmmer.easel.Alphabet.amino()
LETTERS = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
MEMORY = 1 << 30


def targets(n=60, M=90, seed=1):
    """A query, relatives that are ever farther away, and strangers."""
    rng = np.random.default_rng(seed)
    parent = rng.choice(LETTERS, M)
    records = []
    for k in range(n):
        kept = 0.9 - 0.75 * k / n
        member = np.where(rng.random(M) < kept, parent, rng.choice(LETTERS, M)).tolist()
        member[20] += "".join(rng.choice(LETTERS, k % 4))
        member[50 : 50 + k % 3] = []
        around = ["".join(rng.choice(LETTERS, rng.integers(0, 60))) for _ in range(2)]
        records.append((f"t{k}", f"target {k}", around[0] + "".join(member) + around[1]))
    return ("query", "what is asked", "".join(parent)), records


def fasta(records):
    return io.BytesIO("".join(f">{name} {text}\n{letters}\n" for name, text, letters in records).encode())


def digital(name, description, letters):
    return pyhmmer.easel.TextSequence(name=name, description=description, sequence=letters).digitize(AMINO)


def rounds(query, records, n_rounds, memory_bytes=MEMORY, options=None):
    source = model_source(query, MEMORY)
    task = IterateTask(
        source,
        target_source(fasta(records), MEMORY),
        options or SearchOptions(),
        ITERATED,
        n_rounds=n_rounds,
        memory_bytes=memory_bytes,
    )
    (tile,) = task.tiles()
    return list(task.rounds(tile.payload, 1))


def hmmer_rounds(query, records, n_rounds):
    """Hits and models of jackhmmer's rounds."""
    with denormals_as_zero():
        pipeline = pyhmmer.plan7.Pipeline(AMINO, incE=0.001, incdomE=0.001)
        block = pyhmmer.easel.DigitalSequenceBlock(AMINO, [digital(*record) for record in records])
        search = pipeline.iterate_seq(digital(*query), block, builder=pyhmmer.plan7.Builder(AMINO, architecture="hand"))
        for _ in range(n_rounds):
            result = next(search)
            yield result
            if result.converged:
                return


def test_rounds_are_those_of_jackhmmer():
    query, records = targets()
    own = rounds(fasta([query]), records, 5)
    theirs = list(hmmer_rounds(query, records, 5))
    assert len(own) == len(theirs) >= 3 and own[-1].is_last
    for round_, other in zip(own, theirs, strict=True):
        assert round_.is_last == other.converged
        model = from_pyhmmer(other.hmm)
        for name in ("match", "transitions", "composition", "evalue"):
            np.testing.assert_array_equal(getattr(round_.model, name), getattr(model, name), err_msg=name)
        reported = [hit for hit in other.hits if hit.reported]
        assert round_.hits.names == tuple(hit.name for hit in reported)
        assert round_.hits.evalue.tolist() == [hit.evalue for hit in reported]
        assert round_.hits.is_included.tolist() == [hit.included for hit in reported]
        assert len(round_.alignment.names) == 1 + sum(len(hit.domains.included) for hit in other.hits.included)
        assert (round_.model.name, round_.model.description) == query[:2]
    assert own[0].n_new == sum(own[0].hits.is_included)


def test_search_gives_the_last_round():
    query, records = targets()
    *_, last = rounds(fasta([query]), records, 5)
    hits = ta.search(fasta([query]), fasta(records), n_rounds=5, n_threads=1, device="cpu")
    assert hits.names == last.hits.names and hits.bits.tolist() == last.hits.bits.tolist()
    assert hits.thresholds.incE == 0.001
    one = ta.search(fasta([query]), fasta(records), n_rounds=1, n_threads=1, device="cpu")
    assert len(one) < len(hits)


def test_several_queries_in_small_blocks_and_shards():
    query, records = targets()
    other, more = targets(seed=2)
    queries, everything = [query, ("other", "", other[2])], records + more
    alone = [rounds(fasta([each]), everything, 3)[-1].hits for each in queries]
    models, sequences = model_source(fasta(queries), MEMORY), target_source(fasta(everything), MEMORY)
    found = []
    for shard in ((1, 2), (2, 2)):
        task = IterateTask(models, sequences, SearchOptions(), ITERATED, n_rounds=3, memory_bytes=60_000, shard=shard)
        assert len(task._blocks) > 1
        (tile,) = task.tiles()
        found.append(task.on_cpu(tile, 1))
    assert [piece.first_query for piece in found] == [0, 1]
    for piece, expected in zip(found, alone, strict=True):
        assert set(expected.names) <= set(piece.names)
        assert piece.n_targets == len(everything)


def test_a_model_begins_without_a_sequence():
    query, records = targets()
    (model,) = [r.model for r in rounds(fasta([query]), records, 1)]
    text = io.BytesIO()
    sequence_hmm, _, _ = pyhmmer.plan7.Builder(AMINO).build(digital(*query), pyhmmer.plan7.Background(AMINO))
    sequence_hmm.write(text)
    text.seek(0)
    own = rounds(text, records, 3)
    assert not own[0].model.is_sequence and model.is_sequence
    assert "query" not in own[0].alignment.names and len(own) > 1


def test_nothing_found_ends_the_rounds():
    query, _ = targets()
    strangers = [("a", "", "MKV" * 30)]
    (only,) = rounds(fasta([query]), strangers, 5)
    assert only.is_last and only.n_new == 0 and only.alignment.names == ("query",)


@pytest.mark.parametrize("n_rounds", [0, -1, 1.5, True, "2"])
def test_a_wrong_number_of_rounds_is_refused(n_rounds):
    with pytest.raises(UsageError, match="n_rounds must be an integer of at least 1"):
        ta.search(fasta([("a", "", "MKV")]), fasta([("b", "", "MKV")]), n_rounds=n_rounds)


def test_cutoffs_of_models_do_not_go_with_rounds():
    with pytest.raises(UsageError, match="models of later rounds have no cutoffs"):
        ta.search(
            fasta([("a", "", "MKV")]),
            fasta([("b", "", "MKV")]),
            n_rounds=2,
            thresholds=ta.Thresholds(bit_cutoffs="gathering"),
        )
