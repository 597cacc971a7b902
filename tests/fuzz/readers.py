"""A fuzzer of every reader: files of tests/fuzz/corpus (and what tropalign itself writes) with some bytes changed.

Of archives, what is in them is changed, too (`archives`).

A reader may refuse a file by a TropalignError of one printable line, or take it, with warnings. Anything else is a
fault: another exception, a crash, or more than HANG_SECONDS. The file that did it is kept as ``fuzz-fault-<reader>``.

    PYTHONPATH=tests python -m fuzz.readers --seconds 60 --seed 1
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import lzma
import random
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from fuzz import archives

import tropalign as ta
from tropalign.errors import TropalignError
from tropalign.execution.archive import Description, Shards, write_archive
from tropalign.execution.manifest import Manifest
from tropalign.execution.parts import LIST, MANIFEST, Parts, recorded_manifest

CORPUS = Path(__file__).parent / "corpus"
HANG_SECONDS = 20
#: What readers look for.
TOKENS = [
    *(b"\n", b"\r\n", b"\t", b" ", b">", b"@", b"+", b"-", b"#", b"//", b"(", b")", b",", b":", b";", b"'", b"[", b"]"),
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\x1b[31m", "é".encode(), b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\0", b"PK\x03\x04"),
    *(b"0", b"-1", b"1e999", b"nan", b"inf", b"2147483648", b"9" * 30, b"null", b"{", b"}", b'"', b"# STOCKHOLM 1.0\n"),
]
TREE = "((a:0.1,b:0.2):0.1,c:0.3,d:0.1);"
RUN = Manifest("f00d", "cut", 2, {"mode": "local"}, 1 << 30, shard=(1, 1))

Reader = Callable[[Path], object]
#: Kinds of files of which the contents are changed.
ARCHIVES = ("results", "arrays", "references", "shards")


def mutated(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """The bytes with one to six changes; now and then compressed, and changed once more."""
    made = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(made) + 1)
        end = min(len(made), at + rng.choice([1, 1, 2, 4, 16, 200]))
        change = rng.randrange(7)
        if change == 0 and at < len(made):
            made[at] = rng.randrange(256)
        elif change == 1:
            del made[at:end]
        elif change == 2:
            made[at:at] = made[at:end] * rng.choice([1, 1, 2, 50])
        elif change == 3:
            made[at:at] = rng.choice(TOKENS)
        elif change == 4:
            made[at:end] = rng.choice(TOKENS)
        elif change == 5:
            other = rng.choice(others)
            made[at:at] = other[rng.randrange(len(other) + 1) :][: rng.randrange(100)]
        else:
            del made[at:]
    if rng.randrange(12) == 0:
        made = bytearray(rng.choice([gzip.compress, bz2.compress, lzma.compress])(bytes(made)))
        if rng.randrange(2):
            made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    return bytes(made)


def _references(folder: Path) -> list[bytes]:
    names, rows = ("a", "b", "c", "d"), [b"ACGTACGTAA", b"ACGTTCG-AA", b"AC-TACGTCA", b"GCGTACG-CA"]
    saved = []
    for alphabet in ("nucleotide", "protein"):
        path = folder / f"{alphabet}.npz"
        letters = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)
        package = ta.ReferencePackage.build(names, letters, TREE, alphabet=alphabet)
        package.save(path)
        saved.append(path.read_bytes())
    return saved


def _shards(folder: Path) -> list[bytes]:
    path = folder / "whole.shard"
    with Parts(folder / "shard.parts", RUN) as parts:
        for index in range(2):
            parts.write(index, [b"section %d" % index, b""])
        write_archive(path, RUN, [Description("main", {"format": "tsv"}), Description("table", {})], parts, range(2))
        parts.finish()
    return [path.read_bytes()]


def _parts(folder: Path) -> list[bytes]:
    with Parts(folder / "kept.parts", RUN) as parts:
        parts.write(0, [b"a section", b"another"])
        return [(parts.directory / LIST).read_bytes()]


def _load_reference(path: Path) -> None:
    package = ta.ReferencePackage.load(path)
    package.vectors()
    list(ta.place(package, [("read", "ACGTACG")], n_threads=1, device="cpu"))


def _read_shard(path: Path) -> None:
    from tropalign.formats.format import restore

    shards = Shards([str(path)])
    for number, output in enumerate(shards.outputs):
        for _ in shards.sections(number):
            pass
        restore(output.writer)


def _read_manifest(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, MANIFEST).write_bytes(path.read_bytes())
        recorded_manifest(Path(folder))


def _read_part(path: Path) -> None:
    """A list of parts, whose sections are not there or others."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder, "x.parts")
        with Parts(directory, RUN) as parts:
            parts.write(0, [b"a section", b"another"])
            (directory / LIST).write_bytes(path.read_bytes())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Parts(directory, RUN) as again:
                for index in again.finished(range(1), 2):
                    for section in range(2):
                        again.read(index, section)


def _read_reads(path: Path) -> None:
    from tropalign.sequences.reader import ReadBlocks

    for _ in ReadBlocks([path]):
        pass


