"""One sentence, the right exit code, and nothing written."""

import bz2
import gzip
import lzma
import os
import subprocess

import pytest

from tropalign.cli.main import main

FAMILY = b">a\nMKVLAAGWHHE\n>b\nMKVLAGWHHE\n"


@pytest.fixture
def fails(tmp_path, capsys):
    """Runs ``pairs`` on these bytes; gives the sentence, and checks that nothing was written."""

    def run(data, *arguments, code=3, name="in.fa"):
        path = tmp_path / name
        path.write_bytes(data)
        before = set(os.listdir(tmp_path))
        assert main(["pairs", str(path), "-o", str(tmp_path / "out.tsv"), *map(str, arguments)]) == code
        assert set(os.listdir(tmp_path)) == before
        out, error = capsys.readouterr()
        assert out == "" and error.startswith("tropalign: ") and error.count("\n") == 1
        return error[len("tropalign: ") : -1].replace(f"{tmp_path}/", "")

    return run


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "in.fa: the file is empty"),
        (b"\n \n", "in.fa: the file is empty"),
        (b"hello\n", "in.fa, line 1: this is neither FASTA nor FASTQ: a record begins with '>' or '@'"),
        (b"\x7fELF\x00\x01", "in.fa, line 1: this is neither FASTA nor FASTQ: a record begins with '>' or '@'"),
        (b">a\n>b\nMKV\n", "in.fa, record 'a': the sequence is empty: remove the record or use --skip-empty"),
        (b">a\nMKV\n>a\nMKL\n", "in.fa, record 'a': records 1 and 2 have the same name: give each record its own"),
        (b">a\nMKV\n", "the set holds one sequence, which makes no pair: give two or more, or a second file"),
    ],
)
def test_sequence_files(fails, data, sentence):
    assert fails(data) == sentence


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_truncated_compressed_files(fails, compress):
    sentence = fails(compress(FAMILY * 50)[:-20])
    assert sentence == "in.fa: the compressed file is truncated: fetch or write it again"


