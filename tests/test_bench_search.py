"""bench/search.py: pages by whole runs only, agreement that can fail, and its own steps; no speed here."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench_scripts import ROOT, is_untouched, loaded, with_own_page

import tropalign
from tropalign.sequences import read_sequences

MODEL, PROTEINS = ROOT / "examples" / "efp.hmm", ROOT / "examples" / "efp.fasta"

#: hmmsearch for machines without it: its version, and tables and text as tropalign writes them, after a change by sed.
STAND_IN = """#!/bin/sh
if [ "$1" = -h ]; then echo "# HMMER {version} (Aug 2023)"; exit; fi
shift 2
"{python}" -m tropalign.cli.main search -q "$@" || exit
while [ $# -gt 2 ]; do
    if [ "$1" = --tblout ]; then sed -i '{change}' "$2"; fi
    shift
done
"""


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """bench/search.py with pages of its own, each tool once, and a folder of data with one model."""
    names = "search search_sets search_stages search_report search_identity absent tables"
    search = with_own_page(monkeypatch, loaded(monkeypatch, *names.split()), tmp_path, "search")
    import search_sets

    monkeypatch.setattr(search, "N_ROUNDS", 1)
    monkeypatch.setattr(search_sets, "N_LARGE", 50)
    data = tmp_path / "data"
    data.mkdir()
    for name, source in (("models.hmm", MODEL), ("library.hmm", MODEL), ("proteins.fa", PROTEINS)):
        (data / name).write_text(source.read_text().replace("NAME  EFP", "NAME  globins4"))
    (data / "proteome.fa").write_text(PROTEINS.read_text())

    def stand_in(change: str = "", version: str = "3.4") -> Path:
        folder = tmp_path / "programs"
        folder.mkdir(exist_ok=True)
        program = folder / "hmmsearch"
        program.write_text(STAND_IN.format(version=version, python=sys.executable, change=change))
        program.chmod(0o755)
        return folder

    search.stand_in, search.data = stand_in, data
    return search


def test_a_whole_run_writes_the_pages(bench, monkeypatch):
    monkeypatch.setattr(bench, "stages", lambda *_: [])
    monkeypatch.setattr(bench, "families", lambda *_: ([], None))
    assert bench.run_main("--data", str(bench.data), "--hmmer", str(bench.stand_in(version="3.3.2"))) == 0
    page = bench.PAGE.read_text()
    named = " ".join(page.split()).split("since they were not installed: ")[1]
    assert "single stages of HMMER (--hmmer-source); HMMER 3.4 (beside 3.3.2 instead). " in named
    rows = [line.split("|") for line in page.split("## Memory")[0].splitlines() if line.startswith("| ")][1:]
    assert [(row[1].strip(), row[2].strip(), row[-2].strip()) for row in rows] == [
        ("globins4, few hits", "37", "0"),
        ("1 models, a proteome", "37", "0"),
    ]
    assert "| globins4, few hits" in bench.OVERVIEW.read_text() and "as before" not in bench.OVERVIEW.read_text()


@pytest.mark.parametrize("arguments", [(), ("--quick",)])
def test_a_part_writes_no_page(bench, capsys, arguments):
    assert bench.run_main("--hmmer", str(bench.stand_in()), *arguments) == 0
    assert is_untouched(bench)
    assert "search.md stays as it is: only a part was measured (no --data)" in capsys.readouterr().out


def test_hits_that_differ_are_counted(bench, capsys):
    change = r"/^tr.H8KCP7/s/ 274\.[0-9]/ 275.0/"
    assert bench.run_main("--quick", "--hmmer", str(bench.stand_in(change))) == 1
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| EFP, examples"))
    assert int(row.split("|")[-2]) == 2  # one field, beside both of tropalign's files


def test_without_hmmsearch_or_models(bench, tmp_path, capsys):
    assert bench.run_main("--hmmer", str(tmp_path)) == 3
    assert bench.run_main("--hmmer", str(bench.stand_in()), "--data", str(tmp_path)) == 3
    assert capsys.readouterr().err == f"hmmsearch is not installed\n{tmp_path} has no models.hmm\n"
    assert is_untouched(bench)


def test_commands_of_a_run(bench, capfd):
    with pytest.raises(subprocess.CalledProcessError):
        bench.run([sys.executable, "-c", "raise SystemExit('what went wrong')"])
    assert "what went wrong" in capfd.readouterr().err
    held = np.ones(200_000_000, np.uint8)
    assert bench.run(["true"]).megabytes < 100 < held.nbytes / 1e6
    assert bench.plain("sp|P12345|NAME_ECOLI") == "P12345" and bench.plain("family.1") == "family.1"


def test_sets_of_sequences_and_models(bench, tmp_path):
    import search_sets

    both = list(search_sets.records(bench.data / "proteins.fa"))  # proteome.fa has the same
    search_sets.N_LARGE = len(both) + 5
    texts = list(search_sets.records(search_sets.make_large(bench.data, tmp_path / "large.fa")))
    assert texts[: len(both)] == both and len(texts) == len(both) + 5
    for (name, text), (source, letters) in zip(texts[len(both) :], both, strict=False):
        assert name == f"{source}_shuffled1" and sorted(text) == sorted(letters) and text != letters

    search_sets.JOINED = 10_000
    batch = read_sequences(search_sets.joined(PROTEINS, 3, tmp_path / "joined.fa"))
    text = "".join(letters for _, letters in search_sets.records(PROTEINS))
    assert [len(one) for one in batch] == [10_000] * 3
    assert "".join(map(str, batch)) == (text * 9)[:30_000]

    assert search_sets.models_of(MODEL) == {"EFP": MODEL.read_text()}


def test_stages_give_the_scores_that_they_time(bench, tmp_path, monkeypatch):
    import search_stages

    monkeypatch.setattr(search_stages, "SECONDS", 0)
    monkeypatch.setattr(search_stages, "N_ROUNDS", 1)
    monkeypatch.setattr(search_stages, "STAGES", dict.fromkeys(search_stages.STAGES, (("EFP",), "-")))
    jobs = search_stages.make_jobs(MODEL, PROTEINS, tmp_path)
    rows = search_stages.run_jobs(jobs, ["v2"], None, tmp_path)
    assert [row.stage for row in rows] == list(search_stages.STAGES)
    assert {row.n_nodes for row in rows} == {188} and all(row.seconds["v2"] > 0 for row in rows)
    hits = tropalign.search(MODEL, PROTEINS, device="cpu")
    nats = np.add.reduceat(hits.domain_envelope_nats, hits.domain_offsets[:-1])
    sums = np.fromfile(jobs[-1].scores, np.float32)
    expected = nats[np.argsort(hits.target)]
    assert len(sums) == len(expected) and np.allclose(sums, expected, rtol=1e-6)
    (tmp_path / "domains.EFP.hmmer").write_bytes((sums + np.float32([1, *[0] * (len(sums) - 1)])).tobytes())
    assert search_stages._different(jobs[-1]) == 1
