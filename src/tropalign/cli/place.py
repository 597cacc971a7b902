"""``tropalign place``: short reads into a reference alignment, guided by its tree."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tropalign.cli.options import Choices, add_run_options, command_line, devices_of, started, whole
from tropalign.cli.place_pipeline import Pipeline, add_pipeline_options, check_pipeline, opened_pipeline
from tropalign.cli.runs import carry_out
from tropalign.formats.registry import format_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tropalign.execution.progress import Show
    from tropalign.phylo import PlacementScoring, ReferencePackage
    from tropalign.phylo.outputs import Wanted
    from tropalign.phylo.task import PlaceTask
    from tropalign.sequences.blocks import Survey

EXAMPLE = """example:
  tropalign place --reference ref.phy --tree ref.nwk reads.fq.gz -o aligned.fasta --table placed.tsv
  tropalign place --reference ref.phy --tree ref.nwk reads.fa --split -o aligned.fasta --jplace placed.jplace
  tropalign place --reference ref.phy --tree ref.nwk reads.fa --pipeline epa-ng --model ref.bestModel --jplace x.jplace

Branches are numbered from 0 in the order of PaPaRa; the table names the clade below each. Coordinates are 0-based,
half-open. Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
#: What scores and costs are of; the first number is the default, the second one that of --scheme paper.
SCORES = {
    "match": ("score of a base on a column that may hold it", 2, 0),
    "mismatch": ("score of a base on another column", 0, -3),
    "on-gap": ("added where a base stands on a column that is a gap there", -3, -3),
    "gap-open": ("whole cost of the first column that the read leaves out, to which pairs adds --gap-extend", 3, 4),
    "gap-extend": ("cost of each further column that it leaves out", 1, 1),
    "insert-open": ("whole cost of the first base between two columns", 3, 3),
    "insert-extend": ("cost of each further base there", 1, 3),
}


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "place",
        help="align short reads into a reference alignment, guided by its tree",
        description="Aligns each read to the profile of every branch of a reference tree, keeps the best branch and "
        "writes the read into the columns of the reference (PaPaRa).",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "reads", nargs="*", metavar="READS", help="FASTA or FASTQ, compressed or not; - is standard input"
    )
    parser.add_argument(
        "--mates",
        nargs="+",
        metavar="FILE",
        help="second mates of paired ends, a file for each of READS in the same order: a pair is placed as one read",
    )
    _add_reference_options(parser.add_argument_group("reference"))
    _add_scoring_options(parser.add_argument_group("scoring"))
    _add_result_options(parser.add_argument_group("results"))
    add_pipeline_options(parser.add_argument_group("likelihoods"))
    add_run_options(parser)
    parser.set_defaults(run=run, parser=parser, check=_check)


def _add_reference_options(group: Any) -> None:
    group.add_argument(
        "--reference",
        required=True,
        metavar="FILE",
        help="alignment (PHYLIP, FASTA, Stockholm), or what --save-reference made",
    )
    group.add_argument("--tree", metavar="FILE", help="its tree in Newick format")
    group.add_argument(
        "--alphabet",
        choices=Choices("tropalign.sequences.alphabet", "ALPHABETS", "auto"),
        help="what the reference holds (default: judged by its letters)",
    )
    group.add_argument(
        "--gap-flags",
        choices=("compat", "exact", "discrete"),
        help="which columns of a branch are gaps: to the last bit as PaPaRa 2.5 (default), in closed form, or by "
        "the rules of the 2011 paper; only branches of length 0 make compat and exact differ",
    )
    group.add_argument("--save-reference", metavar="FILE", help="keep the reference ready for the next run")


def _add_scoring_options(group: Any) -> None:
    group.add_argument(
        "--strand",
        choices=("plus", "both"),
        default="plus",
        help="both: the better of a read's two strands (default: plus)",
    )
    group.add_argument(
        "--scheme",
        choices=("program", "paper"),
        default="program",
        help="PaPaRa 2.5's scores (default), or those of the paper",
    )
    for name, (meaning, program, paper) in SCORES.items():
        text = f"{meaning} (default: {program}; {paper} with --scheme paper)"
        group.add_argument(f"--{name}", type=whole(), metavar="N", help=text)
    group.add_argument("--no-pruning", action="store_true", help="score every branch; the result is the same")


def _add_result_options(group: Any) -> None:
    group.add_argument(
        "-f",
        "--format",
        choices=format_names("placed/rows"),
        help="of the alignment (default: by the suffix of -o, else fasta)",
    )
    group.add_argument(
        "--split", action="store_true", help="reads alone in -o, the reference in FILE.reference: as EPA-ng wants"
    )
    group.add_argument(
        "--insertions",
        choices=("drop", "columns"),
        default="drop",
        help="bases between columns: left out, so that the width stays (default), or in new columns",
    )
    group.add_argument(
        "--table", metavar="FILE", help="branch, score and place of each read, TSV or Parquet by the suffix"
    )
    group.add_argument("--jplace", metavar="FILE", help="the best branches, for gappa and others")
    group.add_argument(
        "--taxonomy",
        metavar="FILE",
        help="lineages of the tips, a name, a tab and a;b;c per line: the table then has those of the reads",
    )
    group.add_argument("--taxa", metavar="FILE", help="with --taxonomy: reads per taxon, TSV")
    group.add_argument(
        "--html", metavar="FILE", help="a report for the browser: the tree with reads per branch, table, alignments"
    )


