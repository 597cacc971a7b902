"""Multiple alignment of a family, profiles, and how accurate alignments are."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.msa.profiles import (
        ProfileAlignment,
        align_profile_pairs,
        align_profile_to_sequence,
        align_profiles,
        profile_of,
    )

_HOMES = {
    "ProfileAlignment": "profiles",
    "align_profile_pairs": "profiles",
    "align_profile_to_sequence": "profiles",
    "align_profiles": "profiles",
    "profile_of": "profiles",
}

__all__ = [
    "ProfileAlignment",
    "align_profile_pairs",
    "align_profile_to_sequence",
    "align_profiles",
    "profile_of",
]


def __getattr__(name: str) -> Any:
    """Loads a name from its home on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tropalign.msa' has no attribute {name!r}")
    return getattr(import_module(f"tropalign.msa.{_HOMES[name]}"), name)
