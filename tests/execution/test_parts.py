import errno
import io
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from kept_parts import parts_in

from tropalign.errors import InputError, ResourceError, TropalignWarning
from tropalign.execution.manifest import Manifest
from tropalign.execution.parts import BLOCK_BYTES, LIST, Parts, PartWriting, Spool, listed, recorded_manifest

RUN = Manifest("f00d", "cut", 4, {"mode": "local", "matrix": "BLOSUM62"}, 1 << 30)


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "out.tsv.parts"


def names(directory):
    return sorted(os.listdir(directory))


def test_parts_outlive_the_run(directory):
    with Parts(directory, RUN) as parts:
        assert parts.finished(range(4), 1) == set()
        parts.write(2, [b"two", b"more"])
    with Parts(directory, RUN) as again:
        assert again.finished(range(4), 2) == {2}
        assert again.read(2, 0) == b"two" and again.read(2, 1) == b"more"
        again.finish()
    assert not directory.exists()


@pytest.mark.parametrize("system", ["posix", "other"])
def test_a_directory_without_parts_goes_with_the_run(directory, monkeypatch, system):
    """Locked or, on systems that cannot open directories, not."""
    monkeypatch.setattr("tropalign.execution.parts.os", SimpleNamespace(**{**vars(os), "name": system}))
    with Parts(directory, RUN):
        assert directory.is_dir()
    assert not directory.exists()
    with Parts(directory, RUN) as parts:
        parts.write(0, [b"x"])
        parts.finish()
    assert not directory.exists()


def test_manifest_goes_through_json():
    for manifest in (RUN, replace(RUN, shard=(2, 8))):
        assert Manifest.from_json(manifest.to_json()) == manifest


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (replace(RUN, parameters={**RUN.parameters, "mode": "global"}), "mode was 'local' and is 'global'"),
        (replace(RUN, parameters={"matrix": "BLOSUM62"}), "mode was 'local' and is None"),
        (replace(RUN, parameters={**RUN.parameters, "top": "5"}), "top was None and is '5'"),
        (replace(RUN, shard=(1, 2)), "shard was 'none' and is '1/2'"),
        (replace(RUN, fingerprint="beef"), "the inputs differ"),
        (replace(RUN, cut="other"), "the work is cut into different tiles"),
        (
            replace(RUN, cut="other", memory_bytes=99),
            "tiles were cut for --memory 1073741824 and are cut for 99",
        ),
    ],
)
def test_parts_of_another_run_are_refused(directory, other, difference):
    with Parts(directory, RUN) as parts:
        parts.write(0, [b"x"])
    with pytest.raises(InputError) as caught:
        Parts(directory, other)
    assert str(caught.value) == (
        f"{directory}: this directory holds finished parts of another run ({difference}): repeat that run to complete "
        "it, or remove the directory"
    )
    with Parts(directory, RUN) as parts:
        assert parts.read(0, 0) == b"x"


def test_without_a_part_there_is_nothing_to_refuse(directory):
    other = replace(RUN, fingerprint="beef")
    Parts(directory, RUN).close()  # as a kill leaves it
    assert names(directory) == ["list", "manifest.json"]
    with Parts(directory, other) as parts:
        parts.write(0, [b"x"])
    assert recorded_manifest(directory) == other
    with pytest.raises(InputError, match="finished parts of another run"):
        Parts(directory, RUN)


def test_a_run_that_fails_before_its_first_part_leaves_nothing(directory):
    with pytest.raises(RuntimeError), Parts(directory, RUN):
        raise RuntimeError
    assert not directory.exists()


def test_another_budget_alone_is_the_same_run(directory):
    Parts(directory, RUN).close()
    Parts(directory, replace(RUN, memory_bytes=99)).close()
    assert recorded_manifest(directory) == RUN


def test_one_run_at_a_time(directory):
    with Parts(directory, RUN), pytest.raises(InputError, match="another run is writing here"):
        Parts(directory, RUN)
    Parts(directory, RUN).close()


def test_parts_without_a_manifest_are_not_trusted(directory):
    """What a kill in the middle of ``finish`` can leave."""
    directory.mkdir()
    for name in ("section0", "section1.2", "list.tmp", "manifest.json.tmp", "out.tmp"):
        (directory / name).write_bytes(b"?")
    with Parts(directory, RUN) as parts:
        assert parts.finished([1], 1) == set()
        assert names(directory) == ["list", "manifest.json"]


