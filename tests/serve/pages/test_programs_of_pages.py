"""What the pages give for a shell, Python and curl does what they say."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time

import pytest
from serve.pages.site import parsed

FASTA = ">a\nMKVLAWHEAGAWGHEE\n>b\nMKILAWPAWHEAE\n"


def copied(page, name):
    return page.one("button", **{"aria-label": f"Copy {name}"})["data-copy"]


@pytest.fixture
def shell(tmp_path):
    """Runs a script of bash in a folder with proteins.fa, where `tropalign` is this one; what it prints."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "tropalign"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tropalign.cli.main "$@"\n')
    command.chmod(0o700)
    (tmp_path / "proteins.fa").write_text(FASTA)
    surroundings = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "XDG_DATA_HOME": str(tmp_path)}

    def run(script):
        command = ["bash", "-ec", script]
        ran = subprocess.run(command, cwd=tmp_path, env=surroundings, stdout=subprocess.PIPE, text=True, timeout=180)
        assert ran.returncode == 0
        return ran.stdout

    return run


def test_the_help_page_has_what_runs(working_site, shell, tmp_path):
    page = parsed(working_site.http.get("/help").text)
    token = copied(page, "token")
    shell(f"{token}\n{copied(page, 'command')}")
    assert "\na\tb\t" in (tmp_path / "alignments.tsv").read_text()
    (tmp_path / "program.py").write_text(copied(page, "Python program"))
    assert "AlignmentTable" in shell(f"{token}\n{shlex.quote(sys.executable)} program.py")
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    assert json.loads(shell(f"{token}\n{copied(page, 'request')}"))["name"] == "proteins.fa"


def test_a_jobs_page_has_what_fetches_its_result(working_site, shell, tmp_path):
    token = copied(parsed(working_site.http.get("/help").text), "token")
    job = working_site.submit(queries__text=FASTA, title="fetched")
    while not working_site.storage.jobs.get(job.id).state.is_final:
        time.sleep(0.05)
    page = parsed(working_site.http.get(f"/jobs/{job.id}").text)
    shell(f"{token}\n{copied(page, 'command line')}")
    (name,) = (path.name for path in tmp_path.glob("*.tsv"))
    by_command = (tmp_path / name).read_bytes()
    assert b"\na\tb\t" in by_command
    (tmp_path / "program.py").write_text(copied(page, "Python") + "\nprint(len(data))")
    assert int(shell(f"{token}\n{shlex.quote(sys.executable)} program.py")) == len(by_command)
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    shell(f"{token}\n{copied(page, 'curl')}")
    assert (tmp_path / name).read_bytes() == by_command


def test_who_is_named_by_a_proxy_shows_no_token():
    from tropalign.serve.web.views import help_programs

    assert "Authorization" not in help_programs("http://x", has_token=False)["curl"]
