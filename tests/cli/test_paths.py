"""tropalign paths: formats, subsets, notes, and what cannot be computed."""

import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest

from tropalign.cli.main import main
from tropalign.sequences.files import opened

EDGES = "from\tto\tweight\nUlm\tBonn\t4.5\nBonn\tKiel\t6\nUlm\tKiel\t11\nRom\tUlm\t9\n"
ROWS = [
    ["Ulm", "Ulm", "0", "Ulm"], ["Ulm", "Bonn", "4.5", "Ulm,Bonn"], ["Ulm", "Kiel", "10.5", "Ulm,Bonn,Kiel"],
    ["Ulm", "Rom", "inf", ""], ["Bonn", "Ulm", "inf", ""], ["Bonn", "Bonn", "0", "Bonn"],
    ["Bonn", "Kiel", "6", "Bonn,Kiel"], ["Bonn", "Rom", "inf", ""], ["Kiel", "Ulm", "inf", ""],
    ["Kiel", "Bonn", "inf", ""], ["Kiel", "Kiel", "0", "Kiel"], ["Kiel", "Rom", "inf", ""],
    ["Rom", "Ulm", "9", "Rom,Ulm"], ["Rom", "Bonn", "13.5", "Rom,Ulm,Bonn"],
    ["Rom", "Kiel", "19.5", "Rom,Ulm,Bonn,Kiel"], ["Rom", "Rom", "0", "Rom"],
]  # fmt: skip


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "edges.tsv"
    path.write_text(EDGES)
    return str(path)


def table(text):
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_arrays(graph, tmp_path, suffix):
    out = tmp_path / f"d.npz{suffix}"
    assert main(["paths", graph, "-o", str(out), "--paths", "--from", "Rom", "--from", "Ulm"]) == 0
    with opened(out) as stream, np.load(io.BytesIO(stream.read())) as arrays:
        assert arrays["distances"].tolist() == [[9, 13.5, 19.5, 0], [0, 4.5, 10.5, np.inf]]
        assert arrays["sources"].tolist() == ["Rom", "Ulm"] and arrays["targets"].tolist() == arrays["names"].tolist()
        assert arrays["predecessors"].tolist() == [[3, 0, 1, -1], [-1, 0, 1, -1]]


def test_parquet(graph, tmp_path):
    out = tmp_path / "d.parquet"
    assert main(["paths", graph, "-o", str(out), "--paths"]) == 0
    found = pq.read_table(out)
    assert b"command" in found.schema.metadata
    rows = [[row["from"], row["to"], row["distance"], row["path"]] for row in found.to_pylist()]
    assert rows == [[a, b, None if d == "inf" else float(d), p.split(",") if p else []] for a, b, d, p in ROWS]


@pytest.mark.parametrize("name", ["d.tsv", "d.parquet"])
def test_paths_keep_to_the_memory(tmp_path, capsys, monkeypatch, name):
    """All paths of a chain have n^2 / 2 vertices: those that fit are written a few rows at a time."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chain").write_text("".join(f"{k} {k + 1} 1\n" for k in range(3000)))
    options = ["paths", "chain", "--from", "0", "--paths", "-o", name]
    assert main([*options, "--memory", "200M"]) == 4
    said = capsys.readouterr().err
    assert "writing 4,504,501 vertices of the paths from 0 needs" in said and "ask for fewer targets with --to" in said
    assert main([*options, "--to", "2999", "--to", "7", "--to", "0", "--memory", "200M"]) == 0
    if name == "d.tsv":
        found = [row[3] for row in table((tmp_path / name).read_text())[1:]]
    else:
        found = [",".join(path) for path in pq.read_table(name)["path"].to_pylist()]
    assert found == [",".join(map(str, range(end + 1))) for end in (2999, 7, 0)]


def test_paths_in_several_parts(tmp_path, monkeypatch, capsys):
    (tmp_path / "ring").write_text("".join(f"{k} {(k + 1) % 9} 1\n" for k in range(9)))
    assert main(["paths", str(tmp_path / "ring"), "--paths"]) == 0
    whole = capsys.readouterr().out
    monkeypatch.setattr("tropalign.verbs.paths._AT_ONCE", 100)
    assert main(["paths", str(tmp_path / "ring"), "--paths"]) == 0
    assert capsys.readouterr().out == whole
    assert main(["paths", str(tmp_path / "ring"), "--paths", "-o", str(tmp_path / "d.parquet")]) == 0
    found = pq.ParquetFile(tmp_path / "d.parquet")
    assert found.num_row_groups == 9 and found.metadata.num_rows == 81


def test_ctrl_c_ends_it_at_once(tmp_path):
    path, out = tmp_path / "w.npz", tmp_path / "d.npz"
    np.savez(path, weights=np.random.default_rng(0).random((8000, 8000)).astype(np.float32))
    command = [sys.executable, "-c", "import sys; from tropalign.cli.main import main; print('begun', flush=True); "
               "sys.exit(main(sys.argv[1:]))", "paths", str(path), "-o", str(out), "-t", "1"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout.readline() == "begun\n"
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    try:
        _, err = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:  # Python forgets what comes in the midst of a __del__, as of a file that was read
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err.strip().endswith("interrupted"), json.dumps(err)
    assert os.listdir(tmp_path) == ["w.npz"]
