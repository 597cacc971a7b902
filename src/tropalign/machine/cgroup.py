"""The control groups that bound this process (Linux; versions 1 and 2)."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/")


def own_groups(controller: str, root: Path = ROOT) -> list[Path]:
    """Directories of the process's group and of those above it that `controller` ("memory", "cpu") may bound it in.

    Some may not exist: inside a container the paths that the kernel reports can be the host's.
    """
    mounts = root / "sys/fs/cgroup"
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    groups = []
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            mount = mounts
        elif controller in controllers.split(","):
            mount = mounts / controller
        else:
            continue
        own = mount / path.strip("/")
        groups += [own, *(above for above in own.parents if above.is_relative_to(mount))]
    return groups
