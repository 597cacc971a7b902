"""Families with reference alignments: those of a folder, and simulated ones that need no folder.

A folder holds sets at any depth: a set is a folder with `in` (sequences) and `ref` (reference alignments, core columns
in upper case), whose files have the same names. BAliBASE 3 and BAliFam are laid out so.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from tropalign.msa.models import PROTEIN_2
from tropalign.sequences import read_sequences

#: Simulated families: sequences, length of their ancestor, and substitution steps along the longest path of the tree.
SIMULATED = ((4, 120, 2), (8, 200, 2), (8, 300, 1), (12, 150, 2), (20, 100, 1), (20, 250, 1), (40, 80, 1), (60, 60, 1))
#: Per residue and substitution step: a deletion or an insertion begins; it goes on with the second probability.
INDEL_RATE, INDEL_EXTEND = 0.006, 0.7


class Family(NamedTuple):
    """A family to align."""

    set: str
    name: str
    path: Path
    reference: Path
    n_sequences: int
    mean_length: float
    cells: int


def families_of(folder: Path, most_cells: float) -> list[Family]:
    """The families of a folder with up to `most_cells` cells over all pairs, the smallest first."""
    found = []
    for inputs in sorted(folder.rglob("in")):
        references = inputs.parent / "ref"
        for path in sorted(inputs.iterdir()) if references.is_dir() else ():
            if (references / path.name).is_file():
                lengths = read_sequences(path).lengths.astype(np.int64)
                cells = int((lengths.sum() ** 2 - (lengths**2).sum()) // 2)
                name = inputs.parent.name
                found.append(
                    Family(name, path.name, path, references / path.name, len(lengths), float(lengths.mean()), cells)
                )
    return sorted((family for family in found if family.cells <= most_cells), key=lambda family: family.cells)


def simulate(folder: Path) -> None:
    """Writes the simulated families, always the same ones, as a set of a folder.

    Residues change as the pair-HMM's match state has them, along a tree that splits at random; columns in which every
    sequence has a residue are the core.
    """
    (folder / "simulated" / "in").mkdir(parents=True)
    (folder / "simulated" / "ref").mkdir()
    for number, (n_sequences, length, n_steps) in enumerate(SIMULATED):
        rows = evolved_rows(np.random.default_rng(number), n_sequences, length, n_steps)
        core = (rows != ord("-")).all(axis=0)
        shown = np.where(core, rows, np.where(rows == ord("-"), rows, rows | 0x20))
        for part, keeps in (("in", False), ("ref", True)):
            texts = (bytes(row if keeps else row[row != ord("-")]).decode() for row in (shown if keeps else rows))
            records = "".join(f">s{k}\n{text}\n" for k, text in enumerate(texts))
            (folder / "simulated" / part / f"family{number}.fa").write_text(records)


def evolved_rows(rng: np.random.Generator, n_sequences: int, length: int, n_steps: int) -> np.ndarray:
    """Rows of the true alignment. A place is an index into a list of columns, which insertions lengthen."""
    letters = np.frombuffer(PROTEIN_2.alphabet.letters.encode(), np.uint8)
    states = np.array([PROTEIN_2.alphabet.letters.index(letter) for letter in PROTEIN_2.alphabet.states])
    match = PROTEIN_2.match[np.ix_(states, states)]
    background = PROTEIN_2.insert[states] / PROTEIN_2.insert[states].sum()
    change = match / match.sum(axis=1, keepdims=True)
    order = list(range(length))  # of the columns, by number
    sequences = [{column: int(rng.choice(20, p=background)) for column in order}]
    while len(sequences) < n_sequences:
        parent = sequences.pop(int(rng.integers(len(sequences))))
        share = n_steps / np.log2(n_sequences)
        sequences += [_child(rng, parent, order, change, background, share) for _ in range(2)]
    place = {column: k for k, column in enumerate(order)}
    rows = np.full((n_sequences, len(order)), ord("-"), np.uint8)
    for row, sequence in zip(rows, sequences, strict=True):
        for column, state in sequence.items():
            row[place[column]] = letters[states[state]]
    return rows[:, (rows != ord("-")).any(axis=0)]


def _child(
    rng: np.random.Generator,
    parent: dict[int, int],
    order: list[int],
    change: np.ndarray,
    background: np.ndarray,
    share: float,
) -> dict[int, int]:
    """A copy with substitutions (a step with probability `share`, at most 1 per residue), deletions and insertions."""
    child = {}
    gone = 0
    for column, state in parent.items():
        if gone == 0 and rng.random() < INDEL_RATE * share:
            gone = 1 + int(rng.geometric(1 - INDEL_EXTEND))
        if gone and len(parent) > 30:
            gone -= 1
            continue
        child[column] = int(rng.choice(20, p=change[state])) if rng.random() < share / 2 else state
        if rng.random() < INDEL_RATE * share:
            at = order.index(column) + 1
            for extra in range(int(rng.geometric(1 - INDEL_EXTEND))):
                new = len(order)
                order.insert(at + extra, new)
                child[new] = int(rng.choice(20, p=background))
    return child
