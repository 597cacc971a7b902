"""``tropalign msa``: the multiple alignment of a family."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from tropalign.cli.clustalw_options import (
    add_clustalw_options,
    check_words,
    clustalw_options,
    names_given,
    run_clustalw,
)
from tropalign.cli.options import (
    Choices,
    add_run_options,
    checked,
    command_line,
    devices_of,
    place_of,
    replayed,
    started,
    whole,
)
from tropalign.cli.runs import carry_out, print_forecast, tell_of, where_foretold
from tropalign.cli.unfinished import check_same
from tropalign.formats.registry import format_names, suffix_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tropalign.clustalw.options import ClustalwOptions
    from tropalign.execution.archive import Shards
    from tropalign.execution.run import Output
    from tropalign.execution.task import Device
    from tropalign.msa.options import MsaOptions
    from tropalign.msa.pipeline import Job

EXAMPLE = """example:
  tropalign msa family.fa -o family.aln
  tropalign msa family.fa --mode accurate -o family.sto --tree-out family.nwk --confidence family.tsv
  cat a.fa b.fa | tropalign msa - > both.afa
  tropalign msa family.fa --method clustalw -o family.aln --tree-out family.dnd
  tropalign msa old.sto --add new.fa -o all.sto

Clustal, Stockholm, PHYLIP, MSF, A3M, NEXUS by the suffix of -o, else FASTA. The alignment is the same for any number
of threads. Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
OPTIONS = "tropalign.msa.options"
METHODS = ("consistency", "clustalw")
#: The options of the command line that are fields of MsaOptions.
FIELDS = ("rules", "consistency", "through", "refine", "cutoff", "keep", "seed")


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "msa",
        help="align a family of sequences (multiple alignment)",
        description="Aligns a family by the consistency of its pairs: posteriors of all pairs, a guide tree, "
        "consistency, progressive alignment and refinement (MSAProbs, QuickProbs); or by CLUSTALW's method.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "family", nargs="+", metavar="FASTA", help="one family in one file or several, compressed or not; - is stdin"
    )
    _add_method_options(parser.add_argument_group("method"))
    add_clustalw_options(parser.add_argument_group("method clustalw"))
    _add_input_options(parser.add_argument_group("input"))
    _add_extension_options(parser.add_argument_group("into an alignment"))
    _add_result_options(parser.add_argument_group("results"))
    add_run_options(parser)
    parser.set_defaults(run=run, parser=parser, check=_check)


def _add_method_options(group: Any) -> None:
    group.add_argument(
        "--method", choices=METHODS, default="consistency", help="how families are aligned (default: consistency)"
    )
    group.add_argument(
        "--mode",
        choices=Choices(OPTIONS, "MODES"),
        help="how much time goes into the alignment (default: default, and fast for more than 500 sequences)",
    )
    group.add_argument(
        "--rules",
        choices=Choices(OPTIONS, "RULES"),
        help="whose parameters, consistency and refinement (default: by --mode)",
    )
    group.add_argument("--consistency", type=whole(0), metavar="N", help="passes of consistency (default: by --mode)")
    group.add_argument(
        "--through",
        type=whole(0),
        metavar="N",
        help="third sequences of a pass that stand for all; 0: all (default: by --mode)",
    )
    group.add_argument("--refine", type=whole(0), metavar="N", help="rounds of refinement (default: by --mode)")
    group.add_argument("--cutoff", type=checked(float), metavar="P", help="posteriors below it are dropped")
    group.add_argument(
        "--keep", type=checked(float), metavar="F", help="keep this fraction of each matrix instead; 0: by the cutoff"
    )
    group.add_argument("--seed", type=whole(0), metavar="N", help="of the random choices of refinement (default: 0)")


def _add_input_options(group: Any) -> None:
    group.add_argument(
        "--alphabet",
        choices=Choices("tropalign.sequences.alphabet", "ALPHABETS", "auto"),
        default="auto",
        help="what the sequences are (default: judged by their letters)",
    )
    group.add_argument(
        "--strand",
        choices=Choices(OPTIONS, "STRANDS"),
        default="plus",
        help="adjust: nucleotide sequences on the other strand than most of the family are turned (default: plus)",
    )
    group.add_argument("--tree-in", metavar="FILE", help="the guide tree, in Newick format (default: of distances)")
    group.add_argument("--realign", action="store_true", help="the input is aligned: its gaps are left out unsaid")
    group.add_argument("--strict", action="store_true", help="letters outside the alphabet are an error")
    group.add_argument("--skip-empty", action="store_true", help="leave empty sequences out")


