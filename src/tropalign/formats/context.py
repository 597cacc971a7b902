"""What an output says of its making."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tropalign.sequences import SequenceBatch


@dataclass(frozen=True)
class Context:
    """What a format needs beside the tables: lines for its header, the sequences, and how they were scored.

    Attributes
    ----------
    version, command, parameters
        For the header.
    queries, targets
        What the tables' indices point into.
    report
        Depth of the tables.
    both_strands
        Whether the tables have a strand column.
    is_triangle
        All pairs of one set, each once.
    matrix_values : {"score", "identity", "distance"}
    matrix_layout : {"tsv", "phylip", "npz"}
    substitution, gap
        The SubstitutionMatrix and Gap, where the format shows them; None when unknown.
    """

    version: str
    command: str
    parameters: dict[str, str]
    queries: SequenceBatch
    targets: SequenceBatch
    report: str
    both_strands: bool = False
    is_triangle: bool = False
    matrix_values: str = "score"
    matrix_layout: str = "tsv"
    substitution: Any = None
    gap: Any = None

    def comment_lines(self, mark: str = "# ") -> list[str]:
        """Version, command, then the parameters by name; each on one line."""
        lines = [f"tropalign {self.version}", f"command: {self.command}"]
        lines += [f"{name}: {value}" for name, value in sorted(self.parameters.items())]
        return [mark + " ".join(line.split()) for line in lines]
