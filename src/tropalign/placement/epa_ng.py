"""EPA-ng (Barbera et al. 2019) on aligned reads: the files that it needs, its run, and its result with original names.

    aligned.fasta --prepare--> query.fasta  reference.fasta  tree.nwk  --run--> epa_result.jplace --finish--> jplace

All files are in one folder, in which EPA-ng runs, so that its recorded command contains no path of this machine.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ResourceError, TropalignWarning, counted, shown
from tropalign.execution.files import disk_error
from tropalign.placement.reference import ReferencePackage
from tropalign.placement.tree import rows_of_tips
from tropalign.results.newick import newick_text, quoted
from tropalign.sequences.alphabet import GAP_LETTERS

PROGRAM = "epa-ng"
ALIGNED, QUERY, REFERENCE, TREE, MODEL = "aligned.fasta", "query.fasta", "reference.fasta", "tree.nwk", "model.txt"
NAMES, LOG, RESULT = "names.tsv", "epa-ng.log", "epa_result.jplace"
#: Files of EPA-ng and of this module in the folder.
OURS = (ALIGNED, QUERY, REFERENCE, TREE, MODEL, NAMES, LOG, RESULT, "epa_info.log")
FIELDS = ["edge_num", "likelihood", "like_weight_ratio", "distal_length", "pendant_length"]
#: Older versions place wrongly on rooted trees, according to EPA-ng's README.
OLDEST = (0, 3, 4)
#: EPA-ng treats a branch of length 0 as one without a length, and makes it 0.105 long; this is RAxML-NG's minimum
#: length.
LEAST_LENGTH = 1e-6
#: Characters that EPA-ng's readers of Newick and its writer of JSON do not accept as they are.
_NOT_IN_TIPS = re.compile(r"[^A-Za-z0-9_.|/+*=~@#%^&!?<>-]")
_NOT_IN_READS = re.compile(r"[^!#-\[\]-~]")
#: Models of RAxML-NG for nucleotides and for proteins; EPA-ng itself checks other names.
NUCLEOTIDE_MODELS = ("GTR", "HKY", "JC", "K80", "F81", "TN93", "TN93EF", "K81", "SYM", "TVM", "TIM1", "TIM2", "TIM3")
PROTEIN_MODELS = (
    "LG", "WAG", "JTT", "JTT-DCMUT", "DAYHOFF", "DCMUT", "VT", "BLOSUM62", "PMB", "MTREV", "MTMAM", "MTART", "MTZOA",
    "CPREV", "RTREV", "STMTREV", "HIVB", "HIVW", "FLU", "DEN", "PROTGTR", "LG4M", "LG4X",
)  # fmt: skip
#: Lines of the log that an error shows.
_SHOWN_LINES = 3


@dataclass(frozen=True)
class Program:
    """An installed EPA-ng; `version` is the text that it prints: "EPA-ng v0.3.8"."""

    path: str
    version: str


def find_program(named: str | None) -> Program | None:
    """Return EPA-ng by its path, or from PATH; None if it was not named and is not found.

    Raises InputError if the named program is not EPA-ng, does not run or is too old.
    """
    path = shutil.which(named or PROGRAM)
    if path is None:
        if named is not None:
            raise InputError("there is no such program, or it is not executable: give the path of EPA-ng", file=named)
        return None
    path = os.path.abspath(path)
    try:
        ran = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(
            f"the program cannot be run ({type(error).__name__}): give another EPA-ng with --epa-ng", file=path
        ) from None
    found = re.search(r"EPA-ng v(\d+)\.(\d+)\.(\d+)\S*", ran.stdout)
    if ran.returncode != 0 or found is None:
        raise InputError("the output of --version is not that of EPA-ng: give EPA-ng with --epa-ng", file=path)
    if tuple(map(int, found.groups())) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise InputError(f"{found[0]} misplaces reads on rooted trees: use {oldest} or later", file=path)
    return Program(path, found[0])


def arguments(model: str, n_threads: int) -> list[str]:
    """Return the arguments of EPA-ng, run in the folder."""
    files = ["--ref-msa", REFERENCE, "--tree", TREE, "--query", QUERY, "--outdir", "."]
    return [*files, "--model", model, "--redo", "--threads", str(n_threads)]


def command(folder: Path, model: str, n_threads: int) -> str:
    """Return the call of EPA-ng as a shell command that works from any directory."""
    return f"cd {shlex.quote(str(folder.absolute()))} && {shlex.join([PROGRAM, *arguments(model, n_threads)])}"


@contextmanager
def work_folder(jplace: str) -> Iterator[Path]:
    """Provide the folder next to the result; remove it at the end if it is empty."""
    folder = Path(f"{os.path.realpath(jplace)}.{PROGRAM}")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise disk_error(error, folder, 0) from None
    try:
        yield folder
    finally:
        with suppress(OSError):
            folder.rmdir()


def clear(folder: Path) -> None:
    """Remove the files of EPA-ng and of this module."""
    for name in OURS:
        (folder / name).unlink(missing_ok=True)


def model_in(folder: Path, model: str) -> str:
    """Return the model as EPA-ng's argument: a copy of the named file, or the model's name."""
    if os.path.isfile(model):
        try:
            (folder / MODEL).write_bytes(Path(model).read_bytes())
        except OSError as error:
            raise InputError(f"the file cannot be read ({error.strerror})", file=model) from None
        return MODEL
    return model


def check_model(model: str, is_protein: bool) -> None:
    """Raise InputError if `model` is neither a file nor a model's name, or a model for the wrong residues.

    EPA-ng applies a protein model to nucleotides without any message.
    """
    words = model
    if os.path.isfile(model):
        try:
            with open(model, encoding="utf-8", errors="replace") as lines:
                words = lines.readline(1 << 16)
        except OSError as error:
            raise InputError(f"the file cannot be read ({error.strerror})", file=model) from None
    name = re.split(r"[+{,\s]", words)[0].upper()
    if name in (NUCLEOTIDE_MODELS if is_protein else PROTEIN_MODELS):
        kinds = ("nucleotides", "proteins") if is_protein else ("proteins", "nucleotides")
        raise InputError(f"{name} is a model of {kinds[0]}, but the reference holds {kinds[1]}: give another --model")
    if not os.path.isfile(model) and not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*([+{].*)?", model):
        raise InputError(
            "no such file: give a .bestModel file of RAxML-NG, or a model such as GTR+G or "
            "GTR{0.7/1.8/1.2/0.6/3.0/1.0}+FU{0.25/0.23/0.30/0.22}+G4{0.47}",
            file=model,
        )


@dataclass(frozen=True)
class Prepared:
    """The names in the files for EPA-ng.

    `read_names`: original name of each read in the query file. `tip_names`: original names of tips, if different.
    """

    read_names: dict[str, str]
    tip_names: dict[str, str]


def prepare(folder: Path, package: ReferencePackage) -> Prepared:
    """Write query, reference and tree from the aligned reads, with names that EPA-ng accepts.

    Reads without a usable letter in a column, with which EPA-ng would stop, are left out with a warning.
    """
    states = package.states
    usable = bytes(byte for byte in range(256) if states.sets[byte] != states.all_states)
    gaps, other = GAP_LETTERS.encode(), states.alphabet.wildcard.encode()[0]
    letters = [byte for byte in range(128) if chr(byte).isalpha() and states.known[byte]]
    plain = bytes(ord("-") if byte in gaps else byte if byte in letters else other for byte in range(256))
    tips = _safe_names(package.names, _NOT_IN_TIPS, ())
    kept, n_without = list[str](), 0
    try:
        for name, row in _records(folder / ALIGNED):
            if row.strip() and row.translate(None, usable) != row:
                kept.append(name)
            else:
                n_without += 1
        reads = _safe_names(kept, _NOT_IN_READS, tips)
        wanted = iter(zip(kept, reads, strict=True))
        with open(folder / QUERY, "w", encoding="utf-8", newline="\n") as out:
            own, safe = next(wanted, ("", ""))
            for name, row in _records(folder / ALIGNED):
                if name == own:
                    out.write(f">{safe}\n{row.translate(plain).decode()}\n")
                    own, safe = next(wanted, ("", ""))
        with open(folder / REFERENCE, "w", encoding="utf-8", newline="\n") as out:
            for safe, row in zip(tips, package.letters, strict=True):
                out.write(f">{safe}\n{row.tobytes().translate(plain).decode()}\n")
        # The tree, rooted as in its file, with the tip names of the reference file.
        tree = package.tree
        rows = rows_of_tips(package.names, tree, "the reference")
        named = dict(zip(tree.tips, (tips[row] for row in rows), strict=True))
        lengths = ["", *(f":{max(length, LEAST_LENGTH):.10g}" for length in tree.lengths[1:].tolist())]
        texts = [named.get(node, "") + length for node, length in enumerate(lengths)]
        (folder / TREE).write_text(newick_text(tree.children, texts, 0) + "\n", encoding="utf-8")
        changed = [(a, b) for a, b in zip([*package.names, *kept], [*tips, *reads], strict=True) if a != b]
        if changed:
            (folder / NAMES).write_text("".join(f"{b}\t{a}\n" for a, b in changed), encoding="utf-8")
    except OSError as error:
        raise disk_error(error, folder, 0) from None
    (folder / ALIGNED).unlink()
    if n_without:
        what = counted(n_without, "reads")
        text = (
            f"{what} without a usable letter in any column of the reference: left out, since EPA-ng cannot place such "
            f"reads"
        )
        warnings.warn(text, TropalignWarning, stacklevel=2)
    if not kept:
        clear(folder)
        raise InputError("no reads are left for EPA-ng to place: use --table to see how they align")
    tip_names = {b: a for a, b in zip(package.names, tips, strict=True) if a != b}
    return Prepared(dict(zip(reads, kept, strict=True)), tip_names)


def _records(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield names and rows of a FASTA file with a line per row, as written here."""
    with open(path, "rb") as lines:
        for head in lines:
            yield head[1:].rstrip(b"\n").decode(), next(lines, b"").rstrip(b"\n")


