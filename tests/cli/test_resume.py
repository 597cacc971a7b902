"""``tropalign pairs``: kills, interrupts and full disks, and the run after them."""

import signal
import subprocess
import sys
import time

import pytest
from kept_parts import parts_in

from tropalign.cli.main import main

SMALL_TILES = {"TROPALIGN_TILE_PAIRS": "20"}


@pytest.fixture
def small_tiles(monkeypatch):
    """Few pairs per tile, so that a run has parts to lose."""
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "4")


def wait_for(condition, process):
    while not condition():
        assert process.poll() is None, "the run ended before it could be stopped"
        time.sleep(0.0005)


def stopped_run(start, held, signal_number, medium, out, n_parts, **options):
    """Stops a run when it has some parts, and never all; gives the process and what is left."""
    directory = out.with_name(out.name + ".parts")
    process = start("pairs", medium, "-o", out, environment=SMALL_TILES | held.environment, **options)
    wait_for(lambda: len(parts_in(directory)) >= n_parts, process)
    process.send_signal(signal_number)
    process.wait(timeout=120)
    return process, directory


@pytest.mark.parametrize("n_parts", [0, 1, 5])
def test_a_killed_run_goes_on(medium, tmp_path, small_tiles, start, held, n_parts):
    whole, out = tmp_path / "whole.tsv", tmp_path / "out.tsv"
    process, directory = stopped_run(start, held, signal.SIGKILL, medium, out, n_parts)
    assert process.returncode == -signal.SIGKILL
    assert not out.exists()
    before = parts_in(directory)
    assert len(before) >= n_parts
    again = start("pairs", medium, "-o", out, environment=SMALL_TILES | held.environment)
    wait_for(lambda: held.holds(again.pid) and len(parts_in(directory)) >= 5, again)
    now = parts_in(directory)
    assert {index: now[index] for index in before} == before  # nothing is computed twice
    held.release()
    assert again.wait() == 0
    assert not directory.exists()
    assert main(["pairs", medium, "-o", str(whole)]) == 0
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["medium.fasta", "out.tsv", "whole.tsv"]


@pytest.fixture
def stopped(few, tmp_path, small_tiles, monkeypatch):
    """A run that stopped after two tiles, its output path and its parts."""
    from tropalign.pairwise import PairsTask

    out, compute = tmp_path / "out.tsv", PairsTask.on_cpu

    def fails(task, tile, *arguments):
        if tile.index == 2:
            raise MemoryError
        return compute(task, tile, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(PairsTask, "on_cpu", fails)
        assert main(["pairs", few, "-o", str(out)]) == 4
    directory = tmp_path / "out.tsv.parts"
    assert list(parts_in(directory)) and not out.exists()
    return out, directory


@pytest.mark.parametrize(
    ("arguments", "difference"),
    [
        (["--gap-open", "5"], "gap_cost was '11 + 1 * residues' and is '5 + 1 * residues'"),
        (["--mode", "global"], "mode was 'local' and is 'global'"),
        (["--matrix", "PAM250"], "matrix was 'BLOSUM62' and is 'PAM250'"),
        (["-f", "paf"], "format was 'tsv' and is 'paf'"),
        (["--min-score", "3"], "min_score was None and is '3'"),
        (["--report", "ends"], "report was 'alignment' and is 'ends'"),
        (["--shard", "1/2"], "shard was 'none' and is '1/2'"),
    ],
)
def test_parts_of_other_parameters_are_refused(few, stopped, arguments, difference, capsys):
    out, directory = stopped
    before = parts_in(directory)
    capsys.readouterr()
    assert main(["pairs", few, "-o", str(out), *arguments]) == 3
    error = capsys.readouterr().err
    assert f"{directory}: this directory holds finished parts of another run ({difference})" in error
    assert error.count("\n") == 1
    assert parts_in(directory) == before and not out.exists()


def test_parts_of_other_sequences_are_refused(few, stopped, capsys):
    out, _ = stopped
    with open(few, "a") as file:
        file.write(">another\nMKVLAAGWHHE\n")
    assert main(["pairs", few, "-o", str(out)]) == 3
    error = capsys.readouterr().err
    assert "(queries was '6 sequences of " in error and "and is '7 sequences of " in error


def test_what_changes_no_result_may_change(few, stopped, tmp_path):
    out, directory = stopped
    assert main(["pairs", few, "-t", "1", "--device", "cpu", "-q", "-o", str(out)]) == 0
    whole = tmp_path / "whole.tsv"
    assert main(["pairs", few, "-o", str(whole)]) == 0
    assert out.read_bytes() == whole.read_bytes() and not directory.exists()


def test_another_amount_of_free_memory_does_not_cut_other_tiles(few, stopped, monkeypatch):
    """The default budget is a share of what is free, which is never twice the same."""
    out, _ = stopped
    monkeypatch.setattr("tropalign.execution.run.default_budget", lambda: 1 << 19)
    assert main(["pairs", few, "-o", str(out)]) == 0


def test_two_runs_do_not_share_parts(medium, few, tmp_path, start, held, capsys):
    out = tmp_path / "out.tsv"
    process = start("pairs", medium, "-o", out, environment=SMALL_TILES | held.environment)
    wait_for(lambda: held.holds(process.pid), process)
    assert main(["pairs", few, "-o", str(out)]) == 3
    assert "another run is writing here" in capsys.readouterr().err


def test_interrupt_with_parts(medium, tmp_path, start, held):
    process, directory = stopped_run(
        start, held, signal.SIGINT, medium, tmp_path / "out.tsv", 1, stderr=subprocess.PIPE, text=True
    )
    assert process.returncode == 130
    assert process.stderr.read() == (
        f"tropalign: interrupted: the same command goes on where this one stopped ({directory} has what is done)\n"
    )
    assert parts_in(directory)


def test_interrupt_in_the_middle_of_a_tile(long, tmp_path, start):
    out = tmp_path / "out.tsv"
    process = start("pairs", long, "-o", out, stderr=subprocess.PIPE, text=True)
    wait_for((tmp_path / "out.tsv.parts" / "manifest.json").exists, process)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)  # a hang, not a speed
    assert process.returncode == 130 and "interrupted" in error and error.count("\n") == 1


def test_interrupt_of_a_pipe(medium, start, held):
    environment = SMALL_TILES | held.environment
    process = start("pairs", medium, environment=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    wait_for(lambda: held.holds(process.pid), process)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 130 and error == "tropalign: interrupted\n"


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
from tropalign.cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize("n_rows", [4, None])
def test_a_full_disk_and_the_run_after_it(few, tmp_path, small_tiles, n_rows):
    """In the first part, or in the last one."""
    whole, out = tmp_path / "whole.tsv", tmp_path / "out.tsv"
    assert main(["pairs", few, "-o", str(whole)]) == 0
    lines = whole.read_bytes().splitlines(keepends=True)
    n_before = sum(line.startswith((b"#", b"query")) for line in lines)
    size = sum(map(len, lines[: None if n_rows is None else n_before + n_rows]))
    command = [sys.executable, "-c", LIMITED, str(size - 1), "pairs", few, "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 4 and not out.exists()
    assert (
        f"tropalign: {out}.parts/section0: the disk is full or the file too large (when writing {size} " in done.stderr
    )
    assert "free space, or write elsewhere with -o; the same command then goes on" in done.stderr
    assert done.stderr.count("\n") == 1
    assert main(["pairs", few, "-o", str(out)]) == 0
    assert out.read_bytes() == whole.read_bytes() and not (tmp_path / "out.tsv.parts").exists()
