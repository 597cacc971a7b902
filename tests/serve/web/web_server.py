"""A real server on a port of the loopback interface, and a client that sends what it is told, byte by byte."""

import http.client
import json
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

pytest.importorskip("fastapi", reason="the server's modules are not installed: pip install 'tropalign[serve]'")
pytest.importorskip("uvicorn", reason="the server's modules are not installed: pip install 'tropalign[serve]'")

PAIR = b">a\nMKVLA\n>b\nMKILA\n"


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]


class Client:
    """Asks a server; a token is shown where there is one."""

    def __init__(self, port, token=None, storage=None):
        self.port, self.token, self.storage = port, token, storage

    def ask(self, method, path, body=None, headers=None, timeout=120):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        words = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        if isinstance(body, dict | list):
            body, words = json.dumps(body), {**words, "Content-Type": "application/json"}
        try:
            connection.request(method, path, body, {**words, **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.ask("POST", path, body, **more)

    def send(self, data=PAIR, name="pair.fa"):
        answer = self.post(f"/api/v1/files?name={name}", data)
        assert answer.status == 201, answer.body
        return answer.json["file"]

    def submit(self, data=PAIR, **more):
        inputs = {"queries": [{"file": self.send(data), "name": "pair.fa"}]}
        answer = self.post("/api/v1/jobs", {"verb": "pairs", "inputs": inputs, "options": {}, "format": "tsv", **more})
        assert answer.status in (200, 201), answer.body
        return answer.json

    def raw(self, data, seconds=5.0, wait=0.0):
        """Bytes sent as they are, in one piece or in several with a pause between; what came back until the end."""
        pieces = [data] if isinstance(data, bytes) else data
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as sock:
            found = b""
            try:
                for piece in pieces:
                    sock.sendall(piece)
                    time.sleep(wait)
                while piece := sock.recv(65536):
                    found += piece
            except OSError:  # reset, or nothing more came
                pass
            return found


@contextmanager
def running(settings):
    """A server with these settings: its port, application and storage."""
    import uvicorn

    from tropalign.serve.storage import Storage
    from tropalign.serve.web.app import create_app, server_options

    with Storage.open(settings) as storage:
        app = create_app(settings, storage)
        config = uvicorn.Config(app, port=0, log_level="critical", access_log=False, **server_options())
        server = uvicorn.Server(config)
        server.force_exit = False
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            until = time.monotonic() + 120
            while not server.started:
                assert thread.is_alive() and time.monotonic() < until, "the server does not start"
                time.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            yield SimpleNamespace(port=port, app=app, storage=storage, web=app.state.web, watch=app.state.watch)
        finally:
            server.should_exit = True
            thread.join(2)
            server.force_exit = True
            thread.join(60)
            assert not thread.is_alive()


def finish(storage, id, outputs, message="", state="done"):
    """Ends a job as its worker would: `outputs` are role, name, type and bytes."""
    from tropalign.serve.records import JobFile, Outcome, State

    job = storage.queue.claim("worker of a test", 60, 100)
    while job.id != id:
        job = storage.queue.claim("worker of a test", 60, 100)
    files = []
    for role, name, kind, data in outputs:
        stored = storage.files.add_bytes(data)
        files.append(JobFile(role, name, stored.digest, stored.size, kind))
    assert storage.queue.finish(job.id, job.attempt, Outcome(State(state), message, tuple(files)))
