"""Alphabets, sequences in memory, and reading them from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.lazy import lazy

if TYPE_CHECKING:
    from tropalign.sequences.alphabet import ALPHABETS as ALPHABETS
    from tropalign.sequences.alphabet import NUCLEOTIDE as NUCLEOTIDE
    from tropalign.sequences.alphabet import PROTEIN as PROTEIN
    from tropalign.sequences.alphabet import Alphabet as Alphabet
    from tropalign.sequences.alphabet import alphabet_named as alphabet_named
    from tropalign.sequences.batch import Sequence as Sequence
    from tropalign.sequences.batch import SequenceBatch as SequenceBatch
    from tropalign.sequences.files import read_lines as read_lines
    from tropalign.sequences.files import read_text as read_text
    from tropalign.sequences.reader import read_sequences as read_sequences
    from tropalign.sequences.store import SequenceStore as SequenceStore

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "alphabet": "ALPHABETS NUCLEOTIDE PROTEIN Alphabet alphabet_named",
        "batch": "Sequence SequenceBatch",
        "files": "read_lines read_text",
        "reader": "read_sequences",
        "store": "SequenceStore",
    },
)
