"""The benchmarks run from a clone alone, and write pages only after a whole run that compared; no figures here."""

import argparse
import gzip
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench_scripts import BENCH, ROOT, is_untouched, loaded, with_own_page

import tropalign

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "benchmarks").glob("*.md"))]
PAIRS_MODULES = (
    "pairs absent extras users users_report loops commands bare machine peers report tables sets shares".split()
)
ISA = tropalign._native.selected_isa()


@pytest.fixture(autouse=True)
def pages_stay():
    """No benchmark that a test runs may change a page of the repository."""
    before = {page: page.read_bytes() for page in PAGES}
    yield
    changed = [page for page, content in before.items() if page.read_bytes() != content]
    for page in changed:
        page.write_bytes(before[page])
    assert not changed


@pytest.fixture
def pairs(monkeypatch, tmp_path):
    """bench/pairs.py reduced to one case of one set of three proteins, with pages of its own."""
    pairs = with_own_page(monkeypatch, loaded(monkeypatch, *PAIRS_MODULES), tmp_path, "speed")
    import sets

    with gzip.open(tmp_path / "few.fasta.gz", "wt") as file:
        file.write(">a\nMKVLAAGWHHE\n>b\nMKVLAGWHHE\n>c\nGWHHEMKVLAA\n")
    monkeypatch.setattr(sets, "FILES", {"257": "few.fasta.gz"})
    monkeypatch.setattr(pairs, "SETS", ("257",))
    monkeypatch.setattr(pairs, "CASES", ["local-score"])
    monkeypatch.setattr(pairs, "EXTRAS", {})
    monkeypatch.setattr(pairs, "measured_isas", lambda: [ISA])
    monkeypatch.setattr(pairs, "PEERS", {"parasail": None})
    run = pairs.run_main
    pairs.run = lambda *arguments: run("--data", str(tmp_path), *arguments)
    return pairs


def test_a_whole_run_of_pairs_writes_the_pages(pairs):
    assert pairs.run() == 0
    page = pairs.PAGE.read_text()
    assert "3 scores of peers were compared" in page and "All others are equal." in page
    assert "as before" not in page + pairs.OVERVIEW.read_text()
    assert f"| **tropalign, {ISA}** " in page
    assert "| parasail " in pairs.OVERVIEW.read_text()


@pytest.mark.parametrize(("arguments", "code"), [("--quick", 0), ("--peers=", 0), ("--peer-python={python}", 1)])
def test_a_part_of_pairs_writes_no_page(pairs, tmp_path, capsys, arguments, code):
    python = tmp_path / "python"  # without packages, such as the peer
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "$@"\n')
    python.chmod(0o755)
    assert pairs.run(arguments.format(python=python)) == code
    out = capsys.readouterr().out
    assert is_untouched(pairs) and ("stay as they are: only a part was measured" in out) == (code == 0)
    assert arguments == "--quick" or "All others are equal" not in out


def test_a_peer_that_lacks_scores_has_failed(pairs):
    answer = {"n_sequences": 3, "scores": [1, 2]}
    pairs.compare(answer, {"n_sequences": 4, "scores": [1, 2, 0, 3, 0, 0]}, "local")
    assert answer == {"n_sequences": 3, "failed": "2 scores of 3 sequences"}
    answer = {"n_sequences": 3, "scores": [1, 2, 4]}
    pairs.compare(answer, {"n_sequences": 4, "scores": [1, 2, 0, 3, 0, 0]}, "local")
    assert answer["compared"] == 3 and answer["different"] == 1


def test_a_peer_that_is_not_there_is_named_and_has_no_column(pairs, monkeypatch):
    monkeypatch.setattr(pairs, "PEERS", {"parasail": None, "stringzillas": None, "ssearch36": None})
    monkeypatch.setitem(pairs.MODULES, "stringzillas", "no_such_module")
    monkeypatch.setitem(pairs.PROGRAMS, "ssearch36", "no-such-program")
    assert pairs.run() == 0
    page = pairs.PAGE.read_text()
    assert "\n\nWithout figures here, since they were not installed: ssearch36; stringzillas.\n\n" in page
    assert "| parasail " in page and "| stringzillas" not in page + pairs.OVERVIEW.read_text()


