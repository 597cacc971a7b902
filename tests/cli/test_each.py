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


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_outputs_are_those_of_commands_alone(families, threads):
    wanted = ("-f", "stockholm", "--tree-out", ".nwk", "--confidence", "_sure.tsv")
    assert each("msa", *families, "-o", "out", "-t", threads, *wanted) == 0
    for number, file in enumerate(families):
        alone = ("-f", "stockholm", "--tree-out", "alone.nwk", "--confidence", "alone.tsv", "-o", "alone.sto")
        assert main(["msa", file, "-t", "1", *alone]) == 0
        assert Path(f"out/f{number}.nwk").read_bytes() == Path("alone.nwk").read_bytes()
        names = (f"out/f{number}.sto", f"out/f{number}.nwk", f"out/f{number}_sure.tsv")
        words = [(names[0], "alone.sto"), (names[1], "alone.nwk"), (names[2], "alone.tsv")]
        for path, other in words:
            said = Path(other).read_text().replace("alone.tsv", names[2]).replace("alone.nwk", names[1])
            assert Path(path).read_text() == said
    assert [row[2:] for row in rows()] == [["done", "0", ""]] * 4
    assert [row[0] for row in rows()] == families


def test_no_number_of_threads_changes_a_byte(families):
    found = []
    for threads in (1, 3):
        assert each("msa", *families, "-o", "out", "-t", threads) == 0
        found.append(made("out"))
        shutil.rmtree("out")
    assert found[0] == found[1]
    assert sorted(found[0]) == [".each.jsonl", "each.tsv", "f0.fasta", "f1.fasta", "f2.fasta", "f3.fasta"]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_bad_file_costs_one_row(families, capfd, threads):
    Path("families/empty.fa").write_text("")
    Path("families/folder").mkdir()
    files = [*families, "families/empty.fa", "families/folder", "families/missing.fa"]
    assert each("msa", *files, "-o", "out", "-t", threads) == 5
    assert capfd.readouterr().err == "tropalign: 3 of 7 files failed: out/each.tsv says why\n"
    found = rows()
    assert [row[2] for row in found] == ["done"] * 4 + ["failed"] * 3
    for row in found[4:]:
        assert main(["msa", row[0], "-o", "alone.fasta"]) == int(row[3]) == 3
        assert capfd.readouterr().err == f"tropalign: {row[4]}\n"
        assert not Path(row[1]).exists()


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
    hash_of_file, ran = module.hash_of_file, module._ran

    def changing(command, file, *given):
        outcome = ran(command, file, *given)
        steps.append(("run", file))
        if file.endswith("f1.fa"):
            Path(file).write_text(Path(families[0]).read_text())
        return outcome

    monkeypatch.setattr(module, "hash_of_file", lambda file: steps.append(("hash", file)) or hash_of_file(file))
    monkeypatch.setattr(module, "_ran", changing)
    assert each("msa", *families, "-o", "out", "-t", "1") == 0
    assert [what for what, _ in steps] == ["hash", "run"] * 4 and steps[0][1] == steps[1][1]
    steps.clear()
    assert each("msa", *families, "-o", "out", "-t", "1") == 0
    assert [file for what, file in steps if what == "run"] == ["families/f1.fa"]


