#!/usr/bin/env python3
"""Instructions per cell of the innermost loops, counted in the assembly of the kernels for each instruction set.

    python bench/instructions.py             compiles the kernels and writes docs/benchmarks/instructions.md
    python bench/instructions.py --isas neon --output FILE

No processor of the kind is needed, only its compiler: g++ on x86-64, aarch64-linux-gnu-g++ (Debian:
g++-aarch64-linux-gnu) for NEON. Compiling takes three minutes of one core; --objects FOLDER keeps what was compiled.
Exit status: 0, or 3 where a compiler is missing or a kernel has no such loop.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from machine import NATIVE, march
from tables import table, wrap

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks" / "instructions.md"
#: By instruction set: the compiler, the disassembler, bytes of a vector. Flags stand in native/isas.cmake.
TOOLS = {
    "v3": ("g++", "objdump", 32),
    "v4vbmi": ("g++", "objdump", 64),
    "neon": ("aarch64-linux-gnu-g++", "aarch64-linux-gnu-objdump", 16),
}
#: As CMakeLists.txt compiles kernels.
FLAGS = "-std=gnu++20 -O3 -DNDEBUG -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -fwrapv -w".split()
HEAD = """Instructions of the innermost loop per vector of cells, including loads, stores and loop control, and in
brackets per cell: *v3* has 32 bytes per vector, *v4vbmi* 64 and NEON 16. Counted in the assembly that GCC makes;
nothing was run. *Bound* counts the vector operations of the recurrence itself. An x86 instruction may load one of its
operands, but NEON needs a separate load. Starts and ends of rows, look-ups outside the loop and the traceback are not
included. `make bench-instructions` makes this page."""


class Kernel(NamedTuple):
    """A loop: in which source file and function, and how many vectors of cells an iteration has.

    `bound` is of operations per vector of cells; `lane` the bytes of a lane. `vectors` is 0 where MARKS count them. In
    `function` {B} stands for the bytes of a vector and {F} for its floats. Of the ways through the function's loops it
    is the shortest one that has as many instructions on vectors as the bound asks for.
    """

    title: str
    source: str
    function: str
    vectors: int
    bound: int
    lane: int = 1


UNIT = r"UnitRun<signed char, {B}, false>::"
PROFILE = r"ProfileScores<signed char, {B}>"
KERNELS = (
    Kernel("pairs: local score, one query, int8", "pairwise/kernels_groups", r"GroupRun<{B}>::local_part", 4, 10),
    Kernel("pairs: global score, one query, int8", "pairwise/kernels_groups", r"GroupRun<{B}>::global_part<4>", 4, 10),
    Kernel("pairs: local score and end, int8", "pairwise/kernels_int8",
           UNIT + r"local_part<\(tropalign::Pass\)1, false, .*" + PROFILE, 4, 10),
    Kernel("pairs: global score, int8", "pairwise/kernels_int8",
           UNIT + r"global_part<\(.*Part\)0, \(.*Kept\)0, .*" + PROFILE, 4, 10),
    Kernel("pairs: local, with values, int8", "pairwise/kernels_int8",
           UNIT + r"local_part<\(tropalign::Pass\)3, false, \(.*Kept\)1, .*" + PROFILE, 4, 11),
    Kernel("pairs: global, with values, int8", "pairwise/kernels_int8",
           UNIT + r"global_part<\(.*Part\)0, \(.*Kept\)1, .*" + PROFILE, 4, 12),
    Kernel("search: SSV, 12 vectors", "profiles/kernels_ssv", r"sweep_stripes<12>", 12, 2),
    Kernel("search: MSV, 8 vectors", "profiles/kernels_msv", r"sweep_short<8>", 8, 4),
    Kernel("search: Viterbi filter, int16", "profiles/kernels_viterbi", r"LaneSweep<2>::row<false>", 2, 15, 2),
    Kernel("msa: posteriors, forward, float32", "msa/kernels_posteriors",
           r"forward_rows<2, true, false, float __vector\({F}\)", 2, 14, 4),
    Kernel("place: 8 bits", "placement/kernels_score", r"PlaceSweep<signed char>::strip[24]", 0, 9),
    Kernel("semirings: min-plus product, int32", "tropical/kernels_product",
           r".", 0, 2, 4),
    Kernel("semirings: min-plus product, float32", "tropical/kernels_product",
           r".", 0, 2, 4),
)  # fmt: skip


#: The widest registers, and operations that are there once per vector of cells, by a word of the title.
REGISTERS = {"v3": "%ymm", "v4vbmi": "%zmm", "neon": "v"}
MARKS = {
    "place": r"v?paddsb .*{reg}|sqadd ",
    "int32": r"v?pm(in|ax)sd .*{reg}|sm(in|ax) v\d+\.4s",
    "float32": r"v?m(in|ax)ps .*{reg}|fcmgt v\d+\.4s",
}


class Instruction(NamedTuple):
    """An instruction of a function; `target` is the number of the one that it may jump to, -1 for none."""

    name: str
    words: str
    target: int


def compiled(source: str, isa: str, folder: Path) -> Path:
    """The object of a file of kernels. Raises FileNotFoundError without a compiler, CalledProcessError."""
    compiler = TOOLS[isa][0]
    if shutil.which(compiler) is None:
        raise FileNotFoundError(f"{compiler} is not installed")
    path = folder / f"{isa}-{Path(source).name}.o"
    if path.exists():
        return path
    words = [
        compiler,
        *FLAGS,
        *march(isa),
        f"-DTROPALIGN_ISA={isa}",
        "-c",
        str(NATIVE / f"{source}.cpp"),
        "-o",
        str(path),
    ]
    subprocess.run(words, check=True)
    return path


def functions(path: Path, isa: str) -> Iterator[tuple[str, list[Instruction]]]:
    """The functions of an object, by their names in C++."""
    words = [TOOLS[isa][1], "-d", "-C", "-w", "--no-show-raw-insn", str(path)]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    for name, body in re.findall(r"^[0-9a-f]+ <(.*)>:\n((?:.+\n)+)", text, re.MULTILINE):
        lines = re.findall(r"^ +([0-9a-f]+):\t(\S+)[ \t]*(.*)$", body, re.MULTILINE)
        number = {address: k for k, (address, _, _) in enumerate(lines)}
        yield name, [Instruction(what, rest, jump_of(what, rest, number)) for _, what, rest in lines]


def jump_of(name: str, words: str, number: dict[str, int]) -> int:
    """The number of the instruction that this one jumps to; -1 where it does not, or leaves the function."""
    is_jump = re.fullmatch(r"j\w+|b|b\.\w+|cbn?z|tbn?z", name)
    found = re.search(r"([0-9a-f]+) <", words) if is_jump else None
    return number.get(found[1], -1) if found else -1


def iterations(body: list[Instruction]) -> Iterator[list[Instruction]]:
    """The shortest way through each loop: from the target of a jump backwards to that jump."""
    for last, jump in enumerate(body):
        if not 0 <= jump.target <= last:
            continue
        came_from = {jump.target: -1}
        ends = [jump.target]
        for k in ends:  # grows meanwhile
            ways = [body[k].target] if body[k].target >= 0 else []
            if k + 1 < len(body) and not re.fullmatch(r"jmp|b|br|ret\w*", body[k].name):
                ways.append(k + 1)
            for way in ways:
                if way not in came_from and last not in came_from:
                    came_from[way] = k
                    ends.append(way)
        way = [last] if last in came_from else []
        while way and came_from[way[-1]] >= 0:
            way.append(came_from[way[-1]])
        yield [body[k] for k in reversed(way)]


def on_vectors(one: Instruction) -> bool:
    """Whether an instruction computes with vectors or moves them."""
    return re.search(r"%[xyz]mm|\bv\d+\.|\bq\d+\b", one.words) is not None


def count(kernel: Kernel, isa: str, path: Path) -> float:
    """Instructions per vector of cells. Raises LookupError where there is no such loop."""
    size = TOOLS[isa][2]
    wanted = re.compile(kernel.function.replace("{B}", str(size)).replace("{F}", str(size // 4)))
    found = []
    for name, body in functions(path, isa):
        if not wanted.search(name):
            continue
        for loop in iterations(body):
            vectors = kernel.vectors or cells_of(kernel, isa, loop)
            if vectors and sum(map(on_vectors, loop)) >= kernel.bound * vectors:
                found.append(len(loop) / vectors)
    if not found:
        raise LookupError(f"{kernel.source} of {isa} has no loop of {kernel.function}")
    return min(found)


def cells_of(kernel: Kernel, isa: str, loop: list[Instruction]) -> int:
    """The vectors of cells of a loop whose number depends on the instruction set: one per characteristic operation."""
    mark = next(mark for part, mark in MARKS.items() if part in kernel.title)
    return sum(re.match(mark.replace("{reg}", REGISTERS[isa]), f"{one.name} {one.words}") is not None for one in loop)


def counted(isas: list[str], folder: Path) -> dict[str, dict[str, float]]:
    """Instructions per vector of cells, by kernel and instruction set."""
    jobs = [(source, isa) for isa in isas for source in dict.fromkeys(kernel.source for kernel in KERNELS)]
    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) - 1)) as pool:
        paths = dict(zip(jobs, pool.map(lambda job: compiled(*job, folder), jobs), strict=True))
    return {kernel.title: {isa: count(kernel, isa, paths[kernel.source, isa]) for isa in isas} for kernel in KERNELS}


def write_page(found: dict[str, dict[str, float]], isas: list[str]) -> str:
    """The page, in Markdown."""
    version = subprocess.run([TOOLS[isas[0]][0], "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    rows = []
    for kernel in KERNELS:
        row = [kernel.title, str(kernel.bound)]
        for isa in isas:
            value = found[kernel.title][isa]
            row.append(f"{value:.1f} ({value * kernel.lane / TOOLS[isa][2]:.2f})")
        rows.append(row)
    lines = ["# Instructions per cell", "", *wrap(HEAD), "", f"GCC {version}.", ""]
    return "\n".join([*lines, *table(["kernel", "bound", *isas], rows)]) + "\n"


def main() -> int:
    """Compiles, counts, prints, and writes the page of all instruction sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--isas", default=",".join(TOOLS))
    parser.add_argument("--objects", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    isas = options.isas.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.objects or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            text = write_page(counted(isas, folder), isas)
        except (FileNotFoundError, LookupError) as error:
            print(error, file=sys.stderr)
            return 3
    print(text)
    output = options.output or (PAGE if isas == list(TOOLS) else None)
    if output is not None:
        output.write_text(text)
        print(f"written to {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
