"""Measures `tropalign msa --homologs`: SP and TC of reference families, alone and with the help of a database.

    python bench/homologs.py FAMILIES [MORE.fasta ...] --sets RV11,RV12

FAMILIES is a folder as of bench/msa.py. The database holds the sequences of all its families and those of MORE, less
the members of the family that is aligned. Even and odd families, in the order of their names, are told apart: the rules
of entry were chosen by even ones of RV11. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from msa_families import families_of

import tropalign
from tropalign.msa.homologs import homologs_of
from tropalign.msa.options import HomologOptions


def database(paths: list[Path]) -> dict[str, str]:
    """Names by the different sequences of all files."""
    found: dict[str, str] = {}
    for path in paths:
        batch = tropalign.read_sequences(path)
        for k, name in enumerate(batch.names):
            found.setdefault(str(batch[k]).upper(), f"{name}.{len(found)}")
    return found


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", type=Path)
    parser.add_argument("more", type=Path, nargs="*")
    parser.add_argument("--sets", default="RV11,RV12")
    parser.add_argument("--mode", default="default")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    families = sorted(families_of(options.families, np.inf), key=lambda family: family.name)
    sequences = database([*(family.path for family in families), *options.more])
    print("| set | families | with homologs | SP, TC alone | with homologs |")
    print("|---|---|---|---|---|")
    for name in options.sets.split(","):
        rows = []
        for family in (one for one in families if one.set.endswith(name)):
            batch = tropalign.read_sequences(family.path)
            own = {str(batch[k]).upper() for k in range(len(batch))}
            others = [(name, text) for text, name in sequences.items() if text not in own]
            found = homologs_of(batch, others, HomologOptions(), n_threads=1)
            alone = tropalign.align_multiple(batch, mode=options.mode, n_threads=1, device="cpu")
            how = {"mode": options.mode, "n_threads": 1, "device": "cpu"}
            helped = tropalign.align_with_homologs(batch, others, **how)
            scores = [tropalign.score_alignment(one, family.reference) for one in (alone, helped)]
            rows.append([found.n_helped > 0, *(100 * x for score in scores for x in (score.sp, score.tc))])
            print(family.name, *np.round(rows[-1], 1), file=sys.stderr)
        for half, word in enumerate(("even", "odd")):
            n_found, *means = np.array(rows)[half::2].sum(0)
            sp, tc, sp_helped, tc_helped = np.array(means) / len(rows[half::2])
            figures = f"{sp:.1f}, {tc:.1f} | {sp_helped:.1f}, {tc_helped:.1f}"
            print(f"| {name}, {word} | {len(rows[half::2])} | {n_found:.0f} | {figures} |")


if __name__ == "__main__":
    main()
