#!/usr/bin/env python3
"""Sequences aligned to profile HMMs: `tropalign msa --model` beside hmmalign, files compared, one core, processor time.

    python bench/onto_model.py MODEL... --sequences 20000      members of each model, evolved from what it likes best
    python bench/onto_model.py                                 the repository's example, to see that it works

Prints a table: nodes, sequences, seconds of both, what tropalign takes to start, and how many times faster it is with
and without that. Exit status: 0; 1 where a file is not hmmalign's; 3 where hmmalign is missing.
"""

from __future__ import annotations

import argparse
import filecmp
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from commands import fasta, median_of, tropalign

from tropalign.profiles.family_models import FamilyModel, read_family_model

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "efp.hmm"
#: The share of residues of a member that are the model's likeliest ones, and of nodes that it lacks.
KEPT, LACKING = 0.5, 0.08


def members(model: FamilyModel, n: int, seed: int = 1) -> list[str]:
    """Sequences that resemble the model, with ends of other residues."""
    rng = np.random.default_rng(seed)
    letters = np.array(list(model.letters.symbols[: model.match.shape[1]]))
    best = letters[model.match[1:].argmax(1)]
    texts = []
    for _ in range(n):
        row = np.where(rng.random(model.length) < KEPT, best, rng.choice(letters, model.length))
        row = row[rng.random(model.length) >= LACKING]
        ends = [rng.choice(letters, int(rng.integers(0, 30))) for _ in range(2)]
        texts.append("".join(np.concatenate([ends[0], row, ends[1]])) or "A")
    return texts


def measure(path: Path, n: int, rounds: int, folder: Path) -> tuple[str, bool]:
    """A row of the table, and whether the files are equal."""
    model = read_family_model(path)
    sequences, one = fasta(folder / "members.fa", members(model, n)), fasta(folder / "one.fa", ["MKVLAW"])
    own, theirs = folder / "own.sto", folder / "theirs.sto"
    words = ["msa", "-q", "--no-comments", "-t", "1", "--alphabet", model.letters.alphabet.name, "--model", str(path)]
    took = [
        float(median_of(command, folder, rounds)["processor_s"])
        for command in (
            ["hmmalign", "-o", str(theirs), str(path), str(sequences)],
            tropalign(*words, str(sequences), "-o", str(own)),
            tropalign(*words, str(one), "-o", str(folder / "one.sto")),
        )
    ]
    is_equal = filecmp.cmp(own, theirs, shallow=False)
    cells = [model.name, str(model.length), f"{n:,}", *(f"{seconds:.2f}" for seconds in took)]
    cells += [f"{took[0] / took[1]:.1f}", f"{took[0] / max(took[1] - took[2], 0.01):.1f}", "yes" if is_equal else "no"]
    return f"| {' | '.join(cells)} |", is_equal


def main() -> int:
    """Measures all models."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="*", type=Path, default=[EXAMPLE])
    parser.add_argument("--sequences", type=int, default=50, help="members of each")
    parser.add_argument("--rounds", type=int, default=3, help="number of runs, for the median")
    options = parser.parse_args()
    if shutil.which("hmmalign") is None:
        print("hmmalign is not installed", file=sys.stderr)
        return 3
    print("| model | nodes | sequences | hmmalign s | tropalign s | its start s | times | without start | equal |")
    print("|---|---|---|---|---|---|---|---|---|")
    all_equal = True
    for path in options.models:
        with tempfile.TemporaryDirectory() as scratch:
            row, is_equal = measure(path, options.sequences, options.rounds, Path(scratch))
        print(row, flush=True)
        all_equal &= is_equal
    return 0 if all_equal else 1


if __name__ == "__main__":
    sys.exit(main())