def _add_extension_options(group: Any) -> None:
    either = group.add_mutually_exclusive_group()
    either.add_argument("--add", metavar="NEW", help="FASTA is an alignment, into which these sequences are aligned")
    either.add_argument("--merge", metavar="OTHER", help="FASTA is an alignment, which is aligned with this other one")
    group.add_argument("--keep-length", action="store_true", help="of --add: leave out residues that fit no column")


def _add_result_options(group: Any) -> None:
    group.add_argument(
        "-f",
        "--format",
        choices=format_names("aligned"),
        help="what to write (default: by the suffix of -o, else fasta)",
    )
    group.add_argument(
        "--order",
        choices=Choices(OPTIONS, "ORDERS"),
        default="input",
        help="of the rows: as read (default), or by the tree",
    )
    group.add_argument("--tree-out", metavar="FILE", help="the guide tree in Newick format")
    group.add_argument(
        "--confidence", metavar="FILE", help="a row per residue: its mean posterior; TSV or Parquet by the suffix"
    )
    group.add_argument("--html", metavar="FILE", help="the alignment as a page for the browser, beside the output")


def run(options: argparse.Namespace) -> None:
    """Reads, aligns and writes."""
    from tropalign.devices.registry import open_devices
    from tropalign.execution.progress import stage_bar
    from tropalign.execution.run import memory_allowed
    from tropalign.machine.memory import left_for_job
    from tropalign.machine.threads import resolve_threads
    from tropalign.msa import pipeline
    from tropalign.msa.family import read_family
    from tropalign.msa.guide_tree import read_guide_tree
    from tropalign.msa.options import options_of
    from tropalign.msa.run import MsaRun, seconds_of
    from tropalign.msa.strands import on_one_strand
    from tropalign.sequences.alphabet import ALPHABETS
    from tropalign.sequences.batch import held_bytes

    _check_usage(options)
    beside = (options.tree_out, options.confidence, options.html) if options.shard is None else ()  # merge makes others
    paths = [path for path in (options.output, *beside) if path is not None]
    started(options, paths, [*options.family, options.tree_in, options.add, options.merge], holds=True)
    chosen = {name: getattr(options, name) for name in FIELDS}
    if options.method == "clustalw":
        by_clustalw = clustalw_options(options)
        run_clustalw(options, by_clustalw, _outputs(options, by_clustalw)[0])
        return
    method = options_of(options.mode, **chosen)  # before anything is read
    if options.add is not None or options.merge is not None:
        _extend(options, method)
        return
    allowed = memory_allowed(options.memory, options.output)
    reading = {"is_realigned": options.realign, "skip_empty": options.skip_empty, "strict": options.strict}
    n_threads = resolve_threads(options.threads)
    batch = read_family(options.family, ALPHABETS.get(options.alphabet), **reading)
    batch = on_one_strand(batch, options.strand, n_threads)
    method = options_of(options.mode, len(batch), **chosen)
    outputs, wants_confidence = _outputs(options, method)
    tree = None if options.tree_in is None else read_guide_tree(options.tree_in, batch.names)
    job = pipeline.Job(batch, method, tree, options.order, wants_confidence)
    memory_bytes = left_for_job(allowed, held_bytes(batch))
    devices = open_devices(devices_of(options), options.threads, pipeline.score_cells(job), memory_bytes)
    cells = pipeline.pair_cells(job)
    if options.shard is not None:
        _shard(options, job, devices, memory_bytes, allowed)
        return
    if options.dry_run:
        seconds = seconds_of(job, devices, n_threads, memory_bytes)
        where = where_foretold(devices, options)
        print_forecast(cells, (len(batch), "sequences"), seconds, where, None, allowed)
        return
    aligning, begin = MsaRun(job, outputs, _parameters(job), allowed), time.perf_counter()
    with stage_bar(options.quiet) as progress:
        aligning.compute(devices, n_threads, memory_bytes, progress)
    if not options.quiet:
        tell_of(f"{len(batch):,} sequences", time.perf_counter() - begin, cells, [out.path for out in outputs])


def _shard(options: argparse.Namespace, job: Job, devices: Sequence[Device], memory_bytes: int, allowed: int) -> None:
    """Computes a share of the posteriors, for `finish`."""
    from tropalign.execution.manifest import RemainingWork
    from tropalign.execution.progress import progress_bar, status_only
    from tropalign.execution.run import Output, Run, StageWriter
    from tropalign.formats.registry import format_for_path
    from tropalign.msa import pipeline
    from tropalign.msa.memory import SCRATCH_SHARE
    from tropalign.msa.run import MsaRun
    from tropalign.msa.shards import FamilyShare, encoded
    from tropalign.sequences.saved_batch import batch_to_bytes

    if job.options.mode == "fast":
        options.parser.error(
            "mode fast aligns group after group and has no shards: leave --shard out, or choose --mode default"
        )
    form = options.format or format_for_path("aligned", options.output)
    tree = b"" if job.tree is None else job.tree.to_bytes()
    task = FamilyShare(job, options.shard, int(memory_bytes * SCRATCH_SHARE))
    parameters = {**_parameters(job), "format": form}
    computing = Run(
        task=task,
        outputs=[Output("posteriors", options.output, StageWriter(encoded))],
        outline=task.tiles(),
        fingerprint=MsaRun(job, [], parameters, allowed).fingerprint(),
        parameters=parameters,
        memory_bytes=allowed,
        shard=options.shard,
        unit="pairs",
        remaining=RemainingWork(replayed(options.parser, options, format=form), [batch_to_bytes(job.batch), tree]),
    )
    n_cells = pipeline.pair_cells(job) // options.shard[1]
    carry_out(computing, devices, options, status_only if options.quiet else progress_bar, n_cells)


