import errno
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from tropalign.errors import InputError, ResourceError, TropalignWarning
from tropalign.execution.manifest import Manifest
from tropalign.execution.parts import (
    WAITING_BYTES,
    WRITERS,
    Parts,
    PartWriting,
    Sections,
    Spool,
    packed,
    recorded_manifest,
)

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
        (replace(RUN, cut="other"), "the work is cut into other tiles"),
        (
            replace(RUN, cut="other", memory_bytes=99),
            "tiles were cut to --memory 1073741824 and are cut to 99",
        ),
    ],
)
def test_parts_of_another_run_are_refused(directory, other, difference):
    with Parts(directory, RUN) as parts:
        parts.write(0, [b"x"])
    with pytest.raises(InputError) as caught:
        Parts(directory, other)
    assert str(caught.value) == (
        f"{directory}: this holds finished parts of another run ({difference}): repeat that run to end it, or remove "
        "the directory"
    )
    with Parts(directory, RUN) as parts:
        assert parts.read(0, 0) == b"x"


def test_without_a_part_there_is_nothing_to_refuse(directory):
    other = replace(RUN, fingerprint="beef")
    Parts(directory, RUN).close()  # as a kill leaves it
    assert names(directory) == ["manifest.json"]
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
    for name in ("part000001", "part000002.tmp", "manifest.json.tmp", "out.tmp"):
        (directory / name).write_bytes(b"?")
    with Parts(directory, RUN) as parts:
        assert parts.finished([1], 1) == set()
        assert names(directory) == ["manifest.json"]


def test_a_directory_of_other_things_is_left_alone(directory):
    directory.mkdir()
    (directory / "part000001").write_bytes(b"?")
    (directory / "thesis.tex").write_text("all of it")
    with pytest.raises(InputError, match=r"it holds 'thesis\.tex': move that away"):
        Parts(directory, RUN)
    assert names(directory) == ["part000001", "thesis.tex"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"fingerprint": "a"}', "\0\0\0", "[" * 100_000, RUN.to_json().replace("4", "-4")]
)
def test_a_damaged_manifest(directory, text):
    directory.mkdir()
    (directory / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json: the manifest is damaged: remove .* to start anew"):
        Parts(directory, RUN)


def test_a_file_in_the_place_of_the_directory(directory):
    directory.write_text("a file")
    with pytest.raises(InputError, match="this is no directory: move it away"):
        Parts(directory, RUN)


def test_a_full_disk(directory, monkeypatch):
    resource = pytest.importorskip("resource")
    with Parts(directory, RUN) as parts:
        parts.write(0, [b"zero"])
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            with pytest.raises(ResourceError) as caught:
                parts.write(1, [b"x" * 200_000])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert str(caught.value) == (
            f"{directory / 'part000001'}: the disk is full or the file too large (200024 bytes were to be written): "
            "free space, or write elsewhere with -o"
        )
        assert caught.value.needed_bytes == 200_024
    assert names(directory) == ["manifest.json", "part000000"]


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


def test_killed_at_any_moment_only_whole_parts_are_there(directory):
    n_done = 0
    for moment in (0.0, 0.003, 0.011, 0.02):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(directory)])
        target = directory / f"part{n_done + 3:06d}"
        while not target.exists():
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
    """Ways in which a part may not be what was written."""
    yield "cut short", data[: len(data) // 2]
    yield "empty", b""
    yield "longer", data + b"?"
    for at in (0, 9, 12, 20, len(data) - 1):
        yield f"byte {at}", data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize("way", range(8))
def test_a_damaged_part_is_computed_again(directory, way):
    with Parts(directory, RUN) as parts:
        parts.write(0, [b"good", b"too"])
        parts.write(1, [b"bad" * 99, b"too"])
        path = parts.path(1)
        path.write_bytes(list(damaged(path.read_bytes()))[way][1])
        if way != 2:  # of what follows the sections nothing is read
            with pytest.raises(InputError, match=r"part000001: this part is damaged"):
                [parts.read(1, number) for number in (0, 1)]
    with Parts(directory, RUN) as again, pytest.warns(TropalignWarning, match=r"part 1 is damaged and computed again"):
        assert again.finished(range(4), 2) == {0}
    assert not path.exists()


def test_sections_can_be_gone_through_again(tmp_path):
    with Spool(tmp_path) as spool:
        for k in range(3):
            spool.write([b"a" * k, b"%d" % k])
        sections = spool.sections(1)
        assert list(sections) == list(sections) == [b"0", b"1", b"2"]
        assert list(spool.sections(0)) == [b"", b"a", b"aa"]
    assert os.listdir(tmp_path) == []
    assert list(Sections(lambda k: packed([b"x"] * k), [0, 1])) == [packed([]), packed([b"x"])]


def test_a_full_disk_is_named_where_it_is(tmp_path, monkeypatch):
    class Full:
        def seek(self, *place):
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr("tempfile.TemporaryFile", lambda dir: Full())
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/elsewhere")
    for folder, place in (
        (tmp_path, f"{tmp_path}, the folder of the output: .* free space, or write elsewhere with -o"),
        (None, "/elsewhere, the folder of temporary files: .* or name another folder of temporary files with TMPDIR"),
    ):
        with Spool(folder) as spool, pytest.raises(ResourceError, match=place):
            spool.write([b"part"])


def test_a_folder_that_takes_no_spool_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(InputError, match="/none, the folder of temporary files: this cannot be written"):
        Spool(None)


def test_an_error_of_the_last_part_is_told():
    may_fail = threading.Event()

    def write(index, sections):
        may_fail.wait(60)
        raise ResourceError("the disk is full")

    with pytest.raises(ResourceError, match="the disk is full"), PartWriting(write) as writing:
        writing.put(0, [b""])
        may_fail.set()


@pytest.mark.parametrize("size", [1, WAITING_BYTES // 4, WAITING_BYTES // 2 + 1, WAITING_BYTES + 1])
def test_parts_that_wait_for_the_disk_are_bounded(size):
    lock, on_their_way, most = threading.Lock(), [0], [0]

    def write(index, sections):
        time.sleep(0.005)  # a slow disk
        with lock:
            on_their_way[0] -= 1

    data = bytes(size // 2), bytes(size - size // 2)
    with PartWriting(write) as writing:
        for index in range(3 * WRITERS):
            writing.put(index, data)
            with lock:
                on_their_way[0] += 1
                most[0] = max(most[0], on_their_way[0])
    assert on_their_way[0] == 0
    assert 1 <= most[0] <= max(1, min(WRITERS, WAITING_BYTES // size))
