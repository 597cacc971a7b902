"""Placement of short reads into a reference alignment, guided by its tree."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.placement.api import place
    from tropalign.placement.reference import ReferencePackage
    from tropalign.placement.scoring import PlacementScoring
    from tropalign.placement.taxonomy import read_taxonomy

_HOMES = {"place": "api", "ReferencePackage": "reference", "PlacementScoring": "scoring", "read_taxonomy": "taxonomy"}

__all__ = ["PlacementScoring", "ReferencePackage", "place", "read_taxonomy"]


def __getattr__(name: str) -> Any:
    """Load a name from its module on first use: the command line reads options without loading NumPy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tropalign.placement' has no attribute {name!r}")
    return getattr(import_module(f"tropalign.placement.{_HOMES[name]}"), name)
