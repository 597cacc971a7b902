"""Multiple alignments and trees."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
from oracles import progressive as progressive_oracle
from oracles import trees as tree_oracle
from other_processors.pair_families import AMINO_ACIDS, changed, random_text
from other_processors.registry import family, shares
from posterior_stores import store_of

import tropalign as ta
from tropalign import _native
from tropalign.clustalw.distances import pair_distances
from tropalign.clustalw.options import ClustalwOptions
from tropalign.clustalw.pipeline import align_batch
from tropalign.msa.large import Division, align_large
from tropalign.msa.large_tree import chance_shares, family_tree, fast_tree, words_of
from tropalign.msa.models import NUCLEOTIDE, PROTEIN, PROTEIN_1, PROTEIN_2
from tropalign.msa.options import options_of
from tropalign.msa.star import losses_of
from tropalign.trees import alignment_distances, neighbour_joining, upgma, with_support

ONE = progressive_oracle.ONE
CLUSTALW = Path(__file__).parent.parent / "data" / "clustalw"


def relatives(seed: int, n: int, length: int, share: float = 0.35, letters: str = AMINO_ACIDS) -> list[str]:
    """Sequences of which each is a changed copy of an earlier one; some are fragments."""
    rng = random.Random(seed)
    texts = [random_text(rng, letters, length)]
    while len(texts) < n:
        text = changed(rng, rng.choice(texts), letters, share / 2, 5)
        texts.append(text if len(texts) % 7 else text[: len(text) // 2])
    return texts


@family("msa/kernels_posteriors.cpp", is_fused=True)
def posteriors_of_pairs() -> dict[str, Any]:
    """Posteriors in floats; in doubles and long doubles where the numbers of a pair pass what floats hold.

    The last bit of a distance depends on which of two sequences lies along the rows, and that on how many lanes there
    are: so all pairs of a call have a sequence in common, and fill units of any width.
    """
    found = {}
    for model in (PROTEIN_1, PROTEIN_2, PROTEIN, NUCLEOTIDE):
        letters = AMINO_ACIDS if model.alphabet is ta.PROTEIN else "ACGT"
        texts = [*relatives(1, 31, 60, letters=letters), "".join(letters[k % 4] for k in range(3)), letters[1]]
        for row in (0, 7):
            others = [k for k in range(len(texts)) if k != row]
            found[f"{model.name}, {row}"] = _of_pairs(texts, model, [(row, k) for k in others])
    rng = random.Random(2)
    for name, length in (("doubles", 150), ("long doubles", 320)):
        first, second = random_text(rng, AMINO_ACIDS, length), random_text(rng, AMINO_ACIDS, length)
        found[name] = _of_pairs([first + second, second + first], PROTEIN_2, [(0, 1)])
    found["a lane"] = _of_pairs(relatives(3, 2, 900), PROTEIN_2, [(0, 1)])
    return found


def _of_pairs(texts: list[str], model: Any, pairs: list[tuple[int, int]]) -> list[Any]:
    batch = ta.SequenceBatch.from_strings(texts, alphabet=model.alphabet)
    tables = model.arguments()
    for name in ("boltzmann", "gap"):
        tables[name] = np.round(tables[name] * 2**40) / 2**40  # exponentials whose last bit is another family's matter
    given = {"cutoff": 0.01, "keep": 0.0, "n_threads": 2}
    return list(_native.pair_posteriors(batch.codes, batch.offsets, np.array(pairs, np.int32), **tables, **given))


@family()
def tables_of_models() -> dict[str, Any]:
    """Exponentials, which posteriors are made of."""
    return {model.name: list(model.arguments().values()) for model in (PROTEIN_1, PROTEIN_2, PROTEIN, NUCLEOTIDE)}


def random_store(rng: np.random.Generator, lengths: list[int], missing: float = 0.0) -> tuple[Any, dict[Any, Any]]:
    """A store, and its matrices: high values near the diagonal, most of the others 0."""
    matrices = {}
    for x, m in enumerate(lengths):
        for y in range(x + 1, len(lengths)):
            n = lengths[y]
            if rng.random() < missing:
                continue
            apart = abs(np.arange(m)[:, None] * n - np.arange(n)[None, :] * m) // max(min(m, n), 1)
            values = rng.integers(0, ONE + 1, (m, n)) // (1 + apart * apart)
            matrices[x, y] = np.where(rng.random((m, n)) < 0.4, values, 0).astype(np.int64)
    return store_of(lengths, matrices), matrices


def content(store: Any, matrices: dict[Any, Any]) -> list[Any]:
    return [list(store.matrix(*pair)) for pair in matrices]


@family("msa/kernels_consistency.cpp")
def consistency() -> dict[str, Any]:
    """Posteriors relaxed through third sequences."""
    rng = np.random.default_rng(1)
    found = {}
    for name, lengths, gain, cutoff in (
        ("many", [30, 1, 25, 40, 7, 31, *rng.integers(1, 50, 14).tolist()], 0.0, 0.01),
        ("wide", [60, 301, 150, 210], 0.0, 0.0),
        ("gain", rng.integers(20, 30, 8).tolist(), 0.01, 0.01),
    ):
        store, matrices = random_store(rng, lengths)
        weights = shares(rng, len(lengths))
        groups = np.zeros(len(lengths), np.int32)
        for n_threads in (1, 2):
            store.relax(weights, groups, gain, cutoff, n_threads)
            found[f"{name}, pass {n_threads}"] = content(store, matrices)
    return found


@family("msa/kernels_columns.cpp")
def progressive_columns() -> dict[str, Any]:
    """Columns along a tree, refined, and how sure they are."""
    rng = np.random.default_rng(2)
    found: dict[str, Any] = {}
    for k, lengths in enumerate(([5, 7], [40, 41, 38, 20, 1, 45], rng.integers(50, 300, 14).tolist())):
        store, matrices = random_store(rng, lengths, missing=0.2 if k else 0)
        n = len(lengths)
        distances = (rng.integers(1, 1000, n * (n - 1) // 2) / 1000).astype(np.float32)
        children, branches = _native.guide_tree(distances)
        weights = _native.sequence_weights(children, branches)
        columns = _native.progressive(store, children, weights, 2)
        found[f"{n} sequences"] = [children, branches, weights, columns]
        if k < 2:
            wanted = progressive_oracle.progressive(matrices, lengths, children.tolist(), weights)
            assert columns.tolist() == [column for row in wanted for column in row]
        for split, accept in (("random", "always"), ("random", "not_longer")) if k else ():
            found[f"{n} sequences, {split}, {accept}"] = _native.refine(store, columns, weights, split, accept, 6, 3, 1)
        found[f"{n} sequences, confidence"] = list(_native.confidence(store, columns, weights, 1))
    return found


@family("msa/kernels_lcs.cpp")
def distances_without_alignments() -> dict[str, Any]:
    """Longest common subsequences of every number of words, trees of them, and sampled trees of large families."""
    rng = np.random.default_rng(3)
    lengths = (1, 2, 5, 62, 63, 64, 65, 126, 127, 130, 252, 253, 370, 430, 504, 505, 640)
    offsets = np.cumsum([0, *lengths]).astype(np.int64)
    codes = rng.integers(0, 5, offsets[-1]).astype(np.uint8)
    every = np.arange(len(lengths), dtype=np.int32)
    share = (rng.integers(0, 900, 32) / 1000).astype(np.float32)
    found: dict[str, Any] = {
        "lengths": _native.lcs_lengths(codes, offsets, 4, every, every, 2),
        "distances": _native.lcs_distances(codes, offsets, 5, share, 1),
    }
    for name, letters in (("proteins", AMINO_ACIDS), ("nucleotides", "ACGT")):
        batch = ta.SequenceBatch.from_strings(relatives(4, 120, 70, letters=letters))
        words = words_of(batch)
        tree, distances = fast_tree(batch, 1)[:2]
        found[name] = [chance_shares(words, 1), tree.children, tree.branch_lengths, distances]
        sampled = family_tree(batch, 2, most=20, n_seeds=10)
        found[f"{name}, sampled"] = [sampled.children, sampled.branch_lengths]
    return found


@family("msa/kernels_certain.cpp")
def certain_residues() -> dict[str, Any]:
    """More pairs than lanes, of several lengths; too different ones; nucleotides and proteins, by both models."""
    found: dict[str, Any] = {}
    for name, model, letters in (("proteins", PROTEIN, AMINO_ACIDS), ("nucleotides", NUCLEOTIDE, "ACGT")):
        texts = relatives(6, 21, 130, share=0.1, letters=letters)
        batch = ta.SequenceBatch.from_strings(texts, alphabet=model.alphabet)
        ys = np.arange(1, 21, dtype=np.int32)
        for number, losses in enumerate(losses_of(model)):
            most = np.full(20, 16_000, np.int32)
            given = (batch.codes, batch.offsets, 0, ys, most)
            found[f"{name}, {number}"] = list(_native.certain_pairs(*given, **losses._asdict(), slack=900, n_threads=2))
    return found


@family("msa/kernels_distances.cpp")
def columns_of_profiles() -> dict[str, Any]:
    """Two profiles, and a profile with a sequence; columns by the dozen and more than a chunk of them."""
    rng = np.random.default_rng(4)
    found = {}
    for n, m in ((1, 1), (15, 17), (40, 33), (300, 280)):
        p, q = (shares(rng, length, 25, uneven=6) for length in (n, m))
        found[f"{n} and {m} columns"] = list(_native.align_profiles(p, q))
        codes = rng.integers(0, 24, m).astype(np.uint8)
        scores = rng.integers(-8, 12, (25, 25)) / 4
        found[f"{n} columns, {m} residues"] = list(_native.align_profile_to_sequence(p, codes, scores))
    return found


@family("clustalw/kernels_profiles.cpp", "clustalw/kernels_words.cpp")
def clustalw() -> dict[str, Any]:
    """CLUSTALW's distances by words and by alignments, and its progressive stage, as it was and made better."""
    found: dict[str, Any] = {}
    for name in ("proteins", "nucleotides"):
        batch = ta.read_sequences(CLUSTALW / f"{name}.fasta")
        recorded = json.loads((CLUSTALW / f"{name}.json").read_text())
        for quick in (False, True):
            for is_compat in (False, True):
                options = ClustalwOptions(is_compat=is_compat, quicktree=quick)
                distances = pair_distances(batch, options, n_threads=1)
                if is_compat:
                    assert distances.tolist() == recorded["quick" if quick else "full"]["distances"]
                made = align_batch(batch, options, n_threads=1)
                found[f"{name}, {quick}, {is_compat}"] = [distances, list(made), made.tree]
    rng = np.random.default_rng(5)
    for length in (1, 2, 3, 4):
        for n_letters, n_longest in ((4, 100), (20 if length == 1 else 5, 400)):
            lengths = [*rng.integers(0, n_longest, 5).tolist(), 0]
            first = rng.integers(0, n_letters + 1, n_longest)
            parts = [np.where(rng.random(n) < 0.3, rng.integers(0, n_letters + 1, n), first[:n]) for n in lengths]
            lengths.append(40 * n_longest)  # without a letter: it lifts a limit of the original
            codes = np.concatenate([*parts, np.full(lengths[-1], 31)]).astype(np.uint8)
            offsets = np.cumsum([0, *lengths]).astype(np.int64)
            arguments = (codes, offsets, n_letters, length, 3 + length, 1000, 5, 1)
            scores = _native.clustalw_word_scores(*arguments)
            assert scores.tolist() == _native.clustalw_word_scores_compat(*arguments).tolist()
            found[f"words of {length}, {n_letters} letters"] = scores
    texts = relatives(6, 12, 150)
    for counts_end_gaps in (False, True):
        made = ta.align_clustalw(texts, ClustalwOptions(counts_end_gaps=counts_end_gaps, delay=60), n_threads=2)
        found[f"end gaps {counts_end_gaps}"] = list(made)
    return found


