"""Relatives found by `tropalign find` and other programs, and the unrelated sequences that they take for relatives.

    python bench/find.py FAMILIES [--curve docs/images/find-errors.svg]

FAMILIES is a folder of FASTA files, one per family of proteins (BAliFam's `in`). Of 30 families of 20 members and more
four queries each are searched in all other members and in 20,000 proteins made of the members by shuffling their
residues. A hit on a member of the query's family is right, one on a shuffled protein is an error; others are not
counted, since families may be related. Prints a table in Markdown: processor time of one thread, and the share of the
relatives found before so many errors per query. The curve shows all thresholds.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from commands import timed, tropalign
from tables import table

N_FAMILIES, N_QUERIES, N_SHUFFLED, LEAST_MEMBERS = 30, 4, 20_000, 20
#: Errors per query at which the table tells how many relatives were found.
ERRORS = (0.01, 0.1, 1, 10)
MOST_E, MOST_HITS = 100, 20_000
#: Errors per query at which a curve is drawn.
MARKS = np.geomspace(1 / 120, 20, 120)
SHUFFLED = "shuffled"


def members_of(path: Path) -> list[str]:
    """The different sequences of a FASTA file, without gaps."""
    records = path.read_text().split(">")[1:]
    texts = ("".join(record.split("\n")[1:]).replace("-", "").replace(".", "").upper() for record in records)
    return list(dict.fromkeys(text for text in texts if text))


def written(folder: Path, families: Path) -> tuple[Path, Path, int]:
    """Queries and targets, whose names begin with those of their families, and the pairs of relatives."""
    draw, queries, targets, n_pairs = random.Random(1), [], [], 0
    paths = [path for path in sorted(families.iterdir()) if len(members_of(path)) >= LEAST_MEMBERS]
    for number, path in enumerate(draw.sample(paths, min(N_FAMILIES, len(paths)))):
        members = draw.sample(members_of(path), LEAST_MEMBERS)
        own = [(f"f{number}_{k}", text) for k, text in enumerate(members)]
        queries += own[:N_QUERIES]
        targets += own[N_QUERIES:]
        n_pairs += N_QUERIES * (len(own) - N_QUERIES)
    real = [text for _, text in targets]
    for k in range(N_SHUFFLED):
        letters = list(draw.choice(real))
        draw.shuffle(letters)
        targets.append((f"{SHUFFLED}_{k}", "".join(letters)))
    for name, records in (("queries.fa", queries), ("targets.fa", targets)):
        (folder / name).write_text("".join(f">{name}\n{text}\n" for name, text in records))
    return folder / "queries.fa", folder / "targets.fa", n_pairs


def programs(queries: Path, targets: Path, folder: Path) -> dict[str, tuple[str, list[str], Path]]:
    """By its name in the table: the program, its words and where it writes BLAST's table."""
    out, made = folder / "hits.m8", [str(queries), str(targets)]
    own = [
        "find",
        *made,
        "-t",
        "1",
        "-q",
        "--max-evalue",
        str(MOST_E),
        "--top",
        str(MOST_HITS),
        "-f",
        "m8",
        "-o",
        str(out),
    ]
    named = {
        "`find`": ("tropalign", tropalign(*own), out),
        "`find --composition ignored`": ("tropalign", tropalign(*own, "--composition", "ignored"), out),
        "blastp": ("blastp", ["blastp", "-query", made[0], "-db", made[1], "-evalue", str(MOST_E), "-outfmt", "6",
                              "-max_target_seqs", str(MOST_HITS), "-num_threads", "1", "-out", str(out)], out),
        "ssearch36": ("ssearch36", ["sh", "-c", f"exec ssearch36 -m 8 -E {MOST_E} -T 1 -q -s BL62 -f -11 -g -1 "
                                    f"{made[0]} {made[1]} > {out}"], out),
    }  # fmt: skip
    for sensitivity in ("", "--ultra-sensitive"):
        words = ["diamond", "blastp", "-q", made[0], "-d", f"{made[1]}.dmnd", "-e", str(MOST_E), "-k", str(MOST_HITS),
                 "-p", "1", "--quiet", "-o", str(out), *([sensitivity] if sensitivity else [])]  # fmt: skip
        named[f"DIAMOND {sensitivity}".strip()] = ("diamond", words, out)
    words = ["mmseqs", "easy-search", *made, str(out), str(folder / "scratch"), "-s", "7.5", "-e", str(MOST_E),
             "--max-seqs", str(MOST_HITS), "--threads", "1", "-v", "0"]  # fmt: skip
    named["MMseqs2, sensitivity 7.5"] = ("mmseqs", words, out)
    return {name: told for name, told in named.items() if told[0] == "tropalign" or shutil.which(told[0])}


def made_ready(targets: Path) -> None:
    """What blastp and DIAMOND search."""
    for words in (["makeblastdb", "-in", str(targets), "-dbtype", "prot"],
                  ["diamond", "makedb", "--in", str(targets), "-d", str(targets), "--quiet"]):  # fmt: skip
        if shutil.which(words[0]):
            subprocess.run(words, check=True, capture_output=True)


def curve(path: Path, n_pairs: int, n_queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Errors per query and the share of relatives found, from the best E-value on; of equal ones the errors first."""
    best: dict[tuple[str, str], float] = {}
    for line in path.read_text().splitlines():
        words = line.split("\t")
        pair, value = (words[0], words[1]), float(words[10])
        best[pair] = min(value, best.get(pair, value))
    kinds = []
    for (query, target), value in best.items():
        if target.startswith(SHUFFLED):
            kinds.append((value, 0))
        elif target.split("_")[0] == query.split("_")[0]:
            kinds.append((value, 1))
    is_right = np.array([kind for _, kind in sorted(kinds)], np.int64)
    return np.cumsum(1 - is_right) / n_queries, np.cumsum(is_right) / n_pairs


def drawn(curves: dict[str, tuple[np.ndarray, np.ndarray]], path: Path) -> None:
    """The curves as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tropalign"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for name, (errors, found) in curves.items():
        at = np.searchsorted(errors, MARKS, "right") - 1
        axes.plot(MARKS, 100 * found[at], label=name.replace("`", ""))
    axes.set(xscale="log", xlim=(MARKS[0], MARKS[-1]), xlabel="shuffled proteins found per query",
             ylabel="relatives found, per cent")  # fmt: skip
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Prints the table, and draws the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", type=Path)
    parser.add_argument("--curve", type=Path)
    options = parser.parse_args()
    curves, rows = {}, []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        queries, targets, n_pairs = written(folder, options.families)
        n_queries = queries.read_text().count(">")
        made_ready(targets)
        for name, (_, words, out) in programs(queries, targets, folder).items():
            run = timed(words, folder)
            if "failed" in run:
                print(f"{name}: {run['failed']}")
                continue
            errors, found = curves[name] = curve(out, n_pairs, n_queries)
            at = [f"{100 * found[np.searchsorted(errors, most, 'right') - 1]:.1f} %" for most in ERRORS]
            rows.append([name, f"{run['processor_s']:.1f}", *at])
            print(rows[-1], flush=True)
            out.unlink()
    print(f"\n{n_queries} queries, {n_pairs} pairs of relatives, {N_SHUFFLED} shuffled proteins\n")
    print("\n".join(table(["", "s", *(f"{most:g}" for most in ERRORS)], rows)))
    if options.curve:
        drawn(curves, options.curve)


if __name__ == "__main__":
    main()
