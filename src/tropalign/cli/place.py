"""``tropalign place``: short reads into a reference alignment, guided by its tree."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

from tropalign.cli.options import add_device_options, add_output_options, command_line, whole

if TYPE_CHECKING:
    from tropalign.phylo import PlacementScoring, ReferencePackage
    from tropalign.results.placements import Placements

EXAMPLE = """example:
  tropalign place --reference ref.phy --tree ref.nwk reads.fq.gz -o aligned.fasta --table placed.tsv
  tropalign place --reference ref.phy --tree ref.nwk reads.fa --split -o aligned.fasta --jplace placed.jplace

Branches are numbered from 0 in the order of PaPaRa; the table names the clade below each. Coordinates are 0-based,
half-open. Exit codes: 0 done, 2 usage, 3 bad input, 4 memory, disk or device, 130 interrupted."""
SCORES = ("match", "mismatch", "on-gap", "gap-open", "gap-extend", "insert-open", "insert-extend")


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
    _add_reference_options(parser.add_argument_group("reference"))
    _add_scoring_options(parser.add_argument_group("scoring"))
    group = parser.add_argument_group("output and resources")
    add_output_options(group)
    group.add_argument(
        "-f", "--format", choices=("fasta", "phylip"), default="fasta", help="of the alignment (default: fasta)"
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
    add_device_options(group)
    parser.set_defaults(run=run, parser=parser)


def _add_reference_options(group: Any) -> None:
    group.add_argument(
        "--reference",
        required=True,
        metavar="FILE",
        help="alignment (PHYLIP, FASTA, Stockholm), or what --save-reference made",
    )
    group.add_argument("--tree", metavar="FILE", help="its tree in Newick format")
    group.add_argument("--alphabet", choices=("auto", "protein", "nucleotide"), help="(default: by the letters)")
    group.add_argument(
        "--gap-flags",
        choices=("compat", "exact", "discrete"),
        help="which columns of a branch are gaps: to the last bit as PaPaRa 2.5 (default), in closed form, or by "
        "the rules of the 2011 paper; only branches of length 0 make compat and exact differ",
    )
    group.add_argument("--save-reference", metavar="FILE", help="keep the reference ready for the next run")


def _add_scoring_options(group: Any) -> None:
    group.add_argument(
        "--strand", choices=("plus", "both"), default="plus", help="both: the better of a read's two strands"
    )
    group.add_argument(
        "--scheme",
        choices=("program", "paper"),
        default="program",
        help="PaPaRa 2.5's scores (default), or those of the paper",
    )
    for name in SCORES:
        group.add_argument(f"--{name}", type=whole(), metavar="N", help="instead of the scheme's")
    group.add_argument("--no-pruning", action="store_true", help="score every branch; the result is the same")


def run(options: argparse.Namespace) -> None:
    """Reads, places and writes."""
    from tropalign.devices.registry import selected_isa
    from tropalign.phylo import place

    _check_usage(options)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)  # a batch system's end, too, leaves no half files behind
    selected_isa()
    scoring = _scoring(options)
    package = _package(options)
    if options.save_reference:
        with _file(options.save_reference) as out:
            package.save(out)
    if not options.reads:
        return
    with ExitStack() as stack:
        outputs = _Outputs(options, package, stack)
        results = place(
            package,
            options.reads,
            scoring=scoring,
            strand=options.strand,
            prune=not options.no_pruning,
            n_threads=options.threads,
            device=options.device or "auto",
            progress=stack.enter_context(_counter(options.quiet)),
        )
        for placements in results:
            outputs.take(placements)
        outputs.finish()


def _terminate(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)


def _check_usage(options: argparse.Namespace) -> None:
    error = options.parser.error
    asks_for_reads = options.output != "-" or options.table or options.jplace or not options.save_reference
    if not options.reads and asks_for_reads:
        error("no reads are named: name a file, or - for standard input")
    if options.split and options.output == "-":
        error("--split makes two files: name the reads' one with -o")
    if options.table and not options.table.endswith((".tsv", ".parquet")):
        error(f"--table {options.table}: end the name in .tsv or .parquet")
    if options.reads.count("-") > 1:
        error("standard input can be read once: name - once")
    _check_names(options)


def _check_names(options: argparse.Namespace) -> None:
    """Every output has a name of its own, and none is an input's."""
    inputs = {
        os.path.realpath(path) for path in (*options.reads, options.reference, options.tree) if path not in (None, "-")
    }
    outputs = [options.output if options.reads else None, options.table, options.jplace, options.save_reference]
    if options.split:
        outputs.append(f"{options.output}.reference")
    seen: set[str] = set()
    for path in outputs:
        if path is None:
            continue
        name = path if path == "-" else os.path.realpath(path)
        if name in inputs:
            options.parser.error(f"{path} is an input: name another file to write to")
        if name in seen and (path == "-" or not os.path.exists(path) or os.path.isfile(path)):
            what = "standard output" if path == "-" else path
            options.parser.error(f"two outputs go to {what}: give each its own name")
        seen.add(name)


