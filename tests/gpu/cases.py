"""What the tests of the kernels share: tasks on a device beside the same on the processor."""

from dataclasses import replace
from itertools import combinations

import numpy as np
from oracles.consistency import turned
from posterior_stores import store_of

import tropalign
from tropalign import _native
from tropalign.execution.scheduler import Scheduler
from tropalign.msa.consistency import ProductsOnGpu
from tropalign.msa.gpu import PosteriorsOnGpu, difference
from tropalign.pairwise.engines import REPORT_COLUMNS
from tropalign.pairwise.gpu_plan import Shape
from tropalign.pairwise.options import FREE_ENDS, PairOptions
from tropalign.pairwise.task import PairsTask
from tropalign.placement.gpu import ScoresOnGpu

#: Small tiles and groups, so that short sequences have several of them.
SMALL = Shape(group=8, rows_shared=8, rows_own=4)
MIDDLE = Shape(group=32, rows_shared=16, rows_own=8)
STRIPS = replace(SMALL, strips_cells=400)
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"


def blosum62():
    return tropalign.SubstitutionMatrix.from_name("BLOSUM62")


def proteins(strings):
    return tropalign.SequenceBatch.from_strings(strings, alphabet=tropalign.PROTEIN)


def random_proteins(seed, n, longest, letters=AMINO_ACIDS):
    """Random ones, and mutated copies of each other, which make long alignments."""
    rng, made = np.random.default_rng(seed), []
    for _ in range(n):
        if made and rng.random() < 0.6:
            text = list(made[rng.integers(len(made))])
            for _ in range(rng.integers(0, 6)):
                at = rng.integers(0, len(text))
                text[at : at + rng.integers(0, 9)] = rng.choice(list(letters), rng.integers(0, 9))
                text = text or [letters[0]]
            made.append("".join(text)[:longest])
        else:
            made.append("".join(rng.choice(list(letters), rng.integers(1, longest + 1))))
    return made


def task(queries, targets=None, mode="local", gap=(11, 1), report="alignment", matrix=None, free=FREE_ENDS, **options):
    pairs = options.pop("pairs", None)
    chosen = PairOptions(
        matrix or blosum62(), tropalign.Gap(*gap), mode=mode, report=report, free_ends=frozenset(free), **options
    )
    return PairsTask(queries, targets, chosen, pairs)


def run(job, devices):
    return [result.value for result in Scheduler(devices).run([job])]


def check(device, job, shape=SMALL, progress=None):
    (tile,) = job.tiles()
    wanted = job.on_cpu(tile, 2)
    job.gpu_shape = shape
    got = job.on_gpu(tile, device, progress)
    for name in ("query_index", "target_index", *REPORT_COLUMNS[job.options.report]):
        np.testing.assert_array_equal(getattr(got, name), getattr(wanted, name), err_msg=name)
    if job.options.strand == "both":
        np.testing.assert_array_equal(got.strand, wanted.strand)
    return wanted


def random_places(seed, n_vectors, n_columns, n_reads, longest, flagged, ambiguous):
    """Branch vectors, and reads cut from them with errors: vectors, codes, offsets."""
    rng = np.random.default_rng(seed)
    sets = np.where(rng.random((n_vectors, n_columns)) < ambiguous, rng.integers(0, 16, (n_vectors, n_columns)), 0)
    sets = np.where(sets, sets, 1 << rng.integers(0, 4, n_columns))
    vectors = (sets | 16 * (rng.random((n_vectors, n_columns)) < flagged)).astype(np.uint8)
    reads = []
    for _ in range(n_reads):
        vector = vectors[rng.integers(n_vectors)]
        kept = (vector[(vector & 16) == 0] & 15)[rng.integers(n_columns) :]
        letters = np.where(kept & (kept - 1), kept if rng.random() < 0.5 else 8, kept)
        more = 1 << rng.integers(0, 4, longest)
        read = np.concatenate([more[: rng.integers(3)], letters, more])[: rng.integers(longest + 1)]
        reads.append(np.where(rng.random(len(read)) < 0.1, rng.integers(1, 16, len(read)), read))
    codes = np.concatenate([np.zeros(0, np.uint8), *reads]).astype(np.uint8)
    return vectors, codes, np.cumsum([0] + [len(read) for read in reads]).astype(np.int64)


def check_places(device, vectors, codes, offsets, scoring, shape, told=None):
    planes, sets = lane_planes(vectors, 4), np.arange(16, dtype=np.uint32)
    n_empty = -vectors.shape[1] % 4
    wanted, *_ = _native.place_scores(planes, len(vectors), n_empty, scoring, codes, offsets, sets, 32, None, 0, 1, 1)
    got = ScoresOnGpu(device, vectors, scoring, shape).scores(codes, offsets, told)
    np.testing.assert_array_equal(got, wanted[:, : len(vectors)])
    assert got.dtype == np.int32
    return got


