"""Files of a search: what it writes, what tells it from another run, and hits to files from Python."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tropalign.errors import UsageError
from tropalign.execution.files import check_outputs, check_terminal, write_to
from tropalign.execution.run import Output, ShareWriter
from tropalign.formats.header import Header
from tropalign.formats.hits.context import HitsContext
from tropalign.formats.models.text import ModelsContext
from tropalign.formats.registry import format_for_path, make_writer
from tropalign.profile.options import SearchOptions
from tropalign.results.format_names import HitsFormat
from tropalign.results.hits import Hits
from tropalign.results.threshold_options import Thresholds

if TYPE_CHECKING:
    from tropalign.formats.header import Header
    from tropalign.profile.iterate import IterateTask
    from tropalign.profile.options import SearchOptions
    from tropalign.profile.sources import ModelSource, TargetSource
    from tropalign.profile.task import SearchTask


#: Files beside the main one by their roles, and their formats.
TABLES = {
    "tblout": "tblout",
    "domtblout": "domtblout",
    "pfamtblout": "pfamtblout",
    "alignment": "stockholm",
    "report": "html",
}


@dataclass(frozen=True)
class Wanted:
    """The files that a search is to write.

    Attributes
    ----------
    main
        Path of the main file; what goes to the null device is left out where there are others.
    format
        Its format.
    tables
        Paths of the others, by their roles in TABLES; None for those that are not wanted.
    """

    main: str
    format: str
    tables: dict[str, str | None]

    def files(self) -> list[tuple[str, str, str]]:
        """Role, path and format of each, the first one that beside which the run's parts lie."""
        found = [(role, path, TABLES[role]) for role, path in self.tables.items() if path is not None]
        return found if found and self.main == os.devnull else [("hits", self.main, self.format), *found]


def context_of(
    orientation: str, n_targets: int | None, thresholds: Thresholds, options: SearchOptions, **shown: Any
) -> HitsContext:
    """What formats need of a search; `shown`: fields of HitsContext on where it came from, and how text looks."""
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
    """Files and their writers.

    Raises
    ------
    UsageError
        A format that does not exist; what is no text on a terminal.
    InputError
        A format that lacks its package, or cannot show what is asked for.
    """
    outputs = [Output(role, path, make_writer("hits", name, header, context)) for role, path, name in wanted.files()]
    for output in outputs if not is_shard else ():
        if output.writer.is_binary:
            check_terminal(output.writer.name, output.path)
    return outputs


def with_models(outputs: list[Output], last: str | None, rounds: str | None, header: Header) -> list[Output]:
    """The outputs of a search in rounds, which take the hits of an `Iterated`, and files that take its models.

    Parameters
    ----------
    last, rounds
        Where the models of last rounds go, and those of all.
    """
    made = [Output(one.role, one.path, ShareWriter(one.writer, "found")) for one in outputs]
    for role, path in (("last", last), ("rounds", rounds)):
        if path is not None:
            writer = make_writer("models", format_for_path("models", path), header, ModelsContext())
            made.append(Output(role, path, ShareWriter(writer, role)))
    return made


def write_models(models: ModelSource, paths: list[str]) -> None:
    """Writes the models of a search to each of the files, or looks alone whether that could be done.

    Raises
    ------
    InputError
        A model whose text is not known.
    """
    for _ in models.texts():
        pass
    for path in paths:
        write_to(path, lambda out: out.writelines(models.texts()))


def run_parameters(
    task: SearchTask | IterateTask, models: ModelSource, sequences: TargetSource, outputs: list[Output], version: str
) -> dict[str, str]:
    """All that decides what a run leaves behind, by name."""
    chosen = {name: value for name, value in vars(task.thresholds).items() if value != getattr(Thresholds, name)}
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
    """Writes hits; the file appears whole or not at all.

    Parameters
    ----------
    hits
        What to write.
    path
        ``-`` is standard output; a suffix such as ``.gz`` compresses.
    format
        "text", "tblout", "domtblout", "pfamtblout", "tsv", "parquet", "arrow", "json": by the suffix of the path when
        not given.
    options
        The filters of the search, where they were not as by default: "text" tells of them.

    Raises
    ------
    UsageError
        A format or suffix that does not exist, or something else than hits.
    InputError
        A format that lacks its package; a place that cannot be written.
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
        raise UsageError(f"an object of type {type(hits).__name__} is no Hits: search returns them")
    from tropalign import __version__

    output = os.fspath(path)
    name = format_for_path("hits", output) if format is None else format
    context = context_of(hits.orientation, hits.n_targets, hits.thresholds, options or SearchOptions())
    writer = make_writer("hits", name, Header(__version__, "tropalign.write_hits", {}), context)
    check_outputs([output], [])
    if writer.is_binary:
        check_terminal(name, output)
    part = writer.encode(hits)
    write_to(output, lambda out: writer.assemble([part], out))
