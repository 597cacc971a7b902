"""Alphabets, sequences in memory, and reading them from files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.sequences.alphabet import ALPHABETS, NUCLEOTIDE, PROTEIN, Alphabet, alphabet_named
    from tropalign.sequences.batch import Sequence, SequenceBatch
    from tropalign.sequences.files import read_lines, read_text
    from tropalign.sequences.reader import read_sequences
    from tropalign.sequences.store import SequenceStore

_HOMES = {
    "ALPHABETS": "alphabet",
    "NUCLEOTIDE": "alphabet",
    "PROTEIN": "alphabet",
    "Alphabet": "alphabet",
    "alphabet_named": "alphabet",
    "Sequence": "batch",
    "SequenceBatch": "batch",
    "SequenceStore": "store",
    "read_lines": "files",
    "read_text": "files",
    "read_sequences": "reader",
}

__all__ = [
    "ALPHABETS",
    "NUCLEOTIDE",
    "PROTEIN",
    "Alphabet",
    "Sequence",
    "SequenceBatch",
    "SequenceStore",
    "alphabet_named",
    "read_lines",
    "read_sequences",
    "read_text",
]


def __getattr__(name: str) -> Any:
    """Loads a name from its home on first use: the command line reads `ALPHABETS` without loading NumPy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tropalign.sequences' has no attribute {name!r}")
    return getattr(import_module(f"tropalign.sequences.{_HOMES[name]}"), name)
