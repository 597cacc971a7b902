"""SAM and BAM: targets are the references, queries the reads.

A read has one primary line: its best score, the first one in the file for ties. Its other lines are secondary
(0x100) and have ``*`` for letters and qualities, which are on the primary line. A read without any alignment is
one unmapped line. BAM has the same content, packed by pysam, an extra.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, UsageError, named, shown, warn
from tropalign.formats.array_files import packed_part, part_arrays
from tropalign.formats.format import Codec, Concatenated, Header, one_line, row_blocks
from tropalign.formats.pairs.context import PairsContext
from tropalign.properties import cached_per_object
from tropalign.results import rows
from tropalign.results.aligned_pairs import aligned_queries, cigars, equal_columns, mismatches, query_starts
from tropalign.results.alignments import AlignmentTable
from tropalign.results.rows import Column, Named, Texts, encoded, encoded_names
from tropalign.sequences import SequenceBatch
from tropalign.sequences.alphabet import byte_counts, mirrored
from tropalign.sequences.batch import NO_QUALITY
from tropalign.sequences.records import FIRST_QUALITY, HIGHEST_QUALITY

Index = NDArray[np.int64]
Ranks = NDArray[np.float64]
#: Rank of a pair without an aligned column, lower than any score.
UNALIGNED = -1e300


def encode_primary(table: AlignmentTable, lines: Callable[[AlignmentTable, bool], bytes]) -> bytes:
    """Return the part of a table.

    lines: returns the lines of a table's rows, primary or not. A pair without an aligned column has a line only if
    it is the primary one.
    """
    is_aligned, rank = table.n_columns > 0, _ranks(table)
    best = _best_rows(table.query_index, rank)
    others = np.flatnonzero(is_aligned)
    text, primary = (
        np.frombuffer(lines(table.take(rows), is_primary), np.uint8)
        for rows, is_primary in ((others, False), (best, True))
    )
    bounds, place = _line_bounds(text), np.searchsorted(others, best)
    return packed_part(
        query=table.query_index[best],
        rank=rank[best],
        begin=bounds[place],
        end=bounds[place + is_aligned[best]],
        offsets=_line_bounds(primary),
        lines=text,
        primary=primary,
    )


# A part holds the non-primary line of every pair, and also the primary line of each query's best pair in the tile.
# The ranks in all parts decide which line is used:
#
#     lines    | query a, other | query a, other | query b, other | ...
#                                 ^ begin .. end                        of a's best pair here
#     primary  | query a, primary | query b, primary | ...
#
# Assembling reads the parts twice: for the ranks, and to write.
def primary_rows(table: AlignmentTable) -> NDArray[np.bool_]:
    """Return a mask of primary rows for a table with all pairs of its queries; bool, shape (n,)."""
    found = np.zeros(len(table), bool)
    found[_best_rows(table.query_index, _ranks(table))] = True
    return found


def _ranks(table: AlignmentTable) -> Ranks:
    return np.where(table.n_columns > 0, table.score.astype(np.float64), UNALIGNED)


def _best_rows(query: Index, rank: Ranks) -> Index:
    """Return the row with the highest rank of each query, ascending; ties go to the first row."""
    order = np.lexsort((-rank, query))
    is_first = np.ones(len(order), bool)
    is_first[1:] = query[order[1:]] != query[order[:-1]]
    return np.sort(order[is_first])


def _line_bounds(text: Bytes) -> Index:
    """Return the start of each line, and the end of the last one."""
    return np.concatenate([[0], np.flatnonzero(text == ord("\n")) + 1])


@dataclass(frozen=True)
class _Part:
    """A checked part; the module describes its fields."""

    query: Index
    rank: Ranks
    begin: Index
    end: Index
    offsets: Index
    lines: Bytes
    primary: Bytes

    @classmethod
    def read(cls, data: bytes, n_queries: int) -> _Part:
        with part_arrays(data) as arrays:
            part = cls(**arrays)
            part._check(n_queries)
        return part

    def _check(self, n_queries: int) -> None:
        n = len(self.query)
        for name in ("query", "rank", "begin", "end", "offsets"):
            values = getattr(self, name)
            if values.dtype != (np.float64 if name == "rank" else np.int64) or values.shape != (
                n + (name == "offsets"),
            ):
                raise ValueError(name)
        for name in ("lines", "primary"):
            if getattr(self, name).dtype != np.uint8 or getattr(self, name).ndim != 1:
                raise ValueError(name)
        places = np.stack([self.begin, self.end], 1).ravel()  # 0 <= begin <= end <= the next begin ...
        for bounds, size in ((places, len(self.lines)), (self.offsets, len(self.primary))):
            if len(bounds) and not (bounds[0] >= 0 and bounds[-1] <= size and (np.diff(bounds) >= 0).all()):
                raise ValueError("bounds")
        if n and not 0 <= self.query.min() <= self.query.max() < n_queries:
            raise ValueError("query")


def chosen_lines(parts: Iterable[bytes], n_queries: int) -> Iterator[memoryview]:
    """Yield blocks of whole lines in the order of the pairs. Reads `parts` twice; InputError for a damaged part."""
    highest, owner = np.full(n_queries, -np.inf), np.full(n_queries, -1)
    for number, data in enumerate(parts):
        part = _Part.read(data, n_queries)
        is_better = part.rank > highest[part.query]
        highest[part.query[is_better]], owner[part.query[is_better]] = part.rank[is_better], number
    for number, data in enumerate(parts):
        part = _Part.read(data, n_queries)
        yield from _lines_of(part, np.flatnonzero(owner[part.query] == number))


def _lines_of(part: _Part, winners: Index) -> Iterator[memoryview]:
    """Yield a part's lines, given which of its best pairs are primary."""
    lines, primary, done = memoryview(part.lines), memoryview(part.primary), 0  # type: ignore[arg-type]
    bounds = (part.begin[winners], part.end[winners], part.offsets[winners], part.offsets[winners + 1])
    for begin, end, first, last in zip(*(bound.tolist() for bound in bounds), strict=True):
        if begin > done:
            yield lines[done:begin]
        yield primary[first:last]
        done = end
    if done < len(lines):
        yield lines[done:]


