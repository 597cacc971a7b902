#!/usr/bin/env python3
"""Multiple alignment: tropalign beside QuickProbs, MUSCLE, MAFFT and others, in one run, one thread each.

    python bench/msa.py --families DIR      the families of a folder (or of the variable TROPALIGN_MSA_FAMILIES)
    python bench/msa.py                     simulated families: runs anywhere
    python bench/msa.py --quick             the three smallest of them, tropalign alone, to see that it works
    python bench/msa.py --most-mcells 250   larger families, too (25 by default)
    python bench/msa.py --brief             a tool per core at a time

A folder has sets, folders with `in` (FASTA files) and `ref` (their reference alignments, core columns in upper case),
as BAliBASE 3 and BAliFam have; neither may be copied into this repository. Peers are the programs of PEERS that are on
the PATH (Debian has all but quickprobs: github refresh-bio/QuickProbs). docs/benchmarks/msa.md is written by a run over
a folder, and names the peers that are not there; --output writes elsewhere. Exit status: 0, or 3 where there is no
family.

Seconds are processor time: of whole commands, and of calls of the Python API, since a command begins with the time that
Python takes to load. Mcells/s are cells of all pairs over them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from absent import absent
from machine import measured_isas, processor
from msa_families import Family, families_of, simulate
from msa_report import Outcome, write_report
from tables import publish

import tropalign
from tropalign.errors import InputError

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks" / "msa.md"
OURS = [sys.executable, "-m", "tropalign.cli.main", "msa", "{in}", "-o", "{out}", "-q", "-t", "1", "--device", "cpu"]


class Mode(NamedTuple):
    """One of tropalign's ways to align: what a command says for it, and the call of the Python API."""

    words: list[str]
    align: Callable[..., object]


MODES = {
    "tropalign": Mode([], tropalign.align_multiple),
    "tropalign, accurate": Mode(["--effort", "accurate"], partial(tropalign.align_multiple, effort="accurate")),
    "tropalign, fast": Mode(["--effort", "fast"], partial(tropalign.align_multiple, effort="fast")),
    "tropalign, clustalw": Mode(["--method", "clustalw"], tropalign.align_clustalw),
    "tropalign, clustalw --compat": Mode(
        ["--method", "clustalw", "--compat"],
        partial(tropalign.align_clustalw, options=tropalign.ClustalwOptions(is_compat=True)),
    ),
}
#: Commands; without {out} the alignment comes from standard output.
PEERS = {
    "QuickProbs 2": ["quickprobs", "-t", "1", "-o", "{out}", "{in}"],
    "MUSCLE 5": ["muscle", "-align", "{in}", "-output", "{out}", "-threads", "1"],
    "ProbCons": ["probcons", "{in}"],
    "MAFFT L-INS-i": ["mafft", "--localpair", "--maxiterate", "1000", "--thread", "1", "--amino", "--quiet", "{in}"],
    "Clustal Omega": ["clustalo", "--threads", "1", "--force", "-i", "{in}", "-o", "{out}"],
    "MAFFT": ["mafft", "--thread", "1", "--amino", "--quiet", "{in}"],
    "Kalign 3": ["kalign", "-i", "{in}", "-o", "{out}"],
    "CLUSTALW 2": ["clustalw", "-INFILE={in}", "-OUTFILE={out}", "-OUTPUT=FASTA", "-OUTORDER=INPUT"],
}
#: Wall seconds below which two threads are not compared with one.
LEAST_SECONDS = 2.0


