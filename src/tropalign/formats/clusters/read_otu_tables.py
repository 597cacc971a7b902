"""Reads tables of counts, ours and others': QIIME's classic one as text, BIOM 1.0 as JSON, BIOM 2.1 as HDF5."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from tropalign.errors import InputError, shown
from tropalign.formats.clusters.otu_tables import LINEAGE_COLUMNS, UNASSIGNED
from tropalign.results.lineages import Lineage
from tropalign.results.otu_table import OtuTable
from tropalign.sequences.counts import MOST_COUNT
from tropalign.sequences.files import file_name, read_bytes, text_of

#: Bytes of a table at most.
MOST_BYTES = 1 << 30
#: How HDF5 begins, which BIOM 2 is.
HDF5 = b"\x89HDF\r\n"
#: A row, a sample and a number of reads.
Entry = tuple[int, int, int]


def read_otu_table(path: str | os.PathLike[str]) -> OtuTable:
    r"""Reads a table of clusters (OTUs) and samples, as `OtuTable.write`, QIIME and vsearch write it.

    Parameters
    ----------
    path
        QIIME's classic table (tabs; the last of the first lines that begin with ``#`` names the samples), BIOM 1.0
        (JSON) or BIOM 2.1 (HDF5, with the extra ``biom``), which its content tells. Metadata of samples are left out.

    Returns
    -------
    OtuTable
        Clusters and samples in the order of the file, with lineages where it has a taxonomy.

    Raises
    ------
    InputError
        None of these; a name that is missing or there twice; what is no whole number of reads.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "otus.tsv")
    ...     _ = file.write_text("#OTU ID\tgut\tskin\nOtu1\t2\t1\nOtu2\t0\t4\n")
    ...     table = tropalign.read_otu_table(file)
    >>> table.names, table.samples, table.counts.tolist()
    (('Otu1', 'Otu2'), ('gut', 'skin'), [[2, 1], [0, 4]])
    """
    file = file_name(path)
    data = read_bytes(path, MOST_BYTES)
    if data.startswith(HDF5):
        from tropalign.formats.clusters.biom_hdf5 import content_of_hdf5

        return table_of_content(content_of_hdf5(data, file), file)
    text = text_of(data, path)
    return _of_json(text, file) if text.lstrip().startswith("{") else _of_lines(text.split("\n"), file)


def _of_lines(lines: Sequence[str], file: str) -> OtuTable:
    """The table of a classic file."""
    n_head = sum(1 for _ in takewhile(lambda line: line.startswith("#") or not line.strip(), lines))
    names_samples = [k for k in range(n_head) if "\t" in lines[k]]
    at = names_samples[-1] if names_samples else min(n_head, len(lines) - 1)
    head = lines[at].split("\t")
    has_lineages = head[-1].strip().lower() in LINEAGE_COLUMNS
    samples = _checked(head[1 : len(head) - has_lineages], "sample", file)
    names, lineages, entries = list[str](), list[Lineage](), list[Entry]()
    for number, line in enumerate(lines[at + 1 :], at + 2):
        if not line.strip():
            continue
        name, *words = line.split("\t")
        if len(words) != len(head) - 1:
            raise InputError(
                f"it has {len(words) + 1} fields, and the line of the samples {len(head)}: this is no table of counts",
                file=file,
                line=number,
            )
        if has_lineages:
            lineages.append(_lineage(words.pop()))
        entries += ((len(names), k, _count(word, file, name)) for k, word in enumerate(words) if word.strip() != "0")
        names.append(name)
    return _table(names, samples, entries, lineages if has_lineages else None, file)


def _of_json(text: str, file: str) -> OtuTable:
    """The table of a BIOM file."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_biom(error, file) from None
    return table_of_content(content, file)


