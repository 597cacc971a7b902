"""Searches with profile HMMs: each stage by itself, and whole."""

from pathlib import Path
from typing import Any

import numpy as np
from oracles import profile_bytes
from other_processors.registry import family, shares

import tropalign as ta
from tropalign import _native
from tropalign.profiles.models import read_models
from tropalign.profiles.options import SearchOptions
from tropalign.profiles.proteins import BACKGROUND, encode

DATA = Path(__file__).parent.parent / "data" / "search"
EVALUE = np.array([-8.5, 0.71, -9, 0.71, -4, 0.71], np.float32)


def model_of(seed: int, n_nodes: int, *, deletes: float | None = None, zeros: float = 0.03) -> tuple[Any, np.ndarray]:
    """A model of which some probabilities are 0, and its likeliest residues; `deletes`: how likely one goes on."""
    rng = np.random.default_rng(seed)
    match = shares(rng, n_nodes + 1, 20, zeros=zeros, uneven=6).astype(np.float32)
    t = [shares(rng, n_nodes + 1, n, uneven=2) for n in (3, 2, 2)]
    t[0] = (t[0] + np.array([20, 1, 1])) / 23
    transitions = np.concatenate(t, axis=1)
    if deletes is not None:
        transitions[:, 2], transitions[:, 5], transitions[:, 6] = 0.2, 1 - deletes, deletes
    transitions[0, :2] = 0.5
    transitions = transitions.astype(np.float32)
    made = _native.ProfileModel(
        match, transitions, shares(rng, 20).astype(np.float32), BACKGROUND, EVALUE, b"x" * n_nodes
    )
    return made, match[1:].argmax(axis=1).astype(np.uint8)


