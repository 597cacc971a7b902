"""The benchmarks still run: small inputs, no figures."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent / "bench"


def test_pairs(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    from pairs import run_tropalign

    sequences = ["MKVLAAGWHHEMKVLAAGWHHE", "MKVLAGWHHEMKVLGWHHE", "GWHHEMKVLAA"] * 20
    cases = ["local-score", "semiglobal-alignment"]
    timing = {"at_least": 0.0, "rounds": 1}
    out = run_tropalign({"set": "51", "sequences": sequences, "cases": cases, "wants_scores": True, **timing})
    assert all(out[case]["gcups"] > 0 and len(out[case]["scores"]) == 60 * 59 // 2 for case in cases)
    assert 0 < out["semiglobal-alignment"]["lane_use"] <= 1


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


def test_place_without_its_data():
    arguments = ["--data", "nowhere"]
    done = subprocess.run([sys.executable, BENCH / "place.py", *arguments], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "the data are missing: nowhere\n"
