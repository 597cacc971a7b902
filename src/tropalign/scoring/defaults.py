"""Matrix and gap cost of a job: those given, else those of the alphabet."""

from __future__ import annotations

from typing import Any

from tropalign.scoring.gap import Gap
from tropalign.scoring.matrix import SubstitutionMatrix
from tropalign.sequences import Alphabet


def default_scoring(alphabet: Alphabet, matrix: Any, gap: Gap | None) -> tuple[SubstitutionMatrix, Gap]:
    """Return the given matrix (see `SubstitutionMatrix.of`) and gap cost, or the alphabet's for those not given."""
    scores = SubstitutionMatrix.default(alphabet) if matrix is None else SubstitutionMatrix.of(matrix, alphabet)
    return scores, Gap(*alphabet.gap_cost) if gap is None else gap
