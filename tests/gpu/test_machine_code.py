"""Machine code of the kernels for every CUDA architecture, against the recorded table (machine_code.py)."""

import json

import pytest
from gpu.machine_code import EVERYWHERE, PLACEMENT, TABLE, cases, compile_tropical, inner_loop, instructions, measure

#: Compilers differ a little; what is more than this share worse is a change of ours.
TOLERANCE = 1.05
#: What the kernels were designed for on sm_90: instructions of arithmetic a packed cell, rare branches included.
DESIGNED = {
    "local score": 5.5,
    "local alignment": 12,
    "global score": 5.5,
    "global alignment": 12,
    "placement score": 5.5,
    "posteriors, from the end": 50,
    "posteriors": 55,
    "consistency": 15,
    "SSV": 4,
    "MSV": 6.5,
    "P7Viterbi": 27,
    "product of integers": 0.8,
    "product of floats": 2.1,
    "product of floats, 0 or more": 1.6,
    "forward, 64 states": 1.1,
}

pytest.importorskip("cuda.bindings.nvrtc")


#: Kernels that are written in another way where no instruction takes the maximum of a sum.
TWO_WAYS = {*EVERYWHERE[:4], PLACEMENT, "SSV", "MSV", "product of integers"}


def marked(name, architecture):
    """Each way to write a kernel is compiled often; the others are a hundred compilations, each of a second or two."""
    is_often = architecture == 90 or (architecture == 80 and name in TWO_WAYS)
    return pytest.param(name, architecture, marks=[] if is_often else [pytest.mark.long])


@pytest.mark.parametrize(("name", "architecture"), [marked(*case) for case in cases()])
def test_no_kernel_is_worse_than_recorded(name, architecture):
    recorded, measured = json.loads(TABLE.read_text())[f"{name}, sm_{architecture}"], measure(name, architecture)
    assert measured["spills"] == 0 and measured["stack_bytes"] == 0
    assert measured["registers"] <= TOLERANCE * recorded["registers"]
    for quantity in ("alu_a_cell", "all_a_cell"):
        assert measured[quantity] <= TOLERANCE * recorded[quantity], quantity
    if architecture == 90 and name in DESIGNED:
        assert measured["alu_a_cell"] <= DESIGNED[name]


def test_products_of_int16_take_half_an_instruction_per_sum():
    """Of those that compare, most of which add as well (DPX): a word is two numbers of C."""
    cubin, words = compile_tropical("product of integers", 90)
    body = inner_loop(instructions(cubin, "product"))
    assert sum("MNMX" in name for name in body) <= 0.5 * 2 * words
    assert sum("VIADDMNMX.S16x2" in name for name in body) > 0.3 * words