def test_absent_peers_are_read_from_the_page_that_names_them(monkeypatch):
    absent = loaded(monkeypatch, "absent", "tables")
    names = [f"a program of a long name, {number}.{number}" for number in range(9)]
    programs = dict.fromkeys(names, "no-such-program") | {"shell": "sh"}
    assert absent.absent(programs, {"NumPy": "numpy", "beta": "no_such_module"}) == [*names, "beta"]
    page = "\n".join(["# Title", "", "text", "", *absent.paragraph(names), "| a | table. |", ""])
    assert absent.named_absent(page) == names
    assert absent.paragraph([]) == absent.named_absent("# Title\n\ntext.\n") == []


def test_pairs_without_data_writes_no_page(pairs, tmp_path, capsys):
    (tmp_path / "few.fasta.gz").unlink()
    assert pairs.run() == 3
    assert is_untouched(pairs)
    assert capsys.readouterr().err == f"the data are missing: {tmp_path / 'few.fasta.gz'}\n"


def test_every_set_is_in_the_clone(monkeypatch):
    sets = loaded(monkeypatch, "sets")
    assert sets.missing(list(sets.SETS)) == []
    assert len(sets.load("30-3000")) == 300 and len(sets.load("30-3000", n=1_000)) == 1_000
    assert min(map(len, sets.genes_16s(300))) > 1_000
    assert all(len(sets.load(name)) >= 60 for name in sets.SETS)
    mixed = [len(text) for text in sets.load("30-3000")]
    assert min(mixed) < 40 and max(mixed) > 2000


