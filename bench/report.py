"""docs/benchmarks/pairs.md from the figures of pairs.py."""

from __future__ import annotations

from absent import paragraph
from extras import EXTRAS
from tables import table, wrap
from users_report import OTHER_COST, percent, users_table

PROTEIN_SETS = ("51", "154", "257", "459", "608", "1103")
#: GCUPS to reach, by case, for PROTEIN_SETS.
GOALS = {
    "local-score": (12, 16, 18, 18, 18, 18),
    "global-score": (12, 16, 18, 18, 18, 18),
    "semiglobal-score": (12, 16, 18, 18, 18, 18),
    "local-alignment": (8, 12, 14, 14, 14, 12),
    "global-alignment": (7, 11, 13, 13, 13, 11),
    "semiglobal-alignment": (7, 11, 13, 13, 13, 11),
}
#: Of those, with AVX2.
V3_GOAL = 0.7
START = "You can compare the speed of pairwise alignment with other tools here. `make bench-pairs` makes this page."
TITLES = {"score": "Scores alone", "alignment": "Alignments (CIGARs)"}


def write_report(results: dict) -> str:
    """The page, in Markdown."""
    lines = ["# Pairwise alignment: measured speed", "", *wrap(START), ""]
    lines += [f"{name.capitalize()}: {value}." for name, value in results["machine"].items()]
    lines += [
        "",
        *wrap(
            f"""One thread, processor time, medians of three loops of at least {results["at_least"]} s; tropalign with
            the instruction sets {", ".join(results["isas"])}. GCUPS are cells of H over the whole time of a call of the
            public Python API, traceback and CIGARs included. BLOSUM50 (DNA: 5/-4); the first residue of a gap costs 10,
            the next ones 2. All pairs of real proteins by average length (in brackets if the name lacks it), as many of
            a set as {results["most_cells"] / 1e9:.0f} billion cells take; *100-420* and *30-3000*: mixed lengths;
            *dna*: amplicons. Peers, the fastest variant of each: parasail, pyopal (Opal), stringzillas, edlib and pywfa
            (WFA2) through Python, and the programs ssearch36, vsearch and EMBOSS. From C, parasail was 1.7 times as
            fast for scores and 2.2 times for CIGARs (about 250 residues, another machine). edlib has unit costs and
            takes no part in ratios. Every peer's scores except vsearch's, which has other costs, were compared with
            tropalign's."""
        ),
        "",
        *paragraph(results["absent"]),
    ]
    sets = results["sets"]
    lines += users_table(results)
    for report, title in TITLES.items():
        lines += [f"## {title}, GCUPS", ""]
        for mode in ("local", "global", "semiglobal"):
            lines += case_table(f"{mode}-{report}", mode, sets, results["extras"].get("bare", {}))
    lines += lanes_table(sets) + differences(sets) + extras(results["extras"])
    lines += ["", f"The whole run took {results['seconds']} s, {results['processor_seconds']} s of processor time."]
    return "\n".join(lines) + "\n"


def overview_table(results: dict) -> list[str]:
    """The overview's table: one length, the cases that most people run; nothing when that length was not measured."""
    entry = results["sets"].get("257")
    if entry is None:
        return []
    cases = {f"{mode}-{report}": f"{mode}, {name}" for report, name in (("score", "score"), ("alignment", "CIGAR"))
             for mode in ("local", "global", "semiglobal")}  # fmt: skip
    rows = [
        [f"**tropalign, {isa}**", *(f"**{text_of(figure(answers.get(case)))}**" for case in cases)]
        for isa, answers in entry["ours"].items()
    ]
    for peer, answers in entry["peers"].items():
        name = peer + (" (unit cost)" if peer in OTHER_COST else "")
        rows.append([name, *(text_of(figure(answers.get(case))) for case in cases)])
    return table(["", *cases.values()], rows)


def figure(answer: object) -> float | None:
    """GCUPS of a measurement, None where there is none."""
    return answer.get("gcups") if isinstance(answer, dict) else None


def text_of(value: float | None) -> str:
    """A figure as the tables show it."""
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 2 else f"{value:.1f}"


