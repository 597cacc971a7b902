"""Groups of taxa: the table that defines them, and their colours on light and dark backgrounds."""

from __future__ import annotations

import colorsys
import os
import warnings
from collections.abc import Iterable, Mapping

from tropalign.errors import InputError, TropalignWarning, shown
from tropalign.sequences.files import file_name, read_text

#: Maximum size of a table in bytes.
MOST_BYTES = 1 << 28
#: Hues of the first groups, as fractions of the colour circle, far from their neighbours; later ones are steps
#: of the golden ratio, which fall between earlier ones.
HUES = (0.60, 0.04, 0.38, 0.80, 0.11, 0.52, 0.92, 0.26)
GOLDEN = 0.618034
#: Lightness and saturation on light and dark backgrounds, with a contrast of at least 4.5 for names (tests/formats).
LIGHT, DARK = (0.26, 0.75), (0.72, 0.68)


def read_groups(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Read groups of taxa from a table.

    Parameters
    ----------
    path
        Lines of a taxon's name, a tab, and its group; lines that start with ``#`` and empty lines are ignored.

    Returns
    -------
    dict of str to str
        The group of each taxon name.

    Raises
    ------
    InputError
        A line without a tab or without a group, a name with two groups, or no lines at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pathlib.Path(folder, "groups.tsv")
    ...     _ = table.write_text("mouse\tmammals\ncrow\tbirds\n")
    ...     read_groups(table)
    {'mouse': 'mammals', 'crow': 'birds'}
    """
    file, found = file_name(path), dict[str, str]()
    for number, line in enumerate(read_text(path, MOST_BYTES).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, group = (text.strip() for text in [*line.split("\t"), ""][:2])
        if not group or not name:
            raise InputError(f"line {number} is not a name, a tab and a group: correct the table", file=file)
        if found.setdefault(name, group) != group:
            raise InputError(
                f"{shown(name)!r} is in two groups, {shown(found[name])!r} and {shown(group)!r}: remove one",
                file=file,
            )
    if not found:
        raise InputError("the table contains no taxon: write lines of a name, a tab and a group", file=file)
    return found


def tell_unknown(groups: Mapping[str, str], names: Iterable[str], file: str) -> None:
    """Warn of names in the table that are not in the tree."""
    known = set(names)
    unknown = [name for name in groups if name not in known]
    if unknown:
        many = "1 name is" if len(unknown) == 1 else f"{len(unknown):,} names are"
        first = shown(unknown[0] if len(unknown[0]) <= 60 else unknown[0][:59] + "…")
        warnings.warn(f"{shown(file)}: {many} not in the tree (the first: {first!r})", TropalignWarning, stacklevel=2)


def hue(number: int) -> float:
    """Return the hue of a group, as a fraction of the colour circle."""
    if number < len(HUES):
        return HUES[number]
    return (HUES[0] + GOLDEN * number) % 1


def colours(number: int) -> tuple[str, str]:
    """Return the ``#rrggbb`` colours of a group on light and dark backgrounds."""
    found = []
    for lightness, saturation in (LIGHT, DARK):
        parts = colorsys.hls_to_rgb(hue(number), lightness, saturation)
        found.append("#" + "".join(f"{round(255 * part):02x}" for part in parts))
    return found[0], found[1]


def groups_of(names: Iterable[str], groups: Mapping[str, str]) -> tuple[list[str], list[int]]:
    """Return the groups of some taxa, in table order, and each taxon's group number, from 1; 0 without a group."""
    listed = list(names)
    known = set(listed)
    used = list(dict.fromkeys(group for name, group in groups.items() if name in known))
    number = {group: k for k, group in enumerate(used, 1)}
    return used, [number[groups[name]] if name in groups else 0 for name in listed]
