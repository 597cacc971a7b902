"""Tables of placed reads, a row per read; their branches as jplace, and as a table with a row per branch."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.formats.array_files import DAMAGED_PART, needs_pyarrow
from tropalign.formats.format import Codec, Concatenated, Header
from tropalign.formats.placed.context import PlacedContext
from tropalign.results import rows
from tropalign.results.placements import Lineage, Placements

#: Names and types of the columns.
COLUMNS: dict[str, type] = {
    "read": str, "branch": np.int64, "clade": str, "score": np.int32, "second_score": np.int32, "ties": np.int64,
    "strand": str, "start": np.int64, "end": np.int64, "inserted": np.int64, "unaligned": np.int64, "count": np.int64,
}  # fmt: skip
#: Additional columns if lineages of the tips are known.
LINEAGE_COLUMNS: dict[str, type] = {"taxon": str, "lineage": str, "support": str}


def columns_of(context: PlacedContext) -> dict[str, type]:
    """Return the columns of a table and their types."""
    return {**COLUMNS, **LINEAGE_COLUMNS} if context.has_lineages else COLUMNS


def table_columns(placements: Placements, context: PlacedContext) -> dict[str, list[str] | NDArray[Any]]:
    """Return the columns by name, texts and numbers; a read that was not placed has branch -1 and the clade ``*``."""
    start, end, inserted, unaligned = placements.spans()
    clades = (*context.clades, "*")  # the last one is for branch -1
    found: dict[str, list[str] | NDArray[Any]] = {
        "read": list(placements.names),
        "branch": placements.branch,
        "clade": [clades[branch] for branch in placements.branch.tolist()],
        "score": placements.score,
        "second_score": placements.second_score,
        "ties": placements.ties,
        "strand": ["+" if strand > 0 else "-" for strand in placements.strand.tolist()],
        "start": start,
        "end": end,
        "inserted": inserted,
        "unaligned": unaligned,
        "count": context.counts(placements.names),
    }
    if context.lineages is not None:
        assigned = context.lineages.assign(placements)
        found["taxon"] = [lineage_text(each.common) for each in assigned]
        found["lineage"] = [lineage_text(each.likely) for each in assigned]
        found["support"] = [";".join(f"{share:.4g}" for share in each.support) or "*" for each in assigned]
    return {name: found[name] for name in columns_of(context)}


def lineage_text(lineage: Lineage) -> str:
    """Return ranks separated by semicolons; ``*`` for an empty lineage."""
    return ";".join(lineage) or "*"


def header_text(header: Header, context: PlacedContext) -> bytes:
    """Return comment lines, then the column names."""
    return header.above(columns_of(context))


def encode_tsv(placements: Placements, context: PlacedContext) -> bytes:
    """Return the rows as text."""
    rows.check_names(placements.names)
    columns = [
        rows.words(values) if isinstance(values, list) else rows.numbers(values)
        for values in table_columns(placements, context).values()
    ]
    return rows.join(columns, len(placements))


#: Rows of a row group.
GROUP_ROWS = 1 << 17


def _schema(context: PlacedContext) -> Any:
    import pyarrow as pa

    types = {str: pa.string(), np.int64: pa.int64(), np.int32: pa.int32()}
    return pa.schema([(name, types[kind]) for name, kind in columns_of(context).items()])


def encode_parquet(placements: Placements, context: PlacedContext) -> bytes:
    """Return an Arrow IPC stream of the rows."""
    import pyarrow as pa

    table = pa.table(table_columns(placements, context), _schema(context))
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def assemble_parquet(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the rows of all parts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    waiting = _schema(context).empty_table()
    with pq.ParquetWriter(out, waiting.schema) as writer:
        for part in parts:
            with pa.ipc.open_stream(part) as stream:
                waiting = pa.concat_tables([waiting, stream.read_all()])
            while len(waiting) >= GROUP_ROWS:
                writer.write_table(waiting.slice(0, GROUP_ROWS).combine_chunks())
                waiting = waiting.slice(GROUP_ROWS)
        if len(waiting):
            writer.write_table(waiting.combine_chunks())


TSV = Codec(encode_tsv, Concatenated(header_text), assembled_with=("more",))
PARQUET = Codec(
    encode_parquet,
    assemble_parquet,
    ("more",),
    is_binary=True,
    require=needs_pyarrow("Parquet needs", "end --table in .tsv"),
)


FIELDS = ("edge_num", "likelihood", "like_weight_ratio", "distal_length", "pendant_length")
SEPARATOR = b",\n"


def encode_jplace(placements: Placements, context: PlacedContext) -> bytes:
    """Return an entry per placed read: the middles of all its best branches, with equal weights.

    A score separates the best branches from others, but does not give their probabilities. So all branches with the
    best score are listed, for any number of them, and the weights of a read sum to 1.
    """
    entries = []
    distal = [json.dumps(float(f"{length / 2:.10g}")) for length in context.branch_lengths.tolist()]
    begins = placements.tied_offsets.tolist()
    counts = context.counts(placements.names).tolist()
    for k, name in enumerate(placements.names):
        listed = placements.tied_branches[begins[k] : begins[k + 1]].tolist()
        if placements.branch[k] < 0 or not listed:
            continue
        shared = f"{float(placements.score[k])}, {1.0 / len(listed)}"
        branches = ", ".join([f"[{branch}, {shared}, {distal[branch]}, 0.0]" for branch in listed])
        entries.append(f'{{"p": [{branches}], "nm": {json.dumps([[name, counts[k]]])}}}'.encode())
    return SEPARATOR.join(entries)


def assemble_jplace(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the tree, the entries, and the end."""
    meta = {"invocation": header.command, "likelihood": "the alignment score"}
    frame = {"version": 3, "tree": context.newick, "fields": FIELDS, "metadata": meta}
    out.write(json.dumps(frame, indent=0)[:-2].encode() + b',\n"placements": [\n')
    is_first = True
    for part in parts:
        if part:
            out.write(part if is_first else SEPARATOR + part)
            is_first = False
    out.write(b"\n]}\n")


