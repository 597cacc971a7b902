"""``tropalign place``: short reads into a reference alignment, guided by its tree."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.errors import UsageError, counted, warn
from tropalign.formats.format import format_names
from tropalign.options.option import Options, again, but, input_file, option, output_file
from tropalign.placement.scoring import GAP_FLAGS, ReadOptions, ScoreOptions
from tropalign.verbs.command import (
    SEQUENCE_FILES,
    Command,
    EachOption,
    RunOptions,
    Served,
    checked_progress,
    devices_of,
    header_of,
    read_once,
    run_or_forecast,
)
from tropalign.verbs.sequence_options import SampleNameOptions, SequenceOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tropalign.execution.progress import Show
    from tropalign.placement.epa_ng import Program
    from tropalign.placement.outputs import Wanted
    from tropalign.placement.reference import ReferencePackage
    from tropalign.placement.task import PlaceTask
    from tropalign.results.clusters import OtuTable
    from tropalign.sequences.reader import Survey

Insertions = Literal["drop", "columns"]


class ResultOptions(Options, group="results"):
    """Output files."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("placed/rows"),
        role="machine",
        help="output format of the alignment (default: by the suffix of -o, else fasta)",
    )
    split: bool = output_file(
        default=False,
        output="reference",
        suffix=".reference",
        follows_main=True,
        help="write the reads alone to -o and the reference to FILE.reference, as EPA-ng requires",
        form_help="Write the reads alone to the result and the reference to its own file, as EPA-ng requires",
    )
    insertions: Insertions = option(
        default="drop",
        choices=get_args(Insertions),
        label="Inserted bases",
        is_common=True,
        help="bases between columns of the reference: drop (default; the width stays the same), or keep in new columns",
    )
    table: str | None = output_file(
        output="table",
        suffix=".tsv",
        metavar="FILE",
        help="table of the branch, score and position of each read; TSV or Parquet by the suffix",
    )
    jplace: str | None = output_file(
        output="jplace",
        suffix=".jplace",
        metavar="FILE",
        help="best branches of each read, for gappa and other programs",
    )
    branches: str | None = output_file(
        output="branches",
        suffix=".tsv",
        metavar="FILE",
        help="table of reads per branch (TSV); with --counts, also per sample",
        form_help="Table of reads per branch (TSV); with a table of counts, also per sample",
    )
    taxonomy: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Lineages of the tips",
        needs="table|taxa|taxa_html|otu_table|html",
        help="lineages of the tips, one per line: name, tab, a;b;c; the table then has the lineages of the reads",
    )
    counts: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Table of counts",
        needs="taxa|taxa_html|otu_table|table|jplace|branches|html",
        excludes=("sample_delimiter", "sample_regex"),
        help="numbers of reads per sample that each read represents: the table of cluster or derep (--otu-table), as "
        ".tsv, .biom or .hdf5 (default: ;size=N in names)",
        form_help="Numbers of reads per sample that each read represents: the table of Cluster or Dereplicate, TSV "
        "or BIOM (default: ;size=N in names)",
    )
    taxa: str | None = output_file(
        output="taxa",
        suffix=".tsv",
        needs="taxonomy",
        metavar="FILE",
        help="with --taxonomy: table of reads per taxon (TSV); with --counts, per taxon and sample",
        form_help="With lineages of the tips: table of reads per taxon (TSV); with a table of counts, per taxon and "
        "sample",
    )
    taxa_html: str | None = output_file(
        output="sunburst",
        suffix=".html",
        needs="taxonomy",
        metavar="FILE",
        help="with --taxonomy: HTML page of reads per taxon, with lineages as rings (sunburst)",
        form_help="With lineages of the tips: HTML page of reads per taxon, with lineages as rings (sunburst)",
    )
    otu_table: str | None = output_file(
        output="otu_table",
        suffix=".biom",
        needs={
            "counts": "--otu-table adds lineages to a table of counts: name that table with --counts",
            "taxonomy": "",
        },
        metavar="FILE",
        help="with --counts and --taxonomy: the table of counts with the lineage of each read, as .tsv (QIIME's "
        "classic table), .biom (BIOM 1.0) or .hdf5 (BIOM 2.1)",
        form_help="With a table of counts and lineages of the tips: the table of counts with the lineage of each "
        "read (BIOM 1.0)",
    )
    html: str | None = output_file(
        output="report",
        suffix=".html",
        metavar="FILE",
        help="HTML report: the tree with reads per branch, table, alignments",
    )

    def beside(self) -> dict[str, str | None]:
        """Return the paths of the additional files by their options."""
        names = ("taxa", "taxa_html", "otu_table", "table", "jplace", "branches", "html")
        return {name: getattr(self, name) for name in names}


class ReferenceOptions(Options, group="reference"):
    """The reference alignment and its tree."""

    reference: str = input_file(
        holds="alignment",
        metavar="FILE",
        label="Reference alignment",
        help="reference alignment (PHYLIP, FASTA, Stockholm), or a file made with --save-reference",
        form_help="Reference alignment (PHYLIP, FASTA, Stockholm)",
    )
    tree: str | None = input_file(
        default=None, holds="tree", metavar="FILE", label="Reference tree", help="tree of the reference (Newick, NEXUS)"
    )
    alphabet: str | None = but(
        SequenceOptions,
        "alphabet",
        default=None,
        group="reference",
        is_common=False,
        help="alphabet of the reference (default: detected from its letters)",
    )
    gap_flags: str | None = option(
        default=None,
        choices=GAP_FLAGS,
        label="Gap columns of branches",
        help="rule for the gap columns of a branch: compat (default; identical to PaPaRa 2.5), exact (in closed "
        "form) or discrete (the 2011 paper); compat and exact differ only with branches of length 0",
    )
    save_reference: str | None = option(
        default=None, metavar="FILE", role="private", help="save the prepared reference for later runs"
    )


