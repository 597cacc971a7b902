"""The folder of files: by content, whole or absent, and nothing of a user's is a path."""

import errno
import hashlib
import os
import stat
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
from storage_files import LIMITS, new_job

from tropalign.errors import ResourceError, UsageError
from tropalign.serve.settings import Settings
from tropalign.serve.storage import Storage


@pytest.fixture
def store(tmp_path):
    with Storage.open(Settings(folder=tmp_path / "served")) as storage:
        yield storage.files


def names(store):
    return sorted(str(path.relative_to(store.folder)) for path in store.folder.rglob("*") if path.is_file())


def test_equal_bytes_are_kept_once_for_nobody_else(store):
    first = store.add_bytes(b"MKV")
    with store.receive() as receiving:
        for letter in (b"M", b"K", b"V"):
            receiving.write(letter)
        assert receiving.size == 3
        assert receiving.finish() == first
    digest = hashlib.sha256(b"MKV").hexdigest()
    assert (first.digest, first.size) == (digest, 3)
    assert names(store) == [f"{digest[:2]}/{digest[2:]}"]
    assert store.size_of(digest) == 3
    with store.open(digest) as file:
        assert file.read() == b"MKV"
    path = store.path(store.add_bytes(b"x").digest)
    modes = [stat.S_IMODE(place.stat().st_mode) for place in (path, path.parent, store.folder)]
    assert modes == [0o444, 0o700, 0o700]


def test_what_is_not_finished_or_too_large_leaves_nothing(store):
    with store.receive() as receiving:
        receiving.write(b"half")
    with pytest.raises(RuntimeError), store.receive() as receiving:
        receiving.write(b"half")
        raise RuntimeError
    assert names(store) == []
    with store.receive(limit=10) as receiving:
        receiving.write(b"0123456789")
        with pytest.raises(ResourceError, match="larger than the limit of this server, 10 bytes"):
            receiving.write(b"x")
    assert names(store) == []


@pytest.mark.parametrize(
    "digest",
    [
        "",
        "..",
        "/etc/passwd",
        "a" * 63,
        "A" * 64,
        "g" * 64,
        "../" * 21 + "a",
        "a" * 64 + "\n",
        "\0" * 64,
        "٣" * 64,
        "b" * 64,
    ],
)
def test_what_is_no_digest_is_no_path(store, digest):
    store.add_bytes(b"x")
    for ask in (store.path, store.open, store.size_of):
        with pytest.raises(KeyError):
            ask(digest)
    assert not store.holds(digest)


def test_a_file_of_a_worker_is_taken_over(store, tmp_path):
    source = tmp_path / "result.tsv"
    source.write_bytes(b"1\t2\n")
    kept = store.add(source)
    assert kept == store.add(source) == store.add_bytes(b"1\t2\n")
    assert store.path(kept.digest).stat().st_ino == source.stat().st_ino  # no copy
    source.unlink()
    assert store.path(kept.digest).read_bytes() == b"1\t2\n"


def test_a_worker_hands_no_link_over(store, tmp_path):
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "missing", "."):
        with pytest.raises(UsageError, match="cannot be kept"):
            store.add(tmp_path / name)
    assert names(store) == []


def test_a_file_of_another_disk_is_copied(store, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EXDEV, "other disk")

    source = tmp_path / "result.tsv"
    source.write_bytes(b"x" * 3_000_000)
    monkeypatch.setattr(os, "link", refuse)
    kept = store.add(source)
    assert kept.size == store.size_of(kept.digest) == 3_000_000
    assert store.path(kept.digest).stat().st_ino != source.stat().st_ino


def test_a_full_disk_is_a_sentence(store, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    with store.receive() as receiving:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(ResourceError, match="the server's disk is full: delete jobs that are not needed"):
            receiving.write(b"x")


def test_the_last_room_on_a_disk_is_left_to_the_database(store, monkeypatch):
    digest = store.add_bytes(b"x").digest
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(total=10**9, free=10**7 - 1))
    for refused in (store.check_room, store.receive().__enter__):
        with pytest.raises(ResourceError, match=r"^the server's disk is full: delete jobs that are not needed$"):
            refused()
    assert store.remove_these([digest]) == 1
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(total=10**9, free=10**7))
    store.check_room()


def age(store, seconds):
    for path in store.folder.rglob("*"):
        os.utime(path, (time.time() - seconds,) * 2)


def test_files_that_nothing_has_go(storage):
    used = storage.jobs.submit(new_job(storage), LIMITS)[0].inputs[0]
    store = storage.files
    unused = [store.add_bytes(b"%d" % n) for n in range(450)]
    (store.folder / "incoming" / "left").write_bytes(b"half")
    assert store.remove_unused(3600) == 0
    age(store, 7200)
    kept = store.add_bytes(b"7")  # sent again: it is new again
    assert store.remove_unused(3600) == len(unused) - 1
    assert names(store) == sorted(f"{digest[:2]}/{digest[2:]}" for digest in (used.digest, kept.digest))


def test_a_file_that_is_sent_while_it_is_removed_stays(store, monkeypatch):
    """Between the look at its age and its removal."""
    digest = store.add_bytes(b"x").digest
    age(store, 7200)
    look = store._old

    def look_and_send(before):
        yield from look(before)
        store.add_bytes(b"x")

    monkeypatch.setattr(store, "_old", look_and_send)
    assert store.remove_unused(3600) == 0
    assert store.path(digest).read_bytes() == b"x"
