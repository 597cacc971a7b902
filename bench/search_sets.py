"""The files of a search benchmark: those of a folder, or the repository's examples.

A folder has

    models.hmm        models, of which SEARCHES and STAGES of search.py and search_stages.py name some
    library.hmm       a few hundred models of domains that proteins commonly have
    proteins.fa       some ten thousand proteins of all lengths
    proteome.fa       the proteins of a bacterium
    alignments/*.sto  families, of which hmmbuild and MMseqs2 make models; may be absent
    about.txt         where all these are from, for the page; may be absent

None of them is in this repository. Models are free, for instance, from Pfam (CC0), proteins from UniProt (CC BY 4.0).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from tropalign.sequences import read_sequences

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
#: Proteins of the large set: those of proteins.fa and proteome.fa, and copies of them with their residues shuffled.
N_LARGE = 80_000
#: Residues of the sequences that have no SSV score with long models, since E-values of long targets ask for more bits.
JOINED = 90_000


def records(path: Path) -> Iterator[tuple[str, str]]:
    """Names and letters of a FASTA file."""
    batch = read_sequences(path)
    for name, text in zip(batch.names, batch, strict=True):
        yield name, str(text)


def write_fasta(path: Path, sequences: Iterable[tuple[str, str]]) -> Path:
    """Sequences, a line each; the path."""
    with open(path, "w") as file:
        file.writelines(f">{name}\n{text}\n" for name, text in sequences)
    return path


def make_large(folder: Path, out: Path) -> Path:
    """`N_LARGE` proteins; each shuffled copy has length and composition of the protein that it is named after."""
    both = [*records(folder / "proteins.fa"), *records(folder / "proteome.fa")]
    real = list(dict(both).items())
    random = np.random.default_rng(10)

    def shuffled() -> Iterator[tuple[str, str]]:
        for k in range(max(0, N_LARGE - len(real))):
            name, text = real[k % len(real)]
            letters = np.frombuffer(text.encode(), np.uint8)
            yield f"{name}_shuffled{k // len(real) + 1}", random.permutation(letters).tobytes().decode()

    return write_fasta(out, [*real, *shuffled()])


def some(path: Path, n: int, out: Path) -> Path:
    """Every k-th sequence, so that there are about n; of all lengths, as they come."""
    every = list(records(path))
    return write_fasta(out, every[:: max(1, len(every) // n)])


def joined(path: Path, n: int, out: Path) -> Path:
    """n sequences of `JOINED` residues each, cut from the proteins in a row."""
    text = "".join(text for _, text in records(path))
    text *= 1 + n * JOINED // max(1, len(text))
    return write_fasta(out, ((f"joined{k}", text[k * JOINED : (k + 1) * JOINED]) for k in range(n)))


def models_of(path: Path) -> dict[str, str]:
    """The text of each model of a file, by its name."""
    texts = [text.lstrip("\n") + "\n//\n" for text in path.read_text(encoding="latin-1").split("\n//")[:-1]]
    return {next(line.split()[1] for line in text.splitlines() if line.startswith("NAME")): text for text in texts}


def build_models(folder: Path, hmmbuild: str, out: Path) -> Path | None:
    """Models of the alignments of a folder, one file; None where there are none."""
    alignments = sorted((folder / "alignments").glob("*.sto"))
    if not alignments or shutil.which(hmmbuild) is None:
        return None
    together = out.with_suffix(".sto")
    together.write_text("".join(path.read_text() for path in alignments))
    subprocess.run([hmmbuild, "--amino", "--cpu", "0", str(out), str(together)], check=True, stdout=subprocess.DEVNULL)
    return out
