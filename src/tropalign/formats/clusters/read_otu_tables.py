"""Readers of count tables from tropalign and others: QIIME's classic text, BIOM 1.0 (JSON), BIOM 2.1 (HDF5)."""

from __future__ import annotations

import json
import os
import re
from array import array
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, named, shown
from tropalign.formats.clusters.otu_tables import LINEAGE_COLUMNS, UNASSIGNED
from tropalign.resources.limits import budget_of, left_for_job, require
from tropalign.results.clusters import OtuTable
from tropalign.results.placements import Lineage
from tropalign.sequences.annotations import MOST_COUNT
from tropalign.sequences.files import file_name, opened, text_of
from tropalign.sequences.texts import lines_in

#: Maximum size of a table in bytes.
MOST_BYTES = 1 << 30
#: Magic bytes of HDF5, the container of BIOM 2.
HDF5 = b"\x89HDF\r\n"
#: Row, sample and number of reads of each entry; shape (n, 3).
Places = NDArray[np.int64]
#: Peak memory per decompressed byte: as read, as text, and during the replacement of line ends.
BYTES_PER_BYTE = 4
#: Memory of Python objects in bytes per JSON character: a list, an object, an element, half a string.
JSON_BYTES = {"[": 96, "{": 240, ",": 40, '"': 40}
#: Bytes of an entry with its sorted copies, and of a row's name and lineage.
ENTRY_BYTES, NAME_BYTES = 120, 200
#: Bytes per field of a line, as sample name and as number.
FIELD_BYTES = 200
#: A number as programs write it: 5, 5.0 or 1e+05.
_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,3})?", re.ASCII)


