import zipfile
from dataclasses import replace

import pytest

from tropalign.errors import InputError
from tropalign.execution.archive import open_archives, write_archive
from tropalign.execution.parts import Manifest, Parts

RUN = Manifest("f00d", 5, {"mode": "local"}, 1 << 30)
SHARES = {1: [0, 1], 2: [], 3: [2, 3, 4]}


def part(index):
    return bytes([index]) * (1000 + index)


def write(path, manifest, indices):
    with Parts(path.with_suffix(".parts"), manifest) as parts:
        for index in indices:
            parts.write(index, part(index))
        write_archive(path, manifest, {"format": "x"}, parts, indices)
        parts.finish()
    return str(path)


@pytest.fixture
def shards(tmp_path):
    return [write(tmp_path / f"{k}.shard", replace(RUN, shard=(k, 3)), SHARES[k]) for k in SHARES]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_shards_become_the_run_in_any_order(shards, order):
    manifest, assembly, parts = open_archives([shards[k] for k in order])
    assert (manifest.fingerprint, manifest.parameters, assembly) == ("f00d", {"mode": "local"}, {"format": "x"})
    assert list(parts) == [part(k) for k in range(5)]


def test_a_shard_is_a_plain_stored_zip_and_always_the_same(shards, tmp_path):
    with zipfile.ZipFile(shards[0]) as archive:
        assert archive.namelist() == ["manifest.json", "part000000", "part000001"]
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
    again = write(tmp_path / "again.shard", replace(RUN, shard=(1, 3)), SHARES[1])
    with open(again, "rb") as a, open(shards[0], "rb") as b:
        assert a.read() == b.read()


def refusal(paths):
    with pytest.raises(InputError) as caught:
        list(open_archives(paths)[2])
    return str(caught.value)


def test_missing_shards_are_named(shards):
    assert refusal(shards[1:2]) == "of 3 shards number 1, 3 is missing: give all of them"
    assert refusal([]) == "there is no shard to merge: name the files that --shard wrote"


def test_a_shard_given_twice(shards):
    assert refusal([*shards, shards[1]]) == f"{shards[1]}: shard 2/3 is given twice, also as {shards[1]}"


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (replace(RUN, shard=(2, 3), parameters={"mode": "global"}), "mode was 'local' and is 'global'"),
        (replace(RUN, shard=(2, 3), fingerprint="beef"), "the sequences or the way they are cut into tiles differ"),
        (replace(RUN, shard=(2, 3), fingerprint="beef", memory_bytes=5), "are cut to 5"),
        (replace(RUN, shard=(2, 4)), "shard was '1/3' and is '1/4'"),
    ],
)
def test_shards_of_different_runs(shards, tmp_path, other, text):
    path = write(tmp_path / "other.shard", other, [])
    message = refusal([shards[0], path, shards[2]])
    assert message.startswith(f"{path}: this is a shard of another run than {shards[0]} (") and text in message


def test_a_tile_that_no_shard_holds(shards, tmp_path):
    path = write(tmp_path / "short.shard", replace(RUN, shard=(3, 3)), [2, 4])
    assert refusal([*shards[:2], path]) == "no shard holds tile 3: write the shards again"


def test_files_that_are_no_shards(shards, tmp_path):
    missing, text, cut, plain = (str(tmp_path / name) for name in ("none", "text", "cut", "plain.zip"))
    assert refusal([missing]) == f"{missing}: there is no such file"
    with open(text, "w") as file:
        file.write(">a\nMKV\n")
    with open(shards[2], "rb") as whole, open(cut, "wb") as file:
        file.write(whole.read()[:-300])
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("manifest.json", "{}")
    for path in (text, cut, plain, str(tmp_path)):
        assert refusal([path]) == f"{path}: this is no shard that --shard wrote, or not all of it"
    whole_run = write(tmp_path / "whole.zip", RUN, range(5))
    assert refusal([whole_run]) == f"{whole_run}: this is no shard that --shard wrote"


def test_damage_in_a_part_is_found(shards):
    with open(shards[2], "r+b") as file:
        data = file.read()
        file.seek(data.index(part(3)) + 500)
        file.write(b"!")
    assert refusal(shards) == f"{shards[2]}: tile 3 in it is damaged: write this shard again"
