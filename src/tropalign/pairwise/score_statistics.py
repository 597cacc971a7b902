"""What scores of local alignments mean, for any matrix and gap costs."""

from __future__ import annotations

from dataclasses import replace

from tropalign.errors import ScoringError
from tropalign.pairwise.api import MatrixLike
from tropalign.pairwise.whole_scoring import WholeScoring
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.scoring.statistics import ScoreStatistics, published_statistics


def score_statistics(matrix: MatrixLike, gap: Gap) -> ScoreStatistics:
    """Lambda, K and what else bit scores and E-values of local alignments need.

    Parameters
    ----------
    matrix
        What `SubstitutionMatrix.of` takes.
    gap
        A gap of k residues costs ``gap.open + k * gap.extend``.

    Returns
    -------
    ScoreStatistics
        As NCBI has published them for these scores.

    Raises
    ------
    ScoringError
        Scores that have no statistics: random sequences score the more the longer they are.

    Examples
    --------
    >>> print(tropalign.score_statistics("BLOSUM62", tropalign.Gap(11, 1)))
    lambda 0.267, K 0.041, H 0.14 (published by NCBI for BLOSUM62 and gaps of 11 + 1 k)
    """
    scores = SubstitutionMatrix.of(matrix)
    if not isinstance(gap, Gap):
        raise ScoringError("the gap cost has to be a Gap(open, extend): a gap of k residues costs open + k * extend")
    whole = WholeScoring.of(scores, gap)  # statistics are found for whole numbers
    large = SubstitutionMatrix(scores.name, scores.alphabet, whole.scores, scores.letters)
    found = published_statistics(large, Gap(whole.gap_open, whole.gap_extend))
    if found is None:
        raise ScoringError(
            f"NCBI has no statistics for {scores.name} and gaps of {gap.open} + {gap.extend} k: choose costs from "
            "docs/pairs.md, such as BLOSUM62 with 11 + 1 k or nucleotides of 2 and -3 with 5 + 2 k"
        )
    return found if whole.scale == 1 else _per_unit(found, whole.scale)


def _per_unit(large: ScoreStatistics, scale: int) -> ScoreStatistics:
    """What holds for scores that are `scale` times as large, for the scores themselves."""
    step = large.score_step / scale if large.score_step > 1 else 1
    return replace(large, lambda_=large.lambda_ * scale, alpha=large.alpha * scale, score_step=step)
