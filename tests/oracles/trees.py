"""Trees from distances, from their definitions: all pairs are looked at for every join, in fractions.

Distances are a square, a list of lists. A cluster has the place of the first of its taxa; of equal pairs i < j the one
with the smallest j is joined, and of these the one with the smallest i.
"""

from fractions import Fraction


def neighbour_joining(square):
    """Saitou and Nei 1987, by the criterion and the distances of Studier and Keppler 1988.

    Returns the children of each inner node and the length of the branch above each node but the last.
    """
    n = len(square)
    d = [[Fraction(value) for value in row] for row in square]
    left, node = list(range(n)), list(range(n))
    children, length = [], {}
    while len(left) > 3:
        r = len(left)
        total = {i: sum(d[i][k] for k in left) for i in left}
        _, j, i = min(((r - 2) * d[i][j] - total[i] - total[j], j, i) for j in left for i in left if i < j)
        length[node[i]] = (d[i][j] + (total[i] - total[j]) / (r - 2)) / 2
        length[node[j]] = d[i][j] - length[node[i]]
        left.remove(j)
        for k in left:
            if k != i:
                d[i][k] = d[k][i] = (d[i][k] + d[j][k] - d[i][j]) / 2
        children.append((node[i], node[j]))
        node[i] = n + len(children) - 1
    a, b, c = left
    length[node[a]] = (d[a][b] + d[a][c] - d[b][c]) / 2
    length[node[b]] = d[a][b] - length[node[a]]
    length[node[c]] = d[a][c] - length[node[a]]
    children.append(tuple(node[k] for k in left))
    return children, [length[k] for k in range(len(length))]


def upgma(square):
    """Sokal and Michener 1958. Returns the children of each inner node and their distances."""
    n = len(square)
    d = [[Fraction(value) for value in row] for row in square]
    left, node, size = list(range(n)), list(range(n)), [1] * n
    children, apart = [], []
    while len(left) > 1:
        least, j, i = min((d[i][j], j, i) for j in left for i in left if i < j)
        left.remove(j)
        for k in left:
            d[i][k] = d[k][i] = 0 if k == i else (size[i] * d[i][k] + size[j] * d[j][k]) / (size[i] + size[j])
        size[i] += size[j]
        children.append((node[i], node[j]))
        apart.append(least)
        node[i] = n + len(children) - 1
    return children, apart


def wpgma(square):
    """Sokal and Michener 1958: distances of a new cluster are the means of those of its two parts."""
    n = len(square)
    d = [[Fraction(value) for value in row] for row in square]
    left, node = list(range(n)), list(range(n))
    children, apart = [], []
    while len(left) > 1:
        least, j, i = min((d[i][j], j, i) for j in left for i in left if i < j)
        left.remove(j)
        for k in left:
            d[i][k] = d[k][i] = 0 if k == i else (d[i][k] + d[j][k]) / 2
        children.append((node[i], node[j]))
        apart.append(least)
        node[i] = n + len(children) - 1
    return children, apart
