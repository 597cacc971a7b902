"""Models built from the alignments of a file: a tile is some alignments; each becomes the text of a model."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named, shown
from tropalign.execution.task import Progress, Tile
from tropalign.formats.aligned.profile import COLUMNS, blocks
from tropalign.profiles.building import (
    FAULTS,
    built,
    hmmer_tools,
    model_of_text,
    refuse_mixed,
    stockholm_of,
    text_of_hmm,
    words_of,
)
from tropalign.profiles.family_models import LETTERS_OF, MISSING, Letters
from tropalign.profiles.models import Model, records_in
from tropalign.profiles.options import ALPHABETS, BuildOptions, QueryAlphabet
from tropalign.profiles.sources import FIRST_BYTES, stem_and_suffix, stockholm_in
from tropalign.results.display import DOT
from tropalign.results.multiple import GAP, MultipleAlignment
from tropalign.sequences.aligned_files import STOCKHOLM, check_stockholm
from tropalign.sequences.files import Source, file_name, is_stream, opened, tell_of_latin_1
from tropalign.sequences.texts import decoded

Int32 = NDArray[np.int32]
Codes = NDArray[np.uint8]


def annotated(
    marked: Any, names: Sequence[str], is_node: NDArray[np.bool_], letters: Letters, has_weights: bool
) -> bytes:
    """Return the text of an alignment in Stockholm format.

    `marked`: `pyhmmer.easel.DigitalMSA` with weights and fragments, as HMMER's builder leaves it. `is_node`: bool,
    shape (n_columns,).
    """
    rows = [_Row(np.asarray(row), is_node, letters.symbols) for row in marked.alignment]
    n_nodes = int(is_node.sum())
    is_used, n_inserted = np.zeros(n_nodes + 1, bool), np.zeros(n_nodes + 1, np.int64)
    for row in rows:
        is_used[row.places[row.places > 0]] = True
        np.maximum(n_inserted, row.n_inserted, out=n_inserted)
    # Nodes without a residue have no column, as in HMMER.
    first = np.cumsum(is_used + n_inserted) - is_used - n_inserted
    has_node = np.zeros(int((is_used + n_inserted).sum()), bool)
    has_node[first[is_used]] = True
    cells = np.array([row.spread(first, first + is_used, n_inserted, has_node, letters) for row in rows])
    fields = (("ID", marked.name), ("AC", marked.accession), ("DE", marked.description))
    lines = ["# STOCKHOLM 1.0", *(f"#=GF {tag} {text}" for tag, text in fields if text), ""]
    own = [name.encode() for name in names]
    made = [line.encode() for line in lines]
    if has_weights:
        width, weights = max(map(len, own)), marked.sequence_weights
        made += (b"#=GS %s WT %.2f" % (name.ljust(width), weight) for name, weight in zip(own, weights, strict=True))
        made.append(b"")
    reference = np.where(has_node, ord("x"), DOT).astype(np.uint8).tobytes()

    def part(first: int, last: int, begin: int, end: int) -> Codes:
        return cells[first:last, begin:end]

    is_judged = np.zeros(len(own), bool)
    text = blocks(own, part, part, is_judged, [(b"RF", reference)], COLUMNS, len(has_node))
    return b"\n".join([*made, b""]) + b"".join(text) + b"//\n"


class _Row:
    """Residues of a row and their places: node k, or -k for an insertion after node k.

    HMMER aligns an insertion next to a deletion to the deleted node (its `p7_trace_Doctor`). A row may start or end
    with missing data, which are not deletions.
    """

    def __init__(self, codes: Codes, is_node: NDArray[np.bool_], symbols: str) -> None:
        is_missing = codes == symbols.index("~")
        has_residue = (codes != symbols.index("-")) & ~is_missing
        at = np.flatnonzero((is_node | has_residue) & ~is_missing)
        node, residue = is_node[at], has_residue[at]
        places = np.cumsum(is_node, dtype=np.int32)[at]
        places[~node] *= -1
        deleted, inserted = node & ~residue, ~node
        pairs = np.flatnonzero((deleted[:-1] & inserted[1:]) | (inserted[:-1] & deleted[1:]))
        # The first of overlapping pairs counts, the third, and so on.
        number = np.arange(len(pairs))
        begins = np.diff(pairs, prepend=-2) > 1
        pairs = pairs[(number - np.maximum.accumulate(np.where(begins, number, 0))) % 2 == 0]
        joined = pairs + inserted[pairs + 1]
        places[joined] = places[pairs + 1 - inserted[pairs + 1]]
        self.limits = (int(places[0]), int(places[-1])) if len(at) else None
        self.starts_missing, self.ends_missing = bool(is_missing[0]), bool(is_missing[-1])
        self.residues, self.places = codes[at][residue], places[residue]
        self.n_inserted = np.bincount(-self.places[self.places <= 0], minlength=int(is_node.sum()) + 1)

    def spread(self, first: Any, inserts: Any, n_inserted: Any, has_node: NDArray[np.bool_], letters: Letters) -> Codes:
        """Return the row's text.

        `first`, `inserts`, `n_inserted`: int64, shape (n_nodes + 1,), first column of a node, and first column and
        number of columns of the insertions after it. `has_node`: bool, shape (n_columns,).
        """
        text = np.where(has_node, GAP, DOT).astype(np.uint8)
        if self.limits is None:
            return text
        begin, end = self.limits
        if self.starts_missing:
            text[: first[begin] if begin > 0 else inserts[-begin]] = MISSING
        if self.ends_missing:
            text[inserts[end] if end > 0 else inserts[-end] + self.n_inserted[-end] :] = MISSING
        is_inserted = self.places <= 0
        nodes = np.abs(self.places)
        text[first[nodes[~is_inserted]]] = letters.cased[self.residues[~is_inserted]]
        own = nodes[is_inserted]
        rank = np.arange(len(own)) - np.searchsorted(own, own)
        # Right-align the second half of an insertion at the next node; before the first node, the whole insertion.
        stays = self.n_inserted // 2
        stays[0], stays[-1] = 0, self.n_inserted[-1]
        if self.ends_missing and end <= 0:
            stays[-end] = self.n_inserted[-end]
        shift = np.where(rank < stays[own], 0, (n_inserted - self.n_inserted)[own])
        text[inserts[own] + rank + shift] = letters.cased[self.residues[is_inserted] + 32]
        return text


#: Largest number of alignments per tile, and size in bytes at which a tile is full.
TILE_ALIGNMENTS, TILE_BYTES = 64, 1 << 24
#: Weights of rows in Stockholm.
WEIGHT = re.compile(rb"^#=GS\s+\S+\s+WT\s", re.MULTILINE)
#: Bytes per cell of an alignment while a model is built from it: text and codes, including copies.
LETTER_BYTES = 8


@dataclass(frozen=True)
class AlignmentText:
    """An alignment in Stockholm format.

    `number`: from 1. `line`: lines of its file before it; None if the file is not Stockholm. `names`: names of its
    rows, if the text numbers them. `is_alone`: True if its file holds no other alignment.
    """

    text: bytes
    number: int
    line: int | None
    names: tuple[str, ...] = ()
    is_alone: bool = True


class Built(NamedTuple):
    """Texts of models, and of their alignments if these are kept."""

    models: list[bytes]
    alignments: list[bytes]


class BuildTask:
    """All alignments of a file, whose models are built.

    `name`: name of the model if there is one alignment; None: that of the alignment or of the file.
    `keeps_alignments`: results include the alignments with their nodes. Raises UsageError for an unknown alphabet,
    an invalid name, or options without effect.
    """

    def __init__(
        self,
        source: Source,
        options: BuildOptions,
        alphabet: str = "auto",
        name: str | None = None,
        keeps_alignments: bool = False,
    ) -> None:
        if alphabet not in ALPHABETS:
            raise UsageError(f"{named('alphabet')} {shown(repr(alphabet))} is not one of {', '.join(ALPHABETS)}")
        is_word = isinstance(name, str) and name.split() == [name] and name.isprintable()
        if name is not None and not is_word:
            raise UsageError(
                f"{named('name')} {shown(repr(name)[:80])}: the name of a model must not contain blanks: give another"
            )
        options.check_company()
        self._source, self._options, self._name, self._keeps_alignments = source, options, name, keeps_alignments
        self._kind, self._is_judged = ALPHABETS[alphabet], ALPHABETS[alphabet] is None
        self._file = file_name(source)
        has_name = not is_stream(source) and source != "-"
        stem, self._suffix = stem_and_suffix(source)
        self._stem = "_".join(stem.split()) if has_name else None
        self._has_told = False

    @property
    def is_of_proteins(self) -> bool:
        """True if the alignments, as far as they were read, are of proteins."""
        return self._kind == "amino"

    def tiles(self) -> Iterator[Tile]:
        """Yield tiles of neighbouring alignments."""
        waiting: list[AlignmentText] = []
        index = n_bytes = 0
        for one in self.alignments():
            waiting.append(one)
            n_bytes += len(one.text)
            if len(waiting) == TILE_ALIGNMENTS or n_bytes >= TILE_BYTES:
                yield Tile(index, n_bytes, LETTER_BYTES * n_bytes, len(waiting), waiting)
                waiting, index, n_bytes = [], index + 1, 0
        if waiting:
            yield Tile(index, n_bytes, LETTER_BYTES * n_bytes, len(waiting), waiting)

    def alignments(self) -> Iterator[AlignmentText]:
        """Yield the alignments as they are read."""
        with opened(self._source) as stream:
            begin = stream.peek(FIRST_BYTES).lstrip()
            if not begin:
                raise InputError("the file is empty", file=self._file)
            if not begin.startswith(STOCKHOLM):
                text, names = stockholm_in(stream, begin, self._file, self._suffix)
                one = AlignmentText(self._in_utf8(text), 1, None, names)
                self._judge(one)
                yield one
                return
            records = records_in(stream)
            first = [*islice(records, 2)]
            is_empty = True
            for number, (line, text) in enumerate(chain(first, records), 1):
                check_stockholm(enumerate(text.removesuffix(b"\n").split(b"\n"), line + 1), self._file)
                one = AlignmentText(self._in_utf8(text), number, line, is_alone=len(first) < 2)
                if number == 1:
                    self._judge(one)
                elif self._name is not None:
                    sentence = "the file holds several alignments, each with its own name (#=GF ID)"
                    raise InputError(f"{sentence}: leave {named('name')} out", file=self._file)
                yield one
                is_empty = False
            if is_empty:
                raise InputError("the file holds no alignments", file=self._file)

    def _in_utf8(self, text: bytes) -> bytes:
        """Return a text in UTF-8, as pyhmmer reads it; warn once of a file that is not."""
        if text.isascii() or (made := decoded(text).encode()) == text:
            return text
        if not self._has_told:
            tell_of_latin_1(self._file or "-")
            self._has_told = True
        return made

    def _judge(self, one: AlignmentText) -> None:
        """Determine the alphabet of all alignments by the first one, and reject a matrix for another alphabet."""
        hmmer_tools()
        if self._kind is None:  # Easel guesses it
            from pyhmmer.easel import MSAFile

            try:
                with MSAFile(io.BytesIO(one.text), "stockholm") as reader:
                    found = reader.guess_alphabet()  # type: ignore[attr-defined]
                    alignment = reader.read()
            except FAULTS as error:
                raise self._unreadable(one, error) from None
            if alignment is not None:
                refuse_mixed(alignment, self._file, one.names)
            if found is None:
                raise InputError(
                    f"the letters may be proteins or nucleotides: set {named('alphabet')} protein, dna or rna",
                    file=self._file,
                )
            self._kind = str(found.type.lower())
        if self._options.matrix is not None and self._kind != "amino":
            kind = self._kind.upper()
            raise InputError(
                f"this is an alignment of {kind}, but {named('matrix')} {self._options.matrix} is for proteins: leave "
                "it out",
                file=self._file,
            )

    def _unreadable(self, one: AlignmentText, error: Exception) -> InputError:
        where = "" if one.line is None else f"alignment {one.number} "
        kind = "" if self._kind is None else f" as {'protein' if self._kind == 'amino' else self._kind}"
        return InputError(f"{where}cannot be read{kind} ({words_of(error)}): correct it", file=self._file)

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> Built:
        """Return the models and their alignments."""
        alignments: list[AlignmentText] = tile.payload
        if n_threads == 1 or len(alignments) == 1:
            found = [self.texts(one, progress) for one in alignments]
        else:
            with ThreadPoolExecutor(n_threads) as threads:
                found = list(threads.map(lambda one: self.texts(one, None), alignments))
        return Built([model for model, _ in found], [alignment for _, alignment in found])

    def texts(self, one: AlignmentText, progress: Progress | None = None) -> tuple[bytes, bytes]:
        """Build the model of an alignment.

        Returns the model in HMMER's format, and its alignment in Stockholm format if alignments are kept, else
        nothing. Raises InputError if no model can be built.
        """
        from pyhmmer.easel import MSAFile

        if progress is not None:
            progress(0)
        assert self._kind is not None
        alphabet, _ = hmmer_tools(self._kind)
        try:
            with MSAFile(io.BytesIO(one.text), "stockholm", digital=True, alphabet=alphabet) as reader:
                alignment = next(reader, None)
        except FAULTS as error:
            raise self._unreadable(one, error) from None
        if alignment is None:
            raise InputError(f"alignment {one.number} holds no rows: correct it", file=self._file)
        if self._is_judged and one.number > 1:
            refuse_mixed(alignment.textize(), self._file, one.names)
        names = one.names or alignment.names
        own = names[0] if self._options.single and len(names) == 1 else alignment.name
        alignment.name = self._name_of(own, one)
        if not any(np.asarray(row.sequence).size for row in alignment.sequences):
            raise InputError("the alignment holds no residues: give another one", file=self._file)
        hmm, marked = built(alignment, self._file, self._options)
        text = text_of_hmm(hmm, is_built=True)
        if not self._keeps_alignments:
            return text, b""
        letters = LETTERS_OF[self._kind or ""]
        n = letters.symbols.index("-")  # residues; the column of a node follows their probabilities
        lines = map(bytes.split, text.partition(b"\nHMM ")[2].split(b"\n"))
        columns = [words[n + 1] for words in lines if len(words) == n + 6]
        is_node = np.asarray(marked.alignment[0]) != n
        if columns[0] != b"-":  # "-": in a model of a single row by a matrix, each residue is a node
            is_node[:] = False
            is_node[np.array(columns, np.int64) - 1] = True
        is_weighted = len(names) > 1 and self._options.weights in ("position", "tree", "blosum")
        has_weights = is_weighted or bool(WEIGHT.search(one.text))
        return text, annotated(marked, names, is_node, letters, has_weights)

    def _name_of(self, own: str | None, one: AlignmentText) -> str:
        if self._name is not None:
            return self._name
        if own:
            return own
        if not one.is_alone:
            raise InputError(
                f"alignment {one.number} has no name, as required if there are several: add a line #=GF ID NAME",
                file=self._file,
            )
        if self._stem is None:
            raise InputError(f"an alignment that was not read from a file has no name: give one with {named('name')}")
        return self._stem


def build_model(
    alignment: Source | MultipleAlignment,
    *,
    name: str | None = None,
    alphabet: QueryAlphabet = "auto",
    options: BuildOptions | None = None,
) -> Model:
    """Build the profile hidden Markov model of an alignment of proteins, as hmmbuild does.

    Parameters
    ----------
    alignment
        A `MultipleAlignment`, a file's name ("-" is standard input) or an open file: Stockholm, FASTA, A2M, A3M,
        Clustal, PHYLIP or MSF.
    name
        Name of the model; by default the alignment's own (Stockholm), else that of its file.
    alphabet : {"auto", "protein"}
        With "auto" the letters decide whether the sequences are proteins.
    options
        Options of the model.

    Returns
    -------
    Model
        For `search`; `Model.write` writes it.

    Raises
    ------
    InputError
        A file that cannot be read or holds several alignments; an alignment of nucleotides, or one from which no
        model can be built; an alignment without a name; pyhmmer is missing.
    UsageError
        An invalid option value.

    Examples
    --------
    >>> alignment = tropalign.read_alignment("examples/efp_aligned.fasta")
    >>> model = tropalign.build_model(alignment, name="EFP")
    >>> model.name, model.length
    ('EFP', 188)
    >>> len(tropalign.search(model, "examples/efp.fasta"))
    37
    """
    given = options or BuildOptions()
    if not isinstance(given, BuildOptions):
        raise UsageError(f"{shown(repr(given)[:80])} is not a BuildOptions: create one with tropalign.BuildOptions()")
    source: Source = alignment  # type: ignore[assignment]
    if isinstance(alignment, MultipleAlignment):
        source = io.BytesIO(stockholm_of(alignment.letters, None))
        if given.single and name is None and len(alignment) == 1:
            name = alignment.names[0]
    task = BuildTask(source, given, alphabet, name)
    found = list(islice(task.alignments(), 2))
    if len(found) > 1:
        raise InputError(
            "the file holds several alignments: give a file with one, or build a model of each with read_queries",
            file=file_name(source),
        )
    if not task.is_of_proteins:
        raise InputError(
            "this is an alignment of nucleotides, but Model supports only proteins: build the model with the "
            "command tropalign build",
            file=file_name(source),
        )
    text, _ = task.texts(found[0])
    return model_of_text(text, file_name(source), name)
