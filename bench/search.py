#!/usr/bin/env python3
"""Profile HMMs against proteins: tropalign beside hmmsearch, pyhmmer and MMseqs2, in one run, processor time.

    python bench/search.py --data DIR --hmmer ~/hmmer/bin --hmmer-source ~/hmmer       all of it
    python bench/search.py --data DIR               HMMER's programs from the PATH, without its single stages
    python bench/search.py --quick                  the repository's examples, to see that it works
    python bench/search.py --brief ...              what takes half a second runs once; writes the pages, too

search_sets.py says what DIR has (the variable TROPALIGN_SEARCH_DATA names one, too). HMMER 3.4 has to be built from its
source (Debian's is older); --hmmer-source is the folder where it was built, whose library bench/hmmer_stages.c needs.
pyhmmer is a dependency of tropalign, mmseqs comes from Debian (mmseqs2). docs/benchmarks/search.md and the table of
docs/benchmarks/index.md are written by a run with data, and name the peers that are not there; --output has the page
alone.

Exit status: 0; 1 where tropalign's hits are not hmmsearch's; 3 where data or hmmsearch are missing.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import search_sets
import search_stages
from absent import absent
from machine import measured_isas, processor
from search_identity import FIELDS, fields_of, passed
from search_report import Found, Outcome, overview_rows, write_report
from tables import fill

import tropalign
from tropalign.sequences import SequenceStore

ROOT = Path(__file__).resolve().parent.parent
PAGE, OVERVIEW = (ROOT / "docs" / "benchmarks" / name for name in ("search.md", "index.md"))
#: Times each tool runs; one that takes longer than SLOW seconds runs once.
N_ROUNDS, SLOW, BRIEF_SLOW = 3, 2.0, 0.5
#: The load average below which wall times of two threads say something.
IDLE = 0.5
#: E-value up to which MMseqs2 and hmmsearch are compared: the default of MMseqs2.
MMSEQS_E = 1e-3


#: Runs a command, and says processor and wall seconds and peak memory. A process of its own, since what Linux calls the
#: peak of a command includes that of the process which started it.
LAUNCHER = """
import os, resource, sys, time
begin = time.perf_counter()
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_utime + usage.ru_stime, time.perf_counter() - begin, usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status) != 0)
"""


class Search(NamedTuple):
    """A search; `goal` is how many times faster than hmmsearch it is to be."""

    title: str
    models: Path
    targets: Path
    goal: str


def run(words: list[str], isa: str = "") -> Outcome:
    """Runs a command, tropalign with an instruction set. Raises CalledProcessError where it fails."""
    launched = [sys.executable, "-I", "-S", "-c", LAUNCHER, *words]
    variables = os.environ | ({"TROPALIGN_ISA": isa} if isa else {})
    done = subprocess.run(
        launched, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=variables
    )
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise subprocess.CalledProcessError(done.returncode, words)
    seconds, wall, kilobytes = map(float, done.stdout.split())
    return Outcome(seconds, wall, kilobytes / 1000)


def called(function: Callable[[], object]) -> Outcome:
    """Calls a function of this process."""
    begin, wall = time.process_time(), time.perf_counter()
    function()
    return Outcome(time.process_time() - begin, time.perf_counter() - wall, 0)


def middle(outcomes: list[Outcome]) -> Outcome:
    """The medians."""
    return Outcome(*(statistics.median(values) for values in zip(*outcomes, strict=True)))


def by_turns(tools: dict[str, Callable[[], Outcome]], slow: float) -> dict[str, Outcome]:
    """Medians of the tools, which take turns."""
    found: dict[str, list[Outcome]] = {tool: [] for tool in tools}
    for _ in range(N_ROUNDS):
        for tool, measure in tools.items():
            if not found[tool] or found[tool][0].seconds < slow:
                found[tool].append(measure())
    return {tool: middle(outcomes) for tool, outcomes in found.items()}


def tables_into(folder: Path) -> list[str]:
    """Options of both programs, whose tables and text go to a folder."""
    folder.mkdir(exist_ok=True)
    return ["-o", str(folder / "text"), *(word for one in FIELDS for word in (f"--{one}", str(folder / one)))]


def ours(search: Search, targets: Path, out: Path, n_threads: int = 1) -> list[str]:
    """tropalign's command."""
    words = [sys.executable, "-m", "tropalign.cli.main", "search", "-q", "-t", str(n_threads), "--device", "cpu"]
    return [*words, *tables_into(out), str(search.models), str(targets)]


def theirs(hmmsearch: str, search: Search, out: Path, n_workers: int = 0) -> list[str]:
    """hmmsearch's command."""
    return [hmmsearch, "--cpu", str(n_workers), *tables_into(out), str(search.models), str(search.targets)]


