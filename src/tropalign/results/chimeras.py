"""The class `Chimeras`: which sequences are chimeras, and of which parents."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.results import display
from tropalign.results.columns import Axis, Table
from tropalign.results.names import ChimerasFormat
from tropalign.sequences import SequenceBatch

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
_VOTES = ("left_yes", "left_no", "left_abstain", "right_yes", "right_no", "right_abstain")


class Judged(NamedTuple):
    """Verdict on one sequence.

    verdict: Y (chimera), N (no chimera) or ? (borderline). score: 0 if no two parents explain the sequence.
    parent_a, parent_b: sources of its left and of its right part.
    """

    query: str
    verdict: str
    score: float
    parent_a: str | None
    parent_b: str | None

    def _repr_html_(self) -> str:
        return display.record_html(self)


@dataclass(frozen=True, eq=False, repr=False)
class Chimeras(Table[Judged]):
    """Sequences and whether they are chimeras, a row per sequence.

    ``found[k]`` is one `Judged`; a slice, a mask or indices select rows. pandas, polars and every consumer of an
    Arrow C stream read `columns`.

    Attributes
    ----------
    sequences, references : SequenceBatch
        The input that the indices refer to; one object if no references were given.
    query_index : int64, shape (n,)
        Sequence of each row.
    verdicts : tuple of str, n
        Y (chimera), N (no chimera) or ? (borderline).
    score : float64, shape (n,)
        UCHIME's H; 0 if no two parents explain the sequence.
    parent_a, parent_b : int64, shape (n,)
        References with the left and the right part of the sequence; -1 without parents.
    model_identity, a_identity, b_identity, ab_identity : float64, shape (n,)
        In percent: identity of the sequence to its model (parent A up to the breakpoint, then B) and to each parent,
        and of the parents to each other; nan without parents.
    left_yes, left_no, left_abstain, right_yes, right_no, right_abstain : int64, shape (n,)
        Votes of columns on either side of the breakpoint.

    Examples
    --------
    >>> a = "ACGTTGCAAGCTTAGGCATC" * 6
    >>> b = a.replace("TTAGG", "TCAGC")
    >>> found = tropalign.find_chimeras({"a;size=9": a, "b;size=8": b, "c;size=2": a[:60] + b[60:]})
    >>> found
    <Chimeras: 1 of 3 sequences>
    >>> found[found.is_chimera].query_sequences.names
    ('c;size=2',)
    """

    _axis: ClassVar[Axis] = Axis(
        "rows",
        {
            "query_index": np.int64,
            "verdicts": str,
            "score": np.float64,
            "parent_a": np.int64,
            "parent_b": np.int64,
            **dict.fromkeys(("model_identity", "a_identity", "b_identity", "ab_identity"), np.float64),
            **dict.fromkeys(_VOTES, np.int64),
        },
    )

    sequences: SequenceBatch
    references: SequenceBatch
    query_index: Int64
    verdicts: tuple[str, ...]
    score: Float64
    parent_a: Int64
    parent_b: Int64
    model_identity: Float64
    a_identity: Float64
    b_identity: Float64
    ab_identity: Float64
    left_yes: Int64
    left_no: Int64
    left_abstain: Int64
    right_yes: Int64
    right_no: Int64
    right_abstain: Int64

    def __len__(self) -> int:
        return len(self.score)

    def _is(self, verdict: str) -> NDArray[np.bool_]:
        return np.array([one == verdict for one in self.verdicts], bool)

    @property
    def is_chimera(self) -> NDArray[np.bool_]:
        """Mask of the rows that are chimeras; bool, shape (n,)."""
        return self._is("Y")

    @property
    def is_borderline(self) -> NDArray[np.bool_]:
        """Mask of the rows that may be chimeras; bool, shape (n,)."""
        return self._is("?")

    @property
    def is_clean(self) -> NDArray[np.bool_]:
        """Mask of the rows that are neither chimeras nor borderline; bool, shape (n,)."""
        return self._is("N")

    @property
    def query_sequences(self) -> SequenceBatch:
        """The sequences of the rows, in order."""
        return self.sequences[self.query_index]

    @property
    def top_identity(self) -> Float64:
        """Identity to the closer parent, in percent; nan without parents."""
        return np.fmax(self.a_identity, self.b_identity)

    @property
    def divergence(self) -> Float64:
        """Identity to the model minus identity to the closer parent, in percentage points; nan without parents."""
        return self.model_identity - self.top_identity

    def _parent_names(self, parent: Int64) -> list[str | None]:
        return [None if k < 0 else self.references.names[k] for k in parent.tolist()]

    def columns(self) -> dict[str, Any]:
        """Return a row per sequence, with the columns in the order of vsearch's ``--uchimeout``.

        Returns
        -------
        dict of str to list or array
            Names ("*" without parents) and numbers.

        Examples
        --------
        >>> a = "ACGTTGCAAGCTTAGGCATC" * 6
        >>> b = a.replace("TTAGG", "TCAGC")
        >>> found = tropalign.find_chimeras({"a;size=9": a, "b;size=8": b, "c;size=2": a[:60] + b[60:]})
        >>> found.columns()["closer_parent"]
        ['*', '*', 'a;size=9']
        """
        closer = np.where(self.b_identity > self.a_identity, self.parent_b, self.parent_a)
        parents = {"parent_a": self.parent_a, "parent_b": self.parent_b, "closer_parent": closer}
        return {
            "score": self.score,
            "query": [self.sequences.names[k] for k in self.query_index.tolist()],
            **{name: [one or "*" for one in self._parent_names(parent)] for name, parent in parents.items()},
            "model_identity": self.model_identity,
            "a_identity": self.a_identity,
            "b_identity": self.b_identity,
            "ab_identity": self.ab_identity,
            "top_identity": self.top_identity,
            **{name: getattr(self, name) for name in _VOTES},
            "divergence": self.divergence,
            "verdict": list(self.verdicts),
        }

    def row(self, k: int) -> Judged:
        """Return a single row.

        Parameters
        ----------
        k
            The row, from 0; negative numbers count from the end.

        Returns
        -------
        Judged

        Raises
        ------
        IndexError
            There is no such row.

        Examples
        --------
        >>> found = tropalign.find_chimeras({"a;size=9": "ACGT", "b;size=8": "AGGT"})
        >>> found.row(0).verdict
        'N'
        """
        k = ragged.row_number(k, len(self))
        a, b = (self._parent_names(parent[k : k + 1])[0] for parent in (self.parent_a, self.parent_b))
        return Judged(self.sequences.names[int(self.query_index[k])], self.verdicts[k], float(self.score[k]), a, b)

    def write(self, path: str | os.PathLike[str], format: ChimerasFormat | None = None) -> None:
        """Write the rows as a table, or their sequences: see `tropalign.write_chimeras`.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.
        format
            "tsv", "uchime" or "fasta"; by default, the suffix of the path decides.

        Raises
        ------
        TropalignError
            The format does not exist, or the file cannot be written.

        Examples
        --------
        >>> found = tropalign.find_chimeras({"a;size=9": "ACGT", "b;size=8": "AGGT"})
        >>> found[found.is_clean].write("-", "fasta")
        >a;size=9
        ACGT
        >b;size=8
        AGGT
        """
        import tropalign  # through the public name: results do not depend on files

        tropalign.write_chimeras(self, path, format)

    def _title(self) -> str:
        n = len(self)
        return f"Chimeras: {int(self.is_chimera.sum())} of {n} sequence{'s' * (n != 1)}"
