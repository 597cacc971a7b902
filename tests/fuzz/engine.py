"""A fuzzer of the pairwise engine against its definition, under sanitizers.

With clang it is libFuzzer's, else one of g++ with inputs of its own. Inputs that found something are kept in
``tests/fuzz/corpus/pairwise``.

    python tests/fuzz/engine.py --seconds 60 --folder build/fuzz
"""

from __future__ import annotations

import argparse
import platform
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
CORPUS = HERE / "corpus" / "pairwise"
NATIVE = HERE.parent.parent / "native"
SOURCES = [path for folder in ("compute", "simd", "pairwise") for path in NATIVE.glob(f"{folder}/*.cpp")]
SOURCES += [HERE / "pairwise.cpp"]
FLAGS = ["-std=c++20", "-O1", "-fwrapv", "-w", "-pthread"]
SANITIZERS = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
#: An instruction set's flags; every processor of the last ten years has it.
INSTRUCTION_SETS = {"x86_64": ("v3", ["-march=x86-64-v3"]), "AMD64": ("v3", ["-march=x86-64-v3"])}


def build(folder: Path) -> tuple[Path, bool]:
    """Compiles the fuzzer into a folder; objects that are newer than all sources are kept.

    Returns
    -------
    program : Path
    has_libfuzzer : bool
    """
    has_libfuzzer = shutil.which("clang++") is not None
    compiler = "clang++" if has_libfuzzer else "g++"
    isa, flags = INSTRUCTION_SETS.get(platform.machine(), ("generic", []))
    flags = [*FLAGS, *SANITIZERS, *flags, f"-DTROPALIGN_ISA={isa}", f"-DTROPALIGN_ISAS(X,...)=X({isa},__VA_ARGS__)"]
    sources, links = list(SOURCES), list[str]()
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


def main() -> int:
    """As the command says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 1 << 30))
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    options = parser.parse_args()
    program, has_libfuzzer = build(options.folder.resolve())
    seeds = sorted(CORPUS.iterdir())
    if not has_libfuzzer:
        print("clang++ is not there: inputs are random and grow no corpus")
        kept = subprocess.run([program, *seeds], cwd=options.folder).returncode
        fresh = [program, "--random", str(options.seed), str(options.seconds), str(1 << 40)]
        return kept or subprocess.run(fresh, cwd=options.folder).returncode
    grown = options.folder / "corpus"
    grown.mkdir(exist_ok=True)
    command = [
        program,
        f"-max_total_time={options.seconds}",
        "-max_len=4096",
        "-len_control=0",
        f"-seed={options.seed}",
    ]
    command += ["-print_final_stats=1", "-timeout=60", f"-artifact_prefix={options.folder}/", grown, CORPUS]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
