"""Make embeddings.npz from embeddings.fasta: python examples/make_embeddings.py.

A residue's vector has its BLOSUM62 scores with 16 amino acids, added up over a window of 5 residues with the weights
1, 2, 3, 2, 1. It stands in for the vector of a protein language model, which has some 1,000 numbers; files of both are
read in the same way.
"""

from pathlib import Path

import numpy as np

import tropalign as ta

FOLDER = Path(__file__).parent
AMINO_ACIDS, WEIGHTS = "ACDEFGHIKLMNPQRS", np.array([1, 2, 3, 2, 1])


def vectors(sequence: str) -> np.ndarray:
    """Return the vector of each residue, float16, shape (length, 16)."""
    matrix = ta.SubstitutionMatrix.from_name("BLOSUM62")
    rows = np.array([[matrix[residue, other] for other in AMINO_ACIDS] for residue in sequence])
    padded = np.pad(rows, ((2, 2), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 5, axis=0)
    return (windows @ WEIGHTS).astype(np.float16)


if __name__ == "__main__":
    proteins = ta.read_sequences(FOLDER / "embeddings.fasta")
    np.savez_compressed(FOLDER / "embeddings.npz", **{one.name: vectors(str(one)) for one in proteins})
