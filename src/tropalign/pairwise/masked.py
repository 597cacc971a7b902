"""Masked queries and targets, for the selection of pairs only or throughout."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tropalign.errors import UsageError, named
from tropalign.sequences import SequenceBatch
from tropalign.sequences.stored_batch import StoredBatch
from tropalign.sequences.translation import Frames

if TYPE_CHECKING:
    from tropalign.pairwise.options import PairOptions

#: Queries or targets, or their frames.
Side = SequenceBatch | Frames


def hard_masked(queries: Side, targets: Side | None, options: PairOptions, n_threads: int) -> tuple[Side, Side | None]:
    """Return the sequences to align, with masked residues replaced if the options require it throughout.

    Raises the same errors as `tropalign.mask`.
    """
    if options.mask == "lower" and (isinstance(queries, Frames) or isinstance(targets, Frames)):
        raise UsageError(
            f"{named('mask')} lower goes by letters of files, and frames have none: leave it out with "
            f"{named('translate')}, or choose seg or tantan"
        )
    if not options.mask_hard:
        return queries, targets
    return _masked(queries, options, n_threads), None if targets is None else _masked(targets, options, n_threads)


def _masked(side: Side, options: PairOptions, n_threads: int) -> Side:
    if isinstance(side, Frames):
        return replace(side, proteins=_batch(side.proteins, options, n_threads))
    return _batch(side, options, n_threads)


def _batch(batch: SequenceBatch, options: PairOptions, n_threads: int) -> SequenceBatch:
    from tropalign.masks.masking import masked

    assert options.mask != "none"
    mask = partial(masked, method=options.mask, n_threads=n_threads)
    return batch.changed(mask) if isinstance(batch, StoredBatch) else mask(batch)


def decisive(
    queries: SequenceBatch,
    reverse: SequenceBatch | None,
    targets: SequenceBatch,
    options: PairOptions,
    n_threads: int,
) -> tuple[SequenceBatch, SequenceBatch | None, SequenceBatch]:
    """Return the sequences by which pairs are selected and judged: masked if masks are soft; one set stays one object.

    The reverse strand has the mask of the query's plus strand.
    """
    if not options.is_softly_masked:
        return queries, reverse, targets
    own = _batch(queries, options, n_threads)
    other = own if targets is queries else _batch(targets, options, n_threads)
    return own, None if reverse is None else own.reverse_complement(), other
