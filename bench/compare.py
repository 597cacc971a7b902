#!/usr/bin/env python3
"""Two versions of tropalign beside each other in one run: what a change costs, and whether results stay the same.

    python bench/compare.py OLD NEW                     about four minutes; each an interpreter that has tropalign
                                                        (old/.venv/bin/python), or a folder to import it from (src)
    python bench/compare.py OLD NEW --cases 257         cases whose name contains one of these words
    python bench/compare.py OLD NEW --quick             one short round, to see that it works

Each version runs in a process of its own. The two take turns, loop by loop, so that another load on the machine meets
both. A figure is processor time of one call (CLOCK_PROCESS_CPUTIME_ID) in a loop of at least 0.3 s, one thread; those
of commands are user and system time of a whole process. The ratio is new over old, the median of the rounds with the
least and the greatest. Only the public API is used, so that modules may have moved between the two.

Exit status: 0, or 1 where a result differs or a version cannot run a case, or 3 where data are missing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from compare_jobs import JOBS  # noqa: E402
from sets import DATA, FILES, load, missing  # noqa: E402

EXAMPLE = HERE.parent / "examples" / "16s"
#: Set -> how many of its sequences; a call takes some 20 to 500 ms.
COUNTS = {"51": 400, "257": 150, "608": 60, "30-3000": 80}
MODES = ("local", "global", "semiglobal")
PAIRS = [f"pairs {mode} {report} {name}" for report in ("score", "alignment") for mode in MODES for name in COUNTS]
COMMANDS = ["command pairs 100-420", "command place 16s"]
CASES = [*PAIRS, "place pruned 16s", "place unpruned 16s", "read reference 16s", *JOBS, *COMMANDS]
N_READS = 40

# In the process of one version --------------------------------------------------------------------------------------


def pairs_case(mode: str, report: str, name: str) -> Callable[[], bytes]:
    """All pairs of some proteins, from strings to columns; returns what the results come down to."""
    import tropalign

    sequences = load(name)[: COUNTS[name]]

    def run() -> bytes:
        batch = tropalign.SequenceBatch.from_strings(sequences, alphabet=tropalign.PROTEIN)
        gap = tropalign.Gap.from_first_residue(10, 2)
        tables = tropalign.align_all(
            batch, mode=mode, matrix="BLOSUM50", gap=gap, report=report, n_threads=1, device="cpu"
        )
        return b"".join(table.score.tobytes() for table in tables)

    return run


def pairs_result(mode: str, report: str, name: str) -> bytes:
    """Scores and CIGARs of some of the pairs."""
    import tropalign

    batch = tropalign.SequenceBatch.from_strings(load(name)[:40], alphabet=tropalign.PROTEIN)
    gap = tropalign.Gap.from_first_residue(10, 2)
    found = []
    for table in tropalign.align_all(batch, mode=mode, matrix="BLOSUM50", gap=gap, report=report, device="cpu"):
        found.append(table.score.astype("int64").tobytes())
        found += [text.encode() for text in table.cigars()] if report == "alignment" else []
    return b" ".join(found)


def place_case(prune: bool) -> Callable[[], bytes]:
    """Some reads of the example, placed and aligned."""
    import tropalign

    package = tropalign.ReferencePackage.read(EXAMPLE / "ref.phy.gz", EXAMPLE / "ref.nwk", n_threads=1)
    folder = tempfile.TemporaryDirectory()  # as long as `run` is there
    reads = Path(folder.name) / "reads.fasta"
    reads.write_text(first_reads(N_READS))

    def run() -> bytes:
        placed = list(tropalign.place(package, Path(folder.name) / reads.name, prune=prune, n_threads=1, device="cpu"))
        return b"".join(part.branch.tobytes() + part.score.tobytes() + part.column.tobytes() for part in placed)

    return run


def reference_case() -> Callable[[], bytes]:
    """Reading the reference and working out the vector of each branch."""
    import tropalign

    def run() -> bytes:
        package = tropalign.ReferencePackage.read(EXAMPLE / "ref.phy.gz", EXAMPLE / "ref.nwk", n_threads=1)
        return str(len(package.columns)).encode()

    return run


def first_reads(count: int) -> str:
    """That many reads of the example, as FASTA."""
    return ">" + ">".join((EXAMPLE / "reads.fasta").read_text().split(">")[1 : 1 + count])


def make(case: str) -> tuple[Callable[[], bytes], bytes]:
    """A case's call, and a digest of its results."""
    if case in JOBS:
        run = JOBS[case]()
        return run, run()
    kind, *words = case.split()
    if kind == "pairs":
        mode, report, name = words
        run = pairs_case(mode, report, name)
        return run, pairs_result(mode, report, name) + run()
    run = reference_case() if kind == "read" else place_case(words[0] == "pruned")
    return run, run()


def loop(run: Callable[[], bytes], at_least: float) -> float:
    """Processor time of one call, by a loop of at least that many seconds."""

    def now() -> float:
        return time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID)

    begin, n = now(), 0
    while (passed := now() - begin) < at_least or n == 0:
        run()
        n += 1
    return passed / n


def serve() -> None:
    """Answers requests, a line of JSON each: {"case"} prepares a case, {"at_least"} measures it."""
    import tropalign

    print(json.dumps({"at": tropalign.__file__, "version": tropalign.__version__}), flush=True)
    run: Callable[[], bytes] = bytes
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "case" in request:
                run, result = make(request["case"])
                answer: dict[str, Any] = {"digest": hashlib.sha256(result).hexdigest()}
            else:
                answer = {"seconds": loop(run, request["at_least"])}
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


