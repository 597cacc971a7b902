"""The sequences that the benchmarks of pairs run on; bench/data/README.md says where they come from."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data" / "pairs"
#: Name in the tables -> file. "100-420" are the lengths of the EMBOSS comparison of Blazewicz et al. 2011, "30-3000"
#: those of a proteome.
FILES = {
    "51": "proteins_len51.fasta.gz",
    "154": "proteins_len154.fasta.gz",
    "257": "proteins_len257.fasta.gz",
    "459": "proteins_len459.fasta.gz",
    "608": "proteins_len608.fasta.gz",
    "1103": "proteins_len1103.fasta.gz",
    "100-420": "proteins_100-420.fasta.gz",
    "30-3000": "proteins_30-3000.fasta.gz",
    "dna": "dna_amplicons.fasta.gz",
}
#: Made here, of random letters.
SIMILAR = "similar dna"
SETS = (*FILES, SIMILAR)
NUCLEOTIDE_SETS = ("dna", SIMILAR)


def load(name: str, data: Path = DATA) -> list[str]:
    """The sequences of a set, in upper case.

    Proteins have U, O and J as C, X and X, because the peers score these letters differently or not at all. Of the
    nucleotides only sequences of A, C, G and T alone are taken.
    """
    if name == SIMILAR:
        return similar()
    with gzip.open(data / FILES[name], "rt") as file:
        records = file.read().split(">")[1:]
    sequences = ["".join(record.split("\n")[1:]).upper() for record in records]
    if name in NUCLEOTIDE_SETS:
        return [text for text in sequences if set(text) <= set("ACGT")]
    return [text.translate(str.maketrans("UOJ", "CXX")) for text in sequences]


def similar() -> list[str]:
    """Sixty copies of 1,000 random nucleotides; two copies differ in about 1 % of them, a fifth of it in length."""
    rng = random.Random(1)
    original = rng.choices("ACGT", k=1000)
    copies = []
    for _ in range(60):
        copy = list(original)
        for place in rng.sample(range(len(copy)), 5):
            copy[place] = rng.choice([*"ACGT", *"ACGT", "", "AC"])
        copies.append("".join(copy))
    return copies


#: How CDR3 of T-cell receptors begin and end, and what lies between, each as often as it is listed.
CDR3_BEGINS = ["CASS"] * 8 + ["CAS"] * 2 + ["CSAR", "CAWS", "CAIS", "CATS"]
CDR3_ENDS = (
    ["NTEAFF"] * 4 + ["YEQYF"] * 5 + ["ETQYF"] * 3 + ["TGELFF"] * 4 + ["NQPQHF"] * 2 + ["DTQYF"] * 3 + ["NEQFF"] * 4
) + ["GYTF", "GYTF", "EKLFF", "NVLTF"]
CDR3_MIDDLES = "GGGGGGLLRRPPTTSSSAADDQEVNKWIFYHM"
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"


def cdr3(n: int) -> list[str]:
    """So many peptides like CDR3 of T-cell receptors: 12 to 20 residues, 14.7 on average, of common begins and ends."""
    rng = random.Random(1)
    made: list[str] = []
    while len(made) < n:
        begin, end = rng.choice(CDR3_BEGINS), rng.choice(CDR3_ENDS)
        length = min(20, max(12, round(rng.gauss(14.7, 1.7))))
        made.append(begin + "".join(rng.choices(CDR3_MIDDLES, k=length - len(begin) - len(end))) + end)
    return made


def random_proteins(n: int, shortest: int, longest: int) -> list[str]:
    """Random residues; lengths spread evenly on a logarithmic scale."""
    rng = random.Random(2)
    lengths = (round(shortest * (longest / shortest) ** rng.random()) for _ in range(n))
    return ["".join(rng.choices(AMINO_ACIDS, k=length)) for length in lengths]


def missing(names: list[str], data: Path = DATA) -> list[Path]:
    """The files of these sets that are not there."""
    return [data / FILES[name] for name in names if name in FILES and not (data / FILES[name]).exists()]