def _safe_names(names: Iterable[str], unsafe: re.Pattern[str], taken: Iterable[str]) -> list[str]:
    """Replace characters that EPA-ng rejects by ``_``, with a number if two names would become equal."""
    names = list(names)
    fine = [name if not unsafe.search(name) else None for name in names]
    seen = {*taken, *(name for name in fine if name is not None)}
    made = []
    for name, kept in zip(names, fine, strict=True):
        if kept is None:
            kept = base = unsafe.sub("_", name)
            number = 1
            while kept in seen:
                number += 1
                kept = f"{base}_{number}"
            seen.add(kept)
        made.append(kept)
    return made


def run(folder: Path, program: Program, model: str, n_threads: int) -> None:
    """Run EPA-ng in the folder; it is killed if this process is interrupted.

    Raises InputError with its last lines if it failed, ResourceError if it was killed.
    """
    (folder / RESULT).unlink(missing_ok=True)
    with open(folder / LOG, "wb") as log:
        try:
            process = subprocess.Popen(
                [program.path, *arguments(model, n_threads)],
                cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except OSError as error:
            raise InputError(f"the program cannot be run ({error.strerror})", file=program.path) from None
        try:
            status = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
    if status in (-9, -15):
        raise ResourceError(
            f"EPA-ng was killed by signal {-status}, usually because memory ran out; its files are in {folder}"
        )
    if status != 0 or not (folder / RESULT).is_file():
        ended = f"with exit status {status}" if status >= 0 else f"by signal {-status}"
        lines = [line.strip() for line in (folder / LOG).read_text("utf-8", "replace").splitlines() if line.strip()]
        told = [line for line in lines if line.startswith(("ERR", "what():"))]
        words = [re.sub(r"^(ERR|what\(\):)\s+", "", line) for line in (told or lines)[-_SHOWN_LINES:]]
        reason = shown("; ".join(words)) or "it wrote no message"
        raise InputError(f"EPA-ng failed {ended} ({reason}); its files are in {folder}")


def finish(
    folder: Path,
    prepared: Prepared,
    program: Program,
    model: str,
    aligned_by: str,
    counts_of: Callable[[Sequence[str]], NDArray[np.int64]],
    out: IO[bytes],
) -> None:
    """Write EPA-ng's result with the original read names, their counts and the result's origin.

    `counts_of` returns how many sequences each read stands for. Raises InputError if the result is not valid or
    complete.
    """
    path = folder / RESULT
    try:
        frame, entries = _parsed(path.read_text("utf-8"))
        if frame["version"] != 3 or frame["fields"] != FIELDS:
            raise ValueError("the version or the fields differ")
        tips = {name: quoted(own) for name, own in prepared.tip_names.items()}
        tree = re.sub(r"(?<=[(,])[^(),:;]+(?=:)", lambda tip: tips.get(tip[0], tip[0]), frame["tree"])
        edges = {int(number) for number in re.findall(r"\{(\d+)\}", frame["tree"])}
        noted = shlex.join([PROGRAM, *arguments(model, 0)[:-2]])
        meta = {"invocation": noted, "software": program.version, "aligned_by": aligned_by}
        head = {"version": 3, "tree": tree, "fields": FIELDS, "metadata": meta}
        out.write(json.dumps(head, indent=0)[:-2].encode() + b',\n"placements": [\n')
        left, order = dict(prepared.read_names), {name: k for k, name in enumerate(prepared.read_names)}
        entries.sort(key=lambda text: order[json.loads(text)["n"][0]])  # EPA-ng's order depends on its threads
        separator = b""
        for text in entries:
            entry = json.loads(text)
            names = [left.pop(name) for name in entry["n"]]
            if not entry["p"] or not {row[0] for row in entry["p"]} <= edges:
                raise ValueError("a branch is not in the tree")
            counts = counts_of(names).tolist()
            made = {"p": entry["p"], "nm": [list(pair) for pair in zip(names, counts, strict=True)]}
            out.write(separator + json.dumps(made).encode())
            separator = b",\n"
        out.write(b"\n]}\n")
    except OSError as error:
        raise disk_error(error, path, 0) from None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        reason = f"{type(error).__name__}: {str(error)[:80]}"
        raise InputError(f"EPA-ng's result is not valid ({reason}): see {LOG} next to it", file=str(path)) from None
    if left:
        lacking = f"{counted(len(left), 'reads')}, such as {next(iter(left.values()))!r}"
        raise InputError(f"EPA-ng's result lacks {lacking}: see {LOG} next to it", file=str(path))


def _parsed(text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the file without its placements, and each placement as text, a tenth of the size of objects."""
    found = re.search(r'"placements"\s*:\s*\[', text)
    if found is None:
        raise ValueError("no placements")
    decoder, entries, at = json.JSONDecoder(), list[str](), found.end()
    gap = re.compile(r"[\s,]*")
    while True:
        at = gap.match(text, at).end()  # type: ignore[union-attr]
        if text[at : at + 1] == "]":
            break
        begin = at
        _, at = decoder.raw_decode(text, begin)
        entries.append(text[begin:at])
    return json.loads(text[: found.end()] + text[at:]), entries
