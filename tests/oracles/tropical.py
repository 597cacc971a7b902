"""Products over semirings and problems of intervals, in plain Python straight from their definitions.

Numbers are Python's: exact whole numbers, floats, fractions, math.inf for the infinity of min-plus and -math.inf for
that of max-plus.
"""

import math


def product(a, b, is_max=False):
    """The product over min-plus or max-plus, and the first of the best k (-1 where there is no finite sum)."""
    worst = -math.inf if is_max else math.inf
    n_columns = len(b[0]) if len(b) else 0
    found, best = [], []
    for row in a:
        numbers, ks = [], []
        for j in range(n_columns):
            value, at = worst, -1
            for k, left in enumerate(row):
                total = left + b[k][j] if worst not in (left, b[k][j]) else worst
                if total > value if is_max else total < value:
                    value, at = total, k
            numbers.append(value)
            ks.append(at)
        found.append(numbers)
        best.append(ks)
    return found, best


def log_product(a, b):
    """Logarithms of sums of exponentials, each sum by its largest term and exactly rounded."""
    found = []
    for row in a:
        numbers = []
        for j in range(len(b[0])):
            terms = [left + b[k][j] for k, left in enumerate(row)]
            largest = max(terms, default=-math.inf)
            total = math.fsum(math.exp(term - largest) for term in terms) if largest > -math.inf else 0.0
            numbers.append(largest + math.log(total) if total else -math.inf)
        found.append(numbers)
    return found


def triangular(weight, is_max=False):
    """M[i][j] for i <= j, None below the diagonal."""
    best = max if is_max else min
    n = len(weight)
    found = [[None] * n for _ in range(n)]
    for i in reversed(range(n)):
        found[i][i] = weight[i][i]
        for j in range(i + 1, n):
            found[i][j] = best(found[i][k] + found[k + 1][j] for k in range(i, j)) + weight[i][j]
    return found


def chain_cost(sizes):
    """The fewest multiplications for a chain of matrices."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            cost[i][j] = min(cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j))
    return cost[0][n - 1]


def tree_cost(weights, misses):
    """The least steps of a binary search tree: each root in turn, trees for the keys before and after it."""
    n = len(weights)
    cost = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in reversed(range(n + 1)):
        cost[i][i] = misses[i]
        for j in range(i + 1, n + 1):
            total = sum(weights[i:j]) + sum(misses[i : j + 1])
            cost[i][j] = total + min(cost[i][r] + cost[r + 1][j] for r in range(i, j))
    return cost[0][n]


def most_pairs(letters, pairs, least_loop):
    """The highest sum of nested pairs: the first letter is alone, or paired with another."""
    n = len(letters)
    best = [[0] * (n + 1) for _ in range(n + 2)]
    for i in reversed(range(n)):
        for j in range(i, n):
            values = [best[i + 1][j]]
            for k in range(i + least_loop + 1, j + 1):
                score = pairs.get(letters[i] + letters[k], pairs.get(letters[k] + letters[i]))
                if score is not None:
                    after = best[k + 1][j] if k < j else 0
                    values.append(score + best[i + 1][k - 1] + after)
            best[i][j] = max(values)
    return best[0][n - 1] if n else 0
