"""Clusters as a report for a browser: sizes, identities, tables of clusters and members, alignments on a click."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.formats.clusters import ClustersContext
from tropalign.formats.format import Codec
from tropalign.formats.header import Header
from tropalign.formats.pages.web_page import Report, leb128, write_report_page
from tropalign.formats.part_arrays import part_arrays
from tropalign.results.clusters import RUN, Clusters

PAGE = "clusters"
SCRIPTS = ("viewer/pictures.js", "ranks.js", "clusters.js")
#: What a page holds at most: sequences, and the letters of as many of them as there is room for.
MOST_SEQUENCES, MOST_LETTERS = 300_000, 32 << 20
#: What a sequence, and a letter, that a page holds take while it is made, as measured on 20,000 and 100,000 sequences.
SEQUENCE_BYTES, LETTER_BYTES = 300, 16
Arrays = dict[str, NDArray[Any]]
Index = NDArray[np.int64]


def page_bytes(n_sequences: int, n_letters: int) -> int:
    """Memory that the page of so many sequences takes while it is made, at the most."""
    return min(n_sequences, MOST_SEQUENCES) * SEQUENCE_BYTES + min(n_letters, MOST_LETTERS) * LETTER_BYTES


def chosen_rows(clusters: Clusters) -> tuple[Index, NDArray[np.bool_]]:
    """Chooses the sequences that a page holds: of every cluster the first ones, largest clusters first.

    ::

        sizes    5  3  1        rows in turn: all representatives, then the second of each cluster, ...
                 1  2  3        so that no large cluster takes the room of the others
                 4  5
                 6  7
                 8
                 9

    Returns
    -------
    rows : int64, shape (n_rows,)
        Indices of sequences: clusters by size, the largest first; of each its members in their order.
    has_letters : bool, shape (n_rows,)
        Whether the page has room for the letters of the sequence.
    """
    by_size = np.argsort(-clusters.cluster_sizes, kind="stable")
    place_of = np.empty(len(clusters), np.int64)
    place_of[by_size] = np.arange(len(clusters))
    rows = clusters.row_order
    labels = clusters.labels[rows]
    turn = np.arange(len(rows)) - np.searchsorted(labels, labels)  # of a sequence within its cluster
    order = np.lexsort((place_of[labels], turn))[:MOST_SEQUENCES]
    kept, kept_place, kept_turn = rows[order], place_of[labels[order]], turn[order]
    has_letters = np.cumsum(clusters.sequences.lengths[kept]) <= MOST_LETTERS
    final = np.lexsort((kept_turn, kept_place))
    return kept[final], has_letters[final]


def columns_of(clusters: Clusters, rows: Index, has_letters: NDArray[np.bool_]) -> Arrays:
    """Columns of the sequences that the page holds, and of their clusters."""
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
        "cluster_size": clusters.cluster_sizes[own].astype(np.float64),  # which 32 bits may not hold
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
    """The least and the mean identity of members with their representative; NaN where there is no other member.

    Returns
    -------
    least, mean : float64, shape (n_clusters,)
    """
    is_member = clusters.representative_index[clusters.labels] != np.arange(len(clusters.labels))
    labels, identity, n = clusters.labels[is_member], clusters.identity[is_member], len(clusters)
    counts = np.bincount(labels, minlength=n)
    least, mean = np.full(n, np.inf), np.full(n, np.nan)
    np.minimum.at(least, labels, identity)
    np.divide(np.bincount(labels, identity, n), counts, out=mean, where=counts > 0)
    return np.where(counts > 0, least, np.nan), mean


#: Kinds of runs as in `pairs`: two residues, one of the member, one of the representative.
_KINDS = {"=": 0, "X": 0, "I": 1, "D": 2}


def packed_cigars(cigars: Iterable[str]) -> tuple[NDArray[np.uint8], Index, Index]:
    """Packs alignments for a page that has the letters, as the report of pairs has them.

    Returns
    -------
    paths : uint8
        Numbers ``length << 2 | kind`` as `leb128` packs them.
    sizes, reach : int64, shape (n,)
        How many bytes the path of each row takes, and residues of the member that it has.
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
    """Columns as .npz, and JSON among them."""
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
    sink = io.BytesIO()
    np.savez(
        sink,
        allow_pickle=False,
        notes=np.frombuffer(json.dumps(notes).encode(), np.uint8),
        step_size=values[::-1].astype(np.float64),
        step_count=counts[::-1],
        **columns_of(clusters, rows, has_letters),
    )
    return sink.getvalue()


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: ClustersContext) -> None:
    """The page."""
    (part,) = parts
    with part_arrays(part) as kept:
        arrays = dict(kept)
        data = json.loads(arrays.pop("notes").tobytes())
    write_report_page(out, Report(PAGE, SCRIPTS, "Clusters", data, arrays), header)


HTML = Codec(encode, assemble, is_binary=True, needs_all=True)
