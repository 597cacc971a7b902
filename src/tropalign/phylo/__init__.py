"""Short reads into a reference alignment, guided by its tree."""

from tropalign.phylo.api import place
from tropalign.phylo.reference import ReferencePackage
from tropalign.phylo.scoring import PlacementScoring
from tropalign.phylo.taxonomy import read_taxonomy

__all__ = ["PlacementScoring", "ReferencePackage", "place", "read_taxonomy"]
