"""What ``tropalign search`` and ``tropalign scan`` share: their options, and the run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tropalign.cli.options import add_run_options, command_line, devices_of, number, positive, started, whole
from tropalign.formats.registry import format_for_path, format_names, suffix_of
from tropalign.verbs.runs import carry_out

if TYPE_CHECKING:
    from tropalign.profile.options import SearchOptions, Thresholds
    from tropalign.profile.outputs import Wanted

#: Thresholds: option, and what it is of.
REPORTING = (
    ("-E", "E", "{}s"),
    ("-T", "T", "{}s"),
    ("--domE", "domE", "domains"),
    ("--domT", "domT", "domains"),
)
INCLUSION = (
    ("--incE", "incE", "{}s"),
    ("--incT", "incT", "{}s"),
    ("--incdomE", "incdomE", "domains"),
    ("--incdomT", "incdomT", "domains"),
)
CUTOFFS = {"cut_ga": "gathering", "cut_nc": "noise", "cut_tc": "trusted"}
FILTERS = ("F1", "F2", "F3")
#: What a file of queries may hold, as profile/queries.py reads it.
QUERY_KINDS = ("auto", "models", "alignment", "sequences")
QUERY_ALPHABETS = ("auto", "protein")
#: Up to which E-value the hits of a round begin the next one.
ITERATED_E = 0.001
#: Letters of a line of text that HMMER takes at least.
LEAST_WIDTH = 120


def p_value(text: str) -> float:
    """A number that is not below 0; as HMMER takes them, above 1 is as 1."""
    value = number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is below 0")
    return value


def add_options(parser: argparse.ArgumentParser, target: str) -> None:
    """Options of both verbs; `target` is what is found: "target" or "model"."""
    queries = "profile HMMs in HMMER's format, compressed or not; - is standard input"
    if target == "target":
        queries = f"queries: {queries}. An alignment makes a model, and so does each sequence in FASTA"
    parser.add_argument("models", metavar="MODELS", help=queries)
    parser.add_argument(
        "sequences", nargs="+", metavar="SEQUENCES", help="proteins as FASTA, compressed or not; - is standard input"
    )
    parser.add_argument(
        "--skip-foreign", action="store_true", help="leave models of nucleotides out, and count them in a warning"
    )
    if target == "target":
        _add_queries(parser.add_argument_group("queries"))
    else:
        parser.set_defaults(iterate=1, queries="models", alphabet="auto")
    _add_results(parser.add_argument_group("results"), target)
    _add_thresholds(parser.add_argument_group("what is reported"), REPORTING, target, "report", "10")
    group = parser.add_argument_group("what counts as significant")
    _add_thresholds(group, INCLUSION, target, "include", "0.01")
    for option, what in (("cut_ga", "gathering"), ("cut_nc", "noise"), ("cut_tc", "trusted")):
        help_text = f"report and include by each model's own {what} scores ({option[4:].upper()})"
        group.add_argument(f"--{option}", action="store_true", help=help_text)
    group.add_argument(
        "-Z", type=positive, metavar="N", help=f"E-values as if there were N {target}s (default: as many as there are)"
    )
    group.add_argument(
        "--domZ",
        type=positive,
        metavar="N",
        help=f"those of domains as if N {target}s were reported (default: as many as are)",
    )
    _add_filters(parser.add_argument_group("filters"))
    add_run_options(parser)


def _add_queries(group: Any) -> None:
    group.add_argument(
        "--queries",
        choices=QUERY_KINDS,
        default="auto",
        help="what MODELS holds (default: by its content; FASTA with gaps is an alignment)",
    )
    group.add_argument(
        "--alphabet",
        choices=QUERY_ALPHABETS,
        default="auto",
        help="auto (default) refuses an alignment or a file of sequences whose letters are all A, C, G, T, U or N, as "
        "nucleotides; protein takes them, too",
    )
    group.add_argument(
        "--iterate",
        type=whole(1),
        metavar="N",
        default=1,
        help="repeat the search up to N times, each time with a model of the included hits, as jackhmmer does; "
        f"includes E-values up to {ITERATED_E:g} (default: 1)",
    )


def _add_results(group: Any, target: str) -> None:
    group.add_argument(
        "-f", "--format", choices=format_names("hits"), help="of -o (default: by its suffix, else HMMER's text)"
    )
    for name, what in (
        ("tblout", f"HMMER's table of {target}s"),
        ("domtblout", "HMMER's table of domains"),
        ("pfamtblout", "Pfam's tables of both"),
    ):
        group.add_argument(f"--{name}", metavar="FILE", help=f"write {what}, too")
    if target == "target":
        group.add_argument("-A", dest="alignment", metavar="FILE", help="write included domains as alignments, too")
    group.add_argument(
        "--html",
        dest="report",
        metavar="FILE",
        help="write a report for the browser, too: domains along sequences, coverage of models, table, alignments",
    )
    group.add_argument("--acc", action="store_true", help="text: accessions in place of names, where there are some")
    group.add_argument("--noali", action="store_true", help="text: without alignments")
    group.add_argument("--notextw", action="store_true", help="text: lines without a bound")
    group.add_argument(
        "--textw",
        type=whole(LEAST_WIDTH),
        metavar="N",
        help=f"text: lines of N letters, {LEAST_WIDTH} (default) or more",
    )


def _add_thresholds(
    group: Any, options: tuple[tuple[str, str, str], ...], target: str, verb: str, default: str
) -> None:
    for option, name, what in options:
        if name.endswith("E"):
            text, kind, metavar = (
                f"{verb} {what.format(target)} with an E-value up to X (default: {default})",
                positive,
                "X",
            )
        else:
            text, kind, metavar = "in place of that, from a score of S bits on", number, "S"
        group.add_argument(option, type=kind, metavar=metavar, help=text)


def _add_filters(group: Any) -> None:
    for name, stage, default in zip(FILTERS, ("MSV", "Viterbi", "Forward"), ("0.02", "0.001", "0.00001"), strict=True):
        group.add_argument(
            f"--{name}", type=p_value, metavar="P", help=f"P-value up to which {stage} passes (default: {default})"
        )
    group.add_argument("--nobias", action="store_true", help="no filter for biased composition")
    group.add_argument("--max", action="store_true", help="no filter at all: slow, and finds a little more")
    group.add_argument("--nonull2", action="store_true", help="no correction of scores for biased composition")
    group.add_argument(
        "--seed",
        type=whole(0, (1 << 32) - 1),
        metavar="N",
        help="of the random numbers that tell apart overlapping domains (default: 42; 0: others in each run)",
    )


def thresholds_of(options: argparse.Namespace) -> Thresholds:
    """The thresholds that options ask for."""
    from tropalign.profile.options import Thresholds

    names = [name for _, name, _ in (*REPORTING, *INCLUSION)] + ["Z", "domZ"]
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    kinds = [kind for option, kind in CUTOFFS.items() if getattr(options, option)]
    if options.iterate > 1:
        given = {"incE": ITERATED_E, "incdomE": ITERATED_E, **given}
    return Thresholds(**given, bit_cutoffs=kinds[0] if kinds else None)


def search_options_of(options: argparse.Namespace) -> SearchOptions:
    """The filters that options ask for."""
    from tropalign.profile.options import SearchOptions

    seed = 42 if options.seed is None else options.seed
    if options.max:
        return SearchOptions.unfiltered(null2=not options.nonull2, seed=seed)
    given = {name.lower(): value for name in FILTERS if (value := getattr(options, name)) is not None}
    return SearchOptions(**given, bias_filter=not options.nobias, null2=not options.nonull2, seed=seed)


def check_usage(options: argparse.Namespace) -> None:
    """Refuses options that exclude each other."""
    refuse = options.parser.error
    for one, other in (("E", "T"), ("domE", "domT"), ("incE", "incT"), ("incdomE", "incdomT")):
        if getattr(options, one) is not None and getattr(options, other) is not None:
            refuse(f"{_option(one)} and {_option(other)} exclude each other: give one of them")
    cutoffs = [name for name in CUTOFFS if getattr(options, name)]
    given = [name for _, name, _ in (*REPORTING, *INCLUSION) if getattr(options, name) is not None]
    if len([*cutoffs, *given]) > 1 and cutoffs:
        refuse(f"--{cutoffs[0]} sets all thresholds: leave {_option([*cutoffs, *given][1])} out")
    filters = [f"--{name}" for name in FILTERS if getattr(options, name) is not None] + ["--nobias"] * options.nobias
    if cutoffs and options.iterate > 1:
        refuse(f"--{cutoffs[0]} goes by models from files, which later rounds have none of: leave it or --iterate out")
    if options.max and filters:
        refuse(f"--max switches all filters off: leave {filters[0]} out")
    if options.notextw and options.textw is not None:
        refuse("--notextw and --textw exclude each other: give one of them")
    if [options.models, *options.sequences].count("-") > 1:
        refuse("standard input can be read once: name - once")


def _option(name: str) -> str:
    return f"{'-' if len(name) == 1 else '--'}{name}"


def run_hits(options: argparse.Namespace, orientation: str) -> None:
    """Reads, searches and writes."""
    from tropalign import __version__
    from tropalign.devices.registry import open_devices
    from tropalign.execution.run import Run, memory_allowed
    from tropalign.formats.header import Header
    from tropalign.formats.registry import format_of
    from tropalign.machine.memory import left_for_job
    from tropalign.machine.threads import resolve_threads
    from tropalign.profile.api import model_source, target_source, task_of
    from tropalign.profile.outputs import context_of, outputs_of, run_parameters
    from tropalign.profile.task import least_kept_cells

    check_usage(options)
    wanted = _wanted(options)
    paths = [options.output] if options.shard is not None else [path for _, path, _ in wanted.files()]
    show = started(options, paths, [options.models, *options.sequences])
    thresholds, search_options = thresholds_of(options), search_options_of(options)
    allowed = memory_allowed(options.memory, paths[0])
    memory_bytes = left_for_job(allowed, format_of("hits", wanted.format).package_bytes)
    models = model_source(options.models, memory_bytes, options.queries, options.alphabet, options.skip_foreign)
    sequences = target_source(options.sequences, memory_bytes)
    task = task_of(
        models,
        sequences,
        search_options,
        thresholds,
        orientation=orientation,
        n_rounds=options.iterate,
        memory_bytes=memory_bytes,
        shard=options.shard,
        n_threads=resolve_threads(options.threads),
    )
    outline = task.outline()
    # Of a search in one pass the number of sequences is known at its end.
    n_targets = None if outline is None else len((sequences if orientation == "search" else models).lengths)
    context = context_of(orientation, n_targets, thresholds, search_options, **_shown(options))
    settled = None if wanted.format == "text" else wanted.format  # the default is not said
    header = Header(
        __version__, command_line(options.parser, options, format=settled), {}, has_comments=not options.no_comments
    )
    outputs = outputs_of(wanted, header, context, options.shard is not None)
    cost_cells = sum(tile.cost_cells for tile in outline or ())
    # What takes a moment is not kept: hashing and writing would take longer than to repeat it.
    is_kept = options.shard is not None or cost_cells >= least_kept_cells()
    parameters = run_parameters(task, models, sequences, outputs, __version__) if is_kept else {}
    searching = Run(
        task=task,
        outputs=outputs,
        outline=outline if is_kept else None,
        parameters=parameters,
        memory_bytes=allowed,
        shard=options.shard,
        unit="comparisons",
    )
    devices = open_devices(devices_of(options), options.threads, cost_cells, memory_bytes)
    carry_out(searching, devices, options, show, cost_cells)


def _wanted(options: argparse.Namespace) -> Wanted:
    from tropalign.profile.outputs import TABLES, Wanted

    name = options.format or format_for_path("hits", options.output)
    if options.report is not None and suffix_of(options.report) not in ("", ".html", ".htm"):
        options.parser.error(f"--html {options.report}: end the name in .html (and .gz or the like to compress)")
    return Wanted(options.output, name, {role: getattr(options, role, None) for role in TABLES})


def _shown(options: argparse.Namespace) -> dict[str, Any]:
    """Where it came from, and how text looks."""
    return {
        "models": options.models,
        "sequences": " ".join(options.sequences),
        "text_width": 0 if options.notextw else options.textw or LEAST_WIDTH,
        "shows_alignments": not options.noali,
        "shows_accessions": options.acc,
    }
