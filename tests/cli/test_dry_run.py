"""What a run says beforehand (``--dry-run``) and at its end."""

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from cli_commands import COMMAND

from tropalign.cli.main import main
from tropalign.execution.forecast import forecast
from tropalign.execution.task import Tile
from tropalign.sequences import read_sequences

EXAMPLES = Path(__file__).parents[2] / "examples"


def foretold(words, capsys):
    assert main([*words, "--dry-run"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return dict(line.split(maxsplit=1) for line in said.out.splitlines())


def test_pairs_are_counted_and_nothing_is_written(family, tmp_path, capsys):
    out = tmp_path / "all.tsv.gz"
    said = foretold(["pairs", family, "-o", str(out)], capsys)
    lengths = read_sequences(family).lengths
    cells = (int(lengths.sum()) ** 2 - int((lengths**2).sum())) // 2
    n = len(lengths)
    assert said["cells"] == f"{cells:,} for {n * (n - 1) // 2:,} pairs"
    assert re.fullmatch(r"[0-9.]+ s on cpu, [0-9.]+ billion cells per second", said["time"])
    assert "is allowed" in said["memory"]
    assert said["output"].endswith(f"of tsv before it is compressed: {out}")
    assert list(tmp_path.iterdir()) == []


def test_the_size_of_the_output_is_about_right(family, tmp_path, capsys):
    out = tmp_path / "all.paf"
    said = foretold(["pairs", family, "-o", str(out)], capsys)
    number, unit = said["output"].split()[:2]
    assert main(["pairs", family, "-o", str(out), "-q"]) == 0
    expected = float(number) * {"B": 1, "KiB": 1024, "MiB": 1 << 20}[unit]
    assert expected == pytest.approx(out.stat().st_size, rel=0.1)


def test_search_and_place(tmp_path, capsys):
    said = foretold(["search", str(EXAMPLES / "efp.hmm"), str(EXAMPLES / "efp.fasta")], capsys)
    assert said["cells"].endswith("for 37 comparisons")
    folder = EXAMPLES / "16s"
    kept = tmp_path / "kept.ref"
    words = ["place", "--reference", str(folder / "ref.phy.gz"), "--tree", str(folder / "ref.nwk")]
    words += [str(folder / "reads.fasta"), "--save-reference", str(kept), "-o", str(tmp_path / "x.fasta")]
    said = foretold(words, capsys)
    assert said["cells"].endswith("for 400 reads")
    assert list(tmp_path.iterdir()) == []


class Trial:
    """A run of tiles that cost what they say, of which pieces of ten cells can be made."""

    def __init__(self, cells, can_split=True):
        self.task, self.cells, self.can_split, self.computed = self, cells, can_split, []

    def tiles(self):
        return iter([Tile(k, cells, 7 * cells, cells, None) for k, cells in enumerate(self.cells)])

    def split(self, tile):
        half = tile.cost_cells // 2
        return (
            [Tile(tile.index, n, 7 * n, n, None) for n in (half, tile.cost_cells - half)]
            if half and self.can_split
            else []
        )

    def join(self, tile, results):
        raise AssertionError("nothing is joined")

    def on_cpu(self, tile, n_threads, progress=None):
        raise AssertionError("the device computes")

    def compute(self, task, tile, progress=None):
        self.computed.append(tile.cost_cells)
        return tile

    def encoded(self, result):
        return [b"x" * min(3 * result.n_items, 3_000_000)]


def test_every_tile_is_counted_and_outputs_grow_with_the_items(monkeypatch):
    monkeypatch.setattr("tropalign.execution.forecast.SAMPLE_SECONDS", 0.01)
    run = Trial([1000, 5000, 300])
    found = forecast(run, run)
    assert (found.n_tiles, found.n_items, found.cost_cells, found.most_tile_bytes) == (3, 6300, 6300, 35000)
    assert found.output_bytes == pytest.approx((18900.0,))


def test_a_tile_that_is_far_too_large_is_not_tried():
    run = Trial([10**12], can_split=False)
    found = forecast(run, run)
    assert found.seconds is None
    assert run.computed == []


def on_a_terminal(words):
    """What a command writes to a terminal."""
    main_end, end = pty.openpty()
    done = subprocess.run([*COMMAND, *words], stderr=end, stdout=subprocess.DEVNULL, check=True)
    os.close(end)
    said = b""
    try:
        while chunk := os.read(main_end, 4096):
            said += chunk
    except OSError:  # the terminal is gone
        pass
    os.close(main_end)
    assert done.returncode == 0
    return said.decode()


def test_the_last_line_on_a_terminal(few, tmp_path):
    out = tmp_path / "few.tsv"
    last = on_a_terminal(["pairs", few, "-o", str(out)]).strip().splitlines()[-1]
    assert re.search(r"15 pairs in [0-9.]+ s \([0-9.]+ GCUPS\): .*few.tsv \([0-9.]+ [KM]?i?B\)$", last)
    assert on_a_terminal(["pairs", few, "-o", str(out), "-q"]) == ""


def test_a_family(family, tmp_path, capsys):
    said = foretold(["msa", family, "-o", str(tmp_path / "x.sto")], capsys)
    assert said["cells"].endswith("sequences")
    assert re.fullmatch(r"[0-9.]+ s on cpu, [0-9.]+ billion cells per second", said["time"])
    assert list(tmp_path.iterdir()) == []
    assert main(["msa", family, "--method", "clustalw", "--dry-run"]) == 2
    assert "leave it out" in capsys.readouterr().err


def test_clusters_are_foretold_from_clusters(tmp_path, capsys):
    amplicons = str(EXAMPLES / "amplicons.fasta")
    for words in ([], ["--strand", "both"], ["--method", "average"]):
        said = foretold(["cluster", amplicons, *words, "-o", str(tmp_path / "x.tsv")], capsys)
        assert re.fullmatch("[0-9,]+ for [0-9,]+ alignments of 60 sequences", said["cells"])
        assert re.fullmatch(r"[0-9.]+ s on cpu, [0-9.]+ billion cells per second", said["time"])
    assert list(tmp_path.iterdir()) == []


def test_epa_ng_is_not_foretold_and_nothing_is_left(tmp_path, capsys):
    folder, out = EXAMPLES / "16s", tmp_path / "x.jplace"
    words = ["place", "--reference", str(folder / "ref.phy.gz"), "--tree", str(folder / "ref.nwk")]
    words += [str(folder / "reads.fasta"), "--pipeline", "epa-ng", "--model", "GTR+G", "--jplace", str(out)]
    said = foretold(words, capsys)
    assert said["epa-ng"] == f"continues with these reads and writes {out}: its time and memory are not estimated"
    assert list(tmp_path.iterdir()) == []


def test_the_last_line_of_clusters_and_trees(few, tmp_path):
    out = tmp_path / "few.tsv"
    last = on_a_terminal(["cluster", few, "-o", str(out)]).strip().splitlines()[-1]
    n_clusters = len({line.split("\t")[0] for line in out.read_text().splitlines() if not line.startswith("#")}) - 1
    assert re.search(rf"6 sequences, {n_clusters} clusters in [0-9.]+ s: .*few.tsv \([0-9.]+ [KM]?i?B\)$", last)
    last = on_a_terminal(["tree", few, "--unaligned", "-o", str(tmp_path / "few.nwk")]).strip().splitlines()[-1]
    assert re.search(r"6 taxa in [0-9.]+ s: .*few.nwk \([0-9.]+ B\)$", last)
