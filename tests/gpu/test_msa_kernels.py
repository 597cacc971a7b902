"""The kernels of multiple alignment on the host's fibres, OpenCL and every GPU, against the processor's engine."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from gpu.cases import check_posteriors, check_relax, check_shares, random_family, random_store
from gpu.host_device import HostDevice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tropalign
from tropalign.devices.registry import CpuDevice, GpuDevice
from tropalign.errors import DeviceError, ResourceError, TropalignWarning
from tropalign.msa import pipeline
from tropalign.msa.consistency import ProductsOnGpu, relax_on_gpu
from tropalign.msa.gpu import PosteriorsOnGpu, Shape, difference
from tropalign.msa.models import NUCLEOTIDE, PROTEIN, PROTEIN_1, PROTEIN_2
from tropalign.msa.options import options_of

#: Small groups, so that short sequences have several strips.
SMALL = Shape(group=4, rows=(2, 4))


def pair(*texts):
    """Two sequences as a family, and the pair of them."""
    codes = np.concatenate([np.asarray(text, np.uint8) for text in texts])
    return codes, np.cumsum([0, *map(len, texts)]).astype(np.int64), np.array([(0, 1)], np.int32)


@pytest.mark.parametrize("model", [PROTEIN, PROTEIN_1, PROTEIN_2, NUCLEOTIDE], ids=lambda model: model.name)
def test_families(vendor_device, model):
    family = random_family(1, [61, 1, 40, 64, 33], 4 if model is NUCLEOTIDE else 20)
    found = check_posteriors(vendor_device, model, family, Shape(group=8, rows=(4, 6)))
    assert found[3].max() > 29000


def test_the_shape_that_devices_run(device):
    check_posteriors(device, PROTEIN_2, random_family(2, [40, 420, 130]), Shape())


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_family(host, data):
    lengths = data.draw(st.lists(st.integers(1, 50), min_size=2, max_size=4))
    model = data.draw(st.sampled_from([PROTEIN, PROTEIN_1, PROTEIN_2, replace(PROTEIN_2, hmm_share=0.0)]))
    family = random_family(data.draw(st.integers(0, 10**6)), lengths, data.draw(st.sampled_from([1, 3, 27])))
    check_posteriors(host, model, family, SMALL, data.draw(st.sampled_from([0.0001, 0.01, 0.3])))


def test_exponents_far_from_1(host):
    """Identical sequences grow by some bits per residue; halves that change places are alike in corners."""
    rng = np.random.default_rng(3)
    head, tail = rng.integers(0, 20, (2, 350))
    for x, y in (
        ([head, tail], [head, tail]),
        ([head, tail], [tail, head]),
        ([head], [tail[:4], head, tail]),
        ([np.full(300, 17)], [np.full(290, 17)]),
    ):
        found = check_posteriors(host, PROTEIN_2, pair(np.concatenate(x), np.concatenate(y)), SMALL)
        assert found[3].max() > 3000


def test_a_piece_of_a_long_sequence(host):
    """Free ends: what hangs over lies far below what is alike."""
    rng = np.random.default_rng(9)
    piece, more = rng.integers(0, 20, (2, 500))
    for x, y in ((piece[:90], np.concatenate([more, piece[:90], more])), (np.concatenate([piece, more]), piece)):
        distance, _, columns, values = PosteriorsOnGpu(host, PROTEIN_2, 0.01, shape=SMALL).posteriors(*pair(x, y))
        assert distance[0] < 5e-3 and len(columns) < len(piece) + 100
        assert (values > 30000).sum() > min(len(x), len(y)) - 6


def test_exponents_beyond_16_bits_are_left_to_the_processor(host, monkeypatch):
    family = random_family(4, [30, 50, 9])
    wanted = check_posteriors(host, PROTEIN_2, family, SMALL)
    monkeypatch.setattr("tropalign.msa.gpu.MOST_EXPONENT", 150)
    told = []
    got = check_posteriors(host, PROTEIN_2, family, SMALL, told=told.append)
    assert max(difference(got, wanted, 0.01)) < 1e-4
    assert told[0] == 2 and told[-1] == 6  # the pairs of the longest two came first


def test_little_memory_makes_launches():
    device, told = HostDevice(16), []
    family = random_family(5, [30, 20, 25, 33])
    wanted = check_posteriors(device, PROTEIN_2, family, Shape(group=4, rows=(4,)))
    device.budget = 70_000
    got = check_posteriors(device, PROTEIN_2, family, Shape(group=4, rows=(4,)), told=told.append)
    assert all(np.array_equal(a, b) for a, b in zip(got, wanted, strict=True))
    assert len(set(told)) > 3 and told == sorted(told) and told[-1] == 12
    device.budget = 1000
    with pytest.raises(ResourceError, match=r"^host: the rows of a pair of 30 residues, .*: add device cpu$"):
        PosteriorsOnGpu(device, PROTEIN_2, 0.01, shape=SMALL).posteriors(*family)


@pytest.mark.parametrize("keep", [0.3, 0.02, 1.0])
def test_shares_of_elements(vendor_device, keep):
    found = check_shares(vendor_device, PROTEIN_2, random_family(1, [61, 1, 40, 64, 33]), Shape(8, (4, 6)), keep)
    assert len(found[2]) > 100


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_shares(host, data):
    lengths = data.draw(st.lists(st.integers(1, 40), min_size=2, max_size=3))
    family = random_family(data.draw(st.integers(0, 10**6)), lengths)
    check_shares(host, PROTEIN_2, family, SMALL, data.draw(st.sampled_from([0.001, 0.1, 0.5])))


def test_no_pairs_and_odds_that_no_kernel_holds(host):
    codes, offsets, pairs = random_family(6, [5, 6])
    found = PosteriorsOnGpu(host, PROTEIN_2, 0.01).posteriors(codes, offsets, pairs[:0])
    assert [len(array) for array in found] == [0, 0, 0, 0]
    odd = replace(PROTEIN_2, boltzmann=PROTEIN_2.boltzmann * 1000)
    words = "^host: a pair model with such large or small odds is computed on the CPU only$"
    with pytest.raises(DeviceError, match=words):
        PosteriorsOnGpu(host, odd, 0.01)


def test_wrong_calls(host):
    codes, offsets, pairs = random_family(7, [5, 6])
    posteriors = PosteriorsOnGpu(host, PROTEIN_2, 0.01).posteriors
    for arguments, words in (
        ((codes + 20, offsets, pairs), "a code is not in the model"),
        ((codes, offsets, pairs + 1), "an index is out of range"),
        ((codes, np.array([0, 0, 11]), pairs), "a sequence is empty"),
    ):
        with pytest.raises(ValueError, match=words):
            posteriors(*arguments)


def rule(n_sequences, groups=None, gain=0.01, cutoff=0.001):
    """Weights that differ, one of them 0."""
    weights = np.arange(n_sequences) * 97 % 31 / 31
    return weights, np.zeros(n_sequences, np.int32) if groups is None else np.array(groups, np.int32), gain, cutoff


def twice(*arguments, **options):
    return random_store(*arguments, **options), random_store(*arguments, **options)


def test_consistency_of_few_and_many(vendor_device, host):
    """Rows of several blocks, a pair without posteriors, groups."""
    lengths = [70, 40, 1, 100, 33, 64]
    check_relax(vendor_device, twice(1, lengths, missing=[(1, 3)]), 32, rule(6))
    check_relax(vendor_device, twice(2, lengths), 32, rule(6, [0, 1, 0, 1, 1, 0], gain=0))
    # More than 16, after which sums are shifted.
    check_relax(host, twice(3, [9] * 40, 0.5), 32, rule(40))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_consistency_of_any_family(host, data):
    lengths = data.draw(st.lists(st.integers(1, 70), min_size=3, max_size=7))
    filled = data.draw(st.sampled_from([0, 0.02, 0.2]))
    check_relax(host, twice(data.draw(st.integers(0, 10**6)), lengths, filled), 8, rule(len(lengths)))


def test_consistency_in_launches():
    device, told = HostDevice(16), []
    products = check_relax(device, twice(4, [30, 20, 25, 33]), 8, rule(4), told.append)
    assert told[-1] == 6
    store, _ = random_store(4, [30, 20, 25, 33])
    products.pace.cells = 1
    asked = []
    store.relax(*rule(4), 1, None, lambda *request: asked.append(request) or products.sums(*request))
    in_one = ProductsOnGpu(device, random_store(4, [30, 20, 25, 33])[0], 8).sums(*asked[0])
    products.pace.cells = 1
    np.testing.assert_array_equal(products.sums(*asked[0]), in_one)


def test_products_that_are_wrong():
    store, matrices = random_store(5, [30, 20, 25])
    for wrong in (None, np.zeros(3, np.int32), np.zeros(7)):
        with pytest.raises(ValueError, match=r"^products: must return an int32 per element$"):
            store.relax(*rule(3), 1, None, lambda *request, wrong=wrong: wrong)
    with pytest.raises(TypeError, match=r"^products: not callable$"):
        store.relax(*rule(3), 1, None, 3)
    assert all((store.matrix(x, y)[2] == m[m > 0]).all() for (x, y), m in matrices.items())


def test_a_device_without_room_leaves_the_pass_to_the_processor(host):
    lengths = [30, 20, 25]
    stores = [random_store(5, lengths)[0] for _ in range(3)]
    device = GpuDevice(HostDevice(16, budget=1000))
    words = r"^host: the posteriors of a family computed together need .*: the CPU computes this consistency pass"
    with pytest.warns(TropalignWarning, match=words):
        relax_on_gpu([device], stores[0], *rule(3, cutoff=0.1), 1)
    relax_on_gpu([GpuDevice(host)], stores[1], *rule(3, cutoff=0.1), 1)
    relax_on_gpu([], stores[2], *rule(3, cutoff=0.1), 1)
    assert stores[0].n_elements == stores[1].n_elements == stores[2].n_elements


@pytest.mark.parametrize(("effort", "rules"), [(None, "quickprobs1"), (None, "quickprobs2"), ("fast", "quickprobs2")])
def test_alignments_of_any_devices(host, effort, rules):
    """Posteriors differ by 1e-4 at most, and no alignment does."""
    codes, offsets, _ = random_family(8, [70, 61, 66, 90, 40, 75])
    letters = np.array(list(PROTEIN_2.alphabet.letters))[codes]
    texts = ["".join(letters[begin:end]) for begin, end in pairwise(offsets.tolist())]
    batch = tropalign.SequenceBatch.from_strings(texts, alphabet=tropalign.PROTEIN)
    job = pipeline.FamilyInput(batch, options_of(effort, len(batch), rules=rules))
    on_cpu = pipeline.align(job, [CpuDevice(1)], 1, 1 << 30)
    on_gpu = pipeline.align(job, [GpuDevice(host)], 1, 1 << 30)
    np.testing.assert_array_equal(on_gpu.columns, on_cpu.columns)
    np.testing.assert_allclose(on_gpu.column_confidence, on_cpu.column_confidence, atol=1e-3)
