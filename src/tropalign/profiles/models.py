"""Profile hidden Markov models, and their files: HMMER's text (3/a to 3/f, and 2), pressed, and binary."""

from __future__ import annotations

import io
import math
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, TropalignWarning, named, shown
from tropalign.execution.files import check_outputs, output_name, write_to
from tropalign.formats.format import format_for_path
from tropalign.profiles.calibration import calibrate
from tropalign.profiles.proteins import BACKGROUND, LETTERS, N_CANONICAL
from tropalign.properties import cached_property
from tropalign.results import display
from tropalign.results.columns import Result
from tropalign.sequences.alphabet import PROTEIN
from tropalign.sequences.files import Source, file_name, opened, with_line_ends
from tropalign.sequences.texts import decoded

if TYPE_CHECKING:
    from tropalign.scoring.position_matrix import PositionMatrix

#: Least probability of a residue in a position matrix: models from elsewhere may have 0.
LEAST_PROBABILITY = 1e-6
#: HMMER's marker of a model without calibration.
NOT_CALIBRATED = np.float32(-99999)


def not_protein(alphabet: str) -> str:
    """Return the error text for a model of another alphabet."""
    remedy = f"leave it out, or use {named('skip_foreign')}"
    return f"the model is for {shown(alphabet)}, but search is for proteins: {remedy}"


