"""Options of alignments of embeddings: similarity of vectors in place of a substitution matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from tropalign.devices.registry import is_cluster
from tropalign.errors import DeviceError, ScoringError
from tropalign.options.option import DECIMAL, Options, option
from tropalign.pairwise.options import PairOptions
from tropalign.properties import cached_property
from tropalign.resources.limits import checked_choice, decimal_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tropalign.scoring import WholeScoring

Similarity = Literal["cosine", "dot", "euclidean"]


class SimilarityOptions(Options, group="embeddings"):
    """Scores of pairs of vectors."""

    similarity: Similarity = option(
        default="cosine",
        choices=get_args(Similarity),
        label="Similarity of vectors",
        help="similarity of two vectors: the cosine of their angle (default), their dot product, or exp(-distance) of "
        "their Euclidean distance",
        doc="Similarity of two vectors: the cosine of their angle, their dot product, or exp(-distance) of their "
        "Euclidean distance. A vector of zeros has the cosine 0 with all others.",
    )
    z_scores: bool = option(
        default=False,
        label="Z-scores of similarities",
        help="replace each similarity by the mean of its z-scores in its row and in its column (as in EBA), so that "
        "unrelated residues score about 0",
        doc="Replace each similarity by the mean of its z-scores in its row and in its column (Pantolini and others "
        "2024, EBA), so that unrelated residues score about 0.",
    )
    scale: float = option(
        default=1.0,
        kind=DECIMAL,
        metavar="N",
        label="Factor of similarities",
        help="factor of similarities: a score is scale * similarity - shift (default: 1)",
        doc="A score is ``scale * similarity - shift``.",
    )
    shift: float = option(
        default=0.0,
        kind=DECIMAL,
        metavar="N",
        label="Amount below similarities",
        help="amount to subtract from scaled similarities; local alignments need more than the mean similarity of "
        "unrelated residues (default: 0)",
        doc="See `scale`. Local alignments need scores below 0 for unrelated residues: subtract more than their mean "
        "similarity.",
    )


class EmbeddedPairOptions(PairOptions, SimilarityOptions):
    """Options of pairs whose residues score by their vectors; the matrix is not used."""

    scores_letters: ClassVar[bool] = False

    def settle(self) -> None:
        """Check the values."""
        super().settle()
        if self.gap.has_two_pieces:
            raise ScoringError("the gap cost has two pieces, but score tables support one: give Gap(open, extend)")
        checked_choice("z_scores", self.z_scores)
        for name in ("scale", "shift"):
            self.set(name, decimal_number(name, getattr(self, name)))

    @cached_property
    def whole(self) -> WholeScoring:
        """Scoring without a factor: scores are in the user's unit, and have decimals."""
        from tropalign.scoring import WholeScoring

        none = (0, 0, 0, 0)
        return WholeScoring(1, self.matrix.scaled(self.matrix.scale), none, none, self.min_score)  # type: ignore[arg-type]

    @property
    def has_decimals(self) -> bool:
        """True: scores are float64."""
        return True

    def able_devices(self, names: Iterable[str], has_positions: bool = False) -> list[str]:
        """Return the CPU and the clusters. Raises DeviceError if a GPU was named."""
        listed = list(names)
        clusters = [name for name in listed if is_cluster(name)]
        other = next((name for name in listed if name not in ("auto", "cpu", *clusters)), None)
        if other is not None:
            raise DeviceError(f"{other}: embeddings are aligned on the CPU only: choose the device cpu")
        return ["cpu", *clusters]

    def check_range(self, longest: int) -> None:
        """Accept any length: scores of float32 are rounded to fit 32 bits."""

    def parameters(self) -> dict[str, str]:
        """Return the parameters for headers, with the similarity in place of the matrix."""
        words: dict[str, Any] = super().parameters()
        del words["matrix"]
        words["similarity"] = f"{self.similarity}, z-scores" if self.z_scores else self.similarity
        return {**words, "residue_score": f"{self.scale} * similarity - {self.shift}"}
