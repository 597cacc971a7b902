"""A new mode of scoring is computed by no engine as if it were another one: it does not compile before it is there."""

import re
import shutil
import subprocess

import pytest
from clone import ROOT, skip_without

skip_without("native")
SOURCES = sorted(path for folder in ("pairwise", "bindings") for path in (ROOT / "native" / folder).glob("*.[ch]pp"))
#: The file of each engine, the source that compiles it or chooses it, and which of the two has the modes.
ENGINES = {
    "UnitRun": ("unit_run.hpp", "kernels_int16.cpp", "unit_run.hpp"),
    "GroupRun": ("group_run.hpp", "kernels_groups.cpp", "group_run.hpp"),
    "LongPair": ("long_pair.hpp", "kernels_long.cpp", "kernels_long.cpp"),
    "ShortPair": ("short_pair.hpp", "kernels_short.cpp", "kernels_short.cpp"),
    "SimilarPair": ("similar_pair.hpp", "kernels_similar.cpp", "kernels_similar.cpp"),
    "BandPair": ("band_pair.hpp", "band_trials.cpp", "band_trials.cpp"),
    "PiecePair": ("piece_pair.hpp", "kernels_pieces.cpp", "kernels_pieces.cpp"),
}
#: How a template for a mode asks: it says first which ones it has.
ASKED = re.compile(
    r"static_assert\(M == Mode::local \|\| M == Mode::global\);\s+(?:static )?constexpr bool kLocal = M == Mode::local;"
)
SWITCH = re.compile(r"^( *)switch \((?:\w+\.)?mode\) \{\n(.+?)^\1\}$", re.MULTILINE | re.DOTALL)


def modes():
    text = (ROOT / "native" / "pairwise" / "scoring.hpp").read_text()
    return re.findall(r"(\w+) = \d+", re.search(r"enum class Mode : int \{(.+?)\}", text)[1])


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_whatever_depends_on_the_mode_names_all_of_them(path):
    text = ASKED.sub("", path.read_text())
    assert re.findall(r".*[!=]= Mode::.*|.*Mode::\w+ [!=]=.*", text) == []
    switches = SWITCH.findall(text)
    assert len(switches) == len(re.findall(r"switch \([^)]*mode\)", text))
    for _, cases in switches:
        assert re.findall(r"case Mode::(\w+):", cases) == modes() and "default:" not in cases


@pytest.fixture(scope="module")
def with_another(tmp_path_factory):
    """The sources with a third mode that nobody knows."""
    folder = tmp_path_factory.mktemp("modes") / "native"
    shutil.copytree(ROOT / "native", folder)
    scoring = folder / "pairwise" / "scoring.hpp"
    scoring.write_text(scoring.read_text().replace("global = 1 }", "global = 1, another = 2 }"))
    return folder


@pytest.mark.parametrize("engine", ENGINES)
def test_another_mode_compiles_in_no_engine(engine, with_another):
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    home, source, place = ENGINES[engine]
    assert re.search(rf"class {engine}\b", (with_another / "pairwise" / home).read_text())
    isas = ["-DTROPALIGN_ISA=generic", "-DTROPALIGN_ISAS(X,...)="]
    command = ["g++", "-std=gnu++20", "-fsyntax-only", "-Werror=switch", *isas]
    done = subprocess.run([*command, with_another / "pairwise" / source], capture_output=True, text=True)
    assert done.returncode == 1
    assert re.search(rf"{place}:\d+:\d+: error: enumeration value .another. not handled in switch", done.stderr)


def test_the_build_refuses_a_switch_that_leaves_a_mode_out():
    assert "-Werror=switch" in (ROOT / "CMakeLists.txt").read_text()
