"""Numbers of model files, where the C++ library has std::from_chars and where it has not: both are Python's float."""

import random
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from clone import skip_without

skip_without("native")
HERE = Path(__file__).parent
#: Compiler, and flags that choose its library; libc++ is that of macOS.
BUILDS = {"libstdc++": ["g++"], "libc++": ["clang++", "-stdlib=libc++"]}
WORDS = [
    "0",
    "-0.0",
    "1e5",
    "-1.5E-3",
    "17.",
    ".5",
    "1e308",
    "2.2250738585072014e-308",
    "123456789012345678901234567890",
]
REFUSED = [
    "",
    " 1",
    "1 ",
    "+1",
    "--1",
    "0x10",
    "1e",
    "e5",
    ".",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1,5",
    "1.5.2",
    "*",
    "1e+-5",
]
NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@pytest.fixture(scope="module", params=BUILDS)
def program(request, tmp_path_factory):
    """The program that reads words both ways."""
    command = BUILDS[request.param]
    path = tmp_path_factory.mktemp("read_doubles") / "read_doubles"
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    made = subprocess.run(
        [*command, "-std=c++20", "-O1", HERE / "read_doubles.cpp", "-o", path], capture_output=True, text=True
    )
    if command[1:] and "file not found" in made.stderr:
        pytest.skip(f"{request.param} is not installed")
    assert made.returncode == 0, made.stderr
    return path


def test_both_ways_are_pythons(program):
    rng = random.Random(14)
    drawn = [repr(struct.unpack("d", rng.randbytes(8))[0]) for _ in range(2_000)]
    drawn += [f"{rng.uniform(-20, 20):.{rng.randrange(20)}f}" for _ in range(2_000)]
    words = [*WORDS, *(word for word in drawn if word not in ("nan", "inf", "-inf")), *REFUSED]
    # A number too small for a double is 0 to some libraries and refused by others; no model holds one.
    words = [word for word in words if not NUMBER.fullmatch(word) or not 0 < abs(float(word)) < 2.3e-308]
    said = subprocess.run([program], input="\n".join(words) + "\n", capture_output=True, text=True, check=True).stdout
    for word, line in zip(words, said.splitlines(), strict=True):
        is_number = word not in REFUSED
        bits = struct.pack(">d", float(word) if is_number else 0.0).hex()
        assert line == f"{is_number:d} {bits} {is_number:d} {bits}", word
