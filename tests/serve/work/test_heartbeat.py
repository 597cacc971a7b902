"""Signs of life, progress, and orders."""

import time

import pytest
from job_desk import wait_until

from tropalign.serve.work.heartbeat import CANCEL, GO_ON, LOST, Heartbeat, StatusTail, described


class Queue:
    """Answers what it is told to, and keeps what it was told."""

    def __init__(self, answer=GO_ON):
        self.answer, self.said = answer, []

    def renew(self, job, attempt, lease_seconds, stage, progress):
        self.said.append((stage, progress))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        ({"unit": "pairs", "done": 1200, "total": 5000}, ("1,200 of 5,000 pairs", 0.24)),
        ({"unit": "pairs", "done": 3, "total": None}, ("3 pairs", None)),
        ({"unit": "pairs", "done": 3, "total": 0}, ("3 pairs", None)),
        ({"stage": "posteriors", "share": 0.4}, ("posteriors", 0.4)),
        ({"stage": "tree", "share": 7}, ("tree", 1.0)),
        ({"stage": "tree"}, ("tree", None)),
        ({"unit": "pairs"}, ("pairs", None)),
    ],
)
def test_lines_of_the_status_in_words(fact, words):
    assert described(fact) == words


def test_the_newest_line_is_read_once(tmp_path):
    tail = StatusTail(tmp_path / "status")
    assert tail.newest() is None
    tail.path.write_text('{"stage": "a"}\n{"stage": "b"}\n{"stage": "half')
    assert tail.newest() == {"stage": "b"}
    assert tail.newest() is None
    with tail.path.open("a") as file:
        file.write(' of c"}\n{"forecast": {"cells": 5}}\nno JSON\n[1]\n')
    assert tail.newest() == {"stage": "half of c"} and tail.forecast == {"cells": 5}
    tail.path.write_text('{"stage": "new"}\n')
    assert tail.newest() == {"stage": "new"}
    with tail.path.open("a") as file:
        file.write('{"stage": "x"}\n' * 20_000 + '{"stage": "last"}\n')
    assert tail.newest() == {"stage": "last"}


def test_orders_reach_the_worker():
    queue = Queue()
    with Heartbeat(queue, "job", 1, 30.0) as heart:
        heart.tell("reading", None)
        wait_until(lambda: queue.said)
        assert heart.is_wanted and queue.said[-1] == ("reading", None)
        queue.answer = CANCEL
        heart.tell("computing", 0.5)
        wait_until(lambda: not heart.is_wanted)
    assert heart.order == CANCEL and queue.said[-1] == ("computing", 0.5)


def test_a_database_that_is_away_ends_a_job_with_its_lease_only():
    queue = Queue(OSError("away"))
    begin = time.monotonic()
    with Heartbeat(queue, "job", 1, 1.0) as heart:
        wait_until(lambda: len(queue.said) >= 2)
        assert heart.is_wanted or time.monotonic() > begin + 1
        queue.answer = GO_ON
        n = len(queue.said)
        wait_until(lambda: len(queue.said) > n)
        assert heart.is_wanted or time.monotonic() > begin + 1
        queue.answer = OSError("away")
        wait_until(lambda: not heart.is_wanted)
    assert heart.order == LOST