# Beside both --------------------------------------------------------------------------------------------------------


class Version:
    """One version of tropalign and the process that runs it."""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        folder = Path(path).is_dir()
        self._python = sys.executable if folder else path
        self._environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        if folder:
            rest = os.environ.get("PYTHONPATH", "").split(os.pathsep)
            self._environment["PYTHONPATH"] = os.pathsep.join([str(Path(path).resolve()), *filter(None, rest)])

    @contextmanager
    def running(self) -> Iterator[Version]:
        """With the process at work; it is asked by `ask`."""
        words = [self._python, str(HERE / "compare.py"), "--serve"]
        with subprocess.Popen(
            words, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            self._process = process
            self.about = self._answer()
            yield self
            assert process.stdin is not None
            process.stdin.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the {self.name} version died: {self._python}")
        return json.loads(line)

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to a request."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def command(self, case: str, folder: Path) -> dict[str, Any]:
        """User and system time of a command in a process of its own, and a digest of its output."""
        out = folder / f"{self.name}{'.fasta' if 'place' in case else '.tsv'}"
        words = ["pairs", DATA / FILES["100-420"], "--matrix", "BLOSUM50"]
        if "place" in case:
            (folder / "reads.fasta").write_text(first_reads(10 * N_READS))
            tree = ["--reference", EXAMPLE / "ref.phy.gz", "--tree", EXAMPLE / "ref.nwk"]
            words = ["place", *tree, folder / "reads.fasta"]
        words = [*words, "-t", "1", "--device", "cpu", "-q", "-o", out]
        process = subprocess.Popen(
            [self._python, "-m", "tropalign.cli.main", *map(str, words)], env=self._environment, cwd=folder
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            return {"failed": f"exit status {process.returncode}"}
        lines = [line for line in out.read_bytes().splitlines() if not line.startswith(b"#")]
        out.unlink()
        digest = hashlib.sha256(b"\n".join(lines)).hexdigest()
        return {"seconds": usage.ru_utime + usage.ru_stime, "digest": digest}


def measure(case: str, old: Version, new: Version, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Seconds of both by round, and whether their results are the same."""
    is_command = case.startswith("command")
    rounds = 1 if options.quick else 3 if is_command else options.rounds
    seconds: dict[str, list[float]] = {"old": [], "new": []}
    digests: dict[str, str] = {}
    if not is_command:
        for version in (old, new):
            answer = version.ask(case=case)
            if "failed" in answer:
                return {"failed": f"{version.name}: {answer['failed']}"}
            digests[version.name] = answer["digest"]
    for k in range(rounds):
        for version in ((old, new), (new, old))[k % 2]:
            answer = version.command(case, folder) if is_command else version.ask(at_least=options.at_least)
            if "failed" in answer:
                return {"failed": f"{version.name}: {answer['failed']}"}
            seconds[version.name].append(answer["seconds"])
            digests[version.name] = answer.get("digest", digests.get(version.name))
    return {"seconds": seconds, "same": digests["old"] == digests["new"]}


def line_of(case: str, result: dict[str, Any]) -> str:
    """A row of the table."""
    if "failed" in result:
        return f"{case:36s} failed: {result['failed']}"
    old, new = result["seconds"]["old"], result["seconds"]["new"]
    ratios = sorted(b / a for a, b in zip(old, new, strict=True))
    times = f"{1e3 * statistics.median(old):10.1f} {1e3 * statistics.median(new):10.1f}"
    ratio = f"{statistics.median(ratios):8.3f}  ({ratios[0]:.3f}-{ratios[-1]:.3f})"
    return f"{case:36s} {times} {ratio}" + ("" if result["same"] else "  RESULTS DIFFER")


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="interpreter, or folder to import tropalign from")
    parser.add_argument("new", help="the same")
    parser.add_argument("--cases", nargs="*", default=[""], metavar="WORD", help=f"of {'; '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    options.at_least = 0.0 if options.quick else 0.3
    return options


def main() -> int:
    """Measures case by case and prints the table."""
    if sys.argv[1:] == ["--serve"]:
        serve()
        return 0
    options = parse()
    reference = [EXAMPLE / name for name in ("ref.phy.gz", "ref.nwk", "reads.fasta")]
    if absent := [*missing([*COUNTS, "100-420"]), *(path for path in reference if not path.exists())]:
        print(f"the data are missing: {', '.join(map(str, absent))}", file=sys.stderr)
        return 3
    results = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        Version("old", options.old).running() as old,
        Version("new", options.new).running() as new,
    ):
        for version in (old, new):
            print(f"{version.name}: tropalign {version.about['version']} at {version.about['at']}")
        print(f"{'processor time of a call, ms':36s} {'old':>10s} {'new':>10s} {'new/old':>8s}  (least-greatest)")
        for case in CASES:
            if any(word in case for word in options.cases):
                results[case] = measure(case, old, new, options, Path(folder))
                print(line_of(case, results[case]), flush=True)
    bad = [case for case, result in results.items() if not result.get("same")]
    print(f"{len(results)} cases; results differ or are missing in: {', '.join(bad) or 'none'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
