#!/usr/bin/env python3
"""Tropical algebra, hidden Markov models, trees and CLUSTALW: tropalign beside its peers, in one run.

    python bench/tropical.py                 all groups, with the peers that are there
    python bench/tropical.py products hmm    some groups
    python bench/tropical.py --quick         small sizes, to see that it works
    python bench/tropical.py --data DIR      with hiv_env_48.fasta, 48 envelope proteins of HIV

    python bench/tropical.py --brief         loops of 0.1 s, the slowest calls once; writes the page, too

One thread and processor time, medians of three loops of at least 0.3 s; of the group "threads" wall time of two.
Peers: pip install scipy igraph numba tropical-gemm hmmlearn; Debian's clustalw, clustalo and quicktree; rapidnj from
github somme89/rapidNJ. docs/benchmarks/tropical.md is written by a run of all groups with data, and names the peers
that are not there; --output writes elsewhere.
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
from pathlib import Path

import tropical_cases as cases
from absent import absent, paragraph
from machine import measured_isas, processor
from tables import table, wrap

import tropalign

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks" / "tropical.md"
#: Peers by what cases call them, and the modules and programs that they are.
MODULES = {
    "scipy": "scipy",
    "igraph": "igraph",
    "numba": "numba",
    "tropical-gemm": "tropical_gemm",
    "hmmlearn": "hmmlearn",
}
PROGRAMS = {name: name for name in ("clustalw", "clustalo", "quicktree", "rapidnj")}
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
LEAST_SECONDS, BRIEF_SECONDS = 0.3, 0.1
#: A call that takes longer is measured once.
SLOW_SECONDS = 5.0


def seconds_of(call: Callable[[], object], clock: str, least_seconds: float, is_compiled: bool = False) -> float:
    """Seconds per call: the median of three loops, or one slow call, not the one in which numba compiles."""
    now = time.perf_counter if clock == "wall" else time.process_time
    begin = now()
    own = call()
    first = float(own) if clock == "own" else now() - begin
    if first > SLOW_SECONDS and not is_compiled:
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
        while now() - begin < least_seconds:
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
        return cases.trees(options.quick, options.folder or folder)
    if name == "clustalw":
        return cases.clustalw(options.quick, folder, options.data)
    if name == "threads":
        return cases.threads(options.quick, options.brief, folder)
    plain = {"products": cases.products, "paths": cases.paths, "hmm": cases.hmm, "polyadic": cases.polyadic}
    return plain[name](options.quick)


def rows_of(
    found: Iterator[cases.Case], also: dict[str, dict[str, float]], not_there: list[str], least_seconds: float
) -> tuple[list[str], list[list[str]]]:
    """Measures the cases of a group: a row per case, the peers, and how many times as fast as the best.

    Parameters
    ----------
    also
        By instruction set and case the seconds with others than the first one.
    not_there
        Peers that are not there.
    """
    rows, units = [], []
    for case in found:
        ours = [seconds_of(case.ours, case.clock, least_seconds), *(seconds[case.title] for seconds in also.values())]
        known = {name: call for name, call in case.peers.items() if name.split()[0] not in not_there}
        theirs = {
            name: seconds_of(call, case.clock, least_seconds, name.startswith("numba")) for name, call in known.items()
        }
        shown = ", ".join(f"{name} {text_of(in_unit(case, seconds))}" for name, seconds in theirs.items())
        rivals = [seconds for name, seconds in theirs.items() if not name.startswith("tropalign")]
        ratio = " / ".join(f"{min(rivals) / own:.1f}x" for own in ours) if rivals else "-"
        goal = text_of(case.goal) if case.goal else "-"
        rows.append([case.title, *(f"**{text_of(in_unit(case, own))}**" for own in ours), goal, shown or "-", ratio])
        units.append(case.unit)
        print("  ".join(rows[-1]), case.unit, file=sys.stderr, flush=True)
    return list(dict.fromkeys(units)), rows


def own_seconds(name: str, options: argparse.Namespace, isa: str, folder: Path) -> dict[str, float]:
    """Seconds of tropalign alone with an instruction set, by case; in a process of its own, which chooses it."""
    words = [name, "--own", "--folder", str(folder)]
    words += [f"--{what}" for what in ("quick", "brief") if getattr(options, what)]
    words += ["--data", str(options.data)] if options.data else []
    variables = os.environ | {"TROPALIGN_ISA": isa}
    done = subprocess.run([sys.executable, __file__, *words], env=variables, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def write_page(
    groups: dict[str, tuple[list[str], list[list[str]]]], isas: list[str], not_there: list[str], least_seconds: float
) -> str:
    """The page, in Markdown."""
    lines = ["# Tropical algebra, hidden Markov models, trees, CLUSTALW: measured speed", ""]
    lines += [f"Processor: {processor()}.", ""]
    lines += wrap(
        f"""You can compare the speed of products, paths, models, trees and CLUSTALW with other tools here. `make
        bench-tropical` makes this page. tropalign {tropalign.__version__} with the instruction sets {", ".join(isas)}.
        One thread and processor time, medians of three loops of at least {least_seconds} s (one call of what takes more
        than {SLOW_SECONDS:.0f} s); *x* is how many times as fast as the fastest peer. Calls of the public Python API,
        checks of their arguments included; CLUSTALW by whole commands. rapidnj and quicktree read their distances from
        a file; the figure "without reading" counts from the line in which rapidnj reports that it has read them."""
    )
    lines += ["", *paragraph(not_there)][:-1]
    for name, (units, rows) in groups.items():
        lines += ["", f"## {TITLES[name]}", "", "; ".join(UNITS[unit] for unit in units).capitalize() + ".", ""]
        lines += table(["case", *(f"tropalign, {isa}" for isa in isas), "to reach", "peers", "x"], rows)
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measures, prints, and writes the page where everything was compared."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[[], *TITLES], default=[], metavar="GROUP")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--folder", type=Path, help="folder for matrices of distances (default: not kept)")
    parser.add_argument("--own", action="store_true", help="print seconds of tropalign alone, as JSON")
    options = parser.parse_args()
    isas = measured_isas()
    if os.environ.get("OMP_NUM_THREADS") != "1":  # read when NumPy and the peers load
        variables = os.environ | dict.fromkeys(POOLS, "1") | {"TROPALIGN_ISA": isas[0]}
        os.execve(sys.executable, [sys.executable, *sys.argv], variables)
    not_there, least_seconds = absent(PROGRAMS, MODULES), BRIEF_SECONDS if options.brief else LEAST_SECONDS
    with tempfile.TemporaryDirectory() as scratch:
        chosen = options.groups or list(TITLES)
        if options.own:
            found = (case for name in chosen for case in group(name, options, Path(scratch)))  # one after another
            json.dump({case.title: seconds_of(case.ours, case.clock, least_seconds) for case in found}, sys.stdout)
            return 0
        groups = {}
        for name in chosen:
            also = {isa: own_seconds(name, options, isa, Path(scratch)) for isa in isas[1:]}
            groups[name] = rows_of(group(name, options, Path(scratch)), also, not_there, least_seconds)
        text = write_page(groups, isas, not_there, least_seconds)
    print(text)
    is_whole = not options.groups and not options.quick and options.data is not None
    output = options.output or (PAGE if is_whole else None)
    if output is not None:
        output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
