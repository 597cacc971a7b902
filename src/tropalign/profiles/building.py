"""Models of alignments and single sequences, built by HMMER's own code (pyhmmer) with denormal floats as zeros."""

from __future__ import annotations

import atexit
import io
import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, named, shown
from tropalign.profiles.calibration import SEED, calibrate
from tropalign.profiles.models import Model, from_pyhmmer, model_of_fields, tables_of
from tropalign.profiles.options import BuildOptions
from tropalign.profiles.proteins import BACKGROUND, EASEL_CODES, LETTERS
from tropalign.properties import cached
from tropalign.sequences.alphabet import byte_counts
from tropalign.sequences.kinds import CERTAIN, Evidence

#: Bits of the control register MXCSR.
_FTZ, _DAZ = 0x8000, 0x0040


@contextmanager
def denormals_as_zero() -> Iterator[None]:
    """Make this thread treat denormal floats as zeros, and round results to zeros, within a ``with`` block.

    The stages of a search do so anyway. pyhmmer needs it to reproduce hmmsearch's numbers, and is two to three
    times faster with it. It has no effect on processors without such a mode.
    """
    before = _native.set_denormals(_FTZ | _DAZ)
    try:
        yield
    finally:
        _native.set_denormals(before)


#: Codes of gaps, and of the first symbol after all residues; and which codes are letters of nucleotides.
GAP, N_CODES = LETTERS.index("-"), LETTERS.index("*")
IS_NUCLEOTIDE = np.isin(np.arange(N_CODES), EASEL_CODES[np.frombuffer(b"ACGTUN", np.uint8)])
#: Default options, and options for an alignment whose line RF marks the nodes.
BY_DEFAULT, BY_REFERENCE = BuildOptions(), BuildOptions(nodes="reference")
#: Random sequences for calibration, and their lengths for MSV, Viterbi and Forward: HMMER's numbers, which take a
#: fifth of the builder's time; and numbers too small to take time, for models that `calibrate` calibrates again,
#: faster.
MANY_RANDOM = {"EmN": 200, "EvN": 200, "EfN": 200, "EmL": 200, "EvL": 200, "EfL": 100}
FEW_RANDOM = dict.fromkeys(MANY_RANDOM, 20)
#: Calibration by pyhmmer's names, in the order of `Model.evalue`.
EVALUE = ("m_mu", "m_lambda", "v_mu", "v_lambda", "f_tau", "f_lambda")
#: Target of the effective number of sequences, in bits per node.
ENTROPY = 0.59
#: Command line recorded in the model of a single sequence.
OF_A_SEQUENCE = "[HMM created from a query sequence]"
#: Exceptions of pyhmmer; SystemError for a sequence without any residue that scores.
FAULTS = (ValueError, OSError, RuntimeError, SystemError)


def model_of_sequence(
    name: str, codes: NDArray[np.uint8], description: str = "", file: str | None = None, keeps_text: bool = True
) -> Model:
    """Build a model of one sequence, as phmmer does: BLOSUM62, and the same gaps everywhere.

    `codes`: uint8, residues in Easel's order, at least one. `keeps_text`: allow writing the model; takes a few
    milliseconds.
    """
    alphabet, background = hmmer_tools()
    from pyhmmer.easel import DigitalSequence

    sequence = DigitalSequence(alphabet, name=name, description=description, sequence=codes.tobytes())
    try:
        hmm = _calibrated(lambda builder: builder.build(sequence, background))
    except FAULTS as error:
        raise InputError(
            f"no model can be built from this sequence ({words_of(error)})", file=file, record=name
        ) from None
    model = replace(from_pyhmmer(hmm, file), description=description, is_sequence=True)
    return _with_text(model, hmm, OF_A_SEQUENCE) if keeps_text else model


def refuse_nucleotides(
    rows: Iterable[NDArray[np.uint8]], what: str, file: str | None = None, record: str | None = None
) -> None:
    """Raise InputError if all residues of a query are letters of nucleotides.

    `rows`: uint8, codes in Easel's order; gaps do not count. `what`: the query with its article.
    """
    n = 0
    for row in rows:
        residues = row[(row < N_CODES) & (row != GAP)]
        if not IS_NUCLEOTIDE[residues].all():
            return
        n += len(residues)
    if n >= CERTAIN:
        raise InputError(
            f"this is {what} of nucleotides (only A, C, G, T, U, N), but search is for proteins: translate it "
            f"(tropalign.translate), search with nhmmer, or set {named('alphabet')} protein",
            file=file,
            record=record,
        )


