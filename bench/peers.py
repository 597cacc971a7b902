"""Other aligners behind one interface, and the loop that times them; run by pairs.py, a process per measurement.

A peer is a function of a Job that returns its variants, {name: run}, where `run()` aligns all pairs i < j of the job
and returns their scores in that order (None where they mean something else). Each variant of a peer is tried, and the
fastest one is timed. What a peer needs per call (profiles, databases, encodings) it makes within `run`.

Pitfalls, guarded against below:
* parasail returns 0 with a flag that nobody must read when the score does not fit the lanes: the flag is read here.
* parasail and pyopal score U, O and J like ``*`` or not at all: sequences come with U as C and O, J as X.
* gap costs are those of the first and of each further residue in parasail, pyopal, Biopython and EMBOSS; stringzillas'
  `open` is the first residue's too.
* ssearch36's -f is what a gap costs beside its residues (the first residue costs -f and -g).
* EMBOSS needle leaves end gaps free unless told otherwise.
* parasail's `diag` variants take no profile and are slow for pairs this short: they are left out.
* Opal may abort in overlap mode with alignments, which is why every peer runs in a process of its own.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Run = Callable[[], "list[float] | None"]


@dataclass
class Job:
    """All pairs i < j of `sequences`, with a gap of k residues at ``first + (k - 1) * following``."""

    mode: str  # "local", "global" or "semiglobal" (all four ends free)
    report: str  # "score" or "alignment"
    sequences: list[str]
    letters: str
    matrix: list[list[int]]
    emboss_matrix: str
    ssearch_matrix: str
    first: int
    following: int
    scratch: str

    def pairs(self):
        """The pairs, in the order of their scores."""
        return ((a, b) for k, a in enumerate(self.sequences) for b in self.sequences[k + 1 :])


def parasail(job: Job) -> dict[str, Run]:
    """One profile per query; two layouts, 8 bits that widen where they must or 16 bits."""
    import parasail as library

    matrix = library.Matrix(ncbi_matrix(job))
    mode = {"local": "sw", "global": "nw", "semiglobal": "sg"}[job.mode]
    trace = "_trace" if job.report == "alignment" else ""

    def variant(layout: str, bits: str) -> Run:
        align = getattr(library, f"{mode}{trace}_{layout}_profile_{bits}")
        prepare = getattr(library, f"profile_create_{bits}")

        def run() -> list[float]:
            scores = []
            for k, query in enumerate(job.sequences[:-1]):
                profile = prepare(query, matrix)
                for target in job.sequences[k + 1 :]:
                    result = align(profile, target, job.first, job.following)
                    if result.saturated:
                        raise OverflowError("the score does not fit the lanes")
                    scores.append(result.score if not trace or result.cigar.len else 0)
            return scores

        return run

    return {f"{layout}_{bits}": variant(layout, bits) for layout in ("striped", "scan") for bits in ("sat", "16")}


def pyopal(job: Job) -> dict[str, Run]:
    """Opal: one query with a database per call."""
    import pyopal as library
    from scoring_matrices import ScoringMatrix

    matrix = ScoringMatrix(job.matrix, job.letters)
    algorithm = {"local": "sw", "global": "nw", "semiglobal": "ov"}[job.mode]
    mode = {"score": "score", "alignment": "full"}[job.report]

    def variant(overflow: str) -> Run:
        def run() -> list[float]:
            aligner = library.Aligner(matrix, gap_open=job.first, gap_extend=job.following)
            database, scores = library.Database(job.sequences, aligner.alphabet), []
            for k, query in enumerate(job.sequences[:-1]):
                found = aligner.align(query, database, mode=mode, overflow=overflow, algorithm=algorithm, start=k + 1)
                scores += [hit.score for hit in found]
            return scores

        return run

    return {overflow: variant(overflow) for overflow in ("simple", "buckets")}


def stringzillas(job: Job) -> dict[str, Run]:
    """All against all in one call."""
    import stringzilla
    import stringzillas as library

    classes = np.full(256, 31, np.uint8)
    costs = np.full((32, 32), min(map(min, job.matrix)), np.int8)
    for code, letter in enumerate(job.letters):
        classes[ord(letter)] = code
        costs[code, : len(job.letters)] = job.matrix[code]
    scope = library.DeviceScope(cpu_cores=1)
    kind = {"local": library.SmithWatermanScores, "global": library.NeedlemanWunschScores}[job.mode]
    engine = kind(classes, costs, -job.first, -job.following, scope)

    def run() -> list[float]:
        strings = stringzilla.Strs(job.sequences)
        return engine(strings, device=scope)[np.triu_indices(len(job.sequences), 1)].tolist()

    return {"self": run}


def biopython(job: Job) -> dict[str, Run]:
    """Its PairwiseAligner, the first alignment of each pair."""
    from Bio.Align import PairwiseAligner, substitution_matrices

    matrix = substitution_matrices.Array(job.letters, dims=2, data=np.array(job.matrix, float))
    aligner = PairwiseAligner(mode="local" if job.mode == "local" else "global", substitution_matrix=matrix)
    aligner.open_gap_score, aligner.extend_gap_score = -job.first, -job.following
    if job.mode == "semiglobal":
        aligner.end_gap_score = 0

    def run() -> list[float]:
        if job.report == "score":
            return [aligner.score(a, b) for a, b in job.pairs()]
        found = (next(iter(aligner.align(a, b)), None) for a, b in job.pairs())
        return [0 if hit is None else hit.score + 0 * len(hit.coordinates) for hit in found]

    return {"": run}


def edlib(job: Job) -> dict[str, Run]:
    """Edit distance, another problem: its speed is shown, its scores are not compared."""
    import edlib as library

    mode, task = {"global": "NW", "semiglobal": "HW"}[job.mode], {"score": "distance", "alignment": "path"}[job.report]

    def run() -> None:
        for a, b in job.pairs():
            library.align(a, b, mode=mode, task=task)

    return {"unit cost": run}


def emboss(job: Job) -> dict[str, Run]:
    """water and needleall."""
    program = shutil.which("water" if job.mode == "local" else "needleall")
    if program is None:
        return {}
    costs = f"-gapopen {job.first} -gapextend {job.following} -datafile {job.emboss_matrix} -auto -stdout".split()
    costs += ["-aformat", "score" if job.report == "score" else "srspair"]
    if job.mode == "global":
        costs += f"-endweight -endopen {job.first} -endextend {job.following}".split()

    # A process takes a while to begin: needleall gets all against all at once, water one query with all the others.
    files = [Path(job.scratch) / name for name in ("a.fa", "b.fa")]
    sides = (job.sequences[:1], job.sequences[1:]) if job.mode == "local" else (job.sequences, job.sequences)
    for file, side in zip(files, sides, strict=True):
        file.write_text("".join(f">s{n}\n{text}\n" for n, text in enumerate(side)))

    def run() -> None:
        subprocess.run([program, *map(str, files), *costs], check=True, capture_output=True, cwd=job.scratch)

    run.cells = sum(map(len, sides[0])) * sum(map(len, sides[1]))
    return {Path(program).name: run}


def pywfa(job: Job) -> dict[str, Run]:
    """The wavefront algorithm (WFA2), whose time grows with the difference of a pair."""
    from pywfa import WavefrontAligner

    # A path's penalty is half of what all residues could score as matches less its score, twice over: whole numbers.
    match, mismatch = job.matrix[0][0], job.matrix[0][1]
    scope = "score" if job.report == "score" else "full"
    aligner = WavefrontAligner(
        match=0,
        mismatch=2 * (match - mismatch),
        gap_opening=2 * (job.first - job.following),
        gap_extension=2 * job.following + match,
        scope=scope,
        span="end-to-end",
        heuristic=None,
    )

    def run() -> list[float]:
        scores = []
        for a, b in job.pairs():
            aligner(b, a)
            scores.append((match * (len(a) + len(b)) + aligner.score) / 2)
        return scores

    return {"wavefront": run}


def ssearch36(job: Job) -> dict[str, Run]:
    """Of the FASTA package: all against all in one process, scores alone."""
    program = shutil.which("ssearch36")
    if program is None:
        return {}
    file = Path(job.scratch) / "all.fa"
    file.write_text("".join(f">s{n}\n{text}\n" for n, text in enumerate(job.sequences)))
    gaps = ["-f", str(job.following - job.first), "-g", str(-job.following)]
    # No statistics (-z -1), one thread, every score listed (-b) and no alignments (-d 0).
    words = [program, "-q", "-H", "-s", job.ssearch_matrix, *gaps, "-z", "-1", "-T", "1", "-d", "0", "-b", "1000000"]

    def run() -> str:
        done = subprocess.run([*words, str(file), str(file)], check=True, capture_output=True, text=True)
        return done.stdout

    def scores() -> list[float]:
        found = [dict(SSEARCH_ROW.findall(part)) for part in run().split(">>>s")[1:]]
        return [float(found[a][str(b)]) for a in range(len(found)) for b in range(a + 1, len(found))]

    run.cells = sum(map(len, job.sequences)) ** 2
    run.scores = scores
    return {"farrar": run}


PEERS = {
    "parasail": parasail,
    "pyopal": pyopal,
    "stringzillas": stringzillas,
    "biopython": biopython,
    "edlib": edlib,
    "pywfa": pywfa,
    "ssearch36": ssearch36,
    "emboss": emboss,
}
#: What they come in: Python packages (biopython is needed anyway, the others are tropalign[bench]), and programs.
PACKAGES = ("parasail", "pyopal", "stringzillas-cpus", "biopython", "edlib", "pywfa")
PROGRAMS = ("ssearch36", "vsearch", "needleall")
#: A line of its list: the target's name, its length and the score.
SSEARCH_ROW = re.compile(r"^s(\d+) +\( *\d+\) +(-?\d+)", re.MULTILINE)


def ncbi_matrix(job: Job) -> str:
    """Path of a file with the job's matrix in NCBI format."""
    path = Path(job.scratch) / "matrix.txt"
    rows = [f"{letter} {' '.join(map(str, row))}" for letter, row in zip(job.letters, job.matrix, strict=True)]
    path.write_text("  " + " ".join(job.letters) + "\n" + "\n".join(rows) + "\n")
    return str(path)


