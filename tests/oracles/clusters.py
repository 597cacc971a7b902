"""Clusters in plain Python: every pair aligned by the oracle of pairs, then the definitions, word for word."""

from __future__ import annotations

import re
from itertools import groupby

from oracles.pairwise import align


def columns_of(cigar):
    """A letter per column: ``=XID``."""
    return "".join(letter * int(count) for count, letter in re.findall(r"(\d+)([=XID])", cigar))


def matched(found, query, target, sets):
    """A letter per column, where letters (codes) that share a residue by `sets` are equal."""
    i, j, columns = found.query_start, found.target_start, ""
    for kind in columns_of(found.cigar):
        is_same = kind == "X" and bool(sets[query[i]] & sets[target[j]])
        columns += "=" if is_same else kind
        i, j = i + (kind != "D"), j + (kind != "I")
    return columns


def identity(found, m, n, definition, columns=None):
    """Identity of an alignment (`oracles.pairwise.Expected`) of sequences of m and n residues."""
    columns = columns_of(found.cigar) if columns is None else columns
    identical, mismatches = columns.count("="), columns.count("X")
    if not identical + mismatches:
        return 0.0
    if definition == "shorter":
        return identical / min(m, n)
    if definition in ("columns", "blast"):
        return identical / len(columns)
    if definition == "longer":
        return identical / max(m, n)
    if definition == "matches":
        return identical / (identical + mismatches)
    if definition == "internal":
        return identical / len(columns.strip("ID"))
    n_gaps = sum(kind in "ID" for kind, _ in groupby(columns))
    n_gaps += (found.query_start > 0) + (found.query_end < m) + (found.target_start > 0) + (found.target_end < n)
    return max(max(m, n) - mismatches - n_gaps, 0) / max(m, n)


def coverage(found, m, n, of):
    columns = columns_of(found.cigar)
    pairs = columns.count("=") + columns.count("X")
    return pairs / {"longer": max(m, n), "shorter": min(m, n), "member": m, "representative": n}[of]


def similarity(
    member, representative, scores, gap, mode, definition, min_coverage, coverage_of, reverse=None, sets=None
):
    """Identity of a member (letter codes; `reverse` its other strand) with a representative; -1: not covered.

    `sets` has the residues of each code, of which letters that are identical have one in common.
    """
    m, n = len(member), len(representative)
    found = align(member, representative, scores, *gap, mode)
    if reverse is not None:
        other = align(reverse, representative, scores, *gap, mode)
        if other.score > found.score:
            found, member = other, reverse
    if min_coverage is not None and coverage(found, m, n, coverage_of) < min_coverage:
        return -1.0
    return identity(found, m, n, definition, None if sets is None else matched(found, member, representative, sets))


def greedy(n, order, least, assign, similar):
    """Label of each sequence, and the representatives; `similar` (member, representative) is asked as it is needed."""
    labels, representatives = [0] * n, []
    for k in order:
        found = [(similar(k, of), -number) for number, of in enumerate(representatives)]
        found = [pair for pair in found if pair[0] >= least]
        if not found:
            labels[k] = len(representatives)
            representatives.append(k)
        else:
            labels[k] = -(max(found)[1] if assign == "best" else max(number for _, number in found))
    return labels, representatives


def linked(n, least, method, similar):
    """Sets of indices. Of equally close clusters i < j the smallest j are joined, of these the smallest i.

    None where means of several distances are equal but for the rounding of their sums, so that no rule says which of
    them is the smaller one.
    """
    found = {(i, j): similar(i, j) for i in range(n) for j in range(i + 1, n)}
    distance = {pair: 1 - (max(value, 0) if method == "average" else value) for pair, value in found.items()}
    clusters = {k: [k] for k in range(n)}
    combine = {"single": min, "complete": max, "average": lambda values: sum(values) / len(values)}[method]
    while len(clusters) > 1:
        apart = {
            (i, j): combine([distance[min(a, b), max(a, b)] for a in clusters[i] for b in clusters[j]])
            for i in clusters
            for j in clusters
            if i < j
        }
        (i, j), height = min(apart.items(), key=lambda item: (round(item[1], 11), item[0][1], item[0][0]))
        if height > 1 - least + 1e-11:
            break
        near = [pair for pair, other in apart.items() if abs(other - height) <= 1e-11]
        if method == "average" and height and len(near) > 1 and any(len(clusters[k]) > 1 for k in set().union(*near)):
            return None
        clusters[i] += clusters.pop(j)
    return sorted(sorted(cluster) for cluster in clusters.values())
