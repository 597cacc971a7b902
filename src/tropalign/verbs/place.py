"""``tropalign place``: short reads into a reference alignment, guided by its tree."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tropalign.errors import UsageError, counted, warn
from tropalign.options.option import again, input_file
from tropalign.verbs.command import Served, read_once
from tropalign.verbs.place_options import PlaceCommand
from tropalign.verbs.runs import SEQUENCE_FILES, checked_progress, devices_of, header_of, run_or_forecast
from tropalign.verbs.sequence_options import SampleNameOptions, SequenceOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tropalign.execution.progress import Show
    from tropalign.placement.epa_ng import Program
    from tropalign.placement.outputs import Wanted
    from tropalign.placement.reference import ReferencePackage
    from tropalign.placement.task import PlaceTask
    from tropalign.results.otu_table import OtuTable
    from tropalign.sequences.blocks import Survey

#: Suffixes of additional outputs, and their options.
BESIDE = {
    ".jplace": "jplace",
    ".tsv": "table",
    ".html": "html",
    **dict.fromkeys((".biom", ".hdf5", ".h5"), "otu-table"),
}


class Place(PlaceCommand):
    """Short reads in the columns of a reference, each on the branch of its tree that fits best."""

    verb = "place"
    summary = "align short reads into a reference alignment, guided by its tree"
    description = (
        "Align each read to the profile of every branch of a reference tree, keep the best branch, and write the "
        "read into the columns of the reference (PaPaRa)."
    )
    example = """example:
  tropalign place --reference ref.phy --tree ref.nwk reads.fq.gz -o aligned.fasta --table placed.tsv
  tropalign place --reference ref.phy --tree ref.nwk reads.fa --split -o aligned.fasta --jplace placed.jplace
  tropalign place --reference ref.phy --tree ref.nwk reads.fa --pipeline epa-ng --model ref.bestModel --jplace x.jplace