def run(options: argparse.Namespace) -> None:
    """Reads, places and writes."""
    _check(options)
    wanted = _wanted(options)
    inputs = [*options.reads, *(options.mates or []), options.reference, options.tree, options.taxonomy]
    show = started(options, _paths(options, wanted), inputs)
    with opened_pipeline(options) as pipeline:
        _run(options, wanted, show, pipeline)


def _run(options: argparse.Namespace, wanted: Wanted, show: Show, pipeline: Pipeline | None) -> None:
    from tropalign import __version__
    from tropalign.devices.registry import open_devices
    from tropalign.execution.files import write_to
    from tropalign.execution.run import Run, memory_allowed
    from tropalign.formats.header import Header
    from tropalign.machine.memory import left_for_job
    from tropalign.phylo.outputs import outputs_of, run_parameters
    from tropalign.phylo.taxonomy import read_taxonomy

    if pipeline is not None:
        wanted = pipeline.joined(wanted)
    allowed = memory_allowed(options.memory, _main_path(wanted)) if options.reads else options.memory or 0
    package = _package(options)
    if pipeline is not None:
        pipeline.check(package)
    if options.save_reference and not options.dry_run:
        write_to(options.save_reference, package.save)
    if not options.reads:
        return
    lineages = None if options.taxonomy is None else read_taxonomy(options.taxonomy, package)
    blocks, found = _reads(options, package)
    memory_bytes = left_for_job(allowed, package.held_bytes())
    page_bytes = _page_bytes(options, package, found, memory_bytes)
    memory_bytes -= page_bytes
    task, devices = _task(options, package, blocks, found, memory_bytes)
    settled = None if wanted.rows == "fasta" else wanted.rows  # the default is not said
    command = command_line(options.parser, options, format=settled)
    header = Header(__version__, command, _scoring(options).parameters(), has_comments=not options.no_comments)
    bound = page_bytes if found is None else None  # of reads that can be counted before, the page was checked
    outputs = outputs_of(package, header, wanted, options.shard is not None, lineages, bound)
    parameters = {} if found is None else run_parameters(task, found, outputs, wanted.insertions, __version__, lineages)
    placing = Run(
        task=task,
        outputs=outputs,
        outline=task.outline(),
        parameters=parameters,
        memory_bytes=allowed,
        shard=options.shard,
        unit="reads",
    )
    cost_cells = sum(tile.cost_cells for tile in placing.outline or ()) or task.cost_cells(1 << 20)
    carry_out(placing, open_devices(devices, options.threads, cost_cells, memory_bytes), options, show, 0)
    _tell_of_unusable(task)
    if pipeline is not None and options.dry_run:
        print(f"epa-ng   goes on with these reads and makes {options.jplace}: its time and memory are not estimated")
    elif pipeline is not None:
        pipeline.finish(package, header.command)


def _check(options: argparse.Namespace) -> None:
    _check_usage(options)
    check_pipeline(options)


def _check_usage(options: argparse.Namespace) -> None:
    error = options.parser.error
    beside = options.table or options.jplace or options.taxa or options.html
    asks_for_reads = options.output != "-" or beside or not options.save_reference
    if options.dry_run and not options.reads:
        error("--dry-run tells of reads: name some")
    if not options.reads and asks_for_reads:
        error("no reads are named: name a file, or - for standard input")
    if options.split and options.output == "-":
        error("--split makes two files: name the reads' one with -o")
    if options.mates is not None and len(options.mates) != len(options.reads):
        error(
            f"{len(options.reads)} files of reads, but {len(options.mates)} of mates: name as many, in the same order, "
            "and the reads before --mates"
        )
    mates = options.mates or []
    if twice := set(mates) & set(options.reads) - {"-"}:
        error(f"{min(twice)} is named as reads and as their mates: name the file of the second mates")
    if [*options.reads, *mates, options.reference, options.tree, options.taxonomy].count("-") > 1:
        error("standard input can be read once: name - once")
    if options.taxonomy and not (options.table or options.taxa or options.html):
        error("--taxonomy is for --table, --taxa or --html: name a file with one of them")
    if options.taxa and not options.taxonomy:
        error("--taxa needs the lineages of the tips: name their table with --taxonomy")
    if options.shard is not None and "-" in [*options.reads, *mates]:
        error("reads from standard input cannot be shared out: write them to a file first")


