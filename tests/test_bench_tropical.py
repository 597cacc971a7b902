"""bench/tropical.py: what is not there is said, a page is written by a whole run only; no speed here."""

import pytest
from bench_scripts import is_untouched, loaded, with_own_page


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """bench/tropical.py with a page of its own."""
    tropical = loaded(monkeypatch, "tropical", "tropical_cases", "tropical_peers", "msa_families", "absent", "tables")
    monkeypatch.setattr(tropical, "PROGRAMS", {})
    monkeypatch.setattr(tropical, "LEAST_SECONDS", 0.001)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return with_own_page(monkeypatch, tropical, tmp_path)


def test_a_part_writes_no_page_but_to_output(bench, tmp_path, capsys):
    assert bench.run_main("--quick", "products", "--output", str(tmp_path / "out.md")) == 0
    assert is_untouched(bench)
    page = (tmp_path / "out.md").read_text()
    assert "## Min-plus products" in page and "tropical-gemm" in page
    assert page in capsys.readouterr().out


@pytest.mark.parametrize("group", ["products", "paths", "hmm", "polyadic", "trees", "clustalw"])
def test_without_any_peer_there_are_figures_and_the_names_of_all(bench, monkeypatch, tmp_path, group):
    import tropical_cases

    gone = {**bench.MODULES, "quicktree": "", "rapidnj": "", "clustalo": "", "clustalw": ""}
    monkeypatch.setattr(tropical_cases, "imported", lambda name: None)
    monkeypatch.setattr(bench, "absent", lambda programs, modules: sorted(gone))
    monkeypatch.setattr(bench, "measured_isas", lambda: ["v2"])
    assert bench.run_main("--quick", group, "--output", str(tmp_path / "out.md")) == 0
    page = (tmp_path / "out.md").read_text()
    assert "not installed: clustalo; clustalw; hmmlearn; igraph; numba; quicktree; rapidnj;" in " ".join(page.split())
    rows = [[cell.strip() for cell in line.split("|")] for line in page.splitlines() if line.startswith("| ")][1:]
    assert rows and all("**" in row[2] and row[-3] == ("-" if group != "clustalw" else row[-3]) for row in rows)


def test_figures_are_in_the_unit_of_their_case(bench):
    from tropical_cases import Case

    assert bench.in_unit(Case("", "G/s", 0, print, {}, 4e9), 2.0) == 2
    assert bench.in_unit(Case("", "ns", 0, print, {}, 4e9), 2.0) == 0.5
    assert bench.in_unit(Case("", "s", 0, print, {}), 2.0) == 2
