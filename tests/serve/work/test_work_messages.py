"""Limits in words."""

import pytest

from tropalign.serve.settings import Limits
from tropalign.serve.work.attempt import duration, excess_of, passed, sentence_of, without
from tropalign.serve.work.watched_command import Why

LIMITS = Limits(n_cells=10**9, seconds=60.0, memory_bytes=1 << 30, output_bytes=1 << 20)


@pytest.mark.parametrize(
    ("forecast", "sentence"),
    [
        ({"cells": 2e9}, "it needs about 2,000,000,000 cells, but only 1,000,000,000 are allowed on this server"),
        ({"cells": 1, "seconds": 7300.0}, "it takes about 2 hours, but only 60 seconds are allowed on this server"),
        ({"memory_bytes": 1 << 31}, "it needs about 2.0 GiB of memory, but only 1.0 GiB are allowed on this server"),
        ({"output_bytes": [1 << 20, 1 << 20]}, "it writes about 2.0 MiB, but this server allows only 1.0 MiB"),
        ({"cells": 1, "seconds": None, "memory_bytes": None, "output_bytes": [1]}, None),
        ({}, None),
    ],
)
def test_forecasts_that_ask_for_too_much(forecast, sentence):
    assert excess_of(forecast, LIMITS) == sentence


def test_limits_durations_and_places_in_words():
    sentences = [passed(why, LIMITS) for why in (Why.SECONDS, Why.MEMORY, Why.OUTPUT)]
    assert all(one.startswith("it was stopped") for one in sentences)
    assert passed(Why.ASKED, LIMITS) is passed(Why.BY_ITSELF, LIMITS) is None
    assert [duration(n) for n in (1.5, 90, 600, 86400)] == ["1.5 seconds", "90 seconds", "10 minutes", "24 hours"]
    sentence = "/srv/work/x/files/a.fa: damaged, see /srv/work/x/files" + "." * 2000
    assert without(sentence, ["/srv/work/x/files", "/srv"]).startswith("a.fa: damaged, see the job's folder..")
    assert len(without(sentence, [])) == 1000


def test_the_last_sentence_is_taken(tmp_path):
    path = tmp_path / "stderr"
    path.write_bytes(
        b"x" * 100_000 + b"\ntropalign: first\ntropalign: \x1b[1mlast \xff\ntropalign: warning: later\nnoise\n"
    )
    assert sentence_of(path).startswith("\\x1b[1mlast") and "\x1b" not in sentence_of(path)
    assert sentence_of(path, "") == "noise"
    path.write_bytes(b"")
    assert sentence_of(path) == ""
