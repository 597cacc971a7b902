"""Sequence stores: the same as the files they were built from, and a sentence for each way to break one."""

import json
import subprocess
import sys

import numpy as np
import pytest

import tropalign
from tropalign.errors import InputError, ResourceError, UsageError
from tropalign.sequences.mapped_store import ARRAYS, END, END_BYTES, is_store
from tropalign.sequences.reader import READS, BlockReader, Policy, ReadBlocks, survey_of, with_gaps
from tropalign.sequences.records import STORE_MAGIC
from tropalign.sequences.store import SequenceStore

FASTA = ">a first one\nMKVL\nAW\n>b\n\n>c\tthird  \nmk-x\n>a again\nMK VL*\n"


@pytest.fixture
def fasta(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(FASTA)
    return path


@pytest.fixture
def store(fasta, tmp_path):
    return SequenceStore.build(fasta, tmp_path / "x.tdb")


def blocks(path, policy):
    return [
        (block.names, block.descriptions, block.letters.tobytes(), block.offsets.tolist(), block.numbers.tolist())
        for block in BlockReader(path, policy)
    ]


def test_everything_is_kept_as_it_was_written(store):
    assert list(store.names) == ["a", "b", "c", "a"]
    assert list(store.descriptions) == ["first one", "", "third", "again"]
    assert store.letters.tobytes() == b"MKVLAWmk-xMKVL*"
    assert store.offsets.tolist() == [0, 6, 6, 10, 15]
    assert store.by_length.tolist() == [1, 2, 3, 0]
    assert store.names[-1] == "a"
    assert store.names[1:3] == ("b", "c")
    assert store.names[::-2] == ("a", "b")
    assert repr(store) == "<SequenceStore: 4 protein sequences, 15 residues>"
    store.verify()


@pytest.mark.parametrize(
    "policy",
    [
        with_gaps(READS, "remove"),
        *(Policy(gaps, empty=empty) for gaps in ("keep", "remove") for empty in ("skip", "keep")),
    ],
)
def test_each_policy_reads_it_as_the_file(fasta, store, policy):
    assert blocks(store.path, policy) == blocks(fasta, policy)


def test_refused_like_the_file(store):
    with pytest.raises(
        InputError, match=r"x\.tdb, record 'c': '-' at position 3 is a gap, but unaligned sequences are"
    ):
        tropalign.read_sequences(store.path)
    with pytest.raises(InputError, match=r"x\.tdb, record 'b': the sequence is empty"):
        tropalign.read_sequences(store.path, gaps="remove")


def test_large_ones_in_blocks_from_any_source(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "many.fa"
    with path.open("w") as out:
        for k in range(9000):
            letters = "".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), rng.integers(1, 300)))
            print(f">s{k} number {k}", letters, sep="\n", file=out)
    built = SequenceStore.build([path], tmp_path / "many.tdb")
    again = SequenceStore.build([built.path], tmp_path / "again.tdb")
    batch, other = tropalign.read_sequences(path), tropalign.read_sequences(again.path)
    assert batch.fingerprint() == other.fingerprint()
    assert batch.descriptions == other.descriptions
    assert survey_of(ReadBlocks([str(path)])).sha256 == survey_of(ReadBlocks([built.path])).sha256
    assert np.array_equal(built.by_length, np.argsort(batch.lengths, kind="stable"))
    spans = list(built.spans(10_000, 50))
    assert [a for a, _ in spans] == [0, *[b for _, b in spans[:-1]]]
    assert spans[-1][1] == 9000
    assert max(b - a for a, b in spans) <= 50


def test_pages_that_lie_behind_are_given_back(tmp_path, monkeypatch):
    monkeypatch.setattr("tropalign.sequences.mapped_store.SPAN", 1 << 14)
    built = SequenceStore.build(_long_file(tmp_path), tmp_path / "long.tdb")
    text = "".join(
        built.letters[built.offsets[a] : built.offsets[b]].tobytes().decode() for a, b in built.spans(9000, 9)
    )
    assert text == built.letters.tobytes().decode()


