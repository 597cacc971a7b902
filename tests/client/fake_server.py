"""A server that speaks the REST API's words, made of the standard library: jobs are done by the command line here."""

import hashlib
import json
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tropalign.errors import UsageError
from tropalign.submissions.submission import Resources, Submission, link_names, planned

JOB = {
    "id": "JOB1", "verb": "pairs", "title": "", "tags": [], "state": "queued", "stage": "", "progress": None,
    "created": "2026-01-01T00:00:00Z", "started": None, "finished": None, "command": "tropalign pairs a.fa",
    "format": "tsv", "options": {}, "inputs": [], "outputs": [], "message": "", "forecast": None, "owner": "local",
    "shared": None, "version": "0.1.0", "queue_position": 0,
}  # fmt: skip


class Fake:
    """What the server knows, and what it has been asked. `respond` answers before the usual answers do."""

    def __init__(self):
        self.files, self.jobs, self.results, self.requests, self.databases = {}, {}, {}, [], []
        self.respond = lambda request: None
        self.compute = lambda body, files: ("done", "", {"main": ("result.tsv", b"query\ttarget\n")})
        self.has_events = True
        self.starts_at_once = True

    def submitted(self, body):
        id = f"JOB{len(self.jobs) + 1}"
        job = {**JOB, "id": id, "verb": body["verb"], "title": body["title"], "tags": body["tags"]}
        self.jobs[id] = {**job, "format": body.get("format") or "tsv", "options": body["options"], "body": body}
        if self.starts_at_once:
            self.finish(id)
        return self.jobs[id]

    def finish(self, id):
        job = self.jobs[id]
        state, message, outputs = self.compute(job["body"], self.files)
        self.results[id] = {role: data for role, (_, data) in outputs.items()}
        job["outputs"] = [
            {"role": role, "name": name, "size": len(data), "media_type": "text/plain"}
            for role, (name, data) in outputs.items()
        ]
        job |= {"state": state, "message": message, "progress": 1.0}


def computed(body, files):
    """What the command line makes of a submission: state, message and outputs."""
    asked = Submission.from_json({name: body[name] for name in body if name not in ("title", "tags")}).checked()
    with tempfile.TemporaryDirectory() as folder:
        names = link_names(asked)
        for item in asked.items:
            Path(folder, names[item]).write_bytes(files[item.file])
        words, outputs = planned(asked, lambda item: names[item], Resources(10**9, 1))
        command = [sys.executable, "-m", "tropalign.cli.main", *words]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if run.returncode:
            return "failed", run.stderr.strip().removeprefix("tropalign: "), {}
        return "done", "", {one.role: (one.filename, Path(folder, one.filename).read_bytes()) for one in outputs}


def shown(job):
    return {name: value for name, value in job.items() if name != "body"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def reply(self, status, body=b"", kind="application/json", **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def answer(self):
        fake, url = self.server.fake, urlsplit(self.path)
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked = (self.command, url.path, {k: v[0] for k, v in parse_qs(url.query).items()}, data)
        fake.requests.append((*self.asked[:3], dict(self.headers)))
        if (own := fake.respond(self)) is not None:
            return None if own is True else self.reply(*own[:2], **(own[2] if len(own) > 2 else {}))
        parts = url.path.removeprefix("/api/v1/").split("/")
        if parts == ["files"]:
            digest = hashlib.sha256(data).hexdigest()
            fake.files[digest] = data
            return self.reply(201, {"file": digest, "name": self.asked[2]["name"], "size": len(data)})
        if parts == ["jobs"] and self.command == "POST":
            try:
                return self.reply(201, shown(fake.submitted(json.loads(data))))
            except UsageError as error:
                return self.reply(422, {"error": str(error), "field": None})
        if parts == ["jobs"]:
            return self.reply(200, {"jobs": [shown(job) for job in fake.jobs.values()], "next": None})
        if parts == ["databases"]:
            return self.reply(200, {"databases": fake.databases})
        if parts[0] == "jobs" and parts[1] in fake.jobs:
            return self.answer_of_job(fake, fake.jobs[parts[1]], parts[2:], data)
        return self.reply(404, {"error": "there is nothing here"})

    def answer_of_job(self, fake, job, more, data):
        if more == ["events"]:
            return self.events(fake, job)
        if more[:1] == ["files"]:
            return self.reply(200, fake.results[job["id"]][more[1]], "text/plain")
        if more == ["cancel"]:
            job["state"] = "cancelled"
        elif more[:1] == ["formats"]:
            return self.reply(200, shown(fake.submitted({**job["body"], "format": more[1]})))
        elif self.command == "PATCH":
            job["shared"] = "/shared/secret" if json.loads(data)["shared"] else None
        elif self.command == "DELETE":
            del fake.jobs[job["id"]]
            return self.reply(204)
        return self.reply(200, shown(job))

    def events(self, fake, job):
        if not fake.has_events:
            return self.reply(200, b"<p>a proxy</p>", "text/html")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for share in (0.25, 0.5):
            if job["state"] == "queued":
                self.event({**shown(job), "state": "running", "stage": "aligning", "progress": share})
        self.wfile.write(b": ping\n\n")
        if job["state"] == "queued":
            fake.finish(job["id"])
        self.event(shown(job))
        self.close_connection = True
        return None

    def event(self, job):
        self.wfile.write(b"event: job\ndata: " + json.dumps(job).encode() + b"\n\n")

    do_GET = do_POST = do_PATCH = do_DELETE = answer


@contextmanager
def served():
    """A fake server, and its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.fake = Fake()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.fake, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def answering(*replies):
    """A port that answers each request with the next of these bytes (the last one again and again), then closes."""
    listening = socket.create_server(("127.0.0.1", 0))

    def answer():
        for number in range(1000):
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.recv(1 << 16)
                connection.sendall(replies[min(number, len(replies) - 1)])

    threading.Thread(target=answer, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()
