"""HMMER 3.4's Forward matrix in its order of operations: four floats of 32 bits at a time.

Nodes are striped: node k of M is float (k - 1) // Q of quad (k - 1) % Q. Matrices keep M, D and I of every row; row 0
is before the first residue. Rows are scaled as HMMER scales them (Eddy 2011). Call within `denormals_as_zero`.
"""

import numpy as np

F = np.float32
LETTERS = "ACDEFGHIKLMNPQRSTVWY-BJZOUX*~"
#: Residues that an ambiguous letter may be.
MEMBERS = {"B": "DN", "J": "IL", "Z": "EQ", "O": "K", "U": "C", "X": LETTERS[:20]}
BM, MM, IM, DM, MD, MI, II, DD = range(8)
M, D, I = range(3)  # noqa: E741
ZERO, HIGH = F(0), F(1e4)


def up(quad, fill=ZERO):
    return np.array([fill, *quad[:3]], F)


def total(quad):
    return F(F(quad[0] + quad[1]) + F(quad[2] + quad[3]))


def striped(table):
    """Quads of a table's rows, whose column 0 is no node: shape (rows, Q, 4)."""
    n_nodes = table.shape[1] - 1
    Q = max(2, -(-n_nodes // 4))
    padded = np.zeros((len(table), 4 * Q), F)
    padded[:, :n_nodes] = table[:, 1:]
    return padded.reshape(len(table), 4, Q).transpose(0, 2, 1).copy()


def matrix_of(L, Q):
    """Cells [row, quad, state, float], and the special states and scale of every row."""
    return np.zeros((L + 1, Q, 3, 4), F), {s: np.zeros(L + 1, F) for s in "NBCEJ"} | {"scale": np.ones(L + 1, F)}


def forward(e, t, n_nodes, codes, move, loop, is_multihit):
    """Forward over the codes; `e` and `t`: striped odds by code, and transitions."""
    Q, enter = len(t[0]), F(0.5) if is_multihit else F(1)
    f, x = matrix_of(len(codes), Q)
    x["N"][0], x["B"][0] = 1, move
    for i, code in enumerate(codes, 1):
        before, row = f[i - 1], f[i]
        last = [up(before[Q - 1, s]) for s in (M, D, I)]
        way, ends = np.zeros(4, F), np.zeros(4, F)
        for q in range(Q):
            sums = x["B"][i - 1] * t[BM, q] + last[M] * t[MM, q] + last[I] * t[IM, q] + last[D] * t[DM, q]
            row[q, M] = sums * e[code, q]
            ends = ends + row[q, M]
            last = before[q]
            row[q, D], way = way, row[q, M] * t[MD, q]
            row[q, I] = last[M] * t[MI, q] + last[I] * t[II, q]
        way = up(way)
        for q in range(Q):
            row[q, D] += way
            way = row[q, D] * t[DD, q]
        for _ in range(3):
            way, changed = up(way), False
            for q in range(Q):
                longer = row[q, D] + way
                changed |= bool((longer > row[q, D]).any())
                row[q, D], way = longer, way * t[DD, q]
            if n_nodes >= 100 and not changed:
                break
        for q in range(Q):
            ends = ends + row[q, D]
        E = total(ends)
        x["N"][i] = x["N"][i - 1] * loop
        x["C"][i] = x["C"][i - 1] * loop + E * enter
        x["J"][i] = x["J"][i - 1] * loop + E * enter if is_multihit else 0
        x["B"][i] = x["J"][i] * move + x["N"][i] * move
        x["E"][i] = E
        if E > HIGH:
            for state in "NCJB":
                x[state][i] /= E
            row *= F(1.0 / float(E))
            x["E"][i], x["scale"][i] = 1, E
    return f, x