def lane_planes(vectors, n_states):
    """Planes of any vectors as native code takes them, uint64, shape (n_groups, n_columns padded, n_states + 1)."""
    n_groups = -(-len(vectors) // 64)
    lanes = np.minimum(np.arange(64 * n_groups), len(vectors) - 1)  # the last vector fills the last group
    padded = np.pad(vectors[lanes], ((0, 0), (-vectors.shape[1] % 4, 0)))
    bits = (padded[:, :, None] >> np.arange(n_states + 1, dtype=padded.dtype) & 1).astype(np.uint8)
    of_groups = bits.reshape(n_groups, 64, *bits.shape[1:]).transpose(0, 2, 3, 1)
    return np.packbits(of_groups, axis=-1, bitorder="little").view(np.uint64)[..., 0]


def random_family(seed, lengths, n_letters=20):
    """Mutated pieces of one sequence, with insertions: codes, offsets, and all pairs in both orders."""
    rng = np.random.default_rng(seed)
    common, texts = rng.integers(0, n_letters, max(lengths)), []
    for length in lengths:
        shift = int(rng.integers(0, len(common)))
        text = np.roll(common, -shift if rng.random() < 0.3 else 0)[:length]
        text = np.where(rng.random(length) < rng.choice([0.0, 0.4, 0.9]), rng.integers(0, n_letters, length), text)
        cut = int(rng.integers(0, length))
        texts.append(
            np.concatenate([text[:cut], rng.integers(0, n_letters, int(rng.integers(0, 5))), text[cut:]])[:length]
        )
    codes = np.concatenate(texts).astype(np.uint8)
    pairs = [(x, y) for x in range(len(texts)) for y in range(len(texts)) if x != y]
    return codes, np.cumsum([0, *lengths]).astype(np.int64), np.array(pairs, np.int32)


def check_posteriors(device, model, family, shape, cutoff=0.01, told=None):
    """The device's distances and posteriors are the processor's, but for what 24 bits hold."""
    got = PosteriorsOnGpu(device, model, cutoff, shape=shape).posteriors(*family, told)
    wanted = _native.pair_posteriors(*family, **model.arguments(), cutoff=cutoff, keep=0.0, n_threads=1)
    assert [a.dtype for a in got] == [a.dtype for a in wanted]
    distance, posterior = difference(got, wanted, cutoff)
    assert distance < 2e-5, distance
    assert posterior < 1e-4, posterior
    return got


def check_shares(device, model, family, shape, keep):
    """The device keeps what the processor keeps, but for elements whose values are next to the lowest that is kept."""
    got = PosteriorsOnGpu(device, model, 0.01, keep, shape).posteriors(*family)
    wanted = _native.pair_posteriors(*family, **model.arguments(), cutoff=0.01, keep=keep, n_threads=1)
    assert np.abs(got[0] - wanted[0]).max() < 2e-5
    _, offsets, pairs = family
    lengths = np.diff(offsets)
    first = np.concatenate([[0], np.cumsum(lengths[pairs[:, 0]])])
    for k, (x, y) in enumerate(pairs.tolist()):
        dense = np.zeros((2, lengths[x], lengths[y]), np.int64)
        for matrix, (_, sizes, columns, values) in zip(dense, (got, wanted), strict=True):
            ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
            begin, end = ends[first[k]], ends[first[k + 1]]
            rows = np.repeat(np.arange(lengths[x]), sizes[first[k] : first[k + 1]])
            matrix[rows, columns[begin:end]] = values[begin:end]
        both = (dense > 0).all(axis=0)
        assert np.abs(dense[0] - dense[1])[both].max(initial=0) <= 3
        lowest = min(matrix[matrix > 0].min(initial=1 << 15) for matrix in dense)
        assert dense[:, ~both].max(initial=0) <= lowest + 6
        assert (dense[0] > 0).sum() <= keep * dense[0].size
    return got


def random_store(seed, lengths, filled=0.1, missing=()):
    """A store of random sparse posteriors of all pairs but the missing ones, and their matrices in both orders."""
    rng, matrices = np.random.default_rng(seed), {}
    for x, y in combinations(range(len(lengths)), 2):
        if (x, y) not in missing:
            shape = lengths[x], lengths[y]
            matrices[x, y] = np.where(rng.random(shape) < filled, rng.integers(1, 32768, shape), 0).astype(np.uint16)
    return store_of(lengths, matrices), turned(matrices)


def check_relax(device, store_and_again, group, rule, told=None):
    (store, matrices), (other, _) = store_and_again
    store.relax(*rule, 1)
    products = ProductsOnGpu(device, other, group)
    other.relax(*rule, 2, told, products.sums)
    assert store.n_elements == other.n_elements
    for x, y in matrices:
        for got, wanted in zip(other.matrix(x, y), store.matrix(x, y), strict=True):
            np.testing.assert_array_equal(got, wanted)
    return products


def counted(device):
    """The kernel and the groups of each launch from now on, in a list that grows."""
    launches, build = [], device.build

    def counting(source, constants):
        program = build(source, constants)
        launch = program.launch
        program.launch = lambda kernel, groups, *rest: (
            launches.append((kernel, groups)),
            launch(kernel, groups, *rest),
        )
        return program

    device.build = counting
    return launches
