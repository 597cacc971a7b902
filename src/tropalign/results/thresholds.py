"""HMMER's rules for reporting and including the hits of a search.

An E-value is the expected number of hits with at least that score by chance: the P-value times the size of the
search space, ``Z`` targets for a hit, ``domZ`` for a domain given that its target is a hit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tropalign.arrays import distinct
from tropalign.errors import InputError
from tropalign.results.found_hits import FoundHits, chosen, runs_of
from tropalign.results.threshold_options import Thresholds

Float64 = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Reported hits and domains, and which of them are included.

    columns: fields of FoundHits, sorted like HMMER: by query, then the best first. Z: targets for E-values of hits.
    """

    columns: dict[str, Any]
    Z: float
    is_included: Bools
    domain_is_reported: Bools
    domain_is_included: Bools


def verdicts(found: FoundHits, thresholds: Thresholds) -> Verdicts:
    """Apply thresholds to the hits after all targets have been searched. Raises InputError for missing cutoffs."""
    Z = float(found.n_targets) if thresholds.Z is None else float(thresholds.Z)
    every_E = e_values(found.log_p, Z)
    cutoffs = _cutoffs(found, thresholds.bit_cutoffs) if thresholds.bit_cutoffs else None
    is_reported = _passes(found.bits, every_E, thresholds.E, thresholds.T, None if cutoffs is None else cutoffs[:, 0])
    order = _sorted(found, np.flatnonzero(is_reported), thresholds)
    columns = chosen(found, order)
    n_reported = np.bincount(columns["query"], minlength=len(found.queries)).astype(np.float64)
    columns["domZ"] = domZ = (
        np.where(np.isnan(found.domZ), n_reported, found.domZ)
        if thresholds.domZ is None
        else np.full(len(found.queries), float(thresholds.domZ))
    )
    of_hit = np.repeat(np.arange(len(order)), np.diff(columns["domain_offsets"]))
    if cutoffs is not None:
        cutoffs = cutoffs[order]
    bits, E = columns["bits"], every_E[order]
    is_included = _passes(bits, E, thresholds.incE, thresholds.incT, None if cutoffs is None else cutoffs[:, 0])
    domain_bits = columns["domain_bits"]
    domain_E = e_values(columns["domain_log_p"], domZ[columns["query"][of_hit]])
    own = None if cutoffs is None else cutoffs[of_hit, 1]
    domain_is_reported = _passes(domain_bits, domain_E, thresholds.domE, thresholds.domT, own)
    domain_is_included = _passes(domain_bits, domain_E, thresholds.incdomE, thresholds.incdomT, own)
    domain_is_included &= is_included[of_hit]
    if cutoffs is not None:
        domain_is_included &= domain_is_reported
    _drop_copies(columns, domain_is_reported, domain_is_included)
    columns["widths"] = _widths(found, is_kept(found, thresholds) | is_reported)
    return Verdicts(columns, Z, is_included, domain_is_reported, domain_is_included)


def is_kept(found: FoundHits, thresholds: Thresholds) -> Bools:
    """Return a mask of the hits that may still be reported: those that pass with the targets up to theirs.

    A later target only raises Z and thereby E-values, so other hits can be dropped. Hits whose target has no index
    are kept.
    """
    if thresholds.bit_cutoffs:
        return found.bits >= _cutoffs(found, thresholds.bit_cutoffs)[:, 0]
    so_far = found.target + np.float64(1) if thresholds.Z is None else float(thresholds.Z)
    return _passes(found.bits, e_values(found.log_p, so_far), thresholds.E, thresholds.T, None)


def _passes(
    bits: NDArray[np.float32], evalue: Float64, E: float, T: float | None, cutoffs: NDArray[np.float32] | None
) -> Bools:
    if cutoffs is not None:
        return bits >= cutoffs
    return evalue <= E if T is None else bits.astype(np.float64) >= T


def e_values(log_p: Float64, n_searched: float | Float64) -> Float64:
    """Return P-values times the number searched, equal to HMMER to the last bit.

    Uses the C library's exp; NumPy's can differ in the last bit. hmmsearch flushes denormals to zero: P-values
    before the multiplication, and E-values.
    """
    p = np.array([math.exp(value) for value in log_p.tolist()], np.float64)
    return _without_denormals(_without_denormals(p) * n_searched)


def _without_denormals(values: Float64) -> Float64:
    return np.where(values < np.finfo(np.float64).smallest_normal, 0.0, values)


def _cutoffs(found: FoundHits, kind: str) -> NDArray[np.float32]:
    """Return the thresholds of each hit's model, float32, shape (n, 2): for targets, for domains."""
    if found.orientation == "search":
        which, models = found.query.astype(np.int64), found.queries
    else:
        numbers, which = np.unique(found.target, return_inverse=True)
        models = tuple(found.models[number] for number in numbers.tolist())
    own = np.full((len(models), 2), np.nan, np.float32)
    for k in distinct(which).tolist():
        value = getattr(models[k], kind)
        if value is None:
            raise InputError(f"the model has no {kind} cutoffs: choose other thresholds", record=models[k].name)
        own[k] = value
    return own[which]


def _sorted(found: FoundHits, rows: NDArray[np.int64], thresholds: Thresholds) -> NDArray[np.int64]:
    """Sort hits by query, then like HMMER: the best first; ties by name, then by position.

    Among equal names, hits whose first domain is longer than one residue come first, then by its start.
    """
    key = found.bits[rows].astype(np.float64) if thresholds.sorts_by_score else -found.log_p[rows]
    query, target = found.query[rows], found.target[rows]
    order = np.lexsort((target, -key, query))
    rows, key, query = rows[order], key[order], query[order]
    same = np.ones(len(rows), np.int64)
    same[1:] = (key[1:] != key[:-1]) | (query[1:] != query[:-1])
    first = found.domain_offsets[:-1]

    def place(k: int) -> tuple[str, bool, int]:
        begin, end = int(found.domain_begin[first[k]]), int(found.domain_end[first[k]])
        return found.names[k], begin + 1 >= end, begin

    for begin, end in runs_of(np.cumsum(same)):
        if end - begin > 1:
            rows[begin:end] = sorted(rows[begin:end].tolist(), key=place)
    return rows


def _drop_copies(columns: dict[str, Any], is_reported: Bools, is_included: Bools) -> None:
    """Keep only the best of a hit's domains that are aligned to the same residues.

    Overlapping envelopes can give the same alignment twice (HMMER's issue h74).
    """
    begin, end, bits = (columns[f"domain_{name}"].tolist() for name in ("begin", "end", "bits"))
    offsets = columns["domain_offsets"].tolist()
    for k in np.flatnonzero(columns["n_overlaps"]).tolist():
        for d, other in combinations(range(offsets[k], offsets[k + 1]), 2):
            if (begin[d], end[d]) == (begin[other], end[other]):
                worse = other if bits[d] >= bits[other] else d
                is_reported[worse] = is_included[worse] = False


def _widths(found: FoundHits, rows: Bools) -> NDArray[np.int64]:
    widths = found.widths.copy()
    names, accessions = (
        np.array([n_bytes(text) for text in texts], np.int64) for texts in (found.names, found.accessions)
    )
    for place, values in enumerate((names, accessions, np.where(accessions > 0, accessions, names))):
        np.maximum.at(widths[:, place], found.query[rows], values[rows])
    return widths


def n_bytes(text: str) -> int:
    """Return the length of a text in UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode())
