"""Every verb that has ``--cluster``: the bytes of a run without, from the workers of a real scheduler.

One cluster serves all tests of this module, since a worker takes seconds to start.
"""

import asyncio
import gc
import gzip
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from kept_parts import parts_in

from tropalign.cli.main import main
from tropalign.errors import UsageError

pytest.importorskip("distributed")

ROOT = Path(__file__).parents[2]
SEARCH = ["examples/efp.hmm", "examples/efp.fasta"]
PLACE = [
    "place",
    "reads.fa",
    "--reference",
    "examples/16s/ref.phy.gz",
    "--tree",
    "examples/16s/ref.nwk",
]
#: Words of a command, and the suffix of its main file; {} begins the names of files, FEW is a file of ten proteins.
COMMANDS = {
    "pairs": (["pairs", "examples/family.fasta", "--min-score", "150"], ".tsv"),
    "pairs, several files": (["pairs", "examples/family.fasta", "--top", "3", "--html", "{}.html"], ".m8.gz"),
    "search, several files": (
        ["search", *SEARCH, "--tblout", "{}.tbl", "--domtblout", "{}.dom", "-A", "{}.sto"],
        ".out",
    ),
    "search in rounds": (["search", *SEARCH, "--iterate", "3"], ".tbl.gz"),
    "scan": (["scan", *SEARCH], ".tbl"),
    "place, several files": ([*PLACE, "--table", "{}.tsv", "--jplace", "{}.jplace", "--strand", "both"], ".fa.zst"),
    "msa": (["msa", "FEW", "--confidence", "{}.tsv", "--tree-out", "{}.nwk"], ".sto"),
    "msa fast": (["msa", "FEW", "--effort", "fast"], ".fa"),
    "msa by CLUSTALW": (["msa", "FEW", "--method", "clustalw"], ".aln"),
    "tree": (["tree", "FEW", "--unaligned", "--distances-out", "{}.dist"], ".nwk"),
    "cluster": (["cluster", "examples/amplicons.fasta", "--uc", "{}.uc"], ".tsv"),
    "cluster by linkage": (["cluster", "examples/amplicons.fasta", "--method", "average"], ".tsv"),
}


@pytest.fixture(scope="module")
def address():
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with the examples, and a hundred of the four hundred reads."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "examples").symlink_to(ROOT / "examples")
    reads = (ROOT / "examples" / "16s" / "reads.fasta").read_text().split(">")[1:101]
    (folder / "reads.fa").write_text(">" + ">".join(reads))
    return folder


@pytest.fixture(autouse=True)
def in_small_tiles(monkeypatch, inputs):
    monkeypatch.chdir(inputs)
    monkeypatch.setenv("TROPALIGN_TILE_PAIRS", "150")
    monkeypatch.setenv("TROPALIGN_TILE_READS", "10")


def written(folder, words, suffix, *more):
    """The files of a run, by their suffixes."""
    folder.mkdir()
    out = str(folder / "out")
    assert main([*(word.replace("{}", out) for word in words), "-q", "-o", out + suffix, *more]) == 0
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    named = str(folder).encode()  # in lines that say the command
    return {
        name: gzip.decompress(data).replace(named, b"") if name.endswith(".gz") else data.replace(named, b"")
        for name, data in found.items()
    }


@pytest.mark.parametrize("case", COMMANDS)
def test_the_bytes_are_those_of_one_machine(case, address, tmp_path):
    words, suffix = COMMANDS[case]
    few = tmp_path / "few.fa"
    few.write_text(">" + ">".join(Path("examples/family.fasta").read_text().split(">")[1:11]))
    words = [str(few) if word == "FEW" else word for word in words]
    whole = written(tmp_path / "1", words, suffix)
    assert written(tmp_path / "2", words, suffix, "--cluster", address) == whole
    assert len(whole) == 1 + sum("{}" in word for word in words)


