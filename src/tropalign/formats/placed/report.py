"""Web report of placed reads: the tree with reads per branch, a table, and alignments on a click."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.errors import InputError, ResourceError
from tropalign.formats.array_files import DAMAGED_PART, packed_part, part_arrays
from tropalign.formats.format import Codec, Header
from tropalign.formats.pages import Report, leb128, write_report_page
from tropalign.formats.placed.context import PlacedContext
from tropalign.formats.placed.tables import lineage_text
from tropalign.formats.trees.text import numbered_tree
from tropalign.results import rows
from tropalign.results.placements import Placements

#: Kinds of runs: residues in adjacent columns, residues without a column, columns without a residue of the read.
IN_COLUMNS, INSERTED, SKIPPED = 0, 1, 2


def packed_columns(placements: Placements) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pack the columns of each read's residues, from its first column on; also return each read's byte count.

    ::

        columns     . 1 2 3 4 5 6 7        from column 1: 2 in columns, 1 inserted, 2 skipped, 3 in columns
        read          A C g - - T A C      a run is the number length << 2 | kind, written as in pages/__init__.py
    """
    column, offsets = placements.column.astype(np.int64), placements.offsets
    n = len(column)
    if not n:
        return np.zeros(0, np.uint8), np.zeros(len(placements), np.int64)
    of_read = np.repeat(np.arange(len(placements)), np.diff(offsets))
    is_in = column >= 0
    # For each residue, index of the last earlier one (of any read) that has a column, or -1.
    last = np.concatenate([[-1], np.maximum.accumulate(np.where(is_in, np.arange(n), -1))[:-1]])
    follows = is_in & (last >= offsets[of_read])
    skipped = np.where(follows, column - column[last] - 1, 0)
    begins = np.ones(n, bool)
    begins[1:] = (of_read[1:] != of_read[:-1]) | (is_in[1:] != is_in[:-1]) | (skipped[1:] > 0)
    firsts = np.flatnonzero(begins)
    lengths = np.diff(np.append(firsts, n))
    n_items = 1 + (skipped[firsts] > 0)
    ends = np.cumsum(n_items)
    numbers = np.zeros(int(ends[-1]), np.uint64)
    numbers[ends - 1] = lengths << 2 | np.where(is_in[firsts], IN_COLUMNS, INSERTED)
    gaps = firsts[n_items == 2]
    numbers[ends[n_items == 2] - 2] = skipped[gaps] << 2 | SKIPPED
    text, sizes = leb128(numbers)
    per_read = np.bincount(np.repeat(of_read[firsts], n_items), sizes, len(placements))
    return text, per_read.astype(np.int64)


PAGE = "placed"
SCRIPTS = (
    *("viewer/layout.js", "viewer/view.js"),
    *("heat.js", "samples.js", "read.js", "place.js"),
)
#: Limits of a page: reads (the first ones), their residues, and residues of the reference.
MOST_READS, MOST_LETTERS, MOST_REFERENCE = 500_000, 96 << 20, 128 << 20
#: Memory for making a page (pieces, columns, narrow types, bytes, compressed bytes): per read, per residue of a read,
#: and per residue of the reference.
READ_BYTES, LETTER_BYTES, REFERENCE_BYTES = 800, 5, 2
#: Bits of the sample number in a key (the other bits are a branch); number of keys that are summed together.
SAMPLE_BITS, MOST_PENDING = 31, 1 << 20
#: Columns of a page's table that are copied from placements.
COLUMNS = ("branch", "score", "second_score", "ties", "strand")
Arrays = dict[str, NDArray[Any]]


def encode(placements: Placements, context: PlacedContext) -> bytes:
    """Return columns, residues and their positions, best branches and names, as .npz."""
    start, end, inserted, unaligned = placements.spans()
    arrays: Arrays = {name: getattr(placements, name) for name in COLUMNS}
    arrays |= {"start": start, "end": end, "inserted": inserted, "unaligned": unaligned}
    arrays["count"] = context.counts(placements.names)
    arrays["lengths"], arrays["letters"] = np.diff(placements.offsets), placements.letters
    arrays["paths"], arrays["path_sizes"] = packed_columns(placements)
    arrays["tied_branches"] = placements.tied_branches
    arrays["names"], arrays["name_offsets"] = rows.encoded(placements.names)
    if context.lineages is not None:
        taxa = [lineage_text(each.common) for each in context.lineages.assign(placements)]
        arrays["taxa"], arrays["taxon_offsets"] = rows.encoded(tuple(taxa))
    arrays |= _sampled(placements, context)
    return packed_part(**arrays)


