"""Databases that memory does not hold: left in their store, and searched part after part."""

import numpy as np
import pytest

import tropalign as ta
from tropalign.cli.main import main
from tropalign.sequences import stored_batch as module
from tropalign.sequences.stored_batch import StoredBatch, stored_batch
from tropalign.verbs import pairs

CODONS = "GCT TGT GAT GAA TTT GGT CAT ATT AAA CTG ATG AAT CCG CAG CGT AGC ACC GTG TGG TAT"
AMINO_ACIDS, NUCLEOTIDES = "ACDEFGHIKLMNPQRSTVWY", "ACGT"


def mutated(rng, text, letters, rate=0.25):
    return "".join(rng.choice(list(letters)) if rng.random() < rate else letter for letter in text)


def made(tmp_path, letters, n_targets=300):
    """Files of queries and of a store in which they have relatives of many scores, some of them equal."""
    rng = np.random.default_rng(len(letters))
    families = ["".join(rng.choice(list(letters), rng.integers(60, 200))) for _ in range(6)]
    queries = {f"q{k}": mutated(rng, text, letters) for k, text in enumerate(families)}
    targets = {}
    for k in range(n_targets):
        text = families[k % 9] if k % 9 < 6 else "".join(rng.choice(list(letters), rng.integers(20, 300)))
        targets[f"t{k}"] = mutated(rng, text, letters) if k % 4 else text
    targets["q3"] = families[3].lower()  # a namesake
    targets["repeats"] = families[1] + families[2][:30] + families[1]
    paths = tmp_path / "queries.fa", tmp_path / "targets.fa"
    for path, records in zip(paths, (queries, targets), strict=True):
        path.write_text("".join(f">{name} of a family\n{text}\n" for name, text in records.items()))
    ta.SequenceStore.build(paths[1], tmp_path / "targets.tdb")
    return str(paths[0]), str(tmp_path / "targets.tdb")


@pytest.fixture
def in_store(monkeypatch):
    """Whatever memory there is, databases are left in their stores, parts of which are small."""
    read = []
    of_store = StoredBatch.of_store.__func__
    monkeypatch.setattr(StoredBatch, "of_store", classmethod(lambda *words: read.append(1) or of_store(*words)))

    def leave():
        monkeypatch.setattr(module, "PART_LETTERS", 3000)
        monkeypatch.setattr(pairs, "MOST_READ", 0.0)
        return read

    return leave


def output(tmp_path, words, name):
    """The bytes that a command writes."""
    path = tmp_path / name
    assert main([*words, "-o", str(path), "-q", "--threads", "2"]) == 0
    return path.read_bytes().replace(name.encode(), b"NAME")


PROTEIN_OPTIONS = [
    "",
    "--top 7",
    "--top 3 --max-evalue 1000 --composition ignored",
    "--composition scaled --max-evalue 10",
    "--mask seg",
    "--max-hsps 3",
    "--exclude-self --top 2",
    "--format paf",
    "--format m8",
    "--format html",
    "--min-identity .5 --columns query,target,query_row,target_row,cs,target_length",
    "--min-score 30 --max-evalue 100 --report score",
]


@pytest.mark.parametrize("options", PROTEIN_OPTIONS)
def test_proteins_as_in_memory(tmp_path, in_store, options):
    words = ["find", *made(tmp_path, AMINO_ACIDS), *options.split()]
    if "--format" not in words:
        words += ["--format", "tsv"]
    held = output(tmp_path, words, "1.out")
    read = in_store()
    assert output(tmp_path, words, "2.out") == held
    assert read and held.count(b"\n") > 10


@pytest.mark.parametrize("options", ["--format tsv", "--format m8 --mask dust", "--format tsv --strand plus --top 4"])
def test_nucleotides_as_in_memory(tmp_path, in_store, options):
    words = ["find", *made(tmp_path, NUCLEOTIDES), *options.split()]
    held = output(tmp_path, words, "1.out")
    read = in_store()
    assert output(tmp_path, words, "2.out") == held
    assert read and held.count(b"\n") > 10


def test_translated_queries(tmp_path, in_store):
    _, store = made(tmp_path, AMINO_ACIDS)
    codons = dict(zip(AMINO_ACIDS, CODONS.split(), strict=True))
    texts = {
        name: "".join(map(codons.get, text.upper()))
        for name, text in ((one.name, one.letters) for one in ta.read_sequences(store)[:8])
    }
    queries = tmp_path / "genes.fa"
    queries.write_text("".join(f">g{name}\n{text}\n" for name, text in texts.items()))
    words = ["find", str(queries), store, "--translate", "query", "--top", "5", "--format", "tsv"]
    held = output(tmp_path, words, "1.out")
    read = in_store()
    assert output(tmp_path, words, "2.out") == held
    assert read and held.count(b"\n") > 10


