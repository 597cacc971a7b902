"""Web hooks: which addresses may be called, and calls to a receiver of these tests that fails as others do."""

import http.server
import json
import socket
import threading
import time

import pytest

pytest.importorskip("sqlalchemy", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
pytest.importorskip("fastapi", reason="the server's modules are not installed: pip install 'tropalign[serve]'")

from tropalign.errors import UsageError
from tropalign.serve import hook_calls
from tropalign.serve.hook_calls import call, check_hook, is_public
from tropalign.serve.records import Job, State
from tropalign.serve.settings import Limits, Settings
from tropalign.serve.storage.hooks import PAUSES

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
            data = self.rfile.read(int(self.headers["Content-Length"]))
            server.seen.append((self.path, self.headers["Content-Type"], json.loads(data)))
            self.send_response(server.status)
            if server.status == 302:
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.seen, server.status = [], 204
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.url = f"http://localhost:{server.server_address[1]}/hook?x=1"
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("url", "hosts", "sentence"),
    [
        ("https://a.example/x", (), "this server calls no web hooks: ask its operator"),
        ("https://b.example/x", ("a.example",), "web hooks are called at a.example alone"),
        ("http://b.example/x", ("*",), "called by HTTPS at its usual port"),
        ("https://b.example:22/x", ("*",), "called by HTTPS at its usual port"),
        ("ftp://a.example/x", ("*",), "an address like https"), ("file:///etc/passwd", ("*",), "an address like https"),
        ("https://u:p@a.example/", ("a.example",), "neither a user nor"), ("https://a.example/#x", ("*",), "neither"),
        ("https://[::1]/", ("*",), "an address like https"), ("https://a.example:x/", ("*",), "is no address"),
        ("https://a.example/ x", ("*",), "without blanks"), ("https://a.example/\r\nX: y", ("*",), "without blanks"),
        ("https://é.example/", ("*",), "letters of ASCII"), ("https://a.example/" + "x" * 500, ("*",), "500 letters"),
    ],
)  # fmt: skip
def test_an_address_that_may_not_be_called_is_refused(url, hosts, sentence):
    with pytest.raises(UsageError, match=sentence):
        check_hook(url, hosts)


def test_addresses_that_may_be_called():
    check_hook("https://hooks.example/T0/B1?key=2", ("*",))
    check_hook("http://chat.local:8065/hooks/1", ("Chat.local",))


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "64:ff9b::a00:1",
     "2002:a00:1::", "2001:0:a00:1::"],
)  # fmt: skip
def test_addresses_that_are_not_public(address):
    assert not is_public(address)


def test_public_addresses():
    assert is_public("93.184.215.14") and is_public("2606:2800:21f:cb07:6820:80da:af6b:8b2c")


def test_a_name_with_a_private_address_is_not_called(monkeypatch):
    """Whichever of its addresses that is, and however the name is written."""
    places = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 443)) for one in ("93.184.215.14", "127.0.0.1")]
    monkeypatch.setattr(hook_calls.socket, "getaddrinfo", lambda *words, **more: places)
    monkeypatch.setattr(hook_calls.socket, "create_connection", lambda *words, **more: pytest.fail("it was called"))
    assert "has an address that is not public" in call("https://evil.example/", ("*",), JOB)
    for url in ("https://127.0.0.1/", "https://2130706433/", "https://0x7f.1/"):
        assert call(url, ("*",), JOB) != ""


def test_a_call_tells_of_the_job(receiver):
    assert call(receiver.url, ("localhost",), JOB) == ""
    assert receiver.seen == [("/hook?x=1", "application/json", TOLD)]


def test_failures_are_said_and_no_redirection_is_followed(receiver):
    receiver.status = 302
    assert call(receiver.url, ("localhost",), JOB) == "it answered 302"
    assert len(receiver.seen) == 1
    assert "refused" in call("http://localhost:1/", ("localhost",), JOB)
    assert "SSL" in call(receiver.url.replace("http:", "https:"), ("localhost",), JOB)
    assert call(receiver.url, ("other.example",), JOB).startswith("UsageError")  # the operator has changed the rules


def test_an_answer_that_drips_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(hook_calls, "SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip():
            taken, _ = listener.accept()
            with taken:
                for letter in b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 1000:
                    try:
                        taken.sendall(bytes([letter]))
                    except OSError:
                        return
                    time.sleep(0.1)

        thread = threading.Thread(target=drip)
        thread.start()
        begin = time.monotonic()
        assert call(f"http://localhost:{listener.getsockname()[1]}/", ("localhost",), JOB) != ""
        assert time.monotonic() - begin < 30
        thread.join()


def test_hooks_are_called_at_the_end_and_again_after_failures(storage):
    from dataclasses import replace

    from serve.storage.storage_files import Clock, new_job, run_next

    clock = storage.hooks._clock = Clock()
    job = storage.jobs.submit(replace(new_job(storage), hook="https://a.example/"), Limits())[0]
    assert storage.hooks.due() == ()
    run_next(storage)
    for pause in PAUSES:
        (hook,) = storage.hooks.due()
        assert (hook.job.id, hook.job.state, hook.url) == (job.id, State.DONE, "https://a.example/")
        assert storage.hooks.called(hook, False) is True and storage.hooks.due() == ()
        clock.now += pause
    (hook,) = storage.hooks.due()
    assert storage.hooks.called(hook, False) is False
    clock.now += 1e6
    assert storage.hooks.due() == ()


def test_a_messenger_calls_and_gives_up(tmp_path, receiver, monkeypatch):
    from serve.storage.storage_files import run_next, submit

    from tropalign.serve.storage import Storage
    from tropalign.serve.work import messenger

    monkeypatch.setattr(messenger, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr("tropalign.serve.storage.hooks.PAUSES", ())
    settings = Settings(folder=tmp_path / "served", hook_hosts=("localhost",))
    with Storage.open(settings) as storage:
        caller = messenger.Messenger(storage, settings, True)
        caller.start()
        for status in (200, 500):
            receiver.status = status
            job = submit(storage, key=str(status), hook=receiver.url)
            run_next(storage)
            until = time.monotonic() + 60
            while not receiver.seen or receiver.seen[-1][2]["job"] != job.id or storage.hooks.due():
                assert time.monotonic() < until
                time.sleep(0.01)
        while not (noted := list(storage.audit.entries())):
            time.sleep(0.01)
        assert [(entry.action, entry.object, entry.detail) for entry in noted] == [
            ("hook given up", job.id, "localhost")
        ]
        caller.stop()