def _wanted(options: argparse.Namespace) -> Wanted:
    from tropalign.formats.registry import format_for_path
    from tropalign.phylo.outputs import Wanted

    return Wanted(
        alignment=None if options.pipeline and options.output == "-" else options.output,
        rows=options.format or format_for_path("placed/rows", options.output),
        is_split=options.split,
        insertions=options.insertions,
        table=options.table,
        jplace=options.jplace,
        taxa=options.taxa,
        report=options.html,
    )


def _main_path(wanted: Wanted) -> str:
    """The file beside which the run's parts lie."""
    return wanted.alignment or wanted.query or "-"


def _paths(options: argparse.Namespace, wanted: Wanted) -> list[str]:
    """The files that will be written; of a shard the one."""
    named = [] if options.save_reference is None else [options.save_reference]
    if options.reads:
        named += [options.output] if options.shard is not None else wanted.paths()
    return named


def _scoring(options: argparse.Namespace) -> PlacementScoring:
    from dataclasses import replace

    from tropalign.phylo.scoring import SCHEMES

    given = {name.replace("-", "_"): getattr(options, name.replace("-", "_")) for name in SCORES}
    return replace(SCHEMES[options.scheme], **{name: value for name, value in given.items() if value is not None})


def _package(options: argparse.Namespace) -> ReferencePackage:
    from tropalign.phylo import ReferencePackage
    from tropalign.sequences.alphabet import ALPHABETS

    if ReferencePackage.is_saved(options.reference):
        for name in ("tree", "alphabet", "gap_flags"):
            if getattr(options, name) is not None:
                option = f"--{name.replace('_', '-')}"
                options.parser.error(
                    f"{options.reference} is a saved reference, which holds its own: leave {option} out"
                )
        return ReferencePackage.load(options.reference)
    if options.tree is None:
        options.parser.error("name the reference's tree with --tree")
    alphabet = ALPHABETS.get(options.alphabet or "auto")
    chosen: dict[str, Any] = {"gap_flags": options.gap_flags or "compat", "n_threads": options.threads}
    return ReferencePackage.read(options.reference, options.tree, alphabet=alphabet, **chosen)


def _reads(
    options: argparse.Namespace, package: ReferencePackage
) -> tuple[Callable[..., Iterator[Any]], Survey | None]:
    """What reads them anew for the names that are taken; what a first pass found, where they can be read twice."""
    from tropalign.phylo.api import check_mates
    from tropalign.sequences.blocks import blocks_of, survey_of
    from tropalign.sequences.files import can_be_read_twice
    from tropalign.sequences.mates import MatedBlocks

    mates = options.mates
    if mates is not None:
        check_mates(package)

    def blocks(taken: Iterable[str] = package.names) -> Iterator[Any]:
        return iter(blocks_of(options.reads, taken) if mates is None else MatedBlocks(options.reads, mates, taken))

    files = [*options.reads, *(mates or [])]
    return blocks, survey_of(blocks(())) if all(map(can_be_read_twice, files)) else None


def _page_bytes(options: argparse.Namespace, package: ReferencePackage, found: Survey | None, memory_bytes: int) -> int:
    """What the report takes while it is made, at the most; half of the memory where the reads are a stream.

    Raises
    ------
    ResourceError
        The page takes all memory that is left.
    """
    from tropalign.formats.placed.report import report_bytes
    from tropalign.machine.memory import require

    if options.html is None or options.shard is not None:  # of shards, merge makes it
        return 0
    if found is None:
        return memory_bytes // 2
    needed = report_bytes(found.n_reads, int(found.lengths.sum()), package.letters.size)
    remedy = "allow more with --memory, or leave --html out"
    require(needed + (1 << 20), memory_bytes, f"the report of {found.n_reads:,} reads", remedy)
    return needed


def _task(
    options: argparse.Namespace,
    package: ReferencePackage,
    blocks: Callable[..., Iterator[Any]],
    found: Survey | None,
    memory_bytes: int,
) -> tuple[PlaceTask, list[str]]:
    """What to compute, and the devices."""
    from tropalign.machine.threads import resolve_threads
    from tropalign.phylo.api import check_place
    from tropalign.phylo.scorer import N_BEST
    from tropalign.phylo.task import PlaceTask

    scoring = _scoring(options)
    devices = check_place(package, scoring, options.strand, devices_of(options))
    task = PlaceTask(
        package,
        blocks,
        scoring,
        n_best=0 if options.no_pruning or options.mates else N_BEST,
        paired=options.mates is not None,
        both_strands=options.strand == "both",
        n_threads=resolve_threads(options.threads),
        memory_bytes=memory_bytes,
        lengths=None if found is None else found.lengths,
        shard=options.shard,
    )
    return task, devices


def _tell_of_unusable(task: PlaceTask) -> None:
    import warnings

    from tropalign.errors import TropalignWarning

    if task.n_unusable:
        text = f"{task.n_unusable} reads have no usable letter: they are not placed"
        warnings.warn(text, TropalignWarning, stacklevel=2)
