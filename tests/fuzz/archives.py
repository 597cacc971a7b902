"""Archives of arrays whose contents are changed, and whose checksums are right: what a reader may not take on trust.

What is read is used as far as it can be: a result is written in every format.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tropalign as ta
from tropalign.errors import TropalignError, damage
from tropalign.execution.archive import MAGIC, packed, read_section

PROTEINS = {"a": "MKVLAWMKTAYIAKQRGHE", "b": "MKILAWMTAYIAKQRGH", "c": "MKVAWMKTAYIKQRQGHE"}
READS = {"r": "GTACTACG", "s;size=3": "CGACGTA", "none": "NNN"}
DNA = "ATTGCAATCATG" * 5 + "CGCGGCGCCGACG" * 5
WHOLE = [-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 7, 20, 255, 1000, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1]
REAL = [np.nan, np.inf, -np.inf, -1e308, 1e308, -1.0, 0.0, 1.0, 2.5, 800.0, -800.0, 1e-310]
WORDS: list[Any] = [
    *(None, True, -1, 0, 1, 3, 2**31, 2**63, 10**400, 0.5, float("nan"), float("inf"), "", "x", "\n", "a\tb", "\ud800"),
    *("\x1b[31m", "\u00e9", "score", "alignment", "protein", "scan", "9" * 400, [], {}, [1], ["x"], [[]]),
]
HEADERS = [
    b"{'descr': '<i8', 'shape': (",
    b"(",
    b"{}",
    b"[" * 300,
    b"\xff",
    b"'''",
    b"{'descr': '|O'}",
    b"1_",
    b"x\n  y",
]
TYPES = ["u1", "<i4", "<i8", ">i8", "<f4", "<f8", "<f2", "?", "<c16", "<U3", "S2", "<M8[s]", "<u4", "V4"]
#: Pictures are drawn so seldom: each takes a tenth of a second.
PICTURES = ("png", "pdf", "svg")


def results(folder: Path) -> list[bytes]:
    """A result of each kind."""
    (pairs,) = ta.align_all(PROTEINS, n_threads=1)
    (scores,) = ta.align_all(PROTEINS, report="score", gap=ta.Gap(9.5, 0.5), n_threads=1)
    (strands,) = ta.align_all(["ACGTTACGA", "TTACGTAA", "ACGATTACGTA"], strand="both", n_threads=1)
    (ends,) = ta.align_all(PROTEINS, report="ends", n_threads=1)
    model = next(iter(ta.read_queries(io.BytesIO(b">q\nMKVLAWMKTAYIAKQRGHE\n"))))
    loose = ta.Thresholds(E=1e9, domE=1e9, incE=1e9, incdomE=1e9)
    unfiltered = ta.SearchOptions.unfiltered()
    made: list[Any] = [
        pairs,
        scores,
        strands,
        ends,
        ta.align_multiple(PROTEINS, n_threads=1),
        ta.cluster(PROTEINS, 0.7),
    ]
    made.append(ta.search(model, PROTEINS.items(), thresholds=loose, options=unfiltered, n_threads=1))
    made.append(ta.scan(PROTEINS.items(), [model], thresholds=loose, options=unfiltered, n_threads=1))
    (folder / "dna.fa").write_text(f">x\n{DNA}\n>y\n{DNA[::-1]}\n")
    contents = []
    for number, result in enumerate(made):
        path = folder / f"{number}.result"
        result.write(path)
        contents.append(path.read_bytes())
    contents.append(_of_command(folder, ["decode", "--model", "cpg", "--label", "background", folder / "dna.fa"]))
    (folder / "rows.fa").write_text(">a\nACGTACGTAA\n>b\nACGTTCG-AA\n>c\nAC-TACGTCA\n>d\nGCGTACG-CA\n")
    (folder / "tree.nwk").write_text("((a:0.1,b:0.2):0.1,c:0.3,d:0.1);")
    (folder / "reads.fa").write_text("".join(f">{name}\n{text}\n" for name, text in READS.items()))
    words = ["place", "--reference", folder / "rows.fa", "--tree", folder / "tree.nwk", folder / "reads.fa"]
    return [*contents, _of_command(folder, words)]


def _of_command(folder: Path, words: list[Any]) -> bytes:
    from tropalign.cli.main import main

    path = folder / "made.result"
    with contextlib.redirect_stderr(io.StringIO()):
        if main([*map(str, words), "-t", "1", "-q", "-o", str(path)]):
            raise RuntimeError("the seed cannot be made")
    return path.read_bytes()


def read_result(path: Path) -> None:
    """Reads a result, and writes it in every format."""
    found = ta.read_result(path)
    repr(found)
    for kind, name in _formats(found):
        if name in PICTURES and random.Random(path.read_bytes()).randrange(40):
            continue
        try:
            _write(found, kind, name, path.with_suffix(".out"))
        except TropalignError:
            pass
        except AttributeError as error:
            if "was not computed" not in str(error):  # as a table of scores says
                raise


def _formats(found: Any) -> Iterator[tuple[str, str]]:
    from tropalign.formats.format import format_names

    kinds = {
        "AlignmentTable": ("pairs", "plots"),
        "Hits": ("hits",),
        "MultipleAlignment": ("aligned",),
        "Clusters": ("clusters", "representatives"),
        "Segments": ("segments",),
    }
    for kind in kinds.get(type(found).__name__, ()):
        for name in format_names(kind):
            yield kind, name


def _write(found: Any, kind: str, name: str, path: Path) -> None:
    if kind in ("segments", "plots"):
        from tropalign.formats.format import Header, make_writer
        from tropalign.formats.pairs.context import PairsContext
        from tropalign.formats.segments import SegmentsContext

        context = (
            PairsContext(queries=found.queries, targets=found.targets, report=found.depth)
            if kind == "plots"
            else SegmentsContext()
        )
        writer = make_writer(kind, name, Header("0", "", {}), context)
        writer.assemble([writer.encode(found)], io.BytesIO())
    else:
        found.write(path, name)


def shards(folder: Path) -> list[bytes]:
    """Shards of whole runs, which `merge` joins."""
    made = []
    family = folder / "family.fa"
    family.write_text("".join(f">{name}\n{text}\n" for name, text in PROTEINS.items()))
    loose = ["--max", "-E", "1e9", "--domE", "1e9"]
    for number, words in enumerate([
        ["pairs", family], ["pairs", family, "-f", "paf"], ["pairs", family, "-f", "arrows"],
        ["pairs", family, "-f", "matrix"], ["pairs", family, "-f", "result"], ["pairs", family, "-f", "html"],
        ["search", family, family, *loose], ["search", family, family, *loose, "-f", "result"],
        ["place", "--reference", folder / "rows.fa", "--tree", folder / "tree.nwk", folder / "reads.fa"],
        ["decode", "--model", "cpg", "--label", "background", folder / "dna.fa", "-f", "result"],
    ]):  # fmt: skip
        path = folder / f"{number}.shard"
        made.append(_of_shard(path, [*words, "--shard", "1/1"]))
    return made


def _of_shard(path: Path, words: list[Any]) -> bytes:
    from tropalign.cli.main import main

    with contextlib.redirect_stderr(io.StringIO()):
        if main([*map(str, words), "-t", "1", "-q", "-o", str(path)]):
            raise RuntimeError("the seed cannot be made")
    return path.read_bytes()


def merge_shard(path: Path) -> None:
    """Merges a shard; a defect is what the command line calls one."""
    from tropalign.cli.main import main

    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")):
        code = main(["merge", str(path), "-o", str(path.with_name("merged")), "-q"])
    if code not in (0, 2, 3, 4):
        raise RuntimeError(f"exit code {code}: {said.getvalue()}")


def rewritten(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """The archive with one to three changes of what is in it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randrange(len(members))
        name, content = members[at]
        if rng.randrange(25) == 0:
            change = rng.randrange(3)
            if change == 0 and len(members) > 1:
                del members[at]
            elif change == 1:
                members[at] = (name, members[rng.randrange(len(members))][1])
            else:
                members.append((rng.choice([name, "x.npy", "../x", "y"]), content))
        else:
            members[at] = (name, _changed(content, rng))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # members that are there twice
                archive.writestr(name, content)
    return out.getvalue()


