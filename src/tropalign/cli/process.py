"""The process that a command has to itself: NumPy without threads, little collecting of garbage, a short end.

Only `run_alone` does all this; a program that calls `tropalign.align` or the main function keeps its threads.
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

#: How many threads OpenBLAS starts as NumPy is imported, the stronger word first. MKL, BLIS and Accelerate start theirs
#: with the first product.
THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
#: New objects between two passes of the garbage collector. Python's 700 are 75 passes (4 to 10 ms) over modules that
#: stay, until a command begins to compute. What it computes with is no garbage of circles: peaks of memory are the same
#: without a collector.
OBJECTS_PER_PASS = 60_000
#: Packages that end with Python's own end alone: threads, connections and devices of theirs.
WITH_AN_END = ("cuda", "distributed", "pyopencl", "sqlalchemy")


def run_alone(main: Callable[[], int]) -> NoReturn:
    """Runs the main function of a command as all that this process is there for, and ends the process with its code."""
    gc.set_threshold(OBJECTS_PER_PASS, *gc.get_threshold()[1:])
    sys.meta_path.insert(0, _NumpyWithoutThreads())
    code = main()
    if _may_end_at_once():
        os._exit(code)
    sys.exit(code)


class _NumpyWithoutThreads:
    """Finds NumPy as Python does, and has it imported without threads for matrix products, which no command makes.

    They take 40 ms of processor time on two cores, and more on more. The environment is as it was when NumPy is there:
    what the command starts does not see this. Where the user says how many threads there shall be, there are so many.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Answers Python's import, for NumPy and once."""
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
    """Does what Python does at its end, and says whether nothing is left but to free memory, object by object.

    That takes 15 to 30 ms, of NumPy's modules mostly. All files are closed by then: outputs have their names.
    """
    if sys.flags.inspect or sys.gettrace() or sys.getprofile() or any(name in sys.modules for name in WITH_AN_END):
        return False
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        return False  # Python waits for them, and tells some to end
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True
