"""``tropalign cluster``: clusters of similar sequences."""

from __future__ import annotations

import argparse
import hashlib
import shlex
import time
from typing import TYPE_CHECKING, Any

from tropalign.cli.options import (
    Choices,
    add_cluster_option,
    add_device_options,
    add_dry_run_option,
    add_memory_option,
    add_output_options,
    add_shard_option,
    command_line,
    devices_of,
    fraction,
    place_of,
    replayed,
    started,
)
from tropalign.cli.pair_options import add_alignment_options, end_gap_of, scoring_of, sequences_of
from tropalign.cli.runs import print_forecast, tell_of, where_foretold
from tropalign.cli.unfinished import check_same
from tropalign.formats.registry import format_for_path, format_names

if TYPE_CHECKING:
    from tropalign.clusters.options import ClusterOptions
    from tropalign.execution.archive import Shards
    from tropalign.execution.progress import Show
    from tropalign.execution.run import Output
    from tropalign.sequences import Alphabet, SequenceBatch

OPTIONS = "tropalign.clusters.options"
EXAMPLE = """example:
  tropalign cluster reads.fa -o clusters.tsv --representatives otus.fa --sizeout
  tropalign cluster reads.fa --min-identity 0.99 --order abundance --strand both -o clusters.uc
  tropalign cluster proteins.fa --method average --min-identity 0.4 --identity columns -o families.tsv

Every sequence is aligned with every representative that it might join; docs/cluster.md says what is spared and why.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "cluster",
        help="clusters of similar sequences",
        description="Puts sequences into clusters by exact pairwise alignment: greedily, each beside a representative, "
        "or by linkage of all pairs.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("queries", metavar="FILE", help="FASTA or FASTQ, compressed or not; - is standard input")
    _add_cluster_options(parser.add_argument_group("clusters"))
    add_alignment_options(parser.add_argument_group("alignment"), "global")
    resources = parser.add_argument_group("output and resources")
    _add_outputs(resources)
    add_device_options(resources)
    add_cluster_option(resources)
    add_memory_option(resources)
    add_dry_run_option(resources)
    add_shard_option(resources, "with --method single, complete or average: ")
    parser.set_defaults(run=run, parser=parser, check=_check_usage, targets=None, takes_stdin=True)


def _add_cluster_options(group: Any) -> None:
    group.add_argument(
        "--min-identity",
        type=fraction,
        metavar="F",
        help="what a sequence shares with its representative at the least, or linkages are cut at (default: 0.97)",
    )
    group.add_argument(
        "--identity",
        "--identity-definition",
        dest="identity",
        metavar="NAME",
        default="shorter",
        help="identical columns per residue of the shorter sequence (shorter, default, or 0: CD-HIT's), per column "
        "(columns, 1; blast, 4), per column between the first and the last pair of residues (internal, 2: vsearch's "
        "default), or 1 - (mismatches + gaps, each once) per residue of the longer sequence (openings, 3)",
    )
    group.add_argument(
        "--min-coverage",
        type=fraction,
        metavar="F",
        help="only if at least this fraction of a sequence's residues stands beside a residue",
    )
    group.add_argument(
        "--coverage-of",
        choices=Choices("tropalign.clusters.identity", "COVERAGES"),
        help="of which sequence --min-coverage speaks (default: longer)",
    )
    group.add_argument(
        "--method",
        choices=Choices(OPTIONS, "METHODS"),
        default="greedy",
        help="each sequence beside a representative (default), or linkage of all pairs",
    )
    group.add_argument(
        "--order",
        choices=Choices(OPTIONS, "ORDERS"),
        default="length",
        help="which sequences become representatives first: the longest (default), the most abundant (;size=N in the "
        "name), or those that come first",
    )
    group.add_argument(
        "--assign",
        choices=Choices(OPTIONS, "CHOICES"),
        default="best",
        help="a sequence joins the most similar representative (default), or the first that is similar enough",
    )


def _add_outputs(group: Any) -> None:
    add_output_options(group)
    group.add_argument(
        "-f",
        "--format",
        choices=format_names("clusters"),
        help="what to write (default: by the suffix of -o, else tsv)",
    )
    group.add_argument("--representatives", metavar="FILE", help="the representatives as FASTA")
    group.add_argument("--uc", metavar="FILE", help="the clusters in USEARCH's format, beside those of -o")
    group.add_argument("--sizeout", action="store_true", help="representatives get ;size=N, the reads of their cluster")


def run(options: argparse.Namespace) -> None:
    """Reads, clusters, and writes."""
    from tropalign.clusters.api import cluster_batch
    from tropalign.clusters.files import write_all
    from tropalign.machine.memory import default_budget, left_for_job
    from tropalign.sequences.batch import held_bytes

    _check_usage(options)
    beside = (options.representatives, options.uc) if options.shard is None else ()  # of shards, merge makes them
    paths = [path for path in (options.output, *beside) if path is not None]
    form = options.format or format_for_path("clusters", options.output)
    if options.representatives is not None:
        format_for_path("representatives", options.representatives)
    inputs = [options.queries] + ([options.matrix] if options.matrix is not None else [])
    show = started(options, paths, inputs, holds=True)
    batch, _ = sequences_of(options)
    allowed = options.memory or default_budget()
    memory_bytes = left_for_job(allowed, held_bytes(batch))
    chosen = _cluster_options(options, batch.alphabet)
    if options.shard is not None:
        _shard(options, batch, chosen, form, show, allowed)
        return
    outputs = _outputs(options, form, chosen)
    if options.dry_run:
        _foretell(batch, chosen, options, memory_bytes, allowed)
        return
    begin = time.perf_counter()
    with show("sequences", len(batch)) as progress:
        devices = devices_of(options)
        found = cluster_batch(batch, chosen, options.threads, memory_bytes, devices, progress)
    write_all(found, outputs)
    if not options.quiet:
        what = f"{len(batch):,} sequences, {len(found):,} clusters"
        tell_of(what, time.perf_counter() - begin, 0, [output.path for output in outputs])


def _shard(
    options: argparse.Namespace, batch: SequenceBatch, chosen: ClusterOptions, form: str, show: Show, allowed: int
) -> None:
    """Compares a share of the pairs, for `finish`."""
    from tropalign.clusters.api import compared_by
    from tropalign.clusters.linkage import LinkageTask, check_memory, encoded
    from tropalign.devices.registry import CpuDevice
    from tropalign.execution.manifest import RemainingWork
    from tropalign.execution.run import Output, Run, StageWriter
    from tropalign.machine.memory import left_for_job
    from tropalign.sequences.batch import held_bytes
    from tropalign.sequences.saved_batch import batch_to_bytes

    memory_bytes = left_for_job(allowed, held_bytes(batch))
    check_memory(len(batch), chosen.method, memory_bytes // 2)  # which merging needs
    task = LinkageTask(*compared_by(batch, chosen, options.threads, memory_bytes, devices_of(options)), options.shard)
    data, replaying = batch_to_bytes(batch), replayed(options.parser, options, format=form)
    parameters = _parameters(replaying, chosen, data)
    Run(
        task=task,
        outputs=[Output("similarities", options.output, StageWriter(encoded))],
        outline=task.tiles(),
        parameters=parameters,
        memory_bytes=allowed,
        shard=options.shard,
        unit="sequences",
        remaining=RemainingWork(replaying, [data]),
    ).compute([CpuDevice(options.threads)], show)


def finish(options: argparse.Namespace, shards: Shards) -> None:
    """Makes clusters of what shards have compared.

    Parameters
    ----------
    options
        Of the command that made the shards, with the output and resources of the one that merges them.
    """
    from tropalign.clusters.api import compared_by, linked
    from tropalign.clusters.files import write_all
    from tropalign.clusters.linkage import check_memory, labels_of, restored
    from tropalign.execution.manifest import hash_of
    from tropalign.machine.memory import default_budget, left_for_job
    from tropalign.sequences.batch import held_bytes
    from tropalign.sequences.saved_batch import batch_of_bytes

    (data,) = shards.inputs(1)
    batch = batch_of_bytes(data)
    chosen = _cluster_options(options, batch.alphabet)
    parameters = _parameters(shards.words or [], chosen, data)
    check_same(hash_of(parameters), shards)
    outputs = _outputs(options, options.format, chosen)
    memory_bytes = left_for_job(options.memory or default_budget(), held_bytes(batch))
    check_memory(len(batch), chosen.method, memory_bytes // 2)
    comparison, _ = compared_by(batch, chosen, options.threads, memory_bytes, devices_of(options))
    labels = labels_of(len(batch), chosen, restored(shards.sections(0), len(batch)))
    write_all(linked(comparison, labels), outputs)


def _parameters(words: list[str], chosen: ClusterOptions, data: bytes) -> dict[str, str]:
    """All that decides the clusters, by name."""
    from tropalign import __version__

    scores = hashlib.sha256(chosen.pairs.matrix.scores.tobytes()).hexdigest()
    read = {"scores": f"hash {scores[:16]}", "input": f"hash {hashlib.sha256(data).hexdigest()}"}
    return {"version": __version__, "options": shlex.join(words), **read, **chosen.parameters()}


def _foretell(
    batch: SequenceBatch, chosen: ClusterOptions, options: argparse.Namespace, memory_bytes: int, allowed: int
) -> None:
    from tropalign.clusters.forecast import foretold
    from tropalign.devices.registry import open_devices

    cells = int(batch.lengths.sum()) ** 2 // 8  # as `cluster_batch` reckons
    devices = open_devices(devices_of(options), options.threads, cells, memory_bytes)
    n_pairs, n_cells, seconds = foretold(batch, chosen, devices, options.threads, memory_bytes)
    what = (n_pairs, f"alignments of {len(batch):,} sequences")
    print_forecast(n_cells, what, seconds, where_foretold(devices, options), None, allowed)


def _check_usage(options: argparse.Namespace) -> None:
    from tropalign.pairwise.options import MODES

    refuse = options.parser.error
    if options.shard is not None and options.method == "greedy":
        refuse(
            "greedy clusters are decided one after another and have no shards: choose --method single, complete or "
            "average, or leave --shard out"
        )
    if options.free_ends is not None and not MODES[options.mode].frees_ends:
        refuse("--free-ends belongs to --mode semiglobal")
    of_letters = (options.match, options.mismatch, options.iupac)
    if options.matrix is not None and any(given is not None for given in of_letters):
        refuse("--matrix and --match/--mismatch/--iupac exclude each other")
    if options.coverage_of is not None and options.min_coverage is None:
        refuse("--coverage-of belongs to --min-coverage: say how much has to be covered")
    if options.sizeout and options.representatives is None:
        refuse("--sizeout belongs to --representatives: name a file for them")
    if options.method != "greedy" and options.assign != "best":
        refuse("--assign belongs to --method greedy: leave it out")


def _cluster_options(options: argparse.Namespace, alphabet: Alphabet) -> ClusterOptions:
    from tropalign.clusters.options import MIN_IDENTITY, ClusterOptions
    from tropalign.pairwise import FREE_ENDS, PairOptions

    ends = FREE_ENDS if options.free_ends is None else filter(None, options.free_ends.split(","))
    matrix, gap = scoring_of(options, alphabet)
    free = frozenset(end.strip() for end in ends)
    ends_cost = end_gap_of(options, gap)
    pairs = PairOptions(matrix, gap, options.mode, "alignment", free, options.strand, end_gap=ends_cost)
    return ClusterOptions(
        pairs,
        min_identity=MIN_IDENTITY if options.min_identity is None else options.min_identity,
        identity=options.identity,
        min_coverage=options.min_coverage,
        coverage_of=options.coverage_of or "longer",
        method=options.method,
        order=options.order,
        assign=options.assign,
    )


def _outputs(options: argparse.Namespace, form: str, chosen: ClusterOptions) -> list[Output]:
    from tropalign import __version__
    from tropalign.execution.run import Output
    from tropalign.formats.clusters import ClustersContext
    from tropalign.formats.header import Header
    from tropalign.formats.registry import make_writer

    header = Header(__version__, command_line(options.parser, options, format=form), chosen.parameters())
    context = ClustersContext(options.sizeout)
    wanted = [("clusters", form, options.output), ("representatives", "fasta", place_of(options, "representatives"))]
    wanted.append(("clusters", "uc", place_of(options, "uc")))
    return [
        Output(kind, path, make_writer(kind, name, header, context)) for kind, name, path in wanted if path is not None
    ]
