"""Sources of a folder are compiled a dozen at a time: a constant of one file must not stand for another's."""

import re
from collections import Counter

import pytest
from clone import ROOT, skip_without

skip_without("native")
NATIVE = ROOT / "native"
CONSTANT = re.compile(
    r"^(?:inline |static )*const(?:expr|init)? [^;={(]*?\b(k[A-Z]\w*)(?:\[[^]]*\])*\s*[={]", re.MULTILINE
)


def constants_of(path):
    return set(CONSTANT.findall(path.read_text()))


def is_compiled_alone(path):
    """Kernels are; headers of an instruction set's namespace are theirs."""
    return path.name.startswith("kernels_") or "namespace tropalign::TROPALIGN_ISA" in path.read_text()


def headers_of(paths):
    found, rest = set(), list(paths)
    while rest:
        path = rest.pop()
        for name in re.findall(r'^#include "(.+)"', path.read_text(), re.MULTILINE):
            header = (path.parent / name).resolve()
            if header.is_file() and header not in found:
                found.add(header)
                rest.append(header)
    return found


@pytest.mark.parametrize("folder", sorted(path.name for path in NATIVE.iterdir() if any(path.glob("*.cpp"))))
def test_no_constant_of_a_source_hides_another(folder):
    """In an unnamed namespace a name hides, without a word, that of a header in every file that follows."""
    sources = [path for path in NATIVE.glob(f"{folder}/*.cpp") if not is_compiled_alone(path)]
    files = {*sources, *(path for path in headers_of(sources) if not is_compiled_alone(path))}
    known = Counter(name for path in files for name in constants_of(path))
    assert [name for name, times in known.items() if times > 1] == []
