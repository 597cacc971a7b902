"""Embeddings: tables as NumPy computes them in float64, aligned by `align_scores`."""

import numpy as np
import pytest

import tropalign as ta
from tropalign.errors import InputError, ResourceError, ScoringError, UsageError

RANDOM = np.random.default_rng(11)
VECTORS = {f"v{k}": RANDOM.normal(0, 1, (n, 16)).astype(np.float32) for k, n in enumerate((9, 30, 1, 22, 30))}
OTHERS = [RANDOM.normal(0, 1, (n, 16)).astype(np.float64) for n in (12, 5, 40)]
GAP = ta.Gap(0.3, 0.1)


def table_of(query, target, similarity="cosine", z_scores=False, scale=1.0, shift=0.0):
    query, target = query.astype(float), target.astype(float)
    if similarity == "cosine":
        query, target = (side / np.linalg.norm(side, axis=1)[:, None] for side in (query, target))
    table = query @ target.T
    if similarity == "euclidean":
        table = np.exp(-np.linalg.norm(query[:, None] - target[None], axis=2))
    if z_scores:
        by_row = [[(x - np.mean(row)) / (np.std(row) or 1) for x in row] for row in table]
        by_column = [[(x - np.mean(row)) / (np.std(row) or 1) for x in row] for row in table.T]
        table = (np.array(by_row) + np.array(by_column).T) / 2
    return (scale * table - shift).astype(np.float32)


@pytest.mark.parametrize(
    "how",
    [
        {"shift": 0.2},
        {"similarity": "dot", "scale": 0.5, "shift": 0.25},
        {"similarity": "euclidean", "scale": 100.0, "shift": 0.3},
        {"z_scores": True, "shift": 0.4},
    ],
)
def test_each_pair_is_its_table(how):
    found = ta.align_embeddings(VECTORS, OTHERS, gap=GAP, mode="global", **how)
    pairs = [(query, target) for query in VECTORS.values() for target in OTHERS]
    wanted = ta.align_scores([table_of(*pair, **how) for pair in pairs], gap=GAP, mode="global")
    np.testing.assert_allclose(found.score, wanted.score, rtol=1e-4, atol=1e-4)
    assert found.cigars() == wanted.cigars()
    assert [row.target for row in found][:4] == ["target_1", "target_2", "target_3", "target_1"]


def test_a_set_has_each_pair_once_and_the_best_of_each_query():
    every = ta.align_embeddings(VECTORS, gap=GAP, shift=0.2)
    assert [(row.query, row.target) for row in every][:5] == [
        (f"v{a}", f"v{b}") for a, b in ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2))
    ]
    scores = np.zeros((5, 5))
    scores[every.query_index, every.target_index] = every.score
    scores += scores.T
    np.fill_diagonal(scores, -1)
    best = ta.align_embeddings(VECTORS, gap=GAP, shift=0.2, top=2)
    assert best.target_index.reshape(5, 2).tolist() == np.argsort(-scores, axis=1, kind="stable")[:, :2].tolist()
    np.testing.assert_allclose(best.score.reshape(5, 2), -np.sort(-scores, axis=1)[:, :2], rtol=1e-6)
    seen = []
    ta.align_embeddings(VECTORS, gap=GAP, shift=0.2, top=2, progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 20  # a query has all others
    with_others = ta.align_embeddings(VECTORS, OTHERS, gap=GAP, shift=0.2, top=1)
    assert with_others.query_index.tolist() == list(range(5))


def test_tiles_threads_and_memory_change_nothing(monkeypatch):
    whole = ta.align_embeddings(VECTORS, OTHERS, gap=GAP, shift=0.2, max_hsps=3)
    monkeypatch.setattr("tropalign.pairwise.vector_engines.TILE_CELLS", 433)
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "4")
    seen = []
    tiles = ta.align_embeddings(VECTORS, OTHERS, gap=GAP, shift=0.2, max_hsps=3, n_threads=3, progress=seen.append)
    assert whole == tiles and len(seen) > 3 and seen[-1] == 15
    assert tiles.hsp.max() > 1


def test_files_hold_what_they_say(tmp_path):
    np.savez(tmp_path / "a.npz", **VECTORS)
    wanted = ta.align_embeddings(VECTORS, gap=GAP)
    assert ta.align_embeddings(tmp_path / "a.npz", gap=GAP) == wanted
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, array in VECTORS.items():
            file[name] = array
    assert ta.align_embeddings(str(tmp_path / "a.h5"), gap=GAP) == wanted


