"""The files of a reader that pages speak of (``proteins.fa``, ``ref.phy``): small ones, made of the examples.

A page finds in its folder those whose names it has, and no others.
"""

import functools
import gzip
import re
from collections.abc import Callable
from pathlib import Path

from clone import ROOT

EXAMPLES = ROOT / "examples"


def records(name: str, begin: int, end: int) -> list[tuple[str, str]]:
    """Records of an example, each its header and its letters."""
    found = (EXAMPLES / name).read_text().split(">")[1:][begin:end]
    return [(text.split("\n", 1)[0], text.split("\n", 1)[1].replace("\n", "")) for text in found]


def fasta(name: str, begin: int, end: int) -> str:
    return "".join(f">{header}\n{letters}\n" for header, letters in records(name, begin, end))


def reads(strand: int = 1, begin: int = 20, end: int = 30) -> list[tuple[str, str]]:
    """The first 120 letters of amplicons that are not in the reference, or the last 120 of their other strand."""
    found = [(header, letters[:120]) for header, letters in records("amplicons.fasta", begin, end)]
    if strand < 0:
        other = str.maketrans("ACGT", "TGCA")
        whole = records("amplicons.fasta", begin, end)
        found = [(header, letters[::-1].translate(other)[:120]) for header, letters in whole]
    return found


def fastq(strand: int = 1) -> str:
    return "".join(f"@{name}\n{letters}\n+\n{'I' * len(letters)}\n" for name, letters in reads(strand))


def reads_fasta(begin: int, end: int) -> str:
    return "".join(f">{name}\n{letters}\n" for name, letters in reads(1, begin, end))


@functools.cache
def aligned(name: str, begin: int, end: int, file_name: str, folder: Path) -> str:
    """An alignment of examples, in the format of the file name's suffix."""
    import tropalign as ta

    path = folder / file_name
    ta.align_multiple({header.split()[0]: letters for header, letters in records(name, begin, end)}).write(str(path))
    return path.read_text()


@functools.cache
def tree(begin: int, end: int) -> str:
    """The tree of the reference of `place`."""
    import tropalign as ta
    from tropalign.trees import alignment_distances, neighbour_joining

    alignment = ta.align_multiple(dict(records("amplicons.fasta", begin, end)))
    return neighbour_joining(alignment_distances(alignment), alignment.names).newick() + "\n"


def taxonomy() -> str:
    lineages = ["Eukaryota;Alveolata", "Eukaryota;Rhizaria", "Eukaryota;Stramenopiles"]
    names = [name for name, _ in records("amplicons.fasta", 0, 12)]
    return "".join(f"{name}\t{lineages[i % 3]}\n" for i, name in enumerate(names))


def models() -> str:
    return (EXAMPLES / "efp.hmm").read_text().replace("\nSTATS LOCAL MSV", "\nGA    25.00 25.00;\nSTATS LOCAL MSV", 1)


def store(folder: Path) -> bytes:
    from tropalign.cli.main import main

    (folder / "for_store.fa").write_text(fasta("efp.fasta", 0, 12))
    assert main(["db", "build", str(folder / "for_store.fa"), "-o", str(folder / "store.tdb")]) == 0
    return (folder / "store.tdb").read_bytes()


Content = str | bytes | Callable[[Path], str | bytes]


def alignment_of(name: str, begin: int, end: int, suffix: str) -> Callable[[Path], str]:
    return lambda folder: aligned(name, begin, end, f"made{suffix}", folder)


