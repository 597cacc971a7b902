"""What a search writes, and what tells it from another run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tropalign.execution.files import check_terminal
from tropalign.execution.run import Output
from tropalign.formats.hits.context import HitsContext
from tropalign.formats.registry import make_writer
from tropalign.results.thresholds import Thresholds

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
