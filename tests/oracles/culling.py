"""Alignments that better ones of the same query envelop, by the definition."""


def kept(rows, most):
    """Those of (query, begin, end, score, ...) that fewer than so many rows envelop that score more."""
    return [
        row
        for row in rows
        if sum(a == row[0] and b <= row[1] and e >= row[2] and s > row[3] for a, b, e, s, *_ in rows) < most
    ]
