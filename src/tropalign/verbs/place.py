"""``tropalign place``: short reads into a reference alignment, guided by its tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from tropalign.errors import UsageError
from tropalign.formats.registry import format_names
from tropalign.options.option import Options, again, but, input_file, option, output_file
from tropalign.placement.scoring import GAP_FLAGS, ScoreOptions, StrandOption
from tropalign.verbs.command import Command, Served, read_once
from tropalign.verbs.place_pipeline import PipelineOptions, check_pipeline, opened_pipeline
from tropalign.verbs.runs import SEQUENCE_FILES, EachOption, RunOptions, carry_out, devices_of, started
from tropalign.verbs.sequence_options import SampleNameOptions, SequenceOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tropalign.execution.progress import Show
    from tropalign.placement import ReferencePackage
    from tropalign.placement.outputs import Wanted
    from tropalign.placement.task import PlaceTask
    from tropalign.results.otu_table import OtuTable
    from tropalign.sequences.blocks import Survey
    from tropalign.verbs.place_pipeline import Pipeline

Insertions = Literal["drop", "columns"]


class ResultOptions(Options, group="results"):
    """Output files."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("placed/rows"),
        role="machine",
        help="format of the alignment (default: by the suffix of -o, else fasta)",
    )
    split: bool = output_file(
        default=False,
        output="reference",
        suffix=".reference",
        follows_main=True,
        help="reads alone in -o, the reference in FILE.reference: as EPA-ng wants",
        form_help="Reads alone in the result, the reference in its own file: as EPA-ng wants",
    )
    insertions: Insertions = option(
        default="drop",
        choices=get_args(Insertions),
        label="Inserted bases",
        is_common=True,
        help="bases between columns: left out, so that the width stays (default), or in new columns",
    )
    table: str | None = output_file(
        output="table",
        suffix=".tsv",
        metavar="FILE",
        help="branch, score and place of each read, TSV or Parquet by the suffix",
    )
    jplace: str | None = output_file(
        output="jplace", suffix=".jplace", metavar="FILE", help="the best branches, for gappa and others"
    )
    taxonomy: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Lineages of the tips",
        needs="table|taxa|taxa_html|otu_table|html",
        help="lineages of the tips, a name, a tab and a;b;c per line: the table then has those of the reads",
    )
    counts: str | None = input_file(
        default=None,
        holds="table",
        metavar="FILE",
        label="Table of counts",
        needs="taxa|taxa_html|otu_table|table|jplace|html",
        excludes=("sample_delimiter", "sample_regex"),
        help="how many reads of each sample each read stands for: the table of cluster or derep (--otu-table), as "
        ".tsv, .biom or .hdf5 (default: ;size=N in names)",
        form_help="How many reads of each sample each read stands for: the table of Cluster or Dereplicate, TSV or "
        "BIOM (default: ;size=N in names)",
    )
    taxa: str | None = output_file(
        output="taxa",
        suffix=".tsv",
        needs="taxonomy",
        metavar="FILE",
        help="with --taxonomy: reads per taxon, TSV; with --counts of each sample",
        form_help="With lineages of the tips: reads per taxon, TSV; with a table of counts of each sample",
    )
    taxa_html: str | None = output_file(
        output="sunburst",
        suffix=".html",
        needs="taxonomy",
        metavar="FILE",
        help="with --taxonomy: reads per taxon as a page for the browser, lineages as rings (sunburst)",
        form_help="With lineages of the tips: reads per taxon as a page, lineages as rings (sunburst)",
    )
    otu_table: str | None = output_file(
        output="otu_table",
        suffix=".biom",
        needs={
            "counts": "--otu-table is a table of counts with lineages: name the table with --counts",
            "taxonomy": "",
        },
        metavar="FILE",
        help="with --counts and --taxonomy: that table with the lineage of each read, .tsv (QIIME's classic table) or "
        ".biom (BIOM 1.0) or .hdf5 (BIOM 2.1)",
        form_help="With a table of counts and lineages of the tips: that table with the lineage of each read, BIOM 1.0",
    )
    html: str | None = output_file(
        output="report",
        suffix=".html",
        metavar="FILE",
        help="a report for the browser: the tree with reads per branch, table, alignments",
    )

    def beside(self) -> dict[str, str | None]:
        """Return the paths of the additional files by their options."""
        names = ("taxa", "taxa_html", "otu_table", "table", "jplace", "html")
        return {name: getattr(self, name) for name in names}


