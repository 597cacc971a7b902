"""``--each``: many files in one run, each as by a command of its own; what became of them, and what a rerun does."""

import gzip
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cli_commands import COMMAND

from tropalign.cli.main import main
from tropalign.verbs.each import stems_of

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture
def families(tmp_path, monkeypatch):
    """Three families of six, and one that is compressed."""
    records = [f">{text}" for text in (EXAMPLES / "efp.fasta").read_text().split(">")[1:]]
    monkeypatch.chdir(tmp_path)
    folder = Path("families")
    folder.mkdir()
    for number in range(3):
        (folder / f"f{number}.fa").write_text("".join(records[number * 6 : number * 6 + 6]))
    (folder / "f3.fa.gz").write_bytes(gzip.compress("".join(records[:4]).encode()))
    return sorted(map(str, folder.iterdir()))


def made(folder):
    """The files of a folder with their contents."""
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def rows(folder="out", name="each.tsv"):
    lines = (Path(folder) / name).read_text().splitlines()
    assert lines[0] == "file\toutput\tstate\tcode\tmessage"
    return [line.split("\t") for line in lines[1:]]


def each(*arguments):
    return main([*map(str, arguments[:1]), "--each", *map(str, arguments[1:])])


def test_a_rerun_does_what_is_missing_or_other(families, monkeypatch):
    from tropalign.verbs import each as module

    done = []
    outcome_of = module.outcome_of
    monkeypatch.setattr(module, "outcome_of", lambda *given: done.append(given[1]) or outcome_of(*given))
    assert each("msa", *families, "-o", "out") == 0
    before, done[:] = made("out"), []
    assert each("msa", *families, "-o", "out") == 0
    assert (made("out"), done) == (before, [])
    Path("out/f0.fasta").unlink()
    Path("out/f1.fasta").write_text("changed")
    with open("families/f2.fa", "a") as file:
        file.write(">new\nMKVLAWGGHE\n")
    assert each("msa", *families, "-o", "out", "-t", "1") == 0
    assert sorted(done) == ["families/f0.fa", "families/f1.fa", "families/f2.fa"]
    assert made("out")["f1.fasta"] == before["f1.fasta"]
    done.clear()
    assert each("msa", *families, "-o", "out", "--refine", "0") == 0
    assert len(done) == 4


def test_a_file_that_changes_while_it_is_read_is_done_again(families, monkeypatch):
    """Files are hashed when their turn comes, before they are read."""
    from tropalign.verbs import each as module

    steps = []
    hash_of_file, ran = module.hash_of_file, module._run_file

    def changing(command, file, *given):
        outcome = ran(command, file, *given)
        steps.append(("run", file))
        if file.endswith("f1.fa"):
            Path(file).write_text(Path(families[0]).read_text())
        return outcome

    monkeypatch.setattr(module, "hash_of_file", lambda file: steps.append(("hash", file)) or hash_of_file(file))
    monkeypatch.setattr(module, "_run_file", changing)
    assert each("msa", *families, "-o", "out", "-t", "1") == 0
    inputs = [(what, file) for what, file in steps if str(file).startswith("families")]
    assert [what for what, _ in inputs] == ["hash", "run"] * 4 and inputs[0][1] == inputs[1][1]
    steps.clear()
    assert each("msa", *families, "-o", "out", "-t", "1") == 0
    assert [file for what, file in steps if what == "run"] == ["families/f1.fa"]


def test_a_killed_run_leaves_whole_files_and_goes_on(families):
    records = Path("families/f0.fa").read_text()
    for number in range(12):
        Path(f"families/g{number}.fa").write_text(records)
    files = sorted(map(str, Path("families").iterdir()))
    assert each("msa", *files, "-o", "whole") == 0
    command = [*COMMAND, "msa", "--each", *files, "-o", "out", "-t", "2"]
    for _ in range(2):
        run = subprocess.Popen(command)
        end = time.monotonic() + 60
        n_before = len(list(Path("out").glob("*.fasta"))) if Path("out").exists() else 0
        while run.poll() is None and time.monotonic() < end:
            if Path("out").exists() and len(list(Path("out").glob("*.fasta"))) > n_before:
                break
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)
        run.wait()
        for path in Path("out").glob("*.fasta"):
            assert path.read_bytes() == Path("whole", path.name).read_bytes()
    assert subprocess.run(command).returncode == 0
    whole = made("whole")
    assert {name: whole[name] for name in whole if name.endswith("a")} == {
        name: data for name, data in made("out").items() if name.endswith("a") and not name.startswith(".f")
    }
    assert not [name for name in made("out") if name.endswith(".part")]


def test_ctrl_c_ends_it_and_the_rerun_goes_on(families):
    for number in range(30):
        shutil.copy("families/f0.fa", f"families/g{number}.fa")
    files = sorted(map(str, Path("families").iterdir()))
    command = [*COMMAND, "msa", "--each", *files, "-o", "out", "-t", "2"]
    run = subprocess.Popen(command, stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while not (Path("out").exists() and list(Path("out").glob("*.fasta"))) and time.monotonic() < end:
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, error = run.communicate(timeout=60)
    assert (run.returncode, error) == (
        130,
        b"tropalign: interrupted: the same command continues where this one stopped\n",
    )
    assert subprocess.run(command).returncode == 0
    assert len(rows()) == len(files)


def test_a_dry_run_writes_nothing(families, capfd):
    assert each("msa", *families, "-o", "out", "--dry-run") == 0
    assert capfd.readouterr().out.startswith("files    4, 0 of them done; ")
    assert not Path("out").exists()


def test_a_full_disk_ends_the_run(families, capfd, monkeypatch):
    import errno

    from tropalign.execution import files as module

    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "sync", full)
    assert each("msa", *families, "-o", "out", "-t", "1") == 4
    said = capfd.readouterr().err
    assert "the disk is full" in said and said.endswith("the same command continues where this one stopped\n")


