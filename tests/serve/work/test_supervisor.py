"""``tropalign serve`` as processes: its address, its folder's lock, its workers, its end."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from job_desk import Desk, family, lives, wait_until

from tropalign.errors import ResourceError
from tropalign.serve.records import State
from tropalign.serve.settings import Settings
from tropalign.serve.work.supervisor import _listening, address_of, check_database, who_may_enter

SERVE = [sys.executable, "-m", "tropalign.cli.main", "serve", "--port", "0"]


@pytest.fixture(autouse=True)
def needed():
    for module in ("fastapi", "uvicorn", "sqlalchemy", "alembic", "argon2", "jinja2"):
        pytest.importorskip(module, reason=f"the server needs {module}: pip install 'tropalign[serve]'")


class Served:
    def __init__(self, folder, *words):
        self.folder = folder
        self.process = subprocess.Popen(
            [*SERVE, "--folder", folder, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.printed = self.process.stdout.readline().strip()
        self.address = self.printed.partition("login?")[0]

    def asked(self, path):
        try:
            with urllib.request.urlopen(self.address + path, timeout=120) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except urllib.error.URLError:
            return 0, None

    def workers(self):
        pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
        return [pid for pid in pids if parent_of(pid) == self.process.pid and lives(pid)]


def parent_of(pid):
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


@pytest.fixture
def serve(tmp_path):
    started = []

    def start(*words, folder=tmp_path / "server"):
        started.append(Served(folder, *words))
        return started[-1]

    yield start
    for served in started:
        served.process.kill()
        served.process.communicate()


def test_a_server_answers_computes_and_ends(serve, tmp_path):
    served = serve("--workers", "2")
    wait_until(lambda: served.asked("readyz") == (200, {"status": "ok"}))
    desk = Desk(Settings(folder=served.folder))
    with desk.storage:
        assert desk.ended(desk.submit(family(6, 10))).state == State.DONE
    workers = served.workers()
    assert len(workers) == 2
    served.process.terminate()
    assert served.process.wait(timeout=120) == 0
    assert not any(map(lives, workers))


def test_the_printed_address_lets_a_browser_in_and_nobody_else(serve):
    served = serve("--workers", "0")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/login\?token=trop_local_[a-z2-7]{52}", served.printed)
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(served.printed, timeout=120) as page:
        assert page.url == served.address and "What do you want to do?" in page.read().decode()
    assert (served.folder / "server.lock").read_text() == f"{served.process.pid}\n{served.address}\n"
    assert served.asked("api/v1/me")[0] == 401
    assert served.asked("api/v1/shared/" + "s" * 20)[0] == 404
    served.process.terminate()
    logged, said = served.process.communicate(timeout=120)
    assert "GET /login?token=... HTTP/1.1" in logged and "GET /api/v1/shared/... HTTP/1.1" in logged
    assert "trop_local" not in logged + said and "sss" not in logged + said
    path = served.folder / "local.token"
    sentence = f"only those who have this address may log in, as the user local: keep it, and {path}, secret"
    assert f"tropalign: {sentence}\n" in said


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"requires_token": True}, "this machine, and proxies on it, reach this address; every user needs a token"),
        ({"host": "0.0.0.0"}, "other machines reach this address; every user needs a token (--add-token)"),
        (
            {"proxy_user_header": "X-User", "trusted_proxies": ("10.0.0.0/8", "::1")},
            "users are identified by X-User from the proxies 10.0.0.0/8, ::1, or by a token",
        ),
    ],
)
def test_the_start_says_who_can_reach_it(tmp_path, changed, sentence):
    settings = Settings(tmp_path, **changed)
    assert not settings.has_local_user or "requires_token" not in changed
    assert who_may_enter(settings, False).startswith(sentence)


def test_a_second_server_and_a_taken_port_are_sentences(serve, tmp_path):
    served = serve("--workers", "0")
    port = served.address.rsplit(":", 1)[1].strip("/")
    second = subprocess.run([*SERVE, "--folder", served.folder], capture_output=True, text=True)
    sentence = "another server uses this folder: use that server, stop it, or choose another --folder"
    assert (second.returncode, second.stderr) == (4, f"tropalign: {served.folder}: {sentence}\n")
    other = [*SERVE, "--port", port, "--folder", tmp_path / "other"]
    second = subprocess.run(other, capture_output=True, text=True)
    sentence = f"tropalign: 127.0.0.1:{port}: the system refuses (Address already in use): choose another --port\n"
    assert (second.returncode, second.stderr) == (4, sentence)


def test_mistakes_at_the_start_are_sentences(tmp_path):
    (tmp_path / "file").write_text("")
    refused = subprocess.run([*SERVE, "--folder", tmp_path / "file" / "x"], capture_output=True, text=True)
    assert refused.returncode == 4 and refused.stderr.count("\n") == 1 and "choose another --folder" in refused.stderr
    words = [*SERVE, "--host", "0.0.0.0", "--folder", tmp_path / "server"]
    refused = subprocess.run(words, capture_output=True, text=True)
    assert refused.returncode == 2 and "make a token first" in refused.stderr


def test_a_worker_that_dies_is_replaced(serve):
    served = serve()
    (worker,) = wait_until(served.workers)
    wait_until(lambda: served.asked("readyz")[0] == 200)
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: served.asked("readyz") == (503, {"error": "no worker is running"}))
    assert wait_until(served.workers) != [worker]
    wait_until(lambda: served.asked("readyz")[0] == 200)


def test_workers_end_with_their_server(serve):
    served = serve("--workers", "2")
    workers = wait_until(lambda: len(found := served.workers()) == 2 and found)
    served.process.kill()
    wait_until(lambda: not any(map(lives, workers)))


def test_ctrl_c_ends_it_gracefully(serve):
    served = serve()
    wait_until(lambda: served.asked("healthz")[0] == 200)
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(timeout=120) == 0
    assert "Traceback" not in served.process.stderr.read()


def test_only_workers_compute_for_a_server_elsewhere(serve, tmp_path):
    served = serve("--workers", "0")
    workers = subprocess.Popen([*SERVE, "--only-workers", "--folder", served.folder])
    try:
        desk = Desk(Settings(folder=served.folder))
        with desk.storage:
            assert desk.ended(desk.submit(family(6, 10))).state == State.DONE
    finally:
        workers.terminate()
        assert workers.wait(timeout=120) == 0


def test_a_folder_of_another_database_is_left_alone(serve, tmp_path):
    """A worker by mistake on another database would take its jobs for nobody's."""
    server = serve()
    other = [*SERVE, "--folder", server.folder, "--only-workers", "--database", f"sqlite:///{tmp_path / 'other.db'}"]
    ended = subprocess.run(other, capture_output=True, text=True, timeout=180)
    assert ended.returncode == 2 and "the files belong to another database: name that database" in ended.stderr
    check_database(tmp_path, b"a")
    check_database(tmp_path, b"a")