def targets_of(seed: int, likeliest: np.ndarray, n: int, longest: int) -> list[np.ndarray]:
    """Residues of all kinds with pieces of the family; one is empty, and some are members several times over."""
    rng = np.random.default_rng(seed)
    targets = [np.zeros(0, np.uint8), np.tile(likeliest, 1 + longest // len(likeliest))]
    while len(targets) < n:
        parts: list[np.ndarray] = []
        for _ in range(rng.integers(1, 4)):
            parts.append(rng.integers(0, 29 if rng.random() < 0.2 else 20, rng.integers(0, longest // 3)))
            begin, end = np.sort(rng.integers(0, len(likeliest) + 1, 2))
            piece = likeliest[begin:end].copy()
            worn = rng.random(len(piece)) < 0.2
            piece[worn] = rng.integers(0, 20, int(worn.sum()))
            parts.append(piece[rng.random(len(piece)) > 0.05])
        targets.append(np.concatenate(parts).astype(np.uint8)[:longest])
    return targets


def block_of(targets: list[np.ndarray]) -> Any:
    return _native.TargetBlock(np.concatenate(targets), np.cumsum([0, *map(len, targets)]).astype(np.int64))


def every(targets: list[np.ndarray]) -> np.ndarray:
    return np.arange(len(targets), dtype=np.int32)


@family("profiles/kernels_ssv.cpp", "profiles/kernels_msv.cpp")
def byte_filters() -> dict[str, Any]:
    """SSV and MSV, a lane per target and striped; targets alone, too."""
    found = {}
    for n_nodes in (1, 2, 7, 16, 20, 33, 64, 101, 160, 400):
        model, likeliest = model_of(n_nodes, n_nodes)
        targets = targets_of(n_nodes, likeliest, 150, 110)
        block, order = block_of(targets), every(targets)
        found[f"{n_nodes} nodes"] = [
            _native.msv_scores(model, block, order),
            _native.msv_scores(model, block, block.by_length()),
            *_native.msv_filter(model, block, block.by_length(), 0.1),
            [_native.msv_scores(model, block, order[k : k + 1]) for k in range(9)],
        ]
        if n_nodes == 20:
            wanted = [profile_bytes.score(model.byte_cost, model.byte_constants, target) for target in targets[:20]]
            assert _native.msv_scores(model, block, order[:20]).tolist() == np.array(wanted, np.float32).tolist()
    return found


@family("profiles/kernels_bias.cpp", "profiles/kernels_viterbi.cpp")
def word_and_bias_filters() -> dict[str, Any]:
    """The filters of Viterbi and of biased composition in the arrangement that is chosen, and logarithms."""
    found: dict[str, Any] = {}
    for n_nodes, deletes in ((1, None), (7, 0.6), (16, None), (33, 0.99), (80, None), (130, 1.0), (400, None)):
        model, likeliest = model_of(n_nodes, n_nodes, deletes=deletes)
        targets = targets_of(n_nodes + 1, likeliest, 40, 90)
        block, order = block_of(targets), every(targets)
        scores = [_native.viterbi_scores(model, block, order), _native.bias_scores(model, block, order)]
        scores += [_native.viterbi_scores(model, block, order[:2]), _native.bias_scores(model, block, order[5:8])]
        for k in range(
            _native.testing.n_viterbi_arrangements()
        ):  # as many as the instruction set has, all of the same scores
            again = _native.testing.arranged_viterbi_scores(model, block, order, k)
            assert again.tobytes() == scores[0].tobytes(), f"arrangement {k}"
        for k in range(_native.testing.n_bias_arrangements()):
            again = _native.testing.arranged_bias_scores(model, block, order, k)
            assert again.tobytes() == scores[1].tobytes(), f"arrangement {k}"
        found[f"{n_nodes} nodes"] = scores
    rng = np.random.default_rng(1)
    floats = np.ldexp(1 + rng.integers(0, 1 << 20, 20_000) / 2**20, rng.integers(-126, 128, 20_000)).astype(np.float32)
    found["logarithms"] = _native.testing.bias_logarithms(floats)
    return found


@family("profiles/kernels_parsers.cpp")
def parsers() -> dict[str, Any]:
    """Forward and Backward with the ends of domains; in long models and targets what is small dies out."""
    found: dict[str, Any] = {}
    for n_nodes, longest in ((1, 30), (3, 60), (15, 120), (33, 90), (97, 200), (160, 700)):
        model, likeliest = model_of(n_nodes, n_nodes)
        targets = targets_of(n_nodes + 2, likeliest, 14, longest)
        block, order = block_of(targets), every(targets)
        parsed = _native.parse_targets(model, block, order)
        found[f"{n_nodes} nodes"] = [_native.forward_scores(model, block, order), parsed]
        found[f"{n_nodes} nodes, regions"] = [
            _native.testing.find_regions(*(one[name] for name in ("begin", "end", "homology"))) for one in parsed
        ]
    return found


@family("profiles/kernels_envelope.cpp")
def envelopes() -> dict[str, Any]:
    """Envelopes rescored, by ones, twos and fours, with their lines of text."""
    found: dict[str, Any] = {}
    rng = np.random.default_rng(2)
    for n_nodes in (1, 2, 4, 5, 8, 23, 33, 101, 250):
        model, likeliest = model_of(n_nodes, n_nodes, zeros=0.3 if n_nodes == 23 else 0.02)
        targets = [target for target in targets_of(n_nodes + 3, likeliest, 11, 60 + n_nodes) if len(target)]
        whole = np.array([(k, 0, len(target)) for k, target in enumerate(targets)], np.int32)
        parts = [(k, b, rng.integers(b, n) + 1) for k, _, n in whole.tolist() for b in (int(rng.integers(0, n)),)]
        given = np.concatenate([whole, np.array(parts, np.int32)])
        found[f"{n_nodes} nodes"] = _native.testing.rescore_envelopes(model, block_of(targets), given)
    return found


@family("profiles/kernels_full_matrix.cpp", "profiles/kernels_ensembles.cpp")
def ensembles() -> dict[str, Any]:
    """Stochastic traces of members side by side, their clusters, and whole domains."""
    found: dict[str, Any] = {}
    for n_nodes, n_members in ((1, 3), (4, 4), (9, 3), (33, 2), (104, 3)):
        model, likeliest = model_of(n_nodes, n_nodes)
        targets = targets_of(n_nodes + 4, likeliest, 8, n_members * n_nodes + 20)
        block = block_of(targets)
        for k in (1, 4):
            length = len(targets[k])
            begin, end = length // 9, length - length // 10
            segments, scores = _native.trace_segments(model, block, k, begin, end, 60, seed=3)
            found[f"{n_nodes} nodes, target {k}"] = [
                segments,
                scores,
                *_native.testing.cluster_segments(segments, 60),
            ]
        found[f"{n_nodes} nodes, domains"] = _native.find_domains(model, block, every(targets)[1:])
    return found


@family("profiles/kernels_recode.cpp")
def recoded() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    found: dict[str, Any] = {}
    for letters in (b"ACDEFGHIKLMNPQRSTVWY", b"acdXy@`{DEL", b"AC*d.", bytes(range(256))):
        table = rng.integers(0, 256, 256).astype(np.uint8)
        for n in (0, 1, 15, 16, 63, 64, 65, 200, 1000):
            text = np.frombuffer(letters, np.uint8)[rng.integers(0, len(letters), n)]
            codes = np.zeros(n, np.uint8)
            found[f"{len(letters)} letters, {n}"] = [_native.recode(text, table, codes), codes]
            assert codes.tolist() == table[text].tolist()
    return found


@family("profiles/kernels_recode.cpp")
def searches() -> dict[str, Any]:
    """Pfam's models against proteins with all stages: every column of hits and domains, and their alignments."""
    records = "".join((DATA / name).read_text() for name in ("proteins.fasta", "domains.fasta")).split(">")[1:]
    texts = ["".join(record.splitlines()[1:]) for record in records]
    codes = encode(np.frombuffer("".join(texts).encode(), np.uint8))
    block = _native.TargetBlock(codes, np.cumsum([0, *map(len, texts)]).astype(np.int64))
    read = [model.native for model in read_models(DATA / "pfam.hmm")]
    found: dict[str, Any] = {}
    for name, options in (
        ("default", SearchOptions()),
        ("max", SearchOptions.unfiltered()),
        ("wide", SearchOptions(0.5, 0.1, 0.01, bias_filter=False, null2=False, seed=7)),
    ):
        found[name] = _native.search_block(read, block, options.numbers(), 2)
    names = [record.split()[0] for record in records]
    hits = ta.search(DATA / "pfam.hmm", list(zip(names, texts, strict=True)), n_threads=1)
    found["hits"] = [str(hits), [str(hit) for hit in hits]]
    return found