def _scoring(options: argparse.Namespace) -> PlacementScoring:
    from tropalign.phylo.scoring import SCHEMES

    given = {name.replace("-", "_"): getattr(options, name.replace("-", "_")) for name in SCORES}
    return replace(SCHEMES[options.scheme], **{name: value for name, value in given.items() if value is not None})


def _package(options: argparse.Namespace) -> ReferencePackage:
    from tropalign.phylo import ReferencePackage
    from tropalign.sequences import NUCLEOTIDE, PROTEIN

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
    alphabet = {None: None, "auto": None, "protein": PROTEIN, "nucleotide": NUCLEOTIDE}[options.alphabet]
    chosen: dict[str, Any] = {"gap_flags": options.gap_flags or "compat", "n_threads": options.threads}
    return ReferencePackage.read(options.reference, options.tree, alphabet=alphabet, **chosen)


class _Outputs:
    """The files of a run, each there only when the run is done."""

    def __init__(self, options: argparse.Namespace, package: ReferencePackage, stack: ExitStack) -> None:
        from tropalign import __version__
        from tropalign.formats.header import Header
        from tropalign.formats.placed import PlacedContext
        from tropalign.formats.registry import format_for_path, placed_writer

        header = Header(__version__, command_line(options.parser, options), {})
        context = PlacedContext(
            names=package.names,
            letters=package.letters,
            newick=package.tree.newick(),
            clades=tuple(package.tree.clades()),
            branch_lengths=package.tree.branch_lengths(),
            insertions=options.insertions,
            which="reads" if options.split else "all",
        )
        wanted = [(options.output, options.format, context)]
        if options.split:
            wanted.append((f"{options.output}.reference", options.format, replace(context, which="reference")))
        if options.table:
            wanted.append((options.table, format_for_path("placed/table", options.table), context))
        if options.jplace:
            wanted.append((options.jplace, "jplace", context))
        self.n_unplaced = 0
        self.outputs = [
            (stack.enter_context(_file(path)), placed_writer(name, header, context), _Kept(stack))
            for path, name, context in wanted
        ]

    def take(self, placements: Placements) -> None:
        """A block."""
        self.n_unplaced += int((placements.branch < 0).sum())
        for _, writer, kept in self.outputs:
            kept.add(writer.encode(placements))

    def finish(self) -> None:
        """Writes the files, and says what was not placed."""
        import warnings

        from tropalign.errors import TropalignWarning

        for out, writer, kept in self.outputs:
            writer.assemble(kept, out)
        if self.n_unplaced:
            warnings.warn(
                f"{self.n_unplaced} reads have no usable letter: they are not placed", TropalignWarning, stacklevel=2
            )


class _Kept:
    """Parts in a temporary file, to be gone through again and again."""

    def __init__(self, stack: ExitStack) -> None:
        self._file = stack.enter_context(tempfile.TemporaryFile())
        self._sizes: list[int] = []

    def add(self, part: bytes) -> None:
        """One more."""
        self._file.write(part)
        self._sizes.append(len(part))

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        for size in self._sizes:
            yield self._file.read(size)


@contextmanager
def _file(path: str) -> Iterator[BinaryIO]:
    """Standard output, a pipe or device by its name, or a file that appears under its name when the block ends well."""
    from tropalign.cli.output import output_path
    from tropalign.errors import InputError
    from tropalign.execution.parts import disk_error

    target = output_path(path)
    if target is not None and target.is_dir():
        raise InputError("the output is a directory: name a file in it", file=path)
    if target is not None and not target.parent.is_dir():
        raise InputError("there is no such directory to write to: make it first", file=str(target.parent))
    temporary = None if target is None else target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if path == "-":
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        else:
            with open(temporary or path, "wb") as out:
                yield out
            if temporary is not None and target is not None:
                os.replace(temporary, target)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise disk_error(error, "standard output" if path == "-" else path, 0) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


@contextmanager
def _counter(quiet: bool) -> Iterator[Any]:
    """Reads done, on a terminal's standard error."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:.0f} reads"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reads", total=None)
        yield lambda done: bar.update(task, completed=done)