def with_pyhmmer(search: Search) -> None:
    """The same with pyhmmer, as its documentation has it."""
    import pyhmmer

    with pyhmmer.easel.SequenceFile(search.targets, digital=True) as file:
        targets = file.read_block()
    with pyhmmer.plan7.HMMFile(search.models) as models:
        for _ in pyhmmer.hmmsearch(models, targets, cpus=1):
            pass


def compare(search: Search, store: Path, hmmsearch: str, folder: Path, slow: float) -> Found:
    """A search by all tools, and how far the results agree."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)
    folder.mkdir()
    tools = {"hmmsearch": lambda: run(theirs(hmmsearch, search, folder / "hmmer"))}
    for isa in measured_isas():
        tools[f"tropalign, {isa}"] = lambda isa=isa: run(ours(search, search.targets, folder / "ours"), isa)
        tools[f"store, {isa}"] = lambda isa=isa: run(ours(search, store, folder / "store"), isa)
    tools |= {
        "python": lambda: called(lambda: tropalign.search(search.models, store, n_threads=1, device="cpu")),
        "pyhmmer": lambda: called(lambda: with_pyhmmer(search)),
    }
    outcomes = by_turns(tools, slow)
    threads = by_turns(
        {
            "hmmsearch": lambda: run(theirs(hmmsearch, search, folder / "two", 2)),
            "tropalign": lambda: run(ours(search, store, folder / "two", 2), measured_isas()[0]),
        }
        if os.getloadavg()[0] < IDLE + 1  # one thread was this run's own
        else {},
        slow,
    )
    n_hits, n_domains = (len(fields_of(folder / "hmmer" / table, n)) for table, n in FIELDS.items())
    n_different = sum(different_fields(folder / own, folder / "hmmer") for own in ("ours", "store"))
    return Found(search.title, search.goal, outcomes, threads, n_hits, n_domains, n_different)


def different_fields(own: Path, other: Path) -> int:
    """Fields of both tables that differ, and counts of targets past a filter."""
    n = 0
    for table, n_fields in FIELDS.items():
        for rows in zip_longest(*(fields_of(folder / table, n_fields) for folder in (own, other)), fillvalue=()):
            n += sum(a != b for a, b in zip_longest(*rows))
    counts = (passed((folder / "text").read_text(encoding="latin-1")) for folder in (own, other))
    return n + sum(a != b for rows in zip_longest(*counts, fillvalue=()) for a, b in zip_longest(*rows))


def with_mmseqs(folder: Path, proteins: Path, hmmsearch_table: Path) -> tuple[Outcome, float, int]:
    """MMseqs2's profile search with the same alignments: its search alone, the share of hits found, and their number.

    A hit is a pair of family and protein with an E-value up to MMSEQS_E.
    """
    work = folder / "mmseqs"
    work.mkdir(exist_ok=True)
    quiet = ["-v", "1"]
    steps = [
        ["convertmsa", "--identifier-field", "0", str(folder / "families.sto"), str(work / "msa")],
        ["msa2profile", str(work / "msa"), str(work / "profiles"), "--match-mode", "1", "--threads", "1"],
        ["createdb", str(proteins), str(work / "proteins")],
    ]
    for step in steps:
        run(["mmseqs", *step, *quiet])
    found = work / "found"
    words = ["search", str(work / "profiles"), str(work / "proteins"), str(found), str(work / "scratch")]
    outcome = run(["mmseqs", *words, "-e", str(MMSEQS_E), "--max-seqs", "20000", "--threads", "1", *quiet])
    words = [str(work / "profiles"), str(work / "proteins"), str(found), str(work / "hits.tsv")]
    run(["mmseqs", "convertalis", *words, "--format-output", "query,target", *quiet])
    pairs = {tuple(line.split("\t")) for line in (work / "hits.tsv").read_text().splitlines()}
    rows = fields_of(hmmsearch_table, FIELDS["tblout"])
    expected = {(plain(row[2]), plain(row[0])) for row in rows if float(row[4]) <= MMSEQS_E}
    named = {(plain(query), plain(target)) for query, target in pairs}
    return outcome, len(named & expected) / max(1, len(expected)), len(expected)


def plain(name: str) -> str:
    """A name as MMseqs2 writes it: the accession of UniProt's names."""
    named = re.match(r"(?:sp|tr)\|([^|]+)\|", name)
    return named[1] if named else name


def searches(data: Path, folder: Path) -> list[Search]:
    """The searches whose models a folder has."""
    texts = search_sets.models_of(data / "models.hmm")
    large = search_sets.make_large(data, folder / "large.fa")
    every = [
        ("globins4", large, "few hits", "3x"),
        ("Arena_RNA_pol", large, "few hits", "3x"),
        ("Pkinase", large, "many hits", "3x"),
        ("SMC_N", data / "proteins.fa", "hits with many domains", "3x"),
    ]
    found = []
    for name, targets, kind, goal in every:
        if name in texts:
            model = folder / f"{name}.hmm"
            model.write_text(texts[name], encoding="latin-1")
            found.append(Search(f"{name}, {kind}", model, targets, goal))
    library = data / "library.hmm"
    n_models = len(search_sets.models_of(library))
    return [*found, Search(f"{n_models} models, a proteome", library, data / "proteome.fa", "3x")]