def test_a_bootstrap_has_the_support_of_one_machine(address, tmp_path, monkeypatch):
    from tropalign.trees import bootstrap

    rows = tmp_path / "rows.fa"
    letters = np.random.default_rng(2).choice(list("ACGT"), 60)
    texts = ("".join(np.where(np.arange(60) % (k + 3) == 0, "A", letters)) for k in range(9))
    rows.write_text("".join(f">s{k}\n{text}\n" for k, text in enumerate(texts)))
    monkeypatch.setattr(bootstrap, "TILE_CELLS", 5_000)
    words = ["tree", str(rows), "--bootstrap", "50", "--seed", "3"]
    whole = written(tmp_path / "1", words, ".nwk")
    assert written(tmp_path / "2", words, ".nwk", "--cluster", address) == whole
    assert re.search(rb"\)[0-9]+:", whole["out.nwk"])


def test_standard_output_and_little_memory(address, capfdbinary):
    found = []
    for more in ([], ["--cluster", address], ["--cluster", address, "--memory", "200M", "-t", "1"]):
        for words in (["pairs", "examples/family.fasta", "--min-score", "150"], ["scan", *SEARCH], PLACE):
            assert main([*words, "-q", *more]) == 0
            found.append(capfdbinary.readouterr().out)
    assert found[:3] == found[3:6] == found[6:]
    assert all(found)


def test_shards_are_computed_on_a_cluster(address, tmp_path):
    for words, suffix in (COMMANDS["pairs"], (["scan", *SEARCH], ".out"), (PLACE, ".fa")):
        folder = tmp_path / words[0]
        whole = written(folder, words, suffix)["out" + suffix]
        shards = [str(folder / f"{k}.shard") for k in (1, 2)]
        for k, shard in enumerate(shards):
            assert main([*words, "-q", "-o", shard, "--shard", f"{k + 1}/2", "--cluster", address]) == 0
        assert main(["merge", *shards, "-q", "-o", str(folder / ("out" + suffix))]) == 0
        assert (folder / ("out" + suffix)).read_bytes() == whole


def test_a_client_that_was_killed_comes_back(address, tmp_path):
    out, whole = tmp_path / "out.tsv", tmp_path / "whole.tsv"
    path = tmp_path / "many.fa"
    path.write_text("".join(f">s{k}\n{'MKVLAAGWHHE' * 150}\n" for k in range(30)))
    words = ["pairs", str(path), "-q", "-o"]
    means = {**os.environ, "TROPALIGN_TILE_PAIRS": "5"}
    command = [sys.executable, "-m", "tropalign.cli.main", *words, str(out), "--cluster", address]
    process = subprocess.Popen(command, env=means)
    parts = out.with_name("out.tsv.parts")
    while len(parts_in(parts)) < 3:
        assert process.poll() is None, "the run ended before it could be stopped"
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait(120)
    assert not out.exists()
    assert subprocess.run(command, env=means, check=False).returncode == 0
    assert main([*words, str(whole)]) == 0
    assert out.read_bytes() == whole.read_bytes()
    assert not parts.exists()


def test_python_takes_addresses_and_clients(address):
    from distributed import Client

    import tropalign
    from tropalign.trees import pair_distances

    batch = tropalign.read_sequences("examples/efp.fasta")[:8]
    with Client(address, set_as_default=False) as client:
        for device in (address, client, (client, "cpu")):
            found = [table.score.tolist() for table in tropalign.align_all(batch, device=device)]
            assert found == [table.score.tolist() for table in tropalign.align_all(batch, device="cpu")]
        assert client.status == "running"  # who makes a client closes it
        hits = tropalign.search(*SEARCH, device=client)
        assert hits.bits.tolist() == tropalign.search(*SEARCH).bits.tolist()
        rows = tropalign.align_multiple(batch, device=client)
        assert rows.columns.tolist() == tropalign.align_multiple(batch).columns.tolist()
        assert pair_distances(batch, device=client).tolist() == pair_distances(batch).tolist()