def _changed(content: bytes, rng: random.Random) -> bytes:
    """A file, or something in one, with a change that its kind allows."""
    if content.startswith(b"PK"):
        return rewritten(content, [], rng)
    if content.startswith(MAGIC):  # a part of a shard
        sections = list[bytes]()
        with contextlib.suppress(ValueError):
            while True:
                sections.append(read_section(content, len(sections)))
        if sections:
            at = rng.randrange(len(sections))
            sections[at] = _changed(sections[at], rng)
        return packed(sections)
    if content.startswith(b"\x93NUMPY"):
        return _changed_array(content, rng)
    if content.lstrip().startswith(b"{"):
        return _changed_json(content, rng)
    return _changed_bytes(content, rng)


def _changed_bytes(content: bytes, rng: random.Random) -> bytes:
    made = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(made) + 1)
        end = min(len(made), at + rng.choice([1, 2, 8, 100]))
        made[at:end] = bytes(rng.choice([b"", b"\0", b"\xff", b"\xff" * 8, b"9", b'"', b"["]))
    return bytes(made)


def _changed_array(content: bytes, rng: random.Random) -> bytes:
    if rng.randrange(12) == 0:
        header = rng.choice(HEADERS)
        return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content[128:]
    if rng.randrange(12) == 0:
        return _changed_bytes(content[:128], rng) + content[128:]
    try:
        values = np.load(io.BytesIO(content))
    except damage():  # changed before
        return _changed_bytes(content, rng)
    change = rng.randrange(8)
    if change == 0:
        with np.errstate(all="ignore"), contextlib.suppress(TypeError, ValueError):
            raw = rng.choice(TYPES)
            values = values.astype(raw) if rng.randrange(2) else values.view(raw)
    elif change == 1:
        values = np.atleast_1d(values)
        values = rng.choice([values[:-1], values[:0], np.concatenate([values, values]), values[None], values[::-1]])
    elif values.size and values.dtype.kind in "iubf":
        flat = values.copy().reshape(-1)
        for _ in range(rng.choice([1, 1, 2, 10])):
            at = rng.randrange(flat.size)
            value = rng.choice(REAL if flat.dtype.kind == "f" else WHOLE)
            if rng.randrange(3) == 0:
                value = flat[rng.randrange(flat.size)]
            with np.errstate(all="ignore"):
                flat[at] = np.array(value).astype(flat.dtype)
        values = flat.reshape(values.shape)
    out = io.BytesIO()
    np.save(out, np.asarray(values), allow_pickle=False)
    return out.getvalue()


def _changed_json(content: bytes, rng: random.Random) -> bytes:
    if rng.randrange(12) == 0:
        return _changed_bytes(content, rng)
    try:
        notes = json.loads(content)
    except ValueError:
        return _changed_bytes(content, rng)
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        for key in keys:
            places.append((value, key))
            walk(value[key])

    walk(notes)
    if places:
        holder, key = rng.choice(places)
        change = rng.randrange(6)
        if change == 0:
            del holder[key]
        elif change == 1 and isinstance(holder, list):
            holder.append(holder[key])
        elif change == 2 and isinstance(holder[key], str):
            holder[key] = holder[key] + rng.choice(["\n", "\x1b[31m", "\u00e9", " ", "x"])
        else:
            holder[key] = rng.choice(WORDS)
    return json.dumps(notes).encode()
