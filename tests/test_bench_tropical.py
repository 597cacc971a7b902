"""bench/tropical.py: what is not there is said, a page is written by a whole run only; no speed here."""

import pytest
from bench_scripts import is_untouched, loaded, with_own_page

PEERS = ("scipy", "igraph", "numba", "tropical_gemm", "hmmlearn")


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """bench/tropical.py with a page of its own."""
    for name in PEERS:
        pytest.importorskip(name)
    tropical = loaded(monkeypatch, "tropical", "tropical_cases", "tropical_peers", "msa_families", "tables")
    monkeypatch.setattr(tropical, "PROGRAMS", ())
    monkeypatch.setattr(tropical, "LEAST_SECONDS", 0.001)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return with_own_page(monkeypatch, tropical, tmp_path)


def test_a_part_writes_no_page_but_to_output(bench, tmp_path, capsys):
    assert bench.run_main("--quick", "products", "--output", str(tmp_path / "out.md")) == 0
    assert is_untouched(bench)
    page = (tmp_path / "out.md").read_text()
    assert "## Min-plus products" in page and "tropical-gemm" in page
    assert page in capsys.readouterr().out


def test_missing_peers_are_named(bench, monkeypatch, capsys):
    monkeypatch.setattr(bench, "PROGRAMS", ("no-such-program",))
    assert bench.run_main() == 3
    assert "no-such-program" in capsys.readouterr().err
    assert is_untouched(bench)


def test_figures_are_in_the_unit_of_their_case(bench):
    from tropical_cases import Case

    assert bench.in_unit(Case("", "G/s", 0, print, {}, 4e9), 2.0) == 2
    assert bench.in_unit(Case("", "ns", 0, print, {}, 4e9), 2.0) == 0.5
    assert bench.in_unit(Case("", "s", 0, print, {}), 2.0) == 2
