"""`tropalign pairs --html` as a run: beside other outputs, in shards, taken up again, compressed; what is refused."""

import gzip
import os
from pathlib import Path

import pytest

from tropalign.cli.main import main


def with_report(few, *arguments, name="report.html"):
    """Table and report."""
    assert main(["pairs", few, "-q", *arguments, "-o", "table.tsv", "--html", name]) == 0
    return Path("table.tsv").read_bytes(), Path(name).read_bytes()


@pytest.fixture(autouse=True)
def at_home(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def rows_of(table):
    return [line for line in table.splitlines() if not line.startswith(b"#")]


def test_the_report_stands_beside_any_output(few, capfdbinary):
    assert main(["pairs", few, "-q", "--mode", "global", "-o", "alone.tsv"]) == 0  # the mode of a map of identities
    table, report = with_report(few)
    assert rows_of(table) == rows_of(Path("alone.tsv").read_bytes())
    assert report.startswith(b"<!DOCTYPE html>")
    assert main(["pairs", few, "-q", "--html", "report.html", "-f", "paf"]) == 0
    assert capfdbinary.readouterr().out.count(b"\tcg:Z:") == len(rows_of(table)) - 1  # less the names of columns
    assert main(["pairs", few, "-q", "-o", "main.html"]) == 0
    assert Path("main.html").read_bytes().startswith(b"<!DOCTYPE html>")


def test_shards_and_threads_make_no_difference(few, monkeypatch):
    whole = with_report(few, "-t", "1")
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "3")
    assert with_report(few, "-t", "3") == whole
    for k in (1, 2):
        assert main(["pairs", few, "-q", "--html", "report.html", "--shard", f"{k}/2", "-o", f"{k}.shard"]) == 0
    assert main(["merge", "2.shard", "1.shard", "-q", "-o", "merged.tsv", "--html", "merged.html"]) == 0
    assert (Path("merged.tsv").read_bytes(), Path("merged.html").read_bytes()) == whole


def test_a_suffix_compresses(few):
    name = b"report.html"
    plain = with_report(few)[1]
    packed = gzip.decompress(with_report(few, name="report.html.gz")[1])
    assert packed.replace(name + b".gz", name) == plain


def test_a_run_that_stopped_goes_on_with_both(few, monkeypatch):
    from tropalign.pairwise import PairsTask

    whole = with_report(few)
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "3")
    for name in ("table.tsv", "report.html"):
        Path(name).unlink()
    compute = PairsTask.on_cpu

    def fails(task, tile, *arguments):
        if tile.index == 3:
            raise KeyboardInterrupt
        return compute(task, tile, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(PairsTask, "on_cpu", fails)
        assert main(["pairs", few, "-q", "-t", "1", "-o", "table.tsv", "--html", "report.html"]) == 130
    assert not Path("report.html").exists() and Path("table.tsv.parts").is_dir()
    assert main(["pairs", few, "-q", "-o", "table.tsv"]) == 3  # another run: it makes no report
    assert with_report(few) == whole


def test_too_many_lines_for_a_plot_are_refused_before_anything_is_computed(few, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("tropalign.formats.pairs.plots.MOST_LINES", 4)
    assert main(["pairs", few, "-q", "-o", "o.tsv", "--plot", "map.svg"]) == 3
    assert "a plot supports at most 4 sequences per side, not 6: select fewer" in capsys.readouterr().err
    assert os.listdir() == ["few.fasta"]
    assert main(["pairs", few, "-q", "-o", "o.tsv", "--plot", "map.svg", "--min-score", "100000"]) == 0
    assert b"there is nothing to plot" in Path("map.svg").read_bytes()


def test_a_plot_needs_no_home(few, command):
    pytest.importorskip("matplotlib")
    nowhere = {"HOME": "/proc/none", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "MPLCONFIGDIR": ""}
    done = command("pairs", few, "-q", "-o", "table.tsv", "--plot", "map.svg", environment=nowhere)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("map.svg").stat().st_size > 0
