"""The instruction sets of a build, and the message on a processor that has none of them."""

import shutil
import subprocess
import sys

import pytest
from clone import ROOT, skip_without

from tropalign import _native

skip_without("native", "packaging")
sys.path.insert(0, str(ROOT / "packaging"))
import build_core  # noqa: E402
import packages  # noqa: E402

PROGRAM = """
#define TROPALIGN_ISAS(X) X(v9,) X(v10,)
#include "{source}"
#include <cstdio>
int main() {{
    try {{ tropalign::require_isa(); }} catch (const std::exception &error) {{ std::puts(error.what()); }}
}}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(sets LANGUAGES CXX)
foreach(value IN ITEMS native runnable all v3 generic)
  set(TROPALIGN_ISAS ${{value}})
  include({source})
  message(STATUS "found ${{value}} ${{isas}}")
endforeach()
set(TROPALIGN_ISAS v3,v9)
include({source})
"""


def test_a_processor_without_the_compiled_sets(tmp_path):
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    program = tmp_path / "program"
    program.with_suffix(".cpp").write_text(PROGRAM.format(source=ROOT / "native" / "simd" / "isa.cpp"))
    subprocess.run(["g++", "-std=c++20", program.with_suffix(".cpp"), "-o", program], check=True)
    printed = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert printed == (
        "tropalign was compiled for instruction sets that this processor lacks (v9, v10): install a "
        "wheel, or build for all processors with CMAKE_ARGS=-DTROPALIGN_ISAS=all (docs/install.md)\n"
    )


def test_the_sets_of_a_build(tmp_path):
    if shutil.which("cmake") is None or shutil.which("g++") is None:
        pytest.skip("cmake or g++ is not installed")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(source=ROOT / "native" / "isas.cmake"))
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/local/bin:/usr/bin:/bin"})
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("-- found")]
    found = {name: sets.split(";") for _, _, name, sets in lines}
    all_sets = found["all"]
    assert done.returncode == 1 and "'v9' is not an instruction set" in " ".join(done.stderr.split())
    assert found["runnable"][0] == found["v3"][0] == all_sets[0] and found["generic"] == ["generic"]
    assert found["native"] in ([found["runnable"][-1]], ["v3", found["runnable"][-1]])
    assert set(_native.supported_isas()) <= set(found["runnable"])


LINES = ["-- Instruction sets: v3", "[1/8] Building a", "[2/8] Building b", "x.cpp:3: warning: unused", "[8/8] Linking"]


def test_the_progress_of_a_build(capsys, monkeypatch):
    clock = iter([0.0, 20.0, 60.0])
    monkeypatch.setattr(build_core.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(build_core.os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    progress = build_core.Progress(0.4)
    for line in LINES:
        progress.read(line)
    first = round(8 * build_core.PROBES_PER_FILE * 0.4 / 2)
    second = round(0.75 * (0.75 * 8 * build_core.PROBES_PER_FILE * 0.4 / 2 + 20))
    assert capsys.readouterr().out.splitlines() == [
        f"Compiling the core for v3: 8 files, about {first} s",
        f"  2 of 8 files, about {second} s left",
        "x.cpp:3: warning: unused",
        "  compiled in 60 s",
    ]


def test_the_reason_of_a_failed_build():
    said = [
        "CMake Error at CMakeLists.txt:9 (message):",
        "  No C++ compiler is installed: install g++",
        "",
        "Call Stack",
    ]
    assert build_core.failure(said) == "No C++ compiler is installed: install g++"
    assert build_core.failure(["a.cpp:1:2: error: expected ';'", "make: failed"]).startswith("a.cpp:1:2: error")


def test_packages_that_cannot_be_installed(monkeypatch):
    for name in ("PIP_NO_INDEX", "UV_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(packages, "requirements", lambda extras: ["tropalign-has-no-such-package"])
    with pytest.raises(SystemExit, match=r"No matching distribution.*\n.*set PIP_INDEX_URL to another one"):
        packages.require(sys.executable, [])
