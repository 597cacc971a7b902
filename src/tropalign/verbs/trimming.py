"""Options that trim an alignment by columns, for verbs that make or read one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from tropalign.options.option import FRACTION, Options, option, output_file
from tropalign.verbs.command import header_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tropalign.results.multiple import ColumnShares, MultipleAlignment

#: Thresholds, each of which leaves columns out.
THRESHOLDS = ("min_occupancy", "max_gaps", "max_entropy")
COLUMNS = ("kept", "column", "occupancy", "gaps", "entropy")


class TrimOptions(Options, group="trimming"):
    """Columns that are left out of the alignment."""

    min_occupancy: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Least occupancy of a column",
        help="leave out columns in which less than this share of the rows has a residue (trimAl's -gt)",
    )
    max_gaps: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Most gaps of a column",
        help="leave out columns in which more than this share of the rows has a gap, X or N (ClipKIT's gappy)",
    )
    max_entropy: float | None = option(
        default=None,
        kind=FRACTION,
        metavar="F",
        label="Largest entropy of a column",
        help="leave out columns whose residues have a larger Shannon entropy than this, as a share of the largest "
        "possible one",
    )
    columns_out: str | None = output_file(
        output="columns",
        suffix=".tsv",
        metavar="FILE",
        needs="|".join(THRESHOLDS),
        help="the columns that are kept: number before trimming, occupancy, gaps and entropy, as a table (TSV)",
    )


def trimmed(command: TrimOptions, alignment: MultipleAlignment, columns_out: str | None) -> MultipleAlignment:
    """Return the alignment without the columns that the thresholds leave out, and write the table of the others.

    Raises InputError if no column is left.
    """
    given = {name: value for name in THRESHOLDS if (value := getattr(command, name)) is not None}
    if not given:
        return alignment
    from tropalign.errors import InputError, counted, warn
    from tropalign.results.multiple import kept_columns

    shares = alignment.column_shares()
    is_kept = kept_columns(shares, **given)
    if not is_kept.any():
        best = []
        for name, value in given.items():
            if kept_columns(shares, **{name: value}).any():
                continue
            word, measure = name.split("_")
            word, choose = ("highest", max) if word == "min" else ("lowest", min)
            found = choose(getattr(shares, measure).tolist(), default=0.0)
            what = "share of gaps" if measure == "gaps" else measure
            best.append(f"the {word} {what} is {found:.4g} and {command.declared()[name].flag} is {value:g}")
        flags = " and ".join(command.declared()[name].flag for name in given)
        why = ", ".join(best) or f"each fails {flags}, one or the other"
        raise InputError(f"no column of {alignment.n_columns:,} is left: {why}; loosen the thresholds")
    kept = alignment[:, is_kept]
    empty = [name for name, length in zip(kept.names, kept.sequences.lengths.tolist(), strict=True) if not length]
    if empty:
        rows = "1 row has" if len(empty) == 1 else f"{counted(len(empty), 'rows')} have"
        warn(f"{rows} no residue in the columns that are left (the first: {empty[0]!r})")
    if columns_out is not None:
        _write_columns(command, columns_out, shares, is_kept)
    return kept


def _write_columns(command: Any, path: str, shares: ColumnShares, is_kept: NDArray[np.bool_]) -> None:
    """Write a row per kept column; columns count from 1."""
    from tropalign.execution.files import write_to

    places = is_kept.nonzero()[0].tolist()
    values = [measure[is_kept].tolist() for measure in shares]
    lines = (
        f"{number}\t{place + 1}\t{occupancy:.6g}\t{gaps:.6g}\t{entropy:.6g}\n"
        for number, (place, occupancy, gaps, entropy) in enumerate(zip(places, *values, strict=True), 1)
    )
    settled = {"format": None} if "format" in command.declared() else {}  # merge fills it in later
    text = header_of(command, {}, **settled).above(COLUMNS) + "".join(lines).encode()

    def write(out: BinaryIO) -> None:
        out.write(text)

    write_to(path, write)
