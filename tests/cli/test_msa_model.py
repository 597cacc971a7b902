"""``tropalign msa --model``: files, formats, options that exclude each other, bad input."""

import csv
import io
from pathlib import Path

import pytest
from Bio import AlignIO

import tropalign
from tropalign.cli.main import main

ROOT = Path(__file__).parents[2]
MODEL, FAMILY = ROOT / "examples" / "efp.hmm", ROOT / "examples" / "efp.fasta"


def refused(arguments, capsys):
    """Exit code and the one sentence."""
    code = main(["msa", *map(str, arguments)])
    err = capsys.readouterr().err
    assert err.startswith("tropalign: ") and err.count("\n") == 1, err
    return code, err.removeprefix("tropalign: ").strip()


@pytest.fixture
def members(tmp_path):
    """Some members, one of them compressed in a file of its own."""
    path = tmp_path / "members.fa"
    path.write_text("".join(FAMILY.read_text().partition(">")[1:]).replace(">", "\n>").lstrip()[:3000] + "\n")
    return path


def test_all_formats_have_the_same_rows(members, tmp_path):
    wanted = tropalign.align_to_model(MODEL, members)
    for suffix in (".sto", ".aln", ".phy", ".msf", ".afa"):
        out = tmp_path / f"out{suffix}"
        assert main(["msa", "--model", str(MODEL), str(members), "-o", str(out)]) == 0
        read = tropalign.read_alignment(out)
        assert read.names == wanted.names
        assert [row.replace(".", "-") for row in read] == list(wanted)
    out = tmp_path / "out.nex"
    assert main(["msa", "--model", str(MODEL), str(members), "-o", str(out), "--html", str(tmp_path / "x.html")]) == 0
    rows = {row.id: str(row.seq) for row in AlignIO.read(io.StringIO(out.read_text()), "nexus")}
    assert list(rows.values()) == list(wanted) and (tmp_path / "x.html").stat().st_size > 10_000


def test_confidence_is_the_posterior(members, tmp_path):
    table, out = tmp_path / "c.tsv", tmp_path / "x.sto"
    assert main(["msa", "--model", str(MODEL), str(members), "-o", str(out), "--confidence", str(table)]) == 0
    wanted = tropalign.align_to_model(MODEL, members)
    rows = csv.DictReader((line for line in table.read_text().splitlines() if line[0] != "#"), delimiter="\t")
    found = [float(row["confidence"]) for row in rows]
    assert found == pytest.approx(wanted.residue_confidence.tolist(), abs=1e-4)


def test_standard_input_either_way(command, members):
    plain = command("msa", "--model", MODEL, members)
    with open(members) as stream:
        assert command("msa", "--model", MODEL, "-", stdin=stream).stdout == plain.stdout != ""
    with open(MODEL) as stream:
        assert command("msa", "--model", "-", members, stdin=stream).stdout == plain.stdout


def test_each(members, tmp_path):
    other = tmp_path / "other.fa"
    other.write_text(">x\nMKVLAWMKT\n")
    bad = tmp_path / "bad.fa"
    bad.write_text(">x\n")
    out = tmp_path / "out"
    words = ["msa", "--model", str(MODEL), "--each", str(members), str(other), str(bad), "-o", str(out), "-f", "a2m"]
    assert main(words) == 5
    alone = tmp_path / "alone.a2m"
    assert main(["msa", "--model", str(MODEL), str(other), "-o", str(alone)]) == 0
    assert (out / "other.a2m").read_bytes() == alone.read_bytes() and (out / "members.a2m").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--effort", "fast"], "--effort has no meaning with --model"),
        (["--tree-out", "x.nwk"], "--tree-out has no meaning with --model"),
        (["--add", "x.fa"], "--add has no meaning with --model"),
        (["--row-order", "tree"], "--row-order has no meaning with --model"),
        (["--strand", "adjust"], "--strand adjust turns sequences by their family"),
        (["--method", "clustalw"], "--model aligns by the model alone"),
        (["--device", "cuda:0"], "sequences are aligned to a model on the processor"),
        (["--keep-length"], "--keep-length belongs to --add"),
        (["--dry-run"], "--dry-run estimates the alignment of a family"),
        (["--shard", "1/2", "-o", "x.shard"], "--shard shares out the posteriors of a family"),
    ],
)
def test_options_without_a_meaning_are_refused(words, why, capsys):
    code, told = refused(["--model", MODEL, FAMILY, *words], capsys)
    assert code == 2 and told.startswith(why)


def test_the_alignment_of_the_model_comes_first(tmp_path, capsys):
    seed, model, out = tmp_path / "seed.sto", tmp_path / "seed.hmm", tmp_path / "x.afa"
    seed.write_text("# STOCKHOLM 1.0\n#=GF ID s\n\na MKVLAW\nb MKVLRW\n//\n")
    assert main(["build", "-q", str(seed), "-o", str(model)]) == 0
    new = tmp_path / "new.fa"
    new.write_text(">c\nMKVLAWG\n")
    assert main(["msa", "-q", "--model", str(model), str(new), "--mapali", str(seed), "-o", str(out)]) == 0
    assert out.read_text() == ">a\nMKVLAW-\n>b\nMKVLRW-\n>c\nMKVLAWg\n"
    code, told = refused(["--model", model, new, "--mapali", new], capsys)
    assert code == 3 and "this is another alignment than the one that the model 's' was built of" in told
    assert refused([new, "--mapali", seed], capsys)[1].startswith("--mapali belongs to --model")


def test_without_a_model(capsys):
    assert refused([FAMILY, "--trim"], capsys) == (2, "--trim belongs to --model (see tropalign msa --help)")


def test_bad_files(tmp_path, capsys):
    empty, dna, short = tmp_path / "empty.fa", tmp_path / "dna.fa", tmp_path / "short.fa"
    empty.write_text(">a\nMKV\n>b\n")
    dna.write_text(">a\n" + "ACGTTGCA" * 8 + "\n")
    short.write_text(">a\nACGT\n")
    code, told = refused(["--model", MODEL, empty], capsys)
    assert code == 3 and "record 'b'" in told
    assert main(["msa", "-q", "--model", str(MODEL), str(empty), "--skip-empty", "-o", str(tmp_path / "x.fa")]) == 0
    code, told = refused(["--model", MODEL, dna], capsys)
    assert code == 3 and "this is a nucleotide sequence by its letters" in told
    assert (
        main(["msa", "-q", "--model", str(MODEL), str(dna), "--alphabet", "protein", "-o", str(tmp_path / "y.fa")]) == 0
    )
    code, told = refused(["--model", MODEL, dna, "--alphabet", "nucleotide"], capsys)
    assert code == 3 and "the sequences are nucleotide, and the model 'EFP' is one of protein" in told
    assert main(["msa", "-q", "--model", str(MODEL), str(short), "-o", str(tmp_path / "z.fa")]) == 0
    assert refused(["--model", FAMILY, short], capsys)[0] == 3
    assert refused(["--model", tmp_path / "no.hmm", short], capsys)[0] == 3
    assert refused(["--model", "-", "-"], capsys)[1].startswith("standard input can be read once: name - once")
    twice = tmp_path / "twice.fa"
    twice.write_text(">a\nMKV\n>a\nMKL\n")
    code, told = refused(["--model", MODEL, twice], capsys)
    assert code == 3 and "record 'a'" in told
