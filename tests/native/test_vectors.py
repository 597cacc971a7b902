"""Every vector and byte operation (native/simd), per instruction set, width and lane type, against plain loops."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from clone import ROOT, skip_without

from tropalign import _native

skip_without("native", "CMakeLists.txt")
HERE = Path(__file__).parent
CMAKE = ROOT / "native" / "isas.cmake"
#: As in a build; and without, where operations that need a constant show.
OPTIMISATIONS = ["-O3", pytest.param("-O0", marks=pytest.mark.long)]


def compiled(path, isa, compiler, flags):
    # Lanes wrap around by design; GCC 12 warns of its own AVX-512 headers.
    options = ["-std=c++20", "-fwrapv", "-w", *flags, f"-DTROPALIGN_ISA={isa}"]
    subprocess.run([compiler, *options, HERE / "vectors.cpp", "-o", path], check=True)
    return path


def widths(command):
    done = subprocess.run([*command, "300"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    compared = re.findall(r"^(\d+) bytes: (\d+) vectors compared$", done.stdout, re.MULTILINE)
    assert all(int(count) > 10_000 for _, count in compared), done.stdout
    return [int(size) for size, _ in compared]


def march(isa):
    found = re.search(rf"set\(flags_{isa} (.*)\)", CMAKE.read_text())
    return found[1].split() if found else []


@pytest.mark.parametrize("optimisation", OPTIMISATIONS)
@pytest.mark.parametrize("isa", _native.supported_isas())
def test_operations(tmp_path, isa, optimisation):
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    program = compiled(tmp_path / isa, isa, "g++", [optimisation, *march(isa)])
    expected = {"v2": [16], "v3": [16, 32], "v4": [16, 32, 64], "v4vbmi": [16, 32, 64]}
    assert widths([program]) == expected.get(isa, [16])


@pytest.mark.parametrize("optimisation", OPTIMISATIONS)
@pytest.mark.parametrize(
    ("isa", "compiler", "runner"), [("generic", "g++", []), ("neon", "aarch64-linux-gnu-g++", ["qemu-aarch64"])]
)
def test_operations_of_other_processors(tmp_path, isa, compiler, runner, optimisation):
    for tool in (compiler, *runner):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    flags = ["-DPLAIN_LOOPS"] if isa == "generic" else ["-static"]
    program = compiled(tmp_path / isa, isa, compiler, [optimisation, *flags])
    assert widths([*runner, program]) == [16]
