"""Builds the fuzzer of the pairwise engine: with clang for libFuzzer and sanitizers, else with g++ and inputs of its own."""

from __future__ import annotations

import platform
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
NATIVE = HERE.parent.parent / "native"
SOURCES = [*NATIVE.glob("compute/*.cpp"), *NATIVE.glob("pairwise/*.cpp"), HERE / "pairwise.cpp"]
FLAGS = ["-std=c++20", "-fwrapv", "-w", "-pthread"]
SANITIZERS = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
#: An instruction set's flags; every processor of the last ten years has it.
INSTRUCTION_SETS = {"x86_64": ("v3", ["-march=x86-64-v3"]), "AMD64": ("v3", ["-march=x86-64-v3"])}


def build(folder: Path, *, sanitized: bool) -> tuple[Path, bool]:
    """Compiles the fuzzer into a folder; objects that are newer than all of native/ are kept.

    Parameters
    ----------
    sanitized
        With AddressSanitizer and UndefinedBehaviorSanitizer, for this processor's vectors, and with libFuzzer where
        there is clang; else quickly, plain C++.

    Returns
    -------
    program : Path
    has_libfuzzer : bool
    """
    has_libfuzzer = sanitized and shutil.which("clang++") is not None
    compiler = "clang++" if has_libfuzzer else "g++"
    isa, flags = INSTRUCTION_SETS.get(platform.machine(), ("generic", []))
    if not sanitized:
        isa, flags = "generic", []
    flags = [*FLAGS, "-O1", *flags, f"-DTROPALIGN_ISA={isa}", f"-DTROPALIGN_ISAS=X({isa})"]
    links: list[str] = []
    if sanitized:
        flags += SANITIZERS
    sources = list(SOURCES)
    if has_libfuzzer:
        flags.append("-fsanitize=fuzzer-no-link")
        links.append("-fsanitize=fuzzer")
    else:
        sources.append(HERE / "standalone.cpp")
    folder.mkdir(parents=True, exist_ok=True)
    newest = max(path.stat().st_mtime for root in (NATIVE, HERE) for path in root.glob("**/*.[ch]pp"))

    def compiled(source: Path) -> Path:
        made = folder / f"{source.parent.name}-{source.stem}.o"
        if not made.exists() or made.stat().st_mtime < newest:
            subprocess.run([compiler, *flags, "-c", source, "-o", made], check=True)
        return made

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, sources))
    program = folder / "fuzz-pairwise"
    subprocess.run([compiler, *flags, *links, *objects, "-o", program], check=True)
    return program, has_libfuzzer
