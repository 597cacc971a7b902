"""Commands of which some tiles wait: a test stops them half-way, however fast the machine is and however busy."""

import os

#: Python reads it at the start of every process; only the command itself is changed.
SITE = """
import os
import sys

if "tropalign.cli.main" in sys.orig_argv:
    import time
    from pathlib import Path

    from {module} import {name} as Task

    held, compute = Path({path!r}), Task.on_cpu

    def on_cpu(task, tile, n_threads, progress=None):
        if tile.index >= {first} and held.exists():
            held.with_name(str(os.getpid())).touch()
            begin = time.monotonic()
            while held.exists():
                time.sleep(0.002)
                if progress is not None:  # an item per second
                    progress(min(int(time.monotonic() - begin), tile.n_items))
        return compute(task, tile, n_threads, progress)

    Task.on_cpu = on_cpu
"""


class Held:
    """While it holds, tiles of commands wait from a certain one on.

    Parameters
    ----------
    folder
        An empty one.
    first
        The number of the first tile that waits.
    """

    def __init__(self, folder, first=6, module="tropalign.pairwise", name="PairsTask"):
        self._path = folder / "held"
        (folder / "sitecustomize.py").write_text(
            SITE.format(module=module, name=name, path=str(self._path), first=first)
        )
        self._path.touch()
        paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        #: What a command needs in its environment.
        self.environment = {"PYTHONPATH": os.pathsep.join(paths)}

    def holds(self, pid):
        return pid is not None and self._path.with_name(str(pid)).exists()

    def release(self):
        self._path.unlink()