def test_a_directory_of_other_things_is_left_alone(directory):
    directory.mkdir()
    (directory / "section1").write_bytes(b"?")
    (directory / "thesis.tex").write_text("all of it")
    with pytest.raises(InputError, match=r"this directory for finished parts holds 'thesis\.tex': move that away"):
        Parts(directory, RUN)
    assert names(directory) == ["section1", "thesis.tex"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"fingerprint": "a"}', "\0\0\0", "[" * 100_000, RUN.to_json().replace("4", "-4")]
)
def test_a_damaged_manifest(directory, text):
    directory.mkdir()
    (directory / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json: the manifest is damaged: remove .* to start again"):
        Parts(directory, RUN)


def test_a_file_in_the_place_of_the_directory(directory):
    directory.write_text("a file")
    with pytest.raises(InputError, match="this is a file: move it away"):
        Parts(directory, RUN)


def test_a_full_disk(directory):
    resource = pytest.importorskip("resource")
    with Parts(directory, RUN) as parts:
        parts.write(0, [b"zero", b"table"])
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            with pytest.raises(ResourceError) as caught:
                parts.write(1, [iter([b"x" * 60_000, b"y" * 60_000]), b"table"])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert str(caught.value) == (
            f"{directory / 'section0'}: the disk is full or the file too large (when writing 120004 bytes): "
            "free space, or write elsewhere with -o"
        )
        assert caught.value.needed_bytes == 120_004
        assert parts.path(0).stat().st_size == 4  # what was written of the part is gone
        parts.write(2, [b"two", b"more"])
    with Parts(directory, RUN) as again:
        assert again.finished(range(4), 2) == {0, 2}
        assert list(again.sections(0, [2, 0])) == [b"two", b"zero"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_part_whose_making_fails_leaves_nothing(directory, error):
    def blocks():
        yield b"some"
        raise error

    with Parts(directory, RUN) as parts:
        parts.write(0, [b"zero"])
        with pytest.raises(error):
            parts.write(1, [blocks()])
        parts.write(2, [b"two"])
        assert parts.path(0).read_bytes() == b"zerotwo"
        assert parts.finished(range(4), 1) == {0, 2}


def test_what_a_kill_left_behind_the_last_part_is_cut_off(directory):
    with Parts(directory, RUN) as parts:
        parts.write(0, [b"zero"])
    with open(directory / "section0", "ab") as file:
        file.write(b"half of a part")
    with Parts(directory, RUN) as again:
        assert again.finished(range(4), 1) == {0}
        again.write(1, [b"one"])
        assert again.path(0).read_bytes() == b"zeroone"


WRITER = """
import sys
from pathlib import Path
from tropalign.execution.manifest import Manifest
from tropalign.execution.parts import Parts
with Parts(Path(sys.argv[1]), Manifest("f00d", "cut", 9999, {}, 1)) as parts:
    finished = parts.finished(range(9999), 1)
    for k in range(9999):
        if k not in finished:
            parts.write(k, [bytes([k % 251]) * (100_000 + k)])
"""


@pytest.mark.parametrize("n_removed", range(5))
def test_what_is_removed_is_not_called_damaged(directory, monkeypatch, n_removed):
    """A kill while the directory is taken away, after files of it are removed: list, two sections, manifest."""
    unlink, left = Path.unlink, [n_removed]

    def unlink_or_stop(path, **how):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        unlink(path, **how)

    with suppress(KeyboardInterrupt), Parts(directory, RUN) as parts:
        parts.write(0, [b"one", b"two"])
        with monkeypatch.context() as patched:
            patched.setattr(Path, "unlink", unlink_or_stop)
            parts.finish()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Parts(directory, RUN) as again:
            assert again.finished(range(4), 2) == ({0} if n_removed == 0 else set())
            again.write(0, [b"one", b"two"])
            assert again.read(0, 1) == b"two"


def test_killed_at_any_moment_only_whole_parts_are_there(directory):
    n_done = 0
    for moment in (0.0, 0.003, 0.011, 0.02):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(directory)])
        while len(parts_in(directory)) < n_done + 4:
            assert process.poll() is None
            time.sleep(0.0005)
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with Parts(directory, Manifest("f00d", "cut", 9999, {}, 1)) as parts:  # the lock went with the process
            finished = parts.finished(range(9999), 1)
            n_done = next(k for k in range(9999) if k not in finished)
            assert n_done > 3
            for k in range(n_done):
                assert parts.read(k, 0) == bytes([k % 251]) * (100_000 + k)


