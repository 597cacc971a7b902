"""``tropalign score``: alignments against reference alignments."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tropalign.cli.options import add_output_options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tropalign.msa.accuracy import AlignmentScore

EXAMPLES = """example:
  tropalign score --reference reference.fa alignment.fa
  tropalign score --reference reference.fa tropalign.fa mafft.fa muscle.fa
  tropalign score --reference references/ alignments/ -o scores.tsv"""
COLUMNS = ("alignment", "sp", "tc", "columns", "pairs", "sequences")
#: Of the table, and of one without a suffix.
SUFFIXES = (".tsv", ".txt", "")


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "score",
        help="compare alignments with a reference",
        description="Scores multiple alignments against a reference alignment of the same sequences: SP, the share of "
        "the reference's aligned pairs of residues, and TC, the share of its columns, that an alignment reproduces.",
        epilog=EXAMPLES,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "alignments",
        nargs="+",
        metavar="ALIGNMENT",
        help="alignments to score (FASTA, PHYLIP, Stockholm, Clustal, MSF), or a directory of them if the reference is "
        "one",
    )
    parser.add_argument(
        "--reference",
        required=True,
        metavar="REFERENCE",
        help="the reference alignment, in which columns in upper case count; or a directory, whose files have the "
        "names of the alignments (suffixes aside)",
    )
    parser.add_argument(
        "--mask",
        metavar="FILE",
        help="the columns of the reference that count, instead of those in upper case: a text of as many letters, "
        "1 or x where a column counts, 0 or . elsewhere",
    )
    parser.add_argument("--all-columns", action="store_true", help="every column of the reference counts")
    add_output_options(parser)
    no_shards = "scoring alignments takes a moment and has no shards: leave --shard out"
    parser.set_defaults(run=run, parser=parser, no_shards=no_shards)


def run(options: argparse.Namespace) -> None:
    """Scores, and writes the table."""
    from tropalign.execution.files import check_outputs, hold_outputs, write_to
    from tropalign.formats.registry import suffix_of

    if options.mask is not None and (options.all_columns or os.path.isdir(options.reference)):
        options.parser.error("--mask is for one reference, and not with --all-columns: give one of them")
    if [*options.alignments, options.reference, options.mask].count("-") > 1:
        options.parser.error("standard input can be read once: name - once")
    pairs = _pairs(options)
    inputs = [path for pair in pairs for path in pair] + ([options.mask] if options.mask else [])
    check_outputs([options.output], inputs)
    hold_outputs([options.output])
    if suffix_of(options.output) not in SUFFIXES:
        options.parser.error(f"{options.output}: scores are tab-separated text: end the name in .tsv or .txt")
    found = [(test, _score(options, test, reference)) for test, reference in pairs]
    rows = [
        [test, f"{s.sp:.4f}", f"{s.tc:.4f}", *map(str, (s.n_columns, s.n_pairs, s.n_sequences))] for test, s in found
    ]
    if options.output == "-" and sys.stdout is not None and sys.stdout.isatty():
        _show(rows, [score for _, score in found])
    else:
        write_to(options.output, lambda out: _write_tsv(rows, out))


def _pairs(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The alignments, each with its reference."""
    from tropalign.errors import InputError

    tests = [path for given in options.alignments for path in _files(given)]
    if not os.path.isdir(options.reference):
        return [(test, options.reference) for test in tests]
    references: dict[str, str] = {}
    for path in _files(options.reference):
        if _stem(path) in references:
            raise InputError("another reference has this name, suffixes aside: keep one of them", file=path)
        references[_stem(path)] = path
    for test in tests:
        if _stem(test) not in references:
            raise InputError(
                f"no file of {options.reference} has this name: give references the names of their alignments",
                file=test,
            )
    return [(test, references[_stem(test)]) for test in tests]


def _files(path: str) -> list[str]:
    """The files of a directory by name, or the file itself."""
    from tropalign.errors import InputError

    if not os.path.isdir(path):
        return [path]
    names = sorted(name for name in os.listdir(path) if not name.startswith("."))
    files = [file for name in names if os.path.isfile(file := os.path.join(path, name))]
    if not files:
        raise InputError("there is no file in the directory: name another one", file=path)
    return files


def _stem(path: str) -> str:
    """The file's name without directory, compression and format."""
    from tropalign.execution.files import COMPRESSIONS

    name = Path(path)
    name = name.with_suffix("") if name.suffix in COMPRESSIONS else name
    return name.stem


def _score(options: argparse.Namespace, test: str, reference: str) -> AlignmentScore:
    from tropalign.formats.msa import read_alignment
    from tropalign.msa.accuracy import score_alignment

    mask: NDArray[np.bool_] | None = None
    if options.all_columns:
        import numpy as np

        mask = np.ones(read_alignment(reference)[1].shape[1], bool)
    elif options.mask is not None:
        mask = _read_mask(options.mask)
    return score_alignment(test, reference, mask=mask)


def _read_mask(path: str) -> NDArray[np.bool_]:
    import numpy as np

    from tropalign.errors import InputError
    from tropalign.sequences import read_lines

    text = b"".join(b"".join(line.split()) for line in read_lines(path))
    strange = text.translate(None, b"01xX.-")
    if strange or not text:
        what = f"{chr(strange[0])!r} marks no column" if strange else "the mask is empty"
        raise InputError(f"{what}: write 1 or x for columns that count, 0 or . for the others", file=path)
    return np.isin(np.frombuffer(text, np.uint8), np.frombuffer(b"1xX", np.uint8))


def _write_tsv(rows: list[list[str]], out: BinaryIO) -> None:
    from tropalign.errors import shown

    lines = ["\t".join(COLUMNS), *("\t".join([shown(row[0]), *row[1:]]) for row in rows)]
    out.write("".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace"))


def _show(rows: list[list[str]], scores: list[AlignmentScore]) -> None:
    """Columns below each other, and the means of several alignments."""
    from tropalign.errors import shown

    lines = [list(COLUMNS), *([shown(row[0]), *row[1:]] for row in rows)]
    if len(rows) > 1:
        means = [sum(getattr(score, name) for score in scores) / len(scores) for name in ("sp", "tc")]
        lines.append([f"mean of {len(rows)}", *(f"{mean:.4f}" for mean in means), "", "", ""])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        first, *others = (cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join([line[0].ljust(len(first)), *others]).rstrip())
