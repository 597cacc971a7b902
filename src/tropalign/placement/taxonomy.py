"""Table of the tips' lineages: ``tip<tab>a;b;c``, a line per tip."""

from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING

from tropalign.errors import InputError, TropalignWarning, counted, shown
from tropalign.placement.tree import plain_name
from tropalign.results.placements import BranchLineages, Lineage
from tropalign.sequences.files import file_name, read_text

if TYPE_CHECKING:
    from tropalign.placement.reference import ReferencePackage

#: A larger file is not a table of tips.
MOST_BYTES = 1 << 30
#: Line ends; other Unicode line separators may occur in names.
_LINE_END = re.compile(r"\r\n|\r|\n")
#: A lineage as quoted by spreadsheets.
_QUOTED = re.compile(r'^"(.*)"$')


def read_taxonomy(path: str | os.PathLike[str], package: ReferencePackage) -> BranchLineages:
    r"""Read the lineages of the tips below each branch from a table.

    Parameters
    ----------
    path
        Lines of a tip's name, a tab, and its ranks from the top with semicolons between them. Empty lines, lines
        that start with ``#``, and names that the tree lacks are ignored.
    package
        The reference with these tips.

    Returns
    -------
    BranchLineages

    Raises
    ------
    InputError
        A line without a tab or with an empty rank, a repeated name, or no name that is one of the tree's.

    Warns
    -----
    TropalignWarning
        Tips of the tree that the table lacks.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
    >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
    >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pathlib.Path(folder, "tips.tsv")
    ...     _ = table.write_text("a\tP;Q\nb\tP;R\nc\tS\nd\tS\n")
    ...     lineages = tropalign.read_taxonomy(table, package)
    >>> (placed,) = tropalign.place(package, [("x", "ACGTA")])
    >>> lineages.assign(placed)[0].likely
    ('P', 'Q')
    """
    file = file_name(path)
    of_names = _parsed(read_text(path, MOST_BYTES), file)
    tips = [package.tree.names[tip] for tip in package.tree.tips]
    plain: dict[str, tuple[str, Lineage]] = {}
    for name, lineage in of_names.items():
        before, other = plain.setdefault(plain_name(name), (name, lineage))
        if lineage != other and not {name, before} <= {*tips}:
            raise InputError(
                f"{before!r} and {name!r} are the same tip with different lineages: leave one of them out", file=file
            )
    lineages = tuple(of_names.get(tip, plain.get(plain_name(tip), ("", ()))[1]) for tip in tips)
    missing = [tip for tip, lineage in zip(tips, lineages, strict=True) if not lineage]
    if len(missing) == len(tips):
        raise InputError(
            f"the table contains none of the tree's tips, such as {tips[0]!r}: its first column must hold their names",
            file=file,
        )
    if missing:
        without = counted(len(missing), "tips of the tree")
        text = f"{shown(file)}: {without} without a lineage, such as {missing[0]!r}: left out"
        warnings.warn(text, TropalignWarning, stacklevel=2)
    return BranchLineages(lineages, *package.tree.tips_below())


def _parsed(text: str, file: str) -> dict[str, Lineage]:
    found: dict[str, Lineage] = {}
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, tab, words = line.partition("\t")
        where = f"{file}, line {number}"
        if not tab:
            raise InputError("this line has no tab: write a name, a tab and a lineage such as a;b;c", file=where)
        words = _QUOTED.sub(r"\1", words.split("\t")[0].strip())
        lineage = tuple(word.strip() for word in words.removesuffix(";").split(";"))
        if "" in lineage:
            raise InputError(
                f"rank {lineage.index('') + 1} of the lineage is empty: write a word such as unclassified",
                file=where,
            )
        if name in found:
            raise InputError(f"the tip {name!r} occurs twice: keep one of its lines", file=where)
        found[name] = lineage
    return found
