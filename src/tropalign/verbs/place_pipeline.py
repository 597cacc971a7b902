"""``tropalign place --pipeline``: a program that goes on with the aligned reads, in the same command."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tropalign.phylo import ReferencePackage
    from tropalign.phylo.epa_ng import Program
    from tropalign.phylo.outputs import Wanted

#: What can go on.
PIPELINES = ("epa-ng",)


def add_pipeline_options(group: Any) -> None:
    """Which program, where it is, and what it has to be told."""
    group.add_argument(
        "--pipeline",
        choices=PIPELINES,
        help="place by likelihood, too: EPA-ng gets the aligned reads, and --jplace is its result (default: none)",
    )
    group.add_argument(
        "--model",
        metavar="MODEL",
        help="for EPA-ng: a .bestModel file of RAxML-NG, an info file of RAxML 8, or words such as GTR+G, whose "
        "parameters are then not fitted to the reference",
    )
    group.add_argument("--epa-ng", metavar="PATH", help="EPA-ng's file (default: epa-ng on PATH)")
    group.add_argument(
        "--write-only", action="store_true", help="write what EPA-ng needs and print its command, without running it"
    )


def check_pipeline(options: argparse.Namespace) -> None:
    """Finds what does not fit together; ends with a usage error."""
    error = options.parser.error
    if options.pipeline is None:
        for name in ("model", "epa_ng", "write_only"):
            if getattr(options, name):
                error(f"--{name.replace('_', '-')} is for --pipeline epa-ng")
        return
    from tropalign.execution.files import output_path

    if options.jplace is None or output_path(options.jplace) is None:
        error("--pipeline makes a jplace file: name it with --jplace")
    if not options.model:
        error("EPA-ng needs a model: name a .bestModel file or one such as GTR+G with --model")
    if options.shard is not None:
        error("--pipeline needs all reads: leave --shard out, or merge shards of --split and run EPA-ng on them")
    if not options.reads:
        error("no reads are named: name a file, or - for standard input")
    if options.split and options.output == "-":
        error("--split makes two files: name the reads' one with -o")


class Pipeline:
    """EPA-ng after a run."""

    def __init__(self, options: argparse.Namespace, folder: Path, program: Program | None) -> None:
        self._options, self._folder, self._program = options, folder, program

    def joined(self, wanted: Wanted) -> Wanted:
        """The files that the run is to write: the aligned reads for EPA-ng, too, and no jplace of its own."""
        from dataclasses import replace

        from tropalign.phylo.epa_ng import ALIGNED

        return replace(wanted, jplace=None, query=str(self._folder / ALIGNED))

    def check(self, package: ReferencePackage) -> None:
        """Raises InputError where the model is none for this reference."""
        from tropalign.phylo.epa_ng import check_model

        check_model(self._options.model, package.states.alphabet.name == "protein")

    def finish(self, package: ReferencePackage, aligned_by: str) -> None:
        """Runs EPA-ng and writes its result; or leaves its files and prints the command."""
        from tropalign.errors import ResourceError
        from tropalign.execution.files import write_to
        from tropalign.machine.threads import resolve_threads
        from tropalign.phylo import epa_ng

        options, folder, program = self._options, self._folder, self._program
        n_threads = resolve_threads(options.threads)
        model = epa_ng.model_in(folder, options.model)
        prepared = epa_ng.prepare(folder, package)
        line = epa_ng.command(folder, model, n_threads)
        if options.write_only:
            print(line)
            return
        if program is None:
            raise ResourceError(
                f"EPA-ng is not installed (there is no {epa_ng.PROGRAM} on PATH): name it with --epa-ng, or install it "
                f"and run: {line}"
            )
        epa_ng.run(folder, program, model, n_threads)
        with_words = (prepared, program, model, aligned_by)
        write_to(options.jplace, lambda out: epa_ng.finish(folder, *with_words, out))
        epa_ng.clear(folder)


@contextmanager
def opened_pipeline(options: argparse.Namespace) -> Iterator[Pipeline | None]:
    """The pipeline that was asked for, its program found before anything is computed; None without one."""
    if options.pipeline is None:
        yield None
        return
    from tropalign.phylo.epa_ng import find_program, work_folder

    program = None if options.write_only else find_program(options.epa_ng)
    with work_folder(options.jplace) as folder:
        yield Pipeline(options, folder, program)
