"""bench/tropical.py: what is not there is said, a page is written by a whole run only; no speed here."""

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent / "bench"
if not BENCH.is_dir():
    pytest.skip("the benchmarks are not beside the tests", allow_module_level=True)
PEERS = ("scipy", "igraph", "numba", "tropical_gemm", "hmmlearn")


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """bench/tropical.py with a page of its own."""
    for name in PEERS:
        pytest.importorskip(name)
    monkeypatch.syspath_prepend(BENCH)
    for name in ("tropical", "tropical_cases", "tropical_peers", "msa_families", "tables"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import tropical

    monkeypatch.setattr(tropical, "PAGE", tmp_path / "tropical.md")
    monkeypatch.setattr(tropical, "PROGRAMS", ())
    monkeypatch.setattr(tropical, "LEAST_SECONDS", 0.001)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    tropical.PAGE.write_text("as before\n")

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["tropical.py", *arguments])
        return tropical.main()

    tropical.run = run
    return tropical


def test_a_part_writes_no_page_but_to_output(bench, tmp_path, capsys):
    assert bench.run("--quick", "products", "--output", str(tmp_path / "out.md")) == 0
    assert bench.PAGE.read_text() == "as before\n"
    page = (tmp_path / "out.md").read_text()
    assert "## Min-plus products" in page and "tropical-gemm" in page
    assert page in capsys.readouterr().out


def test_missing_peers_are_named(bench, monkeypatch, capsys):
    monkeypatch.setattr(bench, "PROGRAMS", ("no-such-program",))
    assert bench.run() == 3
    assert "no-such-program" in capsys.readouterr().err
    assert bench.PAGE.read_text() == "as before\n"


def test_figures_are_in_the_unit_of_their_case(bench):
    from tropical_cases import Case

    assert bench.in_unit(Case("", "G/s", 0, print, {}, 4e9), 2.0) == 2
    assert bench.in_unit(Case("", "ns", 0, print, {}, 4e9), 2.0) == 0.5
    assert bench.in_unit(Case("", "s", 0, print, {}), 2.0) == 2
