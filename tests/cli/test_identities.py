"""One identity per pair in all outputs of a run; matrices of them are of whole sequences unless a mode is chosen."""

import csv
import io
import json

import numpy as np
import pytest

import tropalign
from tropalign.cli.main import main
from tropalign.formats.pairs.report import identity_of

#: The first two share seven residues, at opposite ends.
FAR = ">a\nMKVLAWLLLLLDDDDDD\n>b\nPPPPPPPPGGGGGMKVLAW\n>c\nMKVLAWLLLLLDDDDDE\n"


@pytest.fixture
def far(tmp_path):
    path = tmp_path / "far.fa"
    path.write_text(FAR)
    return path


def matrix_of(path, key):
    with np.load(path) as arrays:
        return arrays[key]


@pytest.mark.parametrize(
    ("words", "mode"),
    [
        ("-f matrix --matrix-values distance", "global"),
        ("-f matrix --matrix-values identity", "global"),
        ("-f matrix --matrix-values identity --identity shorter", "global"),
        ("-f matrix --matrix-values distance --mode local", "local"),
        ("-f matrix --matrix-values distance --mode semiglobal", "semiglobal"),
        ("-f matrix", "local"),
        ("--html page.html", "global"),
        ("-f html", "global"),
        ("--plot map.svg", "global"),
        ("--html page.html --mode local", "local"),
        ("--html page.html --max-evalue 10", "local"),
        ("--html page.html -f m8", "local"),
        ("--html page.html --columns query,target,evalue", "local"),
        ("--html page.html --max-hsps 2", "local"),
        ("--plot map.svg --columns query,target,score", "local"),
        ("--plot map.svg --report score", "local"),
        ("", "local"),
    ],
)
def test_the_mode_that_nobody_chose(far, tmp_path, monkeypatch, words, mode):
    """And the header says which it was."""
    monkeypatch.chdir(tmp_path)
    if "--plot" in words:
        pytest.importorskip("matplotlib")
    assert main(["pairs", str(far), "-o", "out", "-q", *words.split()]) == 0
    assert (
        main(["pairs", str(far), "-o", "same", "-q", *words.split(), *([] if "--mode" in words else ["--mode", mode])])
        == 0
    )
    one, other = ((tmp_path / name).read_bytes() for name in ("out", "same"))
    lines = [[line for line in text.splitlines() if not line.startswith(b"# command")] for text in (one, other)]
    if "html" not in words.split("-f ")[-1][:4]:
        assert lines[0] == lines[1]
    if one.startswith(b"# tropalign"):
        assert f"# mode: {mode}".encode() in lines[0]


def test_distances_of_a_file_that_tree_takes(far, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["pairs", str(far), "-o", "far.phy", "-q"]) == 0
    (expected,) = tropalign.align_all(far, mode="global")
    rows = [line.split() for line in (tmp_path / "far.phy").read_text().splitlines()[1:]]
    assert np.allclose(np.array([row[1:] for row in rows], float), expected.matrix("distance"), atol=1e-6)
    assert expected.matrix("distance")[0, 1] > 0.75
    assert main(["tree", "far.phy", "-o", "far.nwk", "-q"]) == 0


@pytest.mark.parametrize("definition", ["columns", "shorter", "matches", "2", "3"])
@pytest.mark.parametrize("ambiguous", ["differ", "match"])
@pytest.mark.parametrize("mode", ["global", "local", None])
def test_one_number_per_pair(tmp_path, monkeypatch, definition, ambiguous, mode):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(list("ACGTACGTN"), n)) for n in (40, 32, 25)]
    (tmp_path / "x.fa").write_text("".join(f">s{k}\n{text}\n{texts[0][k:]}\n" for k, text in enumerate(texts)))
    words = ["pairs", "x.fa", "-q", "--identity-definition", definition, "--ambiguous", ambiguous]
    words += [] if mode is None else ["--mode", mode]
    assert main([*words, "-o", "x.tsv", "--html", "x.html"]) == 0
    assert (
        main([*words, "-f", "jsonl", "-o", "x.jsonl", "--html", "y.html", "--columns", "identity,percent_identity"])
        == 0
    )
    for values in ("identity", "distance"):
        assert main([*words, "-f", "matrix", "--matrix-values", values, "-o", f"{values}.npz"]) == 0
    lines = [line for line in (tmp_path / "x.tsv").read_text().splitlines() if not line.startswith("#")]
    table = [float(row["identity"]) for row in csv.DictReader(io.StringIO("\n".join(lines)), delimiter="\t")]
    places = np.triu_indices(3, 1)
    matrix = matrix_of("identity.npz", "identity")[places]
    assert np.allclose(table, matrix, atol=6e-5) and np.allclose(
        matrix, 1 - matrix_of("distance.npz", "distance")[places]
    )
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    rows = [row for row in rows if "identity" in row]
    assert [row["identity"] for row in rows] == pytest.approx(matrix.tolist())
    assert [row["percent_identity"] for row in rows] == pytest.approx((100 * matrix).tolist())
    assert main([*words, *([] if mode else ["--mode", "global"]), "-o", "x.result"]) == 0
    saved = tropalign.read_result(tmp_path / "x.result")
    assert saved.identity.tolist() == pytest.approx(matrix.tolist())
    assert saved.matrix("identity")[places].tolist() == pytest.approx(matrix.tolist()) if mode != "local" else True
    assert [row.identity for row in saved] == saved.identity.tolist()
    kept = sorted(matrix)[1]
    assert (
        main([*words, *([] if mode else ["--mode", "global"]), "--min-identity", str(kept - 1e-9), "-o", "k.tsv"]) == 0
    )
    assert sum(not line.startswith("#") for line in (tmp_path / "k.tsv").read_text().splitlines()) == 3


def test_the_map_goes_by_the_identity(far):
    """Its tree joins lines at 1 - identity, as a tree of the matrix of distances would."""
    from tropalign.formats.pairs.report import columns_of, near_of

    for definition in ("columns", "shorter", "openings"):
        (table,) = tropalign.align_all(far, mode="global", identity=definition)
        columns = columns_of(table)
        assert near_of(columns).tolist() == identity_of(columns).tolist() == table.identity.tolist()


def test_shards_hold_identities(far, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["pairs", str(far), "-q", "-f", "matrix", "--matrix-values", "distance", "--identity", "shorter"]
    assert main([*words, "-o", "whole.tsv"]) == 0
    for k in (1, 2):
        assert main([*words, "--shard", f"{k}/2", "-o", f"{k}.shard"]) == 0
    assert main(["merge", "1.shard", "2.shard", "-o", "merged.tsv", "-q"]) == 0
    whole, merged = ((tmp_path / name).read_text().splitlines() for name in ("whole.tsv", "merged.tsv"))
    assert whole == merged and "# identity: shorter" in whole


def test_what_is_no_definition(far, capsys):
    assert main(["pairs", str(far), "--identity", "vsearch", "-q"]) == 2
    assert "--identity 'vsearch' is not one of 0 shorter, 1 columns, 2 internal" in capsys.readouterr().err
