#!/usr/bin/env python3
"""Tropical algebra, hidden Markov models, trees and CLUSTALW: tropalign beside its peers, in one run.

    python bench/tropical.py                 all groups, with the peers that are there
    python bench/tropical.py products hmm    some groups
    python bench/tropical.py --quick         small sizes, to see that it works
    python bench/tropical.py --data DIR      with hiv_env_48.fasta, 48 envelope proteins of HIV

One thread and processor time, medians of three loops of at least 0.3 s; of the group "threads" wall time of two.
Peers: pip install scipy igraph numba tropical-gemm hmmlearn; Debian's clustalw, clustalo and quicktree; rapidnj from
github somme89/rapidNJ. docs/benchmarks/tropical.md is written by a run of all groups with all peers, or to --output.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import tropical_cases as cases
from machine import measured_isas, processor
from tables import table, wrap

import tropalign

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks" / "tropical.md"
MODULES = ("scipy", "igraph", "numba", "tropical_gemm", "hmmlearn")
PROGRAMS = ("clustalw", "clustalo", "quicktree", "rapidnj")
TITLES = {
    "products": "Min-plus products",
    "paths": "Shortest paths",
    "hmm": "Hidden Markov models",
    "polyadic": "Non-serial polyadic problems",
    "trees": "Trees",
    "clustalw": "CLUSTALW",
    "threads": "Two threads",
}
UNITS = {"G/s": "10^9 sums and minima per second", "ns": "nanoseconds per n l^2 (n symbols, l states)", "s": "seconds"}
#: Variables that keep NumPy and the peers to one thread.
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")
LEAST_SECONDS = 0.3
#: A call that takes longer is measured once.
SLOW_SECONDS = 2.0


def seconds_of(call: Callable[[], object], clock: str) -> float:
    """Seconds per call: the median of three loops. The first call, in which peers compile, counts where it is slow."""
    now = time.perf_counter if clock == "wall" else time.process_time
    begin = now()
    own = call()
    first = float(own) if clock == "own" else now() - begin
    if first > SLOW_SECONDS and clock == "own":
        return first
    if clock == "own":
        return statistics.median([first, float(call()), float(call())])
    if first > SLOW_SECONDS:
        begin = now()
        call()
        return now() - begin
    loops = []
    for _ in range(3):
        begin, count = now(), 0
        while now() - begin < LEAST_SECONDS:
            call()
            count += 1
        loops.append((now() - begin) / count)
    return statistics.median(loops)


def in_unit(case: cases.Case, seconds: float) -> float:
    """Seconds of a call as a figure of the case."""
    return {"G/s": case.work / seconds / 1e9, "ns": seconds / case.work * 1e9, "s": seconds}[case.unit]


def text_of(value: float) -> str:
    """A figure with three digits."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def group(name: str, options: argparse.Namespace, folder: Path) -> Iterator[cases.Case]:
    """The cases of a group."""
    if name == "trees":
        return cases.trees(options.quick, folder)
    if name == "clustalw":
        return cases.clustalw(options.quick, folder, options.data)
    if name == "threads":
        return cases.threads(options.quick, folder)
    plain = {"products": cases.products, "paths": cases.paths, "hmm": cases.hmm, "polyadic": cases.polyadic}
    return plain[name](options.quick)


def rows_of(found: Iterator[cases.Case], also: dict[str, dict[str, float]]) -> tuple[list[str], list[list[str]]]:
    """Measures the cases of a group: a row per case, the peers, and how many times as fast as the best.

    `also` has seconds with other instruction sets, by case.
    """
    rows, units = [], []
    for case in found:
        ours = [seconds_of(case.ours, case.clock), *(seconds[case.title] for seconds in also.values())]
        theirs = {name: seconds_of(call, case.clock) for name, call in case.peers.items()}
        shown = ", ".join(f"{name} {text_of(in_unit(case, seconds))}" for name, seconds in theirs.items())
        rivals = [seconds for name, seconds in theirs.items() if not name.startswith("tropalign")]
        ratio = " / ".join(f"{min(rivals) / own:.1f}x" for own in ours) if rivals else "-"
        goal = text_of(case.goal) if case.goal else "-"
        rows.append([case.title, *(f"**{text_of(in_unit(case, own))}**" for own in ours), goal, shown or "-", ratio])
        units.append(case.unit)
        print("  ".join(rows[-1]), case.unit, file=sys.stderr, flush=True)
    return list(dict.fromkeys(units)), rows


def own_seconds(name: str, options: argparse.Namespace, isa: str) -> dict[str, float]:
    """Seconds of tropalign alone with an instruction set, by case; in a process of its own, which chooses it."""
    words = [name, "--own", *(["--quick"] if options.quick else [])]
    words += ["--data", str(options.data)] if options.data else []
    variables = os.environ | {"TROPALIGN_ISA": isa}
    done = subprocess.run([sys.executable, __file__, *words], env=variables, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def write_page(groups: dict[str, tuple[list[str], list[list[str]]]], isas: list[str], machine: str) -> str:
    """The page, in Markdown."""
    lines = ["# Tropical algebra, hidden Markov models, trees, CLUSTALW: measured speed", ""]
    lines += [f"Processor: {processor()}.", ""]
    lines += wrap(
        f"""tropalign {tropalign.__version__} with each of these instruction sets: {", ".join(isas)}. {machine} One
        thread and processor time,
        medians of three loops of at least 0.3 s (one call of what takes more than {SLOW_SECONDS:.0f} s); *x* is how
        many times as fast as the fastest peer. Calls of the public Python API, checks of their arguments included;
        CLUSTALW by whole commands. rapidnj and quicktree read their distances from a file; the figure "without reading"
        counts from the line in which rapidnj says that it has read them. `make bench-tropical` makes this page."""
    )
    for name, (units, rows) in groups.items():
        lines += ["", f"## {TITLES[name]}", "", "; ".join(UNITS[unit] for unit in units).capitalize() + ".", ""]
        lines += table(["case", *(f"tropalign, {isa}" for isa in isas), "to reach", "peers", "x"], rows)
    return "\n".join(lines) + "\n"


def missing() -> list[str]:
    """Peers that are not there."""
    return [name for name in MODULES if find_spec(name) is None] + [name for name in PROGRAMS if which(name) is None]


def main() -> int:
    """Measures, prints, and writes the page where everything was compared."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[[], *TITLES], default=[], metavar="GROUP")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--machine", default="", help="a sentence on the machine, for the page")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--own", action="store_true", help="print seconds of tropalign alone, as JSON")
    options = parser.parse_args()
    isas = measured_isas()
    if os.environ.get("OMP_NUM_THREADS") != "1":  # read when NumPy and the peers load
        variables = os.environ | dict.fromkeys(POOLS, "1") | {"TROPALIGN_ISA": isas[0]}
        os.execve(sys.executable, [sys.executable, *sys.argv], variables)
    if absent := missing():
        print(f"install {', '.join(absent)} first: see the head of {Path(__file__).name}", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as scratch:
        chosen = options.groups or list(TITLES)
        if options.own:
            found = (case for name in chosen for case in group(name, options, Path(scratch)))  # one after another
            json.dump({case.title: seconds_of(case.ours, case.clock) for case in found}, sys.stdout)
            return 0
        groups = {}
        for name in chosen:
            also = {isa: own_seconds(name, options, isa) for isa in isas[1:]}
            groups[name] = rows_of(group(name, options, Path(scratch)), also)
        text = write_page(groups, isas, options.machine)
    print(text)
    is_whole = not options.groups and not options.quick and options.data is not None
    output = options.output or (PAGE if is_whole else None)
    if output is not None:
        output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