def _long_file(tmp_path):
    path = tmp_path / "long.fa"
    path.write_text("".join(f">s{k}\n{'ACDEFGHIKL' * (100 + k)}\n" for k in range(100)))
    return path


def test_a_store_is_known_by_its_magic(fasta, store, tmp_path):
    assert is_store(store.path)
    assert not is_store(fasta)
    assert not is_store("-")
    assert not is_store(tmp_path)
    assert not is_store(tmp_path / "none")
    assert (tmp_path / "x.tdb").read_bytes().startswith(STORE_MAGIC)


def changed(data, at, new):
    return data[:at] + new + data[at + len(new) :]


def with_entry(name, **entry):
    """What makes a file whose manifest says something else of an array, with a checksum that is right."""
    return lambda data: with_manifest(data, lambda manifest: manifest["arrays"][name].update(entry))


def with_byte(array, at, byte):
    return lambda data: changed(data, manifest_of(data)["arrays"][array]["begin"] + at, byte)


DAMAGED = "the store is damaged"
DESCENDS = f"{DAMAGED} (its offsets do not ascend to the end of their data)"
NEWER = (
    "this store was written by tropalign 9.9 in a newer format: use that version, or build it again with tropalign db "
    "build"
)
BROKEN = {
    "empty": (lambda d: b"", "the file is empty"),
    "another file": (lambda d: b"MThd" + d, "this is not a sequence store: build it with tropalign db build"),
    "cut short": (lambda d: d[:-100], f"{DAMAGED} (its end is missing): build it again with tropalign db build"),
    "only its begin": (lambda d: d[:20], f"{DAMAGED} (its end is missing)"),
    "manifest changed": (
        lambda d: changed(d, len(d) - END_BYTES - 9, b"7"),
        f"{DAMAGED} (the checksum of its manifest does not match)",
    ),
    "manifest's size": (
        lambda d: changed(d, len(d) - END_BYTES, b"\xff" * 8),
        f"{DAMAGED} (the size of its manifest is invalid)",
    ),
    "an array beyond the end": (
        with_entry("names", bytes=1 << 40),
        f"{DAMAGED} (its names extend beyond the end of the file)",
    ),
    "an array before the begin": (
        with_entry("names", begin=-4096),
        f"{DAMAGED} (its names extend beyond the end of the file)",
    ),
    "an array that is not there": (
        lambda d: with_manifest(d, lambda m: m["arrays"].pop("names")),
        f"{DAMAGED} (its manifest is incomplete or invalid)",
    ),
    "offsets too few": (with_entry("offsets", bytes=16), DESCENDS),
    "no offset": (with_entry("offsets", bytes=0), DESCENDS),
    "offsets descend": (with_byte("offsets", 8, b"\x07"), DESCENDS),
    "order": (
        with_byte("by_length", 0, b"\x04"),
        f"{DAMAGED} (the order by length refers to sequences that do not exist)",
    ),
    "a newer form": (lambda d: with_manifest(d, lambda m: m.update(layout=3, made_by="tropalign 9.9")), NEWER),
}


def manifest_of(data):
    size = int.from_bytes(data[-END_BYTES:][:8], "little")
    return json.loads(data[-END_BYTES - size : -END_BYTES])


def with_manifest(data, change):
    """The file with another manifest, whose checksum is right."""
    from hashlib import sha256

    manifest = manifest_of(data)
    body = data[: -END_BYTES - int.from_bytes(data[-END_BYTES:][:8], "little")]
    change(manifest)
    text = json.dumps(manifest).encode()
    return body + text + len(text).to_bytes(8, "little") + sha256(text).digest() + END


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_ones(store, tmp_path, kind):
    damage, sentence = BROKEN[kind]
    path = tmp_path / "broken.tdb"
    path.write_bytes(damage((tmp_path / "x.tdb").read_bytes()))
    with pytest.raises(InputError) as raised:
        SequenceStore.open(path)
    assert str(raised.value).startswith(f"{path}: {sentence}")


