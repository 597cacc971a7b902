"""The kernel of placement on the host's fibres, OpenCL and every GPU, against the processor's engine."""

from pathlib import Path

import numpy as np
import pytest
from gpu.cases import check_places, counted, random_places
from gpu.host_device import HostDevice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tropalign
from tropalign.errors import DeviceError, ResourceError
from tropalign.placement.gpu import ScoresOnGpu, Shape

DATA = Path(__file__).parent.parent / "data"
#: Small tiles and groups, so that short reads and few branches have several of them.
SMALL = Shape(group=8, rows=(8, 6))
MIDDLE = Shape(group=32, rows=(16,))
#: match, mismatch, on_gap, gap_open, gap_extend, insert_open, insert_extend, whole_read.
PAPARA = (2, 0, -3, 3, 1, 3, 1, 0)
SCORINGS = [
    PAPARA,
    (5, -4, -20, 10, 0, 10, 0, 0),  # gaps and insertions that extend for nothing
    (1, -3, 2, 2, 5, 1, 4, 0),  # extensions dearer than openings; a gap column is worth more
    (3, -90, -90, 4, 1, 2, 1, 0),  # scores that gaps always better
    (2, -1, 0, 0, 0, 0, 0, 0),
]


def real():
    reads = tropalign.read_sequences(str(DATA / "place_reads.fasta"))
    codes = np.zeros(256, np.uint8)
    codes[np.frombuffer(b"ACGT", np.uint8)] = 1, 2, 4, 8
    texts = [reads.text(k).encode() for k in range(len(reads))]
    with np.load(DATA / "place_vectors.npz") as file:
        vectors = file["vectors"]
    offsets = np.cumsum([0] + [len(text) for text in texts])
    return vectors, codes[np.frombuffer(b"".join(texts), np.uint8)], offsets.astype(np.int64)


@pytest.mark.parametrize("scoring", SCORINGS[:2])
def test_real_reads(vendor_device, scoring):
    scores = check_places(vendor_device, *real(), scoring, MIDDLE)
    assert scores.shape == (64, 47) and scores.max() > 200


def test_the_shape_that_devices_run(device):
    vectors, codes, offsets = real()
    check_places(device, vectors, codes[: offsets[9]], offsets[:10], PAPARA, Shape())


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_reference(device, data):
    """Lengths from 0, reads longer than the reference, all state sets, branches that are all gaps or none."""
    vectors, codes, offsets = random_places(
        data.draw(st.integers(0, 10**6)),
        n_vectors=data.draw(st.integers(1, 18)),
        n_columns=data.draw(st.integers(1, 50)),
        n_reads=data.draw(st.integers(0, 9)),
        longest=data.draw(st.sampled_from([1, 7, 40, 90])),
        flagged=data.draw(st.sampled_from([0, 0.1, 0.7, 1])),
        ambiguous=data.draw(st.sampled_from([0, 0.2, 1])),
    )
    check_places(device, vectors, codes, offsets, data.draw(st.sampled_from(SCORINGS)), SMALL)


def test_lengths_at_the_edges_of_tiles_and_blocks(device):
    for n_columns in (5, 6, 7, 12):
        for longest in (7, 8, 9, 16):
            vectors, codes, _ = random_places(n_columns, 9, n_columns, 9, longest, 0.3, 0.1)
            offsets = np.concatenate([np.arange(0, len(codes) - longest, longest), [len(codes)]])
            check_places(device, vectors, codes, offsets.astype(np.int64), PAPARA, SMALL)


def test_words_at_their_limit():
    """H' of the longest reads on both sides of the highest that 16 bits hold; all columns of the branches match."""
    device, columns = HostDevice(16), 2 * np.ones((3, 334), np.uint8)
    scoring = (97, -4, -3, 30, 1, 40, 1, 0)
    lengths = np.array([300, 328, 329, 330, 331, 332, 335, 340, 400])
    codes, offsets = np.full(int(lengths.sum()), 2, np.uint8), np.concatenate([[0], np.cumsum(lengths)])
    scores = check_places(device, columns, codes, offsets, scoring, SMALL)
    assert scores.max() == 97 * 334 and {built.get("SIMT_WORD") for built in device.built} - {None} == {16, 32}
    whole = ScoresOnGpu(device, columns, scoring).scoring.highest(lengths, columns)
    assert whole.min() < 1 << 15 <= whole.max()


def test_costs_beyond_16_bits(host):
    vectors, codes, offsets = random_places(3, 9, 40, 7, 50, 0.2, 0.1)
    for scoring in (
        (2, -1, -30000, 3, 1, 3, 1, 0),
        (2, 0, -3, 30000, 1, 3, 1, 0),
        (90000, -70000, 5, 80000, 9, 7, 1, 0),
    ):
        check_places(host, vectors, codes, offsets, scoring, SMALL)


def test_little_memory_makes_chunks():
    vectors, codes, offsets = random_places(4, 30, 50, 12, 60, 0.2, 0)
    device, told = HostDevice(16, budget=15_000), []
    launches = counted(device)
    check_places(device, vectors, codes, offsets, PAPARA, SMALL, told.append)
    assert len(launches) > 4 and sum(groups for _, groups in launches) == 4 * 6
    assert told == sorted(told) and told[-1] == 12
    device.budget = 1000
    with pytest.raises(ResourceError, match=r"^host: 8 branches computed together need .* are free: add device cpu$"):
        ScoresOnGpu(device, vectors, PAPARA, SMALL).scores(codes, offsets)


def test_a_slow_device_is_given_less(host):
    vectors, codes, offsets = random_places(5, 9, 30, 8, 40, 0.2, 0)
    scores = ScoresOnGpu(host, vectors, PAPARA, SMALL)
    wanted = scores.scores(codes, offsets)
    told, scores.pace.cells = [], 1
    np.testing.assert_array_equal(scores.scores(codes, offsets, told.append), wanted)
    assert told[0] < len(offsets) - 1 == told[-1]


def test_what_the_processor_computes(host):
    vectors = np.ones((2, 5), np.uint8)
    for case, words in (
        ((vectors.astype(np.uint32), PAPARA), "placement of proteins is"),
        ((vectors, (*PAPARA[:7], 1)), "scores of whole reads are"),
        ((vectors, (2, 0, -3, -1, 1, 3, 1, 0)), "scores with negative gap costs are"),
        ((vectors, (2, 0, -3, 1 << 30, 1, 3, 1, 0)), "such large scores are"),
    ):
        with pytest.raises(DeviceError, match=f"^host: {words} computed on the CPU only$"):
            ScoresOnGpu(host, *case)
    one = np.ones(3, np.uint8), np.array([0, 3], np.int64)
    with pytest.raises(DeviceError, match=r"^host: such large scores are computed on the CPU only$"):
        ScoresOnGpu(host, vectors, (2**30, 0, -3, 3, 1, 3, 1, 0)).scores(*one)
    with pytest.raises(ValueError, match="not a state set"):
        ScoresOnGpu(host, vectors, PAPARA).scores(0 * one[0], one[1])