def _sampled(placements: Placements, context: PlacedContext) -> Arrays:
    """Return counts of placed reads by branch and sample, and the sample names in order of appearance."""
    names, branch = placements.names, placements.branch
    if context.otus is not None:
        counted = context.counts_by_sample(names)
        read, sample = np.nonzero(counted)
        count, known = counted[read, sample], list(context.samples)
    else:
        said = [context.tell(name) for name in names]
        known = list(dict.fromkeys(one for one in said if one))
        number = {one: k for k, one in enumerate(known)}
        read = np.array([k for k, one in enumerate(said) if one], np.int64)
        sample = np.array([number[one] for one in said if one], np.int64)
        count = context.counts(names)[read]
    is_placed = branch[read] >= 0
    keys = branch[read[is_placed]] * max(len(known), 1) + sample[is_placed]
    used, place = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(used), np.int64)
    np.add.at(sums, place, count[is_placed])
    by_branch, by_sample = np.divmod(used, max(len(known), 1))
    text, offsets = rows.encoded(tuple(known))
    return {
        "sample_branch": by_branch,
        "sample_number": by_sample,
        "sample_count": sums,
        "samples": text,
        "sample_offsets": offsets,
    }


def _texts(arrays: Arrays, texts: str, offsets: str) -> list[str]:
    text, cuts = arrays[texts].tobytes(), arrays[offsets].tolist()
    return [text[a:b].decode() for a, b in pairwise(cuts)]