#: Characters that a name may not hold (SAM specification, sections 1.2.1 and 1.4): anywhere, and at its start.
NO_REFERENCE = re.compile(r"[^0-9A-Za-z!#$%&*+./:;=?@^_|~-]|^[*=]")
NO_READ = re.compile(r"[^!-?A-~]")
#: Maximum length of a read's name.
MOST_LETTERS = 254


@cached_per_object
def valid_names(batch: Named, kind: str) -> Texts:
    """Return the names of a batch in UTF-8 and their offsets; warns once per batch if names were changed.

    Invalid characters for this kind, "read" or "reference", become ``_``, and a number makes names unique. Raises
    InputError for a name with a tab or a line break.
    """
    texts = encoded_names(batch)
    data, offsets = texts
    pattern = NO_READ if kind == "read" else NO_REFERENCE
    is_bad = np.array([bool(pattern.match("_" + chr(k), 1)) or k > 127 for k in range(256)])[data]
    found = set(np.searchsorted(offsets, np.flatnonzero(is_bad), "right") - 1)
    if kind == "read":
        found |= set(np.flatnonzero(np.diff(offsets) > MOST_LETTERS))
    else:
        found |= set(np.flatnonzero(np.isin(data[offsets[:-1]], list(b"*="))))
    bad = sorted(int(k) for k in found)
    return encoded(_replace_invalid_names(list(batch.names), bad, kind)) if len(bad) else texts


