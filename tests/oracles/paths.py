"""Shortest paths from the textbook: Floyd 1962, Warshall 1962, in plain Python."""

import itertools
import math


def distances(weights):
    """A list of rows of weights, infinity where there is no edge; None where there is a negative cycle."""
    n = len(weights)
    found = [list(row) for row in weights]
    for i in range(n):
        found[i][i] = min(found[i][i], 0)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                found[i][j] = min(found[i][j], found[i][k] + found[k][j])
    return None if any(found[i][i] < 0 for i in range(n)) else found


def reached(edges):
    """A list of rows of truth values: which vertices can be reached, each from itself, too."""
    weights = [[0 if edge else math.inf for edge in row] for row in edges]
    return [[distance == 0 for distance in row] for row in distances(weights)]


def weight_of(weights, path):
    """The sum of the edges of a path."""
    return sum(weights[i][j] for i, j in itertools.pairwise(path))
