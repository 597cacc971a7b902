"""What workers of Dask compute in tests: importable there."""

from __future__ import annotations

import os
import time

from tropalign.errors import InputError
from tropalign.execution.task import Tile


class Sleeps:
    """Squares of numbers, a while each; on workers whose environment says so they are slow, or fail."""

    def __init__(self, n, seconds, wrong=None):
        self.n, self.seconds, self.wrong = n, seconds, wrong

    def tiles(self):
        return [Tile(k, int(self.seconds * 1e6), 1, 1, k) for k in range(self.n)]

    def on_cpu(self, tile, n_threads, progress=None):
        if "TOY_ERROR" in os.environ:
            raise OSError(int(os.environ["TOY_ERROR"]), "made to fail")
        if tile.index == self.wrong:
            raise InputError("a letter that is none")
        time.sleep(float(os.environ.get("TOY_SECONDS", self.seconds)))
        return tile.payload**2
