"""``--shard`` and ``tropalign merge``."""

import pytest

from tropalign.cli.main import main


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "3")


@pytest.fixture
def sharded(tmp_path):
    """Runs every shard of a command; gives the files."""

    def run(count, *arguments):
        paths = [str(tmp_path / f"{k}of{count}.shard") for k in range(1, count + 1)]
        for number, path in enumerate(paths, 1):
            assert main(["pairs", *arguments, "--shard", f"{number}/{count}", "-o", path]) == 0
        return paths

    return run


def test_equal_commands_make_equal_shards(few, tmp_path, monkeypatch):
    """Whatever memory is free when they run."""
    from tropalign.resources import limits

    made = []
    for free in (4 << 30, 5 << 30):
        monkeypatch.setattr(limits, "_recent_free_bytes", lambda second, free=free: free)
        assert main(["pairs", few, "--shard", "1/2", "-o", str(tmp_path / "x.shard")]) == 0
        made.append((tmp_path / "x.shard").read_bytes())
    assert made[0] == made[1]


def test_parts_that_somebody_else_wrote(few, tmp_path, sharded, capsys):
    """Whole by every checksum, but no matrix: no defect of tropalign."""
    import zipfile

    from tropalign.execution.archive import packed

    shards = sharded(2, few, "-f", "matrix")
    with zipfile.ZipFile(shards[0]) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    for name in entries:
        if name.startswith("part"):
            entries[name] = packed([b"PK no matrix"])
    with zipfile.ZipFile(shards[0], "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    assert main(["merge", *shards, "-o", str(tmp_path / "m.tsv")]) == 3
    error = capsys.readouterr().err
    assert error == "tropalign: a finished part is damaged: remove the parts, or write the shard again\n"
    assert not (tmp_path / "m.tsv").exists()
