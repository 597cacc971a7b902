import json
import zipfile
from dataclasses import replace

import pytest

from tropalign.errors import InputError
from tropalign.execution.archive import Description, Shards, write_archive
from tropalign.execution.manifest import Manifest
from tropalign.execution.parts import Parts

RUN = Manifest("f00d", "cut", 5, {"mode": "local"}, 1 << 30)
#: The values of each shard's parts.
SHARES = {1: [0, 1], 2: [], 3: [2, 3, 4]}


def part(value):
    return bytes([value]) * (1000 + value)


def write(path, manifest, values):
    manifest = replace(manifest, n_tiles=len(values), cut=str(values))
    with Parts(path.with_suffix(".parts"), manifest) as parts:
        for index, value in enumerate(values):
            parts.write(index, [part(value), b"%d" % value])
        outputs = [Description(role, {"format": "x"}) for role in ("main", "table")]
        write_archive(path, manifest, outputs, parts, range(len(values)))
        parts.finish()
    return str(path)


@pytest.fixture
def shards(tmp_path):
    return [write(tmp_path / f"{k}.shard", replace(RUN, shard=(k, 3)), SHARES[k]) for k in SHARES]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_shards_become_the_run_in_any_order(shards, order):
    found = Shards([shards[k] for k in order])
    assert found.outputs == [Description("main", {"format": "x"}), Description("table", {"format": "x"})]
    assert list(found.sections(0)) == list(found.sections(0)) == [part(k) for k in range(5)]
    assert list(found.sections(1)) == [b"0", b"1", b"2", b"3", b"4"]


def test_a_shard_is_a_plain_stored_zip_and_always_the_same(shards, tmp_path):
    with zipfile.ZipFile(shards[0]) as archive:
        assert archive.namelist() == ["manifest.json", "part000000", "part000001"]
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
    again = write(tmp_path / "again.shard", replace(RUN, shard=(1, 3)), SHARES[1])
    with open(again, "rb") as a, open(shards[0], "rb") as b:
        assert a.read() == b.read()


def refusal(paths):
    with pytest.raises(InputError) as caught:
        list(Shards(paths).sections(0))
    return str(caught.value)


def test_missing_shards_are_named(shards):
    assert refusal(shards[1:2]) == "of 3 shards numbers 1, 3 are missing: give all of them"
    assert refusal([]) == "no shard is given: name the files that --shard wrote"


def test_a_shard_given_twice(shards):
    assert refusal([*shards, shards[1]]) == f"{shards[1]}: shard 2/3 is given twice, also as {shards[1]}: leave one out"


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (replace(RUN, shard=(2, 3), parameters={"mode": "global"}), "mode was 'local' and is 'global'"),
        (replace(RUN, shard=(2, 3), fingerprint="beef"), "the inputs differ"),
        (replace(RUN, shard=(2, 4)), "shard was '1/3' and is '1/4'"),
    ],
)
def test_shards_of_different_runs(shards, tmp_path, other, text):
    path = write(tmp_path / "other.shard", other, [])
    message = refusal([shards[0], path, shards[2]])
    assert message.startswith(f"{path}: this is a shard of another run than {shards[0]} (") and text in message


def test_shards_cut_to_other_amounts_of_memory_are_shards_of_one_run(shards, tmp_path):
    other = write(tmp_path / "other.shard", replace(RUN, shard=(2, 3), memory_bytes=5), [9])
    assert list(Shards([shards[0], other, shards[2]]).sections(1)) == [b"0", b"1", b"9", b"2", b"3", b"4"]


def rewritten(path, to, **changes):
    """The shard with other entries in its manifest."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "manifest.json":
                data = json.dumps({**json.loads(data), **changes})
            new.writestr(name, data)
    return str(to)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"shard": [1]}, "this is not a shard"),
        ({"shard": [1, 10**9]}, "this is not a shard"),
        ({"shard": [1, 1_000_000]}, "of 1000000 shards numbers 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... are missing"),
        ({"shard": ["a", "b"]}, "this is not a shard"),
        ({"n_tiles": 10**15}, "tiles of this shard are missing"),
        ({"n_tiles": -1}, "this is not a shard"),
        ({"n_tiles": 1}, "tiles of this shard are missing"),
        ({"parameters": {"a": [1]}}, "this is not a shard"),
        ({"layout": 1}, "this is not a shard"),
        ({"outputs": 3}, "this is not a shard"),
        ({"outputs": []}, "this is not a shard"),
    ],
)
def test_manifests_that_somebody_wrote(shards, tmp_path, changes, text):
    path = rewritten(shards[0], tmp_path / "edited.shard", **changes)
    assert text in refusal([path])


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
        assert refusal([path]) == f"{path}: this is not a shard, or an incomplete one: write it again with --shard"
    whole_run = write(tmp_path / "whole.zip", RUN, range(5))
    assert (
        refusal([whole_run]) == f"{whole_run}: this is not a shard, or an incomplete one: write it again with --shard"
    )


def test_damage_in_a_part_is_found(shards):
    with open(shards[2], "r+b") as file:
        data = file.read()
        file.seek(data.index(part(3)) + 500)
        file.write(b"!")
    assert refusal(shards) == f"{shards[2]}: tile 1 of this shard is damaged: write the shard again"