@family("trees/kernels_column_counts.cpp")
def distances_of_rows() -> dict[str, Any]:
    """Columns that two rows share, distances of every model, and support by drawn columns."""
    found: dict[str, Any] = {}
    for alphabet, models in ((ta.PROTEIN, ("identity", "kimura")), (ta.NUCLEOTIDE, ("identity", "jc69", "k2p"))):
        letters = AMINO_ACIDS if alphabet is ta.PROTEIN else "ACGT"
        rng = random.Random(7)
        for n_rows, n_columns in ((2, 40), (40, 131), (5, 1000)):
            parent = random_text(rng, letters, n_columns)
            rows = [
                "".join(
                    "-" if rng.random() < 0.05 else rng.choice(letters) if rng.random() < 0.2 else x for x in parent
                )
                for _ in range(n_rows)
            ]
            made = ta.MultipleAlignment.from_rows([f"r{k}" for k in range(n_rows)], rows, alphabet)
            for model in models:
                found[f"{alphabet.name} {model} {n_rows}"] = alignment_distances(made, model, n_threads=1)
            if n_rows == 40:
                for method, join in (("nj", neighbour_joining), ("upgma", upgma)):
                    tree = join(alignment_distances(made), made.names)
                    tree = with_support(tree, made, 10, method=method, seed=5, n_threads=2)
                    found[f"{alphabet.name} {method}"] = [tree.children, tree.lengths, tree.support]
    return found