class Gathered:
    """Sums over the reads of all parts, and as many reads as fit on a page.

    count: sum of the counts of all reads. reads, counts: per branch, for reads whose first best branch it is.
    shared: counts divided equally among the best branches of a read. Sums are in the order of the reads, so that
    they do not depend on how the run was divided. samples: numbers of samples, in the order of the count table, else
    of appearance.
    """

    def __init__(self, n_branches: int, samples: Iterable[str] = ()) -> None:
        self._sampled: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self.samples = {name: k for k, name in enumerate(samples)}
        self.n_reads = self.n_placed = self.count = 0
        self.reads, self.counts, self.shared = (np.zeros(n_branches) for _ in range(3))
        self.names: list[str] = []
        self.taxa: list[str] = []
        self._kept: list[Arrays] = []
        self._n_letters = 0

    def add(self, part: Arrays) -> None:
        """Add the reads of a part."""
        count, ties, branch = part["count"], part["ties"], part["branch"]
        placed = branch >= 0
        self.n_reads += len(count)
        self.n_placed += int(placed.sum())
        self.count += int(count.sum())
        np.add.at(self.reads, branch[placed], 1.0)
        np.add.at(self.counts, branch[placed], count[placed].astype(np.float64))
        np.add.at(self.shared, part["tied_branches"], np.repeat(count / np.maximum(ties, 1), ties))
        numbers = [
            self.samples.setdefault(name, len(self.samples)) for name in _texts(part, "samples", "sample_offsets")
        ]
        keys = part["sample_branch"] << SAMPLE_BITS | np.array(numbers, np.int64)[part["sample_number"]]
        self._sampled.append((keys, part["sample_count"]))
        if sum(len(keys) for keys, _ in self._sampled[1:]) > MOST_PENDING:
            self.by_sample()
        self._keep(part)

    def by_sample(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return branches, samples and their counts, ordered by branch, then by sample."""
        none = np.zeros(0, np.int64)
        keys, counts = (np.concatenate([none, *(pair[k] for pair in self._sampled)]) for k in (0, 1))
        used, place = np.unique(keys, return_inverse=True)
        sums = np.zeros(len(used), np.int64)
        np.add.at(sums, place, counts)
        self._sampled = [(used, sums)]
        return used >> SAMPLE_BITS, used & (1 << SAMPLE_BITS) - 1, sums

    def _keep(self, part: Arrays) -> None:
        """Keep as many reads as there is room for, and none after the first one that is left out."""
        ends = self._n_letters + np.cumsum(part["lengths"])
        n = min(int(np.searchsorted(ends, MOST_LETTERS, "right")), MOST_READS - len(self.names))
        if len(self.names) < self.n_reads - len(ends) or n <= 0:
            return
        n_letters, n_bytes = int(part["lengths"][:n].sum()), int(part["path_sizes"][:n].sum())
        kept = {name: part[name][:n] for name in KEPT}
        self._kept.append({**kept, "letters": part["letters"][:n_letters], "paths": part["paths"][:n_bytes]})
        self._n_letters += n_letters
        self.names += _texts(part, "names", "name_offsets")[:n]
        if "taxa" in part:
            self.taxa += _texts(part, "taxa", "taxon_offsets")[:n]

    def check(self, n_reference: int, allowed_bytes: int) -> None:
        """Raise ResourceError if the page of the reads so far needs more memory than allowed."""
        needed = report_bytes(len(self.names), self._n_letters, n_reference)
        if needed > allowed_bytes:
            raise ResourceError(
                f"the report of at least {len(self.names):,} reads from a stream needs {needed / 2**20:.1f} MiB of "
                f"memory, but {allowed_bytes / 2**20:.1f} MiB are allowed: allow more with --memory, write the reads "
                "to a file first, or omit --html",
                needed_bytes=needed,
                allowed_bytes=allowed_bytes,
            )

    def columns(self) -> Arrays:
        """Return the joined columns of all reads kept so far."""
        if not self._kept:
            return {name: np.zeros(0, np.int64) for name in (*KEPT, "letters", "paths")}
        return {name: np.concatenate([piece[name] for piece in self._kept]) for name in self._kept[0]}


KEPT = (*COLUMNS, "start", "end", "inserted", "unaligned", "count", "lengths", "path_sizes")


def assemble(parts: Iterable[bytes], out: IO[bytes], header: Header, context: PlacedContext) -> None:
    """Write the page."""
    tree = numbered_tree(context.newick)
    gathered = Gathered(int(tree[1]["branch"].max()) + 1, context.samples)
    try:
        for part in parts:
            with part_arrays(part) as arrays:
                unpacked = dict(arrays)
            gathered.add(unpacked)
            if context.page_bytes is not None:
                gathered.check(context.letters.size, context.page_bytes)
    except (IndexError, KeyError, ValueError):
        raise InputError(DAMAGED_PART) from None
    write_report_page(out, report(gathered, tree, context), header)


def report_bytes(n_reads: int, n_letters: int, n_reference: int) -> int:
    """Return an upper bound of the memory for making the page; `n_reference`: residues of the reference."""
    of_reads = min(n_reads, MOST_READS) * READ_BYTES + min(n_letters, MOST_LETTERS) * LETTER_BYTES
    return of_reads + min(n_reference, MOST_REFERENCE) * REFERENCE_BYTES


def report(gathered: Gathered, tree: tuple[list[str], dict[str, Any]], context: PlacedContext) -> Report:
    """Return the report of these reads and of the tree from `numbered_tree`."""
    nodes, columns = tree
    arrays = gathered.columns()
    arrays |= {f"node_{name}": values for name, values in columns.items()}
    sums = {"reads": gathered.reads, "counts": gathered.counts, "shared": gathered.shared}
    arrays |= {f"branch_{name}": values for name, values in sums.items()}
    arrays["sample_branch"], arrays["sample_number"], counts = gathered.by_sample()
    arrays["sample_count"] = counts.astype(np.float64)  # may exceed 32 bits
    letters = context.letters
    has_reference = letters.size <= MOST_REFERENCE
    arrays["reference"] = letters.ravel() if has_reference else np.zeros(0, np.uint8)
    taxa = sorted(set(gathered.taxa))
    if taxa:
        code = {taxon: k for k, taxon in enumerate(taxa)}
        arrays["taxon"] = np.array([code[taxon] for taxon in gathered.taxa], np.int64)
    data = {
        "names": gathered.names,
        "taxa": taxa,
        "nodes": nodes,
        "rows": context.names,
        "n_columns": letters.shape[1],
        "has_reference": has_reference,
        "u_is_t": not set(bytes(distinct(letters)).upper())
        & set(b"EFILPQJZ"),  # nucleotides lack these letters (IUPAC)
        "n_reads": gathered.n_reads,
        "n_placed": gathered.n_placed,
        "samples": list(gathered.samples),
        "count": gathered.count,
    }
    return Report(PAGE, SCRIPTS, "Placed reads", data, arrays)


HTML = Codec(encode, assemble, assembled_with=("names", "letters", "newick", "samples"), is_binary=True, needs_all=True)