def test_letters_outside_the_alphabet(fails, tmp_path, capsys):
    data = b">a\nMKVLAAGWHHE\n>b\nMK1LAG?HHE\n"
    sentence = fails(data, "--strict")
    assert sentence == (
        "in.fa, record 'b': 2 letters outside the protein alphabet, the first '1' at position 3: mend them or leave "
        "--strict out"
    )
    path = tmp_path / "in.fa"
    assert main(["pairs", str(path), "--report", "score"]) == 0
    assert "tropalign: warning: " in (warning := capsys.readouterr().err)
    assert "2 letters outside the protein alphabet" in warning and "read as X" in warning and warning.count("\n") == 1
    assert main(["pairs", str(path), "--report", "score", "-q"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--gap-open", "-1"], 3, "the gap open cost -1 is negative: costs are given as positive numbers"),
        (["--gap-extend", "-2"], 3, "the gap extend cost -2 is negative: costs are given as positive numbers"),
        (["--strand", "both"], 3, "both strands were asked for, but proteins have one: leave --strand both out"),
        (["-f", "paf", "--report", "score"], 3, "format paf shows alignments: use --report alignment"),
        (["--matrix", "nothing"], 3, "there is no matrix and no file 'nothing'; some are BLOSUM62, "),
        (["--memory", "10"], 4, "and 10 B are allowed: "),
        (["--memory", "74M"], 4, "tropalign with this input needs 74.1 MiB of memory and 74.0 MiB are allowed: "),
        (["--pairs", "nowhere"], 3, "nowhere: there is no such file"),
        (["-o", "/nowhere/out.tsv"], 3, "/nowhere: there is no such directory to write to: make it first"),
        (["--pairs", "/dev/zero"], 3, "/dev/zero, line 1: a line has to hold two names"),
        (["--matrix", "/dev/zero"], 3, "/dev/zero: the file holds more than 1048576 bytes"),
        (["-o", "a/" * 3000 + "x.tsv"], 3, "this cannot be written (File name too long)"),
        (["-o", "/dev"], 3, "/dev: the output is a directory: name a file in it"),
    ],
)
def test_options_that_fit_no_input(fails, arguments, code, sentence):
    assert sentence in fails(FAMILY, *arguments, code=code)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--free-ends", "query-start"], "--free-ends belongs to --mode semiglobal"),
        (["--mode", "semiglobal", "--free-ends", "left"], "free end 'left' is none of query-start, query-end, "),
        (["--mode", "glocal"], "argument --mode: invalid choice: 'glocal'"),
        (["--min-identity", "2"], "argument --min-identity: '2' is not a fraction between 0 and 1"),
        (["--min-identity", "nan"], "argument --min-identity: 'nan' is not a fraction between 0 and 1"),
        (["--min-identity", "0.5", "--report", "score"], "--min-identity needs --report alignment"),
        (["--min-coverage", "2"], "argument --min-coverage: '2' is not a fraction between 0 and 1"),
        (["--min-coverage", "0.5", "--report", "score"], "--min-coverage needs --report alignment"),
        (["--min-query-coverage", "0.5", "--report", "ends"], "--min-query-coverage needs --report alignment"),
        (["--max-evalue", "0"], "argument --max-evalue: '0' is not above 0"),
        (["--max-evalue", "inf"], "argument --max-evalue: 'inf' is not a number"),
        (["--max-evalue", "1", "--mode", "global"], "max-evalue applies to local alignments only"),
        (
            ["--min-bits", "30", "--mode", "global"],
            "min-bits applies to local alignments only, which have E-values and bits",
        ),
        (["--db-size", "0"], "argument --db-size: 0 is below 1"),
        (
            ["--columns", "query,qury"],
            "no column is called 'qury': did you mean query? --columns help lists all",
        ),
        (["--columns", "qlen,query_length"], "column query_length is asked for twice: leave one out"),
        (["--columns", ","], "no column is asked for: --columns help lists all of them"),
        (["--columns", "score", "-f", "sam"], "--columns belongs to tables, and format sam is none: choose tsv, csv, "),
        (["--columns", "score", "-f", "matrix"], "--format matrix holds one value per pair: leave --columns out"),
        (["--columns", "cigar", "--report", "ends"], "--report ends does not have all that is asked for: leave it out"),
        (["-f", "m8", "--report", "score"], "--report score does not have all that is asked for: leave it out"),
        (
            ["--columns", "bits", "--mode", "global"],
            "bits and E-values are those of local alignments: use",
        ),
        (["--top", "0"], "argument --top: 0 is below 1"),
        (["-t", "-1"], "argument -t/--threads: -1 is below 0"),
        (["-t", "two"], "argument -t/--threads: 'two' is not a whole number"),
        (["--gap-open", "1,5"], "argument --gap-open: '1,5' is not a number"),
        (["--memory", "99999999999T"], "argument --memory: '99999999999T' is no amount of memory: write 8G or 500M"),
        (["--memory", "9" * 400 + "T"], "is no amount of memory: write 8G or 500M"),
        (["--memory", "much"], "argument --memory: 'much' is no amount of memory: write 8G or 500M"),
        (["--shard", "3/2"], "argument --shard: '3/2' is not a shard: write 2/8 for the second of eight"),
        (["--shard", "١/٢"], "argument --shard: '١/٢' is not a shard: write 2/8 for the second of eight"),
        (["-t", "1025"], "argument -t/--threads: 1025 is above 1024"),
        (["--match", "99999999999"], "argument --match: 99999999999 is above 2147483647"),
        (["--matrix", "PAM30", "--match", "2"], "--matrix and --match/--mismatch/--iupac exclude each other"),
        (["-f", "matrix", "--top", "2"], "--format matrix holds every pair: leave --top out"),
        (["-f", "matrix", "--min-score", "2"], "--format matrix holds every pair: leave --min-score out"),
        (
            ["-f", "matrix", "--matrix-layout", "phylip", "--matrix-values", "score"],
            "PHYLIP holds the distances of one set: ",
        ),
        (["--matrix-layout", "npz"], "--matrix-values and --matrix-layout belong to --format matrix"),
        (["--device", "cuda"], "argument --device: 'cuda' is no device: write auto, cpu, cuda:0 or opencl:0.0 (trop"),
        (["--repot", "score"], "unrecognized arguments: --repot score"),
        (["--rep", "score"], "unrecognized arguments: --rep score"),
    ],
)
def test_usage(fails, arguments, sentence):
    assert sentence in fails(FAMILY, *arguments, code=2)