def table_of_content(content: Any, file: str) -> OtuTable:
    """The table of what a BIOM file holds. Raises InputError where it does not hold together."""
    try:
        rows, columns = content["rows"], content["columns"]
        names, samples = [row["id"] for row in rows], [column["id"] for column in columns]
        if content["shape"] != [len(names), len(samples)]:
            raise ValueError("another shape than its rows and columns have")
        entries = list(_entries(content, names, file))
        taxa = [(row.get("metadata") or {}).get("taxonomy") for row in rows]
        lineages = None if all(each is None for each in taxa) else [_lineage(each) for each in taxa]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        raise _no_biom(error, file) from None
    return _table(names, _checked(samples, "sample", file), entries, lineages, file)


def _no_biom(error: Exception, file: str) -> InputError:
    reason = shown(f"{type(error).__name__}: {str(error)[:80]}")
    return InputError(f"this is no BIOM ({reason}): write the table again", file=file)


def _entries(content: Any, names: Sequence[str], file: str) -> Iterator[Entry]:
    """Row, column and number of each place that is not 0."""
    n_rows, n_columns = content["shape"]
    if content.get("matrix_type", "sparse") == "dense":
        if [len(row) for row in content["data"]] != [n_columns] * n_rows:
            raise ValueError("rows of other lengths than there are samples")
        places = ((k, column, value) for k, row in enumerate(content["data"]) for column, value in enumerate(row))
    else:
        places = ((int(row), int(column), value) for row, column, value in content["data"])
    for row, column, value in places:
        if not (0 <= row < n_rows and 0 <= column < n_columns):
            raise ValueError("a place outside of its shape")
        yield row, column, _count(value, file, names[row])


def _count(value: Any, file: str, name: str) -> int:
    """A number of reads, which may be written as 5 or as 5.0."""
    try:
        number = float(value)
        is_whole = number.is_integer()
    except (TypeError, ValueError, OverflowError):
        is_whole = False
    if not is_whole or not 0 <= number <= MOST_COUNT:
        what = shown(repr(value)[:40])
        raise InputError(
            f"{what} is no number of reads: write whole numbers from 0 to {MOST_COUNT:,}, no shares",
            file=file,
            record=shown(str(name)),
        )
    return int(number)


def _lineage(value: Any) -> Lineage:
    """Ranks, which are a list, or a text with semicolons between them; None for none."""
    if value is None:
        return ()
    words = value.split(";") if isinstance(value, str) else [str(word) for word in value]
    ranks = tuple(word.strip() for word in words)
    while ranks and not ranks[-1]:
        ranks = ranks[:-1]
    return () if ranks == (UNASSIGNED,) else ranks


def _checked(names: Sequence[Any], what: str, file: str) -> tuple[str, ...]:
    """Names of rows or columns. Raises InputError for one that is missing, there twice, or breaks a line."""
    if not names:
        raise InputError(f"the table has no {what}: name one that has counts of reads", file=file)
    seen: set[str] = set()
    for number, name in enumerate(names, 1):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{what} number {number} has no name: give it one", file=file)
        if name in seen:
            raise InputError(f"the {what} {name!r} is there twice: add its counts up", file=file)
        if set(name) & set("\t\r\n") or name.encode("utf-8", "replace") != name.encode("utf-8", "surrogatepass"):
            raise InputError(f"the {what} {name!r} holds what would break a table: rename it", file=file)
        seen.add(name)
    return tuple(names)


def _table(
    names: Sequence[Any],
    samples: tuple[str, ...],
    entries: list[Entry],
    lineages: Sequence[Lineage] | None,
    file: str,
) -> OtuTable:
    """The table, its entries row by row."""
    rows = _checked(names, "row", file)
    places = np.array(entries, np.int64).reshape(-1, 3)
    places = places[np.lexsort((places[:, 1], places[:, 0]))]
    same = np.flatnonzero((np.diff(places[:, :2], axis=0) == 0).all(axis=1))
    if len(same):
        row, sample, _ = places[same[0]].tolist()
        raise InputError(
            f"sample {samples[sample]!r} has two numbers of reads in one row: add them up",
            file=file,
            record=rows[row],
        )
    places = places[places[:, 2] > 0]
    cluster, sample, reads = (np.ascontiguousarray(places[:, k]) for k in range(3))
    return OtuTable(rows, samples, cluster, sample, reads, None if lineages is None else tuple(lineages))
