"""Check the sdist and the wheel in a folder, as in `python packaging/check_dist.py dist`.

PyPI accepts both; the wheel has the expected contents, needs no external library and no newer C library than the
builder's, and keeps the stable ABI if it claims to; the sdist's tests pass on the wheel.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

#: Tests that take only seconds, run from the sdist against the wheel.
FAST_TESTS = ("tests/test_packaging.py", "tests/scoring", "tests/sequences", "tests/cli/test_manual.py")


def only(folder: Path, pattern: str) -> Path:
    """Return the only file of this name in the folder, or end the program."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder} has {len(found)} files {pattern} instead of one: run make dist")
    return found[0]


def words_of(*command: str | Path) -> str:
    """Return the output of a module or program, with single blanks; end the program if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return " ".join(done.stdout.split())


def check_contents(names: list[str], verbs: list[str]) -> None:
    """Require the compiled module, both licences and a man page per verb, but neither tests nor C++ sources."""
    expected = [
        r"tropalign/_native\.[^/]*so",
        r".*\.dist-info/licenses/LICENSE",
        r".*\.dist-info/licenses/LICENSE.third-party",
    ]
    expected += [rf".*\.data/data/share/man/man1/tropalign{page}\.1" for page in ("", *(f"-{verb}" for verb in verbs))]
    missing = [pattern for pattern in expected if not any(re.fullmatch(pattern, name) for name in names)]
    if missing:
        sys.exit(f"the wheel lacks {', '.join(missing)}")
    strange = [name for name in names if not re.match(r"tropalign/|tropalign-[^/]*\.(dist-info|data)/", name)]
    strange += [name for name in names if name.endswith((".cpp", ".hpp", ".pyc")) or "/tests/" in name]
    if strange:
        sys.exit(f"the wheel holds {', '.join(strange)}")


def check_platform(told: str, libc: tuple[str, str]) -> str:
    """Return the manylinux tag in auditwheel's output; end the program if there is none or it is newer than `libc`."""
    found = re.search(r'consistent with the following platform tag: "([^"]+)"', told)
    tag = found[1] if found else "none"
    version = re.match(r"manylinux_(\d+)_(\d+)_", tag)
    if version is None:
        sys.exit(f"the wheel does not run on other Linux systems, its tag is {tag}: {told}")
    if (int(version[1]), int(version[2])) > tuple(map(int, libc[1].split(".")[:2])):
        sys.exit(f"the wheel's tag is {tag}, newer than the builder's {' '.join(libc)}: {told}")
    if "is not compliant" in told or "external shared libraries" in told.replace("no external shared libraries", ""):
        sys.exit(f"the wheel needs an external library: {told}")
    return tag


def run_tests(sdist: Path, wheel: Path) -> str:
    """Unpack both into an empty folder and run FAST_TESTS there; return pytest's last line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "site")
        with tarfile.open(sdist) as archive:
            archive.extractall(folder)  # a trusted file; Python 3.11.2 of Debian lacks filters
        (root,) = (path for path in folder.iterdir() if path.name != "site")
        # Without site's .pth files, which would put the sources of an editable install first.
        path = os.pathsep.join((str(folder / "site"), sysconfig.get_path("purelib")))
        command = [sys.executable, "-S", "-m", "pytest", "-p", "no:cacheprovider", *FAST_TESTS]
        done = subprocess.run(command, cwd=root, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"the sdist's tests fail on the wheel\n{done.stdout[-6000:]}{done.stderr[-2000:]}")
        return done.stdout.strip().splitlines()[-1]


def main(folder: Path) -> None:
    """Print a line per check; exit with a message and status 1 at the first that fails."""
    from tropalign.cli.main import VERBS

    sdist, wheel = only(folder, "*.tar.gz"), only(folder, "*.whl")
    with zipfile.ZipFile(wheel) as archive:
        check_contents(archive.namelist(), list(VERBS))
    print(f"{wheel.name}: module, licences, man pages")
    words_of(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
    print("twine: PyPI accepts both")
    if sys.platform == "linux":
        libc = platform.libc_ver()
        told = words_of(sys.executable, "-m", "auditwheel", "show", wheel)
        print(f"auditwheel: {check_platform(told, libc)}, builder {' '.join(libc)}")
    else:
        print("auditwheel: skipped, because this is not Linux")
    if "abi3" in wheel.name:
        words_of(sys.executable, "-m", "abi3audit", "--strict", wheel)
        print("abi3audit: the wheel keeps the stable ABI")
    else:
        print("abi3audit: skipped, because a wheel of the stable ABI needs Python 3.12 or newer")
    print(f"the sdist's tests on the wheel: {run_tests(sdist, wheel)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
