"""Process setup for a single command: NumPy without threads, few garbage collections, fast exit.

Only `run_alone` does this; programs that call `tropalign.align` or `main` keep their threads.
"""

from __future__ import annotations

import atexit
import gc
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import NoReturn

#: Variables for the number of threads that OpenBLAS starts when NumPy is imported, in order of precedence. MKL,
#: BLIS and Accelerate start theirs with the first product.
THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
#: New objects between two passes of the garbage collector. Python's default of 700 makes 75 passes (4 to 10 ms)
#: over permanent modules before a command computes. Computations make no reference cycles: memory peaks are the
#: same without a collector.
OBJECTS_PER_PASS = 60_000
#: Packages that need Python's regular exit for their threads, connections and devices.
WITH_AN_END = ("cuda", "distributed", "pyopencl", "sqlalchemy")


def run_alone(main: Callable[[], int]) -> NoReturn:
    """Run a command's main function as the only job of this process, and exit with its code."""
    gc.set_threshold(OBJECTS_PER_PASS, *gc.get_threshold()[1:])
    sys.meta_path.insert(0, _NumpyWithoutThreads())
    code = main()
    if _may_end_at_once():
        os._exit(code)
    sys.exit(code)


class _NumpyWithoutThreads:
    """Import finder that has NumPy imported without threads for matrix products, which no command uses.

    The threads take 40 ms of processor time on two cores, and more on more cores. The environment is restored
    after the import, so child processes are not affected. A number of threads that the user sets is respected.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec for NumPy, once."""
        if name != "numpy":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None and not os.environ.keys() & THREADS:
            spec.loader.exec_module = _without_threads(spec.loader.exec_module)  # type: ignore[assignment,method-assign]
        return spec


def _without_threads(execute: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def execute_so(module: ModuleType) -> None:
        with _one_thread():
            execute(module)

    return execute_so


@contextmanager
def _one_thread() -> Iterator[None]:
    os.environ[THREADS[0]] = "1"
    try:
        yield
    finally:
        os.environ.pop(THREADS[0], None)


def _may_end_at_once() -> bool:
    """Run Python's exit functions; True if only freeing memory remains.

    Freeing objects takes 15 to 30 ms, mostly for NumPy's modules. All files are closed by then, and outputs have
    their names.
    """
    if sys.flags.inspect or sys.gettrace() or sys.getprofile() or any(name in sys.modules for name in WITH_AN_END):
        return False
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        return False  # Python waits for them, and asks some to stop
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True
