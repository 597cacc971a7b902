"""Numbers that kernels, plan and launchers share have one source."""

import re
from pathlib import Path

import pytest

from tropalign import _native
from tropalign.pairwise import gpu, gpu_plan
from tropalign.pairwise.engines import REPORT_COLUMNS
from tropalign.placement import gpu as place_gpu

SOURCE = Path(gpu.__file__).parent.parent


def test_the_native_plan_has_the_same_numbers():
    native = _native.testing.gpu_constants()
    ours = gpu_plan.numbers()
    assert native == {name: ours[name] for name in native}
    assert {"COLUMNS", "UNIT_INTS", "LANE_INTS", "MIRRORED", *(f"SOURCE_{s.name}" for s in gpu_plan.Source)} <= set(
        native
    )
    assert {str(flag.name) for flag in gpu_plan.Flag} <= set(native)


def test_kernels_give_what_every_report_needs():
    """By name: in which order a table has its columns is no matter of the kernels."""
    needed = set().union(*REPORT_COLUMNS.values()) - {"cigar_ops", "cigar_offsets"}
    assert needed | {"n_runs"} == set(gpu_plan.FOUND)


@pytest.mark.parametrize(
    ("files", "prefix", "numbers"),
    [
        (("pairwise/sweep.k", "pairwise/finish.k"), "PAIRS", gpu_plan.numbers()),
        (("placement/place.k",), "PLACE", place_gpu.NUMBERS),
    ],
)
def test_kernels_define_none_of_the_shared_numbers(files, prefix, numbers):
    """They use them, each by its generated name."""
    text = "".join((SOURCE / file).read_text() for file in files)
    defined = set(re.findall(r"#define (\w+)", text))
    shared = {f"{prefix}_{name}" for name in numbers}
    assert not defined & shared
    used = set(re.findall(rf"\b{prefix}_\w+", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)))
    assert used & shared >= shared - {f"{prefix}_SOURCE_SHARED_ROW"}


def test_every_file_of_kernels_has_its_own_prefix():
    for file, prefixes in (("sweep", ("PAIRS", "SWEEP")), ("finish", ("PAIRS", "FINISH"))):
        text = (SOURCE / "pairwise" / f"{file}.k").read_text()
        assert {name.split("_")[0] for name in re.findall(r"#define (\w+)", text)} <= set(prefixes)
    assert {
        name.split("_")[0] for name in re.findall(r"#define (\w+)", (SOURCE / "placement/place.k").read_text())
    } == {"PLACE"}