@pytest.mark.parametrize(
    ("listing", "sentence"),
    [
        (b"a b\na nobody\n", "list, line 2, record 'nobody': there is no sequence of this name"),
        (b"# a b\n\n", "list: the list holds no pair"),
        (b"a b\na\n", "list, line 2: a line has to hold two names"),
        (b"a \0\xfe\n", "list, line 1: the list of pairs is no text"),
        (gzip.compress(b"a b\n" * 99, mtime=0)[:20], "list: the compressed file is truncated: fetch or write it again"),
    ],
)
def test_lists_of_pairs(fails, tmp_path, listing, sentence):
    (tmp_path / "list").write_bytes(listing)
    assert sentence in fails(FAMILY, "--pairs", tmp_path / "list")


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (b"   A  R\nA  4 -1\nR -1  5\n", "the matrix small.mat has no letter "),
        (b"\x00\x01", "small.mat, line 1: this is no matrix in NCBI format"),
    ],
)
def test_matrix_files(fails, tmp_path, matrix, sentence):
    (tmp_path / "small.mat").write_bytes(matrix)
    assert sentence in fails(FAMILY, "--matrix", tmp_path / "small.mat")


def test_the_wrong_alphabet_is_said(tmp_path, capsys):
    dna, protein = tmp_path / "dna.fa", tmp_path / "protein.fa"
    dna.write_bytes(b">a\nACGTACGTACGT\n>b\nACGTACGTTT\n")
    protein.write_bytes(FAMILY)
    for path, asked, judged in ((dna, "protein", "nucleotide"), (protein, "nucleotide", "protein")):
        main(["pairs", str(path), "--alphabet", asked, "--report", "score"])
        assert f"read as {asked} as asked, but judged by its letters it is {judged}" in capsys.readouterr().err


def test_no_such_file_and_directories(tmp_path, capsys):
    assert main(["pairs", str(tmp_path / "none.fa")]) == 3
    assert capsys.readouterr().err == f"tropalign: {tmp_path / 'none.fa'}: there is no such file\n"
    assert main(["pairs", str(tmp_path)]) == 3
    assert capsys.readouterr().err == f"tropalign: {tmp_path}: this is a directory: name the files in it\n"


def test_both_from_standard_input(capsys):
    assert main(["pairs", "-", "-"]) == 2
    assert "standard input can be read once: name - once" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do everything")
def test_no_permission(tmp_path, capsys):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    path = tmp_path / "in.fa"
    path.write_bytes(FAMILY)
    assert main(["pairs", str(path), "-o", str(closed / "out.tsv")]) == 3
    assert capsys.readouterr().err == f"tropalign: {closed}: no permission to write here\n"
    path.chmod(0)
    assert main(["pairs", str(path)]) == 3
    assert capsys.readouterr().err == f"tropalign: {path}: no permission to read this file\n"


def test_no_permission_whoever_runs_this(tmp_path, capsys, monkeypatch):
    path = tmp_path / "in.fa"
    path.write_bytes(FAMILY)
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    assert main(["pairs", str(path), "-o", str(tmp_path / "out.tsv")]) == 3
    assert capsys.readouterr().err == f"tropalign: {tmp_path}: no permission to write here\n"


@pytest.mark.parametrize(("arguments", "where"), [(["-o", "/dev/full"], "/dev/full"), ([], "standard output")])
def test_a_full_device(start, few, arguments, where):
    with open("/dev/full", "wb") as full:
        process = start("pairs", few, *arguments, stdout=full, stderr=subprocess.PIPE, text=True)
        _, error = process.communicate()
    assert process.returncode == 4
    assert error == (
        f"tropalign: {where}: the disk is full or the file too large: free space, or write elsewhere with -o\n"
    )


def test_a_device_that_is_not_there(few, tmp_path, capsys):
    assert main(["pairs", str(few), "--device", "cpu", "--device", "cuda:99", "-o", str(tmp_path / "out.tsv")]) == 4
    error = capsys.readouterr().err
    assert error.startswith("tropalign: ") and ("CUDA" in error or "NVIDIA" in error)
    assert "Traceback" not in error and error.count("\n") == 1