def test_a_vector_of_zeros_is_similar_to_nothing():
    found = ta.align_embeddings([np.eye(3), np.zeros((3, 3))], gap=GAP, mode="global")
    assert found.score.tolist() == [0.0]


@pytest.mark.parametrize(
    ("error", "said", "arrays", "options"),
    [
        (
            InputError,
            "'query_2': the vectors have 4 numbers, but those of query_1 have 5",
            [np.ones((2, 5)), np.ones((2, 4))],
            {},
        ),
        (InputError, r"'query_1': an array of shape \(2,\)", [np.ones(2), np.ones((2, 4))], {}),
        (InputError, r"'query_1': an array of shape \(0, 4\)", [np.ones((0, 4))], {}),
        (InputError, r"'query_1': .* type <U1", [np.array([["a"]])], {}),
        (
            InputError,
            r"'b': the number in row 1, column 0 \(from 0\) is inf, but must be finite and fit float32: correct",
            {"b": [[1.0], [np.inf]]},
            {},
        ),
        (InputError, "only one sequence, so there is no pair", [np.ones((2, 4))], {}),
        (InputError, "there is no array", [], {}),
        (InputError, "no.npz: there is no such file", "no.npz", {}),
        (ScoringError, "two pieces", VECTORS, {"gap": ta.Gap(2, 1, 9, 0.5)}),
        (UsageError, "similarity 'angle'", VECTORS, {"similarity": "angle"}),
        (UsageError, "shift nan", VECTORS, {"shift": np.nan}),
        (UsageError, "below 1", VECTORS, {"top": 0}),
        (ResourceError, "embeddings' first part needs 5.8 KiB of memory and 3.9 KiB", VECTORS, {"memory_bytes": 4000}),
        (ResourceError, "scores of one pair exceed the memory", [np.ones((900, 1))] * 2, {"memory_bytes": 5 << 20}),
    ],
)
def test_bad_input_is_one_sentence(error, said, arrays, options):
    with pytest.raises(error, match=said):
        ta.align_embeddings(arrays, **{"gap": GAP, **options})


def test_pairs_larger_than_a_tile_need_only_the_memory():
    long = RANDOM.normal(size=(1100, 4))
    found = ta.align_embeddings([long, long[50:1050]], gap=GAP, mode="local", n_threads=1)
    assert found.cigars() == ["1000X"] and found.query_start[0] == 50


@pytest.mark.parametrize("factor", [1e-25, 1e20])
def test_cosines_of_very_small_and_large_vectors(factor):
    found = ta.align_embeddings([VECTORS["v0"] * np.float32(factor)], [VECTORS["v0"]], gap=GAP, mode="global")
    assert found.score[0] == pytest.approx(9, abs=1e-4)


@pytest.mark.parametrize("factor", [1, 100])
def test_distances_of_equal_vectors_are_0(factor):
    wide = RANDOM.normal(size=(5, 1024)) * factor
    found = ta.align_embeddings([wide], [wide], similarity="euclidean", gap=GAP, mode="global")
    assert found.score[0] == 5


def test_z_scores_of_equal_similarities_are_0():
    vector = RANDOM.normal(size=(1, 33))
    some, others = vector.repeat(7, axis=0), vector.repeat(11, axis=0)
    found = ta.align_embeddings([some], [others], z_scores=True, gap=ta.Gap(0, 0), mode="local")
    assert found.score[0] == 0


def test_names_and_files_that_cannot_be_used(tmp_path):
    with pytest.raises(InputError, match="'1': two arrays have the same name"):
        ta.align_embeddings({1: np.ones((2, 3)), "1": np.ones((2, 3))}, gap=GAP)
    with pytest.raises(InputError, match="'query_1': the vectors have different lengths"):
        ta.align_embeddings([[[1.0, 2.0], [1.0]]], gap=GAP)
    (tmp_path / "a.npz").write_bytes(b"PK\3\4 no archive")
    np.save(tmp_path / "b.npy", np.ones((2, 3)))
    (tmp_path / "b.npy").rename(tmp_path / "b.npz")
    with pytest.raises(InputError, match="there is no such file"):
        ta.align_embeddings(tmp_path / "c.npz", gap=GAP)
    with pytest.raises(InputError, match="'v0 x v1': a score is not finite"):
        ta.align_embeddings({name: one * 1e20 for name, one in VECTORS.items()}, similarity="dot", gap=GAP)
    for name in ("a.npz", "b.npz"):
        with pytest.raises(InputError, match="this file is not an"):
            ta.align_embeddings(tmp_path / name, gap=GAP)
