"""Multiple alignment of a family, profiles, and the accuracy of alignments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tropalign.lazy import lazy

if TYPE_CHECKING:
    from tropalign.msa.profiles import ProfileAlignment as ProfileAlignment
    from tropalign.msa.profiles import align_profile_pairs as align_profile_pairs
    from tropalign.msa.profiles import align_profile_to_sequence as align_profile_to_sequence
    from tropalign.msa.profiles import align_profiles as align_profiles
    from tropalign.msa.profiles import profile_of as profile_of

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "profiles": "ProfileAlignment align_profile_pairs align_profile_to_sequence align_profiles profile_of",
    },
)
