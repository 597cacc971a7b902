"""search --hmm-out: the models that were searched with, as they were read or built, and those of rounds."""

import shutil
import subprocess

import pytest
from clone import ROOT

from tropalign.cli.main import main

MODEL, PROTEINS, ALIGNED = (ROOT / "examples" / name for name in ("efp.hmm", "efp.fasta", "efp_aligned.fasta"))


def searched(tmp_path, queries, *options, output="--hmm-out"):
    out = tmp_path / "models.hmm"
    words = ["search", str(queries), str(PROTEINS), "-q", "-o", str(tmp_path / "hits.tbl"), output, str(out)]
    assert main([*words, *options]) == 0
    return out.read_text()


def names(text):
    return [line.split()[1] for line in text.splitlines() if line.startswith("NAME ")]


@pytest.mark.skipif(shutil.which("jackhmmer") is None, reason="jackhmmer is not installed")
def test_rounds_are_those_of_jackhmmer(tmp_path):
    pytest.importorskip("pyhmmer", reason="models are built by pyhmmer")
    query = tmp_path / "query.fa"
    query.write_text(">" + PROTEINS.read_text().split(">")[1])
    words = ["jackhmmer", "--cpu", "0", "-N", "5", "--chkhmm", tmp_path / "c", "-o", "/dev/null", query, PROTEINS]
    subprocess.run(list(map(str, words)), check=True)
    theirs = "".join(path.read_text() for path in sorted(tmp_path.glob("c-*.hmm")))
    ours = searched(tmp_path, query, "--iterate", "5", output="--hmm-rounds")

    def numbers(text):
        return [line for line in text.splitlines() if not line.startswith(("HMMER3/f", "DATE"))]

    assert numbers(ours) == numbers(theirs) and len(names(ours)) == 2