def damaged(data):
    """Ways in which a file may not be what was written."""
    yield data[: len(data) // 2]
    yield b""
    for at in (len(data) // 2, len(data) - 1):
        yield data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize("section", [0, 1])
def test_a_damaged_part_is_computed_again(directory, way, section):
    """As a power cut leaves it, which came before the disk had what was listed."""
    with Parts(directory, RUN) as parts:
        parts.write(0, [b"good", b"too"])
        parts.write(1, [b"bad" * 99, b"also bad"])
        path = parts.path(section)
        path.write_bytes(list(damaged(path.read_bytes()))[way])
        with pytest.raises(InputError, match=rf"section{section}: a part in this file is damaged: repeat the run"):
            parts.read(1, section)
    n_lost = 2 if way == 1 else 1
    text = "part 1 is damaged and computed again" if n_lost == 1 else "2 parts, the first 0, are damaged and computed"
    with Parts(directory, RUN) as again, pytest.warns(TropalignWarning, match=text):
        assert again.finished(range(4), 2) == {0, 1} - {1, 2 - n_lost}
        again.write(1, [b"one", b"1"])
    with Parts(directory, RUN) as again:  # nothing is told twice
        assert 1 in again.finished(range(4), 2) and again.read(1, section) == [b"one", b"1"][section]


@pytest.mark.parametrize("way", range(4))
def test_a_damaged_list_loses_what_it_does_not_hold(directory, way):
    with Parts(directory, RUN) as parts:
        for index in range(4):
            parts.write(index, [b"part %d" % index])
    data = (directory / LIST).read_bytes()
    (directory / LIST).write_bytes(list(damaged(data))[way])
    known = set(listed((directory / LIST).read_bytes())[0])
    with pytest.warns(TropalignWarning, match="the list of parts is damaged: parts that it does not list are computed"):
        parts = Parts(directory, RUN)
    with parts:
        assert parts.finished(range(4), 1) == known and len(known) == {0: 1, 1: 0, 2: 1, 3: 3}[way]
        for index in set(range(4)) - known:
            parts.write(index, [b"again %d" % index])
    with Parts(directory, RUN) as again:
        assert again.finished(range(4), 1) == {0, 1, 2, 3}


def test_a_damaged_list_of_another_run_is_not_taken_for_an_empty_one(directory):
    with Parts(directory, RUN) as parts:
        parts.write(0, [b"x"])
    (directory / LIST).write_bytes(b"?")
    with pytest.raises(InputError, match="finished parts of another run"):
        Parts(directory, replace(RUN, fingerprint="beef"))


def test_parts_of_a_group_are_forgotten_with_their_bytes(directory):
    with Parts(directory, RUN) as parts:
        parts.write(0, [b"early", b"1"], 1)
        parts.write(7, [b"late", b"2"], 2)
        parts.forget(1)
        assert parts.path(0, 1).stat().st_size == 0
        assert parts.read(7, 0) == b"late"
    with Parts(directory, RUN) as again:
        assert again.finished(range(9), 2) == {7}
        again.write(1, [b"new", b"3"], 1)
        assert again.read(1, 0) == b"new"


def written(directory, order, head=b"head|"):
    parts = Parts(directory, RUN)
    parts.write_head(0, head)
    for index in order:
        parts.write(index, [b"part %d|" % index, b"x" * index])
    return parts


@pytest.mark.parametrize(
    ("order", "indices", "is_file"),
    [
        ([0, 1, 2], [0, 1, 2], True),
        ([], [], True),
        ([1, 0, 2], [0, 1, 2], False),
        ([0, 1, 2], [0, 1], False),
    ],
)
def test_parts_in_order_are_the_file(directory, order, indices, is_file):
    with written(directory, order) as parts:
        assert parts.as_file(0, indices, b"other", b"") is None
        path = parts.as_file(0, indices, b"head|", b"foot")
        assert (path is not None) == is_file
        if path is not None:
            assert path.read_bytes() == b"head|" + b"".join(b"part %d|" % k for k in indices) + b"foot"
        out = io.BytesIO()
        out.write(b"".join(parts.sections(0, indices).blocks()))
        assert out.getvalue() == b"".join(b"part %d|" % k for k in indices)
        parts.finish()


def test_a_file_that_was_given_its_name_too_early_is_taken_back(directory):
    """By a kill between the name and the end of the directory."""
    with written(directory, [0, 1]) as parts:
        os.replace(parts.as_file(0, [0, 1], b"head|", b"foot"), directory.parent / "out.tsv")
    out = directory.parent / "out.tsv"
    with Parts(directory, RUN) as again:
        again.take_back(0, out)
        assert not out.exists() and again.finished(range(4), 2) == {0, 1}
        assert again.as_file(0, [0, 1], b"head|", b"foot").read_bytes() == b"head|part 0|part 1|foot"
    os.replace(directory / "section0", out)
    out.write_bytes(out.read_bytes().replace(b"1", b"2"))  # a file of the user's by now
    with Parts(directory, RUN) as again:
        again.take_back(0, out)
        assert out.exists()
        with pytest.warns(TropalignWarning, match="2 parts, the first 0, are damaged and computed again"):
            assert again.finished(range(4), 2) == set()


@pytest.mark.parametrize("has_system_call", [True, False])
def test_sections_are_copied_into_a_file(directory, tmp_path, monkeypatch, has_system_call):
    if not has_system_call:
        monkeypatch.delattr("os.copy_file_range", raising=False)
    with written(directory, [1, 2, 0]) as parts:
        parts.write(3, [os.urandom(3 * BLOCK_BYTES + 7), b""])
        with open(tmp_path / "copy", "wb") as out:
            out.write(b"before ")
            parts.sections(0, range(4)).copy_to(out)
            out.write(b"behind")
        copied = (tmp_path / "copy").read_bytes()
        assert copied == b"before " + b"".join(parts.sections(0, range(4))) + b"behind"
        parts.finish()


def test_sections_can_be_gone_through_again(tmp_path):
    with Spool(tmp_path) as spool:
        for k in range(3):
            spool.write([b"a" * k, iter([b"%d" % k, b"."])])
        sections = spool.sections(1)
        assert list(sections) == list(sections) == [b"0.", b"1.", b"2."]
        assert b"".join(sections.blocks()) == b"0.1.2."
        assert list(spool.sections(0)) == [b"", b"a", b"aa"]
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_named_where_it_is(tmp_path, monkeypatch):
    class Full:
        def fileno(self):
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr("tempfile.TemporaryFile", lambda dir, buffering: Full())
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/elsewhere")
    for folder, place in (
        (tmp_path, rf"{tmp_path} \(folder of the output\): .* free space, or write elsewhere with -o"),
        (None, r"/elsewhere \(folder of temporary files\): .* or set TMPDIR to another folder"),
    ):
        with Spool(folder) as spool, pytest.raises(ResourceError, match=place):
            spool.write([b"part"])


def test_a_folder_that_takes_no_spool_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"/none \(folder of temporary files\): this cannot be written"):
        Spool(None)


@pytest.mark.parametrize("n_more", [0, 1])
def test_what_the_disk_says_late_is_told(directory, monkeypatch, n_more):
    """A file system may find out that it is full when it is to keep what it took."""
    has_failed = threading.Event()

    def fails(descriptor):
        has_failed.set()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tropalign.execution.parts._sync_data", fails)
    text = "section0: the disk is full"
    with Parts(directory, RUN) as parts, pytest.raises(ResourceError, match=text), PartWriting(parts) as writing:
        writing.put(0, [b"zero"])
        assert has_failed.wait(60)
        for index in range(1, 1 + n_more):
            time.sleep(0.05)
            writing.put(index, [b"more"])


def test_parts_are_on_the_disk_when_they_are_all_written(directory, monkeypatch):
    synced = []
    monkeypatch.setattr("tropalign.execution.parts._sync_data", lambda descriptor: synced.append(os.fstat(descriptor)))
    with Parts(directory, RUN) as parts:
        with PartWriting(parts) as writing:
            for index in range(50):
                writing.put(index, [b"part", b"of two"])
        sizes = {status.st_ino: status.st_size for status in synced}
        for name in ("section0", "section1", "list"):
            status = (directory / name).stat()
            assert sizes[status.st_ino] == status.st_size
