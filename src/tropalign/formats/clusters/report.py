"""Web report of clusters: sizes, identities, tables of clusters and members, alignments on a click."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.array_files import packed_part, part_arrays
from tropalign.formats.clusters import ClustersContext
from tropalign.formats.format import Codec, Header
from tropalign.formats.pages import Report, leb128, write_report_page
from tropalign.results.clusters import RUN, Clusters

PAGE = "clusters"
SCRIPTS = ("ranks.js", "clusters.js")
#: Limits of a page: sequences, and total residues of the sequences that are shown in full.
MOST_SEQUENCES, MOST_LETTERS = 300_000, 32 << 20
#: Memory per sequence and per residue while a page is made, measured on 20,000 and 100,000 sequences.
SEQUENCE_BYTES, LETTER_BYTES = 300, 16
Arrays = dict[str, NDArray[Any]]
Index = NDArray[np.int64]


def page_bytes(n_sequences: int, n_letters: int) -> int:
    """Return an upper bound of the memory for making the page."""
    return min(n_sequences, MOST_SEQUENCES) * SEQUENCE_BYTES + min(n_letters, MOST_LETTERS) * LETTER_BYTES


def chosen_rows(clusters: Clusters) -> tuple[Index, NDArray[np.bool_]]:
    """Choose the sequences of a page, the first ones of each cluster, and those shown with residues.

    Rows are taken in turn, all representatives first, then the second member of each cluster, and so on, so that no
    large cluster takes the room of the others. They are returned by cluster, the largest first::

        sizes    5  3  1
                 1  2  3
                 4  5
                 6  7
                 8
                 9
    """
    by_size = np.argsort(-clusters.cluster_sizes, kind="stable")
    place_of = np.empty(len(clusters), np.int64)
    place_of[by_size] = np.arange(len(clusters))
    rows = clusters.row_order
    labels = clusters.labels[rows]
    turn = np.arange(len(rows)) - np.searchsorted(labels, labels)  # rank of a sequence within its cluster
    order = np.lexsort((place_of[labels], turn))[:MOST_SEQUENCES]
    kept, kept_place, kept_turn = rows[order], place_of[labels[order]], turn[order]
    has_letters = np.cumsum(clusters.sequences.lengths[kept]) <= MOST_LETTERS
    final = np.lexsort((kept_turn, kept_place))
    return kept[final], has_letters[final]


def columns_of(clusters: Clusters, rows: Index, has_letters: NDArray[np.bool_]) -> Arrays:
    """Return columns of the sequences on the page, and of their clusters."""
    labels = clusters.labels[rows]
    is_first = np.diff(labels, prepend=-1) != 0
    own = labels[is_first]
    batch, is_member = clusters.sequences, ~is_first
    cigars = zip(rows.tolist(), has_letters.tolist(), strict=True)
    paths, path_sizes, reach = packed_cigars((clusters.cigars[k] if has else None) or "" for k, has in cigars)
    start, other = clusters.member_start[rows], clusters.representative_start[rows]
    is_known = (start >= 0) & (other >= 0)
    of_strand = np.where(clusters.strand[rows] < 0, batch.lengths[rows] - start - reach, start)
    least, mean = member_identities(clusters)
    return {
        "label": own,
        "cluster_size": clusters.cluster_sizes[own].astype(np.float64),  # may exceed 32 bits
        "cluster_sequences": np.bincount(clusters.labels, minlength=len(clusters))[own],
        "cluster_least": least[own],
        "cluster_mean": mean[own],
        "cluster_rows": np.diff(np.append(np.flatnonzero(is_first), len(rows))),
        "identity": np.where(is_member, clusters.identity[rows], np.nan),
        "score": np.where(is_member, clusters.score[rows].astype(np.float64), np.nan),
        "strand": clusters.strand[rows],
        "length": batch.lengths[rows],
        "size": clusters.sizes[rows].astype(np.float64),
        "has_letters": has_letters.astype(np.uint8),
        "letters": batch[rows[has_letters]].letters,
        "paths": paths,
        "path_sizes": path_sizes,
        "member_start": np.where(is_known, of_strand, -1),
        "representative_start": np.where(is_known, other, -1),
    }


def member_identities(clusters: Clusters) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return minimum and mean identity of members to their representative per cluster; NaN without other members."""
    is_member = clusters.representative_index[clusters.labels] != np.arange(len(clusters.labels))
    labels, identity, n = clusters.labels[is_member], clusters.identity[is_member], len(clusters)
    counts = np.bincount(labels, minlength=n)
    least, mean = np.full(n, np.inf), np.full(n, np.nan)
    np.minimum.at(least, labels, identity)
    np.divide(np.bincount(labels, identity, n), counts, out=mean, where=counts > 0)
    return np.where(counts > 0, least, np.nan), mean


#: Kinds of runs, as in `pairs`: an aligned pair, a residue of the member, a residue of the representative.
_KINDS = {"=": 0, "X": 0, "I": 1, "D": 2}


def packed_cigars(cigars: Iterable[str]) -> tuple[NDArray[np.uint8], Index, Index]:
    """Pack CIGARs as in the report of pairs, for a page that stores the residues separately.

    Returns the paths (numbers ``length << 2 | kind`` in LEB128), the bytes of each row's path, and the residues of
    the member in it.
    """
    numbers: list[int] = []
    counts, reach = [], []
    for cigar in cigars:
        runs: list[tuple[int, int]] = []
        for length, sign in RUN.findall(cigar):
            kind, before = _KINDS[sign], 0
            if runs and runs[-1][0] == kind:
                before = runs.pop()[1]
            runs.append((kind, before + int(length)))
        numbers += [length << 2 | kind for kind, length in runs]
        counts.append(len(runs))
        reach.append(sum(length for kind, length in runs if kind != 2))
    text, sizes = leb128(np.array(numbers, np.uint64))
    of_row = np.repeat(np.arange(len(counts)), counts)
    per_row = np.bincount(of_row, sizes, len(counts)).astype(np.int64)
    return text, per_row, np.array(reach, np.int64)


def encode(clusters: Clusters, context: ClustersContext) -> bytes:
    """Return columns as .npz, with JSON among them."""
    clusters = clusters.take(np.arange(len(clusters)))  # drop unmapped reads
    rows, has_letters = chosen_rows(clusters)
    alphabet = clusters.sequences.alphabet
    names = clusters.sequences.names
    notes = {
        "names": [names[k] for k in rows.tolist()],
        "n_clusters": len(clusters),
        "n_sequences": len(clusters.sequences),
        "n_reads": int(clusters.sizes.sum()),
        "codes": alphabet.encode(np.arange(256, dtype=np.uint8))[0].tolist(),
        "complements": alphabet.complement_table.tolist() if alphabet.has_strands else None,
    }
    values, counts = np.unique(clusters.cluster_sizes, return_counts=True)
    return packed_part(
        notes=np.frombuffer(json.dumps(notes).encode(), np.uint8),
        step_size=values[::-1].astype(np.float64),
        step_count=counts[::-1],
        **columns_of(clusters, rows, has_letters),
    )


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: ClustersContext) -> None:
    """Write the page."""
    (part,) = parts
    with part_arrays(part) as kept:
        arrays = dict(kept)
        data = json.loads(arrays.pop("notes").tobytes())
    write_report_page(out, Report(PAGE, SCRIPTS, "Clusters", data, arrays), header)


HTML = Codec(encode, assemble, is_binary=True, needs_all=True)