def processor_seconds() -> float:
    """Processor time of this process, and of the ones that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID) + children.ru_utime + children.ru_stime


def median_seconds(run: Callable[[], object], at_least: float, rounds: int) -> float:
    """Median over `rounds` of the processor time of one run, each measured by a loop of at least `at_least` seconds."""
    measured = []
    for _ in range(rounds):
        begin, n = processor_seconds(), 0
        while (passed := processor_seconds() - begin) < at_least or n == 0:
            run()
            n += 1
        measured.append(passed / n)
    return sorted(measured)[rounds // 2]


def cells_of(sequences: list[str]) -> int:
    """Cells of H over all pairs i < j."""
    lengths = np.array([len(text) for text in sequences], np.int64)
    return int((lengths.sum() ** 2 - (lengths**2).sum()) // 2)


def measure(name: str, job: Job, at_least: float, rounds: int) -> dict[str, object]:
    """GCUPS of the peer's fastest variant, on as many of the sequences as take a run of about `at_least` seconds."""
    everything, n, slow = job.sequences, 6, set()
    while True:
        job.sequences = everything[:n]
        variants = {variant: run for variant, run in PEERS[name](job).items() if variant not in slow}
        if not variants:
            return {}
        rates = {}
        for variant, run in variants.items():
            cells = getattr(run, "cells", cells_of(job.sequences))
            begin = processor_seconds()
            try:
                run()
                rates[variant] = cells / max(processor_seconds() - begin, 1e-6)
            except OverflowError:
                slow.add(variant)
        if not rates:
            return {"failed": "every variant saturates"}
        best = max(rates, key=lambda variant: rates[variant])
        slow |= {variant for variant in rates if rates[variant] < 0.7 * rates[best]}
        seconds = cells / rates[best]
        if n == len(everything) or seconds > 0.7 * at_least:
            break
        n = min(len(everything), 1 + int(n * min(max((at_least / seconds) ** 0.5, 1.3), 5)))
    run = variants[best]
    gcups = getattr(run, "cells", cells) / median_seconds(run, at_least, rounds) / 1e9
    return {"gcups": gcups, "variant": best, "n_sequences": n, "scores": getattr(run, "scores", run)()}


def versions() -> str:
    """Which of the peers are there."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join([*found, *(name if shutil.which(name) else f"no {name}" for name in PROGRAMS)])


def main() -> None:
    """Reads {peer, job, at_least, rounds} from standard input and writes the measurement, both JSON."""
    if sys.argv[1:] == ["--versions"]:
        print(versions())
        return
    request = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as scratch:
        job = Job(scratch=scratch, **request["job"])
        try:
            out = measure(request["peer"], job, request["at_least"], request["rounds"])
        except ImportError as error:
            out = {"missing": error.name}
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