def main() -> int:
    """Measures, prints, and writes the page where everything was compared."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("TROPALIGN_SEARCH_DATA"))
    parser.add_argument("--hmmer", metavar="FOLDER", help="programs of HMMER 3.4 (default: those of PATH)")
    parser.add_argument("--hmmer-source", type=Path, metavar="FOLDER", help="folder in which HMMER 3.4 was built")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    hmmsearch = shutil.which("hmmsearch", path=options.hmmer)
    data = Path(options.data).resolve() if options.data and not options.quick else None
    if hmmsearch is None or (data is not None and not (data / "models.hmm").is_file()):
        print("hmmsearch is not installed" if hmmsearch is None else f"{data} has no models.hmm", file=sys.stderr)
        return 3
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        slow = BRIEF_SLOW if options.brief else SLOW
        text, found = measure(data, hmmsearch, options.hmmer_source, Path(scratch), slow)
    text += f"\nThe whole run took {time.perf_counter() - begin:.0f} s.\n"
    print(text)
    write_pages(text, found, options.output, data is not None)
    return 1 if any(one.n_different for one in found) else 0


def measure(
    data: Path | None, hmmsearch: str, source: Path | None, folder: Path, slow: float
) -> tuple[str, list[Found]]:
    """The page, and what it is made of."""
    version = subprocess.run([hmmsearch, "-h"], capture_output=True, text=True, check=True).stdout.split("HMMER ")[1]
    version = version.split()[0]
    not_there = absent({"MMseqs2": "mmseqs"}) + ([] if source else ["single stages of HMMER (--hmmer-source)"])
    not_there += [] if version == "3.4" else [f"HMMER 3.4 (beside {version} instead)"]
    if data is None:
        examples = search_sets.EXAMPLES
        listed = [Search("EFP, examples", examples / "efp.hmm", examples / "efp.fasta", "-")]
    else:
        listed = searches(data, folder)
    found, store = [], folder / "targets.tdb"
    last = None
    for search in listed:
        if search.targets != last:
            store.unlink(missing_ok=True)
            SequenceStore.build([search.targets], store)
            last = search.targets
        found.append(compare(search, store, hmmsearch, folder / "search", slow))
        print(search.title, {name: round(one.seconds, 2) for name, one in found[-1].outcomes.items()}, file=sys.stderr)
    rows = stages(data, source, folder)
    more, mmseqs = families(data, hmmsearch, folder, slow)
    about = data / "about.txt" if data else None
    text = write_report(
        [*found, *more],
        rows,
        mmseqs,
        version,
        processor(),
        about.read_text() if about and about.is_file() else "",
        not_there,
        slow,
    )
    return text, [*found, *more]


def stages(data: Path | None, source: Path | None, folder: Path) -> list[search_stages.Row]:
    """Single stages, of a folder's models."""
    if data is None:
        return []
    driver = None if source is None else search_stages.compile_driver(source.resolve(), folder)
    jobs = search_stages.make_jobs(data / "models.hmm", data / "proteins.fa", folder)
    return search_stages.run_jobs(jobs, measured_isas(), driver, folder)


def families(
    data: Path | None, hmmsearch: str, folder: Path, slow: float
) -> tuple[list[Found], tuple[Outcome, float, int] | None]:
    """The alignments of a folder: as models, and as profiles of MMseqs2."""
    hmmbuild = str(Path(hmmsearch).with_name("hmmbuild"))
    models = None if data is None else search_sets.build_models(data, hmmbuild, folder / "families.hmm")
    if data is None or models is None:
        return [], None
    store = folder / "families.tdb"
    SequenceStore.build([data / "proteins.fa"], store)
    n_models = len(search_sets.models_of(models))
    search = Search(f"{n_models} families, proteins", models, data / "proteins.fa", "3x")
    found = compare(search, store, hmmsearch, folder / "search", slow)
    if shutil.which("mmseqs") is None:
        return [found], None
    return [found], with_mmseqs(folder, data / "proteins.fa", folder / "search" / "hmmer" / "tblout")


def write_pages(text: str, found: list[Found], output: Path | None, is_whole: bool) -> None:
    """The page and the table of the overview, after a whole run."""
    if output is not None:
        output.write_text(text)
        print(f"written to {output}")
    elif not is_whole:
        print(f"{PAGE.name} stays as it is: only a part was measured (no --data)")
    else:
        PAGE.write_text(text)
        OVERVIEW.write_text(fill(OVERVIEW.read_text(), overview_rows(found), "search"))
        print(f"written to {PAGE} and {OVERVIEW}")


if __name__ == "__main__":
    sys.exit(main())
