"""bench/instructions.py finds the loops of kernels in assembly, and counts what an iteration takes."""

import shutil
import subprocess

import pytest
from bench_scripts import loaded, with_own_page

#: A loop whose branch inside is rarely taken, beside one without vectors.
SOURCE = """
typedef signed char V __attribute__((vector_size(16)));
void rare(V *);
V sweep(const V *a, const V *b, int n, V best) {
    for (int i = 0; i < n; ++i) {
        V x = a[i] + b[i];
        x = x > best ? x : best;
        if (__builtin_expect(i == 77, 0)) rare(&x);
        best = x - b[2 * i];
    }
    return best;
}
int others(const char *a, int n) {
    int sum = 0;
    for (int i = 0; i < n && a[i]; ++i) sum = sum * 31 + a[i];
    return sum;
}
"""


@pytest.fixture
def script(monkeypatch, tmp_path):
    return with_own_page(monkeypatch, loaded(monkeypatch, "instructions", "tables"), tmp_path)


@pytest.mark.parametrize("isa", ["v3", "neon"])
def test_an_iteration_is_the_shortest_way_through_the_loop(script, tmp_path, isa):
    compiler = script.TOOLS[isa][0]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    (tmp_path / "loop.cpp").write_text(SOURCE)
    flags = ["-O2", *(["-mavx2"] if isa == "v3" else [])]
    subprocess.run([compiler, *flags, "-c", tmp_path / "loop.cpp", "-o", tmp_path / "loop.o"], check=True)
    found = dict(script.functions(tmp_path / "loop.o", isa))
    (name,) = (name for name in found if name.startswith("sweep"))
    ways = [way for way in script.iterations(found[name]) if sum(map(script.on_vectors, way)) >= 3]
    shortest = min(ways, key=len)  # a sum, a maximum, a difference, loads; the call is on another way back
    assert len(shortest) < 16 and all(one.name not in ("call", "bl") for one in shortest)
    assert not any(map(script.on_vectors, found["others(char const*, int)"]))
    kernel = script.Kernel("a loop", "loop", "sweep", 1, 3)
    assert script.count(kernel, isa, tmp_path / "loop.o") == len(shortest)
    with pytest.raises(LookupError, match="has no loop of sweep"):
        script.count(kernel._replace(bound=90), isa, tmp_path / "loop.o")


@pytest.mark.long
def test_every_kernel_has_its_loop_on_arm(script, tmp_path):
    if shutil.which(script.TOOLS["neon"][0]) is None:
        pytest.skip("no compiler for arm64")
    assert script.run_main("--isas", "neon", "--output", str(tmp_path / "page")) == 0
    assert (tmp_path / "page").read_text().count("\n| pairs: ") == 6
