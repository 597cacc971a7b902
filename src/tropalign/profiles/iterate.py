"""Searches repeated with their own hits, like jackhmmer (Johnson, Eddy and Portugaly, BMC Bioinformatics 11, 2010).

A round searches with a model; the included domains, aligned to its nodes, give the model of the next round, with
the same number of nodes. The rounds end when one includes no target that the previous one did not, and no more
domains than its model was built from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tropalign import _native
from tropalign.errors import UsageError
from tropalign.execution.manifest import Shard
from tropalign.execution.task import CostList, Progress, Tile, cuts, share
from tropalign.profiles.building import model_of_rows
from tropalign.profiles.models import Model
from tropalign.profiles.options import SearchOptions
from tropalign.profiles.proteins import Proteins
from tropalign.profiles.sources import Models, ModelSource, TargetSource
from tropalign.profiles.task import MOST_RESIDUES, RESIDUE_BYTES, SEQUENCES_SHARE, found_hits
from tropalign.results.found_hits import FoundHits, in_all_targets
from tropalign.results.hits import HitAlignment, Hits, align_hits, judged
from tropalign.results.threshold_options import Thresholds

#: Inclusion thresholds of rounds: stricter than in one search, since errors grow.
ITERATED = Thresholds(incE=0.001, incdomE=0.001)


def checked_rounds(n_rounds: int) -> int:
    """Return the number of rounds; raises UsageError for an invalid one."""
    if isinstance(n_rounds, bool) or not isinstance(n_rounds, int | np.integer) or n_rounds < 1:
        raise UsageError(f"n_rounds must be an integer of at least 1, not {n_rounds!r}")
    return int(n_rounds)


@dataclass(frozen=True, eq=False)
class Round:
    """One round of a query.

    `number`: from 1. `model`: the search model, with the query's name. `found`: hits before thresholds. `hits`:
    reported hits. `alignment`: included domains, below the query if it was a sequence; None if there are no rows.
    `n_new`: included targets whose names the previous round did not include. `is_last`: another round would find
    the same.
    """

    number: int
    model: Model
    found: FoundHits
    hits: Hits
    alignment: HitAlignment | None
    n_new: int
    is_last: bool


class Iterated(NamedTuple):
    """Result of a query's rounds: the last round's hits, and the texts of all rounds' models."""

    found: FoundHits
    rounds: tuple[bytes, ...]

    @property
    def last(self) -> tuple[bytes, ...]:
        """Text of the last round's model."""
        return self.rounds[-1:]


def rounds_of(
    query: Model,
    n_rounds: int,
    search: Callable[[Model], FoundHits],
    thresholds: Thresholds,
    keeps_text: bool = False,
) -> Iterator[Round]:
    """Yield the rounds of a query, at most `n_rounds`.

    `search` returns the hits of a model in all targets, with their alignments. `thresholds` decides which hits are
    reported, and which start the next round. `keeps_text` allows writing the models of rounds.
    """
    sequence = query.consensus.upper() if query.is_sequence else ""
    model, n_rows, known = query, 1 if sequence else 0, set[str]()
    for number in range(1, n_rounds + 1):
        found = search(model)
        found = replace(found, queries=(replace(found.queries[0], sequence=sequence, is_sequence=True),))
        hits = judged(found, thresholds)
        included = {hits.names[k] for k in np.flatnonzero(hits.is_included).tolist()}
        # Targets with equal names count separately, as in HMMER's list.
        n_new = sum(hits.names[k] not in known for k in np.flatnonzero(hits.is_included).tolist())
        alignment = align_hits(hits)
        n_now = 0 if alignment is None else len(alignment.names)
        is_last = not n_new and n_now <= n_rows
        yield Round(number, model, found, hits, alignment, n_new, is_last)
        if is_last or alignment is None or number == n_rounds:
            return
        known, n_rows = included, n_now
        model = model_of_rows(
            alignment.letters,
            alignment.is_node,
            f"{query.name}-i{number}",
            accession=query.accession,
            description=query.description,
            keeps_text=keeps_text,
        )
        model = replace(model, name=query.name)


class IterateTask:
    """Queries against sequences in rounds: a tile is a query with all its rounds, and its result the last round's hits.

    `keeps_models`: results include the models of all rounds (`Iterated`). Other parameters as in `SearchTask`.
    """

    orientation = "search"

    def __init__(
        self,
        models: ModelSource,
        sequences: TargetSource,
        options: SearchOptions,
        thresholds: Thresholds,
        *,
        n_rounds: int,
        memory_bytes: int,
        shard: Shard | None = None,
        keeps_models: bool = False,
    ) -> None:
        if thresholds.is_by_model:
            raise UsageError("models of later rounds have no cutoffs of their own: choose other thresholds")
        self.options, self.thresholds, self.n_rounds = options, thresholds, n_rounds
        self.keeps_models = keeps_models
        self._models, self._sequences = models, sequences
        lengths = CostList(sequences.lengths.astype(np.float64) + 1)
        most_residues = max(min(MOST_RESIDUES, int(SEQUENCES_SHARE * memory_bytes / RESIDUE_BYTES)), 1)
        bounds = cuts(lengths, 0, lengths.n, max(lengths.n, 1), most_residues)
        self._blocks = list(pairwise(bounds))
        self._n_residues = int(sequences.lengths.sum())
        self._begin, self._end = share(CostList(models.lengths.astype(np.float64)), shard)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_models"}  # only tiles need it

    def _tile(self, index: int, models: Models | None) -> Tile:
        query = self._begin + index
        cost = int(self._models.lengths[query]) * self._n_residues * self.n_rounds
        return Tile(index, cost, 0, len(self._sequences) * self.n_rounds, models)

    def outline(self) -> list[Tile]:
        """Return the tiles without their payloads."""
        return [self._tile(index, None) for index in range(self._end - self._begin)]

    def tiles(self) -> Iterator[Tile]:
        """Yield a tile per query, in their order."""
        bounds = [(k, k + 1) for k in range(self._begin, self._end)]
        for index, models in enumerate(self._models.parts(bounds)):
            yield self._tile(index, models)

    def on_cpu(self, tile: Tile, n_threads: int, progress: Progress | None = None) -> FoundHits | Iterated:
        """Return the hits of the query's last round, with models if they are kept."""
        texts: list[bytes] = []
        for one in self.rounds(tile.payload, n_threads, progress):
            last = one
            if self.keeps_models:
                texts.append(one.model.known_text)
        return Iterated(last.found, tuple(texts)) if self.keeps_models else last.found

    def rounds(self, query: Models, n_threads: int, progress: Progress | None = None) -> Iterator[Round]:
        """Yield the rounds of a single query."""
        searched = 0  # sequences, over all rounds

        def found_in(model: Model, sequences: Proteins) -> FoundHits:
            def told(n: int) -> None:
                if progress is not None:
                    progress(searched + n)

            raw = _native.search_block([model.native], sequences.native, self.options.numbers(), n_threads, told)
            return found_hits(raw, Models((model,), query.first), sequences, "search", self.thresholds)

        def search(model: Model) -> FoundHits:
            nonlocal searched
            pieces = []
            for sequences in self._sequences.parts(self._blocks):
                pieces.append(found_in(model, sequences))
                searched += len(sequences)
            return in_all_targets(pieces)

        yield from rounds_of(query.items[0], self.n_rounds, search, self.thresholds, self.keeps_models)
