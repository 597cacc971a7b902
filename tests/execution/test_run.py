"""Runs in themselves: what the directory of parts says of one that was stopped, and which run goes on from it."""

import pytest
from execution.toys import OneThread

from tropalign.errors import InputError
from tropalign.execution.manifest import hash_of
from tropalign.execution.parts import parts_directory, recorded_manifest
from tropalign.execution.run import Output, Run
from tropalign.execution.task import Tile


class Letters:
    """A tile per letter; one may fail."""

    def __init__(self, letters, failing=""):
        self.letters, self.failing, self.computed = letters, failing, []

    def tiles(self):
        return [Tile(k, 1, 1, 1, letter) for k, letter in enumerate(self.letters)]

    def on_cpu(self, tile, n_threads, progress=None):
        if tile.payload == self.failing:
            raise InputError("no letter")
        self.computed.append(tile.payload)
        return tile.payload


class Joined:
    name, is_binary, needs_all = "text", False, False

    def __init__(self, frame=None):
        self.frame = frame

    def encode(self, result):
        return result.encode()

    def blocks(self, result):
        yield result.encode()

    def assemble(self, parts, out):
        out.write(b"".join(parts))

    def describe(self):
        return {}


def run_of(path, task, parameters, **others):
    return Run(task, [Output("main", str(path), Joined())], task.tiles(), parameters, 1 << 20, **others)


def stopped(path, parameters, **others):
    """A run of which two tiles are done."""
    with pytest.raises(InputError):
        run_of(path, Letters("abc", "c"), parameters, **others).compute([OneThread()])


@pytest.mark.parametrize(
    ("given", "recorded"), [({}, hash_of({"mode": "local"})), ({"fingerprint": "of the inputs"}, "of the inputs")]
)
def test_what_a_run_is_follows_from_its_parameters_unless_it_says_otherwise(tmp_path, given, recorded):
    path = tmp_path / "out.txt"
    stopped(path, {"mode": "local"}, **given)
    assert recorded_manifest(parts_directory(path)).fingerprint == recorded
    task = Letters("abc")
    run_of(path, task, {"mode": "local"}, **given).compute([OneThread()])
    assert path.read_bytes() == b"abc" and task.computed == ["c"]


def test_a_run_of_other_inputs_does_not_go_on(tmp_path):
    path = tmp_path / "out.txt"
    stopped(path, {"mode": "local"}, fingerprint="of these")
    with pytest.raises(InputError, match="the inputs differ"):
        run_of(path, Letters("abc"), {"mode": "local"}, fingerprint="of those").compute([OneThread()])
    with pytest.raises(InputError, match="mode was 'local' and is 'global'"):
        run_of(path, Letters("abc"), {"mode": "global"}).compute([OneThread()])