@dataclass(frozen=True, eq=False)
class Model(Result):
    """A profile hidden Markov model of a protein family, as stored in HMMER's files.

    Parameters
    ----------
    name, accession, description
        Accession and description are empty if the file has none.
    match : float32, shape (length + 1, 20)
        Probabilities of amino acids at each node, in the order of `LETTERS`. Row 0 is not a node.
    transitions : float32, shape (length + 1, 7)
        Probabilities of M->M, M->I, M->D, I->M, I->I, D->M, D->D; row 0 leaves the begin state.
    composition : float32, shape (20,)
        Mean probabilities of amino acids over the model.
    evalue : float32, shape (6,)
        Location and slope of the scores of random sequences, for MSV, Viterbi and Forward.
    consensus : str
        A letter per node, in lower case if the family has no clear preference.
    gathering, trusted, noise
        Score thresholds of a curated family, in bits: of a target, and of a domain.
    reference, structure, mask
        Further annotation, a letter per node: reference columns, consensus structure, masked nodes.
    is_sequence
        Whether it is the model of a single sequence, whose letters are the consensus.
    text
        HMMER's text of the model, which `write` writes; None if it was not kept.
    file
        Name of its file in messages.

    Examples
    --------
    >>> for model in tropalign.read_queries("tests/fuzz/corpus/models/3f.hmm"):
    ...     print(model.name, model.length, model.gathering)
    small 10 (20.0, 18.5)
    """

    _aside = frozenset({"text", "file"})

    name: str
    accession: str
    description: str
    match: NDArray[np.float32] = field(repr=False)
    transitions: NDArray[np.float32] = field(repr=False)
    composition: NDArray[np.float32] = field(repr=False)
    evalue: NDArray[np.float32] = field(repr=False)
    consensus: str = field(repr=False)
    gathering: tuple[float, float] | None = None
    trusted: tuple[float, float] | None = None
    noise: tuple[float, float] | None = None
    reference: str | None = field(default=None, repr=False)
    structure: str | None = field(default=None, repr=False)
    mask: str | None = field(default=None, repr=False)
    is_sequence: bool = False
    text: bytes | None = field(default=None, repr=False)
    file: str | None = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        return display.record_html(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "native"}

    @property
    def length(self) -> int:
        """Number of nodes (M)."""
        return len(self.consensus)

    @cached_property
    def native(self) -> _native.ProfileModel:
        """The model in the form that searches use; created on first access."""
        return _native.ProfileModel(
            self.match, self.transitions, self.composition, BACKGROUND, self.evalue, self.consensus.encode("latin-1")
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a file that HMMER reads; the file appears complete or not at all.

        Parameters
        ----------
        path
            ``-`` is standard output; a suffix such as ``.gz`` compresses.

        Raises
        ------
        InputError
            A path that cannot be written; a model from a binary file, HMMER 2 or pyhmmer, whose text is not
            available.
        UsageError
            A suffix of another format; an invalid path.
        ResourceError
            The disk is full.

        Examples
        --------
        >>> import tempfile
        >>> model = tropalign.build_model("examples/efp_aligned.fasta", name="EFP")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.write(f"{folder}/EFP.hmm")
        ...     next(tropalign.read_queries(f"{folder}/EFP.hmm")).name
        'EFP'
        """
        output = output_name(path)
        format_for_path("models", output)
        text = self.known_text
        check_outputs([output], [])
        write_to(output, lambda out: out.writelines([text]))

    def position_matrix(self, *, scale: float | None = None) -> PositionMatrix:
        """Return a position matrix of the match states: ``rint(scale * log2(match / background))``.

        The probabilities are those of the model, with its sequence weights and pseudocounts (Dirichlet mixtures for
        models of `build_model`); the background is HMMER's, Swiss-Prot 50.8. Transitions are not used.

        Parameters
        ----------
        scale
            Scores per bit; 2 by default, half bits like those of BLOSUM62.

        Returns
        -------
        PositionMatrix
            With the consensus of the model.

        Raises
        ------
        InputError
            The scale is out of range.

        Examples
        --------
        >>> model = tropalign.build_model("examples/efp_aligned.fasta", name="EFP")
        >>> model.position_matrix()
        <PositionMatrix EFP: 188 positions, protein>
        """
        from tropalign.scoring.position_matrix import PositionMatrix, log_odds

        letters = LETTERS[:N_CANONICAL]
        match = np.maximum(self.match[1:].astype(np.float64), LEAST_PROBABILITY)
        scores = log_odds(match, BACKGROUND.astype(np.float64), letters, scale, self.name)
        return PositionMatrix(scores, letters, name=self.name, alphabet=PROTEIN, consensus=self.consensus)

    @property
    def known_text(self) -> bytes:
        """HMMER's text of the model.

        Raises
        ------
        InputError
            It was not kept.
        """
        if self.text is None:
            raise InputError(
                "only models from HMMER 3's text files and models built by tropalign can be written: convert the "
                "file with hmmconvert, or write the model with the program that built it",
                file=self.file,
                record=self.name,
            )
        return self.text


def from_pyhmmer(hmm: Any, file: str | None = None) -> Model:
    """Convert a `pyhmmer.plan7.HMM` to a model, and calibrate it if necessary; messages name `file`.

    Raises InputError for a model of nucleotides, or one that gives random sequences no scores.
    """
    name = text_of(hmm.name)
    if hmm.alphabet.K != N_CANONICAL:
        raise InputError(not_protein(hmm.alphabet.type), file=file, record=name)
    match, transitions, composition = tables_of(hmm)
    evalue = np.array(hmm.evalue_parameters.as_vector(), np.float32)
    if evalue[0] == NOT_CALIBRATED:
        evalue = calibrate(match, transitions, composition)
    if not np.isfinite(evalue).all():
        raise InputError("random sequences get no scores from the model: leave it out", file=file, record=name)
    return Model(
        name=name,
        accession=text_of(hmm.accession),
        description=text_of(hmm.description),
        match=match,
        transitions=transitions,
        composition=composition,
        evalue=evalue,
        consensus=hmm.consensus or consensus_of(match),
        gathering=hmm.cutoffs.gathering,
        trusted=hmm.cutoffs.trusted,
        noise=hmm.cutoffs.noise,
        reference=hmm.reference,
        structure=hmm.consensus_structure,
        mask=hmm.model_mask,
    )


def tables_of(hmm: Any) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return match and transition probabilities and the composition (or zeros) of a `pyhmmer.plan7.HMM`."""
    composition = np.zeros(N_CANONICAL, np.float32)
    if hmm.composition is not None:
        composition[:] = hmm.composition
    return np.array(hmm.match_emissions, np.float32), np.array(hmm.transition_probabilities, np.float32), composition


def consensus_of(match: NDArray[np.float32]) -> str:
    """Return the likeliest residue of each node, in upper case if its probability is at least 0.5.

    `match`: float32, shape (length + 1, 20); row 0 is not a node.
    """
    best, is_clear = match[1:].argmax(axis=1), match[1:].max(axis=1) >= np.float32(0.5)
    letters = zip(best.tolist(), is_clear.tolist(), strict=True)
    return "".join(LETTERS[x] if clear else LETTERS[x].lower() for x, clear in letters)


def text_of(value: str | bytes | None) -> str:
    """Return a text of pyhmmer, such as a name, as str."""
    return decoded(value) if isinstance(value, bytes) else value or ""


#: First bytes of a model in each format, and the format's letter: 3/a to 3/f.
MAGIC = {
    (0xE8EDEDB6).to_bytes(4, "little"): "a",
    (0xE8EDEDB7).to_bytes(4, "little"): "b",
    (0xE8EDEDB8).to_bytes(4, "little"): "c",
    (0xE8EDEDB9).to_bytes(4, "little"): "d",
    (0xE8EDEDB0).to_bytes(4, "little"): "e",
    (0xE8EDEDBA).to_bytes(4, "little"): "f",
}
#: Bits of a model's flags: its optional parts.
DESCRIPTION, REFERENCE, STRUCTURE, STATISTICS, MAP, ACCESSION = 1 << 1, 1 << 2, 1 << 3, 1 << 7, 1 << 8, 1 << 9
CUTOFFS = {"gathering": 1 << 10, "trusted": 1 << 11, "noise": 1 << 12}
ACCESSIBILITY, COMPOSITION, CHECKSUM, CONSENSUS, MASK = 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17
ALPHABETS = {1: b"rna", 2: b"dna", 3: b"amino"}
HEAD = Struct("<3i")
#: Limits of nodes and text lengths, so that damaged files cannot request large allocations.
MOST_NODES, MOST_LETTERS = 1_000_000, 1 << 20


def is_binary(begin: bytes) -> bool:
    """True if a file with this start holds binary models."""
    return begin[:4] in MAGIC


def read_binary(stream: io.BufferedReader, file: str) -> Iterator[dict[str, Any]]:
    """Yield the models of a binary file, as the fields of `_native.read_model`."""
    n_read = 0
    while magic := stream.read(4):
        if magic not in MAGIC:
            raise InputError(
                f"the data after model {n_read} are not a model: download or press the file again", file=file
            )
        n_read += 1
        yield _Reader(stream, file, n_read, MAGIC[magic]).read()


class _Reader:
    """Reader of one model; `number` counts from 1."""

    def __init__(self, stream: io.BufferedReader, file: str, number: int, version: str) -> None:
        self.stream, self.file, self.number, self.version = stream, file, number, version

    def read(self) -> dict[str, Any]:
        flags, length, alphabet = HEAD.unpack(self.take(HEAD.size))
        if not 1 <= length <= MOST_NODES:
            raise self.damaged(f"a length of {length}")
        if alphabet not in ALPHABETS:
            raise self.damaged(f"the unknown alphabet {alphabet}")
        found: dict[str, Any] = {"alphabet": ALPHABETS[alphabet]}
        n_letters = N_CANONICAL if alphabet == 3 else 4
        match = np.zeros((length + 1, n_letters), np.float32)
        match[0, 0] = 1
        match[1:] = self.floats(length * n_letters).reshape(length, n_letters)
        self.take((length + 1) * n_letters * 4)  # insert emissions, which a search replaces by background
        found["match"], found["transitions"] = match, self.floats((length + 1) * 7).reshape(length + 1, 7)
        found["name"] = self.text()
        found["accession"] = self.text() if flags & ACCESSION else b""
        found["description"] = self.text() if flags & DESCRIPTION else b""
        annotation = {"reference": REFERENCE, "mask": MASK, "consensus": CONSENSUS, "structure": STRUCTURE}
        for name, flag in annotation.items():
            found[name] = self.take(length + 2)[1:-1] if flags & flag else b""
        if flags & ACCESSIBILITY:
            self.take(length + 2)
        self.text()  # how the model was made
        self.take(12 if self.version >= "c" else 8)  # numbers of sequences, the longest instance
        self.text()  # when the model was made
        found["columns"] = np.frombuffer(self.take(4 * (length + 1)), "<i4")[1:] if flags & MAP else None
        checksum = int.from_bytes(self.take(4), "little")
        found["checksum"] = checksum if flags & CHECKSUM else None
        self.numbers(found, flags)
        if not found["consensus"] and alphabet == 3:
            found["consensus"] = consensus_of(match).encode()
        return found

    def numbers(self, found: dict[str, Any], flags: int) -> None:
        """Read calibration, cutoffs and composition."""
        found["is_calibrated"] = bool(flags & STATISTICS)
        evalue = self.floats(3 if self.version == "a" else 6)
        if self.version == "a":  # slope, location, and location of Forward scores
            evalue = evalue[[1, 0, 1, 0, 2, 0]]
        found["evalue"] = evalue
        cutoffs = self.floats(6).tolist()
        for k, (name, flag) in enumerate(CUTOFFS.items()):
            found[name] = (cutoffs[2 * k], cutoffs[2 * k + 1]) if flags & flag else None
        n_letters = found["match"].shape[1]
        found["composition"] = self.floats(n_letters) if flags & COMPOSITION else np.zeros(n_letters, np.float32)
        if not all(np.isfinite(found[name]).all() for name in ("match", "transitions", "evalue", "composition")):
            raise self.damaged("a number that is not finite")
        if min(found[name].min() for name in ("match", "transitions", "composition")) < 0:
            raise self.damaged("a probability below 0")

    def take(self, size: int) -> bytes:
        data = self.stream.read(size)
        if len(data) < size:
            raise InputError(f"the file ends within model {self.number}: download or press it again", file=self.file)
        return data

    def floats(self, count: int) -> NDArray[np.float32]:
        return np.frombuffer(self.take(4 * count), "<f4").astype(np.float32)

    def text(self) -> bytes:
        size = int.from_bytes(self.take(4), "little", signed=True)
        if not 0 <= size <= MOST_LETTERS:
            raise self.damaged(f"a text of {size} characters")
        return self.take(size)[:-1]

    def damaged(self, what: str) -> InputError:
        return InputError(f"model {self.number} has {what}: download or press the file again", file=self.file)


#: Bytes that are read at once.
BLOCK_BYTES = 1 << 20
#: Rounding can raise a probability above 1, by as much as native code allows (`kMostProbability`).
MOST_PROBABILITY = 1.001
#: First bytes of the text formats.
TEXT, OLD_TEXT = b"HMMER3/", b"HMMER2.0"


def read_models(source: Source, *, skip_foreign: bool = False) -> Iterator[Model]:
    """Yield the models of a file one by one, so that a library of any size takes the memory of one model.

    `skip_foreign` leaves out models of nucleotides with a warning instead of an InputError. Models without
    calibration also cause a warning.
    """
    source = pressed_alone(source)
    with opened(source) as stream:
        yield from models_of(stream, file_name(source), skip_foreign)


def models_of(
    stream: io.BufferedReader, file: str, skip_foreign: bool = False, keeps_text: bool = True
) -> Iterator[Model]:
    """Yield models from a stream of plain bytes that messages call `file`; `keeps_text` allows writing them."""
    has_told = False
    foreign: list[str] = []
    for found, line in fields_of(stream, file):
        name = decoded(found["name"])
        where: dict[str, Any] = {"file": file, "record": name, "line": None if line is None else line + 1}
        is_protein = found["alphabet"] == b"amino"
        if skip_foreign and not is_protein:
            foreign.append(name)
            continue
        if not is_protein:
            raise InputError(not_protein(decoded(found["alphabet"]).upper()), **where)
        check_probabilities(found, file, line)
        if not found.pop("is_calibrated"):
            try:
                found["evalue"] = calibrate(found["match"], found["transitions"], found["composition"])
            except (ArithmeticError, ValueError):
                raise InputError(
                    "the model has no calibration and cannot be calibrated, since random sequences get no "
                    "scores: build it again",
                    **where,
                ) from None
            if not has_told:
                text = "has no calibration: it is calibrated now, and so are further models without one"
                warnings.warn(f"{shown(file)}: the model {shown(name)!r} {text}", TropalignWarning, stacklevel=2)
            has_told = True
        yield model_of_fields(found, found.get("text") if keeps_text else None, file)
    if foreign:
        warnings.warn(f"{shown(file)}: {of_foreign(foreign)}", TropalignWarning, stacklevel=2)


def of_foreign(names: list[str]) -> str:
    """Return the warning about models that are left out because they are not of proteins."""
    if len(names) == 1:
        return f"the model {names[0]!r} is not for proteins and is left out"
    return f"{len(names):,} models, such as {names[0]!r}, are not for proteins and are left out"


def pressed_alone(source: Source) -> Source:
    """Return the pressed file of a library if the library itself is missing."""
    if isinstance(source, str | os.PathLike) and not os.path.exists(source):
        pressed = f"{os.fsdecode(source)}.h3m"
        return pressed if os.path.exists(pressed) else source
    return source


def fields_of(
    stream: io.BufferedReader, file: str, with_nucleotides: bool = False
) -> Iterator[tuple[dict[str, Any], int | None]]:
    """Yield the models of a file as the fields of `_native.read_model`, and for text the line before each.

    Of nucleotide models only the header is read, unless `with_nucleotides` is set; a damaged one then raises an
    error.
    """
    begin = stream.peek(len(OLD_TEXT))[: len(OLD_TEXT)]
    if is_binary(begin):
        for found in read_binary(stream, file):
            yield found, None
        return
    is_empty = True
    for line, text in records_in(stream):
        is_empty = False
        if begin == OLD_TEXT:
            yield _OldReader(text, file, line).read(), line
            continue
        read = _native.read_model(text, with_nucleotides)
        if isinstance(read, tuple):
            at, name, what = read
            message = f"{shown(decoded(what))}: correct this line, or download the file again"
            raise InputError(message, file=file, record=decoded(name) or None, line=line + at + 1)
        yield read | {"text": text}, line
    if is_empty:
        raise InputError("the file is empty", file=file)


def records_in(stream: io.BufferedReader) -> Iterator[tuple[int, bytes]]:
    """Yield the text of each model or alignment up to its line //, and the number of lines before it."""
    line, rest = 0, b""
    stream = with_line_ends(stream)
    while block := stream.read(BLOCK_BYTES):
        data, begin = rest + block, 0
        while (end := data.find(b"\n//", begin)) >= 0 and (stop := data.find(b"\n", end + 1)) >= 0:
            text = data[begin : stop + 1]
            yield line, text
            line, begin = line + text.count(b"\n"), stop + 1
        rest = data[begin:]
    if any(not text.startswith(b"#") for text in map(bytes.strip, rest.split(b"\n")) if text):
        yield line, rest


def check_probabilities(found: dict[str, Any], file: str, line: int | None) -> None:
    """Raise InputError for a model with a probability above 1."""
    if max(float(found[name].max()) for name in ("match", "transitions", "composition")) > MOST_PROBABILITY:
        raise InputError(
            "the model holds a probability above 1: download the file again",
            file=file,
            record=decoded(found["name"]),
            line=None if line is None else line + 1,
        )


def model_of_fields(found: dict[str, Any], text: bytes | None = None, file: str | None = None) -> Model:
    """Build a model from the fields of `_native.read_model`; messages call its file `file`."""
    return Model(
        name=decoded(found["name"]),
        accession=decoded(found["accession"]),
        description=decoded(found["description"]),
        match=found["match"],
        transitions=found["transitions"],
        composition=found["composition"],
        evalue=found["evalue"],
        consensus=found["consensus"].decode("latin-1"),
        gathering=found["gathering"],
        trusted=found["trusted"],
        noise=found["noise"],
        reference=found["reference"].decode("latin-1") or None,
        structure=found["structure"].decode("latin-1") or None,
        mask=found["mask"].decode("latin-1") or None,
        text=text,
        file=file,
    )


#: Nats per thousandth of a bit: HMMER's value.
NATS = 0.00069314718
OLD_CUTOFFS = {"GA": "gathering", "TC": "trusted", "NC": "noise"}
OLD_TEXTS = {"NAME": "name", "ACC": "accession"}
OLD_FLAGS = {"RF": "reference", "CS": "structure"}
#: Minimum bytes of a node: three lines, two of them with 20 numbers.
LEAST_NODE_BYTES = 80
MEND = "correct this line, or download the file again"


class _OldReader:
    """A model from the text of HMMER 2, its lines HMMER2.0 to //, converted like HMMER 3 does.

    HMMER 2 writes integer scores in thousandths of a bit, relative to a null model in the file. Parts of its model
    that HMMER 3 lacks (entry and exit probabilities, insert emissions, calibration) are ignored. Not by pyhmmer, whose
    reader of this format crashes on damaged files. `line`: number of lines before it in the file.
    """

    def __init__(self, text: bytes, file: str, line: int) -> None:
        self.file, self.line, self.size = file, line, len(text)
        self.lines = iter(text.split(b"\n"))
        self.words: list[bytes] = []
        self.raw = b""
        texts = ("name", "accession", "description", "alphabet", "mask")
        self.found: dict[str, Any] = dict.fromkeys(texts, b"")
        self.length = 0
        self.null: list[float] = []

    def read(self) -> dict[str, Any]:
        """Return the fields of `_native.read_model`; raises InputError for a damaged or truncated model."""
        self.next()
        self.read_header()
        if self.found["alphabet"] != b"amino":
            return self.found
        self.read_nodes()
        self.next()
        if self.words[0] != b"//":
            raise self.damaged(f"{self.quoted(self.words[0])} was found instead of the line // that ends the model")
        match, transitions = self.found["match"], self.found["transitions"]
        _normalise(match)
        for part in (slice(0, 3), slice(3, 5), slice(5, 7)):
            _normalise(transitions[:, part])
        transitions[-1, 5:] = 1, 0
        if transitions[-1, 2] > 0:
            transitions[-1, :3] = 0.5, 0.5, 0
        self.found["consensus"] = consensus_of(match).encode()
        self.found["is_calibrated"] = False
        # HMMER gives these models no composition: its filter for biased composition has no effect on them.
        self.found["composition"] = np.zeros(N_CANONICAL, np.float32)
        return self.found

    def read_header(self) -> None:
        self.found |= dict.fromkeys(OLD_CUTOFFS.values()) | dict.fromkeys(OLD_FLAGS.values(), b"")
        while True:
            self.next()
            tag = self.words[0].decode("latin-1")
            if tag == "HMM":
                break
            if tag in OLD_TEXTS:
                self.found[OLD_TEXTS[tag]] = self.word(1)
            elif tag == "DESC":
                self.found["description"] = self.raw.strip()[len(tag) :].strip()
            elif tag == "LENG":
                self.length = self.integer(1)
            elif tag == "ALPH":
                alphabet = self.word(1).lower()
                self.found["alphabet"] = b"dna" if alphabet == b"nucleic" else alphabet
            elif tag in OLD_FLAGS:
                self.found[OLD_FLAGS[tag]] = b"+" if self.word(1).lower() == b"yes" else b""
            elif tag in OLD_CUTOFFS:
                self.found[OLD_CUTOFFS[tag]] = (self.number(1), self.number(2))
            elif tag == "NULE" and self.found["alphabet"] == b"amino":
                self.null = [self.probability(k + 1, float(np.float32(1 / 20))) for k in range(N_CANONICAL)]
        for what, name in ((self.found["name"], "NAME"), (self.found["alphabet"], "ALPH"), (self.length, "LENG")):
            if not what:
                raise self.damaged(f"the model has no line {name}")
        if self.found["alphabet"] == b"amino" and not self.null:
            raise self.damaged("the model has no line NULE")
        if not 0 < self.length <= self.size // LEAST_NODE_BYTES:
            raise self.damaged(f"the model is too short for the {self.length} nodes of its line LENG")

    def read_nodes(self) -> None:
        self.found["match"] = match = np.zeros((self.length + 1, N_CANONICAL), np.float32)
        self.found["transitions"] = transitions = np.zeros((self.length + 1, 7), np.float32)
        match[0, 0] = 1
        self.next()  # names of transitions
        self.next()
        transitions[0] = self.probability(0, 1), 0, self.probability(2, 1), 1, 0, 1, 0
        transitions[-1] = 1, 0, 0, 1, 0, 1, 0
        letters: dict[str, list[bytes]] = {"reference": [], "structure": []}
        for k in range(1, self.length + 1):
            self.next()
            if self.integer(0) != k:
                raise self.damaged(
                    f"{self.quoted(self.words[0])} was found where node {k} of {self.length} is expected"
                )
            match[k] = [self.probability(x + 1, self.null[x]) for x in range(N_CANONICAL)]
            self.next()
            letters["reference"].append(self.word(0)[:1])
            self.next()
            letters["structure"].append(self.word(0)[:1])
            if k < self.length:
                transitions[k] = [self.probability(t + 1, 1) for t in range(7)]
        for name, line in letters.items():
            self.found[name] = b"".join(line) if self.found[name] else b""

    def next(self) -> None:
        for line in self.lines:
            self.line += 1
            self.raw, self.words = line, line.split()
            if self.words and not self.words[0].startswith(b"#"):
                return
        raise self.damaged("the model ends before its line //")

    def word(self, k: int) -> bytes:
        if k >= len(self.words):
            raise self.damaged(f"the line has only {len(self.words)} words")
        return self.words[k]

    def number(self, k: int) -> float:
        try:
            return float(np.float32(self.word(k).rstrip(b";")))
        except ValueError:
            raise self.damaged(f"{self.quoted(self.word(k))} is not a number") from None

    def integer(self, k: int) -> int:
        try:
            return int(self.word(k))
        except ValueError:
            raise self.damaged(f"{self.quoted(self.word(k))} is not an integer") from None

    def probability(self, k: int, null: float) -> float:
        if self.word(k).startswith(b"*"):
            return 0.0
        score = self.integer(k)
        if abs(score) > 100_000:
            raise self.damaged(f"{score} is not a score of HMMER 2")
        return float(np.float32(null * math.exp(score * NATS)))

    def quoted(self, word: bytes) -> str:
        return f"'{shown(word.decode('utf-8', 'replace'))}'"

    def damaged(self, what: str) -> InputError:
        name = decoded(self.found["name"]) or None
        return InputError(f"{what}: {MEND}", file=self.file, record=name, line=self.line)


def _normalise(rows: NDArray[np.float32]) -> None:
    """Scale rows to sums of 1, in single precision with compensated summation (Kahan), like HMMER."""
    total = np.zeros(len(rows), np.float32)
    lost = np.zeros(len(rows), np.float32)
    for column in rows.T:
        part = column - lost
        raised = total + part
        lost = (raised - total) - part
        total = raised
    is_empty = total == 0
    rows[is_empty] = np.float32(1 / rows.shape[1])
    rows[~is_empty] /= total[~is_empty, None]
