"""Products, closures and intervals of every type; hidden Markov models."""

from typing import Any

import numpy as np
from oracles import hmm as hmm_oracle
from oracles import paths as path_oracle
from oracles import tropical as oracle
from other_processors.registry import family, logs, shares

from tropalign import _native
from tropalign.tropical import (
    BOOL,
    MAX_PLUS,
    MIN_PLUS,
    chain,
    closure,
    matmul,
    matrix_chain,
    nussinov,
    power,
    search_tree,
    triangular,
    zero_of,
)

DTYPES = (np.float16, np.float32, np.float64, np.int16, np.int32)


def random_matrix(rng: np.random.Generator, shape: tuple[int, int], dtype: Any, semiring: Any) -> np.ndarray:
    """Numbers of which three in ten are the semiring's zero; of floats they have many digits, but for float16."""
    made = rng.integers(-50, 51, shape).astype(dtype)
    if np.dtype(dtype).itemsize > 2 and np.dtype(dtype).kind == "f":
        made = (rng.random(shape) - 0.5).astype(dtype)
    made[rng.random(shape) < 0.3] = zero_of(semiring, dtype)
    return made


@family("tropical/kernels_product.cpp")
def products() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    found: dict[str, Any] = {}
    for semiring in (MIN_PLUS, MAX_PLUS):
        for dtype in DTYPES:
            parts = []
            for m, n, k in ((1, 1, 1), (7, 17, 130), (33, 129, 64), (13, 67, 31), (130, 70, 5)):
                a, b = (random_matrix(rng, shape, dtype, semiring) for shape in ((m, k), (k, n)))
                parts += [*matmul(a, b, semiring, argbest=True, n_threads=1), matmul(a, b, semiring, n_threads=2)]
            found[f"{semiring!r} {np.dtype(dtype)}"] = parts
    a = rng.integers(-9, 10, (9, 9)).astype(np.float64)
    found["power"] = power(a, 5, MIN_PLUS, n_threads=1)
    found["chain"] = chain([rng.integers(-9, 10, shape).astype(np.int32) for shape in ((9, 30), (30, 4), (4, 25))])
    assert matmul(a, a, MIN_PLUS).tolist() == oracle.product(a.tolist(), a.tolist(), False)[0]
    truths = rng.random((70, 90)) < 0.05
    found["truths"] = matmul(truths, truths.T.copy(), BOOL, n_threads=1)
    return found


@family("tropical/kernels_closure.cpp")
def closures() -> dict[str, Any]:
    """Distances and predecessors; graphs of two parts; rounded floats, whose digits differ with any order of sums."""
    rng = np.random.default_rng(2)
    found: dict[str, Any] = {}
    for n in (17, 64, 130, 200):
        weights = rng.integers(0, 40, (n, n))
        is_edge = rng.random((n, n)) < 0.2
        for dtype in DTYPES:
            for semiring, sign in ((MIN_PLUS, 1), (MAX_PLUS, -1)):
                made = np.where(is_edge, (sign * weights).astype(dtype), zero_of(semiring, dtype)).astype(dtype)
                found[f"{n} {np.dtype(dtype)} {semiring!r}"] = list(closure(made, semiring, predecessors=True))
        rounded = np.where(is_edge, rng.random((n, n)), np.inf)
        for dtype in (np.float32, np.float64):
            found[f"{n} rounded {np.dtype(dtype)}"] = [
                closure(rounded.astype(dtype), n_threads=1),
                *closure(rounded.astype(dtype), predecessors=True, n_threads=2),
            ]
        found[f"{n} reach"] = closure(is_edge, BOOL)
    parts = np.full((150, 150), np.inf)
    parts[:60, 60:] = rng.integers(0, 99, (60, 90))
    parts[60:, :60] = rng.integers(0, 99, (90, 60))
    found["two parts"] = list(closure(parts, predecessors=True))
    few = np.where(rng.random((9, 9)) < 0.4, rng.integers(0, 9, (9, 9)), np.inf)
    assert closure(few).tolist() == path_oracle.distances(few.tolist())
    return found


@family("tropical/kernels_triangular.cpp")
def intervals() -> dict[str, Any]:
    """Weights of any kind, orders of matrix products, search trees and structures of RNA."""
    rng = np.random.default_rng(3)
    found: dict[str, Any] = {}
    for n in (5, 63, 65, 150):
        weight = rng.integers(-9, 10, (n, n)).astype(np.float64)
        for dtype in (np.float32, np.float64):
            for semiring in (MIN_PLUS, MAX_PLUS):
                found[f"{n} {np.dtype(dtype)} {semiring!r}"] = triangular(weight.astype(dtype), semiring)
        found[f"{n} rounded"] = triangular(rng.random((n, n)), n_threads=2)
        order = matrix_chain(rng.integers(1, 1000, n + 1).tolist())
        found[f"{n} matrix chain"] = [order.cost, order.cuts]
        tree = search_tree(rng.integers(0, 20, n).tolist(), rng.integers(0, 20, n + 1).tolist())
        found[f"{n} search tree"] = [tree.cost, tree.parents]
        structure = nussinov("".join(rng.choice(list("ACGU"), n)))
        found[f"{n} structure"] = [structure.score, str(structure)]
    for dtype in (np.int16, np.int32, np.float32, np.float64):  # straight from the kernel, with what pairs of ends add
        n, size = 100, 128
        values = np.zeros((size, size), dtype)
        closing = np.zeros((4, size), dtype)
        letters = rng.integers(0, 4, size).astype(np.uint8)
        closing[:, :n] = letters[:n] + np.arange(4)[:, None] == 3
        _native.fill_triangle(values, True, False, None, closing, letters, 3, 2)
        found[f"pairs of ends {np.dtype(dtype)}"] = values
    small = rng.integers(-9, 10, (8, 8)).astype(np.float64)
    right = [[np.inf if value is None else value for value in row] for row in oracle.triangular(small.tolist(), False)]
    assert triangular(small).tolist() == right
    return found


