"""Real workers of Dask, which are killed, slow or ill while a run goes on."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from kept_parts import parts_in

from tropalign.devices import cluster_pool, dask_cluster
from tropalign.errors import DeviceError, InputError, TropalignWarning

pytest.importorskip("distributed")

from execution.dask_processes import Processes, free_port
from execution.dask_toys import Sleeps
from execution.toys import opener

from tropalign.devices.cluster_pool import ClusterDevice
from tropalign.devices.dask_cluster import Cluster
from tropalign.execution.scheduler import Scheduler

ROOT = Path(__file__).parent.parent
#: Workers import the toys, and tropalign from where this process has it.
PATHS = {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    with Processes(2, tmp_path_factory.mktemp("dask"), environment=PATHS) as started:
        yield started


@pytest.fixture
def cluster(processes):
    found = Cluster(processes.address)
    deadline = time.monotonic() + 60
    while len(found.workers) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
        found.look()
    yield found
    found.close()


def squares(cluster, task, **more):
    results = Scheduler([ClusterDevice(cluster, opener)]).run([task], **more)
    return [result.value for result in results]


def test_results_come_in_order_or_as_they_are_ready(cluster):
    assert squares(cluster, Sleeps(40, 0.01)) == [k * k for k in range(40)]
    assert sorted(squares(cluster, Sleeps(40, 0.01), in_order=False)) == [k * k for k in range(40)]


def test_an_error_of_the_work_ends_the_run(cluster):
    with pytest.raises(InputError, match=r"^a letter that is none"):
        squares(cluster, Sleeps(20, 0.01, wrong=7))
    assert squares(cluster, Sleeps(3, 0.01)) == [0, 1, 4]


def test_workers_that_are_killed_cost_time_alone(cluster, processes):
    rng, is_over = random.Random(3), threading.Event()
    before = processes.n_killed

    def kill():
        while not is_over.wait(rng.uniform(0.3, 1.0)) and processes.n_killed < before + 6:
            processes.kill_worker(rng.randrange(2))

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = squares(cluster, Sleeps(120, 0.1), in_order=False)
    finally:
        is_over.set()
        killer.join()
    assert sorted(found) == [k * k for k in range(120)]
    assert processes.n_killed > before


def test_a_worker_with_a_full_disk_gets_no_more(cluster, processes, monkeypatch):
    monkeypatch.setattr(cluster_pool, "TARGET_SECONDS", 0.1)
    sick = processes.start_worker(TOY_ERROR=str(errno.ENOSPC))
    try:
        deadline = time.monotonic() + 60
        while len(cluster.workers) < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
            cluster.look()
        with pytest.warns(TropalignWarning, match="gets no more tiles, because it failed 3 times"):
            assert squares(cluster, Sleeps(60, 0.1)) == [k * k for k in range(60)]
    finally:
        sick.kill()
        sick.wait()


def test_a_worker_that_hangs_is_not_waited_for(cluster, processes, monkeypatch):
    monkeypatch.setattr(cluster_pool, "LATE_SECONDS", 0.5)
    slow = processes.start_worker(TOY_SECONDS="1000")
    try:
        deadline = time.monotonic() + 60
        while len(cluster.workers) < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
            cluster.look()
        began = time.monotonic()
        assert squares(cluster, Sleeps(60, 0.05)) == [k * k for k in range(60)]
        assert time.monotonic() - began < 500
    finally:
        slow.kill()
        slow.wait()


def test_only_workers_with_a_gpu_count_where_one_is_needed(cluster, processes):
    wants_one = Cluster(processes.address, needs_gpu=True)
    wants_one.look()
    assert (wants_one.workers, wants_one.n_slots) == ([], 0)
    has_one = processes.start_worker("--resources", "GPU=1")
    try:
        deadline = time.monotonic() + 60
        while not wants_one.workers and time.monotonic() < deadline:
            time.sleep(0.1)
            wants_one.look()
        assert wants_one.n_slots == 1
        assert squares(wants_one, Sleeps(5, 0.01)) == [k * k for k in range(5)]
    finally:
        wants_one.close()
        has_one.kill()
        has_one.wait()


@pytest.mark.parametrize("seconds", [0, 5])
def test_a_scheduler_that_comes_back_is_joined_again(processes, seconds, monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1.0 if seconds else 30.0)  # once it is given up, too
    cluster = Cluster(processes.address)
    results = Scheduler([ClusterDevice(cluster, opener)]).run([Sleeps(60, 0.1)])
    found = [next(results).value]
    processes.restart_scheduler(seconds)
    found += [result.value for result in results]
    cluster.close()
    assert found == [k * k for k in range(60)]


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.5)
    with pytest.raises(DeviceError, match="no Dask scheduler answers at tcp://127"):
        Cluster(f"tcp://127.0.0.1:{free_port()}")


def test_a_refused_connection_is_told_at_once(monkeypatch):
    def asked(cluster, address):
        raise AssertionError("Dask would go on trying")

    monkeypatch.setattr(dask_cluster, "REFUSED_SECONDS", 0.2)
    monkeypatch.setattr(Cluster, "_client_at", asked)
    sentence = (
        r"no Dask scheduler answers at tcp://127.0.0.1:\d+ \(.*refused\): start one with dask scheduler, and workers"
    )
    with pytest.raises(DeviceError, match=sentence):
        Cluster(f"tcp://127.0.0.1:{free_port()}")


def test_a_wait_is_told(monkeypatch):
    monkeypatch.setattr(dask_cluster, "REFUSED_SECONDS", 0.1)
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.5)
    with (
        socket.create_server(("127.0.0.1", 0)) as mute,  # takes connections and says nothing
        pytest.warns(TropalignWarning, match="waiting up to 0.5 s for the Dask scheduler at tcp://127"),
        pytest.raises(DeviceError, match="no Dask scheduler answers"),
    ):
        Cluster(f"tcp://127.0.0.1:{mute.getsockname()[1]}")


@pytest.mark.parametrize("text", ["no JSON", "[1]", '{"type": "Scheduler"}', '{"address": 5}', None])
def test_a_file_without_an_address_is_named(text, tmp_path, monkeypatch):
    for name in ("CONNECT_SECONDS", "LOOK_SECONDS"):
        monkeypatch.setattr(dask_cluster, name, 0.3)
    path = tmp_path / "scheduler.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DeviceError, match=r"scheduler.json \(th(ere is no such file|is file contains no scheduler)"):
        Cluster(str(path))


def test_a_file_may_be_written_a_moment_later(processes, tmp_path):
    path = tmp_path / "scheduler.json"
    later = threading.Timer(0.3, lambda: path.write_text(json.dumps({"address": processes.address})))
    later.start()
    found = Cluster(str(path))
    assert found.name == str(path)
    found.close()
    later.join()


def test_what_answers_and_is_no_scheduler_is_named(monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as mute:  # takes connections and says nothing
        port = mute.getsockname()[1]
        with pytest.raises(DeviceError, match="no Dask scheduler answers at tcp://127"):
            Cluster(f"tcp://127.0.0.1:{port}")
    page = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    thread = threading.Thread(target=page.serve_forever, daemon=True)
    thread.start()
    try:
        with pytest.raises(DeviceError, match="the program there is not a Dask scheduler"):
            Cluster(f"tcp://127.0.0.1:{page.server_port}")
    finally:
        page.shutdown()
        page.server_close()
        thread.join()


def test_workers_without_tropalign_are_named(tmp_path):
    lacking = tmp_path / "tropalign"
    lacking.mkdir()
    (lacking / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'tropalign'\")\n")
    path = {"PYTHONPATH": str(tmp_path)}
    tried = subprocess.run([sys.executable, "-c", "import tropalign"], env={**os.environ, **path}, capture_output=True)
    if tried.returncode == 0:
        pytest.skip("this Python finds tropalign whatever PYTHONPATH says")
    with Processes(1, tmp_path, environment=path) as started:
        found = Cluster(started.address)
        with pytest.raises(DeviceError, match=r"No module named 'tropalign'.*: install tropalign .* on the machines"):
            squares(found, Sleeps(3, 0.01))
        found.close()


def test_an_address_that_is_none_costs_a_sentence(tmp_path):
    command = [sys.executable, "-m", "tropalign.cli.main", "pairs", "examples/family.fasta", "-q"]
    command += ["-o", str(tmp_path / "out.tsv"), "--cluster", "tcp://host:port"]
    run = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT.parent)
    assert run.returncode == 4
    assert run.stderr.startswith("tropalign: no Dask scheduler answers at tcp://host:port")
    assert len(run.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_client_that_is_killed_goes_on(processes, tmp_path, how):
    letters = random.Random(1)
    fasta = tmp_path / "p.fa"
    fasta.write_text("".join(f">s{k}\n{''.join(letters.choices('ACDEFGHIKLMNPQRSTVWY', k=120))}\n" for k in range(300)))
    command = [sys.executable, "-m", "tropalign.cli.main", "pairs", str(fasta), "-q", "-o"]
    environment = {**os.environ, **PATHS, "TROPALIGN_TILE_PAIRS": "500"}
    subprocess.run([*command, str(tmp_path / "one.tsv")], check=True, env=environment)
    command += [str(tmp_path / "many.tsv"), "--cluster", processes.address]
    run = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=_takes_ctrl_c)
    parts = tmp_path / "many.tsv.parts"
    deadline = time.monotonic() + 120
    while len(parts_in(parts)) < 3 and time.monotonic() < deadline and run.poll() is None:
        time.sleep(0.01)
    run.send_signal(how)
    said = run.communicate(timeout=60)[1]
    if how == signal.SIGINT and run.returncode != 0:  # it may have been done
        assert run.returncode == 130
        assert "goes on where this one stopped" in said
    again = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)
    assert (again.returncode, again.stderr) == (0, "")
    assert (tmp_path / "many.tsv").read_bytes() == (tmp_path / "one.tsv").read_bytes()
    assert not parts.exists()


def _takes_ctrl_c():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a parent may have had it ignore
