"""`read_result`: restore the output of ``-f result`` as the objects that the package's functions return.

Files may be untrusted, for example from a server: the result is always one that the package could have made, or an
InputError.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import ragged
from tropalign.errors import InputError, UsageError, damage
from tropalign.formats.array_files import LAYOUT, Arrays, Packed, read_packed
from tropalign.results.alignments import AlignmentTable
from tropalign.results.clusters import Clusters, starts_by_cigars
from tropalign.results.found_hits import DOMAIN_COLUMNS, FILTERS, HIT_COLUMNS, LINES, TEXTS, Query
from tropalign.results.hits import Hits
from tropalign.results.multiple import MultipleAlignment
from tropalign.results.names import DEFINITIONS
from tropalign.results.placements import Placements
from tropalign.results.segments import Segments
from tropalign.results.threshold_options import Thresholds
from tropalign.sequences import SequenceBatch
from tropalign.sequences.alphabet import alphabet_saved

#: Upper limit of the width of a column of names.
MOST_WIDTH = 1 << 20

Result = AlignmentTable | Clusters | Hits | MultipleAlignment | Placements | Segments


def read_result(source: str | os.PathLike[str] | IO[bytes]) -> Result:
    """Read the output of ``-f result``: the complete result, equal to the last bit.

    Parameters
    ----------
    source
        Name of a file, or a seekable open file.

    Returns
    -------
    AlignmentTable, Hits, MultipleAlignment, Placements, Clusters or Segments
        Depends on the command that wrote it. Bits and E-values of an AlignmentTable are not in the file.

    Raises
    ------
    InputError
        The file cannot be read, is damaged, or is not a result.

    Examples
    --------
    >>> alignment = tropalign.align_multiple({"a": "MKVLAWMKT", "b": "MKILAWMT"})
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     tropalign.write_alignment(alignment, f"{folder}/family.result")
    ...     tropalign.read_result(f"{folder}/family.result") == alignment
    True
    """
    where = getattr(source, "name", None) if hasattr(source, "read") else os.fspath(source)
    name = where if isinstance(where, str) else None
    try:
        if hasattr(source, "read"):
            return _result(read_packed(source))  # type: ignore[arg-type]
        with open(source, "rb") as file:
            return _result(read_packed(file))
    except FileNotFoundError:
        raise InputError("there is no such file: give a file written with -f result", file=name) from None
    except UsageError:
        raise _damaged(name) from None
    except damage():
        raise _damaged(name) from None


def _damaged(name: str | None) -> InputError:
    return InputError(
        "this is not a result of this version of tropalign, or it is damaged: write it again with -f result",
        file=name,
    )


def _result(packed: Packed) -> Result:
    notes, arrays = packed
    if notes.get("layout") != LAYOUT:
        raise ValueError("another layout")
    return _KINDS[notes["kind"]](notes, arrays)


def _batch(notes: dict[str, Any], arrays: Arrays, prefix: str) -> SequenceBatch:
    about = notes[prefix]
    alphabet, letters = alphabet_saved(about["alphabet"]), _vector(arrays, f"{prefix}.letters", np.uint8)
    offsets = _vector(arrays, f"{prefix}.offsets", np.int64)
    return SequenceBatch(alphabet.encode(letters)[0], offsets, _texts(about["names"]), alphabet, letters)


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError("texts must be a list")
    for value in values:
        value.encode()  # fails for lone surrogates
        if not isinstance(value, str):
            raise TypeError("texts must be strings")
    return tuple(values)


def _text(value: Any) -> str:
    return _texts([value])[0]


def _number(value: Any, end: int = 2**62) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < end:
        raise ValueError("a count must be a non-negative integer")
    return value


def _vector(arrays: Arrays, name: str, dtype: Any, length: int | None = None) -> NDArray[Any]:
    values = arrays[name]
    if values.dtype != dtype or (length is not None and len(values) != length):
        raise ValueError(f"{name} has a wrong type or length")
    return values


def _within(values: NDArray[Any], least: Any, end: Any) -> None:
    """Raise ValueError if a value lies outside [least, end), or is nan."""
    if not ((values >= least) & (values < end)).all():
        raise ValueError("a value is out of range")


def _finite(*arrays: NDArray[Any] | None) -> None:
    """Raise ValueError if a number is nan or infinite."""
    for values in arrays:
        if values is not None and not np.isfinite(values).all():
            raise ValueError("a number is not finite")


def _table(notes: dict[str, Any], arrays: Arrays) -> AlignmentTable:
    queries = _batch(notes, arrays, "queries")
    targets = _batch(notes, arrays, "targets") if "targets" in notes else queries
    columns: dict[str, Any] = {name: values for name, values in arrays.items() if "." not in name}
    if (identity := notes.get("identity", "columns")) not in DEFINITIONS:
        raise ValueError("unknown definition of identity")
    table = AlignmentTable(queries, targets, _text(notes["depth"]), identity_definition=identity, **columns)
    _finite(table.score)
    _finite(table.corrected_score)
    if table.depth != "score":
        for side, batch, index in (("query", queries, table.query_index), ("target", targets, table.target_index)):
            start, end = getattr(table, f"{side}_start"), getattr(table, f"{side}_end")
            lengths = batch.lengths[index]
            _within(start, 0, lengths + 1)
            _within(end, start, lengths + 1)
    if table.depth == "alignment":  # the path of a row has to fit its spans and counts
        kinds, lengths = table.cigar_ops & 15, (table.cigar_ops >> 4).astype(np.int64)
        if not np.isin(kinds, (1, 2, 7, 8)).all():
            raise ValueError("an invalid operation in a path")
        for kept, expected in (
            (kinds != 2, table.query_end - table.query_start),
            (kinds != 1, table.target_end - table.target_start),
            (kinds != 0, table.n_columns),
            (kinds <= 2, table.n_gaps),
        ):
            before = np.concatenate([[0], np.cumsum(np.where(kept, lengths, 0))])
            if not np.array_equal(np.diff(before[table.cigar_offsets]), expected):
                raise ValueError("a path of the wrong length")
        for name in ("n_identical", "n_similar"):
            _within(getattr(table, name), 0, table.n_columns + 1)
        if table.n_ignored is not None:
            _within(table.n_ignored, 0, table.n_columns - table.n_gaps - table.n_identical + 1)
    return table


def _multiple(notes: dict[str, Any], arrays: Arrays) -> MultipleAlignment:
    batch = _batch(notes, arrays, "sequences")
    tree = notes.get("tree")
    for name in ("residue_confidence", "column_confidence"):  # nan: rows without confidence
        _finite(None if (values := arrays.get(name)) is None else values[~np.isnan(values)])
    return MultipleAlignment(
        batch,
        _vector(arrays, "columns", np.int32),
        _number(notes["n_columns"]),
        arrays.get("residue_confidence"),
        arrays.get("column_confidence"),
        None if tree is None else _text(tree),
        arrays.get("is_node"),
        arrays.get("is_masked"),
    )


def _placements(notes: dict[str, Any], arrays: Arrays) -> Placements:
    placed = Placements(_texts(notes["names"]), **arrays)
    _within(placed.branch, -1, 2**62)
    _within(placed.column, -1, 2**31 - 1)
    return placed


def _clusters(notes: dict[str, Any], arrays: Arrays) -> Clusters:
    batch = _batch(notes, arrays, "sequences")
    n = len(batch)
    representatives = _vector(arrays, "representative_index", np.int64)
    types = {"labels": np.int64, "rank": np.int64, "sizes": np.int64, "identity": np.float64, "strand": np.int8}
    starts = ("member_start", "representative_start")
    columns: dict[str, Any] = {name: _vector(arrays, name, dtype, n) for name, dtype in types.items()}
    score, cigars = arrays["score"], notes["cigars"]
    if score.dtype not in (np.int32, np.float64) or len(score) != n:
        raise ValueError("scores of the wrong type")
    if not isinstance(cigars, list) or len(cigars) != n:
        raise ValueError("the number of cigars must equal that of sequences")
    _within(representatives, 0, n)
    n_given = _number(notes.get("n_given", 0))  # not in older files
    if n_given and (n_given != len(representatives) or n_given > n):
        raise ValueError("as many given representatives as clusters")
    _within(columns["labels"], -1 if n_given else 0, len(representatives))
    _within(columns["rank"], 0, n)
    known = [None if cigar is None else _text(cigar) for cigar in cigars]
    of = representatives[columns["labels"]]
    if starts[0] not in arrays:  # older files, which did not store them
        arrays |= starts_by_cigars(batch, of, known)
    for name, lengths in zip(starts, (batch.lengths, batch.lengths[of]), strict=True):
        columns[name] = _vector(arrays, name, np.int64, n)
        _within(columns[name], -1, lengths + 1)
    return Clusters(batch, representative_index=representatives, score=score, cigars=known, n_given=n_given, **columns)


def _segments(notes: dict[str, Any], arrays: Arrays) -> Segments:
    names, labels = _texts(notes["names"]), _texts(notes["labels"])
    lengths = _vector(arrays, "lengths", np.int64, len(names))
    start, offsets = _vector(arrays, "start", np.int64), _vector(arrays, "segment_offsets", np.int64, len(names) + 1)
    n = len(start)
    end, label = _vector(arrays, "end", np.int64, n), _vector(arrays, "label", np.uint8, n)
    ragged.check_offsets(offsets, "segment_offsets", start, "segments")
    sequence = np.repeat(np.arange(len(names)), np.diff(offsets))
    _within(start, 0, lengths[sequence] + 1)
    _within(end, start, lengths[sequence] + 1)
    _within(label, 0, len(labels))
    likelihoods = _vector(arrays, "log_likelihoods", np.float64, len(names))
    support = _vector(arrays, "support", np.float64, n)
    _within(support, 0, 2)  # shares, with rounding errors
    arrays.setdefault("n_unlabelled", np.zeros(len(names), np.int64))  # older files did not count it
    n_unlabelled = _vector(arrays, "n_unlabelled", np.int64, len(names))
    _within(n_unlabelled, 0, lengths + 1)
    return Segments(names, lengths, likelihoods, n_unlabelled, labels, sequence, start, end, label, support)


def _hits(notes: dict[str, Any], arrays: Arrays) -> Hits:
    queries = tuple(_query(entry) for entry in notes["queries"])
    columns: dict[str, Any] = {
        name: arrays[name]
        for name in (*HIT_COLUMNS, *DOMAIN_COLUMNS, *LINES, "domain_offsets", "line_offsets", "domZ", "is_included",
                     "domain_is_reported", "domain_is_included")
    }  # fmt: skip
    columns |= {name: _texts(notes[name]) for name in TEXTS}
    Z = notes["Z"]
    if not isinstance(Z, float) or not Z >= 0:
        raise TypeError("Z must be a number")
    hits = Hits(
        queries=queries,
        first_query=_number(notes["first_query"]),
        orientation=_text(notes["orientation"]),
        n_targets=_number(notes["n_targets"]),
        n_target_residues=_number(notes["n_target_residues"]),
        n_passed=arrays["n_passed"].reshape(len(queries), len(FILTERS)),
        widths=arrays["widths"].reshape(len(queries), 3),
        models={_number(entry[0]): _query(entry[1:]) for entry in notes["models"]},
        thresholds=Thresholds(**notes["thresholds"]),
        Z=Z,
        **columns,
    )
    _check_hits(hits)
    return hits


def _check_hits(hits: Hits) -> None:
    """Raise ValueError if numbers of hits are invalid, or if domains or their lines exceed their model or sequence."""
    _within(hits.widths, 0, MOST_WIDTH)
    _within(hits.domZ, 0, np.inf)
    for name in (*HIT_COLUMNS, *DOMAIN_COLUMNS):
        values = getattr(hits, name)
        if not ((values <= 0) if name.endswith("log_p") else (values < np.inf)).all():  # also fails for nan
            raise ValueError(f"a number of {name} is out of range")
    of_hit = np.repeat(np.arange(len(hits)), hits.n_domains)
    query_lengths = np.array([hits.queries[k].length for k in hits.query.tolist()], np.int64)
    is_search = hits.orientation == "search"
    of_models, of_sequences = (query_lengths, hits.length) if is_search else (hits.length, query_lengths)
    for place, lengths in (("envelope_", of_sequences), ("", of_sequences), ("model_", of_models)):
        begin, end = (getattr(hits, f"domain_{place}{side}") for side in ("begin", "end"))
        _within(begin, 0, end)
        _within(end, 0, lengths[of_hit] + 1)
    begins = hits.line_offsets[:-1]
    if hits.has_lines and ((np.diff(hits.line_offsets) == 0).any() or (hits.model_line[begins] == ord(".")).any()):
        raise ValueError("a line must begin with a node")
    for line, gap, place in ((hits.model_line, ".", "model_"), (hits.target_line, "-", "")) if hits.has_lines else ():
        before = np.concatenate([[0], np.cumsum(line != ord(gap))])
        begin, end = (getattr(hits, f"domain_{place}{side}") for side in ("begin", "end"))
        if not np.array_equal(np.diff(before[hits.line_offsets]), end - begin):
            raise ValueError("a line of the wrong length")
    for query in hits.queries:
        if query.sequence and (len(query.sequence) != query.length or not query.sequence.isascii()):
            raise ValueError("a sequence of the wrong length")


def _query(entries: Any) -> Query:
    """Make a query from its fields in order, checking types; files of earlier versions lack the last one."""
    values: list[Any] = []
    own = fields(Query)[: max(len(entries), len(fields(Query)) - 1)]
    for field, value in zip(own, entries, strict=True):
        if field.name == "is_sequence":
            value = value is True
        elif field.name in ("gathering", "trusted", "noise"):
            value = None if value is None else (float(value[0]), float(value[1]))
        elif field.name == "length":
            value = _number(value, 2**31)
        elif value is not None or field.default is not None:
            value = _text(value)
        values.append(value)
    return Query(*values)


_KINDS: dict[str, Callable[[dict[str, Any], Arrays], Result]] = {
    "pairs": _table,
    "aligned": _multiple,
    "placed": _placements,
    "clusters": _clusters,
    "segments": _segments,
    "hits": _hits,
}
