"""Python API of searches."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tropalign.devices.names import ComputeArguments, device_names
from tropalign.devices.registry import open_devices
from tropalign.errors import InputError, TropalignWarning, UsageError, shown
from tropalign.execution.manifest import Shard
from tropalign.execution.scheduler import Scheduler
from tropalign.options.called import called_with
from tropalign.options.option import argument
from tropalign.profiles.iterate import ITERATED, IterateTask, checked_rounds
from tropalign.profiles.model_files import OLD_TEXT, TEXT, of_foreign
from tropalign.profiles.models import Model, from_pyhmmer, text_of
from tropalign.profiles.options import ForeignOption, QueryAlphabet, QueryKind, SearchOptions
from tropalign.profiles.proteins import N_CANONICAL
from tropalign.profiles.queries import queries_in
from tropalign.profiles.sources import ModelSource, TargetSource
from tropalign.profiles.task import KEEP_SHARE, MOST_KEPT_BYTES, SearchTask
from tropalign.resources.limits import default_budget, resolve_threads
from tropalign.resources.numbers import checked_memory
from tropalign.results.found_hits import in_all_targets, of_all_queries
from tropalign.results.hits import Hits, judged
from tropalign.results.threshold_options import Thresholds
from tropalign.sequences.batch import Sequences
from tropalign.sequences.blocks import TARGETS, ReadBlocks, SequenceBlock, with_gaps
from tropalign.sequences.files import Source, is_stream, opened, size_of

if TYPE_CHECKING:
    from pyhmmer.plan7 import HMM

#: Sources of models: files, models, and pyhmmer's models.
Models: TypeAlias = "Model | HMM[Any] | Source | Iterable[Model | HMM[Any] | Source]"


class HitArguments(ForeignOption, ComputeArguments):
    """Arguments that `search` and `scan` share."""

    thresholds: Thresholds | None = argument(
        default=None, kw_only=True, doc="What is reported, and what is included as significant."
    )
    options: SearchOptions | None = argument(default=None, kw_only=True, doc="Filters, and the seed of random numbers.")
    progress: Callable[[int], None] | None = argument(
        default=None,
        kw_only=True,
        doc="Called with the number of comparisons of a model with a target that have been decided.",
    )
    gaps: Literal["refuse", "remove"] = argument(
        default="refuse",
        kw_only=True,
        doc="Gap letters (``-``, ``.``, ``_``, ``~``) in files of sequences: an error, or removed.",
    )


class SearchArguments(HitArguments):
    """Arguments of `search`."""

    models: Models = argument(
        kw_only=False,
        doc="Files of profile hidden Markov models, a `Model`, or several. A file may hold alignments instead, of each "
        "of which a model is built as hmmbuild does, or sequences, each of which is a query as of phmmer.",
    )
    targets: Sequences | Source = argument(
        kw_only=False, doc="FASTA or FASTQ files, a SequenceBatch, or pairs of name and text: proteins."
    )
    n_rounds: int = argument(
        default=1,
        kw_only=True,
        doc="With more than 1 the search of each query is repeated with a model of its included hits, as jackhmmer "
        "does, until nothing new is included, or so many times. Inclusion is by E-values of at most 0.001 then, where "
        "`thresholds` does not say otherwise; hits are those of the last round.",
    )


class ScanArguments(HitArguments):
    """Arguments of `scan`."""

    sequences: Sequences | Source = argument(
        kw_only=False, doc="FASTA or FASTQ files, a SequenceBatch, or pairs of name and text: proteins."
    )
    models: Models = argument(
        kw_only=False, doc="Files of profile hidden Markov models, a `Model`, or several; E-values count them."
    )


@called_with(SearchArguments)
def search(call: SearchArguments) -> Hits:
    """Find the members of protein families among sequences: each model against all targets, as hmmsearch does.

    Returns
    -------
    Hits
        By model in their order, the best first.

    Raises
    ------
    InputError
        A file that cannot be read; no model or target, or an argument of another kind; a model or a query of
        nucleotides; a target with more than 100,000 residues.
    UsageError
        A device that does not exist; a number out of range; thresholds or options of another class.

    Warns
    -----
    TropalignWarning
        Letters outside the protein alphabet, which are read as X; models that are left out.

    Examples
    --------
    >>> hits = tropalign.search("examples/efp.hmm", "examples/family.fasta")
    >>> len(hits), hits.n_targets
    (0, 40)
    >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta", thresholds=tropalign.Thresholds(T=250))
    >>> len(hits), hits[0].name, round(hits[0].bits, 1)
    (22, 'tr|H8KCP7|H8KCP7_RICMS', 274.3)
    """
    return _hits("search", call.models, call.targets, call, call.n_rounds)


@called_with(ScanArguments)
def scan(call: ScanArguments) -> Hits:
    """Find the families that proteins belong to: each sequence against all models, as hmmscan does.

    Models may also come first, as on the command line.

    Returns
    -------
    Hits
        By sequence in their order, the best first.

    Raises
    ------
    InputError, UsageError
        As `search`.

    Examples
    --------
    >>> hits = tropalign.scan("examples/efp.fasta", "examples/efp.hmm")
    >>> len(hits.queries), hits[0].query.name, hits[0].name, hits.Z
    (37, 'sp|Q662F0|EFP_BORBP', 'EFP', 1.0)
    """
    models: Any = call.models
    sequences: Any = call.sequences
    turned = (sequences, models) if _is_models(sequences) else (models, sequences)
    return _hits("scan", *turned, call)


def _is_models(value: Any) -> bool:
    """True for models, the name of a file of models, or a list that starts with one."""
    if isinstance(value, list | tuple) and value:
        return _is_models(value[0])
    if isinstance(value, str | os.PathLike):
        if not os.path.isfile(value):
            return False  # the reader reports it
        with opened(value) as file:
            return file.read(len(TEXT)) in (TEXT, OLD_TEXT[: len(TEXT)])
    return isinstance(value, Model) or type(value).__module__.startswith("pyhmmer.plan7")


def _hits(
    orientation: Literal["search", "scan"], models: Any, sequences: Any, call: HitArguments, n_rounds: int = 1
) -> Hits:
    n_rounds = checked_rounds(n_rounds)
    thresholds = call.thresholds or (Thresholds() if n_rounds == 1 else ITERATED)
    options = call.options or SearchOptions()
    for value, kind in ((thresholds, Thresholds), (options, SearchOptions)):
        if not isinstance(value, kind):
            name = kind.__name__
            raise UsageError(f"{shown(repr(value)[:80])} is not a {name}: make one, as tropalign.{name}()")
    names = device_names(call.device)
    allowed = checked_memory(call.memory_bytes)
    memory_bytes = default_budget() if allowed is None else allowed
    task = task_of(
        model_source(models, memory_bytes, skip_foreign=call.skip_foreign),
        target_source(sequences, memory_bytes, call.gaps),
        options,
        thresholds,
        orientation=orientation,
        n_rounds=n_rounds,
        memory_bytes=memory_bytes,
        n_threads=resolve_threads(call.n_threads),
    )
    devices = open_devices(names, call.n_threads, sum(tile.cost_cells for tile in task.outline() or ()))
    results = (result.value for result in Scheduler(devices, call.progress).run([task]))
    by_batch = (in_all_targets(list(pieces)) for _, pieces in groupby(results, key=lambda found: found.first_query))
    return judged(of_all_queries(list(by_batch)), thresholds)


def task_of(
    models: ModelSource,
    sequences: TargetSource,
    options: SearchOptions,
    thresholds: Thresholds,
    *,
    orientation: Literal["search", "scan"],
    n_rounds: int = 1,
    memory_bytes: int,
    shard: Shard | None = None,
    n_threads: int = 1,
    keeps_models: bool = False,
) -> SearchTask | IterateTask:
    """Create a search task, or one in rounds; `keeps_models` as in `IterateTask`.

    Raises UsageError for rounds with cutoffs of models, and InputError for a model without the requested cutoffs.
    """
    if n_rounds == 1:
        if thresholds.bit_cutoffs is not None:
            models.check_cutoffs(thresholds.bit_cutoffs)
        return SearchTask(
            models,
            sequences,
            options,
            thresholds,
            orientation=orientation,
            memory_bytes=memory_bytes,
            shard=shard,
            n_threads=n_threads,
        )
    if thresholds.bit_cutoffs is not None:
        raise UsageError("models of later rounds have no cutoffs of their own: choose other thresholds")
    return IterateTask(
        models,
        sequences,
        options,
        thresholds,
        n_rounds=n_rounds,
        memory_bytes=memory_bytes,
        shard=shard,
        keeps_models=keeps_models,
    )


def model_source(
    models: Any,
    memory_bytes: int,
    kind: QueryKind = "auto",
    alphabet: QueryAlphabet = "auto",
    skip_foreign: bool = False,
    keeps_text: bool = False,
) -> ModelSource:
    """Return models from files (read as by `read_queries`), or as given; raises InputError if there is no model."""
    keep_bytes = int(KEEP_SHARE * memory_bytes)
    if _is_file(models):
        models = [models]
    if isinstance(models, Model) or not isinstance(models, Iterable):
        models = [models]
    given = list(models)
    can_reopen = not any(is_stream(item) or item == "-" for item in given)

    def models_of_all() -> Iterable[Model]:
        return chain.from_iterable(_models_of(item, kind, alphabet, skip_foreign, keeps_text) for item in given)

    source = ModelSource(models_of_all, keep_bytes, can_reopen)
    if not len(source.lengths):
        raise InputError("there is no model: give one or more")
    return source


def _models_of(
    item: Any, kind: QueryKind, alphabet: QueryAlphabet, skip_foreign: bool, keeps_text: bool
) -> Iterable[Model]:
    if isinstance(item, Model):
        return [item]
    if _is_file(item):
        return queries_in(item, kind, alphabet, skip_foreign=skip_foreign, keeps_text=keeps_text)
    if not (hasattr(item, "match_emissions") and hasattr(item, "evalue_parameters")):
        raise InputError(f"{shown(repr(item)[:80])} is no model: give files, a Model, or a pyhmmer.plan7.HMM")
    if skip_foreign and item.alphabet.K != N_CANONICAL:
        warnings.warn(of_foreign([text_of(item.name)]), TropalignWarning, stacklevel=2)
        return []
    return [from_pyhmmer(item)]


def _is_file(value: Any) -> bool:
    return isinstance(value, str) or is_stream(value) or hasattr(value, "__fspath__")


@dataclass(frozen=True)
class _Opener:
    """Opener of sequences, here or on a worker with access to the same files."""

    sequences: Any
    gaps: str = "refuse"

    def __call__(self) -> Iterable[SequenceBlock]:
        return ReadBlocks(self.sequences, policy=with_gaps(TARGETS, self.gaps))

    def __getstate__(self) -> dict[str, Any]:
        given = self.sequences
        if isinstance(given, list | tuple):
            given = [os.path.abspath(item) if isinstance(item, str | os.PathLike) else item for item in given]
        return {"sequences": given, "gaps": self.gaps}


def target_source(sequences: Any, memory_bytes: int, gaps: str = "refuse") -> TargetSource:
    """Return sequences from any source; they are read when a search requests them."""
    if _is_file(sequences):
        sequences = [sequences]
    can_reopen, n_expected = hasattr(sequences, "__len__"), None  # iterators cannot be reopened
    if isinstance(sequences, list | tuple) and any(map(_is_file, sequences)):
        can_reopen = not any(is_stream(item) or item == "-" for item in sequences)
        sizes = [size_of(item) for item in sequences]
        if None not in sizes:
            n_expected = sum(size or 0 for size in sizes)  # more if they are compressed
    keep_bytes = int(KEEP_SHARE * memory_bytes)
    if can_reopen:
        keep_bytes = min(keep_bytes, MOST_KEPT_BYTES)
    return TargetSource(_Opener(sequences, gaps), keep_bytes, can_reopen, n_expected)
