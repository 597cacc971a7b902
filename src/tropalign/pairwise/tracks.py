"""Second tracks: a string per sequence, such as 3Di structure letters, that is aligned with the residues."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, ScoringError, UsageError, counted, named, shown
from tropalign.options.option import Options, again, argument
from tropalign.pairwise.options import MOST_WEIGHT, TrackOptions
from tropalign.scoring import MatrixLike, SubstitutionMatrix
from tropalign.scoring.matrix import canonical, read_ncbi, shipped
from tropalign.scoring.scores import is_match_mismatch, letters_and_scores
from tropalign.sequences import SequenceBatch
from tropalign.sequences.alphabet import Alphabet
from tropalign.sequences.files import file_name
from tropalign.sequences.inputs import files_in, named_texts
from tropalign.sequences.reader import read_sequences


class TrackArguments(Options):
    """Arguments of a second track."""

    track: Any = argument(
        default=None,
        kw_only=True,
        doc="A second string per sequence, such as 3Di structure letters, whose scores are added: for one set of "
        "sequences a set of strings, and for queries and targets a tuple of two sets, in any form that sequences have. "
        "Strings belong to the sequences of their names, or without names to those at the same positions. Needs "
        "`track_matrix`.",
    )
    track_matrix: MatrixLike | None = argument(
        default=None,
        kw_only=True,
        doc="The matrix of the track, in any form of `matrix` with letters, up to 31. Upper and lower case are the "
        "same letter.",
    )
    track_weight: float = again(TrackOptions, "track_weight")


def track_matrix(source: MatrixLike) -> SubstitutionMatrix:
    """Return the matrix of a track, whose alphabet has exactly the letters of the matrix."""
    name = "track"
    if isinstance(source, SubstitutionMatrix):
        name, letters = source.name, source.letters
        codes = [source.alphabet.codes_by_letter[letter] for letter in letters]
        values: NDArray[Any] = source.scores[np.ix_(codes, codes)]
    elif isinstance(source, str | os.PathLike):
        known = canonical(source) if isinstance(source, str) else None
        letters, values = read_ncbi(source) if known is None else shipped(known)
        name = known or shown(os.path.basename(os.fspath(source)))
    elif is_match_mismatch(source):
        raise ScoringError("match and mismatch have no letters, but a track needs a matrix of its letters: give one")
    else:
        letters, values = letters_and_scores(source)
    try:
        alphabet = Alphabet(name, letters)
    except ValueError as error:
        raise ScoringError(f"the matrix {name} cannot score a track: {error}") from None
    made = SubstitutionMatrix.of((letters, np.asarray(values, float)), alphabet)
    return SubstitutionMatrix(name, alphabet, made.scores, letters)


def with_tracks(
    batches: tuple[SequenceBatch, SequenceBatch | None],
    track: Any,
    matrix: MatrixLike | None,
    weight: float,
    **reading: Any,
) -> tuple[tuple[SequenceBatch, SequenceBatch | None], SubstitutionMatrix | None]:
    """Return the sequences with their tracks, and the matrix of these; the matrix is None if nothing is to be added.

    `track` is a set for one batch, and two sets for two; `reading` as in `with_track`.
    """
    if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= weight <= MOST_WEIGHT:
        raise UsageError(f"{named('track_weight')} {weight!r} is not a number from 0 to {MOST_WEIGHT}")
    if track is None and matrix is None:
        if weight != 1:
            raise UsageError(f"{named('track_weight')} applies to a second track: add {named('track')}")
        return batches, None
    if track is None or matrix is None:
        given, missing = ("track", "track_matrix") if matrix is None else ("track_matrix", "track")
        raise UsageError(f"{named(given)} needs {named(missing)}: add it")
    scores = track_matrix(matrix)
    queries, targets = batches
    if targets is None:
        sides: list[Any] = [track]
    elif isinstance(track, tuple | list) and len(track) == 2:
        sides = list(track)
    else:
        raise UsageError(f"{named('track')} must be two sets, of the queries and of the targets")
    given_sides = zip((queries, targets), sides, strict=False)
    made = [with_track(batch, side, scores, **reading) for batch, side in given_sides if batch]
    if weight == 0:
        return batches, None
    return (made[0], None if targets is None else made[1]), scores


def with_track(batch: SequenceBatch, track: Any, matrix: SubstitutionMatrix, **reading: Any) -> SequenceBatch:
    """Attach a track: a string for each sequence, of the same name or, without names, at the same position.

    `reading` are options of `read_sequences` for a track in files. Raises InputError if a sequence has no string, or a
    string no sequence, or their lengths differ.
    """
    file = None
    if files := files_in(track):
        strings = read_sequences(files, alphabet=matrix.alphabet, duplicate_names="keep", **reading)
        file = ", ".join(map(file_name, files))
        places = _places(batch, strings.names, file)
    elif not isinstance(track, Iterable):
        raise UsageError(f"{named('track')} {shown(repr(track)[:60])} is not a set of strings: give one per sequence")
    else:
        found = list(named_texts(track))
        own = [name for name, _ in found if name is not None]
        if own and len(own) < len(found):
            raise InputError(f"some strings of {named('track')} have names and others do not: name all or none")
        if not own and len(found) != len(batch):
            what = counted(len(found), "strings")
            raise InputError(f"{named('track')} has {what} for {counted(len(batch), 'sequences')}: give one for each")
        names = own or [f"number {k}" for k in range(1, len(found) + 1)]
        strings = SequenceBatch.from_strings([text for _, text in found], names, matrix.alphabet)
        places = _places(batch, own) if own else np.arange(len(batch))
    strings = strings[places]
    if len(wrong := np.flatnonzero(strings.lengths != batch.lengths)):
        k = int(wrong[0])
        raise InputError(
            f"the second track has {counted(int(strings.lengths[k]), 'letters')}, but the sequence has "
            f"{counted(int(batch.lengths[k]), 'residues')}: give one letter per residue",
            file=file,
            record=batch.names[k],
        )
    return replace(batch, track=strings.codes)


def _places(batch: SequenceBatch, names: Iterable[str], file: str | None = None) -> NDArray[np.int64]:
    """Return the index of the string that has the name of each sequence; int64, shape (n,)."""
    place: dict[str, int] = {}
    for k, name in enumerate(names):
        if place.setdefault(name, k) != k:
            raise InputError("two strings of the second track have this name: rename one", file=file, record=name)
    seen = set[str]()
    for name in batch.names:
        if name in seen:
            raise InputError(
                "two sequences have this name, so that their second tracks cannot be told apart: rename one",
                record=name,
            )
        seen.add(name)
        if name not in place:
            raise InputError(
                "this sequence has no string in the second track: add one of this name", file=file, record=name
            )
    for name in place:
        if name not in seen:
            raise InputError(
                "this string of the second track belongs to no sequence: remove it", file=file, record=name
            )
    return np.array([place[name] for name in batch.names], np.int64)
