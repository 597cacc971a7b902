"""``tropalign place --pipeline``: a program that continues with the aligned reads, in the same command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from tropalign.options.option import Options, option

if TYPE_CHECKING:
    from tropalign.placement import ReferencePackage
    from tropalign.placement.epa_ng import Program
    from tropalign.placement.outputs import Wanted
    from tropalign.results.otu_table import OtuTable
    from tropalign.verbs.place import Place

#: Supported programs.
Next = Literal["epa-ng"]


class PipelineOptions(Options, group="likelihoods", needs="pipeline=epa-ng"):
    """The program, its path and its arguments."""

    pipeline: Next | None = option(
        default=None,
        choices=get_args(Next),
        role="private",
        needs={
            "jplace": "--pipeline makes a jplace file: name it with --jplace",
            "model": "EPA-ng needs a model: name a .bestModel file or one such as GTR+G with --model",
        },
        excludes={
            "shard": "--pipeline needs all reads: leave --shard out, or merge shards of --split and run EPA-ng on them"
        },
        help="place by likelihood, too: EPA-ng gets the aligned reads, and --jplace is its result (default: none)",
    )
    model: str | None = option(
        default=None,
        metavar="MODEL",
        role="private",
        help="for EPA-ng: a .bestModel file of RAxML-NG, an info file of RAxML 8, or words such as GTR+G, whose "
        "parameters are then not fitted to the reference",
    )
    epa_ng: str | None = option(
        default=None, metavar="PATH", role="private", help="EPA-ng's file (default: epa-ng on PATH)"
    )
    write_only: bool = option(
        default=False, role="private", help="write what EPA-ng needs and print its command, without running it"
    )


def check_pipeline(command: Place) -> None:
    """Reject options that do not go together."""
    if command.pipeline is None:
        return
    from tropalign.execution.files import output_path

    if output_path(command.jplace) is None:
        command.refuse("--pipeline makes a jplace file: name it with --jplace")
    if not command.reads:
        command.refuse("no reads are named: name a file, or - for standard input")
    if command.split and command.output == "-":
        command.refuse("--split makes two files: name the reads' one with -o")


class Pipeline:
    """EPA-ng after a run."""

    def __init__(self, command: Place, folder: Path, program: Program | None) -> None:
        self._command, self._folder, self._program = command, folder, program

    def joined(self, wanted: Wanted) -> Wanted:
        """Return the files of the run: with aligned reads for EPA-ng, and without a jplace file."""
        from dataclasses import replace

        from tropalign.placement.epa_ng import ALIGNED

        return replace(wanted, jplace=None, query=str(self._folder / ALIGNED))

    def check(self, package: ReferencePackage) -> None:
        """Raise InputError if the model does not suit this reference."""
        from tropalign.placement.epa_ng import check_model

        assert self._command.model is not None
        check_model(self._command.model, package.states.alphabet.name == "protein")

    def finish(self, package: ReferencePackage, aligned_by: str, otus: OtuTable | None) -> None:
        """Run EPA-ng and write its result; or leave its files and print the command."""
        from tropalign.errors import ResourceError
        from tropalign.execution.files import write_to
        from tropalign.formats.placed.context import PlacedContext
        from tropalign.placement import epa_ng
        from tropalign.resources.limits import resolve_threads

        command, folder, program = self._command, self._folder, self._program
        assert command.model is not None and command.jplace is not None
        n_threads = resolve_threads(command.threads)
        model = epa_ng.model_in(folder, command.model)
        prepared = epa_ng.prepare(folder, package)
        line = epa_ng.command(folder, model, n_threads)
        if command.write_only:
            print(line)
            return
        if program is None:
            raise ResourceError(
                f"EPA-ng is not installed (there is no {epa_ng.PROGRAM} on PATH): name it with --epa-ng, or install it "
                f"and run: {line}"
            )
        epa_ng.run(folder, program, model, n_threads)
        with_words = (prepared, program, model, aligned_by, PlacedContext(otus=otus).counts)
        write_to(command.jplace, lambda out: epa_ng.finish(folder, *with_words, out))
        epa_ng.clear(folder)


@contextmanager
def opened_pipeline(command: Place) -> Iterator[Pipeline | None]:
    """Yield the requested pipeline, or None; the program is found before anything is computed."""
    if command.pipeline is None:
        yield None
        return
    from tropalign.placement.epa_ng import find_program, work_folder

    program = None if command.write_only else find_program(command.epa_ng)
    assert command.jplace is not None
    with work_folder(command.jplace) as folder:
        yield Pipeline(command, folder, program)
