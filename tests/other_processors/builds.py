"""The core built for other processors, and what runs it: all of it in build/other-processors, made once."""

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clone import ROOT

FOLDER = ROOT / "build" / "other-processors"
TESTS = ROOT / "tests"
#: What has to be installed, by the Debian package that has it.
PACKAGES = {
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "aarch64-linux-gnu-objdump": "binutils-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
    "qemu-x86_64": "qemu-user",
    "objdump": "binutils",
    "apt-get": "apt",
    "dpkg": "dpkg",
    "g++": "g++",
    "cmake": "cmake",
    "ninja": "ninja-build",
}
#: Of what tropalign imports, those that the families need.
WHEELS = ("numpy", "scipy", "biopython", "pyhmmer")


def tool(name: str) -> str:
    """The path of a program, of this environment or the machine. Skips the test where there is none."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        pytest.skip(f"{name} is not installed: apt-get install {PACKAGES[name]}")
    return found


@contextmanager
def alone(name: str) -> Iterator[Path]:
    """A folder of build/other-processors, which no other process changes meanwhile."""
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def run(*command: str | Path, **options) -> str:
    """What a program prints. One that fails shows the end of what it said."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-4000:]}"
    return done.stdout


def fetched(*command: str | Path, **options) -> None:
    """Run what downloads. Skips the test where that fails."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        pytest.skip(f"a Python for arm64 cannot be fetched from the Debian packages of apt's sources and PyPI: {last}")


def _unpack_debian(folder: Path) -> None:
    """Debian's Python for arm64 and all that it needs, unpacked below usr/ and lib/; apt's own state stays as it is."""
    state, archives = folder / "apt", folder / "apt" / "cache" / "archives"
    for name in ("lists/partial", "cache/archives/partial"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = {
        "Dir::State": state,
        "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache",
        "APT::Architecture": "arm64",
        "APT::Sandbox::User": "root",
        "Debug::NoLocking": "1",
    }
    (state / "apt.conf").write_text(
        "".join(f'{name} "{value}";\n' for name, value in options.items()) + 'APT::Architectures { "arm64"; };\n'
    )
    environment = {**os.environ, "APT_CONFIG": str(state / "apt.conf")}
    fetched(tool("apt-get"), "update", env=environment)
    wanted = ("python3", "libpython3-dev", "libstdc++6")
    install = (tool("apt-get"), "install", "--yes", "--no-install-recommends", "--download-only", *wanted)
    fetched(*install, env=environment)
    for package in sorted(archives.glob("*.deb")):
        run(tool("dpkg"), "-x", package, folder)
    (includes,) = (folder / "usr" / "include").glob("python3.*")
    link = includes / "aarch64-linux-gnu"  # where its pyconfig.h looks for the one of the processor
    link.unlink(missing_ok=True)
    link.symlink_to("../aarch64-linux-gnu")


def arm_python() -> Path:
    """A program that runs Python for arm64 under the emulator; packages that tropalign needs are in `arm_packages`."""
    with alone("arm-python") as folder:
        program = folder / "python"
        if not program.exists():
            _unpack_debian(folder)
            interpreter = folder / "usr" / "bin" / "python3"
            program.write_text(f'#!/bin/sh\nexec {tool("qemu-aarch64")} -L "{folder}" "{interpreter}" "$@"\n')
            program.chmod(0o755)
        else:
            tool("qemu-aarch64")
        return program


def arm_packages(python: Path) -> Path:
    """A folder of wheels for arm64."""
    with alone("arm-packages") as folder:
        complete = folder / "complete"
        if not complete.exists():
            version, libc = run(
                python, "-c", "import os, sys; print('%d.%d' % sys.version_info[:2], os.confstr('CS_GNU_LIBC_VERSION'))"
            ).split(" ", 1)
            platforms = ["manylinux2014_aarch64"]
            platforms += [f"manylinux_2_{minor}_aarch64" for minor in range(17, int(libc.strip().split(".")[1]) + 1)]
            dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
            wanted = [one for one in dependencies if one.startswith(WHEELS)]
            pip = (sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, "--no-deps")
            pip += ("--only-binary=:all:", "--python-version", version)
            pip += tuple(word for platform in platforms for word in ("--platform", platform))
            fetched(*pip, *wanted, "nanobind>=2.4")
            complete.touch()
        return folder


def built(name: str, *options: str, target: str = "all", **environment: str) -> Path:
    """The folder in which CMake has built a target of the core; after a change only what depends on it is made anew."""
    with alone(name) as folder:
        variables = {**os.environ, **environment}
        configure = (tool("cmake"), "-G", "Ninja", "-S", ROOT, "-B", folder, f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}")
        run(*configure, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options, env=variables)
        run(tool("cmake"), "--build", folder, "--target", target, env=variables)
        return folder


def built_for_arm() -> Path:
    """The core for NEON, cross-compiled."""
    python = arm_python()
    packages = arm_packages(python)
    (includes,) = (python.parent / "usr" / "include").glob("python3.*")
    return built(
        "neon",
        "-DCMAKE_SYSTEM_NAME=Linux",
        "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
        f"-DCMAKE_CXX_COMPILER={tool('aarch64-linux-gnu-g++')}",
        f"-DPython_EXECUTABLE={python}",
        f"-DPython_INCLUDE_DIR={includes}",
        "-DTROPALIGN_ISAS=neon",
        PYTHONPATH=str(packages),
    )


def built_here(name: str, isas: str, target: str = "all") -> Path:
    """The core for other instruction sets of this processor."""
    tool("g++")
    return built(name, f"-DPython_EXECUTABLE={sys.executable}", f"-DTROPALIGN_ISAS={isas}", target=target)


def package_with(build: Path) -> Path:
    """A folder to import tropalign from: its sources, and a core that was built apart."""
    with alone(f"{build.name}-package") as folder:
        package = folder / "tropalign"
        shutil.rmtree(package, ignore_errors=True)
        package.mkdir()
        (core,) = build.glob("_native*.so")
        for path in (*(ROOT / "src" / "tropalign").iterdir(), core):
            if path == core or not path.name.startswith("_native"):
                (package / path.name).symlink_to(path)
        return folder


def families_with(build: Path, *names: str) -> str:
    """What families.py prints of a core that was built for this processor; editable installs are not seen."""
    paths = (TESTS, package_with(build), sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    return _families((sys.executable, "-S"), paths, names)


def families_on_arm(*names: str) -> str:
    build = built_for_arm()
    python = arm_python()
    return _families((python,), (TESTS, package_with(build), arm_packages(python)), names)


def families_here(isa: str, *names: str, emulator: tuple[str, ...] = ()) -> str:
    """What families.py prints of the tropalign that is tested; `isa`: "" is the one that it chooses."""
    return _families((*emulator, sys.executable), (TESTS,), names, TROPALIGN_ISA=isa)


def _families(command: tuple[str | Path, ...], paths: tuple[str | Path, ...], names: tuple[str, ...], **more) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "TROPALIGN_ISA"}
    environment |= {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1", **more}
    return run(*command, "-m", "other_processors.families", *names, env=environment)
