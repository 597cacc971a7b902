"""Alphabets, sequences in memory, and reading them from files."""

from tropalign.sequences.alphabet import NUCLEOTIDE, PROTEIN, Alphabet
from tropalign.sequences.batch import Sequence, SequenceBatch
from tropalign.sequences.reader import read_lines, read_sequences, read_text

__all__ = [
    "NUCLEOTIDE",
    "PROTEIN",
    "Alphabet",
    "Sequence",
    "SequenceBatch",
    "read_lines",
    "read_sequences",
    "read_text",
]
