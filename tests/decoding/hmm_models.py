"""Models and sequences for tests of hidden Markov models, in logarithms."""

import numpy as np


def logs(probabilities):
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def random_model(rng, n_states, n_symbols, zeros=0.0):
    def rows(*shape):
        return logs(rng.dirichlet(np.ones(shape[-1]), shape[:-1]) * (rng.random(shape) >= zeros))

    return rows(n_states), rows(n_states, n_states), rows(n_states, n_symbols)


def tied_model(rng, n_states, n_symbols, impossible=True):
    """Few different numbers, so that many paths are the best."""
    values = np.array([0.0, -1.0, -2.0, -np.inf][: 4 if impossible else 3])
    return tuple(rng.choice(values, shape) for shape in [n_states, (n_states, n_states), (n_states, n_symbols)])


def sequences(rng, lengths, n_symbols):
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return rng.integers(0, n_symbols, offsets[-1]).astype(np.uint8), offsets


def sticky_model(rng, n_states, n_symbols, stay=0.999):
    """States that are seldom left and look alike: what the best path is depends on what lies far away."""
    start, _, _ = random_model(rng, n_states, 1)
    moves = np.full((n_states, n_states), (1 - stay) / max(n_states - 1, 1))
    np.fill_diagonal(moves, stay)
    alike = 1 + 0.2 * rng.random((n_states, n_symbols))
    return start, logs(moves), logs(alike / alike.sum(axis=1, keepdims=True))
