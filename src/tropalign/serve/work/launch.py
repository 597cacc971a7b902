"""Launcher of a job's command: sets niceness and limits, ends with its worker, then becomes the command.

Runs standalone, without the package (`python -I -S launch.py PLAN COMMAND...`): it does in ten milliseconds what a
thread-safe fork in the worker cannot do.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

#: Linux option: signal from the kernel when the parent ends.
PR_SET_PDEATHSIG = 1


def die_with(parent: int, number: int) -> bool:
    """Request a signal (`number`) from the kernel when the parent ends; False if the system does not support it.

    If the process already has another parent than the process id `parent`, it signals itself at once.
    """
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) != 0:
        return False
    if os.getppid() != parent:
        os.kill(os.getpid(), number)
    return True


def limit(limits: dict[str, int]) -> None:
    """Set process limits by their names in `resource`, within the system's limits."""
    import resource

    for name, wanted in limits.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value if name != "RLIMIT_NOFILE" else hard))


def be_killed_first() -> None:
    """Let the kernel end this process rather than the server if memory runs out."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    except OSError:
        return


def main(words: list[str]) -> None:
    """Become the command."""
    import signal

    plan: dict[str, Any] = json.loads(words[0])
    die_with(plan["parent"], signal.SIGKILL)
    os.nice(plan["nice"])
    limit(plan["limits"])
    be_killed_first()
    os.execv(words[1], words[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
