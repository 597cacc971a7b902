"""The client and a real server of `tropalign serve`, with a worker that computes."""

import importlib.util
import signal
import subprocess
import sys

import pytest

import tropalign
from tropalign.cli.main import main
from tropalign.client import connect
from tropalign.errors import InputError, UsageError
from tropalign.results.alignments import concatenate

MODULES = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "argon2", "jinja2")
PROTEINS = {"a": "MKVLAWMKTAYIAKQR", "b": "MKILAWMTAYIAKQ", "c": "MKVAWMKTAYIKQRQ"}
FASTA = "".join(f">{name}\n{letters}\n" for name, letters in PROTEINS.items())

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in MODULES), reason="the extra [serve] is not installed"
    ),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Where one's own server has its folder, whose token is shown to it."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def at_home(monkeypatch, home):
    monkeypatch.setenv("XDG_DATA_HOME", str(home))


@pytest.fixture(scope="module")
def url(home):
    folder = home / "tropalign" / "serve"
    (installed := home / "databases").mkdir()
    (installed / "p.fa").write_text(FASTA)
    tropalign.SequenceStore.build(installed / "p.fa", installed / "swissprot.tdb")
    command = [sys.executable, "-m", "tropalign.cli.main", "serve", "--port", "0", "--folder", str(folder), "-q"]
    command += ["--stores", str(installed)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().partition("login?")[0]
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        server.stdout.close()


def test_functions_return_what_they_return_here(url, tmp_path):
    server = connect(url)
    (table,) = server.pairs(PROTEINS, mode="global")
    assert table == concatenate(list(tropalign.align_all(PROTEINS, mode="global")))
    assert server.msa(PROTEINS) == tropalign.align_multiple(PROTEINS)
    database = server.build_database("mine", ("proteins.fa", FASTA.encode()))
    assert (database.name, database.n_sequences, database.n_residues) == ("mine", 3, 45)
    (table,) = server.pairs({"x": "MKVLAWKT"}, database)
    assert table == concatenate(list(tropalign.align_all({"x": "MKVLAWKT"}, PROTEINS)))


def test_the_servers_databases_are_searched_by_their_names(url, tmp_path, monkeypatch, capsys):
    (found,) = (each for each in connect(url).databases() if each.installed)
    assert (found.name, found.n_sequences, found.owner, found.shared) == ("swissprot", 3, "", True)
    (table,) = connect(url).pairs({"x": "MKVLAWKT"}, connect(url).database("swissprot"))
    assert table == concatenate(list(tropalign.align_all({"x": "MKVLAWKT"}, PROTEINS)))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.fa").write_text(">x\nMKVLAWMKTAYIAKQR\n")
    words = ["find", "q.fa", "swissprot", "--max-evalue", "10", "-f", "m8"]
    assert main(["submit", "--server", url, *words, "-o", "far.m8", "-q"]) == 0
    monkeypatch.setenv("TROPALIGN_DB", str(tmp_path))
    (tmp_path / "p.fa").write_text(FASTA)
    tropalign.SequenceStore.build("p.fa", "swissprot.tdb")
    assert main([*words, "-o", "near.m8", "-q"]) == 0
    assert (tmp_path / "far.m8").read_bytes() == (tmp_path / "near.m8").read_bytes() != b""
    assert main(["submit", "--server", url, "find", "q.fa", "uniref", "-o", "far.m8"]) == 3
    assert "uniref: neither a local file nor a database on the server has this name" in capsys.readouterr().err


def test_a_result_is_an_input_of_another_job(url):
    server = connect(url)
    aligned = server.submit("msa", {"family": ("p.fa", FASTA.encode())}).wait()
    tree = server.submit("tree", {"taxa": aligned.as_input()}).wait()
    assert tree.state == "done" and tree.result().startswith(b"(")
    first = server.submit("msa", {"family": ("p.fa", FASTA.encode() + b">z\nMKVLAWG\n")})
    chained = server.submit("tree", {"taxa": first.as_input()}).wait()
    assert chained.result().startswith(b"(") and first.refresh().state == "done"
    with pytest.raises(UsageError, match="has no output 'report': it has main"):
        server.submit("tree", {"taxa": aligned.as_input("report")})


def test_equal_databases_have_their_own_names_and_are_built_again_once_deleted(url):
    server = connect(url)
    first, second = (server.build_database(name, ("p.fa", FASTA.encode())) for name in ("first", "second"))
    assert (first.name, second.name) == ("first", "second") and first.id != second.id
    server.delete_database(first)
    assert server.build_database("first", ("p.fa", FASTA.encode())).n_sequences == 3


def test_jobs_are_found_fetched_shared_and_removed(url, tmp_path):
    server = connect(url)
    job = server.submit(
        "pairs", {"queries": ("p.fa", FASTA.encode())}, outputs=["report"], title="found me", tags=["x"]
    )
    assert [path.suffix for path in job.download(tmp_path)] == [".tsv", ".html"]
    assert job.result("paf").count(b"cg:Z:") == 3
    assert job.id in [found.id for found in server.jobs("found me", tag="x")]
    assert job.share().startswith(f"{server.url}/shared/") and job.share(False) is None
    job.delete()
    with pytest.raises(UsageError, match="no such job"):
        job.refresh()


def test_what_goes_wrong_there_goes_wrong_as_here(url):
    server = connect(url)
    with pytest.raises(InputError, match=r"p\.fa, record 'a': records 1 and 2 have the same name"):
        server.submit("pairs", {"queries": ("p.fa", b">a\nMKV\n>a\nMKL\n")}).result()
    with pytest.raises(UsageError, match="'glob' is not a choice"):
        server.submit("pairs", {"queries": ("p.fa", FASTA.encode())}, {"mode": "glob"})


def test_a_command_is_computed_there(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "proteins.fa").write_text(FASTA)
    assert main(["submit", "pairs", "proteins.fa", "-o", "far.tsv", "--server", url]) == 0
    assert main(["pairs", "proteins.fa", "-o", "near.tsv"]) == 0
    assert (tmp_path / "far.tsv").read_bytes() == (tmp_path / "near.tsv").read_bytes()
