#!/usr/bin/env python3
"""The table of pairwise alignment: tropalign beside its peers, in one run, one thread, processor time.

    python bench/pairs.py                        everything, about ten minutes; writes docs/benchmarks/pairs.md
                                                 and a table of docs/benchmarks/index.md
    python bench/pairs.py --quick                a tenth of it, to see that it works
    python bench/pairs.py --brief                a third of it: shorter loops on fewer sequences; writes the pages, too
    python bench/pairs.py --cases local-score --lengths 257 --isas v3 --no-extras
    python bench/pairs.py --peer-python PATH     the interpreter that has the peers (pip install 'tropalign[bench]')

Only a whole run that compared scores with peers writes the pages, which name the peers that are not there; the last
line says why another run did not. --output writes the page of a part elsewhere. Exit status: 0, or 1 where a whole run
was asked for and the pages stay as they are, or 3 where data are missing.

tropalign is measured with AVX2 (v3) and with the best instruction set of the processor; peers once, in the same run.
GCUPS are cells of H (the products of the lengths of all pairs) over the whole processor time of a call of the public
Python API: encoding, planning and, with alignments, the walk back and the CIGARs included. Each figure is the median
of three loops of at least 0.3 s. Peers run on as many of the same sequences as that takes, and their scores are
compared with tropalign's, pair by pair.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import extras  # noqa: E402
import users  # noqa: E402
from absent import absent  # noqa: E402
from bare import bare  # noqa: E402
from commands import answer_of  # noqa: E402
from machine import measured_isas, processor  # noqa: E402
from peers import PEERS, cells_of, median_seconds, processor_seconds  # noqa: E402
from report import compared_scores, overview_table, write_report  # noqa: E402
from sets import DATA, NUCLEOTIDE_SETS, SETS, load, missing  # noqa: E402
from shares import shares  # noqa: E402
from tables import fill  # noqa: E402

FIRST, FOLLOWING = 10, 2
MODES = ("local", "global", "semiglobal")
REPORTS = ("score", "alignment")
CASES = [f"{mode}-{report}" for report in REPORTS for mode in MODES]
#: What is measured beside the sets, and the sets that it reads.
EXTRAS = {"bare": bare} | users.USERS | extras.EXTRAS
EXTRA_SETS = {"bare": []} | users.USER_SETS | extras.EXTRA_SETS
PART = "only a part was measured"
PAGE = HERE.parent / "docs" / "benchmarks" / "pairs.md"
OVERVIEW = HERE.parent / "docs" / "benchmarks" / "index.md"
#: What is too slow, or too different, to be measured on every set.
PEER_SETS = {
    "biopython": {"257", "dna"},
    "edlib": {"257", *NUCLEOTIDE_SETS},
    "ssearch36": {"51", "257", "30-3000"},
    "pywfa": set(NUCLEOTIDE_SETS),
    "emboss": {"257"},
}
#: Modes and reports that a peer has, where it has not all of them.
PEER_CASES = {
    "stringzillas": (("local", "global"), ("score",)),
    "edlib": (("global", "semiglobal"), REPORTS),
    "pywfa": (("global",), REPORTS),
    "ssearch36": (("local",), ("score",)),
}
#: Cells that one call gets at most, and in a brief run.
MOST_CELLS, BRIEF_CELLS = 6_000_000_000, 1_000_000_000
#: Cases that tropalign alone has, by set.
OWN_CASES = {"257": ["local-ends", "global-ends"]}
#: What Python calls the peers that are packages, and the programs of the others; vsearch is beside 16S genes alone.
MODULES = {
    "parasail": "parasail",
    "pyopal": "pyopal",
    "stringzillas": "stringzillas",
    "biopython": "Bio",
    "edlib": "edlib",
    "pywfa": "pywfa",
}
PROGRAMS = {"ssearch36": "ssearch36", "emboss": "needleall", "vsearch": "vsearch"}


def scoring(name: str) -> dict[str, object]:
    """Letters and scores as the peers take them: BLOSUM50, or 5/-4."""
    if name in NUCLEOTIDE_SETS:
        matrix = [[5 if a == b else -4 for a in "ACGT"] for b in "ACGT"]
        return {"letters": "ACGT", "matrix": matrix, "emboss_matrix": "EDNAFULL", "ssearch_matrix": ""}
    from Bio.Align import substitution_matrices

    blosum = substitution_matrices.load("BLOSUM50")
    matrix = [[int(score) for score in row] for row in blosum]
    return {
        "letters": "".join(blosum.alphabet),
        "matrix": matrix,
        "emboss_matrix": "EBLOSUM50",
        "ssearch_matrix": "BL50",
    }


# tropalign itself, in a process of its own because the instruction set is chosen at import ---------------------------


def run_tropalign(request: dict) -> dict[str, object]:
    """{case: {gcups, n_sequences, scores?, walk_share, lane_use}} of one set on one instruction set."""
    import numpy as np

    import tropalign

    name, sequences = request["set"], request["sequences"]
    dna = name in NUCLEOTIDE_SETS
    matrix = (
        tropalign.SubstitutionMatrix.match_mismatch(5, -4)
        if dna
        else tropalign.SubstitutionMatrix.from_name("BLOSUM50")
    )
    alphabet = tropalign.NUCLEOTIDE if dna else tropalign.PROTEIN
    gap = tropalign.Gap.from_first_residue(FIRST, FOLLOWING)
    cells, out = cells_of(sequences), {}
    for case in request["cases"]:
        mode, report = case.split("-")

        def run(mode=mode, report=report):
            batch = tropalign.SequenceBatch.from_strings(sequences, alphabet=alphabet)
            tables = tropalign.align_all(batch, mode=mode, matrix=matrix, gap=gap, report=report, n_threads=1)
            return [table.score for table in tables]

        scores = np.concatenate(run())
        out[case] = {"scores": scores.tolist(), **shares(run)} if request["wants_scores"] else {}
        seconds = median_seconds(run, request["at_least"], request["rounds"])
        out[case] |= {"gcups": cells / seconds / 1e9, "n_sequences": len(sequences)}
    return out


def measure_sets(options: argparse.Namespace) -> dict:
    """All figures: {set: {"n", "mean", "ours": {isa: {case: ...}}, "peers": {peer: {case: ...}}}}."""
    timing = {"at_least": options.at_least, "rounds": options.rounds}
    results: dict[str, dict] = {}
    for name in options.lengths:
        begin = processor_seconds()
        sequences = load(name, options.data)
        most = BRIEF_CELLS if options.brief else MOST_CELLS
        sequences = sequences[:80] if options.quick else first_of(sequences, most)
        entry = {"n": len(sequences), "mean": statistics.mean(map(len, sequences)), "ours": {}, "peers": {}}
        results[name] = entry
        for isa in options.isas:
            cases = options.cases + (OWN_CASES.get(name, []) if options.cases == CASES else [])
            request = {"set": name, "sequences": sequences, "cases": cases, "wants_scores": True, **timing}
            found = answer_of([sys.executable, str(HERE / "pairs.py"), "--child"], request, TROPALIGN_ISA=isa)
            entry["ours"][isa] = found
            say(name, f"tropalign {isa}", found)
        for peer in options.peers:
            if name not in PEER_SETS.get(peer, SETS):
                continue
            answers = entry["peers"].setdefault(peer, {})
            for case in options.cases:
                mode, report = case.split("-")
                if not does(peer, mode, report):
                    continue
                job = {"mode": mode, "report": report, "sequences": sequences, "first": FIRST, "following": FOLLOWING}
                request = {"peer": peer, "job": job | scoring(name), **timing}
                answers[case] = answer_of([options.peer_python, str(HERE / "peers.py")], request)
                compare(answers[case], first_of_isas(entry).get(case), mode)
            say(name, peer, answers)
        for answer in [answer for cases in entry["ours"].values() for answer in cases.values()]:
            if isinstance(answer, dict):
                answer.pop("scores", None)
        print(f"{name:>6} {processor_seconds() - begin:.0f} s of a core", flush=True)
    return results


def measure_extras(options: argparse.Namespace) -> dict:
    """What is measured beside the sets, by name; one that fails says why and ends nothing.

    What users have is measured with each instruction set, peers with the first one.
    """
    found: dict[str, object] = {}
    for name in options.extras:
        begin = processor_seconds()
        answers = []
        for isa in options.isas if name in users.USERS else options.isas[:1]:
            options.with_peers = not answers
            with tempfile.TemporaryDirectory() as scratch, environment(TROPALIGN_ISA=isa):
                try:
                    answers.append(EXTRAS[name](options, Path(scratch)))
                except Exception as error:  # whatever it is, the other figures count
                    answers.append({"failed": f"{type(error).__name__}: {error}"[:200]})
        found[name] = answers[0] if len(answers) == 1 else users.joined(dict(zip(options.isas, answers, strict=True)))
        print(f"{name} ({processor_seconds() - begin:.0f} s of a core): {found[name]}", flush=True)
    return found


@contextlib.contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Variables of processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def first_of_isas(entry: dict) -> dict:
    """What was measured of the first instruction set."""
    return next(iter(entry["ours"].values()), {})


def first_of(sequences: list[str], cells: int) -> list[str]:
    """As many of the sequences as have so many cells, two at least."""
    share = min(1.0, (cells / max(cells_of(sequences), 1)) ** 0.5)
    return sequences[: max(2, int(len(sequences) * share))]


def does(peer: str, mode: str, report: str) -> bool:
    """Whether a peer has the case."""
    modes, reports = PEER_CASES.get(peer, (MODES, REPORTS))
    return mode in modes and report in reports


def compare(answer: dict, ours: dict | None, mode: str) -> None:
    """Replaces a peer's scores by how many of them are tropalign's (pairs i < j of its first n sequences)."""
    scores = answer.pop("scores", None)
    if scores is None or not isinstance(ours, dict) or "scores" not in ours:
        return
    n, total = answer["n_sequences"], ours["n_sequences"]
    if len(scores) != n * (n - 1) // 2:
        answer["failed"] = f"{len(scores)} scores of {n} sequences"
        return
    rows = (a * total - a * (a + 1) // 2 + b - a - 1 for a in range(n) for b in range(a + 1, n))
    wrong = [
        (ours["scores"][row], score) for row, score in zip(rows, scores, strict=True) if ours["scores"][row] != score
    ]
    # parasail and Opal give the best score of an alignment with a matched pair; overlapping by nothing scores 0.
    answer["empty"] = sum(mine == 0 and theirs < 0 for mine, theirs in wrong) if mode == "semiglobal" else 0
    answer["different"] = len(wrong) - answer["empty"]
    answer["compared"] = len(scores)


def say(name: str, who: str, answers: dict) -> None:
    """Prints what was measured of one aligner on one set."""

    def figure(answer):
        return f"{answer['gcups']:6.2f}" if "gcups" in answer else "     -"

    if "failed" in answers or "missing" in answers:
        print(f"{name:>6} {who:18} {answers}", flush=True)
        return
    cells = " ".join(f"{case} {figure(answer)}" for case, answer in answers.items())
    print(f"{name:>6} {who:18} {cells}", flush=True)
    for case, answer in answers.items():
        if answer.get("different"):
            print(f"       {who}: {answer['different']} of {answer['compared']} scores differ in {case}", flush=True)
        for trouble in ("failed", "missing"):
            if trouble in answer:
                print(f"       {who}: {case} {trouble}: {answer[trouble]}", flush=True)


def machine(options: argparse.Namespace) -> dict[str, str]:
    """What the report says of processor, date and versions."""
    import tropalign

    peers = subprocess.run(
        [options.peer_python, HERE / "peers.py", "--versions"], capture_output=True, text=True
    ).stdout
    return {
        "processor": processor(),
        "date": datetime.date.today().isoformat(),
        "versions": f"tropalign {tropalign.__version__}, Python {platform.python_version()}, " + peers.strip(),
    }


def parse() -> argparse.Namespace:
    """The command line."""

    def listed(allowed):
        return lambda text: [item for item in allowed if item in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--cases", type=listed(CASES), default=CASES, help=f"of {','.join(CASES)}")
    parser.add_argument("--lengths", type=listed(SETS), default=list(SETS), help=f"of {','.join(SETS)}")
    parser.add_argument("--peers", type=listed(PEERS), default=list(PEERS), help=f"of {','.join(PEERS)}")
    parser.add_argument("--isas", default=",".join(measured_isas()), help="comma-separated")
    parser.add_argument("--extras", type=listed(EXTRAS), default=list(EXTRAS), help=f"of {','.join(EXTRAS)}")
    parser.add_argument("--no-extras", dest="extras", action="store_const", const=[])
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that has the peers")
    parser.add_argument("--quick", action="store_true", help="short loops over a few sequences")
    parser.add_argument("--brief", action="store_true", help="loops of 0.1 s over fewer sequences")
    parser.add_argument("--json", type=Path, help="also write all figures there")
    parser.add_argument("--output", type=Path, help="write the page to this file, even if only a part was measured")
    options = parser.parse_args()
    options.isas = options.isas.split(",")
    options.at_least, options.rounds = (0.03, 1) if options.quick else (0.1 if options.brief else 0.3, 3)
    options.with_peers = True
    return options


def is_whole(options: argparse.Namespace) -> bool:
    """Whether everything is to be measured."""
    chosen = [options.cases, options.lengths, options.isas, options.peers, options.extras]
    return not options.quick and chosen == [CASES, list(SETS), measured_isas(), list(PEERS), list(EXTRAS)]


def absent_peers(options: argparse.Namespace) -> list[str]:
    """Those of the peers that are to be measured which are not there."""
    asked = {*options.peers, *(["vsearch"] if "16s" in options.extras else [])}
    programs, modules = ({peer: name for peer, name in known.items() if peer in asked} for known in (PROGRAMS, MODULES))
    return absent(programs, modules, options.peer_python)


def why_no_page(results: dict) -> str:
    """Why the pages stay as they are after a whole run; empty where scores were compared."""
    return "" if compared_scores(results["sets"]) else "no score was compared with a peer's"


def main() -> int:
    """Measures, prints, and writes the pages after a whole run."""
    if sys.argv[1:] == ["--child"]:
        json.dump(run_tropalign(json.load(sys.stdin)), sys.stdout)
        return 0
    options = parse()
    if lacking := missing(
        [*options.lengths, *(name for extra in options.extras for name in EXTRA_SETS[extra])], options.data
    ):
        print(f"the data are missing: {', '.join(map(str, dict.fromkeys(lacking)))}", file=sys.stderr)
        return 3
    begin, whole = time.time(), is_whole(options)
    not_there = absent_peers(options)
    options.peers = [peer for peer in options.peers if peer not in not_there]
    results = {
        "absent": not_there,
        "machine": machine(options),
        "isas": options.isas,
        "at_least": options.at_least,
        "most_cells": BRIEF_CELLS if options.brief else MOST_CELLS,
        "extras": measure_extras(options),
        "sets": measure_sets(options),
    }
    results["seconds"], results["processor_seconds"] = round(time.time() - begin), round(processor_seconds())
    text = write_report(results)
    print(text)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    if options.output:
        options.output.write_text(text)
        print(f"written to {options.output}")
    reason = why_no_page(results) if whole else PART
    if reason:
        print(f"{PAGE.name} and {OVERVIEW.name} stay as they are: {reason}")
        return 0 if reason == PART else 1
    PAGE.write_text(text)
    OVERVIEW.write_text(fill(OVERVIEW.read_text(), overview_table(results)))
    print(f"written to {PAGE} and {OVERVIEW}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