class PruningOption(Options, group="scoring"):
    """Option to score every branch."""

    no_pruning: bool = option(
        default=False, label="Score every branch", help="score every branch instead of pruning; the result is the same"
    )


#: Supported programs.
Next = Literal["epa-ng"]


class PipelineOptions(Options, group="likelihoods", needs="pipeline=epa-ng"):
    """The program, its path and its arguments."""

    pipeline: Next | None = option(
        default=None,
        choices=get_args(Next),
        role="private",
        needs={
            "jplace": "--pipeline writes a jplace file: name it with --jplace",
            "model": "EPA-ng needs a model: name a .bestModel file, or a model such as GTR+G, with --model",
        },
        excludes={
            "shard": "--pipeline needs all reads: leave --shard out, or merge shards made with --split and run "
            "EPA-ng on them"
        },
        help="place the aligned reads by likelihood with EPA-ng, and write its result to --jplace (default: none)",
    )
    model: str | None = option(
        default=None,
        metavar="MODEL",
        role="private",
        help="model for EPA-ng: a .bestModel file of RAxML-NG, an info file of RAxML 8, or a name such as GTR+G, "
        "whose parameters are then not fitted to the reference",
    )
    epa_ng: str | None = option(
        default=None, metavar="PATH", role="private", help="path of the EPA-ng program (default: epa-ng on PATH)"
    )
    write_only: bool = option(
        default=False, role="private", help="write the input files of EPA-ng and print its command, without running it"
    )


class PlaceCommand(
    Command,
    ReferenceOptions,
    ReadOptions,
    ScoreOptions,
    PruningOption,
    ResultOptions,
    PipelineOptions,
    SampleNameOptions,
    RunOptions,
    EachOption,
):
    """Reads, and the reference that they are placed in."""

    #: Declared by `Place`.
    reads: list[str]
    mates: list[str] | None = None
    gaps: str

    def check(self) -> None:
        """Reject options that do not go together."""
        from tropalign.execution.files import output_path
        from tropalign.sequences.annotations import teller

        super().check()
        teller(None, self.sample_delimiter, self.sample_regex)
        asks_for_reads = self.output != "-" or any(self.beside().values()) or not self.save_reference
        if self.dry_run and not self.reads:
            self.refuse("--dry-run needs reads: name a file")
        if not self.reads and (asks_for_reads or self.pipeline is not None):
            self.refuse("no reads are named: name a file, or - for standard input")
        if self.split and self.output == "-":
            self.refuse("--split writes two files: name that of the reads with -o")
        if self.mates is not None and len(self.mates) != len(self.reads):
            self.refuse(
                f"{counted(len(self.reads), 'files of reads')}, but {len(self.mates)} of mates: name a file of mates "
                "for each file of reads, in the same order, and the reads before --mates"
            )
        mates = self.mates or []
        if twice := set(mates) & set(self.reads) - {"-"}:
            self.refuse(f"{min(twice)} is named both as reads and as mates: name the file of the second mates")
        if self.shard is not None and "-" in [*self.reads, *mates]:
            self.refuse("reads from standard input cannot be divided into shards: write them to a file first")
        if self.pipeline is not None and (self.jplace is None or output_path(self.jplace) is None):
            self.refuse("--pipeline writes a jplace file: name it with --jplace")

    def package(self) -> ReferencePackage:
        """Read or load the reference."""
        from tropalign.placement.reference import ReferencePackage
        from tropalign.sequences.alphabet import ALPHABETS

        if ReferencePackage.is_saved(self.reference):
            reason = f"{self.reference} is a saved reference, which includes its tree, alphabet and gap flags"
            self.leave_out(reason, ("tree", "alphabet", "gap_flags"))
            return ReferencePackage.load(self.reference, self.memory)
        if self.tree is None:
            self.refuse("the tree of the reference is missing: name it with --tree")
        alphabet = ALPHABETS.get(self.alphabet or "auto")
        chosen: dict[str, Any] = {"gap_flags": self.gap_flags or "compat", "n_threads": self.threads}
        return ReferencePackage.read(self.reference, self.tree, alphabet=alphabet, **chosen)

    def blocks_of_reads(
        self, package: ReferencePackage, otus: OtuTable | None
    ) -> tuple[Callable[..., Iterator[Any]], Survey | None]:
        """Return a function that opens the reads, given names in use, and a survey of them if possible."""
        from tropalign.placement.reads import opened, owning
        from tropalign.placement.scorer import check_mates
        from tropalign.results.clusters import RowOwners
        from tropalign.sequences.files import can_be_read_twice, file_name
        from tropalign.sequences.reader import survey_of

        if self.mates is not None:
            check_mates(package)

        def blocks(taken: Iterable[str] = package.names) -> Iterator[Any]:
            return opened(self.reads, self.mates, taken, self.gaps)

        is_first_of_two = all(map(can_be_read_twice, [*self.reads, *(self.mates or [])]))
        if otus is None or self.counts is None:
            return blocks, survey_of(blocks(())) if is_first_of_two else None
        owners = RowOwners(otus, file_name(self.counts))
        if not is_first_of_two:
            return lambda: owning(blocks(), owners), None
        found = survey_of(owning(blocks(), owners, settles=False))
        owners.settle()
        return blocks, found


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
        from tropalign.placement.reference import read_taxonomy
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
