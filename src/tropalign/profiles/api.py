"""Python API of searches."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tropalign.devices.registry import ComputeArguments, device_names, open_devices
from tropalign.errors import UsageError, shown
from tropalign.execution.scheduler import Scheduler
from tropalign.options.called import called_with
from tropalign.options.option import argument
from tropalign.profiles.iterate import ITERATED, IterateTask, checked_rounds
from tropalign.profiles.options import ForeignOption, SearchOptions
from tropalign.profiles.sources import is_models, model_source, target_source
from tropalign.profiles.task import SearchTask
from tropalign.resources.limits import budget_of, resolve_threads
from tropalign.results.found_hits import in_all_targets, of_all_queries
from tropalign.results.hits import Hits, judged
from tropalign.results.threshold_options import Thresholds
from tropalign.sequences.inputs import numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyhmmer.plan7 import HMM

    from tropalign.profiles.models import Model
    from tropalign.sequences.batch import Sequences
    from tropalign.sequences.files import Source

#: Sources of models: files, models, and pyhmmer's models.
Models: TypeAlias = "Model | HMM[Any] | Source | Iterable[Model | HMM[Any] | Source]"


class HitArguments(ForeignOption, ComputeArguments):
    """Arguments that `search` and `scan` share."""

    thresholds: Thresholds | None = argument(
        default=None, kw_only=True, doc="Thresholds for reporting hits, and for including them as significant."
    )
    options: SearchOptions | None = argument(
        default=None, kw_only=True, doc="Filters, and the seed for random numbers."
    )
    progress: Callable[[int], None] | None = argument(
        default=None,
        kw_only=True,
        doc="Called with the number of finished comparisons of a model with a target.",
    )
    gaps: Literal["refuse", "remove"] = argument(
        default="refuse",
        kw_only=True,
        doc="Gap characters (``-``, ``.``, ``_``, ``~``) in files of sequences: raise an error, or remove them.",
    )


class SearchArguments(HitArguments):
    """Arguments of `search`."""

    models: Models = argument(
        kw_only=False,
        doc="Files of profile hidden Markov models, a `Model`, or several. A file may also hold alignments, each "
        "of them built into a model as by hmmbuild, or sequences, each of them a query as in phmmer.",
    )
    targets: Sequences | Source = argument(
        kw_only=False,
        doc="Proteins: FASTA or FASTQ files, a SequenceBatch, texts, pairs of name and text, or a mapping.",
    )
    n_rounds: int = argument(
        default=1,
        kw_only=True,
        doc="Maximum number of rounds. Above 1, the search of each query is repeated with a model of its "
        "included hits, as in jackhmmer, until no new hits are included. Inclusion then requires E-values of "
        "at most 0.001 unless `thresholds` differs. Hits are those of the last round.",
    )


class ScanArguments(HitArguments):
    """Arguments of `scan`."""

    sequences: Sequences | Source = argument(
        kw_only=False,
        doc="Proteins: FASTA or FASTQ files, a SequenceBatch, texts, pairs of name and text, or a mapping.",
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
        Letters outside the protein alphabet, which are read as X; models that are left out; names in the thresholds'
        ``per_model`` that no model has.

    Examples
    --------
    >>> hits = tropalign.search("examples/efp.hmm", "examples/family.fasta")
    >>> len(hits), hits.n_targets
    (0, 40)
    >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta", thresholds=tropalign.Thresholds(T=250))
    >>> len(hits), hits[0].name, round(hits[0].bits, 1)
    (22, 'tr|H8KCP7|H8KCP7_RICMS', 274.3)
    """
    return _hits("search", call.models, numbered(call.targets), call, call.n_rounds)


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
    if is_models(sequences):
        models, sequences = sequences, models
    return _hits("scan", models, numbered(sequences), call)


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
    memory_bytes = budget_of(call.memory_bytes)
    source = model_source(models, memory_bytes, skip_foreign=call.skip_foreign)
    source.warn_of_unknown(dict.fromkeys(thresholds.per_model or {}, "per_model"))
    common = source, target_source(sequences, memory_bytes, call.gaps), options, thresholds
    n_threads = resolve_threads(call.n_threads)
    task = (
        SearchTask(*common, orientation=orientation, memory_bytes=memory_bytes, n_threads=n_threads)
        if n_rounds == 1
        else IterateTask(*common, n_rounds=n_rounds, memory_bytes=memory_bytes)
    )
    devices = open_devices(names, call.n_threads, sum(tile.cost_cells for tile in task.outline() or ()))
    results = (result.value for result in Scheduler(devices, call.progress).run([task]))
    by_batch = (in_all_targets(list(pieces)) for _, pieces in groupby(results, key=lambda found: found.first_query))
    return judged(of_all_queries(list(by_batch)), thresholds)
