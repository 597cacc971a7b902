"""The stores of a folder as databases of all users, whatever lies in it and whatever becomes of it."""

import os

import pytest

from tropalign.errors import UsageError
from tropalign.sequences import SequenceStore
from tropalign.serve.storage.databases import InstalledDatabases, is_installed


def build(folder, name, fasta=">a\nMKVLAW\n>b\nMKILAWHH\n"):
    source = folder / "source.fa"
    source.write_text(fasta)
    SequenceStore.build(source, folder / f"{name}.tdb")
    source.unlink()


def test_stores_are_listed_by_name_and_nothing_else_is(tmp_path):
    build(tmp_path, "swissprot")
    build(tmp_path, "16S rRNA", ">a\nACGTACGTACGT\n")
    build(tmp_path, ".hidden")
    (tmp_path / "notes.txt").write_text("read me")
    (tmp_path / "broken.tdb").write_bytes(b"no store")
    (tmp_path / "gone.tdb").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.tdb")
    installed = InstalledDatabases(tmp_path)
    first, second = installed.list()
    assert (first.name, first.alphabet, first.n_sequences, first.n_residues) == ("16S rRNA", "nucleotide", 1, 12)
    assert (second.name, second.alphabet, second.n_sequences, second.n_residues) == ("swissprot", "protein", 2, 14)
    assert second.is_installed and second.shared and is_installed(second.id)
    assert installed.get(second.id) == second and installed.path(second.id) == tmp_path / "swissprot.tdb"
    broken, pipe = installed.faults()
    assert broken.startswith(f"{tmp_path / 'broken.tdb'}: ") and pipe.startswith(f"{tmp_path / 'pipe.tdb'}: ")


def test_an_id_is_of_a_name_and_a_content(tmp_path):
    build(tmp_path, "x")
    installed = InstalledDatabases(tmp_path)
    (first,) = installed.list()
    os.utime(tmp_path / "x.tdb")
    assert [each.id for each in InstalledDatabases(tmp_path).list()] == [first.id]
    build(tmp_path, "x", ">a\nMKVLAW\n>b\nMKILAWHK\n")
    (second,) = installed.list()
    assert second.id != first.id
    with pytest.raises(KeyError):
        installed.get(first.id)
    (tmp_path / "x.tdb").rename(tmp_path / "y.tdb")
    (third,) = installed.list()
    assert third.digest == second.digest and third.id != second.id


def test_without_a_folder_there_are_none(tmp_path):
    none = InstalledDatabases(None)
    assert none.list() == () and none.faults() == ()
    with pytest.raises(UsageError, match=r"No such file or directory: give --stores a folder of stores"):
        InstalledDatabases(tmp_path / "absent").faults()
    with pytest.raises(KeyError):
        none.path("installed-0")


def test_of_equal_names_ones_own_is_named_then_the_servers(storage, tmp_path):
    from tropalign.serve.records import Database

    build(tmp_path, "x")
    storage.databases.installed = InstalledDatabases(tmp_path)
    (installed,) = storage.databases.installed.list()
    digest = storage.files.add_bytes(b"a store").digest
    for id, owner, shared in (("of-alice", "alice", False), ("of-bob", "bob", True)):
        storage.databases.add(Database(id, owner, "x", "protein", 1, 1, digest, 7, 0.0, None, shared))
    assert [each.id for each in storage.databases.list("alice")] == ["of-alice", installed.id, "of-bob"]
    assert [storage.databases.named_by(user, "x").id for user in ("alice", "bob", "carol")] == [
        "of-alice", "of-bob", installed.id,
    ]  # fmt: skip
    assert storage.databases.named_by("carol", "of-bob").owner == "bob"
    with pytest.raises(KeyError):
        storage.databases.named_by("carol", "of-alice")
    assert storage.databases.path(installed) == tmp_path / "x.tdb"
    assert storage.databases.path(storage.databases.get("of-bob")) == storage.files.path(digest)


def test_a_name_that_several_others_share_is_no_choice(storage):
    """Whoever means one of them names its owner, or its id."""
    from tropalign.serve.records import Database

    digest = storage.files.add_bytes(b"a store").digest
    for id, owner, name, shared in (
        ("1", "ann", "x", True), ("2", "bob", "x", True), ("3", "bob", "y", True), ("4", "bob", "y", True),
        ("5", "eve", "z", False), ("6", "bob", "z", True),
    ):  # fmt: skip
        storage.databases.add(Database(id, owner, name, "protein", 1, 1, digest, 7, float(id), None, shared))
    named = storage.databases.named_by
    with pytest.raises(UsageError, match="2 databases are named x: give one of ann/x, bob/x"):
        named("carol", "x")
    assert [named("carol", word).id for word in ("ann/x", "bob/x", "1", "2", "z", "bob/z")] == [*"121266"]
    assert [named(user, "x").id for user in ("ann", "bob")] == ["1", "2"]
    assert named("ann", "bob/x").id == "2" and named("eve", "z").id == "5" and named("eve", "bob/z").id == "6"
    with pytest.raises(UsageError, match="2 databases are named y: give one of 3, 4"):
        named("carol", "y")
    for word in ("eve/z", "/x", "carol/x"):
        with pytest.raises(KeyError):
            named("carol", word)
