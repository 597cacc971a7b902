"""Standard streams that are closed, full, broken off or led to a file."""

import os
import subprocess
import sys

import pytest

from tropalign.cli.main import main

#: Where no OpenCL driver is: `tropalign devices` would test each.
NO_DRIVERS = "/nonexistent"
RUN = f'"{sys.executable}" -m tropalign.cli.main'
FULL = "the disk is full or the file too large"


@pytest.fixture(autouse=True)
def without_drivers(monkeypatch):
    monkeypatch.setenv("OCL_ICD_VENDORS", NO_DRIVERS)


@pytest.fixture
def shell(few, tmp_path):
    """Runs a shell's line, where T stands for the command and $FEW for a file; gives exit code and standard error."""

    def run(line):
        script = f'FEW="{few}"; T() {{ {RUN} "$@"; }}; {line}'
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        return done.returncode, done.stderr

    return run


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("T --version >/dev/full", 4, "standard output: operating system error (No space left on device)"),
        ("T pairs --help >/dev/full", 4, "standard output: operating system error (No space left on device)"),
        ("T devices >/dev/full", 4, "standard output: operating system error (No space left on device)"),
        ("T devices --json >&-", 3, "standard output is closed"),
        ("T db info few.tdb >&-", 3, "standard output is closed: redirect it"),
        ("T db verify few.tdb >&-", 3, "standard output is closed: redirect it"),
        ("T pairs $FEW -f arrow >/dev/full", 4, FULL),
        ("T pairs $FEW >&-", 3, "standard output is closed: name a file with -o"),
        ("T pairs - <&-", 3, "standard input: the stream is closed: pipe data into it, or give a file"),
        ("T pairs - -o few.fasta <few.fasta", 2, "few.fasta is an input"),
        ("T pairs few.fasta >>few.fasta", 2, "standard output is an input"),
        ("T pairs few.fasta --pairs - -o list.tsv <list.tsv", 2, "list.tsv is an input"),
    ],
)
def test_a_sentence_and_a_code(shell, few, tmp_path, line, code, words):
    (tmp_path / "list.tsv").write_text("a b\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    returned, error = shell(line)
    assert (returned, error.count("\n")) == (code, 1) and words in error and "Traceback" not in error
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["devices"], ["pairs", "FEW", "-f", "arrow"]])
def test_a_reader_that_has_gone_is_quiet(few, command, words):
    read, write = os.pipe()
    os.close(read)
    arguments = [few if word == "FEW" else word for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "tropalign.cli.main", *arguments], stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("line", ["T pairs nothing 2>/dev/full", "T pairs nothing 2>&-"])
def test_without_standard_error_the_code_tells(shell, line):
    assert shell(line) == (3, "")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["pairs", "x\x1b[31m.fa"], 3),
        (["pairs", "FEW", "-o", "x\x1b[31m.docx"], 2),
        (["pairs", "FEW", "--x\x1b[31m"], 2),
        (["pairs", "FEW", "--a\nb"], 2),
        (["pairs", "FEW", "--mode", "a\nb"], 2),
        (["merge", "x\x1b[31m"], 3),
    ],
)
def test_messages_move_no_cursor(few, capsys, arguments, code):
    assert main([few if word == "FEW" else word for word in arguments]) == code
    error = capsys.readouterr().err
    assert error[:-1].isprintable() and error.endswith("\n")


def test_of_an_instruction_set_too(few, capsys, monkeypatch):
    monkeypatch.setenv("TROPALIGN_ISA", "\x1b[31m")
    assert main(["pairs", few]) == 4
    assert capsys.readouterr().err[:-1].isprintable()


@pytest.fixture
def no_reader():
    """Standard output whose reader has gone."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


@pytest.mark.parametrize(
    "line",
    [
        "pairs {few} --html {stream} -o {file}.tsv",
        "cluster {few} --min-identity 0.5 --uc {stream} -o {file}.tsv",
        "msa {few} -q -f fasta -o {stream} --tree-out {file}.nwk",
    ],
)
def test_files_beside_a_stream_are_made_although_its_reader_has_gone(line, few, command, tmp_path, no_reader):
    def made(stream, name):
        before = set(tmp_path.iterdir())
        words = line.format(few=few, stream=stream, file=name).split()
        done = command(*words, out=no_reader, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        (path,) = {path for path in set(tmp_path.iterdir()) - before if path.name.startswith(name)}
        return [text for text in path.read_text().splitlines() if not text.startswith("#")]

    assert made("-", "beside") == made(
        "read.html" if "--html" in line else "read.uc" if "--uc" in line else "read.fasta", "alone"
    )


def test_a_run_ends_with_the_reader_of_its_main_output(family, command, tmp_path, no_reader):
    done = command("pairs", family, "--html", tmp_path / "x.html", out=no_reader)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []


def test_names_do_nothing_to_a_terminal(tmp_path, command):
    """They stand there as they are written in Python; a file and a pipe get them as they are."""
    path = tmp_path / "x.fa"
    path.write_bytes(b">a\x1b[31mred\x9d\nMKVLAW\n>b\nMKVLAWG\n".replace(b"\x9d", b"\x07"))
    words = [sys.executable, "-m", "tropalign.cli.main", "pairs", str(path), "-q", "--columns", "query,score"]
    main_end, end = os.openpty()
    subprocess.run(words, stdout=end, check=True)
    os.close(end)
    said = os.read(main_end, 4096)
    os.close(main_end)
    assert b"a\\x1b[31mred\\x07\t" in said and b"\x1b" not in said
    assert b"a\x1b[31mred\x07\t" in subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout
