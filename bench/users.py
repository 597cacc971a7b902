"""What users of pairwise alignment have, a row per case: similar DNA, databases, CDR3, 16S, proteomes, loops.

A measurement returns rows (see `row`); users_report.py makes the table. Peers that are not installed leave no figure.
Whole commands count processor time and peak memory from start to end.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from commands import answer_of, fasta, median_of, timed, tropalign
from peers import SSEARCH_ROW, cells_of
from sets import cdr3, genes_16s, load, random_proteins

HERE = Path(__file__).resolve().parent
LOOPS = HERE / "loops.py"


def row(case: str, value: float, unit: str, **others) -> dict:
    """A row of the table.

    Beside the case, its figure and unit it may have: `mb` (peak memory); `peers`, {name: {"value", "mb"?}}, in the
    same unit; `goal`, a text; `gcups` and `bare`, the cells of H per second of processor time and the bare kernel that
    bounds them; `shares`, {what: part of the time}, or `own`, what shares.py found; `failed`, a text, and `notes`,
    texts that follow the table.
    """
    return {"case": case, "value": value, "unit": unit} | others


def failed(case: str, why: object) -> dict:
    """The row of a case that was not measured."""
    return {"case": case, "failed": str(why)}


def joined(answers: dict[str, list[dict] | dict]) -> list[dict] | dict:
    """The rows of the first instruction set; in `also` the rows of the others, by instruction set."""
    (_, first), *others = answers.items()
    if isinstance(first, dict):
        return first
    rows = [row | {"also": {}} for row in first]
    for isa, found in others:
        by_case = {} if isinstance(found, dict) else {row["case"]: row for row in found}
        for one in rows:
            one["also"][isa] = by_case.get(one["case"], failed(one["case"], "not measured"))
    return rows


def child(who: str, pairs: list, options) -> dict:
    """What loops.py measures of one aligner, or {"failed" or "missing": why}."""
    request = {"who": who, "pairs": pairs, "at_least": options.at_least, "rounds": options.rounds}
    python = sys.executable if who.startswith("tropalign") else options.peer_python
    return answer_of([python, str(LOOPS)], request)


def beside(who: list[str], own: dict, pairs: list, options, unit_s: float) -> tuple[dict, list[str]]:
    """Peers on the same pairs, {name: {"value"}}, and a note for every one whose scores differ or who failed."""
    found: dict[str, dict] = {}
    notes = []
    for name in who if options.with_peers else []:
        answer = child(name, pairs, options)
        if "seconds" in answer:
            found[name] = {"value": answer["seconds"] / unit_s}
            both = zip(answer["scores"], own["scores"], strict=False)
            if wrong := sum(theirs is not None and theirs != mine for theirs, mine in both):
                notes.append(f"{name}, {pairs}: {wrong} of {len(answer['scores'])} scores differ")
        elif "failed" in answer:
            notes.append(f"{name}, {pairs}: {answer['failed']}")
    return found, notes


#: Length, percent that differ, share of substitutions; what to reach, pairs.
SIMILAR = (
    (1_000, 1, 0.8, "12 us", 300),
    (1_000, 1, 1.0, "12 us", 300),
    (1_000, 5, 0.8, "60 us", 300),
    (1_000, 20, 0.8, "100 us", 300),
    (10_000, 1, 0.8, "400 us", 40),
    (10_000, 5, 0.8, "3,000 us", 40),
    (10_000, 20, 0.8, "6,000 us", 40),
)


def similar(options, scratch: Path) -> list[dict]:
    """Pairs of similar DNA, global, CIGARs: a list of pairs in one call, and a call per pair."""
    rows = []
    for length, percent, substitutions, goal, n in SIMILAR:
        if options.quick and length > 1_000:
            continue
        what = f"{percent} % divergence" + (" (substitutions only)" if substitutions == 1 else "")
        case = f"DNA, {length:,} bp, {what}, global, CIGAR, {n} pairs in one call"
        pairs = ["similar", n // 10 if options.quick else n, length, percent, substitutions]
        own = child("tropalign", pairs, options)
        if "seconds" not in own:
            rows.append(failed(case, own))
            continue
        names = ["tropalign, one by one", "pywfa", "edlib", "parasail"]
        peers, notes = beside(names, own, pairs, options, 1e-6)
        gcups = own["cells"] / own["seconds"] / 1e9
        rows.append(row(case, own["seconds"] * 1e6, "us", peers=peers, goal=goal, gcups=gcups, bare="global score",
                        own=own, notes=notes))  # fmt: skip
    return rows


def loops(options, scratch: Path) -> list[dict]:
    """A loop over `align` on random proteins, global, CIGARs."""
    empty = child("tropalign, one by one", ["random", 50, 1], options)
    rows = []
    for length, goal in ((20, "15 us"), (100, "25 us"), (400, "")):
        case, pairs = f"a loop over `align()`, {length} residues, global, CIGAR", ["random", 200, length]
        own = child("tropalign, one by one", pairs, options)
        if "seconds" not in own:
            rows.append(failed(case, own))
            continue
        peers, notes = beside(["parasail", "biopython"], own, pairs, options, 1e-6)
        shares = {"a call of two residues": empty["seconds"] / own["seconds"]} if "seconds" in empty else {}
        rows.append(row(case, own["seconds"] * 1e6, "us", peers=peers, goal=goal, shares=shares, notes=notes,
                        gcups=own["cells"] / own["seconds"] / 1e9, bare="global score"))  # fmt: skip
    return rows


READ = "import sys, tropalign\nfor path in sys.argv[1:]: tropalign.read_sequences(path)"


def whole_command(case: str, words: list[str], cells: float, files: list[Path], options, scratch: Path, **others):
    """The row of a command: its processor time and memory, and what start and reading alone take."""
    run = median_of(tropalign("pairs", *map(str, files), *words, "-q", "-o", str(scratch / "out")), scratch,
                    options.rounds)  # fmt: skip
    if "failed" in run:
        return failed(case, run["failed"])
    seconds = float(run["processor_s"])
    tiny = fasta(scratch / "tiny.fasta", ["ACDEFGHIKL", "MNPQRSTVWY"])
    start = median_of(tropalign("pairs", str(tiny), "-t", "1", "-q", "-o", str(scratch / "tiny")), scratch, 3)
    reading = median_of([sys.executable, "-c", READ, *map(str, files)], scratch, options.rounds)
    nothing = median_of([sys.executable, "-c", READ, str(tiny)], scratch, 3)
    shares = {}
    if "failed" not in start:
        shares["start"] = float(start["processor_s"]) / seconds
    if "failed" not in reading and "failed" not in nothing:
        shares["reading"] = max(float(reading["processor_s"]) - float(nothing["processor_s"]), 0) / seconds
    return row(case, seconds, "s", mb=run["peak_mb"], gcups=cells / seconds / 1e9, shares=shares, **others)  # fmt: skip


def database(options, scratch: Path) -> list[dict]:
    """The ten best of a database for one protein, local, one thread; ssearch36 where it is there."""
    share = 20 if options.quick else 1
    query_text = random_proteins(1, 433, 433, seed=3)[0]
    query = fasta(scratch / "query.fasta", [query_text])
    sets = {
        "500,000 peptides of 20-60 residues": (500_000 // share, 20, 60, "0.6 s, 150 MB"),
        "20,000 proteins of 50-2,000 residues": (20_000 // share, 50, 2000, "0.25 s, 150 MB"),
    }
    rows = []
    for name, (n, shortest, longest, goal) in sets.items():
        texts = random_proteins(n, shortest, longest)
        path = fasta(scratch / "database.fasta", texts)
        peers, theirs = ssearch36(query, path, options, scratch)
        cells = len(query_text) * sum(map(len, texts))
        case = f"one query of 433 residues, the 10 best of {name}, local, whole command"
        answer = whole_command(case, ["--top", "10", "-t", "1"], cells, [query, path], options, scratch,
                               peers=peers, goal=goal, bare="local score")  # fmt: skip
        if "value" in answer and peers:
            lines = [x.split("\t") for x in (scratch / "out").read_text().splitlines() if not x.startswith("#")]
            found = sorted(int(line[lines[0].index("score")]) for line in lines[1:])
            if found != theirs:
                answer["notes"] = [f"ssearch36, {name}: its ten best scores are {theirs}, not {found}"]
        rows.append(answer)
    return rows


def ssearch36(query: Path, database: Path, options, scratch: Path) -> tuple[dict, list[int]]:
    """What ssearch36 uses for the same question, {} where it is not there, and its ten best scores.

    With tropalign's costs (-s, -f, -g) and no statistics (-z -1), which would order by another score.
    """
    program, listed = shutil.which("ssearch36"), scratch / "ssearch.txt"
    if program is None or not options.with_peers:
        return {}, []
    words = "-q -T 1 -s BL62 -f -11 -g -1 -z -1 -b 10 -d 10 -O".split()
    run = median_of([program, *words, str(listed), str(query), str(database)], scratch, options.rounds)
    if "failed" in run:
        return {}, []
    scores = sorted(int(score) for _, score in SSEARCH_ROW.findall(listed.read_text()))
    return {"ssearch36": {"value": run["processor_s"], "mb": run["peak_mb"]}}, scores


def repertoire(options, scratch: Path) -> list[dict]:
    """The five best of each CDR3 among all others, global, two threads."""
    n = 1_000 if options.quick else 20_000 if options.brief else 50_000
    texts = cdr3(n)
    path = fasta(scratch / "cdr3.fasta", texts)
    words = ["--mode", "global", "--top", "5", "-t", "2"]
    # A quarter of the pairs of 100,000: 4 minutes of two cores become 120 s of one.
    goal = "120 s (100,000: 4 minutes of 2 cores, 1 GB)" if n == 50_000 else ""
    case = f"{n:,} CDR3 (12-20 residues), all against all, global, top 5, 2 threads, whole command"
    answer = whole_command(case, words, cells_of(texts), [path], options, scratch, goal=goal, bare="global score")
    if "value" in answer and not options.quick:
        times = (100_000 / n) ** 2
        minutes = times * answer["value"] / 2 / 60
        answer["notes"] = [
            f"100,000 CDR3 have {times:.0f} times the pairs: {minutes:.1f} minutes of two cores at this rate"
        ]
    return [answer]


def sixteen_s(options, scratch: Path) -> list[dict]:
    """An identity matrix of 16S genes, global, two threads; vsearch, which is slower, on fewer of them."""
    n, few = (40, 20) if options.quick else (300, 80)
    texts = genes_16s(n)
    path, part = fasta(scratch / "16s.fasta", texts), fasta(scratch / "few.fasta", texts[:few])
    peers = {}
    if options.with_peers and (program := shutil.which("vsearch")):
        words = f"{program} --allpairs_global {part} --acceptall --threads 2 --quiet --userfields query+target+id"
        run = timed([*words.split(), "--userout", str(scratch / "vsearch.tsv")], scratch)
        if "failed" not in run:
            peers["vsearch"] = {"value": run["processor_s"] / (few * (few - 1) / 2) * 1e6, "mb": run["peak_mb"]}
    case = f"16S genes, identity matrix of {n}, global, 2 threads, whole command, per pair"
    words = ["--mode", "global", "--matrix-values", "identity", "-f", "matrix", "-t", "2"]
    answer = whole_command(case, words, cells_of(texts), [path], options, scratch, peers=peers,
                           goal="10 times vsearch", bare="global score")  # fmt: skip
    if "value" in answer:
        per_pair = answer["value"] / (n * (n - 1) / 2)
        answer |= {"value": per_pair * 1e6, "unit": "us"}
        minutes = per_pair * 5_000 * 4_999 / 2 / 2 / 60
        answer["notes"] = [f"5,000 16S genes are 12.5 million pairs: {minutes:.0f} minutes of two cores at this rate"]
    return [answer]


def proteome(options, scratch: Path) -> list[dict]:
    """All pairs of proteins of 30 to 3,000 residues, local, CIGARs in a TSV, one thread."""
    rows = []
    for n, goal in ((30, ""),) if options.quick else ((250, "14 GCUPS, 150 MB"), (1_000, "17 GCUPS, 150 MB")):
        texts = load("30-3000", options.data, n)
        path = fasta(scratch / "proteins.fasta", texts)
        case = f"{n:,} proteins of 30-3,000 residues, local, CIGARs to TSV, whole command"
        answer = whole_command(case, ["-t", "1"], cells_of(texts), [path], options, scratch, goal=goal,
                               bare="local score")  # fmt: skip
        if "value" in answer:
            answer |= {"value": answer["gcups"], "unit": "GCUPS"}
        rows.append(answer)
    return rows


USERS = {
    "similar": similar,
    "database": database,
    "repertoire": repertoire,
    "16s": sixteen_s,
    "proteome": proteome,
    "loops": loops,
}
#: The sets of sequences that they read from files.
USER_SETS: dict[str, list[str]] = {name: [] for name in USERS} | {"proteome": ["30-3000"]}
