"""``--shard`` and ``tropalign merge``."""

import pytest
from shard_runs import refuses

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


FORMATS = {
    "tsv": ["-f", "tsv"],
    "scores": ["--report", "score"],
    "paf": ["-f", "paf"],
    "sam": ["-f", "sam"],
    "sam of the best": ["-f", "sam", "--top", "2"],
    "srspair": ["-f", "srspair"],
    "fasta": ["-f", "fasta"],
    "arrow": ["-f", "arrow"],
    "arrow stream": ["-f", "arrows"],
    "csv": ["-f", "csv"],
    "BLAST": ["-f", "m8"],
    "JSON Lines": ["-f", "jsonl", "--max-evalue", "1e-6"],
    "columns": ["--columns", "evalue,pair,target,cs,bits", "--no-comments", "--db-size", "1000000"],
    "columns of Parquet": ["-f", "parquet", "--columns", "target_row,evalue,query_length"],
    "feather": ["-f", "feather"],
    "parquet": ["-f", "parquet"],
    "scores as a matrix": ["-f", "matrix"],
    "distances": ["-f", "matrix", "--matrix-values", "distance", "--matrix-layout", "phylip"],
    "identities": ["-f", "matrix", "--matrix-values", "identity", "--matrix-layout", "npz"],
    "the best": ["--top", "2"],
    "nothing": ["--min-score", "100000"],
}


@pytest.mark.parametrize("name", FORMATS)
def test_shards_become_the_bytes_of_one_run(few, tmp_path, sharded, name):
    if name in ("feather", "parquet"):
        pytest.importorskip("pyarrow")
    one, merged = tmp_path / "one", tmp_path / "merged"
    assert main(["pairs", few, *FORMATS[name], "-o", str(one)]) == 0
    assert main(["merge", *reversed(sharded(3, few, *FORMATS[name])), "-o", str(merged)]) == 0
    assert merged.read_bytes() == one.read_bytes()


@pytest.mark.parametrize("form", ["tsv", "sam", "matrix"])
def test_two_sets_and_strands(amplicons, tmp_path, sharded, form):
    with open(amplicons) as file:
        records = file.read().split(">")[1:]
    queries, targets = tmp_path / "q.fa", tmp_path / "t.fa"
    queries.write_text(">" + ">".join(records[:4]))
    targets.write_text(">" + ">".join(records[4:7]))
    arguments = [str(queries), str(targets), "--strand", "both", "-f", form]
    one, merged = tmp_path / "one", tmp_path / "merged"
    assert main(["pairs", *arguments, "-o", str(one)]) == 0
    assert main(["merge", *sharded(2, *arguments), "-o", str(merged)]) == 0
    assert merged.read_bytes() == one.read_bytes()


def test_merge_to_standard_output(few, tmp_path, sharded, command):
    one = tmp_path / "one.tsv"
    assert main(["pairs", few, "-o", str(one)]) == 0
    assert command("merge", *sharded(2, few)).stdout.encode() == one.read_bytes()


def test_options_that_change_nothing_are_taken_for_all_verbs(few, tmp_path, sharded, capsys):
    one, merged = tmp_path / "one.tsv", tmp_path / "merged.tsv"
    assert main(["pairs", few, "-o", str(one)]) == 0
    words = ["-q", "-t", "1", "--memory", "1G", "--device", "cpu"]
    assert main(["merge", *sharded(2, few), *words, "-o", str(merged)]) == 0
    assert merged.read_bytes() == one.read_bytes()
    assert capsys.readouterr().err == ""


def test_more_shards_than_tiles(few, tmp_path, sharded):
    one, merged = tmp_path / "one.tsv", tmp_path / "merged.tsv"
    assert main(["pairs", few, "-o", str(one)]) == 0
    assert main(["merge", *sharded(9, few), "-o", str(merged)]) == 0
    assert merged.read_bytes() == one.read_bytes()


def test_what_is_wrong_with_shards(few, family, tmp_path, sharded, capsys):
    first, second = sharded(2, few)
    other = sharded(3, few, "--mode", "global")[1]
    out = tmp_path / "out.tsv"
    cases = (
        ([first], 3, "of 2 shards number 2 is missing: give all of them"),
        ([other], 3, "of 3 shards numbers 1, 3 are missing: give all of them"),
        ([first, first], 3, "shard 1/2 is given twice"),
        ([first, other], 3, f"{other}: this is a shard of another run than {first} (mode was 'local' and is 'global')"),
        ([first, family], 3, f"{family}: this is not a shard that --shard wrote"),
        ([first, str(tmp_path / "none")], 3, "there is no such file"),
    )
    refuses(capsys, ["merge", "-o", str(out)], cases, out)
    with open(second, "r+b") as file:
        data = file.read()
        file.seek(data.index(b"=1X"))  # in a CIGAR
        file.write(b"\0\0\0")
    assert main(["merge", first, second, "-o", str(out)]) == 3
    assert "is damaged: write this shard again" in capsys.readouterr().err
    assert not out.exists() and not list(tmp_path.glob("*.tmp"))


def test_equal_commands_make_equal_shards(few, tmp_path, monkeypatch):
    """Whatever memory is free when they run."""
    from tropalign.machine import memory

    made = []
    for free in (4 << 30, 5 << 30):
        monkeypatch.setattr(memory, "_recent_free_bytes", lambda second, free=free: free)
        assert main(["pairs", few, "--shard", "1/2", "-o", str(tmp_path / "x.shard")]) == 0
        made.append((tmp_path / "x.shard").read_bytes())
    assert made[0] == made[1]


def test_a_shard_needs_a_file(few, capsys):
    assert main(["pairs", few, "--shard", "1/2"]) == 2
    assert "a shard goes to a file that tropalign merge reads: name it with -o" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "good", "bad"),
    [
        (["-f", "matrix"], "m.tsv.gz", "m.npz"),
        (["-f", "matrix", "--matrix-layout", "npz"], "m.npz", "m.tsv"),
        (["-f", "matrix", "--matrix-layout", "phylip"], "m.phy", "m.paf"),
        (["-f", "paf"], "a.paf.xz", "a.tsv"),
    ],
)
def test_a_name_that_promises_another_format_is_refused(few, tmp_path, sharded, capsys, arguments, good, bad):
    shards = sharded(2, few, *arguments)
    assert main(["merge", *shards, "-o", str(tmp_path / bad)]) == 2
    assert f"{bad} ends in {bad[bad.index('.') :]}: end the name in ." in capsys.readouterr().err
    one = tmp_path / f"one{good[good.index('.') :]}"
    assert main(["merge", *shards, "-o", str(tmp_path / good)]) == 0
    assert main(["pairs", few, *arguments, "-o", str(one)]) == 0
    assert (tmp_path / good).read_bytes() == one.read_bytes()


def test_an_endless_file_and_a_shard_as_output(few, sharded, capsys):
    assert main(["merge", "/dev/zero"]) == 3
    assert "/dev/zero: this is not a shard that --shard wrote" in capsys.readouterr().err
    shards = sharded(2, few)
    assert main(["merge", *shards, "-o", shards[0]]) == 2
    assert f"{shards[0]} is an input" in capsys.readouterr().err


def test_parts_that_somebody_else_wrote(few, tmp_path, sharded, capsys):
    """Whole by every checksum, but no matrix: no defect of tropalign."""
    import zipfile

    from tropalign.execution.packed import packed

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
