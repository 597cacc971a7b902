"""Types of option values, such as `TreeMethod`, and of format names; formats/format.py defines the formats."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from tropalign.errors import UsageError, named

#: Definitions by name; the first five in the order of vsearch's --iddef 0 to 4.
DEFINITIONS: Mapping[str, str] = MappingProxyType(
    {
        "shorter": "identical columns per residue of the shorter sequence (CD-HIT)",
        "columns": "identical columns per column",
        "internal": "identical columns per column between the first and the last pair of residues (vsearch's default)",
        "openings": "1 - (mismatches + gaps, each counted once) per residue of the longer sequence",
        "blast": "as columns",
        "longer": "identical columns per residue of the longer sequence",
        "matches": "identical columns per pair of residues: matches / (matches + mismatches)",
    }
)
#: Number of definitions that have a number in vsearch.
N_NUMBERED = 5
#: Ambiguous letters are identical to equal letters only, or to all letters that they may stand for; or pairs with N, or
#: X in proteins, do not count.
AmbiguousRule = Literal["differ", "match", "ignore"]
#: Models that convert differing residues to a distance.
DistanceModel = Literal["identity", "kimura", "jc69", "k2p"]
#: Columns that distances leave out: those with a gap in one of the two rows, or in any row.
ColumnRule = Literal["pairwise", "complete"]
#: Ways to make a tree from distances.
TreeMethod = Literal["nj", "upgma", "wpgma"]
#: Treatment of negative branch lengths.
NegativeRule = Literal["keep", "zero", "error"]
#: Splits of a consensus of trees.
ConsensusRule = Literal["majority", "strict"]
#: Quality of a residue that several reads have: that of their mean error probability, or the highest one.
Quality = Literal["mean", "max"]


def checked_definition(name: Any) -> str:
    """Return a definition by its name or vsearch's number. Raises UsageError if it does not exist."""
    if isinstance(name, str) and name in DEFINITIONS:
        return name
    numbers = {str(number): one for number, one in enumerate(list(DEFINITIONS)[:N_NUMBERED])}
    if str(name) in numbers and not isinstance(name, bool):
        return numbers[str(name)]
    words = ", ".join(f"{number} {one}" for number, one in numbers.items())
    raise UsageError(f"{named('identity')} {name!r} is not one of {words}, {', '.join(list(DEFINITIONS)[N_NUMBERED:])}")


AlignmentsFormat = Literal[
    "tsv", "arrow", "arrows", "bam", "bed", "csv", "fasta", "feather", "html", "jsonl", "m8", "matrix", "paf",
    "parquet", "result", "sam", "srspair",
]  # fmt: skip
MultipleFormat = Literal[
    "fasta", "a2m", "a3m", "clustal", "html", "msf", "nexus", "phylip", "png", "result", "stockholm", "svg",
    "vcf",
]  # fmt: skip
HitsFormat = Literal[
    "text", "arrow", "domtblout", "html", "json", "parquet", "pfamtblout", "result", "stockholm", "tblout", "tsv"
]
ClustersFormat = Literal["tsv", "biom", "biom2", "clstr", "fasta", "html", "result", "uc"]
ChimerasFormat = Literal["tsv", "fasta", "uchime"]
