"""How often what msa is sure of is right: confidence against reference alignments.

    python bench/confidence.py --families DIR                     a table, Markdown
    python bench/confidence.py --families DIR --picture FILE      and the picture of docs/msa.md

The folder is as of bench/msa.py (or the variable TROPALIGN_MSA_FAMILIES). A pair of residues is right that stands in
one column of the reference, too; pairs of which one residue is outside the reference's core columns do not count.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from msa_families import Family, families_of

import tropalign
from tropalign.msa.accuracy import is_residue
from tropalign.msa.confidence import ODDS
from tropalign.sequences.aligned_files import read_alignment

BINS = (0, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0)


def judged(family: Family) -> tuple[np.ndarray, np.ndarray]:
    """Confidence and share of right pairs: of the columns, and of the residues, of one alignment."""
    found = tropalign.align_multiple(family.path)
    names, letters = read_alignment(family.reference)
    letters = np.asarray(letters)
    core = np.where((letters >= ord("A")) & (letters <= ord("Z")), np.arange(letters.shape[1]), -1)
    shape = (len(names), found.n_columns)
    place, confidence = np.full(shape, -1), np.zeros(shape)
    row_of = {name: k for k, name in enumerate(found.sequences.names)}
    for k, name in enumerate(names):
        own = slice(*found.sequences.offsets[row_of[name] : row_of[name] + 2])
        place[k, found.columns[own]] = core[k][is_residue(letters[k])]
        confidence[k, found.columns[own]] = found.residue_confidence[own]
    columns, residues = [], []
    for column in range(found.n_columns):
        at = place[:, column] >= 0
        n = np.count_nonzero(at)
        if n < 2:
            continue
        _, inverse, counts = np.unique(place[at, column], return_inverse=True, return_counts=True)
        columns.append((found.column_confidence[column], (counts * (counts - 1)).sum() / (n * (n - 1))))
        residues += zip(confidence[at, column], (counts[inverse] - 1) / (n - 1), strict=True)
    return np.array(columns), np.array(residues)


def calibration_error(called: np.ndarray, right: np.ndarray) -> float:
    """The expected calibration error: ten bins of equal counts (Naeini, Cooper and Hauskrecht 2015)."""
    order = np.array_split(np.argsort(called, kind="stable"), 10)
    return float(sum(abs(called[bin].mean() - right[bin].mean()) * len(bin) for bin in order) / len(called))


def uncalibrated(called: np.ndarray) -> np.ndarray:
    """The mean posterior that a confidence was made of."""
    return called / (ODDS - (ODDS - 1) * called)


def bins_of(points: np.ndarray) -> list[tuple[float, float, int]]:
    """Mean confidence, share of right pairs and count of each bin."""
    number = np.clip(np.searchsorted(BINS, points[:, 0], "right") - 1, 0, len(BINS) - 2)
    return [(*points[number == k].mean(axis=0), int((number == k).sum())) for k in range(len(BINS) - 1)]


def table(kinds: dict[str, np.ndarray]) -> str:
    """Bins of columns and of residues side by side, and the errors."""
    lines = ["| confidence | " + " | ".join(f"{kind}: called | right | number" for kind in kinds) + " |"]
    lines.append("|" + "---|" * (1 + 3 * len(kinds)))
    found = [bins_of(points) for points in kinds.values()]
    for k in range(len(BINS) - 1):
        cells = " | ".join(f"{bins[k][0]:.3f} | {bins[k][1]:.3f} | {bins[k][2]:,}" for bins in found)
        lines.append(f"| {BINS[k]:g} to {BINS[k + 1]:g} | {cells} |")
    for kind, points in kinds.items():
        called, right = points.T
        error, before = calibration_error(called, right), calibration_error(uncalibrated(called), right)
        lines.append(f"\n{kind}: expected calibration error {error:.3f}, of mean posteriors {before:.3f}")
    return "\n".join(lines)


def draw(kinds: dict[str, np.ndarray], path: Path) -> None:
    """Right against called, before and after."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 4.2))
    axes.plot([0, 1], [0, 1], color="#8d99a6", linewidth=1, linestyle=":")
    for (kind, points), colour in zip(kinds.items(), ("#2a6f97", "#d1782e"), strict=True):
        for called, name, style in (
            (points[:, 0], kind, "o-"),
            (uncalibrated(points[:, 0]), f"{kind}, mean posterior", "o:"),
        ):
            bins = np.array_split(np.argsort(called, kind="stable"), 10)
            x, y = ([values[bin].mean() for bin in bins] for values in (called, points[:, 1]))
            axes.plot(x, y, style, color=colour, markersize=3, label=name)
    axes.set(xlabel="called", ylabel="right", xlim=(0, 1), ylim=(0, 1.02))
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=120)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", type=Path, default=os.environ.get("TROPALIGN_MSA_FAMILIES"))
    parser.add_argument("--most-mcells", type=float, default=100)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    if not options.families:
        parser.error("name a folder of families with --families")
    families = sorted(families_of(Path(options.families), options.most_mcells * 1e6), key=lambda one: one[:2])
    shown = [judged(family) for family in families]
    kinds = {kind: np.concatenate([one[k] for one in shown]) for k, kind in enumerate(("columns", "residues"))}
    print(f"{len(shown)} families\n")
    print(table(kinds))
    if options.picture:
        draw(kinds, options.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
