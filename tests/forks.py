"""Forks beside computing threads: ``python forks.py VERB N`` forks N times, and each child computes the same.

Prints how many children ended with another result, and how many hung, whose tracebacks go to standard error.
"""

import faulthandler
import os
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np

import tropalign as ta

#: A child takes a fraction of a second; on a busy machine it may wait for a processor.
HANG_SECONDS = 60
EXAMPLES = Path(__file__).parent.parent / "examples"
OTHER = 8


def align_all():
    """A table of pairs, in memory that native threads take and give back all the while."""
    (table,) = ta.align_all(LONG, n_threads=2)
    return table.score.tolist()


def search():
    return ta.search(MODEL, PROTEINS, n_threads=2).log_p.tolist()


def align_multiple():
    return ta.align_multiple(FAMILY, n_threads=2).columns.tolist()


VERBS = {verb.__name__: verb for verb in (align_all, search, align_multiple)}
N_THREADS = 4
RNG = np.random.default_rng(1)
LONG = ta.SequenceBatch.from_strings(["".join(RNG.choice(list("ACDEFGHIKLMNPQRSTVWY"), 400)) for _ in range(12)])
PROTEINS = ta.read_sequences(EXAMPLES / "efp.fasta")
FAMILY = PROTEINS[:12]
MODEL = EXAMPLES / "efp.hmm"


def forked(compute, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks beside threads
        child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
    status = OTHER
    try:
        status = 0 if compute() == expected else OTHER
    finally:
        os._exit(status)


def main(verb, n):
    compute, stop = VERBS[verb], threading.Event()
    expected = compute()

    def work():
        while not stop.is_set():
            compute()

    threads = [threading.Thread(target=work) for _ in range(N_THREADS)]
    for thread in threads:
        thread.start()
    found = []
    for _ in range(n):
        time.sleep(RNG.random() / 100)
        found.append(forked(compute, expected))
        if found[-1] != 0:
            break  # one that hangs has taken long enough
    stop.set()
    for thread in threads:
        thread.join()
    print(len(found), "forks,", sum(status != 0 for status in found), "of them hung or wrong:", found[-1])
    return found[-1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
