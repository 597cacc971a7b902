"""Packages whose public names are loaded from their modules on first use (PEP 562).

A fork waits until other threads have finished loading modules. Otherwise the child would inherit the locks of
these modules, held by threads that it does not have, and would wait forever at its own first call.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from importlib import _bootstrap, import_module

from tropalign.errors import hints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

#: Packages whose loading delays a fork: those that tropalign loads on first use, not the user's own.
AWAITED = sys.stdlib_module_names | {
    "Bio", "PIL", "biopython", "contourpy", "cuda", "dateutil", "distributed", "h5py", "kiwisolver",
    "matplotlib", "mpl_toolkits", "nanoarrow", "numpy", "platformdirs", "psutil", "pyarrow", "pyhmmer", "pyopencl",
    "rich", "scipy", "tropalign", "xopen",
}  # fmt: skip
#: Longest wait of a fork, in seconds.
PATIENCE = 20.0


def _are_modules_loading() -> bool:
    """True if another thread is loading an awaited module, judged by the module locks of CPython's importlib."""
    locks = [
        lock
        for name, reference in list(getattr(_bootstrap, "_module_locks", {}).items())
        if name.partition(".")[0] in AWAITED and (lock := reference()) is not None
    ]
    return any(getattr(lock, "owner", None) not in (None, threading.get_ident()) for lock in locks)


def _wait_for_modules() -> None:
    end = time.monotonic() + PATIENCE
    while _are_modules_loading() and time.monotonic() < end:
        time.sleep(0.001)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_modules)


def lazy(
    package: str,
    homes: Mapping[str, str],
    root: str | None = None,
    modules: str = "",
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package, so that importing it costs nothing.

    For type checkers and editors the package imports the names under ``TYPE_CHECKING`` as well, each as itself
    (``from home import name as name``); a test compares the two lists. `homes`: public names of each module,
    separated by spaces, relative to `root` (default: `package`).
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> Any:
        """Load a public name from its home module, once."""
        if name in modules.split():
            return import_module(f"{package}.{name}")
        if name not in home_of:
            hint = hints().get(package, {}).get(name)
            raise AttributeError(f"module {package!r} has no attribute {name!r}{f': write {hint}' if hint else ''}")
        value = getattr(import_module(f"{root or package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    names = sorted([*home_of, *modules.split()])
    return names, load, lambda: sorted(names)
