"""`tropalign submit`: the files are those of the same command here."""

import gzip
import io
import json
import sys
import threading
import time

import pytest
from client.fake_server import computed

from tropalign.cli.main import main

FASTA = ">a\nMKVLAWMKTAYIAKQR\n>b\nMKILAWMTAYIAKQ\n>c\nMKVAWMKTAYIKQRQ\n"


@pytest.fixture
def place(fake, tmp_path, monkeypatch):
    """A folder with files, a server that computes, and its address in the environment."""
    fake.compute = computed
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TROPALIGN_SERVER", fake.url)
    (tmp_path / "proteins.fa").write_text(FASTA)
    return tmp_path


def lines(path):
    return gzip.open(path).readlines()


def test_the_files_are_those_of_the_same_command_here(fake, place, monkeypatch):
    words = ["pairs", "proteins.fa", "--mode", "global", "-o", "far.tsv.gz", "--html", "far.html"]
    assert main(["submit", *words, "--title", "mine", "--tag", "x", "--tag=y"]) == 0
    assert main([word.replace("far", "near") for word in words]) == 0
    assert lines("far.tsv.gz")[2:] == lines("near.tsv.gz")[2:]  # the second one names the report as the server does
    assert (place / "far.html").read_bytes().startswith(b"<!DOCTYPE html>")
    body = fake.jobs["JOB1"]["body"]
    assert (body["title"], body["tags"], body["outputs"]) == ("mine", ["x", "y"], ["report"])
    assert body["options"] == {"mode": "global"}


def test_options_of_submit_stand_before_the_command_too(fake, place, monkeypatch, capfdbinary):
    monkeypatch.delenv("TROPALIGN_SERVER")
    assert (
        main(["submit", "--server", fake.url, "-o", "-", "--title=t", "pairs", "proteins.fa", "-q", "-f", "paf"]) == 0
    )
    far = capfdbinary.readouterr().out
    assert main(["pairs", "proteins.fa", "-f", "paf"]) == 0
    assert far == capfdbinary.readouterr().out and b"cg:Z:" in far
    assert fake.jobs["JOB1"]["title"] == "t"


def test_standard_input_is_sent(fake, place, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(FASTA.encode())))
    assert main(["submit", "-o", "far.fa", "msa", "-"]) == 0
    assert main(["msa", "proteins.fa", "-o", "near.fa"]) == 0
    assert (place / "far.fa").read_bytes() == (place / "near.fa").read_bytes()


def test_a_file_that_is_given_twice_is_sent_once(fake, place):
    assert main(["submit", "pairs", "proteins.fa", "proteins.fa", "-o", "far.tsv"]) == 0
    assert sum(path.endswith("/files") and method == "POST" for method, path, *_ in fake.requests) == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [(["pairs", "none.fa", "-o", "x.tsv"], 3, "none.fa: neither a local file nor a database"),
     (["pairs", "proteins.fa", "-o", "proteins.fa", "-f", "tsv"], 2, "proteins.fa is an input"),
     (["pairs", "proteins.fa", "-o", "no/x.tsv"], 3, "no such directory"),
     (["pairs", "proteins.fa", "--mod", "local"], 2, "--mod"),
     (["pairs", "proteins.fa", "--threads", "2"], 2, "the server chooses --threads itself"),
     (["pair", "proteins.fa"], 2, "did you mean 'pairs'?"),
     (["devices"], 2, "devices"),
     ([], 2, "no command is given"),
     (["pairs", "proteins.fa", "--server"], 2, "argument --server: expected one argument"),
     (["--list", "pairs"], 2, "--list and --fetch take no command"),
     (["--list", "--detach"], 2, "exclude each other"),
     (["pairs", "proteins.fa", "--server", "ftp://x"], 2, "is not a server address"),
     (["--fetch", "JOB9", "-o", "x"], 2, "there is nothing here"),
     (["--fetch", "JOB9", "pairs"], 2, "leave pairs out")],
)  # fmt: skip
def test_mistakes_are_told_before_anything_is_sent(fake, place, capfd, words, code, said):
    assert main(["submit", *words]) == code
    assert said in capfd.readouterr().err
    assert not fake.files and not (place / "x.tsv").exists()


def test_errors_of_the_job_are_those_of_the_command(fake, place, capfd):
    (place / "bad.fa").write_text(">a\nMKV\n>a\nMK1!\n")
    assert main(["pairs", "bad.fa"]) == 3
    near = capfd.readouterr().err
    assert main(["submit", "pairs", "bad.fa", "-o", "far.tsv"]) == 3
    assert capfd.readouterr().err == near and not (place / "far.tsv").exists()


def test_no_server_is_named(place, monkeypatch, capfd):
    monkeypatch.delenv("TROPALIGN_SERVER")
    assert main(["submit", "pairs", "proteins.fa"]) == 2
    assert "set TROPALIGN_SERVER" in capfd.readouterr().err


def test_bytes_do_not_go_to_a_terminal(fake, place, monkeypatch, capfd):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["submit", "pairs", "proteins.fa", "-f", "result"]) == 2
    assert not fake.files


def test_a_job_that_is_left_alone_is_listed_and_fetched(fake, place, capfd):
    fake.starts_at_once = False
    assert main(["submit", "pairs", "proteins.fa", "--title", "my\tjob", "--detach"]) == 0
    assert capfd.readouterr().out == f"{fake.url}/jobs/JOB1\n"
    assert main(["submit", "--list"]) == 0
    assert capfd.readouterr().out.startswith("JOB1\tqueued\tpairs\t")
    assert main(["submit", "--fetch", "JOB1", "-o", "far.tsv"]) == 0
    assert main(["pairs", "proteins.fa", "-o", "near.tsv"]) == 0
    assert (place / "far.tsv").read_bytes() == (place / "near.tsv").read_bytes()


def test_ctrl_c_asks_the_server_to_cancel(fake, place, capfd):
    fake.starts_at_once = False

    def respond(request):
        if request.path.endswith("/events"):
            request.send_response(200)
            request.send_header("Content-Type", "text/event-stream")
            request.send_header("Connection", "close")
            request.end_headers()
            request.wfile.write(b"event: job\ndata: " + json.dumps(shown_job(fake)).encode() + b"\n\n")
            interrupt()
            time.sleep(2)
            return True
        return None

    def interrupt():
        import _thread

        threading.Timer(0.2, _thread.interrupt_main).start()

    fake.respond = respond
    assert main(["submit", "pairs", "proteins.fa", "-o", "far.tsv"]) == 130
    assert f"the server was asked to cancel {fake.url}/jobs/JOB1" in capfd.readouterr().err
    assert fake.jobs["JOB1"]["state"] == "cancelled" and not (place / "far.tsv").exists()


def shown_job(fake):
    return {name: value for name, value in fake.jobs["JOB1"].items() if name != "body"}