@family("trees/kernels_joining.cpp")
def joining() -> dict[str, Any]:
    """Neighbour joining and average linkage, with ties and with many taxa."""
    rng = np.random.default_rng(8)
    found: dict[str, Any] = {}
    for n in (3, 4, 12, 65, 300):
        for dtype in (np.float32, np.float64):
            tied = rng.integers(0, 9, n * (n - 1) // 2).astype(dtype)
            apart = (rng.integers(1, 1 << 20, n * (n - 1) // 2) / 1e6).astype(dtype)
            for name, distances in (("tied", tied), ("apart", apart)):
                for rules in ("tropalign", "clustalw"):
                    tree = neighbour_joining(distances, rules=rules)
                    found[f"{n} {name} {np.dtype(dtype)} {rules}"] = [tree.children, tree.lengths]
                tree = upgma(distances)
                found[f"{n} {name} {np.dtype(dtype)} upgma"] = [tree.children, tree.lengths]
    distances = rng.integers(0, 9, 66).astype(np.float64)
    square = np.zeros((12, 12), int)
    square[np.triu_indices(12, 1)] = distances
    wanted, _ = tree_oracle.neighbour_joining((square + square.T).tolist())
    assert list(neighbour_joining(distances).children) == wanted
    return found


@family(is_fused=True)
def multiple_alignments() -> dict[str, Any]:
    """Whole alignments of small families, and of one that is aligned in groups."""
    from tropalign.devices.registry import open_devices

    found: dict[str, Any] = {}
    for letters in (AMINO_ACIDS, "ACGT"):
        texts = relatives(9, 9, 70, letters=letters)
        for mode in ("default", "accurate", "fast"):
            made = ta.align_multiple(texts, effort=mode, n_threads=1)
            found[f"{len(letters)} letters, {mode}"] = [list(made), made.tree, made.column_confidence]
    batch = ta.SequenceBatch.from_strings(relatives(10, 30, 60))
    devices = open_devices(["cpu"], 1, 1, 1 << 30)
    division = Division(most_items=6, n_representatives=3)
    large = align_large(batch, options_of("fast"), devices, 1, 1 << 30, None, None, division)
    found["in groups"] = large.columns
    return found
