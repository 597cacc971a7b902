"""Web hooks: which addresses may be called, and calls to a receiver of these tests that fails as others do."""

import http.server
import json
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
pytest.importorskip("fastapi", reason="the server's modules are not installed: pip install 'tropalign[serve]'")

from serve.storage.storage_files import Clock, new_job, run_next, submit
from serve.work.job_desk import wait_until

from tropalign.cli.main import main
from tropalign.errors import UsageError
from tropalign.serve import notices
from tropalign.serve.notices import call, check_hook, hook_host, is_public
from tropalign.serve.records import Job, State
from tropalign.serve.settings import Limits, Settings
from tropalign.serve.storage import Storage
from tropalign.serve.storage.job_rows import CLAIM_SECONDS, PAUSES
from tropalign.serve.work import supervisor

JOB = Job("id", "ann", "pairs", "mine", (), State.DONE, "k", {}, "command", "1", 0.0, finished=60.0)
TOLD = {
    "job": "id", "verb": "pairs", "title": "mine", "state": "done", "message": "",
    "finished": "1970-01-01T00:01:00+00:00",
}  # fmt: skip


@pytest.fixture
def receiver():
    """A server that keeps what it is sent, and answers as it is told."""

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            if "/hangs" in self.path:
                server.n_hanging += 1
                server.goes_on.wait(60)
                return
            data = self.rfile.read(int(self.headers["Content-Length"]))
            server.seen.append((self.path, self.headers["Content-Type"], json.loads(data)))
            self.send_response(server.status)
            if server.status == 302:
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.seen, server.status, server.goes_on = [], 204, threading.Event()
    server.n_hanging = 0
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.host = f"localhost:{server.server_address[1]}"
    server.url = f"http://{server.host}/hook?x=1"
    yield server
    server.goes_on.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("url", "hosts", "sentence"),
    [
        ("https://a.example/x", (), "this server does not call web hooks: ask its operator"),
        ("https://b.example/x", ("a.example",), "web hooks are called at a.example only"),
        ("https://a.example:22/x", ("a.example",), r"a.example only \(no port means the usual one\)"),
        ("http://a.example/x", ("a.example:443", "b.example"), "at a.example:443 and b.example only"),
        ("http://a.example:443/x", ("a.example",), "at a.example only"),
        ("https://a.example:0/x", ("a.example",), "at a.example only"),
        ("http://b.example/x", ("*",), "called by HTTPS at the usual port"),
        ("https://b.example:22/x", ("*",), "called by HTTPS at the usual port"),
        ("ftp://a.example/x", ("*",), "an address like https"), ("file:///etc/passwd", ("*",), "an address like https"),
        ("https://u:p@a.example/", ("a.example",), "cannot have a user or"),
        ("https://a.example/#x", ("*",), "cannot have"),
        ("https://[::1]/", ("*",), "an address like https"), ("https://a.example:x/", ("*",), "is not an address"),
        ("https://a.example/ x", ("*",), "without blanks"), ("https://a.example/\r\nX: y", ("*",), "without blanks"),
        ("https://é.example/", ("*",), "ASCII characters"), ("https://a.example/" + "x" * 500, ("*",), "at most 500"),
    ],
)  # fmt: skip
def test_an_address_that_may_not_be_called_is_refused(url, hosts, sentence):
    with pytest.raises(UsageError, match=sentence):
        check_hook(url, hosts)


def test_addresses_that_may_be_called():
    check_hook("https://hooks.example/T0/B1?key=2", ("*",))
    check_hook("http://chat.local:8065/hooks/1", ("Chat.local:8065",))
    check_hook("http://chat.local/hooks/1", ("chat.local",))
    check_hook("https://chat.local:443/hooks/1", ("chat.local",))
    words = ["*", "Chat.Local", "10.0.0.1:08025"]
    assert list(map(hook_host, words)) == ["*", "chat.local", "10.0.0.1:8025"]
    assert is_public("93.184.215.14") and is_public("2606:2800:21f:cb07:6820:80da:af6b:8b2c")