def _read_pairs(path: Path) -> None:
    from tropalign.pairwise.plan import read_pairs

    batch = ta.SequenceBatch.from_strings(["MKV", "MKI", "MRV"], ["a", "b", "c"])
    read_pairs(str(path), batch, batch)


def _read_models(path: Path) -> None:
    from tropalign.profiles.models import read_models

    for model in read_models(path):
        _ = model.native


def _read_queries(path: Path) -> None:
    from tropalign.profiles.sources import read_queries

    for model in read_queries(path):
        _ = model.native


def _graphs() -> list[bytes]:
    """As SciPy and NumPy write them, and as text."""
    from scipy.sparse import coo_matrix, save_npz

    sparse, dense = io.BytesIO(), io.BytesIO()
    save_npz(sparse, coo_matrix(([2.5, 1.0], ([0, 1], [1, 2])), shape=(3, 3)).tocsr(), compressed=False)
    np.savez(dense, weights=np.array([[0, 3], [2, 0]], np.int16), names=np.array(["x", "y"]))
    coordinates = b"%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 7\n3 1 2\n"
    texts = [b"# x\nfrom\tto\tweight\na\tb\t3\nb\tc\t4.5\n", b"a,b,3\nb,c,-4\n", b"a b\nc d\n"]
    return [sparse.getvalue(), dense.getvalue(), coordinates, *texts]


def _read_graph(path: Path) -> None:
    from tropalign.tropical import read_graph

    for is_directed in (True, False):
        read_graph(path, is_directed=is_directed)


def readers(folder: Path) -> dict[str, tuple[list[bytes], Reader]]:
    """Seeds and reader of each kind of file."""
    from tropalign.placement.tree import read_tree
    from tropalign.sequences.aligned_files import read_alignment

    def corpus(kind: str) -> list[bytes]:
        return [path.read_bytes() for path in sorted((CORPUS / kind).iterdir())]

    def with_found(kind: str, seeds: list[bytes]) -> list[bytes]:
        """What tropalign writes today, and files that were read wrongly once."""
        return [*seeds, *(corpus(kind) if (CORPUS / kind).is_dir() else [])]

    return {
        "sequences": (corpus("sequences"), ta.read_sequences),
        "reads": (corpus("sequences"), _read_reads),
        "alignment": (corpus("alignment"), read_alignment),
        "tree": (corpus("tree"), read_tree),
        "matrix": (corpus("matrix"), ta.SubstitutionMatrix.from_file),
        "pairs": (corpus("pairs"), _read_pairs),
        "models": (corpus("models"), _read_models),
        "graphs": (with_found("graphs", _graphs()), _read_graph),
        "queries": (with_found("queries", corpus("alignment")), _read_queries),
        "reference": (with_found("reference", _references(folder)), _load_reference),
        "shard": (with_found("shard", _shards(folder)), _read_shard),
        "manifest": (with_found("manifest", [RUN.to_json().encode()]), _read_manifest),
        "part": (with_found("part", _parts(folder)), _read_part),
        "results": (with_found("results", archives.results(folder)), archives.read_result),
        "arrays": (with_found("arrays", _graphs()[:2]), _read_graph),
        "references": (with_found("references", _references(folder)), _load_reference),
        "shards": (with_found("shards", archives.shards(folder)), archives.merge_shard),
    }


def fault_of(reader: Reader, path: Path) -> str | None:
    """What is wrong with how a file is read; None where nothing is."""

    def hangs(*_: object) -> None:
        raise RuntimeError(f"more than {HANG_SECONDS} seconds")

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, hangs)
        signal.alarm(HANG_SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader(path)
    except TropalignError as error:
        if not str(error).isprintable():
            return f"a message that is no printable line: {error!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        if hasattr(signal, "SIGALRM"):
            signal.alarm(0)
    return None


def fuzz(folder: Path, seed: int, *, seconds: float = 1e9, files: int = sys.maxsize) -> tuple[int, list[str]]:
    """Reads the files of all kinds, then mutated ones in turn, for so long or until each kind had so many.

    Returns
    -------
    count : int
        Files read.
    faults : list of str
        One per kind at most; its file lies in the working directory.
    """
    kinds, end = readers(folder), time.monotonic() + seconds
    count, faults, faulty = 0, [], set[str]()
    for round_ in range(files):
        for kind, (seeds, reader) in kinds.items():
            if kind in faulty:
                continue
            rng = random.Random(f"{seed} {kind} {round_}")
            change = archives.rewritten if kind in ARCHIVES else mutated
            data = seeds[round_] if round_ < len(seeds) else change(rng.choice(seeds), seeds, rng)
            path = folder / f"input.{kind}"
            path.write_bytes(data)
            fault = fault_of(reader, path)
            count += 1
            if fault:
                kept = Path(f"fuzz-fault-{kind}")
                kept.write_bytes(data)
                faults.append(f"{kind}: {fault} ({kept}: put it into {CORPUS / kind} once it is mended)")
                faulty.add(kind)
        if time.monotonic() > end:
            break
    return count, faults


def main() -> int:
    """As the command says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        count, faults = fuzz(Path(folder), options.seed, seconds=options.seconds)
    print(f"readers: {count} files, seed {options.seed}, {len(faults)} faults")
    for fault in faults:
        print(fault)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