class ReferenceOptions(Options, group="reference"):
    """The reference alignment and its tree."""

    reference: str = input_file(
        holds="alignment",
        metavar="FILE",
        label="Reference alignment",
        help="alignment (PHYLIP, FASTA, Stockholm), or what --save-reference made",
        form_help="Alignment (PHYLIP, FASTA, Stockholm)",
    )
    tree: str | None = input_file(
        default=None, holds="tree", metavar="FILE", label="Reference tree", help="the reference's tree (Newick, NEXUS)"
    )
    alphabet: str | None = but(
        SequenceOptions,
        "alphabet",
        default=None,
        group="reference",
        is_common=False,
        help="what the reference holds (default: judged by its letters)",
    )
    gap_flags: str | None = option(
        default=None,
        choices=GAP_FLAGS,
        label="Gaps of branches",
        help="which columns of a branch are gaps: to the last bit as PaPaRa 2.5 (default), in closed form, or by "
        "the rules of the 2011 paper; only branches of length 0 make compat and exact differ",
    )
    save_reference: str | None = option(
        default=None, metavar="FILE", role="private", help="keep the reference ready for the next run"
    )


class PruningOption(Options, group="scoring"):
    """Exhaustive scoring of branches."""

    no_pruning: bool = option(
        default=False, label="Score every branch", help="score every branch; the result is the same"
    )


#: Suffixes of additional outputs, and their options.
BESIDE = {
    ".jplace": "jplace",
    ".tsv": "table",
    ".html": "html",
    **dict.fromkeys((".biom", ".hdf5", ".h5"), "otu-table"),
}