def finish(options: argparse.Namespace, shards: Shards) -> None:
    """Aligns with the posteriors that shards hold.

    Parameters
    ----------
    options
        Of the command that made the shards, with the output and resources of the one that merges them.
    """
    from tropalign.devices.registry import open_devices
    from tropalign.execution.progress import stage_bar
    from tropalign.machine.memory import default_budget, left_for_job
    from tropalign.machine.threads import resolve_threads
    from tropalign.msa import pipeline
    from tropalign.msa.guide_tree import GuideTree
    from tropalign.msa.options import options_of
    from tropalign.msa.run import MsaRun
    from tropalign.msa.shards import ShardsKept
    from tropalign.sequences.batch import held_bytes
    from tropalign.sequences.saved_batch import batch_of_bytes

    saved, saved_tree = shards.inputs(2)
    batch = batch_of_bytes(saved)
    method = options_of(options.mode, len(batch), **{name: getattr(options, name) for name in FIELDS})
    outputs, wants_confidence = _outputs(options, method)
    tree = GuideTree.from_bytes(saved_tree, len(batch)) if saved_tree else None
    job = pipeline.Job(batch, method, tree, options.order, wants_confidence, n_shards=len(shards.tile_counts))
    allowed = options.memory or default_budget()
    memory_bytes = left_for_job(allowed, held_bytes(batch))
    aligning = MsaRun(job, outputs, _parameters(job), allowed)
    check_same(MsaRun(job, [], {**_parameters(job), "format": options.format}, allowed).fingerprint(), shards)
    devices = open_devices(devices_of(options), options.threads, pipeline.score_cells(job), memory_bytes)
    with stage_bar(options.quiet) as progress:
        n_threads = resolve_threads(options.threads)
        aligning.compute(devices, n_threads, memory_bytes, progress, ShardsKept(shards, job))


def _extend(options: argparse.Namespace, method: MsaOptions) -> None:
    """Aligns sequences or an alignment into another alignment, and writes it."""
    from tropalign.execution.progress import stage_bar
    from tropalign.execution.run import memory_allowed, write_outputs
    from tropalign.machine.memory import left_for_job
    from tropalign.msa.api import add_sequences, merge_alignments
    from tropalign.msa.family import check_kinds, read_family
    from tropalign.msa.files import read_alignment
    from tropalign.sequences.alphabet import ALPHABETS
    from tropalign.sequences.batch import held_bytes
    from tropalign.sequences.files import file_name

    outputs, _ = _outputs(options, method)
    allowed = memory_allowed(options.memory, "-")
    alphabet = ALPHABETS.get(options.alphabet)
    is_judged = alphabet is None
    alignment = read_alignment(options.family[0], alphabet=alphabet)
    if is_judged:
        check_kinds(alignment.sequences, file_name(options.family[0]))
    means = {"rules": options.rules, "cutoff": options.cutoff, "n_threads": options.threads}
    devices = devices_of(options)
    with stage_bar(options.quiet) as progress:
        if options.add is not None:
            reading = {"is_realigned": options.realign, "skip_empty": options.skip_empty, "strict": options.strict}
            new = read_family([options.add], alignment.sequences.alphabet, is_judged=is_judged, **reading)
            memory = left_for_job(allowed, held_bytes(alignment.sequences) + held_bytes(new))
            kept = {"keep_length": options.keep_length, "strand": options.strand, "memory_bytes": memory}
            found = add_sequences(alignment, new, device=devices, progress=progress, **kept, **means)
        else:
            other = read_alignment(options.merge, alphabet=alignment.sequences.alphabet)
            if is_judged:
                check_kinds(other.sequences, file_name(options.merge))
            memory = left_for_job(allowed, held_bytes(alignment.sequences) + held_bytes(other.sequences))
            found = merge_alignments(alignment, other, device=devices, progress=progress, memory_bytes=memory, **means)
    write_outputs(outputs, lambda output: [output.writer.encode(found)])


