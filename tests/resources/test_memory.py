import pytest

from tropalign.errors import ResourceError
from tropalign.resources.limits import free_bytes, human, parse_bytes, require

GIB = 1 << 30


@pytest.fixture
def system(tmp_path):
    """A made-up root directory; files are written by path."""

    def write(**files):
        for path, text in files.items():
            place = tmp_path / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        return tmp_path

    return write


MEMINFO = {"proc/meminfo": f"MemTotal: {64 << 20} kB\nMemAvailable:   {32 << 20} kB\n"}
V2 = {"proc/self/cgroup": "0::/job/step\n"}


def v2(group, limit, used, cached=0):
    folder = f"sys/fs/cgroup/{group}".rstrip("/")
    return {
        f"{folder}/memory.max": f"{limit}\n",
        f"{folder}/memory.current": f"{used}\n",
        f"{folder}/memory.stat": f"anon 5\ninactive_file {cached}\n",
    }


def test_free_without_groups(system):
    assert free_bytes(system(**MEMINFO)) == 32 * GIB


def test_free_where_only_the_whole_is_known(tmp_path, monkeypatch):
    sizes = {"SC_PHYS_PAGES": 1 << 20, "SC_PAGE_SIZE": 1 << 14}
    monkeypatch.setattr("os.sysconf", sizes.__getitem__)
    assert free_bytes(tmp_path) == 8 * GIB


@pytest.mark.parametrize("answer", [ValueError("unrecognized configuration name"), -1])
def test_free_where_nothing_is_known(tmp_path, monkeypatch, answer):
    def sysconf(name):
        if isinstance(answer, Exception):
            raise answer
        return {"SC_PHYS_PAGES": answer, "SC_PAGE_SIZE": 4096}[name]

    monkeypatch.setattr("os.sysconf", sysconf)
    assert free_bytes(tmp_path) == 4 * GIB


def test_version_2_counts_every_group_above_and_gives_cache_back(system):
    root = system(**MEMINFO, **V2, **v2("job/step", "max", 7 * GIB), **v2("job", 8 * GIB, 7 * GIB, GIB // 2))
    assert free_bytes(root) == GIB + GIB // 2


def test_version_2_namespace_shows_the_root_only(system):
    assert free_bytes(system(**MEMINFO, **V2, **v2("", 4 * GIB, 1 * GIB))) == 3 * GIB


def test_version_1(system):
    folder = "sys/fs/cgroup/memory/batch"
    files = {
        "proc/self/cgroup": "9:memory:/batch\n3:cpu,cpuacct:/other\n1:name=systemd:/x\n0::/x\n",
        f"{folder}/memory.limit_in_bytes": str(6 * GIB),
        f"{folder}/memory.usage_in_bytes": str(5 * GIB),
        f"{folder}/memory.stat": f"inactive_file 1\ntotal_inactive_file {2 * GIB}\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "1",
    }
    assert free_bytes(system(**MEMINFO, **files)) == 3 * GIB


def test_free_is_never_negative(system):
    assert free_bytes(system(**MEMINFO, **V2, **v2("job", GIB, 2 * GIB))) == 0


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("8G", 8 * GIB), ("500M", 500 << 20), ("1.5g", 3 * GIB // 2), ("2GiB", 2 * GIB), (" 7 kb ", 7 << 10), ("12", 12)],
)
def test_amounts(text, n_bytes):
    assert parse_bytes(text) == n_bytes


@pytest.mark.parametrize("text", ["", "G", "-1G", "0", "0.0G", "8 apples", "1e9", "nan", "8GG"])
def test_no_amounts(text):
    with pytest.raises(ValueError, match="is not an amount of memory: write, for example, 8G or 500M"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("n_bytes", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 * GIB, "3.0 GiB"), (1 << 41, "2.0 TiB")]
)
def test_human(n_bytes, text):
    assert human(n_bytes) == text


def test_require():
    require(5, 5, "this", "nothing")
    with pytest.raises(ResourceError) as caught:
        require(3 * GIB, GIB // 2, "a matrix", "allow more with --memory")
    error = caught.value
    assert str(error) == "a matrix needs 3.0 GiB of memory and 512.0 MiB are allowed: allow more with --memory"
    assert (error.needed_bytes, error.allowed_bytes, error.exit_code) == (3 * GIB, GIB // 2, 4)
