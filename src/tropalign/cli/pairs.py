"""``tropalign pairs``: exact pairwise alignment."""

from __future__ import annotations

import argparse
from typing import Any

from tropalign.cli.options import add_run_options, checked, whole

EXAMPLE = """example:
  tropalign pairs proteins.fa -o all.tsv
  tropalign pairs reads.fa genomes.fa.gz --mode semiglobal --strand both --top 5 -f paf -o best.paf

A gap of k residues costs open + k * extend. Coordinates in TSV are 0-based, half-open."""


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "pairs",
        help="align every pair of a set, or one set with another",
        description="Exact pairwise alignment of every pair of a set, of one set with another, or of listed pairs.",
        epilog=EXAMPLE,
        formatter_class=formatter,
    )
    parser.add_argument("queries", metavar="A", help="FASTA or FASTQ, compressed or not; - is standard input")
    parser.add_argument("targets", metavar="B", nargs="?", help="align A with B; without B every pair of A")
    how = parser.add_argument_group("alignment")
    how.add_argument("--mode", choices=("local", "global", "semiglobal"), default="local", help="(default: local)")
    how.add_argument(
        "--free-ends",
        metavar="LIST",
        help="with semiglobal: which of query-start,query-end,target-start,target-end are free (default: all)",
    )
    how.add_argument("--matrix", metavar="NAME|FILE", help="substitution matrix (default: BLOSUM62; nucleotides 5/-4)")
    how.add_argument("--match", type=int, metavar="N", help="score of equal letters, in place of a matrix")
    how.add_argument("--mismatch", type=int, metavar="N", help="score of different letters (negative)")
    how.add_argument("--gap-open", type=int, metavar="N", help="default: 11, nucleotides 10")
    how.add_argument(
        "--gap-extend", type=int, metavar="N", help="for each residue of a gap, the first too (default: 1)"
    )
    how.add_argument("--strand", choices=("plus", "both"), default="plus", help="both: also the query's other strand")
    how.add_argument("--alphabet", choices=("auto", "protein", "nucleotide"), default="auto")
    what = parser.add_argument_group("which pairs, and what of them")
    what.add_argument(
        "--report", choices=("score", "ends", "alignment"), default="alignment", help="(default: alignment)"
    )
    what.add_argument("--pairs", metavar="FILE", help="only the pairs in this file, two names a line")
    what.add_argument("--top", type=checked(whole(1)), metavar="K", help="the K best targets of each query")
    what.add_argument("--min-score", type=int, metavar="N")
    what.add_argument("--min-identity", type=float, metavar="F", help="a fraction, 0 to 1")
    what.add_argument("--strict", action="store_true", help="letters outside the alphabet are an error")
    what.add_argument("--skip-empty", action="store_true", help="leave empty sequences out")
    what.add_argument(
        "-f",
        "--format",
        choices=("tsv", "paf", "sam", "srspair", "fasta", "parquet", "arrow", "feather", "matrix"),
        help="default: by the suffix of -o, else tsv",
    )
    what.add_argument("--matrix-values", choices=("score", "identity", "distance"), default="score")
    what.add_argument(
        "--matrix-layout", choices=("tsv", "phylip", "npz"), help="of --format matrix (default: by the suffix)"
    )
    add_run_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Reads, aligns and writes."""
    from tropalign import __version__
    from tropalign.cli.output import write_result
    from tropalign.errors import InputError
    from tropalign.formats.writers import Context, writer_for
    from tropalign.pairwise import FREE_ENDS, PairOptions, PairsTask
    from tropalign.pairwise.options import UsageError
    from tropalign.sequences import NUCLEOTIDE, PROTEIN, read_sequences

    if options.free_ends is not None and options.mode != "semiglobal":
        raise UsageError("--free-ends belongs to --mode semiglobal")
    output = None if options.output == "-" else options.output
    report = options.report
    name = options.format or (None if output is None else writer_for(None, output, "alignment").name)
    if name == "matrix":
        if options.matrix_values == "score":
            report = "score"
        _check_matrix(options)
    writer = writer_for(name, output, report)

    alphabet = {"auto": None, "protein": PROTEIN, "nucleotide": NUCLEOTIDE}[options.alphabet]
    reading = {"skip_empty": options.skip_empty, "strict": options.strict}
    queries = read_sequences(options.queries, alphabet=alphabet, **reading)
    targets = None
    if options.targets is not None:
        if options.targets == options.queries == "-":
            raise InputError("A and B cannot both be standard input")
        targets = read_sequences(options.targets, alphabet=alphabet or queries.alphabet, **reading)
    matrix, gap = _scoring(options, queries.alphabet)
    free = frozenset(FREE_ENDS if options.free_ends is None else filter(None, options.free_ends.split(",")))
    pairs = None if options.pairs is None else _read_pairs(options.pairs, queries, targets or queries)
    task = PairsTask(
        queries,
        targets,
        PairOptions(
            matrix,
            gap,
            options.mode,
            report,
            free,
            options.strand,
            options.top,
            options.min_score,
            options.min_identity,
        ),
        pairs,
        options.memory,
    )
    context = Context(
        __version__,
        options.command,
        task.parameters,
        queries,
        task.targets,
        report,
        options.strand == "both",
        task.is_triangle,
        options.matrix_values,
        options.matrix_layout or _layout(output),
        matrix,
        gap,
    )
    write_result(task, task.n_pairs, writer, context, options)


def _layout(output: str | None) -> str:
    suffix = "" if output is None else output.rsplit(".", 1)[-1]
    return {"npz": "npz", "phy": "phylip", "dist": "phylip"}.get(suffix, "tsv")


def _check_matrix(options: argparse.Namespace) -> None:
    from tropalign.pairwise.options import UsageError

    for name in ("top", "min_score", "min_identity", "pairs"):
        if getattr(options, name) is not None:
            raise UsageError(f"--format matrix holds every pair: leave --{name.replace('_', '-')} out")


def _scoring(options: argparse.Namespace, alphabet: Any) -> tuple[Any, Any]:
    from tropalign.pairwise.api import default_scoring
    from tropalign.pairwise.options import UsageError
    from tropalign.scoring import Gap, SubstitutionMatrix

    matrix: Any = None
    if options.matrix is not None:
        if options.match is not None or options.mismatch is not None:
            raise UsageError("--matrix and --match/--mismatch exclude each other")
        matrix = SubstitutionMatrix.load(options.matrix, alphabet)
    elif options.match is not None or options.mismatch is not None:
        match = 5 if options.match is None else options.match
        matrix = SubstitutionMatrix.match_mismatch(
            match, -4 if options.mismatch is None else options.mismatch, alphabet
        )
    matrix, gap = default_scoring(alphabet, matrix, None)
    return matrix, Gap(
        gap.open if options.gap_open is None else options.gap_open,
        gap.extend if options.gap_extend is None else options.gap_extend,
    )


def _read_pairs(path: str, queries: Any, targets: Any) -> Any:
    import numpy as np
    import xopen

    from tropalign.errors import InputError

    places = ({n: k for k, n in enumerate(queries.names)}, {n: k for k, n in enumerate(targets.names)})
    pairs = []
    try:
        with xopen.xopen(path, "r") as lines:
            for number, line in enumerate(lines, 1):
                words = line.split()
                if not words or line.startswith("#"):
                    continue
                if len(words) < 2:
                    raise InputError("a line has to hold two names", file=path, line=number)
                for word, place in zip(words, places, strict=False):
                    if word not in place:
                        raise InputError("there is no sequence of this name", file=path, line=number, record=word)
                pairs.append((places[0][words[0]], places[1][words[1]]))
    except OSError as error:
        raise InputError(f"the list of pairs cannot be read ({error.strerror})", file=path) from None
    if not pairs:
        raise InputError("the list holds no pair", file=path)
    return np.array(pairs, np.int64)