def refuse_mixed(alignment: Any, file: str | None, names: Sequence[str] = ()) -> None:
    """Raise InputError if a `pyhmmer.easel.TextMSA` holds rows of proteins and of nucleotides.

    `names`: names of the rows, if the alignment numbers them.
    """
    rows = [row.encode("latin-1", "replace").replace(b"*", b"-") for row in alignment.alignment]
    letters = np.frombuffer(b"".join(rows), np.uint8)
    evidence, offsets = Evidence(), np.cumsum([0, *map(len, rows)], dtype=np.int64)
    evidence.add(names or alignment.names, letters, offsets, byte_counts(letters), file)
    evidence.alphabet()


def models_of_stockholm(
    data: bytes, file: str, default_name: str, are_proteins: bool = False, names: Sequence[str] = ()
) -> Iterator[Model]:
    """Yield a model of each alignment of a Stockholm file, as hmmbuild builds it and hmmsearch reads it.

    `are_proteins`: accept alignments of nucleotide letters alone as proteins. `default_name`: for alignments
    without one. `names`: names of the rows, if the text numbers them.
    """
    alphabet, _ = hmmer_tools()
    from pyhmmer.easel import MSAFile

    number = 0
    try:
        with MSAFile(io.BytesIO(data), "stockholm", digital=True, alphabet=alphabet) as reader:
            for number, alignment in enumerate(reader, 1):
                if not alignment.name:
                    alignment.name = default_name if number == 1 else f"{default_name}-{number}"
                if not are_proteins:
                    rows = (np.asarray(row.sequence) for row in alignment.sequences)
                    refuse_nucleotides(rows, "an alignment", file, alignment.name)
                    refuse_mixed(alignment.textize(), file, names)
                hmm, _ = built(alignment, file)
                yield model_of_text(text_of_hmm(hmm), file, alignment.name)
    except FAULTS as error:
        raise InputError(f"alignment {number + 1} cannot be read ({words_of(error)}): correct it", file=file) from None


def model_of_rows(
    rows: NDArray[np.uint8],
    is_node: NDArray[np.bool_],
    name: str,
    *,
    accession: str = "",
    description: str = "",
    keeps_text: bool = True,
) -> Model:
    """Build a model with these columns as nodes, as jackhmmer does from hits: its numbers are not rounded.

    `rows`: uint8, shape (n_rows, n_columns), letters and gaps as text. `keeps_text`: allow writing the model.
    """
    alphabet, _ = hmmer_tools()
    from pyhmmer.easel import MSAFile

    with MSAFile(io.BytesIO(stockholm_of(rows, is_node)), "stockholm", digital=True, alphabet=alphabet) as reader:
        (alignment,) = reader
    alignment.name = name
    hmm, _ = built(alignment, options=BY_REFERENCE)
    hmm.accession, hmm.description = accession or None, description or None
    return _with_text(from_pyhmmer(hmm), hmm, None) if keeps_text else from_pyhmmer(hmm)


def _with_text(model: Model, hmm: Any, command: str | None) -> Model:
    """Add the text to a model, with `command` as the recorded command line."""
    hmm.command_line = command
    return replace(model, text=text_of_hmm(hmm))


def stockholm_of(rows: NDArray[np.uint8], is_node: NDArray[np.bool_] | None) -> bytes:
    """Return an alignment in the format for HMMER's builder; rows are numbered, since models do not name rows."""
    lines = [b"# STOCKHOLM 1.0", b""]
    lines += (b"%d %s" % (k, row.tobytes()) for k, row in enumerate(rows, 1))
    if is_node is not None:
        lines.append(b"#=GC RF " + np.where(is_node, ord("x"), ord(".")).astype(np.uint8).tobytes())
    return b"\n".join([*lines, b"//", b""])


def model_of_text(text: bytes, file: str | None, record: str | None) -> Model:
    """Parse a model from HMMER's text that was made here; raises InputError if it is not a valid model."""
    found = _native.read_model(text)
    if isinstance(found, tuple):
        what = shown(found[2].decode("utf-8", "replace"))
        raise InputError(f"no model can be built from this alignment ({what})", file=file, record=record)
    return model_of_fields(found, text)


#: Held while pyhmmer writes. `_end_writing` keeps it when the interpreter exits: otherwise libc would flush the
#: half written data of a daemon thread into a Python file object that no longer exists.
_writing = threading.Lock()


@atexit.register
def _end_writing() -> None:
    _writing.acquire()


def _renew_lock() -> None:
    """Replace the lock in the child of a fork: a thread that the child does not have may hold it."""
    global _writing
    _writing = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def text_of_hmm(hmm: Any, is_built: bool = False) -> bytes:
    """Return a `pyhmmer.plan7.HMM` as HMMER's text, without the time, which would differ from run to run.

    `is_built`: as hmmbuild writes it, with the effective number of a single sequence, which jackhmmer omits.
    """
    hmm.creation_time = None
    stream = io.BytesIO()
    with _writing:
        hmm.write(stream)
    text = stream.getvalue()
    if is_built and hmm.nseq_effective is None:
        text = text.replace(b"\nNSEQ  1\n", b"\nNSEQ  1\nEFFN  1.000000\n", 1)
    return text


