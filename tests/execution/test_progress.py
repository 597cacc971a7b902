"""The file of the status: a line at once, few lines, the last one always, and no harm where it cannot be written."""

import errno
import io
import json
import re
import sys
import threading
import time
from itertools import pairwise

import pytest

from tropalign.cli.main import main
from tropalign.execution import progress
from tropalign.execution.files import disk_error
from tropalign.execution.manifest import Manifest
from tropalign.execution.parts import Parts
from tropalign.execution.progress import STATUS, no_progress, progress_bar, stage_bar, status_only, tell_forecast


@pytest.fixture
def status(tmp_path, monkeypatch):
    path = tmp_path / "status.jsonl"
    monkeypatch.setenv(STATUS, str(path))
    return path


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("total", "expected"), [(2_181_500, "1,234,567/2,181,500"), (None, "1,234,567 pairs"), (None, "1 pair ")]
)
def test_a_bar_groups_digits_and_tells_one_from_many(total, expected, monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with progress_bar("pairs", total) as tell:
        tell(1 if expected == "1 pair " else 1_234_567)
    assert expected in re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())


@pytest.mark.parametrize("show", [status_only, progress_bar])
def test_the_first_and_the_last_report_are_there(show, status):
    with show("pairs", 500) as count:
        assert lines(status) == [{"unit": "pairs", "done": 0, "total": 500}]
        for done in range(1, 501):
            count(done)
        assert len(lines(status)) < 50
    assert lines(status)[-1] == {"unit": "pairs", "done": 500, "total": 500}


def test_stages(status):
    with stage_bar(is_quiet=True) as tell:
        tell("posteriors", 0.25)
        tell("refinement", 0.5)
    assert lines(status) == [{"stage": "posteriors", "share": 0.25}, {"stage": "refinement", "share": 0.5}]


def test_lines_come_at_most_five_times_a_second_and_ever_more_slowly(status, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    times = []
    with status_only("pairs", None) as count:
        for step in range(100_000):  # an hour and more
            before = status.stat().st_size
            count(step)
            if status.stat().st_size > before:
                times.append(now[0])
            now[0] += 0.05
    pauses = [b - a for a, b in pairwise(times)]
    assert min(pauses) >= 0.199 and max(pauses) <= 2.06
    assert len(times) < 4000 and lines(status)[-1]["done"] == 99_999


def test_reports_of_several_threads_are_whole_lines(status, monkeypatch):
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    monkeypatch.setattr(progress, "_LINES", 1e12)
    with status_only("pairs", 10) as count:
        threads = [threading.Thread(target=lambda: [count(k) for k in range(500)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(lines(status)) == 2001


def test_a_report_after_the_end_writes_nowhere(status, tmp_path):
    with status_only("pairs", 10) as count:
        pass
    with (tmp_path / "other").open("wb") as other:  # which may have the number of the closed file
        count(7)
        time.sleep(0.25)
        count(8)
        assert other.tell() == 0
    assert (tmp_path / "other").read_bytes() == b""
    assert lines(status) == [{"unit": "pairs", "done": 0, "total": 10}]


def test_numbers_of_numpy_are_numbers(status):
    import numpy as np

    with status_only("pairs", np.int64(3)) as count:
        count(np.int32(2))
    assert lines(status)[-1] == {"unit": "pairs", "done": 2, "total": 3}


@pytest.mark.parametrize("path", ["", "/dev/full", "no/such/folder/x", "x\0y"])
def test_a_place_that_cannot_be_written_is_no_harm(path, monkeypatch):
    if "\0" in path:
        monkeypatch.setattr("os.environ", {STATUS: path})
    else:
        monkeypatch.setenv(STATUS, path)
    tell_forecast({"cells": 1})
    with status_only("pairs", 1) as count, stage_bar(is_quiet=True) as tell:
        for report in filter(None, [count and (lambda: count(1)), tell and (lambda: tell("x", 1.0))]):
            report()


def test_nobody_watches(monkeypatch):
    monkeypatch.delenv(STATUS, raising=False)
    for show in (no_progress, status_only, progress_bar):
        with show("pairs", 1) as count:
            assert count is None


@pytest.mark.parametrize(
    ("words", "last"),
    [
        (["pairs", "examples/efp.fasta"], {"unit": "pairs", "done": 666, "total": 666}),
        (["msa", "examples/efp.fasta"], {"stage": "refinement"}),
        (["cluster", "examples/amplicons.fasta"], {"unit": "sequences", "done": 60, "total": 60}),
        (["search", "examples/efp.hmm", "examples/efp.fasta"], {"unit": "comparisons"}),
        (["tree", "examples/efp_aligned.fasta", "--bootstrap", "5"], {"unit": "samples", "total": 5}),
        (["decode", "--model", "cpg", "examples/cpgislands.fa"], {"unit": "sequences"}),
    ],
)
def test_quiet_commands_tell_too(words, last, status, tmp_path, request, monkeypatch):
    monkeypatch.chdir(request.config.rootpath)
    suffix = {"tree": ".nwk", "msa": ".fa", "search": ".txt"}.get(words[0], ".tsv")
    assert main([*words, "-q", "-o", str(tmp_path / f"out{suffix}")]) == 0
    assert last.items() <= lines(status)[-2].items()
    assert lines(status)[-1] == {"ended": True}


def test_failures_that_can_be_mended_are_told(status, tmp_path, monkeypatch, capsys):
    """By a word: a sentence may be reworded."""
    (tmp_path / "a.fa").write_text(">a\nMKVLA\n>b\nMKILA\n")
    monkeypatch.chdir(tmp_path)
    with Parts(tmp_path / "out.tsv.parts", Manifest("f00d", "cut", 4, {}, 1 << 30)) as parts:
        parts.write(0, [b"x"])
    assert main(["pairs", "a.fa", "-o", "out.tsv"]) == 3
    assert lines(status)[-1] == {"failed": "other-parts"}
    full = disk_error(OSError(errno.ENOSPC, "full"), "out.tsv", 0)
    monkeypatch.setattr("tropalign.verbs.pairs.Pairs.run", raising(full))
    assert main(["pairs", "a.fa", "-o", "out.tsv"]) == 4
    assert lines(status)[-1] == {"failed": "disk-full"}


def raising(error):
    def run(options):
        raise error

    return run


def test_a_command_that_fails_has_not_ended(status, tmp_path):
    assert main(["pairs", str(tmp_path / "none.fa"), "-o", str(tmp_path / "out.tsv")]) == 3
    assert not status.exists()


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (["pairs", "examples/efp.fasta"], {"items": 666}),
        (["cluster", "examples/amplicons.fasta"], {"memory_bytes": None}),
        (["msa", "examples/efp.fasta"], {"items": 37}),
        (["search", "examples/efp.hmm", "examples/efp.fasta"], {"items": 37}),
    ],
)
def test_forecasts_are_told(words, known, status, request, monkeypatch, capsys):
    monkeypatch.chdir(request.config.rootpath)
    assert main([*words, "--dry-run", "-q"]) == 0
    (forecast,) = [line["forecast"] for line in lines(status) if "forecast" in line]
    assert {"ended": True} not in lines(status)
    assert known.items() <= forecast.items()
    assert {*forecast} == {"cells", "items", "seconds", "memory_bytes", "output_bytes"}
    assert f"{forecast['cells']:,}" in capsys.readouterr().out
