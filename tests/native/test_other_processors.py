"""Every family of kernels as other processors compute it: the same bytes as on this processor's instruction sets.

NEON is cross-compiled and runs in a Python for arm64 under an emulator; plain C++ runs here; a processor without AVX is
emulated. tests/other_processors has the families and what it takes to run them elsewhere.
"""

import platform

import pytest
from clone import skip_without
from other_processors.builds import built_here, families_here, families_on_arm, families_with, tool
from other_processors.families import FAMILIES

from tropalign import _native

skip_without("native", "CMakeLists.txt", "src")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(platform.system() != "Linux", reason="programs of other processors run on Linux only"),
]
needs_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="for a machine of x86-64")
#: Where a sum of products is rounded twice (fma in native/simd/real.hpp).
ROUNDED_TWICE = ("v2", "generic")
ISAS = _native.supported_isas()


def parts_of(printed):
    """The instruction set, and digests by family and part."""
    (_, isa), *lines = [line.split("\t") for line in printed.splitlines()]
    return isa, {(name, part): found for name, part, found in lines}


@pytest.fixture(scope="module")
def parts_here():
    return dict(parts_of(families_here(isa)) for isa in ISAS)


def assert_same(isa, parts, wanted, of):
    names = {name for name, _ in parts}
    assert names and parts.keys() == {key for key in wanted if key[0] in names}
    if (isa in ROUNDED_TWICE) != (of in ROUNDED_TWICE):
        names = {name for name in names if not FAMILIES[name].is_fused}
    different = [f"{name}: {part}" for (name, part), found in parts.items() if found != wanted[name, part]]
    different = [line for line in different if line.split(": ")[0] in names]
    assert not different, f"{isa} differs from {of} in\n" + "\n".join(different)


def assert_all_same(isa, parts, others):
    """As one of the others that rounds as often, if there is any, and as the best of them."""
    as_often = [other for other in others if (other in ROUNDED_TWICE) == (isa in ROUNDED_TWICE)]
    for other in {*as_often[:1], *list(others)[:1]}:
        assert_same(isa, parts, others[other], other)


@pytest.mark.parametrize("isa", ISAS)
def test_instruction_sets_of_this_processor(isa, parts_here):
    others = {other: parts for other, parts in parts_here.items() if other != isa}
    assert_all_same(isa, parts_here[isa], others or parts_here)


@needs_x86
def test_neon(parts_here):
    isa, parts = parts_of(families_on_arm())
    assert isa == "neon"
    assert_all_same(isa, parts, parts_here)


def test_plain_loops(parts_here):
    isa, parts = parts_of(families_with(built_here("generic", "generic")))
    assert isa == "generic"
    assert_all_same(isa, parts, parts_here)


@needs_x86
def test_a_processor_without_avx(parts_here):
    """The tropalign that is tested has better kernels, too, and must not run a single instruction of these."""
    if len(ISAS) < 2:
        pytest.skip("the tropalign that is tested has kernels of v2 only")
    emulator = (tool("qemu-x86_64"), "-cpu", "Nehalem")
    isa, parts = parts_of(families_here("", emulator=emulator))
    assert isa == "v2"
    assert_same(isa, parts, parts_here["v2"], "v2")