def case_table(case: str, mode: str, sets: dict, bare: dict) -> list[str]:
    """The table of a mode and a report: a column per set, a row per aligner; `bare`: the bare recurrences' GCUPS."""
    names = list(sets)
    goals = dict(zip(PROTEIN_SETS, GOALS[case], strict=True))
    isas = list(dict.fromkeys(isa for name in names for isa in sets[name]["ours"]))
    ours = {isa: [figure(sets[name]["ours"].get(isa, {}).get(case)) for name in names] for isa in isas}
    if not any(map(any, ours.values())) and not any(
        case in peer for name in names for peer in sets[name]["peers"].values()
    ):
        return []
    headings = [f"{name} ({sets[name]['mean']:.0f})" if name not in PROTEIN_SETS else name for name in names]
    rows = [[f"**tropalign, {isa}**", *(f"**{text_of(value)}**" for value in ours[isa])] for isa in isas]
    rows.append([f"to reach (v3: {percent(V3_GOAL)})", *(text_of(goals.get(name)) for name in names)])
    best: list[float | None] = [None] * len(names)
    for peer in dict.fromkeys(peer for name in names for peer in sets[name]["peers"]):
        values = [figure(sets[name]["peers"].get(peer, {}).get(case)) for name in names]
        if any(values):
            rows.append([peer + (" (unit cost)" if peer in OTHER_COST else ""), *map(text_of, values)])
        if peer not in OTHER_COST:
            best = [max((x for x in pair if x), default=None) for pair in zip(best, values, strict=True)]
    for isa in isas:
        ratios = [
            f"{mine / other:.1f}x" if mine and other else "-" for mine, other in zip(ours[isa], best, strict=True)
        ]
        rows.append([f"over the best peer, {isa}", *ratios])
        if limit := bare.get(isa, {}).get(f"{'local' if mode == 'local' else 'global'} score"):
            rows.append([f"of the bare limit, {isa}", *(percent(mine / limit) if mine else "-" for mine in ours[isa])])
    return [*table([mode, *headings], rows), ""]


def lanes_table(sets: dict) -> list[str]:
    """Where time goes: cells of lanes that belong to no pair, and the traceback; with the first instruction set."""
    rows = []
    for case in GOALS:
        answers = [next(iter(sets[name]["ours"].values()), {}).get(case) for name in sets]
        if not any(isinstance(answer, dict) and "lane_use" in answer for answer in answers):
            continue
        waste = [f"{100 * (1 - a['lane_use']):.1f} %" if a and "lane_use" in a else "-" for a in answers]
        walk = [f"{100 * a['walk_share']:.1f} %" if a and "walk_share" in a else "-" for a in answers]
        rows.append([f"{case}: cells of no pair", *waste])
        if case.endswith("alignment"):
            rows.append([f"{case}: traceback", *walk])
    return ["## Where the rest goes", "", *table(["share", *sets], rows), ""] if rows else []


def compared_scores(sets: dict) -> int:
    """How many scores of peers were compared with tropalign's."""
    peers = (answers for entry in sets.values() for answers in entry["peers"].values())
    return sum(answer.get("compared", 0) for answers in peers for answer in answers.values())


def differences(sets: dict) -> list[str]:
    """How often a peer's score is not tropalign's, and what failed."""
    lines, compared, empty = [], compared_scores(sets), 0
    for name, entry in sets.items():
        for peer, answers in entry["peers"].items():
            for case, answer in answers.items():
                empty += answer.get("empty", 0)
                if answer.get("different"):
                    lines.append(f"* {peer}, {case}, {name}: {answer['different']} of {answer['compared']} differ.")
                troubles = [trouble for trouble in ("failed", "missing") if trouble in answer]
                lines += [f"* {peer}, {case}, {name}: {trouble} ({answer[trouble]})." for trouble in troubles]
        for isa, answers in entry["ours"].items():
            if "failed" in answers:
                lines.append(f"* tropalign {isa}, {name}: failed ({answers['failed']}).")
    text = f"{compared:,} scores of peers were compared with tropalign's."
    if empty:
        text += f" In {empty:,} semiglobal ones the best alignment is empty (0), which parasail and Opal leave out."
    if compared and not lines:
        text += " All others are equal."
    return ["## Agreement", "", text, "", *lines, ""]


def extras(found: dict) -> list[str]:
    """Threads, a command, the long pair, imports."""
    rows = []
    found = {name: answer for name, answer in found.items() if name in EXTRAS}
    for name, answer in found.items():
        if "failed" in answer:
            rows.append([name.replace("_", " "), f"failed: {answer['failed']}", ""])
    good = {name: answer for name, answer in found.items() if "failed" not in answer}
    if "threads" in good:
        for report, ratio in good["threads"].items():
            rows.append([f"2 threads over 1, {report}, length 459", f"{ratio:.2f}x", "1.9x"])
    if "command" in good:
        run = good["command"]
        value = f"{run['wall_s']:.1f} s, {run['peak_mb']:.0f} MB, TSV of {run['output_mb']:.0f} MB"
        rows.append(["`tropalign pairs`, 499,500 protein pairs, local, CIGARs, 2 threads", value, "4 s, 400 MB"])
    if "long_pair" in good:
        run = good["long_pair"]
        value = f"{run['gcups']:.1f} GCUPS, {run['peak_mb']:.0f} MB, {run['wall_s']:.1f} s"
        rows.append(["100,000 x 100,000 nucleotides, global, CIGAR, 2 threads", value, "5 GCUPS, 1 GB"])
    if "start" in good:
        goals = {"import tropalign": "0.25 s", "tropalign --version": "0.3 s"}
        for name, seconds in good["start"].items():
            if name == "small":
                rows.append(["`tropalign pairs` of two proteins", f"{seconds:.2f} s of processor time", "0.12 s"])
            else:
                rows.append([f"`{name}`", f"{seconds:.2f} s", goals.get(name, "")])
    return (
        ["## The rest", "", *table(["what", "measured (wall time unless it says otherwise)", "to reach"], rows)]
        if rows
        else []
    )