@functools.cache
def files() -> dict[str, Content]:
    """What each name holds."""
    proteins = fasta("efp.fasta", 0, 12)
    amplicons = fasta("amplicons.fasta", 0, 30)
    return {
        "proteins.fa": proteins,
        "proteins.fa.gz": gzip.compress(proteins.encode()),
        "proteome.fa": (EXAMPLES / "family.fasta").read_text(),
        "query.fa": fasta("efp.fasta", 20, 21),
        "proteins.tdb": store,
        "swissprot.fasta.gz": gzip.compress(proteins.encode()),
        "db.fa": fasta("family.fasta", 0, 20),
        "globins4.hmm": lambda _: models(),
        "family.hmm": lambda _: models(),
        "Pfam-A.hmm": lambda _: models(),
        "family.sto": alignment_of("efp.fasta", 0, 8, ".sto"),
        "others.sto": alignment_of("efp.fasta", 8, 14, ".sto"),
        "family.fa": fasta("efp.fasta", 0, 8),
        "a.fa": fasta("efp.fasta", 0, 4),
        "b.fa": fasta("efp.fasta", 4, 8),
        "new.fa": fasta("efp.fasta", 8, 10),
        "old.aln.fa": alignment_of("efp.fasta", 0, 8, ".fa"),
        "old.sto": alignment_of("efp.fasta", 0, 8, ".sto"),
        "other.aln": alignment_of("efp.fasta", 10, 16, ".aln"),
        **dict.fromkeys(
            ["reference.fa", "alignment.fa", "tropalign.fa", "mafft.fa", "muscle.fa"],
            alignment_of("efp.fasta", 0, 8, ".fa"),
        ),
        "references/family.fa": alignment_of("efp.fasta", 0, 8, ".fa"),
        "alignments/family.fa": alignment_of("efp.fasta", 0, 8, ".fa"),
        "reads.fa": amplicons,
        "genes.fa": amplicons,
        "genes.fa.gz": gzip.compress(amplicons.encode()),
        "genome.fa": fasta("amplicons.fasta", 30, 31),
        "genomes.fa": ">NC_045512.2\n" + amplicons.partition("\n")[2],
        "edges.tsv": (EXAMPLES / "codons.tsv").read_text(),
        "chr21.fa.gz": gzip.compress((EXAMPLES / "cpgislands.fa").read_bytes()),
        "ref.phy": alignment_of("amplicons.fasta", 0, 12, ".phy"),
        "ref.sto": alignment_of("amplicons.fasta", 0, 12, ".sto"),
        "ref.nwk": lambda _: tree(0, 12),
        "ref.bestModel": "GTR{0.7/1.8/1.2/0.6/3.0/1.0}+FU{0.25/0.23/0.30/0.22}+G4{0.47}, noname = 1-430\n",
        "tips.tsv": lambda _: taxonomy(),
        "more.fa": reads_fasta(30, 36),
        "reads.fq": fastq(),
        "reads.fq.gz": gzip.compress(fastq().encode()),
        **{f"r_{mate}.fq": fastq(strand) for mate, strand in ((1, 1), (2, -1))},
        **{f"r_{mate}.fq.gz": gzip.compress(fastq(strand).encode()) for mate, strand in ((1, 1), (2, -1))},
    }


def on_page(page: str) -> dict[str, Content]:
    """Files that a page means in another sense than most."""
    if page == "docs/cluster.md":
        amplicons = enumerate(records("amplicons.fasta", 0, 30))
        return {"reads.fa": "".join(f">{name};size={i % 4 + 1}\n{letters}\n" for i, (name, letters) in amplicons)}
    return {"reads.fa": reads_fasta(20, 30)} if page in ("docs/place.md", "docs/how-to/epa-ng-pipeline.md") else {}


def write_files(folder: Path, page: str, text: str, scratch: Path) -> None:
    """Write into `folder` what `text`, the page at path `page`, speaks of; `scratch` is for files made on the way.

    Tutorials begin with the examples alone.
    """
    if page.startswith("docs/tutorials/"):
        return
    for name, content in {**files(), **on_page(page)}.items():
        spoken = re.escape(name.split("/")[0] + "/" if "/" in name else name)
        if re.search(rf"(?<![\w./-]){spoken}(?![\w]|\.\w)", text):
            data = content(scratch) if callable(content) else content
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
