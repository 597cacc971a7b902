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
SETS = tuple(FILES)
NUCLEOTIDE_SETS = ("dna",)
#: Of these files a set is the first few; whole commands read more.
FIRST_OF = {"30-3000": 300}
GENES = Path(__file__).resolve().parent.parent / "examples" / "16s" / "ref.phy.gz"


def load(name: str, data: Path = DATA, n: int | None = None) -> list[str]:
    """The sequences of a set, in upper case; with n the first n of its file.

    Proteins have U, O and J as C, X and X, because the peers score these letters differently or not at all. Of the
    nucleotides only sequences of A, C, G and T alone are taken.
    """
    with gzip.open(data / FILES[name], "rt") as file:
        records = file.read().split(">")[1:]
    sequences = ["".join(record.split("\n")[1:]).upper() for record in records[: n or FIRST_OF.get(name)]]
    if name in NUCLEOTIDE_SETS:
        return [text for text in sequences if set(text) <= set("ACGT")]
    return [text.translate(str.maketrans("UOJ", "CXX")) for text in sequences]


def similar_pairs(n: int, length: int, percent: int, substitutions: float = 0.8) -> list[tuple[str, str]]:
    """So many pairs of random nucleotides and copies of them; of the places of a copy `percent` in 100 are changed.

    That share of the changes is another letter, half of the others a letter less, and half a letter more.
    """
    rng = random.Random(f"{length} {percent} {substitutions}")
    pairs = []
    for _ in range(n):
        original = rng.choices("ACGT", k=length)
        copy = list(original)
        for place in rng.sample(range(length), length * percent // 100):
            letter, kind = original[place], rng.random()
            other = rng.choice([x for x in "ACGT" if x != letter])
            shortened = (1 + substitutions) / 2
            copy[place] = other if kind < substitutions else "" if kind < shortened else letter + other
        pairs.append(("".join(original), "".join(copy)))
    return pairs


def genes_16s(n: int) -> list[str]:
    """So many 16S rRNA genes out of examples/16s, without gaps; drawn with a seed."""
    with gzip.open(GENES, "rt") as file:
        rows = [line.split()[1] for line in file.read().splitlines()[1:] if line.strip()]
    return [row.replace("-", "").upper() for row in random.Random(1).sample(rows, n)]


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


def random_proteins(n: int, shortest: int, longest: int, seed: int = 2) -> list[str]:
    """Random residues; lengths spread evenly on a logarithmic scale."""
    rng = random.Random(seed)
    lengths = (round(shortest * (longest / shortest) ** rng.random()) for _ in range(n))
    return ["".join(rng.choices(AMINO_ACIDS, k=length)) for length in lengths]


def missing(names: list[str], data: Path = DATA) -> list[Path]:
    """The files of these sets that are not there."""
    return [data / FILES[name] for name in names if name in FILES and not (data / FILES[name]).exists()]
