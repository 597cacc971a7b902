"""A server of these tests: the application under uvicorn in a thread, with workers where jobs are to be computed."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from html.parser import HTMLParser

import pytest

from tropalign.serve.private import local_token
from tropalign.serve.records import JobFile, Outcome, State

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Site:
    def __init__(self, settings):
        import httpx

        from tropalign.serve.storage import Storage

        self.settings = settings
        self.storage = Storage.open(settings)
        self._port = 0
        self._start()
        self.url = f"http://127.0.0.1:{self._port}"
        self.http = httpx.Client(base_url=self.url, headers={"Origin": self.url}, timeout=120)
        self._workers = []
        if settings.has_local_user:
            assert self.http.get(self.login).status_code == 303

    @property
    def login(self):
        return f"/login?token={local_token(self.settings.folder)}"

    def _start(self):
        import uvicorn

        from tropalign.serve.web.app import create_app

        app = create_app(self.settings, self.storage)
        config = uvicorn.Config(
            app, host="127.0.0.1", port=self._port, log_level="critical", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)
        self._port = self._server.servers[0].sockets[0].getsockname()[1]

    def _stop(self):
        self._server.should_exit = True
        self._thread.join(60)

    @contextlib.contextmanager
    def away(self):
        """Nobody answers at its address meanwhile."""
        self._stop()
        try:
            yield
        finally:
            self._start()

    def work(self):
        from tropalign.serve.work.worker import settings_text

        command = [sys.executable, "-m", "tropalign.serve.work.worker"]
        worker = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        worker.stdin.write(settings_text(self.settings, os.getpid(), True))
        worker.stdin.close()
        self._workers.append(worker)

    def close(self):
        for worker in self._workers:
            worker.terminate()
        for worker in self._workers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.wait(60)
            worker.kill()
            worker.wait()
        self.http.close()
        self._stop()
        self.storage.close()

    def log_in(self, user):
        """From now on the pages are asked for by this user."""
        self.http.cookies.clear()
        token = self.storage.tokens.add(user)[1]
        answer = self.http.post("/login", data={"token": token})
        assert answer.status_code == 303, answer.text

    def page(self, path, status=200):
        answer = self.http.get(path)
        assert answer.status_code == status, answer.text
        return parsed(answer.text)

    def send(self, verb, files=(), **fields):
        """Sends a form without a script; names of fields have __ for dots."""
        data = {name.replace("__", "."): value for name, value in fields.items()}
        parts = [(name, (None, text)) for name, value in data.items() for text in _many(value)]
        return self.http.post(f"/new/{verb}", files=[*parts, *files])

    def submit(self, verb="pairs", **fields):
        if not any(name.startswith("queries") for name in fields):
            fields["queries__text"] = ">a\nMKV\n>b\nMKL"
        answer = self.send(verb, **fields)
        assert answer.status_code == 303, answer.text
        return self.storage.jobs.get(answer.headers["location"].rpartition("/")[2])

    def finish(self, job, state=State.DONE, message="", **outputs):
        claimed = self.storage.queue.claim("a test", 60.0, 10)
        assert claimed.id == job.id
        files = []
        for role, (name, media_type, content) in outputs.items():
            stored = self.storage.files.add_bytes(content)
            files.append(JobFile(role, name, stored.digest, stored.size, media_type))
        assert self.storage.queue.finish(job.id, claimed.attempt, Outcome(state, message, tuple(files)))


def _many(value):
    return value if isinstance(value, list) else [value]


def skip_without(verb):
    """The examples lie beside the sources; an installed package has none."""
    from tropalign.verbs.workflow import example_path

    if not all(example_path(name) for name in verb.example.values()):
        pytest.skip("the package was installed without its examples")


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.inside = tag, dict(attributes), parent, []

    def __getitem__(self, name):
        return self.attributes[name]

    def get(self, name, default=None):
        return self.attributes.get(name, default)

    @property
    def text(self):
        return "".join(part if isinstance(part, str) else part.text for part in self.inside)

    def all(self, *tags, **attributes):
        """All elements below of these tags and attributes."""
        for part in self.inside:
            if isinstance(part, Element):
                wanted = {name.rstrip("_"): value for name, value in attributes.items()}
                is_one = all(part.get(name) == value for name, value in wanted.items())
                if is_one and (not tags or part.tag in tags):
                    yield part
                yield from part.all(*tags, **attributes)

    def one(self, *tags, **attributes):
        (found,) = self.all(*tags, **attributes)
        return found

    def above(self, tag):
        return self.parent is not None and (self.parent.tag == tag or self.parent.above(tag))


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = self.here = Element("", {}, None)

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(set(names)) == len(names), f"an attribute of {tag} stands twice"
        element = Element(tag, attributes, self.here)
        self.here.inside.append(element)
        if tag not in VOID:
            self.here = element

    def handle_endtag(self, tag):
        assert self.here.tag == tag, f"{tag} ends where {self.here.tag} is open"
        self.here = self.here.parent

    def handle_data(self, data):
        self.here.inside.append(data)


def parsed(text):
    """A page as elements; each has to end where it should."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.here is reader.root
    return reader.root
