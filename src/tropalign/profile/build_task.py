"""Alignments of a file to models: a tile is some alignments, each of which becomes the text of a model."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from tropalign.errors import InputError, UsageError, named, shown
from tropalign.execution.task import Progress, Tile
from tropalign.profile.build_options import ALPHABETS, BuildOptions
from tropalign.profile.building import FAULTS, built, hmmer_tools, refuse_mixed, text_of_hmm, words_of
from tropalign.profile.model_files import records_in
from tropalign.profile.queries import FIRST_BYTES, stem_and_suffix, stockholm_in
from tropalign.sequences.aligned_files import STOCKHOLM, check_stockholm
from tropalign.sequences.files import Source, file_name, is_stream, opened

#: Alignments of a tile, and bytes from which on it takes no further one.
TILE_ALIGNMENTS, TILE_BYTES = 64, 1 << 24
#: What a cell of an alignment takes while a model is made of it, as text and as codes, copies included.
LETTER_BYTES = 8


@dataclass(frozen=True)
class AlignmentText:
    """An alignment in Stockholm's format.

    Attributes
    ----------
    text
    number
        Counted from 1.
    line
        How many lines of its file stand before; None where the file is not Stockholm.
    names
        What its rows are called, where the text numbers them.
    is_alone
        Whether its file holds no other alignment.
    """

    text: bytes
    number: int
    line: int | None
    names: tuple[str, ...] = ()
    is_alone: bool = True


class BuildTask:
    """All alignments of a file.

    Parameters
    ----------
    source
        A file's name ("-" is standard input) or an open file; compression is judged by content.
    options
        How models are made.
    alphabet
        A word of `ALPHABETS`.
    name
        The model's, where there is one alignment; None: the alignment's, or that of the file.

    Raises
    ------
    UsageError
        An alphabet that does not exist; a name that no model can have; options of which nothing would come.
    """

    def __init__(self, source: Source, options: BuildOptions, alphabet: str = "auto", name: str | None = None) -> None:
        if alphabet not in ALPHABETS:
            raise UsageError(f"{named('alphabet')} {shown(repr(alphabet))} is none of {', '.join(ALPHABETS)}")
        is_word = isinstance(name, str) and name.split() == [name] and name.isprintable()
        if name is not None and not is_word:
            raise UsageError(
                f"{named('name')} {shown(repr(name)[:80])}: the name of a model is a word without blanks: give another"
            )
        options.check_company()
        self._source, self._options, self._name = source, options, name
        self._kind, self._is_judged = ALPHABETS[alphabet], ALPHABETS[alphabet] is None
        self._file = file_name(source)
        has_name = not is_stream(source) and source != "-"
        stem, self._suffix = stem_and_suffix(source)
        self._stem = "_".join(stem.split()) if has_name else None

    @property
    def is_of_proteins(self) -> bool:
        """Whether the alignments are of proteins, as far as they were read."""
        return self._kind == "amino"

    def tiles(self) -> Iterator[Tile]:
        """Neighbouring alignments, as many as make a tile."""
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
        """The alignments one by one, as they are read."""
        with opened(self._source) as stream:
            begin = stream.peek(FIRST_BYTES).lstrip()
            if not begin:
                raise InputError("the file is empty", file=self._file)
            if not begin.startswith(STOCKHOLM):
                text, names = stockholm_in(stream, begin, self._file, self._suffix)
                one = AlignmentText(text, 1, None, names)
                self._judge(one)
                yield one
                return
            records = records_in(stream)
            first = [*islice(records, 2)]
            is_empty = True
            for number, (line, text) in enumerate(chain(first, records), 1):
                check_stockholm(enumerate(text.removesuffix(b"\n").split(b"\n"), line + 1), self._file)
                one = AlignmentText(text, number, line, is_alone=len(first) < 2)
                if number == 1:
                    self._judge(one)
                elif self._name is not None:
                    sentence = "there are several alignments, and each has its own name (#=GF ID)"
                    raise InputError(f"{sentence}: leave {named('name')} out", file=self._file)
                yield one
                is_empty = False
            if is_empty:
                raise InputError("the file holds no alignment", file=self._file)

    def _judge(self, one: AlignmentText) -> None:
        """Finds out what all alignments hold, by the first one, and refuses a matrix that is none for that."""
        hmmer_tools()
        self._kind = self._kind or self._guessed(one)
        if self._options.matrix is not None and self._kind != "amino":
            kind = self._kind.upper()
            raise InputError(
                f"this is an alignment of {kind}, and {named('matrix')} {self._options.matrix} is for proteins: leave "
                "it out",
                file=self._file,
            )

    def _guessed(self, one: AlignmentText) -> str:
        """What Easel says that an alignment holds."""
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
                "its letters do not tell whether these are proteins or nucleotides: say it by "
                f"{named('alphabet')} protein, dna or rna",
                file=self._file,
            )
        kind: str = found.type.lower()
        return kind

    def _unreadable(self, one: AlignmentText, error: Exception) -> InputError:
        where = "" if one.line is None else f"alignment {one.number} "
        kind = "" if self._kind is None else f" as one of {'protein' if self._kind == 'amino' else self._kind}"
        return InputError(f"{where}cannot be read{kind} ({words_of(error)}): mend it", file=self._file)

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> list[bytes]:
        """The models' texts."""
        alignments: list[AlignmentText] = tile.payload
        if n_threads == 1 or len(alignments) == 1:
            return [self.model_text(one, progress) for one in alignments]
        with ThreadPoolExecutor(n_threads) as threads:
            return list(threads.map(lambda one: self.model_text(one, None), alignments))

    def model_text(self, one: AlignmentText, progress: Progress | None = None) -> bytes:
        """The model of an alignment, as HMMER's text.

        Raises
        ------
        InputError
            An alignment that cannot be read, has no name, or that no model can be made of.
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
            raise InputError(f"alignment {one.number} holds no row: mend it", file=self._file)
        if self._is_judged and one.number > 1:
            refuse_mixed(alignment.textize(), self._file, one.names)
        names = one.names or alignment.names
        own = names[0] if self._options.single and len(names) == 1 else alignment.name
        alignment.name = self._name_of(own, one)
        if not any(np.asarray(row.sequence).size for row in alignment.sequences):
            raise InputError("the alignment holds no residue: give another one", file=self._file)
        return text_of_hmm(built(alignment, self._file, self._options), is_built=True)

    def _name_of(self, own: str | None, one: AlignmentText) -> str:
        if self._name is not None:
            return self._name
        if own:
            return own
        if not one.is_alone:
            raise InputError(
                f"alignment {one.number} has no name, which each of several needs: give it a line #=GF ID NAME",
                file=self._file,
            )
        if self._stem is None:
            raise InputError(f"an alignment that comes from no file has no name: give one by {named('name')}")
        return self._stem