def built(alignment: Any, file: str | None = None, options: BuildOptions = BY_DEFAULT) -> tuple[Any, Any]:
    """Build the `pyhmmer.plan7.HMM` of an alignment; also return its copy with weights and marks of fragments."""
    kind = alignment.alphabet.type.lower()
    _, background = hmmer_tools(kind)
    # HMMER masks nodes after it has calibrated them; random sequences of other alphabets and seeds are not
    # supported here.
    is_own = not alignment.model_mask and kind == "amino" and options.seed == SEED
    try:
        if options.single and len(alignment.sequences) == 1:
            row = alignment.sequences[0]  # excludes gaps
            hmm = _calibrated(lambda builder: builder.build(row, background), kind, options, is_own)
            hmm.name, hmm.command_line = alignment.name, OF_A_SEQUENCE
            return hmm, alignment
        options = _with_effective_number(alignment, options) if is_own else options
        copies = []  # the builder marks fragments and columns in its input, and may be called again

        def build(builder: Any) -> Any:
            copies.append(alignment.copy())
            return builder.build_msa(copies[-1], background)

        hmm = _calibrated(build, kind, options, is_own)
        hmm.command_line = None  # it would differ from run to run, and hmmbuild omits it
        return hmm, copies[-1]
    except FAULTS as error:
        message = f"no model can be built from this alignment ({words_of(error)})"
        raise InputError(message, file=file, record=alignment.name) from None


def _with_effective_number(alignment: Any, options: BuildOptions) -> BuildOptions:
    """Add the effective number that HMMER would find, if supported here, in a fifth of HMMER's time.

    HMMER's builder spends more than half of its time on this number: 0.1 of 0.15 s for 16 rows and 716 nodes.
    """
    chosen = (options.weights, options.effective, options.prior, options.effective_number)
    if chosen != ("position", "entropy", "mixture", None):
        return options
    is_node = None
    if options.nodes == "reference":
        marks = np.frombuffer((alignment.reference or "").encode("latin-1", "replace"), np.uint8)
        if len(marks) != len(alignment.alignment[0]):
            return options
        is_node = (~np.isin(marks, np.frombuffer(b"-_.", np.uint8))).astype(np.uint8)
    codes = np.array([np.asarray(row) for row in alignment.alignment], np.uint8)
    entropy = ENTROPY if options.entropy is None else options.entropy
    number = _native.effective_number(
        codes, is_node, options.occupancy, options.fragments, entropy, options.sigma, BACKGROUND
    )
    return options if math.isnan(number) else options.replaced(effective_number=number)


def _calibrated(
    build: Callable[[Any], Any], kind: str = "amino", options: BuildOptions = BY_DEFAULT, is_own: bool = True
) -> Any:
    """Return the result of `build` for HMMER's builder, calibrated here if `is_own` and if that is possible."""
    alphabet, _ = hmmer_tools(kind)
    from pyhmmer.plan7 import Builder

    builder = Builder(alphabet, **(options.of_builder() | (FEW_RANDOM if is_own else MANY_RANDOM)))
    try:
        with denormals_as_zero():
            hmm, _, _ = build(builder)
        if is_own:
            found = calibrate(*tables_of(hmm))
            for name, value in zip(EVALUE, found.tolist(), strict=True):
                setattr(hmm.evalue_parameters, name, value)
        return hmm
    except (*FAULTS, ArithmeticError):
        if not is_own:
            raise
        return _calibrated(build, kind, options, is_own=False)


@cached
def _import_pyhmmer() -> None:
    """Import pyhmmer in one thread: its modules import each other, so that several threads may block each other."""
    import_module("pyhmmer")


def hmmer_tools(kind: str = "amino") -> tuple[Any, Any]:
    """Return HMMER's alphabet of this kind and its background; raises InputError if pyhmmer is missing."""
    try:
        _import_pyhmmer()
        from pyhmmer.easel import Alphabet
        from pyhmmer.plan7 import Background
    except ImportError:
        raise InputError(
            "alignments and sequences as queries, and --iterate, require pyhmmer: "
            "pip install pyhmmer, or give models in HMMER's format"
        ) from None
    alphabet = getattr(Alphabet, kind)()
    assert kind != "amino" or alphabet.symbols == LETTERS
    return alphabet, Background(alphabet)


def words_of(error: Exception) -> str:
    """Return HMMER's message on one line."""
    parts = (error.__cause__,) if isinstance(error, SystemError) else (error, error.__cause__)
    told = " ".join(str(part) for part in parts if part)
    return shown(" ".join(told.split())).rstrip(".")
