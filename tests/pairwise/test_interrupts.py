"""One large pair of similar sequences can be interrupted on its way."""

import random

import pytest

import tropalign as ta
from tropalign.pairwise.options import PairOptions
from tropalign.pairwise.task import PairsTask


class Enough(Exception):
    """What somebody who watches raises."""


def enough(_):
    raise Enough


def related(n, share, seed):
    rng = random.Random(seed)
    text = rng.choices("ACGT", k=n)
    others = [rng.choice("ACGT") if rng.random() < share else letter for letter in text[: n - 5]]
    return ta.SequenceBatch.from_strings(["".join(text), "".join(others)], alphabet="nucleotide")


# The first one goes to the waves, the second to a band: neither sweeps the whole matrix, which polled before.
@pytest.mark.parametrize(("n", "share"), [(500_000, 0.01), (150_000, 0.1)])
def test_what_watches_ends_a_lone_pair(n, share):
    batch = related(n, share, n)
    scores = ta.SubstitutionMatrix.default(batch.alphabet)
    task = PairsTask(
        batch, None, PairOptions(scores, ta.Gap(10, 1), mode="global", report="ends"), memory_bytes=1 << 30
    )
    with pytest.raises(Enough):
        task.on_cpu(task.tiles()[0], 1, enough)