def test_shards_take_files_and_a_rerun_joins_their_tables(families):
    assert each("msa", *families, "-o", "whole") == 0
    for number in (1, 2):
        assert each("msa", *families, "-o", "out", "--shard", f"{number}/2") == 0
        assert [row[0] for row in rows(name=f"each.{number}-of-2.tsv")] == families[number - 1 :: 2]
    assert each("msa", *families, "-o", "out") == 0
    assert made("out")["each.tsv"] == made("whole")["each.tsv"].replace(b"whole/", b"out/")
    assert made("out")["f2.fasta"] == made("whole")["f2.fasta"]


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
        b"tropalign: interrupted: the same command goes on where this one stopped\n",
    )
    assert subprocess.run(command).returncode == 0
    assert len(rows()) == len(files)


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


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["families/f0.fa"], "--each makes files in a folder: name it with -o"),
        (["families/f0.fa", "-", "-o", "out"], "--each takes files, and standard input is none: leave - out"),
        (
            ["families/f0.fa", "families/f0.fa", "-o", "out"],
            "two outputs would be out/f0.fasta (of families/f0.fa, named twice): leave one out, or rename one",
        ),
        (
            ["families/f0.fa", "families/f0.fasta", "-o", "out"],
            "two outputs would be out/f0.fasta (of families/f0.fa and families/f0.fasta): leave one out, or rename one",
        ),
        (
            ["families/f0.fa", "-o", "families"],
            "families/f0.fa lies in families, where the outputs go: name another folder with -o",
        ),
        (
            ["families/f0.fa", "-o", "out", "--html", "x.html"],
            "--html x.html: with --each, give the ending of these files, as in --html .html",
        ),
        (
            ["each.fa", "-o", "out", "--confidence", ".tsv"],
            "out/each.tsv, of each.fa, has the name of --each's own table: rename the file",
        ),
        (
            ["each.1-of-2.fa", "-o", "out", "--confidence", ".tsv"],
            "out/each.1-of-2.tsv, of each.1-of-2.fa, has the name of --each's own table: rename the file",
        ),
        (["families/f0.fa", "-o", "out", "--add", "b.fa"], "--add is not for --each: leave it out"),
        (["families/f0.fa", "-o", "out", "--keep-length"], "--keep-length belongs to --add"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(families, capfd, words, sentence):
    assert each("msa", *words) == 2
    assert capfd.readouterr().err == f"tropalign: {sentence} (see tropalign msa --help)\n"
    assert not Path("out").exists()


def test_the_folder_of_outputs_among_the_files_is_left_out(families):
    for _ in range(2):
        files = sorted(map(str, Path("families").iterdir()))
        assert each("msa", *files, "-o", "families/out") == 0
        assert len(rows("families/out")) == 4


def test_a_folder_that_cannot_be(families, capfd):
    Path("file").write_text("")
    assert each("msa", *families, "-o", "file") == 3
    assert each("msa", *families, "-o", "no/folder") == 3
    assert capfd.readouterr().err == (
        "tropalign: file: this is a file, and --each needs a folder\n"
        "tropalign: no: there is no such directory to make a folder in\n"
    )


def test_what_all_files_fail_for_is_said(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    for name in ("a.faa", "b.faa"):
        shutil.copy(EXAMPLES / "efp.fasta", name)
    assert main(["search", "--each", "missing.hmm", "a.faa", "b.faa", "-o", "out"]) == 5
    assert capfd.readouterr().err == "tropalign: 2 of 2 files failed: missing.hmm: there is no such file\n"
    assert [row[2:] for row in rows()] == [["failed", "3", "missing.hmm: there is no such file"]] * 2


def test_foreign_files_stay(families):
    Path("out").mkdir()
    Path("out/mine.txt").write_text("mine")
    assert each("msa", *families, "-o", "out") == 0
    assert Path("out/mine.txt").read_text() == "mine"


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
    assert "the disk is full" in said and said.endswith("the same command then goes on where this one stopped\n")


def test_a_family_too_large_for_its_share_runs_again_with_all(families):
    assert each("msa", *families, "-o", "out", "-t", "3", "--memory", "160M") == 0
    assert [row[2] for row in rows()] == ["done"] * 4


def test_trees(families):
    assert each("msa", families[0], families[2], "-o", "aligned") == 0
    aligned = sorted(map(str, Path("aligned").glob("*.fasta")))
    assert each("tree", *aligned, "-o", "trees", "--distances-out", ".tsv", "-t", "2") == 0
    for path in aligned:
        name = Path("trees") / Path(path).stem
        assert main(["tree", path, "-o", "alone.nwk", "--distances-out", "alone.tsv"]) == 0
        assert Path(f"{name}.nwk").read_bytes() == Path("alone.nwk").read_bytes()
        assert Path(f"{name}.tsv").read_bytes() == Path("alone.tsv").read_bytes()


def test_a_tree_takes_one_file_without_it(families, capfd):
    assert main(["tree", *families]) == 2
    told = capfd.readouterr().err
    assert "4 files are too many: name one and the output with -o, or add --each to do each of them" in told


def test_searches(tmp_path, monkeypatch):
    from tropalign.profile import api

    monkeypatch.chdir(tmp_path)
    n_read, read = [], api.queries_in
    monkeypatch.setattr(api, "queries_in", lambda *given, **named: n_read.append(1) or read(*given, **named))
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
        sentence = f"{named} can be read only once, and each of the files needs it: write it to a file"
        assert capfd.readouterr().err == f"tropalign: {sentence} (see tropalign search --help)\n"
    assert not Path("out").exists()


def test_genomes_are_decoded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        shutil.copy(EXAMPLES / "cpgislands.fa", f"{name}.fa")
    words = ["--model", "cpg", "-f", "bed"]
    assert main(["decode", *words, "--each", "a.fa", "b.fa", "-o", "out", "--plot", ".svg"]) == 0
    assert main(["decode", *words, "a.fa", "-o", "alone.bed"]) == 0
    assert Path("out/a.bed").read_bytes() == Path("out/b.bed").read_bytes() == Path("alone.bed").read_bytes()
    assert Path("out/b.svg").is_file()


def test_samples_are_placed_on_one_reference(tmp_path, monkeypatch):
    from tropalign.phylo import ReferencePackage

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


def test_warnings_name_the_file(families, capfd):
    Path("families/x.fa").write_text(">a\nMKVLAW\n>a\nMKVLAW\n>b\nMKVL\n")
    code = each("msa", *families, "families/x.fa", "-o", "out")
    said = capfd.readouterr().err
    assert code in (0, 5)
    assert all("families/x.fa" in line or "files failed" in line for line in said.splitlines())


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
