"""Commands in sessions of their own: limits, and an end of all that they have started."""

import json
import os
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest
from job_desk import lives, wait_until

from tropalign.serve.work.job_folder import JobFolder, is_alive, started, worker_name
from tropalign.serve.work.watched_command import Bounds, Why, environment, run_watched

BOUNDS = Bounds(30.0, 1 << 30, 1 << 24)


@pytest.fixture
def folder(tmp_path):
    folder = JobFolder(tmp_path / "job")
    folder.make()
    return folder


def python(text):
    return [sys.executable, "-c", textwrap.dedent(text)]


def said(folder):
    return folder.stdout.read_text()


def run(folder, text, bounds=BOUNDS, look=lambda: True):
    return run_watched(python(text), folder, bounds, look)


def test_a_command_runs_in_its_folder_and_knows_nothing(folder, monkeypatch):
    monkeypatch.setenv("SECRET", "of the server")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    monkeypatch.setenv("TROPALIGN_TOKEN", "of the server")
    ended = run(folder, "import os, sys; print(os.getcwd()); print(sorted(os.environ)); print(repr(sys.stdin.read()))")
    assert (ended.code, ended.why) == (0, Why.BY_ITSELF)
    where, names, read = said(folder).splitlines()
    assert where == str(folder.files) and read == "''"
    assert not {"SECRET", "HTTPS_PROXY", "TROPALIGN_TOKEN"} & set(eval(names))
    assert {"HOME", "TMPDIR", "TROPALIGN_STATUS", "TROPALIGN_JOB_FOLDER"} <= set(eval(names))


def test_a_module_of_the_user_is_no_module(folder):
    """A file named like one of Python's modules is data."""
    (folder.files / "json.py").write_text("print('read')")
    module = [sys.executable, "-P", "-m", "tropalign.cli.main", "--version"]
    assert run_watched(module, folder, BOUNDS, lambda: True).code == 0
    assert "read" not in said(folder)


def test_the_environment_of_commands(folder):
    """Where nobody has compiled the package yet, each job would do so anew: most of a second."""
    assert "PYTHONDONTWRITEBYTECODE" not in environment(folder, given={})
    paths = f"src{os.pathsep}{os.pathsep}/else{os.pathsep}"
    for name in ("PYTHONPATH", "LD_LIBRARY_PATH", "PATH"):
        assert environment(folder, given={name: paths})[name] == f"{Path('src').absolute()}{os.pathsep}/else"
    assert "LD_LIBRARY_PATH" not in environment(folder, given={"LD_LIBRARY_PATH": os.pathsep})