def test_lane_use_and_walk_share(pairs):
    sequences = ["MKVLAAGWHHEMKVLAAGWHHE", "MKVLAGWHHEMKVLGWHHE", "GWHHEMKVLAA"] * 20
    cases = ["local-score", "semiglobal-alignment"]
    timing = {"at_least": 0.0, "rounds": 1}
    out = pairs.run_tropalign({"set": "51", "sequences": sequences, "cases": cases, "wants_scores": True, **timing})
    assert all(out[case]["gcups"] > 0 and len(out[case]["scores"]) == 60 * 59 // 2 for case in cases)
    found = out["semiglobal-alignment"]
    assert 0 < found["lane_use"] <= 1 and 0 < found["walk_share"] < 1 and 0 < found["unit_share"] < 1


def test_similar_pairs_differ_as_they_should(pairs):
    from sets import similar_pairs

    table = tropalign.align_many(similar_pairs(20, 1_000, 5), mode="global")
    assert 0.94 < table.identity.mean() < 0.96
    assert similar_pairs(3, 100, 20) == similar_pairs(5, 100, 20)[:3]


OPTIONS = argparse.Namespace(
    at_least=0.001, rounds=1, quick=True, brief=False, peer_python=sys.executable, isas=[ISA], with_peers=True
)


def test_the_bare_recurrences_give_the_scores_of_a_plain_loop(pairs, tmp_path, monkeypatch):
    """Otherwise the program ends with 1."""
    from bare import HERE, bare

    if shutil.which("g++") is None:
        pytest.skip("no g++")
    found = bare(OPTIONS, tmp_path)[ISA]
    assert found.pop("bytes") in (16, 32, 64)
    assert set(found) == {f"{mode} {kind}" for mode in ("local", "global") for kind in ("score", "stored")}
    assert all(rate > 0 for rate in found.values())
    changed = tmp_path / "bench"
    changed.mkdir()
    (changed / "bare.cpp").write_text((HERE / "bare.cpp").read_text().replace("e = e - next;", "e = e - first;"))
    monkeypatch.setattr("bare.HERE", changed)
    assert bare(OPTIONS, tmp_path)[ISA]["failed"].startswith("local score: ")


def test_loops_of_all_aligners_have_one_score(pairs):
    from users import child

    for request in (["similar", 3, 100, 5], ["random", 3, 30]):
        own = child("tropalign", request, OPTIONS)
        assert own["seconds"] > 0 and len(own["scores"]) == 3
        for who in ("tropalign, one by one", "parasail", "biopython", *["pywfa"] * (request[0] == "similar")):
            answer = child(who, request, OPTIONS)
            if "missing" not in answer:
                assert answer["scores"] == own["scores"][: len(answer["scores"])] and answer["scores"], who


def test_ssearch36_is_asked_the_same_question(pairs, tmp_path, monkeypatch):
    import users

    monkeypatch.setattr(
        users, "random_proteins", lambda n, shortest, longest, seed=2: ["MKVLAAGWHHEMKVLAWW"] * min(n, 2)
    )
    if shutil.which("ssearch36") is None or not Path(users.tropalign()[0]).exists():
        pytest.skip("no ssearch36 or no tropalign command")
    rows = users.database(OPTIONS, tmp_path)
    assert [row["unit"] for row in rows] == ["s", "s"]
    assert all(row["peers"]["ssearch36"]["value"] > 0 and row["mb"] > 0 and "notes" not in row for row in rows)
    monkeypatch.setattr(users, "ssearch36", lambda *arguments: ({"ssearch36": {"value": 1.0}}, [5, 6]))
    assert users.database(OPTIONS, tmp_path)[0]["notes"][0].startswith(
        "ssearch36, 500,000 peptides of 20-60 residues: "
    )


def test_a_command_that_fails_and_the_memory_of_one_that_does_not(pairs, tmp_path):
    from commands import median_of, timed

    block = b"x" * 300_000_000  # of this process, not of the command
    run = timed([sys.executable, "-I", "-S", "-c", "x = b'x' * 50_000_000"], tmp_path)
    assert 50 < run["peak_mb"] < 200 and len(block) and run["processor_s"] > 0
    why = {"failed": "No such thing"}
    assert timed(["sh", "-c", "echo 'No such thing' >&2; exit 3"], tmp_path) == why
    assert median_of(["sh", "-c", "echo 'No such thing' >&2; exit 3"], tmp_path, 3) == why


def test_a_process_that_takes_too_long_is_ended(pairs, tmp_path, monkeypatch):
    import commands

    monkeypatch.setattr(commands, "PROCESSOR_LIMIT_S", 1)
    endless = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    assert commands.timed(endless, tmp_path) == commands.answer_of(endless, {}) == {"failed": commands.TOO_LONG}


def test_what_fails_beside_the_sets_is_a_row_of_the_page(pairs, monkeypatch):
    """Of two instruction sets; peers are measured with the first one alone."""
    with_peers = []

    def fails(options, scratch):
        raise KeyError("nothing there")

    def similar(options, scratch):
        with_peers.append((os.environ["TROPALIGN_ISA"], options.with_peers))
        value = float(len(with_peers))
        peers = {"slow": {"value": 8.0}, "edlib": {"value": 1.0}, "tropalign, one by one": {"value": 1.5}}
        return [
            {"case": "fast", "value": 3 - value, "unit": "us", "goal": "3 us", "gcups": 5.0 * value,
             "bare": "local score", "peers": peers if options.with_peers else {}},
            {"case": "pruned", "value": 1.0, "unit": "us", "gcups": 80.0, "bare": "local score"},
        ]  # fmt: skip

    limits = {"local score": 50.0, "global score": 40.0, "local stored": 30.0, "global stored": 20.0, "bytes": 64}
    found = {"loops": fails, "similar": similar, "bare": lambda options, scratch: dict.fromkeys((ISA, "other"), limits)}
    monkeypatch.setattr(pairs, "EXTRAS", found)
    monkeypatch.setattr(pairs, "EXTRA_SETS", {name: [] for name in found})
    monkeypatch.setattr(pairs, "measured_isas", lambda: [ISA, "other"])
    assert pairs.run() == 0 and with_peers == [(ISA, True), ("other", False)]
    text = pairs.PAGE.read_text()
    assert "tropalign other, 257: failed" in text and f"| of the bare limit, {ISA} " in text
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    cells = {line[0]: line[1:] for line in lines if len(line) == 8}
    assert cells["fast"] == [
        "**2.0 us**", "**1.00 us**", "3 us", "slow 8.0 us, edlib 1.00 us (unit cost), tropalign, one by one 1.50 us",
        "4.0x / 8.0x", "10 % / 20 %", "else 90 %",
    ]  # fmt: skip
    assert cells["pruned"][5:] == ["160 % / 160 %", "cells that need not be computed"]
    assert cells["loops"] == ["failed", "", "", "", "", "", "KeyError: 'nothing there'"]


def test_a_row_says_where_the_rest_goes(pairs):
    from users_report import rest

    own = {"lane_use": 0.5, "unit_share": 0.9, "walk_share": 0.5}
    assert rest({"own": own}, 0.2) == ("cells of no pair 20 %, traceback 45 %, outside the kernels 10 %, else 5 %")
    assert rest({"shares": {"start": 0.25, "reading": 0.001}}, 0.5) == "start 25 %, else 25 %"


def test_the_overview_has_the_figures_of_the_page():
    """Both are written by one run: its table is the page's column of length 257."""
    page, overview = ((ROOT / "docs" / "benchmarks" / name).read_text() for name in ("pairs.md", "index.md"))
    begin = overview.index("<!-- speed")
    shown = rows_of(overview[begin : overview.index("<!-- /speed")].split("\n\n")[0])
    cases = [column.split(", ") for column in shown.pop("")]
    assert len(shown) > 3 and len(cases) == 6
    for k, (mode, report) in enumerate(cases):
        title = {"score": "## Scores alone", "CIGAR": "## Alignments"}[report]
        of_page = rows_of(page[page.index(f"| {mode} ", page.index(title)) :].split("\n\n")[0])
        at = of_page[mode].index("257")
        for who, figures in shown.items():
            assert figures[k] == (of_page[who][at] if who in of_page else "-"), (who, mode, report)


def test_the_readme_has_the_figures_of_the_pages(monkeypatch):
    """Its table is what bench/summary.py makes of the pages: run that after a benchmark."""
    monkeypatch.syspath_prepend(BENCH)
    from summary import summary
    from tables import fill

    readme = (ROOT / "README.md").read_text()
    assert fill(readme, summary(), "summary") == readme
    rows = rows_of("\n".join(summary()))
    assert {"`pairs`", "`cluster`", "`msa`", "`tree`", "`search`", "`place`", "`decode`", "`paths`"} <= set(rows)


def test_a_summary_of_a_page_without_a_row_says_which(monkeypatch, tmp_path):
    """But where the page says that the peer was not there."""
    summary = loaded(monkeypatch, "summary", "absent", "tables")
    monkeypatch.setattr(summary, "PAGES", tmp_path)
    (tmp_path / "place.md").write_text("| whole command | seconds |\n|---|---|\n| tropalign | 0.5 |\n")
    place = next(row for row in summary.ROWS if row.verb == "place")
    with pytest.raises(LookupError, match=r"place\.md has no figure of 'PaPaRa 2\.5' under 'seconds'"):
        place.cells()
    named = ["Without figures here, since they were not installed: PaPaRa 2.5.", ""]
    text = "\n".join([*named, "| whole command | seconds |", "|---|---|", "| tropalign | 0.5 |", ""])
    (tmp_path / "place.md").write_text(text)
    assert place.cells()[2:] == ["-", "**0.5 s**", "-"]
    (tmp_path / "place.md").write_text(
        "| whole command | seconds |\n|---|---|\n| tropalign | 0.5 |\n| PaPaRa 2.5 | 60 |\n"
    )
    assert place.cells()[2:] == ["-", "**0.5 s**", "PaPaRa 2.5 60 s"]
    (tmp_path / "place.md").write_text(
        "| whole command | seconds, v3 | seconds, v4 | seconds |\n|---|---|---|---|\n"
        "| tropalign | 0.7 | 0.5 | - |\n| PaPaRa 2.5 | - | - | 60 |\n"
    )
    assert place.cells()[2:] == ["**0.7 s**", "**0.5 s**", "PaPaRa 2.5 60 s"]
    (tmp_path / "place.md").write_text(
        "| whole command | seconds |\n|---|---|\n"
        "| tropalign, v3 | 0.7 |\n| tropalign, v4vbmi | 0.6 |\n| PaPaRa 2.5 | 60 |\n"
    )
    assert place.cells()[2:] == ["**0.7 s**", "**0.6 s**", "PaPaRa 2.5 60 s"]


def rows_of(table: str) -> dict[str, list[str]]:
    rows: dict[str, list[str]] = {}
    for line in table.splitlines():
        if line.startswith("| "):
            first, *others = [cell.strip() for cell in line.split("|")[1:-1]]
            rows.setdefault(first, others)
    return rows


def test_compare_of_a_version_with_itself():
    at = Path(tropalign.__file__).parent.parent
    words = [BENCH / "compare.py", at, at, "--quick", "--cases", "local alignment 51", "place pruned", "command place"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert "3 cases; results differ or are missing in: none" in done.stdout, done.stdout + done.stderr


def test_compare_tells_which_results_differ(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    from compare import line_of

    times = {"old": [1.0, 2.0, 1.0], "new": [1.5, 2.0, 2.0]}
    assert line_of("a case", {"seconds": times, "same": False}).split(None, 2)[2] == (
        "1000.0     2000.0    1.500  (1.000-2.000)  RESULTS DIFFER"
    )


def test_queue_overhead():
    arguments = ["--milliseconds", "0.1", "--tiles", "27"]
    done = subprocess.run([sys.executable, BENCH / "queue_overhead.py", *arguments], capture_output=True, text=True)
    assert done.stdout.count("tiles") == 4, done.stderr


@pytest.mark.parametrize("script", ["measure.py", "place.py"])
def test_gpu_without_a_card(script):
    done = subprocess.run(
        [sys.executable, BENCH / "gpu" / script, "--device", "cuda:99"], capture_output=True, text=True
    )
    assert done.returncode == 4 and done.stdout.startswith("nothing measured: ")


def test_gpu_measurements_on_the_host(monkeypatch):
    """The kernels on fibres instead of a card: small, but each step of measuring is there."""
    from gpu.host_device import HostDevice

    monkeypatch.syspath_prepend(BENCH / "gpu")
    monkeypatch.delitem(sys.modules, "measure", raising=False)
    import measure

    host = HostDevice()
    assert measure.check(host, 30) == []
    options = argparse.Namespace(pairs=40, tiles=1, seconds=0.0)
    row = measure.measure_case(host, measure.load("154"), "local", "alignment", "all-vs-all", options)
    assert row["pairs"] == 28 and set(row["kernel_seconds"]) == {"sweep", "finish", "gather"}

    spec = importlib.util.spec_from_file_location("gpu_place", BENCH / "gpu" / "place.py")
    place = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(place)
    few = argparse.Namespace(branches=64, columns=300, reads=4, checked=4)
    assert place.measure(host, 100, few)["differs"] == 0


def test_the_page_of_gpus_refuses_a_part_of_a_run(tmp_path):
    rows = [{"length": 257, "mode": "local", "report": "score", "how": "all-vs-all"}]
    (tmp_path / "part.json").write_text(json.dumps({"machine": {}, "checked_pairs": 20_000, "cases": rows}))
    done = subprocess.run(
        [sys.executable, BENCH / "gpu" / "page.py", tmp_path / "part.json"], capture_output=True, text=True
    )
    assert done.returncode == 3 and done.stderr.startswith("gpu.md stays as it is: ")


def test_a_quick_run_of_place_writes_no_page():
    done = subprocess.run([sys.executable, BENCH / "place.py", "--quick"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Best branch and score are PaPaRa 2.5's in 8 of 8 reads " in " ".join(done.stdout.split())
    rows = rows_of(done.stdout)
    isas = [head.removeprefix("seconds, ") for head in rows["whole command"] if head.startswith("seconds, ")]
    assert rows["scores alone, GCUPS"] == isas and isas and "PaPaRa 2.5" not in rows
    assert all(float(cell) > 0 for cell in rows["tropalign"][: len(isas)]) and rows["tropalign"][len(isas)] == "-"
    assert done.stdout.endswith("place.md stays as it is: only a part was measured\n")


def test_a_quick_run_of_clusters_has_a_column_per_instruction_set(monkeypatch, tmp_path, capsys):
    cluster = with_own_page(monkeypatch, loaded(monkeypatch, "cluster", "absent", "machine", "tables"), tmp_path)
    monkeypatch.setattr(cluster, "FEW", 20)
    monkeypatch.setattr(cluster, "PROGRAMS", {"vsearch": "vsearch", "CD-HIT": "cd-hit-est", "other": "no-such-program"})
    assert cluster.run_main("--quick") == 0 and is_untouched(cluster)
    text = capsys.readouterr().out
    assert "other." in text and text.endswith("cluster.md stays as it is: only a part was measured\n")
    rows = rows_of(text)
    heads = [f"processor time, {isa}" for isa in cluster.measured_isas()]
    assert rows["command"] == ["clusters", *heads, "processor time"]
    own = rows["**tropalign cluster**, every representative considered"]
    assert own[-1] == "-" and all(cell.endswith(" s") for cell in own[1:-1])


def test_place_without_its_data(monkeypatch, tmp_path, capsys):
    place = loaded(monkeypatch, "place")
    monkeypatch.setattr(place, "TRUTH", tmp_path / "nowhere")
    monkeypatch.setattr(sys, "argv", ["place.py", "--papara", "papara"])
    assert place.main() == 3
    assert capsys.readouterr().err == f"the data are missing: {tmp_path / 'nowhere'}\n"


def test_growth_of_a_verb_is_measured_and_fitted(monkeypatch, tmp_path, capsys):
    names = ("growth", "absent", "cluster", "commands", "machine", "sets", "tables")
    growth = with_own_page(monkeypatch, loaded(monkeypatch, *names), tmp_path)
    monkeypatch.setenv("TROPALIGN_ISA", ISA)  # what the run sets is taken back
    assert growth.run_main("--quick", "--verbs", "paths") == 0 and is_untouched(growth)
    text = capsys.readouterr().out
    assert "| 500: " in text and text.endswith("growth.md stays as it is: only a part was measured\n")
    runs = [(n, {"processor_s": 0.3 + (n / 100) ** 2}) for n in (100, 200, 400)]
    assert growth.exponent(runs, 0.3) == pytest.approx(2) and growth.exponent(runs[:1], 0.3) is None


def test_large_families_are_measured_beside_what_is_there(monkeypatch, tmp_path, capsys):
    names = ("large_families", "growth", "absent", "cluster", "commands", "machine", "sets", "tables")
    large = with_own_page(monkeypatch, loaded(monkeypatch, *names), tmp_path)
    monkeypatch.setenv("TROPALIGN_ISA", ISA)  # what the run sets is taken back
    monkeypatch.setattr(large.importlib.util, "find_spec", lambda name: None)
    assert large.run_main("--quick") == 0 and is_untouched(large)
    text = capsys.readouterr().out
    assert "## From 100 to 300" in text and "not installed" in text
    rows = rows_of(text)
    assert all(float(cell) > 0 for n in ("100", "300") for cell in rows[n][:2])


LONG_FAMILIES = (
    "long_families",
    "large_families",
    "growth",
    "absent",
    "cluster",
    "commands",
    "machine",
    "sets",
    "tables",
)


def test_long_families_are_measured_beside_what_is_there(monkeypatch, tmp_path, capsys):
    long = with_own_page(monkeypatch, loaded(monkeypatch, *LONG_FAMILIES), tmp_path)
    monkeypatch.setenv("TROPALIGN_ISA", ISA)  # what the run sets is taken back
    monkeypatch.setenv("PATH", str(tmp_path))  # without MAFFT
    monkeypatch.setattr(long, "shell", lambda folder, *words: ["mafft"])
    assert long.run_main("--sets", "genomes", "--scale", "0.01") == 0 and is_untouched(long)
    text = capsys.readouterr().out
    rows = [
        [cell.strip() for cell in line.split("|")[1:4]] for line in text.splitlines() if line.startswith("| genomes")
    ]
    assert rows == [["genomes at 0.3 %", "5 x 400", program] for program in ("MAFFT", "tropalign")]
    assert "FileNotFoundError" in text


@pytest.mark.parametrize("seed", range(3))
def test_simulated_families_have_the_divergence_asked_for_and_a_consistent_truth(monkeypatch, seed):
    import numpy as np

    long = loaded(monkeypatch, *LONG_FAMILIES)
    rows = long.Simulation(long.Family("", "nucleotides", 20, 3_000, 0.05, 0.1, 40), seed).rows()
    assert len(rows) == 20 and len({len(row) for row in rows}) == 1
    letters = np.array([list(row) for row in rows], np.uint8)
    assert set(b"".join(rows)) == set(b"ACGT-") and (letters != ord("-")).any(0).all()
    differences = [
        (a != b)[(a != ord("-")) & (b != ord("-"))].mean() for k, a in enumerate(letters) for b in letters[:k]
    ]
    assert np.mean(differences) == pytest.approx(0.05, rel=0.2)
    assert rows == long.Simulation(long.Family("", "nucleotides", 20, 3_000, 0.05, 0.1, 40), seed).rows()
