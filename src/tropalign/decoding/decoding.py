"""Segmentation of sequences by the labels of a hidden Markov model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.arrays import distinct
from tropalign.decoding.model import HMM
from tropalign.decoding.model_base import logs_of
from tropalign.decoding.observations import STRANGE, letter_codes, letters_of_sequences
from tropalign.decoding.options import DecodeOptions
from tropalign.errors import InputError, UsageError, named, shown
from tropalign.execution.task import checked_progress
from tropalign.options.called import called_with
from tropalign.options.option import argument
from tropalign.resources.limits import PROCESS_BYTES, checked_memory, require, resolve_threads
from tropalign.results.segments import Segments
from tropalign.sequences.batch import Sequences

#: Minimum number of successive missing letters that cut a sequence. GenBank uses ten N for a gap of an assembly,
#: and fewer for letters that were not read well.
LEAST_RUN = 10
#: Letters that are processed at once.
CHUNK = 1 << 18


# A missing letter has emission 1 in every state. A few of them are decoded with the letters around them. Along a run,
# the best path would follow the most probable steps regardless of their meaning: a gap of an assembly would become a
# segment.
@dataclass(frozen=True, eq=False)
class Pieces:
    """Sequences without their long runs of missing letters.

    `codes`: uint8, shape (n_kept,), of all pieces, one after another. `offsets`: int64, shape (n_pieces + 1,);
    pieces are not empty. `sequence`, `begin`: int64, shape (n_pieces,), index of the piece's sequence, and its
    start in that. `n_unlabelled`: int64, shape (n_sequences,), letters of each sequence that are in no piece.
    """

    codes: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    sequence: NDArray[np.int64]
    begin: NDArray[np.int64]
    n_unlabelled: NDArray[np.int64]

    def per_sequence(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over the pieces of each sequence, in their order; 0 for sequences without pieces."""
        return np.bincount(self.sequence, values, minlength=len(self.n_unlabelled)).astype(np.float64, copy=False)

    def kept_before(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Convert positions in the only sequence to indices in the codes of the pieces."""
        piece = np.searchsorted(self.begin, positions, side="right") - 1
        if not len(self.begin):
            return np.zeros(len(positions), np.int64)
        lengths = np.diff(self.offsets)[piece]
        within = np.minimum(positions - self.begin[piece], lengths)
        return np.where(piece < 0, 0, self.offsets[piece] + within)


def pieces_of(
    codes: NDArray[np.uint8],
    missing: int,
    offsets: NDArray[np.int64],
    require: Callable[[int], object] = lambda n_runs: None,
) -> Pieces:
    """Cut sequences into pieces, which are moved together within `codes` if something is left out.

    `missing`: code of a missing letter. `require` receives the number of runs left out, and raises if they do not
    fit.
    """
    is_missing = np.zeros(256, bool)
    is_missing[missing] = True
    runs = long_runs(codes, is_missing, offsets)
    require(len(runs))
    begins = np.sort(np.concatenate([offsets[:-1], runs[:, 1]]))
    ends = np.sort(np.concatenate([runs[:, 0], offsets[1:]]))
    has_letters = begins < ends
    begins, ends = begins[has_letters], ends[has_letters]
    sequence = np.searchsorted(offsets, begins, side="right") - 1
    kept = np.zeros(len(begins) + 1, np.int64)
    np.cumsum(ends - begins, out=kept[1:])
    of_runs = np.searchsorted(offsets, runs[:, 0], side="right") - 1
    n_unlabelled = np.zeros(len(offsets) - 1, np.int64)
    np.add.at(n_unlabelled, of_runs, runs[:, 1] - runs[:, 0])
    return Pieces(_without(codes, runs)[: kept[-1]], kept, sequence, begins - offsets[sequence], n_unlabelled)


def long_runs(
    values: NDArray[np.uint8], is_missing: NDArray[np.bool_], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return start and end of each run that cuts a sequence, int64, shape (n_runs, 2), each within one sequence.

    `values`: uint8, letters or codes of all sequences. `is_missing`: bool, shape (256,), values of missing
    letters.
    """
    runs = np.concatenate([np.zeros((0, 2), np.int64), *_long_runs(values, is_missing)])
    inner = distinct(offsets)
    run = np.searchsorted(runs[:, 0], inner, side="right") - 1
    inner = inner[(run >= 0) & (inner < runs[run, 1]) & (inner > runs[run, 0])] if len(runs) else inner[:0]
    begins, ends = np.sort(np.concatenate([runs[:, 0], inner])), np.sort(np.concatenate([runs[:, 1], inner]))
    is_long = ends - begins >= LEAST_RUN
    return np.stack([begins[is_long], ends[is_long]], axis=1)


def _long_runs(values: NDArray[np.uint8], is_missing: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """Yield long runs in all values as one sequence, in chunks: a chromosome's mask would be as large as itself."""
    begun: int | None = None  # start of a run that has not ended yet
    for first in range(0, len(values), CHUNK):
        mask = is_missing[values[first : first + CHUNK]]
        if begun is None and not mask.any():
            continue
        changes = np.flatnonzero(mask[1:] != mask[:-1]) + (first + 1)
        if mask[0] != (begun is not None):
            changes = np.concatenate([[first], changes])
        if begun is not None:
            changes = np.concatenate([[begun], changes])
        begun = None
        if mask[-1]:
            begun, changes = int(changes[-1]), changes[:-1]
        runs = changes.reshape(-1, 2)
        yield runs[runs[:, 1] - runs[:, 0] >= LEAST_RUN]
    if begun is not None and len(values) - begun >= LEAST_RUN:
        yield np.array([[begun, len(values)]])


def _without(codes: NDArray[np.uint8], runs: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Move the kept codes together over the runs, within their own array; the rest of the array is undefined."""
    if not len(runs):
        return codes
    at = first = int(runs[0, 0])
    for begin in range(first, len(codes), CHUNK):
        end = min(begin + CHUNK, len(codes))
        few = runs[np.searchsorted(runs[:, 1], begin, side="right") : np.searchsorted(runs[:, 0], end)]
        steps = np.zeros(end - begin + 1, np.int8)  # +1 at the start of a run, -1 at its end
        steps[np.maximum(few[:, 0], begin) - begin] += 1
        steps[np.minimum(few[:, 1], end) - begin] -= 1
        kept = codes[begin:end][np.cumsum(steps[:-1], dtype=np.int8) == 0]
        codes[at : at + len(kept)] = kept
        at += len(kept)
    return codes


#: Maximum number of labels, so that label numbers are bytes.
MOST_LABELS = 255
#: Maximum bytes per position that letters, codes and paths take at once; paths of many states take two.
POSITION_BYTES = 4
#: Maximum bytes per run of positions with one label, while segments are made.
RUN_BYTES = 128


class Decoder:
    """Segmentation of sequences by one model.

    `allowed_bytes`: limit of the whole process; unlimited by default. `labels`: all labels of the model.
    `shown_label`: number of the first label that is kept. Raises InputError for a model that does not observe
    letters, or lacks a label.
    """

    def __init__(
        self, model: HMM, options: DecodeOptions, n_threads: int = 0, *, allowed_bytes: int | None = None
    ) -> None:
        if model.symbols is None or model.emission is None:
            raise InputError("the symbols of the model are not letters, so it cannot read sequences: give it symbols")
        self.model, self.options, self._n_threads = model, options, resolve_threads(n_threads)
        self._allowed_bytes = allowed_bytes
        self.labels = model.all_labels
        if len(self.labels) > MOST_LABELS:
            raise InputError(
                f"the model has {len(self.labels)} labels, more than {MOST_LABELS}: give several states the same label"
            )
        wanted = [options.labels] if isinstance(options.labels, str) else (options.labels or model.report)
        for label in wanted:
            if label not in self.labels:
                raise InputError(f"no state has the label {shown(str(label))!r}: choose from {', '.join(self.labels)}")
        self._wanted = np.array([label in wanted for label in self.labels])
        self.shown_label = int(np.argmax(self._wanted))
        numbers = {label: number for number, label in enumerate(self.labels)}
        self._letter_codes = letter_codes(model.symbols, model.missing)
        missing = np.ones((model.n_states, 1))
        self._numbers = (model.start, model.transition, np.hstack([model.emission, missing]))
        self._state_labels = np.array([numbers[label] for label in model.labels], np.uint8)

    def decode(
        self,
        names: tuple[str, ...],
        letters: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        *,
        file: str | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> Segments:
        """Return the segments of some sequences that the options keep.

        `letters`: uint8, of all sequences; sequence k is ``letters[offsets[k]:offsets[k + 1]]``. `progress`
        receives the number of sequences done, 0 during the search for labels. Raises InputError for letters that
        the model lacks and sequences that it cannot generate, ResourceError for too many segments.
        """
        pieces = self.pieces(self.codes(names, letters, offsets, file), offsets)
        begun = None if progress is None else lambda _done: progress(0)
        starts, ends, numbers, likelihoods = self._runs(pieces, len(letters), begun)
        kept = self._wanted[numbers] & (ends - starts >= self.options.min_length)
        starts, ends, numbers = starts[kept], ends[kept], numbers[kept]
        ratio = len(names) / max(len(pieces.sequence), 1)  # sequences per piece
        done = None if progress is None else lambda n_pieces: progress(int(n_pieces * ratio))
        sums, again = self._support(pieces, starts, ends, numbers, done)
        likelihoods = again if likelihoods is None else likelihoods
        if np.isneginf(likelihoods).any():
            number = int(np.argmax(np.isneginf(likelihoods)))
            of_piece, begin = int(pieces.sequence[number]), int(pieces.begin[number])
            text = "the model cannot generate this sequence, since no path has a probability above 0"
            if (pieces.sequence == of_piece).sum() > 1:
                end = begin + int(np.diff(pieces.offsets)[number])
                cut_by = f"runs of at least {LEAST_RUN} missing letters"
                text += f" for its letters {begin + 1:,} to {end:,}, between {cut_by}"
            raise InputError(text, file=file, record=names[of_piece])
        piece = np.searchsorted(pieces.offsets, starts, side="right") - 1
        sequence, shift = pieces.sequence[piece], pieces.begin[piece] - pieces.offsets[piece]
        support = sums / (ends - starts)
        found = Segments(
            names,
            np.diff(offsets),
            pieces.per_sequence(likelihoods),
            pieces.n_unlabelled,
            self.labels,
            sequence,
            starts + shift,
            ends + shift,
            numbers,
            support,
        )
        return found.where(support >= self.options.min_support)

    def codes(
        self, names: tuple[str, ...], letters: NDArray[np.uint8], offsets: NDArray[np.int64], file: str | None
    ) -> NDArray[np.uint8]:
        """Return the codes of letters; raises InputError for a letter that the model lacks."""
        codes = self._letter_codes[letters]
        if codes.size and codes.max() == STRANGE:
            at = int(np.argmax(codes == STRANGE))
            number = int(np.searchsorted(offsets, at, side="right")) - 1
            letter = repr(shown(chr(letters[at]))) if letters[at] < 128 else "a non-ASCII letter"
            raise InputError(
                f"{letter} at position {at - int(offsets[number]) + 1} is not a symbol of the model "
                f"({''.join(self.model.symbols or ())}) nor one of its missing letters: correct it, or add it to "
                f"the missing letters",
                file=file,
                record=names[number],
            )
        return codes

    def pieces(self, codes: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Pieces:
        """Return the sequences without long runs of missing letters; the codes are moved within their array."""
        return pieces_of(codes, len(self.model.symbols or ()), offsets, lambda n: self._require_runs(n, len(codes)))

    def long_runs(self, letters: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return start and end of each run of missing letters that cuts a sequence, shape (n_runs, 2)."""
        return long_runs(letters, self._letter_codes == len(self.model.symbols or ()), offsets)

    def curve(self, codes: NDArray[np.uint8], bounds: NDArray[np.int64], label: int) -> NDArray[np.float64]:
        """Return the mean posterior of a label of one sequence between ascending bounds; NaN in a gap."""
        pieces = self.pieces(codes, np.array([0, len(codes)]))
        kept = pieces.kept_before(bounds)
        edges = distinct(np.concatenate([kept, pieces.offsets]))
        labels = np.full(len(edges) - 1, label, np.uint8)
        sums, _ = self._support(pieces, edges[:-1], edges[1:], labels, None)
        of_edges = np.searchsorted(kept, edges[:-1], side="right") - 1
        widths = np.diff(kept)
        totals = np.bincount(of_edges, sums, minlength=len(widths))
        return np.where(widths > 0, totals / np.maximum(widths, 1), np.nan)

    def _support(
        self,
        pieces: Pieces,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        labels: NDArray[np.uint8],
        progress: Callable[[int], object] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the sum of a label's posteriors in each segment, and the log-likelihood of each piece."""
        sums, likelihoods = _native.hmm_support(
            *self._numbers,
            pieces.codes,
            pieces.offsets,
            self._state_labels,
            starts,
            ends,
            labels,
            self._n_threads,
            progress,
        )
        return sums, likelihoods

    def _runs(
        self, pieces: Pieces, n_letters: int, progress: Callable[[int], object] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8], NDArray[np.float64] | None]:
        """Return start, end and label of all runs of one label, and log-likelihoods if they cost no extra work."""
        codes, offsets = pieces.codes, pieces.offsets

        def require(n_runs: int) -> None:
            self._require_runs(n_runs + len(offsets), n_letters)

        if self.options.by == "posterior":
            best, likelihoods = _native.hmm_labels(
                *self._numbers, codes, offsets, self._state_labels, self._n_threads, progress
            )
            return *_runs(best, None, offsets, require), likelihoods
        start, transition, emission = (logs_of(numbers) for numbers in self._numbers)
        paths, _ = _native.viterbi_codes(start, transition, emission, codes, offsets, self._n_threads, progress)
        return *_runs(paths, self._state_labels, offsets, require), None

    def _require_runs(self, n_runs: int, n_positions: int) -> None:
        """Raise ResourceError if this many runs and positions do not fit."""
        if self._allowed_bytes is not None:
            needed = PROCESS_BYTES + POSITION_BYTES * n_positions + RUN_BYTES * n_runs
            what = f"a label that changes at least {n_runs:,} times within {n_positions:,} letters"
            require(
                needed, self._allowed_bytes, what, f"allow more with {named('memory_bytes')}, or divide the sequence"
            )


def _runs(
    found: NDArray[Any],
    labels: NDArray[np.uint8] | None,
    offsets: NDArray[np.int64],
    require_runs: Callable[[int], None],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """Return start, end and label of the runs of one label, each within one piece.

    `found` has a label per position, or the state, whose label is in `labels`. It is processed in chunks, so that
    only the runs themselves can be as long as the sequences.
    """
    changes, n_changes = [np.zeros(0, np.int64)], 0
    for begin in range(0, len(found) - 1, CHUNK):
        chunk = found[begin : begin + CHUNK + 1]
        chunk = chunk if labels is None else labels[chunk]
        changes.append(np.flatnonzero(chunk[1:] != chunk[:-1]) + (begin + 1))
        n_changes += len(changes[-1])
        require_runs(n_changes)
    bounds = distinct(np.concatenate([*changes, offsets]))
    starts, ends = bounds[:-1], bounds[1:]
    at_starts = found[starts]
    return starts, ends, at_starts if labels is None else labels[at_starts]


class DecodeArguments(DecodeOptions):
    """Arguments of `decode`."""

    model: HMM | str = argument(kw_only=False, doc='A model, its name ("cpg"), or the name of its file.')
    sequences: Sequences = argument(
        kw_only=False,
        doc="An iterable of strings, sequence objects of Biopython or tropalign, or pairs of name and text; a "
        "mapping; or a file.",
    )
    n_threads: int = argument(default=0, kw_only=True, doc="Number of threads; 0 for all available ones.")
    memory_bytes: int | None = argument(
        default=None, kw_only=True, doc="Memory limit of the whole process in bytes (default: unlimited)."
    )
    progress: Callable[[int], object] | None = argument(
        default=None,
        kw_only=True,
        doc="Called repeatedly with the number of finished sequences, 0 while labels are computed. An exception "
        "that it raises stops the work and is passed on.",
    )


@called_with(DecodeArguments)
def decode(call: DecodeArguments) -> Segments:
    """Cut sequences into segments of one label, such as CpG islands.

    Runs of ten or more missing letters have no label: the parts between them are decoded as separate sequences.

    Returns
    -------
    Segments

    Raises
    ------
    InputError
        A model that does not observe letters or lacks a label; a letter that the model lacks; a sequence that it
        cannot generate.
    UsageError
        An option out of its range.
    ResourceError
        More segments than `memory_bytes` holds.

    Examples
    --------
    >>> islands = tropalign.decode("cpg", {"chr": "ATTGCAATCATG" * 20 + "CGCGGCGCCGACG" * 20 + "ATTGCAATCATG" * 20})
    >>> [(found.sequence, found.label, found.start, found.end) for found in islands]
    [('chr', 'island', 239, 500)]
    """
    model = HMM.load(call.model) if isinstance(call.model, str) else call.model
    if not isinstance(model, HMM):
        raise UsageError(f"an object of type {type(model).__name__} is not an HMM: give one, or the name of a model")
    options, allowed = DecodeOptions(**call.shared_with(DecodeOptions)), checked_memory(call.memory_bytes)
    decoder, progress = Decoder(model, options, call.n_threads, allowed_bytes=allowed), checked_progress(call.progress)
    names, letters, offsets = letters_of_sequences(call.sequences)
    return decoder.decode(names, letters, offsets, progress=progress)
