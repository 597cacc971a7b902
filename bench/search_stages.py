#!/usr/bin/env python3
"""Single stages of a search, tropalign's beside HMMER's, on the same models and targets; run by search.py.

    python bench/search_stages.py JOBS.json OUT.json        as a process of its own, so that TROPALIGN_ISA counts

A job is a stage, a model, targets. Both sides loop over all targets for SECONDS of processor time and write a score
per target, whose bits are compared. HMMER's side is hmmer_stages.c, compiled with HMMER's own library. What all models
share (the order of targets by length, their residues in groups) has been computed before; a whole search has it in its
time.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from search_sets import joined, models_of, records, some, write_fasta

import tropalign
from tropalign import _native
from tropalign.profiles.proteins import encode

HERE = Path(__file__).resolve().parent
SECONDS = 0.2
N_ROUNDS = 3
#: What is measured with which models, and what is to be reached with AVX-512 and with AVX2; GCUPS, but for the bias
#: filter (nanoseconds per residue) and domains (times HMMER's).
STAGES: dict[str, tuple[tuple[str, ...], str]] = {
    "SSV": (("RRM_1", "globins4", "Pkinase", "Pfam-B_131", "Arena_RNA_pol"), "120 / 80; 80 to 100 states"),
    "MSV": (("Pfam-B_340", "Arena_RNA_pol"), "90 / 50"),
    "bias": (("RRM_1", "Pkinase"), "5 ns"),
    "Viterbi": (("RRM_1", "globins4", "Pkinase", "Pfam-B_131", "Arena_RNA_pol"), "10 / 7"),
    "Forward": (("RRM_1", "globins4", "Pkinase", "Pfam-B_131", "Arena_RNA_pol"), "2.2 / 1.8"),
    "domains": (("fn3", "Pkinase", "SMC_N"), "3x"),
}
#: What hmmer_stages.c calls them.
DRIVER = {"SSV": "filter", "MSV": "filter", "bias": "bias", "Viterbi": "viterbi", "Forward": "forward"}
#: Targets of a stage, about; domains are those of a model's hits.
N_TARGETS = {"SSV": 4000, "MSV": 4, "bias": 4000, "Viterbi": 1000, "Forward": 300, "domains": 60}
#: A target passes the first filter below this P-value.
F1 = 0.02


class Job(NamedTuple):
    """A stage with a model, a file of one, and targets."""

    stage: str
    model: str
    targets: str
    scores: str


class Row(NamedTuple):
    """What was measured. Seconds are of one pass over all targets, by program (`HMMER`, or an instruction set)."""

    stage: str
    model: str
    n_nodes: int
    n_targets: int
    n_residues: int
    seconds: dict[str, float]
    n_different: int


def make_jobs(models: Path, proteins: Path, folder: Path) -> list[Job]:
    """The jobs for those models of STAGES that a file has, with files of their own."""
    texts, jobs = models_of(models), []
    for stage, (names, _) in STAGES.items():
        targets = folder / f"{stage}.fa"
        if stage == "MSV":
            joined(proteins, N_TARGETS[stage], targets)
        elif stage != "domains":
            some(proteins, N_TARGETS[stage], targets)
        for name in names:
            if name not in texts:
                continue
            model = folder / f"{name}.hmm"
            model.write_text(texts[name], encoding="latin-1")
            own = targets if stage != "domains" else _hits(model, proteins, folder / f"{name}.fa")
            jobs.append(Job(stage, str(model), str(own), str(folder / f"{stage}.{name}")))
    return jobs


def _hits(model: Path, proteins: Path, out: Path) -> Path:
    """Some of what a search finds."""
    found = set(tropalign.search(model, proteins, device="cpu").names)
    sequences = [record for record in records(proteins) if record[0] in found]
    return write_fasta(out, sequences[:: max(1, len(sequences) // N_TARGETS["domains"])])


def run_jobs(jobs: list[Job], isas: list[str], driver: Path | None, folder: Path) -> list[Row]:
    """All sides of all jobs by turns, medians of rounds.

    Parameters
    ----------
    isas
        Instruction sets of tropalign.
    driver
        HMMER's stages; None: tropalign alone.
    """
    (folder / "jobs.json").write_text(json.dumps(jobs))
    seconds: list[dict[str, list[float]]] = [{} for _ in jobs]
    sizes: list[list[int]] = []
    different = [0] * len(jobs)
    for _ in range(N_ROUNDS):
        for number, job in enumerate(jobs):
            if driver is not None:
                words = [driver, _driver_stage(job), job.model, job.targets, str(SECONDS), job.scores + ".hmmer"]
                told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
                seconds[number].setdefault("HMMER", []).append(float(told))
        for isa in isas:
            words = [sys.executable, __file__, str(folder / "jobs.json"), str(folder / "out.json")]
            subprocess.run(words, check=True, env={**os.environ, "TROPALIGN_ISA": isa})
            sizes = []
            for number, (value, *size) in enumerate(json.loads((folder / "out.json").read_text())):
                seconds[number].setdefault(isa, []).append(value)
                sizes.append(size)
                if driver is not None:
                    different[number] = max(different[number], _different(jobs[number]))
    medians = [{name: statistics.median(values) for name, values in one.items()} for one in seconds]
    return [
        Row(job.stage, Path(job.model).stem, *size, one, n)
        for job, size, one, n in zip(jobs, sizes, medians, different, strict=True)
    ]


def _driver_stage(job: Job) -> str:
    return DRIVER.get(job.stage, job.stage)


def _different(job: Job) -> int:
    """Scores whose bits differ."""
    ours, theirs = (np.fromfile(job.scores + end, np.uint32) for end in ("", ".hmmer"))
    return int((ours != theirs).sum()) if ours.shape == theirs.shape else max(len(ours), len(theirs))


def compile_driver(source: Path, folder: Path) -> Path:
    """hmmer_stages.c with the library of a folder in which HMMER was built."""
    out = folder / "hmmer_stages"
    libraries = [("src", "hmmer"), ("easel", "easel"), ("libdivsufsort", "divsufsort")]
    words = ["cc", "-O3", str(HERE / "hmmer_stages.c"), "-o", str(out)]
    words += [f"-I{source / name}" for name in ("src", "easel")]
    words += [word for name, library in libraries for word in (f"-L{source / name}", f"-l{library}")]
    subprocess.run([*words, "-lm", "-lpthread"], check=True)
    return out


def _work(job: Job) -> tuple[Callable[[], Any], Callable[[], Any], tuple[int, int, int]]:
    """What is timed, what gives a score per target, and states, targets and residues."""
    (model,) = tropalign.read_queries(job.model)
    texts = [text.encode() for _, text in records(Path(job.targets))]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    block = _native.TargetBlock(encode(np.frombuffer(b"".join(texts), np.uint8)), offsets)
    order, native = block.by_length(), model.native
    every = np.arange(len(texts), dtype=np.int32)
    scores_of = {"bias": _native.bias_scores, "Viterbi": _native.viterbi_scores, "Forward": _native.forward_scores}
    scores: Callable[[], Any]
    timed: Callable[[], Any]
    if job.stage == "domains":

        def timed() -> Any:
            return _native.find_domains(native, block, order)

        def scores() -> Any:
            return envelope_sums(_native.find_domains(native, block, every), len(texts))

    elif job.stage in scores_of:

        def timed() -> Any:
            return scores_of[job.stage](native, block, order)

        def scores() -> Any:
            return scores_of[job.stage](native, block, every)

    else:

        def timed() -> Any:
            return _native.msv_filter(native, block, order, F1)

        def scores() -> Any:
            return _native.msv_scores(native, block, every)

    return timed, scores, (model.length, len(texts), int(offsets[-1]))


def envelope_sums(found: dict[str, Any], n_targets: int) -> Any:
    """The scores of a target's envelopes, summed in their order; float32, shape (n_targets,)."""
    sums = np.zeros(n_targets, np.float32)
    of_hit = np.repeat(found["target"], np.diff(found["domain_offsets"]))
    for target, nats in zip(of_hit, found["domain_envelope_nats"], strict=True):
        sums[target] += nats
    return sums


def main() -> int:
    """Runs the jobs of a file."""
    answers = []
    for entry in json.loads(Path(sys.argv[1]).read_text()):
        job = Job(*entry)
        timed, scores, size = _work(job)
        np.asarray(scores(), np.float32).tofile(job.scores)
        timed()  # makes what models and targets keep
        begin, n_loops, seconds = time.process_time(), 0, 0.0
        while seconds < SECONDS:
            timed()
            n_loops, seconds = n_loops + 1, time.process_time() - begin
        answers.append([seconds / n_loops, *size])
    Path(sys.argv[2]).write_text(json.dumps(answers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