def _check(options: argparse.Namespace) -> None:
    """Refuses what can be refused before anything is read."""
    from tropalign.msa.options import options_of

    _check_usage(options)
    if options.method == "clustalw":
        clustalw_options(options)
    else:
        options_of(options.mode, **{name: getattr(options, name) for name in FIELDS})


def _check_usage(options: argparse.Namespace) -> None:
    refuse = options.parser.error
    extends = options.add is not None or options.merge is not None
    if options.shard is not None and (options.method == "clustalw" or extends):
        refuse("--shard shares out the posteriors of a family that is aligned by consistency: leave it out here")
    if options.shard is not None and options.html is not None:
        refuse("--html is for whole runs: leave it out with --shard")
    if options.html is not None and suffix_of(options.html) not in ("", ".html", ".htm"):
        refuse(f"--html {options.html}: end the name in .html (and .gz or the like to compress)")
    if [*options.family, options.tree_in, options.add, options.merge].count("-") > 1:
        refuse("standard input can be read once: name - once")
    _check_method(options)
    if options.dry_run and (options.method == "clustalw" or options.add is not None or options.merge is not None):
        refuse("--dry-run estimates the alignment of a family by consistency: leave it out here")
    extension = "--add" if options.add is not None else "--merge" if options.merge is not None else None
    if options.keep_length and options.add is None:
        refuse("--keep-length belongs to --add")
    if extension is None:
        return
    if len(options.family) > 1:
        refuse(f"{extension} takes one alignment, but {len(options.family)} files are named")
    for name in ("mode", "consistency", "through", "refine", "keep", "seed", "tree_in", "tree_out", "confidence"):
        if getattr(options, name) is not None:
            refuse(f"--{name.replace('_', '-')} has no meaning with {extension}: leave it out")
    if options.merge is not None and options.strand != "plus":
        refuse("--strand adjust turns sequences, and --merge takes both alignments as they are: leave it out")
    if options.order != "input":
        refuse(f"--order has no meaning with {extension}: leave it out")


def _check_method(options: argparse.Namespace) -> None:
    """Refuses options of the other method."""
    if options.method == "consistency":
        if given := names_given(options):
            options.parser.error(f"{given[0]} belongs to --method clustalw")
        return
    check_words(options)
    others = [name for name in ("mode", *FIELDS, "confidence", "add", "merge") if getattr(options, name) is not None]
    if others:
        options.parser.error(f"--{others[0]} has no meaning with --method clustalw: leave it out")


def _outputs(options: argparse.Namespace, method: MsaOptions | ClustalwOptions) -> tuple[list[Output], bool]:
    """The files with their writers, and whether one of them shows confidence."""
    from tropalign import __version__
    from tropalign.execution.files import check_terminal
    from tropalign.execution.run import Output
    from tropalign.formats.aligned import AlignedContext, ConfidenceFormat, title_of
    from tropalign.formats.header import Header
    from tropalign.formats.registry import format_for_path, format_of, make_writer

    name = options.format or format_for_path("aligned", options.output)
    settled = None if name == "fasta" else name
    header = Header(
        __version__,
        command_line(options.parser, options, format=settled),
        method.parameters(),
        has_comments=not options.no_comments,
    )
    wanted = [("alignment", "aligned", options.output, name)]
    if options.confidence is not None:
        chosen = format_for_path("confidence", place_of(options, "confidence") or options.confidence)
        wanted.append(("confidence", "confidence", place_of(options, "confidence"), chosen))
    if options.tree_out is not None:
        chosen = format_for_path("trees", place_of(options, "tree_out") or options.tree_out)
        wanted.append(("tree", "trees", place_of(options, "tree_out"), chosen))
    if options.html is not None:
        wanted.append(("report", "aligned", place_of(options, "html"), "html"))
    context = AlignedContext(title_of(options.family[0]))
    outputs = []
    for role, kind, path, chosen in wanted:
        writer = make_writer(kind, chosen, header, context)
        if path is not None:
            if writer.is_binary:
                check_terminal(chosen, path)
            outputs.append(Output(role, path, writer))
    return outputs, any(isinstance(format_of(kind, chosen), ConfidenceFormat) for _, kind, _, chosen in wanted)


def _parameters(job: Job) -> dict[str, str]:
    """All that decides the result, by name."""
    from tropalign import __version__

    batch = job.batch
    words = {
        "version": __version__,
        **job.options.parameters(),
        "confidence": "wanted" if job.wants_confidence else "not wanted",
        "family": f"{len(batch)} sequences of {int(batch.offsets[-1])} residues, hash {batch.fingerprint()[:16]}",
    }
    if job.tree is not None:
        words["tree"] = job.tree.newick(batch.names)
    return words
