"""A new scoring mode, linkage or order of a semiring is taken for another one nowhere: it does not compile there."""

import re
import shutil
import subprocess
from dataclasses import dataclass

import pytest
from clone import ROOT, skip_without

skip_without("native")
NATIVE = ROOT / "native"


@dataclass(frozen=True)
class Choice:
    """An enumeration: where it is declared, what its values are called, and sources that all depend on it.

    `sources` maps a source to the file in which the compiler misses a new value.
    """

    header: str
    name: str
    variables: str
    folders: tuple[str, ...]
    sources: dict[str, str]

    def values(self):
        """Names of the values, in order."""
        inside = re.search(rf"enum class {self.name}(?: : \w+)? \{{(.+?)\}}", (NATIVE / self.header).read_text())[1]
        return re.findall(r"(\w+)(?: = \d+)?", re.sub(r"= \d+", "", inside))


CHOICES = {
    "Mode": Choice(
        "pairwise/scoring.hpp", "Mode", "mode", ("pairwise", "bindings"),
        {
            "pairwise/kernels_int16.cpp": "unit_run.hpp",
            "pairwise/kernels_groups.cpp": "group_run.hpp",
            "pairwise/kernels_long.cpp": "kernels_long.cpp",
            "pairwise/kernels_short.cpp": "kernels_short.cpp",
            "pairwise/kernels_similar.cpp": "kernels_similar.cpp",
            "pairwise/band_trials.cpp": "band_trials.cpp",
            "pairwise/kernels_pieces.cpp": "kernels_pieces.cpp",
        },
    ),
    "Linkage": Choice("trees/upgma.hpp", "Linkage", "linkage", ("trees",), {"trees/upgma.cpp": "upgma.cpp"}),
    "Order": Choice(
        "tropical/product.hpp", "Order", "order", ("semirings",),
        {
            "tropical/kernels_product.cpp": "product.hpp",
            "tropical/kernels_triangular.cpp": "product.hpp",
            "tropical/closure.cpp": "product.hpp",
        },
    ),
}  # fmt: skip
ELSEWHERE = sorted(path for path in NATIVE.glob("*/*.[ch]pp") if path.parent.name != "simd")
#: How templates ask: they say first which values they have.
ASKED = re.compile(
    r"static_assert\((\w+) == (\w+)::\w+ \|\| \1 == \2::\w+\);\s+"
    r"(?:(?:static )?constexpr bool kLocal =|return|if constexpr \() ?\1 == \2::\w+"
)


def files_of(choice):
    return sorted(path for folder in choice.folders for path in (NATIVE / folder).glob("*.[ch]pp"))


@pytest.mark.parametrize(
    ("choice", "path"),
    [(choice, path) for choice in CHOICES.values() for path in files_of(choice)],
    ids=lambda value: value.name,
)
def test_whatever_depends_on_a_choice_names_all_of_its_values(choice, path):
    text = ASKED.sub("", path.read_text())
    assert re.findall(rf".*[!=]= {choice.name}::.*|.*{choice.name}::\w+ [!=]=.*", text) == []
    switch = rf"^( *)switch \((?:\w+\.)?{choice.variables}\) \{{\n(.+?)^\1\}}$"
    switches = re.findall(switch, text, re.MULTILINE | re.DOTALL)
    assert len(switches) == len(re.findall(rf"switch \([^)]*\b{choice.variables}\)", text))
    for _, cases in switches:
        assert re.findall(rf"case {choice.name}::(\w+):", cases) == choice.values() and "default:" not in cases


@pytest.fixture(scope="module", params=CHOICES)
def with_another(request, tmp_path_factory):
    """A choice, and the sources with another value of it that nobody knows."""
    choice = CHOICES[request.param]
    folder = tmp_path_factory.mktemp(request.param) / "native"
    shutil.copytree(NATIVE, folder)
    header = folder / choice.header
    text = header.read_text()
    made = re.sub(rf"(enum class {choice.name}\b[^}}]*?) \}}", r"\1, another }", text)
    assert made != text
    header.write_text(made)
    return choice, folder


def together(sources):
    """Sources that miss a value in files of their own are compiled at once: most of the time goes to their headers."""
    groups = []
    for source, place in sources.items():
        group = next((group for group in groups if place not in group.values()), None)
        if group is None:
            groups.append(group := {})
        group[source] = place
    return groups


def test_another_value_compiles_nowhere(with_another):
    choice, folder = with_another
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    isas = ["-DTROPALIGN_ISA=generic", "-DTROPALIGN_ISAS(X,...)=", "-DTROPALIGN_ISAS_WITHOUT_LOOKUPS(X,...)="]
    command = ["g++", "-std=gnu++20", "-fsyntax-only", "-Werror=switch", *isas]
    for sources in together(choice.sources):
        included = "".join(f'#include "{folder / source}"\n' for source in sources)
        done = subprocess.run([*command, "-xc++", "-"], input=included, capture_output=True, text=True)
        assert done.returncode == 1, sources
        for place in sources.values():
            assert re.search(
                rf"/{place}:\d+:\d+: error: enumeration value .another. not handled in switch", done.stderr
            )


def test_the_build_refuses_a_switch_that_leaves_a_value_out():
    assert "-Werror=switch" in (ROOT / "CMakeLists.txt").read_text()


@pytest.mark.parametrize("path", ELSEWHERE, ids=str)
def test_only_simd_asks_for_instruction_sets(path):
    """Kernels choose by constants and operations of native/simd."""
    asked = r"^ *# *(?:el)?if.*(?:__AVX|__SSE|__ARM_NEON|__aarch64|__x86_64|__FMA|__BMI).*"
    assert re.findall(asked, path.read_text(), re.MULTILINE) == []