def test_clients_that_cannot_be_asked_are_refused(address):
    from distributed import Client

    import tropalign

    batch = tropalign.read_sequences("examples/family.fasta")[:3]
    with Client(address, set_as_default=False) as client:
        pass
    with pytest.raises(UsageError, match="this client is closed: give a running one"):
        list(tropalign.align_all(batch, device=client))

    async def align():
        async with Client(address, asynchronous=True, set_as_default=False) as client:
            with pytest.raises(UsageError, match="this client is asynchronous: give the address"):
                list(tropalign.align_all(batch, device=client))
        return [table.score.tolist() for table in tropalign.align_all(batch, device=address)]  # in a loop that runs

    assert asyncio.run(align()) == [table.score.tolist() for table in tropalign.align_all(batch)]


def test_a_run_that_nobody_goes_through_leaves_nothing(address):
    from distributed import Client

    import tropalign

    batch = tropalign.read_sequences("examples/family.fasta")
    with Client(address, set_as_default=False) as client:
        for _ in range(3):
            results = iter(tropalign.align_all(batch, device=client))
            next(results)
            del results
        gc.collect()
        deadline = time.monotonic() + 30
        while client.run_on_scheduler(_n_tasks) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert client.run_on_scheduler(_n_tasks) == 0
        assert not client.futures


def _n_tasks(dask_scheduler):
    return len(dask_scheduler.tasks)


@pytest.mark.parametrize(
    "words", [["decode", "--model", "cpg", "x.fa"], ["paths", "x.tsv"], ["score", "x.fa", "--reference", "y.fa"]]
)
def test_verbs_of_one_machine_do_not_offer_it(words, capsys):
    assert main([*words, "--cluster", "local:2"]) == 2
    assert "unrecognized arguments: --cluster" in capsys.readouterr().err


def test_a_tree_of_distances_needs_no_cluster(capsys):
    assert main(["tree", "examples/family.fasta", "--cluster", "local:2"]) == 2
    assert "--cluster applies to --unaligned and --bootstrap" in capsys.readouterr().err


def test_a_forecast_is_one_of_this_machine(few, tmp_path, capsys):
    words = [few, "--dry-run", "--cluster", "tcp://nobody.invalid:1", "-o", str(tmp_path / "x")]
    for more in (["pairs", "-f", "tsv"], ["cluster", "-f", "tsv"], ["msa", "-f", "fasta"]):
        assert main([*more, *words]) == 0
        assert "on cpu of this machine only (a forecast does not use tcp://nobody" in capsys.readouterr().out


def test_products_and_models_name_no_cluster():
    import tropalign.tropical as tropical
    from tropalign.errors import UsageError

    with pytest.raises(UsageError, match="cannot be computed on a cluster"):
        tropical.matmul(np.eye(3), np.eye(3), device="local:2")


def test_interrupted_local_processes_end_without_a_word(tmp_path):
    """As in a terminal, where Ctrl-C goes to the command and to all processes that it has started."""
    path = tmp_path / "many.fa"
    path.write_text("".join(f">s{k}\n{'MKVLAAGWHHE' * 300}\n" for k in range(60)))
    out = tmp_path / "out.tsv"
    words = ["pairs", str(path), "-q", "-o", str(out), "--cluster", "local:2"]
    pid, terminal = pty.fork()
    if not pid:
        os.environ["TROPALIGN_TILE_PAIRS"] = "5"
        os.execv(sys.executable, [sys.executable, "-m", "tropalign.cli.main", *words])
    parts = out.with_name("out.tsv.parts")
    while not parts_in(parts):
        assert os.waitpid(pid, os.WNOHANG) == (0, 0), "the run ended before it could be stopped"
        time.sleep(0.01)
    os.write(terminal, b"\x03")
    said = b""
    try:
        while data := os.read(terminal, 1 << 16):  # ends when the last process with this terminal has ended
            said += data
    except OSError:
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    assert said.replace(b"^C", b"").strip().startswith(b"tropalign: interrupted: the same command goes on")
    assert len(said.strip().splitlines()) == 1, said.decode()
