"""Jobs that are watched: each change once, one question for all, and nothing left behind."""

import asyncio
import json
import socket
import time

import pytest
from starlette.requests import ClientDisconnect
from web_server import finish

from tropalign.serve.web import events


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(events, "PING_SECONDS", 0.2)


def opened(client, id):
    sock = socket.create_connection(("127.0.0.1", client.port), timeout=60)
    words = f"Authorization: Bearer {client.token}\r\n" if client.token else ""
    sock.sendall(
        f"GET /api/v1/jobs/{id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n{words}Last-Event-ID: 7;x\r\n\r\n".encode()
    )
    return sock


def read_until(sock, word):
    found = b""
    while word not in found:
        piece = sock.recv(65536)
        assert piece, found
        found += piece
    return found


def states(stream):
    lines = [line[6:] for line in stream.decode().split("\n") if line.startswith("data: ")]
    return [json.loads(line.strip()).get("state") for line in lines]


def test_a_job_is_watched_to_its_end(local):
    job = local.submit()
    with opened(local, job["id"]) as sock:
        stream = read_until(sock, b": ping")
        assert b"text/event-stream" in stream and b'"queue_position": 1' in stream
        claimed = local.storage.queue.claim("worker", 60, 1)
        local.storage.queue.renew(job["id"], claimed.attempt, 60, "pairs", 0.5)
        stream += read_until(sock, b'"progress": 0.5')
        finish_now(local, claimed)
        stream += read_until(sock, b"0\r\n\r\n")
    assert states(stream)[0] == "queued" and states(stream)[-1] == "done" and len(states(stream)) <= 4


def finish_now(local, job):
    from tropalign.serve.records import Outcome, State

    assert local.storage.queue.finish(job.id, job.attempt, Outcome(State.DONE))


def test_a_finished_job_is_told_at_once(local):
    job = local.submit()
    finish(local.storage, job["id"], [])
    answer = local.get(f"/api/v1/jobs/{job['id']}/events")
    assert states(answer.body) == ["done"]


def test_a_deleted_job_ends_its_stream(local):
    job = local.submit()
    with opened(local, job["id"]) as sock:
        read_until(sock, b"data:")
        local.ask("DELETE", f"/api/v1/jobs/{job['id']}")
        assert b"event: gone" in read_until(sock, b"0\r\n\r\n")


def test_one_question_for_all_who_watch(users, monkeypatch):
    asked = []
    real = type(users.server.storage.jobs).several
    monkeypatch.setattr(
        type(users.server.storage.jobs), "several", lambda self, ids: asked.append(len(list(ids))) or real(self, ids)
    )
    jobs = [users.alice.submit(b">a\nMK\n>b%d\nMK\n" % n)["id"] for n in range(3)]
    socks = [opened(users.alice, id) for id in jobs * 3]
    for sock in socks:
        read_until(sock, b"data:")
    begin = time.monotonic()
    while not (asked and asked[-1] == 3):
        assert time.monotonic() < begin + 10
        time.sleep(0.05)
    watch = users.server.watch
    assert watch.users["alice"] == 9 and len(watch.watchers) == 3
    for sock in socks:
        sock.close()
    begin = time.monotonic()
    while watch.watchers or watch.users or not watch._task.done():
        assert time.monotonic() < begin + 10, "those who have gone are still watching"
        time.sleep(0.05)
    assert not watch._seen


def test_seats_of_a_user_are_bounded(users, monkeypatch):
    monkeypatch.setattr(events, "MOST_PER_USER", 2)
    job = users.alice.submit()["id"]
    socks = [opened(users.alice, job) for _ in range(2)]
    for sock in socks:
        read_until(sock, b"data:")
    answer = users.alice.get(f"/api/v1/jobs/{job}/events")
    assert answer.status == 429 and "Retry-After" in answer.headers
    for sock in socks:
        sock.close()


def test_a_seat_is_free_again_when_a_client_leaves_before_the_first_event():
    """The iterator of such an answer never begins, and so never ends."""
    watch = events.Watch()

    async def never():
        raise AssertionError("nobody listens")
        yield b""

    async def lost(message):
        raise OSError("the connection is lost")

    async def receive():
        return {"type": "http.disconnect"}

    scope = {"type": "http", "asgi": {"spec_version": "2.4"}}
    for _ in range(2 * events.MOST_PER_USER):
        with pytest.raises(ClientDisconnect):
            asyncio.run(events._Stream(watch.seat("alice"), never())(scope, receive, lost))
    assert not watch.users