@pytest.mark.parametrize(
    "word",
    ["https://x.org", "*.example.org", "", "a b", "a:", "a:x", "a:0", "a:65536", "a:1:2", ":80", "[::1]", "*:80", "é"],
)
def test_words_that_are_no_host_are_refused_at_the_start(word, capsys):
    assert main(["serve", "--add-token", "ann", "--hook-host", word]) == 2
    assert "is not a host: write chat.example.org, localhost:8025, or * for any" in capsys.readouterr().err


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "255.255.255.255", "192.0.0.8", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
     "64:ff9b::a00:1",
     "2002:a00:1::", "2001:0:a00:1::", "192.88.99.1", "::ffff:192.88.99.1", "fec0::1", "feff::1", "3fff::1"],
)  # fmt: skip
def test_addresses_that_are_not_public(address):
    assert not is_public(address)


def test_a_name_with_a_private_address_is_not_called(monkeypatch):
    """Whichever of its addresses that is, and however the name is written."""
    places = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 443)) for one in ("93.184.215.14", "127.0.0.1")]
    monkeypatch.setattr(notices.socket, "getaddrinfo", lambda *words, **more: places)
    monkeypatch.setattr(notices.socket, "create_connection", lambda *words, **more: pytest.fail("it was called"))
    assert "has an address that is not public" in call("https://evil.example/", ("*",), JOB)
    for url in ("https://127.0.0.1/", "https://2130706433/", "https://0x7f.1/"):
        assert call(url, ("*",), JOB) != ""


def test_a_call_tells_of_the_job(receiver):
    assert call(receiver.url, (receiver.host,), JOB) == ""
    assert receiver.seen == [("/hook?x=1", "application/json", TOLD)]


def test_addresses_of_a_host_are_tried_in_turn(receiver, monkeypatch):
    port = receiver.server_address[1]
    places = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{n}", port)) for n in (3, 3, 2, 1)]
    monkeypatch.setattr(notices.socket, "getaddrinfo", lambda *words, **more: places)
    tried, connect = [], socket.create_connection

    def connected(place, timeout):
        tried.append(place[0])
        assert timeout <= notices.SECONDS
        if place[0] != "127.0.0.1":
            raise ConnectionRefusedError("refused")
        monkeypatch.undo()
        return connect(place, timeout)

    monkeypatch.setattr(notices.socket, "create_connection", connected)
    assert call(receiver.url, (receiver.host,), JOB) == ""
    assert tried == ["127.0.0.3", "127.0.0.2", "127.0.0.1"] and len(receiver.seen) == 1


def test_failures_are_said_and_no_redirection_is_followed(receiver):
    receiver.status = 302
    assert call(receiver.url, (receiver.host,), JOB) == "it answered 302"
    assert len(receiver.seen) == 1
    assert "refused" in call("http://localhost:1/", ("localhost:1",), JOB)
    assert "SSL" in call(receiver.url.replace("http:", "https:"), (receiver.host,), JOB)
    assert call(receiver.url, ("other.example",), JOB).startswith("UsageError")  # the operator has changed the rules


