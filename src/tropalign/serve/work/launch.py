"""The moment before a job's process becomes the command: niceness, limits, and an end with its worker.

Runs by itself, without the package (`python -I -S launch.py PLAN COMMAND...`): what a thread-safe fork cannot do in the
worker is done here in a hundredth of a second.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

#: An option of Linux: the signal that the kernel sends when the parent ends.
PR_SET_PDEATHSIG = 1


def die_with(parent: int, number: int) -> bool:
    """Asks the kernel for a signal when the parent ends; False where no kernel does that.

    Parameters
    ----------
    parent
        Its process id: where another process has taken this one over already, it ends at once.
    number
        The signal.
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
    """Sets limits of the process by their names in `resource`, within what the system allows."""
    import resource

    for name, wanted in limits.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value if name != "RLIMIT_NOFILE" else hard))


def be_killed_first() -> None:
    """Where memory ends, the kernel ends this process rather than the server."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    except OSError:
        return


def main(words: list[str]) -> None:
    """Becomes the command."""
    import signal

    plan: dict[str, Any] = json.loads(words[0])
    die_with(plan["parent"], signal.SIGKILL)
    os.nice(plan["nice"])
    limit(plan["limits"])
    be_killed_first()
    os.execv(words[1], words[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
