"""``tropalign msa --method clustalw``: its options, and its run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tropalign.cli.options import Choices, checked, devices_of, whole

if TYPE_CHECKING:
    from tropalign.clustalw.options import ClustalwOptions
    from tropalign.execution.run import Output

OPTIONS = "tropalign.clustalw.options"
#: Options of the command line that are fields of ClustalwOptions (rules for words apart), and those that turn one off.
WORDS = ("word_length", "word_gap", "n_diagonals", "diagonal_window")
FIELDS = (
    *WORDS, "quicktree", "clustering", "series", "nucleotide_matrix", "gap_open", "gap_extend", "pw_gap_open",
    "pw_gap_extend", "delay", "gap_distance", "hydrophilic", "transition_weight", "negative_matrix",
)  # fmt: skip
RENAMED = {"compat": "is_compat", "end_gaps": "has_end_gaps", "count_end_gaps": "counts_end_gaps"}
TURNED_OFF = {
    "no_hydrophilic_gaps": "has_hydrophilic_gaps",
    "no_residue_gaps": "has_residue_gaps",
    "no_weights": "has_weights",
}


def add_clustalw_options(group: Any) -> None:
    """The options, in a group of their own."""
    group.add_argument(
        "--compat", action="store_true", help="its rounded frequencies and weights, too: the very same alignment"
    )
    group.add_argument("--quicktree", action="store_true", help="distances from words instead of alignments")
    for name, metavar, meaning in (
        ("word-length", "K", "residues of such a word (default: 1, nucleotides 2)"),
        ("word-gap", "C", "a change of the diagonal in a chain of words (default: 3, nucleotides 5)"),
        ("n-diagonals", "N", "diagonals with most words that are taken (default: 5, nucleotides 4)"),
        ("diagonal-window", "N", "and diagonals beside each of them (default: 5, nucleotides 4)"),
    ):
        group.add_argument(f"--{name}", type=whole(0), metavar=metavar, help=meaning)
    group.add_argument("--clustering", choices=Choices(OPTIONS, "CLUSTERINGS"), help="of the guide tree (default: nj)")
    group.add_argument(
        "--series", choices=Choices(OPTIONS, "PROTEIN_SERIES"), help="matrices for proteins (default: gonnet)"
    )
    group.add_argument(
        "--nucleotide-matrix",
        choices=Choices(OPTIONS, "NUCLEOTIDE_MATRICES"),
        help="matrix for nucleotides (default: iub)",
    )
    for name, of, scaled, defaults in (
        ("gap", "profiles", "lengths, matrix and column", ("10, nucleotides 15", "0.2, nucleotides 6.66")),
        ("pw-gap", "two sequences", "length and matrix", ("10, nucleotides 15", "0.1, nucleotides 6.66")),
    ):
        opening = f"cost of a gap between {of}, which CLUSTALW scales by {scaled} (default: {defaults[0]})"
        group.add_argument(f"--{name}-open", type=checked(float), metavar="C", help=opening)
        extension = f"cost of each residue of a gap between {of}, scaled, too (default: {defaults[1]})"
        group.add_argument(f"--{name}-extend", type=checked(float), metavar="C", help=extension)
    group.add_argument(
        "--delay", type=whole(0), metavar="PERCENT", help="sequences of at most this identity come last (default: 30)"
    )
    group.add_argument(
        "--gap-distance", type=whole(0), metavar="N", help="columns beside a gap where another is dear (default: 4)"
    )
    group.add_argument("--hydrophilic", metavar="LETTERS", help="in their runs gaps are cheap (default: GPSNDQEKR)")
    group.add_argument("--no-hydrophilic-gaps", action="store_true", help="they are not")
    group.add_argument("--no-residue-gaps", action="store_true", help="gaps cost the same beside every residue")
    group.add_argument(
        "--transition-weight", type=checked(float), metavar="W", help="of a match, nucleotides (default: 0.5)"
    )
    group.add_argument("--end-gaps", action="store_true", help="gaps at the ends cost what others do")
    group.add_argument("--count-end-gaps", action="store_true", help="and make further gaps beside them cheap")
    group.add_argument("--negative-matrix", action="store_true", help="scores are not raised to 0")
    group.add_argument("--no-weights", action="store_true", help="all sequences count the same")


def names_given(options: argparse.Namespace) -> list[str]:
    """Those options that are not left as they were, as the command line calls them."""
    names = (*FIELDS, *RENAMED, *TURNED_OFF)
    return [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) not in (None, False)]


def check_words(options: argparse.Namespace) -> None:
    """Refuses rules for words where there are none."""
    given = [name for name in WORDS if getattr(options, name) is not None]
    if given and not options.quicktree:
        options.parser.error(f"--{given[0].replace('_', '-')} belongs to --quicktree")


def clustalw_options(options: argparse.Namespace) -> ClustalwOptions:
    """What the command line asks for.

    Raises
    ------
    UsageError
        A word or number that an option does not take.
    """
    from tropalign.clustalw.options import ClustalwOptions

    chosen = {name: getattr(options, name) for name in FIELDS if getattr(options, name) is not None}
    chosen |= {field: getattr(options, name) for name, field in RENAMED.items()}
    chosen |= {field: not getattr(options, name) for name, field in TURNED_OFF.items()}
    return ClustalwOptions(**chosen)


def run_clustalw(options: argparse.Namespace, method: ClustalwOptions, outputs: list[Output]) -> None:
    """Reads, aligns and writes."""
    from tropalign.clustalw.given_tree import read_clustalw_tree
    from tropalign.clustalw.pipeline import align_batch, pair_cells
    from tropalign.devices.registry import open_devices
    from tropalign.execution.progress import stage_bar
    from tropalign.execution.run import memory_allowed, write_outputs
    from tropalign.machine.memory import left_for_job
    from tropalign.machine.threads import resolve_threads
    from tropalign.msa.family import read_family
    from tropalign.msa.strands import on_one_strand
    from tropalign.sequences.alphabet import ALPHABETS
    from tropalign.sequences.batch import held_bytes

    allowed = memory_allowed(options.memory, options.output)
    reading = {"is_realigned": options.realign, "skip_empty": options.skip_empty, "strict": options.strict}
    n_threads = resolve_threads(options.threads)
    batch = read_family(options.family, ALPHABETS.get(options.alphabet), **reading)
    batch = on_one_strand(batch, options.strand, n_threads)
    tree = None if options.tree_in is None else read_clustalw_tree(options.tree_in, batch.names, method)
    memory_bytes = left_for_job(allowed, held_bytes(batch))
    devices = open_devices(devices_of(options), options.threads, pair_cells(batch, method, tree), memory_bytes)
    with stage_bar(options.quiet) as progress:
        alignment = align_batch(
            batch,
            method,
            tree,
            order=options.order,
            n_threads=n_threads,
            memory_bytes=memory_bytes,
            devices=devices,
            progress=progress,
        )
    sections = {id(output): [output.writer.encode(alignment)] for output in outputs}
    write_outputs(outputs, lambda output: sections[id(output)])
