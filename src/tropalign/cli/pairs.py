"""``tropalign pairs``: exact pairwise alignment."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tropalign.cli.options import (
    Choices,
    add_run_options,
    decimal,
    devices_of,
    fraction,
    number,
    positive,
    started,
    whole,
)
from tropalign.cli.pair_options import (
    OPTIONS,
    add_alignment_options,
    add_translation_options,
    end_gap_of,
    pair_sides,
    scoring_of,
)
from tropalign.cli.pair_outputs import (
    Asked,
    asked_of,
    check_matrix,
    context_of,
    files_beside,
    header_of,
    room_beside,
    writer_of,
)
from tropalign.cli.runs import carry_out
from tropalign.formats.registry import format_names

if TYPE_CHECKING:
    from tropalign.pairwise import PairOptions, PairsTask
    from tropalign.sequences import Alphabet, SequenceBatch

#: Of databases, which may hold more than other numbers of options may be.
MOST_RESIDUES = 10**15
EXAMPLE = """example:
  tropalign pairs proteins.fa -o all.tsv
  tropalign pairs reads.fa genomes.fa.gz --mode semiglobal --strand both --top 5 -f paf -o best.paf

A gap of k residues costs open + k * extend. Coordinates in TSV are 0-based, half-open.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "pairs",
        help="align every pair of a set, or one set with another",
        description="Exact pairwise alignment of every pair of a set, of one set with another, or of listed pairs.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("queries", metavar="A", help="FASTA or FASTQ, compressed or not; - is standard input")
    parser.add_argument("targets", metavar="B", nargs="?", help="align A with B; without B every pair of A")
    add_alignment_options(parser.add_argument_group("alignment"))
    add_translation_options(parser.add_argument_group("translation"))
    _add_selection_options(parser.add_argument_group("which pairs"))
    _add_format_options(parser.add_argument_group("format"))
    add_run_options(parser)
    parser.set_defaults(run=run, parser=parser, check=_check, takes_stdin=True)


def _add_selection_options(group: Any) -> None:
    group.add_argument(
        "--report",
        choices=Choices(OPTIONS, "REPORTS"),
        help="scores, with start and end, or whole alignments (default; with --columns as they need it); only what "
        "is asked for is computed",
    )
    group.add_argument("--pairs", metavar="FILE", help="only the pairs in this file, two names per line")
    group.add_argument("--top", type=whole(1), metavar="K", help="the K best targets of each query")
    group.add_argument("--min-score", type=decimal, metavar="N", help="only alignments with at least this score")
    group.add_argument(
        "--min-identity", type=fraction, metavar="F", help="only alignments with at least this fraction identical"
    )
    group.add_argument(
        "--min-coverage",
        type=fraction,
        metavar="F",
        help="only alignments with at least this fraction of the longer sequence's residues beside a residue",
    )
    for side in ("query", "target"):
        group.add_argument(
            f"--min-{side}-coverage", type=fraction, metavar="F", help=f"the same of the {side}'s residues"
        )
    group.add_argument(
        "--max-evalue", type=positive, metavar="E", help="only local alignments with at most this E-value"
    )
    group.add_argument(
        "--min-bits", type=number, metavar="N", help="only local alignments with a score of at least so many bits"
    )
    group.add_argument(
        "--db-size",
        type=whole(1, MOST_RESIDUES),
        metavar="N",
        help="residues of all targets that E-values reckon with (default: those of B, without B of A)",
    )


def _add_format_options(group: Any) -> None:
    group.add_argument(
        "-f", "--format", choices=format_names("pairs"), help="what to write (default: by the suffix of -o, else tsv)"
    )
    group.add_argument(
        "--columns",
        action=_ColumnsAction,
        metavar="LIST",
        help="columns of tsv, csv, m8, jsonl, arrow, arrows, feather and parquet, such as query,target,evalue; "
        "--columns help lists them",
    )
    group.add_argument(
        "--html", metavar="FILE", help="a report for the browser beside the output: table, map with tree, alignments"
    )
    group.add_argument(
        "--plot", metavar="FILE", help="the map with its tree as a picture beside the output: .svg, .png or .pdf"
    )
    group.add_argument(
        "--matrix-values", choices=("score", "identity", "distance"), help="what --format matrix holds (default: score)"
    )
    group.add_argument(
        "--matrix-layout",
        choices=("tsv", "phylip", "npz"),
        help="of --format matrix (default: by the suffix, else tsv)",
    )