JPLACE = Codec(encode_jplace, assemble_jplace, assembled_with=("newick",))


BRANCH_COLUMNS = ("branch", "clade", "length", "reads", "count", "shared")


def encode(placements: Placements, context: PlacedContext) -> bytes:
    """Return a JSON row per branch that is among the best of a read: number, clade, length, reads, shared counts.

    Numbers are of reads with this `branch`: how many, and their counts in each sample. Shared counts are of all
    reads with this branch among their best ones, by how many best ones they have, so that all sums are integers.
    """
    by_sample, branch = context.counts_by_sample(placements.names), placements.branch
    numbers = np.zeros((len(context.branch_lengths), 1 + by_sample.shape[1]), np.int64)
    placed = np.flatnonzero(branch >= 0)
    np.add.at(numbers, branch[placed], np.concatenate([np.ones((len(placed), 1), np.int64), by_sample[placed]], axis=1))
    ties = np.repeat(placements.ties, placements.ties)
    of_ties, at = np.unique(np.stack([placements.tied_branches, ties]), axis=1, return_inverse=True)
    sums = np.zeros(of_ties.shape[1], np.int64)
    np.add.at(sums, at.reshape(-1), np.repeat(by_sample.sum(axis=1), placements.ties))
    shared: dict[int, list[list[int]]] = {}
    for number, n_ties, count in zip(*of_ties.tolist(), sums.tolist(), strict=True):
        shared.setdefault(number, []).append([n_ties, count])
    found = [
        [number, context.clades[number], float(context.branch_lengths[number]), numbers[number].tolist(), counts]
        for number, counts in shared.items()
    ]
    left = np.flatnonzero(branch < 0)
    if len(left):
        found.append([-1, "*", 0.0, [len(left), *by_sample[left].sum(axis=0).tolist()], []])
    return json.dumps(found).encode()


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write a row per branch that is among the best of a read, and a last one for reads without a branch."""
    found: dict[int, tuple[str, str, Any, dict[int, int]]] = {}
    try:
        for part in parts:
            for number, clade, length, numbers, shared in json.loads(part):
                none = np.zeros(1 + max(len(context.samples), 1), np.int64)
                _, _, sums, of_ties = found.setdefault(int(number), (str(clade), f"{float(length):.10g}", none, {}))
                sums += np.array(numbers, np.int64)
                for n_ties, count in shared:
                    of_ties[int(n_ties)] = of_ties.get(int(n_ties), 0) + int(count)
        lines = [*header.comment_lines(), "\t".join([*BRANCH_COLUMNS, *context.samples])]
        for number in sorted(found, key=lambda number: (number < 0, number)):
            clade, length, sums, of_ties = found[number]
            share = sum(of_ties[n_ties] / n_ties for n_ties in sorted(of_ties))
            samples = sums[1:].tolist() if context.samples else []
            words = (number, clade, length, sums[0], sums[1:].sum(), f"{share:.10g}", *samples)
            lines.append("\t".join(map(str, words)))
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        raise InputError(DAMAGED_PART) from None
    out.write(("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"))


BRANCHES = Codec(encode, assemble, assembled_with=("samples",))