def _replace_invalid_names(names: list[str], bad: Sequence[int], kind: str) -> list[str]:
    pattern = NO_READ if kind == "read" else NO_REFERENCE
    first = names[bad[0]]
    taken = set(names)
    for k in bad:
        plain = pattern.sub("_", names[k])[: MOST_LETTERS if kind == "read" else None]
        made, number = plain, 1
        while made in taken:
            number += 1
            ending = f"_{number}"
            made = plain[: MOST_LETTERS - len(ending) if kind == "read" else None] + ending
        taken.add(made)
        names[k] = made
    one = len(bad) == 1
    warn(
        f"{len(bad):,} name{'' if one else 's'} of {kind}s {'is' if one else 'are'} not allowed in SAM: changed, "
        f"{'' if one else 'the first '}{shown(repr(first)[:80])} to {names[bad[0]]!r}"
    )
    return names


Bytes = NDArray[np.uint8]
#: Bytes that SEQ may hold: letters, ``=`` and ``.``.
IN_SEQ = np.array([(chr(k).isalpha() and k < 128) or chr(k) in "=." for k in range(256)])


def letters(table: AlignmentTable, prefix: str, has_u: bool = True) -> Column:
    """Return the full query of each row on the aligned strand; non-letters become wildcards, with a warning per batch.

    Without `has_u`, U is written as T.
    """
    text, _, offsets, index = aligned_queries(table)
    shown = _shown(table.queries, has_u)
    if shown is not None:
        pieces = [text[begin:end] for begin, end in zip(offsets[index], offsets[index + 1], strict=True)]
        offsets = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces], dtype=np.int64)])
        text, index = shown[np.concatenate([*pieces, np.zeros(0, np.uint8)])], np.arange(len(pieces))
    return ("text", np.ascontiguousarray(text), offsets, np.ascontiguousarray(index), prefix)


@cached_per_object
def _shown(batch: SequenceBatch, has_u: bool) -> Bytes | None:
    """Return the output character of each byte; None if all characters of the batch stay unchanged."""
    n_of = byte_counts(batch.letters)
    table = np.arange(256, dtype=np.uint8)
    wildcard = batch.alphabet.wildcard or "X"
    table[~IN_SEQ] = ord(wildcard)
    if not has_u:
        table[list(b"Uu")] = list(b"Tt")
    if n_of[~IN_SEQ].any():
        n, first = int(n_of[~IN_SEQ].sum()), chr(int(np.argmax(n_of * ~IN_SEQ > 0)))
        what = f"{n:,} letter{'s' * (n > 1)} such as {first!r}"
        warn(f"{what} not allowed in SAM: written as {wildcard}")
    return table if n_of[table != np.arange(256)].any() else None


def qualities(table: AlignmentTable, prefix: str) -> Column:
    """Return the qualities of each row's query on the aligned strand; ``*`` if unknown."""
    batch = table.queries
    if batch.qualities is None:
        return ("constant", prefix + "*")
    text, offsets, is_unknown = _quality_text(batch)
    minus: Any = 0 if table.strand is None else table.strand < 0
    index = np.where(is_unknown[table.query_index], 2 * len(batch), table.query_index + len(batch) * minus)
    return ("text", text, offsets, index, prefix)


@cached_per_object
def _quality_text(batch: SequenceBatch) -> tuple[Bytes, NDArray[np.int64], NDArray[np.bool_]]:
    """Return qualities of forward strands, of reverse strands, and ``*``; and a mask of sequences without them."""
    values, offsets = batch.qualities, batch.offsets
    assert values is not None
    text = np.minimum(values, HIGHEST_QUALITY) + np.uint8(FIRST_QUALITY)
    n_unknown = np.concatenate([[0], np.cumsum(values == NO_QUALITY)])[offsets]
    other = mirrored(text, offsets) if batch.alphabet.has_strands else text
    places = np.concatenate([offsets, offsets[1:] + offsets[-1], [2 * offsets[-1] + 1]])
    whole = np.concatenate([text, other, np.frombuffer(b"*", np.uint8)])
    return whole, places, np.diff(n_unknown) > 0


