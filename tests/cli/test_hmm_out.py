"""search --hmm-out: the models that were searched with, as they were read or built, and those of rounds."""

import shutil
import subprocess

import pytest
from clone import ROOT

from tropalign.cli.main import main

MODEL, PROTEINS, ALIGNED = (ROOT / "examples" / name for name in ("efp.hmm", "efp.fasta", "efp_aligned.fasta"))
CORPUS = ROOT / "tests" / "fuzz" / "corpus" / "models"


def searched(tmp_path, queries, *options, output="--hmm-out"):
    out = tmp_path / "models.hmm"
    words = ["search", str(queries), str(PROTEINS), "-q", "-o", str(tmp_path / "hits.tbl"), output, str(out)]
    assert main([*words, *options]) == 0
    return out.read_text()


def names(text):
    return [line.split()[1] for line in text.splitlines() if line.startswith("NAME ")]


def two_queries(tmp_path):
    records = PROTEINS.read_text().split(">")
    path = tmp_path / "two.fa"
    path.write_text(f">{records[1]}>{records[8]}")
    return path


def test_models_of_a_file_are_written_as_they_are(tmp_path):
    library = tmp_path / "library.hmm"
    library.write_text(MODEL.read_text() + MODEL.read_text().replace("NAME  EFP", "NAME  other"))
    assert searched(tmp_path, library) == library.read_text()


def test_the_model_of_an_alignment_is_the_one_of_build(tmp_path):
    aligned = tmp_path / "efp.fa"
    shutil.copy(ALIGNED, aligned)
    pytest.importorskip("pyhmmer", reason="models are built by pyhmmer")
    assert main(["build", str(aligned), "-q", "-o", str(tmp_path / "built.hmm")]) == 0
    assert searched(tmp_path, aligned) == (tmp_path / "built.hmm").read_text()


def test_rounds(tmp_path):
    pytest.importorskip("pyhmmer", reason="models are built by pyhmmer")
    path = two_queries(tmp_path)
    first, second = names(searched(tmp_path, path))
    assert names(searched(tmp_path, path, "--iterate", "5")) == [f"{first}-i1", f"{second}-i1"]
    text = searched(tmp_path, path, "--iterate", "5", output="--hmm-rounds")
    assert names(text) == [first, f"{first}-i1", second, f"{second}-i1"]
    again = tmp_path / "again.hmm"
    again.write_text(text)
    assert searched(tmp_path, again) == text


def test_what_was_written_finds_the_same(tmp_path):
    pytest.importorskip("pyhmmer", reason="models are built by pyhmmer")
    hits = tmp_path / "hits.tbl"
    (tmp_path / "x.hmm").write_text(searched(tmp_path, two_queries(tmp_path), "--iterate", "5"))
    found = {line.split()[0] for line in hits.read_text().splitlines() if line[0] != "#"}
    searched(tmp_path, tmp_path / "x.hmm")
    assert found == {line.split()[0] for line in hits.read_text().splitlines() if line[0] != "#"} and len(found) == 37


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


@pytest.mark.parametrize("name", ["3f.h3m", "2.hmm"])
def test_models_whose_text_is_not_known(name, tmp_path, capsys):
    out = tmp_path / "models.hmm"
    assert (
        main(["search", str(CORPUS / name), str(PROTEINS), "-o", str(tmp_path / "x.tbl"), "--hmm-out", str(out)]) == 3
    )
    told = capsys.readouterr().err
    assert f"{CORPUS / name}, record '" in told
    assert "only models of HMMER 3's text files, and those that are built here, are written" in told
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--hmm-out", "x.hmm", "--shard", "1/2"], "--hmm-out is not for shards"),
        (["--hmm-rounds", "x.hmm", "--iterate", "2", "--shard", "1/2"], "--hmm-rounds is not for shards"),
        (["--hmm-rounds", "x.hmm"], "--hmm-rounds belongs to --iterate"),
        (["--hmm-out", "x.tsv"], "--hmm-out x.tsv: end the name in .hmm"),
    ],
)
def test_options_that_do_not_go_together(options, sentence, tmp_path, capsys):
    assert main(["search", str(MODEL), str(PROTEINS), "-o", str(tmp_path / "x.shard"), *options]) == 2
    assert sentence in capsys.readouterr().err


def test_shards_have_no_models_to_merge(tmp_path, capsys):
    assert main(["merge", str(tmp_path / "x.shard"), "--hmm-out", str(tmp_path / "x.hmm")]) == 2
    assert "unrecognized arguments: --hmm-out" in capsys.readouterr().err