def measure(command: list[str], family: Family, folder: Path) -> Outcome | None:
    """Runs a tool and scores its alignment; None where it makes none of these sequences."""
    given, out = folder / "family.fa", folder / "aligned.fa"
    shutil.copyfile(family.path, given)  # CLUSTALW writes its tree beside it
    out.unlink(missing_ok=True)
    words = [word.replace("{in}", str(given)).replace("{out}", str(out)) for word in command]
    is_printed = not any("{out}" in word for word in command)
    with open(out if is_printed else os.devnull, "wb") as stdout:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=os.environ | {"TROPALIGN_ISA": measured_isas()[0]},
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    try:
        score = tropalign.score_alignment(out, family.reference)
    except InputError as error:
        print(f"{' '.join(command)}: exit status {process.returncode}, {family.name}: {error}", file=sys.stderr)
        return None
    return Outcome(score.sp, score.tc, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


def api_seconds(family: Family, mode: Mode) -> dict[str, float]:
    """Processor seconds of each stage of a call, by its name."""
    stages: defaultdict[str, float] = defaultdict(float)
    last = time.process_time()
    name = "begin"

    def told(stage: str, share: float) -> None:
        nonlocal last, name
        now = time.process_time()
        stages[name] += now - last
        last, name = now, stage.removeprefix("guide ").split()[0]  # without the number of a pass

    mode.align(family.path, n_threads=1, device="cpu", progress=told)
    told("end", 1)
    return dict(stages)


def stages_of(families: list[Family]) -> dict[str, list[dict[str, float]]]:
    """Of each mode the stages of each family, in this process."""
    for mode in MODES.values():
        api_seconds(families[0], mode)  # loads what later calls have
    return {tool: [api_seconds(family, mode) for family in families] for tool, mode in MODES.items()}


def stages_with(isa: str, folder: Path, options: argparse.Namespace) -> dict[str, list[dict[str, float]]]:
    """The same with an instruction set, in a process of its own, which chooses it."""
    words = ["--own", "--families", str(folder), "--most-mcells", str(options.most_mcells)]
    words += ["--quick"] if options.quick else []
    variables = os.environ | {"TROPALIGN_ISA": isa}
    done = subprocess.run([sys.executable, __file__, *words], env=variables, check=True, stdout=subprocess.PIPE)
    found = json.loads(done.stdout)
    return {tool: found[tool] for tool in MODES}


def two_threads(families: list[Family]) -> float | None:
    """Wall time of one thread over that of two, over the costliest families (a twentieth of them, one at least).

    None where these take too little for a ratio.
    """
    chosen = sorted(families, key=lambda family: family.cells)[-max(1, len(families) // 20) :]
    seconds = []
    for n_threads in (1, 2):
        begin = time.perf_counter()
        for family in chosen:
            tropalign.align_multiple(family.path, n_threads=n_threads, device="cpu")
        seconds.append(time.perf_counter() - begin)
    return seconds[0] / seconds[1] if seconds[0] > LEAST_SECONDS else None


def run(families: list[Family], tools: dict[str, list[str]], n_at_once: int) -> dict[str, list[Outcome | None]]:
    """Every tool on every family, so many at a time."""
    jobs = [(tool, family) for family in families for tool in tools]

    def outcome(job: tuple[str, Family]) -> Outcome | None:
        tool, family = job
        with tempfile.TemporaryDirectory() as folder:
            return measure(tools[tool], family, Path(folder))

    found: dict[str, list[Outcome | None]] = {tool: [] for tool in tools}
    with ThreadPoolExecutor(n_at_once) as pool:
        for (tool, family), one in zip(jobs, pool.map(outcome, jobs), strict=True):
            found[tool].append(one)
            if tool == jobs[-1][0]:
                print(f"{family.set}/{family.name}", file=sys.stderr, flush=True)
    return found


def main() -> int:
    """Measures, prints, and writes the page where everything was compared."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", type=Path, default=os.environ.get("TROPALIGN_MSA_FAMILIES"))
    parser.add_argument("--most-mcells", type=float, default=25)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--own", action="store_true", help="print the stages of tropalign alone, as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        given = options.families if options.families and (options.own or not options.quick) else None
        if given is None:
            simulate(folder)
        families = families_of(Path(given or folder).resolve(), options.most_mcells * 1e6)
        if not families:
            print(f"there is no family below {given}: sets have the folders in and ref", file=sys.stderr)
            return 3
        families = families[:3] if options.quick else families
        if options.own:
            json.dump(stages_of(families), sys.stdout)
            return 0
        not_there = absent({tool: words[0] for tool, words in PEERS.items()})
        peers = {tool: words for tool, words in PEERS.items() if tool not in not_there and not options.quick}
        ours = {tool: [*OURS, *mode.words] for tool, mode in MODES.items()}
        n_at_once = len(os.sched_getaffinity(0)) if options.brief else 1
        found = run(families, {**ours, **peers}, n_at_once)
        stages = {isa: stages_with(isa, Path(given or folder).resolve(), options) for isa in measured_isas()}
        text = write_report(families, found, stages, two_threads(families), processor(), not_there, n_at_once)
    publish(text, PAGE, options.output, "" if given is not None else "no --families")
    return 0


if __name__ == "__main__":
    sys.exit(main())
