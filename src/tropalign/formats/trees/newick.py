"""The guide tree in Newick format."""

from __future__ import annotations

from tropalign.formats.aligned import AlignedContext
from tropalign.formats.text import concatenated
from tropalign.formats.writer import Format
from tropalign.results.multiple import MultipleAlignment


def encode(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """The tree on one line."""
    return f"{alignment.tree}\n".encode()


FORMAT = Format((".nwk", ".newick", ".tree", ".tre"), encode, concatenated())