def test_what_is_read_all_the_same(tmp_path, in_store):
    queries, store = made(tmp_path, AMINO_ACIDS)
    read = in_store()
    for options in ("--pairs", "--mask seg --mask-hard", "--gap-open2 20 --gap-extend2 .5", "--format sam"):
        words = ["find", queries, store, *options.split()]
        if options == "--pairs":
            (tmp_path / "listed.tsv").write_text("q0\tt0\n")
            words = ["pairs", queries, store, "--pairs", str(tmp_path / "listed.tsv")]
        output(tmp_path, words, "1.tsv")
    assert not read


def test_bad_stores(tmp_path, in_store, capsys):
    in_store()
    queries, _ = made(tmp_path, AMINO_ACIDS)
    bad = tmp_path / "bad.fa"
    whole = (tmp_path / "targets.fa").read_text()
    ends = {
        ">t7\nMKV\n": "record 't7': records 8 and 303 have the same name: give each record its own",
        ">x\nMK1V1\n": "record 'x': 2 letters outside the protein alphabet, the first '1' at position 3: correct them "
        "or omit --strict",
        ">x\n>y\nMKV\n": "the sequence is empty",
    }
    for end, told in ends.items():
        bad.write_text(whole + end)
        ta.SequenceStore.build(bad, tmp_path / "bad.tdb")
        words = ["find", queries, str(tmp_path / "bad.tdb"), "--strict", "-o", str(tmp_path / "out.tsv")]
        assert main(words) == 3
        assert told in capsys.readouterr().err


def test_damaged_letters(tmp_path, in_store, capsys):
    in_store()
    queries, store = made(tmp_path, AMINO_ACIDS)
    data = bytearray((tmp_path / "targets.tdb").read_bytes())
    data[data.index(ta.read_sequences(store).text(20).encode()) + 3] = ord("1")
    (tmp_path / "targets.tdb").write_bytes(data)
    assert main(["find", queries, store, "-o", str(tmp_path / "out.tsv")]) == 3
    assert "the store is damaged (its letter counts do not match its manifest)" in capsys.readouterr().err


def test_what_a_query_may_have_counts(tmp_path, in_store, monkeypatch):
    queries, store = made(tmp_path, AMINO_ACIDS)
    read = in_store()
    monkeypatch.setattr(pairs, "MOST_TAKEN", 0.0)
    output(tmp_path, ["find", queries, store, "--top", "300"], "1.tsv")
    assert len(read) == 1  # looked at, and not kept


def test_unknown_letters_are_told(tmp_path, in_store, capsys):
    queries, _ = made(tmp_path, AMINO_ACIDS)
    bad = tmp_path / "bad.fa"
    bad.write_text((tmp_path / "targets.fa").read_text() + ">x\nMK1V1\n")
    ta.SequenceStore.build(bad, tmp_path / "bad.tdb")
    words = ["find", queries, str(tmp_path / "bad.tdb"), "-o", str(tmp_path / "out.tsv")]
    told = []
    for leave in (lambda: None, in_store):
        leave()
        assert main(words) == 0
        told.append(capsys.readouterr().err)
    assert told[0] == told[1] and "record 'x': 2 letters outside the protein alphabet" in told[0]


def test_memory_decides(tmp_path, in_store):
    """The verb reads what fits, and leaves what does not."""
    _, store = made(tmp_path, AMINO_ACIDS)
    assert stored_batch(store, 1 << 30) is None
    assert isinstance(stored_batch(store, 1000), StoredBatch)


def test_a_stored_batch_is_a_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART_LETTERS", 1000)
    _, store = made(tmp_path, AMINO_ACIDS)
    stored, batch = stored_batch(store, 0), ta.read_sequences(store)
    assert len(list(stored.parts())) > 10 and sum(len(part) for _, part in stored.parts()) == len(batch)
    assert stored.fingerprint() == batch.fingerprint()
    assert stored.names == batch.names and stored.descriptions == batch.descriptions
    assert stored.text(5) == batch.text(5) and stored[5] == batch[5]
    assert stored[[7, 3, 3]].fingerprint() == batch[[7, 3, 3]].fingerprint()
    assert (stored.codes == batch.codes).all() and (stored.code_counts == batch.code_counts).all()
    assert stored.held_bytes < 1 << 26 and stored.has_residues
