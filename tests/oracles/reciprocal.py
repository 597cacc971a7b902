"""Pairs that are each other's best, by the definition."""


def each_others_best(pairs, is_one_set=False):
    """Those of (query, target, score) that no pair with the same query, or with the same target, outdoes."""

    def scores_of(side, name):
        others = pairs if not is_one_set else [*pairs, *((target, query, score) for query, target, score in pairs)]
        return [pair[2] for pair in others if pair[side] == name]

    return sorted(
        pair for pair in pairs if pair[2] >= max(scores_of(0, pair[0])) and pair[2] >= max(scores_of(1, pair[1]))
    )