@pytest.mark.parametrize(
    ("scheme", "head"),
    [("http", b"HTTP/1.1 200 OK\r\nX: "), ("https", b"\x16\x03\x03\x20\x00\x02\x00\x1f\xfc\x03\x03")],
)  # of TLS the begin of a record with the server's first words
def test_an_answer_that_drips_is_not_waited_for(scheme, head, monkeypatch):
    monkeypatch.setattr(notices, "SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip():
            taken, _ = listener.accept()
            with taken:
                for letter in head + b"y" * 1000:
                    try:
                        taken.sendall(bytes([letter]))
                    except OSError:
                        return
                    time.sleep(0.1)

        thread = threading.Thread(target=drip)
        thread.start()
        begin = time.monotonic()
        host = f"localhost:{listener.getsockname()[1]}"
        assert call(f"{scheme}://{host}/", (host,), JOB) != ""
        assert time.monotonic() - begin < 30
        thread.join()


def test_hooks_are_called_at_the_end_and_again_after_failures(storage):
    clock = storage.hooks._clock = Clock()
    job = storage.jobs.submit(replace(new_job(storage), hook="https://a.example/"), Limits())[0]
    assert storage.hooks.claim(9) == ()
    run_next(storage)
    for pause in PAUSES:
        (hook,) = storage.hooks.claim(9)
        assert (hook.job.id, hook.job.state, hook.url) == (job.id, State.DONE, "https://a.example/")
        assert storage.hooks.called(hook, False) is True and storage.hooks.claim(9) == ()
        clock.now += pause
    (hook,) = storage.hooks.claim(9)
    assert storage.hooks.called(hook, False) is False
    clock.now += 1e6
    assert storage.hooks.claim(9) == ()


def test_a_claimed_hook_is_nobody_elses_for_a_while(storage):
    clock = storage.hooks._clock = Clock()
    submit(storage, hook="https://a.example/")
    run_next(storage)
    assert len(storage.hooks.claim(9)) == 1 and storage.hooks.claim(9) == ()
    clock.now += CLAIM_SECONDS
    (hook,) = storage.hooks.claim(9)
    assert hook.tries == 0  # whoever had it has died


def test_two_who_claim_at_once_get_no_hook_twice(storage):
    for owner in "abcdefgh":
        submit(storage, owner, owner, hook="https://a.example/")
        run_next(storage)
    with ThreadPoolExecutor(4) as pool:
        claims = list(pool.map(lambda _: storage.hooks.claim(3), range(8)))
    owners = [hook.job.owner for claim in claims for hook in claim]
    assert sorted(owners) == list("abcdefgh")


def test_one_hook_of_each_user_at_a_time_and_what_has_failed_comes_last(storage):
    clock = storage.hooks._clock = Clock()
    for owner, url in (("ann", "1"), ("ann", "2"), ("ann", "3"), ("bob", "4"), ("eve", "5")):
        submit(storage, owner, url, hook=url)
    for _ in range(5):
        run_next(storage)

    def claimed(most, busy=()):
        return [hook.url for hook in storage.hooks.claim(most, busy)]

    (failed,) = storage.hooks.claim(1)
    assert failed.url == "1" and storage.hooks.called(failed, False)
    clock.now += PAUSES[0]
    assert claimed(9, {"ann", "eve"}) == ["4"]
    assert claimed(2) == ["2", "5"]
    assert claimed(9) == ["3"] and claimed(9) == ["1"] and claimed(9) == []


def test_a_messenger_calls_and_gives_up(tmp_path, receiver, monkeypatch):
    monkeypatch.setattr(supervisor, "HOOK_SECONDS", 0.02)
    monkeypatch.setattr("tropalign.serve.storage.job_rows.PAUSES", ())
    settings = Settings(folder=tmp_path / "served", hook_hosts=(receiver.host,))
    with Storage.open(settings) as storage:
        caller = supervisor.Messenger(storage, settings, True)
        caller.start()
        for status in (200, 500):
            receiver.status = status
            job = submit(storage, key=str(status), hook=receiver.url)
            run_next(storage)
            wait_until(lambda job=job: [told["job"] for _, _, told in receiver.seen[-1:]] == [job.id])
        wait_until(lambda: list(storage.audit.entries()))
        noted = [(entry.action, entry.object, entry.detail) for entry in storage.audit.entries()]
        assert noted == [("hook given up", job.id, "localhost")]
        caller.stop()


def test_slow_hooks_hold_up_no_other_user(tmp_path, receiver, monkeypatch):
    monkeypatch.setattr(supervisor, "HOOK_SECONDS", 0.02)
    settings = Settings(folder=tmp_path / "served", hook_hosts=(receiver.host,))
    with Storage.open(settings) as storage:
        for n in range(2 * supervisor.N_CALLS):
            submit(storage, "ann", f"a{n}", hook=f"http://{receiver.host}/hangs")
        for n in range(2 * supervisor.N_CALLS):
            submit(storage, "bob", f"b{n}", hook=receiver.url)
        for _ in range(4 * supervisor.N_CALLS):
            run_next(storage)
        caller = supervisor.Messenger(storage, settings, True)
        begin = time.monotonic()
        caller.start()
        wait_until(lambda: len(receiver.seen) == 2 * supervisor.N_CALLS)
        assert time.monotonic() - begin < notices.SECONDS
        assert {path for path, _, _ in receiver.seen} == {"/hook?x=1"}
        caller.stop()


def test_the_end_of_a_server_waits_for_no_call(tmp_path, receiver):
    with Storage.open(Settings(folder=tmp_path / "served")) as storage:
        for owner in map(str, range(20)):
            submit(storage, owner, owner, hook=f"http://{receiver.host}/hangs")
            run_next(storage)
    command = [sys.executable, "-m", "tropalign", "serve", "--port", "0", "--workers", "0", "--folder"]
    command += [str(tmp_path / "served"), "--hook-host", receiver.host]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        try:
            wait_until(lambda: receiver.n_hanging > 4)
            begin = time.monotonic()
            server.terminate()
            server.communicate(timeout=60)
            assert time.monotonic() - begin < notices.SECONDS / 2
        finally:
            server.kill()
