"""What keeps numbers the same on every processor: no operation is fused but where simd/real.hpp asks for it."""

import json
import platform
import re
import shlex
import sys

import pytest
from clone import ROOT, skip_without
from other_processors.builds import built_for_arm, built_here, run, tool
from other_processors.families import FAMILIES

skip_without("native", "CMakeLists.txt")
NATIVE = ROOT / "native"
#: Products and sums in one instruction.
FUSED = {
    "x86_64": re.compile(r"\tvf(?:n?m(?:add|sub)|maddsub|msubadd)\w*\s"),
    "aarch64": re.compile(r"\t(?:fn?madd|fn?msub|fmla|fmls)\s"),
}


def test_every_kernel_has_a_family():
    there = {f"{path.parent.name}/{path.name}" for path in NATIVE.glob("*/kernels_*.cpp")}
    assert there == {kernel for one in FAMILIES.values() for kernel in one.kernels}


def test_every_source_is_compiled_without_fused_operations(tmp_path):
    given = [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DTROPALIGN_ISAS=all"]
    tool("g++")
    run(tool("cmake"), "-G", "Ninja", "-S", ROOT, "-B", tmp_path, f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", *given)
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    own = [one["command"] for one in commands if "nanobind-static" not in one["command"]]
    assert len(own) > len(list(NATIVE.glob("*/kernels_*.cpp")))
    for command in own:
        last = [word for word in shlex.split(command) if word.startswith(("-ffp-contract", "-ffast-math", "-Ofast"))]
        assert last and last[-1] == "-ffp-contract=off" and "-ffast-math" not in last, command


def fused_in(path, processor):
    objdump = tool("objdump" if processor == platform.machine() else f"{processor}-linux-gnu-objdump")
    return len(FUSED[processor].findall(run(objdump, "-d", "--no-show-raw-insn", path)))


def compiled(one, output, *options):
    """The arguments of a compile command, with another output."""
    words = shlex.split(one["command"])
    words[words.index("-o") + 1] = str(output)
    return [*words, *options]


def assert_fused_by_request_only(build, processor, tmp_path):
    """Objects with fused operations have none where `fma` of simd/real.hpp is a product and a sum. Returns commands."""
    commands = json.loads((build / "compile_commands.json").read_text())
    objects = []
    for one in commands:
        words = shlex.split(one["command"])
        path = build / words[words.index("-o") + 1]
        if path.suffix == ".o" and path.exists() and "nanobind-static" not in str(path):
            objects.append((one, path))
    fused = [one for one, path in objects if fused_in(path, processor)]
    sources = {one["file"].removeprefix(f"{NATIVE}/") for one in fused}
    assert "msa/kernels_posteriors.cpp" in sources, "nothing is fused, not even what shall be"
    assert len(objects) > 30 and all("/kernels_" in source for source in sources), sources
    for one in fused:
        plain = tmp_path / "plain.o"
        run(*compiled(one, plain, "-DTROPALIGN_UNFUSED", "-Wno-error"), cwd=one["directory"])
        assert fused_in(plain, processor) == 0, f"the compiler fuses operations of {one['file']}"
    return [one for one, _ in objects]


def assert_that_it_would_be_seen(commands, processor, tmp_path):
    (one,) = [one for one in commands if one["file"].endswith("decoding/kernels_sums.cpp")]
    command = [word for word in compiled(one, tmp_path / "fused.o") if word != "-ffp-contract=off"]
    run(*command, cwd=one["directory"])
    assert fused_in(tmp_path / "fused.o", processor) > 20


@pytest.mark.long
@pytest.mark.skipif(platform.machine() != "x86_64", reason="for a machine of x86-64")
@pytest.mark.parametrize("processor", ["x86_64", "aarch64"])
def test_nothing_is_fused_that_was_not_asked_for(processor, tmp_path):
    build = built_for_arm() if processor == "aarch64" else built_here("v3", "v3", target="kernels_v3")
    commands = assert_fused_by_request_only(build, processor, tmp_path)
    assert_that_it_would_be_seen(commands, processor, tmp_path)
