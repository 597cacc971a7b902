"""Names of output formats, for type checkers; the registry of formats defines them."""

from typing import Literal

AlignmentsFormat = Literal[
    "tsv", "arrow", "arrows", "bam", "csv", "fasta", "feather", "html", "jsonl", "m8", "matrix", "paf", "parquet",
    "result", "sam", "srspair",
]  # fmt: skip
MultipleFormat = Literal[
    "fasta", "a2m", "a3m", "clustal", "html", "msf", "nexus", "phylip", "png", "result", "stockholm", "svg"
]
HitsFormat = Literal[
    "text", "arrow", "domtblout", "html", "json", "parquet", "pfamtblout", "result", "stockholm", "tblout", "tsv"
]
ClustersFormat = Literal["tsv", "biom", "biom2", "fasta", "html", "result", "uc"]
ChimerasFormat = Literal["tsv", "fasta", "uchime"]
