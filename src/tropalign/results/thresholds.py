"""Which hits of a search are reported, and which are included as significant: HMMER's rules, and its names for them.

An E-value is the number of hits of that score or better that are expected by chance: the P-value times what was
searched, ``Z`` targets for a whole hit, ``domZ`` for a domain where its target is known to be a hit.
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
    """What thresholds say of hits, those that are not reported left out.

    Attributes
    ----------
    columns
        The fields of FoundHits, sorted as HMMER sorts: by query, then the best first.
    Z
        Targets for E-values of hits.
    is_included : bool, shape (n,)
    domain_is_reported, domain_is_included : bool, shape (n_domains,)
    """

    columns: dict[str, Any]
    Z: float
    is_included: Bools
    domain_is_reported: Bools
    domain_is_included: Bools


def verdicts(found: FoundHits, thresholds: Thresholds) -> Verdicts:
    """Which hits are reported and included, when all targets have been searched.

    Raises
    ------
    InputError
        A model without the cutoffs that are asked for.
    """
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
    """Which hits may be reported in the end: those that are by the targets up to theirs, bool, shape (n,).

    A later target raises Z and with it E-values, so the others need not be kept. Hits whose target has no number are.
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
    """P-values times how many were searched, to the last bit of HMMER.

    By the C library's exp; NumPy's can differ in the last bit. hmmsearch takes denormal numbers for zeros: P-values
    before they are multiplied, and E-values.
    """
    p = np.array([math.exp(value) for value in log_p.tolist()], np.float64)
    return _without_denormals(_without_denormals(p) * n_searched)


def _without_denormals(values: Float64) -> Float64:
    return np.where(values < np.finfo(np.float64).smallest_normal, 0.0, values)


def _cutoffs(found: FoundHits, kind: str) -> NDArray[np.float32]:
    """The thresholds of each hit's model, float32, shape (n, 2): of targets, of domains."""
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
    """These hits by query, then as HMMER sorts them: the best first; of equal ones by name, then by place.

    Of hits of one name those whose first domain is longer than one residue go first, then they go by where it begins.
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
    """Reports only the best of a hit's domains that are aligned to the same residues.

    Overlapping envelopes can lead to one alignment twice (HMMER's issue h74).
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
    """What a text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())
