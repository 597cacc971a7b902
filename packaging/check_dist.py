"""Checks the sdist and the wheel in a folder, as in `python packaging/check_dist.py dist`.

PyPI takes both, the wheel holds what it should, needs no library of its own and no newer C library than the builder's,
keeps to the stable ABI where it claims it, and the sdist's tests pass on it.
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

#: Tests that need no more than seconds, of the sdist's files against the installed wheel.
FAST_TESTS = ("tests/test_packaging.py", "tests/scoring", "tests/sequences", "tests/cli/test_manual.py")


def only(folder: Path, pattern: str) -> Path:
    """The one file of that name in the folder."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder} holds {len(found)} files {pattern}, not one: run make dist")
    return found[0]


def words_of(*command: str | Path) -> str:
    """What a module or program says, with single blanks; ends the program when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return " ".join(done.stdout.split())


def check_contents(names: list[str], verbs: list[str]) -> None:
    """The compiled module, both licences, a page for man per verb, and neither tests nor sources in C++."""
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
    """The manylinux tag out of what auditwheel says; ends the program where it has none or is newer than `libc`."""
    found = re.search(r'consistent with the following platform tag: "([^"]+)"', told)
    tag = found[1] if found else "none"
    version = re.match(r"manylinux_(\d+)_(\d+)_", tag)
    if version is None:
        sys.exit(f"the wheel runs on no other Linux, its tag is {tag}: {told}")
    if (int(version[1]), int(version[2])) > tuple(map(int, libc[1].split(".")[:2])):
        sys.exit(f"the wheel's tag is {tag}, newer than the builder's {' '.join(libc)}: {told}")
    if "is not compliant" in told or "external shared libraries" in told.replace("no external shared libraries", ""):
        sys.exit(f"the wheel needs a library from outside: {told}")
    return tag


def run_tests(sdist: Path, wheel: Path) -> str:
    """Unpacks both into an empty folder and runs FAST_TESTS there; returns pytest's last line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "site")
        with tarfile.open(sdist) as archive:
            archive.extractall(folder)  # made here; Python 3.11.2, which Debian has, knows no filter
        (root,) = (path for path in folder.iterdir() if path.name != "site")
        # Without site's .pth files, which would put the sources of an editable install first.
        path = os.pathsep.join((str(folder / "site"), sysconfig.get_path("purelib")))
        command = [sys.executable, "-S", "-m", "pytest", "-p", "no:cacheprovider", *FAST_TESTS]
        done = subprocess.run(command, cwd=root, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"tests of the sdist fail on the wheel\n{done.stdout[-6000:]}{done.stderr[-2000:]}")
        return done.stdout.strip().splitlines()[-1]


def main(folder: Path) -> None:
    """Says a line per check; ends with a sentence and status 1 at the first that fails."""
    from tropalign.cli.main import VERBS

    sdist, wheel = only(folder, "*.tar.gz"), only(folder, "*.whl")
    with zipfile.ZipFile(wheel) as archive:
        check_contents(archive.namelist(), list(VERBS))
    print(f"{wheel.name}: module, licences, pages for man")
    words_of(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
    print("twine: PyPI takes both")
    if sys.platform == "linux":
        libc = platform.libc_ver()
        told = words_of(sys.executable, "-m", "auditwheel", "show", wheel)
        print(f"auditwheel: {check_platform(told, libc)}, builder {' '.join(libc)}")
    else:
        print("auditwheel: skipped, since this is no Linux")
    if "abi3" in wheel.name:
        words_of(sys.executable, "-m", "abi3audit", "--strict", wheel)
        print("abi3audit: the stable ABI is kept")
    else:
        print("abi3audit: skipped, since a wheel of the stable ABI needs Python 3.12 or newer")
    print(f"the sdist's tests on the wheel: {run_tests(sdist, wheel)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
