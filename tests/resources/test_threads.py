import os

import pytest

from tropalign.errors import UsageError
from tropalign.resources import limits


@pytest.fixture
def sixteen(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)), raising=False)


def write(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


V1 = "sys/fs/cgroup/cpu/batch/cpu.cfs"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 16),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n"}, 16),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "400000 100000\n"}, 4),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "150000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "1000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "300000 100000\n"}, 3),
        ({"proc/self/cgroup": "0::/host/path\n", "sys/fs/cgroup/cpu.max": "500000 100000\n"}, 5),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "6400000 100000\n"}, 16),
        ({"proc/self/cgroup": "4:cpu,cpuacct:/batch\n", f"{V1}_quota_us": "200000", f"{V1}_period_us": "100000"}, 2),
        ({"proc/self/cgroup": "4:cpu,cpuacct:/batch\n", f"{V1}_quota_us": "-1", f"{V1}_period_us": "100000"}, 16),
    ],
)
def test_affinity_and_quota(sixteen, tmp_path, files, expected):
    assert limits.available_threads(write(tmp_path, files)) == expected


def test_resolve(monkeypatch):
    monkeypatch.setattr(limits, "available_threads", lambda: 7)
    assert (limits.resolve_threads(0), limits.resolve_threads(3)) == (7, 3)
    with pytest.raises(UsageError, match="n_threads -1"):
        limits.resolve_threads(-1)


@pytest.fixture
def group(tmp_path):
    return write(tmp_path, {"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "400000 100000\n"})


def test_quotas_are_read_once_and_the_affinity_each_time(sixteen, group, monkeypatch):
    assert limits.available_threads(group) == 4
    monkeypatch.setattr(limits, "own_groups", lambda *arguments: pytest.fail("read again"))
    assert limits.available_threads(group) == 4
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3}, raising=False)
    assert limits.available_threads(group) == 2


def test_another_process_reads_quotas_again(sixteen, group, monkeypatch):
    assert limits.available_threads(group) == 4
    (group / "sys/fs/cgroup/a/cpu.max").write_text("300000 100000\n")
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as in a forked child that was moved to another group
    assert limits.available_threads(group) == 3
