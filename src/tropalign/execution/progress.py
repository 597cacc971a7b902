"""How far a run is, on a terminal's standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from tropalign.execution.task import Progress

#: Opens a display for items of a unit, of which there are so many in all (None: not known).
Show = Callable[[str, int | None], AbstractContextManager[Progress | None]]


#: Receives the name of a stage, and the share of all work that is done.
StageProgress = Callable[[str, float], object]


@contextmanager
def no_progress(unit: str, total: int | None) -> Iterator[Progress | None]:
    """Nobody watches."""
    yield None


@contextmanager
def progress_bar(unit: str, total: int | None) -> Iterator[Progress | None]:
    """Gives the function that takes the number of items begun; None where standard error is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns: tuple[ProgressColumn, ...]
    if total is None:
        columns = (SpinnerColumn(), TextColumn("{task.completed:.0f} {task.description}"), TimeElapsedColumn())
    else:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(unit, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def stage_bar(is_quiet: bool = False) -> Iterator[StageProgress | None]:
    """Gives the function that takes stages and shares; None where nobody watches."""
    if is_quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description:<15}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda stage, share: bar.update(task, description=stage, completed=share)