def test_addresses(tmp_path):
    assert address_of(Settings(tmp_path), 80) == "http://127.0.0.1:80/"
    assert address_of(Settings(tmp_path, host="::1", root_path="/x"), 80) == "http://[::1]:80/x/"


def test_ipv6(serve):
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6")
    served = serve("--host", "::1")
    wait_until(lambda: served.asked("healthz")[0] == 200)


def test_workers_are_waited_for_once(tmp_path, monkeypatch):
    """The server asks when it is told to end, and again when its pages have ended: a database may answer to nobody."""
    import threading
    import time

    from tropalign.serve.work import supervisor as module

    waited, answers = [], threading.Event()
    monkeypatch.setattr(module, "END_SECONDS", -0.9)
    crew = module.Crew(None, Settings(folder=tmp_path, n_workers=0), True)
    monkeypatch.setattr(crew, "_thread", thread := threading.Thread(target=answers.wait, daemon=True))
    thread.start()
    monkeypatch.setattr(thread, "join", waited.append)
    crew.stop()
    time.sleep(0.15)
    crew.stop()
    answers.set()
    assert 0 < waited[0] <= 0.1 and waited[1] == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_pieces_of_an_answer_go_out_at_once(tmp_path, host):
    """Else the second one waits for what the other side says of the first: 40 ms per page."""
    delays = []

    async def answer(reader, writer):
        made = writer.get_extra_info("socket")
        delays.append(made.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async def ask(listener):
        async with await asyncio.start_server(answer, sock=listener):
            reader, writer = await asyncio.open_connection(*listener.getsockname()[:2])
            await reader.read()
            writer.close()
            await writer.wait_closed()

    with _listening(Settings(tmp_path, host=host, port=0)) as listener:
        asyncio.run(ask(listener))
    assert delays == [1]


def test_a_port_that_is_taken_is_told(tmp_path):
    with _listening(Settings(tmp_path, port=0)) as listener:
        port = listener.getsockname()[1]
        with (
            pytest.raises(ResourceError, match=rf"127\.0\.0\.1:{port}: the system refuses .*: choose another --port"),
            _listening(Settings(tmp_path, port=port)),
        ):
            pass
