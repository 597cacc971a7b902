"""bench/msa.py: pages by whole runs only, and its own figures against what they are defined by; no speed here."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from bench_scripts import is_untouched, loaded, with_own_page


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """bench/msa.py over a folder with one small family, and a page of its own."""
    msa = loaded(monkeypatch, "msa", "msa_families", "msa_report", "absent", "tables")
    import msa_families

    monkeypatch.setattr(msa_families, "SIMULATED", ((3, 40, 1),))
    msa_families.simulate(tmp_path)
    monkeypatch.setattr(msa, "ALL_MODES", msa.MODES, raising=False)
    monkeypatch.setattr(msa, "MODES", {"tropalign": msa.MODES["tropalign"]})
    return with_own_page(monkeypatch, msa, tmp_path)


def test_a_run_with_every_peer_writes_the_page(bench, monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "PEERS", {"copy": ["cat", str(tmp_path / "simulated" / "ref" / "family0.fa")]})
    assert bench.run_main("--families", str(tmp_path)) == 0
    page = bench.PAGE.read_text()
    (row,) = [line for line in page.splitlines() if line.startswith("| copy ") and "/ " not in line]
    assert row.split()[3:8:2] == ["100.00", "100.00", "100.0"]
    assert "tropalign against" in page and "| tropalign " in page
    head, _, own, copy = cells_of(page)[:4]
    rates = [k for k, name in enumerate(head) if name.startswith("Mcells/s, ")]
    assert [head[k].split(", ")[1] for k in rates] == bench.measured_isas()
    assert all(float(own[k]) >= 0 and copy[k] == "-" for k in rates)


def test_clustalw_is_measured_by_both_of_its_rules(bench, monkeypatch, tmp_path):
    tools = ["tropalign", "tropalign, clustalw", "tropalign, clustalw --compat"]
    monkeypatch.setattr(bench, "MODES", {tool: bench.ALL_MODES[tool] for tool in tools})
    monkeypatch.setattr(bench, "PEERS", {"copy": ["cat", str(tmp_path / "simulated" / "ref" / "family0.fa")]})
    monkeypatch.setattr(bench.os, "sched_getaffinity", lambda pid: {0, 1})
    assert bench.run_main("--families", str(tmp_path), "--brief") == 0
    assert "; 2 commands at a time, each on a core of its own." in " ".join(bench.PAGE.read_text().split())
    accuracy, stages = (cells_of(part) for part in bench.PAGE.read_text().split("## Stages"))
    assert set(tools) <= {row[0] for row in accuracy}
    head, *rows = stages
    columns = [head.index(name) for name in ("distances", "tree", "alignment")]
    for tool in tools[1:]:
        (row,) = [row for row in rows if row[0] == tool]
        assert sum(int(row[column].removesuffix(" %")) for column in columns) > 0


def cells_of(part: str) -> list[list[str]]:
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in part.splitlines() if line.startswith("|")]


def test_a_modes_command_and_call_make_one_alignment_and_each_mode_another(bench, tmp_path):
    given = Path(__file__).parent / "data" / "clustalw" / "proteins.fasta"
    found = set()
    for mode in bench.ALL_MODES.values():
        words = [word.replace("{in}", str(given)).replace("{out}", str(tmp_path / "out.fa")) for word in bench.OURS]
        subprocess.run([*words, *mode.words], check=True)
        mode.align(given, n_threads=1, device="cpu").write(tmp_path / "call.fa")
        assert (tmp_path / "out.fa").read_bytes() == (tmp_path / "call.fa").read_bytes()
        found.add((tmp_path / "out.fa").read_bytes())
    assert len(found) == len(bench.ALL_MODES) == 5


def test_without_folder_the_page_stays(bench, capsys):
    assert bench.run_main("--quick") == 0
    assert is_untouched(bench)
    assert "msa.md stays as it is: no --families" in capsys.readouterr().out


def test_peers_without_figures(bench, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench, "PEERS", {"Nothing 2": ["there-is-no-such-program", "{in}"]})
    assert bench.run_main("--families", str(tmp_path)) == 0
    page = bench.PAGE.read_text()
    assert "since they were not installed: Nothing 2.\n" in page and "| Nothing" not in page
    monkeypatch.setattr(bench, "PEERS", {"other": ["echo", ">s0\nMKV"]})
    assert bench.run_main("--families", str(tmp_path)) == 0
    assert "| other" not in bench.PAGE.read_text().split("##")[0]
    assert "exit status 0, family0.fa: " in capsys.readouterr().err


def test_a_folder_without_families(bench, tmp_path):
    (tmp_path / "empty").mkdir()
    assert bench.run_main("--families", str(tmp_path / "empty")) == 3


def test_simulated_references_are_alignments_of_their_families(bench, tmp_path):
    from msa_families import families_of

    (family,) = families_of(tmp_path, 1e9)
    rows = {r.split("\n")[0]: r.split("\n")[1] for r in family.reference.read_text().split(">")[1:]}
    texts = {r.split("\n")[0]: r.split("\n")[1] for r in family.path.read_text().split(">")[1:]}
    assert {name: row.replace("-", "").upper() for name, row in rows.items()} == texts
    lengths = [len(text) for text in texts.values()]
    assert family.cells == lengths[0] * lengths[1] + (lengths[0] + lengths[1]) * lengths[2]
    for column in zip(*rows.values(), strict=True):
        assert all(letter.isupper() for letter in column) or not any(letter.isupper() for letter in column)


def test_signed_ranks(bench):
    from msa_report import signed_rank

    # Wilcoxon 1945: of 16 pairs the ranks of the negative differences sum to 24.
    values = np.array([6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 70, 75.0])
    n, smaller = 16, 10 + 14
    mean, variance = n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24
    from statistics import NormalDist

    expected = 2 * NormalDist().cdf((smaller + 0.5 - mean) / variance**0.5)
    assert signed_rank(values) == pytest.approx(expected)
    assert signed_rank(np.append(values, 0)) == pytest.approx(expected)
    assert signed_rank(np.zeros(3)) == 1
    assert signed_rank(np.array([1, 1, -1, -1.0])) == 1