Flags = NDArray[np.bool_]
UNMAPPED, REVERSED, SECONDARY = 4, 16, 256
#: Unknown: the score of a pair does not show whether the read fits elsewhere.
MAPPING_QUALITY_UNKNOWN = 255
#: Rows whose text stays in the CPU cache.
ROWS_AT_ONCE = 4096
#: Context fields for assembling a file.
ASSEMBLED_WITH = ("queries", "targets")


def header_text(header: Header, context: PairsContext) -> bytes:
    """Return targets as ``@SQ``, and the command with the parameters as ``@PG``."""
    data, offsets = valid_names(context.targets, "reference")
    names, bounds = data.tobytes(), offsets.tolist()
    if len(set(context.targets.names)) < len(context.targets):
        raise UsageError("two targets have the same name, which SAM does not allow: give each record its own name")
    if not header.has_names:
        return b""
    lines = ["@HD\tVN:1.6\tSO:unknown"]
    for k, length in enumerate(context.targets.lengths.tolist()):
        lines.append(f"@SQ\tSN:{names[bounds[k] : bounds[k + 1]].decode()}\tLN:{length}")
    command = one_line(header.command)
    notes = one_line("; ".join(f"{name}: {value}" for name, value in header.parameters.items()))
    lines.append(f"@PG\tID:tropalign\tPN:tropalign\tVN:{header.version}\tCL:{command}\tDS:{notes}")
    return ("\n".join(lines) + "\n").encode()


