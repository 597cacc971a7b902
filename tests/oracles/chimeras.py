"""Chimeras in plain Python, straight from UCHIME's rules (Edgar and others 2011), a step after another.

Sequences are texts of upper-case letters; `columns(query, reference)` gives the letters of their alignment, column by
column, "-" for a gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

LETTERS = {
    "A": "A", "C": "C", "G": "G", "T": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
    "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT", "-": "",
}  # fmt: skip
WINDOW = 32
PROPOSED, WORD, WORDS = 6, 8, 12


@dataclass(frozen=True)
class Rules:
    rule: str = "uchime"
    skew: float = 2.0
    minh: float = 0.28
    mindiv: float = 0.8
    mindiffs: int = 3
    xn: float = 8.0
    dn: float = 1.4


def de_novo(sequences, rules, columns):
    """Lines of a table, for (name, text, size) in any order."""
    order = sorted(sequences, key=lambda one: (-one[2], one[0].encode()))
    parents, lines = [], []
    for name, text, size in order:
        able = [(other, letters) for other, letters, many in parents if many >= rules.skew * size and letters != text]
        line = judged(name, text, able, rules, columns)
        if line.endswith("N"):
            parents.append((name, text, size))
        lines.append(line)
    return lines


def by_reference(sequences, references, rules, columns):
    """The same by references, (name, text)."""
    return [judged(name, text, references, rules, columns) for name, text, _ in sequences]


def judged(name, text, references, rules, columns):
    """The line of one sequence."""
    found = two_parents(text, [(other, list(columns(text, letters))) for other, letters in references])
    line = None if found is None else voted(name, found, rules)
    return "\t".join(["0.0000", name, *"*" * 8, *"0" * 6, "*", "N"]) if line is None else line


def two_parents(text, aligned):
    """Names and alignments of both parents, or None."""
    rows = []
    for _, pairs in aligned:
        rows.append([bool(set(LETTERS[a]) & set(LETTERS[b])) for a, b in pairs if a != "-"])
        assert len(rows[-1]) == len(text)
    able = set()
    cuts = list(accumulate((len(text) // 4 + (k < len(text) % 4) for k in range(4)), initial=0))
    for begin, end in pairwise(cuts):
        places = range(begin, end - WORD + 1)
        for k in sorted(range(len(rows)), key=lambda k: (-sum(rows[k][begin:end]), k))[:PROPOSED]:
            if sum(all(rows[k][i : i + WORD]) for i in places) >= min(WORDS, len(places) // 4):
                able.add(k)
    whole = [list(row) for row in rows]
    places = range(len(text) - WINDOW + 1)
    chosen = []
    for _ in range(2):
        left = [k for k in sorted(able) if k not in chosen]
        sums = {k: [sum(rows[k][i : i + WINDOW]) for i in places] for k in left}
        best = [max((sums[k][i] for k in left), default=0) for i in places]
        won = {k: [i for i in places if sums[k][i] == best[i]] for k in left}
        count = {k: sum(best[i] > 0 for i in won[k]) for k in left}
        if not any(count.values()):
            return None

        def rank(k, count=count, won=won, best=best):
            in_won = sum(sum(whole[k][i : i + WINDOW]) for i in won[k] if best[i] > 0)
            return count[k], in_won, sum(whole[k]), -k

        parent = max(left, key=rank)
        chosen.append(parent)
        for i in won[parent]:
            for row in rows:
                row[i : i + WINDOW] = [False] * WINDOW
    return [aligned[k] for k in chosen]


def three_rows(first, second):
    """Columns (query, first parent, second parent) of two alignments of one query."""
    found = []
    i = j = 0
    while i < len(first) or j < len(second):
        before = i < len(first) and first[i][0] == "-", j < len(second) and second[j][0] == "-"
        if any(before):
            found.append(("-", first[i][1] if before[0] else "-", second[j][1] if before[1] else "-"))
            i, j = i + before[0], j + before[1]
        else:
            found.append((first[i][0], first[i][1], second[j][1]))
            i, j = i + 1, j + 1
    return found


def voted(name, parents, rules):
    """The line of a sequence by its parents; None where they do not explain it."""
    (name_a, first), (name_b, second) = parents
    columns = three_rows(first, second)
    is_gap = [any(letter == "-" for letter in column) for column in columns]
    kept = []
    for k, column in enumerate(columns):
        beside = any(is_gap[max(0, k - 1) : k + 2])
        if not beside and all(len(LETTERS[letter]) == 1 for letter in column):
            kept.append(column)
    votes = []
    for place, (q, a, b) in enumerate(kept):
        if a == b == q:
            continue
        votes.append((place, "N" if a == b else "A" if q == a else "B" if q == b else "?"))
    best = None
    for k in range(len(votes)):
        sides = [[vote for _, vote in side] for side in (votes[: k + 1], votes[k + 1 :])]
        (la, lb), (ra, rb) = [(side.count("A"), side.count("B")) for side in sides]
        abstain = [len(side) - side.count("A") - side.count("B") for side in sides]
        if la > lb and rb > ra:
            yes, no, is_swapped = (la, rb), (lb, ra), False
        elif lb > la and ra > rb:
            yes, no, is_swapped = (lb, ra), (la, rb), True
        else:
            continue
        h = 1.0
        for y, n, a in zip(yes, no, abstain, strict=True):
            h *= y / (rules.xn * (n + rules.dn) + a)
        if best is None or h > best[0]:
            best = h, votes[k][0], is_swapped, yes, no, abstain
    if best is None:
        return None
    h, split, is_swapped, yes, no, abstain = best
    if is_swapped:
        name_a, name_b, kept = name_b, name_a, [(q, b, a) for q, a, b in kept]
    n = len(kept)
    qa, qb, ab, qm = (
        100.0 * count / n
        for count in (
            sum(q == a for q, a, b in kept),
            sum(q == b for q, a, b in kept),
            sum(a == b for q, a, b in kept),
            sum(q == (a if k <= split else b) for k, (q, a, b) in enumerate(kept)),
        )
    )
    top = max(qa, qb)
    if rules.rule != "uchime":
        verdict = "Y" if qm == 100.0 and top < 100.0 else "N"
    elif h < rules.minh:
        verdict = "N"
    else:
        least = min(y + m + a for y, m, a in zip(yes, no, abstain, strict=True))
        verdict = "Y" if qm - top >= rules.mindiv and least >= rules.mindiffs else "?"
    shares = [f"{value:.1f}" for value in (qm, qa, qb, ab, top)]
    counts = [str(value) for side in range(2) for value in (yes[side], no[side], abstain[side])]
    names = [name, name_a, name_b, name_a if qa >= qb else name_b]
    return "\t".join([f"{h:.4f}", *names, *shares, *counts, f"{qm - top:.1f}", verdict])
