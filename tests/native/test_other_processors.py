"""The kernels as other processors get them (NEON under an emulator, and plain C++), against this processor's."""

import random
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from clone import ROOT, skip_without

import tropalign as ta

skip_without("native")
HERE = Path(__file__).parent
NATIVE = ROOT / "native"
COMPUTE = sorted(NATIVE.glob("compute/*.cpp"))
PAIRWISE, PHYLO = sorted(NATIVE.glob("pairwise/*.cpp")), sorted(NATIVE.glob("phylo/*.cpp"))
TROPICAL = [path for job in ("product", "triangular") for path in sorted(NATIVE.glob(f"tropical/*{job}*.cpp"))]
FUZZ = HERE.parent / "fuzz"
#: Sources of each program.
PROGRAMS = {
    "align_stdin": [*COMPUTE, *PAIRWISE, HERE / "align_stdin.cpp"],
    "place_random": [*COMPUTE, *PHYLO, HERE / "place_random.cpp"],
    "tropical_random": [*COMPUTE, *TROPICAL, HERE / "tropical_random.cpp"],
    "fuzz_pairwise": [*COMPUTE, *PAIRWISE, FUZZ / "pairwise.cpp", FUZZ / "standalone.cpp"],
}
FLAGS = ["-std=c++20", "-O1", "-fwrapv", "-w", "-pthread"]

#: Instruction set -> compiler, flags, and what runs the program.
TARGETS = {
    "generic": ("g++", ["-static-libstdc++"], []),
    "neon": ("aarch64-linux-gnu-g++", ["-static"], ["qemu-aarch64"]),
}


@pytest.fixture(scope="module", params=TARGETS)
def target(request, tmp_path_factory):
    """Compiles one of PROGRAMS, each source once; returns the command that runs it."""
    isa = request.param
    compiler, flags, runner = TARGETS[isa]
    for tool in (compiler, *runner):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")

    folder = tmp_path_factory.mktemp(isa)
    command = [compiler, *FLAGS, f"-DTROPALIGN_ISA={isa}", f"-DTROPALIGN_ISAS=X({isa})"]

    def made_of(source):
        made = folder / f"{source.parent.name}-{source.stem}.o"
        if not made.exists():
            subprocess.run([*command, "-c", source, "-o", made], check=True)
        return made

    def compiled(name):
        with ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(made_of, PROGRAMS[name]))
        subprocess.run([*command, *flags, *objects, "-o", folder / name], check=True)
        return [*runner, str(folder / name)]

    return compiled


@pytest.fixture(scope="module")
def program(target):
    """A command that aligns what it reads from standard input."""
    return target("align_stdin")


def test_same_placements(target):
    done = subprocess.run(target("place_random"), capture_output=True, text=True)
    assert done.returncode == 0 and int(done.stdout) > 1000, done.stdout


def test_same_products_and_triangles(target):
    done = subprocess.run(target("tropical_random"), capture_output=True, text=True)
    assert done.returncode == 0 and int(done.stdout) > 100_000, done.stdout


def test_the_engine_computes_what_its_definition_says(target, tmp_path):
    """The fuzzer: the inputs that are kept, and some that a seed makes."""
    command = target("fuzz_pairwise")
    kept = sorted((FUZZ / "corpus" / "pairwise").iterdir())
    for arguments, least in [(kept, len(kept)), (["--random", "1", "60", "25"], 5)]:
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0 and int(done.stdout) >= least > 0, done.stderr


def sequences(rng):
    """Proteins of which some are relatives; few beyond a vector of any width, so that an emulator can align them."""
    ancestor = [rng.randrange(20) for _ in range(60)]
    chosen = [[c for c in ancestor[: rng.randint(5, 60)] if rng.random() < 0.9] + [3] for _ in range(14)]
    chosen += [[rng.randrange(20) for _ in range(rng.randint(1, 45))] for _ in range(12)]
    return [*chosen, [0] * 70, [0] * 75]


@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
@pytest.mark.parametrize("gap", [(8, 2), (0, 1)])
@pytest.mark.parametrize("scale", [1, 40])
def test_same_alignments(program, mode, gap, scale):
    rng = random.Random(f"{mode}{gap}{scale}")
    texts = ["".join(ta.PROTEIN.letters[c] for c in codes) for codes in sequences(rng)]
    blosum = ta.SubstitutionMatrix.from_name("BLOSUM50")
    matrix = ta.SubstitutionMatrix("scaled", ta.PROTEIN, blosum.scores * scale, blosum.letters)
    batch = ta.SequenceBatch.from_strings(texts, alphabet=ta.PROTEIN)
    gap = (gap[0] * scale, gap[1] * scale)
    (table,) = ta.align_all(batch, mode=mode, matrix=matrix, gap=ta.Gap(*gap))
    letters = [
        "".join(chr(64 + code) for code in batch.alphabet.encode(np.frombuffer(t.encode(), np.uint8))[0]) for t in texts
    ]
    words = [int(mode != "local"), *gap, *[int(mode == "semiglobal")] * 4, *matrix.scores.ravel(), len(texts), *letters]
    done = subprocess.run(program, input=" ".join(map(str, words)), capture_output=True, text=True, check=True)
    lines = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    columns = (table.score, table.query_start, table.query_end, table.target_start, table.target_end)
    columns += (table.n_identical, table.n_similar, table.n_gaps, table.n_columns)
    order = np.lexsort((table.query_index, table.target_index))  # the program's: by target, then query
    expected = np.stack(columns)[:, order].T.tolist()
    assert [line[:9] for line in lines] == expected
    paths = [table.cigar_ops[table.cigar_offsets[k] : table.cigar_offsets[k + 1]].tolist() for k in order]
    assert [line[9:] for line in lines] == paths