def test_a_family_too_large_for_its_share_runs_again_with_all(families):
    assert each("msa", *families, "-o", "out", "-t", "3", "--memory", "160M") == 0
    assert [row[2] for row in rows()] == ["done"] * 4


def test_searches(tmp_path, monkeypatch):
    from tropalign.profiles import sources

    monkeypatch.chdir(tmp_path)
    n_read, read = [], sources.queries_in
    monkeypatch.setattr(sources, "queries_in", lambda *given, **named: n_read.append(1) or read(*given, **named))
    records = (EXAMPLES / "efp.fasta").read_text().split(">")[1:]
    for number in range(3):
        Path(f"s{number}.faa").write_text("".join(f">{text}" for text in records[number::3]))
    model = str(EXAMPLES / "efp.hmm")
    for verb in ("search", "scan"):
        words = [model, "--each", "s0.faa", "s1.faa", "s2.faa", "--tblout", ".tbl", "-f", "tsv", "-o", f"{verb}ed"]
        n_read.clear()
        assert main([verb, *words, "-t", "2"]) == 0
        assert len(n_read) == 1
        for number in range(3):
            alone = ["-f", "tsv", "-o", "alone.tsv", "--tblout", "alone.tbl", "--no-comments"]
            assert main([verb, model, f"s{number}.faa", *alone]) == 0
            lines = Path(f"{verb}ed/s{number}.tsv").read_text().splitlines()
            assert [line for line in lines if line[:1] != "#"] == Path("alone.tsv").read_text().splitlines()
            found, other = (Path(path).read_text() for path in (f"{verb}ed/s{number}.tbl", "alone.tbl"))
            assert [line for line in found.splitlines() if line[:1] != "#"] == [
                line for line in other.splitlines() if line[:1] != "#"
            ]


def test_what_all_files_need_is_no_pipe(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    for name in ("a.faa", "b.faa"):
        shutil.copy(EXAMPLES / "efp.fasta", name)
    os.mkfifo("models")
    for path, named in (("-", "standard input"), ("models", "models")):
        assert main(["search", "--each", path, "a.faa", "b.faa", "-o", "out"]) == 2
        sentence = f"{named} can be read only once, but each of the files needs it: write it to a file"
        assert capfd.readouterr().err == f"tropalign: {sentence} (see tropalign search --help)\n"
    assert not Path("out").exists()


def test_samples_are_placed_on_one_reference(tmp_path, monkeypatch):
    from tropalign.placement.reference import ReferencePackage

    monkeypatch.chdir(tmp_path)
    folder = EXAMPLES / "16s"
    records = (folder / "reads.fasta").read_text().split(">")[1:7]
    for number in range(3):
        Path(f"s{number}.fa").write_text("".join(f">{text}" for text in records[number::3]))
    n_read, read = [], ReferencePackage.read
    monkeypatch.setattr(ReferencePackage, "read", lambda *given, **named: n_read.append(1) or read(*given, **named))
    words = ["--reference", str(folder / "ref.phy.gz"), "--tree", str(folder / "ref.nwk")]
    more = ["-o", "out", "-t", "2", "--split", "--table", ".tsv"]
    assert main(["place", *words, *more, "--each", "s0.fa", "s1.fa", "s2.fa"]) == 0
    assert len(n_read) == 1
    for number in range(3):
        assert main(["place", *words, f"s{number}.fa", "-o", "alone.fasta", "--split"]) == 0
        assert Path(f"out/s{number}.fasta").read_bytes() == Path("alone.fasta").read_bytes()
        assert Path(f"out/s{number}.fasta.reference").is_file() and Path(f"out/s{number}.tsv").is_file()


def test_two_runs_into_one_folder(families, capfd):
    import fcntl

    Path("out").mkdir()
    with open("out/.each.jsonl", "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert each("msa", *families, "-o", "out") == 3
    assert capfd.readouterr().err == (
        "tropalign: out: another run is writing here: wait for it, or name another file with -o\n"
    )


def test_unreadable_file(families):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    os.chmod("families/f1.fa", 0)
    assert each("msa", *families, "-o", "out") == 5
    assert [row[2] for row in rows()] == ["done", "failed", "done", "done"]


@pytest.mark.parametrize(
    ("files", "stems"),
    [
        ("a/x.fa b/x.fa", "a_x b_x"),
        ("a/x.fa b/x.fasta.gz c/y.fa", "a_x b_x y"),
        ("in/a/1/x.fa in/b/1/x.fa", "a_1_x b_1_x"),
        ("x.fa a/x.fa", "x a_x"),
        ("./a/x.fa a/../b/x.fa", "a_x b_x"),
        ("a/x.fa a/x.fasta b/x.fa", "x x x"),
        ("a/x.fa a/x.fa", "x x"),
        ("a/X.fa b/x.fa", "X x"),
    ],
)
def test_files_of_one_name_are_told_apart_by_their_folders(files, stems):
    names = files.split()
    found = stems_of(names)
    assert [found[name] for name in names] == stems.split()


def test_two_folders_with_files_of_one_name(families):
    Path("other").mkdir()
    shutil.copy("families/f0.fa", "other/f0.fa")
    assert main(["msa", "--each", "families/f0.fa", "other/f0.fa", "families/f1.fa", "-o", "out", "-q"]) == 0
    assert {path.name for path in Path("out").glob("*.fasta")} == {"families_f0.fasta", "other_f0.fasta", "f1.fasta"}
