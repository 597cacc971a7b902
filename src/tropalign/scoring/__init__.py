"""Scores of alignments: substitution matrices and gap costs."""

from tropalign.scoring.gap import Gap, WholeScoring, default_scoring
from tropalign.scoring.matrix import MatrixLike, SubstitutionMatrix

__all__ = ["Gap", "MatrixLike", "SubstitutionMatrix", "WholeScoring", "default_scoring"]
