"""The kernels of pairwise alignment on the host's fibres, OpenCL and every GPU, against the processor's engine."""

from pathlib import Path

import numpy as np
import pytest
from gpu.cases import AMINO_ACIDS, MIDDLE, STRIPS, check, counted, proteins, random_proteins, run, task
from gpu.host_device import HostDevice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tropalign
from tropalign.devices.registry import GpuDevice
from tropalign.errors import DeviceError, ResourceError
from tropalign.pairwise import gpu_plan
from tropalign.pairwise.options import FREE_ENDS

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
MODES = ["local", "global", "semiglobal"]
FREE_SETS = [FREE_ENDS, (), ("query-start",), ("target-start", "target-end"), ("query-end", "target-start")]


@pytest.mark.parametrize("report", ["score", "ends", "alignment"])
@pytest.mark.parametrize("mode", MODES)
def test_hundreds_of_real_pairs(vendor_device, mode, report):
    assert check_real(vendor_device, mode, report, 18, 18) == 306


@pytest.mark.long
@pytest.mark.parametrize("report", ["score", "ends", "alignment"])
@pytest.mark.parametrize("mode", MODES)
def test_two_thousand_real_pairs(vendor_device, mode, report):
    assert check_real(vendor_device, mode, report, 37, 53) == 2044


def check_real(device, mode, report, n_proteins, n_amplicons):
    options = {"mode": mode, "report": report}
    wanted = check(device, task(read("efp.fasta")[:n_proteins], **options), MIDDLE)
    matrix = tropalign.SubstitutionMatrix.match_mismatch(5, -4)
    more = check(device, task(read("amplicons.fasta")[:n_amplicons], gap=(10, 1), matrix=matrix, **options), MIDDLE)
    return len(wanted) + len(more)


def read(name):
    return tropalign.read_sequences(str(EXAMPLES / name))


@pytest.mark.parametrize("free", FREE_SETS)
def test_free_ends(device, free):
    batch = proteins(random_proteins(1, 20, 60))
    for report in ("score", "alignment"):
        check(device, task(batch, mode="semiglobal", free=free, report=report))


@pytest.mark.parametrize(
    "gap", [(0, 0), (3, 0), (100, 30), *(pytest.param(gap, marks=pytest.mark.long) for gap in ((0, 1), (60, 0)))]
)
@pytest.mark.parametrize("mode", MODES)
def test_gap_costs(host, mode, gap):
    batch = proteins(random_proteins(2, 16, 40, "AGW"))
    for report in ("score", "alignment"):
        check(host, task(batch, mode=mode, gap=gap, report=report))


@pytest.mark.parametrize("mode", MODES)
def test_costs_with_decimals(device, mode):
    """What a device finds is divided by the factor, too."""
    batch = proteins(random_proteins(4, 12, 60))
    for report in ("score", "alignment"):
        found = check(device, task(batch, mode=mode, gap=(9.5, 0.25), report=report))
        assert found.score.dtype == np.float64


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_set(device, data):
    """Lengths from 1, ties, few letters, all sources of scores."""
    letters = data.draw(st.sampled_from([AMINO_ACIDS, "AG", "W", "ARNDX*BZ"]))
    sizes = st.integers(1, 14)
    queries = proteins(random_proteins(data.draw(st.integers(0, 10**6)), data.draw(sizes), 50, letters))
    targets = proteins(random_proteins(data.draw(st.integers(0, 10**6)), data.draw(sizes), 50, letters))
    mode, report = data.draw(st.sampled_from(MODES)), data.draw(st.sampled_from(["score", "alignment"]))
    free = data.draw(st.sampled_from(FREE_SETS))
    pairs = None
    if data.draw(st.booleans()):
        chosen = st.tuples(st.integers(0, len(queries) - 1), st.integers(0, len(targets) - 1))
        pairs = np.array(data.draw(st.lists(chosen, min_size=1, max_size=30)), np.int64)
    check(device, task(queries, targets, mode, report=report, free=free, pairs=pairs))


@pytest.mark.parametrize("mode", MODES)
def test_one_query_against_many(device, mode):
    batch = proteins(random_proteins(3, 41, 60))
    for report in ("score", "alignment"):
        check(device, task(batch[:1], batch[1:], mode, report=report))


@pytest.mark.parametrize("mode", MODES)
def test_pairs_by_strips(device, mode):
    batch = proteins(random_proteins(4, 8, 150))
    for report in ("score", "alignment"):
        check(device, task(batch, mode=mode, report=report), STRIPS)


