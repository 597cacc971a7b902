"""Output files of a search, the parameters that identify a run, and writing of hits from Python."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tropalign.errors import UsageError, counted
from tropalign.execution.files import check_terminal, write_to
from tropalign.execution.run import Output, ShareWriter
from tropalign.formats.format import Header, format_for_path, make_writer, write
from tropalign.formats.hits.context import HitsContext
from tropalign.formats.hits.hmmer import ModelsContext
from tropalign.profiles.options import SearchOptions
from tropalign.results.hits import Hits
from tropalign.results.names import HitsFormat
from tropalign.results.threshold_options import Thresholds

if TYPE_CHECKING:
    from tropalign.profiles.iterate import IterateTask
    from tropalign.profiles.sources import ModelSource, TargetSource
    from tropalign.profiles.task import SearchTask

#: Roles of further files in addition to the main one, and their formats.
TABLES = {
    "tblout": "tblout",
    "domtblout": "domtblout",
    "pfamtblout": "pfamtblout",
    "alignment": "stockholm",
    "report": "html",
}


@dataclass(frozen=True)
class Wanted:
    """The output files of a search.

    `main`: path of the main file; the null device is left out if there are other files. `format`: its format.
    `tables`: paths of the other files by their roles in TABLES, or None.
    """

    main: str
    format: str
    tables: dict[str, str | None]

    def files(self) -> list[tuple[str, str, str]]:
        """Return role, path and format of each file; the run's parts are stored next to the first one."""
        found = [(role, path, TABLES[role]) for role, path in self.tables.items() if path is not None]
        return found if found and self.main == os.devnull else [("hits", self.main, self.format), *found]


def context_of(
    orientation: str, n_targets: int | None, thresholds: Thresholds, options: SearchOptions, **shown: Any
) -> HitsContext:
    """Return the context that writers of hits need; `shown`: further fields of HitsContext, on origin and layout."""
    f1, f2, f3, bias_filter, null2, seed = options.numbers()
    return HitsContext(
        thresholds=thresholds,
        orientation=orientation,
        n_targets=n_targets,
        f1=f1,
        f2=f2,
        f3=f3,
        bias_filter=bias_filter,
        null2=null2,
        seed=seed,
        **shown,
    )


def outputs_of(wanted: Wanted, header: Header, context: HitsContext, is_shard: bool) -> list[Output]:
    """Create files and their writers.

    Raises UsageError for unknown formats and binary output to a terminal, InputError for a format that lacks its
    package.
    """
    outputs = [Output(role, path, make_writer("hits", name, header, context)) for role, path, name in wanted.files()]
    for output in outputs if not is_shard else ():
        if output.writer.is_binary:
            check_terminal(output.writer.name, output.path)
    return outputs


def with_models(outputs: list[Output], last: str | None, rounds: str | None, header: Header) -> list[Output]:
    """Return the outputs of a search in rounds, for the hits of an `Iterated`, and further ones for its models.

    `last`, `rounds`: paths for the models of last rounds, and of all rounds.
    """
    made = [Output(one.role, one.path, ShareWriter(one.writer, "found")) for one in outputs]
    for role, path in (("last", last), ("rounds", rounds)):
        if path is not None:
            writer = make_writer("models", format_for_path("models", path), header, ModelsContext())
            made.append(Output(role, path, ShareWriter(writer, role)))
    return made


def write_models(models: ModelSource, paths: list[str]) -> None:
    """Write the models of a search to each file, after a check that all models have texts (InputError otherwise)."""
    for _ in models.texts():
        pass
    for path in paths:
        write_to(path, lambda out: out.writelines(models.texts()))


def run_parameters(
    task: SearchTask | IterateTask, models: ModelSource, sequences: TargetSource, outputs: list[Output], version: str
) -> dict[str, str]:
    """Return all parameters that determine a run's output, by name."""
    chosen = {name: value for name, value in vars(task.thresholds).items() if value != getattr(Thresholds, name)}
    if own := chosen.pop("per_model", None):
        chosen[f"of {counted(len(own), 'models')}, hash"] = hashlib.sha256(repr(own).encode()).hexdigest()[:16]
    given = ", ".join(f"{name} {value}" for name, value in chosen.items())
    filters = zip(("F1", "F2", "F3", "bias filter", "null2", "seed"), task.options.numbers(), strict=True)
    return {
        "version": version,
        "verb": task.orientation,
        "rounds": str(task.n_rounds),
        "outputs": ", ".join(f"{output.role} as {output.writer.name}" for output in outputs),
        "filters": ", ".join(f"{name} {value}" for name, value in filters),
        "thresholds": given or "as by default",
        "models": f"{len(models.lengths)} models of {int(models.lengths.sum())} nodes, hash {models.sha256()[:16]}",
        "sequences": f"{len(sequences.lengths)} sequences of {int(sequences.lengths.sum())} residues, "
        f"hash {sequences.sha256()[:16]}",
    }


def write_hits(
    hits: Hits, path: str | os.PathLike[str], format: HitsFormat | None = None, *, options: SearchOptions | None = None
) -> None:
    """Write hits; the file appears complete or not at all.

    Parameters
    ----------
    hits
        The hits to write.
    path
        ``-`` is standard output; a suffix such as ``.gz`` compresses.
    format
        "text", "tblout", "domtblout", "pfamtblout", "tsv", "parquet", "arrow", "json": by the suffix of the path
        if not given.
    options
        The filters of the search, if not the default: "text" shows them.

    Raises
    ------
    UsageError
        An unknown format or suffix, or an object that is not Hits.
    InputError
        A format that lacks its package; a path that cannot be written.
    ResourceError
        The disk is full.

    Examples
    --------
    >>> hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
    >>> tropalign.write_hits(hits[:1], "-", "tblout")
    #                                                                         --- full sequence ---- ...
    # target name                  accession  query name           accession    E-value  score  bias ...
    #          ------------------- ---------- -------------------- ---------- --------- ------ ----- ...
    tr|H8KCP7|H8KCP7_RICMS         -          EFP                  -            8.2e-85  274.3   2.3 ...
    ...
    """
    if not isinstance(hits, Hits):
        raise UsageError(f"an object of type {type(hits).__name__} is not a Hits object, as search returns")
    output = os.fspath(path)
    name = format_for_path("hits", output) if format is None else format
    context = context_of(hits.orientation, hits.n_targets, hits.thresholds, options or SearchOptions())
    write("hits", [hits], output, name, "write_hits", context)