Branches are numbered from 0 in the order of PaPaRa; the table names the clade below each. Coordinates are 0-based,
half-open. Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
    served = Served(
        title="Place reads",
        kind="placed/rows",
        is_resumable=True,
        example={"reads": "16s/reads.fasta", "reference": "16s/ref.phy.gz", "tree": "16s/ref.nwk"},
    )
    each_input, each_refuses = "reads", ("mates", "pipeline", "save_reference", "counts")

    reads: list[str] = input_file(
        flags=(),
        many="*",
        metavar="READS",
        holds="sequences",
        help=SEQUENCE_FILES,
    )
    mates: list[str] | None = input_file(
        default=None,
        many="+",
        metavar="FILE",
        holds="sequences",
        label="Second mates",
        help="second mates of paired ends, one file for each file of reads in the same order: a pair is placed as "
        "one read",
    )

    gaps: str = again(SequenceOptions, "gaps", group="reads")
    sample_delimiter: str | None = again(SampleNameOptions, "sample_delimiter", needs="html")
    sample_regex: str | None = again(SampleNameOptions, "sample_regex", needs="html")

    def run(self) -> None:
        """Read, place and write."""
        self.check()
        wanted = self._wanted()
        inputs = [*self.reads, *(self.mates or []), self.reference, self.tree, self.taxonomy, self.counts]
        show = checked_progress(self, self._paths(wanted), inputs)
        with opened_pipeline(self) as pipeline:
            self._run(wanted, show, pipeline)

    def _run(self, wanted: Wanted, show: Show, pipeline: Pipeline | None) -> None:
        """Read, place and write; a pipeline may continue with the reads."""
        from tropalign import __version__
        from tropalign.devices.registry import open_devices
        from tropalign.execution.files import write_to
        from tropalign.execution.run import Run, memory_allowed
        from tropalign.formats.clusters.read_otu_tables import read_otu_table
        from tropalign.placement.outputs import outputs_of, run_parameters
        from tropalign.placement.taxonomy import read_taxonomy
        from tropalign.resources.limits import left_for_job

        if pipeline is not None:
            wanted = pipeline.joined(wanted)
        allowed = (
            memory_allowed(self.memory, wanted.alignment or wanted.query or "-") if self.reads else self.memory or 0
        )
        key = ("reference", self.reference, self.tree, self.alphabet, self.gap_flags)
        package = read_once(key, self.package)
        if pipeline is not None:
            pipeline.check(package)
        if self.save_reference and not self.dry_run:
            write_to(self.save_reference, package.save)
        if not self.reads:
            return
        lineages = None if self.taxonomy is None else read_taxonomy(self.taxonomy, package)
        otus = None if self.counts is None else read_otu_table(self.counts, memory_bytes=allowed)
        blocks, found = self.blocks_of_reads(package, otus)
        memory_bytes = left_for_job(allowed, package.held_bytes())
        page_bytes = self._page_bytes(package, found, memory_bytes)
        memory_bytes -= page_bytes
        task, devices = self._task(package, blocks, found, memory_bytes)
        rows = None if wanted.rows == "fasta" else wanted.rows  # headers omit the default
        header = header_of(self, self.scoring().parameters(), format=rows)
        bound = page_bytes if found is None else None  # the survey of the reads has checked the report's memory
        outputs = outputs_of(package, header, wanted, self.shard is not None, lineages, bound, otus)
        decides = (outputs, wanted, __version__, lineages, otus)
        parameters = {} if found is None else run_parameters(task, found, *decides)
        placing = Run(
            task=task,
            outputs=outputs,
            outline=task.outline(),
            parameters=parameters,
            memory_bytes=allowed,
            shard=self.shard,
            unit="reads",
        )
        cost_cells = sum(tile.cost_cells for tile in placing.outline or ()) or task.cost_cells(1 << 20)
        run_or_forecast(placing, open_devices(devices, self.threads, cost_cells, memory_bytes), self, show, 0)
        if task.n_unusable:
            what = counted(task.n_unusable, "pairs of mates" if task.paired else "reads")
            warn(f"there is no usable base in {what}, which cannot be placed", stacklevel=1)
        if pipeline is not None and self.dry_run:
            print(
                f"epa-ng   continues with these reads and writes {self.jplace}: its time and memory are not estimated"
            )
        elif pipeline is not None:
            pipeline.finish(package, header.command, otus)

    def _wanted(self) -> Wanted:
        """Return the requested files."""
        from tropalign.formats.format import format_for_path, suffix_of
        from tropalign.placement.outputs import Wanted

        if self.format is None and (beside := BESIDE.get(suffix_of(self.output))):
            raise UsageError(f"{self.output}: -o is the alignment of the reads: use --{beside} {self.output} instead")
        return Wanted(
            alignment=None if self.pipeline and self.output == "-" else self.output,
            rows=self.format or format_for_path("placed/rows", self.output),
            is_split=self.split,
            insertions=self.insertions,
            table=self.table,
            jplace=self.jplace,
            branches=self.branches,
            taxa=self.taxa,
            sunburst=self.taxa_html,
            otus=self.otu_table,
            report=self.html,
            sample_delimiter=self.sample_delimiter,
            sample_regex=self.sample_regex,
        )

    def _paths(self, wanted: Wanted) -> list[str]:
        """Return the paths to be written; a shard has one."""
        named = [] if self.save_reference is None else [self.save_reference]
        if self.reads:
            named += [self.output] if self.shard is not None else wanted.paths()
        return named

    def _page_bytes(self, package: ReferencePackage, found: Survey | None, memory_bytes: int) -> int:
        """Return the most memory for making the report; half of the memory if the reads are a stream.

        Raises ResourceError if the report would take all remaining memory.
        """
        from tropalign.formats.placed.report import report_bytes
        from tropalign.resources.limits import require

        if self.html is None or self.shard is not None:  # merge makes it later
            return 0
        if found is None:
            return memory_bytes // 2
        needed = report_bytes(found.n_reads, int(found.lengths.sum()), package.letters.size)
        remedy = "allow more with --memory, or leave --html out"
        require(needed + (1 << 20), memory_bytes, f"the report of {found.n_reads:,} reads", remedy)
        return needed

    def _task(
        self, package: ReferencePackage, blocks: Callable[..., Iterator[Any]], found: Survey | None, memory_bytes: int
    ) -> tuple[PlaceTask, list[str]]:
        """Return the task, and the devices for it."""
        from tropalign.placement.scorer import N_BEST, check_place
        from tropalign.placement.task import PlaceTask
        from tropalign.resources.limits import resolve_threads

        scoring = self.scoring()
        devices = check_place(package, scoring, self.strand, devices_of(self))
        task = PlaceTask(
            package,
            blocks,
            scoring,
            n_best=0 if self.no_pruning or self.mates else N_BEST,
            paired=self.mates is not None,
            both_strands=self.strand == "both",
            adjusts_strand=self.strand == "adjust",
            min_score=self.min_score,
            n_threads=resolve_threads(self.threads),
            memory_bytes=memory_bytes,
            found=found,
            shard=self.shard,
        )
        return task, devices


class Pipeline:
    """Later run of EPA-ng."""

    def __init__(self, command: PlaceCommand, folder: Path, program: Program | None) -> None:
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
def opened_pipeline(command: PlaceCommand) -> Iterator[Pipeline | None]:
    """Yield the requested pipeline, or None; the program is found before anything is computed."""
    if command.pipeline is None:
        yield None
        return
    from tropalign.placement.epa_ng import find_program, work_folder

    program = None if command.write_only else find_program(command.epa_ng)
    assert command.jplace is not None
    with work_folder(command.jplace) as folder:
        yield Pipeline(command, folder, program)