def read_otu_table(path: str | os.PathLike[str], *, memory_bytes: int | None = None) -> OtuTable:
    r"""Read a table of clusters (OTUs) and samples from `OtuTable.write`, QIIME or vsearch.

    Parameters
    ----------
    path
        QIIME's classic table (tab-separated; the last of the leading lines that start with ``#`` names the samples),
        BIOM 1.0 (JSON) or BIOM 2.1 (HDF5, with the extra ``biom``), recognised by content. Metadata of samples are
        ignored.
    memory_bytes
        Memory limit; 60 % of the free memory by default.

    Returns
    -------
    OtuTable
        Clusters and samples in the order of the file, with lineages if it has a taxonomy.

    Raises
    ------
    InputError
        None of these formats, a missing or duplicate name, or a value that is not an integer number of reads.
    ResourceError
        The table needs more memory.

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
    room = _MemoryLimit(left_for_job(budget_of(memory_bytes), 0), file)
    data = room.data(path)
    if data.startswith(HDF5):
        from tropalign.formats.clusters.biom_hdf5 import content_of_hdf5

        content, entries = content_of_hdf5(data, file, room.n_bytes)
        return _of_content(content, lambda: _of_arrays(content, entries, file), file)
    text = text_of(data, path)
    if not text.lstrip().startswith("{"):
        return _of_lines(text, file, room)
    room.check(BYTES_PER_BYTE * len(text) + sum(n * text.count(sign) for sign, n in JSON_BYTES.items()))
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_biom(error, file) from None
    return _of_content(content, lambda: _entries(content, file, room), file)


class _MemoryLimit:
    """Memory limit for reading a table, since small files can become large."""

    def __init__(self, n_bytes: int, file: str) -> None:
        self.n_bytes, self._file = n_bytes, file

    def data(self, path: str | os.PathLike[str]) -> bytes:
        """Return the decompressed file. Raises ResourceError if it does not fit, as bytes and as text."""
        most = min(MOST_BYTES, self.n_bytes // BYTES_PER_BYTE)
        with opened(path) as stream:
            data = stream.read(most + 1)
        if len(data) > MOST_BYTES:
            raise InputError(
                f"the file has more than {MOST_BYTES} bytes, too many for a table of counts", file=self._file
            )
        self.check(BYTES_PER_BYTE * len(data))
        if not data.strip():
            raise InputError("the file is empty", file=self._file)
        return data

    def check(self, needed: int) -> None:
        """Raise ResourceError if this many bytes do not fit."""
        remedy = f"allow more with {named('memory_bytes')}, or split the table"
        require(needed, self.n_bytes, f"the table {shown(self._file)}", remedy)


def _of_lines(text: str, file: str, room: _MemoryLimit) -> OtuTable:
    """Return the table of a classic file."""
    at, line, number, row = 0, "", 0, ""
    for number, row in enumerate(lines_in(text), 1):  # header: last leading comment with tabs, else first row
        is_data = row.strip() and not row.startswith("#")
        if "\t" in row and not is_data:
            at, line = number, row
        if is_data:
            break
    at, line = (at, line) if at else (number, row)
    n_fields = line.count("\t") + 1
    room.check(BYTES_PER_BYTE * len(text) + FIELD_BYTES * n_fields)
    head = line.split("\t")
    has_lineages = head[-1].strip().lower() in LINEAGE_COLUMNS
    samples = _checked(head[1 : len(head) - has_lineages], "sample", file)
    names, lineages, entries = list[str](), list[Lineage](), array("q")
    for number, line in enumerate(lines_in(text), 1):
        if number <= at or not line.strip():
            continue
        if (n := line.count("\t") + 1) != n_fields:
            raise InputError(
                f"the line has {n} fields, but the line of the samples has {n_fields}: give a table of counts",
                file=file,
                line=number,
            )
        name, *words = line.split("\t")
        if has_lineages:
            lineages.append(_lineage(words.pop()))
        for k, word in enumerate(words):
            if word != "0":
                entries.extend((len(names), k, _word(word, file, name)))
        names.append(name)
        room.check(BYTES_PER_BYTE * len(text) + NAME_BYTES * len(names) + ENTRY_BYTES * len(entries) // 3)
    return _table(names, samples, _places(entries), lineages if has_lineages else None, file)


def _of_content(content: Any, entries: Callable[[], Places], file: str) -> OtuTable:
    """Return the table of parsed BIOM content. Raises InputError if it is inconsistent."""
    try:
        rows, columns = content["rows"], content["columns"]
        names, samples = [row["id"] for row in rows], [column["id"] for column in columns]
        if content["shape"] != [len(names), len(samples)]:
            raise ValueError("its shape differs from that of its rows and columns")
        places = entries()
        taxa = [(row.get("metadata") or {}).get("taxonomy") for row in rows]
        lineages = None if all(each is None for each in taxa) else [_lineage(each) for each in taxa]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        raise _no_biom(error, file) from None
    return _table(names, _checked(samples, "sample", file), places, lineages, file)


def _no_biom(error: Exception, file: str) -> InputError:
    reason = shown(f"{type(error).__name__}: {str(error)[:80]}")
    return InputError(f"this is not a valid BIOM file ({reason}): write the table again", file=file)


def _entries(content: Any, file: str, room: _MemoryLimit) -> Places:
    """Return row, column and value of each non-zero entry of BIOM 1.0."""
    n_rows, n_columns = content["shape"]
    if content.get("matrix_type", "sparse") == "dense":
        if [len(row) for row in content["data"]] != [n_columns] * n_rows:
            raise ValueError("the length of a row differs from the number of samples")
        places = ((k, column, value) for k, row in enumerate(content["data"]) for column, value in enumerate(row))
    else:
        places = ((_index(row), _index(column), value) for row, column, value in content["data"])
    found = array("q")
    for row, column, value in places:
        if not (0 <= row < n_rows and 0 <= column < n_columns):
            raise ValueError("an index outside its shape")
        if type(value) is not int or value:
            found.extend((row, column, _number(value, file, content["rows"][row]["id"])))
    room.check(ENTRY_BYTES * len(found) // 3)
    return _places(found)


def _index(value: Any) -> int:
    """Return a row or column index of BIOM 1.0; some programs write 1.0. Raises ValueError for other values."""
    if type(value) is int or (type(value) is float and value.is_integer()):
        return int(value)
    raise ValueError(f"{value!r} is not a row or column index")


def _of_arrays(content: Any, entries: Any, file: str) -> Places:
    """Return row, column and value of each entry of BIOM 2.1."""
    row, column, values = entries
    if ((column < 0) | (column >= content["shape"][1])).any():
        raise ValueError("an index outside its shape")
    fits = (values >= 0) & (values <= MOST_COUNT) & (values == np.floor(values))
    if not fits.all():
        k = int(np.argmin(fits))
        raise _no_number(values[k].item(), file, content["rows"][row[k]]["id"])
    return np.stack([row, column, values.astype(np.int64)], axis=1)


def _places(entries: array[int]) -> Places:
    return np.frombuffer(entries, np.int64).reshape(-1, 3)


def _word(word: str, file: str, name: str) -> int:
    """Parse a number of reads in a classic table: 5, 5.0 or 1e+05."""
    if not _NUMBER.fullmatch(word.strip()):
        raise _no_number(word, file, name)
    return _number(Decimal(word.strip()), file, name, word)


def _number(number: Any, file: str, name: str, shown_as: Any = None) -> int:
    """Check a number of reads, 5 or 5.0, and return it as an integer."""
    is_number = isinstance(number, int | float | Decimal) and not isinstance(number, bool)
    if not is_number or not 0 <= number <= MOST_COUNT or number != int(number):
        raise _no_number(number if shown_as is None else shown_as, file, name)
    return int(number)


def _no_number(value: Any, file: str, name: str) -> InputError:
    what = shown(repr(value)[:40])
    return InputError(
        f"{what} is not a number of reads: write integers from 0 to {MOST_COUNT:,}, not fractions",
        file=file,
        record=shown(str(name)),
    )


def _lineage(value: Any) -> Lineage:
    """Return the ranks of a list or a semicolon-separated text; an empty tuple for None."""
    if value is None:
        return ()
    words = value.split(";") if isinstance(value, str) else [str(word) for word in value]
    ranks = tuple(word.strip() for word in words)
    while ranks and not ranks[-1]:
        ranks = ranks[:-1]
    return () if ranks == (UNASSIGNED,) else ranks


def _checked(names: Sequence[Any], what: str, file: str) -> tuple[str, ...]:
    """Check names of rows or columns. Raises InputError for a missing, duplicate or line-breaking name."""
    if not names:
        raise InputError(f"the table has no {what}: give a table of read counts", file=file)
    seen: set[str] = set()
    for number, name in enumerate(names, 1):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{what} number {number} has no name: give it one", file=file)
        if name in seen:
            raise InputError(f"the {what} {name!r} occurs twice: add up its counts", file=file)
        if set(name) & set("\0\t\r\n") or name.encode("utf-8", "replace") != name.encode("utf-8", "surrogatepass"):
            raise InputError(
                f"the {what} {name!r} contains a character that is not allowed in tables: rename it", file=file
            )
        seen.add(name)
    return tuple(names)


def _table(
    names: Sequence[Any],
    samples: tuple[str, ...],
    places: Places,
    lineages: Sequence[Lineage] | None,
    file: str,
) -> OtuTable:
    """Return the table, its entries row by row."""
    rows = _checked(names, "row", file)
    places = places[np.lexsort((places[:, 1], places[:, 0]))]
    same = np.flatnonzero((np.diff(places[:, :2], axis=0) == 0).all(axis=1))
    if len(same):
        row, sample, _ = places[same[0]].tolist()
        raise InputError(
            f"sample {samples[sample]!r} has two counts in one row: add them up",
            file=file,
            record=rows[row],
        )
    places = places[places[:, 2] > 0]
    cluster, sample, reads = (np.ascontiguousarray(places[:, k]) for k in range(3))
    return OtuTable(rows, samples, cluster, sample, reads, None if lineages is None else tuple(lineages))