def encode_sam(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return a line per pair; if the primary pairs are not known yet, also each best pair's alternative line."""
    return b"".join(sam_blocks(table, context))


def sam_blocks(table: AlignmentTable, context: PairsContext) -> Iterator[bytes]:
    """Yield final lines in blocks if queries are complete, else a part with all alternatives."""
    if not context.has_whole_queries:
        return iter([encode_primary(table, lines)])
    is_primary = primary_rows(table)
    is_shown = is_primary | (table.n_columns > 0)
    if not is_shown.all():
        table, is_primary = table.take(is_shown), is_primary[is_shown]
    return row_blocks(
        len(table), lambda begin, end: _some_lines(table.slice(begin, end), is_primary[begin:end], has_u=True)
    )


def lines(table: AlignmentTable, is_primary: bool, has_u: bool = True) -> bytes:
    """Return the rows as primary lines, or as others; without `has_u`, U is written as T."""
    parts = (table.slice(k, k + ROWS_AT_ONCE) for k in range(0, len(table), ROWS_AT_ONCE))
    return b"".join(_some_lines(part, np.full(len(part), is_primary), has_u) for part in parts)


def _some_lines(table: AlignmentTable, is_primary: Flags, has_u: bool) -> bytes:
    """Return lines of rows: overhangs are soft-clipped; a pair without an aligned column is an unmapped read."""
    begin = query_starts(table)
    after = table.queries.lengths[table.query_index] - begin - (table.query_end - table.query_start)
    empty = table.n_columns == 0
    minus = np.zeros(len(table), bool) if table.strand is None else table.strand < 0
    flags = UNMAPPED * empty + REVERSED * minus.astype(np.int32) + SECONDARY * ~is_primary
    columns = [
        ("text", *valid_names(table.queries, "read"), np.ascontiguousarray(table.query_index), ""),
        rows.numbers(flags, "\t"),
        _references(table, empty),
        rows.numbers(np.where(empty, 0, table.target_start + 1), "\t"),
        rows.numbers(np.where(empty, 0, MAPPING_QUALITY_UNKNOWN), "\t"),
        rows.each(np.where(empty, 0, begin), "{}S", "", "\t"),
        cigars(table),
        rows.each(np.where(empty, 0, after), "{}S", ""),
        rows.constant("\t*\t0\t0"),
        *_reads(table, is_primary, has_u),
        *rows.score_tags(table.score, "\t"),
        rows.numbers(table.n_columns - equal_columns(table), "\tNM:i:"),
        *([mismatches(table, "\tMD:Z:")] if table.targets.alphabet.has_strands else []),
    ]
    return rows.join(columns, len(table), separator="")


def _reads(table: AlignmentTable, is_primary: Flags, has_u: bool) -> list[rows.Column]:
    """Return letters and qualities of primary lines, ``*`` for others."""
    if not is_primary.any():
        return [rows.constant("\t*\t*")]
    primary = table if is_primary.all() else table.take(is_primary)
    columns = [letters(primary, "\t", has_u), qualities(primary, "\t")]
    if primary is table:
        return columns
    return [rows.where(column, is_primary) for column in columns]


def _references(table: AlignmentTable, empty: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> rows.Column:
    """Return the targets' names, ``*`` for an unmapped read."""
    data, offsets = valid_names(table.targets, "reference")
    index = np.ascontiguousarray(table.target_index)
    if empty.any():
        star = np.frombuffer(b"*", np.uint8)
        data, offsets = np.concatenate([data, star]), np.append(offsets, offsets[-1] + 1)
        index = np.where(empty, len(offsets) - 2, index)
    return ("text", data, offsets, index, "\t")


class _Sam(Concatenated):
    """An ``assemble`` of the header, and the lines in the order of the pairs."""

    def __call__(self, parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
        found = parts if context.has_whole_queries else chosen_lines(parts, len(context.queries))
        super().__call__(found, out, header, context)  # type: ignore[arg-type]


#: Memory of importing pysam.
PYSAM_BYTES = 24 << 20
COPIED_BYTES = 1 << 16


def encode_bam(table: AlignmentTable, context: PairsContext) -> bytes:
    """Return SAM lines without U, which BAM does not support."""
    return encode_primary(table, partial(lines, has_u=False))


def require_pysam() -> None:
    """Raise InputError with the remedy if pysam is missing."""
    try:
        import pysam  # noqa: F401
    except ImportError:
        raise InputError(f"BAM needs pysam: pip install 'tropalign[bam]', or choose {named('format')} sam") from None


def check_bam(context: PairsContext) -> None:
    """Reject proteins, since BAM has no codes for their residues."""
    if isinstance(context.queries, SequenceBatch) and not context.queries.alphabet.has_strands:
        raise InputError(f"BAM supports nucleotides only, but these are proteins: choose {named('format')} sam")


def assemble_bam(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PairsContext) -> None:
    """Pack the lines in the order of the pairs."""
    import pysam

    head = pysam.AlignmentHeader.from_text(header_text(header, context).decode())
    with _file_of(out) as (file, failures), pysam.AlignmentFile(file, "wb", header=head) as packed:
        for lines in chosen_lines(parts, len(context.queries)):
            for line in bytes(lines).decode().splitlines():
                packed.write(pysam.AlignedSegment.fromstring(line, head))
            if failures:
                return


@contextmanager
def _file_of(out: IO[bytes]) -> Iterator[tuple[IO[bytes], list[Exception]]]:
    """Yield an OS-level file, as pysam requires, whose bytes are copied to the output, and a list of copying errors."""
    read_end, write_end = os.pipe()
    failures: list[Exception] = []

    def copy() -> None:
        with open(read_end, "rb", buffering=0) as source:
            while data := source.read(COPIED_BYTES):
                if failures:  # keep reading, or the writer would block
                    continue
                try:
                    out.write(data)
                except Exception as error:  # re-raised by the writing thread
                    failures.append(error)

    copying = threading.Thread(target=copy)
    copying.start()
    try:
        with open(write_end, "wb") as file:
            yield file, failures
    finally:
        copying.join()
    if failures:
        raise failures[0]


SAM = Codec(
    encode_sam,
    _Sam(header_text),
    assembled_with=ASSEMBLED_WITH,
    needs_all=lambda context: not context.has_whole_queries,
    blocks=sam_blocks,
)
BAM = Codec(
    encode_bam,
    assemble_bam,
    assembled_with=ASSEMBLED_WITH,
    is_binary=True,
    needs_all=True,
    require=require_pysam,
    check=check_bam,
)