@pytest.mark.parametrize("mode", MODES)
def test_long_pairs_are_swept_in_launches_of_bounded_time(device, mode, monkeypatch):
    """A launch per strip (8 tiles of 4 rows) on a slow device: the same alignments, and a sign of life after each."""
    batch, n_signs = proteins(random_proteins(4, 6, 150)), {}
    monkeypatch.setattr("tropalign.devices.gpu.LAUNCH_SECONDS", 0)  # the pace never rises
    monkeypatch.setattr("tropalign.devices.gpu.BEAT_SECONDS", 1000)  # no signs of compiling
    for report in ("score", "alignment"):
        for first_cells in (1, 10**9):
            monkeypatch.setattr("tropalign.pairwise.gpu.FIRST_STRIP_CELLS", first_cells)
            signs = []
            check(device, task(batch, mode=mode, report=report, pairs=np.array([[0, 1]])), STRIPS, signs.append)
            n_signs[first_cells] = len(signs)
        n_strips = -(-int(max(batch.lengths[:2])) // (8 * 4))
        assert n_strips >= 3 and n_signs[1] == n_signs[10**9] + n_strips - 1


def test_a_pair_whose_strips_take_too_long(host, monkeypatch):
    monkeypatch.setattr("tropalign.pairwise.gpu.MOST_STRIP_CELLS", 3000)
    job = task(proteins(random_proteins(4, 6, 150)))
    job.gpu_shape = STRIPS
    words = r"^host: a pair of about 1\d\d by \d+ residues would occupy the device for minutes .* on the CPU only$"
    with pytest.raises(DeviceError, match=words):
        job.on_gpu(job.tiles()[0], host)


@pytest.mark.parametrize("mode", MODES)
def test_scores_beyond_16_bits(host, mode):
    """Doubled scores of 1,400 tryptophans pass 32,767; those of the other pairs do not."""
    batch = proteins(["W" * 1400, "W" * 1390 + "A", *random_proteins(5, 6, 90)])
    for report in ("score", "alignment"):
        table = check(host, task(batch, mode=mode, report=report))
        assert table.score.max() > 15000


@pytest.mark.parametrize("report", ["score", "alignment"])
@pytest.mark.parametrize("mode", MODES)
def test_words_at_their_limit(host, mode, report):
    """Scores on both sides of the highest one that 16 bits hold, and gaps so costly that wrapped ones fall below."""
    matrix = tropalign.SubstitutionMatrix.match_mismatch(127, -4)
    longest = 32767 // 127 // (2 if report == "alignment" else 1)
    batch = tropalign.SequenceBatch.from_strings([("ACGT" * 80)[: longest + k] for k in range(-14, 9, 2)])
    for gap in ((10, 1), (500, 1)):
        check(host, task(batch, mode=mode, report=report, gap=gap, matrix=matrix))
    assert {built.get("SIMT_WORD") for built in host.built} - {None} == {16, 32}


def test_strands_and_selection(device):
    rng = np.random.default_rng(6)
    made = ["".join(rng.choice(list("ACGTN"), rng.integers(1, 60), p=[0.24] * 4 + [0.04])) for _ in range(12)]
    batch = tropalign.SequenceBatch.from_strings(made, alphabet=tropalign.NUCLEOTIDE)
    batch = tropalign.SequenceBatch.from_strings(made + [batch.reverse_complement().text(k) + "A" for k in range(6)])
    matrix = tropalign.SubstitutionMatrix.match_mismatch(5, -4)
    check(device, task(batch, matrix=matrix, gap=(10, 1), strand="both"))
    check(device, task(batch, matrix=matrix, gap=(10, 1), strand="both", top=3, min_score=20))
    assert (check(device, task(batch, matrix=matrix, gap=(10, 1), strand="minus", min_score=20)).strand == -1).all()
    check(device, task(batch, matrix=matrix, gap=(10, 1), min_identity=0.8))


def test_little_memory_makes_chunks():
    batch = proteins(random_proteins(7, 30, 60))
    budget, device = 300_000, HostDevice(16)
    device.budget = budget
    launches = counted(device)
    check(device, task(batch, mode="global"))
    assert [kernel for kernel, _ in launches].count("sweep") > 4
    device.budget = 10_000
    job = task(batch)
    with pytest.raises(ResourceError, match=r"^host: \d+ pairs computed together need .* are free: add device cpu$"):
        job.on_gpu(job.tiles()[0], device)


def test_pairs_that_fill_the_memory_get_a_group_each():
    """Side by side, traced, a group of 8 such pairs needs 2 x 8 x 90,000 bytes; a pair of its own 2 x 90,000."""
    device = HostDevice(16, budget=1_200_000)
    check(device, task(proteins(random_proteins(8, 9, 300))))
    assert any(built["PAIRS_STRIPS"] for built in device.built)


def test_more_pairs_than_a_plan_holds(host, monkeypatch):
    monkeypatch.setattr(gpu_plan, "MOST_PAIRS", 100)
    batch = proteins(random_proteins(9, 24, 40))
    for report in ("score", "alignment"):
        check(host, task(batch, report=report))


def test_a_kernel_is_compiled_once_for_all_threads(monkeypatch):
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "20")
    device = HostDevice(16)
    device.n_streams = 2
    run(task(proteins(random_proteins(10, 24, 40)), report="score"), [GpuDevice(device)])
    assert len(device.built) == len({tuple(built.items()) for built in device.built})


def test_scores_that_no_kernel_holds(host):
    matrix = tropalign.SubstitutionMatrix.match_mismatch(900_000, -4, tropalign.PROTEIN)
    job = task(proteins(["ARND", "ARN"]), matrix=matrix, gap=(900_000, 1))
    with pytest.raises(DeviceError, match="host: scores this large are computed on the CPU only"):
        job.on_gpu(job.tiles()[0], host)