class _ColumnsAction(argparse.Action):
    """Takes a list of columns; ``help`` prints what there is, and ends."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if values == "help":
            from tropalign.formats.pairs.tables import columns_text

            print(columns_text(), end="")
            parser.exit()
        setattr(namespace, self.dest, values)


def _check(options: argparse.Namespace) -> Asked:
    """What is to be written; refuses what can be refused before anything is read."""
    from tropalign.formats.registry import check_format
    from tropalign.pairwise.reports import check_beside

    asked = asked_of(options)
    check_format("pairs", asked.format, asked.report)
    check_beside(files_beside(options), asked.report)
    return asked


def run(options: argparse.Namespace) -> None:
    """Reads, aligns and writes."""
    from tropalign.devices.registry import open_devices
    from tropalign.execution.run import Output, Run, memory_allowed
    from tropalign.formats.registry import format_of
    from tropalign.machine.memory import left_for_job
    from tropalign.pairwise import PairsTask
    from tropalign.pairwise.pair_list import read_pairs
    from tropalign.pairwise.reports import outputs_beside
    from tropalign.pairwise.translated import aligned, given
    from tropalign.sequences.batch import held_bytes

    asked = _check(options)
    matrix_file = [options.matrix] if options.matrix is not None else []
    inputs = [options.queries, options.targets, options.pairs, *matrix_file]
    show = started(options, [options.output, *files_beside(options).values()], inputs)
    allowed = memory_allowed(options.memory, options.output)
    form = format_of("pairs", asked.format)
    sides = pair_sides(options, form.wants_qualities)
    inputs_bytes = sum(
        held_bytes(batch) for side in sides if side is not None for batch in {given(side), aligned(side)}
    )
    queries, targets = given(sides[0]), None if sides[1] is None else given(sides[1])
    bytes_beside = room_beside(options, asked, len(aligned(sides[0])), len(aligned(sides[1] or sides[0])))
    memory_bytes = left_for_job(allowed, inputs_bytes + form.package_bytes + bytes_beside)
    if asked.format == "matrix":
        check_matrix(len(queries) * len(targets or queries), memory_bytes)
    pairs = None if options.pairs is None else read_pairs(options.pairs, queries, targets or queries)
    pair_options = _pair_options(options, asked.report, aligned(sides[0]).alphabet)
    task = PairsTask(*sides, pair_options, pairs, memory_bytes, options.shard, asked.column_bytes)
    context, header = context_of(options, asked, task), header_of(options, asked, task)
    outputs = [Output("alignments", options.output, writer_of(options, asked, header, context))]
    outputs += outputs_beside(files_beside(options), header, context)
    aligning = Run(
        task=task,
        outputs=outputs,
        outline=task.tiles(),
        fingerprint=task.fingerprint(),
        parameters=_parameters(asked, task, files_beside(options)),
        memory_bytes=allowed,
        shard=options.shard,
        unit="pairs",
    )
    cost_cells = sum(tile.cost_cells for tile in task.tiles())
    able = pair_options.able_devices(devices_of(options))
    devices = open_devices(able, options.threads, cost_cells, memory_bytes)
    carry_out(aligning, devices, options, show, task.n_cells)


def _parameters(asked: Asked, task: PairsTask, beside: dict[str, str]) -> dict[str, str]:
    """All that decides the parts, by name."""
    from tropalign import __version__

    words = {"version": __version__, "format": asked.format, **task.parameters}
    if asked.format == "matrix":
        words |= {"matrix_values": asked.matrix_values}
    if asked.columns is not None:
        words["columns"] = ",".join(asked.columns)
    if beside:
        words["beside"] = ", ".join(beside)
    words["queries"] = _summary(task.queries)
    if task.targets is not task.queries:
        words["targets"] = _summary(task.targets)
    return words


def _summary(batch: SequenceBatch) -> str:
    return f"{len(batch)} sequences of {int(batch.offsets[-1])} residues, hash {batch.fingerprint()[:8]}"


def _pair_options(options: argparse.Namespace, report: str, alphabet: Alphabet) -> PairOptions:
    from tropalign.pairwise import FREE_ENDS, PairOptions

    ends = FREE_ENDS if options.free_ends is None else filter(None, options.free_ends.split(","))
    matrix, gap = scoring_of(options, alphabet)
    return PairOptions(
        matrix=matrix,
        gap=gap,
        end_gap=end_gap_of(options, gap),
        mode=options.mode,
        report=report,
        free_ends=frozenset(end.strip() for end in ends),
        strand=options.strand,
        top=options.top,
        min_score=options.min_score,
        min_identity=options.min_identity,
        min_coverage=options.min_coverage,
        min_query_coverage=options.min_query_coverage,
        min_target_coverage=options.min_target_coverage,
        max_evalue=options.max_evalue,
        min_bits=options.min_bits,
        db_size=options.db_size,
    )
