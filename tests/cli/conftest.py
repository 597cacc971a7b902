import os
import subprocess
from pathlib import Path

import pytest
from cli_commands import COMMAND


@pytest.fixture(autouse=True)
def buffered(monkeypatch):
    """Commands buffer their output as users' do, wherever the tests run."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


@pytest.fixture
def family(request):
    """Some tens of proteins of a family."""
    return str(request.config.rootpath / "examples" / "family.fasta")


@pytest.fixture
def n_family(family):
    """How many they are."""
    return Path(family).read_text().count(">")


@pytest.fixture
def amplicons(request):
    """DNA."""
    return str(request.config.rootpath / "examples" / "amplicons.fasta")


@pytest.fixture
def few(family, tmp_path):
    """The first six proteins of the family."""
    path = tmp_path / "few.fasta"
    path.write_text(">" + ">".join(Path(family).read_text().split(">")[1:7]))
    return str(path)


@pytest.fixture
def medium(tmp_path):
    """Proteins that take about a second, in a tile for each of them."""
    path = tmp_path / "medium.fasta"
    path.write_text("".join(f">s{k}\n{'MKVLAAGWHHE' * 150}\n" for k in range(30)))
    return str(path)


@pytest.fixture
def long(tmp_path):
    """Proteins that take many seconds."""
    path = tmp_path / "long.fasta"
    path.write_text("".join(f">s{k}\n{'MKVLAAGWHHE' * 500}\n" for k in range(60)))
    return str(path)


@pytest.fixture
def command():
    """Runs the command in a process of its own."""

    def run(*arguments, stdin=None, out=subprocess.PIPE, environment=None, **options):
        return subprocess.run(
            [*COMMAND, *map(str, arguments)],
            stdin=stdin,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
            **options,
        )

    return run


@pytest.fixture
def start():
    """Starts the command and goes on; what still runs at the end of the test is killed."""
    processes = []

    def popen(*arguments, environment=None, **options):
        process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)], env={**os.environ, **(environment or {})}, **options
        )
        processes.append(process)
        return process

    yield popen
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def on_terminal(start):
    """Standard error of a command that has a terminal there."""

    def run(*arguments):
        master, slave = os.openpty()
        process = start(*arguments, stderr=slave, stdout=subprocess.DEVNULL)
        os.close(slave)
        seen = b""
        while True:
            try:
                data = os.read(master, 4096)
            except OSError:
                break
            if not data:
                break
            seen += data
        os.close(master)
        assert process.wait() == 0
        return seen.decode()

    return run
