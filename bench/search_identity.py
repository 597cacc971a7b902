#!/usr/bin/env python3
"""Whether tropalign finds what HMMER finds: all fields of all lines of its tables, and what passes each filter.

    python bench/search_identity.py MODELS.hmm TARGETS.fa [MODELS.hmm TARGETS.fa ...]
    python bench/search_identity.py --scan --hmmer ~/hmmer/bin MODELS.hmm TARGETS.fa
    python bench/search_identity.py --options="--max -E 100" MODELS.hmm TARGETS.fa       options of both programs, as
                                                                    often as wanted; else those of OPTIONS

Both programs run once per pair of files and set of options, with --tblout, --domtblout and their text. A line per run
says what differs: lines of hits and of domains, and queries of which another number of targets passed a filter. The
first differing lines are shown.

Exit status: 0, or 1 where anything differs, or 3 where HMMER or a file is missing.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import zip_longest
from pathlib import Path

#: Options that are compared by default; models without cutoffs of their own cannot be asked for these.
OPTIONS = ("", "-E 1e-3", "--nobias", "-Z 1e7 --domZ 50", "-T 20 --domT 15 --incT 25 --incdomT 22", "--seed 7")
CUTOFFS = "--cut_ga"
#: Fields before the description, which may hold blanks.
FIELDS = {"tblout": 18, "domtblout": 22}
#: Differing lines that are shown.
SHOWN = 3


def fields_of(path: Path, n_fields: int) -> list[list[str]]:
    """The lines of a table cut into fields, blanks at the end left out (HMMER keeps a description's); no comments."""
    lines = path.read_text(encoding="latin-1").splitlines()
    return [line.rstrip().split(None, n_fields) for line in lines if line and not line.startswith("#")]


def passed(text: str) -> list[tuple[str, ...]]:
    """What passed each filter, per query, from the text of either program."""
    return re.findall(
        r"^Passed MSV filter: +(\d+).*\nPassed bias filter: +(\d+).*\nPassed Vit filter: +(\d+).*\n"
        r"Passed Fwd filter: +(\d+)",
        text,
        re.MULTILINE,
    )


def run(command: list[str], folder: Path, files: list[str]) -> float:
    """Runs either program, whose tables go to a folder; seconds of processor time."""
    tables = [word for table in FIELDS for word in (f"--{table}", str(folder / table))]
    begin = time.perf_counter()
    done = subprocess.run(
        [*command, *tables, "-o", str(folder / "text"), *files], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return time.perf_counter() - begin


def differences(own: Path, other: Path) -> dict[str, int]:
    """Lines that differ per table, and queries whose counts do; shows the first ones."""
    found = {}
    for table, n_fields in FIELDS.items():
        pairs = zip_longest(*(fields_of(folder / table, n_fields) for folder in (own, other)))
        unequal = [pair for pair in pairs if pair[0] != pair[1]]
        found[table] = len(unequal)
        for ours, theirs in unequal[:SHOWN]:
            print(f"  {table}\n    tropalign {ours}\n    HMMER     {theirs}")
    counts = [passed((folder / "text").read_text(encoding="latin-1")) for folder in (own, other)]
    unequal_counts = [pair for pair in zip_longest(*counts) if pair[0] != pair[1]]
    for ours, theirs in unequal_counts[:SHOWN]:
        print(f"  passed    tropalign {ours}, HMMER {theirs}")
    return found | {"counts": len(unequal_counts)}


def compare(models: str, targets: str, options: str, is_scan: bool, hmmer: Path) -> bool:
    """Both programs on a pair of files; whether they agree."""
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / program for program in ("tropalign", "hmmer")]
        for folder in folders:
            folder.mkdir()
        library = models
        if is_scan:
            library = shutil.copy(models, name)
            subprocess.run([hmmer / "hmmpress", library], check=True, capture_output=True)
        words = shlex.split(options)
        verb, program = ("scan", "hmmscan") if is_scan else ("search", "hmmsearch")
        ours = run([sys.executable, "-m", "tropalign.cli.main", verb, "-q", *words], folders[0], [models, targets])
        theirs = run([str(hmmer / program), "--cpu", "1", *words], folders[1], [library, targets])
        n_hits, n_domains = (len(fields_of(folders[1] / table, n)) for table, n in FIELDS.items())
        found = differences(*folders)
    told = ", ".join(f"{n} {what}" for what, n in found.items()) if any(found.values()) else "nothing"
    print(
        f"{verb} {Path(models).name} {Path(targets).name} {options or '(default)'}: {n_hits} hits, {n_domains} domains;"
        f" differs: {told}; {ours:.1f} s, HMMER {theirs:.1f} s",
        flush=True,
    )
    return not any(found.values())


def main() -> int:
    """Compares all pairs of files with all options."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="MODELS TARGETS", help="pairs of files")
    parser.add_argument("--hmmer", metavar="FOLDER", help="HMMER's programs (default: those of PATH)")
    parser.add_argument("--options", action="append", help="options of both programs")
    parser.add_argument("--scan", action="store_true", help="hmmscan's orientation")
    options = parser.parse_args()
    program = shutil.which("hmmsearch", path=options.hmmer)
    if program is None or len(options.files) % 2:
        print("HMMER is not installed" if program is None else "files come in pairs: models, targets", file=sys.stderr)
        return 3
    agrees = True
    for models, targets in zip(options.files[::2], options.files[1::2], strict=True):
        sets = options.options
        if sets is None:
            has_cutoffs = all("\nGA " in model for model in Path(models).read_text().split("\n//\n")[:-1])
            sets = [*OPTIONS, CUTOFFS] if has_cutoffs else OPTIONS
        for one in sets:
            agrees &= compare(models, targets, one, options.scan, Path(program).parent)
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