def test_a_limit_on_files_cuts_no_bytecode(folder, tmp_path, monkeypatch):
    """Python would keep what of a module's bytecode the limit lets through, and nobody could import it any more."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "large_module.py").write_text(f"text = {'x' * 200_000!r}\n")
    for bounds in (replace(BOUNDS, output_bytes=100_000), BOUNDS):
        ended = run(folder, "import large_module; print(len(large_module.text))", bounds)
        assert (ended.code, said(folder)) == (0, "200000\n")
    assert list((tmp_path / "__pycache__").glob("large_module.*"))


def test_limits_of_the_process(folder):
    ended = run(
        folder,
        """
        import os, resource
        print(resource.getrlimit(resource.RLIMIT_CORE)[0], resource.getrlimit(resource.RLIMIT_FSIZE)[0])
        print(os.nice(0) >= 10, os.getsid(0) == os.getpid())
        """,
    )
    assert (ended.code, said(folder)) == (0, f"0 {1 << 24}\nTrue True\n")


def test_time_ends_a_command_that_does_not_listen(folder, monkeypatch):
    monkeypatch.setattr("tropalign.serve.work.watched_command.GRACE_SECONDS", 0.5)
    ended = run(
        folder,
        """
        import signal, time
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(1)
        """,
        Bounds(1.0, 1 << 30, 1 << 24),
    )
    assert (ended.code, ended.why) == (-9, Why.SECONDS)


def test_a_command_puts_its_parts_away(folder):
    begin = time.monotonic()
    ended = run(
        folder,
        """
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        print("ready", flush=True)
        time.sleep(60)
        """,
        look=lambda: not (folder.stdout.exists() and said(folder)) or time.monotonic() > begin + 30,
    )
    assert (ended.code, ended.why) == (143, Why.ASKED)


def test_memory_of_all_processes_counts(folder):
    ended = run(
        folder,
        """
        import subprocess, sys, time
        hold = "import time; x = bytearray(60 << 20); time.sleep(60)"
        [subprocess.Popen([sys.executable, "-c", hold]) for _ in range(3)]
        time.sleep(60)
        """,
        Bounds(30.0, 150 << 20, 1 << 24),
    )
    assert ended.why is Why.MEMORY and ended.peak_bytes > 150 << 20


def test_pages_of_files_are_no_memory(folder):
    (folder.files / "large").write_bytes(b"x" * (100 << 20))
    ended = run(
        folder,
        """
        import mmap, time
        file = open("large", "rb")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        sum(mapped[k] for k in range(0, len(mapped), 4096))
        time.sleep(0.5)
        """,
        Bounds(30.0, 80 << 20, 1 << 30),
    )
    assert (ended.code, ended.why) == (0, Why.BY_ITSELF) and 0 < ended.peak_bytes < 80 << 20


def test_what_is_written_has_a_limit(folder):
    ended = run(
        folder,
        """
        import time
        for k in range(100):
            with open(f"file{k}", "wb") as file:
                file.write(bytes(1 << 19))
            time.sleep(0.05)
        """,
        Bounds(30.0, 1 << 30, 5 << 20),
    )
    assert ended.why is Why.OUTPUT


def test_what_is_said_without_end_is_cut(folder):
    text = """
        import os, time
        until = time.monotonic() + 2
        while time.monotonic() < until:
            os.write(2, b"x" * 65535 + b"\\n")
            time.sleep(0.005)
        """
    run(folder, text, Bounds(30.0, 1 << 30, 1 << 30))
    assert folder.stderr.stat().st_size < 16 << 20


@pytest.mark.parametrize("session", [False, True])
def test_grandchildren_end_with_the_command(folder, session):
    """Those that went into a session of their own, too."""
    ended = run(
        folder,
        f"""
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session={session})
        print(child.pid)
        """,
    )
    assert ended.code == 0
    wait_until(lambda: not lives(int(said(folder))))  # a kill takes effect when its process is next run


def test_a_command_dies_with_who_started_it(folder, tmp_path):
    text = f"""
        from pathlib import Path
        from tropalign.serve.work.job_folder import JobFolder
        from tropalign.serve.work.watched_command import Bounds, run_watched
        folder = JobFolder(Path({str(folder.path)!r}))
        sleep = ["{sys.executable}", "-c", "import time; time.sleep(60)"]
        run_watched(sleep, folder, Bounds(60.0, 1 << 30, 1 << 24), lambda: True)
        """
    worker = subprocess.Popen(python(text))
    told = folder.path / "process.json"
    wait_until(told.exists)
    pid = json.loads(told.read_text())["pid"]
    assert lives(pid)
    worker.kill()
    worker.wait()
    wait_until(lambda: not lives(pid))


def test_the_next_attempt_ends_what_an_earlier_one_left(folder):
    left = subprocess.Popen(["sleep", "60"], env=environment(folder), start_new_session=True)
    other = subprocess.Popen(["sleep", "60"])
    try:
        wait_until(lambda: b"TROPALIGN_JOB_FOLDER" in Path(f"/proc/{left.pid}/environ").read_bytes())
        folder.make()
        wait_until(lambda: not lives(left.pid))
        assert lives(other.pid)
    finally:
        for process in (left, other):
            process.kill()
            process.wait()


def test_names_of_workers_tell_whether_they_live():
    name = worker_name(os.getpid())
    assert is_alive(name) is True
    host, boot, room, pid, start = name.split(":")
    assert is_alive(f"elsewhere:{boot}:{room}:{pid}:{start}") is None
    assert is_alive(f"{host}:an earlier boot:{room}:{pid}:{start}") is False
    assert is_alive(f"{host}:{boot}:another container:{pid}:{start}") is None
    assert is_alive(f"{host}:{boot}:{room}:{pid}:{int(start) - 1}") is False
    assert is_alive("no name of a worker") is None and is_alive("") is None
    ended = subprocess.Popen(["true"])
    name = worker_name(ended.pid)
    ended.wait()
    assert is_alive(name) is False and started(ended.pid) is None
