"""``tropalign score``: alignments against reference alignments."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tropalign.formats.format import TSV, Format
from tropalign.options.option import input_file, option, output_file
from tropalign.verbs.command import Command, OutputOptions, Served

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tropalign.msa.accuracy import AlignmentScore

COLUMNS = ("alignment", "sp", "tc", "columns", "pairs", "sequences")
#: Suffixes of the table, which may have no suffix.
SUFFIXES = (".tsv", ".txt", "")


class Score(Command, OutputOptions):
    """Alignments against reference alignments."""

    verb = "score"
    summary = "compare alignments with a reference"
    description = (
        "Score multiple alignments against a reference alignment of the same sequences: SP is the fraction of the "
        "reference's aligned residue pairs that an alignment reproduces, and TC the fraction of its columns."
    )
    example = """example:
  tropalign score --reference reference.fa alignment.fa
  tropalign score --reference reference.fa tropalign.fa mafft.fa muscle.fa
  tropalign score --reference references/ alignments/ -o scores.tsv
  tropalign score --reference reference.fa alignment.fa --html compared.html"""
    served = Served(
        title="Score alignments",
        kind="",
        format=Format(*TSV),
        example={"alignments": "efp_clustalw.fasta", "reference": "efp_aligned.fasta"},
        example_options={"all_columns": True},
    )
    no_shards = "scoring alignments takes a moment, so there are no shards: leave --shard out"

    alignments: list[str] = input_file(
        flags=(),
        many="+",
        metavar="ALIGNMENT",
        holds="alignment",
        help="alignments to score (FASTA, PHYLIP, Stockholm, Clustal, MSF), or a directory of them if the reference is "
        "one",
        form_help="Alignments to score (FASTA, PHYLIP, Stockholm, Clustal, MSF)",
    )
    reference: str = input_file(
        metavar="REFERENCE",
        holds="alignment",
        label="Reference alignment",
        help="reference alignment, in which columns in upper case count; or a directory of files with the names of "
        "the alignments (ignoring suffixes)",
        form_help="Reference alignment, in which columns in upper case count",
    )
    reference_columns: str | None = input_file(
        default=None,
        metavar="FILE",
        holds="table",
        label="Columns that count",
        help="columns of the reference that count, instead of those in upper case: a text with one character per "
        "column, 1 or x if it counts, 0 or . if not",
    )
    html: str | None = output_file(
        output="report",
        suffix=".html",
        metavar="FILE",
        help="HTML page of one alignment, with the residues of both alignments coloured by agreement",
    )
    all_columns: bool = option(
        default=False, label="All columns count", is_common=True, help="count every column of the reference"
    )

    def run(self) -> None:
        """Score, and write the table."""
        from tropalign.errors import shown
        from tropalign.execution.files import check_outputs, check_terminal, hold_outputs, write_to
        from tropalign.formats.format import suffix_of

        self.check()
        if self.reference_columns is not None and (self.all_columns or os.path.isdir(self.reference)):
            self.refuse(
                "--reference-columns applies to a single reference, and not with --all-columns: leave one of them out"
            )
        pairs = _pairs(self)
        if self.html is not None:
            if len(pairs) > 1:
                self.refuse("--html shows one alignment: name one, or leave --html out")
            check_terminal("html", self.html)
        inputs = [path for pair in pairs for path in pair] + (
            [self.reference_columns] if self.reference_columns else []
        )
        outputs = list(self.places().values())
        check_outputs(outputs, inputs)
        hold_outputs(outputs)
        if suffix_of(self.output) not in SUFFIXES:
            self.refuse(f"{self.output}: scores are tab-separated text: end the name in .tsv or .txt")
        found = [(test, _score(self, test, reference)) for test, reference in pairs]
        if self.html is not None:
            from tropalign import __version__
            from tropalign.formats.aligned import AlignedContext, title_of
            from tropalign.formats.format import Header, make_writer
            from tropalign.msa.accuracy import agreement

            test, reference = pairs[0]
            agreed = agreement(test, reference, reference_columns=_mask(self, reference))
            context = AlignedContext(f"{title_of(test)} and {title_of(reference)}")
            writer = make_writer("aligned/agreement", "html", Header(__version__, self.command_line(), {}), context)
            write_to(self.html, lambda out: writer.assemble([writer.encode(agreed)], out))
        rows = [
            [test, f"{s.sp:.4f}", f"{s.tc:.4f}", *map(str, (s.n_columns, s.n_pairs, s.n_sequences))]
            for test, s in found
        ]
        if self.output == "-" and sys.stdout is not None and sys.stdout.isatty():
            _show(rows, [score for _, score in found])
        else:
            lines = ["\t".join(COLUMNS), *("\t".join([shown(row[0]), *row[1:]]) for row in rows)]
            text = "".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace")
            write_to(self.output, lambda out: out.writelines([text]))


def _pairs(options: Score) -> list[tuple[str, str]]:
    """Return the alignments, each with its reference."""
    from tropalign.errors import InputError

    tests = [path for given in options.alignments for path in _files(given)]
    if not os.path.isdir(options.reference):
        return [(test, options.reference) for test in tests]
    references: dict[str, str] = {}
    for path in _files(options.reference):
        if _stem(path) in references:
            raise InputError("another reference has this name without suffixes: keep one of them", file=path)
        references[_stem(path)] = path
    for test in tests:
        if _stem(test) not in references:
            raise InputError(
                f"no file of {options.reference} has this name: give references the names of their alignments",
                file=test,
            )
    return [(test, references[_stem(test)]) for test in tests]


def _files(path: str) -> list[str]:
    """Return the files of a directory by name, or the file itself."""
    from tropalign.errors import InputError

    if not os.path.isdir(path):
        return [path]
    names = sorted(name for name in os.listdir(path) if not name.startswith("."))
    files = [file for name in names if os.path.isfile(file := os.path.join(path, name))]
    if not files:
        raise InputError("there are no files in this directory: name another one", file=path)
    return files


def _stem(path: str) -> str:
    """Return the file name without directory, compression and format."""
    from tropalign.execution.files import COMPRESSIONS

    name = Path(path)
    name = name.with_suffix("") if name.suffix in COMPRESSIONS else name
    return name.stem


def _score(options: Score, test: str, reference: str) -> AlignmentScore:
    from tropalign.msa.accuracy import score_alignment

    return score_alignment(test, reference, reference_columns=_mask(options, reference))


def _mask(options: Score, reference: str) -> NDArray[np.bool_] | None:
    """Return the columns that count; None for those in upper case."""
    from tropalign.sequences.aligned_files import read_alignment

    if options.all_columns:
        import numpy as np

        return np.ones(read_alignment(reference)[1].shape[1], bool)
    return None if options.reference_columns is None else _read_mask(options.reference_columns)


def _read_mask(path: str) -> NDArray[np.bool_]:
    import numpy as np

    from tropalign.errors import InputError
    from tropalign.sequences import read_lines

    text = b"".join(b"".join(line.split()) for line in read_lines(path))
    strange = text.translate(None, b"01xX.-")
    if strange or not text:
        what = f"{chr(strange[0])!r} is not a mark of a column" if strange else "the mask is empty"
        raise InputError(f"{what}: write 1 or x for columns that count, 0 or . for the others", file=path)
    return np.isin(np.frombuffer(text, np.uint8), np.frombuffer(b"1xX", np.uint8))


def _show(rows: list[list[str]], scores: list[AlignmentScore]) -> None:
    """Print aligned columns, and the means of several alignments."""
    from tropalign.errors import shown

    lines = [list(COLUMNS), *([shown(row[0]), *row[1:]] for row in rows)]
    if len(rows) > 1:
        means = [sum(getattr(score, name) for score in scores) / len(scores) for name in ("sp", "tc")]
        lines.append([f"mean of {len(rows)}", *(f"{mean:.4f}" for mean in means), "", "", ""])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        first, *others = (cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join([line[0].ljust(len(first)), *others]).rstrip())
