#!/usr/bin/env python3
"""The table of pairwise alignment: tropalign beside its peers, in one run, one thread, processor time.

    python bench/pairs.py                        everything, about eight minutes; writes docs/benchmarks/pairs.md
                                                 and the table of README.md
    python bench/pairs.py --quick                a tenth of it, to see that it works
    python bench/pairs.py --cases local-score --lengths 257 --isas "" --no-extras
    python bench/pairs.py --peer-python PATH     the interpreter that has the peers (pip install tropalign[bench])

Only a whole run writes the pages; --output writes those of a part elsewhere.

GCUPS are cells of H (the products of the lengths of all pairs) over the whole processor time of a call of the public
Python API: encoding, planning and, with alignments, the walk back and the CIGARs included. Each figure is the median
of three loops of at least 0.3 s. Peers run on as many of the same sequences as that takes, and their scores are
compared with tropalign's, pair by pair.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from extras import EXTRAS  # noqa: E402
from peers import PEERS, cells_of, median_seconds  # noqa: E402
from report import fill, readme_table, write_report  # noqa: E402

FIRST, FOLLOWING = 10, 2
MODES = ("local", "global", "semiglobal")
CASES = [f"{mode}-{report}" for report in ("score", "alignment") for mode in MODES]
#: Name in the tables -> file. "mixed" is the set of the EMBOSS comparison of Blazewicz et al. 2011 (100-420 residues).
SETS = {
    "51": "proteins_len51.fasta.gz",
    "154": "proteins_len154.fasta.gz",
    "257": "proteins_len257.fasta.gz",
    "459": "proteins_len459.fasta.gz",
    "608": "proteins_len608.fasta.gz",
    "1103": "proteins_len1103.fasta.gz",
    "mixed": "proteins_1000.fasta",
    "dna": "dna_amplicons_1000.fasta.gz",
}
#: What is too slow, or too different, to be measured on every set.
PEER_SETS = {"biopython": {"257", "dna"}, "edlib": {"257", "dna"}, "emboss": {"257"}}
#: Cells that one call of a slower instruction set gets.
ISA_CELLS = 6_000_000_000


def load(data: Path, name: str) -> list[str]:
    """Sequences in upper case with U, O and J as C, X and X; nucleotides only where they are all of A, C, G, T."""
    path = data / SETS[name]
    sequences: list[str] = []
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as lines:
        for line in lines:
            if line.startswith(">"):
                sequences.append("")
            else:
                sequences[-1] += line.strip().upper()
    if name == "dna":
        return [text for text in sequences if set(text) <= set("ACGT")]
    return [text.translate(str.maketrans("UOJ", "CXX")) for text in sequences]


def scoring(name: str) -> dict[str, object]:
    """Letters and scores as the peers take them: BLOSUM50, or 5/-4."""
    if name == "dna":
        matrix = [[5 if a == b else -4 for a in "ACGT"] for b in "ACGT"]
        return {"letters": "ACGT", "matrix": matrix, "emboss_matrix": "EDNAFULL"}
    from Bio.Align import substitution_matrices

    blosum = substitution_matrices.load("BLOSUM50")
    matrix = [[int(score) for score in row] for row in blosum]
    return {"letters": "".join(blosum.alphabet), "matrix": matrix, "emboss_matrix": "EBLOSUM50"}


# tropalign itself, in a process of its own because the instruction set is chosen at import ---------------------------


def run_tropalign(request: dict) -> dict[str, object]:
    """{case: {gcups, n_sequences, scores?, walk_share, lane_use}} of one set on one instruction set."""
    import numpy as np

    import tropalign

    name, sequences = request["set"], request["sequences"]
    dna = name == "dna"
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
        seconds = median_seconds(run, request["at_least"], request["rounds"])
        out[case] = {"gcups": cells / seconds / 1e9, "n_sequences": len(sequences)}
        if request["wants_scores"]:
            out[case]["scores"] = scores.tolist()
            batch = tropalign.SequenceBatch.from_strings(sequences, alphabet=alphabet)
            out[case] |= shares(batch, mode, matrix, gap, report)
    return out


def shares(batch, mode, matrix, gap, report) -> dict[str, float]:
    """Share of the kernels' time that the walk back takes, and of the lanes' cells that belong to a pair."""
    from tropalign.pairwise import PairOptions, PairsTask

    task = PairsTask(batch, None, PairOptions(matrix, gap, mode, report))
    columns = task._native(1, *task.pairs_of(task.tiles()[0]), report, None, None)
    return {
        "walk_share": columns["walk_seconds"] / max(columns["unit_seconds"], 1e-9),
        "lane_use": columns["useful_cells"] / columns["swept_cells"],
    }


def in_process(python: str, script: Path, request: dict, arguments=(), **environment: str) -> dict:
    """The JSON answer of a script to a JSON request; {"failed": why} when it dies."""
    try:
        done = subprocess.run(
            [python, str(script), *arguments],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            timeout=300,
        )
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"failed": "took more than 300 s"}
    except json.JSONDecodeError:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return {"failed": last[0][:200]}


def measure_sets(options: argparse.Namespace) -> dict:
    """{set: {"n", "mean", "ours": {isa: {case: ...}}, "peers": {peer: {case: ...}}}}"""
    timing = {"at_least": options.at_least, "rounds": options.rounds}
    results: dict[str, dict] = {}
    for name in options.lengths:
        if not (options.data / SETS[name]).exists():
            print(f"{name}: missing ({options.data / SETS[name]}), left out", flush=True)
            continue
        sequences = load(options.data, name)
        if options.quick:
            sequences = sequences[:80]
        entry = {"n": len(sequences), "mean": statistics.mean(map(len, sequences)), "ours": {}, "peers": {}}
        results[name] = entry
        for isa in options.isas:
            few, share = sequences, 1.0
            if isa:
                share = min(1.0, (ISA_CELLS / cells_of(sequences)) ** 0.5)
                few = sequences[: max(2, int(len(sequences) * share))]
            request = {"set": name, "sequences": few, "cases": options.cases, "wants_scores": not isa, **timing}
            forced = {"TROPALIGN_ISA": isa} if isa else {}
            entry["ours"][isa] = in_process(sys.executable, HERE / "pairs.py", request, ["--child"], **forced)
            say(name, f"tropalign {isa}", entry["ours"][isa])
        for peer in options.peers:
            if name not in PEER_SETS.get(peer, SETS):
                continue
            answers = entry["peers"].setdefault(peer, {})
            for case in options.cases:
                mode, report = case.split("-")
                if peer == "stringzillas" and (mode == "semiglobal" or report == "alignment"):
                    continue
                job = {"mode": mode, "report": report, "sequences": sequences, "first": FIRST, "following": FOLLOWING}
                request = {"peer": peer, "job": job | scoring(name), **timing}
                answers[case] = in_process(options.peer_python, HERE / "peers.py", request)
                compare(answers[case], entry["ours"].get("", {}).get(case), mode)
            say(name, peer, answers)
        for answer in entry["ours"].get("", {}).values():
            if isinstance(answer, dict):
                answer.pop("scores", None)
    return results


def compare(answer: dict, ours: dict | None, mode: str) -> None:
    """Replaces a peer's scores by how many of them are tropalign's (pairs i < j of its first n sequences)."""
    scores = answer.pop("scores", None)
    if scores is None or not isinstance(ours, dict) or "scores" not in ours:
        return
    n, total = answer["n_sequences"], ours["n_sequences"]
    rows = (a * total - a * (a + 1) // 2 + b - a - 1 for a in range(n) for b in range(a + 1, n))
    wrong = [
        (ours["scores"][row], score) for row, score in zip(rows, scores, strict=True) if ours["scores"][row] != score
    ]
    # parasail and Opal give the best score of an alignment with a matched pair; overlapping by nothing scores 0.
    answer["empty"] = sum(mine == 0 and theirs < 0 for mine, theirs in wrong) if mode == "semiglobal" else 0
    answer["different"] = len(wrong) - answer["empty"]
    answer["compared"] = len(scores)


def say(name: str, who: str, answers: dict) -> None:
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
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    names = ["parasail", "pyopal", "stringzillas-cpus", "biopython", "edlib"]
    code = "import importlib.metadata as m, sys; print(*(f'{n} {m.version(n)}' for n in sys.argv[1:]), sep=', ')"
    peers = subprocess.run([options.peer_python, "-c", code, *names], capture_output=True, text=True).stdout
    return {
        "processor": f"{model}, {len(os.sched_getaffinity(0))} cores",
        "date": datetime.date.today().isoformat(),
        "versions": f"tropalign {importlib.metadata.version('tropalign')}, Python {platform.python_version()}, "
        + (peers.strip() or "not all peers are installed"),
    }


def parse() -> argparse.Namespace:
    def listed(allowed):
        return lambda text: [item for item in allowed if item in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data" / "pairs")
    parser.add_argument("--cases", type=listed(CASES), default=CASES, help=f"of {','.join(CASES)}")
    parser.add_argument("--lengths", type=listed(SETS), default=list(SETS), help=f"of {','.join(SETS)}")
    parser.add_argument("--peers", type=listed(PEERS), default=list(PEERS), help=f"of {','.join(PEERS)}")
    parser.add_argument("--isas", default=",v3,v2", help="comma-separated; the empty one is what the machine chooses")
    parser.add_argument("--extras", type=listed(EXTRAS), default=list(EXTRAS), help=f"of {','.join(EXTRAS)}")
    parser.add_argument("--no-extras", dest="extras", action="store_const", const=[])
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that has the peers")
    parser.add_argument("--quick", action="store_true", help="short loops over a few sequences")
    parser.add_argument("--json", type=Path, help="also write all figures there")
    parser.add_argument("--output", type=Path, help="where to write the page, whatever part of it was measured")
    options = parser.parse_args()
    options.isas = options.isas.split(",")
    options.at_least, options.rounds = (0.03, 1) if options.quick else (0.3, 3)
    return options


def main() -> None:
    if sys.argv[1:] == ["--child"]:
        json.dump(run_tropalign(json.load(sys.stdin)), sys.stdout)
        return
    options = parse()
    begin = time.time()
    results = {"machine": machine(options), "sets": measure_sets(options), "extras": {}}
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.extras:
            results["extras"][name] = EXTRAS[name](options, Path(scratch))
            print(f"{name}: {results['extras'][name]}", flush=True)
    results["seconds"] = round(time.time() - begin)
    text = write_report(results)
    print(text)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    is_whole = not options.quick and options.cases == CASES and options.lengths == list(SETS) and "" in options.isas
    if options.output or is_whole:
        output = options.output or HERE.parent / "docs" / "benchmarks" / "pairs.md"
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
        print(f"written to {output}")
    if is_whole and (lines := readme_table(results)):
        readme = HERE.parent / "README.md"
        readme.write_text(fill(readme.read_text(), lines))


if __name__ == "__main__":
    main()