class Place(
    Command,
    ReferenceOptions,
    StrandOption,
    ScoreOptions,
    PruningOption,
    ResultOptions,
    PipelineOptions,
    SampleNameOptions,
    RunOptions,
    EachOption,
):
    """Short reads in the columns of a reference, each on the branch of its tree that fits best."""

    verb = "place"
    summary = "align short reads into a reference alignment, guided by its tree"
    description = (
        "Aligns each read to the profile of every branch of a reference tree, keeps the best branch and writes the "
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
        help="second mates of paired ends, a file for each of READS in the same order: a pair is placed as one read",
        form_help="Second mates of paired ends, a file for each of the reads in the same order: a pair is placed as "
        "one read",
    )

    gaps: str = again(SequenceOptions, "gaps", group="reads")
    sample_delimiter: str | None = again(SampleNameOptions, "sample_delimiter", needs="html")
    sample_regex: str | None = again(SampleNameOptions, "sample_regex", needs="html")

    def check(self) -> None:
        """Reject options that do not go together."""
        from tropalign.sequences.samples import teller

        super().check()
        teller(None, self.sample_delimiter, self.sample_regex)
        self._check_reads()
        if self.shard is not None and "-" in [*self.reads, *(self.mates or [])]:
            self.refuse("reads from standard input cannot be shared out: write them to a file first")
        check_pipeline(self)

    def run(self) -> None:
        """Read, place and write."""
        self.check()
        wanted = self._wanted()
        inputs = [*self.reads, *(self.mates or []), self.reference, self.tree, self.taxonomy, self.counts]
        show = started(self, self._paths(wanted), inputs)
        with opened_pipeline(self) as pipeline:
            self._run(wanted, show, pipeline)

    def _check_reads(self) -> None:
        """Reject missing reads, and reads that are named twice."""
        asks_for_reads = self.output != "-" or any(self.beside().values()) or not self.save_reference
        if self.dry_run and not self.reads:
            self.refuse("--dry-run tells of reads: name some")
        if not self.reads and asks_for_reads:
            self.refuse("no reads are named: name a file, or - for standard input")
        if self.split and self.output == "-":
            self.refuse("--split makes two files: name the reads' one with -o")
        if self.mates is not None and len(self.mates) != len(self.reads):
            self.refuse(
                f"{len(self.reads)} files of reads, but {len(self.mates)} of mates: name as many, in the same order, "
                "and the reads before --mates"
            )
        mates = self.mates or []
        if twice := set(mates) & set(self.reads) - {"-"}:
            self.refuse(f"{min(twice)} is named as reads and as their mates: name the file of the second mates")

    def _run(self, wanted: Wanted, show: Show, pipeline: Pipeline | None) -> None:
        """Read, place and write; a pipeline may continue with the reads."""
        from tropalign import __version__
        from tropalign.devices.registry import open_devices
        from tropalign.execution.files import write_to
        from tropalign.execution.run import Run, memory_allowed
        from tropalign.formats.clusters.read_otu_tables import read_otu_table
        from tropalign.formats.format import Header
        from tropalign.placement.outputs import outputs_of, run_parameters
        from tropalign.placement.taxonomy import read_taxonomy
        from tropalign.resources.limits import left_for_job

        if pipeline is not None:
            wanted = pipeline.joined(wanted)
        allowed = memory_allowed(self.memory, _main_path(wanted)) if self.reads else self.memory or 0
        key = ("reference", self.reference, self.tree, self.alphabet, self.gap_flags)
        package = read_once(key, self._package)
        if pipeline is not None:
            pipeline.check(package)
        if self.save_reference and not self.dry_run:
            write_to(self.save_reference, package.save)
        if not self.reads:
            return
        lineages = None if self.taxonomy is None else read_taxonomy(self.taxonomy, package)
        otus = None if self.counts is None else read_otu_table(self.counts, memory_bytes=allowed)
        blocks, found = self._reads(package, otus)
        memory_bytes = left_for_job(allowed, package.held_bytes())
        page_bytes = self._page_bytes(package, found, memory_bytes)
        memory_bytes -= page_bytes
        task, devices = self._task(package, blocks, found, memory_bytes)
        settled = None if wanted.rows == "fasta" else wanted.rows  # the default is not stated
        command = self.command_line(format=settled)
        header = Header(__version__, command, self.scoring().parameters(), has_comments=not self.no_comments)
        bound = page_bytes if found is None else None  # if reads can be counted in advance, the report was checked
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
        carry_out(placing, open_devices(devices, self.threads, cost_cells, memory_bytes), self, show, 0)
        _tell_of_unusable(task)
        if pipeline is not None and self.dry_run:
            print(f"epa-ng   goes on with these reads and makes {self.jplace}: its time and memory are not estimated")
        elif pipeline is not None:
            pipeline.finish(package, header.command, otus)

    def _wanted(self) -> Wanted:
        """Return the requested files."""
        from tropalign.formats.registry import format_for_path, suffix_of
        from tropalign.placement.outputs import Wanted

        if self.format is None and (beside := BESIDE.get(suffix_of(self.output))):
            raise UsageError(f"{self.output}: -o is the alignment of the reads: write --{beside} {self.output}")
        return Wanted(
            alignment=None if self.pipeline and self.output == "-" else self.output,
            rows=self.format or format_for_path("placed/rows", self.output),
            is_split=self.split,
            insertions=self.insertions,
            table=self.table,
            jplace=self.jplace,
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

    def _package(self) -> ReferencePackage:
        """Read or load the reference."""
        from tropalign.placement import ReferencePackage
        from tropalign.sequences.alphabet import ALPHABETS

        if ReferencePackage.is_saved(self.reference):
            reason = f"{self.reference} is a saved reference, which holds its own"
            self.leave_out(reason, ("tree", "alphabet", "gap_flags"))
            return ReferencePackage.load(self.reference, self.memory)
        if self.tree is None:
            self.refuse("name the reference's tree with --tree")
        alphabet = ALPHABETS.get(self.alphabet or "auto")
        chosen: dict[str, Any] = {"gap_flags": self.gap_flags or "compat", "n_threads": self.threads}
        return ReferencePackage.read(self.reference, self.tree, alphabet=alphabet, **chosen)

    def _reads(
        self, package: ReferencePackage, otus: OtuTable | None
    ) -> tuple[Callable[..., Iterator[Any]], Survey | None]:
        """Return the reader of the reads, given names in use, and the result of a first pass, if possible."""
        from tropalign.placement.api import check_mates
        from tropalign.placement.reads import owning
        from tropalign.results.otu_table import RowOwners
        from tropalign.sequences.blocks import READS, blocks_of, survey_of, with_gaps
        from tropalign.sequences.files import can_be_read_twice, file_name
        from tropalign.sequences.mates import MatedBlocks

        mates, policy = self.mates, with_gaps(READS, self.gaps)
        if mates is not None:
            check_mates(package)

        def blocks(taken: Iterable[str] = package.names) -> Iterator[Any]:
            if mates is None:
                return iter(blocks_of(self.reads, taken, policy))
            return iter(MatedBlocks(self.reads, mates, taken, policy))

        is_first_of_two = all(map(can_be_read_twice, [*self.reads, *(mates or [])]))
        if otus is None or self.counts is None:
            return blocks, survey_of(blocks(())) if is_first_of_two else None
        owners = RowOwners(otus, file_name(self.counts))
        if not is_first_of_two:
            return lambda: owning(blocks(), owners), None
        found = survey_of(owning(blocks(), owners, settles=False))
        owners.settle()
        return blocks, found

    def _page_bytes(self, package: ReferencePackage, found: Survey | None, memory_bytes: int) -> int:
        """Return the most memory for making the report; half of the memory if the reads are a stream.

        Raises ResourceError if the report would take all remaining memory.
        """
        from tropalign.formats.placed.report import report_bytes
        from tropalign.resources.limits import require

        if self.html is None or self.shard is not None:  # merge makes that of shards
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
        from tropalign.placement.api import check_place
        from tropalign.placement.scorer import N_BEST
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
            n_threads=resolve_threads(self.threads),
            memory_bytes=memory_bytes,
            found=found,
            shard=self.shard,
        )
        return task, devices


def _main_path(wanted: Wanted) -> str:
    """Return the file next to which the run's parts are kept."""
    return wanted.alignment or wanted.query or "-"


def _tell_of_unusable(task: PlaceTask) -> None:
    """Warn of reads that were not placed."""
    import warnings

    from tropalign.errors import TropalignWarning, counted

    if task.n_unusable:
        what = counted(task.n_unusable, "pairs of mates" if task.paired else "reads")
        text = f"there is no usable letter in {what}, which cannot be placed"
        warnings.warn(text, TropalignWarning, stacklevel=2)