def model_of(rng: np.random.Generator, n_states: int, n_symbols: int, kind: str) -> tuple[np.ndarray, ...]:
    zeros, uneven = {"dense": (0, 1), "sparse": (0.5, 1), "far": (0.3, 8)}[kind]
    transition = shares(rng, n_states, n_states, zeros=zeros, uneven=uneven)
    if kind == "far":
        transition = np.triu(transition)
        transition[:, -1] += 1.0 - transition.sum(axis=1)
        transition = np.maximum(transition, 0)
    return shares(rng, n_states), transition, shares(rng, n_states, n_symbols, uneven=uneven)


@family("decoding/kernels_viterbi.cpp")
def best_paths() -> dict[str, Any]:
    """Few states and many, codes and frames, one after the other, in words and in blocks."""
    rng = np.random.default_rng(4)
    found: dict[str, Any] = {}
    lengths = [0, 1, 2, 40, 3, 0, 17, 33, 64, 1, 5, 700]
    for n_states in (1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33, 64, 65, 130, 300):
        n_symbols = 4
        offsets = np.cumsum([0, *(lengths if n_states < 60 else [5, 0, 30])]).astype(np.int64)
        codes = rng.integers(0, n_symbols, offsets[-1]).astype(np.uint8)
        for zeros in (0, 0.3):
            start, transition, emission = (
                logs(shares(rng, *shape, zeros=zeros))
                for shape in ((n_states,), (n_states,) * 2, (n_states, n_symbols))
            )
            frames = np.ascontiguousarray(emission.T[codes])
            found[f"{n_states} states, {zeros}"] = [
                *_native.viterbi_codes(start, transition, emission, codes, offsets, 1),
                *_native.viterbi_frames(start, transition, frames, offsets, 2),
            ]
    long = np.array([0, 7000], np.int64)
    for n_states in (1, 3, 8, 17, 40, 70):
        codes = rng.integers(0, 4, 7000 if n_states < 20 else 1400).astype(np.uint8)
        long = np.array([0, len(codes)], np.int64)
        tables = [logs(shares(rng, *shape)) for shape in ((n_states,), (n_states,) * 2, (n_states, 4))]
        for method in ("auto", "sweep", "early", "products"):
            found[f"{n_states} states, long, {method}"] = list(
                _native.viterbi_codes(*tables, codes, long, 3, None, method)
            )
    for n_states, n_symbols in ((2, 4), (8, 20), (16, 3), (33, 4)):
        offsets = np.cumsum([0, *rng.integers(0, 60, 400)]).astype(np.int64)
        codes = rng.integers(0, n_symbols, offsets[-1]).astype(np.uint8)
        tables = [logs(shares(rng, *shape)) for shape in ((n_states,), (n_states,) * 2, (n_states, n_symbols))]
        path, scores = _native.viterbi_codes(*tables, codes, offsets, 2)
        found[f"{n_states} states, {n_symbols} symbols, words"] = [path, scores]
        if n_states == 2:
            first = slice(int(offsets[0]), int(offsets[1]))
            wanted, score = hmm_oracle.viterbi(*tables[:2], hmm_oracle.frames_of(tables[2], codes[first]))
            assert path[first].tolist() == wanted and abs(scores[0] - score) < 1e-6
    return found


@family("decoding/kernels_sums.cpp")
def sums_over_paths() -> dict[str, Any]:
    """Likelihoods, posteriors, expected counts and supports: single steps, words, and a power of two per number."""
    rng = np.random.default_rng(5)
    found: dict[str, Any] = {}
    for kind in ("dense", "sparse", "far"):
        for n_states in (1, 2, 3, 5, 8, 9, 16, 17, 40, 97, 105, 113, 130):
            model = model_of(rng, n_states, 5, kind)
            n = 60 if n_states > 40 else 400
            codes = rng.integers(0, 5, n).astype(np.uint8)
            offsets = np.array([0, n // 4, n // 4, n // 2, n], np.int64)
            frames = logs(np.ascontiguousarray(model[2][:, codes].T))
            found[f"{kind} {n_states}"] = [
                _native.hmm_forward_codes(*model, codes, offsets, 1),
                *_native.hmm_posteriors_codes(*model, codes, offsets, 2),
                *_native.hmm_counts_codes(*model, codes, offsets, 1),
                *_native.hmm_posteriors_frames(*model[:2], frames, offsets, 1),
                *_native.hmm_counts_frames(*model[:2], frames, offsets, 2),
            ]
    for n_states, n_symbols in ((1, 2), (4, 5), (8, 21), (16, 200), (17, 4)):  # words of four symbols to one, and none
        model = model_of(rng, n_states, n_symbols, "dense")
        codes = rng.integers(0, n_symbols, 66_000).astype(np.uint8)
        offsets = np.array([0, 100, len(codes)], np.int64)
        labels = (np.arange(n_states) % 3).astype(np.uint8)
        begins, ends = np.array([5, 7_000, 50_000], np.int64), np.array([9, 7_001, 62_000], np.int64)
        segments = (begins, ends, np.zeros(3, np.uint8))
        found[f"words, {n_states} states, {n_symbols} symbols"] = [
            _native.hmm_forward_codes(*model, codes, offsets, 2),
            *_native.hmm_counts_codes(*model, codes, offsets, 2),
            *_native.hmm_labels(*model, codes, offsets, labels, 2),
            *_native.hmm_support(*model, codes, offsets, labels, *segments, 2),
        ]
    return found
