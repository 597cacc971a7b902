"""Measures `tropalign build` beside hmmbuild: processor time of both, in turns, and whether the files are equal.

    python bench/build.py FOLDER        alignments in any format that build reads: a library of all of them

Prints a row of Markdown; each program makes the library with one thread.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from search import by_turns, run

#: Beginnings of lines in which the programs name themselves and the day.
OF_PROGRAMS = ("HMMER3/f", "DATE")


def library_of(folder: Path, out: Path) -> int:
    """Writes all alignments of a folder, and those below it, as one Stockholm file; returns how many they are."""
    from tropalign import InputError
    from tropalign.sequences.aligned_files import read_alignment

    n = 0
    with out.open("w") as file:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            try:
                names, rows = read_alignment(path)
            except InputError as error:
                print(f"left out: {error}", file=sys.stderr)
                continue
            n += 1
            lines = (f"{name} {row.tobytes().decode()}" for name, row in zip(names, rows, strict=True))
            file.write("\n".join(["# STOCKHOLM 1.0", f"#=GF ID {n}.{'_'.join(path.stem.split())}", *lines, "//", ""]))
    return n


def numbers_of(path: Path) -> list[str]:
    """The lines of models, without those of programs."""
    return [line for line in path.read_text().splitlines() if not line.startswith(OF_PROGRAMS)]


def main() -> int:
    """Measures, and prints the row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hmmbuild", default="hmmbuild")
    options = parser.parse_args()
    if shutil.which(options.hmmbuild) is None:
        print("hmmbuild is not installed: name it by --hmmbuild", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as name:
        alignments, ours, theirs = (Path(name) / part for part in ("all.sto", "ours.hmm", "theirs.hmm"))
        n = library_of(options.folder, alignments)
        own = [str(Path(sys.executable).with_name("tropalign")), "build", "-q", "-t", "1", "--alphabet", "protein"]
        hmmbuild = [options.hmmbuild, "--cpu", "0", "--amino", str(theirs), str(alignments)]
        found = by_turns(
            {
                "tropalign": lambda: run([*own, "-o", str(ours), str(alignments)], "v3"),
                "hmmbuild": lambda: run(hmmbuild),
            },
            float("inf"),
        )
        same = "equal" if numbers_of(ours) == numbers_of(theirs) else "NOT EQUAL"
    own_seconds, their_seconds = found["tropalign"].seconds, found["hmmbuild"].seconds
    print("| alignments | tropalign build | hmmbuild | | models |\n|---|---|---|---|---|")
    print(f"| {n} | {own_seconds:.2f} s | {their_seconds:.2f} s | {their_seconds / own_seconds:.1f} x | {same} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