def test_a_manifest_of_other_words_is_damage(store, tmp_path):
    path = tmp_path / "x.tdb"
    good = path.read_bytes()
    for change in (
        lambda m: m.clear(),
        lambda m: m.update(arrays=[]),
        lambda m: m.update(letter_counts="many"),
        lambda m: m.update(letter_counts=[1, 2]),
        lambda m: m.update(layout="one"),
        lambda m: m["arrays"]["names"].update(begin="x"),
        lambda m: m["arrays"]["names"].update(begin=None),
        lambda m: m["arrays"].update(names=7),
    ):
        path.write_bytes(with_manifest(good, change))
        with pytest.raises(InputError):
            SequenceStore.open(path)


@pytest.mark.parametrize("name", ARRAYS)
def test_verify_finds_a_changed_byte_in_each_array(store, tmp_path, name):
    data = (tmp_path / "x.tdb").read_bytes()
    entry = manifest_of(data)["arrays"][name]
    at = entry["begin"] + (entry["bytes"] - 8 if name.endswith("offsets") else 0)
    path = tmp_path / "changed.tdb"
    if name in ("letters", "names", "descriptions"):
        path.write_bytes(changed(data, at, b"Q"))
    elif name == "by_length":
        path.write_bytes(changed(data, at, b"\x02"))
    else:
        path.write_bytes(changed(data, at - 8, data[at - 16 : at - 8]))
    with pytest.raises(InputError, match=f"the checksum of its {name.replace('_', ' ')} does not match"):
        SequenceStore.open(path).verify()


def test_what_cannot_be_read_as_a_store(tmp_path, store):
    with pytest.raises(InputError, match="there is no such file"):
        SequenceStore.open(tmp_path / "none.tdb")
    with pytest.raises(InputError, match="cannot be read"):
        SequenceStore.open(tmp_path)


def test_a_failed_build_leaves_what_was_there(store, tmp_path):
    before = (tmp_path / "x.tdb").read_bytes()
    bad = tmp_path / "bad.fa"
    bad.write_text(">a\nMKV\n>\nMKV\n")
    with pytest.raises(InputError, match="the header has no name"):
        SequenceStore.build(bad, store.path)
    assert (tmp_path / "x.tdb").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.fa", "x.fa", "x.tdb"]


def test_a_store_that_cannot_be_written(fasta, store):
    for path in (fasta, store.path):
        with pytest.raises(UsageError, match="is an input: name another file to write to"):
            SequenceStore.build([path], path)
    with pytest.raises((ResourceError, InputError)):
        SequenceStore.build(fasta, "/proc/x.tdb")


def test_while_another_process_writes_it(fasta, tmp_path):
    path = tmp_path / "y.tdb"
    code = "import fcntl, sys; f = open(sys.argv[1], 'wb'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True)"
    code += "; input()"
    command = [sys.executable, "-c", code, str(tmp_path / ".y.tdb.part")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="another run is writing here"):
            SequenceStore.build(fasta, path)
        other.communicate("\n")
    assert len(SequenceStore.build(fasta, path)) == 4


def test_names_beyond_ascii_are_kept_and_older_programs_know_that_they_are_there(fasta, tmp_path):
    plain = SequenceStore.build([fasta], tmp_path / "plain.tdb")
    path = tmp_path / "x.fa"
    path.write_bytes(">caf\u00e9 \u00df-lactamase\nMKV\n".encode() + ">\u00fcber x\nMKL\n".encode("latin-1"))
    with pytest.warns(tropalign.TropalignWarning) as told:
        store = SequenceStore.build([path], tmp_path / "x.tdb")
    assert [str(each.message) for each in told] == [f"{path}: bytes that are not UTF-8 are read as Latin-1"]
    assert list(store.names) == ["caf\u00e9", "\u00fcber"] and list(store.descriptions) == ["\u00df-lactamase", "x"]
    assert (plain.manifest["layout"], store.manifest["layout"]) == (1, 2)
    batch = tropalign.read_sequences(store.path)
    assert (batch.names, batch.descriptions) == (("caf\u00e9", "\u00fcber"), ("\u00df-lactamase", "x"))
    again = SequenceStore.build([store.path], tmp_path / "again.tdb")
    assert list(again.names) == list(store.names) and again.descriptions == store.descriptions
